"""The engine: a Transformer of the story, with faster layers and batches computed in parts.

A network is built by the story's code and then converted: `accelerate` gives each layer the class
of its faster form, and nothing else of it changes. Names, variables, checkpoints and results stay
those of transformer_model.py; tests/network/ proves it.
"""

import dataclasses
from typing import Any

import keras
import tensorflow as tf

import transformer_model
from nmt.network import layers, loss, variants
from nmt.network.loss import TokenSums
from transformer_model import PAD, Transformer, parts_of

FASTER = {  # the class of a layer -> that of its faster form
    keras.layers.Dense: layers.Dense,
    keras.layers.Dropout: layers.Dropout,
    keras.layers.LayerNormalization: layers.LayerNormalization,
    transformer_model.MultiHeadAttention: layers.MultiHeadAttention,
    variants.TiedLogits: layers.TiedLogits,
}


def accelerate(transformer: Transformer) -> Transformer:
    """Gives every layer of a Transformer, in place, the class of its faster form.

    Python allows it because a faster form adds no state: each is a subclass that overrides methods.
    The signature of `call` must stay, because Keras has read it from the original class. Keras
    has no way of its own: `clone_model` takes only functional models, and a layer made again from
    its config draws other initial weights.
    """
    _accelerate_parts(transformer)
    return transformer


def _accelerate_parts(layer: keras.Layer) -> None:
    for part in parts_of(layer):
        part.__class__ = FASTER.get(type(part), type(part))
        _accelerate_parts(part)


@dataclasses.dataclass
class Predictions:
    """What a forward pass of the engine predicts for a batch; its sums are computed once."""

    parts: list[Any]  # of the batch
    sums: TokenSums | None = None  # once the loss is computed

    @property
    def computed_sums(self) -> TokenSums:
        """The sums, after the loss was computed."""
        assert self.sums is not None
        return self.sums


@dataclasses.dataclass(frozen=True)
class ParallelForward:
    """The forward pass of an accelerated Transformer: a batch in parts, logits where they count.

    The rows of a batch are split into independent parts, whose sums are added, so that TensorFlow
    computes them in parallel; a part may be empty. `predict` ends with the decoder's output, and
    the loss computes logits from it at the real tokens only.
    """

    transformer: Transformer
    parts: int = 1
    static_shapes: bool = False  # as XLA needs them; padding then gets logits, too

    def predict(
        self, inputs: tuple[tf.Tensor, tf.Tensor], *, training: bool = False
    ) -> Predictions:
        """Ids (B, S), (B, T) -> the decoder's output of each part, (B / parts, T, D)."""
        inp, tar = (split_rows(ids, self.parts) for ids in inputs)
        return Predictions(
            [
                self.transformer.decoder_output(part, training=training)[0]
                for part in zip(inp, tar, strict=True)
            ]
        )

    def loss_function(
        self, real: tf.Tensor, predictions: Predictions, label_smoothing: float = 0.0
    ) -> tf.Tensor:
        """Returns the mean loss, in nats, of real tokens; of ids (B, T)."""
        predictions.sums = self.token_sums(real, predictions.parts, label_smoothing)
        return tf.math.divide_no_nan(predictions.sums.loss, predictions.sums.tokens)

    def accuracy_function(self, real: tf.Tensor, predictions: Predictions) -> tf.Tensor:
        """Returns the share of real tokens that are predicted, after `loss_function`."""
        return tf.math.divide_no_nan(
            predictions.computed_sums.hits, predictions.computed_sums.tokens
        )

    def tokens(self, real: tf.Tensor, predictions: Predictions) -> tf.Tensor:
        """Returns the number of real tokens, (), after `loss_function`."""
        return predictions.computed_sums.tokens

    def token_sums(
        self, real: tf.Tensor, parts: list[tf.Tensor], label_smoothing: float
    ) -> TokenSums:
        """Ids (B, T), the decoder's outputs of all parts -> TokenSums."""
        part_sums = []
        for real_part, output in zip(split_rows(real, self.parts), parts, strict=True):
            if not self.static_shapes:
                is_real = tf.not_equal(real_part, PAD)  # (B / parts, T)
                output = tf.boolean_mask(output, is_real)[tf.newaxis]  # (1, real tokens, D)
                real_part = tf.boolean_mask(real_part, is_real)[tf.newaxis]  # (1, real tokens)
            logits = self.transformer.final_layer(output)  # (..., V)
            part_sums.append(loss.token_sums(real_part, logits, label_smoothing))
        return TokenSums(*(tf.add_n(sums) for sums in zip(*part_sums, strict=True)))


def split_rows(ids: tf.Tensor, parts: int) -> list[tf.Tensor]:
    """(B, L) -> `parts` tensors of about B / parts rows each."""
    if parts == 1:
        return [ids]
    rows = (tf.shape(ids)[0] + tf.range(parts)[::-1]) // parts  # of each part
    return tf.split(ids, rows, num=parts)
