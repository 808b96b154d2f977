"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762).

Read it from top to bottom, in the order of TensorFlow's tutorial: positions, masks, attention,
feed-forward, one layer of each kind, the two stacks, the whole network, its learning rate, its
loss, and how it produces a translation. Here is no file, no text and no command line: token ids
in, logits or token ids out.

Shapes in comments: B sentences, L tokens (S source, T target), H heads, D = d_model, V pieces.
Masks are 1.0 where attention must not look. Everything that is not a tensor is passed by keyword,
as Keras 3 asks.
"""

import keras
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


def scaled_dot_product_attention(q, k, v, mask):
    """Returns softmax(q kT / sqrt(d_k)) v and the softmax itself (paper, equation 1).

    Args:
      q: queries (..., len_q, d_k).
      k: keys (..., len_k, d_k).
      v: values (..., len_k, d_v).
      mask: 1.0 = masked, broadcastable to (..., len_q, len_k), or None.

    Returns:
      output (..., len_q, d_v) and attention weights (..., len_q, len_k), each row of sum 1.
    """
    logits = tf.matmul(q, k, transpose_b=True)  # (..., len_q, len_k)
    logits /= tf.sqrt(tf.cast(tf.shape(k)[-1], logits.dtype))
    if mask is not None:
        logits += tf.cast(mask, logits.dtype) * MASKED
    attention_weights = tf.nn.softmax(logits, axis=-1)
    return tf.matmul(attention_weights, v), attention_weights


class _Layer(keras.layers.Layer):
    """What the layers below share: `sizes`, their constructor's arguments, are their config."""

    def get_config(self):
        return {**super().get_config(), **self.sizes}

    def compute_mask(self, inputs, previous_mask):
        """None: else Keras would hang a mask onto outputs and hand it to later layers."""
        return


@register
class MultiHeadAttention(_Layer):
    """`num_heads` attentions side by side, each over its own d_model / num_heads (paper 3.2.2).

    Raises:
      ValueError: `num_heads` does not divide `d_model`.
    """

    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError(f"d_model ({d_model}) must be a multiple of num_heads ({num_heads})")
        self.sizes = dict(d_model=d_model, num_heads=num_heads)
        policy = self.dtype_policy
        self.wq = keras.layers.Dense(d_model, dtype=policy)
        self.wk = keras.layers.Dense(d_model, dtype=policy)
        self.wv = keras.layers.Dense(d_model, dtype=policy)
        self.dense = keras.layers.Dense(d_model, dtype=policy)

    def build(self, v_shape, k_shape, q_shape):
        self.wv.build(v_shape)
        self.wk.build(k_shape)
        self.wq.build(q_shape)
        self.dense.build((None, None, self.sizes["d_model"]))

    def split_heads(self, x):
        """(B, L, D) -> (B, H, L, D / H)."""
        x = tf.reshape(x, (tf.shape(x)[0], tf.shape(x)[1], self.sizes["num_heads"], -1))
        return tf.transpose(x, (0, 2, 1, 3))

    def join_heads(self, x):
        """(B, H, L, D / H) -> (B, L, D)."""
        x = tf.transpose(x, (0, 2, 1, 3))
        return tf.reshape(x, (tf.shape(x)[0], tf.shape(x)[1], self.sizes["d_model"]))

    def call(self, v, k, q, mask=None):
        """Attends from `q` (B, len_q, D) to `k`, `v` (B, len_k, D).

        Returns output (B, len_q, D) and weights (B, H, len_q, len_k).
        """
        q = self.split_heads(self.wq(q))  # (B, H, len_q, D / H)
        k = self.split_heads(self.wk(k))  # (B, H, len_k, D / H)
        v = self.split_heads(self.wv(v))  # (B, H, len_k, D / H)
        heads, attention_weights = scaled_dot_product_attention(q, k, v, mask)
        return self.dense(self.join_heads(heads)), attention_weights


# ---- Feed-forward (paper 3.3) ----


def point_wise_feed_forward_network(d_model, dff, **kwargs):
    """Returns max(0, x W1 + b1) W2 + b2 as a Keras model, (B, L, D) -> (B, L, dff) -> (B, L, D)."""
    return keras.Sequential(
        [
            keras.layers.Dense(dff, activation="relu", **kwargs),
            keras.layers.Dense(d_model, **kwargs),
        ]
    )


# ---- One layer of each stack (paper 3.1): sub-layer, dropout, residual sum, normalisation ----


