"""What every search returns, and what ranks it.

Shapes in comments as in transformer_model.py, K hypotheses, N best ones and L positions.
"""

from typing import NamedTuple

import tensorflow as tf

from nmt.decoding import search_options


class Hypotheses(NamedTuple):
    """The N best translations of each of B sentences, the best first."""

    ids: tf.Tensor  # (B, N, 1 + L) int32: START, tokens, END, then PAD
    scores: tf.Tensor  # (B, N) float32: log-probability over length penalty; they rank by it
    log_probabilities: tf.Tensor  # (B, N) float32, natural, of all tokens with END
    finished: tf.Tensor  # (B, N) bool: False where a translation was cut off at the length limit


def length_penalty(length: tf.Tensor, alpha: float) -> tf.Tensor:
    """See search_options.length_penalty; of integers (...), float32 (...)."""
    return search_options.length_penalty(tf.cast(length, tf.float32), alpha)


def set_position(tensor: tf.Tensor, index: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Returns `tensor` (..., L) with `value` (...) at `index` of its last axis."""
    is_index = tf.range(tf.shape(tensor)[-1]) == index  # (L,)
    return tf.where(is_index, value[..., tf.newaxis], tensor)
