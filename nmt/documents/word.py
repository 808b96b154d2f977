"""Word documents, .docx: an archive of XML, of which the paragraphs are translated.

A run is text of one format. The format of most of a paragraph is that of its translation; runs of
other formats, hyperlinks, and what fields show (citations, references) are put around the words
that are linked to theirs. Line breaks, tabs and pictures end a segment. All other files of the
archive, and what is not in a paragraph that changes, stay as they are.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from nmt import UserError
from nmt.documents.archive import ArchiveDocument, main_part, opened, relations
from nmt.documents.document import FormatOptions, Left, Segment, Span, TextDocument, has_words
from nmt.documents.markup import MAX_DEPTH, Token, escape_text, find_partners, unescape_text
from nmt.documents.nodes import Element, Fixed, Node, Text, outer_spaces, plain_text
from nmt.documents.xml_files import XmlTokens, decode_xml

MAIN_PART = "word/document.xml"  # where _rels/.rels names no other
TEXT_PARTS = "header", "footer", "footnotes", "endnotes"  # types of relationships
UNTRANSLATED = re.compile(r"word/(?:(comments)|(charts)/chart\w*|(diagrams)/data\w*)\.xml")
TEXT = re.compile(r"<(?:w|a):t(?:\s[^<>]*)?>([^<]*)</")
PARAGRAPH = re.compile(r"<w:p[ >]")

CONTAINERS = {  # of runs, within a paragraph
    "w:hyperlink", "w:ins", "w:moveTo", "w:smartTag", "w:customXml", "w:fldSimple", "w:dir",
    "w:bdo",
}  # fmt: skip
PROPERTIES = {"w:customXmlPr", "w:smartTagPr"}  # a container may begin with them
CONTROL, CONTROL_CONTENT = "w:sdt", "w:sdtContent"  # the second, in the first, is a container
MARKS = {  # between runs: they stay near the words that they were at
    "w:bookmarkStart", "w:bookmarkEnd", "w:commentRangeStart", "w:commentRangeEnd", "w:del",
    "w:moveFrom", "w:moveFromRangeStart", "w:moveFromRangeEnd", "w:moveToRangeStart",
    "w:moveToRangeEnd", "m:oMath",
}  # fmt: skip
INLINE = {  # in runs: as MARKS
    "w:footnoteReference", "w:endnoteReference", "w:commentReference", "w:footnoteRef",
    "w:endnoteRef", "w:noBreakHyphen", "w:softHyphen", "w:sym",
}  # fmt: skip
NO_BREAK_HYPHEN = "w:noBreakHyphen"  # a sign of a word
DROPPED = {"w:proofErr", "w:lastRenderedPageBreak"}  # Word's notes for itself
CODE = re.compile(r"<w:instrText(?:\s[^<>]*)?>([^<]*)")
COMPUTED = re.compile(  # codes of fields: what they show is not words of the author
    r"\s*(?:ADDIN|CITATION|PAGE|PAGEREF|NUMPAGES|SECTIONPAGES|SEQ|DATE|TIME|CREATEDATE|SAVEDATE"
    r"|PRINTDATE|MERGEFIELD|FILENAME|AUTHOR|EQ|SYMBOL|LISTNUM|=)(?![A-Z])",
    re.IGNORECASE,
)
RUN_END = "</w:t></w:r>"


# ---- The items of a paragraph ----


@dataclasses.dataclass
class Item:
    """A part of a paragraph."""

    node: Node | None  # None for what ends a segment
    span: Span
    properties: str = ""  # of text: the markup of its format
    is_alone: bool = False  # of text: a segment by itself, in a run that goes on
    is_mark: bool = False  # between runs


class Field(NamedTuple):
    """A field among the children of a paragraph: the positions of the runs that are its marks."""

    start: int
    divider: int  # between its code and what it shows; the end if it shows nothing
    end: int


class Paragraphs:
    """The paragraphs of a part of the archive."""

    def __init__(self, text: str, tokens: list[Token]):
        self._text, self._tokens = text, tokens

    def segments(self) -> Iterator[Segment]:
        """Yields the segments of all paragraphs; those in a text box are by themselves."""
        for number, token in enumerate(self._tokens):
            if token.kind == "start" and token.name == "w:p":
                items = self._items(list(self._children(number)), 0)
                for is_text, group in itertools.groupby(items, lambda item: item.node is not None):
                    if is_text:
                        yield from item_segments(list(group))

    def _children(self, parent: int) -> Iterator[int]:
        """Yields the numbers of the tokens that begin the children of an element."""
        number = parent + 1
        while number < self._tokens[parent].partner_number:
            token = self._tokens[number]
            if token.name:
                yield number
            number = token.partner_number + 1 if token.kind == "start" else number + 1

    def _span(self, number: int) -> Span:
        """Returns where an element stands, with its content."""
        token = self._tokens[number]
        end = self._tokens[token.partner_number] if token.kind == "start" else token
        return Span(token.start, end.end)

    def _content(self, number: int) -> Span:
        """Returns where the content of an element stands."""
        token = self._tokens[number]
        end = self._tokens[token.partner_number].start if token.kind == "start" else token.end
        return Span(token.end, end)

    def _markup(self, span: Span) -> str:
        return self._text[slice(*span)]

    def _items(self, numbers: list[int], depth: int) -> Iterator[Item]:
        """Yields the items of a paragraph, or of a container or a field within it."""
        if depth > MAX_DEPTH:
            raise UserError(f"elements are nested more than {MAX_DEPTH} deep within a paragraph")
        fields = self._fields(numbers)
        position = 0
        while position < len(numbers):
            number = numbers[position]
            token, span = self._tokens[number], self._span(number)
            if field := fields.get(position):
                inner = list(self._items(numbers[field.divider + 1 : field.end], depth + 1))
                yield from self._field(field, numbers, inner)
                position = field.end
            elif (content := self._runs_within(number)) is not None:
                items = list(self._items(list(self._children(content)), depth + 1))
                yield from self._container(number, content, items)
            elif token.name == "w:r" and token.kind == "start":
                yield from self._run_items(number)
            elif token.name in MARKS:
                yield Item(Fixed(self._markup(span)), span, is_mark=True)
            elif token.name not in DROPPED | PROPERTIES:
                yield Item(None, span)
            position += 1

    def _field_mark(self, number: int) -> str | None:
        """Returns "begin", "separate" or "end" for a run that is no more than such a mark."""
        children = [self._tokens[child] for child in self._children(number)]
        names = {child.name for child in children}
        marks = [child for child in children if child.name == "w:fldChar"]
        if len(marks) != 1 or names - {"w:rPr", "w:fldChar", "w:instrText"} - DROPPED:
            return None
        return marks[0].attributes.get("w:fldCharType")

    def _fields(self, numbers: list[int]) -> dict[int, Field]:
        """Returns the outermost fields that begin and end among elements, by where they begin."""
        fields: dict[int, Field] = {}
        starts: list[tuple[int, int | None]] = []  # of open fields, and of what they show
        for position, number in enumerate(numbers):
            is_run = self._tokens[number].name == "w:r" and self._tokens[number].kind == "start"
            mark = self._field_mark(number) if is_run else None
            if mark == "begin":
                starts.append((position, None))
            elif mark == "separate" and starts:
                starts[-1] = starts[-1][0], position
            elif mark == "end" and starts:
                start, divider = starts.pop()
                fields[start] = Field(start, position if divider is None else divider, position)
        outermost: dict[int, Field] = {}
        end = -1
        for start, field in sorted(fields.items()):
            if start > end:
                outermost[start], end = field, field.end
        return outermost

    def _field(self, field: Field, numbers: list[int], items: list[Item]) -> Iterator[Item]:
        """Yields a field as an item; as several if a segment ends within it."""
        start = self._span(numbers[field.start]).start
        before, end = self._span(numbers[field.divider]).end, self._span(numbers[field.end])
        if field.divider == field.end:  # it shows nothing
            yield Item(
                Fixed(self._markup(Span(start, end.end))), Span(start, end.end), is_mark=True
            )
        else:
            outer = Span(start, end.end)
            code = "".join(CODE.findall(self._markup(Span(start, before))))
            is_fixed = bool(COMPUTED.match(code))
            yield from self._element(outer, Span(before, end.start), items, is_fixed)

    def _element(
        self, outer: Span, content: Span, items: list[Item], is_fixed: bool = False
    ) -> Iterator[Item]:
        """Yields what stands around items as an item with them; by itself if one ends a segment.

        Fixed items stay as they are: the network reads them.
        """
        start, end = Span(outer.start, content.start), Span(content.end, outer.end)
        if any(item.node is None or item.is_alone for item in items):
            yield from (Item(None, start), *items, Item(None, end))
            return
        element = Element(
            self._markup(start), self._markup(end), merge_runs(as_run(item) for item in items)
        )
        if has_words(plain_text([element])) and not is_fixed:
            yield Item(element, outer)
        else:
            text = plain_text([element])
            yield Item(Fixed(self._markup(outer), text), outer, is_mark=not text.strip())

    def _runs_within(self, number: int) -> int | None:
        """Returns the number of the element, itself or in it, whose children are runs."""
        token = self._tokens[number]
        if token.kind != "start":
            return None
        if token.name == CONTROL:
            contents = (
                child
                for child in self._children(number)
                if self._tokens[child].name == CONTROL_CONTENT
                and self._tokens[child].kind == "start"
            )
            return next(contents, None)
        if token.name == "w:r":
            return self._ruby_base(number)
        return number if token.name in CONTAINERS else None

    def _ruby_base(self, run: int) -> int | None:
        """Returns the number of the text under an annotation, if a run holds nothing else."""
        elements = [n for n in self._children(run) if self._tokens[n].name != "w:rPr"]
        if len(elements) != 1 or self._tokens[elements[0]].name != "w:ruby":
            return None
        bases = (n for n in self._children(elements[0]) if self._tokens[n].name == "w:rubyBase")
        return next((base for base in bases if self._tokens[base].kind == "start"), None)

    def _container(self, number: int, inner: int, items: list[Item]) -> Iterator[Item]:
        """Yields a container as an item; as several if a segment ends within it."""
        content = self._content(inner)
        for child in self._children(inner):
            if self._tokens[child].name in PROPERTIES:
                content = Span(self._span(child).end, content.end)
        code = self._tokens[number].attributes.get("w:instr") or ""  # of w:fldSimple
        is_fixed = bool(COMPUTED.match(code))
        yield from self._element(self._span(number), content, items, is_fixed)

    def _run_items(self, run: int) -> Iterator[Item]:
        """Yields the items of a run."""
        whole, properties = self._span(run), ""
        children = list(self._children(run))
        names = {self._tokens[number].name for number in children}
        is_divided = bool(names - {"w:rPr", "w:t"} - INLINE - DROPPED)
        start = whole.start
        for number in children:
            token, span = self._tokens[number], self._span(number)
            end = whole.end if number == children[-1] else span.end
            if token.name == "w:rPr":
                properties = self._markup(span)
            elif token.name == "w:t":
                content = self._content(number)
                text = Text(unescape_text(self._markup(content)))
                if is_divided:
                    yield Item(text, content, is_alone=True)
                else:
                    yield Item(text, Span(start, end), properties)
                    start = end
            elif is_divided:
                yield Item(None, span)
            elif token.name == NO_BREAK_HYPHEN:
                yield Item(Text("\u2011"), Span(start, end), properties)
                start = end
            elif token.name in INLINE:
                yield Item(Fixed(f"<w:r>{properties}{self._markup(span)}</w:r>"), Span(start, end))
                start = end


# ---- Segments of items ----


def node_of(item: Item) -> Node:
    """Returns the node of an item that ends no segment."""
    if item.node is None:
        raise ValueError("the item ends a segment")
    return item.node


def as_run(item: Item) -> Node:
    """Returns an item as a node, text as a run."""
    if not isinstance(item.node, Text):
        return node_of(item)
    return Element(run_start(item.properties), RUN_END, [item.node])


def run_start(properties: str) -> str:
    """Returns what stands before the text of a run."""
    return f'<w:r>{properties}<w:t xml:space="preserve">'


def merge_runs(nodes: Iterable[Node]) -> list[Node]:
    """Returns nodes; neighboring runs of one format are one run, and runs of spaces are text."""
    merged: list[Node] = []
    for node in nodes:
        last = merged[-1] if merged else None
        if not isinstance(node, Element) or node.end_tag != RUN_END:
            merged.append(node)
        elif not plain_text([node]).strip():
            merged.append(Text(plain_text([node])))
        elif isinstance(last, Element) and last.start_tag == node.start_tag:
            merged[-1] = Element(last.start_tag, RUN_END, [*last.children, *node.children])
        else:
            merged.append(node)
    return merged


def item_segments(items: list[Item]) -> Iterator[Segment]:
    """Yields the segments of items that no break divides."""
    for is_alone, group in itertools.groupby(items, lambda item: item.is_alone):
        if is_alone:
            for item in group:
                if isinstance(item.node, Text) and has_words(item.node.text):
                    yield Segment([item.node], [item.span], write_alone(item.node))
        else:
            yield from run_segments(list(group))


def write_alone(source: Text) -> Callable[[list[Node]], list[str]]:
    """Returns the function that writes the translation of a text that is not a whole run."""
    before, after = outer_spaces([source])
    return lambda nodes: [before + escape_text(plain_text(nodes)) + after]


def run_segments(items: list[Item]) -> Iterator[Segment]:
    """Yields the segment of items that are whole runs, if they hold a letter."""
    while items and items[0].is_mark:
        del items[0]
    while items and items[-1].is_mark:
        del items[-1]
    source = plain_text(node_of(item) for item in items)
    if not has_words(source):
        return
    lengths: Counter[str] = Counter()
    for item in items:
        if isinstance(item.node, Text):
            lengths[item.properties] += len(item.node.text.strip())
    usual = max(lengths, key=lengths.__getitem__, default="")
    nodes = merge_runs(
        item.node if isinstance(item.node, Text) and item.properties == usual else as_run(item)
        for item in items
    )
    before, after = outer_spaces(nodes)

    def write(nodes: list[Node]) -> list[str]:
        return ["".join(write_runs([Text(before), *nodes, Text(after)], usual))]

    yield Segment(nodes, [Span(items[0].span.start, items[-1].span.end)], write)


def write_runs(nodes: Iterable[Node], usual: str) -> Iterator[str]:
    """Yields the markup of nodes; text outside of runs becomes runs of the usual format."""
    for node in nodes:
        if isinstance(node, Fixed):
            yield str(node.markup)
        elif isinstance(node, Text):
            if node.text:
                yield run_start(usual) + escape_text(node.text) + RUN_END
        elif node.end_tag == RUN_END:
            yield str(node.start_tag) + escape_text(plain_text([node])) + RUN_END
        else:
            yield str(node.start_tag)
            yield from write_runs(node.children, usual)
            yield node.end_tag


# ---- The archive ----


class WordDocument(ArchiveDocument):
    """A Word document, whose first part is the main one."""

    def place(self, text: Segment | Left) -> str:
        """Returns the paragraph of a text; of a part other than the main one, with its name."""
        name = self.part_of(text)
        number = sum(1 for _ in PARAGRAPH.finditer(self._parts[name].text, 0, text.start))
        paragraph = f"paragraph {number}" if number else ""
        is_main = name == next(iter(self._parts))
        return paragraph if is_main else f"{paragraph} of {name}".removeprefix(" of ")


def find_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Returns the types of the XML files with text, by name; the main one first.

    The types are those of TEXT_PARTS and UNTRANSLATED.
    """
    names = set(archive.namelist())
    main = main_part(archive, MAIN_PART)
    if main is None:
        raise UserError(f"is not a Word document: it holds no {MAIN_PART}")
    parts = {main: "officeDocument"}
    for part in relations(archive, main):
        if part.path in names and part.kind in TEXT_PARTS:
            parts.setdefault(part.path, part.kind)
    untranslated = filter(None, map(UNTRANSLATED.fullmatch, archive.namelist()))
    return parts | {match[0]: match[match.lastindex or 0] for match in untranslated}


