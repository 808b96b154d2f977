"""Batches of sentences and of pairs to decode: of similar length, the longest first."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import tensorflow as tf

CHUNK_LINES = 4096  # lines that are sorted by length together
BATCH_TOKENS = 2048  # padding included, of the sources; of pairs, of the longer side
GPU_BATCH_TOKENS = 32_768  # a GPU takes as long for a step of a few sentences as of hundreds

Item = TypeVar("Item")


class Batching(NamedTuple):
    """How many items a batch has."""

    rows: int | None  # items per batch; None for as many as make `batch_tokens()`
    beam: int  # hypotheses per item, whose tokens count, too

    def batches(self, items: Iterable[Item], length: Callable[[Item], int]) -> list[list[Item]]:
        """Returns `items` in lists, one per batch, those of the greatest `length` first."""
        waiting = sorted(items, key=length, reverse=True)
        tokens = batch_tokens()
        batches = []
        while waiting:
            rows = self.rows or max(1, tokens // (length(waiting[0]) * self.beam))
            batches.append(waiting[:rows])
            del waiting[:rows]
        return batches


def batch_tokens() -> int:
    """Returns the number of tokens in a batch, which depends on what computes it."""
    return GPU_BATCH_TOKENS if tf.config.list_physical_devices("GPU") else BATCH_TOKENS
