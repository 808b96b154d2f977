"""Calibrating confidence: fitting the Estimator of decoding/confidence.py to pairs, and judging it.

Shapes: N sentences, F signs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nmt import UserError
from nmt.decoding.confidence import Estimator, Signs
from nmt.decoding.model import Model
from nmt.messages import log, plural
from nmt.text.tokenizer import Tokenizer
from nmt.training.run_folder import RunFolder

MIN_PAIRS, MAX_PAIRS = 50, 2000  # that confidence is fitted to
RIDGE = 1e-3  # times half of the squared weights of signs in units of their spread
MAX_STEPS, SMALLEST_STEP = 200, 1e-8
CURVE_POINTS = 6  # of the curve, each the mean of as many pairs
LIMITS = (0.02, 0.98)  # quantiles of the lengths and ratios that most pairs keep
DIRECTIONS = np.array(Signs(surprise=-1, length=0, ratio=1))  # in which a sign makes surer; 0: any
SMALLEST_SPREAD = 1e-9
STRAIGHT = ((0.0, 0.0), (100.0, 100.0))  # a curve that changes nothing
WORST_SHARE = 0.2  # of the translations, that `area` is about
FIFTHS = 5


class Measured(NamedTuple):
    """Translations of pairs, and how good they are."""

    signs: list[Signs]
    chrf: np.ndarray  # (N,): 0 to 100, of each translation


class Fifth(NamedTuple):
    """A fifth of the translations, by confidence."""

    predicted: float  # means
    actual: float


class Reliability(NamedTuple):
    """How well confidence predicts the chrF of translations."""

    lines: int
    rank_correlation: float  # Spearman's; nan where all are equal
    area: float  # under the ROC curve of the worst fifth: 0.5 by chance, 1 if it is named
    error: float  # mean absolute
    constant_error: float  # that of the median for all
    fifths: list[Fifth]  # the least sure first

    def __str__(self) -> str:
        """Returns a table."""
        fifths = "  ".join(f"{fifth.predicted:.0f}/{fifth.actual:.0f}" for fifth in self.fifths)
        return (
            f"Confidence of {plural(self.lines, 'line')}: rank correlation with chrF "
            f"{self.rank_correlation:.2f}; area under the curve for the worst fifth "
            f"{self.area:.2f}; mean error {self.error:.1f} (of a constant "
            f"{self.constant_error:.1f})\npredicted/actual chrF by fifths: {fifths}"
        )


def measure(
    model: Model, tokenizer: Tokenizer, sources: Sequence[str], *references: Sequence[str]
) -> Measured:
    """Translates sources, whole, and compares the translations with sets of references.

    A reference is "" where one is missing.
    """
    from nmt.results import scores

    log.info(
        f"Translating {plural(len(sources), 'line')}, to compare them with how sure the run is ..."
    )
    translator = model.translator(tokenizer, model.search_options)
    metric, signs, chrf = scores.CHRF(), [], []
    rows = zip(translator.signs(sources), *references, strict=True)
    for (translation, line_signs), *texts in rows:
        if line_signs is None or not any(texts):  # nothing was translated, or nothing is known
            continue
        (hypothesis,), known = scores.in_normal_form(
            [translation], [text for text in texts if text]
        )
        signs.append(line_signs)
        chrf.append(metric.sentence_score(hypothesis, known).score)
    return Measured(signs, np.array(chrf))


# ---- Fitting ----


def fit(measured: Measured) -> Estimator:
    """Returns the Estimator of the least deviance; its curve makes it right on average.

    A logistic regression whose target is a share, the chrF / 100, with a small ridge penalty
    (Papke and Wooldridge 1996, "Econometric methods for fractional response variables"); then a
    curve through means of the chrF, by confidence, that never falls.
    """
    if len(measured.signs) < MIN_PAIRS:
        raise UserError(
            f"{plural(len(measured.signs), 'pair')} to calibrate confidence with; give at least "
            f"{MIN_PAIRS}"
        )
    given = np.array(measured.signs)  # (N, F)
    limits = np.quantile(given, LIMITS, axis=0).T.tolist()  # F pairs
    lengths, ratios = (tuple(limits[Signs._fields.index(name)]) for name in ("length", "ratio"))
    straight = Estimator((0.0,) * (1 + len(Signs._fields)), lengths, ratios, STRAIGHT)
    signs = np.array([straight.within_limits(one) for one in measured.signs])
    straight = straight._replace(weights=weights_of(signs, measured.chrf / 100))
    before = np.array([straight.confidence(one) for one in measured.signs])
    return straight._replace(curve=rising_curve(before, measured.chrf))


def weights_of(signs: np.ndarray, shares: np.ndarray) -> tuple[float, ...]:
    """Returns the weights (1 + F,) of signs (N, F), for shares (N,) from 0 to 1.

    A surprise never makes a translation surer, nor does it that words are missing: a sign whose
    weight would say so, by the accidents of a few pairs, is left out.
    """
    mean, spread = signs.mean(0), signs.std(0)
    used = spread > SMALLEST_SPREAD  # a sign that never differs says nothing
    weights = np.zeros(signs.shape[1])
    while True:
        inputs = np.c_[np.ones(len(signs)), (signs - mean)[:, used] / spread[used]]
        constant, *scaled = regress(inputs, shares)
        weights[:] = 0
        weights[used] = scaled / spread[used]
        wrong = weights * DIRECTIONS < 0
        if not wrong.any():
            return (float(constant - mean @ weights), *map(float, weights))
        used &= ~wrong


def regress(inputs: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Returns the weights (1 + F,) of a logistic regression, by Newton's method.

    Of the inputs (N, 1 + F) the first is 1; shares (N,) are from 0 to 1.
    """
    penalties = np.r_[1e-6, np.full(inputs.shape[1] - 1, RIDGE)]

    def deviance(weights: np.ndarray) -> float:
        logits = inputs @ weights
        fits = np.mean(np.logaddexp(0, logits) - shares * logits)
        return float(fits + penalties @ weights**2 / 2)

    weights = np.zeros(inputs.shape[1])
    for _ in range(MAX_STEPS):
        predicted = 1 / (1 + np.exp(-np.clip(inputs @ weights, -700, 700)))  # (N,)
        gradient = inputs.T @ (predicted - shares) / len(shares) + penalties * weights
        curvature = (inputs.T * (predicted * (1 - predicted))) @ inputs / len(shares)
        step = np.linalg.solve(curvature + np.diag(penalties), gradient)
        size = 1.0
        while deviance(weights - size * step) > deviance(weights) and size > SMALLEST_STEP:
            size /= 2  # where probabilities are near 0 or 1, a whole step leads too far
        weights = weights - size * step
        if np.abs(size * step).max() < SMALLEST_STEP:
            break
    return weights


