"""The decoder's input of a non-autoregressive network: masked tokens instead of those before.

In training, a part of the target may be revealed, and the decoder learns to predict the rest
(Ghazvininejad et al. 2019, arXiv 1904.09324).
"""

import tensorflow as tf

from transformer_model import PAD, UNKNOWN

MASK = UNKNOWN  # the decoder's input where it is to predict a token
REVEALED_PAIRS = 0.5  # share of training pairs with a partly revealed target


def max_target_length(inp: tf.Tensor) -> tf.Tensor:
    """Returns the maximum lengths (B,) of translations of ids `inp` (B, S).

    1.25 times the source's tokens, plus 8; 0 for a source without tokens.
    """
    tokens = tf.reduce_sum(tf.cast(inp != PAD, tf.int32), axis=1)  # (B,)
    return tf.where(tokens > 0, tokens * 5 // 4 + 8, 0)


def mask_targets(
    inp: tf.Tensor, real: tf.Tensor, seed: tf.Tensor | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the decoder's input and the tokens that it is to predict: ids (B, L), (B, L).

    Args:
      inp: source ids (B, S).
      real: target ids (B, T), END last, without START; truncated to `max_target_length`.
      seed: (2,), for the random positions that are revealed; None reveals none.
    """
    length = tf.shape(inp)[1] * 5 // 4 + 8  # L
    positions = tf.range(length) < max_target_length(inp)[:, tf.newaxis]  # (B, L)
    real = tf.where(positions, tf.pad(real, [[0, 0], [0, length]])[:, :length], PAD)
    tar_inp = tf.where(positions, MASK, PAD)
    if seed is not None:
        random = tf.random.stateless_uniform((tf.shape(inp)[0], length + 2), seed)
        revealed_share = tf.where(random[:, :1] < REVEALED_PAIRS, random[:, 1:2], 0.0)  # (B, 1)
        revealed = (random[:, 2:] < revealed_share) & (real != PAD)  # (B, L)
        tar_inp, real = tf.where(revealed, real, tar_inp), tf.where(revealed, PAD, real)
    return tar_inp, real
