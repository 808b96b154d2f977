"""Alignment error rates of attention, by layer and head, on 100 pairs aligned by hand.

    python benchmarks/alignment.py --run runs/quick [--pairs data/alignments.tsv]

A line of the file is source, target, and links from word to word, all separated by tabs: "0-0" is
sure, "0?1" possible. The error rate is 1 - (|A and S| + |A and P|) / (|A| + |S|), of found links A,
sure ones S, and all P (Och and Ney 2003, section 6.2). Lines 1, 3, 5, ... are those to choose by;
the others tell what the choice is worth. "Diagonal" links each target word to the source word at
the same part of the sentence.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as `run_demo.py align` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from nmt.decoding import alignment
from nmt.decoding.attention import KINDS
from nmt.runs import loading
from nmt.text.corpora import DATA


def read(path):
    """Returns rows of source, target, sure links and all links."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        source, target, links = line.split("\t")
        every = {tuple(map(int, link.replace("?", "-").split("-"))) for link in links.split()}
        sure = {tuple(map(int, link.split("-"))) for link in links.split() if "-" in link}
        found.append((source, target, sure, every))
    return found


def error_rate(found, rows):
    """Returns the alignment error rate of the links found for each of `rows`."""
    hits = total = 0
    for links, (_, _, sure, every) in zip(map(set, found), rows, strict=True):
        hits += len(links & sure) + len(links & every)
        total += len(links) + len(sure)
    return 1 - hits / total


def diagonal(source, target):
    """Returns the links of a pair along the diagonal."""
    words, others = len(target.split()), len(source.split())
    return {(round(j * (others - 1) / max(words - 1, 1)), j) for j in range(words)}


def attention(tokenizer, model, rows):
    """Returns, for each of `rows`, the weights (H, T, S) of each layer, and the tokens."""
    found = []
    for source, target, *_ in rows:
        ids = tokenizer.encode([source, target])
        inp, tar = (np.array([side]) for side in ids)
        _, weights = model.transformer((inp, tar[:, :-1]), training=False)
        layers = range(1, model.transformer.config["decoder_layers"] + 1)
        cross = [weights[KINDS["cross"].layer.format(layer)][0, :, :-1, 1:-1] for layer in layers]
        tokens = [tokenizer.tokens(side[1:-1]) for side in ids]
        found.append((np.array(cross, float), tokens))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", required=True, help="a trained run")
    parser.add_argument("--pairs", type=Path, default=DATA / "alignments.tsv")
    args = parser.parse_args()
    rows = read(args.pairs)
    _, tokenizer, model = loading.load(args.run)
    weights = attention(tokenizer, model, rows)
    layers, heads = weights[0][0].shape[:2]
    table = {"diagonal": [diagonal(source, target) for source, target, *_ in rows]}
    for layer in range(layers):
        for head in ["mean", *range(heads)]:
            which = slice(None) if head == "mean" else [head]
            name = "all heads" if head == "mean" else f"head {head + 1}"
            table[f"layer {layer + 1}, {name}"] = [
                alignment.links(cross[layer, which].mean(0), *tokens) for cross, tokens in weights
            ]
    print("| attention | lines to choose by | other lines |\n|---|---|---|")
    for name, found in table.items():
        rates = [error_rate(found[half::2], rows[half::2]) for half in (0, 1)]
        print(f"| {name} | {rates[0]:.1%} | {rates[1]:.1%} |")


if __name__ == "__main__":
    main()
