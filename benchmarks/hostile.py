"""What nobody should have to give the program, by the hundreds: it must answer, or say why not.

    python benchmarks/hostile.py [--cases 300]
    python benchmarks/hostile.py --server 60

The second command attacks a server instead; see hostile_server.py.

Trains a small run, or takes that of --run, then gives the program damaged text, flags and run
folders, kind by kind, each case drawn from its number. A case passes if the program ends with exit
code 0, or with 2 and one line on stderr; no exception, no signal, no hang. Other kinds: strange
environments and streams, folders of strangers, corpora that have changed, fewer cores. Prints a
table of kinds, and each case that failed.
"""

import argparse
import bz2
import contextlib
import gzip
import io
import itertools
import json
import lzma
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import unicodedata
from pathlib import Path

import hostile_server

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
    b"a" * 3000,
    b'"um ""dois"""',
    "C\u00a0. Depois saiu.".encode(),
    b"<2de> um",
    b"--help",
    b"%s{0}$(id)`id`",
    b"\\n",
]
ODD_SPACES = "\t\u00a0\u1680\u2003\u2009\u202f\u205f\u3000\u2581"
INVISIBLE = "\u00ad\u061c\u200b\u200e\u200f\u202a\u2060\u2066\ufeff"
SEPARATORS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # at which some readers split lines
PIECES += [character.encode() for character in ODD_SPACES[1:] + INVISIBLE + SEPARATORS]
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


ENCODINGS = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"]


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
        assert len(answer.out.decode().splitlines()) == answer.out.count(b"\n"), "a line is split"
        *lines, last = given.split(b"\n")
        expected = len(lines) + bool(last.strip(b"\r"))
        assert answer.out.count(b"\n") == expected, "lines in are not lines out"


def arguments(run_demo, run, folder, chance):
    """Sentences as arguments, one translation each; long ones, and one alone, among them."""
    given = [
        os.fsdecode(text(chance, chance.choice([4, 60])).replace(b"\0", b""))
        for _ in range(chance.choice([1, 2]))
    ]
    answer = Answer(run_demo, ["translate", "--run", run, "--", *given])
    assert answer.code or answer.out.count(b"\n") <= len(given)


def files(run_demo, run, folder, chance):
    """A .tsv or two aligned files to score or to evaluate."""
    ending = chance.choice(["", ".gz"])
    tables = [folder / f"a.{chance.choice(['tsv', 'csv'])}{ending}"]
    names = tables if chance.random() < 0.5 else [folder / f"a{ending}", folder / f"b{ending}"]
    for name in names:
        name.write_bytes(packed(chance, text(chance), ending))
    command = chance.choice(["score", "evaluate", "align", "data"])
    Answer(run_demo, [command, *names, *([] if command == "data" else ["--run", run])])


def packed(chance, content, ending):
    """Returns bytes as a file of that `ending` may hold them: compressed oddly, in UTF-16, ..."""
    if chance.random() < 0.2:
        content = content.decode(errors="replace").encode(chance.choice(ENCODINGS))
    if chance.random() < 0.1:  # the name says something else
        ending = "" if ending else ".gz"
    if not ending:
        return chance.choice([bz2.compress, lzma.compress, bytes, bytes, bytes])(content)
    half = chance.randrange(len(content) + 1)
    members = [gzip.compress(content[:half]), gzip.compress(content[half:])]
    members.insert(chance.randrange(3), chance.choice([b"", gzip.compress(b""), bytes(7)]))
    found = b"".join(members)
    return found[: chance.randrange(len(found))] if chance.random() < 0.1 else found


def spelling(run_demo, run, folder, chance):
    """The same text in other spellings and with other spaces: the same translation."""
    words = ["um", "dois", "três", "quatro", "não", "é", "ação", "S\u1ec7"]
    lines = [" ".join(chance.choices(words, k=chance.randrange(1, 9))) for _ in range(4)]
    given = []
    for line in lines:
        other = unicodedata.normalize(chance.choice(["NFC", "NFD"]), line)
        letters = [chance.choice(ODD_SPACES) if letter == " " else letter for letter in other]
        place = chance.randrange(len(letters) + 1)
        combining = place < len(letters) and unicodedata.combining(letters[place])
        if not combining:
            letters.insert(place, chance.choice(INVISIBLE))
        edge = chance.choice(["", " ", "\u00a0", "\u3000"])
        given.append(edge + "".join(letters) + edge)
    expected = Answer(run_demo, ["translate", "--run", run, "--", *lines]).out
    assert Answer(run_demo, ["translate", "--run", run, "--", *given]).out == expected, given


