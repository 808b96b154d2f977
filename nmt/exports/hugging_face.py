"""Export for Hugging Face's transformers: the same network, weights renamed and reordered.

A post-norm network becomes a MarianMTModel, a pre-norm one a PegasusForConditionalGeneration; see
network/marian.py. A run's own vocabulary becomes a tokenizer.json; that of an imported Marian model
has the files of a MarianTokenizer. `import` reads both.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from nmt import UserError, output
from nmt.exports.exported_model import Export, ModelCard
from nmt.exports.hugging_face_tokenizer import CODE, marian_files, tokenizer_files
from nmt.network.marian import halves, tensors
from nmt.network.variants import sizes_of
from nmt.text.tokenizer import Tokenizer
from transformer_model import END, PAD, START, Transformer, positional_encoding

MAX_TOKENS = 1024  # the length of the table of positions
CLASSES = {"marian": "MarianMTModel", "pegasus": "PegasusForConditionalGeneration"}  # by model_type


def write(path: Path, export: Export) -> None:
    """Writes a folder that AutoModelForSeq2SeqLM and AutoTokenizer load."""
    transformer, tokenizer, card = export.transformer, export.tokenizer, export.card
    try:
        from safetensors.numpy import save
    except ImportError:
        raise UserError(
            "exporting to Hugging Face needs a package; install it (pip install safetensors)"
        ) from None
    has_start = START in tokenizer.before  # a run's own vocabulary, or one that it exported
    files: dict[str, Any] = {
        "config.json": configuration(transformer),
        "generation_config.json": generation(card, tokenizer),
    }
    as_files = tokenizer_files if has_start else marian_files
    files |= as_files(tokenizer, MAX_TOKENS, card.languages)
    with output.new(path) as unfinished:
        unfinished.mkdir()
        for name, content in files.items():
            if not isinstance(content, bytes):
                text = json.dumps(content, ensure_ascii=False, indent=1)
                content = f"{text}\n".encode()
            (unfinished / name).write_bytes(content)
        contents: bytes = save(weights(transformer), {"format": "pt"})
        (unfinished / "model.safetensors").write_bytes(contents)  # save_file makes it private
        if has_start:
            shutil.copyfile(CODE, unfinished / CODE.name)
        (unfinished / "README.md").write_text(
            card_text(card, transformer, tokenizer), encoding="utf-8"
        )


# ---- Weights ----


def weights(transformer: Transformer) -> dict[str, np.ndarray]:
    """Returns the float32 tensors of a network by transformers' names."""
    sizes = sizes_of(transformer)
    named = {tensor.name: tensor.to_transformers() for tensor in tensors(transformer)}
    if "final_logits_bias" in named:
        named["final_logits_bias"] = named["final_logits_bias"][None]  # (1, V)
    if sizes["pre_norm"] and not sizes["tie_embeddings"]:  # which Pegasus has in any case
        named["model.shared.weight"] = named["model.encoder.embed_tokens.weight"]
    positions = positional_encoding(MAX_TOKENS, sizes["d_model"])[0].numpy()  # (MAX_TOKENS, D)
    positions = np.ascontiguousarray(positions[:, halves(sizes["d_model"])])
    for stack in ("encoder", "decoder"):
        named[f"model.{stack}.embed_positions.weight"] = positions
    return named


def configuration(transformer: Transformer) -> dict[str, Any]:
    """Returns config.json."""
    sizes = sizes_of(transformer)
    tied, kind = sizes["tie_embeddings"], "pegasus" if sizes["pre_norm"] else "marian"
    stacks: dict[str, Any] = {}
    for stack, layers in (("encoder", "num_layers"), ("decoder", "decoder_layers")):
        stacks |= {
            f"{stack}_layers": sizes[layers],
            f"{stack}_attention_heads": sizes["num_heads"],
            f"{stack}_ffn_dim": sizes["dff"],
        }
    return {
        "architectures": [CLASSES[kind]],
        "model_type": kind,
        "d_model": sizes["d_model"],
        **stacks,
        "vocab_size": sizes["input_vocab_size"],
        "decoder_vocab_size": sizes["target_vocab_size"],
        "max_position_embeddings": MAX_TOKENS,
        "activation_function": sizes["activation"],
        "layer_norm_epsilon": sizes["norm_epsilon"],  # which transformers does not read: 1e-5
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


def generation(card: ModelCard, tokenizer: Tokenizer) -> dict[str, Any]:
    """Returns generation_config.json."""
    beam_fields = {"length_penalty": card.length_penalty} if card.beam > 1 else {}  # else a warning
    # An imported network has not learned that neither follows.
    is_imported = tokenizer.tag or tokenizer.has_two_models
    never = {"suppress_tokens": [PAD, START]} if is_imported else {}
    return {
        "num_beams": card.beam,
        **beam_fields,
        **never,
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
        "license": card.license or "unknown",
        "library_name": "transformers",
        "pipeline_tag": "translation",
        "tags": ["translation"],
    }
    if card.base_model:
        fields["base_model"] = card.base_model
    if card.languages:
        fields = {"language": list(card.languages)} | fields
    if card.scores:
        fields["model-index"] = [{"name": card.name, "results": results}]
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join(lines)


def card_text(card: ModelCard, transformer: Transformer, tokenizer: Tokenizer) -> str:
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
{transformer.count_params():,} parameters, {sizes["target_vocab_size"]:,} vocabulary entries.
{publishing(card)}

    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained("FOLDER")
    model = AutoModelForSeq2SeqLM.from_pretrained("FOLDER")
    sentences = ["{f"{tokenizer.tag} " if tokenizer.tag else ""}..."]
    ids = model.generate(**tokenizer(sentences, return_tensors="pt", padding=True))
    print(tokenizer.batch_decode(ids, skip_special_tokens=True))

Translate one sentence at a time: it was trained on sentences, and texts are not split here.
Numbers, placeholders and tags are neither protected nor repaired here, and there is no glossary.
{FINE_TUNING if START in tokenizer.before else ""}{table}"""


FINE_TUNING = f"""
To fine-tune it, load the tokenizer with `trust_remote_code=True`: the few lines of
`{CODE.name}` leave the start token out of the labels, where transformers adds it itself.
Without them, drop the first label of each `text_target`, or the model unlearns to translate.
"""


def publishing(card: ModelCard) -> str:
    """Returns what is to be done before the model is published."""
    if not card.base_model:
        return "Before you publish it, write the license of its data into the first lines above."
    license_of_base = f"the license {card.license}" if card.license else "a license not named here"
    return (
        f"Its weights began as those of {card.base_model}, under {license_of_base}.\n"
        "Before you publish it, name that model and its authors, and add the license of your data."
    )
