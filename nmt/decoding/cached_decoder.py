"""The decoder, one position at a time, with a cache of keys and values; or several of them.

The encoder runs once; each decoder layer keeps the keys and values of earlier positions. Shapes in
comments as in transformer_model.py, and K hypotheses.
"""

import math
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from nmt.network.layers import join_projections, project
from transformer_model import (
    MASKED,
    PAD,
    START,
    PreNormDecoderLayer,
    Transformer,
    create_padding_mask,
    positional_encoding,
    scaled_dot_product_attention,
)

EXTRA_TOKENS = 50  # of a translation, at most, beyond the tokens of its source (paper 6.1)

Transformers = Transformer | tuple[Transformer, ...]  # one, or the members of an ensemble


def append(cache, new, position=None):
    """Returns `cache` (B, H, L K, D / H), keys or values of earlier positions, with `new` appended.

    Args:
      new: (B, H, K, D / H), one more position of K hypotheses.
      position: None for a cache that grows; or the number of earlier positions, for a cache of the
        final length, which XLA needs because its shapes are fixed.
    """
    if position is None:
        return tf.concat([cache, new], axis=2)
    cache_rows, beam = cache.shape[2], new.shape[2]
    here = tf.range(cache_rows) // beam == position  # (L K,)
    return tf.where(here[:, tf.newaxis], tf.tile(new, (1, 1, cache_rows // beam, 1)), cache)


def attend(mha, q, keys_and_values, mask):
    """Returns what a MultiHeadAttention does after its projections, (B, K, D).

    Args:
      q: projected queries (B, H, K, D / H).
      keys_and_values: projected, of the target (B, H, L K, D / H) each, of the source
        (B, H, S, D / H).
      mask: see MultiHeadAttention.
    """
    keys, values = keys_and_values
    heads, _ = scaled_dot_product_attention(q, keys, values, mask)  # (B, H, K, D / H)
    return mha.dense(mha.join_heads(heads))


def decoder_step(layer, x, self_projection, cache, source, position, look_ahead_mask, padding_mask):
    """Computes one position of a DecoderLayer, given its keys and values of earlier positions.

    Args:
      layer: a DecoderLayer of either order of normalization.
      x: (B, K, D).
      self_projection: the Projection of queries, keys and values of its self-attention.
      cache: keys and values of earlier positions of self-attention, (B, H, L K, D / H) each.
      source: keys and values of cross-attention, (B, H, S, D / H) each.
      position: see `append`.
      look_ahead_mask, padding_mask: see DecoderLayer.

    Returns:
      output (B, K, D), and the cache with the new position.
    """
    pre_norm = isinstance(layer, PreNormDecoderLayer)

    def sublayer_input(normalize, x):
        return normalize(x) if pre_norm else x

    def add_and_norm(normalize, x, output):
        return x + output if pre_norm else normalize(x + output)

    y = sublayer_input(layer.layernorm1, x)
    q, new_keys, new_values = project(y, self_projection, layer.mha1.num_heads)
    keys, values = cache
    cache = append(keys, new_keys, position), append(values, new_values, position)
    x = add_and_norm(layer.layernorm1, x, attend(layer.mha1, q, cache, look_ahead_mask))

    y = sublayer_input(layer.layernorm2, x)
    (q,) = project(y, join_projections(layer.mha2.wq), layer.mha2.num_heads)
    x = add_and_norm(layer.layernorm2, x, attend(layer.mha2, q, source, padding_mask))

    x = add_and_norm(layer.layernorm3, x, layer.ffn(sublayer_input(layer.layernorm3, x)))
    return x, cache


def mean_probability(logarithms):
    """Returns the logarithm of the mean of probabilities, given as logarithms, n tensors (...)."""
    if len(logarithms) == 1:
        return logarithms[0]
    return tf.reduce_logsumexp(tf.stack(logarithms), axis=0) - math.log(len(logarithms))


class OutputWeights(NamedTuple):
    """The weights of the final layer, in the layout that is fastest for products with few rows."""

    kernel: tf.Tensor  # (D, V), or (V, D)
    bias: tf.Tensor  # (V,)
    transposed: bool  # whether the kernel is (V, D)


class CachedDecoder:
    """The decoder, one position at a time, for a batch of sources that the encoder has read.

    `state` holds, by name, the tensors of each source that every step needs; a search adds its own,
    and may drop the same rows from all of them.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      beam: hypotheses K per sentence.
      extra_tokens: how many tokens a translation may have beyond those of its source.
      extra_positions: None for caches that grow; or, for shapes that are the same at every step,
        as XLA requires, the positions that they have beyond the longest of sources and prefixes.
      prefix: the ids (B, P) that each translation begins with, PAD after them; None for none.
      block: logits are of a multiple of `block` tokens; those beyond the vocabulary are never
        chosen.
    """

    def __init__(
        self,
        transformer: Transformer,
        inp: tf.Tensor,
        beam: int,
        extra_tokens: int,
        extra_positions: int | None = None,
        prefix: tf.Tensor | None = None,
        block: int = 1,
    ):
        self.transformer, self.beam = transformer, beam
        self.layers, sizes = transformer.decoder.dec_layers, transformer.config
        padding_mask = create_padding_mask(inp)
        enc_output, _ = transformer.encoder(inp, training=False, mask=padding_mask)
        # Constants where they are known: XLA needs them.
        batch, longest = inp.shape
        batch = tf.shape(inp)[0] if batch is None else batch
        longest = tf.shape(inp)[1] if longest is None else longest  # of the sources and prefixes
        tokens = tf.reduce_sum(tf.cast(inp != PAD, tf.int32), axis=1)  # (B,)
        self.state = dict(padding_mask=padding_mask)
        if prefix is not None:
            longest = tf.maximum(longest, tf.shape(prefix)[1])
            lengths = tf.reduce_sum(tf.cast(prefix != PAD, tf.int32), axis=1)  # (B,)
            tokens = tf.where(tokens > 0, tf.maximum(tokens, lengths), 0)
            padding = longest + extra_tokens - tf.shape(prefix)[1]
            self.state["prefix"] = tf.pad(prefix, [[0, 0], [0, padding]])  # (B, L), of PAD (0)
        self.state["limits"] = tf.where(tokens > 0, tokens + extra_tokens, 0)  # (B,), 0 if empty
        heads, depth = sizes["num_heads"], sizes["d_model"] // sizes["num_heads"]
        self.length = longest + extra_tokens
        self.cache_length = None if extra_positions is None else longest + extra_positions
        length = 0 if extra_positions is None else self.cache_length * beam
        empty = tf.zeros((batch, heads, length, depth), enc_output.dtype)
        self.state["caches"] = [(empty, empty)] * sizes["num_layers"]
        self.state["sources"] = [
            project(enc_output, join_projections(layer.mha2.wk, layer.mha2.wv), heads)
            for layer in self.layers
        ]
        self.positions = positional_encoding(self.length, sizes["d_model"])  # (1, L, D)
        self.projections = [  # joined once, not at each step
            join_projections(layer.mha1.wq, layer.mha1.wk, layer.mha1.wv) for layer in self.layers
        ]
        self.output = self._output_weights(-sizes["target_vocab_size"] % block)
        vocab_size = self.output.bias.shape[0]
        self.never = tf.constant(np.isin(np.arange(vocab_size), (PAD, START)) * np.float32(MASKED))

    def _output_weights(self, extra_entries: int) -> OutputWeights:
        """Returns the OutputWeights, for `extra_entries` more tokens, which are never chosen.

        Products of few rows with a kernel (V, D) take up to four times as long, so tied embeddings
        are transposed, once; but not for a single row.
        """
        layer, transposed = self.transformer.final_layer, self.transformer.config["tie_embeddings"]
        kernel = tf.convert_to_tensor(layer.embedding.embeddings if transposed else layer.kernel)
        bias = tf.zeros(kernel.shape[:1]) if transposed else tf.convert_to_tensor(layer.bias)
        if transposed and (self.beam > 1 or self.cache_length is None):
            kernel, transposed = tf.transpose(kernel), False
        if extra_entries:
            entries = [0, extra_entries]
            kernel = tf.pad(kernel, [entries, [0, 0]] if transposed else [[0, 0], entries])
            below = 8 * MASKED  # what is masked more than once
            bias = tf.pad(bias, [entries], constant_values=below)
        return OutputWeights(kernel, bias, transposed)

    def logits(self, tokens, position, origin, state):
        """Returns logits of the next token, (B, K, V), and the state with longer caches.

        Args:
          tokens: ids (B, K) at `position`.
          origin: (B, K, L), which of the K cache rows holds a hypothesis's past at each position up
            to this one, -1 beyond; None where K is 1.
          state: see above.
        """
        look_ahead_mask = None  # a cache that grows holds nothing but one hypothesis's past
        length = position + 1 if self.cache_length is None else self.cache_length
        if origin is not None:
            past = tf.one_hot(origin[:, :, :length], self.beam)  # (B, K, L, K), all 0 for a -1
            look_ahead_mask = 1 - tf.reshape(past, (-1, 1, self.beam, length * self.beam))
        elif self.cache_length is not None:
            look_ahead_mask = tf.cast(tf.range(length) > position, tf.float32)  # (L,)
        x = self.transformer.decoder.embedding(tokens)  # (B, K, D)
        encoding = self.positions[:, position, tf.newaxis]  # (1, 1, D)
        x = x * x.shape[-1] ** 0.5 + tf.cast(encoding, x.dtype)
        caches = []
        for n, layer in enumerate(self.layers):
            x, cache = decoder_step(
                layer, x, self.projections[n], state["caches"][n], state["sources"][n],
                None if self.cache_length is None else position, look_ahead_mask,
                state["padding_mask"],
            )  # fmt: skip
            caches.append(cache)
        if self.transformer.decoder.pre_norm:
            x = self.transformer.decoder.layernorm(x)
        kernel, bias, transposed = self.output
        x = tf.cast(tf.reshape(x, (-1, x.shape[-1])), tf.float32)  # (B K, D)
        logits = tf.nn.bias_add(tf.matmul(x, kernel, transpose_b=transposed), bias)  # (B K, V)
        logits = tf.reshape(logits, (-1, self.beam, logits.shape[-1]))
        return logits, {**state, "caches": caches}


class Ensemble:
    """The decoders of several Transformers of one vocabulary, for the same batch of sources.

    It has what a search needs of a CachedDecoder. The probability of a token is the members' mean.

    Args:
      transformers: two or more.
      arguments: the others of CachedDecoder.
    """

    def __init__(self, transformers: tuple[Transformer, ...], *arguments):
        self.members = [CachedDecoder(transformer, *arguments) for transformer in transformers]
        first = self.members[0]  # all have the same limits, vocabulary and prefixes
        self.length, self.cache_length, self.never = first.length, first.cache_length, first.never
        self.state = {"members": [member.state for member in self.members]}
        for name in ("limits", "prefix"):
            if name in first.state:
                self.state[name] = first.state[name]

    def logits(self, tokens, position, origin, state):
        """Returns the log-probabilities of the next token, (B, K, V), and the state.

        Args:
          tokens, position, origin, state: see CachedDecoder.
        """
        likely, member_states = [], []
        for member, member_state in zip(self.members, state["members"], strict=True):
            logits, member_state = member.logits(tokens, position, origin, member_state)
            likely.append(tf.nn.log_softmax(logits))
            member_states.append(member_state)
        return mean_probability(likely), {**state, "members": member_states}


def cached_decoder(transformer: Transformers, *arguments) -> CachedDecoder | Ensemble:
    """Returns the CachedDecoder of a Transformer, or the Ensemble of a tuple of them."""
    if isinstance(transformer, tuple):
        return Ensemble(transformer, *arguments)
    return CachedDecoder(transformer, *arguments)


def allow_prefix(likely, restricted, position, state):
    """Returns log-probabilities (B, K, V): `restricted` ones, or of the prefix's token alone.

    A token of a prefix keeps its log-probability in `likely`: no restriction is stronger.

    Args:
      likely, restricted: log-probabilities (B, K, V), without and with the restriction.
      position: of the token before.
      state: that of the decoder.
    """
    if "prefix" not in state:
        return restricted
    token = state["prefix"][:, position, tf.newaxis, tf.newaxis]  # (B, 1, 1)
    alone = tf.where(tf.range(likely.shape[-1]) == token, likely, likely + MASKED)
    return tf.where(token == PAD, restricted, alone)
