"""Java's .properties: key=value; the values are translated, keys and comments stay.

A value that continues on further lines, each but the last ending in a backslash, becomes one line.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from nmt.documents.document import DecodedText, FormatOptions, Span, TextDocument, decode
from nmt.documents.resources import ResourceTexts, characters_of, codes_of
from nmt.text.encoding import is_utf_8

CONTINUED = r"\\(?:\r\n|\r|\n)[ \t\f]*+"
SPACE = rf"(?>(?:[ \t\f]|{CONTINUED})*)"
LINE = re.compile(
    r"[ \t\f]*+(?:[#!][^\r\n]*+"  # a comment
    rf"|(?>(?:[^\\\s=:]|\\(?:\r\n|[\s\S]|\Z))*)(?:{SPACE}[=:])?{SPACE}"  # a key
    r"(?P<value>(?>(?:[^\\\r\n]|\\(?:\r\n|[\s\S]|\Z))*)))"
    r"(?:\r\n|\r|\n|\Z)"
)
ESCAPE = re.compile(rf"{CONTINUED}|((?>(?:\\u[0-9A-Fa-f]{{4}})+))|\\([\s\S]?)")
NAMED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
WRITTEN = {character: f"\\{name}" for name, character in NAMED.items()} | {"\\": r"\\"}
ARGUMENT = re.compile(r"\{\s*\d")  # of MessageFormat, in which an apostrophe quotes


def unescape(markup: str) -> str:
    """Returns the text of a value."""

    def character(match: re.Match[str]) -> str:
        if match[1]:
            return characters_of(match[1].split(r"\u")[1:])
        return NAMED.get(match[2], match[2]) if match[2] else ""

    return ESCAPE.sub(character, markup)


def value_writer(encoding: str) -> Callable[[str], str]:
    """Returns what writes a value; characters that the encoding lacks are written as \\uXXXX."""

    def write_character(character: str) -> str:
        if character in WRITTEN:
            return WRITTEN[character]
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            return "".join(f"\\u{code}" for code in codes_of(character))
        return character

    def write(value: str) -> str:
        markup = "".join(map(write_character, value))
        return f"\\{markup}" if markup.startswith(" ") else markup

    return write


def decode_properties(content: bytes) -> DecodedText:
    """Returns the text of a file, in the encoding that it is in.

    Java 9 and later read UTF-8, earlier versions and a file that is none Latin-1. ASCII is right
    for both, so it stays ASCII.
    """
    if content.startswith(codecs.BOM_UTF8) or not is_utf_8(content):
        is_latin_1 = not is_utf_8(content) and not content.startswith((b"\xff\xfe", b"\xfe\xff"))
        return decode(content, "iso-8859-1" if is_latin_1 else None)
    return decode(content, "ascii" if content.isascii() else None)


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a .properties file.

    Raises:
      UserError: it cannot be read.
    """
    decoded = decode_properties(content)
    texts, write = ResourceTexts(), value_writer(decoded.encoding)
    for line in LINE.finditer(decoded.text):
        if line["value"]:
            value = unescape(line["value"])
            flags = ["java-format"] if ARGUMENT.search(value) else []
            texts.add(value, Span(*line.span("value")), write, flags)
    return TextDocument(decoded.text, texts.segments, decoded.encode, texts.left)
