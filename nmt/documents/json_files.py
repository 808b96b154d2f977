"""JSON, .json: the values that are text. Keys, order, indentation and numbers stay as they are.

Python's json module checks the file; it does not say where a value stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from nmt import UserError
from nmt.documents.document import FormatOptions, Span, TextDocument, decode
from nmt.documents.resources import ResourceTexts, codes_of

STRING = re.compile(r'("(?>(?:[^"\\]++|\\.)*)")(\s*+:)?')  # a key has a colon behind it
ESCAPED_SIGN = re.compile(r"\\u00(3[ce]|2[67])", re.IGNORECASE)  # < > & ', within HTML


def string_writer(text: str) -> Callable[[str], str]:
    """Returns what writes a value as a string, with the escapes that the text of a file has."""
    signs = {chr(int(code, 16)) for code in ESCAPED_SIGN.findall(text)}
    is_ascii = text.isascii() and "\\u" in text

    def write(value: str) -> str:
        string = json.dumps(value, ensure_ascii=is_ascii)
        for sign in signs:
            string = string.replace(sign, f"\\u{codes_of(sign)[0]}")
        return string

    return write


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a .json file.

    Raises:
      UserError: it cannot be read.
    """
    decoded = decode(content)
    text = decoded.text
    try:
        json.loads(text, parse_int=str, parse_float=str)  # of any length
    except json.JSONDecodeError as error:
        raise UserError(f"line {error.lineno}: is not JSON ({error.msg}); correct it") from None
    except RecursionError:
        raise UserError("is nested too deep; divide it") from None
    texts, write = ResourceTexts(), string_writer(text)
    for match in STRING.finditer(text):
        if not match[2]:
            texts.add(json.loads(match[1]), Span(*match.span(1)), write)
    return TextDocument(text, texts.segments, decoded.encode, texts.left)