def blank(run_demo, run, folder, chance):
    """Lines that show nothing: no translation of them shows anything."""
    characters = ODD_SPACES + INVISIBLE + SEPARATORS + " "
    lines = ["".join(chance.choices(characters, k=chance.randrange(5))) for _ in range(5)]
    given = "".join(f"{line}\n" for line in lines).encode()
    split = chance.choice(["--split", "--no-split"])
    answer = Answer(run_demo, ["translate", "--run", run, split], given)
    assert answer.out.count(b"\n") == len(lines)
    assert not answer.out.decode().strip(characters + "\n"), lines


def prefixes(run_demo, run, folder, chance):
    """Prefixes of any text, as many as lines or not."""
    lines = chance.choice([1, 3, 3])
    path = folder / "prefixes"
    path.write_bytes(b"".join(text(chance, 4).replace(b"\n", b" ") + b"\n" for _ in range(3)))
    given = ["translate", "--run", run, "--prefixes", path, "--n-best", 2, "--beam", 2]
    answer = Answer(run_demo, given, b"um dois.\n" * lines)
    assert answer.code or answer.out.count(b"\n") == 2 * lines


def training_text(run_demo, run, folder, chance):
    """Text to train on: so much of it good that some of it trains."""
    good = b"".join(b"um %d\tone %d\n" % (number, number) for number in range(60))
    ending = chance.choice(["", ".gz"])
    content = good + text(chance, 4) if chance.random() < 0.5 else text(chance)
    path = folder / f"a.tsv{ending}"
    path.write_bytes(packed(chance, content, ending))
    Answer(run_demo, ["--dataset", path, *SMALL, "--run", folder / "run"])


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
    paths = [path for path in sorted(damaged.rglob("*")) if path.is_file()]
    likely = [path for path in paths if path.name in ("params.json", "tokenizer.model")]
    path = chance.choice(likely if chance.random() < 0.5 else paths)
    damage = chance.choice(DAMAGES)
    damage(path, chance)
    exported = folder / "model.keras"
    arguments = {
        "translate": ["um dois."],
        "evaluate": [],
        "plot": [chance.choice(["curves", "schedule", "attention", "masks"])],
        "export": ["--format", "keras", "--to", exported],
        "score": [run.parent / "numbers.tsv"],
        "train": ["--dataset", run.parent / "numbers.tsv", *SMALL],
    }
    command = chance.choice(list(arguments))
    answer = Answer(run_demo, [command, *arguments[command], "--run", damaged])
    if command == "export":
        assert exported.exists() == (answer.code == 0), "half-written"


def run_of(path):
    """Returns the run folder that a file is in."""
    return next(parent for parent in path.parents if (parent / "params.json").exists())


def cut_short(path, chance):
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content) + 1)])


def flip_bits(path, chance):
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 5]) if content else 0):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def swap(path, chance):
    """Another file's content."""
    paths = [other for other in sorted(run_of(path).rglob("*")) if other.is_file()]
    path.write_bytes(chance.choice(paths).read_bytes())


def remove(path, chance):
    path.unlink()


def make_folder(path, chance):
    path.unlink()
    path.mkdir()


def link(path, chance):
    path.unlink()
    path.symlink_to(chance.choice(["/nowhere", "/dev/null", "/etc/passwd", path.name, ".."]))


def overwrite(path, chance):
    path.write_bytes(text(chance))


def change_parameters(path, chance):
    """One value of params.json is another, or missing, whatever file was chosen."""
    file = run_of(path) / "params.json"
    parameters = json.loads(file.read_text())
    name = chance.choice(sorted(parameters))
    if chance.random() < 0.3:
        del parameters[name]
    else:
        values = [None, -1, 0, 10**6, 10**30, 1.5, "x", "../..", [], {}, True, [[]], {"a": 1}]
        parameters[name] = chance.choice(values)
    file.write_text(json.dumps(parameters))


DAMAGES = (
    cut_short, flip_bits, swap, remove, make_folder, link, overwrite, change_parameters,
)  # fmt: skip


