"""How training grows with the network and with the corpus: python benchmarks/train_growth.py

Starts the program itself, again and again: at three widths on the corpus, and at the first width on
20 thousand to 2 million pairs, which are the corpus repeated (--train FILE FILE; by default the
bundled one). Each training run is watched for a minute after its first 20 steps, but not beyond its
first epoch, and then ended. Prints a markdown table: seconds from the start of the program to the
end of its first 20 steps, real target tokens per second from there on, and the resident memory at
both ends.
"""

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as `run_demo.py train` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt.cli import flags

ROOT = Path(__file__).resolve().parents[1]
PAIRS = (20_000, 200_000, 2_000_000)
WIDTHS = (128, 256, 512)  # d_model; dff is four times that
# The program with a word on stderr before each epoch, and a line on progress every 20 steps.
PROGRAM = """
import sys
import run_demo
from nmt.training import progress
from nmt.training.loop import Epochs

train_epoch = Epochs.train_epoch

def announced(*arguments):
    print("EPOCH", file=sys.stderr, flush=True)
    return train_epoch(*arguments)

Epochs.train_epoch = announced
progress.REPORT_SECONDS = 0
sys.exit(run_demo.main(sys.argv[1:]))
"""
PROGRESS = re.compile(r"^Epoch \d+/\d+: batch \d+/\d+, .*?([\d,]+) tokens/s")


def resident(pid):
    """Returns the resident memory of a process, in MiB."""
    statm = Path(f"/proc/{pid}/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20
    command = ["ps", "-o", "rss=", "-p", str(pid)]  # on macOS; in KiB
    return int(subprocess.run(command, check=True, capture_output=True).stdout) // 2**10


def watch(seconds, *arguments):
    """Starts training. Returns seconds to its first steps, tokens/s, and memory at both ends."""
    said, seen = [], []  # seen: of each line on progress, (time, tokens of the epoch, memory)
    with tempfile.TemporaryDirectory() as folder:
        started, epoch = time.perf_counter(), None
        command = [sys.executable, "-c", PROGRAM, "--run", folder, *arguments]
        with subprocess.Popen(
            command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        ) as process:
            for line in process.stderr:
                now = time.perf_counter()
                said.append(line)
                if line == "EPOCH\n":
                    if epoch is not None:
                        break
                    epoch = now
                elif found := PROGRESS.search(line):
                    tokens = int(found[1].replace(",", "")) * (now - epoch)
                    seen.append((now, tokens, resident(process.pid)))
                    if len(seen) > 1 and now - seen[0][0] >= seconds:
                        break
            process.kill()
    if len(seen) < 2:
        sys.exit(f"failed, or too few --pairs for 60 steps in an epoch: {''.join(said[-5:])}")
    (began, before, then), (ended, after, last) = seen[0], seen[-1]
    return began - started, (after - before) / (ended - began), then, last


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    bundled = [ROOT / "data" / "pt_en" / "train.tsv"]
    parser.add_argument("--train", nargs="+", type=Path, default=bundled, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=60, help="that each is watched")
    parser.add_argument("--pairs", type=int, nargs="*", default=PAIRS, metavar="N")
    parser.add_argument(
        "--widths", type=int, nargs="+", default=WIDTHS, metavar="N",
        help="d_model; --pairs are trained at the first of them",
    )  # fmt: skip
    flags.add_parameters(parser, ("num_layers", "num_heads", "batch_size", "vocab_size"))
    parser.set_defaults(vocab_size=3000)
    args = parser.parse_args()

    columns = [path.read_text(encoding="utf-8").splitlines() for path in args.train]
    if len(columns) > 1:  # a line of aligned files may hold a tab
        columns = [[line.replace("\t", " ") for line in column] for column in columns]
    lines = ["\t".join(pair) for pair in zip(*columns, strict=True)]
    rows = [(len(lines), width) for width in args.widths]
    rows += [(pairs, args.widths[0]) for pairs in args.pairs]
    given = [(f"--{name.replace('_', '-')}", str(n)) for name, n in flags.given(args).items()]
    print("| pairs | d_model | first steps after | tokens/s | memory then | memory at the end |")
    print("|---|---|---|---|---|---|", flush=True)
    for pairs, width in rows:
        with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in itertools.islice(itertools.cycle(lines), pairs))
            file.flush()
            sizes = [*itertools.chain(*given), "--d-model", str(width), "--dff", str(4 * width)]
            first, rate, then, end = watch(args.seconds, "--dataset", file.name, *sizes)
        print(
            f"| {pairs:,} | {width} | {first:.0f} s | {rate:,.0f} | {then:,} MiB | {end:,} MiB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
