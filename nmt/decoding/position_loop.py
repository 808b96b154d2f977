"""The loop over the positions of a batch of translations, which finished ones leave."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

Nested = Any  # tensors (B, ...) in records, tuples and lists, as tf.nest takes them


State = Any  # a record of nested tensors (B, ...), of which the loop returns `results`
Unfinished = Callable[[tf.Tensor, State], tf.Tensor]  # of the position: which rows (B,) go on
Step = Callable[[tf.Tensor, State], State]  # of the position: the state at the next one


def loop(unfinished: Unfinished, step: Step, state: State) -> Nested:
    """Takes steps until all rows are finished. Returns the last `results` of all rows.

    A batch takes as many steps as its longest translation, and most rows end earlier: whenever a
    quarter of the rows are finished, they leave. A finished row's result must not change if the row
    stays.

    Args:
      unfinished: a function of the position, from 0, and the state that returns booleans (B,).
    """

    def next_step(position: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        return position + 1, step(position, state)

    def few_finished(position: tf.Tensor, state: State) -> tf.Tensor:
        active = unfinished(position, state)  # (R,), R rows of the batch
        return 4 * tf.math.count_nonzero(active, dtype=tf.int32) > 3 * tf.size(active)

    def take_steps(
        position: tf.Tensor, state: State, rows: tf.Tensor, results: Nested
    ) -> tuple[tf.Tensor, State, tf.Tensor, Nested]:
        """Steps until a quarter of the `rows` are finished. They move to `results` and leave."""
        position, state = tf.while_loop(
            few_finished,
            next_step,
            (position, state),
            shape_invariants=(position.shape, shapes(state)),
        )
        results = tf.nest.map_structure(
            lambda tensor, new: tf.tensor_scatter_nd_update(tensor, rows[:, tf.newaxis], new),
            results,
            state.results,
        )
        active = tf.where(unfinished(position, state))[:, 0]  # indices into the rows
        state = tf.nest.map_structure(lambda tensor: tf.gather(tensor, active), state)
        return position, state, tf.gather(rows, active), results

    position, results = tf.constant(0), state.results
    rows = tf.range(tf.shape(tf.nest.flatten(results)[0])[0])  # their numbers in the batch
    *_, results = tf.while_loop(
        lambda position, state, rows, results: tf.size(rows) > 0,
        take_steps,
        (position, state, rows, results),
        shape_invariants=(position.shape, shapes(state), shapes(rows), shapes(results)),
    )
    return results


def shapes(state: Nested) -> Nested:
    """Returns the shapes of nested tensors (B, ...); B may change, and what has size 0 may grow."""

    def shape(tensor: tf.Tensor) -> tf.TensorShape:
        return tf.TensorShape([None] + [size or None for size in tensor.shape[1:]])

    return tf.nest.map_structure(shape, state)
