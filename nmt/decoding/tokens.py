"""What a model predicts of given translations: how likely they are, and each of their tokens."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from nmt.decoding.ensemble import mean_probability
from nmt.decoding.sentence import TokenScore
from nmt.text.tokenizer import Tokenizer
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


def token_scores(
    tokenizer: Tokenizer, tar: np.ndarray, likelihoods: TokenLikelihoods
) -> Iterator[list[TokenScore]]:
    """Yields for each of B translations the list of TokenScores of its tokens, END included.

    Args:
      tokenizer: a Tokenizer.
      tar: ids (B, 1 + T).
      likelihoods: those of `tar`, as NumPy arrays.
    """
    for row, ids in enumerate(tar[:, 1:]):
        length = np.count_nonzero(ids)  # without PAD
        scores = []
        for position, token in enumerate(tokenizer.tokens(ids[:length])):
            alternatives = []
            likeliest = tokenizer.tokens(likelihoods.likeliest_ids[row, position])
            for rank, other_token in enumerate(likeliest):
                probability = math.exp(likelihoods.likeliest[row, position, rank])
                alternatives.append((other_token, probability))
            log_probability = float(likelihoods.log_probabilities[row, position])
            scores.append(TokenScore(token, log_probability, alternatives))
        yield scores
