"""Loss and accuracy of a network over batches, without dropout: how epochs are measured."""

import collections
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures

import numpy as np
import tensorflow as tf

from nmt.network.factory import ForwardPass
from nmt.network.loss import TokenSums


def loss_and_accuracy(
    step: Callable[[tf.Tensor, tf.Tensor], tf.Tensor],
    batches: Iterable[tuple[tf.Tensor, tf.Tensor]],
    threads: int = 1,
) -> tuple[float, float]:
    """Returns the mean loss in nats, and the accuracy, of all real target tokens of `batches`.

    `step` returns the TokenSums, (3,), of ids (B, S), (B, T). Threads compute batches in parallel.
    """
    totals = np.zeros(3)
    for sums in in_parallel(step, batches, threads):
        totals += sums.numpy()
    loss, hits, tokens = map(float, totals)
    return loss / tokens, hits / tokens


def in_parallel(
    step: Callable[..., tf.Tensor], batches: Iterable[tuple[tf.Tensor, ...]], threads: int
) -> Iterator[tf.Tensor]:
    """Yields the results of `step` in the order of `batches`.

    Each thread has a batch to compute and one that waits: more would only take memory.
    """
    if threads == 1:
        for batch in batches:
            yield step(*batch)
        return
    pending: collections.deque[futures.Future[tf.Tensor]] = collections.deque()
    with futures.ThreadPoolExecutor(threads) as pool:
        for batch in batches:
            pending.append(pool.submit(step, *batch))
            if len(pending) == 2 * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def teacher_forced_sums(forward: ForwardPass, inp: tf.Tensor, tar: tf.Tensor) -> TokenSums:
    """Returns the TokenSums of ids (B, S), (B, T), without dropout.

    The decoder's input is the reference tokens.
    """
    tar_inp, tar_real = tar[:, :-1], tar[:, 1:]  # (B, T - 1)
    return forward.token_sums((inp, tar_inp), tar_real)
