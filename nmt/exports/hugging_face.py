"""Export for Hugging Face's transformers: the same network, weights renamed and reordered.

A post-norm network becomes a MarianMTModel, a pre-norm one a PegasusForConditionalGeneration. Both
have the paper's positional encoding with all sines before all cosines, where the tutorial
alternates them. Nothing else in the network depends on the order of the dimensions of the residual
stream, so that moving its even dimensions to the front, in every variable that reads or writes it,
gives the same logits.
"""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from nmt import UserError, output
from nmt.exports.exported_model import Export, ModelCard
from nmt.exports.hugging_face_tokenizer import (
    CODE,
    tokenizer_configuration,
    tokenizer_description,
)
from nmt.network.variants import sizes_of, variant_of
from transformer_model import (
    END,
    PAD,
    START,
    DecoderLayer,
    EncoderLayer,
    MultiHeadAttention,
    Transformer,
    positional_encoding,
)

MAX_TOKENS = 1024  # the length of the table of positions


class Architecture(NamedTuple):
    """A class of transformers, and what its configuration calls itself."""

    model_type: str
    class_name: str


MARIAN = Architecture("marian", "MarianMTModel")
PEGASUS = Architecture("pegasus", "PegasusForConditionalGeneration")


def write(path: Path, export: Export) -> None:
    """Writes a folder that AutoModelForSeq2SeqLM and AutoTokenizer load.

    Raises:
      UserError: the package safetensors is not installed; the model is non-autoregressive; or the
        vocabulary holds whole words.
    """
    transformer, tokenizer, card = export.transformer, export.tokenizer, export.card
    if variant_of(transformer).limitation:
        raise UserError(
            "transformers does not support non-autoregressive models; choose another --format"
        )
    try:
        from safetensors.numpy import save
    except ImportError:
        raise UserError(
            "exporting to Hugging Face needs a package; install it (pip install safetensors)"
        ) from None
    files = {
        "config.json": configuration(transformer),
        "generation_config.json": generation(card, tokenizer.symbol_ids),
        "tokenizer.json": tokenizer_description(tokenizer),
        "tokenizer_config.json": tokenizer_configuration(tokenizer, MAX_TOKENS),
    }
    with output.new(path) as unfinished:
        unfinished.mkdir()
        for name, content in files.items():
            text = json.dumps(content, ensure_ascii=False, indent=1)
            (unfinished / name).write_text(f"{text}\n", encoding="utf-8")
        tensors: bytes = save(weights(transformer), {"format": "pt"})
        (unfinished / "model.safetensors").write_bytes(tensors)  # save_file makes it private
        shutil.copyfile(CODE, unfinished / CODE.name)
        (unfinished / "README.md").write_text(card_text(card, transformer), encoding="utf-8")


def architecture(transformer: Transformer) -> Architecture:
    """Returns the class of transformers that normalizes where `transformer` does."""
    return PEGASUS if variant_of(transformer).pre_norm else MARIAN


# ---- Weights ----


def halves(d_model: int) -> np.ndarray:
    """Returns the order of D dimensions, (D,), with the even ones, those of the sines, first."""
    return np.concatenate([np.arange(0, d_model, 2), np.arange(1, d_model, 2)])


