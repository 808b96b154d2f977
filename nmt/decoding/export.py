"""Export of a trained run: as a SavedModel, a .keras file, or a CTranslate2 model.

Each is written next to its final path and then moved there, so that it is complete or absent.
"""

from pathlib import Path

import tensorflow as tf

from nmt import UserError, output
from nmt.decoding.ctranslate2_spec import transformer_spec
from nmt.decoding.saved_translator import SavedTranslator
from nmt.messages import reason
from nmt.text.tokenizer import Tokenizer
from transformer_model import Transformer


def default_path(folder: Path, kind: str) -> Path:
    """Returns the path within `folder` of an export of a `kind`, such as saved_model.

    A SavedModel gets a new version, 1 or the next: TensorFlow Serving loads the highest.
    """
    if kind == "saved_model":
        versions = [int(path.name) for path in (folder / kind).glob("*") if path.name.isdigit()]
        return folder / kind / str(max(versions, default=0) + 1)
    names = {"keras": "model.keras", "argos": "package.argosmodel"}  # these endings are required
    return folder / names.get(kind, kind)


def saved_model(path: Path, transformer: Transformer, tokenizer: Tokenizer) -> None:
    """Writes a SavedModel of strings to strings.

    Its signatures are serving_default (greedy search), beam, prefix and sample; of a
    non-autoregressive model, only the first. Loading it takes only TensorFlow and tensorflow-text,
    whose operators contain the tokenizer.
    """
    translator = SavedTranslator(transformer, tokenizer)
    signatures = {"serving_default": translator.greedy}
    if not transformer.config["non_autoregressive"]:
        signatures |= {
            "beam": translator.beam, "prefix": translator.prefix, "sample": translator.sample
        }  # fmt: skip
    with output.new(path) as unfinished:
        try:
            tf.saved_model.save(translator, str(unfinished), signatures=signatures)
        except tf.errors.OpError as error:  # the disk is full, for example
            raise OSError(reason(error)) from None


def keras_file(path: Path, transformer: Transformer) -> None:
    """Writes the network alone as a .keras file; text needs the run's tokenizer.model."""
    with output.new(path) as unfinished:
        transformer.save(unfinished)


def ctranslate2_model(
    path: Path, transformer: Transformer, tokenizer: Tokenizer, quantization: str | None = None
) -> None:
    """Writes a CTranslate2 model, with vocabulary and the run's tokenizer.model.

    Its sources and targets have at most ctranslate2_spec.MAX_TOKENS tokens.

    Raises:
      UserError: the package ctranslate2 is not installed, or the model is non-autoregressive.
    """
    if transformer.config["non_autoregressive"]:
        raise UserError(
            "CTranslate2 does not support non-autoregressive models; choose another --format"
        )
    spec = transformer_spec(transformer, tokenizer)
    spec.optimize(quantization)
    with output.new(path) as unfinished:
        unfinished.mkdir()
        spec.save(str(unfinished))
        (unfinished / "tokenizer.model").write_bytes(tokenizer.model)
