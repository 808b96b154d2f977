"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762).

Read it from top to bottom, in the order of TensorFlow's tutorial: positions, masks, attention,
feed-forward, one layer of each kind, the two stacks, the whole network, its learning rate, its
loss, and how it translates. The last section holds faster forms of four parts of Keras. Skip it on
a first reading: Dense, Dropout, LayerNormalization and the cross-entropy behave as usual. There
are no files, no text and no command line here: token ids in, logits or token ids out.

Shapes in comments: B sentences, L tokens (S source, T target), H heads, D = d_model, V vocabulary
size. "Real" tokens are those that are not padding. Masks are 1.0 at positions that must not be
attended to. Arguments of calls that are not tensors are passed by keyword, as Keras 3 requires.
"""

import numpy as np

NEEDED = (
    "transformer_model needs Keras on TensorFlow: {}; set KERAS_BACKEND=tensorflow in the "
    "environment before Keras is imported, and install requirements.txt"
)
try:
    import keras
    import tensorflow as tf
except ImportError as error:  # Keras, or its backend
    raise ImportError(NEEDED.format(error)) from None
if keras.backend.backend() != "tensorflow":
    raise ImportError(NEEDED.format(f"its backend is {keras.backend.backend()}"))

PAD, UNKNOWN, START, END = 0, 1, 2, 3  # ids of the special tokens; TensorFlow pads with 0

MASKED = -1e9  # for a logit that must not win; beyond float16's range, within bfloat16's

register = keras.saving.register_keras_serializable(package="transformer_model")


# ---- Positional encoding (paper 3.5) ----


def get_angles(pos, i, d_model):
    """Returns the angle of every position in every dimension, in radians, as float64.

    pos / 10000^(2 (i // 2) / d_model): dimensions 2k and 2k + 1 share an angle. In float32 the
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
    the encoding is computed for each length, so no length is too long.
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
      dropout: a function that drops some of the weights before they multiply the values, or None.

    Returns:
      output (..., len_q, d_v) and attention weights (..., len_q, len_k), each row of sum 1.
    """
    logits = tf.matmul(q, k, transpose_b=True)  # (..., len_q, len_k)
    logits /= k.shape[-1] ** 0.5
    if mask is not None:
        logits += tf.cast(mask, logits.dtype) * MASKED
    attention_weights = tf.nn.softmax(logits, axis=-1)
    used = dropout(attention_weights) if dropout else attention_weights
    return tf.matmul(used, v), attention_weights


class _Saved:
    """A layer or model that Keras saves and rebuilds from `sizes`, its constructor's arguments."""

    def get_config(self):
        return {**super().get_config(), **self.sizes}

    def compute_mask(self, inputs, previous_mask):
        """Returns None: Keras would otherwise attach a mask to outputs, for later layers."""
        return


class _Variant(_Saved):
    """Three arguments of all layers, stacks and the Transformer; tutorial and paper have none.

    Args:
      pre_norm: normalize the input of each sub-layer instead of the residual sum, which trains deep
        stacks more reliably (Xiong et al. 2020, arXiv 2002.04745).
      attention_rate: dropout rate of the attention weights.
      ffn_rate: dropout rate of the hidden values of the feed-forward network.
    """

    def __init__(self, pre_norm=False, attention_rate=0.0, ffn_rate=0.0, **kwargs):
        super().__init__(**kwargs)
        self.pre_norm = pre_norm
        self.variant = dict(pre_norm=pre_norm, attention_rate=attention_rate, ffn_rate=ffn_rate)


@register
class MultiHeadAttention(_Saved, keras.layers.Layer):
    """`num_heads` attentions in parallel, in d_model / num_heads dimensions each (paper 3.2.2).

    Args:
      d_model: width of inputs and outputs.
      num_heads: number of heads.
      rate: dropout rate of the attention weights.

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
        return tf.reshape(x, (*leading(x), self.sizes["d_model"]))

    def joined(self, names):
        """Returns kernel (D, n D) and bias (n D,) of n of wq, wk, wv, concatenated: "qkv", "kv"."""
        layers = [getattr(self, f"w{name}") for name in names]
        kernels, biases = zip(*((layer.kernel, layer.bias) for layer in layers), strict=True)
        return tf.concat(kernels, axis=1), tf.concat(biases, axis=0)

    def project(self, x, kernel, bias):
        """`x` (B, L, D), n `joined` layers -> n tensors (B, H, L, D / H), in one product."""
        kernel, bias = tf.cast(kernel, x.dtype), tf.cast(bias, x.dtype)
        y = tf.nn.bias_add(tf.matmul(tf.reshape(x, (-1, x.shape[-1])), kernel), bias)  # (B L, n D)
        heads, depth = self.sizes["num_heads"], self.sizes["d_model"] // self.sizes["num_heads"]
        y = tf.reshape(y, (*leading(x), y.shape[-1] // x.shape[-1], heads, depth))
        return tf.unstack(tf.transpose(y, (2, 0, 3, 1, 4)))

    def attend(self, q, k, v, *, training=False, mask=None):
        """`call` for queries, keys and values already projected, (B, H, L, D / H) each."""
        heads, attention_weights = scaled_dot_product_attention(
            q, k, v, mask, lambda weights: self.dropout(weights, training=training)
        )
        return self.dense(self.join_heads(heads)), attention_weights

    def call(self, v, k, q, mask=None, *, training=False):
        """Attends from `q` (B, len_q, D) to `k`, `v` (B, len_k, D).

        Returns output (B, len_q, D) and weights (B, H, len_q, len_k).
        """
        inputs = ((q, "qkv"),) if q is k is v else ((q, "q"), (k, "k"), (v, "v"))
        projected = [y for x, names in inputs for y in self.project(x, *self.joined(names))]
        return self.attend(*projected, training=training, mask=mask)


# ---- Feed-forward (paper 3.3) ----


def point_wise_feed_forward_network(d_model, dff, rate=0.0, **kwargs):
    """Returns max(0, x W1 + b1) W2 + b2 as a Keras model, (B, L, D) -> (B, L, dff) -> (B, L, D).

    Args:
      d_model: width of inputs and outputs.
      dff: width of the hidden layer.
      rate: dropout rate of the hidden values.
      kwargs: of each Keras layer, such as its dtype.
    """
    return keras.Sequential(
        [
            Dense(dff, activation="relu", **kwargs),
            Dropout(rate, **kwargs),
            Dense(d_model, **kwargs),
        ]
    )


# ---- One layer of each stack (paper 3.1): sub-layer, dropout, residual sum, normalization ----


@register
class EncoderLayer(_Variant, keras.layers.Layer):
    """Self-attention, then the feed-forward network, each in a residual connection.

    Args:
      d_model, num_heads, dff: sizes, as above.
      rate: dropout rate of each sub-layer's output.
      kwargs: see _Variant.
    """

    def __init__(self, d_model, num_heads, dff, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.sizes = dict(d_model=d_model, num_heads=num_heads, dff=dff, rate=rate, **self.variant)
        policy = self.dtype_policy
        self.mha = MultiHeadAttention(
            d_model, num_heads, self.variant["attention_rate"], dtype=policy
        )
        self.ffn = point_wise_feed_forward_network(
            d_model, dff, self.variant["ffn_rate"], dtype=policy
        )
        self.layernorm1 = LayerNormalization(dtype=policy)
        self.layernorm2 = LayerNormalization(dtype=policy)
        self.dropout1 = Dropout(rate, dtype=policy)
        self.dropout2 = Dropout(rate, dtype=policy)

    def build(self, x_shape):
        self.mha.build(x_shape, x_shape, x_shape)
        for layer in (self.ffn, self.layernorm1, self.layernorm2):
            layer.build(x_shape)

    def call(self, x, *, training=False, mask=None):
        """(B, S, D) -> output (B, S, D), attention weights (B, H, S, S)."""
        if self.pre_norm:
            y = self.layernorm1(x)
            attention, weights = self.mha(y, y, y, mask=mask, training=training)
            x += self.dropout1(attention, training=training)
            y = self.ffn(self.layernorm2(x), training=training)
            return x + self.dropout2(y, training=training), weights
        attention, weights = self.mha(x, x, x, mask=mask, training=training)
        x = self.layernorm1(x + self.dropout1(attention, training=training))
        y = self.ffn(x, training=training)
        return self.layernorm2(x + self.dropout2(y, training=training)), weights


@register
class DecoderLayer(_Variant, keras.layers.Layer):
    """Self-attention, cross-attention to the encoder's output, and feed-forward, likewise.

    Args: as of EncoderLayer.
    """

    def __init__(self, d_model, num_heads, dff, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.sizes = dict(d_model=d_model, num_heads=num_heads, dff=dff, rate=rate, **self.variant)
        policy, attention_rate = self.dtype_policy, self.variant["attention_rate"]
        self.mha1 = MultiHeadAttention(d_model, num_heads, attention_rate, dtype=policy)
        self.mha2 = MultiHeadAttention(d_model, num_heads, attention_rate, dtype=policy)
        self.ffn = point_wise_feed_forward_network(
            d_model, dff, self.variant["ffn_rate"], dtype=policy
        )
        self.layernorm1 = LayerNormalization(dtype=policy)
        self.layernorm2 = LayerNormalization(dtype=policy)
        self.layernorm3 = LayerNormalization(dtype=policy)
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
        qkv = self.self_attention_qkv(x, *self.mha1.joined("qkv"))
        kv = self.cross_attention_kv(enc_output)
        masks = dict(look_ahead_mask=look_ahead_mask, padding_mask=padding_mask)
        return self.attend(x, qkv, kv, training=training, **masks)

    def self_attention_qkv(self, x, kernel, bias):
        """(B, T, D), joined weights -> queries, keys, values (B, H, T, D / H) of the target."""
        return self.mha1.project(self.layernorm1(x) if self.pre_norm else x, kernel, bias)

    def cross_attention_kv(self, enc_output):
        """(B, S, D) -> keys and values (B, H, S, D / H) of the source."""
        return self.mha2.project(enc_output, *self.mha2.joined("kv"))

    def attend(self, x, qkv, kv, *, training=False, look_ahead_mask=None, padding_mask=None):
        """`call` for projected inputs, so that a search can keep those of earlier positions.

        Args:
          x: (B, T, D), not normalized yet.
          qkv: queries, keys and values of the target, (B, H, T, D / H) each.
          kv: keys and values of the source, (B, H, S, D / H) each.
        """
        attention, block1 = self.mha1.attend(*qkv, training=training, mask=look_ahead_mask)
        if self.pre_norm:
            x += self.dropout1(attention, training=training)
            (q,) = self.mha2.project(self.layernorm2(x), *self.mha2.joined("q"))
            attention, block2 = self.mha2.attend(q, *kv, training=training, mask=padding_mask)
            x += self.dropout2(attention, training=training)
            y = self.ffn(self.layernorm3(x), training=training)
            return x + self.dropout3(y, training=training), block1, block2
        x = self.layernorm1(x + self.dropout1(attention, training=training))
        (q,) = self.mha2.project(x, *self.mha2.joined("q"))
        attention, block2 = self.mha2.attend(q, *kv, training=training, mask=padding_mask)
        x = self.layernorm2(x + self.dropout2(attention, training=training))
        y = self.ffn(x, training=training)
        return self.layernorm3(x + self.dropout3(y, training=training)), block1, block2


# ---- The two stacks ----


def embed(embedding, ids, positions=None):
    """Returns sqrt(D) times the embedding of `ids` (B, L), plus the positional encoding.

    The factor (paper 3.4) scales the embedding to the size of the positional encoding.

    Args:
      embedding: a Keras Embedding.
      ids: token ids (B, L).
      positions: their encoding, (1, L, D); without it, of positions 0 to L - 1.
    """
    x = embedding(ids)  # (B, L, D)
    if positions is None:
        positions = positional_encoding(tf.shape(ids)[1], x.shape[-1])
    return x * x.shape[-1] ** 0.5 + tf.cast(positions, x.dtype)


@register
class Encoder(_Variant, keras.layers.Layer):
    """Token ids of the source -> one vector per token, through `num_layers` encoder layers.

    Args:
      num_layers, d_model, num_heads, dff, input_vocab_size: sizes.
      rate: dropout rate of embeddings and sub-layers.
      embedding: the Keras Embedding to share; None creates one. Not saved in the config.
      kwargs: see _Variant.
    """

    def __init__(
        self, num_layers, d_model, num_heads, dff, input_vocab_size, rate=0.1, *,
        embedding=None, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            input_vocab_size=input_vocab_size, rate=rate, **self.variant,
        )  # fmt: skip
        policy = self.dtype_policy
        self.embedding = embedding or keras.layers.Embedding(
            input_vocab_size, d_model, dtype=policy
        )
        self.dropout = Dropout(rate, dtype=policy)
        self.enc_layers = [
            EncoderLayer(d_model, num_heads, dff, rate, **self.variant, dtype=policy)
            for _ in range(num_layers)
        ]
        if self.pre_norm:  # nothing else normalizes the output of the last layer
            self.layernorm = LayerNormalization(dtype=policy)

    def build(self, x_shape):
        if not self.embedding.built:  # tied embeddings are built by the encoder
            self.embedding.build(x_shape)
        if self.pre_norm:
            self.layernorm.build((*x_shape, self.sizes["d_model"]))
        for layer in self.enc_layers:
            layer.build((*x_shape, self.sizes["d_model"]))

    def call(self, x, *, training=False, mask=None):
        """Ids (B, S) -> output (B, S, D), {"encoder_layer1": weights (B, H, S, S), ...}."""
        x = self.dropout(embed(self.embedding, x), training=training)
        weights = {}
        for n, layer in enumerate(self.enc_layers, start=1):
            x, weights[f"encoder_layer{n}"] = layer(x, training=training, mask=mask)
        return self.layernorm(x) if self.pre_norm else x, weights


@register
class Decoder(_Variant, keras.layers.Layer):
    """Token ids of the target so far -> one vector per token, through `num_layers` decoder layers.

    Args: as of Encoder, with `target_vocab_size`.
    """

    def __init__(
        self, num_layers, d_model, num_heads, dff, target_vocab_size, rate=0.1, *,
        embedding=None, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            target_vocab_size=target_vocab_size, rate=rate, **self.variant,
        )  # fmt: skip
        policy = self.dtype_policy
        self.embedding = embedding or keras.layers.Embedding(
            target_vocab_size, d_model, dtype=policy
        )
        self.dropout = Dropout(rate, dtype=policy)
        self.dec_layers = [
            DecoderLayer(d_model, num_heads, dff, rate, **self.variant, dtype=policy)
            for _ in range(num_layers)
        ]
        if self.pre_norm:  # nothing else normalizes the output of the last layer
            self.layernorm = LayerNormalization(dtype=policy)

    def build(self, x_shape, enc_output_shape):
        if not self.embedding.built:  # tied embeddings are built by the encoder
            self.embedding.build(x_shape)
        if self.pre_norm:
            self.layernorm.build((*x_shape, self.sizes["d_model"]))
        for layer in self.dec_layers:
            layer.build((*x_shape, self.sizes["d_model"]), enc_output_shape)

    def call(self, x, enc_output, *, training=False, look_ahead_mask=None, padding_mask=None):
        """Ids (B, T), encoder's output (B, S, D) -> output (B, T, D), weights by layer and block.

        {"decoder_layer1_block1": self-attention (B, H, T, T),
         "decoder_layer1_block2": cross-attention (B, H, T, S), ...}
        """
        x = self.dropout(embed(self.embedding, x), training=training)
        masks = dict(look_ahead_mask=look_ahead_mask, padding_mask=padding_mask)
        weights = {}
        for n, layer in enumerate(self.dec_layers, start=1):
            x, block1, block2 = layer(x, enc_output, training=training, **masks)
            weights[f"decoder_layer{n}_block1"] = block1
            weights[f"decoder_layer{n}_block2"] = block2
        return self.layernorm(x) if self.pre_norm else x, weights


# ---- The Transformer (paper 3, figure 1) ----


class TiedLogits(keras.layers.Layer):
    """Logits as products with the shared embedding matrix, (V, D) (paper 3.4)."""

    def __init__(self, embedding, **kwargs):
        super().__init__(**kwargs)
        self.embedding = embedding

    def call(self, x):
        """(B, L, D) -> (B, L, V)."""
        table = self.embedding.embeddings
        logits = tf.matmul(tf.reshape(x, (-1, x.shape[-1])), table, transpose_b=True)  # (B L, V)
        return tf.reshape(logits, (*leading(x), table.shape[0]))


@register
class Transformer(_Variant, keras.Model):
    """Encoder, decoder and the layer that turns vectors into logits; makes its own masks.

    Call it with one pair, `(inp, tar)`: the `.keras` file of a model with two inputs loads with
    random weights. Works in float32 and in mixed_bfloat16.

    Args:
      num_layers, d_model, num_heads, dff: sizes of both stacks.
      input_vocab_size, target_vocab_size: vocabulary entries of source and target.
      rate: dropout rate of embeddings and sub-layers.
      tie_embeddings: share one matrix between source, target and logits (paper 3.4); both languages
        then share one vocabulary.
      non_autoregressive: use no look-ahead mask in the decoder; see
        nmt/decoding/non_autoregressive.py.
      kwargs: see _Variant.

    Raises:
      ValueError: the policy is mixed_float16, whose range is smaller than the mask; embeddings are
        tied and the vocabulary sizes differ; or `num_heads` does not divide `d_model`.
    """

    def __init__(
        self, num_layers, d_model, num_heads, dff, input_vocab_size, target_vocab_size, rate=0.1, *,
        tie_embeddings=False, non_autoregressive=False, **kwargs,
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
                f"tied embeddings need one vocabulary, not one of {input_vocab_size} entries and "
                f"one of {target_vocab_size}"
            )
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            input_vocab_size=input_vocab_size, target_vocab_size=target_vocab_size, rate=rate,
            tie_embeddings=tie_embeddings, non_autoregressive=non_autoregressive, **self.variant,
        )  # fmt: skip
        embedding = None
        if tie_embeddings:  # of length 1 or so: `embed` scales them, and logits stay small
            normal = keras.initializers.RandomNormal(stddev=d_model**-0.5)
            embedding = keras.layers.Embedding(
                input_vocab_size, d_model, embeddings_initializer=normal, dtype=policy
            )
        stack = dict(rate=rate, **self.variant, embedding=embedding, dtype=policy)
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
        """`call` without the final layer: the decoder's output (B, T, D), attention weights."""
        inp, tar = inputs
        enc_padding_mask, combined_mask, dec_padding_mask = create_masks(inp, tar)
        if self.sizes["non_autoregressive"]:
            combined_mask = create_padding_mask(tar)  # no look-ahead mask
        enc_output, enc_weights = self.encoder(inp, training=training, mask=enc_padding_mask)
        masks = dict(look_ahead_mask=combined_mask, padding_mask=dec_padding_mask)
        dec_output, dec_weights = self.decoder(tar, enc_output, training=training, **masks)
        return dec_output, {**enc_weights, **dec_weights}


# ---- Learning rate (paper 5.3, equation 3) ----


@register
class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """scale * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).

    Grows linearly to its peak at `warmup_steps`, then decays with the inverse square root
    of the step. 0.0 at step 0.

    Args:
      d_model: width of the model.
      warmup_steps: steps of linear growth.
      scale: a factor that the paper does not have.
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
    """The same warm-up to the same peak, then times (1 + cos(pi * progress)) / 2: 0.0 at `steps`.

    Progress goes from 0 at `warmup_steps` to 1 at `steps` (Loshchilov & Hutter 2017, arXiv
    1608.03983, without restarts).

    Args:
      d_model, warmup_steps, scale: as of CustomSchedule.
      steps: of the whole training run; a number, or a scalar variable to be set later.
    """

    def __init__(self, d_model, warmup_steps=4000, scale=1.0, steps=100_000):
        super().__init__(d_model, warmup_steps, scale)
        self.steps = steps

    def __call__(self, step):
        step, steps = tf.cast(step, tf.float32), tf.cast(self.steps, tf.float32)
        warmup = float(self.warmup_steps)
        warmed_up = super().__call__(tf.minimum(step, warmup))
        progress = tf.clip_by_value((step - warmup) / tf.maximum(steps - warmup, 1.0), 0.0, 1.0)
        return warmed_up * 0.5 * (1 + tf.cos(np.pi * progress))

    def get_config(self):
        return {**super().get_config(), "steps": int(self.steps)}


@register
class ConstantSchedule(CustomSchedule):
    """The same warm-up to the same peak, and no decay."""

    def __call__(self, step):
        return super().__call__(tf.minimum(tf.cast(step, tf.float32), float(self.warmup_steps)))


# ---- Loss and accuracy: over real tokens only ----


def token_sums(real, pred, label_smoothing=0.0):
    """Returns three float32 sums over the real tokens: loss in nats, correct predictions, tokens.

    Unlike means, sums can be added over batches and over devices.

    Args:
      real: target ids (B, T); padding is not counted.
      pred: logits (B, T, V).
      label_smoothing: probability spread over the vocabulary (paper 5.4).
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

    For one batch on one device; the program sums `token_sums` instead.
    """
    loss, _, tokens = token_sums(real, pred)
    return tf.math.divide_no_nan(loss, tokens)


def accuracy_function(real, pred):
    """Returns the share of real ids (B, T) whose logit is the highest, of logits (B, T, V)."""
    _, hits, tokens = token_sums(real, pred)
    return tf.math.divide_no_nan(hits, tokens)


# ---- Translating, by definition: greedy search ----


def greedy_translate(transformer, inp, extra_tokens=50):
    """Appends the likeliest token until END, and runs the whole network for each token.

    This loop defines what translating means. The program runs nmt/decoding/search.py, which keeps
    keys and values between steps and is tested to predict the same ids.

    Args:
      transformer: a Transformer.
      inp: source ids (B, S).
      extra_tokens: the maximum length of a translation beyond that of its source (paper 6.1).

    Returns:
      ids (B, 1 + T): START, tokens, END, then PAD. Without END where the limit cut a translation
      off; PAD and START are never chosen.
    """
    never = np.isin(np.arange(transformer.sizes["target_vocab_size"]), (PAD, START))  # (V,)
    source_tokens = tf.reduce_sum(tf.cast(inp != PAD, tf.int32), axis=1)  # (B,)
    tar = tf.fill((tf.shape(inp)[0], 1), START)  # (B, 1)
    finished = source_tokens == 0  # (B,)
    while not tf.reduce_all(finished):
        logits, _ = transformer((inp, tar), training=False)  # (B, T, V)
        allowed = tf.where(never, MASKED, logits[:, -1])  # (B, V)
        token = tf.where(finished, PAD, tf.argmax(allowed, axis=-1, output_type=tf.int32))  # (B,)
        tar = tf.concat([tar, token[:, tf.newaxis]], axis=1)  # (B, 1 + T)
        finished |= (token == END) | (tf.shape(tar)[1] > source_tokens + extra_tokens)
    return tar


# ---- Faster forms of Keras's layers (skip on a first reading) ----


@register
class Dense(keras.layers.Dense):
    """Keras's, as a product of two matrices: TensorFlow then adds the bias in the same kernel."""

    def call(self, x):
        """(B, L, D) -> (B, L, units)."""
        y = super().call(tf.reshape(x, (-1, x.shape[-1])))  # (B L, units)
        return tf.reshape(y, (*leading(x), self.units))


def leading(x):
    """Returns B and L of `x` (B, L, ...) for a reshape; constants where known, which are faster."""
    return (-1, x.shape[1]) if x.shape[1] else (tf.shape(x)[0], tf.shape(x)[1])


@register
class Dropout(keras.layers.Dropout):
    """Keras's, with random numbers of 8 bits instead of 32, in a quarter of the time.

    `rate` is rounded to the nearest 1/256. Each replica draws its own mask, and XLA draws the same
    mask as TensorFlow; Keras's own layer does neither.
    """

    def call(self, x, training=False):
        """Sets values of `x`, any shape, to zero and scales the others to keep the mean."""
        dropped = min(round(self.rate * 256), 255)  # of the 256 values of a byte
        if not training or not dropped:
            return x
        seed = tf.cast(self.seed_generator.next(), tf.int64)  # (2,), new at each call
        context = tf.distribute.get_replica_context()  # None outside of `strategy.run`
        replica = context.replica_id_in_sync_group if context else 0
        seed += tf.cast(replica, tf.int64) * 2**32  # the generator's own counter stays below
        numbers, size = (tf.size(x) + 3) // 4, tf.size(x)
        bits = tf.random.stateless_uniform((numbers,), seed, None, None, tf.int32, alg="philox")
        kept = tf.reshape(tf.bitcast(bits, tf.uint8), (-1,))[:size] >= dropped
        scale = tf.constant(256 / (256 - dropped), x.dtype)
        return x * (tf.cast(tf.reshape(kept, tf.shape(x)), x.dtype) * scale)


@register
class LayerNormalization(keras.layers.LayerNormalization):
    """Keras's (Ba et al. 2016, arXiv 1607.06450), in fewer passes over the values.

    Args:
      epsilon: added to the variance; the tutorial's.
    """

    def __init__(self, epsilon=1e-6, **kwargs):
        super().__init__(epsilon=epsilon, **kwargs)

    def call(self, x):
        """(x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last axis of `x`."""
        values = tf.cast(x, tf.float32)
        values -= tf.reduce_mean(values, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(values), axis=-1, keepdims=True)
        factor = tf.math.rsqrt(variance + self.epsilon) * tf.cast(self.gamma, tf.float32)
        return tf.cast(values * factor + tf.cast(self.beta, tf.float32), x.dtype)


def cross_entropy(logits, real, label_smoothing=0.0):
    """Returns the losses of ids `real` (...), in nats, and whether each had the highest logit.

    The target distribution has 1 - label_smoothing on the real id and the rest spread evenly over
    the vocabulary (paper 5.4). TensorFlow's own kernel takes twice the time on a CPU; here
    exp(logits) is computed once, for the loss, the prediction and the gradient, softmax - target.

    Args:
      logits: (..., V).
      real: target ids (...).
      label_smoothing: the probability spread over the vocabulary.
    """
    vocab_size, ids = logits.shape[-1], tf.reshape(real, (-1,))  # (N,)
    even, certain = label_smoothing / vocab_size, 1 - label_smoothing

    @tf.custom_gradient
    def losses_and_hits(flat):  # (N, V)
        best = tf.reduce_max(flat, axis=-1, keepdims=True)  # (N, 1), against overflow
        powers = tf.exp(flat - best)  # (N, V)
        total = tf.reduce_sum(powers, axis=-1, keepdims=True)  # (N, 1)
        logit = tf.gather(flat, ids, batch_dims=1) - best[:, 0]  # (N,), 0 for the highest
        losses = tf.math.log(total[:, 0]) - certain * logit  # (N,)
        if label_smoothing:
            losses -= even * (tf.reduce_sum(flat, axis=-1) - vocab_size * best[:, 0])

        def gradient(upstream, _):  # (N,) -> (N, V)
            upstream = upstream[:, tf.newaxis]
            found = powers * (upstream / total)
            if label_smoothing:
                found -= even * upstream
            indices = tf.stack([tf.range(tf.size(ids, ids.dtype)), ids], axis=1)  # (N, 2)
            return tf.tensor_scatter_nd_sub(found, indices, certain * upstream[:, 0])

        return (losses, logit >= 0), gradient

    losses, hits = losses_and_hits(tf.reshape(logits, (-1, vocab_size)))
    return tf.reshape(losses, tf.shape(real)), tf.reshape(hits, tf.shape(real))
