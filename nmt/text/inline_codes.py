"""Markup within a text: tags, BBCode, Markdown, and which of them begin and end a part of it.

Every expression takes linear time: parts that repeat are bounded, or give nothing back (`*+`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

VALUE = r"""\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=]++)"""
SWITCHES = (  # attributes without a value; in "x<y and y>z", "and" is none
    "allowfullscreen|async|autofocus|autoplay|checked|controls|default|defer|disabled|hidden|ismap"
    "|loop|multiple|muted|nomodule|novalidate|nowrap|open|readonly|required|reversed|selected"
)
ATTRIBUTE = rf"\s++(?:[\w:.@-]++{VALUE}|(?:{SWITCHES})(?![\w:.@-])|\w*+[-:@][\w:.@-]*+)"
TAG = (  # <b>, <1>, </1>, <!-- note -->, &amp;, [url=https://a.org]
    rf"</?[A-Za-z][\w:.-]*+(?>(?:{ATTRIBUTE})*)\s*+/?>|</?\d{{1,3}}/?>|<!--(?>(?:[^<>-]|-(?!->))*)-->"
    r"|&(?:[A-Za-z]\w{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});"
    r"|\[/?(?:b|i|u|s|url|img|quote|code|color|size|font|center|list)(?:=[^\[\]\n]{0,300}+)?\]"
)
TARGET = r"\([^()\s]{1,300}+(?:\s\"[^\"\n]{0,200}+\")?\)"  # of a link; with its title
MARKDOWN = (  # **, _, ~~, `code`, [text](https://a.org "title"), # a title
    r"`[^`\n]{1,200}+`"
    rf"|!?\[(?=[^\[\]\n]{{1,200}}+\]{TARGET})|\]{TARGET}"
    r"|(?<![\w*])\*{1,3}+(?=[^\s*][^*\n]{0,200}+\*)|(?<=[^\s*])\*{1,3}+(?![\w*])"
    r"|(?<![\w_])_{1,2}+(?=[^\s_][^_\n]{0,200}+_)|(?<=[^\s_])_{1,2}+(?![\w_])"
    r"|(?<![\w~])~~(?=[^\s~][^~\n]{0,200}+~)|(?<=[^\s~])~~(?![\w~])"
    r"|(?<![^\s])(?:\|{1,2}+|#{1,6}+)(?=\s)"
)
VOID_ELEMENTS = {"br", "hr", "img", "input", "wbr", "area", "base", "col", "embed", "link", "meta"}
TAG_NAME = re.compile(r"[<\[](/?)([A-Za-z][\w:.-]*|\d{1,3})(?![\w:.-])[^>\]]*?(/?)[>\]]")
LINK = re.compile(r"!?\[$|(\])\(")
# {% if %}, {% endif %}, {{#if}}, {{/if}}
BLOCK = re.compile(r"\{%-?\s*(end)?(\w+)|\{\{?([#/])\s*(\w+)")


class Element(NamedTuple):
    """What a piece of markup begins or ends."""

    name: str
    is_end: bool
    is_inline: bool = False  # so that it joins letters on its sides: <b>B</b>ig


def element(original: str) -> Element | None:
    """Returns the Element that a piece of markup begins or ends; None if it is neither."""
    if tag := TAG_NAME.match(original):
        is_end, name, is_empty = tag.groups()
        if is_empty or name.lower() in VOID_ELEMENTS:
            return None
        return Element(name, bool(is_end), is_inline=True)
    if link := LINK.match(original):
        return Element("link", bool(link[1]), is_inline=True)
    if block := BLOCK.match(original):
        return Element(block[2] or block[4], bool(block[1]) or block[3] == "/")
    return None


def nest(restored: list[str], originals: Sequence[str]) -> list[str]:
    """Returns `restored`; if it is not nested as `originals`, its markup is in their order."""
    ends = {part.name for part in map(element, originals) if part and part.is_end}

    def is_part(original: str) -> bool:
        part = element(original)
        return part is not None and (part.is_inline or part.name in ends)

    parts = [original for original in originals if is_part(original)]
    positions = [index for index, original in enumerate(restored) if is_part(original)]
    translated = [restored[index] for index in positions]
    if len(parts) != len(positions) or _left_open(translated) == _left_open(parts):
        return restored
    restored = list(restored)
    for index, part in zip(positions, parts, strict=True):
        restored[index] = part
    return restored


def _left_open(parts: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Returns the names that markup ends before it begins them, and those that it leaves open.

    None if an element ends within another one that is still open.
    """
    closed: list[str] = []
    opened: list[str] = []
    for part in filter(None, map(element, parts)):
        if not part.is_end:
            opened.append(part.name)
        elif opened and opened[-1] == part.name:
            opened.pop()
        elif opened:
            return None
        else:
            closed.append(part.name)
    return closed, opened
