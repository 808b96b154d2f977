"""What TensorFlow computes with: the networks of a run. This module imports no TensorFlow."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf

    from nmt.network.factory import ForwardPass
    from transformer_model import Transformer


@dataclasses.dataclass(frozen=True, eq=False)
class Networks:
    """A Transformer, or an ensemble of them, in memory."""

    transformer: Transformer
    forward: ForwardPass  # for loss and accuracy
    parts: int  # batches computed in parallel
    epoch: tf.Variable  # epochs that the weights were trained for
    steps: tf.Variable  # of the whole training run
    ensemble: tuple[Transformer, ...] = ()  # others, whose probabilities are averaged with its own

    @property
    def transformers(self) -> tuple[Transformer, ...]:
        """All Transformers."""
        return self.transformer, *self.ensemble
