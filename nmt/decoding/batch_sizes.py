"""Batches of sentences and of pairs to decode: of similar length, the longest first."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

CHUNK_LINES = 4096  # lines that are sorted by length together
BATCH_TOKENS = 2048  # padding included, of the sources; of pairs, of the longer side
MIN_ROWS = 32  # of a batch that is made smaller so that another core has one, too
GPU_BATCH_TOKENS = 16_384  # of a search, whose steps on a GPU take little longer for more sentences

Item = TypeVar("Item")


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


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yields items in lists of `size`; the last one may be shorter."""
    waiting = iter(items)
    while chunk := list(itertools.islice(waiting, size)):
        yield chunk
