"""Which word translates which, from cross-attention.

The last layer, the mean of its heads, and the row that predicts a token: of all layers, heads and
rows, these had the fewest errors on half of data/alignments.tsv (benchmarks/alignment.py).
"""

import numpy as np

from nmt.text import sentences

SPACE = "\u2581"  # SentencePiece's mark of a space, which begins a word


def word_numbers(tokens):
    """Returns the number of the word that each of `tokens` (strings) belongs to, from 0."""
    before = ["x", *tokens]  # two spaces in a row are two tokens, and begin one word
    begins = [
        number == 0 or (token.startswith(SPACE) and before[number].strip(SPACE) != "")
        for number, token in enumerate(tokens)
    ]
    return np.cumsum(begins) - 1


def by_words(weights, source, target):
    """Returns the attention (words of target, words of source) of weights (T, S) by token.

    Of the tokens of a source word, weights are added; of those of a target word, averaged.

    Args:
      source, target: word numbers (S,), (T,).
    """
    from_target = np.eye(target[-1] + 1)[target].T  # (words, T)
    from_target /= from_target.sum(axis=1, keepdims=True)
    return from_target @ weights @ np.eye(source[-1] + 1)[source]


def links(weights, source, target):
    """Returns the sorted links (source word, target word) of a pair, numbers from 0.

    Each target word is linked to the source word that it attends to most, and each source word to
    the target word that attends to it most.

    Args:
      weights: cross-attention (T, S); row t predicted token t.
      source, target: tokens (strings) of each, without START and END.
    """
    if not source or not target:
        return []
    attention = by_words(weights, word_numbers(source), word_numbers(target))
    of_targets = attention.argmax(axis=1)
    attention = attention / np.maximum(attention.sum(axis=0), 1e-9)
    of_sources = attention.argmax(axis=0)
    found = {(int(i), j) for j, i in enumerate(of_targets)}
    found |= {(i, int(j)) for i, j in enumerate(of_sources)}
    return sorted(found)


def words(text):
    """Returns the number of words of a text: of what stands between spaces."""
    return sum(map(bool, text.split(" ")))


def joined(pairs, spaces, found, tag=""):
    """Returns the links of a line from those of its sentences.

    Args:
      pairs: (sentence, translation) strings, in their order.
      spaces: the white space after each sentence.
      found: the links of each pair.
      tag: what every sentence begins with, and the line only once.
    """
    line, gaps = [], [" " if space else "" for space in spaces]
    sources, targets = map(list, zip(*pairs, strict=True))
    sources[1:] = (source.removeprefix(tag) for source in sources[1:])
    for number, links in enumerate(found):
        copied = words(tag) if number else 0  # words of the sentence that are not in the line here
        # Its first words; without a space before it, it begins within a word.
        source = words("".join(map("".join, zip(sources[: number + 1], gaps, strict=False))))
        target = words(sentences.join(targets[: number + 1], gaps[: number + 1]))
        source, target = source - words(sources[number]), target - words(targets[number])
        line += [(source + i - copied, target + j) for i, j in links if i >= copied]
    return line


def pharaoh(found):
    """Returns links as text, "0-0 1-2"."""
    return " ".join(f"{i}-{j}" for i, j in found)
