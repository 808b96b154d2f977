"""What nobody should have to give the program, by the hundreds: it must answer, or say why not.

    python benchmarks/hostile.py [--cases 300]

Trains a small run, then gives it damaged text, flags and run folders, kind by kind, each case drawn
from its number. A case passes if the program ends with exit code 0, or with 2 and one line on
stderr; no exception, no signal, no hang. Prints a table of kinds, and each case that failed.
"""

import argparse
import collections
import contextlib
import io
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SECONDS = 300  # after which a case counts as one that hangs
AT_ONCE = 50  # cases of a process: a crash takes only the rest of them with it

PIECES = [
    b"um dois tr\xc3\xaas",
    b"three",
    b"\t",
    b"\t\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xed\xb0\x80",
    b"\xc3",
    b"\xf4\x90\x80\x80",
    b"\x85",  # no UTF-8
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf\xef\xbb\xbf",
    b"\x0b",
    b"\x0c",
    b"\x1b[2J",
    "\u2028".encode(),
    b"<s>",
    b"</s>",
    b"<pad>",
    b"<unk>",
    b"<0x41>",
    "\u2581".encode(),
    "\u202e".encode(),
    "שלום עולם".encode(),
    "مرحبا".encode(),
    "中文".encode(),
    "e\u0301".encode(),
    "👩\u200d👧".encode(),
    b" ",
    b"   ",
    "\u3000".encode(),
    "\u200b".encode(),
    b"a" * 3000,
    b"--help",
    b"%s{0}$(id)`id`",
    b"\\n",
]
VALUES = [
    "",
    " ",
    "0",
    "-1",
    "1",
    "3",
    "-0.5",
    "0.5",
    "1.5",
    "1e-3",
    "1e9",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "none",
    "None",
    "True",
    "64",
    "99999999999999999999",
    "²",
    "٣",
    "0x10",
    "1_0",
    "--",
    "-",
    "a b",
    "\x00",
    "\udcff",
    "/",
]


def text(chance, pieces=12):
    """Returns bytes: lines, more or less."""
    found = b"".join(chance.choices(PIECES, k=chance.randrange(pieces)))
    if chance.random() < 0.2:
        found += bytes(chance.randrange(256) for _ in range(chance.randrange(30)))
    if chance.random() < 0.01:
        found += b"x" * 10_000_000
    return found


class Answer:
    """What the program did: its exit code, and what it wrote."""

    def __init__(self, run_demo, arguments, stdin=b""):
        class Stdin:
            buffer = io.BytesIO(stdin)
            isatty = staticmethod(bool)  # no

        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        before, sys.stdin = sys.stdin, Stdin
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self.code = run_demo.main([str(argument) for argument in arguments])
                out.flush()
        finally:
            sys.stdin = before
        self.out, self.err = out.buffer.getvalue(), err.getvalue()
        told = re.findall(r"^run_demo\.py: |\rrun_demo\.py: | {9}run_demo\.py: ", self.err, re.M)
        assert self.code in (0, 2), f"exit code {self.code}"
        assert len(told) == (self.code == 2), f"{len(told)} lines of error: {self.err[-300:]}"


# ---- Kinds of cases; each takes the program, a trained run, an empty folder, and chance ----


def stdin(run_demo, run, folder, chance):
    """Any bytes are translated line by line, or the line that is not UTF-8 is named."""
    given = text(chance)
    answer = Answer(run_demo, ["translate", "--run", run], given)
    if answer.code == 0:
        lines = [line for line in given.split(b"\n") if line.replace(b"\r", b"")]
        blank = [line for line in given.split(b"\n")[:-1] if not line.replace(b"\r", b"")]
        assert answer.out.count(b"\n") == len(lines) + len(blank), "lines in are not lines out"


def arguments(run_demo, run, folder, chance):
    """Sentences as arguments, one translation each."""
    given = [os.fsdecode(text(chance, 4).replace(b"\0", b"")) for _ in range(2)]
    answer = Answer(run_demo, ["translate", "--run", run, "--", *given])
    assert answer.code or answer.out.count(b"\n") <= len(given)


def files(run_demo, run, folder, chance):
    """A .tsv or two aligned files to score or to evaluate."""
    names = [folder / "a.tsv"] if chance.random() < 0.5 else [folder / "a", folder / "b"]
    for name in names:
        name.write_bytes(text(chance))
    Answer(run_demo, [chance.choice(["score", "evaluate"]), "--run", run, *names])


def training_text(run_demo, run, folder, chance):
    """Text to train on: so much of it good that some of it trains."""
    good = b"".join(b"um %d\tone %d\n" % (number, number) for number in range(60))
    (folder / "a.tsv").write_bytes(
        good + text(chance, 4) if chance.random() < 0.5 else text(chance)
    )
    Answer(run_demo, ["--dataset", folder / "a.tsv", *SMALL, "--run", folder / "run"])


def flags(run_demo, run, folder, chance):
    """Flags of any command, with any values."""
    import params

    command = chance.choice(["", "train", "translate", "score", "evaluate", "export", "plot", "?"])
    rows = chance.choices(params.table(), k=chance.randrange(1, 4))
    names = [f"--{row.name.replace('_', '-')}" for row in rows] + ["--run", "--preset", "--n-best"]
    given = [[name, chance.choice(VALUES)] for name in chance.sample(names, k=2)]
    given = list(itertools.chain(*given))
    data = [] if command in ("translate", "export", "plot") else [folder / "missing.tsv"]
    if command in ("", "train"):
        data = ["--dataset", folder / "missing.tsv"]
    with contextlib.suppress(SystemExit):  # --help
        Answer(run_demo, [*([command] if command else []), *data, *given])


