"""What must hold of the loop that finished sentences leave: nothing that is found changes."""

from typing import NamedTuple

import tensorflow as tf

from nmt.decoding import position_loop


class State(NamedTuple):
    ends: tf.Tensor  # (B,)
    results: tf.Tensor  # (B,): steps


def test_each_row_takes_its_own_steps_and_comes_back_in_its_place():
    """Row n ends at position n; the loop goes on with fewer and fewer rows."""
    ends = tf.constant([5, 0, 3, 1, 9, 2, 2, 7])

    def step(position, state):
        steps = state.results + tf.cast(position < state.ends, tf.int32)
        return State(state.ends, steps)

    state = State(ends, tf.zeros_like(ends))
    results = position_loop.loop(lambda position, state: position < state.ends, step, state)
    assert results.numpy().tolist() == ends.numpy().tolist()
