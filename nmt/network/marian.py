"""The tensors of a Transformer by the names, and in the layout, of transformers' classes.

A post-norm network is a MarianMTModel there, a pre-norm one a PegasusForConditionalGeneration. Both
have the paper's positional encoding with all sines before all cosines, where the tutorial
alternates them. Nothing else in the network depends on the order of the dimensions of the residual
stream, so that moving its even dimensions to the front, in every variable that reads or writes it,
gives the same logits. PyTorch's linear layers hold kernels (outputs, inputs), Keras's the other way
round.
"""

from collections.abc import Iterator
from typing import NamedTuple

import keras
import numpy as np

from nmt.network.variants import variant_of
from transformer_model import DecoderLayer, EncoderLayer, MultiHeadAttention, Transformer


class Tensor(NamedTuple):
    """A tensor of transformers, and the variable here that holds the same."""

    name: str
    variable: keras.Variable
    stream: int | None = None  # the axis of the variable that is the residual stream
    transposed: bool = False
    vocabulary: int | None = None  # the axis of the variable that has the vocabulary's entries

    def to_transformers(self) -> np.ndarray:
        """Returns the value of the variable, in transformers' layout."""
        value = np.asarray(self.variable)
        if self.stream is not None:
            value = value.take(halves(value.shape[self.stream]), axis=self.stream)
        return np.ascontiguousarray(value.T if self.transposed else value, np.float32)

    def from_transformers(self, tensor: np.ndarray) -> np.ndarray:
        """Returns a value for the variable of a tensor in transformers' layout."""
        value = np.asarray(tensor, np.float32)
        value = value.T if self.transposed else value
        if self.stream is not None:
            value = value.take(np.argsort(halves(value.shape[self.stream])), axis=self.stream)
        return value


def halves(d_model: int) -> np.ndarray:
    """Returns the order of D dimensions, (D,), with the even ones, those of the sines, first."""
    return np.concatenate([np.arange(0, d_model, 2), np.arange(1, d_model, 2)])


def tensors(transformer: Transformer) -> Iterator[Tensor]:
    """Yields the tensors of an autoregressive Transformer, each variable once."""
    variant = variant_of(transformer)
    stacks = {"model.encoder": transformer.encoder, "model.decoder": transformer.decoder}
    for name, stack in stacks.items():
        if variant.pre_norm:
            yield from _norm(f"{name}.layer_norm", stack.layernorm)
    for number, layer in enumerate(transformer.encoder.enc_layers):
        yield from _encoder_layer(f"model.encoder.layers.{number}", layer)
    for number, layer in enumerate(transformer.decoder.dec_layers):
        yield from _decoder_layer(f"model.decoder.layers.{number}", layer)
    source = transformer.encoder.embedding.embeddings  # (V, D)
    if variant.tie_embeddings:
        yield Tensor("model.shared.weight", source, stream=1, vocabulary=0)
        if variant.logits_bias:
            yield Tensor("final_logits_bias", transformer.final_layer.bias, vocabulary=0)
        return
    target = transformer.decoder.embedding.embeddings  # (V, D)
    final_layer = transformer.final_layer
    yield Tensor("model.encoder.embed_tokens.weight", source, stream=1, vocabulary=0)
    yield Tensor("model.decoder.embed_tokens.weight", target, stream=1, vocabulary=0)
    yield Tensor("lm_head.weight", final_layer.kernel, stream=0, transposed=True, vocabulary=1)
    yield Tensor("final_logits_bias", final_layer.bias, vocabulary=0)


def _encoder_layer(name: str, layer: EncoderLayer) -> Iterator[Tensor]:
    yield from _attention(f"{name}.self_attn", layer.mha)
    yield from _norm(f"{name}.self_attn_layer_norm", layer.layernorm1)
    yield from _feed_forward(name, layer.ffn)
    yield from _norm(f"{name}.final_layer_norm", layer.layernorm2)


def _decoder_layer(name: str, layer: DecoderLayer) -> Iterator[Tensor]:
    yield from _attention(f"{name}.self_attn", layer.mha1)
    yield from _norm(f"{name}.self_attn_layer_norm", layer.layernorm1)
    yield from _attention(f"{name}.encoder_attn", layer.mha2)
    yield from _norm(f"{name}.encoder_attn_layer_norm", layer.layernorm2)
    yield from _feed_forward(name, layer.ffn)
    yield from _norm(f"{name}.final_layer_norm", layer.layernorm3)


def _attention(name: str, mha: MultiHeadAttention) -> Iterator[Tensor]:
    yield from _reader(f"{name}.q_proj", mha.wq)
    yield from _reader(f"{name}.k_proj", mha.wk)
    yield from _reader(f"{name}.v_proj", mha.wv)
    yield from _writer(f"{name}.out_proj", mha.dense)


def _feed_forward(name: str, ffn: keras.Sequential) -> Iterator[Tensor]:
    yield from _reader(f"{name}.fc1", ffn.layers[0])
    yield from _writer(f"{name}.fc2", ffn.layers[-1])


def _reader(name: str, dense: keras.layers.Dense) -> Iterator[Tensor]:
    """A Dense layer of the residual stream: kernel (D, outputs), bias (outputs,)."""
    yield Tensor(f"{name}.weight", dense.kernel, stream=0, transposed=True)
    yield Tensor(f"{name}.bias", dense.bias)


def _writer(name: str, dense: keras.layers.Dense) -> Iterator[Tensor]:
    """A Dense layer whose outputs are the residual stream's: kernel (inputs, D), bias (D,)."""
    yield Tensor(f"{name}.weight", dense.kernel, stream=1, transposed=True)
    yield Tensor(f"{name}.bias", dense.bias, stream=0)


def _norm(name: str, norm: keras.layers.LayerNormalization) -> Iterator[Tensor]:
    yield Tensor(f"{name}.weight", norm.gamma, stream=0)
    yield Tensor(f"{name}.bias", norm.beta, stream=0)
