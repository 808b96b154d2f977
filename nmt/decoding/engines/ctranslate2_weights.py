"""Weights for CTranslate2: with sizes and vocabulary, as its specification of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from nmt import UserError, checksums, output
from nmt.decoding.engines.ctranslate2 import MAKER
from nmt.decoding.search_options import EXTRA_TOKENS
from nmt.network.variants import sizes_of
from nmt.text.tokenizer import MAX_SOURCE_TOKENS, Tokenizer
from transformer_model import (
    END,
    START,
    UNKNOWN,
    Decoder,
    Encoder,
    MultiHeadAttention,
    Transformer,
    positional_encoding,
)

if TYPE_CHECKING:  # an optional package
    from ctranslate2.specs import TransformerSpec
    from ctranslate2.specs.model_spec import LayerSpec


def transformer_spec(
    transformer: Transformer, tokenizer: Tokenizer, max_tokens: int
) -> TransformerSpec:
    """Returns the specification of an autoregressive Transformer, validated.

    Its attention is the mean of all heads of the last layer. `max_tokens`, of a source or a
    translation, is the length of the table of positions.
    """
    try:
        from ctranslate2.specs import TransformerSpec
        from ctranslate2.specs.common_spec import Activation
    except ImportError:
        raise UserError(
            "exporting to CTranslate2 needs its package; install it (pip install ctranslate2)"
        ) from None
    config = sizes_of(transformer)
    layers = config["num_layers"], config["decoder_layers"]
    spec = TransformerSpec.from_config(
        layers, config["num_heads"], pre_norm=config["pre_norm"], alignment_heads=0,
        activation=getattr(Activation, config["activation"].upper()),
    )  # fmt: skip
    positions = positional_encoding(max_tokens, config["d_model"])[0].numpy()  # (max_tokens, D)
    spec.encoder.position_encodings.encodings = positions
    spec.decoder.position_encodings.encodings = positions
    _set_encoder(spec.encoder, transformer.encoder, config["pre_norm"])
    _set_decoder(spec.decoder, transformer.decoder, config["pre_norm"])
    if config["tie_embeddings"]:
        spec.decoder.projection.weight = spec.decoder.embeddings.weight
        if config["logits_bias"]:
            spec.decoder.projection.bias = transformer.final_layer.bias.numpy()
    else:
        _set_linear(spec.decoder.projection, transformer.final_layer)
    spec.config.layer_norm_epsilon = config["norm_epsilon"]
    _set_vocabulary(spec, tokenizer)
    spec.validate()
    return spec


def _set_encoder(spec: LayerSpec, encoder: Encoder, pre_norm: bool) -> None:
    spec.embeddings[0].weight = encoder.embedding.embeddings.numpy()
    for layer_spec, layer in zip(spec.layer, encoder.enc_layers, strict=True):
        _set_self_attention(layer_spec.self_attention, layer.mha)
        _set_norm(layer_spec.self_attention.layer_norm, layer.layernorm1)
        _set_feed_forward(layer_spec.ffn, layer.ffn)
        _set_norm(layer_spec.ffn.layer_norm, layer.layernorm2)
    if pre_norm:
        _set_norm(spec.layer_norm, encoder.layernorm)


def _set_decoder(spec: LayerSpec, decoder: Decoder, pre_norm: bool) -> None:
    spec.embeddings.weight = decoder.embedding.embeddings.numpy()
    for layer_spec, layer in zip(spec.layer, decoder.dec_layers, strict=True):
        _set_self_attention(layer_spec.self_attention, layer.mha1)
        _set_norm(layer_spec.self_attention.layer_norm, layer.layernorm1)
        _set_cross_attention(layer_spec.attention, layer.mha2)
        _set_norm(layer_spec.attention.layer_norm, layer.layernorm2)
        _set_feed_forward(layer_spec.ffn, layer.ffn)
        _set_norm(layer_spec.ffn.layer_norm, layer.layernorm3)
    if pre_norm:
        _set_norm(spec.layer_norm, decoder.layernorm)


def _set_self_attention(spec: LayerSpec, mha: MultiHeadAttention) -> None:
    _set_linear(spec.linear[0], mha.wq, mha.wk, mha.wv)
    _set_linear(spec.linear[1], mha.dense)


def _set_cross_attention(spec: LayerSpec, mha: MultiHeadAttention) -> None:
    _set_linear(spec.linear[0], mha.wq)
    _set_linear(spec.linear[1], mha.wk, mha.wv)
    _set_linear(spec.linear[2], mha.dense)


def _set_feed_forward(spec: LayerSpec, ffn: keras.Sequential) -> None:
    _set_linear(spec.linear_0, ffn.layers[0])
    _set_linear(spec.linear_1, ffn.layers[-1])


def _set_linear(spec: LayerSpec, *layers: keras.layers.Dense) -> None:
    """Sets weight (outputs, inputs) and bias (outputs,) to those of Dense layers, concatenated."""
    spec.weight = tf.concat([tf.transpose(layer.kernel) for layer in layers], axis=0).numpy()
    spec.bias = tf.concat([layer.bias for layer in layers], axis=0).numpy()


def _set_norm(spec: LayerSpec, layer: keras.layers.LayerNormalization) -> None:
    spec.gamma, spec.beta = layer.gamma.numpy(), layer.beta.numpy()


def _set_vocabulary(spec: TransformerSpec, tokenizer: Tokenizer) -> None:
    target = tokenizer.target
    vocabulary = target.tokens(range(target.vocab_size))
    spec.register_source_vocabulary(tokenizer.tokens(range(tokenizer.vocab_size)))
    spec.register_target_vocabulary(vocabulary)
    spec.config.unk_token = vocabulary[UNKNOWN]
    spec.config.bos_token = spec.config.decoder_start_token = vocabulary[START]
    spec.config.eos_token = vocabulary[END]
    spec.config.add_source_bos = START in tokenizer.before
    spec.config.add_source_eos = True


def save(path: Path, transformer: Transformer, tokenizer: Tokenizer) -> None:
    """Writes a folder for the engine in ctranslate2.py, which gives START and END of sources."""
    max_tokens = MAX_SOURCE_TOKENS + EXTRA_TOKENS + 1  # of a translation, START included
    spec = transformer_spec(transformer, tokenizer, max_tokens)
    spec.config.add_source_bos = spec.config.add_source_eos = False
    spec.optimize()  # shared embeddings are stored once
    with output.new(path) as unfinished:
        unfinished.mkdir()
        spec.save(str(unfinished))
        checksums.write(unfinished, MAKER)
