"""Symbols that a translation copies from its source, each as often as the source holds it.

They stand for what must not change; see text/protected.py. A search that knows them cannot lose,
repeat or invent one. Shapes in comments as in transformer_model.py, K hypotheses and N symbols.
"""

import dataclasses

import tensorflow as tf

from transformer_model import END, MASKED


@dataclasses.dataclass(frozen=True)
class CopiedSymbols:
    """The symbols of a vocabulary."""

    ids: range  # N of them, after END; a vocabulary without symbols has none

    def are_in(self, source: list[int]) -> bool:
        """Returns whether ids hold a symbol."""
        return bool(self.ids) and any(token in self.ids for token in source)

    def count(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns how often ids (..., L) hold each symbol, (..., N) int32."""
        is_symbol = tf.one_hot(ids - self.ids.start, len(self.ids), dtype=tf.int32)  # (..., L, N)
        return tf.reduce_sum(is_symbol, axis=-2)

    def restrict(
        self, likely: tf.Tensor, ids: tf.Tensor, required: tf.Tensor, left: tf.Tensor
    ) -> tf.Tensor:
        """Returns `likely` where no symbol is lost, repeated or invented.

        A translation that needs none gets none, and is otherwise as it would be alone, whatever the
        others in its batch need. A symbol can follow only as long as it is missing, and END only
        when none is. Where END would be likelier than all missing symbols, the likeliest of them
        takes its probability: a translation that would end continues with what it lacks. Where no
        more tokens are left than symbols are missing, nothing else can follow.

        Args:
          likely: log-probabilities (B, K, V) of the next token.
          ids: (B, K, 1 + L), the tokens so far.
          required: how often a translation must hold each symbol, (B, N) int32.
          left: how many tokens may follow at most, (B,) int32.
        """
        missing = tf.maximum(required[:, tf.newaxis] - self.count(ids), 0)  # (B, K, N)
        number = tf.reduce_sum(missing, axis=2, keepdims=True)  # (B, K, 1)
        is_whole = number == 0
        is_urgent = ~is_whole & (number >= left[:, tf.newaxis, tf.newaxis])
        first, last = self.ids.start, self.ids.stop
        end = likely[..., END : END + 1]  # (B, K, 1)
        symbols = tf.where(missing > 0, likely[..., first:last], MASKED)  # (B, K, N)
        likeliest = symbols == tf.reduce_max(symbols, axis=2, keepdims=True)
        symbols = tf.where((missing > 0) & likeliest, tf.maximum(symbols, end), symbols)
        allowed = tf.where(is_urgent, MASKED, likely)
        end = tf.where(is_whole, end, MASKED)
        before, between = allowed[..., :END], allowed[..., END + 1 : first]
        restricted = tf.concat([before, end, between, symbols, allowed[..., last:]], axis=2)
        needs_any = tf.reduce_any(required > 0, axis=1)[:, tf.newaxis, tf.newaxis]  # (B, 1, 1)
        return tf.where(needs_any, restricted, forbid(likely, self.ids))


def forbid(likely: tf.Tensor, ids: range) -> tf.Tensor:
    """Returns log-probabilities (B, K, V) with which no token of `ids` can follow."""
    if not ids:
        return likely
    tokens = tf.range(tf.shape(likely)[-1])  # (V,)
    is_forbidden = (tokens >= ids.start) & (tokens < ids.stop)
    return tf.where(is_forbidden, MASKED, likely)
