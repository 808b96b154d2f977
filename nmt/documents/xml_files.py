"""XML: read by expat, Python's own parser, whose positions keep all markup as it is.

An element that holds text itself is a segment, with all that it encloses. Files that declare
entities are refused: those could read other files, or grow without bound.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from html.entities import html5
from xml.parsers import expat

from nmt import UserError
from nmt.documents.document import DecodedText, Left, Span, TextDocument
from nmt.documents.markup import MarkupSegments, Token, find_ends
from nmt.text.protected import has_words

ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([\w.:-]+)""")

CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
ROOT = "<fragment>"  # around text without a root element


class XmlTokens:
    """The tokens of an XML document, in order; one that declares entities is a UserError."""

    def __init__(self, text: str):
        self.tokens: list[Token] = []
        self._in_cdata = False
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = lambda name, attributes: self._add("start", name, attributes)
        parser.EndElementHandler = lambda name: self._add("end", name)
        parser.CharacterDataHandler = lambda data: self._add("fixed" if self._in_cdata else "text")
        parser.StartCdataSectionHandler = self._start_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.CommentHandler = lambda data: self._add("fixed")
        parser.ProcessingInstructionHandler = lambda target, data: self._add("fixed")
        parser.SkippedEntityHandler = self._skip_entity
        parser.EntityDeclHandler = self._refuse_entity
        content = text.encode("utf-8", "surrogatepass")
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            raise UserError(
                f"line {error.lineno}: is not well-formed XML: {expat.ErrorString(error.code)}; "
                "correct it"
            ) from None
        self._convert_positions(content)
        self._join_empty_elements()

    def _add(
        self, kind: str, name: str = "", attributes: dict[str, str | None] | None = None
    ) -> None:
        start = self._parser.CurrentByteIndex
        self.tokens.append(Token(kind, start, start, name, attributes or {}))

    def _skip_entity(self, entity: str, is_parameter: bool) -> None:
        """Adds an entity of another file: text if it is one of HTML's, too."""
        self._add("text" if f"{entity};" in html5 else "fixed")

    def _start_cdata(self) -> None:
        self._in_cdata = True
        self._add("fixed")

    def _end_cdata(self) -> None:
        self._add("fixed")
        self._in_cdata = False

    def _refuse_entity(self, entity: str, *_: object) -> None:
        raise UserError(
            f"declares the entity {entity!r}, which could read other files; remove the declaration"
        )

    def _convert_positions(self, content: bytes) -> None:
        """Turns positions in bytes into positions in text, and fills in the ends."""
        position = characters = 0
        for token in self.tokens:
            characters += len(content[position : token.start].decode("utf-8", "surrogatepass"))
            position = token.start
            token.start = characters
        total = characters + len(content[position:].decode("utf-8", "surrogatepass"))
        for token, following in itertools.pairwise(self.tokens):
            token.end = following.start
        self.tokens[-1].end = total

    def _join_empty_elements(self) -> None:
        """Makes one token of <x/>, for which expat reports a start and an end."""
        tokens: list[Token] = []
        for token in self.tokens:
            if token.kind == "end" and token.start == token.end and tokens[-1].kind == "start":
                tokens[-1].kind = "fixed"
            else:
                tokens.append(token)
        self.tokens = tokens


def mark_inline(tokens: list[Token], text: str) -> None:
    """Sets which tokens are inline: those within an element that holds text itself."""
    parents, with_text = [], set()  # numbers of start tags
    for number, token in enumerate(tokens):
        if token.kind == "start":
            parents.append(number)
        elif token.kind == "end":
            parents.pop()
        elif token.kind == "text" and parents and text[token.start : token.end].strip():
            with_text.add(parents[-1])
    depth = 0  # of elements within one that holds text; 0 outside
    for number, token in enumerate(tokens):
        if token.kind == "end" and depth:
            depth -= 1
        token.is_inline = depth > 0
        if token.kind == "start" and (depth or number in with_text):
            depth += 1


def document(decoded: DecodedText) -> TextDocument:
    """Returns the Document of XML text."""
    tokens = XmlTokens(decoded.text).tokens
    find_ends(tokens, lambda open_name, name: False)
    mark_inline(tokens, decoded.text)
    markup = MarkupSegments(decoded.text, tokens)
    segments, left = markup.find(), markup.left
    left += [
        Left("in a CDATA section", match.start())
        for match in CDATA.finditer(decoded.text)
        if has_words(match[1])
    ]
    return TextDocument(decoded.text, segments, decoded.encode_with_references, left)


def fragment(decoded: DecodedText) -> TextDocument:
    """Returns the Document of XML text that need not have a root element: "um <b>gato</b>"."""
    if decoded.text.lstrip().startswith(("<?xml", "<!DOCTYPE")):
        return document(decoded)
    wrapped = document(decoded._replace(text=f"{ROOT}{decoded.text}</fragment>"))
    for segment in wrapped.segments:
        segment.spans = [
            Span(*(position - len(ROOT) for position in span)) for span in segment.spans
        ]
    left = [text._replace(start=text.start - len(ROOT)) for text in wrapped.left]
    return dataclasses.replace(wrapped, text=decoded.text, left=left)
