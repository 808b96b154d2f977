"""What must hold of the loop that finished sentences leave: nothing that is found changes."""

from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from helpers import biased_transformer, find

from nmt.decoding import position_loop
from nmt.decoding.search import sample
from nmt.decoding.search_options import EXTRA_TOKENS, Sampling
from transformer_model import PAD


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
    state_after, ended = position_loop.loop(
        lambda position, state: position < state.ends, step, state
    )
    np.testing.assert_array_equal(state_after, ends)
    assert ended.numpy().all()


@pytest.fixture(scope="module")
def lines():
    """200 sources of 1 to 9 tokens."""
    rng = np.random.default_rng(3)
    inp = rng.integers(4, 11, (200, 9))
    return np.where(np.arange(9) < rng.integers(1, 10, (200, 1)), inp, PAD).astype(np.int32)


@pytest.mark.parametrize("kind", ["greedy", "beam", "sample"])
def test_rows_that_leave_a_batch_change_nothing(lines, kind):
    """200 lines together: the same ids, and scores to 1e-5, as in a batch that no row leaves."""
    model, inp = biased_transformer(END=1.5), tf.constant(lines)

    @tf.function(autograph=False)
    def find_all(extra_positions):
        if kind == "sample":
            samples = tf.zeros(len(lines), tf.int32)
            return sample(model, inp, Sampling(seed=5), samples, extra_positions=extra_positions)
        beam = 3 if kind == "beam" else 1
        return find(model, inp, beam, n_best=beam, extra_positions=extra_positions)

    leaving, staying = find_all(extra_positions=None), find_all(extra_positions=EXTRA_TOKENS)
    tokens = np.count_nonzero(leaving.ids, axis=-1)
    assert len(np.unique(tokens[:, 0])) > 3  # some leave early, some late
    np.testing.assert_array_equal(leaving.ids, staying.ids)
    np.testing.assert_allclose(leaving.scores, staying.scores, rtol=0, atol=1e-5)
