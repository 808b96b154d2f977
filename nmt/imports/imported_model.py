"""Importing a model of Hugging Face's transformers: OPUS-MT's, other Marian ones, our own exports.

The network is the paper's, so that its weights are taken as they are, renamed and reordered
(network/marian.py). `import_model` makes a run of them, with which all commands work.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmt import UserError
from nmt.corpus.source import CorpusSource
from nmt.imports.imported_vocabulary import SpecialIds, Vocabulary, read_vocabulary
from nmt.imports.model_folder import ModelFolder
from nmt.messages import log
from nmt.options import Options
from nmt.runs.parameters import error_in_options
from nmt.runs.run_tokenizer import check_size

FAMILIES = {"marian": False, "pegasus": True}  # by name, whether they normalize first
TWINS = ("heads", "ffn_dim")  # of encoder and decoder, which are alike here
UNSUPPORTED = ("normalize_embedding", "add_bias_logits", "extra_pos_embeddings")
NEVER = -100.0  # the bias of what is not to be predicted; label smoothing expects a little of it
POSITIONS = "embed_positions.weight"
TOLERANCE = 1e-3  # of positions in a file, which were rounded to float16, perhaps

# Fine-tuning of a network that knows much: small steps, with a short warm-up, over few epochs.
PEAK_RATE, WARMUP_STEPS, EPOCHS = 1e-4, 200, 3
LABEL_SMOOTHING = 0.1  # OPUS-MT was trained with it
MAX_LENGTH, BATCH_TOKENS = 256, 2048


class Description(NamedTuple):
    """What config.json says."""

    options: Options
    ids: SpecialIds
    is_tied: bool  # whether one matrix is the embedding of sources, of targets, and of logits
    scales: bool  # whether embeddings are multiplied by sqrt(D)
    never: tuple[int, ...]  # ids that are never predicted


class ImportedModel(NamedTuple):
    """A model that has been read."""

    name: str
    license: str
    options: Options
    vocabulary: Vocabulary
    weights: dict[
        str, np.ndarray
    ]  # by the names of network/marian.py, with the ids of this program
    languages: tuple[str, ...]


def read_model(
    path: Path, languages: tuple[str, ...] | None = None, tag: str | None = None
) -> ImportedModel:
    """Returns the model of a folder.

    Args:
      path: of the folder.
      languages: codes of source and target; None for those that its files name, if any.
      tag: the target language of a model that has several.

    Raises:
      UserError: it is of another family, damaged or incomplete; the message says in what.
    """
    folder = ModelFolder(path)
    described = describe(folder)
    vocabulary = read_vocabulary(folder, described.ids, tag)
    source, target = vocabulary.source, vocabulary.target
    entries = len(source.rows), len(target.rows)
    check_size(described.options, entries[0], 8, entries[1])
    weights = arranged(folder, described, vocabulary, folder.tensors())
    return ImportedModel(
        name=path.resolve().name,
        license=folder.license,
        options=described.options,
        vocabulary=vocabulary,
        weights=weights,
        languages=languages or languages_of(folder, vocabulary.tag),
    )


def corpus_of(model: ImportedModel) -> CorpusSource:
    """Returns what stands for the text that the model was trained on, which is not known."""
    return CorpusSource(dataset=model.name, languages=model.languages)


# ---- config.json ----


def describe(folder: ModelFolder) -> Description:
    """Returns what config.json says; a UserError if no network here is like it."""
    config = folder.json_of("config.json")
    family = config.get("model_type")
    if family not in FAMILIES:
        raise folder.error(
            "config.json", f"is of the family {family!r}; {' and '.join(FAMILIES)} can be imported"
        )
    if FAMILIES[family] and not folder.has("tokenizer.model"):
        raise UserError(
            f"{folder.path}: a Pegasus of others has another kind of vocabulary; of these, only "
            "the exports of this program can be imported"
        )
    wrong = [name for name in UNSUPPORTED if config.get(name)]
    if config.get("normalize_before", FAMILIES[family]) != FAMILIES[family]:
        wrong.append("normalize_before")
    wrong += [
        name
        for name in TWINS
        if config.get(f"encoder_{of(name)}") != config.get(f"decoder_{of(name)}")
    ]
    if wrong:
        raise folder.error("config.json", f"{wrong[0]}: this network has no such form")
    is_tied = bool(
        config.get("share_encoder_decoder_embeddings", True)
        and config.get("tie_word_embeddings", True)
    )
    generation = folder.json_of("generation_config.json", is_optional=True)
    options = options_of(folder, config, generation, is_tied)
    never = {*(row[0] for row in generation.get("bad_words_ids") or () if len(row) == 1)}
    return Description(
        options,
        special_ids(folder, config),
        is_tied,
        config.get("scale_embedding") is True,
        tuple(sorted(never)),
    )


def of(name: str) -> str:
    """Returns the name of a size in config.json, behind "encoder_" or "decoder_"."""
    return "attention_heads" if name == "heads" else name


def special_ids(folder: ModelFolder, config: dict[str, Any]) -> SpecialIds:
    """Returns the special ids; a UserError if config.json lacks one."""
    unknown = 1  # of Marian, and of this program
    if folder.has("vocab.json"):
        unknown = folder.json_of("vocab.json").get("<unk>", unknown)
    names = ("pad_token_id", "decoder_start_token_id", "eos_token_id")
    numbers: list[Any] = [config.get(name) for name in names]
    for name, number in zip(names, numbers, strict=True):
        if type(number) is not int:
            raise folder.error("config.json", f"{name} is {number!r}, no number")
    pad, start, end = numbers
    return SpecialIds(pad, unknown, start, end)


def options_of(
    folder: ModelFolder, config: dict[str, Any], generation: dict[str, Any], is_tied: bool
) -> Options:
    """Returns the Options of a run of such a network, to be fine-tuned; a UserError if none fit."""
    layers, decoder_layers = config.get("encoder_layers"), config.get("decoder_layers")
    width, activation = config.get("d_model"), config.get("activation_function")
    beam, penalty = generation.get("num_beams", 1), generation.get("length_penalty", 1.0)
    values = Options().by_name() | dict(
        num_layers=layers,
        decoder_layers=0 if decoder_layers == layers else decoder_layers,
        d_model=width,
        dff=config.get("encoder_ffn_dim"),
        num_heads=config.get("encoder_attention_heads"),
        dropout_rate=config.get("dropout", 0.1),
        pre_norm=FAMILIES[config["model_type"]],
        tie_embeddings=is_tied,
        activation="swish" if activation == "silu" else activation,
        norm_epsilon=config.get("layer_norm_epsilon", 1e-5),
        logits_bias=is_tied and not folder.has("tokenizer.model"),
        data_path=folder.path.resolve().name,
        protect="off",  # its vocabulary has no symbols
        epochs=EPOCHS,
        schedule="inverse-sqrt",
        warmup_steps=WARMUP_STEPS,
        label_smoothing=LABEL_SMOOTHING,
        max_length=MAX_LENGTH,
        batch_tokens=BATCH_TOKENS,
        beam=beam,
        length_penalty=penalty,
        xla="off",
    )
    if type(width) is int and width > 0:
        values["learning_rate_scale"] = PEAK_RATE * math.sqrt(width * WARMUP_STEPS)
    if wrong := error_in_options(values):
        raise folder.error("config.json", wrong)
    return Options(**values)


def languages_of(folder: ModelFolder, tag: str) -> tuple[str, ...]:
    """Returns the codes of the languages that the tokenizer's configuration names, if it does."""
    from nmt.text.languages import canonical

    named = folder.json_of("tokenizer_config.json", is_optional=True)
    source, target = named.get("source_lang"), tag.strip("<>") or named.get("target_lang")
    codes = [canonical(str(code).split("_")[0]) for code in (source, target) if code]
    return tuple(code for code in codes if code) if len(codes) == 2 and all(codes) else ()


