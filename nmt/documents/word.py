"""Word documents, .docx: an archive of XML, of which the paragraphs are translated.

A run is text of one format. The format of most of a paragraph is that of its translation; runs of
other formats, hyperlinks, and what fields show (citations, references) are put around the words
that are linked to theirs. Line breaks, tabs and pictures end a segment. All other files of the
archive, and what is not in a paragraph that changes, stay as they are.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lxml.etree import _Element as XmlElement

from nmt import UserError
from nmt.documents import office
from nmt.documents.document import FormatOptions, Segment
from nmt.documents.markup import MAX_DEPTH
from nmt.documents.nodes import Element, Fixed, Node, Text, outer_spaces, plain_text
from nmt.text.protected import has_words

MAIN_PART = "word/document.xml"  # where _rels/.rels names no other
TEXT_PARTS = "header", "footer", "footnotes", "endnotes"  # types of relationships
UNTRANSLATED = re.compile(r"word/(?:(comments)|(charts)/chart\w*|(diagrams)/data\w*)\.xml")

CONTAINERS = {  # of runs, within a paragraph
    "hyperlink", "ins", "moveTo", "smartTag", "customXml", "fldSimple", "dir", "bdo",
}  # fmt: skip
PROPERTIES = {"customXmlPr", "smartTagPr"}  # a container may begin with them
MARKS = {  # between runs: they stay near the words that they were at
    "bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd", "del", "moveFrom",
    "moveFromRangeStart", "moveFromRangeEnd", "moveToRangeStart", "moveToRangeEnd", "oMath",
}  # fmt: skip
INLINE = {  # in runs: as MARKS
    "footnoteReference", "endnoteReference", "commentReference", "footnoteRef", "endnoteRef",
    "noBreakHyphen", "softHyphen", "sym",
}  # fmt: skip
NO_BREAK_HYPHEN = "noBreakHyphen"  # a sign of a word
DROPPED = {"proofErr", "lastRenderedPageBreak"}  # Word's notes for itself
COMPUTED = re.compile(  # codes of fields: what they show is not words of the author
    r"\s*(?:ADDIN|CITATION|PAGE|PAGEREF|NUMPAGES|SECTIONPAGES|SEQ|DATE|TIME|CREATEDATE|SAVEDATE"
    r"|PRINTDATE|MERGEFIELD|FILENAME|AUTHOR|EQ|SYMBOL|LISTNUM|=)(?![A-Z])",
    re.IGNORECASE,
)


# ---- The items of a paragraph ----


@dataclasses.dataclass
class Item:
    """A part of a paragraph."""

    node: Node | None  # None for what ends a segment
    first: XmlElement  # of the neighbors that it is, or is a part of
    last: XmlElement
    form: office.RunFormat | None = None  # of text
    is_alone: bool = False  # of text: a segment by itself, in a run that goes on
    is_mark: bool = False  # between runs


class Field(NamedTuple):
    """A field among the children of a paragraph: the positions of the runs that are its marks."""

    start: int
    divider: int  # between its code and what it shows; the end if it shows nothing
    end: int


def items_of(children: list[XmlElement], depth: int = 0) -> Iterator[Item]:
    """Yields the items of a paragraph, or of a container or a field within it."""
    if depth > MAX_DEPTH:
        raise UserError(f"elements are nested more than {MAX_DEPTH} deep within a paragraph")
    fields = find_fields(children)
    position = 0
    while position < len(children):
        child = children[position]
        name = office.local_name(child)
        if field := fields.get(position):
            yield from field_items(children, field, depth + 1)
            position = field.end
        elif (holder := holder_of_runs(child)) is not None:
            content = [inner for inner in holder if office.local_name(inner) not in PROPERTIES]
            code = office.attribute(child, "instr")  # of a fldSimple
            items = list(items_of(content, depth + 1))
            yield from wrapped(child, child, items, within(child, holder), code)
        elif name == "r":
            yield from run_items(child)
        elif name in MARKS:
            yield Item(Fixed([child]), child, child, is_mark=True)
        elif name not in DROPPED:
            yield Item(None, child, child)
        position += 1


def wrapped(
    first: XmlElement, last: XmlElement, items: list[Item], wrap: office.Wrap, code: str
) -> Iterator[Item]:
    """Yields items in what stands around them as one item; by themselves if one ends a segment.

    What a COMPUTED code of a field shows stays as it is: the network reads it.
    """
    if any(item.node is None or item.is_alone for item in items):
        yield from (Item(None, first, first), *items, Item(None, last, last))
        return
    element = Element(wrap, "", merge_runs(as_run(item) for item in items))
    text = plain_text([element])
    if has_words(text) and not COMPUTED.match(code):
        yield Item(element, first, last)
    else:
        yield Item(Fixed(siblings(first, last), text), first, last, is_mark=not text.strip())


def siblings(first: XmlElement, last: XmlElement) -> list[XmlElement]:
    """Returns neighbors from the first to the last."""
    parent = first.getparent()
    elements: list[XmlElement] = parent[parent.index(first) : parent.index(last) + 1]
    return elements


def within(container: XmlElement, holder: XmlElement) -> office.Wrap:
    """Returns what puts runs into the element of a container that holds them."""

    def wrap(elements: list[XmlElement]) -> list[XmlElement]:
        for child in list(holder):
            if office.local_name(child) not in PROPERTIES:
                holder.remove(child)
        holder.extend(elements)
        return [container]

    return wrap


def holder_of_runs(element: XmlElement) -> XmlElement | None:
    """Returns the element, itself or in it, whose children are runs; None if there is none."""
    name = office.local_name(element)
    if name == "sdt":  # a content control
        return next(element.iterchildren("{*}sdtContent"), None)
    if name == "r":  # which may hold a text under an annotation, and nothing else
        content = [child for child in element if office.local_name(child) != "rPr"]
        is_ruby = len(content) == 1 and office.local_name(content[0]) == "ruby"
        return next(content[0].iterchildren("{*}rubyBase"), None) if is_ruby else None
    return element if name in CONTAINERS else None


def field_mark(run: XmlElement) -> str | None:
    """Returns "begin", "separate" or "end" for a run that is no more than such a mark."""
    marks = list(run.iterchildren("{*}fldChar"))
    names = set(map(office.local_name, run))
    if len(marks) != 1 or names - {"rPr", "fldChar", "instrText"} - DROPPED:
        return None
    return office.attribute(marks[0], "fldCharType")


def find_fields(children: list[XmlElement]) -> dict[int, Field]:
    """Returns the outermost fields that begin and end among elements, by where they begin."""
    fields: dict[int, Field] = {}
    starts: list[tuple[int, int | None]] = []  # of open fields, and of what they show
    for position, child in enumerate(children):
        mark = field_mark(child) if office.local_name(child) == "r" else None
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


def field_items(children: list[XmlElement], field: Field, depth: int) -> Iterator[Item]:
    """Yields a field as an item; as several if a segment ends within it."""
    first, last = children[field.start], children[field.end]
    before = children[field.start : field.divider + 1]
    if field.divider == field.end:  # it shows nothing
        yield Item(Fixed(before), first, last, is_mark=True)
        return
    items = list(items_of(children[field.divider + 1 : field.end], depth))
    code = "".join(text.text or "" for run in before for text in run.iter("{*}instrText"))
    yield from wrapped(first, last, items, lambda elements: [*before, *elements, last], code)


def run_items(run: XmlElement) -> Iterator[Item]:
    """Yields the items of a run."""
    form = office.format_of(run)
    children = [child for child in run if office.local_name(child) not in {"rPr", *DROPPED}]
    is_divided = bool(set(map(office.local_name, children)) - {"t"} - INLINE)
    for child in children:
        name = office.local_name(child)
        if name == "t":
            element = child if is_divided else run
            yield Item(Text(child.text or ""), element, element, form, is_alone=is_divided)
        elif is_divided:
            yield Item(None, run, run)
        elif name == NO_BREAK_HYPHEN:
            yield Item(Text("\u2011"), run, run, form)
        else:
            yield Item(Fixed([form.run(copy.deepcopy(child))]), run, run)


# ---- Segments of items ----


def node_of(item: Item) -> Node:
    """Returns the node of an item that ends no segment."""
    if item.node is None:
        raise ValueError("the item ends a segment")
    return item.node


def as_run(item: Item) -> Node:
    """Returns an item as a node, text as a run."""
    node = node_of(item)
    return Element(item.form, "", [node]) if isinstance(node, Text) else node


def merge_runs(nodes: Iterable[Node]) -> list[Node]:
    """Returns nodes; neighboring runs of one format are one run, and runs of spaces are text."""
    merged: list[Node] = []
    for node in nodes:
        last = merged[-1] if merged else None
        if not isinstance(node, Element) or not isinstance(node.start_tag, office.RunFormat):
            merged.append(node)
        elif not plain_text([node]).strip():
            merged.append(Text(plain_text([node])))
        elif isinstance(last, Element) and last.start_tag == node.start_tag:
            merged[-1] = Element(last.start_tag, "", [*last.children, *node.children])
        else:
            merged.append(node)
    return merged


def segments_of(items: list[Item], place: str) -> Iterator[Segment]:
    """Yields the segments of items that no break divides."""
    for is_alone, group in itertools.groupby(items, lambda item: item.is_alone):
        if is_alone:
            yield from (text_segment(item, place) for item in group if has_words(text_of([item])))
        else:
            yield from run_segments(list(group), place)


def text_of(items: Iterable[Item]) -> str:
    """Returns what a reader sees of items."""
    return plain_text(map(node_of, items))


def text_segment(item: Item, place: str) -> Segment:
    """Returns the segment of a text that is not a whole run."""
    node = node_of(item)
    before, after = outer_spaces([node])

    def write(nodes: list[Node]) -> list[str]:
        item.first.text = office.xml_text(before + plain_text(nodes) + after)
        return []

    return Segment([node], [], write, place)


def run_segments(items: list[Item], place: str) -> Iterator[Segment]:
    """Yields the segment of items that are whole runs, if they hold a letter."""
    while items and items[0].is_mark:
        del items[0]
    while items and items[-1].is_mark:
        del items[-1]
    if not has_words(text_of(items)):
        return
    texts = [(item.form, text_of([item])) for item in items if item.form]
    usual = office.usual_format(texts, office.RunFormat(office.namespace(items[0].first)))
    nodes = merge_runs(node_of(item) if item.form == usual else as_run(item) for item in items)
    before, after = outer_spaces(nodes)

    def write(nodes: list[Node]) -> list[str]:
        new = office.write_runs([Text(before), *nodes, Text(after)], usual)
        office.replace(items[0].first, items[-1].last, new)
        return []

    yield Segment(nodes, [], write, place)


# ---- The archive ----


def text_parts(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yields the names of the XML files whose paragraphs are translated; the main one first."""
    main = office.main_part(archive, MAIN_PART)
    if main is None:
        raise UserError(f"is not a Word document: it holds no {MAIN_PART}")
    yield main
    for part in office.relations(archive, main):
        if part.kind in TEXT_PARTS:
            yield part.path


def paragraphs(root: XmlElement, name: str) -> office.Part:
    """Returns a part with the segments of all paragraphs; those in a text box are by themselves."""
    part = office.Part(root)
    for number, paragraph in enumerate(root.iter(f"{office.namespace(root)}p"), start=1):
        items = items_of(list(paragraph))
        for is_text, group in itertools.groupby(items, lambda item: item.node is not None):
            if is_text:
                part.segments += segments_of(list(group), f"paragraph {number}{name}")
    return part


def parse(content: bytes, ending: str, options: FormatOptions) -> office.ArchiveDocument:
    """Returns the Document of a .docx file."""
    parts: dict[str, office.Part] = {}
    with office.opened(content, "a Word document") as archive:
        for name in text_parts(archive):
            root = office.read_xml(archive, name)
            if not parts and office.local_name(root) != "document":
                raise UserError(
                    "is not written as Word does (<w:document>); save it with Word or LibreOffice"
                )
            parts.setdefault(name, paragraphs(root, f" of {name}" if parts else ""))
        parts.update(office.untranslated_parts(archive, UNTRANSLATED))
    return office.ArchiveDocument(content, parts)