ENVIRONMENT = {
    "KERAS_BACKEND": ["jax", "torch", "", "no such"],
    "TF_USE_LEGACY_KERAS": ["1", "True"],
    "TF_ENABLE_ONEDNN_OPTS": ["0", "1", "x"],
    "TF_CONFIG": ["", "{}", "[", '{"cluster": 3}'],
    "HOME": ["/nowhere", "/dev/null"],
    "LC_ALL": ["C", "xx_XX"],
    "PYTHONIOENCODING": ["latin1", "ascii"],
    "PYTHONUTF8": ["0", "1"],
    "MPLBACKEND": ["TkAgg", "no such"],
    "COLUMNS": ["0", "1", "x"],
}


def program(command, environment=()):
    """Runs the program in a process of its own, by a shell; returns its exit code and its output.

    Checks that it ended without a traceback, and with one line of error where it failed.
    """
    shell = ["/bin/bash", "-c", f"{sys.executable} {ROOT / 'run_demo.py'} {command}"]
    done = subprocess.run(
        shell,
        capture_output=True,
        text=True,
        errors="replace",  # `head -c` may cut a character in two
        timeout=SECONDS,
        env={**os.environ, "PATH": os.defpath, **dict(environment)},
    )
    assert done.returncode in (0, 2, 141), f"exit code {done.returncode}: {done.stderr[-300:]}"
    for word in ("Traceback", "Exception ignored"):
        assert word not in done.stderr, done.stderr[-300:]
    said = re.findall(r"^run_demo\.py: ", done.stderr, re.M)
    assert len(said) == (done.returncode == 2) or "2>" in command, done.stderr[-300:]
    return done.returncode, done.stdout


def environment(run_demo, run, folder, chance):
    """Variables that other programs read, of any value."""
    names = chance.sample(sorted(ENVIRONMENT), k=3)
    given = [(name, chance.choice(ENVIRONMENT[name])) for name in names]
    code, out = program(f"translate --run {run} 'um dois.'", given)
    assert code or out.count("\n") == 1, given


def streams(run_demo, run, folder, chance):
    """Streams that are closed, full or empty."""
    stdin = chance.choice(["<&-", "< /dev/null"])
    stdout = chance.choice(["", ">&-", "> /dev/full", "| head -c 1"])
    stderr = chance.choice(["", "2>&-", "2> /dev/null"])
    text = chance.choice(["um", ""])
    program(f"translate --run {run} {text} {stdin} {stderr} {stdout}")


