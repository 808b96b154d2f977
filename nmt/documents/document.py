"""A document as text with segments: the parts that a translation replaces. Nothing else changes.

Each format has a function that parses a file's bytes to a Document. The Document knows the texts to
translate, and returns the bytes of the same file with their translations.
"""

from __future__ import annotations

import codecs
import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from nmt import UserError
from nmt.documents.nodes import Element, Fixed, Node, plain_text, seen_text
from nmt.documents.tag_placement import TranslatedText, insert_tags
from nmt.text.encoding import conversion

LINE_END = re.compile(r"\r\n|\r|\n")
BREAKING_SPACES = re.compile(r"[^\S\u00a0\u202f]+")
ESCAPES = {"utf-7", "unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined"}
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class Span(NamedTuple):
    """A part of a document's text."""

    start: int
    end: int


def line_number(text: str, position: int) -> int:
    """Returns the number, from 1, of the line that a position is in."""
    return 1 + sum(1 for _ in LINE_END.finditer(text, 0, position))


def beginning(expression: re.Pattern[str], text: str) -> str:
    """Returns what an expression matches at the beginning of a text; "" for nothing."""
    match = expression.match(text)
    return match[0] if match else ""


@dataclasses.dataclass
class Segment:
    """A text that is translated by itself: a paragraph, a cell, a sentence of subtitles."""

    nodes: list[Node]
    spans: list[Span]  # what its translation replaces, in order; several for a sentence in two cues
    write: Callable[[list[Node]], list[str]]  # translated nodes to the new text of each span
    place: str = ""  # where it stands, in words, if it has no spans: in a file that is an archive,
    # whose tree `write` changes

    @property
    def text(self) -> str:
        """What is translated: words with single spaces between them, without markup.

        Spaces without a break stay: some are part of what must not change, such as amounts.
        """
        return BREAKING_SPACES.sub(" ", plain_text(self.nodes)).strip()

    @property
    def seen_text(self) -> str:
        """The same as a reader sees it, with names in place of marks."""
        return BREAKING_SPACES.sub(" ", seen_text(self.nodes)).strip()

    @property
    def start(self) -> int:
        """Where it begins in the document's text."""
        return self.spans[0].start

    @property
    def has_markup(self) -> bool:
        """Whether tags must be put back, for which word links are needed."""
        return any(isinstance(node, Element | Fixed) for node in self.nodes)


class FormatOptions(NamedTuple):
    """What a user may ask of some formats."""

    columns: str | None = None  # of tables: names or numbers of those to translate
    sheet: str | None = None  # of spreadsheets: the name of the only one that is translated
    target_language: str | None = None  # of pages: elements whose `lang` it is stay as they are
    source_language: str | None = None  # of pages: elements whose `lang` is another one stay, too


class Left(NamedTuple):
    """A text that stays as it is although a user may expect a translation of it.

    What is no text (numbers, code, URLs) is none. See report.py.
    """

    reason: str  # what follows the number of such texts: "formulas"
    start: int  # where it begins in the document's text
    is_expected: bool = False  # such as formulas: `--strict` has no objection
    place: str = ""  # where it stands, in words, in a file that is an archive


def translated_nodes(segment: Segment, translation: TranslatedText) -> list[Node] | None:
    """Returns the nodes of a translation; None if it is empty, or equal to the source."""
    if translation.text == segment.text or not translation.text.strip():
        return None
    return insert_tags(segment.nodes, translation)


class Document(Protocol):
    """What every format offers."""

    segments: list[Segment]
    left: list[Left]  # in the order of the file

    def write(self, translations: Sequence[TranslatedText]) -> bytes:
        """Returns the file with the translations; for an empty one, the source stays."""

    def place(self, text: Segment | Left) -> str:
        """Returns where a text stands, in words: "line 12"."""


@dataclasses.dataclass
class TextDocument:
    """A document that is one text."""

    text: str
    segments: list[Segment]
    encode: Callable[[str], bytes]
    left: list[Left] = dataclasses.field(default_factory=list)

    def place(self, text: Segment | Left) -> str:
        """Returns the line that a text begins in."""
        return f"line {line_number(self.text, text.start)}"

    def write(self, translations: Sequence[TranslatedText]) -> bytes:
        """Returns the file, byte for byte the source but for segments that have changed."""
        return self.encode(self.translated_text(translations))

    def translated_text(self, translations: Sequence[TranslatedText]) -> str:
        """Returns the text with the translations of its segments."""
        edits: dict[Span, str] = {}  # new texts by span
        for segment, translation in zip(self.segments, translations, strict=True):
            if nodes := translated_nodes(segment, translation):
                edits.update(zip(segment.spans, segment.write(nodes), strict=True))
        pieces: list[str] = []
        position = 0
        for span, new_text in sorted(edits.items(), key=lambda edit: (edit[0].start, -edit[0].end)):
            if span.start >= position:  # not an attribute of a tag that is written already
                pieces += self.text[position : span.start], new_text
                position = span.end
        return "".join([*pieces, self.text[position:]])


class DecodedText(NamedTuple):
    """The text of a file, and how to write such a file."""

    text: str
    mark: bytes  # the byte order mark
    encoding: str

    def encode(self, text: str) -> bytes:
        """Returns the bytes of a changed text; characters that the encoding lacks are an error."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise UserError(
                f"the translation holds {text[error.start]!r}, which {self.encoding} cannot "
                "write; convert the file to UTF-8"
            ) from None

    def encode_with_references(self, text: str) -> bytes:
        """Returns the bytes of changed HTML or XML; what the encoding lacks is written as &#N;."""
        return self.mark + text.encode(self.encoding, "xmlcharrefreplace")


def decode(content: bytes, declared: str | None = None) -> DecodedText:
    """Returns the text of a file, with all line ends as they are.

    A byte order mark counts before the encoding that the file declares; without both, it is UTF-8.
    """
    encoding, mark = declared or "utf-8", b""
    for candidate, marked_encoding in BYTE_ORDER_MARKS.items():
        if content.startswith(candidate):
            encoding, mark = marked_encoding, candidate
    try:
        if codecs.lookup(encoding).name.replace("_", "-") in ESCAPES:  # Python's, of no documents
            raise LookupError
        if not "<".encode(encoding).replace(b"\0", b"").endswith(b"<"):  # EBCDIC
            raise LookupError
        text = content[len(mark) :].decode(encoding)
    except LookupError:
        raise UserError(f"declares the unknown encoding {encoding!r}; correct it") from None
    except UnicodeError as error:  # of some encodings without a position
        line = content.count(b"\n", 0, len(mark) + getattr(error, "start", 0)) + 1
        raise UserError(
            f"line {line}: is not {encoding.upper()}; {conversion([content])}"
        ) from None
    if "\0" in text:
        raise UserError("holds NUL characters: it is not text, or UTF-16 without a mark")
    if text.encode(encoding) != content[len(mark) :]:
        raise UserError(f"cannot be written again as {encoding}; convert it to UTF-8 first")
    return DecodedText(text, mark, encoding)
