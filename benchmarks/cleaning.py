"""What `data` finds of known dirt in parallel text: python benchmarks/cleaning.py

    python benchmarks/cleaning.py a.en a.fr --other a.de --folder DIR

Takes --clean pairs of two aligned files, and adds --each pairs of every kind of DIRT to them: what
web pages, spreadsheets and wrong joins leave in a corpus. --other is a text in a third language.
DIR/dirty.tsv is the result, with the kind of each pair in DIR/kinds.txt. Prints two markdown
tables: how many pairs of each kind are recognized, and how many of the pairs with a problem are
dirty.
"""

import argparse
import collections
import html
import itertools
import os
import random
import re
import sys
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as `run_demo.py data` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt.corpus import cleaning, files
from nmt.corpus.formats.format import Row
from nmt.text import encoding
from nmt.text.line_languages import LineLanguages

SEED = 42
CLEAN = "clean"  # the kind of a pair without dirt


# ---- Dirt: functions of a clean pair and a Context that return a pair ----


class Context:
    """What a dirty pair is made of, beside a clean one; the lines are of a third language."""

    def __init__(self, pairs, other_lines, seed=SEED):
        self.pairs, self.other_lines, self.random = pairs, other_lines, random.Random(seed)

    def word_of(self, text):
        """Returns the number of a word of a text."""
        return self.random.randrange(len(text.split()))


def bold(pair, context):
    """Returns a pair with a word of each side in bold, as on a web page."""
    sides = []
    for text in pair:
        words = text.split()
        number = context.word_of(text)
        words[number] = f"<b>{words[number]}</b>"
        sides.append(" ".join(words))
    return tuple(sides)


def entities(pair, context):
    """Returns a pair whose target is escaped as for HTML, with & between two words."""
    source, target = pair
    return f"{source} & more", html.escape(f'{target} & "plus"')


def url(pair, context):
    """Returns a pair with a URL at the end of one side or of both."""
    link = f" https://example.com/photo/{context.random.randrange(10_000)}"
    sides = context.random.choice([(1, 0), (0, 1), (1, 1)])
    return tuple(text + link * side for text, side in zip(pair, sides, strict=True))


def shifted(pair, context):
    """Returns a source with the target of the pair after it: a line is missing."""
    number = context.pairs.index(pair)
    return pair[0], context.pairs[(number + 1) % len(context.pairs)][1]


def joined_wrongly(pair, context):
    """Returns a source with the target of any other pair."""
    return pair[0], context.random.choice(context.pairs)[1]


def other_language(pair, context):
    """Returns a pair with one side in a third language: half of them the source."""
    line = context.random.choice(context.other_lines)
    return (line, pair[1]) if context.random.random() < 0.5 else (pair[0], line)


def copy(pair, context):
    """Returns a source that was not translated."""
    return pair[0], pair[0]


def cells(pair, context):
    """Returns a pair as cells of a spreadsheet, with quotation marks around a word."""
    source, target = (re.sub(r"(\w+)$", r'"\1"', text.rstrip(".")) for text in pair)
    quoted = [f'"{text.replace(chr(34), chr(34) * 2)}"' for text in (source, target)]
    return context.random.choice([quoted, [quoted[0], pair[1]], [f'"{pair[0]}"', f'"{pair[1]}"']])


def mojibake(pair, context):
    """Returns a pair whose target, with an accent, was decoded as Windows-1252 before."""
    accented = [pair for pair in context.pairs if not pair[1].isascii()]
    source, target = context.random.choice(accented)
    return source, target.encode().decode("cp1252", "replace")


def without_side(pair, context):
    """Returns a pair of which one side is empty."""
    return (pair[0], "") if context.random.random() < 0.5 else ("", pair[1])


def too_long(pair, context):
    """Returns a pair whose target is followed by those of four others."""
    others = [context.random.choice(context.pairs)[1] for _ in range(4)]
    return pair[0], " ".join([pair[1], *others])


def repeated(pair, context):
    """Returns a clean pair again."""
    return pair


def other_number(pair, context):
    """Returns a pair with another number on each side."""
    first, second = context.random.sample(range(10, 1000), 2)
    return f"{pair[0]} {first}", f"{pair[1]} {second}"


def other_placeholder(pair, context):
    """Returns a pair of which a placeholder was translated, too."""
    return f"{pair[0]} {{name}}", f"{pair[1]} {{nom}}"


