"""Alignment error rates of attention, by layer and head, on 100 pairs aligned by hand.

    python benchmarks/alignment.py --run runs/quick [--pairs data/alignments.tsv]

A line of the file is source, target, and links from word to word, all separated by tabs: "0-0" is
sure, "0?1" possible. The error rate is 1 - (|A and S| + |A and P|) / (|A| + |S|), of links A,
sure ones S, and all P (Och and Ney 2003, section 6.2). Lines 1, 3, 5, ... are those to choose by;
the others tell what the choice is worth. "Diagonal" links each target word to the source word at
the same part of the sentence.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as `run_demo.py align` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from nmt.corpus.corpora import DATA
from nmt.decoding import alignment
from nmt.decoding.attention import KINDS
from nmt.runs import loading


class AlignedPair(NamedTuple):
    """A pair that was aligned by hand."""

    source: str
    target: str
    sure: set[tuple[int, int]]  # links (source word, target word)
    possible: set[tuple[int, int]]  # the sure ones among them


def read(path):
    """Returns the AlignedPairs of a file."""
    pairs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        source, target, links = line.split("\t")
        possible = {tuple(map(int, link.replace("?", "-").split("-"))) for link in links.split()}
        sure = {tuple(map(int, link.split("-"))) for link in links.split() if "-" in link}
        pairs.append(AlignedPair(source, target, sure, possible))
    return pairs


def error_rate(alignments, pairs):
    """Returns the alignment error rate of the links of each of several AlignedPairs."""
    hits = total = 0
    for links, pair in zip(map(set, alignments), pairs, strict=True):
        hits += len(links & pair.sure) + len(links & pair.possible)
        total += len(links) + len(pair.sure)
    return 1 - hits / total


def diagonal(source, target):
    """Returns the links of a pair along the diagonal."""
    source_words, target_words = len(source.split()), len(target.split())
    last = max(target_words - 1, 1)
    return {(round(j * (source_words - 1) / last), j) for j in range(target_words)}


def attention(tokenizer, model, pairs):
    """Returns, for each AlignedPair, the weights (H, T, S) of each layer, and the tokens."""
    results = []
    for pair in pairs:
        ids = tokenizer.encode([pair.source, pair.target])
        inp, tar = (np.array([side]) for side in ids)
        _, weights = model.transformer((inp, tar[:, :-1]), training=False)
        layers = range(1, len(model.transformer.decoder.dec_layers) + 1)
        cross = [weights[KINDS["cross"].layer.format(layer)][0, :, :-1, 1:-1] for layer in layers]
        tokens = list(map(tokenizer.surfaces, (pair.source, pair.target)))
        results.append((np.array(cross, float), tokens))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", required=True, help="a trained run")
    parser.add_argument("--pairs", type=Path, default=DATA / "alignments.tsv")
    args = parser.parse_args()
    pairs = read(args.pairs)
    _, tokenizer, model = loading.load(args.run)
    weights = attention(tokenizer, model, pairs)
    layers, heads = weights[0][0].shape[:2]
    table = {"diagonal": [diagonal(pair.source, pair.target) for pair in pairs]}
    for layer in range(layers):
        for head in ["mean", *range(heads)]:
            which = slice(None) if head == "mean" else [head]
            name = "all heads" if head == "mean" else f"head {head + 1}"
            table[f"layer {layer + 1}, {name}"] = [
                alignment.links(cross[layer, which].mean(0), *tokens) for cross, tokens in weights
            ]
    print("| attention | lines to choose by | other lines |\n|---|---|---|")
    for name, alignments in table.items():
        rates = [error_rate(alignments[half::2], pairs[half::2]) for half in (0, 1)]
        print(f"| {name} | {rates[0]:.1%} | {rates[1]:.1%} |")


if __name__ == "__main__":
    main()
