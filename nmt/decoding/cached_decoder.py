"""The decoder, one position at a time, for a batch of sources that the encoder reads once.

Each layer keeps the keys and values of earlier positions. Shapes in comments as in
transformer_model.py, L positions and K hypotheses.
"""

from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from nmt.decoding.restrictions import Restrictions
from nmt.network.layers import Projection, join_heads, join_projections, project
from nmt.network.variants import PreNormDecoderLayer, variant_of
from transformer_model import (
    MASKED,
    PAD,
    START,
    DecoderLayer,
    MultiHeadAttention,
    Transformer,
    create_padding_mask,
    positional_encoding,
    scaled_dot_product_attention,
)

# ---- A layer ----


class KeysAndValues(NamedTuple):
    """What attention attends to, after its projections."""

    keys: tf.Tensor  # (B, H, positions, D / H)
    values: tf.Tensor  # (B, H, positions, D / H)


def attend(
    mha: MultiHeadAttention, q: tf.Tensor, source: KeysAndValues, mask: tf.Tensor | None
) -> tf.Tensor:
    """Returns what a MultiHeadAttention does after its projections, (B, K, D).

    Args:
      q: projected queries (B, H, K, D / H).
    """
    heads, _ = scaled_dot_product_attention(q, source.keys, source.values, mask)  # (B, H, K, D / H)
    return mha.dense(join_heads(heads))


class StepMasks(NamedTuple):
    """What attention must not attend to at a step."""

    look_ahead: tf.Tensor | None  # see DecoderLayer
    padding: tf.Tensor  # (B, 1, 1, S), see DecoderLayer


def decoder_layer_step(
    layer: DecoderLayer,
    x: tf.Tensor,
    self_projection: Projection,
    cache: KeysAndValues,
    source: KeysAndValues,
    masks: StepMasks,
) -> tuple[tf.Tensor, KeysAndValues]:
    """Computes one position of a DecoderLayer, given its keys and values of earlier positions.

    Args:
      x: (B, K, D).
      cache: earlier positions of self-attention, (B, H, L K, D / H).
      source: what cross-attention attends to, (B, H, S, D / H).

    Returns:
      output (B, K, D), and the cache with the new position.
    """
    y = sublayer_input(layer, layer.layernorm1, x)
    q, keys, values = project(y, self_projection, layer.mha1.num_heads)
    cache = KeysAndValues(
        tf.concat([cache.keys, keys], axis=2), tf.concat([cache.values, values], axis=2)
    )
    attended = attend(layer.mha1, q, cache, masks.look_ahead)
    x = add_and_norm(layer, layer.layernorm1, x, attended)

    y = sublayer_input(layer, layer.layernorm2, x)
    (q,) = project(y, join_projections(layer.mha2.wq), layer.mha2.num_heads)
    x = add_and_norm(layer, layer.layernorm2, x, attend(layer.mha2, q, source, masks.padding))

    y = sublayer_input(layer, layer.layernorm3, x)
    return add_and_norm(layer, layer.layernorm3, x, layer.ffn(y)), cache


def sublayer_input(layer: DecoderLayer, normalize: keras.Layer, x: tf.Tensor) -> tf.Tensor:
    """Returns what a sub-layer reads of `x` (B, K, D): LayerNorm(x) with pre-norm, else x."""
    return normalize(x) if isinstance(layer, PreNormDecoderLayer) else x


def add_and_norm(
    layer: DecoderLayer, normalize: keras.Layer, x: tf.Tensor, output: tf.Tensor
) -> tf.Tensor:
    """Returns `x` (B, K, D) with the output of a sub-layer; normalized, but with pre-norm."""
    return x + output if isinstance(layer, PreNormDecoderLayer) else normalize(x + output)


# ---- The decoder ----


class DecoderState(NamedTuple):
    """What the decoder knows of each source between two steps.

    A search may drop the same sources from all of its tensors.
    """

    padding_mask: tf.Tensor  # (B, 1, 1, S)
    sources: list[KeysAndValues]  # by layer, for cross-attention: (B, H, S, D / H)
    caches: list[KeysAndValues]  # by layer, for self-attention: (B, H, L K, D / H)


class OutputWeights(NamedTuple):
    """The weights of the final layer, in the layout that is fastest for products with few rows."""

    kernel: tf.Tensor  # (D, V)
    bias: tf.Tensor  # (V,)


