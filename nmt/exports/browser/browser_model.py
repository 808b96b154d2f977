"""A model for a program in the browser: what network.js and its like compute with, as text.

tokenizer.js, learned_words.js, network.js and search.js compute; slices.js divides their work, so
that a page never stands still; texts.js is what pages say, in English and Chinese.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from nmt import UserError
from nmt.network.variants import sizes_of, variant_of
from nmt.options import MAX_PAGE_PARAMETERS
from nmt.text import spelling
from nmt.text.languages import primary
from nmt.text.scripts import UNSPACED
from nmt.text.tokenizer import Tokenizer
from transformer_model import DecoderLayer, EncoderLayer, Transformer

FOLDER = Path(__file__).parent
ENGINE = ("tokenizer.js", "learned_words.js", "network.js", "search.js", "slices.js")
Tensors = dict[str, np.ndarray]  # weights by name
JAVASCRIPT_SYNTAX = r"^$\.*+?()[]{}|/"  # what a backslash may precede in a regular expression
KINDS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}  # of SentencePiece models


def tensors_of(layers: Mapping[str, keras.layers.Layer]) -> Tensors:
    """Returns the weights of layers by name; the kernel of a Dense is transposed to (out, in)."""
    return {
        f"{name}.{variable.name}": np.asarray(variable).T
        for name, layer in layers.items()
        for variable in layer.weights
    }


def parts_of(layer: EncoderLayer | DecoderLayer) -> dict[str, keras.layers.Layer]:
    """Returns what a layer consists of, by name in the page."""
    attentions = {"self": layer.mha} if isinstance(layer, EncoderLayer) else {
        "self": layer.mha1, "cross": layer.mha2,
    }  # fmt: skip
    parts = {
        f"{name}.{part}": getattr(attention, part)
        for name, attention in attentions.items()
        for part in ("wq", "wk", "wv", "dense")
    }
    for number in range(1, len(attentions) + 2):
        parts[f"norm{number}"] = getattr(layer, f"layernorm{number}")
    parts["ffn.first"], parts["ffn.second"] = layer.ffn.layers
    return parts


def named_tensors(transformer: Transformer) -> Tensors:
    """Returns the weights of a Transformer by the names that network.js knows, as NumPy arrays."""
    encoder, decoder = transformer.encoder, transformer.decoder
    tensors = {"encoder.embedding": np.asarray(encoder.embedding.embeddings)}
    if not variant_of(transformer).tie_embeddings:
        tensors["decoder.embedding"] = np.asarray(decoder.embedding.embeddings)
        tensors |= tensors_of({"final": transformer.final_layer})
    elif transformer.final_layer.bias is not None:
        tensors["final.bias"] = np.asarray(transformer.final_layer.bias)
    for stack, layers in (("encoder", encoder.enc_layers), ("decoder", decoder.dec_layers)):
        for number, layer in enumerate(layers, start=1):
            parts = {f"{stack}.{number}.{name}": part for name, part in parts_of(layer).items()}
            tensors |= tensors_of(parts)
    if variant_of(transformer).pre_norm:
        tensors |= tensors_of(
            {"encoder.norm": encoder.layernorm, "decoder.norm": decoder.layernorm}
        )
    return tensors


def encode_weights(tensors: Tensors) -> str:
    """Returns the numbers of all tensors, one after another, in base64: four characters each.

    Of float32, the lowest 8 of 32 bits are rounded away: a number keeps 16 significant bits. A
    UserError if a weight is NaN or infinite.
    """
    parts = []
    for name, values in tensors.items():
        values = np.asarray(values, np.float32)
        if not np.isfinite(values).all():
            raise UserError(
                f"{name}: holds NaN or an infinite number; choose a run whose training did not "
                "diverge"
            )
        rounded = (values.ravel().view(np.uint32) + np.uint32(0x80)).astype("<u4")
        octets = rounded.view(np.uint8).reshape(-1, 4)[:, 1:]  # the lowest comes first
        parts.append(base64.b64encode(octets.tobytes()).decode())  # of 3 octets, 4 characters
    return "".join(parts)


def vocabulary(tokenizer: Tokenizer) -> dict[str, Any]:
    """Returns what tokenizer.js needs to know of a Tokenizer."""
    model = ModelProto.FromString(tokenizer.model)
    return dict(
        kind=KINDS[model.trainer_spec.model_type],
        prefix=model.normalizer_spec.add_dummy_prefix,
        pieces=[piece.piece for piece in model.pieces],
        scores=[piece.score for piece in model.pieces],
        types=[piece.type for piece in model.pieces],
        invisible=spelling.INVISIBLE_CHARACTER.pattern,
        spaces=spelling.SPACE_CHARACTER.pattern,
        blank=spelling.BLANK_TEXT.pattern,
    )


def word_rules(languages: Sequence[str]) -> dict[str, str]:
    """Returns what learned_words.js needs to know of the languages: codes of source and target."""
    source, target = (*map(primary, languages), "", "")[:2]
    return dict(source=source, target=target, unspaced=in_javascript(UNSPACED)[0])


def in_javascript(pattern: re.Pattern[str]) -> tuple[str, str]:
    """Returns the source and the flags of a regular expression for JavaScript.

    There, \\w and \\d are ASCII, also in Unicode mode; here they are all letters and digits. And
    only punctuation that has a meaning may follow a backslash, where re.escape writes others.
    """
    word = r"\p{L}\p{N}_"

    def escaped(match: re.Match[str]) -> str:  # in a class of characters
        part = match[0]
        has_meaning = part[1].isalnum() or part[1] in JAVASCRIPT_SYNTAX + "-"
        return {r"\w": word, r"\d": r"\p{Nd}"}.get(part, part if has_meaning else part[1])

    def translated(match: re.Match[str]) -> str:
        part = match[0]
        if part.startswith("["):  # a class
            return re.sub(r"\\.", escaped, part)
        if part == "(?>":  # an atomic group, which JavaScript lacks
            return "(?:"
        if not part.startswith("\\"):  # a possessive quantifier, which it lacks, too
            return part[0]
        if part == r"\w":
            return f"[{word}]"
        return "-" if part == r"\-" else re.sub(r"\\.", escaped, part)

    source = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]|[*+?}]\+|\(\?>", translated, pattern.pattern)
    return source, "iu" if pattern.flags & re.IGNORECASE else "u"


def in_script(value: object) -> str:
    """Returns a value as JSON that no script element's end or comment can hide in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def check_page(run: str, transformer: Transformer, tokenizer: Tokenizer, verb: str) -> None:
    """Raises a UserError if a page cannot hold a model: it is too large, or tokenizes otherwise.

    `verb` is what the user does with the run: "explore".
    """
    if tokenizer.table is not None:
        raise UserError(
            f"run {run}: a page cannot tokenize as an imported model does; {verb} a run that was "
            "trained here (plot attention draws this one)"
        )
    parameters = transformer.count_params()
    if parameters > MAX_PAGE_PARAMETERS:
        raise UserError(
            f"run {run}: {parameters:,} parameters, and a page holds at most "
            f"{MAX_PAGE_PARAMETERS:,}; {verb} a smaller run (--preset quick, tiny or small)"
        )


