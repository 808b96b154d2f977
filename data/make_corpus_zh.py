"""Write the bundled Chinese-English corpus: a seeded bilingual grammar of beginner's sentences.

Run `python data/make_corpus_zh.py [--out DIR]`. It writes `train.tsv`, `validation.tsv` and
`test.tsv` (one `Chinese TAB English` pair per line) to DIR, by default `zh_en/` beside this file.
The pairs are the hand-written ones of `beginner_zh.tsv` and sentences of the grammar in
`grammar_zh/`, from the words in `lexicon_zh/`. The same bytes come out on every run and Python
version. All text was written for this project.
"""

import argparse
from pathlib import Path

from grammar_zh.families import FAMILIES
from grammar_zh.lexicon import DRAW
from grammar_zh.writing import generate, typed

SIZES = {"validation": 500, "test": 500, "train": 12_000}
TYPED_SHARE = 0.08  # of the training text: written as many type it
HERE = Path(__file__).resolve().parent


OTHER_MARK = {"。": "！", "！": "。", ".": "!", "!": "."}


def hand_written():
    """Returns the pairs of beginner_zh.tsv, English by Chinese, also with another mark or none."""
    lines = (HERE / "beginner_zh.tsv").read_text(encoding="utf-8").splitlines()
    pairs = dict(line.split("\t") for line in lines)
    forms = {}
    for zh, en in pairs.items():
        if zh[-1] in OTHER_MARK and en[-1] in OTHER_MARK:
            forms[zh[:-1] + OTHER_MARK[zh[-1]]] = en[:-1] + OTHER_MARK[en[-1]]
            forms[zh[:-1]] = en
        elif zh.endswith("？"):
            forms[zh[:-1] + "?"] = en
    return forms | pairs


def shuffled(items):
    """Returns a list in an order that is drawn; random.shuffle differs between versions."""
    items = list(items)
    for i in range(len(items) - 1, 0, -1):
        j = DRAW.below(i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def split(pairs, written):
    """Returns the pairs by split; hand-written ones, which everyone tries first, are learned."""
    drawn = shuffled([pair for pair in pairs.items() if pair[0] not in written])
    parts = {}
    for name in ("validation", "test"):
        parts[name], drawn = drawn[: SIZES[name]], drawn[SIZES[name] :]
    train, seen = [], set(pairs)
    for pair in shuffled([*written.items(), *drawn]):
        form = typed(pair) if DRAW.chance(TYPED_SHARE) else pair
        train.append(pair if form[0] in seen else form)
        seen.add(train[-1][0])
    return parts | {"train": train}


def main():
    """Write the three splits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "zh_en", help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    written = hand_written()
    pairs = generate(FAMILIES, sum(SIZES.values()), written)
    for name, part in split(pairs, written).items():
        text = "".join(f"{zh}\t{en}\n" for zh, en in part)
        (out / f"{name}.tsv").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
