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
)
for family in FAMILIES:
    import_module(f"grammar.family_{family}")

SIZES = {"validation": 1000, "test": 1000, "train": 20000}
HERE = Path(__file__).resolve().parent


def read_everyday():
    """The hand-written pairs, by source."""
    lines = (HERE / "everyday.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line)


def main():
    """Write the three splits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "pt_en", help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    everyday = read_everyday()
    pairs, _ = generate(sum(SIZES.values()) - len(everyday), everyday)
    lines = sorted(f"{pt}\t{en}\n" for pt, en in pairs.items())
    for i in range(len(lines) - 1, 0, -1):
        j = DRAW.below(i + 1)
        lines[i], lines[j] = lines[j], lines[i]
    # What everyone tries first, such as "Bom dia.", is to be learned: short hand-written pairs come
    # last, and so to the training split.
    lines.sort(key=lambda line: line.partition("\t")[0] in everyday and line.count(" ") <= 6)
    for split, size in SIZES.items():
        part, lines = (lines[:size], lines[size:]) if split != "train" else (lines, [])
        (out / f"{split}.tsv").write_text("".join(part), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
