"""How likely given translations are, and each of their tokens, under one or several networks."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from nmt.decoding.ensemble import mean_probability
from transformer_model import PAD, Transformer


class TokenLikelihoods(NamedTuple):
    """How likely the tokens of B translations are, and which K tokens are the likeliest there."""

    log_probabilities: tf.Tensor  # (B, T)
    likeliest: tf.Tensor  # (B, T, K): log-probabilities, the likeliest first
    likeliest_ids: tf.Tensor  # (B, T, K)


def token_likelihoods(
    transformers: Sequence[Transformer], inp: tf.Tensor, tar: tf.Tensor, number: int
) -> TokenLikelihoods:
    """Returns the TokenLikelihoods of target ids; each position sees the tokens before it.

    Args:
      inp: source ids (B, S).
      tar: target ids (B, 1 + T), START first.
      number: K, at most; there are no more than vocabulary entries.
    """
    logarithms = []
    for transformer in transformers:
        logits, _ = transformer((inp, tar[:, :-1]), training=False)  # (B, T, V)
        logarithms.append(tf.nn.log_softmax(logits))
    likely = mean_probability(logarithms)  # (B, T, V)
    likeliest, ids = tf.math.top_k(likely, tf.minimum(number, tf.shape(likely)[-1]))
    return TokenLikelihoods(tf.gather(likely, tar[:, 1:], batch_dims=2), likeliest, ids)


def log_probabilities(
    transformers: Sequence[Transformer], inp: tf.Tensor, tar: tf.Tensor
) -> tf.Tensor:
    """Returns the natural log-probability (B,) of all tokens of ids `tar` (B, 1 + T) after START.

    Args:
      transformers, inp, tar: see `token_likelihoods`; END is the last token of a target.
    """
    likely = token_likelihoods(transformers, inp, tar, 0).log_probabilities  # (B, T)
    return tf.reduce_sum(tf.where(tar[:, 1:] != PAD, likely, 0.0), axis=1)
