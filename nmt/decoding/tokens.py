"""The tokens of a translation: their log-probabilities, and what else was likely there."""

import math

import tensorflow as tf

from nmt.decoding.cached_decoder import mean_probability


def likelihoods(transformers, inp, tar, number):
    """Returns log-probabilities (B, T) of tokens; (B, T, K) and ids of the likeliest tokens there.

    Each position knows the tokens before it (teacher forcing).

    Args:
      transformers: one or more; their probabilities are averaged.
      inp: source ids (B, S).
      tar: target ids (B, 1 + T), START first.
      number: K.
    """
    each = [tf.nn.log_softmax(one((inp, tar[:, :-1]), training=False)[0]) for one in transformers]
    likely = mean_probability(each)  # (B, T, V)
    best, ids = tf.math.top_k(likely, number)
    return tf.gather(likely, tar[:, 1:], batch_dims=2), best, ids


def described(tokenizer, ids, likely, best, alternatives):
    """Returns a row (token, log-probability, [(token, probability), ...]) for each token.

    Args:
      tokenizer: a Tokenizer.
      ids: of the tokens (T,), END included.
      likely, best, alternatives: of the same tokens, arrays as `likelihoods` returns them.
    """
    others = (
        [*zip(tokenizer.tokens(its), map(math.exp, logs), strict=True)]
        for its, logs in zip(alternatives.tolist(), best.tolist(), strict=True)
    )
    return [*zip(tokenizer.tokens(ids), likely.tolist(), others, strict=True)]
