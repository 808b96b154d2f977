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

    def check(self):
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
        flat, ids = tf.reshape(likely, (rows, vocab_size)), tf.reshape(ids, (rows, length))
        if self.penalty > 1:
            seen = at(ids, tf.where(ids == PAD, 0.0, 1.0), vocab_size) > 0
            flat = tf.where(seen, flat * self.penalty, flat)
        if self.ngram:
            tokens, penalties = self._banned(ids, position)  # (R, W)
            flat += tf.maximum(at(tokens, penalties, vocab_size), MASKED)
        return tf.reshape(flat, (batch, beam, vocab_size))

    def _banned(self, ids, position):
        """Returns ids (R, W) that would complete a repeated n-gram, with MASKED for those, else 0.

        Args:
          ids, position: see `restrict`; in rows (R, 1 + L).
        """
        before = self.ngram - 1  # tokens of an n-gram before its last
        windows = tf.maximum(tf.shape(ids)[1] - before, 0)  # W
        starts = tf.range(windows)
        repeated = (starts > 0) & (starts + before <= position)  # not START; known tokens only
        for offset in range(before):
            newest = tf.maximum(position - before + 1 + offset, 0)
            here = ids[:, offset : offset + windows]  # (R, W)
            repeated &= here == ids[:, newest, tf.newaxis]
        repeated &= position >= before
        last = ids[:, before:]  # (R, W)
        return last, tf.where(repeated & (last != END), MASKED, 0.0)


def at(ids, values, vocab_size):
    """Returns (R, V), the sums of `values` (R, W) at the tokens of `ids` (R, W)."""
    rows = tf.broadcast_to(tf.range(tf.shape(ids)[0])[:, tf.newaxis], tf.shape(ids))
    indices = tf.stack([rows, ids], axis=-1)  # (R, W, 2)
    return tf.scatter_nd(indices, values, (tf.shape(ids)[0], vocab_size))
