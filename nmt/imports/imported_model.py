"""Importing a model of Hugging Face's transformers: OPUS-MT's, other Marian ones, our own exports.

The network is the paper's, so that its weights are taken as they are, renamed and reordered
(network/marian.py). `read_model` reads a folder; imported_run.py makes a run of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from nmt import UserError
from nmt.imports.imported_vocabulary import Vocabulary, read_vocabulary
from nmt.imports.model_configuration import CONFIG, Description, describe, languages_of
from nmt.imports.model_folder import ModelFolder
from nmt.options import Options
from nmt.runs.run_tokenizer import check_size
from nmt.text.special_tokens import START

NEVER = -100.0  # the bias of what is not to be predicted; label smoothing expects a little of it
POSITIONS = "embed_positions.weight"
TOLERANCE = 1e-3  # of positions in a file, which were rounded to float16, perhaps
EMBEDDINGS = (
    "model.shared.weight", "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight", "lm_head.weight",
)  # fmt: skip

Tensors = dict[str, np.ndarray]  # by the names of transformers


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
    """Returns the model of a folder; a UserError says in what it is of another family, or damaged.

    Without languages, they are those that its files name, if any. The tag is the target language of
    a model that has several.
    """
    folder = ModelFolder(path)
    described = describe(folder, folder.model_name)
    vocabulary = read_vocabulary(folder, described.ids, tag)
    source, target = vocabulary.source, vocabulary.target
    if described.is_tied and source.rows != target.rows:
        raise folder.error(
            CONFIG, "one matrix for all embeddings, and a vocabulary for each language"
        )
    entries = len(source.rows), len(target.rows)
    check_size(described.options, entries[0], 8, entries[1], "import a smaller model")
    weights = arranged(folder, described, vocabulary, folder.tensors())
    return ImportedModel(
        name=folder.model_name,
        license=folder.license,
        options=described.options,
        vocabulary=vocabulary,
        weights=weights,
        languages=languages or languages_of(folder, vocabulary.tag),
    )


# ---- Weights ----


def arranged(
    folder: ModelFolder, described: Description, vocabulary: Vocabulary, tensors: Tensors
) -> Tensors:
    """Returns weights by the names of network/marian.py, vocabularies in this program's order."""
    check_positions(folder, described.options.d_model, tensors)
    target = vocabulary.target.rows
    stored_bias = tensors.get("final_logits_bias")
    bias = np.zeros(max(target) + 1) if stored_bias is None else stored_bias.reshape(-1)
    apart = {"final_logits_bias", *EMBEDDINGS}
    weights = {
        name: value
        for name, value in tensors.items()
        if name not in apart and not name.endswith(POSITIONS)
    }
    weights |= embeddings(folder, described, vocabulary, tensors)
    if described.options.logits_bias or not described.is_tied:
        weights["final_logits_bias"] = logits_bias(folder, described, bias, target)
    elif bias.any():
        raise UserError(
            f"{folder.path}: an export of this program without a bias of logits, which has one; "
            "name the folder of a whole model"
        )
    return weights


def embeddings(
    folder: ModelFolder, described: Description, vocabulary: Vocabulary, tensors: Tensors
) -> Tensors:
    """Returns the matrices of the vocabulary; for the arguments see `arranged`."""
    shared, encoder, decoder, logits = map(tensors.get, EMBEDDINGS)
    source = shared if encoder is None else encoder
    target = shared if decoder is None else decoder
    if source is None or (target is None and not described.is_tied):
        raise UserError(f"{folder.path}: its weights lack the embeddings; name a whole model")
    if described.is_tied:
        return {EMBEDDINGS[0]: rows(folder, "embeddings", source, vocabulary.source.rows)}
    assert target is not None
    logits = target if logits is None else logits
    factor = 1.0 if described.scales else described.options.d_model**-0.5
    named = zip(
        EMBEDDINGS[1:3], (source, target), (vocabulary.source, vocabulary.target), strict=True
    )
    result = {name: rows(folder, name, table, side.rows) * factor for name, table, side in named}
    return result | {EMBEDDINGS[3]: rows(folder, EMBEDDINGS[3], logits, vocabulary.target.rows)}


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
        if row in described.never:
            arranged_bias[number] = NEVER
    if ids.start == ids.pad:
        arranged_bias[START] = NEVER
    return arranged_bias


def check_positions(folder: ModelFolder, width: int, tensors: Tensors) -> None:
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
