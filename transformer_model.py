"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762).

Read it from top to bottom, nearly in the order of TensorFlow's tutorial. It is complete and plain:
ids of tokens in, logits or ids out. `run_demo.py --plain` trains with this code, and `translate
--plain` translates with it; otherwise nmt/network/engine.py replaces the costliest
methods, with the same results (tested). docs/names.md lists what differs from the tutorial.

Shapes in comments: B sentences, L tokens (S of the source, T of the target that the decoder reads),
H heads, D = d_model, V vocabulary size. Masks are 1.0 at positions that must not be attended to.
"""

import keras
import tensorflow as tf

# Keras's Layer and Model: `build` creates all variables, .keras files load what is registered.
from nmt.network.keras_layers import TransformerLayer, TransformerModel, register

PAD, UNKNOWN, START, END = 0, 1, 2, 3  # ids of the special tokens
MASKED = -1e9  # added to a logit, makes its probability 0; fits into bfloat16, not float16

# ---- Positional encoding (paper 3.5) ----


def get_angles(pos, i, d_model):
    """Returns angles (L, D), in radians, for positions `pos` (L, 1) and dimensions `i` (1, D).

    pos / 10000^(2 (i // 2) / d_model): dimensions 2k and 2k + 1 share an angle. Angles
    are float64: in float32, those of positions in the thousands would be off by 1e-4 and more.
    """
    pos, i = tf.cast(pos, tf.float64), tf.cast(i, tf.float64)
    return pos / tf.pow(tf.constant(10000, tf.float64), 2 * (i // 2) / d_model)


def positional_encoding(position, d_model):
    """Returns the encoding of positions 0 to `position` - 1, (1, position, D) float32.

    Sine on even dimensions, cosine on odd ones. Computed for the length at hand, which may be a
    tensor, so that there is no maximum length.
    """
    dims = tf.range(d_model)[tf.newaxis, :]  # (1, D)
    angles = get_angles(tf.range(position)[:, tf.newaxis], dims, d_model)  # (position, D)
    encoding = tf.where(dims % 2 == 0, tf.sin(angles), tf.cos(angles))
    return tf.cast(encoding[tf.newaxis], tf.float32)


# ---- Masks ----


def create_padding_mask(seq):
    """Returns 1.0 where ids `seq` (B, L) are padding, for all heads and queries: (B, 1, 1, L)."""
    return tf.cast(tf.equal(seq, PAD), tf.float32)[:, tf.newaxis, tf.newaxis, :]


def create_look_ahead_mask(size):
    """Returns (size, size): 1.0 at [i, j] where j > i, as query i must not see key j."""
    return 1 - tf.linalg.band_part(tf.ones((size, size)), -1, 0)


def create_masks(inp, tar):
    """Returns the three masks of one pass over ids `inp` (B, S) and `tar` (B, T).

    enc_padding_mask (B, 1, 1, S): padding of the source, for the encoder's self-attention;
    combined_mask (B, 1, T, T): future and padding of the target, for the decoder's self-attention;
    dec_padding_mask (B, 1, 1, S): padding of the source, for the decoder's cross-attention.
    """
    enc_padding_mask = create_padding_mask(inp)
    dec_padding_mask = create_padding_mask(inp)
    look_ahead_mask = create_look_ahead_mask(tf.shape(tar)[1])  # (T, T)
    combined_mask = tf.maximum(create_padding_mask(tar), look_ahead_mask)  # (B, 1, T, T)
    return enc_padding_mask, combined_mask, dec_padding_mask


# ---- Attention (paper 3.2) ----


def scaled_dot_product_attention(q, k, v, mask):
    """Returns softmax(q k^T / sqrt(d_k)) v and the softmax, whose rows sum to 1 (equation 1).

    Args:
      q, k, v: queries (..., len_q, d_k), keys (..., len_k, d_k) and values (..., len_k, d_v).
      mask: 1.0 = masked, broadcastable to (..., len_q, len_k), or None.
    """
    matmul_qk = tf.matmul(q, k, transpose_b=True)  # (..., len_q, len_k)

    dk = tf.cast(k.shape[-1], q.dtype)
    scaled_attention_logits = matmul_qk / tf.math.sqrt(dk)

    if mask is not None:
        scaled_attention_logits += tf.cast(mask, q.dtype) * MASKED

    attention_weights = tf.nn.softmax(scaled_attention_logits, axis=-1)  # (..., len_q, len_k)

    output = tf.matmul(attention_weights, v)  # (..., len_q, d_v)
    return output, attention_weights


@register
class MultiHeadAttention(TransformerLayer):
    """Attention heads in parallel, each of d_model / num_heads dimensions (paper 3.2.2).

    `d_model` is the width of a token's vector.
    """

    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(**kwargs)
        if d_model % num_heads:
            raise ValueError(f"d_model ({d_model}) must be a multiple of num_heads ({num_heads})")
        self.d_model, self.num_heads = d_model, num_heads
        self.depth = d_model // num_heads  # of one head

        self.wq = keras.layers.Dense(d_model)
        self.wk = keras.layers.Dense(d_model)
        self.wv = keras.layers.Dense(d_model)
        self.dense = keras.layers.Dense(d_model)

    def split_heads(self, x):
        """Divides vectors among heads: (B, L, D) -> (B, H, L, D / H)."""
        x = tf.reshape(x, (tf.shape(x)[0], -1, self.num_heads, self.depth))  # (B, L, H, D / H)
        return tf.transpose(x, perm=[0, 2, 1, 3])

    def call(self, v, k, q, mask=None):
        """Attends from `q` (B, len_q, D) to `k` and `v` (B, len_k, D).

        The arguments are in the tutorial's order. Returns output (B, len_q, D) and attention
        weights (B, H, len_q, len_k).
        """
        batch_size = tf.shape(q)[0]

        q = self.split_heads(self.wq(q))  # (B, H, len_q, D / H)
        k = self.split_heads(self.wk(k))  # (B, H, len_k, D / H)
        v = self.split_heads(self.wv(v))  # (B, H, len_k, D / H)

        # (B, H, len_q, D / H), (B, H, len_q, len_k)
        scaled_attention, attention_weights = scaled_dot_product_attention(q, k, v, mask)
        scaled_attention = tf.transpose(scaled_attention, perm=[0, 2, 1, 3])  # (B, len_q, H, D / H)
        concat_attention = tf.reshape(scaled_attention, (batch_size, -1, self.d_model))

        output = self.dense(concat_attention)  # (B, len_q, D)
        return output, attention_weights


# ---- Feed-forward (paper 3.3) ----


def point_wise_feed_forward_network(d_model, dff):
    """Returns max(0, x W1 + b1) W2 + b2 as a Keras model, (B, L, D) -> (B, L, D).

    `dff` is the width of the hidden layer.
    """
    return keras.Sequential(
        [
            keras.layers.Dense(dff, activation="relu"),  # (B, L, dff)
            keras.layers.Dense(d_model),  # (B, L, D)
        ]
    )


# ---- One layer of each stack (paper 3.1): sub-layer, dropout, residual sum, normalization ----


@register
class EncoderLayer(TransformerLayer):
    """Self-attention, then the feed-forward network, each with a residual connection.

    `rate` is the share of values that dropout sets to 0 in training.
    """

    def __init__(self, d_model, num_heads, dff, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        # Read by TransformerLayer.build, which creates the weights.
        self.d_model = d_model

        self.mha = MultiHeadAttention(d_model, num_heads)
        self.ffn = point_wise_feed_forward_network(d_model, dff)

        self.layernorm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = keras.layers.LayerNormalization(epsilon=1e-6)

        self.dropout1 = keras.layers.Dropout(rate)
        self.dropout2 = keras.layers.Dropout(rate)

    def call(self, x, *, training=False, mask=None):
        """Takes (B, S, D). Returns output (B, S, D) and attention weights (B, H, S, S)."""
        attn_output, weights = self.mha(x, x, x, mask)  # self-attention: (B, S, D)
        attn_output = self.dropout1(attn_output, training=training)
        out1 = self.layernorm1(x + attn_output)  # (B, S, D)

        ffn_output = self.ffn(out1)  # (B, S, D)
        ffn_output = self.dropout2(ffn_output, training=training)
        out2 = self.layernorm2(out1 + ffn_output)  # (B, S, D)
        return out2, weights


@register
class DecoderLayer(TransformerLayer):
    """Self-attention, cross-attention to the encoder's output, then the feed-forward network."""

    def __init__(self, d_model, num_heads, dff, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        # Read by TransformerLayer.build, which creates the weights.
        self.d_model = d_model

        self.mha1 = MultiHeadAttention(d_model, num_heads)
        self.mha2 = MultiHeadAttention(d_model, num_heads)
        self.ffn = point_wise_feed_forward_network(d_model, dff)

        self.layernorm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.layernorm3 = keras.layers.LayerNormalization(epsilon=1e-6)

        self.dropout1 = keras.layers.Dropout(rate)
        self.dropout2 = keras.layers.Dropout(rate)
        self.dropout3 = keras.layers.Dropout(rate)

    def call(self, x, enc_output, *, training=False, look_ahead_mask=None, padding_mask=None):
        """Takes `x` (B, T, D) and the encoder's output (B, S, D).

        Returns output (B, T, D) and attention weights (B, H, T, T) and (B, H, T, S).
        """
        attn1, block1 = self.mha1(x, x, x, look_ahead_mask)  # self-attention: (B, T, D)
        attn1 = self.dropout1(attn1, training=training)
        out1 = self.layernorm1(x + attn1)  # (B, T, D)

        # Cross-attention: values and keys of the source, queries of the target.
        attn2, block2 = self.mha2(enc_output, enc_output, out1, padding_mask)  # (B, T, D)
        attn2 = self.dropout2(attn2, training=training)
        out2 = self.layernorm2(out1 + attn2)  # (B, T, D)

        ffn_output = self.ffn(out2)  # (B, T, D)
        ffn_output = self.dropout3(ffn_output, training=training)
        out3 = self.layernorm3(out2 + ffn_output)  # (B, T, D)
        return out3, block1, block2


# ---- The two stacks ----


@register
class Encoder(TransformerLayer):
    """Turns the ids of a source into one vector per token, through the encoder layers."""

    def __init__(self, num_layers, d_model, num_heads, dff, input_vocab_size, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.d_model = d_model

        self.embedding = keras.layers.Embedding(input_vocab_size, d_model)
        self.dropout = keras.layers.Dropout(rate)
        self.enc_layers = [EncoderLayer(d_model, num_heads, dff, rate) for _ in range(num_layers)]

    def call(self, x, *, training=False, mask=None):
        """Takes ids (B, S). Returns (B, S, D) and weights {"encoder_layer1": (B, H, S, S), ...}."""
        seq_len = tf.shape(x)[1]
        attention_weights = {}

        x = self.embedding(x)  # (B, S, D)
        # The factor (paper 3.4) brings embeddings nearer to the size of the positional encoding.
        x *= tf.math.sqrt(tf.cast(self.d_model, x.dtype))
        x += tf.cast(positional_encoding(seq_len, self.d_model), x.dtype)
        x = self.dropout(x, training=training)

        for n, layer in enumerate(self.enc_layers, start=1):
            x, attention_weights[f"encoder_layer{n}"] = layer(x, training=training, mask=mask)
        return x, attention_weights


@register
class Decoder(TransformerLayer):
    """Turns the target's ids so far into one vector per token, through the decoder layers."""

    def __init__(self, num_layers, d_model, num_heads, dff, target_vocab_size, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.d_model = d_model

        self.embedding = keras.layers.Embedding(target_vocab_size, d_model)
        self.dropout = keras.layers.Dropout(rate)
        self.dec_layers = [DecoderLayer(d_model, num_heads, dff, rate) for _ in range(num_layers)]

    def call(self, x, enc_output, *, training=False, look_ahead_mask=None, padding_mask=None):
        """Takes ids (B, T) and the encoder's output (B, S, D).

        Returns output (B, T, D) and attention weights by layer and block:
        {"decoder_layer1_block1": self-attention (B, H, T, T),
         "decoder_layer1_block2": cross-attention (B, H, T, S), ...}
        """
        seq_len = tf.shape(x)[1]
        attention_weights = {}

        x = self.embedding(x)  # (B, T, D)
        x *= tf.math.sqrt(tf.cast(self.d_model, x.dtype))
        x += tf.cast(positional_encoding(seq_len, self.d_model), x.dtype)
        x = self.dropout(x, training=training)

        for n, layer in enumerate(self.dec_layers, start=1):
            x, block1, block2 = layer(
                x, enc_output, training=training, look_ahead_mask=look_ahead_mask,
                padding_mask=padding_mask,
            )  # fmt: skip
            attention_weights[f"decoder_layer{n}_block1"] = block1
            attention_weights[f"decoder_layer{n}_block2"] = block2
        return x, attention_weights


# ---- The Transformer (paper 3, figure 1) ----


@register
class Transformer(TransformerModel):
    """Encoder, decoder and the layer that turns vectors into logits; makes its own masks.

    Call it with one tuple, `(inp, tar)`: if `call` took two arguments, Keras would lose the weights
    when it loads a saved model.
    """

    def __init__(
        self, num_layers, d_model, num_heads, dff, input_vocab_size, target_vocab_size, rate=0.1,
        **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.config = dict(
            num_layers=num_layers, d_model=d_model, num_heads=num_heads, dff=dff,
            input_vocab_size=input_vocab_size, target_vocab_size=target_vocab_size, rate=rate,
        )  # fmt: skip
        self.encoder = Encoder(num_layers, d_model, num_heads, dff, input_vocab_size, rate)
        self.decoder = Decoder(num_layers, d_model, num_heads, dff, target_vocab_size, rate)
        # float32 even under mixed_bfloat16.
        self.final_layer = keras.layers.Dense(target_vocab_size, dtype="float32")

    def call(self, inputs, *, training=False):
        """Takes ids (B, S) and (B, T). Returns logits (B, T, V) and attention weights by layer.

        Logits at position t are for the token after tar[:, t].
        """
        inp, tar = inputs
        enc_padding_mask, combined_mask, dec_padding_mask = create_masks(inp, tar)

        enc_output, enc_weights = self.encoder(
            inp, training=training, mask=enc_padding_mask
        )  # (B, S, D)

        dec_output, dec_weights = self.decoder(
            tar, enc_output, training=training, look_ahead_mask=combined_mask,
            padding_mask=dec_padding_mask,
        )  # (B, T, D)  # fmt: skip

        final_output = self.final_layer(dec_output)  # (B, T, V)
        return final_output, {**enc_weights, **dec_weights}


# ---- Learning rate (paper 5.3, equation 3) ----


@register
class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """scale * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).

    Grows linearly from 0 to its peak at `warmup_steps`, then decays with the inverse square root of
    the step. The paper has no `scale`. Other schedules are in nmt/training/schedules.py.
    """

    def __init__(self, d_model, warmup_steps=4000, scale=1.0):
        super().__init__()
        self.d_model, self.warmup_steps, self.scale = d_model, warmup_steps, scale

    def __call__(self, step):
        """Returns the learning rate at `step`, an int or a float; at step 0, it is 0.0.

        Keras counts from 0, as in the tutorial, so the first update changes no weights.
        """
        step = tf.cast(step, tf.float32)
        factor = tf.minimum(tf.math.rsqrt(step), step * self.warmup_steps**-1.5)
        return self.scale * self.d_model**-0.5 * factor

    def get_config(self):
        return {"d_model": self.d_model, "warmup_steps": self.warmup_steps, "scale": self.scale}


# ---- Loss and accuracy: over all tokens but padding ----

loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def loss_function(real, pred):
    """Returns the mean cross-entropy, in nats, of logits `pred` (B, T, V) for ids `real` (B, T).

    Padding is left out.
    """
    mask = tf.math.logical_not(tf.math.equal(real, PAD))  # (B, T)
    loss_ = loss_object(real, pred)  # (B, T)

    mask = tf.cast(mask, dtype=loss_.dtype)
    loss_ *= mask

    # 0.0 for a batch of padding alone.
    return tf.math.divide_no_nan(tf.reduce_sum(loss_), tf.reduce_sum(mask))


def accuracy_function(real, pred):
    """Returns the share of tokens predicted correctly, padding left out; shapes as above."""
    accuracies = tf.equal(real, tf.argmax(pred, axis=2, output_type=real.dtype))  # (B, T)

    mask = tf.math.logical_not(tf.math.equal(real, PAD))  # (B, T)
    accuracies = tf.math.logical_and(mask, accuracies)

    accuracies = tf.cast(accuracies, dtype=tf.float32)
    mask = tf.cast(mask, dtype=tf.float32)
    return tf.math.divide_no_nan(tf.reduce_sum(accuracies), tf.reduce_sum(mask))


# ---- Translating: greedy search, the reference version ----


def greedy_translate(transformer, inp, extra_tokens=50):
    """Translates ids `inp` (B, S). Returns ids (B, 1 + T), each row START, tokens, END, then PAD.

    Appends the likeliest token until END, and runs the whole network for each token. After START, a
    row gets at most as many tokens as its source has (START and END counted) and `extra_tokens`
    more (paper 6.1); one that is cut off there has no END.

    The search of `translate --plain`. Otherwise the program searches by nmt/decoding/, which keeps
    keys and values between steps and is tested to predict the same ids.
    """
    ids = tf.range(transformer.config["target_vocab_size"])
    forbidden = (ids == PAD) | (ids == START)  # (V,); no translation holds these two
    source_tokens = tf.reduce_sum(tf.cast(inp != PAD, tf.int32), axis=1)  # (B,)
    tar = tf.fill((tf.shape(inp)[0], 1), START)  # (B, 1)
    finished = source_tokens == 0  # (B,); a row of padding needs no translation
    while not tf.reduce_all(finished):
        logits, _ = transformer((inp, tar), training=False)  # (B, tokens so far, V)
        allowed = tf.where(forbidden, MASKED, logits[:, -1])  # (B, V)
        token = tf.where(finished, PAD, tf.argmax(allowed, axis=-1, output_type=tf.int32))  # (B,)
        tar = tf.concat([tar, token[:, tf.newaxis]], axis=1)  # (B, one more)
        # ">", not ">=": tar also holds START.
        finished |= (token == END) | (tf.shape(tar)[1] > source_tokens + extra_tokens)
    return tar
