"""The n best translations of a sentence, each text once; and of a line of several sentences."""

from typing import NamedTuple

import numpy as np

from nmt.text import sentences


def merged(hypotheses, number):
    """Returns the best `number` of a sentence's hypotheses, each text once.

    A text has several segmentations into tokens; their probabilities add up to that of the text.

    Args:
      hypotheses: rows of (text, log-probability, score), the best score first.
    """
    found = {}
    for text, log_probability, score in hypotheses:
        if text in found:
            total = min(float(np.logaddexp(found[text][0], log_probability)), 0.0)
            share = total / found[text][0] if total else 0.0
            log_probability, score = total, found[text][1] * share
        found[text] = log_probability, score
    rows = [(text, *numbers) for text, numbers in found.items()]
    return sorted(rows, key=lambda row: -row[2])[:number]


class Beginning(NamedTuple):
    """The translation of the first sentences of a line: of all but one, and of that one."""

    before: tuple | None  # a Beginning
    text: str
    log_probability: float
    score: float

    def texts(self):
        """Returns the translations of all sentences, in their order."""
        texts, line = [], self
        while line.before is not None:
            texts.append(line.text)
            line = line.before
        return texts[::-1]


def joined(found, spaces, number):
    """Returns the best `number` translations of a line from those of its sentences.

    Args:
      found: rows of (text, log-probability, score) for each sentence.
      spaces: the white space after each sentence.
    """
    best = [Beginning(None, "", 0.0, 0.0)]
    for rows in found:
        # Both lists begin with the best: of those with i before and j before, so many are as good.
        lines = [
            Beginning(line, text, line.log_probability + log_probability, line.score + score)
            for i, line in enumerate(best)
            for text, log_probability, score in rows[: number // (i + 1)]
        ]
        best = sorted(lines, key=lambda line: -line.score)[:number]
    return [(sentences.join(line.texts(), spaces), line.log_probability) for line in best]


def drawn(found, spaces):
    """Returns the samples of a line: the first ones of its sentences together, the second ones, ...

    Args:
      found, spaces: as of `joined`; there are as many rows for each sentence.
    """
    samples = (zip(*rows, strict=True) for rows in zip(*found, strict=True))
    return [(sentences.join(texts, spaces), sum(totals)) for texts, totals, _ in samples]
