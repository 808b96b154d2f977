"""Non-autoregressive translation: all tokens at once, each from the source and its own place.

The decoder is given as many unknown tokens as a translation may have (`room`). It looks at all of
them, without a look-ahead mask, and tells what stands at each place (Gu et al. 2018, arXiv
1711.02281, who foretell the length; here what comes after the first END is cut off). In training a
part of the target may be shown to it, and it learns to tell the rest (Ghazvininejad et al. 2019,
arXiv 1904.09324).
"""

import numpy as np
import tensorflow as tf

from transformer_model import (
    END,
    MASKED,
    PAD,
    START,
    UNKNOWN,
    Hypotheses,
    cross_entropy,
    length_penalty,
)

HIDDEN = UNKNOWN  # what the decoder is given where it is to tell a token
SHOWN = 0.5  # share of training pairs of whose target a part is shown


def room(inp):
    """Returns the places (B,) that translations of ids `inp` (B, S) have: a quarter more, and 8."""
    tokens = tf.reduce_sum(tf.cast(inp != PAD, tf.int32), axis=1)  # (B,)
    return tf.where(tokens > 0, tokens * 5 // 4 + 8, 0)


def hide(inp, real, seed=None):
    """Returns what the decoder is given, and what it is to tell: ids (B, L), (B, L).

    Args:
      inp: ids of the source (B, S).
      real: those of the target (B, T), END last, without START; what finds no room is left out.
      seed: (2,), by which parts of targets are chosen to be shown; None shows nothing.
    """
    length = tf.shape(inp)[1] * 5 // 4 + 8  # L
    places = tf.range(length) < room(inp)[:, tf.newaxis]  # (B, L)
    real = tf.where(places, tf.pad(real, [[0, 0], [0, length]])[:, :length], PAD)
    given = tf.where(places, HIDDEN, PAD)
    if seed is not None:
        chances = tf.random.stateless_uniform((tf.shape(inp)[0], length + 2), seed)
        share = tf.where(chances[:, :1] < SHOWN, chances[:, 1:2], 0.0)  # (B, 1) of each target
        shown = (chances[:, 2:] < share) & (real != PAD)  # (B, L)
        given, real = tf.where(shown, real, given), tf.where(shown, PAD, real)
    return given, real


def search(transformer, inp, alpha=0.6):
    """Tells all tokens of each translation in one pass. Returns Hypotheses of one a sentence.

    The likeliest token at each place; PAD, START and UNKNOWN are never chosen.

    Args:
      inp: ids of the source (B, S).
      alpha: of `length_penalty`, for the scores.
    """
    given, _ = hide(inp, tf.zeros((tf.shape(inp)[0], 0), tf.int32))
    predictions, _ = transformer((inp, given), training=False)  # (B, L, V)
    never = np.isin(np.arange(predictions.shape[-1]), (PAD, START, UNKNOWN)) * MASKED  # (V,)
    allowed = predictions + tf.constant(never, tf.float32)
    best = tf.argmax(allowed, axis=-1, output_type=tf.int32)  # (B, L)
    likely = tf.reduce_max(allowed, axis=-1) - tf.reduce_logsumexp(predictions, axis=-1)  # (B, L)
    ends = tf.cast(best == END, tf.int32)
    over = (tf.cumsum(ends, axis=1, exclusive=True) > 0) | (given == PAD)
    ids = tf.where(over, PAD, best)
    found = tf.reduce_sum(tf.where(over, 0.0, likely), axis=1)  # (B,)
    tokens = tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=1)  # (B,)
    ids = tf.pad(ids, [[0, 0], [1, 0]], constant_values=START)[:, tf.newaxis]  # (B, 1, 1 + L)
    scores = found / length_penalty(tokens, alpha)
    finished = tf.reduce_any(ids == END, axis=-1)  # (B, 1)
    return Hypotheses(ids, scores[:, tf.newaxis], found[:, tf.newaxis], finished)


def log_probabilities(transformer, inp, tar):
    """Returns the natural log-probability (B,) of all tokens of ids `tar` (B, T) but its START.

    That of a target for which there is no room is minus infinity.
    """
    given, real = hide(inp, tar[:, 1:])
    predictions, _ = transformer((inp, given), training=False)  # (B, L, V)
    losses, _ = cross_entropy(predictions, real)
    told = tf.cast(real != PAD, tf.float32)
    tokens = tf.reduce_sum(tf.cast(tar[:, 1:] != PAD, tf.float32), axis=1)
    fits = tf.reduce_sum(told, axis=1) == tokens
    return tf.where(fits, -tf.reduce_sum(losses * told, axis=1), -np.inf)
