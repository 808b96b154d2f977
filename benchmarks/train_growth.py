"""How training grows with the network and with the corpus: python benchmarks/train_growth.py

Starts run_demo.py itself, again and again: at three widths on the corpus, and at the first width on
20 thousand to 2 million pairs, which are the corpus repeated (--train FILE FILE; by default the
bundled one). Each is watched for a minute after its first steps, but not beyond its first epoch,
and then ended. Prints a markdown table: seconds from the start of the program to its first steps,
real target tokens a second from there on, and the resident memory at the first steps and at the
end.
"""

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAIRS = (20_000, 200_000, 2_000_000)
WIDTHS = (128, 256, 512)  # d_model; dff is four times that
# The bar of a training: 40/460 [00:07<01:20, 5.8step/s, loss 7.1, accuracy 0.04, 8,123 tokens/s]
BAR = re.compile(r" \d+/\d+ \[(?:(\d+):)?(\d+):(\d+)<.*?([\d,]+) tokens/s")


def resident(pid):
    """Returns the resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 // 2**20


def watch(seconds, *arguments):
    """Starts a training. Returns seconds to its first steps, tokens/s, and memory at both ends."""
    seen = []  # of each line of the bar: (seconds of the epoch, tokens in them, memory)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        command = [sys.executable, ROOT / "run_demo.py", "--run", folder, *arguments]
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        ) as process:
            for line in process.stderr:
                if not (found := BAR.search(line)):
                    continue
                hours, minutes, passed, rate = found.groups()
                passed = int(hours or 0) * 3600 + int(minutes) * 60 + int(passed)
                if seen and passed < seen[-1][0]:  # the next epoch has begun
                    break
                tokens = int(rate.replace(",", "")) * passed
                seen.append((passed, tokens, resident(process.pid)))
                if len(seen) == 1:
                    first = time.perf_counter() - started
                if passed - seen[0][0] >= seconds:
                    break
            process.kill()
    (began, before, then), (ended, after, last) = seen[0], seen[-1]
    return first, (after - before) / (ended - began), then, last


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    bundled = [ROOT / "data" / "pt_en" / "train.tsv"]
    parser.add_argument("--train", nargs="+", type=Path, default=bundled, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=60, help="that each is watched")
    parser.add_argument("--pairs", type=int, nargs="+", default=PAIRS)
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    args = parser.parse_args()

    columns = [path.read_text(encoding="utf-8").splitlines() for path in args.train]
    lines = ["\t".join(pair) for pair in zip(*columns, strict=True)]
    rows = [(len(lines), width) for width in args.widths]
    rows += [(pairs, WIDTHS[0]) for pairs in args.pairs]
    print("| pairs | d_model | first steps after | tokens/s | memory then | memory at the end |")
    print("|---|---|---|---|---|---|", flush=True)
    for pairs, width in rows:
        with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in itertools.islice(itertools.cycle(lines), pairs))
            file.flush()
            sizes = ["--d-model", str(width), "--dff", str(4 * width), "--vocab-size", "3000"]
            first, rate, then, end = watch(args.seconds, "--dataset", file.name, *sizes)
        print(
            f"| {pairs:,} | {width} | {first:.0f} s | {rate:,.0f} | {then:,} MiB | {end:,} MiB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
