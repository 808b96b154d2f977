"""The n best translations of a sentence, each text once; and of a line of several sentences."""

from typing import NamedTuple

import numpy as np

from nmt.decoding.sentence import Candidate
from nmt.text import sentences


def merged(candidates, number):
    """Returns the best `number` of a sentence's Candidates, each text once.

    A text has several segmentations into tokens; their probabilities add up to that of the text.

    Args:
      candidates: the best score first.
    """
    by_text = {}
    for candidate in candidates:
        if candidate.text in by_text:
            known = by_text[candidate.text]
            total = float(np.logaddexp(known.log_probability, candidate.log_probability))
            total = min(total, 0.0)
            share = total / known.log_probability if total else 0.0
            candidate = Candidate(candidate.text, total, known.score * share)
        by_text[candidate.text] = candidate
    return sorted(by_text.values(), key=lambda candidate: -candidate.score)[:number]


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


def joined(candidates, spaces, number):
    """Returns the best `number` translations of a line from those of its sentences.

    Args:
      candidates: a list of Candidates for each sentence, the best first.
      spaces: the white space after each sentence.
    """
    best = [Beginning(None, "", 0.0, 0.0)]
    for rows in candidates:
        # Both lists begin with the best: of those with i before and j before, so many are as good.
        lines = [
            Beginning(line, text, line.log_probability + log_probability, line.score + score)
            for i, line in enumerate(best)
            for text, log_probability, score in rows[: number // (i + 1)]
        ]
        best = sorted(lines, key=lambda line: -line.score)[:number]
    return [(sentences.join(line.texts(), spaces), line.log_probability) for line in best]


def drawn(samples, spaces):
    """Returns the samples of a line: the first ones of its sentences together, the second ones, ...

    Args:
      samples: a list of Candidates for each sentence, all of the same length.
      spaces: the white space after each sentence.
    """
    lines = []
    for parts in zip(*samples, strict=True):
        text = sentences.join([part.text for part in parts], spaces)
        lines.append((text, sum(part.log_probability for part in parts)))
    return lines
