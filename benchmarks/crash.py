"""Kills trainings and lets them go on: do they end as one that was never killed?

    python benchmarks/crash.py [--kills 50] [--train FILE [FILE]]

A short training runs once undisturbed. Then, again and again, the same training is started anew and
killed (SIGKILL) at a random moment, every other time in the midst of saving a checkpoint, and the
same command is given until it ends. Prints a markdown table: endings whose every saved number is
bit-equal to the undisturbed one's, steps that were trained again, and checkpoints that could not be
read.
"""

import argparse
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
# "Epoch 2/2: step 40/100": before an epoch's first step, and then every 20 steps
STEPS = re.compile(r"^Epoch (\d+)/\d+: step (\d+)/(\d+)", re.M)
# The program with a word on stderr before and after each checkpoint, which takes some 50 ms to
# write, and with STEPS; without pictures, which come after everything that is compared.
PROGRAM = """
import sys
import run_demo
from nmt.results.pictures import Pictures
from nmt.training import checkpoints, progress

save = checkpoints.Keeper.save

def reported(*arguments):
    print("SAVING", file=sys.stderr, flush=True)
    save(*arguments)
    print("SAVED", file=sys.stderr, flush=True)

train_epoch = run_demo.Training.train_epoch

def announced(training, batches, steps, title, *more):
    print(f"{title}: step {int(training.position)}/{steps}", file=sys.stderr, flush=True)
    return train_epoch(training, batches, steps, title, *more)

checkpoints.Keeper.save = reported
run_demo.Training.train_epoch = announced
progress.REPORT_SECONDS = 0
Pictures.draw = lambda *arguments, **choices: None
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
    """Runs a training to its end. Returns what it said, and its seconds from the first steps."""
    said, first, last = b"", 0.0, 0.0
    with start(arguments) as process:
        while piece := process.stderr.read(4096):
            said += piece
            if b": step " in said:
                first = first or time.perf_counter()
            if b"Final weights" in said:
                last = last or time.perf_counter()
    said = said.decode(errors="replace")
    if process.returncode:
        sys.exit(f"a training ended with {process.returncode}: {said}")
    return said, last - first


def kill(arguments, seconds, saves):
    """Starts a training and kills it. Returns what it had said.

    Args:
      seconds: after the first step; or, where `saves` are given, after that checkpoint's begin.
      saves: None, or the number of the checkpoint.
    """
    said = b""
    with start(arguments) as process:
        while piece := process.stderr.read(4096):
            said += piece
            if said.count(b"SAVING") >= saves if saves else b": step " in said:
                break
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        said += process.stderr.read()
    return said.decode(errors="replace")


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
    args = parser.parse_args()
    data = ["--train", *args.train] if args.train else ["--dataset", "bundled"]
    chance = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        common = [*data, *SIZES, "--checkpoint-minutes", MINUTES]
        said, seconds = run([*common, "--run", Path(folder) / "whole"])
        saves = said.count("SAVING") - 2  # the last two, of an epoch and of the end, are different
        names = ("checkpoints/ckpt-2", "checkpoints/final/ckpt-2")
        whole = [tensors(Path(folder) / "whole" / name) for name in names]
        equal = unreadable = saving = 0
        again = []
        for number in range(args.kills):
            arguments = [*common, "--run", Path(folder) / str(number)]
            if number % 2:
                before = kill(arguments, chance.uniform(0, 0.05), chance.randint(1, saves))
            else:
                before = kill(arguments, chance.uniform(0, seconds), None)
            said, _ = run(arguments)
            saving += before.count("SAVING") > before.count("SAVED")
            again.append(lost(before, said))
            unreadable += said.count("cannot be read") + said.count("damaged")
            found = [tensors(Path(folder) / str(number) / name) for name in names]
            same = all(
                one.keys() == other.keys()
                and all(one[name].tobytes() == other[name].tobytes() for name in one)
                for one, other in zip(whole, found, strict=True)
            )
            equal += same
            print(f"kill {number + 1}: {'bit-equal' if same else 'DIFFERS'}", file=sys.stderr)
    print("| kills | while saving | bit-equal endings | unreadable | steps again: median, most |")
    print("|---|---|---|---|---|")
    steps = f"{statistics.median(again):.0f}, {max(again)}"
    print(f"| {args.kills} | {saving} | {equal} | {unreadable} | {steps} |")


if __name__ == "__main__":
    main()
