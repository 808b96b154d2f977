"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762).

Read it from top to bottom, in the order of TensorFlow's tutorial: positions, masks, attention,
feed-forward, one layer of each kind, the two stacks, the whole network, its learning rate, its
loss, and how it produces a translation. Here is no file, no text and no command line: token ids
in, logits or token ids out.

Shapes in comments: B sentences, L tokens (S source, T target), H heads, D = d_model, V pieces.
Masks are 1.0 where attention must not look. Everything that is not a tensor is passed by keyword,
as Keras 3 asks.
"""

from typing import NamedTuple

try:
    import keras

    wrong = "" if keras.backend.backend() == "tensorflow" else keras.backend.backend()
except ImportError as error:  # of the backend that Keras was set to
    wrong = error.name
if wrong:
    raise ImportError(
        f"transformer_model needs Keras on TensorFlow, and it is set to {wrong}; set "
        "KERAS_BACKEND=tensorflow in the environment before Keras is imported"
    )

import numpy as np
import tensorflow as tf

PAD, UNKNOWN, START, END = 0, 1, 2, 3  # token ids that mean no text; padding must be 0

MASKED = -1e9  # added to a logit that must lose; below float16's range, within bfloat16's
LAYER_NORM_EPSILON = 1e-6  # the tutorial's

register = keras.saving.register_keras_serializable(package="transformer_model")


# ---- Positional encoding (paper 3.5) ----


def get_angles(pos, i, d_model):
    """Returns the angle of every position in every dimension, in radians, as float64.

    pos / 10000^(2 (i // 2) / d_model): dimensions 2i and 2i + 1 share one angle. In float32 the
    angles of positions in the thousands would be off by 1e-4 and more.

    Args:
      pos: positions, any shape that broadcasts with `i`, such as (L, 1).
      i: dimensions, such as (1, D).
      d_model: width of the model.
    """
    pos, i = tf.cast(pos, tf.float64), tf.cast(i, tf.float64)
    return pos / tf.pow(tf.constant(10000, tf.float64), 2 * (i // 2) / d_model)


def positional_encoding(position, d_model):
    """Returns the encoding of positions 0 to `position` - 1, (1, position, D) float32.

    Sine on even dimensions, cosine on odd ones, of `get_angles`. `position` may be a scalar tensor:
    the encoding is computed for the length at hand, so no length is too long.
    """
    depths = tf.range(d_model)[tf.newaxis, :]  # (1, D)
    angles = get_angles(tf.range(position)[:, tf.newaxis], depths, d_model)  # (position, D)
    encoding = tf.where(depths % 2 == 0, tf.sin(angles), tf.cos(angles))
    return tf.cast(encoding[tf.newaxis], tf.float32)


# ---- Masks ----


def create_padding_mask(seq):
    """Returns 1.0 where ids `seq` (B, L) are padding: (B, 1, 1, L), for all heads and queries."""
    return tf.cast(tf.equal(seq, PAD), tf.float32)[:, tf.newaxis, tf.newaxis, :]


def create_look_ahead_mask(size):
    """Returns 1.0 where the key comes after the query: (size, size), the strict upper triangle."""
    return 1 - tf.linalg.band_part(tf.ones((size, size)), -1, 0)


def create_masks(inp, tar):
    """Returns the three masks of one pass over ids `inp` (B, S) and `tar` (B, T).

    enc_padding_mask (B, 1, 1, S): padding of the source, for the encoder's self-attention;
    combined_mask (B, 1, T, T): future and padding of the target, for the decoder's self-attention;
    dec_padding_mask (B, 1, 1, S): padding of the source, for the decoder's cross-attention.
    """
    padding_mask = create_padding_mask(inp)
    combined_mask = tf.maximum(create_padding_mask(tar), create_look_ahead_mask(tf.shape(tar)[1]))
    return padding_mask, combined_mask, padding_mask


# ---- Attention (paper 3.2) ----


def scaled_dot_product_attention(q, k, v, mask, dropout=None):
    """Returns softmax(q kT / sqrt(d_k)) v and the softmax itself (paper, equation 1).

    Args:
      q: queries (..., len_q, d_k).
      k: keys (..., len_k, d_k).
      v: values (..., len_k, d_v).
      mask: 1.0 = masked, broadcastable to (..., len_q, len_k), or None.
      dropout: called with the weights that the values are weighted by, or None.

    Returns:
      output (..., len_q, d_v) and attention weights (..., len_q, len_k), each row of sum 1.
    """
    logits = tf.matmul(q, k, transpose_b=True)  # (..., len_q, len_k)
    logits /= tf.sqrt(tf.cast(tf.shape(k)[-1], logits.dtype))
    if mask is not None:
        logits += tf.cast(mask, logits.dtype) * MASKED
    attention_weights = tf.nn.softmax(logits, axis=-1)
    used = dropout(attention_weights) if dropout else attention_weights
    return tf.matmul(used, v), attention_weights


class _Layer(keras.layers.Layer):
    """What the layers below share: `sizes`, their constructor's arguments, are their config."""

    def before(self, norm, x):
        """Returns what a sub-layer takes of the residual stream `x`: pre-norm normalises it."""
        return norm(x) if self.sizes["pre_norm"] else x

    def after(self, norm, x):
        """Returns the residual stream once a sub-layer's output is added: post-norm normalises."""
        return x if self.sizes["pre_norm"] else norm(x)

    def get_config(self):
        return {**super().get_config(), **self.sizes}

    def compute_mask(self, inputs, previous_mask):
        """None: else Keras would hang a mask onto outputs and hand it to later layers."""
        return


def append(cache, new, position=None):
    """Returns `cache` (B, H, L, D / H), keys or values of positions before, with `new` behind them.

    Args:
      new: (B, H, K, D / H), one more position of K hypotheses.
      position: None, and the cache grows; or the number of positions before, and the cache has room
        for all there will ever be, as XLA asks, to whom a shape is fixed.
    """
    if position is None:
        return tf.concat([cache, new], axis=2)
    room, beam = cache.shape[2], new.shape[2]
    here = tf.range(room) // beam == position  # (L,)
    return tf.where(here[:, tf.newaxis], tf.tile(new, (1, 1, room // beam, 1)), cache)


@register
class Dense(keras.layers.Dense):
    """Keras's, as a product of two matrices: (B L, D) instead of (B, L, D).

    TensorFlow then adds bias and activation in the same kernel, and need not work out at each call
    which axes to multiply.
    """

    def call(self, x):
        """(B, L, D) -> (B, L, units)."""
        y = super().call(tf.reshape(x, (-1, x.shape[-1])))  # (B L, units)
        return tf.reshape(y, (tf.shape(x)[0], tf.shape(x)[1], self.units))


@register
class Dropout(keras.layers.Dropout):
    """Keras's, with random numbers of 8 bits instead of 32, which take a quarter of the time.

    So `rate` is rounded to the nearest 1/256. Each replica drops values of its own. XLA draws the
    same numbers as TensorFlow.
    """

    def call(self, x, training=False):
        """Zeroes values of `x`, any shape, and scales the others so that the mean stays."""
        dropped = min(round(self.rate * 256), 255)  # of the 256 values of a byte
        if not training or not dropped:
            return x
        seed = tf.cast(self.seed_generator.next(), tf.int64)  # (2,), others each time
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        seed += tf.cast(replica, tf.int64) * 2**32  # the layer's own count stays below
        numbers, size = (tf.size(x) + 3) // 4, tf.size(x)
        bits = tf.random.stateless_uniform((numbers,), seed, None, None, tf.int32, alg="philox")
        kept = tf.reshape(tf.bitcast(bits, tf.uint8), (-1,))[:size] >= dropped
        scale = tf.constant(256 / (256 - dropped), x.dtype)
        return x * (tf.cast(tf.reshape(kept, tf.shape(x)), x.dtype) * scale)


@register
class LayerNormalization(keras.layers.LayerNormalization):
    """Keras's (Ba et al. 2016, arXiv 1607.06450), in fewer passes over the values."""

    def call(self, x):
        """(x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last axis of `x`."""
        values = tf.cast(x, tf.float32)
        values -= tf.reduce_mean(values, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(values), axis=-1, keepdims=True)
        factor = tf.math.rsqrt(variance + self.epsilon) * tf.cast(self.gamma, tf.float32)
        return tf.cast(values * factor + tf.cast(self.beta, tf.float32), x.dtype)


@register
class MultiHeadAttention(_Layer):
    """`num_heads` attentions side by side, each over its own d_model / num_heads (paper 3.2.2).

    Args:
      rate: share of the attention weights dropped in training.

    Raises:
      ValueError: `num_heads` does not divide `d_model`.
    """

    def __init__(self, d_model, num_heads, rate=0.0, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError(f"d_model ({d_model}) must be a multiple of num_heads ({num_heads})")
        self.sizes = dict(d_model=d_model, num_heads=num_heads, rate=rate)
        policy = self.dtype_policy
        self.wq = Dense(d_model, dtype=policy)
        self.wk = Dense(d_model, dtype=policy)
        self.wv = Dense(d_model, dtype=policy)
        self.dense = Dense(d_model, dtype=policy)
        self.dropout = Dropout(rate, dtype=policy)

    def build(self, v_shape, k_shape, q_shape):
        self.wv.build(v_shape)
        self.wk.build(k_shape)
        self.wq.build(q_shape)
        self.dense.build((None, None, self.sizes["d_model"]))

    def join_heads(self, x):
        """(B, H, L, D / H) -> (B, L, D)."""
        x = tf.transpose(x, (0, 2, 1, 3))
        return tf.reshape(x, (tf.shape(x)[0], tf.shape(x)[1], self.sizes["d_model"]))

    def project(self, x, *layers):
        """Returns what each of Dense `layers` makes of `x` (B, L, D), in heads: (B, H, L, D / H).

        All by one product, which takes less time than a product for each.
        """
        kernel = tf.concat([layer.kernel for layer in layers], axis=1)  # (D, n D)
        bias = tf.concat([layer.bias for layer in layers], axis=0)  # (n D,)
        kernel, bias = tf.cast(kernel, x.dtype), tf.cast(bias, x.dtype)
        y = tf.nn.bias_add(tf.matmul(tf.reshape(x, (-1, x.shape[-1])), kernel), bias)  # (B L, n D)
        heads, depth = self.sizes["num_heads"], self.sizes["d_model"] // self.sizes["num_heads"]
        y = tf.reshape(y, (tf.shape(x)[0], tf.shape(x)[1], len(layers), heads, depth))
        return tf.unstack(tf.transpose(y, (2, 0, 3, 1, 4)))

    def attend(self, q, k, v, *, training=False, mask=None):
        """`call` for queries, keys and values that are projected: (B, H, L, D / H) each."""
        heads, attention_weights = scaled_dot_product_attention(
            q, k, v, mask, lambda weights: self.dropout(weights, training=training)
        )
        return self.dense(self.join_heads(heads)), attention_weights

    def call(self, v, k, q, mask=None, *, training=False):
        """Attends from `q` (B, len_q, D) to `k`, `v` (B, len_k, D).

        Returns output (B, len_q, D) and weights (B, H, len_q, len_k).
        """
        if q is k is v:
            projected = self.project(q, self.wq, self.wk, self.wv)
        else:
            pairs = ((q, self.wq), (k, self.wk), (v, self.wv))
            projected = [self.project(*pair)[0] for pair in pairs]
        return self.attend(*projected, training=training, mask=mask)


# ---- Feed-forward (paper 3.3) ----


def point_wise_feed_forward_network(d_model, dff, rate=0.0, **kwargs):
    """Returns max(0, x W1 + b1) W2 + b2 as a Keras model, (B, L, D) -> (B, L, dff) -> (B, L, D).

    Args:
      rate: share of the values between the two dropped in training.
    """
    return keras.Sequential(
        [
            Dense(dff, activation="relu", **kwargs),
            Dropout(rate, **kwargs),
            Dense(d_model, **kwargs),
        ]
    )


# ---- One layer of each stack (paper 3.1): sub-layer, dropout, residual sum, normalisation ----
#
# Off unless asked for: `pre_norm` normalises what a sub-layer takes, not the residual sum, which
# trains deep stacks more surely (Xiong et al. 2020, arXiv 2002.04745); `attention_rate` drops
# attention weights, `ffn_rate` values inside the feed-forward layer.


@register
class EncoderLayer(_Layer):
    """Self-attention, then feed-forward; each as LayerNorm(x + Dropout(sublayer(x))).

    Each as x + Dropout(sublayer(LayerNorm(x))) with `pre_norm`.
    """

    def __init__(
        self, d_model, num_heads, dff, rate=0.1, pre_norm=False, attention_rate=0.0, ffn_rate=0.0,
        **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.sizes = dict(
            d_model=d_model, num_heads=num_heads, dff=dff, rate=rate,
            pre_norm=pre_norm, attention_rate=attention_rate, ffn_rate=ffn_rate,
        )  # fmt: skip
        policy = self.dtype_policy
        self.mha = MultiHeadAttention(d_model, num_heads, attention_rate, dtype=policy)
        self.ffn = point_wise_feed_forward_network(d_model, dff, ffn_rate, dtype=policy)
        self.layernorm1 = LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.layernorm2 = LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.dropout1 = Dropout(rate, dtype=policy)
        self.dropout2 = Dropout(rate, dtype=policy)

    def build(self, x_shape):
        self.mha.build(x_shape, x_shape, x_shape)
        for layer in (self.ffn, self.layernorm1, self.layernorm2):
            layer.build(x_shape)

    def call(self, x, *, training=False, mask=None):
        """(B, S, D) -> output (B, S, D), attention weights (B, H, S, S)."""
        y = self.before(self.layernorm1, x)
        attention, weights = self.mha(y, y, y, mask=mask, training=training)
        x = self.after(self.layernorm1, x + self.dropout1(attention, training=training))
        y = self.ffn(self.before(self.layernorm2, x), training=training)
        x = self.after(self.layernorm2, x + self.dropout2(y, training=training))
        return x, weights


@register
class DecoderLayer(_Layer):
    """Self-attention, cross-attention to the encoder's output, feed-forward; wrapped as above."""

    def __init__(
        self, d_model, num_heads, dff, rate=0.1, pre_norm=False, attention_rate=0.0, ffn_rate=0.0,
        **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.sizes = dict(
            d_model=d_model, num_heads=num_heads, dff=dff, rate=rate,
            pre_norm=pre_norm, attention_rate=attention_rate, ffn_rate=ffn_rate,
        )  # fmt: skip
        policy = self.dtype_policy
        self.mha1 = MultiHeadAttention(d_model, num_heads, attention_rate, dtype=policy)
        self.mha2 = MultiHeadAttention(d_model, num_heads, attention_rate, dtype=policy)
        self.ffn = point_wise_feed_forward_network(d_model, dff, ffn_rate, dtype=policy)
        self.layernorm1 = LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.layernorm2 = LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.layernorm3 = LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.dropout1 = Dropout(rate, dtype=policy)
        self.dropout2 = Dropout(rate, dtype=policy)
        self.dropout3 = Dropout(rate, dtype=policy)

    def build(self, x_shape, enc_output_shape):
        self.mha1.build(x_shape, x_shape, x_shape)
        self.mha2.build(enc_output_shape, enc_output_shape, x_shape)
        for layer in (self.ffn, self.layernorm1, self.layernorm2, self.layernorm3):
            layer.build(x_shape)

    def call(self, x, enc_output, *, training=False, look_ahead_mask=None, padding_mask=None):
        """(B, T, D), (B, S, D) -> output (B, T, D), weights (B, H, T, T) and (B, H, T, S)."""
        return self.attend(
            x,
            self.own(x),
            self.memory(enc_output),
            training=training,
            look_ahead_mask=look_ahead_mask,
            padding_mask=padding_mask,
        )

    def own(self, x):
        """Returns queries, keys and values (B, H, T, D / H) of the target itself."""
        x = self.before(self.layernorm1, x)
        return self.mha1.project(x, self.mha1.wq, self.mha1.wk, self.mha1.wv)

    def memory(self, enc_output):
        """Returns keys and values (B, H, S, D / H) of the source: the same for every target."""
        return self.mha2.project(enc_output, self.mha2.wk, self.mha2.wv)

    def step(self, x, cache, memory, position=None, *, look_ahead_mask=None, padding_mask=None):
        """`call` for one more position of the target. Returns output (B, K, D) and the cache.

        K hypotheses for each sentence are told at once, as if they were K positions.

        Args:
          x: (B, K, D).
          cache: keys and values (B, H, L, D / H) of the positions before, K of each; see `append`.
          look_ahead_mask: (B, 1, K, L), 1.0 for what is not a hypothesis's own past.
        """
        q, *new = self.own(x)
        cache = tuple(append(old, value, position) for old, value in zip(cache, new, strict=True))
        x, _, _ = self.attend(
            x, (q, *cache), memory, look_ahead_mask=look_ahead_mask, padding_mask=padding_mask
        )
        return x, cache

    def attend(self, x, own, memory, *, training=False, look_ahead_mask=None, padding_mask=None):
        """What `call` and `step` share: the three sub-layers, once their own q, k, v are known."""
        attention, block1 = self.mha1.attend(*own, training=training, mask=look_ahead_mask)
        x = self.after(self.layernorm1, x + self.dropout1(attention, training=training))
        (q,) = self.mha2.project(self.before(self.layernorm2, x), self.mha2.wq)
        attention, block2 = self.mha2.attend(q, *memory, training=training, mask=padding_mask)
        x = self.after(self.layernorm2, x + self.dropout2(attention, training=training))
        y = self.ffn(self.before(self.layernorm3, x), training=training)
        x = self.after(self.layernorm3, x + self.dropout3(y, training=training))
        return x, block1, block2


# ---- The two stacks ----


def embed(embedding, ids, positions=None):
    """Returns sqrt(D) times the embedding of `ids` (B, L), plus the encoding of their positions.

    The factor (paper 3.4) brings the embedding to the positions' own size before they are added.

    Args:
      positions: their encoding, (1, L, D); without it, positions 0 to L - 1 are meant.
    """
    x = embedding(ids)  # (B, L, D)
    if positions is None:
        positions = positional_encoding(tf.shape(ids)[1], x.shape[-1])
    return x * x.shape[-1] ** 0.5 + tf.cast(positions, x.dtype)


@register
class Encoder(_Layer):
    """Token ids of the source -> one vector for each, by `num_layers` encoder layers.

    Args:
      embedding: the Keras layer to use, if not one of its own; it is not part of the config.
    """

    def __init__(
        self, num_layers, d_model, num_heads, dff, input_vocab_size, rate=0.1,
        pre_norm=False, attention_rate=0.0, ffn_rate=0.0, embedding=None, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        variant = dict(pre_norm=pre_norm, attention_rate=attention_rate, ffn_rate=ffn_rate)
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            input_vocab_size=input_vocab_size, rate=rate, **variant,
        )  # fmt: skip
        policy = self.dtype_policy
        self.embedding = embedding or keras.layers.Embedding(
            input_vocab_size, d_model, dtype=policy
        )
        self.dropout = Dropout(rate, dtype=policy)
        self.enc_layers = [
            EncoderLayer(d_model, num_heads, dff, rate, **variant, dtype=policy)
            for _ in range(num_layers)
        ]
        if pre_norm:  # or else the sum of all sub-layers would leave the stack as it is
            self.layernorm = LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)

    def build(self, x_shape):
        if not self.embedding.built:  # by the other stack, which shares it
            self.embedding.build(x_shape)
        if self.sizes["pre_norm"]:
            self.layernorm.build((*x_shape, self.sizes["d_model"]))
        for layer in self.enc_layers:
            layer.build((*x_shape, self.sizes["d_model"]))

    def call(self, x, *, training=False, mask=None):
        """Ids (B, S) -> output (B, S, D), {"encoder_layer1": weights (B, H, S, S), ...}."""
        x = self.dropout(embed(self.embedding, x), training=training)
        weights = {}
        for n, layer in enumerate(self.enc_layers, start=1):
            x, weights[f"encoder_layer{n}"] = layer(x, training=training, mask=mask)
        return self.layernorm(x) if self.sizes["pre_norm"] else x, weights


@register
class Decoder(_Layer):
    """Token ids of the target so far -> one vector for each, by `num_layers` decoder layers.

    Args:
      embedding: as of Encoder.
    """

    def __init__(
        self, num_layers, d_model, num_heads, dff, target_vocab_size, rate=0.1,
        pre_norm=False, attention_rate=0.0, ffn_rate=0.0, embedding=None, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        variant = dict(pre_norm=pre_norm, attention_rate=attention_rate, ffn_rate=ffn_rate)
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            target_vocab_size=target_vocab_size, rate=rate, **variant,
        )  # fmt: skip
        policy = self.dtype_policy
        self.embedding = embedding or keras.layers.Embedding(
            target_vocab_size, d_model, dtype=policy
        )
        self.dropout = Dropout(rate, dtype=policy)
        self.dec_layers = [
            DecoderLayer(d_model, num_heads, dff, rate, **variant, dtype=policy)
            for _ in range(num_layers)
        ]
        if pre_norm:  # or else the sum of all sub-layers would leave the stack as it is
            self.layernorm = LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)

    def build(self, x_shape, enc_output_shape):
        if not self.embedding.built:  # by the other stack, which shares it
            self.embedding.build(x_shape)
        if self.sizes["pre_norm"]:
            self.layernorm.build((*x_shape, self.sizes["d_model"]))
        for layer in self.dec_layers:
            layer.build((*x_shape, self.sizes["d_model"]), enc_output_shape)

    def call(self, x, enc_output, *, training=False, look_ahead_mask=None, padding_mask=None):
        """Ids (B, T), encoder's output (B, S, D) -> output (B, T, D), weights by layer and block.

        {"decoder_layer1_block1": self-attention (B, H, T, T),
         "decoder_layer1_block2": cross-attention (B, H, T, S), ...}
        """
        x = self.dropout(embed(self.embedding, x), training=training)
        weights = {}
        for n, layer in enumerate(self.dec_layers, start=1):
            x, block1, block2 = layer(
                x,
                enc_output,
                training=training,
                look_ahead_mask=look_ahead_mask,
                padding_mask=padding_mask,
            )
            weights[f"decoder_layer{n}_block1"] = block1
            weights[f"decoder_layer{n}_block2"] = block2
        return self.layernorm(x) if self.sizes["pre_norm"] else x, weights

    def step(self, tokens, encoding, caches, memories, position=None, **masks):
        """`call` for one more position of the target. Returns output (B, K, D) and the caches.

        Args:
          tokens: ids (B, K) at this position, of K hypotheses for each sentence.
          encoding: of this position, (1, 1, D).
          caches, memories: of each layer; see DecoderLayer.step, as for the masks.
        """
        x = embed(self.embedding, tokens, encoding)  # (B, K, D)
        grown = []
        for layer, cache, memory in zip(self.dec_layers, caches, memories, strict=True):
            x, cache = layer.step(x, cache, memory, position, **masks)
            grown.append(cache)
        return self.layernorm(x) if self.sizes["pre_norm"] else x, grown


# ---- The Transformer (paper 3, figure 1) ----


class TiedLogits(keras.layers.Layer):
    """Logits by the matrix of `embedding` (V, D) itself (paper 3.4)."""

    def __init__(self, embedding, **kwargs):
        super().__init__(**kwargs)
        self.embedding = embedding

    def call(self, x):
        """(B, L, D) -> (B, L, V)."""
        table = self.embedding.embeddings
        logits = tf.matmul(tf.reshape(x, (-1, x.shape[-1])), table, transpose_b=True)  # (B L, V)
        return tf.reshape(logits, (tf.shape(x)[0], tf.shape(x)[1], table.shape[0]))


@register
class Transformer(keras.Model):
    """Encoder, decoder and the layer that turns vectors into logits; makes its own masks.

    Takes one positional input, the pair `(inp, tar)`: a model of two saves to a `.keras` file that
    loads with random weights. Policies float32 and mixed_bfloat16 work.

    Args:
      tie_embeddings: whether source, target and logits share one matrix (paper 3.4), as one
        vocabulary lets them.
      non_autoregressive: whether the decoder looks at all of what it is given, at later places
        too; see beyond/parallel.py.

    Raises:
      ValueError: under mixed_float16, whose largest number is smaller than the mask; or for
        embeddings tied of two vocabularies.
    """

    def __init__(
        self, num_layers, d_model, num_heads, dff, input_vocab_size, target_vocab_size, rate=0.1,
        pre_norm=False, attention_rate=0.0, ffn_rate=0.0, tie_embeddings=False,
        non_autoregressive=False, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        policy = self.dtype_policy
        if policy.compute_dtype == "float16":
            raise ValueError(
                f"{policy.name} ends at 65,504 and cannot hold the mask's {MASKED:g}: "
                "use mixed_bfloat16 or float32"
            )
        if tie_embeddings and input_vocab_size != target_vocab_size:
            raise ValueError(
                f"tied embeddings are of one vocabulary, not of {input_vocab_size} pieces and "
                f"{target_vocab_size}"
            )
        variant = dict(pre_norm=pre_norm, attention_rate=attention_rate, ffn_rate=ffn_rate)
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            input_vocab_size=input_vocab_size, target_vocab_size=target_vocab_size, rate=rate,
            **variant, tie_embeddings=tie_embeddings, non_autoregressive=non_autoregressive,
        )  # fmt: skip
        embedding = None
        if tie_embeddings:  # of a size that suits logits: times sqrt(D), or times a vector so long
            normal = keras.initializers.RandomNormal(stddev=d_model**-0.5)
            embedding = keras.layers.Embedding(
                input_vocab_size, d_model, embeddings_initializer=normal, dtype=policy
            )
        stack = dict(rate=rate, **variant, embedding=embedding, dtype=policy)
        self.encoder = Encoder(num_layers, d_model, num_heads, dff, input_vocab_size, **stack)
        self.decoder = Decoder(num_layers, d_model, num_heads, dff, target_vocab_size, **stack)
        if tie_embeddings:
            self.final_layer = TiedLogits(embedding, dtype="float32")
        else:
            self.final_layer = Dense(target_vocab_size, dtype="float32")

    def build(self, input_shape):
        inp_shape, tar_shape = input_shape
        d_model = self.sizes["d_model"]
        self.encoder.build(inp_shape)
        self.decoder.build(tar_shape, (*inp_shape, d_model))
        self.final_layer.build((*tar_shape, d_model))

    def call(self, inputs, *, training=False):
        """Ids (B, S) and (B, T) -> logits (B, T, V) float32, attention weights by layer.

        Logits at position t are for the token after tar[:, t] (teacher forcing).
        """
        dec_output, weights = self.decode(inputs, training=training)
        return self.final_layer(dec_output), weights

    def decode(self, inputs, *, training=False):
        """`call` without its last layer: the decoder's output (B, T, D), attention weights."""
        inp, tar = inputs
        enc_padding_mask, combined_mask, dec_padding_mask = create_masks(inp, tar)
        if self.sizes["non_autoregressive"]:
            combined_mask = create_padding_mask(tar)  # without the look-ahead mask
        enc_output, enc_weights = self.encoder(inp, training=training, mask=enc_padding_mask)
        dec_output, dec_weights = self.decoder(
            tar,
            enc_output,
            training=training,
            look_ahead_mask=combined_mask,
            padding_mask=dec_padding_mask,
        )
        return dec_output, {**enc_weights, **dec_weights}

    def get_config(self):
        return {**super().get_config(), **self.sizes}


# ---- Learning rate (paper 5.3, equation 3) ----


@register
class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """scale * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), at any int or float step.

    Grows linearly to its peak at `warmup_steps`, then falls with the square root. 0.0 at step 0.
    """

    def __init__(self, d_model, warmup_steps=4000, scale=1.0):
        super().__init__()
        self.d_model, self.warmup_steps, self.scale = d_model, warmup_steps, scale

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        factor = tf.minimum(tf.math.rsqrt(step), step * self.warmup_steps**-1.5)
        return self.scale * self.d_model**-0.5 * factor

    def get_config(self):
        return {"d_model": self.d_model, "warmup_steps": self.warmup_steps, "scale": self.scale}


@register
class CosineSchedule(CustomSchedule):
    """The same growth, to the same peak, then (1 + cos(pi * progress)) / 2 of it: 0.0 at `steps`.

    Progress goes from 0 at `warmup_steps` to 1 at `steps` (Loshchilov & Hutter 2017, arXiv
    1608.03983, without restarts).

    Args:
      steps: of the whole training; a number, or a scalar variable that comes to hold it.
    """

    def __init__(self, d_model, warmup_steps=4000, scale=1.0, steps=100_000):
        super().__init__(d_model, warmup_steps, scale)
        self.steps = steps

    def __call__(self, step):
        step, steps = tf.cast(step, tf.float32), tf.cast(self.steps, tf.float32)
        warmup = float(self.warmup_steps)
        grown = super().__call__(tf.minimum(step, warmup))
        progress = tf.clip_by_value((step - warmup) / tf.maximum(steps - warmup, 1.0), 0.0, 1.0)
        return grown * 0.5 * (1 + tf.cos(np.pi * progress))

    def get_config(self):
        return {**super().get_config(), "steps": int(self.steps)}


@register
class ConstantSchedule(CustomSchedule):
    """The same growth, to the same peak, which then stays."""

    def __call__(self, step):
        return super().__call__(tf.minimum(tf.cast(step, tf.float32), float(self.warmup_steps)))


# ---- Loss and accuracy: over real tokens only ----


def cross_entropy(logits, real, label_smoothing=0.0):
    """Returns the losses of ids `real` (...), in nats, and whether each had the highest logit.

    Against a share of 1 - label_smoothing for the real id, and the rest spread evenly over all
    (paper 5.4). The same as TensorFlow's own, whose kernel takes twice the time on a CPU:
    exp(logits) is worked out once, for the loss, the guess and the gradient, softmax - target.

    Args:
      logits: (..., V).
    """
    vocab_size, ids = logits.shape[-1], tf.reshape(real, (-1,))  # (N,)
    even, certain = label_smoothing / vocab_size, 1 - label_smoothing

    @tf.custom_gradient
    def losses_and_hits(flat):  # (N, V)
        best = tf.reduce_max(flat, axis=-1, keepdims=True)  # (N, 1), not to overflow
        powers = tf.exp(flat - best)  # (N, V)
        total = tf.reduce_sum(powers, axis=-1, keepdims=True)  # (N, 1)
        told = tf.gather(flat, ids, batch_dims=1) - best[:, 0]  # (N,), 0 for the highest
        losses = tf.math.log(total[:, 0]) - certain * told  # (N,)
        if label_smoothing:
            losses -= even * (tf.reduce_sum(flat, axis=-1) - vocab_size * best[:, 0])

        def gradient(upstream, _):  # (N,) -> (N, V)
            upstream = upstream[:, tf.newaxis]
            found = powers * (upstream / total)
            if label_smoothing:
                found -= even * upstream
            places = tf.stack([tf.range(tf.size(ids, ids.dtype)), ids], axis=1)  # (N, 2)
            return tf.tensor_scatter_nd_sub(found, places, certain * upstream[:, 0])

        return (losses, told >= 0), gradient

    losses, hits = losses_and_hits(tf.reshape(logits, (-1, vocab_size)))
    return tf.reshape(losses, tf.shape(real)), tf.reshape(hits, tf.shape(real))


def token_sums(real, pred, label_smoothing=0.0):
    """Returns summed cross-entropy in nats, right guesses and number of the real tokens of a batch.

    Three float32 scalars: unlike means, sums can be added over batches and over devices.

    Args:
      real: ids (B, T); padding counts for nothing.
      pred: logits (B, T, V).
      label_smoothing: see `cross_entropy`.
    """
    is_real = tf.cast(tf.not_equal(real, PAD), tf.float32)  # (B, T)
    losses, hits = cross_entropy(pred, real, label_smoothing)  # (B, T)
    return (
        tf.reduce_sum(losses * is_real),
        tf.reduce_sum(tf.cast(hits, tf.float32) * is_real),
        tf.reduce_sum(is_real),
    )


def loss_function(real, pred):
    """Returns the mean cross-entropy, in nats, of real ids (B, T) under logits (B, T, V).

    For one batch on one device; the program adds up `token_sums` instead.
    """
    loss, _, tokens = token_sums(real, pred)
    return tf.math.divide_no_nan(loss, tokens)


def accuracy_function(real, pred):
    """Returns the share of real ids (B, T) that have the highest of their logits (B, T, V)."""
    _, hits, tokens = token_sums(real, pred)
    return tf.math.divide_no_nan(hits, tokens)


def log_probabilities(transformer, inp, tar):
    """Returns the natural log-probability (B,) of all tokens of ids `tar` (B, T) but its START.

    Args:
      inp: ids of the source (B, S).
    """
    predictions, _ = transformer((inp, tar[:, :-1]), training=False)  # (B, T - 1, V)
    real = tar[:, 1:]
    losses, _ = cross_entropy(predictions, real)
    return -tf.reduce_sum(losses * tf.cast(real != PAD, tf.float32), axis=1)


# ---- Search: the likeliest translation, one token a step ----


class Hypotheses(NamedTuple):
    """Translations that a search found: N for each of B sentences, the best first."""

    ids: tf.Tensor  # (B, N, L) int32: START, tokens, END, then PAD
    scores: tf.Tensor  # (B, N) float32: log-probability over length penalty, by which they rank
    log_probabilities: tf.Tensor  # (B, N) float32, natural, of all tokens with END
    finished: tf.Tensor  # (B, N) bool: False where the limit of length cut a hypothesis off


def put(tensor, index, value):
    """Returns `tensor` (..., L) with `value` (...) at `index` of its last axis."""
    here = tf.range(tf.shape(tensor)[-1]) == index
    return tf.where(here, value[..., tf.newaxis], tensor)


def length_penalty(length, alpha):
    """((5 + length) / 6)^alpha, what a log-probability is divided by (Wu et al. 2016, equation 14).

    Length is in tokens and counts END, not START. An alpha of 0 ranks by log-probability alone.
    """
    return ((5 + tf.cast(length, tf.float32)) / 6) ** alpha


class Decoding:
    """What a search needs to know of a batch of sources: the encoder is run once, here.

    Args:
      inp: ids of the source (B, S).
      beam: hypotheses K that are followed for each sentence.
      extra_tokens: most tokens of a translation beyond those of its source (paper 6.1: 50).
      static: whether shapes stay the same from step to step, as XLA asks. Else caches grow.
    """

    def __init__(self, transformer, inp, beam, extra_tokens, static):
        self.transformer, self.beam, self.static = transformer, beam, static
        decoder, sizes = transformer.decoder, transformer.sizes
        self.padding_mask = create_padding_mask(inp)
        enc_output, _ = transformer.encoder(inp, training=False, mask=self.padding_mask)
        self.memories = [layer.memory(enc_output) for layer in decoder.dec_layers]
        self.batch, source_length = (
            known if known is not None else found
            for known, found in zip(inp.shape, tf.unstack(tf.shape(inp)), strict=True)
        )
        self.length = source_length + extra_tokens
        tokens = tf.reduce_sum(tf.cast(inp != PAD, tf.int32), axis=1)  # (B,)
        self.limits = tf.where(tokens > 0, tokens + extra_tokens, 0)  # (B,), none for empty rows
        self.positions = positional_encoding(self.length, sizes["d_model"])  # (1, L, D)
        never = np.isin(np.arange(sizes["target_vocab_size"]), (PAD, START)) * MASKED
        self.never = tf.constant(never, tf.float32)  # (V,)
        heads, depth = sizes["num_heads"], sizes["d_model"] // sizes["num_heads"]
        room = self.length * beam if static else 0
        empty = tf.zeros((self.batch, heads, room, depth), enc_output.dtype)
        self.caches = [(empty, empty)] * sizes["num_layers"]

    def log_probabilities(self, tokens, position, origin, caches):
        """Returns those of the next token, (B, K, V), and the caches; PAD and START have none.

        Args:
          tokens: ids (B, K) at `position`.
          origin: (B, K, L), which of the K places held a hypothesis's past at each position up to
            this, -1 beyond; None where there is but one place.
        """
        look_ahead_mask = None  # for all there is in a cache that grows is the one place's past
        length = self.length if self.static else position + 1
        if origin is not None:
            past = tf.one_hot(origin[:, :, :length], self.beam)  # (B, K, L, K), nothing for a -1
            look_ahead_mask = 1 - tf.reshape(past, (self.batch, 1, self.beam, length * self.beam))
        elif self.static:
            look_ahead_mask = tf.cast(tf.range(length) > position, tf.float32)  # (L,)
        dec_output, caches = self.transformer.decoder.step(
            tokens,
            self.positions[:, position, tf.newaxis],
            caches,
            self.memories,
            position if self.static else None,
            look_ahead_mask=look_ahead_mask,
            padding_mask=self.padding_mask,
        )
        logits = self.transformer.final_layer(dec_output)  # (B, K, V)
        return tf.nn.log_softmax(logits) + self.never, caches

    def loop(self, unfinished, step, *state):
        """Returns `state` after as many steps as it is `unfinished`.

        Both are called with the position, the state and the caches; `step` returns them anew.
        """
        state = (tf.constant(0), *state, self.caches)
        shapes = tf.nest.map_structure(lambda tensor: tensor.shape, state)
        if not self.static:
            batch, heads, _, depth = shapes[-1][0][0]
            grows = tf.TensorShape((batch, heads, None, depth))
            shapes = (*shapes[:-1], [(grows, grows)] * len(self.caches))
        return tf.while_loop(unfinished, step, state, shape_invariants=shapes)[1:-1]


def greedy_search(transformer, inp, alpha=0.6, extra_tokens=50, static=False):
    """Takes the likeliest token at each step. Returns Hypotheses of one a sentence.

    PAD and START are never chosen. A sentence does not depend on the others of its batch.

    Args:
      inp: ids of the source (B, S).
      alpha: of `length_penalty`, for the scores.
      extra_tokens, static: see Decoding.
    """
    decoding = Decoding(transformer, inp, 1, extra_tokens, static)
    limits = decoding.limits[:, tf.newaxis]

    def unfinished(position, token, ids, log_probability, ended, finished, caches):
        return ~tf.reduce_all(ended)

    def step(position, token, ids, log_probability, ended, finished, caches):
        likely, caches = decoding.log_probabilities(token, position, None, caches)  # (B, 1, V)
        token = tf.where(ended, PAD, tf.argmax(likely, axis=-1, output_type=tf.int32))  # (B, 1)
        log_probability += tf.where(ended, 0.0, tf.reduce_max(likely, axis=-1))
        position += 1
        ids = put(ids, position, token)
        finished |= token == END
        ended |= finished | (position >= limits)
        return position, token, ids, log_probability, ended, finished, caches

    none = tf.zeros((decoding.batch, 1), tf.bool)
    token = tf.fill((decoding.batch, 1), START)
    ids = tf.pad(token[..., tf.newaxis], [[0, 0], [0, 0], [0, decoding.length]])  # (B, 1, 1 + L)
    state = (token, ids, tf.zeros((decoding.batch, 1)), limits == 0, none)
    _, ids, log_probability, _, finished = decoding.loop(unfinished, step, *state)
    tokens = tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=-1) - 1  # START does not count
    scores = log_probability / length_penalty(tokens, alpha)
    return Hypotheses(ids, scores, log_probability, finished)


def beam_search(transformer, inp, beam=4, alpha=0.6, n_best=1, extra_tokens=50, static=False):
    """Follows each sentence's `beam` likeliest hypotheses. Returns the `n_best` of those ended.

    A hypothesis has ended with END or at the limit of length; ended ones are kept beside the live
    ones and ranked by log-probability over `length_penalty`. A sentence stops when no live
    hypothesis can still come among its `n_best`: its log-probability only falls, and its penalty is
    at most that of the limit. A sentence does not depend on the others of its batch.

    Args:
      inp: ids of the source (B, S).
      beam: hypotheses K that are followed.
      alpha: of `length_penalty`, 0 or more.
      n_best: at most `beam`.
      extra_tokens, static: see Decoding.
    """
    decoding = Decoding(transformer, inp, beam, extra_tokens, static)
    batch, length, limits = decoding.batch, decoding.length, decoding.limits[:, tf.newaxis]
    places = tf.broadcast_to(tf.range(beam), (batch, beam))  # (B, K)

    def choose(scores, number, *tensors):
        """Returns the best `number` of scores (B, N), and what belongs to them of `tensors`."""
        scores, chosen = tf.math.top_k(scores, number)
        return scores, *(tf.gather(tensor, chosen, batch_dims=1) for tensor in tensors)

    def unfinished(position, live, ended, caches):
        hope = tf.reduce_max(live["log_probability"], axis=1, keepdims=True)
        hope /= length_penalty(limits, alpha)  # (B, 1)
        worth = (hope > ended["score"][:, n_best - 1 : n_best]) & (position < limits)
        return tf.reduce_any(worth)

    def step(position, live, ended, caches):
        tokens = tf.gather(live["ids"], position, axis=2)  # (B, K)
        origin = put(live["origin"], position, places)  # (B, K, L)
        likely, caches = decoding.log_probabilities(tokens, position, origin, caches)  # (B, K, V)
        likely += live["log_probability"][..., tf.newaxis]
        vocab_size = likely.shape[-1]
        # Of the best 2 K at most K end, for each live one ends in one way: K remain to live on.
        flat = tf.reshape(likely, (batch, beam * vocab_size))
        log_probability, chosen = tf.math.top_k(flat, 2 * beam)  # (B, 2 K)
        token, parent = chosen % vocab_size, chosen // vocab_size  # (B, 2 K)
        position += 1
        ids = tf.gather(live["ids"], parent, batch_dims=1)  # (B, 2 K, 1 + L)
        ids = put(ids, position, token)
        finished = token == END
        over = finished | (position >= limits)

        score = log_probability / length_penalty(position, alpha)
        score = tf.where(over, score, MASKED)
        score = tf.concat([ended["score"], score], axis=1)  # (B, 3 K)
        both = [
            tf.concat([ended[name], new], axis=1)
            for name, new in (
                ("ids", ids), ("log_probability", log_probability), ("finished", finished),
            )
        ]  # fmt: skip
        score, *both = choose(score, beam, *both)
        ended = dict(zip(("ids", "log_probability", "finished"), both, strict=True), score=score)

        origin = tf.gather(origin, parent, batch_dims=1)  # (B, 2 K, L)
        alive = tf.where(over, MASKED, log_probability)
        log_probability, ids, origin = choose(alive, beam, ids, origin)
        live = dict(ids=ids, origin=origin, log_probability=log_probability)
        return position, live, ended, caches

    ids = tf.pad(tf.fill((batch, beam, 1), START), [[0, 0], [0, 0], [0, length]])  # (B, K, 1 + L)
    nothing = tf.fill((batch, beam), MASKED)
    live = dict(
        ids=ids,
        origin=tf.fill((batch, beam, length), -1),
        log_probability=tf.where(places == 0, 0.0, MASKED),  # the K places start out the same
    )
    ended = dict(
        ids=ids, log_probability=nothing, finished=tf.zeros((batch, beam), tf.bool), score=nothing
    )
    _, ended = decoding.loop(unfinished, step, live, ended)
    return Hypotheses(
        *(ended[name][:, :n_best] for name in ("ids", "score", "log_probability", "finished"))
    )


def search(transformer, inp, beam=1, alpha=0.6, n_best=1, extra_tokens=50, static=False):
    """Returns Hypotheses for ids of the source (B, S): greedily for a `beam` of 1."""
    if beam == 1:
        return greedy_search(transformer, inp, alpha, extra_tokens, static)
    return beam_search(transformer, inp, beam, alpha, n_best, extra_tokens, static)
