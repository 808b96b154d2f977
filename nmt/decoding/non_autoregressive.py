"""Non-autoregressive translation: all tokens in parallel, each from the source and its position.

The decoder receives as many masked tokens as a translation may have (`max_target_length`). It
attends to all of them, without a look-ahead mask, and predicts the token at each position (Gu et
al. 2018, arXiv 1711.02281, who also predict the length; here all after the first END is dropped).
For the decoder's input see nmt/network/masked_targets.py.
"""

import numpy as np
import tensorflow as tf

from nmt.decoding.hypotheses import Hypotheses, length_penalty
from nmt.network.loss import cross_entropy
from nmt.network.masked_targets import mask_targets
from transformer_model import END, MASKED, PAD, START, UNKNOWN, Transformer


def search(transformer: Transformer, inp: tf.Tensor, alpha: float = 0.6) -> Hypotheses:
    """Predicts all tokens of each translation in one pass. Returns Hypotheses, one per sentence.

    The likeliest token at each position; PAD, START and UNKNOWN are never chosen.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      alpha: of `length_penalty`, for the scores.
    """
    tar_inp, _ = mask_targets(inp, tf.zeros((tf.shape(inp)[0], 0), tf.int32))
    predictions, _ = transformer((inp, tar_inp), training=False)  # (B, L, V)
    never = np.isin(np.arange(predictions.shape[-1]), (PAD, START, UNKNOWN)) * MASKED  # (V,)
    allowed = predictions + tf.constant(never, tf.float32)
    best = tf.argmax(allowed, axis=-1, output_type=tf.int32)  # (B, L)
    likely = tf.reduce_max(allowed, axis=-1) - tf.reduce_logsumexp(predictions, axis=-1)  # (B, L)
    ends = tf.cast(best == END, tf.int32)
    over = (tf.cumsum(ends, axis=1, exclusive=True) > 0) | (tar_inp == PAD)
    ids = tf.where(over, PAD, best)
    log_probability = tf.reduce_sum(tf.where(over, 0.0, likely), axis=1)  # (B,)
    tokens = tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=1)  # (B,)
    ids = tf.pad(ids, [[0, 0], [1, 0]], constant_values=START)[:, tf.newaxis]  # (B, 1, 1 + L)
    scores = log_probability / length_penalty(tokens, alpha)
    finished = tf.reduce_any(ids == END, axis=-1)  # (B, 1)
    return Hypotheses(ids, scores[:, tf.newaxis], log_probability[:, tf.newaxis], finished)


def log_probabilities(transformer: Transformer, inp: tf.Tensor, tar: tf.Tensor) -> tf.Tensor:
    """Returns the natural log-probability (B,) of the tokens of ids `tar` (B, T) after START.

    Minus infinity for a target longer than `max_target_length`.
    """
    tar_inp, real = mask_targets(inp, tar[:, 1:])
    predictions, _ = transformer((inp, tar_inp), training=False)  # (B, L, V)
    losses, _ = cross_entropy(real, predictions)
    is_real = tf.cast(real != PAD, tf.float32)
    tokens = tf.reduce_sum(tf.cast(tar[:, 1:] != PAD, tf.float32), axis=1)
    fits = tf.reduce_sum(is_real, axis=1) == tokens
    return tf.where(fits, -tf.reduce_sum(losses * is_real, axis=1), -np.inf)
