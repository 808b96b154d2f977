"""Sampling: translations drawn at random, token by token, by their probabilities.

A sentence's sample depends on the seed, its tokens and the number of the sample, and on nothing
else: not on the other lines, their order, or the batch.
"""

import tensorflow as tf

from nmt.decoding.search_options import Sampling
from transformer_model import PAD


def random_numbers(
    sampling: Sampling, inp: tf.Tensor, samples: tf.Tensor, length: tf.Tensor
) -> tf.Tensor:
    """Returns random numbers (B, length), uniform in [0, 1), one for each token to be drawn.

    Args:
      inp: source ids (B, S).
      samples: the number (B,) of the sample of each source, from 0.
      length: tokens of a translation, at most.
    """
    words = tf.where(inp == PAD, "", tf.strings.as_string(inp) + " ")  # (B, S)
    texts = tf.strings.reduce_join(words, axis=1) + tf.strings.as_string(samples)  # (B,)
    keys = tf.strings.to_hash_bucket_fast(texts, 2**31 - 1)  # (B,)
    seed = tf.cast(sampling.seed, tf.int64)
    return tf.map_fn(
        lambda key: tf.random.stateless_uniform([length], tf.stack([seed, key])),
        keys,
        fn_output_signature=tf.TensorSpec((None,), tf.float32),
    )


def draw(sampling: Sampling, likely: tf.Tensor, uniform: tf.Tensor) -> tf.Tensor:
    """Returns the drawn tokens, (...) int32.

    Args:
      likely: log-probabilities (..., V) of all tokens.
      uniform: random numbers (...) in [0, 1): a token is drawn if its share of the interval
        from 0 to 1, in the order of probabilities, holds the number.
    """
    vocab_size = likely.shape[-1]
    number = tf.where(sampling.top_k > 0, tf.minimum(sampling.top_k, vocab_size), vocab_size)
    # (..., N), the likeliest first
    logits, tokens = tf.math.top_k(likely / sampling.temperature, number)
    probabilities = tf.nn.softmax(logits)
    before = tf.cumsum(probabilities, axis=-1, exclusive=True)
    probabilities = tf.where(before < sampling.top_p, probabilities, 0.0)
    ends = tf.cumsum(probabilities, axis=-1)  # of the tokens' shares
    passed = ends <= uniform[..., tf.newaxis] * ends[..., -1:]
    # The last token that stays, should rounding leave none.
    last = tf.reduce_sum(tf.cast(probabilities > 0, tf.int32), axis=-1) - 1
    rank = tf.minimum(tf.reduce_sum(tf.cast(passed, tf.int32), axis=-1), last)
    return tf.gather(tokens, rank, batch_dims=len(rank.shape))
