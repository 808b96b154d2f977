"""How long the translation of a source usually is: a pair far from that is misaligned.

After Gale and Church 1993, "A Program for Aligning Sentences in Bilingual Corpora": the difference
between the length of a target and the length that its source lets expect, divided by the root of
their length, has the same spread for short and long pairs. Center and spread are those of a sample
of the text itself, by medians, which a few wrong pairs do not move.
"""

import math
import statistics
from collections.abc import Iterable, Sequence

MAX_DEVIATION = 4.0  # standard deviations; see docs/cleaning.md
MARGIN = 10  # characters: of short pairs, any difference is possible
MIN_PAIRS = 100  # of a sample, for its spread to be known
MEDIAN_TO_DEVIATION = 1.4826  # from median to standard deviation, of a normal distribution


class Lengths:
    """The lengths of sources and targets, in characters, that are usual in a sample of a text."""

    def __init__(self, pairs: Iterable[Sequence[str]]):
        lengths = [(len(source), len(target)) for source, target in pairs if source and target]
        self._ratio = statistics.median(t / s for s, t in lengths) if lengths else 1.0
        differences = [abs(self._difference(*pair)) for pair in lengths]
        self._spread = MEDIAN_TO_DEVIATION * statistics.median(differences) if lengths else 0.0
        self._is_known = len(lengths) >= MIN_PAIRS and self._spread > 0

    def differ(self, pair: Sequence[str]) -> bool:
        """Returns whether the lengths of a source and a target are far from what is usual."""
        source, target = map(len, pair)
        if not self._is_known or not source or not target:
            return False
        if abs(target - self._ratio * source) <= MARGIN:
            return False
        return abs(self._difference(source, target)) > MAX_DEVIATION * self._spread

    def _difference(self, source: int, target: int) -> float:
        """Returns by how much a target is too long, of the same spread for all lengths."""
        expected = self._ratio * source
        return (target - expected) / math.sqrt(expected + target)