def rising_curve(before: np.ndarray, chrf: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Returns the points of a curve that never falls, from (0, 0) to (100, 100).

    Means of as many translations each, of which neighbors that would fall are one (pool adjacent
    violators; Barlow et al. 1972). `before` (N,) is from 0 to 100.
    """
    order = np.argsort(before, kind="stable")
    pools: list[np.ndarray] = []  # numbers of translations
    for numbers in np.array_split(order, CURVE_POINTS):
        pools.append(numbers)
        while len(pools) > 1 and (
            chrf[pools[-2]].mean() >= chrf[pools[-1]].mean()
            or before[pools[-2]].mean() >= before[pools[-1]].mean()
        ):
            pools[-2:] = [np.r_[pools[-2], pools[-1]]]
    points = [(float(before[pool].mean()), float(chrf[pool].mean())) for pool in pools]
    inner = [point for point in points if 1e-6 < point[0] < 100 - 1e-6]
    return ((0.0, 0.0), *inner, (100.0, 100.0))


# ---- Judging ----


def judge(estimator: Estimator, measured: Measured) -> Reliability:
    """Returns how well an Estimator predicts; a UserError for fewer than five translations."""
    chrf = measured.chrf
    if len(chrf) < FIFTHS:
        raise UserError(f"{plural(len(chrf), 'pair')} to judge confidence by; give more")
    predicted = np.array([estimator.confidence(signs) for signs in measured.signs])
    order = np.argsort(predicted, kind="stable")
    return Reliability(
        lines=len(chrf),
        rank_correlation=rank_correlation(predicted, chrf),
        area=area(predicted, chrf),
        error=float(np.abs(predicted - chrf).mean()),
        constant_error=float(np.abs(chrf - np.median(chrf)).mean()),
        fifths=[
            Fifth(float(predicted[numbers].mean()), float(chrf[numbers].mean()))
            for numbers in np.array_split(order, FIFTHS)
        ],
    )


def ranks(values: np.ndarray) -> np.ndarray:
    """Returns the rank of each value, from 1; equal ones share the mean of theirs."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[numbers]


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Returns Spearman's rank correlation of (N,) and (N,); nan where one is constant."""
    first, second = ranks(one), ranks(other)
    if not first.std() or not second.std():
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])


def area(predicted: np.ndarray, chrf: np.ndarray) -> float:
    """Returns the probability that one of the worst fifth is less sure than one of the rest.

    That is the area under the ROC curve; equal confidences count half (Mann and Whitney 1947).
    """
    worst = np.zeros(len(chrf), bool)
    worst[np.argsort(chrf, kind="stable")[: max(round(WORST_SHARE * len(chrf)), 1)]] = True
    number, better = worst.sum(), (~worst).sum()
    if not better:
        return math.nan
    falling = ranks(-predicted)
    return float((falling[worst].sum() - number * (number + 1) / 2) / (number * better))


# ---- In the run folder ----


def calibrate(
    folder: RunFolder,
    checkpoint: dict[str, Any],
    model: Model,
    tokenizer: Tokenizer,
    *columns: Sequence[str],
) -> Reliability:
    """Fits an Estimator, and writes it to confidence.json. Returns how well it fits.

    Columns are sources and sets of references, of which the first MAX_PAIRS count. `checkpoint` is
    the `record` of the runs.weights.Weights that the model has.
    """
    if len(columns[0]) > MAX_PAIRS:
        log.info(f"Confidence is fitted to the first {MAX_PAIRS:,} of {len(columns[0]):,} pairs.")
    measured = measure(model, tokenizer, *(column[:MAX_PAIRS] for column in columns))
    estimator = fit(measured)
    reliability = judge(estimator, measured)
    content = {"checkpoint": checkpoint, **estimator._asdict(), "fit": reliability._asdict()}
    content["fit"]["fifths"] = [fifth._asdict() for fifth in reliability.fifths]
    folder.write("confidence.json", content)
    return reliability