DIRT = {  # by name: what makes it, and the problem that is to be recognized
    "<b> around a word": (bold, "tags"),
    "HTML entities": (entities, "tags"),
    "URL": (url, "urls"),
    "target of the next line": (shifted, "misaligned"),
    "target of any line": (joined_wrongly, "misaligned"),
    "third language": (other_language, "language"),
    "source as target": (copy, "equal"),
    "cells in quotes": (cells, "quotes"),
    "mojibake": (mojibake, "encoding"),
    "empty side": (without_side, "empty"),
    "five targets": (too_long, "ratio"),
    "pair again": (repeated, "duplicate"),
    "other number": (other_number, "numbers"),
    "other placeholder": (other_placeholder, "placeholders"),
}


def dirty_text(pairs, other_lines, each, seed=SEED):
    """Returns pairs with `each` pairs of every kind of DIRT among them, and the kind of each.

    Dirt is made of clean pairs that do not stay.
    """
    context = Context(pairs, other_lines, seed)
    chosen = context.random.sample(range(len(pairs)), each * len(DIRT))
    kinds = dict(zip(chosen, [name for name in DIRT for _ in range(each)], strict=True))
    text = []
    for number, pair in enumerate(pairs):
        kind = kinds.get(number, CLEAN)
        if kind == "pair again":
            text.append((pair, CLEAN))
        text.append((pair if kind == CLEAN else tuple(DIRT[kind][0](pair, context)), kind))
    return text


# ---- Recognition ----


def recognized(text, languages):
    """Returns the names of the problems of each pair; without languages, these are not checked."""
    rows = [Row(number, list(pair)) for number, (pair, _) in enumerate(text, start=1)]
    check = LineLanguages(languages) if languages else None
    checker = cleaning.Checker(rows[: cleaning.SAMPLE], languages=check)
    return [checker.problems(row.cells)[0] for row in rows]


def harmful(problems):
    """Returns the problems of a pair that `--drop all` drops."""
    return {*problems} - cleaning.HARMLESS


def recall_table(text, problems):
    """Returns a markdown table: the share of each kind of dirt that is recognized."""
    lines = ["| dirt | problem | recall | dropped by all |", "|---|---|---|---|"]
    for kind, (_, problem) in DIRT.items():
        named = [names for names, (_, name) in zip(problems, text, strict=True) if name == kind]
        recall = sum(problem in names for names in named) / len(named)
        dropped = sum(bool(harmful(names)) for names in named) / len(named)
        lines.append(f"| {kind} | `{problem}` | {recall:.0%} | {dropped:.0%} |")
    return "\n".join(lines)


def precision_table(text, problems):
    """Returns a markdown table: how many of the pairs with a problem are dirty."""
    counts = collections.defaultdict(collections.Counter)  # by problem: dirty and clean pairs
    for names, (_, kind) in zip(problems, text, strict=True):
        for name in [*names, *(["all"] if harmful(names) else [])]:
            counts[name][kind != CLEAN] += 1
    lines = ["| problem | pairs | precision | of clean pairs |", "|---|---|---|---|"]
    clean = sum(kind == CLEAN for _, kind in text)
    for name in (*cleaning.PROBLEMS, "all"):
        dirty, wrong = counts[name][True], counts[name][False]
        if dirty + wrong:
            share = f"{dirty / (dirty + wrong):.0%}"
            lines.append(f"| `{name}` | {dirty + wrong} | {share} | {wrong / clean:.2%} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs=2, metavar="FILE", help="clean text, aligned by line")
    parser.add_argument("--other", required=True, metavar="FILE", help="text in a third language")
    parser.add_argument("--folder", type=Path, required=True, help="for the dirty text")
    parser.add_argument("--clean", type=int, default=8000, help="pairs without dirt")
    parser.add_argument("--each", type=int, default=40, help="pairs of each kind of dirt")
    args = parser.parse_args()
    size = args.clean + args.each * (len(DIRT) - 1)  # a repeated pair adds one
    pairs = list(itertools.islice(files.read_pairs(args.files), size))
    other_lines = list(encoding.read_lines(args.other))[-size:]
    text = dirty_text(pairs, other_lines, args.each)
    args.folder.mkdir(parents=True, exist_ok=True)
    dirty, kinds = args.folder / "dirty.tsv", args.folder / "kinds.txt"
    dirty.write_text("".join(f"{s}\t{t}\n" for (s, t), _ in text), encoding="utf-8")
    kinds.write_text("".join(f"{kind}\n" for _, kind in text), encoding="utf-8")
    languages = files.languages_of(args.files)
    problems = recognized(text, languages)
    print(f"{len(text):,} pairs, {args.each} of each kind of dirt\n")
    print(recall_table(text, problems))
    print(f"\n{precision_table(text, problems)}")


if __name__ == "__main__":
    main()
