"""Export for CTranslate2: a folder of its model, and the vocabulary."""

from pathlib import Path

from nmt import output
from nmt.decoding.engines.ctranslate2_weights import transformer_spec
from nmt.exports.exported_model import Export
from nmt.messages import log
from nmt.text.tokenizer import Tokenizer

MAX_TOKENS = 1024  # of a source or a translation


def write(path: Path, export: Export) -> None:
    """Writes a CTranslate2 model, with vocabulary and the run's SentencePiece models.

    Its sources and targets have at most MAX_TOKENS tokens.
    """
    spec = transformer_spec(export.transformer, export.tokenizer, MAX_TOKENS)
    spec.optimize(export.quantization)
    with output.new(path) as unfinished:
        unfinished.mkdir()
        spec.save(str(unfinished))
        write_tokenizer(unfinished, export.tokenizer)


def write_tokenizer(folder: Path, tokenizer: Tokenizer) -> None:
    """Writes tokenizer.model, of sources, and target.model, of targets; the two may be the same.

    A tag that each source begins with is named, because SentencePiece does not add it.
    """
    (folder / "tokenizer.model").write_bytes(tokenizer.model)
    (folder / "target.model").write_bytes(tokenizer.target.model)
    if tag := tokenizer.tag:
        log.info(f"Put {tag} before the tokens of each source: the model needs it.")