class Weights:
    """Collects the tensors of a model by the names that transformers gives them.

    Args:
      d_model: the width of the residual stream.
    """

    def __init__(self, d_model: int):
        self.order = halves(d_model)
        self.tensors: dict[str, np.ndarray] = {}

    def add(self, name: str, value: tf.Tensor | np.ndarray) -> None:
        """Adds a tensor as it is."""
        self.tensors[name] = np.ascontiguousarray(value, np.float32)

    def add_stream(self, name: str, value: tf.Tensor | np.ndarray) -> None:
        """Adds a tensor (..., D) whose last axis is the residual stream."""
        self.add(name, np.asarray(value)[..., self.order])

    def add_reader(self, name: str, dense: keras.layers.Dense) -> None:
        """Adds a Dense layer of the residual stream: kernel (D, outputs), bias (outputs,)."""
        self.add_stream(f"{name}.weight", tf.transpose(dense.kernel))  # (outputs, D)
        self.add(f"{name}.bias", dense.bias)

    def add_writer(self, name: str, dense: keras.layers.Dense) -> None:
        """Adds a Dense layer whose outputs are the stream's: kernel (inputs, D), bias (D,)."""
        kernel = np.asarray(dense.kernel)[:, self.order]  # (inputs, D)
        self.add(f"{name}.weight", kernel.T)  # (D, inputs)
        self.add_stream(f"{name}.bias", dense.bias)

    def add_norm(self, name: str, norm: keras.layers.LayerNormalization) -> None:
        self.add_stream(f"{name}.weight", norm.gamma)
        self.add_stream(f"{name}.bias", norm.beta)

    def add_attention(self, name: str, mha: MultiHeadAttention) -> None:
        self.add_reader(f"{name}.q_proj", mha.wq)
        self.add_reader(f"{name}.k_proj", mha.wk)
        self.add_reader(f"{name}.v_proj", mha.wv)
        self.add_writer(f"{name}.out_proj", mha.dense)

    def add_feed_forward(self, name: str, ffn: keras.Sequential) -> None:
        self.add_reader(f"{name}.fc1", ffn.layers[0])
        self.add_writer(f"{name}.fc2", ffn.layers[-1])


def weights(transformer: Transformer) -> dict[str, np.ndarray]:
    """Returns the float32 tensors of a network by transformers' names."""
    sizes = sizes_of(transformer)
    collected = Weights(sizes["d_model"])
    stacks = {"model.encoder": transformer.encoder, "model.decoder": transformer.decoder}
    positions = positional_encoding(MAX_TOKENS, sizes["d_model"])[0]  # (MAX_TOKENS, D)
    for name, stack in stacks.items():
        collected.add_stream(f"{name}.embed_positions.weight", positions)
        if sizes["pre_norm"]:
            collected.add_norm(f"{name}.layer_norm", stack.layernorm)
    for number, layer in enumerate(transformer.encoder.enc_layers):
        add_encoder_layer(collected, f"model.encoder.layers.{number}", layer)
    for number, layer in enumerate(transformer.decoder.dec_layers):
        add_decoder_layer(collected, f"model.decoder.layers.{number}", layer)
    add_embeddings(collected, transformer)
    return collected.tensors


def add_encoder_layer(collected: Weights, name: str, layer: EncoderLayer) -> None:
    collected.add_attention(f"{name}.self_attn", layer.mha)
    collected.add_norm(f"{name}.self_attn_layer_norm", layer.layernorm1)
    collected.add_feed_forward(name, layer.ffn)
    collected.add_norm(f"{name}.final_layer_norm", layer.layernorm2)


def add_decoder_layer(collected: Weights, name: str, layer: DecoderLayer) -> None:
    collected.add_attention(f"{name}.self_attn", layer.mha1)
    collected.add_norm(f"{name}.self_attn_layer_norm", layer.layernorm1)
    collected.add_attention(f"{name}.encoder_attn", layer.mha2)
    collected.add_norm(f"{name}.encoder_attn_layer_norm", layer.layernorm2)
    collected.add_feed_forward(name, layer.ffn)
    collected.add_norm(f"{name}.final_layer_norm", layer.layernorm3)


def add_embeddings(collected: Weights, transformer: Transformer) -> None:
    """Adds the embeddings (V, D), and what turns vectors into logits."""
    source = transformer.encoder.embedding.embeddings  # (V, D)
    if variant_of(transformer).tie_embeddings:
        collected.add_stream("model.shared.weight", source)
        return
    if variant_of(transformer).pre_norm:  # Pegasus has this entry even where nothing is shared
        collected.add_stream("model.shared.weight", source)
    collected.add_stream("model.encoder.embed_tokens.weight", source)
    target = transformer.decoder.embedding.embeddings  # (V, D)
    collected.add_stream("model.decoder.embed_tokens.weight", target)
    collected.add_stream("lm_head.weight", tf.transpose(transformer.final_layer.kernel))  # (V, D)
    collected.add("final_logits_bias", transformer.final_layer.bias[None])  # (1, V)


