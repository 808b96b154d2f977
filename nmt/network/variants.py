"""Variants of the story's network: other layers and stacks, with the same names and variables.

- Normalizing first (pre-norm). Paper and tutorial normalize the residual sum (post-norm). To
  normalize the input of each sub-layer instead leaves the residual stream untouched and trains deep
  stacks more reliably (Xiong et al. 2020, arXiv 2002.04745). A layer has the same variables; each
  stack has one more normalization, of its output.
- Tied embeddings: one matrix for source, target and logits (paper 3.4).
- Another number of layers in the decoder (Kasai et al. 2020, arXiv 2006.10369).
- What networks trained by Marian have: x sigmoid(x), called swish (Ramachandran et al. 2017, arXiv
  1710.05941), in place of max(0, x); another epsilon; a bias of logits beside tied embeddings.

Shapes in comments as in transformer_model.py.
"""

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from nmt.network.keras_layers import TransformerLayer, TransformerModel, parts_of
from transformer_model import Decoder, DecoderLayer, Encoder, EncoderLayer, Transformer

register = keras.saving.register_keras_serializable(package="nmt")


# ---- Layers ----


@register
class PreNormEncoderLayer(EncoderLayer):
    """An EncoderLayer that normalizes the input of each sub-layer."""

    def call(
        self, x: tf.Tensor, *, training: bool = False, mask: tf.Tensor | None = None
    ) -> tuple[tf.Tensor, Any]:
        """(B, S, D) -> output (B, S, D), attention weights (B, H, S, S)."""
        normalized = self.layernorm1(x)  # (B, S, D)
        attn_output, weights = self.mha(normalized, normalized, normalized, mask)  # (B, S, D)
        out1 = x + self.dropout1(attn_output, training=training)

        ffn_output = self.ffn(self.layernorm2(out1))  # (B, S, D)
        out2 = out1 + self.dropout2(ffn_output, training=training)
        return out2, weights


@register
class PreNormDecoderLayer(DecoderLayer):
    """A DecoderLayer that normalizes the input of each sub-layer."""

    def call(
        self, x: tf.Tensor, enc_output: tf.Tensor, *, training: bool = False,
        look_ahead_mask: tf.Tensor | None = None, padding_mask: tf.Tensor | None = None,
    ) -> tuple[tf.Tensor, ...]:  # fmt: skip
        """(B, T, D), (B, S, D) -> output (B, T, D), weights (B, H, T, T) and (B, H, T, S)."""
        normalized = self.layernorm1(x)  # (B, T, D)
        attn1, block1 = self.mha1(normalized, normalized, normalized, look_ahead_mask)
        out1 = x + self.dropout1(attn1, training=training)  # (B, T, D)

        attn2, block2 = self.mha2(enc_output, enc_output, self.layernorm2(out1), padding_mask)
        out2 = out1 + self.dropout2(attn2, training=training)  # (B, T, D)

        ffn_output = self.ffn(self.layernorm3(out2))  # (B, T, D)
        out3 = out2 + self.dropout3(ffn_output, training=training)
        return out3, block1, block2


