"""How sure a translation is: the chrF that is expected of it, a number from 0 to 100.

    confidence = curve(100 / (1 + exp(-(w_0 + w_1 x_1 + w_2 x_2 + ...))))

The signs x are what a search knows of a translation anyway; see Signs. The weights w and the curve
are fitted to the validation split when training ends; see results/calibration.py. Lengths count
only within the limits that most pairs there keep, so that text unlike that of the training is
trusted less, not more.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from nmt import UserError
from nmt.decoding.search_options import SearchOptions
from nmt.decoding.sentence import Sentence

DOUBTFUL = 40.0  # less than that
CERTAIN = 100.0  # of a sentence that is not translated: nothing, or marks alone
NOT_CALIBRATED = (
    "the run does not know how sure its translations are: it was trained before confidence was "
    "there, was imported, or has other weights now; calibrate it: evaluate --calibrate --run DIR"
)
MAX_NUMBER = 1e9  # that an Estimator holds: no product or sum of such numbers is infinite


class Signs(NamedTuple):
    """What a search knows of a translation of a sentence."""

    surprise: float  # the square root of the mean negative log-probability of a token, in nats
    length: float  # the natural logarithm of the number of source tokens
    ratio: float  # that of target tokens to source tokens: a short translation lacks something


class Estimator(NamedTuple):
    """What is fitted: weights, and a curve that never falls, between points, straight."""

    weights: tuple[float, ...]  # w_0, then one for each of the Signs
    lengths: tuple[float, float]  # limits of Signs.length
    ratios: tuple[float, float]  # limits of Signs.ratio
    curve: tuple[tuple[float, float], ...]  # (before, after), both from 0 to 100, ascending

    def confidence(self, signs: Signs) -> float:
        """Returns the chrF that is expected of a translation with these Signs."""
        constant, *weights = self.weights
        total = constant + sum(map(float.__mul__, weights, self.within_limits(signs)))
        return self._on_curve(100 / (1 + math.exp(min(-total, 700.0))))

    def within_limits(self, signs: Signs) -> Signs:
        """Returns Signs that are no further from those of the calibration than they may count.

        A translation that is too long counts as one that is too short by as much: it repeats.
        """
        shortest, longest = self.lengths
        lowest, highest = self.ratios
        ratio = min(signs.ratio, 2 * highest - signs.ratio)
        length = min(max(signs.length, shortest), longest)
        return Signs(signs.surprise, length, max(ratio, 2 * lowest - highest))

    def _on_curve(self, before: float) -> float:
        """Returns the curve's value, between two of its points on a line."""
        starts = [point[0] for point in self.curve]
        number = min(max(bisect.bisect_right(starts, before), 1), len(starts) - 1)
        (left, low), (right, high) = self.curve[number - 1 : number + 1]
        share = min(max((before - left) / (right - left), 0.0), 1.0)
        return low + share * (high - low)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Estimator:
        """Returns what `_asdict` wrote; a UserError if it is anything else."""
        try:
            weights = tuple(map(float, content["weights"]))
            (shortest, longest), (lowest, highest) = content["lengths"], content["ratios"]
            lengths, ratios = (float(shortest), float(longest)), (float(lowest), float(highest))
            curve = tuple((float(before), float(after)) for before, after in content["curve"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise UserError("is damaged") from None
        numbers = (*weights, *lengths, *ratios, *itertools.chain(*curve))
        is_bounded = all(abs(number) <= MAX_NUMBER for number in numbers)  # and not NaN
        rises = all(
            left < right and low <= high for (left, low), (right, high) in itertools.pairwise(curve)
        )
        if len(weights) != 1 + len(Signs._fields) or len(curve) < 2 or not (is_bounded and rises):
            raise UserError("is damaged")
        return cls(weights, lengths, ratios, curve)


def needs_scores(options: SearchOptions) -> bool:
    """Returns whether a search is to be scored for its confidence: a beam knows it anyway.

    So that it is the same search as without: of a scored one, equal texts add up.
    """
    return options.beam == 1


def signs_of(sentence: Sentence) -> Signs | None:
    """Returns the Signs of a translated Sentence; None if the network had nothing to translate."""
    if not sentence.target:
        return None
    tokens = max(len(sentence.target) - 1, 1)
    mean = min(sentence.candidates[0].log_probability, 0.0) / tokens
    length = math.log(len(sentence.source))
    return Signs(math.sqrt(-mean), length, math.log(tokens) - length)


def estimate(estimator: Estimator, chunk: Sequence[Sentence]) -> None:
    """Fills in the confidence of Sentences whose best candidates have ids.

    It is nan where the search knows no log-probability.
    """
    for sentence in chunk:
        signs = signs_of(sentence)
        sentence.confidence = estimator.confidence(signs) if signs else CERTAIN


def of_line(line: Sequence[Sentence]) -> float:
    """Returns the confidence of a line: the mean of that of its Sentences, by their characters."""
    sizes = [max(len(sentence.text), 1) for sentence in line]
    sums = (size * sentence.confidence for size, sentence in zip(sizes, line, strict=True))
    return sum(sums) / sum(sizes)
