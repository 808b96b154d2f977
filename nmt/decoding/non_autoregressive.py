"""Non-autoregressive translation: all tokens in one pass (Gu et al. 2018, arXiv 1711.02281).

The likeliest output at each position, and the words that these mean: nmt/network/ctc.py.
"""

import numpy as np
import tensorflow as tf

from nmt.decoding.hypotheses import Hypotheses, length_penalty
from nmt.network import ctc, parallel_tokens
from transformer_model import END, START, Transformer


def search(
    transformer: Transformer, inp: tf.Tensor, alpha: float = 0.6, scored: bool = True
) -> Hypotheses:
    """Predicts all tokens of each translation in one pass. Returns Hypotheses, one per sentence.

    Their log-probability is that of the outputs found, one of many that mean the same words:
    `log_probabilities` sums over all, and is never less.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      alpha: of `length_penalty`, for the scores.
      scored: False to compute no log-probabilities; then they are 0.
    """
    logits, is_position = parallel_tokens.predict(transformer, inp)  # (B, L, V), (B, L)
    words = ctc.meaning(ctc.best_outputs(logits, is_position))  # (B, L)
    length = tf.math.count_nonzero(words, axis=1, dtype=tf.int32)  # (B,)
    has_source = is_position[:, :1]  # (B, 1)
    # START and END, which are not predicted, and which all other searches return.
    ids = tf.pad(words, [[0, 0], [1, 1]])  # (B, 1 + L + 1)
    places = tf.range(tf.shape(ids)[1])
    ids = tf.where(places == 0, START, ids)
    ids = tf.where(has_source & (places == 1 + length[:, tf.newaxis]), END, ids)
    log_probability = tf.zeros_like(inp[:, :1], tf.float32)  # (B, 1)
    if scored:
        log_probability += ctc.log_probability_of_best(logits, is_position)[:, tf.newaxis]
    scores = log_probability / length_penalty(1 + length, alpha)[:, tf.newaxis]
    return Hypotheses(ids[:, tf.newaxis], scores, log_probability, has_source)


def log_probabilities(transformer: Transformer, inp: tf.Tensor, tar: tf.Tensor) -> tf.Tensor:
    """Returns the natural log-probability (B,) of the tokens of ids `tar` (B, T) after START.

    Minus infinity for a target that needs more positions than the decoder has.
    """
    logits, is_position = parallel_tokens.predict(transformer, inp)
    paths = ctc.lattice(tar[:, 1:], logits, is_position)
    return tf.where(paths.fits(), -paths.losses(), -np.inf)
