"""The loop over the positions of a batch of translations, which finished ones leave."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf


def shapes(state):
    """Returns the shapes of nested tensors (B, ...); B may change, and what has size 0 may grow."""

    def shape(tensor):
        return tf.TensorShape([None] + [size or None for size in tensor.shape[1:]])

    return tf.nest.map_structure(shape, state)


def loop(
    unfinished: Callable, step: Callable, state: NamedTuple, max_steps: int | None = None
) -> tuple:
    """Takes steps until all rows are finished. Returns their results, and whether they ended.

    A batch takes as many steps as its longest translation, and most rows end earlier: whenever a
    quarter of the rows are finished, they leave. A finished row's result must not change if the row
    stays.

    Args:
      unfinished: a function of the position, from 0, and the state that returns booleans (B,).
      step: a function of both that returns the state at the next position.
      state: a record of nested tensors (B, ...), whose field `results` holds those to return.
      max_steps: at most so many steps, with fixed shapes, as XLA requires, so no row leaves; None
        for any number of steps.

    Returns:
      the last `results` of all rows; booleans (B,), False for rows that `max_steps` ended.
    """

    def next_step(position, state):
        return position + 1, step(position, state)

    position = tf.constant(0)
    if max_steps is not None:

        def any_left(position, state):
            return tf.reduce_any(unfinished(position, state)) & (position < max_steps)

        position, state = tf.while_loop(any_left, next_step, (position, state))
        return state.results, ~unfinished(position, state)

    def stretch(position, state, rows, results):
        """Steps until a quarter of the `rows` are finished. They move to `results` and leave."""

        def full(position, state):
            left = tf.math.count_nonzero(unfinished(position, state), dtype=tf.int32)
            return 4 * left > 3 * tf.size(rows)

        position, state = tf.while_loop(
            full, next_step, (position, state), shape_invariants=(position.shape, shapes(state))
        )
        results = tf.nest.map_structure(
            lambda tensor, new: tf.tensor_scatter_nd_update(tensor, rows[:, tf.newaxis], new),
            results,
            state.results,
        )
        left = tf.where(unfinished(position, state))[:, 0]  # indices into the rows
        state = tf.nest.map_structure(lambda tensor: tf.gather(tensor, left), state)
        return position, state, tf.gather(rows, left), results

    results = state.results
    ended = tf.fill(tf.shape(tf.nest.flatten(results)[0])[:1], True)  # (B,)
    rows = tf.range(tf.size(ended))  # their numbers in the batch
    _, _, _, results = tf.while_loop(
        lambda position, state, rows, results: tf.size(rows) > 0,
        stretch,
        (position, state, rows, results),
        shape_invariants=(position.shape, shapes(state), shapes(rows), shapes(results)),
    )
    return results, ended
