"""The source of a segment: a tree of text and of markup within a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any


@dataclasses.dataclass
class Text:
    """Text, without markup and character references."""

    text: str


@dataclasses.dataclass
class Tag:
    """A tag with attributes that are translated, or several tags."""

    pieces: list[str | Tag]  # of its markup; some are values of attributes

    def __str__(self) -> str:
        return "".join(map(str, self.pieces))


@dataclasses.dataclass
class Element:
    """What a pair of tags encloses."""

    start_tag: Any  # str or Tag; in a tree of XML, what office.write_runs takes
    end_tag: str
    children: list[Node]


@dataclasses.dataclass
class Fixed:
    """Markup that encloses nothing to translate: an image, a comment, or code."""

    markup: Any  # as above
    text: str = ""  # what is translated: of a name that stays as it is, a mark of text/protected.py
    name: str = ""  # what a reader sees


Node = Text | Element | Fixed


def plain_text(nodes: Iterable[Node]) -> str:
    """Returns the text of nodes, with marks for names that are not translated."""
    return "".join(
        plain_text(node.children) if isinstance(node, Element) else node.text for node in nodes
    )


def seen_text(nodes: Iterable[Node]) -> str:
    """Returns what a reader sees of nodes."""
    return "".join(
        seen_text(node.children)
        if isinstance(node, Element)
        else (isinstance(node, Fixed) and node.name) or node.text
        for node in nodes
    )


def outer_spaces(nodes: list[Node]) -> tuple[str, str]:
    """Returns the white space that nodes begin with, and that they end with."""
    first, last = nodes[:1], nodes[-1:]
    while first and isinstance(first[0], Element):
        first = first[0].children[:1]
    while last and isinstance(last[0], Element):
        last = last[0].children[-1:]
    before, after = plain_text(first), plain_text(last)
    return before[: len(before) - len(before.lstrip())], after[len(after.rstrip()) :]


def render(nodes: Iterable[Node], escape: Callable[[str], str]) -> str:
    """Returns nodes as markup."""
    parts = []
    for node in nodes:
        if isinstance(node, Text):
            parts.append(escape(node.text))
        elif isinstance(node, Fixed):
            parts.append(str(node.markup))
        else:
            parts += str(node.start_tag), render(node.children, escape), node.end_tag
    return "".join(parts)


def cut_nodes(nodes: list[Node], position: int) -> tuple[list[Node], list[Node]]:
    """Returns nodes before and after a position of their text; an element there is in both."""
    before: list[Node] = []
    after: list[Node] = []
    for node in nodes:
        length = len(plain_text([node]))
        if position >= length and (length or position or not after):
            before.append(node)
        elif position <= 0:
            after.append(node)
        elif isinstance(node, Element):
            first, second = cut_nodes(node.children, position)
            before.append(Element(node.start_tag, node.end_tag, first))
            after.append(Element(node.start_tag, node.end_tag, second))
        elif isinstance(node, Text):
            before.append(Text(node.text[:position]))
            after.append(Text(node.text[position:]))
        else:
            before.append(node)
        position = max(position - length, 0)
    return before, after


def replace_character(nodes: list[Node], position: int, text: str) -> list[Node]:
    """Returns nodes with another text in place of the character at a position of their text."""
    replaced = []
    for node in nodes:
        length = len(plain_text([node]))
        if not 0 <= position < length or isinstance(node, Fixed):
            replaced.append(node)
        elif isinstance(node, Element):
            children = replace_character(node.children, position, text)
            replaced.append(Element(node.start_tag, node.end_tag, children))
        else:
            replaced.append(Text(node.text[:position] + text + node.text[position + 1 :]))
        position -= length
    return replaced
