"""Plural and select arguments of ICU messages: {n, plural, one {# cat} other {# cats}}.

Braces, the argument and the keywords stay; the text of each branch is translated by itself.
"""

from __future__ import annotations

import re
from typing import NamedTuple

HEAD = re.compile(
    r"\{\s*+([\w.]{1,80}+)\s*+,\s*+(plural|selectordinal|select)\s*+,(?:\s*+offset:\s*+\d{1,9})?"
)
OTHER_TYPE = re.compile(  # {0, choice, 0#none|1#one}, and types that no format has
    r"\{\s{0,9}+[\w.]{1,80}+\s{0,9}+,\s{0,9}+(?!(?:plural|selectordinal|select|number|date|time"
    r"|spellout|ordinal|duration|list)\b)[A-Za-z]{1,80}+\s{0,9}+,"
)
KEYWORD = re.compile(r"(?<!\s)\s*+(?:=\d{1,9}|[\w.-]{1,80}+)\s*+\{")
BRACE_OR_QUOTE = re.compile(r"[{}]|'(?:'|[{}#|](?>(?:[^']|''){0,1000})')")  # '{' is text
END = re.compile(r"(?<!\s)\s*+\}")


class IcuError(Exception):
    """An argument whose braces do not match."""


class Branch(NamedTuple):
    """The text between the braces of a keyword."""

    start: int  # in the message
    end: int


class Argument(NamedTuple):
    """A plural or select argument, from its first brace to its last."""

    start: int
    end: int
    name: str
    is_plural: bool  # "#" in its branches stands for the number
    branches: list[Branch]


def find_arguments(message: str) -> list[Argument]:
    """Returns the plural and select arguments of a message, without those in branches of others.

    Raises:
      IcuError: one is not complete.
    """
    arguments, position = [], 0
    while head := HEAD.search(message, position):
        branches, position = [], head.end()
        while keyword := KEYWORD.match(message, position):
            position = _closing_brace(message, keyword.end())
            branches.append(Branch(keyword.end(), position - 1))
        end = END.match(message, position)
        if not end or not branches:
            raise IcuError
        position = end.end()
        is_plural = head[2] != "select"
        arguments.append(Argument(head.start(), position, head[1], is_plural, branches))
    return arguments


def check(text: str) -> None:
    """Raises an IcuError for text, without placeholders, that begins an argument of its own."""
    if OTHER_TYPE.search(text):
        raise IcuError


def _closing_brace(message: str, start: int) -> int:
    """Returns the position after the brace that ends a branch.

    Args:
      start: of the branch, after its opening brace.

    Raises:
      IcuError: there is none.
    """
    depth = 1
    for sign in BRACE_OR_QUOTE.finditer(message, start):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if not depth:
            return sign.end()
    raise IcuError
