"""What a model says of given translations: how likely they are, and each of their tokens."""

import math

import numpy as np
import tensorflow as tf

from nmt.decoding.cached_decoder import mean_probability
from transformer_model import PAD


def likelihoods(transformers, inp, tar, number):
    """Returns log-probabilities (B, T) of tokens; (B, T, K) and ids of the likeliest tokens there.

    Each position knows the tokens before it (teacher forcing).

    Args:
      transformers: one or more; their probabilities are averaged.
      inp: source ids (B, S).
      tar: target ids (B, 1 + T), START first.
      number: K, at most; there are no more than vocabulary entries.
    """
    each = [tf.nn.log_softmax(one((inp, tar[:, :-1]), training=False)[0]) for one in transformers]
    likely = mean_probability(each)  # (B, T, V)
    best, ids = tf.math.top_k(likely, tf.minimum(number, tf.shape(likely)[-1]))
    return tf.gather(likely, tar[:, 1:], batch_dims=2), best, ids


def log_probabilities(transformers, inp, tar):
    """Returns the natural log-probability (B,) of all tokens of ids `tar` (B, 1 + T) after START.

    Args:
      transformers, inp, tar: as of `likelihoods`; END is the last token of a target.
    """
    likely, *_ = likelihoods(transformers, inp, tar, 0)  # (B, T)
    return tf.reduce_sum(tf.where(tar[:, 1:] != PAD, likely, 0.0), axis=1)


def described(tokenizer, tar, *arrays):
    """Yields for each of B translations a list of (token, log-probability, alternatives).

    One for each token, END included. Alternatives are pairs (token, probability).

    Args:
      tokenizer: a Tokenizer.
      tar, arrays: ids and what `likelihoods` returns of them, as arrays of NumPy.
    """
    for ids, *numbers in zip(tar[:, 1:], *arrays, strict=True):
        length = np.count_nonzero(ids)  # without PAD
        likely, best, others = (values[:length].tolist() for values in numbers)
        alternatives = (
            [*zip(tokenizer.tokens(its), map(math.exp, logs), strict=True)]
            for its, logs in zip(others, best, strict=True)
        )
        yield [*zip(tokenizer.tokens(ids[:length]), likely, alternatives, strict=True)]