def read_parts(content: bytes) -> dict[str, tuple[str, bytes]]:
    """Returns the types and contents of the XML files with text, by name; the main one first."""
    with opened(content, "a Word document") as archive:
        return {name: (kind, archive.read(name)) for name, kind in find_parts(archive).items()}


def parse_part(kind: str, content: bytes) -> TextDocument:
    """Returns the Document of an XML file of the archive; of some kinds, nothing is translated."""
    decoded = decode_xml(content)
    if kind in ("comments", "charts", "diagrams"):
        matches = [match for match in TEXT.finditer(decoded.text) if has_words(match[1])]
        left = [Left(f"in {kind}", match.start(1), kind == "comments") for match in matches]
        return TextDocument(decoded.text, [], decoded.encode_with_references, left)
    tokens = XmlTokens(decoded.text).tokens
    find_partners(tokens, lambda open_name, name: False)
    segments = list(Paragraphs(decoded.text, tokens).segments())
    return TextDocument(decoded.text, segments, decoded.encode_with_references)


def parse(content: bytes, ending: str, options: FormatOptions) -> WordDocument:
    """Returns the Document of a .docx file."""
    parts = read_parts(content)
    _, main_part = next(iter(parts.values()))
    if b"<w:document" not in main_part:
        raise UserError(
            "is not written as Word does (<w:document>); save it with Word or LibreOffice"
        )
    return WordDocument(content, {name: parse_part(*part) for name, part in parts.items()})
