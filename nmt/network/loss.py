"""Loss and accuracy of the engine, as sums over tokens, with label smoothing."""

from typing import Any, NamedTuple

import tensorflow as tf

from transformer_model import PAD


class TokenSums(NamedTuple):
    """Sums over the real tokens of a batch. Means are quotients of these."""

    loss: tf.Tensor  # cross-entropy in nats, () float32
    hits: tf.Tensor  # number of real tokens that have the highest logit, () float32
    tokens: tf.Tensor  # number of real tokens, () float32


def token_sums(real: tf.Tensor, pred: tf.Tensor, label_smoothing: float = 0.0) -> TokenSums:
    """Returns the TokenSums of ids (...) under logits (..., V)."""
    is_real = tf.cast(tf.not_equal(real, PAD), tf.float32)  # (...)
    losses, hits = cross_entropy(real, pred, label_smoothing)  # (...)
    return TokenSums(
        tf.reduce_sum(losses * is_real),
        tf.reduce_sum(tf.cast(hits, tf.float32) * is_real),
        tf.reduce_sum(is_real),
    )


def cross_entropy(
    real: tf.Tensor, pred: tf.Tensor, label_smoothing: float = 0.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the losses of ids `real` (...), in nats, and whether no other logit was higher.

    The target distribution has 1 - label_smoothing on the real id and the rest spread evenly over
    the vocabulary (paper 5.4). TensorFlow's own kernel takes twice the time on a CPU; here
    exp(logits) is computed once, for the loss, the prediction and the gradient, softmax - target.
    """
    vocab_size, ids = pred.shape[-1], tf.reshape(real, (-1,))  # (N,)
    even, certain = label_smoothing / vocab_size, 1 - label_smoothing

    @tf.custom_gradient
    def losses_and_hits(logits: tf.Tensor) -> Any:  # (N, V)
        highest = tf.reduce_max(logits, axis=-1, keepdims=True)  # (N, 1), against overflow
        powers = tf.exp(logits - highest)  # (N, V)
        total = tf.reduce_sum(powers, axis=-1, keepdims=True)  # (N, 1)
        logit = tf.gather(logits, ids, batch_dims=1) - highest[:, 0]  # (N,), 0 for the highest
        losses = tf.math.log(total[:, 0]) - certain * logit  # (N,)
        if label_smoothing:
            losses -= even * (tf.reduce_sum(logits, axis=-1) - vocab_size * highest[:, 0])

        def gradient(upstream: tf.Tensor, _: tf.Tensor) -> tf.Tensor:  # (N,) -> (N, V)
            upstream = upstream[:, tf.newaxis]
            gradients = powers * (upstream / total)
            if label_smoothing:
                gradients -= even * upstream
            indices = tf.stack([tf.range(tf.size(ids, ids.dtype)), ids], axis=1)  # (N, 2)
            return tf.tensor_scatter_nd_sub(gradients, indices, certain * upstream[:, 0])

        return (losses, logit >= 0), gradient

    losses, hits = losses_and_hits(tf.reshape(pred, (-1, vocab_size)))
    return tf.reshape(losses, tf.shape(real)), tf.reshape(hits, tf.shape(real))