def scripts(folder: Path, names: Sequence[str]) -> str:
    """Returns the text of scripts of a folder, one after another."""
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def fill_page(
    folder: Path,
    transformer: Transformer,
    tokenizer: Tokenizer,
    data: Mapping[str, Any],
    programs: Mapping[str, str],
) -> str:
    """Returns a page with a model as HTML: page.html of a folder, its places filled in.

    The places are STYLE, SAYING, TEXTS, DATA, WEIGHTS and ENGINE, which computes, and those of
    `programs`.
    `data` is what the page holds besides the model.
    """
    tensors = named_tensors(transformer)
    model = dict(
        sizes=sizes_of(transformer),
        vocabulary=vocabulary(tokenizer),
        tensors=[dict(name=name, shape=values.shape) for name, values in tensors.items()],
    )
    parts = {
        "STYLE": scripts(folder, ["style.css"]),
        "TEXTS": in_script(json.loads(scripts(folder, ["texts.json"]))),
        "DATA": in_script(model | dict(data)),
        "WEIGHTS": encode_weights(tensors),
        "ENGINE": scripts(FOLDER, ENGINE),
        "SAYING": scripts(FOLDER, ["texts.js"]),
    } | dict(programs)
    frame = scripts(folder, ["page.html"])
    return re.sub(r"/\*([A-Z]+)\*/", lambda match: parts[match[1]], frame)
