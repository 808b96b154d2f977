"""What symbols for numbers, placeholders and URLs are worth: python benchmarks/protected.py

    python benchmarks/protected.py --train a.en a.fr --valid v.en v.fr --test t.en t.fr --folder DIR

Puts numbers, placeholders and URLs into a share of the lines of a corpus, in English and French
phrases, and trains two runs on it: one with symbols, one without (--no-protect). Prints a markdown
table: how many of the marked test lines come back with all of them exact, and BLEU of the test
split as it is; BLEU with and without protection, also of lines with numbers; how many lines with a
span of each kind come back exact. The last table shows what a glossary does to lines with its
terms. Flags after -- go to both training runs. DIR keeps the text and the runs; a second call
scores them again.
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

from nmt.corpus import files
from nmt.text.glossary import read_glossary
from nmt.text.protected import DEFAULT

ROOT = Path(__file__).resolve().parents[1]
RUNS = {"symbols": [], "no-protect": ["--no-protect"]}  # flags by name
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
TERMS = {  # of a glossary
    "dog": "chien", "woman": "femme", "boy": "garçon", "girl": "fille", "street": "rue",
    "beach": "plage", "ball": "ballon", "bike": "vélo", "water": "eau", "guitar": "guitare",
    "snow": "neige", "horse": "cheval", "car": "voiture", "bench": "banc", "hat": "chapeau",
}  # fmt: skip
NAMES = ["name", "user", "count", "city", "firstName", "x", "item_id", "0", "1"]
HOSTS = ["example.com", "www.photos.org", "shop.example.fr", "a.io"]


EXAMPLES = {  # of each kind; {} is a number
    "url": ["https://example.com/Bank_(Geld)?id={}", "www.a{}.org"],
    "email": ["me{}@a.org", "first.last@shop{}.example.fr"],
    "tag": ['<x id="{}"/>', "<br>", "&#{};"],
    "placeholder": ["{{name{}}}", "${{x}}", "%1$s", "%(n{})d", "{{{{y}}}}", "%{{z}}"],
    "code": ["A{}", "COVID-{}", "+49 30 {}567", "v1.{}"],
    "number": ["{}", "{:,}", "{}.50", "15 000", "12:30", "{} 12"],
}


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


def mark_share(pairs, share, seed):
    """Returns pairs of which a share is marked."""
    marks = Marks(seed)
    return [marks.mark(*pair) if marks.random.random() < share else pair for pair in pairs]


def train(run, folder, flags):
    """Trains a run on the text of a folder, unless it is trained."""
    command = [sys.executable, ROOT / "run_demo.py", "--run", run, "--no-plots"]
    for split in ("train", "valid", "test"):
        command += [f"--{split}", folder / f"{split}.tsv"]
    subprocess.run([*command, *flags], check=True, stdout=sys.stderr, cwd=ROOT)


def exact_share(unmarked, sources, translations):
    """Returns the share of lines that hold every span that was put into them.

    Numbers count by digits. What a line held before does not count: "2" may be a word.
    """
    exact = 0
    for before, source, translation in zip(unmarked, sources, translations, strict=True):
        known = collections.Counter(span.original for span in DEFAULT.spans(before))
        spans = DEFAULT.spans(source)
        put_in = collections.Counter(span.original for span in spans) - known
        numbers = {span.original: span.digits for span in spans if span.is_number}
        written = {span.digits for span in DEFAULT.spans(translation)}
        exact += all(text in translation or numbers.get(text) in written for text in put_in)
    return exact / len(sources)


def write_splits(args):
    """Writes the training and validation text with marks, and the test text. Returns its pairs."""
    args.folder.mkdir(parents=True, exist_ok=True)
    for split, seed in (("train", args.seed), ("valid", -args.seed)):
        pairs = [*files.read_pairs(getattr(args, split))]
        write_pairs(args.folder / f"{split}.tsv", mark_share(pairs, args.share, seed))
    test = [*files.read_pairs(args.test)]
    write_pairs(args.folder / "test.tsv", test)
    return test


def bleu(translate, pairs):
    """Returns the BLEU of a translator on pairs; 0 without any."""
    import sacrebleu

    if not pairs:
        return 0.0
    sources, references = zip(*pairs, strict=True)
    return sacrebleu.corpus_bleu([*translate(sources)], [references]).score


def compare_runs(args, test):
    """Prints a table: the share of exact lines, and BLEU with and without protection, of runs."""
    import run_demo

    marks = Marks(args.seed + 1)
    marked = [marks.mark(*pair)[0] for pair in test[: args.lines]]
    unmarked = [source for source, _ in test[: args.lines]]
    scattered = [marks.scatter(source) for source in unmarked]
    numbered = [pair for pair in test if any(map(str.isdigit, pair[0]))]
    print("| run | all exact, phrases as in training | all exact, anywhere | BLEU, no marks |")
    print("|---|---|---|---|", flush=True)
    rows = []
    for name in RUNS:
        translate = run_demo.load_translator(args.folder / name)
        shares = [
            exact_share(unmarked, lines, [*translate(lines)]) for lines in (marked, scattered)
        ]
        print(f"| {name} | {shares[0]:.1%} | {shares[1]:.1%} | {bleu(translate, test):.1f} |")
        unprotected = run_demo.load_translator(args.folder / name, protect=False)
        both = [bleu(one, pairs) for pairs in (test, numbered) for one in (unprotected, translate)]
        rows.append((name, translate, both))
    print(
        "\n| run | BLEU: translated with protect=False, protected | of lines with numbers: both |"
    )
    print("|---|---|---|")
    for name, _, (bare, kept, bare_numbers, kept_numbers) in rows:
        print(f"| {name} | {bare:.2f}, {kept:.2f} | {bare_numbers:.2f}, {kept_numbers:.2f} |")
    print(f"\n| run | {' | '.join(EXAMPLES)} |\n|{'---|' * (1 + len(EXAMPLES))}", flush=True)
    for name, translate, _ in rows:
        cells = [f"{kind_share(translate, test[: args.lines], kind):.1%}" for kind in EXAMPLES]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def kind_share(translate, pairs, kind):
    """Returns the share of lines that come back exact with a span of a kind between their words."""
    rng = random.Random(len(kind))
    lines = []
    for source, _ in pairs:
        words = source.split()
        span = rng.choice(EXAMPLES[kind]).format(rng.randrange(10_000))
        words.insert(rng.randrange(len(words)), span)
        lines.append(" ".join(words))
    return exact_share([source for source, _ in pairs], lines, [*translate(lines)])


def compare_glossary(folder, test, lines):
    """Prints a table: how many terms are in the translations, and BLEU, without and with them.

    Args:
      folder: of the run with symbols.
      test: pairs.
      lines: of `test` that hold a term, at most.
    """
    import sacrebleu

    import run_demo

    path = folder / "terms.tsv"
    write_pairs(path, TERMS.items())
    glossary = read_glossary(path)
    pairs = [pair for pair in test if glossary.spans(pair[0])][:lines]
    sources, references = zip(*pairs, strict=True)
    print("| glossary | lines | terms present | BLEU |\n|---|---|---|---|", flush=True)
    for name, terms in (("none", None), (f"{len(TERMS)} terms", path)):
        translate = run_demo.load_translator(folder / "symbols", glossary=terms)
        translations = [*translate(sources)]
        present = total = 0
        for source, translation in zip(sources, translations, strict=True):
            for span in glossary.spans(source):
                total += 1
                present += span.original.lower() in translation.lower()
        bleu = sacrebleu.corpus_bleu(translations, [references]).score
        print(f"| {name} | {len(sources)} | {present / total:.1%} | {bleu:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for split in ("train", "valid", "test"):
        parser.add_argument(f"--{split}", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR")
    parser.add_argument("--share", type=float, default=0.1, help="of the lines, that are marked")
    parser.add_argument("--lines", type=int, default=500, help="of each marked test set")
    parser.add_argument("--seed", type=int, default=1, help="of the marks")
    parser.add_argument("flags", nargs="*", help="of run_demo.py, after --")
    args = parser.parse_args()
    test = write_splits(args)
    for name, flags in RUNS.items():
        train(args.folder / name, args.folder, [*args.flags, *flags])
    compare_runs(args, test)
    print()
    compare_glossary(args.folder, test, args.lines)


if __name__ == "__main__":
    main()
