"""XLIFF 1.2 and 2: each source without a target gets one. All else stays byte for byte."""

from __future__ import annotations

from collections.abc import Iterator

from nmt import UserError
from nmt.documents.document import Segment, Span, TextDocument, has_words
from nmt.documents.markup import Token, escape_text, find_partners, pair_tags, tree
from nmt.documents.nodes import Node, outer_spaces, render
from nmt.documents.xml_files import XmlTokens, decode_xml

UNITS = {"trans-unit", "segment"}  # of 1.2, of 2: what holds a source and a target
CODES = {"bpt", "ept", "ph", "it", "x", "bx", "ex", "sc", "ec", "cp"}  # markup, not text


def local_name(token: Token) -> str:
    """Returns the name of a tag without the prefix of its namespace."""
    return token.name.rpartition(":")[2]


def is_protected(token: Token) -> bool:
    """Returns whether a start tag says that its content is not translated."""
    attributes = token.attributes
    return attributes.get("translate") == "no" or attributes.get("mtype") == "protected"


class Units:
    """Finds the units of a file.

    Args:
      text: of the file.
      tokens: of the text, with partners.
    """

    def __init__(self, text: str, tokens: list[Token]):
        self._text, self._tokens = text, tokens

    def segments(self) -> Iterator[Segment]:
        """Yields the segments: the sources without a target."""
        number = 0
        while number < len(self._tokens):
            token = self._tokens[number]
            if token.kind == "start" and is_protected(token):
                number = token.partner
            elif token.kind == "start" and local_name(token) in UNITS:
                yield from self._unit_segments(number)
                number = token.partner
            number += 1

    def _children(self, parent: int) -> dict[str, int]:
        """Returns the numbers of the tokens of the children of an element, by name."""
        children, number = {}, parent + 1
        while number < self._tokens[parent].partner:
            token = self._tokens[number]
            if token.kind in ("start", "fixed") and token.name:
                children.setdefault(local_name(token), number)
            if token.kind == "start":
                number = token.partner
            number += 1
        return children

    def _unit_segments(self, unit: int) -> Iterator[Segment]:
        """Yields the segment of a unit, if it has no target."""
        children = self._children(unit)
        source = children.get("source")
        if source is None or self._tokens[source].kind != "start":
            return
        nodes = self._nodes(source)
        target = self._target(children)
        if target and has_words("".join(self._texts(source))):
            span, start_tag, end_tag = target
            before, after = outer_spaces(nodes)

            def write(nodes: list[Node]) -> list[str]:
                content = render(nodes, escape_text).strip()
                return [start_tag + before + content + after + end_tag]

            yield Segment(nodes, [span], write, has_target=True)

    def _texts(self, element: int) -> Iterator[str]:
        """Yields the texts within an element, without those of codes."""
        number = element + 1
        while number < self._tokens[element].partner:
            token = self._tokens[number]
            if token.kind == "start" and local_name(token) in CODES:
                number = token.partner
            elif token.kind == "text":
                yield self._text[token.start : token.end]
            number += 1

    def _nodes(self, source: int) -> list[Node]:
        """Returns the nodes of a source."""
        first, last = source + 1, self._tokens[source].partner
        sentence, number = [], first
        while number < last:
            token = self._tokens[number]
            if token.kind == "start" and (local_name(token) in CODES or is_protected(token)):
                content = "".join(self._texts(number)) if is_protected(token) else ""
                end = self._tokens[token.partner].end
                sentence.append(Token("fixed", token.start, end, content=content))
                number = token.partner
            else:
                sentence.append(token)
            number += 1
        pair_tags(sentence)
        return tree(self._text, sentence, Span(self._tokens[source].end, self._tokens[last].start))

    def _target(self, children: dict[str, int]) -> tuple[Span, str, str] | None:
        """Returns where the target of a unit belongs, and the tags around it; None if it has one.

        Args:
          children: of the unit.
        """
        if "target" in children:
            token = self._tokens[children["target"]]
            start_tag = self._text[token.start : token.end]
            if token.kind == "fixed":  # <target/>
                start_tag = start_tag.removesuffix("/>").rstrip() + ">"
                return Span(token.start, token.end), start_tag, f"</{token.name}>"
            span = Span(token.end, self._tokens[token.partner].start)
            return None if self._text[slice(*span)].strip() else (span, "", "")
        source = self._tokens[children["source"]]
        last = self._tokens[children.get("seg-source", children["source"])]
        name = source.name[: -len("source")] + "target"
        position = self._tokens[last.partner].end if last.kind == "start" else last.end
        line = self._text[: source.start].rpartition("\n")[2]
        margin = "" if line.strip() else f"\n{line}"
        if margin and self._text[: source.start].endswith(f"\r\n{line}"):
            margin = f"\r{margin}"
        return Span(position, position), f"{margin}<{name}>", f"</{name}>"


def parse(content: bytes, ending: str) -> TextDocument:
    """Returns the Document of an XLIFF file.

    Raises:
      UserError: it cannot be read.
    """
    decoded = decode_xml(content)
    tokens = XmlTokens(decoded.text).tokens
    find_partners(tokens, lambda open_name, name: False)
    if not any(local_name(token) == "xliff" for token in tokens):
        raise UserError("is not XLIFF: it has no element <xliff>; name it .xml to translate it so")
    segments = list(Units(decoded.text, tokens).segments())
    return TextDocument(decoded.text, segments, decoded.encode_with_references)