@register
class EncoderLayer(_Layer):
    """Self-attention, then feed-forward; each as LayerNorm(x + Dropout(sublayer(x)))."""

    def __init__(self, d_model, num_heads, dff, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.sizes = dict(d_model=d_model, num_heads=num_heads, dff=dff, rate=rate)
        policy = self.dtype_policy
        self.mha = MultiHeadAttention(d_model, num_heads, dtype=policy)
        self.ffn = point_wise_feed_forward_network(d_model, dff, dtype=policy)
        self.layernorm1 = keras.layers.LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.layernorm2 = keras.layers.LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.dropout1 = keras.layers.Dropout(rate, dtype=policy)
        self.dropout2 = keras.layers.Dropout(rate, dtype=policy)

    def build(self, x_shape):
        self.mha.build(x_shape, x_shape, x_shape)
        for layer in (self.ffn, self.layernorm1, self.layernorm2):
            layer.build(x_shape)

    def call(self, x, *, training=False, mask=None):
        """(B, S, D) -> output (B, S, D), attention weights (B, H, S, S)."""
        attention, weights = self.mha(x, x, x, mask=mask)
        x = self.layernorm1(x + self.dropout1(attention, training=training))
        x = self.layernorm2(x + self.dropout2(self.ffn(x), training=training))
        return x, weights


@register
class DecoderLayer(_Layer):
    """Self-attention, cross-attention to the encoder's output, feed-forward; wrapped as above."""

    def __init__(self, d_model, num_heads, dff, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.sizes = dict(d_model=d_model, num_heads=num_heads, dff=dff, rate=rate)
        policy = self.dtype_policy
        self.mha1 = MultiHeadAttention(d_model, num_heads, dtype=policy)
        self.mha2 = MultiHeadAttention(d_model, num_heads, dtype=policy)
        self.ffn = point_wise_feed_forward_network(d_model, dff, dtype=policy)
        self.layernorm1 = keras.layers.LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.layernorm2 = keras.layers.LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.layernorm3 = keras.layers.LayerNormalization(epsilon=LAYER_NORM_EPSILON, dtype=policy)
        self.dropout1 = keras.layers.Dropout(rate, dtype=policy)
        self.dropout2 = keras.layers.Dropout(rate, dtype=policy)
        self.dropout3 = keras.layers.Dropout(rate, dtype=policy)

    def build(self, x_shape, enc_output_shape):
        self.mha1.build(x_shape, x_shape, x_shape)
        self.mha2.build(enc_output_shape, enc_output_shape, x_shape)
        for layer in (self.ffn, self.layernorm1, self.layernorm2, self.layernorm3):
            layer.build(x_shape)

    def call(self, x, enc_output, *, training=False, look_ahead_mask=None, padding_mask=None):
        """(B, T, D), (B, S, D) -> output (B, T, D), weights (B, H, T, T) and (B, H, T, S)."""
        attention, block1 = self.mha1(x, x, x, mask=look_ahead_mask)
        x = self.layernorm1(x + self.dropout1(attention, training=training))
        attention, block2 = self.mha2(enc_output, enc_output, x, mask=padding_mask)
        x = self.layernorm2(x + self.dropout2(attention, training=training))
        x = self.layernorm3(x + self.dropout3(self.ffn(x), training=training))
        return x, block1, block2


# ---- The two stacks ----


def embed(embedding, ids):
    """Returns sqrt(D) times the embedding of `ids` (B, L), plus their positions: (B, L, D).

    The factor (paper 3.4) brings the embedding to the positions' own size before they are added.
    """
    x = embedding(ids)
    d_model = x.shape[-1]
    positions = positional_encoding(tf.shape(ids)[1], d_model)
    return x * d_model**0.5 + tf.cast(positions, x.dtype)


@register
class Encoder(_Layer):
    """Token ids of the source -> one vector for each, by `num_layers` encoder layers."""

    def __init__(self, num_layers, d_model, num_heads, dff, input_vocab_size, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            input_vocab_size=input_vocab_size, rate=rate,
        )  # fmt: skip
        policy = self.dtype_policy
        self.embedding = keras.layers.Embedding(input_vocab_size, d_model, dtype=policy)
        self.dropout = keras.layers.Dropout(rate, dtype=policy)
        self.enc_layers = [
            EncoderLayer(d_model, num_heads, dff, rate, dtype=policy) for _ in range(num_layers)
        ]

    def build(self, x_shape):
        self.embedding.build(x_shape)
        for layer in self.enc_layers:
            layer.build((*x_shape, self.sizes["d_model"]))

    def call(self, x, *, training=False, mask=None):
        """Ids (B, S) -> output (B, S, D), {"encoder_layer1": weights (B, H, S, S), ...}."""
        x = self.dropout(embed(self.embedding, x), training=training)
        weights = {}
        for n, layer in enumerate(self.enc_layers, start=1):
            x, weights[f"encoder_layer{n}"] = layer(x, training=training, mask=mask)
        return x, weights


@register
class Decoder(_Layer):
    """Token ids of the target so far -> one vector for each, by `num_layers` decoder layers."""

    def __init__(self, num_layers, d_model, num_heads, dff, target_vocab_size, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            target_vocab_size=target_vocab_size, rate=rate,
        )  # fmt: skip
        policy = self.dtype_policy
        self.embedding = keras.layers.Embedding(target_vocab_size, d_model, dtype=policy)
        self.dropout = keras.layers.Dropout(rate, dtype=policy)
        self.dec_layers = [
            DecoderLayer(d_model, num_heads, dff, rate, dtype=policy) for _ in range(num_layers)
        ]

    def build(self, x_shape, enc_output_shape):
        self.embedding.build(x_shape)
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
        return x, weights


# ---- The Transformer (paper 3, figure 1) ----


@register
class Transformer(keras.Model):
    """Encoder, decoder and the layer that turns vectors into logits; makes its own masks.

    Takes one positional input, the pair `(inp, tar)`: a model of two saves to a `.keras` file that
    loads with random weights. Policies float32 and mixed_bfloat16 work.

    Raises:
      ValueError: under mixed_float16, whose largest number is smaller than the mask.
    """

    def __init__(
        self,
        num_layers,
        d_model,
        num_heads,
        dff,
        input_vocab_size,
        target_vocab_size,
        rate=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        policy = self.dtype_policy
        if policy.compute_dtype == "float16":
            raise ValueError(
                f"{policy.name} ends at 65,504 and cannot hold the mask's {MASKED:g}: "
                "use mixed_bfloat16 or float32"
            )
        self.sizes = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            input_vocab_size=input_vocab_size, target_vocab_size=target_vocab_size, rate=rate,
        )  # fmt: skip
        self.encoder = Encoder(
            num_layers, d_model, num_heads, dff, input_vocab_size, rate, dtype=policy
        )
        self.decoder = Decoder(
            num_layers, d_model, num_heads, dff, target_vocab_size, rate, dtype=policy
        )
        self.final_layer = keras.layers.Dense(target_vocab_size, dtype="float32")

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
        inp, tar = inputs
        enc_padding_mask, combined_mask, dec_padding_mask = create_masks(inp, tar)
        enc_output, enc_weights = self.encoder(inp, training=training, mask=enc_padding_mask)
        dec_output, dec_weights = self.decoder(
            tar,
            enc_output,
            training=training,
            look_ahead_mask=combined_mask,
            padding_mask=dec_padding_mask,
        )
        return self.final_layer(dec_output), {**enc_weights, **dec_weights}

    def get_config(self):
        return {**super().get_config(), **self.sizes}


# ---- Learning rate (paper 5.3, equation 3) ----


@register
class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), at any integer or float step.

    Grows linearly to its peak at `warmup_steps`, then falls with the square root. 0.0 at step 0.
    """

    def __init__(self, d_model, warmup_steps=4000):
        super().__init__()
        self.d_model, self.warmup_steps = d_model, warmup_steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return self.d_model**-0.5 * tf.minimum(tf.math.rsqrt(step), step * self.warmup_steps**-1.5)

    def get_config(self):
        return {"d_model": self.d_model, "warmup_steps": self.warmup_steps}


# ---- Loss and accuracy: over real tokens only ----


def token_sums(real, pred):
    """Returns summed cross-entropy in nats, right guesses and number of the real tokens of a batch.

    Three float32 scalars: unlike means, sums can be added over batches and over devices.

    Args:
      real: ids (B, T); padding counts for nothing.
      pred: logits (B, T, V).
    """
    is_real = tf.cast(tf.not_equal(real, PAD), tf.float32)  # (B, T)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=real, logits=pred)  # (B, T)
    hits = tf.equal(tf.cast(real, tf.int32), tf.argmax(pred, axis=-1, output_type=tf.int32))
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


# ---- Search ----


def greedy_search(transformer, inp, extra_tokens=50):
    """Returns the translation that takes the likeliest token at each step, ids (B, L).

    Rows start with START; after END, or `extra_tokens` tokens more than the source (the paper's
    limit, 6.1), they go on with PAD. PAD and START are never chosen. A row does not depend on the
    others of its batch.

    Args:
      inp: ids of the source (B, S).
    """
    mask = create_padding_mask(inp)
    enc_output, _ = transformer.encoder(inp, training=False, mask=mask)  # (B, S, D)
    limits = extra_tokens + tf.reduce_sum(tf.cast(tf.not_equal(inp, PAD), tf.int32), axis=1)  # (B,)
    vocab_size = transformer.sizes["target_vocab_size"]
    never = tf.constant(np.isin(np.arange(vocab_size), (PAD, START)) * MASKED, tf.float32)  # (V,)

    def unfinished(tar, ended):
        return ~tf.reduce_all(ended)

    def step(tar, ended):
        dec_output, _ = transformer.decoder(
            tar,
            enc_output,
            training=False,
            look_ahead_mask=create_masks(inp, tar)[1],
            padding_mask=mask,
        )
        logits = transformer.final_layer(dec_output[:, -1]) + never  # (B, V)
        token = tf.where(ended, PAD, tf.argmax(logits, axis=-1, output_type=tf.int32))  # (B,)
        ended |= (token == END) | (tf.shape(tar)[1] >= limits)
        return tf.concat([tar, token[:, tf.newaxis]], axis=1), ended

    batch = tf.shape(inp)[0]
    start = (tf.fill((batch, 1), START), tf.fill((batch,), False))
    invariants = (tf.TensorShape((None, None)), tf.TensorShape((None,)))
    return tf.while_loop(unfinished, step, start, shape_invariants=invariants)[0]
