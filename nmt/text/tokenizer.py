"""Text to token ids and back: one SentencePiece vocabulary for both languages."""

from __future__ import annotations

import collections
import functools
import hashlib
import math
import random
import re
import tempfile
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import sentencepiece
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from nmt import UserError
from nmt.messages import reason
from nmt.text import protected, spelling
from nmt.text.encoding import check_characters
from nmt.text.imported import Imported
from nmt.text.special_tokens import END, PAD, START, UNKNOWN
from nmt.text.words import word_count

if TYPE_CHECKING:  # what takes long to import
    import numpy as np

MAX_LINES = 1_000_000  # that the vocabulary is learned from
MAX_CHARACTERS = 1000  # in a piece of a line: SentencePiece skips lines of more than 4,192 bytes
MIN_VOCABULARY = 3000  # even for a short text: a smaller one makes sentences too long
MIN_COUNT = 20  # of a character that is an entry of the vocabulary, not bytes, in any case
COVERAGE = 0.9995  # of the text, by characters that are entries, unless those are too many
MIN_COVERAGE = 0.98  # SentencePiece's
MAX_CHARACTER_SHARE = 0.75  # of the vocabulary, for characters
ALPHABET = 200  # characters that a vocabulary counted in words has entries for; Chinese has more
RESERVED = re.compile("^<(s|/s|pad|unk|0x..)>$|\u2581")
BASIC_TOKENS = 4 + 256  # PAD, UNKNOWN, START, END, and the bytes
MIN_NUMBERS = 20  # to tell whether a text writes some as words
WITH_DIGITS = 0.95  # of the numbers of a text that writes none as words
PARAMETERS = ("vocab_size", "pieces", "words_per_piece", "symbols")  # that define a vocabulary


class NumberCount:
    """Counts the numbers of a text, and those whose digits its translation holds."""

    def __init__(self) -> None:
        self.numbers = 0
        self.with_digits = 0

    def add(self, source: str, target: str) -> None:
        """Adds both sides of a pair, in their spelling.trimmed form."""
        numbers = protected.DEFAULT.numbers(source)
        if not numbers:
            return
        self.numbers += len(numbers)
        written = collections.Counter(span.digits for span in protected.DEFAULT.spans(target))
        for number in numbers:
            if written[number.digits]:
                written[number.digits] -= 1
                self.with_digits += 1

    @property
    def spells_numbers(self) -> bool:
        """Whether the text writes some numbers of the source as words."""
        return self.numbers >= MIN_NUMBERS and self.with_digits < WITH_DIGITS * self.numbers