# ---- Weights ----


def arranged(
    folder: ModelFolder,
    described: Description,
    vocabulary: Vocabulary,
    tensors: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Returns weights by the names of network/marian.py, vocabularies in this program's order.

    Args:
      folder: of the model.
      described: what its config.json says.
      vocabulary: its Vocabulary.
      tensors: its weights as they are stored.
    """
    check_positions(folder, described.options.d_model, tensors)
    tensors = {name: value for name, value in tensors.items() if not name.endswith(POSITIONS)}
    source, target = vocabulary.source.rows, vocabulary.target.rows
    shared = first_of(tensors, "model.encoder.embed_tokens.weight", "model.shared.weight")
    of_targets = first_of(tensors, "model.decoder.embed_tokens.weight", "model.shared.weight")
    of_logits = first_of(tensors, "lm_head.weight")
    bias = tensors.pop("final_logits_bias", None)
    for name in ("shared", "encoder.embed_tokens", "decoder.embed_tokens"):
        tensors.pop(f"model.{name}.weight", None)
    tensors.pop("lm_head.weight", None)
    if shared is None or (of_targets is None and not described.is_tied):
        raise UserError(f"{folder.path}: its weights lack the embeddings; name a whole model")
    of_targets = shared if of_targets is None else of_targets
    of_logits = of_targets if of_logits is None else of_logits
    if described.is_tied:
        tensors["model.shared.weight"] = rows(folder, "embeddings", shared, source)
        of_logits = shared
    else:
        scaled = 1.0 if described.scales else described.options.d_model**-0.5
        tensors["model.encoder.embed_tokens.weight"] = (
            rows(folder, "embeddings", shared, source) * scaled
        )
        tensors["model.decoder.embed_tokens.weight"] = (
            rows(folder, "embeddings", of_targets, target) * scaled
        )
        tensors["lm_head.weight"] = rows(folder, "lm_head.weight", of_logits, target)
    if described.is_tied and not described.scales:
        raise folder.error("config.json", "scale_embedding: this network has no such form")
    bias = np.zeros(len(of_logits)) if bias is None else bias.reshape(-1)
    if described.options.logits_bias or not described.is_tied:
        tensors["final_logits_bias"] = logits_bias(folder, described, bias, target)
    elif bias.any():
        raise folder.error("config.json", "final_logits_bias: an export of this program has none")
    return tensors


def first_of(tensors: dict[str, np.ndarray], *names: str) -> np.ndarray | None:
    """Returns the first tensor there is of some names."""
    return next((tensors[name] for name in names if name in tensors), None)


def rows(folder: ModelFolder, name: str, table: np.ndarray, order: list[int]) -> np.ndarray:
    """Returns the rows of a table of the vocabulary in another order."""
    entries = max(order) + 1
    if table.ndim != 2 or len(table) != entries:
        raise UserError(
            f"{folder.path}: {name} of shape {table.shape}, and a vocabulary of {entries:,} "
            "entries; name the folder of a whole model"
        )
    return np.asarray(table, np.float32)[order]


def logits_bias(
    folder: ModelFolder, described: Description, bias: np.ndarray, order: list[int]
) -> np.ndarray:
    """Returns the bias of logits in the order of the vocabulary, NEVER for what must not come.

    START, where it is PAD, stands for nothing that can be predicted.
    """
    if len(bias) != max(order) + 1:
        raise UserError(
            f"{folder.path}: final_logits_bias of {len(bias):,} values, and a vocabulary of "
            f"{max(order) + 1:,} entries; name the folder of a whole model"
        )
    ids = described.ids
    arranged_bias = np.asarray(bias, np.float32)[order]
    for number, row in enumerate(order):
        if row in described.never and row not in ids:
            arranged_bias[number] = NEVER
    if ids.start == ids.pad:
        arranged_bias[2] = NEVER
    return arranged_bias


def check_positions(folder: ModelFolder, width: int, tensors: dict[str, np.ndarray]) -> None:
    """Raises a UserError if positions are stored that are not the paper's."""
    from nmt.network.marian import halves
    from transformer_model import positional_encoding

    for name, table in tensors.items():
        if not name.endswith(POSITIONS):
            continue
        if table.ndim == 2 and table.shape[1] == width and len(table) <= 2**16:
            expected = positional_encoding(len(table), width)[0].numpy()[:, halves(width)]
            if np.abs(expected - table).max() < TOLERANCE:
                continue
        raise UserError(
            f"{folder.path}: {name} is learned, and this network computes them; name another model"
        )


def log_left_out(names: set[str]) -> None:
    """Logs which stored tensors the network has no place for."""
    if names:
        left_out = ", ".join(sorted(names))
        log.warning(f"Left out, because the network has no place for it: {left_out}.")
