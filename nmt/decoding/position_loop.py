"""The loop over the positions of a batch of translations, which finished ones leave."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import tensorflow as tf

Nested = Any  # tensors (B, ...) in records, tuples and lists, as tf.nest takes them


class LoopState(Protocol):
    """A record of nested tensors (B, ...)."""

    @property
    def results(self) -> Nested:
        """Those that the loop returns."""


State = TypeVar("State", bound=LoopState)
Unfinished = Callable[[tf.Tensor, State], tf.Tensor]  # of the position: which rows (B,) go on
Step = Callable[[tf.Tensor, State], State]  # of the position: the state at the next one
NextStep = Callable[[tf.Tensor, State], tuple[tf.Tensor, State]]  # that, with the next position


def loop(
    unfinished: Unfinished[State],
    step: Step[State],
    state: State,
    max_steps: int | tf.Tensor | None = None,
) -> tuple[Nested, tf.Tensor]:
    """Takes steps until all rows are finished. Returns their results, and whether they ended.

    Args:
      unfinished: a function of the position, from 0, and the state that returns booleans (B,).
      max_steps: at most so many steps, with fixed shapes, as XLA requires, so no row leaves; None
        for any number of steps.

    Returns:
      the last `results` of all rows; booleans (B,), False for rows that `max_steps` ended.
    """

    def next_step(position: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        return position + 1, step(position, state)

    if max_steps is not None:
        return _loop_of_all_rows(unfinished, next_step, state, max_steps)
    return _loop_that_rows_leave(unfinished, next_step, state)


def _loop_of_all_rows(
    unfinished: Unfinished[State],
    next_step: NextStep[State],
    state: State,
    max_steps: int | tf.Tensor,
) -> tuple[Nested, tf.Tensor]:
    def any_unfinished(position: tf.Tensor, state: State) -> tf.Tensor:
        return tf.reduce_any(unfinished(position, state)) & (position < max_steps)

    position, state = tf.while_loop(any_unfinished, next_step, (tf.constant(0), state))
    return state.results, ~unfinished(position, state)


def _loop_that_rows_leave(
    unfinished: Unfinished[State], next_step: NextStep[State], state: State
) -> tuple[Nested, tf.Tensor]:
    """Returns what `loop` does; whenever a quarter of the rows are finished, they leave.

    A batch takes as many steps as its longest translation, and most rows end earlier. A finished
    row's result must not change if the row stays.
    """

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
    ended = tf.fill(tf.shape(tf.nest.flatten(results)[0])[:1], True)  # (B,)
    rows = tf.range(tf.size(ended))  # their numbers in the batch
    *_, results = tf.while_loop(
        lambda position, state, rows, results: tf.size(rows) > 0,
        take_steps,
        (position, state, rows, results),
        shape_invariants=(position.shape, shapes(state), shapes(rows), shapes(results)),
    )
    return results, ended


def shapes(state: Nested) -> Nested:
    """Returns the shapes of nested tensors (B, ...); B may change, and what has size 0 may grow."""

    def shape(tensor: tf.Tensor) -> tf.TensorShape:
        return tf.TensorShape([None] + [size or None for size in tensor.shape[1:]])

    return tf.nest.map_structure(shape, state)
