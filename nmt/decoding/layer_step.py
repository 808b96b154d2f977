"""One position of a decoder layer, with a cache of the keys and values of earlier positions.

Shapes in comments as in transformer_model.py, L positions of a cache and K hypotheses.
"""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from nmt.network.layers import Projection, join_projections, project
from transformer_model import (
    DecoderLayer,
    MultiHeadAttention,
    PreNormDecoderLayer,
    scaled_dot_product_attention,
)


class KeysAndValues(NamedTuple):
    """What attention attends to, after its projections."""

    keys: tf.Tensor  # (B, H, positions, D / H)
    values: tf.Tensor  # (B, H, positions, D / H)


def append(cache: tf.Tensor, new: tf.Tensor, position: tf.Tensor | None = None) -> tf.Tensor:
    """Returns `cache` (B, H, L K, D / H), keys or values of earlier positions, with `new` appended.

    Args:
      new: (B, H, K, D / H), one more position of K hypotheses.
      position: None for a cache that grows; or the number of earlier positions, for a cache of the
        final length, which XLA needs because its shapes are fixed.
    """
    if position is None:
        return tf.concat([cache, new], axis=2)
    cache_rows, beam = cache.shape[2], new.shape[2]
    is_new = tf.range(cache_rows) // beam == position  # (L K,)
    copies = tf.tile(new, (1, 1, cache_rows // beam, 1))  # (B, H, L K, D / H)
    return tf.where(is_new[:, tf.newaxis], copies, cache)


def attend(
    mha: MultiHeadAttention, q: tf.Tensor, source: KeysAndValues, mask: tf.Tensor | None
) -> tf.Tensor:
    """Returns what a MultiHeadAttention does after its projections, (B, K, D).

    Args:
      mha: the layer.
      q: projected queries (B, H, K, D / H).
      source: what they attend to.
      mask: see MultiHeadAttention.
    """
    heads, _ = scaled_dot_product_attention(q, source.keys, source.values, mask)  # (B, H, K, D / H)
    return mha.dense(mha.join_heads(heads))


def decoder_layer_step(
    layer: DecoderLayer,
    x: tf.Tensor,
    self_projection: Projection,
    cache: KeysAndValues,
    source: KeysAndValues,
    position: tf.Tensor | None,
    look_ahead_mask: tf.Tensor | None,
    padding_mask: tf.Tensor,
) -> tuple[tf.Tensor, KeysAndValues]:
    """Computes one position of a DecoderLayer, given its keys and values of earlier positions.

    Args:
      layer: a DecoderLayer of either order of normalization.
      x: (B, K, D).
      self_projection: that of queries, keys and values of its self-attention.
      cache: earlier positions of self-attention, (B, H, L K, D / H).
      source: what cross-attention attends to, (B, H, S, D / H).
      position: see `append`.
      look_ahead_mask, padding_mask: see DecoderLayer.

    Returns:
      output (B, K, D), and the cache with the new position.
    """
    pre_norm = isinstance(layer, PreNormDecoderLayer)

    def sublayer_input(normalize: Callable, x: tf.Tensor) -> tf.Tensor:
        return normalize(x) if pre_norm else x

    def add_and_norm(normalize: Callable, x: tf.Tensor, output: tf.Tensor) -> tf.Tensor:
        return x + output if pre_norm else normalize(x + output)

    y = sublayer_input(layer.layernorm1, x)
    q, new_keys, new_values = project(y, self_projection, layer.mha1.num_heads)
    cache = KeysAndValues(
        append(cache.keys, new_keys, position), append(cache.values, new_values, position)
    )
    x = add_and_norm(layer.layernorm1, x, attend(layer.mha1, q, cache, look_ahead_mask))

    y = sublayer_input(layer.layernorm2, x)
    (q,) = project(y, join_projections(layer.mha2.wq), layer.mha2.num_heads)
    x = add_and_norm(layer.layernorm2, x, attend(layer.mha2, q, source, padding_mask))

    y = sublayer_input(layer.layernorm3, x)
    x = add_and_norm(layer.layernorm3, x, layer.ffn(y))
    return x, cache