class CachedDecoder:
    """The decoder, one position at a time, for a batch of sources that the encoder has read.

    Args:
      inp: source ids (B, S).
      beam: hypotheses K per sentence.
      block: logits are of a multiple of `block` tokens; those beyond the vocabulary are never
        chosen.

    Attributes:
      length: L, the tokens of the longest translation.
      never: (V,), to be added to logits: PAD and START are never chosen.
    """

    def __init__(
        self,
        transformer: Transformer,
        inp: tf.Tensor,
        beam: int,
        restrictions: Restrictions,
        block: int = 1,
    ):
        self.beam = beam
        self._transformer, self._layers = transformer, transformer.decoder.dec_layers
        self.length = restrictions.longest(inp) + restrictions.extra_tokens
        self._positions = positional_encoding(self.length, transformer.config["d_model"])
        self._projections = [  # joined once, not at each step
            join_projections(layer.mha1.wq, layer.mha1.wk, layer.mha1.wv) for layer in self._layers
        ]
        self._output = self._output_weights(-transformer.config["target_vocab_size"] % block)
        tokens = np.arange(self._output.bias.shape[0])
        self.never = tf.constant(np.isin(tokens, (PAD, START)) * np.float32(MASKED))
        self.state = self._first_state(inp)

    def _output_weights(self, extra_entries: int) -> OutputWeights:
        """Returns the OutputWeights, for `extra_entries` more tokens, which are never chosen.

        Products of few rows with a kernel (V, D) take up to four times as long, so tied embeddings
        are transposed, once.
        """
        layer = self._transformer.final_layer
        if variant_of(self._transformer).tie_embeddings:
            kernel = tf.transpose(layer.embedding.embeddings)
        else:
            kernel = tf.convert_to_tensor(layer.kernel)
        has_bias = layer.bias is not None
        bias = tf.convert_to_tensor(layer.bias) if has_bias else tf.zeros(kernel.shape[1:])
        if extra_entries:
            entries = [0, extra_entries]
            kernel = tf.pad(kernel, [[0, 0], entries])
            below = 8 * MASKED  # less than what is masked more than once
            bias = tf.pad(bias, [entries], constant_values=below)
        return OutputWeights(kernel, bias)

    def _first_state(self, inp: tf.Tensor) -> DecoderState:
        """Runs the encoder. Returns the state before the first step, with empty caches."""
        padding_mask = create_padding_mask(inp)
        enc_output, _ = self._transformer.encoder(inp, training=False, mask=padding_mask)
        heads = self._transformer.config["num_heads"]
        sources = []
        for layer in self._layers:
            projection = join_projections(layer.mha2.wk, layer.mha2.wv)
            keys, values = project(enc_output, projection, heads)
            sources.append(KeysAndValues(keys, values))
        depth = self._transformer.config["d_model"] // heads
        empty = tf.zeros((tf.shape(inp)[0], heads, 0, depth), enc_output.dtype)
        return DecoderState(
            padding_mask=padding_mask,
            sources=sources,
            caches=[KeysAndValues(empty, empty)] * len(self._layers),
        )

    def logits(
        self,
        tokens: tf.Tensor,
        position: tf.Tensor,
        origin: tf.Tensor | None,
        state: DecoderState,
    ) -> tuple[tf.Tensor, DecoderState]:
        """Returns logits of the next token, (B, K, V), and the state with longer caches.

        Args:
          tokens: ids (B, K) at `position`.
          position: a number, from 0.
          origin: (B, K, L), which of the K cache rows holds a hypothesis's past at each position up
            to this one, -1 beyond; None where K is 1.
        """
        masks = StepMasks(self._look_ahead_mask(position, origin), state.padding_mask)
        x = self._transformer.decoder.embedding(tokens)  # (B, K, D)
        encoding = self._positions[:, position, tf.newaxis]  # (1, 1, D)
        x = x * x.shape[-1] ** 0.5 + tf.cast(encoding, x.dtype)
        caches = []
        for n, layer in enumerate(self._layers):
            x, cache = decoder_layer_step(
                layer, x, self._projections[n], state.caches[n], state.sources[n], masks
            )
            caches.append(cache)
        if variant_of(self._transformer).pre_norm:
            x = self._transformer.decoder.layernorm(x)
        kernel, bias = self._output
        x = tf.cast(tf.reshape(x, (-1, x.shape[-1])), tf.float32)  # (B K, D)
        logits = tf.nn.bias_add(tf.matmul(x, kernel), bias)  # (B K, V)
        logits = tf.reshape(logits, (-1, self.beam, logits.shape[-1]))
        return logits, state._replace(caches=caches)

    def log_probabilities(
        self,
        tokens: tf.Tensor,
        position: tf.Tensor,
        origin: tf.Tensor | None,
        state: DecoderState,
    ) -> tuple[tf.Tensor, DecoderState]:
        """Returns log-probabilities of the next token, (B, K, V), and the state; see `logits`."""
        logits, state = self.logits(tokens, position, origin, state)
        return tf.nn.log_softmax(logits), state

    def _look_ahead_mask(self, position: tf.Tensor, origin: tf.Tensor | None) -> tf.Tensor | None:
        """Returns 1 for each cache row that is not of a hypothesis's past, else 0.

        Returns:
          (B, 1, K, L K); None where K is 1: the cache holds nothing but its past.
        """
        if origin is None:
            return None
        length = position + 1
        past = tf.one_hot(origin[:, :, :length], self.beam)  # (B, K, L, K)
        return 1 - tf.reshape(past, (-1, 1, self.beam, length * self.beam))