class LineSample(NumberCount):
    """Lines of a text, from which its vocabulary is learned: all equally likely to be in it.

    Attributes:
      lines: the sampled lines, at most MAX_LINES, in pieces of at most MAX_CHARACTERS.
      words: the number of words of the whole text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.words = 0
        self._seen = 0  # pieces of lines
        self._random = random.Random(0)

    def add(self, source: str, target: str) -> None:
        """Adds both sides of a pair, in their spelling.trimmed form."""
        super().add(source, target)
        for text in (source, target):
            for start in range(0, len(text), MAX_CHARACTERS):
                self._add_piece(text[start : start + MAX_CHARACTERS])

    def _add_piece(self, line: str) -> None:
        self._seen += 1
        self.words += word_count(line)
        if len(self.lines) < MAX_LINES:
            self.lines.append(line)
            return
        index = self._random.randrange(self._seen)  # reservoir sampling
        if index < MAX_LINES:
            self.lines[index] = line


def learn_vocabulary(
    sample: LineSample,
    vocab_size: int,
    pieces: str,
    words_per_piece: int,
    symbols: str,
) -> bytes:
    """Learns a vocabulary from a sample of text. Returns SentencePiece's model as bytes.

    Equal text gives equal bytes, so that runs with different seeds can form an ensemble.

    With "bpe", unseen characters become bytes, so that any text has tokens and is decoded
    unchanged but for its spelling.normal form. With "word", unseen words are UNKNOWN. A short text
    gets a smaller vocabulary.

    Args:
      vocab_size: vocabulary entries, at most.
      pieces: "bpe" or "word".
      words_per_piece: words of text per vocabulary entry, at least.
      symbols: words that are entries of the vocabulary, and never split, separated by spaces.

    Raises:
      UserError: SentencePiece cannot learn a vocabulary of that size from this text, or a symbol is
        one of its own.
    """
    symbol_list = symbol_entries(symbols)
    if not sample.words:
        raise UserError("the training text holds no words; name files that do")
    reserved, shares = BASIC_TOKENS + len(symbol_list), coverages(sample.lines)
    size = vocab_size
    if pieces == "bpe":
        size = byte_pair_size(vocab_size, sample.words // words_per_piece, len(shares), reserved)
    max_characters = max(1, int(MAX_CHARACTER_SHARE * (size - reserved)))
    coverage = max(MIN_COVERAGE, shares[:max_characters][-1])
    try:
        return _train_sentencepiece(sample.lines, size, pieces, symbol_list, coverage)
    except OSError as error:
        raise UserError(
            f"{tempfile.gettempdir()}: {error.strerror} (a temporary file of the vocabulary); free "
            "some space, or set TMPDIR"
        ) from None
    except RuntimeError as error:
        raise UserError(
            f"no vocabulary of {size} entries can be learned from the training text "
            f"({reason(error)}); use more text, or a --vocab-size of about {reserved + len(shares)}"
        ) from None


def _train_sentencepiece(
    lines: list[str], size: int, pieces: str, symbols: list[str], coverage: float
) -> bytes:
    """Returns SentencePiece's model of `lines`, as bytes.

    Args:
      coverage: share of the characters of the text that are entries.

    Raises:
      OSError: the temporary file cannot be written.
      RuntimeError: SentencePiece cannot learn a vocabulary of that size.
    """
    output = BytesIO()
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        rules.write(spelling.rules())
        rules.flush()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=output,
            model_type=pieces,
            vocab_size=size,
            hard_vocab_limit=False,
            byte_fallback=pieces == "bpe",
            character_coverage=coverage,
            normalization_rule_tsv=rules.name,
            remove_extra_whitespaces=pieces == "word",
            pad_id=PAD,
            user_defined_symbols=symbols,
            unk_id=UNKNOWN,
            bos_id=START,
            eos_id=END,
            minloglevel=2,
        )
    model = ModelProto.FromString(output.getvalue())
    model.normalizer_spec.ClearField("normalization_rule_tsv")  # the name of the temporary file
    return model.SerializeToString()


def with_symbols(model: bytes, symbols: Iterable[str]) -> bytes:
    """Returns a vocabulary with more symbols, as bytes of SentencePiece's model.

    They follow all other entries, whose ids stay. An entry that is a symbol now keeps its id.
    """
    proto = ModelProto.FromString(model)
    user_defined = ModelProto.SentencePiece.USER_DEFINED
    entries = {piece.piece: piece for piece in proto.pieces}
    known = {text for text, piece in entries.items() if piece.type == user_defined}
    new_symbols = [symbol for symbol in symbols if symbol not in known]
    if not new_symbols:
        return model
    for symbol in new_symbols:
        piece = entries.get(symbol) or proto.pieces.add(piece=symbol)
        piece.type, piece.score = user_defined, 0.0
    proto.trainer_spec.user_defined_symbols.extend(new_symbols)
    proto.trainer_spec.vocab_size = len(proto.pieces)
    return proto.SerializeToString()


def symbol_entries(symbols: str) -> list[str]:
    """Returns `symbols`, words separated by spaces, as a list without repetitions.

    Raises:
      UserError: one of them has a meaning for SentencePiece.
    """
    for symbol in symbols.split():
        if RESERVED.search(symbol):
            raise UserError(f"--symbols {symbol}: has a meaning of its own; choose other words")
    return [*dict.fromkeys(spelling.normal(symbols).split())]


def byte_pair_size(vocab_size: int, affordable: int, characters: int, reserved: int) -> int:
    """Returns how many entries a vocabulary of byte pairs gets: fewer for a short text.

    Args:
      affordable: entries for which the text has enough words.
      characters: characters of the text that should be entries.
      reserved: entries that are special tokens, bytes and symbols.
    """
    for_characters = reserved + math.ceil(characters / MAX_CHARACTER_SHARE)
    for_words = affordable + max(0, characters - ALPHABET)
    return min(vocab_size, max(MIN_VOCABULARY, for_characters, for_words))


def coverages(lines: Iterable[str]) -> list[float]:
    """Returns a list, whose nth entry is the coverage by the n most frequent characters of `lines`.

    It ends with the last character that occurs often enough to be an entry of the vocabulary. Each
    coverage is a little less than it could be: SentencePiece stops when it is reached.
    """
    counts: collections.Counter[str] = collections.Counter()
    for line in lines:
        counts.update(f" {line}")  # SentencePiece begins each line with a space
    total, so_far, shares = counts.total(), 0, []
    for _, count in counts.most_common():
        if so_far >= COVERAGE * total and count < MIN_COUNT:
            break
        shares.append((so_far + count / 2) / total)
        so_far += count
    return shares


MIN_LIST = 32  # lines, for which SentencePiece starts a thread: of fewer, one by one is faster
MAX_SOURCE_TOKENS = 2048  # of a sentence; attention takes memory by the square of their number
CUT_MARGIN = 100  # tokens: where a line is cut, the last ones may be others than in the whole line


class Tokenizer:
    """Text to token ids and back: SentencePiece.

    Text is brought into its spelling.normal form first, whatever the rules of the model.

    Args:
      imported: the Imported model whose vocabulary it is; None of a run's own.
      target_model: bytes of the SentencePiece model of the target's language; None if it is the
        same.

    Attributes:
      target: the Tokenizer of the target's language, which may be this one. Ids of sources are this
        one's.
      before: the ids that each text begins with: START; of an imported model a tag, or none.
      table: ids of tokens by their text; None if they are SentencePiece's.
    """

    def __init__(
        self,
        model: bytes,
        imported: Imported | None = None,
        target_model: bytes | None = None,
        spells_numbers: bool = False,
    ):
        self.spells_numbers = spells_numbers
        self.model = model
        self.sha256 = hashlib.sha256(model + (target_model or b"")).hexdigest()
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model, num_threads=1)
        self.vocab_size = self.processor.vocab_size()
        self.before = [START] if self.processor.bos_id() == START else []
        self.target, self.tag = self, ""
        self.table: dict[str, int] | None = None
        if imported and target_model:
            self._use_table(imported.entries)
            self.tag = imported.tag
            if self.tag:
                self.before.append(self.processor.piece_to_id(self.tag))
                if self.before[-1] == UNKNOWN:
                    raise ValueError(f"{self.tag} is no entry of the vocabulary")
            self.target = Tokenizer(target_model)
            self.target._use_table(imported.target_entries)

    @functools.cached_property
    def words(self) -> list[str]:
        """The words of --symbols that are never split."""
        pieces = ModelProto.FromString(self.model).pieces[: self.vocab_size]
        return [piece.piece for piece in pieces if piece.type == piece.USER_DEFINED]

    @functools.cached_property
    def characters(self) -> frozenset[str]:
        """The characters that it does not spell in bytes."""
        pieces = ModelProto.FromString(self.model).pieces[: self.vocab_size]
        return frozenset("".join(piece.piece for piece in pieces if piece.type == piece.NORMAL))

    @functools.cached_property
    def token_bytes(self) -> int:
        """The bytes of text that a token stands for, at most; 0 if they have no limit.

        A token for unknown words, which a vocabulary without bytes has, stands for any word.
        """
        ids = range(self.vocab_size)
        if not any(map(self.processor.is_byte, ids)):
            return 0
        pieces = map(self.processor.id_to_piece, ids)
        return max(len(piece.replace(spelling.MARK_OF_SPACE, " ").encode()) for piece in pieces)

    def _use_table(self, entries: int) -> None:
        """Looks tokens up by their text, in a table of the first `entries` of the model.

        Marian does so: what one language's model does not know, the other's may.
        """
        self.vocab_size = entries
        names = enumerate(self.tokens(range(entries)))
        special = (PAD, START, END)
        self.table = {name: number for number, name in names if number not in special}

    def encode(self, lines: Sequence[str], max_tokens: int | None = None) -> list[list[int]]:
        """Strings -> a list of lists of ids, those of `before` first and END last.

        Args:
          max_tokens: of a line, that are of interest; of a longer line, at least one token more is
            returned, but its end may be missing: tokenizing takes memory, a kilobyte per byte.
        """
        if isinstance(lines, str):
            raise UserError("encode takes a list of strings, and was given a string; write [text]")
        lines = [spelling.normal(line) for line in lines]
        check_characters(lines)
        lines = [self._cut(line, max_tokens) for line in lines]
        if self.table is not None:
            return [[*self.before, *self._looked_up(line), END] for line in lines]
        if len(lines) >= MIN_LIST:
            ids: list[list[int]] = self.processor.encode(lines, add_bos=True, add_eos=True)
            return ids
        return [self.processor.encode(line, add_bos=True, add_eos=True) for line in lines]

    def _looked_up(self, line: str) -> list[int]:
        """Returns the ids of a text by the table of an imported model."""
        table = self.table or {}
        return [table.get(token, UNKNOWN) for token in self.processor.encode(line, out_type=str)]

    def text_ids(self, ids: list[int]) -> list[int]:
        """Returns the ids of a whole text without those around it; see `before`."""
        return ids[len(self.before) : -1]

    @property
    def has_two_models(self) -> bool:
        """Whether the target's language has a SentencePiece model of its own."""
        return self.target is not self

    @property
    def empty_length(self) -> int:
        """The number of ids of an empty text."""
        return len(self.before) + 1

    def _cut(self, line: str, max_tokens: int | None) -> str:
        """Returns a line without what is beyond `max_tokens` in any case; see `encode`."""
        if not (max_tokens and self.token_bytes):
            return line
        return line[: self.token_bytes * (max_tokens + CUT_MARGIN)]

    def share_without_entry(self, lines: Sequence[str]) -> float:
        """Returns the share of the tokens of `lines` (strings) that are single bytes or UNKNOWN."""
        encoded = self.encode(lines, MAX_CHARACTERS)
        tokens = [number for ids in encoded for number in self.text_ids(ids)]
        without = sum(
            self.processor.is_byte(number) or self.processor.is_unknown(number) for number in tokens
        )
        return without / max(len(tokens), 1)

    def decode(self, ids: np.ndarray | Sequence[list[int]]) -> list[str]:
        """Ids (B, L), or B lists of them -> B strings of one line, without START, END and PAD.

        No reader of lines finds an end of a line in them: control characters become spaces.
        """
        rows = list(ids) if isinstance(ids, Sequence) else ids.tolist()
        if len(rows) >= MIN_LIST:
            return [*map(spelling.printed, self.processor.decode(rows))]
        return [spelling.printed(self.processor.decode(row)) for row in rows]

    def surfaces(self, text: str, max_tokens: int | None = None) -> list[str]:
        """Returns the tokens of a text as they stand in it, with U+2581 before each word.

        An unknown word is given by its letters; if several follow each other, they are one token.
        """
        return self.processor.encode(self._cut(spelling.normal(text), max_tokens), out_type=str)

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Ids (L,) -> a list of L token strings."""
        return self.processor.id_to_piece([int(number) for number in ids])
