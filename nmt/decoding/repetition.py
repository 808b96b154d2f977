"""Against repetition: tokens that a translation holds already become less likely, or impossible."""

from typing import NamedTuple

import tensorflow as tf

from nmt import UserError
from transformer_model import END, MASKED, PAD


class Repetition(NamedTuple):
    """What a translation may repeat.

    Log-probabilities of tokens that it holds are multiplied by `penalty` (Keskar et al. 2019, arXiv
    1909.05858, section 4.1), and count so in scores. No `ngram` tokens in a row occur twice.
    """

    penalty: float = 1.0  # 1: none
    ngram: int = 0  # 0: no limit

    def check(self) -> None:
        """Raises a UserError if a number is out of its range."""
        if not 1 <= self.penalty <= 100:
            raise UserError(f"repetition_penalty is {self.penalty}; it must be from 1 to 100")
        if self.ngram < 0:
            raise UserError(f"no_repeat_ngram is {self.ngram}; it must be 0 or more")

    def restrict(self, likely: tf.Tensor, ids: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
        """Returns `likely` with tokens that the translation already holds less likely.

        Args:
          likely: log-probabilities (B, K, V) of the token after `position`.
          ids: (B, K, 1 + L), START first; those up to `position` are known, PAD follows.
          position: a number.
        """
        batch, beam, vocab_size = tf.unstack(tf.shape(likely))
        rows, length = batch * beam, tf.shape(ids)[2]
        flat = tf.reshape(likely, (rows, vocab_size))  # (R, V), R = B K
        ids = tf.reshape(ids, (rows, length))  # (R, 1 + L)
        if self.penalty > 1:
            occurrences = tf.where(ids == PAD, 0.0, 1.0)
            seen = sum_by_token(ids, occurrences, vocab_size) > 0  # (R, V)
            flat = tf.where(seen, flat * self.penalty, flat)
        if self.ngram:
            tokens, penalties = self._repeated_ends(ids, position)  # (R, W)
            flat += tf.maximum(sum_by_token(tokens, penalties, vocab_size), MASKED)
        return tf.reshape(flat, (batch, beam, vocab_size))

    def _repeated_ends(self, ids: tf.Tensor, position: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the last tokens (R, W) of all W n-grams, and their penalties (R, W).

        The penalty is MASKED if the token would repeat its n-gram after `position`, else 0.

        Args:
          ids, position: see `restrict`; in rows (R, 1 + L).
        """
        before = self.ngram - 1  # tokens of an n-gram before its last
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
