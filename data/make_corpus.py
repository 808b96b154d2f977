"""Write the bundled Portuguese-English corpus: a seeded bilingual grammar.

Run `python data/make_corpus.py [--out DIR]`. It writes `train.tsv`, `validation.tsv`, `test.tsv`
and `conversation.tsv` (a `Portuguese TAB English` pair per line) to DIR, by default `pt_en/` beside
this file.

The first three hold the hand-written pairs of `beginner.tsv` and `everyday.tsv`, and sentences of
the grammar in `grammar/`, from the words in `lexicon/`. In the training split, the hand-written
ones of `phrases.tsv`, copies with digits and copies without accents then take the place of as many
of the grammar. The fourth, which corpus `bundled-conversation` adds to the training split, holds
the hand-written pairs of the table of that name, and copies of some as they are typed in a hurry.
The same bytes come out on every run and Python version. All text was written for this project.
"""

import argparse
from importlib import import_module
from pathlib import Path

from grammar.phrases import DRAW
from grammar.typed import (
    accentless,
    bare,
    hurried_questions,
    typed,
    typed_forms,
    with_digits,
)
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
DIGIT_COPIES, ACCENTLESS_COPIES, ACCENTLESS_SHARE = 1300, 2500, 0.25  # of the training pairs
QUESTION_SHARE = 0.4  # of questions that are typed in a hurry, too
HERE = Path(__file__).resolve().parent


def read_pairs(name):
    """The hand-written pairs of a table, by source."""
    lines = (HERE / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line)


def extended(pairs, held_out, written):
    """The training pairs, some of the grammar's replaced by phrases and copies.

    No source comes twice, whatever its capital and its mark, nor is it in `held_out`; the pairs
    that are `written` by hand stay.
    """
    phrases = list(read_pairs("phrases").items())
    digits = [copy for pair in pairs if (copy := with_digits(pair))][:DIGIT_COPIES]
    plain = accentless([*phrases, *pairs], ACCENTLESS_SHARE)[:ACCENTLESS_COPIES]
    taken = {bare(pt) for pt, _ in [*pairs, *held_out]}
    places = [number for number, (pt, _) in enumerate(pairs) if pt not in written]
    pairs = list(pairs)
    for pt, en in [*phrases, *digits, *plain]:
        if bare(pt) in taken:
            continue
        taken.add(bare(pt))
        place = DRAW.below(len(places))
        pairs[places[place]] = pt, en
        places[place] = places[-1]
        places.pop()
    return pairs


def conversation(other_pairs):
    """The pairs of `conversation.tsv`, shuffled, of which no source is one of `other_pairs`."""
    pairs = list(read_pairs("conversation").items())
    copies = accentless(pairs, ACCENTLESS_SHARE) + hurried_questions(pairs, QUESTION_SHARE)
    taken = {bare(pt) for pt, _ in other_pairs}
    kept = []
    for pt, en in [*pairs, *copies]:
        if bare(pt) not in taken:
            taken.add(bare(pt))
            kept.insert(DRAW.below(len(kept) + 1), (pt, en))
    return kept


def main():
    """Write the three splits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "pt_en", help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    written = read_pairs("beginner") | read_pairs("everyday")
    written |= typed_forms(written)
    pairs, _ = generate(sum(SIZES.values()) - len(written), written)
    pairs = sorted(typed(pairs, written).items(), key="\t".join)
    for i in range(len(pairs) - 1, 0, -1):
        j = DRAW.below(i + 1)
        pairs[i], pairs[j] = pairs[j], pairs[i]
    # What everyone tries first, such as "Bom dia.", is to be learned: short hand-written pairs come
    # last, and so to the training split.
    pairs.sort(key=lambda pair: pair[0] in written and "\t".join(pair).count(" ") <= 6)
    splits = {}
    for split, size in SIZES.items():
        splits[split], pairs = pairs[:size], pairs[size:]
    splits["train"] = extended(splits["train"], splits["validation"] + splits["test"], written)
    splits["conversation"] = conversation([pair for part in splits.values() for pair in part])
    for split, part in splits.items():
        text = "".join(f"{pt}\t{en}\n" for pt, en in part)
        (out / f"{split}.tsv").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
