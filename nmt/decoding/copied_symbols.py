"""Symbols that a translation copies from its source, each as often as the source holds it.

They stand for what must not change; see text/protected.py. A search that knows them cannot lose or
repeat one. Shapes in comments as in transformer_model.py, K hypotheses and N symbols.
"""

import dataclasses

import tensorflow as tf

from transformer_model import END, MASKED


@dataclasses.dataclass(frozen=True)
class CopiedSymbols:
    """The symbols of a vocabulary: the tokens that follow END."""

    ids: range  # N of them, from END + 1

    def count(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns how often ids (..., L) hold each symbol, (..., N) int32."""
        is_symbol = tf.one_hot(ids - self.ids.start, len(self.ids), dtype=tf.int32)  # (..., L, N)
        return tf.reduce_sum(is_symbol, axis=-2)

    def restrict(self, likely: tf.Tensor, ids: tf.Tensor, required: tf.Tensor) -> tf.Tensor:
        """Returns `likely` where no symbol is lost, repeated or invented.

        A symbol can follow only as long as it is missing, and END only when none is. Where END
        would be likelier than all missing symbols, the likeliest of them takes its probability: a
        translation that would end goes on with what it lacks.

        Args:
          likely: log-probabilities (B, K, V) of the next token.
          ids: (B, K, 1 + L), the tokens so far.
          required: how often a translation must hold each symbol, (B, N) int32.
        """
        is_missing = required[:, tf.newaxis] > self.count(ids)  # (B, K, N)
        is_whole = ~tf.reduce_any(is_missing, axis=2, keepdims=True)  # (B, K, 1)
        first, last = self.ids.start, self.ids.stop
        end = likely[..., END:first]  # (B, K, 1)
        symbols = tf.where(is_missing, likely[..., first:last], MASKED)  # (B, K, N)
        likeliest = symbols == tf.reduce_max(symbols, axis=2, keepdims=True)
        symbols = tf.where(is_missing & likeliest, tf.maximum(symbols, end), symbols)
        end = tf.where(is_whole, end, MASKED)
        return tf.concat([likely[..., :END], end, symbols, likely[..., last:]], axis=2)
