"""Write the bundled Portuguese-English corpus: a seeded bilingual grammar.

Run `python data/make_corpus.py [--out DIR]`. It writes `train.tsv`, `validation.tsv` and `test.tsv`
(one `Portuguese TAB English` pair per line) to DIR, by default `pt_en/` beside this file. The pairs
are the hand-written ones of `everyday.tsv` and sentences of the grammar in `grammar/`, from the
words in `lexicon/`. The same bytes come out on every run and Python version. All text was written
for this project.
"""

import argparse
from importlib import import_module
from pathlib import Path

from grammar.phrases import DRAW
from grammar.writing import generate

# Importing a family registers its sentences; their order is part of the corpus.
FAMILIES = (
    "tenses",
    "be_and_have",
    "objects",
    "questions",
    "subordinate",
    "conditions",
    "comparison",
    "possession",
    "themes",
    "verbs",
    "world",
    "beginner_be",
    "beginner_verbs",
)
for family in FAMILIES:
    import_module(f"grammar.family_{family}")

SIZES = {"validation": 1000, "test": 1000, "train": 32000}
OTHER_MARK = {".": "!", "!": "."}
HERE = Path(__file__).resolve().parent


def read_pairs(name):
    """The hand-written pairs of a table, by source."""
    lines = (HERE / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line)


def without_mark(text):
    """A line as many type it: lower-case at the beginning, without the mark at the end."""
    return text[0].lower() + text[1:].rstrip(".!")


def typed_forms(pairs):
    """The other forms of short hand-written pairs: with the other mark, and as many type them."""
    forms = {}
    for pt, en in pairs.items():
        if pt.count(" ") > 4:
            continue
        forms[without_mark(pt)] = en
        if pt[-1] in OTHER_MARK and en[-1] in OTHER_MARK:
            forms[pt[:-1] + OTHER_MARK[pt[-1]]] = en[:-1] + OTHER_MARK[pt[-1]]
    return {pt: en for pt, en in forms.items() if pt not in pairs}


def typed(pairs, kept):
    """The pairs, a tenth of the short ones as many type them: without a capital or a stop."""
    out = {}
    for pt, en in pairs.items():
        if pt not in kept and pt.count(" ") <= 6 and DRAW.chance(0.12):
            form = DRAW.choice((without_mark(pt), pt.rstrip("."), pt[0].lower() + pt[1:]))
            pt = pt if form in pairs or form in kept else form
        out[pt] = en
    return out


def main():
    """Write the three splits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "pt_en", help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    written = read_pairs("beginner") | read_pairs("everyday")
    written |= typed_forms(written)
    pairs, _ = generate(sum(SIZES.values()) - len(written), written)
    lines = sorted(f"{pt}\t{en}\n" for pt, en in typed(pairs, written).items())
    for i in range(len(lines) - 1, 0, -1):
        j = DRAW.below(i + 1)
        lines[i], lines[j] = lines[j], lines[i]
    # What everyone tries first, such as "Bom dia.", is to be learned: short hand-written pairs come
    # last, and so to the training split.
    lines.sort(key=lambda line: line.partition("\t")[0] in written and line.count(" ") <= 6)
    for split, size in SIZES.items():
        part, lines = (lines[:size], lines[size:]) if split != "train" else (lines, [])
        (out / f"{split}.tsv").write_text("".join(part), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
