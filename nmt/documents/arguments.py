"""The order of a message's arguments: a program fills "%s has %d" by order, not by meaning.

Where a translation needs them in another order, their numbers say so in formats that have them:
"%2$d of %1$s". In the other formats they stay in the order of the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nmt.documents.nodes import Element, Fixed, Node

BY_ORDER = re.compile(  # %s, %-5.2f, %*d, %@, {}, {:>10}; not %n of Qt, nor %m, which takes none
    r"%(?!L?[nma]$)[-+ #0',.*\d]*+(?:hh|h|ll|l|I64|I32|[LqjztZ])?[A-Za-z@]|\{(?:[:!][^{}]*+)?\}"
)
NUMBERS = {  # gettext's flag, without "-format": what replaces the first sign
    **dict.fromkeys(("c", "objc", "php", "perl", "java-printf", "ruby", "tcl"), "%{}$"),
    **dict.fromkeys(("python-brace", "rust", "c++"), "{{{}"),
}
FIRST_NUMBERS = {"%{}$": 1, "{{{}": 0}


def numbering(flags: Iterable[str]) -> str:
    """Returns how the flags' format numbers an argument; "" if it does not, or is unknown."""
    names = (flag.removesuffix("-format") for flag in flags if flag.endswith("-format"))
    return next((NUMBERS[name] for name in names if name in NUMBERS), "")


def is_numbered(source: list[Node], numbers: str) -> bool:
    """Returns whether the arguments of a message can have numbers; see `numbering`."""
    return bool(numbers) and not any("*" in node.text for node in _arguments(source))


def put_in_order(nodes: list[Node], source: list[Node]) -> None:
    """Puts the arguments of a translation in the order of the source; changes nodes in place."""
    for node, original in zip(list(_arguments(nodes)), _arguments(source), strict=False):
        node.markup, node.text = original.markup, original.text


def number(nodes: list[Node], source: list[Node], numbers: str) -> None:
    """Writes the numbers of arguments that are in another order; of equal ones, in their order.

    Args:
      nodes: of the translation; changed in place.
      source: nodes.
      numbers: see `numbering`.
    """
    arguments = list(_arguments(nodes))
    texts = [node.text for node in _arguments(source)]
    if [node.text for node in arguments] == texts:
        return
    unused = list(enumerate(texts, start=FIRST_NUMBERS[numbers]))
    for node in arguments:
        entry = next((entry for entry in unused if entry[1] == node.text), None)
        if entry:
            unused.remove(entry)
            prefix = numbers.format(entry[0])
            node.markup = f"{prefix}{str(node.markup)[1:]}"
            node.text = f"{prefix}{node.text[1:]}"


def _arguments(nodes: list[Node]) -> Iterator[Fixed]:
    """Yields the placeholders that a program fills by order."""
    for node in nodes:
        if isinstance(node, Element):
            yield from _arguments(node.children)
        elif isinstance(node, Fixed) and BY_ORDER.fullmatch(node.text):
            yield node
