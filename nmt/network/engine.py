"""The engine: a Transformer of the story, with faster layers and batches computed in parts.

A network is built by the story's code and then converted: `accelerate` gives each layer the class
of its faster form, and nothing else of it changes. Names, variables, checkpoints and results stay
those of transformer_model.py; tests/network/ proves it.
"""

from typing import NamedTuple

import keras
import tensorflow as tf

import transformer_model
from nmt.network import layers, loss
from transformer_model import PAD, TokenSums, Transformer, create_masks, create_padding_mask

FASTER = {  # the class of a layer -> that of its faster form
    keras.layers.Dense: layers.Dense,
    keras.layers.Dropout: layers.Dropout,
    keras.layers.LayerNormalization: layers.LayerNormalization,
    transformer_model.MultiHeadAttention: layers.MultiHeadAttention,
    transformer_model.TiedLogits: layers.TiedLogits,
}


def accelerate(transformer):
    """Gives every layer of a Transformer, in place, the class of its faster form.

    Python allows it because a faster form adds no state: each is a subclass that overrides methods.
    The signature of `call` must stay, because Keras has read it from the original class.

    Args:
      transformer: a Transformer of the story.

    Returns:
      the same Transformer.
    """
    for layer in transformer._flatten_layers():
        layer.__class__ = FASTER.get(type(layer), type(layer))
    return transformer


class PlainForward(NamedTuple):
    """The forward pass and the loss as the story computes them (`--plain`)."""

    transformer: Transformer

    def predict(self, inputs, *, training=False):
        """Ids (B, S), (B, T) -> logits (B, T, V)."""
        logits, _ = self.transformer(inputs, training=training)
        return logits

    def token_sums(self, real, logits, label_smoothing=0.0):
        """Ids (B, T), logits (B, T, V) -> TokenSums."""
        return transformer_model.token_sums(real, logits, label_smoothing)


class ParallelForward(NamedTuple):
    """The forward pass of an accelerated Transformer: a batch in parts, logits where they count.

    The rows of a batch are split into independent parts, whose sums are added, so that TensorFlow
    computes them in parallel; a part may be empty. `predict` ends with the decoder's output, and
    `token_sums` computes logits from it at the real tokens only.
    """

    transformer: Transformer
    parts: int = 1
    static_shapes: bool = False  # as XLA needs them; padding then gets logits, too

    def predict(self, inputs, *, training=False):
        """Ids (B, S), (B, T) -> the decoder's output of each part, (B / parts, T, D)."""
        inp, tar = inputs
        return [
            decoder_output(self.transformer, inp_part, tar_part, training)
            for inp_part, tar_part in zip(
                split_rows(inp, self.parts), split_rows(tar, self.parts), strict=True
            )
        ]

    def token_sums(self, real, outputs, label_smoothing=0.0):
        """Ids (B, T), the decoder's `outputs` of all parts -> TokenSums."""
        part_sums = []
        for real_part, output in zip(split_rows(real, self.parts), outputs, strict=True):
            if not self.static_shapes:
                is_real = tf.not_equal(real_part, PAD)  # (B / parts, T)
                output = tf.boolean_mask(output, is_real)[tf.newaxis]  # (1, real tokens, D)
                real_part = tf.boolean_mask(real_part, is_real)[tf.newaxis]  # (1, real tokens)
            logits = self.transformer.final_layer(output)  # (..., V)
            part_sums.append(loss.token_sums(real_part, logits, label_smoothing))
        return TokenSums(*(tf.add_n(sums) for sums in zip(*part_sums, strict=True)))


def split_rows(ids, parts):
    """(B, L) -> `parts` tensors of about B / parts rows each."""
    if parts == 1:
        return [ids]
    rows = (tf.shape(ids)[0] + tf.range(parts)[::-1]) // parts  # of each part
    return tf.split(ids, rows, num=parts)


def decoder_output(transformer, inp, tar, training=False):
    """Returns what `Transformer.call` computes before the final layer, (B, T, D).

    Args:
      inp, tar: ids (B, S), (B, T).
    """
    enc_padding_mask, combined_mask, dec_padding_mask = create_masks(inp, tar)
    if transformer.config["non_autoregressive"]:
        combined_mask = create_padding_mask(tar)  # (B, 1, 1, T)
    enc_output, _ = transformer.encoder(inp, training=training, mask=enc_padding_mask)
    output, _ = transformer.decoder(
        tar, enc_output, training=training, look_ahead_mask=combined_mask,
        padding_mask=dec_padding_mask,
    )  # fmt: skip
    return output