def run_folder(run_demo, run, folder, chance):
    """A run folder in which a file is damaged, swapped, foreign, missing or not a file."""
    damaged = folder / "run"
    shutil.copytree(run, damaged)
    found = [path for path in sorted(damaged.rglob("*")) if path.is_file()]
    likely = [path for path in found if path.name in ("params.json", "tokenizer.model")]
    path = chance.choice(likely if chance.random() < 0.5 else found)
    content = path.read_bytes()
    how = chance.randrange(8)
    if how == 0:
        path.write_bytes(content[: chance.randrange(len(content) + 1)])
    elif how == 1 and content:
        changed = bytearray(content)
        for _ in range(chance.choice([1, 1, 5])):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
    elif how == 2:
        path.write_bytes(chance.choice(found).read_bytes())
    elif how == 3:
        path.unlink()
    elif how == 4:
        path.unlink()
        path.mkdir()
    elif how == 5:
        path.unlink()
        path.symlink_to(chance.choice(["/nowhere", "/dev/null", "/etc/passwd", path.name, ".."]))
    elif how == 6:
        path.write_bytes(text(chance))
    else:
        path = damaged / "params.json"
        options = json.loads(path.read_text())
        name = chance.choice(sorted(options))
        if chance.random() < 0.3:
            del options[name]
        else:
            values = [None, -1, 0, 10**6, 10**30, 1.5, "x", "../..", [], {}, True, [[]], {"a": 1}]
            options[name] = chance.choice(values)
        path.write_text(json.dumps(options))
    command = chance.choice(["translate", "evaluate", "plot", "export", "score", "train"])
    given = ["--run", damaged]
    if command == "translate":
        given += ["um dois."]
    elif command == "plot":
        given += [chance.choice(["curves", "schedule", "attention", "masks"])]
    elif command == "score":
        given += [run.parent / "numbers.tsv"]
    elif command == "train":
        given = ["--dataset", run.parent / "numbers.tsv", *SMALL, *given]
    elif command == "export":
        given += ["--format", "keras", "--to", folder / "model.keras"]
    answer = Answer(run_demo, [command, *given])
    if command == "export":
        assert (folder / "model.keras").exists() == (answer.code == 0), "half-written"


KINDS = {
    kind.__name__: kind for kind in (stdin, arguments, files, training_text, flags, run_folder)
}
SMALL = "--num-layers 1 --d-model 16 --dff 32 --num-heads 2 --vocab-size 320 --epochs 1".split()


class Hang(BaseException):
    """A case took too long."""


def hang(number, frame):
    raise Hang(f"more than {SECONDS} seconds")


def work(kind, run, first, last):
    """Tries cases in this process; prints a line of JSON before and after each."""
    import run_demo

    os.environ["PATH"] = ""  # nothing to be started
    signal.signal(signal.SIGALRM, hang)
    results = os.fdopen(os.dup(1), "w", buffering=1)
    for number in range(first, last):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            signal.alarm(SECONDS)
            print(json.dumps([number, "began"]), file=results)
            try:
                chance = random.Random(f"{kind} {number}")
                KINDS[kind](run_demo, Path(run), Path(folder), chance)
            except BaseException as error:
                end = f"{type(error).__name__}: {error} {place(error)}"
            else:
                end = "passed"
            print(json.dumps([number, end]), file=results)
            signal.alarm(0)
            os.chdir("/")


def place(error):
    """Returns where in the project's files an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if str(ROOT) in frame.filename]
    return f"({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=300, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        kind, run, first, last = args.work
        work(kind, run, int(first), int(last))
        return
    with tempfile.TemporaryDirectory() as folder:
        run, tsv = Path(folder) / "run", Path(folder) / "numbers.tsv"
        numbers = "um dois três quatro cinco seis sete oito nove".split()
        pairs = itertools.product(numbers, repeat=3)
        tsv.write_text("".join(f"{' '.join(n)}.\t{' '.join(reversed(n))}.\n" for n in pairs))
        train = [sys.executable, ROOT / "run_demo.py", "--dataset", tsv, *SMALL, "--run", run]
        subprocess.run(train, check=True, capture_output=True)
        print("| kind | cases | passed |\n|---|---|---|", flush=True)
        failed = []
        for kind in args.kinds:
            ends, first = collections.Counter(), 0
            while first < args.cases:
                last = min(first + AT_ONCE, args.cases)
                command = [sys.executable, __file__, "--work", kind, run, first, last]
                done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
                number = first - 1
                for line in done.stdout.splitlines():
                    number, end = json.loads(line)
                    if end == "passed":
                        ends[end] += 1
                    elif end != "began":
                        failed.append((kind, number, end))
                if done.returncode:
                    failed.append(
                        (kind, number, f"ended with {done.returncode}: {done.stderr[-300:]}")
                    )
                first = number + 1 if done.returncode else last
            print(f"| {kind} | {args.cases} | {ends['passed']} |", flush=True)
        for kind, number, end in failed:
            print(f"{kind} {number}: {end}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
