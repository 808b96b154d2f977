"""Against repetition: tokens that a translation holds already become less likely, or impossible."""

import tensorflow as tf

from nmt.decoding.search_options import Repetition
from transformer_model import END, MASKED, PAD


def restrict(
    repetition: Repetition, likely: tf.Tensor, ids: tf.Tensor, position: tf.Tensor
) -> tf.Tensor:
    """Returns `likely` with tokens that the translation already holds less likely.

    Args:
      likely: log-probabilities (B, K, V) of the token after `position`.
      ids: (B, K, 1 + L), START first; those up to `position` are known, PAD follows.
    """
    batch, beam, vocab_size = tf.unstack(tf.shape(likely))
    rows, length = batch * beam, tf.shape(ids)[2]
    flat = tf.reshape(likely, (rows, vocab_size))  # (R, V), R = B K
    ids = tf.reshape(ids, (rows, length))  # (R, 1 + L)
    if repetition.penalty > 1:
        occurrences = tf.where(ids == PAD, 0.0, 1.0)
        seen = sum_by_token(ids, occurrences, vocab_size) > 0  # (R, V)
        flat = tf.where(seen, flat * repetition.penalty, flat)
    if repetition.ngram:
        tokens, penalties = _repeated_ends(repetition.ngram, ids, position)  # (R, W)
        flat += tf.maximum(sum_by_token(tokens, penalties, vocab_size), MASKED)
    return tf.reshape(flat, (batch, beam, vocab_size))


def _repeated_ends(ngram: int, ids: tf.Tensor, position: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the last tokens (R, W) of all W n-grams, and their penalties (R, W).

    The penalty is MASKED if the token would repeat its n-gram after `position`, else 0.

    Args:
      ids, position: see `restrict`; in rows (R, 1 + L).
    """
    before = ngram - 1  # tokens of an n-gram before its last
    windows = tf.maximum(tf.shape(ids)[1] - before, 0)  # W
    starts = tf.range(windows)
    repeated = (starts > 0) & (starts + before <= position)  # not START; known tokens only
    for offset in range(before):
        newest = tf.maximum(position - before + 1 + offset, 0)
        tokens = ids[:, offset : offset + windows]  # (R, W), one of each n-gram
        repeated &= tokens == ids[:, newest, tf.newaxis]
    repeated &= position >= before
    last = ids[:, before:]  # (R, W)
    return last, tf.where(repeated & (last != END), MASKED, 0.0)


def sum_by_token(ids: tf.Tensor, values: tf.Tensor, vocab_size: tf.Tensor) -> tf.Tensor:
    """Returns for each row and token (R, V) the sum of the `values` (R, W) of its `ids` (R, W)."""
    rows = tf.broadcast_to(tf.range(tf.shape(ids)[0])[:, tf.newaxis], tf.shape(ids))
    indices = tf.stack([rows, ids], axis=-1)  # (R, W, 2)
    return tf.scatter_nd(indices, values, (tf.shape(ids)[0], vocab_size))
