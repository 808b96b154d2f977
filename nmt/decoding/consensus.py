"""One of several translations: the one most like the others, or most like a reference.

The former is minimum Bayes risk decoding:

Kumar and Byrne 2004; with samples, Eikema and Aziz 2020 (arXiv 2005.10283). The utility of a
translation is the mean chrF of all candidates as if each were the reference.
"""

from __future__ import annotations

import collections
import math

from nmt.decoding.sentence import Translation

UTILITIES = ("chrf",)


def closest(candidates: list[Translation], reference: str) -> Translation:
    """Returns the candidate of the highest chrF against a reference; the first of equals.

    Kim and Rush 2016 (arXiv 1606.07947), section 3.3, with chrF in place of BLEU.
    """
    import sacrebleu

    score = sacrebleu.CHRF().sentence_score
    return max(candidates, key=lambda candidate: score(candidate.text, [reference]).score)


def choose(candidates: list[Translation], sampled: bool = True) -> Translation:
    """Returns the candidate of the greatest utility; the first of equals.

    Args:
      sampled: candidates were drawn at random, and each counts once; those of a search count by
        their probabilities.
    """
    weights: dict[str, float] = collections.defaultdict(float)  # by text
    log_probabilities = [candidate.log_probability or 0.0 for candidate in candidates]
    best = max(log_probabilities)
    for candidate, log_probability in zip(candidates, log_probabilities, strict=True):
        # Relative to the best, as probabilities may be too small for a float.
        weights[candidate.text] += 1 if sampled else math.exp(log_probability - best)
    if len(weights) == 1:
        return candidates[0]
    import sacrebleu  # most translations need none of it

    score = sacrebleu.CHRF().sentence_score

    def utility_of(text: str) -> float:
        """Returns the weighted sum of scores, which ranks as their mean does."""
        return sum(weight * score(text, [other]).score for other, weight in weights.items())

    utilities = {text: utility_of(text) for text in weights}
    return max(candidates, key=lambda candidate: utilities[candidate.text])
