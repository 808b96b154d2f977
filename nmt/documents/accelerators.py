"""Marks of keys in the labels of programs: "_Open" of GTK, "E&xit" of Qt, "~File" of LibreOffice.

The word is translated without its mark, which then stands before some letter of the translation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from nmt.documents.nodes import Node, text_nodes
from nmt.text.scripts import UNSPACED

MARKS = "_&~"
BEFORE_WORD = {mark: re.compile(rf"(?<![\w{mark}]){mark}(?=[^\W\d_])") for mark in MARKS}
WITHIN_WORD = {mark: re.compile(rf"(?<=[^\W\d_]){mark}(?=[^\W\d_])") for mark in MARKS}
IN_BRACKETS = {mark: re.compile(rf"\s?\({mark}([^\W_])\)") for mark in MARKS}  # "文件(&F)"
HEADER = re.compile(r"^X-Accelerator-Marker:\s*([_&~])\s*$", re.MULTILINE)
LETTERS = re.compile(r"[^\W\d_]+")
END_SIGNS = re.compile(r"(?<![\s.…:：。])[\s.…:：。]*+$")


class Accelerator(NamedTuple):
    """The key of a label."""

    mark: str  # one of MARKS
    letter: str


def find_marks(messages: Iterable[str], header: str = "") -> set[str]:
    """Returns the marks that a file uses before words, or that its header names."""
    named = HEADER.search(header)
    if named:
        return {named[1]}
    signs = dict(BEFORE_WORD)
    for message in messages:
        for mark, sign in list(signs.items()):
            if sign.search(message):
                del signs[mark]
    return set(MARKS) - set(signs)


def take_out(nodes: list[Node], marks: Collection[str]) -> Accelerator | None:
    """Removes the mark from the text of a label. Returns the Accelerator; None without one.

    A label has one mark, and the sign of it nowhere else. "_" within a word, as in "file_name",
    counts in files that use it before words.

    Args:
      nodes: of the label; changed in place.
      marks: those that the file uses.
    """
    texts = [node for node in text_nodes(nodes) if any(map(node.text.__contains__, MARKS))]
    for mark in MARKS:
        marked = [node for node in texts if mark in node.text]
        if len(marked) != 1 or marked[0].text.count(mark) != 1:
            continue
        text = marked[0].text
        sign = IN_BRACKETS[mark].search(text) or BEFORE_WORD[mark].search(text)
        inner = WITHIN_WORD[mark].search(text)
        if not sign and inner and text[inner.end()].islower() and (mark != "_" or mark in marks):
            sign = inner
        if sign:
            letter = sign[1] if sign.re.groups else text[sign.end()]
            marked[0].text = text[: sign.start()] + text[sign.end() :]
            return Accelerator(mark, letter)
    return None


def put_in(nodes: list[Node], accelerator: Accelerator) -> list[Node]:
    """Returns the nodes of a translation with a mark.

    It stands before the letter of the source, at the beginning of a word if there is one so; else
    before the first letter. A label without letters of an alphabet gets the key in brackets, as is
    the custom in Chinese and Japanese: "打开(&O)".

    Args:
      nodes: of the translation; changed in place.
      accelerator: of the source.
    """
    mark, letter = accelerator
    texts = list(text_nodes(nodes))
    for node in texts:  # where the sign is text
        node.text = node.text.replace(mark, mark * 2) if mark != "~" else node.text
    starts = [(node, word.start()) for node in texts for word in LETTERS.finditer(node.text)]
    starts = [(node, start) for node, start in starts if not UNSPACED.match(node.text, start)]
    same = [place for place in starts if place[0].text[place[1]].lower() == letter.lower()]
    inner = [
        (node, node.text.lower().index(letter.lower()))
        for node in texts
        if letter.lower() in node.text.lower()
    ]
    if places := same or (inner if starts else []) or starts:
        node, position = places[0]
        node.text = node.text[:position] + mark + node.text[position:]
    elif texts:
        node = next((node for node in reversed(texts) if node.text.strip()), texts[-1])
        signs = END_SIGNS.search(node.text)
        end = signs.start() if signs else len(node.text)
        node.text = f"{node.text[:end]}({mark}{letter.upper()}){node.text[end:]}"
    return nodes
