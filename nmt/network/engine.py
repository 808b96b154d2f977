"""The engine: a Transformer of the story, with faster layers and batches computed in parts.

A network is built by the story's code and then converted: `accelerate` gives each layer the class
of its faster form, and nothing else of it changes. Names, variables, checkpoints and results stay
those of transformer_model.py; tests/network/ proves it.
"""

import dataclasses

import keras
import tensorflow as tf

import transformer_model
from nmt.network import layers, loss, variants
from nmt.network.keras_layers import parts_of
from nmt.network.loss import TokenSums
from transformer_model import PAD, Transformer, create_masks

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


@dataclasses.dataclass(frozen=True)
class ParallelForward:
    """The forward pass of an accelerated Transformer: a batch in parts, logits where they count.

    The rows of a batch are split into independent parts, whose sums are added, so that TensorFlow
    computes them in parallel; a part may be empty. Logits are computed at the real tokens only.
    """

    transformer: Transformer
    parts: int = 1
    static_shapes: bool = False  # as XLA needs them; padding then gets logits, too

    def token_sums(
        self, inputs: tuple[tf.Tensor, tf.Tensor], real: tf.Tensor, *, training: bool = False,
        label_smoothing: float = 0.0,
    ) -> TokenSums:  # fmt: skip
        """Ids (B, S), (B, T) and those to predict (B, T) -> TokenSums."""
        inp, tar, real_parts = (split_rows(ids, self.parts) for ids in (*inputs, real))
        # All parts first: TensorFlow starts what is ready in the order in which it was written.
        outputs = [
            decoder_output(self.transformer, *part, training)  # (B / parts, T, D)
            for part in zip(inp, tar, strict=True)
        ]
        part_sums = []
        for real_part, output in zip(real_parts, outputs, strict=True):
            if not self.static_shapes:
                is_real = tf.not_equal(real_part, PAD)  # (B / parts, T)
                output = tf.boolean_mask(output, is_real)[tf.newaxis]  # (1, real tokens, D)
                real_part = tf.boolean_mask(real_part, is_real)[tf.newaxis]  # (1, real tokens)
            logits = self.transformer.final_layer(output)  # (..., V)
            part_sums.append(loss.token_sums(real_part, logits, label_smoothing))
        return TokenSums(*(tf.add_n(sums) for sums in zip(*part_sums, strict=True)))


def decoder_output(
    transformer: Transformer, inp: tf.Tensor, tar: tf.Tensor, training: bool
) -> tf.Tensor:
    """Ids (B, S), (B, T) -> what a Transformer computes its logits from, (B, T, D)."""
    enc_padding_mask, combined_mask, dec_padding_mask = create_masks(inp, tar)
    enc_output, _ = transformer.encoder(inp, training=training, mask=enc_padding_mask)  # (B, S, D)
    output, _ = transformer.decoder(
        tar, enc_output, training=training, look_ahead_mask=combined_mask,
        padding_mask=dec_padding_mask,
    )  # fmt: skip
    return output


def split_rows(ids: tf.Tensor, parts: int) -> list[tf.Tensor]:
    """(B, L) -> `parts` tensors of about B / parts rows each."""
    if parts == 1:
        return [ids]
    rows = (tf.shape(ids)[0] + tf.range(parts)[::-1]) // parts  # of each part
    return tf.split(ids, rows, num=parts)