def configuration(transformer: Transformer) -> dict[str, Any]:
    """Returns config.json."""
    sizes, kind = sizes_of(transformer), architecture(transformer)
    tied = sizes["tie_embeddings"]
    stacks: dict[str, Any] = {}
    for stack, layers in (("encoder", "num_layers"), ("decoder", "decoder_layers")):
        stacks |= {
            f"{stack}_layers": sizes[layers],
            f"{stack}_attention_heads": sizes["num_heads"],
            f"{stack}_ffn_dim": sizes["dff"],
        }
    return {
        "architectures": [kind.class_name],
        "model_type": kind.model_type,
        "d_model": sizes["d_model"],
        **stacks,
        "vocab_size": sizes["input_vocab_size"],
        "max_position_embeddings": MAX_TOKENS,
        "activation_function": "relu",
        "dropout": sizes["rate"],
        "scale_embedding": True,  # by sqrt(D)
        "share_encoder_decoder_embeddings": tied,
        "tie_word_embeddings": tied,
        "static_position_embeddings": True,
        "pad_token_id": PAD,
        "bos_token_id": START,
        "eos_token_id": END,
        "decoder_start_token_id": START,
        "forced_eos_token_id": None,
        "dtype": "float32",
    }


def generation(card: ModelCard, symbol_ids: range) -> dict[str, Any]:
    """Returns generation_config.json, which never generates a symbol: no text is protected here.

    Args:
      card: of the model.
      symbol_ids: of the vocabulary's symbols.
    """
    of_beam = {"length_penalty": card.length_penalty} if card.beam > 1 else {}  # else a warning
    of_symbols = {"suppress_tokens": list(symbol_ids)} if symbol_ids else {}
    return {
        "num_beams": card.beam,
        **of_beam,
        **of_symbols,
        "max_length": MAX_TOKENS // 2,
        "pad_token_id": PAD,
        "bos_token_id": START,
        "eos_token_id": END,
        "decoder_start_token_id": START,
    }


# ---- Model card ----


def metadata(card: ModelCard) -> str:
    """Returns the front matter of README.md, in YAML: JSON within it, so that no is a string."""
    results = [
        {
            "task": {"type": "translation", "name": "Translation"},
            "dataset": {"type": card.corpus, "name": card.corpus, "split": "test"},
            "metrics": [
                {"type": name.split(",")[0].lower(), "name": name, "value": round(score.value, 1)}
                for name, score in card.scores.items()
            ],
        }
    ]
    fields: dict[str, Any] = {
        "license": "unknown",
        "library_name": "transformers",
        "pipeline_tag": "translation",
        "tags": ["translation"],
    }
    if card.languages:
        fields = {"language": list(card.languages)} | fields
    if card.scores:
        fields["model-index"] = [{"name": card.name, "results": results}]
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join(lines)


def card_text(card: ModelCard, transformer: Transformer) -> str:
    """Returns README.md."""
    sizes = sizes_of(transformer)
    rows = ""
    for name, score in card.scores.items():
        signature = score.signature.replace("|", "\\|")  # a bar would end the cell
        rows += f"| {name} | {score.value:.1f} ± {score.interval:.1f} | `{signature}` |\n"
    head = "\n| metric | test split | signature of sacreBLEU |\n|---|---|---|\n"
    table = f"{head}{rows}" if rows else "\nNot scored yet.\n"
    return f"""---
{metadata(card)}
---

# {card.name}

A Transformer (Vaswani et al. 2017) for translation, trained on {card.corpus}:
{sizes["num_layers"]} layers in the encoder and {sizes["decoder_layers"]} in the decoder,
width {sizes["d_model"]}, {sizes["num_heads"]} heads,
{transformer.count_params():,} parameters, {sizes["input_vocab_size"]:,} vocabulary entries.
Before you publish it, write the license of its data into the first lines above.

    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained("FOLDER")
    model = AutoModelForSeq2SeqLM.from_pretrained("FOLDER")
    sentences = ["..."]
    ids = model.generate(**tokenizer(sentences, return_tensors="pt", padding=True))
    print(tokenizer.batch_decode(ids, skip_special_tokens=True))

Translate one sentence at a time: it was trained on sentences, and texts are not split here.
Numbers, placeholders and tags are neither protected nor repaired here, and there is no glossary.

To fine-tune it, load the tokenizer with `trust_remote_code=True`: the few lines of
`{CODE.name}` leave the start token out of the labels, where transformers adds it itself.
Without them, drop the first label of each `text_target`, or the model unlearns to translate.
{table}"""
