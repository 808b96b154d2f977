"""Batches of sentences and of pairs to decode: of similar length, the longest first."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

CHUNK_LINES = 4096  # lines that are sorted by length together
BATCH_TOKENS = 2048  # padding included, of the sources; of pairs, of the longer side
MIN_ROWS = 32  # of a batch that is made smaller so that another core has one, too
GPU_BATCH_TOKENS = 16_384  # of a search, whose steps on a GPU take little longer for more sentences

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batching(NamedTuple):
    """How many items a batch has."""

    rows: int | None  # items per batch; None for as many as make `tokens`
    beam: int  # hypotheses per item, whose tokens count, too
    tokens: int | None = None  # in a batch; None for BATCH_TOKENS

    def batches(
        self, items: Iterable[Item], length: Callable[[Item], int], at_once: int = 1
    ) -> list[list[Item]]:
        """Returns `items` in lists, one per batch, those of the greatest `length` first.

        Args:
          at_once: batches computed at the same time; so many share the items, unless too few.
        """
        waiting = sorted(items, key=length, reverse=True)
        tokens = self.tokens or BATCH_TOKENS
        share = max(MIN_ROWS, math.ceil(len(waiting) / at_once))
        batches = []
        while waiting:
            rows = self.rows or max(1, tokens // (length(waiting[0]) * self.beam))
            rows = min(rows, share)
            batches.append(waiting[:rows])
            del waiting[:rows]
        return batches

    def results(
        self,
        items: Sequence[Any],
        compute: Callable[[list[Any]], list[Result]],
        run_batches: Callable[..., Iterable[list[Result]]] = map,
        at_once: int = 1,
    ) -> list[Result]:
        """Returns the results of items, in order, which are computed in batches.

        Args:
          items: with a `length`.
          run_batches: as map does it; one batch needs no thread.
        """
        numbers = range(len(items))
        batches = self.batches(numbers, lambda number: items[number].length, at_once)
        run_batches = run_batches if len(batches) > 1 else map

        def compute_batch(batch: list[int]) -> list[Result]:
            return compute([items[number] for number in batch])

        results: dict[int, Result] = {}
        for batch, batch_results in zip(batches, run_batches(compute_batch, batches), strict=True):
            results.update(zip(batch, batch_results, strict=True))
        return [results[number] for number in numbers]


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yields items in lists of `size`; the last one may be shorter."""
    waiting = iter(items)
    while chunk := list(itertools.islice(waiting, size)):
        yield chunk
