"""The vocabulary of a run as tokenizer.json, which Hugging Face's tokenizers read.

It gives any text the ids that the program gives it: spelling, bytes for characters without an
entry, and symbols that are never split included.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from nmt import UserError
from nmt.text import spelling
from nmt.text.tokenizer import Tokenizer
from transformer_model import END, PAD, START, UNKNOWN

CODE = Path(__file__).with_name("target_tokenizer.py")  # of the class for sources and targets
SPECIAL = (PAD, UNKNOWN, START, END)


def merges(pieces: list[str], scores: list[float]) -> list[tuple[str, str]]:
    """Returns the pairs of pieces that byte-pair encoding joins, the first to join first.

    SentencePiece stores no merges: it joins the pair whose union has the highest score. The pieces
    are learned ones, not symbols or bytes.
    """
    known = set(pieces)
    ranked = []
    for piece, score in zip(pieces, scores, strict=True):
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in known and right in known:
                ranked.append((-score, cut, left, right))
    return [(left, right) for _, _, left, right in sorted(ranked)]


def replace(pattern: str, content: str) -> dict[str, Any]:
    """Returns a normalizer of tokenizer.json that replaces each match of a regular expression."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def tokenizer_files(
    tokenizer: Tokenizer, max_tokens: int, languages: Sequence[str]
) -> dict[str, Any]:
    """Returns the files of a vocabulary of a run by name: JSON, or bytes.

    Texts have at most `max_tokens`. Of `languages`, the codes, `import` reads the first two.
    """
    return {
        "tokenizer.json": tokenizer_description(tokenizer),
        "tokenizer_config.json": tokenizer_configuration(tokenizer, max_tokens)
        | language_names(languages),
        "tokenizer.model": tokenizer.model,  # which `import` reads
    }


def marian_files(
    tokenizer: Tokenizer, max_tokens: int, languages: Sequence[str]
) -> dict[str, Any]:  # fmt: skip
    """Returns what `tokenizer_files` does, of an imported vocabulary, for a MarianTokenizer."""
    target = tokenizer.target
    sides = {"": tokenizer, "target_": target}
    names = {prefix: side.tokens(range(side.vocab_size)) for prefix, side in sides.items()}
    is_separate = names[""] != names["target_"]
    files: dict[str, Any] = {"source.spm": tokenizer.model, "target.spm": target.model}
    for prefix, entries in names.items():
        if is_separate or not prefix:
            files[f"{prefix}vocab.json"] = {name: number for number, name in enumerate(entries)}
    files["tokenizer_config.json"] = language_names(languages) | {
        "tokenizer_class": "MarianTokenizer",
        "bos_token": names[""][START],  # no part of a decoded text
        "unk_token": names[""][UNKNOWN],
        "eos_token": names[""][END],
        "pad_token": names[""][PAD],
        "model_max_length": max_tokens,
        "separate_vocabs": is_separate,
    }
    return files


def language_names(languages: Sequence[str]) -> dict[str, str]:
    """Returns the codes of two languages by the names that MarianTokenizer has for them."""
    return dict(zip(("source_lang", "target_lang"), languages, strict=False))


def tokenizer_description(tokenizer: Tokenizer) -> dict[str, Any]:
    """Returns tokenizer.json: byte-pair encoding with bytes for unseen characters.

    A UserError if the vocabulary holds whole words.
    """
    if not tokenizer.token_bytes:
        raise UserError(
            "an export to Hugging Face needs a vocabulary of --pieces bpe, and this run's holds "
            "words; choose another --format"
        )
    entries, kind = ModelProto.FromString(tokenizer.model).pieces, ModelProto.SentencePiece
    pieces = [entry.piece for entry in entries]
    symbols = [entry.piece for entry in entries if entry.type == kind.USER_DEFINED]
    # What byte-pair encoding joins from other pieces; all else is a symbol, special or a byte.
    learned = {entry.piece: entry.score for entry in entries if entry.type == kind.NORMAL}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special_token(number, pieces[number]) for number in SPECIAL],
        "normalizer": {"type": "Sequence", "normalizers": normalizers()},
        "pre_tokenizer": split_at(symbols) if symbols else None,
        "post_processor": post_processor(pieces[START], pieces[END]),
        "decoder": {"type": "Sequence", "decoders": decoders()},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": pieces[UNKNOWN],
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": bool(symbols),  # a symbol is an entry that nothing is joined to
            "vocab": {piece: number for number, piece in enumerate(pieces)},
            "merges": merges([*learned], [*learned.values()]),
        },
    }


def split_at(symbols: list[str]) -> dict[str, Any]:
    """Returns the step that cuts a text before and after each of `symbols`, the longest first."""
    longest_first = sorted(symbols, key=len, reverse=True)
    return {
        "type": "Split",
        "pattern": {"Regex": "|".join(map(escaped, longest_first))},
        "behavior": "Isolated",
        "invert": False,
    }


def escaped(text: str) -> str:
    """Returns a regular expression that matches a text, in the syntax of tokenizers."""
    return "".join(c if c.isalnum() else f"\\x{{{ord(c):x}}}" for c in text)


def special_token(number: int, piece: str) -> dict[str, Any]:
    return {
        "id": number, "content": piece, "single_word": False, "lstrip": False, "rstrip": False,
        "normalized": False, "special": True,
    }  # fmt: skip


def normalizers() -> list[dict[str, Any]]:
    """Returns steps that do what spelling.trimmed does, and mark words as SentencePiece does."""
    mark = spelling.MARK_OF_SPACE
    return [
        replace(f"[{spelling.INVISIBLE}]", ""),
        replace(f"[{spelling.SPACES}{spelling.CONTROL}]", " "),
        {"type": "NFC"},
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Prepend", "prepend": mark},
        replace(" ", mark),
    ]


def decoders() -> list[dict[str, Any]]:
    """Returns steps from tokens to text: bytes to characters, marks to spaces, none in front."""
    return [
        {"type": "Replace", "pattern": {"String": spelling.MARK_OF_SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]


def post_processor(start: str, end: str) -> dict[str, Any]:
    """Returns the step that puts START before and END after the tokens of a text."""
    text = {"Sequence": {"id": "A", "type_id": 0}}
    single = [{"SpecialToken": {"id": start, "type_id": 0}}, text,
              {"SpecialToken": {"id": end, "type_id": 0}}]  # fmt: skip
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            start: {"id": start, "ids": [START], "tokens": [start]},
            end: {"id": end, "ids": [END], "tokens": [end]},
        },
    }


def tokenizer_configuration(tokenizer: Tokenizer, max_tokens: int) -> dict[str, Any]:
    """Returns tokenizer_config.json; texts have at most `max_tokens`."""
    pad, unknown, start, end = tokenizer.tokens([PAD, UNKNOWN, START, END])
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "auto_map": {"AutoTokenizer": [None, f"{CODE.stem}.TargetTokenizer"]},
        "bos_token": start,
        "eos_token": end,
        "unk_token": unknown,
        "pad_token": pad,
        "model_max_length": max_tokens,
        "clean_up_tokenization_spaces": False,
        "split_special_tokens": True,  # "</s>" in a text is text
        "model_input_names": ["input_ids", "attention_mask"],
    }
