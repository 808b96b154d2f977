"""Translation memories as text (TMX 1.4): their head, their units and their end."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TextIO

from nmt import __version__
from nmt.text.languages import Pair

NO_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
ANY_SOURCE = "*all*"  # srclang of a memory whose units have no direction
END = "</body>\n</tmx>\n"


def head(source_language: str, original_format: str) -> str:
    """Returns what a translation memory, TMX 1.4, begins with."""
    from xml.sax.saxutils import quoteattr  # which imports what opens URLs

    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        f'<header creationtool="transformer-tutorial" creationtoolversion="{__version__}" '
        f'segtype="sentence" o-tmf="{original_format}" adminlang="en" '
        f'srclang={quoteattr(source_language)} datatype="plaintext"/>\n<body>\n'
    )


def unit(
    pair: Pair,
    texts: Iterable[str],
    attributes: Mapping[str, str] = MappingProxyType({}),
    properties: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Returns a unit of a translation memory.

    Attributes have names of TMX, properties those of this program. A ValueError says that a text
    has a character that XML lacks.
    """
    from xml.sax.saxutils import escape, quoteattr

    texts = [*texts]
    for text in (*texts, *attributes.values(), *properties.values()):
        if match := re.search(NO_XML, text):
            raise ValueError(f"U+{ord(match[0]):04X} is no character of XML")
    named = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    described = "".join(
        f'<prop type="x-{name}">{escape(value)}</prop>' for name, value in properties.items()
    )
    variants = "".join(
        f"<tuv xml:lang={quoteattr(language)}><seg>{escape(text)}</seg></tuv>"
        for language, text in zip(pair, texts, strict=True)
    )
    return f"<tu{named}>{described}{variants}</tu>\n"


@contextlib.contextmanager
def unit_writer(file: TextIO, pair: Pair) -> Iterator[Callable[[str, str], None]]:
    """Yields what writes a source and a target as a unit of a translation memory, TMX 1.4.

    The head and the end are written, too. What writes raises a ValueError for a character that XML
    lacks.
    """
    file.write(head(pair.source, "tsv"))

    def write(*texts: str) -> None:
        file.write(unit(pair, texts))

    yield write
    file.write(END)
