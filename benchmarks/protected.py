"""What symbols for numbers, placeholders and URLs are worth: python benchmarks/protected.py

    python benchmarks/protected.py --train a.en a.fr --valid v.en v.fr --test t.en t.fr --folder DIR

Puts numbers, placeholders and URLs into a share of the lines of a corpus, in English and French
phrases, and trains two runs on it: one with symbols, one without (--no-protect). Prints a markdown
table: how many of the marked test lines come back with all of them exact, and BLEU of the test
split as it is. Flags after -- go to both training runs. DIR keeps the text and the runs; a second
call scores them again.
"""

import argparse
import collections
import os
import random
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as `run_demo.py translate` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt.text import files
from nmt.text.protected import DEFAULT

ROOT = Path(__file__).resolve().parents[1]
SHARE = 0.1  # of the lines, that are marked
MAX_MARKS = 3  # in a line
BEFORE = [  # phrases that are put before a line, and after it
    ("Hello {}, ", "Bonjour {}, "),
    ("In {}, ", "En {}, "),
    ("Page {}: ", "Page {} : "),
]
AFTER = [
    (" for {} euros", " pour {} euros"),
    (" (see {})", " (voir {})"),
    (" at {}", " à {}"),
]
NAMES = ["name", "user", "count", "city", "firstName", "x", "item_id", "0", "1"]
HOSTS = ["example.com", "www.photos.org", "shop.example.fr", "a.io"]


class Marks:
    """Draws numbers, placeholders and URLs."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def draw(self):
        """Returns a number, a placeholder or a URL."""
        choose, number = self.random.choice, self.random.randrange
        kind = number(3)
        if kind == 0:
            return choose(
                [str(number(10_000)), f"{number(1, 100)},{number(1000):03}.{number(100):02}",
                 f"{number(24)}:{number(60):02}", f"{number(10)}.{number(10)}"]
            )  # fmt: skip
        if kind == 1:
            name = choose(NAMES)
            return choose([f"{{{name}}}", f"{{{{{name}}}}}", f"${{{name}}}", "%s", "%d", "%1$s"])
        return f"https://{choose(HOSTS)}/{choose(NAMES)}?id={number(10**6)}"

    def mark(self, source, target):
        """Returns a pair with 1 to MAX_MARKS marks in phrases before and after it."""
        for _ in range(self.random.randint(1, MAX_MARKS)):
            mark = self.draw()
            if self.random.random() < 0.5:
                phrase, translation = self.random.choice(BEFORE)
                source, target = phrase.format(mark) + source, translation.format(mark) + target
            else:
                phrase, translation = self.random.choice(AFTER)
                source = source.removesuffix(".") + phrase.format(mark) + "."
                target = target.removesuffix(".") + translation.format(mark) + "."
        return source, target

    def scatter(self, source):
        """Returns a source with 1 to MAX_MARKS marks between any of its words."""
        words = source.split()
        for _ in range(self.random.randint(1, MAX_MARKS)):
            words.insert(self.random.randrange(len(words)), self.draw())
        return " ".join(words)


def write_pairs(path, pairs):
    """Writes pairs to a .tsv, without the few that hold a tab."""
    rows = ["\t".join(pair) + "\n" for pair in pairs if "\t" not in "".join(pair)]
    path.write_text("".join(rows), encoding="utf-8")


def mark_share(pairs, seed):
    """Returns pairs of which a SHARE is marked."""
    marks = Marks(seed)
    return [marks.mark(*pair) if marks.random.random() < SHARE else pair for pair in pairs]


def train(run, folder, flags):
    """Trains a run on the text of a folder, unless it is trained."""
    command = [sys.executable, ROOT / "run_demo.py", "--run", run, "--no-plots"]
    for split in ("train", "valid", "test"):
        command += [f"--{split}", folder / f"{split}.tsv"]
    subprocess.run([*command, *flags], check=True, stdout=sys.stderr, cwd=ROOT)


def exact_share(sources, translations):
    """Returns the share of lines that hold the same spans as their sources, exactly."""

    def spans(text):
        return collections.Counter(DEFAULT.protect(text).originals)

    pairs = zip(sources, translations, strict=True)
    return sum(spans(source) == spans(target) for source, target in pairs) / len(sources)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for split in ("train", "valid", "test"):
        parser.add_argument(f"--{split}", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=500, help="of each marked test set")
    parser.add_argument("--seed", type=int, default=1, help="of the marks")
    parser.add_argument("flags", nargs="*", help="of run_demo.py, after --")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    write_pairs(args.folder / "train.tsv", mark_share([*files.read_pairs(args.train)], args.seed))
    write_pairs(args.folder / "valid.tsv", mark_share([*files.read_pairs(args.valid)], -args.seed))
    test = [*files.read_pairs(args.test)]
    write_pairs(args.folder / "test.tsv", test)
    runs = {"symbols": [], "--no-protect": ["--no-protect"]}
    for number, flags in enumerate(runs.values()):
        train(args.folder / f"run{number}", args.folder, [*args.flags, *flags])

    import sacrebleu

    import run_demo

    marks = Marks(args.seed + 1)
    marked = [marks.mark(*pair)[0] for pair in test[: args.lines]]
    scattered = [marks.scatter(source) for source, _ in test[: args.lines]]
    sources, references = zip(*test, strict=True)
    print("| run | all exact, phrases as in training | all exact, anywhere | BLEU, no marks |")
    print("|---|---|---|---|", flush=True)
    for number, name in enumerate(runs):
        translate = run_demo.load_translator(args.folder / f"run{number}")
        shares = [exact_share(lines, [*translate(lines)]) for lines in (marked, scattered)]
        bleu = sacrebleu.corpus_bleu([*translate(sources)], [references]).score
        print(f"| {name} | {shares[0]:.1%} | {shares[1]:.1%} | {bleu:.1f} |", flush=True)


if __name__ == "__main__":
    main()
