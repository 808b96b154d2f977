"""Faster forms of the story's layers: the same variables and, but for dropout's masks, results.

Each class overrides methods of the layer that it speeds up, and inherits the rest. `FASTER` in
engine.py says which takes the place of which. Shapes in comments as in transformer_model.py.
"""

from typing import Any, NamedTuple

import keras
import tensorflow as tf

import transformer_model
from nmt.network import variants
from transformer_model import scaled_dot_product_attention


def leading(x: tf.Tensor) -> tuple[Any, Any]:
    """Returns B and L of `x` (B, L, ...) for a reshape; constants where known, which are faster."""
    return (-1, x.shape[1]) if x.shape[1] else (tf.shape(x)[0], tf.shape(x)[1])


def matrix(x: tf.Tensor) -> tf.Tensor:
    """(B, L, D) -> (B L, D)."""
    return tf.reshape(x, (-1, x.shape[-1]))


# ---- Of Keras ----


class Dense(keras.layers.Dense):
    """One product of two matrices: TensorFlow then adds the bias in the same kernel."""

    def call(self, inputs: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """(B, L, D) -> (B, L, units)."""
        return tf.reshape(super().call(matrix(inputs)), (*leading(inputs), self.units))


class Dropout(keras.layers.Dropout):
    """Random numbers of 8 bits instead of 32, drawn in a quarter of the time.

    `rate` is rounded to the nearest 1/256. Each replica draws its own mask, and XLA draws the same
    mask as TensorFlow; Keras's own layer does neither.
    """

    def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        """Sets values, of any shape, to zero and scales the others to keep the mean."""
        dropped_bytes = min(round(self.rate * 256), 255)  # of the 256 values of a byte
        if not training or not dropped_bytes:
            return inputs
        seed = tf.cast(self.seed_generator.next(), tf.int64)  # (2,), new at each call
        context = tf.distribute.get_replica_context()  # None outside of `strategy.run`
        replica = context.replica_id_in_sync_group if context else 0
        seed += tf.cast(replica, tf.int64) * 2**32  # the generator's own counter stays below
        size = tf.size(inputs)
        words = tf.random.stateless_uniform(
            ((size + 3) // 4,), seed, None, None, tf.int32, alg="philox"
        )  # of four bytes each
        is_kept = tf.reshape(tf.bitcast(words, tf.uint8), (-1,))[:size] >= dropped_bytes
        scale = tf.constant(256 / (256 - dropped_bytes), inputs.dtype)
        factors = tf.cast(tf.reshape(is_kept, tf.shape(inputs)), inputs.dtype) * scale
        return inputs * factors


class LayerNormalization(keras.layers.LayerNormalization):
    """Fewer passes over the values (Ba et al. 2016, arXiv 1607.06450)."""

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """(x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last axis of x."""
        values = tf.cast(inputs, tf.float32)
        values -= tf.reduce_mean(values, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(values), axis=-1, keepdims=True)
        factor = tf.math.rsqrt(variance + self.epsilon) * tf.cast(self.gamma, tf.float32)
        return tf.cast(values * factor + tf.cast(self.beta, tf.float32), inputs.dtype)


# ---- Of the Transformer ----


class Projection(NamedTuple):
    """The weights of n Dense layers of equal size, side by side: one product computes all n."""

    kernel: tf.Tensor  # (D, n D)
    bias: tf.Tensor  # (n D,)


def join_projections(*layers: keras.layers.Dense) -> Projection:
    """Returns the Projection that computes what all Dense `layers` compute."""
    return Projection(
        tf.concat([layer.kernel for layer in layers], axis=1),
        tf.concat([layer.bias for layer in layers], axis=0),
    )


def project(x: tf.Tensor, projection: Projection, num_heads: int) -> list[tf.Tensor]:
    """`x` (B, L, D), a Projection of n layers -> n tensors (B, H, L, D / H)."""
    d_model = x.shape[-1]
    kernel, bias = tf.cast(projection.kernel, x.dtype), tf.cast(projection.bias, x.dtype)
    y = tf.nn.bias_add(tf.matmul(matrix(x), kernel), bias)  # (B L, n D)
    y = tf.reshape(y, (*leading(x), y.shape[-1] // d_model, num_heads, d_model // num_heads))
    return tf.unstack(tf.transpose(y, (2, 0, 3, 1, 4)))  # from (B, L, n, H, D / H)


def join_heads(x: tf.Tensor) -> tf.Tensor:
    """(B, H, L, D / H) -> (B, L, D)."""
    x = tf.transpose(x, (0, 2, 1, 3))  # (B, L, H, D / H)
    return tf.reshape(x, (*leading(x), x.shape[2] * x.shape[3]))


class MultiHeadAttention(transformer_model.MultiHeadAttention):
    """Projects queries, keys and values in one product where they are of the same vectors."""

    def call(
        self, v: tf.Tensor, k: tf.Tensor, q: tf.Tensor, mask: tf.Tensor | None = None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Attends from `q` (B, len_q, D) to `k`, `v` (B, len_k, D).

        Returns the output (B, len_q, D) and attention weights (B, H, len_q, len_k).
        """
        if q is k is v:
            projection = join_projections(self.wq, self.wk, self.wv)
            q, k, v = project(q, projection, self.num_heads)
        elif k is v:
            (q,) = project(q, join_projections(self.wq), self.num_heads)
            k, v = project(k, join_projections(self.wk, self.wv), self.num_heads)
        else:
            q, k, v = (
                project(x, join_projections(layer), self.num_heads)[0]
                for x, layer in ((q, self.wq), (k, self.wk), (v, self.wv))
            )
        scaled_attention, attention_weights = scaled_dot_product_attention(q, k, v, mask)
        return self.dense(join_heads(scaled_attention)), attention_weights


class TiedLogits(variants.TiedLogits):
    """One product of two matrices."""

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """(B, L, D) -> (B, L, V)."""
        embeddings = self.embedding.embeddings  # (V, D)
        logits = tf.matmul(matrix(x), embeddings, transpose_b=True)  # (B L, V)
        if self.bias is not None:
            logits = tf.nn.bias_add(logits, self.bias)
        return tf.reshape(logits, (*leading(x), embeddings.shape[0]))
