"""Kills trainings and lets them go on: do they end as one that was never killed?

    python benchmarks/crash.py [--kills 50] [--train FILE [FILE]] [-- FLAGS of run_demo.py]

A short training runs once undisturbed. Then, again and again, the same training is started anew in
a folder with [ ] and $ in its path, and killed at a random moment of training, of saving a
checkpoint, of averaging or of scoring, in turn; by SIGKILL, in the last two by SIGTERM, too. Then
the same command is given until it ends. Prints a markdown table with a row for each of KINDS:
endings whose every saved number and score is equal to the undisturbed one's, bit by bit, steps that
were trained again, checkpoints that could not be read, and files that were left behind.
"""

import argparse
import collections
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = "--num-layers 2 --d-model 64 --dff 128 --num-heads 4 --vocab-size 500 --epochs 2".split()
MINUTES = 0.02  # between two checkpoints
# "Epoch 2/2: batch 40/100": before an epoch's first step, and then every 20 steps
STEPS = re.compile(r"^Epoch (\d+)/\d+: batch (\d+)/(\d+)", re.M)
# Where a training is killed, and by what.
KINDS = (
    ("training", signal.SIGKILL),
    ("saving", signal.SIGKILL),
    ("averaging", signal.SIGKILL),
    ("scoring", signal.SIGKILL),
    ("training", signal.SIGKILL),
    ("saving", signal.SIGKILL),
    ("averaging", signal.SIGTERM),
    ("scoring", signal.SIGTERM),
)
BEGINS = {  # what the program says there
    "training": b": batch ",
    "averaging": b"Comparing the last epoch",
    "scoring": b"Translating and scoring",
}
# The program with a word on stderr before and after each checkpoint, which takes some 50 ms to
# write, and with STEPS; without pictures, which come after everything that is compared.
PROGRAM = """
import sys
import run_demo
from nmt.cli import startup
from nmt.results.pictures import Pictures
from nmt.training import checkpoints, progress

save = checkpoints.Keeper.save

def reported(*arguments):
    print("SAVING", file=sys.stderr, flush=True)
    save(*arguments)
    print("SAVED", file=sys.stderr, flush=True)

train_epoch = run_demo.Training.train_epoch

def announced(training, batches, steps, title, *more):
    print(f"{title}: batch {int(training.position)}/{steps}", file=sys.stderr, flush=True)
    return train_epoch(training, batches, steps, title, *more)

checkpoints.Keeper.save = reported
run_demo.Training.train_epoch = announced
progress.REPORT_SECONDS = 0
Pictures.draw = lambda *arguments, **choices: None
startup.catch_interrupts()
sys.exit(run_demo.main(sys.argv[1:]))
"""


def tensors(path):
    """Returns every number of a checkpoint by its name."""
    import tensorflow as tf

    reader = tf.train.load_checkpoint(str(path))
    names = [name for name in reader.get_variable_to_shape_map() if "_OBJECT" not in name]
    return {name: reader.get_tensor(name) for name in names}


def start(arguments):
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0
    )


def run(arguments):
    """Runs a training to its end. Returns what it said, and when each of its parts began.

    Times are in seconds, by the name in BEGINS; that of "end", too.
    """
    said, times = b"", {}
    with start(arguments) as process:
        while piece := process.stderr.read(4096):
            said += piece
            for name, text in BEGINS.items():
                if text in said:
                    times.setdefault(name, time.perf_counter())
            if b"Everything is in" in said:
                times.setdefault("end", time.perf_counter())
    said = said.decode(errors="replace")
    if process.returncode:
        sys.exit(f"a training ended with {process.returncode}: {said}")
    return said, times


