"""Apple's .strings: "key" = "value"; the values are translated, keys and comments stay."""

from __future__ import annotations

import re

from nmt import UserError
from nmt.documents.document import FormatOptions, Span, TextDocument, decode, line_number
from nmt.documents.resources import ResourceTexts, characters_of, format_flags

STRING = r'"(?>(?:[^"\\]++|\\.)*)"'
COMMENT = r"/\*(?>(?:[^*]++|\*(?!/))*)\*/|//[^\r\n]*+"
GAP = rf"(?>(?:\s++|{COMMENT})*)"
KEY = rf"(?:{STRING}|[\w.$:/-]++)"
# An entry without a value, "key"; has the key as its value.
ENTRY = re.compile(rf"{KEY}{GAP}(?:={GAP}(?P<value>{STRING}){GAP})?;|{GAP}", re.DOTALL)
ESCAPE = re.compile(r"((?>(?:\\[Uu][0-9A-Fa-f]{4})+))|\\(.)", re.DOTALL)
NAMED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b"}
WRITTEN = {character: f"\\{name}" for name, character in NAMED.items()} | {"\\": r"\\", '"': r"\""}


def unescape(string: str) -> str:
    """Returns the text of a quoted string, given without its quotes."""
    return ESCAPE.sub(
        lambda match: (
            characters_of(re.split(r"\\[Uu]", match[1])[1:])
            if match[1]
            else NAMED.get(match[2], match[2])
        ),
        string,
    )


def write_string(value: str) -> str:
    """Returns a value as a quoted string."""
    return '"' + "".join(WRITTEN.get(character, character) for character in value) + '"'


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a .strings file, in UTF-8, or UTF-16 with a byte order mark.

    Raises:
      UserError: it cannot be read.
    """
    decoded = decode(content)
    text, texts, position = decoded.text, ResourceTexts(), 0
    while position < len(text):
        entry = ENTRY.match(text, position)
        if not entry or entry.end() == position:
            line = line_number(text, position)
            raise UserError(f'line {line}: is not "key" = "value"; nor a comment; correct it')
        if entry["value"]:
            value = unescape(entry["value"][1:-1])
            span = Span(*entry.span("value"))
            texts.add(value, span, write_string, format_flags(value, "objc"))
        position = entry.end()
    return TextDocument(text, texts.segments, decoded.encode, texts.left)