def strangers(run_demo, run, folder, chance):
    """A folder of somebody else, with files of names that a run has too: nothing in it changes."""
    names = ["params.json", "tokenizer.model", "lock", "cache/ids_0", "logs/x", "notes", "cache/a"]
    for name in chance.sample(names, k=chance.randrange(1, 5)):
        (folder / "theirs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "theirs" / name).write_bytes(text(chance, 3) + b"{}")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    data = ["--dataset", run.parent / "numbers.tsv", *SMALL]
    answer = Answer(run_demo, [*data, "--run", folder / "theirs"])
    assert answer.code == 2, "was taken over"
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def changed_corpus(run_demo, run, folder, chance):
    """A corpus that is edited after the training: only the test split that was is scored."""
    from nmt.corpus import corpora
    from nmt.corpus.source import CorpusSource

    tsv, copy = folder / "numbers.tsv", folder / "run"
    shutil.copytree(run, copy)
    lines = (run.parent / "numbers.tsv").read_text().splitlines()
    place = chance.randrange(len(lines))
    how = chance.randrange(4)
    if how == 0:
        lines.insert(place, "um.\tone.")
    elif how == 1:
        del lines[place]
    elif how == 2:
        lines[place] += "!"
    tsv.write_text("".join(f"{line}\n" for line in lines))
    saved = json.loads((copy / "params.json").read_text())
    saved["corpus"] = {"dataset": str(tsv)}
    (copy / "params.json").write_text(json.dumps(saved))
    before = (copy / "scores.json").read_bytes()
    answer = Answer(run_demo, ["evaluate", "--run", copy])
    with contextlib.redirect_stderr(io.StringIO()):
        test = run_demo.load_corpus(CorpusSource.from_json(saved["corpus"]), saved["seed"]).test
    same = corpora.fingerprint(test) == saved["test_sha256"]
    assert answer.code == (0 if same else 2), "other pairs were scored"
    assert same or (copy / "scores.json").read_bytes() == before


def fewer_cores(run_demo, run, folder, chance):
    """A training that is interrupted at any step, and resumed on any number of cores."""
    from nmt.results.pictures import Pictures
    from nmt.training import checkpoints, devices, signals

    command = ["--dataset", run.parent / "numbers.tsv", *SMALL, "--run", folder / "run"]
    command += ["--batch-size", chance.choice([1, 7, 64])]
    asked, agree = chance.randrange(1, 14), checkpoints.Keeper.agree_on_signals

    def interrupted(keeper):
        nonlocal asked
        asked -= 1
        if not asked:
            keeper.signals.note(signal.SIGTERM)
        agree(keeper)

    cores, draw = devices.cores, Pictures.draw
    handlers = [(number, signal.getsignal(number)) for number in signals.SIGNALS]
    Pictures.draw = lambda *given, **choices: None
    try:
        devices.cores = lambda: chance.choice([1, 2, 3, 4, 8])
        checkpoints.Keeper.agree_on_signals = interrupted
        with contextlib.suppress(AssertionError):  # exit code 143
            Answer(run_demo, command)
        checkpoints.Keeper.agree_on_signals = agree
        devices.cores = lambda: chance.choice([1, 2, 3, 4, 8])
        assert Answer(run_demo, command).code == 0
    finally:
        devices.cores, checkpoints.Keeper.agree_on_signals, Pictures.draw = cores, agree, draw
        for number, handler in handlers:
            signal.signal(number, handler)


KINDS = {
    kind.__name__: kind
    for kind in (
        stdin, arguments, spelling, blank, prefixes, files, training_text, flags, run_folder,
        strangers, changed_corpus, environment, streams, fewer_cores,
    )
}  # fmt: skip
SLOW = ("environment", "streams", "fewer_cores")  # a tenth of the cases: a process or two each
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


def try_cases(kind, run, cases):
    """Tries all cases of a kind, in processes. Returns how each case that failed ended."""
    failures, first = {}, 0
    while first < cases:
        last = min(first + AT_ONCE, cases)
        command = [sys.executable, __file__, "--work", kind, run, first, last]
        process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        number = first - 1
        for line in process.stdout.splitlines():
            number, end = json.loads(line)
            if end == "passed":
                del failures[number]
            else:
                failures[number] = end  # "began", until it ends
        if number < first:
            sys.exit(f"{kind}: no case was tried: {process.stderr[-300:]}")
        if process.returncode:  # in the case that it began last
            failures[number] = f"ended with {process.returncode}: {process.stderr[-300:]}"
        first = number + 1
    return failures


def train_run(folder):
    """Trains a small run in a folder, beside its numbers.tsv. Returns its path."""
    run, tsv = folder / "run", folder / "numbers.tsv"
    numbers = "um dois três quatro cinco seis sete oito nove".split()
    pairs = itertools.product(numbers, repeat=3)
    tsv.write_text("".join(f"{' '.join(n)}.\t{' '.join(reversed(n))}.\n" for n in pairs))
    train = [sys.executable, ROOT / "run_demo.py", "--dataset", tsv, *SMALL, "--run", run]
    subprocess.run(train, check=True, capture_output=True)
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--cases", type=int, default=300, help=f"of each kind; a tenth of {', '.join(SLOW)}"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument(
        "--run", type=Path, help="folder of a small trained run, beside its numbers.tsv"
    )
    parser.add_argument(
        "--server", type=float, metavar="SECONDS", help="attack a server for so long instead"
    )
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        kind, run, first, last = args.work
        work(kind, run, int(first), int(last))
        return
    failures = {}
    with tempfile.TemporaryDirectory() as folder:
        run = args.run.resolve() if args.run else train_run(Path(folder))
        if args.server:
            sys.exit(not hostile_server.attack_server(run, args.server))
        print("| kind | cases | passed |\n|---|---|---|", flush=True)
        for kind in args.kinds:
            cases = -(-args.cases // 10) if kind in SLOW else args.cases
            failures[kind] = try_cases(kind, run, cases)
            print(f"| {kind} | {cases} | {cases - len(failures[kind])} |", flush=True)
    for kind, ends in failures.items():
        for number, end in ends.items():
            print(f"{kind} {number}: {end}")
    sys.exit(any(failures.values()))


if __name__ == "__main__":
    main()
