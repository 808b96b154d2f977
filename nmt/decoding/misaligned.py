"""Which pairs are misaligned, by a trained run: their targets are as likely after other sources.

A model gives a correct target a far higher probability after its own source than after any other
one; a target that translates something else gains little by its source. The other sources are
those of the same text (leave-one-out), so that it does not matter how rare the words of a target
are, or how long it is. A pair that gains less than half of what is usual is misaligned.
"""

import itertools
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

from nmt import UserError

Score = Callable[[Iterable[tuple[str, str]]], Iterator[float]]  # log-probabilities of pairs

CHUNK_PAIRS = 1024  # scored together; the other sources of a pair are among them
OTHER_SOURCES = 2  # of each target
MAX_CHARACTERS = 500  # of a side that are scored: within the longest sources of a model
MIN_SHARE = 0.5  # of the usual gain; see docs/cleaning.md
MIN_USUAL_GAIN = 0.1  # nats per character: a run that gains less knows nothing of the text


def gains(score: Score, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Returns how much likelier each target is after its source than after sources of other pairs.

    Args:
      score: a function that yields the log-probabilities of pairs.
      pairs: (source, target), more than OTHER_SOURCES.

    Returns:
      Nats per character of the target.
    """
    sources = [source[:MAX_CHARACTERS] for source, _ in pairs]
    targets = [target[:MAX_CHARACTERS] for _, target in pairs]
    pair_scores = [*score(zip(sources, targets, strict=True))]
    other_scores = [0.0] * len(targets)  # sums
    distance = len(pairs) // (OTHER_SOURCES + 1)
    for number in range(1, OTHER_SOURCES + 1):
        start = number * distance
        shifted_sources = sources[start:] + sources[:start]
        other_pairs = zip(shifted_sources, targets, strict=True)
        other_scores = [sum(both) for both in zip(other_scores, score(other_pairs), strict=True)]
    return [
        (score_of_pair - total / OTHER_SOURCES) / max(1, len(target))
        for score_of_pair, total, target in zip(pair_scores, other_scores, targets, strict=True)
    ]


def misaligned(score: Score, pairs: Iterable[tuple[str, str]]) -> Iterator[bool]:
    """Yields whether each of `pairs` is misaligned, in order.

    The first CHUNK_PAIRS decide what gain is usual.

    Args:
      score: see `gains`.
      pairs: (source, target), of any number.

    Raises:
      UserError: the run's scores tell nothing of the text.
    """
    pairs, usual_gain = iter(pairs), None
    while chunk := list(itertools.islice(pairs, CHUNK_PAIRS)):
        if len(chunk) <= OTHER_SOURCES:  # nothing to compare with
            yield from (False for _ in chunk)
            continue
        chunk_gains = gains(score, chunk)
        if usual_gain is None:
            usual_gain = statistics.median(chunk_gains)
        if usual_gain < MIN_USUAL_GAIN:
            raise UserError(
                "--by-run: most targets are as likely after other sources as after their own; name "
                "a run that translates such text, or check that line n translates line n"
            )
        yield from (gain < MIN_SHARE * usual_gain for gain in chunk_gains)
