"""What a model says of given translations: how likely they are, and each of their tokens."""

import math

import numpy as np
import tensorflow as tf

from nmt.decoding.cached_decoder import mean_probability
from nmt.decoding.sentence import TokenScore
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
    logarithms = []
    for transformer in transformers:
        logits, _ = transformer((inp, tar[:, :-1]), training=False)  # (B, T, V)
        logarithms.append(tf.nn.log_softmax(logits))
    likely = mean_probability(logarithms)  # (B, T, V)
    best, ids = tf.math.top_k(likely, tf.minimum(number, tf.shape(likely)[-1]))
    return tf.gather(likely, tar[:, 1:], batch_dims=2), best, ids


def log_probabilities(transformers, inp, tar):
    """Returns the natural log-probability (B,) of all tokens of ids `tar` (B, 1 + T) after START.

    Args:
      transformers, inp, tar: as of `likelihoods`; END is the last token of a target.
    """
    likely, *_ = likelihoods(transformers, inp, tar, 0)  # (B, T)
    return tf.reduce_sum(tf.where(tar[:, 1:] != PAD, likely, 0.0), axis=1)


def described(tokenizer, tar, log_probabilities, likeliest, likeliest_ids):
    """Yields for each of B translations the list of its TokenScores, END included.

    Args:
      tokenizer: a Tokenizer.
      tar: ids (B, 1 + T), an array of NumPy, as are the others.
      log_probabilities, likeliest, likeliest_ids: what `likelihoods` returns of them: (B, T), and
        of the K likeliest tokens (B, T, K).
    """
    for row, ids in enumerate(tar[:, 1:]):
        length = np.count_nonzero(ids)  # without PAD
        token_scores = []
        for position, token in enumerate(tokenizer.tokens(ids[:length])):
            names = tokenizer.tokens(likeliest_ids[row, position])
            probabilities = map(math.exp, likeliest[row, position].tolist())
            alternatives = list(zip(names, probabilities, strict=True))
            log_probability = float(log_probabilities[row, position])
            token_scores.append(TokenScore(token, log_probability, alternatives))
        yield token_scores