@register
class TiedLogits(keras.layers.Layer):
    """Logits as products with the matrix (V, D) of a shared Keras `embedding` (paper 3.4)."""

    def __init__(
        self, embedding: keras.layers.Embedding, has_bias: bool = False, **kwargs: Any
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.embedding, self.has_bias = embedding, has_bias
        self.bias = None

    def build(self, input_shape: Any) -> None:
        if self.has_bias:
            entries = (self.embedding.input_dim,)
            self.bias = self.add_weight(entries, "zeros", name="bias")

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """(B, L, D) -> (B, L, V)."""
        logits = tf.matmul(x, self.embedding.embeddings, transpose_b=True)
        return logits if self.bias is None else logits + self.bias


# ---- The two stacks ----


@register
class EncoderVariant(Encoder):
    """An Encoder of other layers, or with an embedding that is shared."""

    def __init__(
        self, num_layers: int, d_model: int, num_heads: int, dff: int, input_vocab_size: int,
        rate: float = 0.1, pre_norm: bool = False, embedding: keras.layers.Embedding | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        TransformerLayer.__init__(self, **kwargs)  # Encoder's would create the story's layers
        self.d_model = d_model
        self.embedding = embedding or keras.layers.Embedding(input_vocab_size, d_model)
        self.dropout = keras.layers.Dropout(rate)
        layer = PreNormEncoderLayer if pre_norm else EncoderLayer
        self.enc_layers = [layer(d_model, num_heads, dff, rate) for _ in range(num_layers)]
        self.layernorm = output_normalization(pre_norm)

    def call(
        self, x: tf.Tensor, *, training: bool = False, mask: tf.Tensor | None = None
    ) -> tuple[tf.Tensor, Any]:
        """Ids (B, S) -> output (B, S, D), {"encoder_layer1": weights (B, H, S, S), ...}."""
        x, attention_weights = super().call(x, training=training, mask=mask)
        return self.layernorm(x), attention_weights


@register
class DecoderVariant(Decoder):
    """A Decoder of other layers, or with an embedding that is shared."""

    def __init__(
        self, num_layers: int, d_model: int, num_heads: int, dff: int, target_vocab_size: int,
        rate: float = 0.1, pre_norm: bool = False, embedding: keras.layers.Embedding | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        TransformerLayer.__init__(self, **kwargs)  # Decoder's would create the story's layers
        self.d_model = d_model
        self.embedding = embedding or keras.layers.Embedding(target_vocab_size, d_model)
        self.dropout = keras.layers.Dropout(rate)
        layer = PreNormDecoderLayer if pre_norm else DecoderLayer
        self.dec_layers = [layer(d_model, num_heads, dff, rate) for _ in range(num_layers)]
        self.layernorm = output_normalization(pre_norm)

    def call(
        self, x: tf.Tensor, enc_output: tf.Tensor, *, training: bool = False,
        look_ahead_mask: tf.Tensor | None = None, padding_mask: tf.Tensor | None = None,
    ) -> tuple[tf.Tensor, ...]:  # fmt: skip
        """Ids (B, T), encoder's output (B, S, D) -> output (B, T, D), weights by layer, block."""
        x, attention_weights = super().call(
            x, enc_output, training=training, look_ahead_mask=look_ahead_mask,
            padding_mask=padding_mask,
        )  # fmt: skip
        return self.layernorm(x), attention_weights


def output_normalization(pre_norm: bool) -> keras.layers.Layer:
    """Returns the last layer of a stack: with pre-norm, nothing else normalizes its output."""
    return keras.layers.LayerNormalization(epsilon=1e-6) if pre_norm else keras.layers.Identity()


# ---- The network ----


class Variant(NamedTuple):
    """In what a Transformer differs from the story's."""

    pre_norm: bool = False  # normalizes the input of each sub-layer, not the residual sum
    tie_embeddings: bool = False  # has one matrix for source, target and logits
    decoder_layers: int = 0  # in the decoder; 0 for as many as in the encoder
    activation: str = "relu"  # within the feed-forward networks, by Keras's name
    norm_epsilon: float = 1e-6  # of layer normalization
    logits_bias: bool = False  # has a bias (V,) beside tied embeddings


@register
class TransformerVariant(Transformer):
    """A Transformer that differs from the story's; for the arguments, see Variant."""

    def __init__(
        self, num_layers: int, d_model: int, num_heads: int, dff: int, input_vocab_size: int,
        target_vocab_size: int, rate: float = 0.1, pre_norm: bool = False,
        tie_embeddings: bool = False, decoder_layers: int = 0, activation: str = "relu",
        norm_epsilon: float = 1e-6, logits_bias: bool = False, **kwargs: Any,
    ):  # fmt: skip
        TransformerModel.__init__(self, **kwargs)  # Transformer's would create the story's stacks
        decoder_layers = decoder_layers or num_layers
        self.config = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            input_vocab_size=input_vocab_size, target_vocab_size=target_vocab_size, rate=rate,
            pre_norm=pre_norm, tie_embeddings=tie_embeddings, decoder_layers=decoder_layers,
            activation=activation, norm_epsilon=norm_epsilon, logits_bias=logits_bias,
        )  # fmt: skip
        embedding = None  # each stack has its own
        if tie_embeddings:
            embedding = shared_embedding(input_vocab_size, target_vocab_size, d_model)
        self.encoder = EncoderVariant(
            num_layers, d_model, num_heads, dff, input_vocab_size, rate, pre_norm, embedding
        )
        self.decoder = DecoderVariant(
            decoder_layers, d_model, num_heads, dff, target_vocab_size, rate, pre_norm, embedding
        )
        if tie_embeddings:
            self.final_layer = TiedLogits(embedding, logits_bias, dtype="float32")
        else:
            self.final_layer = keras.layers.Dense(target_vocab_size, dtype="float32")
        if activation != "relu":  # which the story's layers have
            for layer in (*self.encoder.enc_layers, *self.decoder.dec_layers):
                layer.ffn.layers[0].activation = keras.activations.get(activation)
        set_epsilon(self, norm_epsilon)


def set_epsilon(layer: keras.Layer, epsilon: float) -> None:
    """Sets the epsilon of each layer normalization within a layer."""
    for part in parts_of(layer):
        if isinstance(part, keras.layers.LayerNormalization):
            part.epsilon = epsilon
        set_epsilon(part, epsilon)


def shared_embedding(
    input_vocab_size: int, target_vocab_size: int, d_model: int
) -> keras.layers.Embedding:
    """Returns an Embedding for both languages, which share one vocabulary; else a ValueError.

    Its vectors have length 1: logits start small, and the stacks scale embeddings by sqrt(D).
    """
    if input_vocab_size != target_vocab_size:
        raise ValueError(
            f"tied embeddings need one vocabulary, not one of {input_vocab_size} entries "
            f"and one of {target_vocab_size}"
        )
    normal = keras.initializers.RandomNormal(stddev=d_model**-0.5)
    return keras.layers.Embedding(input_vocab_size, d_model, embeddings_initializer=normal)


def variant_of(transformer: Transformer) -> Variant:
    """Returns in what a Transformer differs from the story's."""
    names = transformer.config.keys() & {*Variant._fields}
    return Variant(**{name: transformer.config[name] for name in names})


def sizes_of(transformer: Transformer) -> dict[str, Any]:
    """Returns the arguments of a TransformerVariant that is a Transformer's equal, by name."""
    sizes = {**variant_of(transformer)._asdict(), **transformer.config}
    return sizes | {"decoder_layers": len(transformer.decoder.dec_layers)}


def network_of(variant: Variant, **sizes: Any) -> Transformer:
    """Returns a new Transformer: the story's, unless the Variant asks for another.

    With as many `decoder_layers` as layers of the encoder, it does not.
    """
    if variant.decoder_layers == sizes["num_layers"]:
        variant = variant._replace(decoder_layers=0)
    if variant == Variant():
        return Transformer(**sizes)
    return TransformerVariant(**sizes, **variant._asdict())
