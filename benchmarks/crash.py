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
from typing import Any, NamedTuple

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
from nmt.training.loop import Epochs
from nmt.cli import startup
from nmt.results.pictures import Pictures
from nmt import progress
from nmt.training import checkpoints

save = checkpoints.Keeper.save

def reported(*arguments):
    print("SAVING", file=sys.stderr, flush=True)
    save(*arguments)
    print("SAVED", file=sys.stderr, flush=True)

train_on = Epochs.train_on

def announced(epochs, batches, steps, title, *more):
    print(f"{title}: batch {int(epochs.position)}/{steps}", file=sys.stderr, flush=True)
    return train_on(epochs, batches, steps, title, *more)

checkpoints.Keeper.save = reported
Epochs.train_on = announced
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
    """Starts a training and kills it by a signal. Returns what it had said.

    `kind` is one of the first words of KINDS, "saving" after the begin of one of its `saves`.
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


class Results(NamedTuple):
    """What a training run ends with."""

    checkpoints: list[dict[str, Any]]  # arrays by name
    scores: dict[str, Any]

    def equal(self, other):
        """Returns whether every number is the same, bit by bit."""
        return self.scores == other.scores and all(
            tensors.keys() == other_tensors.keys()
            and all(tensors[name].tobytes() == other_tensors[name].tobytes() for name in tensors)
            for tensors, other_tensors in zip(self.checkpoints, other.checkpoints, strict=True)
        )


class Kill(NamedTuple):
    """What became of a training run that was killed and resumed."""

    while_saving: bool
    is_equal: bool  # its end, to that of the undisturbed run
    unreadable: int  # checkpoints
    left_behind: int  # files
    repeated_steps: int


def results(path):
    """Returns the Results in a run folder."""
    scores = json.loads((path / "scores.json").read_text())
    return Results(
        [tensors(path / name) for name in ("checkpoints/ckpt-2", "checkpoints/final/ckpt-2")],
        {name: value for name, value in scores.items() if "seconds" not in name},
    )


def left_behind(path):
    """Returns how many files of a finished run folder are of an interrupted save."""
    names = [file.relative_to(path).as_posix() for file in path.rglob("*")]
    return sum(bool(re.search("unfinished|temp|\\.tmp$|cache/", name)) for name in names)


def repeated_steps(before, after):
    """Returns the steps that a run repeated after it was killed, by what it said each time."""

    def number(epoch, step, steps):
        return (int(epoch) - 1) * int(steps) + int(step)

    reached = number(*STEPS.findall(before)[-1])
    resumed = STEPS.search(after)  # None where only the end was left to do
    return max(0, reached - number(*resumed.groups())) if resumed else 0


def print_table(kills):
    """Prints a row for each kind and signal. `kills` are lists of Kills by these two."""
    print(
        "| killed while | by | kills | while saving | equal endings | unreadable | left behind "
        "| steps again: median, most |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (kind, signal_name), of_kind in kills.items():
        sums = [
            sum(getattr(kill, name) for kill in of_kind)
            for name in ("while_saving", "is_equal", "unreadable", "left_behind")
        ]
        steps = [kill.repeated_steps for kill in of_kind]
        print(
            f"| {kind} | {signal_name} | {len(of_kind)} | {' | '.join(map(str, sums))} "
            f"| {statistics.median(steps):.0f}, {max(steps)} |"
        )


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
    kills = collections.defaultdict(list)  # by kind and signal
    with tempfile.TemporaryDirectory() as folder:
        common = [*data, *SIZES, *args.flags, "--checkpoint-minutes", MINUTES]
        said, times = run([*common, "--run", Path(folder) / "undisturbed"])
        ends = {"training": "averaging", "averaging": "scoring", "scoring": "end"}
        seconds = {name: times[end] - times[name] for name, end in ends.items()}
        seconds["saving"] = 0.05
        saves = said.count("SAVING") - 2  # the last two, of an epoch and of the end, are different
        undisturbed = results(Path(folder) / "undisturbed")
        for count in range(args.kills):
            kind, number = KINDS[count % len(KINDS)]
            path = Path(folder) / f"[{count}] $x*"
            arguments = [*common, "--run", path]
            moment = chance.uniform(0, seconds[kind])
            before = kill(arguments, kind, number, moment, chance.randint(1, saves))
            after, _ = run(arguments)
            # TensorFlow cannot read such a path: the folder gets another name.
            path = path.rename(Path(folder) / str(count))
            killed = Kill(
                before.count("SAVING") > before.count("SAVED"),
                results(path).equal(undisturbed),
                after.count("cannot be read") + after.count("damaged"),
                left_behind(path),
                repeated_steps(before, after),
            )
            kills[kind, number.name].append(killed)
            word = "equal" if killed.is_equal else "DIFFERS"
            print(f"kill {count + 1}, {number.name} while {kind}: {word}", file=sys.stderr)
    print_table(kills)


if __name__ == "__main__":
    main()
