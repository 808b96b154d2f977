"""The decoder, one position at a time, with a cache of keys and values; or several of them.

The encoder runs once; each decoder layer keeps the keys and values of earlier positions. Shapes in
comments as in transformer_model.py, and K hypotheses.
"""

import math

import numpy as np
import tensorflow as tf

from transformer_model import (
    MASKED,
    PAD,
    START,
    create_padding_mask,
    embed,
    positional_encoding,
)

EXTRA_TOKENS = 50  # of a translation, at most, beyond the tokens of its source (paper 6.1)


def append(cache, new, position=None):
    """Returns `cache` (B, H, L, D / H), keys or values of earlier positions, with `new` appended.

    Args:
      new: (B, H, K, D / H), one more position of K hypotheses.
      position: None for a cache that grows; or the number of earlier positions, for a cache of the
        final length, which XLA needs because its shapes are fixed.
    """
    if position is None:
        return tf.concat([cache, new], axis=2)
    length, beam = cache.shape[2], new.shape[2]
    here = tf.range(length) // beam == position  # (L,)
    return tf.where(here[:, tf.newaxis], tf.tile(new, (1, 1, length // beam, 1)), cache)


class CachedDecoder:
    """The decoder, one position at a time, for a batch of sources that the encoder has read.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      beam: hypotheses K per sentence.
      extra_tokens: a translation has at most so many tokens more than its source.
      static: keep all shapes fixed from step to step, as XLA requires; otherwise caches grow.
      forced: the ids (B, P) that each translation begins with, PAD after them; None for none.
    """

    def __init__(self, transformer, inp, beam, extra_tokens, static, forced=None):
        self.transformer, self.beam, self.static = transformer, beam, static
        self.layers, sizes = transformer.decoder.dec_layers, transformer.sizes
        self.padding_mask = create_padding_mask(inp)
        enc_output, _ = transformer.encoder(inp, training=False, mask=self.padding_mask)
        self.cross_attention = [layer.cross_attention_kv(enc_output) for layer in self.layers]
        self.batch, source_length = (
            known if known is not None else found
            for known, found in zip(inp.shape, tf.unstack(tf.shape(inp)), strict=True)
        )
        self.length = source_length + extra_tokens
        tokens = tf.reduce_sum(tf.cast(inp != PAD, tf.int32), axis=1)  # (B,)
        self.forced = None
        if forced is not None:
            self.length = tf.maximum(source_length, tf.shape(forced)[1]) + extra_tokens
            begun = tf.reduce_sum(tf.cast(forced != PAD, tf.int32), axis=1)  # (B,)
            tokens = tf.where(tokens > 0, tf.maximum(tokens, begun), 0)
            rest = self.length - tf.shape(forced)[1]
            self.forced = tf.pad(forced, [[0, 0], [0, rest]], constant_values=PAD)  # (B, L)
        self.limits = tf.where(tokens > 0, tokens + extra_tokens, 0)  # (B,), none for empty rows
        self.positions = positional_encoding(self.length, sizes["d_model"])  # (1, L, D)
        never = np.isin(np.arange(sizes["target_vocab_size"]), (PAD, START)) * MASKED
        self.never = tf.constant(never, tf.float32)  # (V,)
        heads, depth = sizes["num_heads"], sizes["d_model"] // sizes["num_heads"]
        length = self.length * beam if static else 0
        empty = tf.zeros((self.batch, heads, length, depth), enc_output.dtype)
        self.caches = [(empty, empty)] * sizes["num_layers"]

    def log_probabilities(self, tokens, position, origin, caches):
        """Returns those of the next token, (B, K, V), and the caches; PAD and START have none.

        Args:
          tokens: ids (B, K) at `position`.
          origin: (B, K, L), which of the K cache rows holds a hypothesis's past at each position up
            to this one, -1 beyond; None where K is 1.
          caches: keys and values of each layer.
        """
        look_ahead_mask = None  # a cache that grows holds nothing but one hypothesis's past
        length = self.length if self.static else position + 1
        if origin is not None:
            past = tf.one_hot(origin[:, :, :length], self.beam)  # (B, K, L, K), all 0 for a -1
            look_ahead_mask = 1 - tf.reshape(past, (self.batch, 1, self.beam, length * self.beam))
        elif self.static:
            look_ahead_mask = tf.cast(tf.range(length) > position, tf.float32)  # (L,)
        encoding = self.positions[:, position, tf.newaxis]  # (1, 1, D)
        x = embed(self.transformer.decoder.embedding, tokens, encoding)  # (B, K, D)
        extended = []
        for layer, cache, kv in zip(self.layers, caches, self.cross_attention, strict=True):
            q, *new = layer.self_attention_qkv(x)  # (B, H, K, D / H) each
            cache = tuple(
                append(old, value, position if self.static else None)
                for old, value in zip(cache, new, strict=True)
            )
            x, _, _ = layer.attend(
                x, (q, *cache), kv, look_ahead_mask=look_ahead_mask, padding_mask=self.padding_mask
            )
            extended.append(cache)
        if self.transformer.pre_norm:
            x = self.transformer.decoder.layernorm(x)
        logits = self.transformer.final_layer(x)  # (B, K, V)
        return tf.nn.log_softmax(logits) + self.never, extended

    def allowed(self, likely, restricted, position):
        """Returns log-probabilities (B, K, V): `restricted` ones, or of the forced token alone.

        A forced token keeps what it has in `likely`: no restriction is stronger.
        """
        if self.forced is None:
            return restricted
        token = self.forced[:, position, tf.newaxis, tf.newaxis]  # (B, 1, 1)
        forced = tf.where(tf.range(likely.shape[-1]) == token, likely, likely + MASKED)
        return tf.where(token == PAD, restricted, forced)

    def loop(self, unfinished, step, *state):
        """Returns `state` after as many steps as it is `unfinished`.

        Both functions take the position, the state and the caches; `step` returns the new ones.
        """
        state = (tf.constant(0), *state, self.caches)
        shapes = tf.nest.map_structure(lambda tensor: tensor.shape, state)
        if not self.static:
            growing = tf.nest.map_structure(
                lambda cache: tf.TensorShape((*cache.shape[:2], None, cache.shape[3])), self.caches
            )
            shapes = (*shapes[:-1], growing)
        return tf.while_loop(unfinished, step, state, shape_invariants=shapes)[1:-1]


class Ensemble(CachedDecoder):
    """The decoders of several Transformers of one vocabulary, for the same batch of sources.

    The probability of a token is the mean of theirs.

    Args:
      transformers: two or more.
      arguments: the others of CachedDecoder.
    """

    def __init__(self, transformers, *arguments):
        first, *others = transformers
        super().__init__(first, *arguments)
        self.others = [CachedDecoder(other, *arguments) for other in others]
        self.caches = [self.caches, *(decoder.caches for decoder in self.others)]

    def log_probabilities(self, tokens, position, origin, caches):
        """Returns those of the next token, (B, K, V), and the caches, a list for each Transformer.

        Args:
          tokens, position, origin: as of CachedDecoder.
          caches: keys and values of each layer of each Transformer.
        """
        found = [super().log_probabilities(tokens, position, origin, caches[0])]
        for decoder, its in zip(self.others, caches[1:], strict=True):
            found.append(decoder.log_probabilities(tokens, position, origin, its))
        likely, caches = zip(*found, strict=True)
        return tf.reduce_logsumexp(tf.stack(likely), axis=0) - math.log(len(found)), list(caches)


def cached_decoder(transformer, *arguments):
    """Returns the CachedDecoder of a Transformer, or the Ensemble of a tuple of them."""
    kind = Ensemble if isinstance(transformer, tuple) else CachedDecoder
    return kind(transformer, *arguments)
