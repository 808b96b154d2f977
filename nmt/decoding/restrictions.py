"""What the tokens of a translation must be, and must not be: the same for every search.

Shapes in comments as in transformer_model.py, K hypotheses, L positions, P tokens of a prefix.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from nmt.decoding import repetition as repetitions
from nmt.decoding.search_options import EXTRA_TOKENS, Repetition, SearchOptions
from transformer_model import END, MASKED, PAD

# A function of the ids (B, K, 1 + L) so far and the position of the newest one. It returns whether
# translations may have another token but END, a boolean.
OnStep = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


class RowRestrictions(NamedTuple):
    """What restricts the translations of each source.

    A search may drop the same sources from all of its tensors.
    """

    limits: tf.Tensor  # (B,) int32: the most tokens of a translation; 0 for an empty source
    prefix: tf.Tensor  # (B, P) int32: what it begins with, PAD after it; (B, 0) for anything


@dataclasses.dataclass(frozen=True, eq=False)
class Restrictions:
    """What restricts a search.

    No restriction is stronger than a prefix, whose tokens keep their log-probabilities.
    """

    prefix: tf.Tensor | None = None  # ids (B, P) that translations begin with, PAD after them
    repetition: Repetition | None = None  # what a translation may repeat; None for anything
    extra_tokens: int = EXTRA_TOKENS  # that it may have beyond those of its source
    on_step: OnStep | None = None  # called before each step

    @classmethod
    def of(
        cls, options: SearchOptions, prefix: tf.Tensor | None, on_step: OnStep | None
    ) -> "Restrictions":
        """Returns the Restrictions of a search with these options."""
        return cls(prefix=prefix, repetition=options.repetition, on_step=on_step)

    def longest(self, inp: tf.Tensor) -> tf.Tensor:
        """Returns the size of the longer of sources `inp` (B, S) and prefixes (B, P)."""
        length = tf.shape(inp)[1]
        return length if self.prefix is None else tf.maximum(length, tf.shape(self.prefix)[1])

    def rows(self, inp: tf.Tensor) -> RowRestrictions:
        """Returns the RowRestrictions of source ids `inp` (B, S)."""
        empty = tf.zeros_like(inp[:, :0], tf.int32)  # (B, 0)
        return RowRestrictions(
            limits=self._limits(inp),
            prefix=empty if self.prefix is None else self.prefix,
        )

    def _limits(self, inp: tf.Tensor) -> tf.Tensor:
        """Returns the most tokens (B,) of each translation, 0 for an empty source."""
        source_tokens = count_tokens(inp)
        tokens = source_tokens
        if self.prefix is not None:
            tokens = tf.maximum(tokens, count_tokens(self.prefix))
        return tf.where(source_tokens > 0, tokens + self.extra_tokens, 0)

    def restrict(
        self, likely: tf.Tensor, ids: tf.Tensor, position: tf.Tensor, rows: RowRestrictions
    ) -> tf.Tensor:
        """Returns log-probabilities (B, K, V) with which a search can follow no forbidden token.

        Args:
          likely: log-probabilities (B, K, V) of the token after `position`, or logits.
          ids: (B, K, 1 + L), START first; those up to `position` are known, PAD follows.
        """
        restricted = likely
        if self.on_step is not None:
            is_end = tf.range(tf.shape(likely)[-1]) == END  # (V,)
            may_continue = self.on_step(ids, position)
            restricted = tf.where(may_continue | is_end, restricted, restricted + MASKED)
        if self.repetition is not None:
            restricted = repetitions.restrict(self.repetition, restricted, ids, position)
        if self.prefix is None:
            return restricted

        def begin() -> tf.Tensor:
            token = rows.prefix[:, position, tf.newaxis, tf.newaxis]  # (B, 1, 1)
            alone = tf.where(tf.range(likely.shape[-1]) == token, likely, likely + MASKED)
            return tf.where(token == PAD, restricted, alone)

        return tf.cond(position < tf.shape(rows.prefix)[1], begin, lambda: restricted)


UNRESTRICTED = Restrictions()


def count_tokens(ids: tf.Tensor) -> tf.Tensor:
    """Returns the number (B,) of `ids` (B, L) that are not PAD."""
    return tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=1)