def kill(arguments, kind, number, seconds, saves):
    """Starts a training and kills it. Returns what it had said.

    Args:
      kind: one of the first words of KINDS.
      number: of the signal.
      seconds: after the begin of that part, or of that checkpoint.
      saves: the number of the checkpoint, if the kind is "saving".
    """
    said = b""
    with start(arguments) as process:
        while piece := process.stderr.read(4096):
            said += piece
            if said.count(b"SAVING") >= saves if kind == "saving" else BEGINS[kind] in said:
                break
        time.sleep(seconds)
        process.send_signal(number)
        said += process.stderr.read()
    said = said.decode(errors="replace")
    if number == signal.SIGTERM and process.returncode:  # 0: it was at its end
        last = said.splitlines()[-1]
        if process.returncode != 128 + number or "to resume it: " not in last:
            sys.exit(f"SIGTERM ended a training with {process.returncode}: {said}")
    return said


def scores_of(path):
    """Returns the scores of a run, without what differs from run to run."""
    scores = json.loads((path / "scores.json").read_text())
    return {name: value for name, value in scores.items() if "seconds" not in name}


def left_behind(path):
    """Returns how many files of a finished run folder are of an interrupted save."""
    names = [file.relative_to(path).as_posix() for file in path.rglob("*")]
    return sum(bool(re.search("unfinished|temp|\\.tmp$|cache/", name)) for name in names)


def lost(before, after):
    """Returns the steps that a training run had done when it was killed and then repeated."""

    def number(epoch, step, steps):
        return (int(epoch) - 1) * int(steps) + int(step)

    reached = number(*STEPS.findall(before)[-1])
    resumed = STEPS.search(after)  # None where only the end was left to do
    return max(0, reached - number(*resumed.groups())) if resumed else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", nargs="+", metavar="FILE", help="a .tsv, or source and target")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("flags", nargs="*", help="of run_demo.py, after --")
    args = parser.parse_args()
    data = ["--train", *args.train] if args.train else ["--dataset", "bundled"]
    chance = random.Random(args.seed)
    rows = collections.defaultdict(list)  # by kind and signal
    with tempfile.TemporaryDirectory() as folder:
        common = [*data, *SIZES, *args.flags, "--checkpoint-minutes", MINUTES]
        said, times = run([*common, "--run", Path(folder) / "whole"])
        ends = {"training": "averaging", "averaging": "scoring", "scoring": "end"}
        seconds = {name: times[end] - times[name] for name, end in ends.items()}
        seconds["saving"] = 0.05
        saves = said.count("SAVING") - 2  # the last two, of an epoch and of the end, are different
        names = ("checkpoints/ckpt-2", "checkpoints/final/ckpt-2")
        whole = [tensors(Path(folder) / "whole" / name) for name in names]
        scores = scores_of(Path(folder) / "whole")
        for count in range(args.kills):
            kind, number = KINDS[count % len(KINDS)]
            path = Path(folder) / f"[{count}] $x*"
            arguments = [*common, "--run", path]
            moment = chance.uniform(0, seconds[kind])
            before = kill(arguments, kind, number, moment, chance.randint(1, saves))
            said, _ = run(arguments)
            # TensorFlow cannot read such a path: the folder gets another name.
            plain = path.rename(Path(folder) / str(count))
            checkpoints = [tensors(plain / name) for name in names]
            same = scores_of(plain) == scores and all(
                one.keys() == other.keys()
                and all(one[name].tobytes() == other[name].tobytes() for name in one)
                for one, other in zip(whole, checkpoints, strict=True)
            )
            rows[kind, number.name].append(
                (
                    before.count("SAVING") > before.count("SAVED"),
                    same,
                    said.count("cannot be read") + said.count("damaged"),
                    left_behind(plain),
                    lost(before, said),
                )
            )
            word = "equal" if same else "DIFFERS"
            print(f"kill {count + 1}, {number.name} while {kind}: {word}", file=sys.stderr)
    print(
        "| killed while | by | kills | while saving | equal endings | unreadable | left behind "
        "| steps again: median, most |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (kind, name), kills in rows.items():
        saving, equal, unreadable, left, again = zip(*kills, strict=True)
        print(
            f"| {kind} | {name} | {len(kills)} | {sum(saving)} | {sum(equal)} | {sum(unreadable)} "
            f"| {sum(left)} | {statistics.median(again):.0f}, {max(again)} |"
        )


if __name__ == "__main__":
    main()
