"""Archives of XML files, .docx and .xlsx: parts with text are translated, all others stay.

lxml reads a part as a tree, which its segments change. In both formats, a text of one format is a
"run": <r>, with <rPr>, its format, and <t>, its text.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import lzma
import posixpath
import re
import urllib.parse
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as XmlElement

from nmt import UserError
from nmt.documents.document import Left, Segment, translated_nodes
from nmt.documents.nodes import Element, Node, Text, plain_text
from nmt.documents.tag_placement import TranslatedText
from nmt.text.protected import has_words

MAX_BYTES = 500_000_000  # of an unpacked archive
MAX_FILES = 20_000  # in it
CORRUPT = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, NotImplementedError,
    RuntimeError, ValueError,
)  # fmt: skip
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
PRESERVED = {"{http://www.w3.org/XML/1998/namespace}space": "preserve"}


# ---- XML ----


def read_xml(archive: zipfile.ZipFile, name: str) -> XmlElement:
    """Returns the root of a part of an archive; one that is not well-formed, or that declares
    entities, which could read other files or grow without bound, is a UserError.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(archive.read(name), parser)
    except etree.XMLSyntaxError as error:
        raise UserError(f"{name}: is not well-formed XML: {error.msg}; correct it") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise UserError(f"{name}: declares its own type of document; remove the declaration")
    return root


def local_name(element: XmlElement) -> str:
    """Returns the name of an element without its namespace."""
    return etree.QName(element).localname


def namespace(element: XmlElement) -> str:
    """Returns the namespace of an element, as it stands before names: "{...}"."""
    return element.tag[: element.tag.find("}") + 1]


def attribute(element: XmlElement, name: str) -> str:
    """Returns the value of an attribute, whatever its namespace; "" without one."""
    values = (value for key, value in element.items() if etree.QName(key).localname == name)
    return next(values, "")


def xml_text(text: str) -> str:
    """Returns text without the characters that XML lacks."""
    return NOT_XML.sub("", text)


def replace(first: XmlElement, last: XmlElement, elements: Iterable[XmlElement]) -> None:
    """Puts elements, which may be parts of them, in the place of neighbors."""
    parent = first.getparent()
    place = parent.index(first)
    for old in parent[place : parent.index(last) + 1]:
        parent.remove(old)
    for number, element in enumerate(elements):
        element.tail = None
        parent.insert(place + number, element)


# ---- Runs ----


class RunFormat(NamedTuple):
    """The format of a run."""

    namespace: str
    properties: bytes = b""  # the markup of it; none is that of the paragraph or the cell

    def run(self, *children: XmlElement) -> XmlElement:
        """Returns a run of this format."""
        run = etree.Element(f"{self.namespace}r")
        if self.properties:
            run.append(etree.fromstring(self.properties))
        run.extend(children)
        return run

    def text(self, text: str) -> XmlElement:
        """Returns the element of a text, without a format."""
        element = etree.Element(f"{self.namespace}t", PRESERVED)
        element.text = xml_text(text)
        return element


def format_of(run: XmlElement) -> RunFormat:
    """Returns the format of a run; that of the paragraph or the cell for a text outside of runs."""
    properties = next(run.iterchildren(f"{namespace(run)}rPr"), None)
    if properties is None:
        return RunFormat(namespace(run))
    return RunFormat(namespace(run), etree.tostring(properties, with_tail=False))


def usual_format(texts: Iterable[tuple[RunFormat, str]], otherwise: RunFormat) -> RunFormat:
    """Returns the format that most of some texts have."""
    lengths: Counter[RunFormat] = Counter()
    for form, text in texts:
        lengths[form] += len(text.strip())
    return max(lengths, key=lengths.__getitem__, default=otherwise)


Wrap = Callable[[list[XmlElement]], list[XmlElement]]  # puts something around elements


def write_runs(nodes: Iterable[Node], usual: RunFormat) -> Iterator[XmlElement]:
    """Yields the elements of nodes; text outside of runs becomes runs of the usual format.

    The start tag of an Element is a RunFormat, or a Wrap; a Fixed holds a list of elements.
    """
    for node in nodes:
        if isinstance(node, Text):
            if node.text:
                yield usual.run(usual.text(node.text))
        elif not isinstance(node, Element):
            yield from node.markup
        elif isinstance(node.start_tag, RunFormat):
            if text := plain_text([node]):
                yield node.start_tag.run(node.start_tag.text(text))
        else:
            yield from node.start_tag(list(write_runs(node.children, usual)))


# ---- The archive ----


class Relation(NamedTuple):
    """What a part of an archive refers to."""

    id: str
    kind: str  # the last word of its type: "header", "worksheet"
    path: str


def relations(archive: zipfile.ZipFile, name: str) -> Iterator[Relation]:
    """Yields the parts that a part of an archive refers to; the part "" is the archive itself."""
    folder, file = posixpath.split(name)
    path = posixpath.join(folder, "_rels", f"{file}.rels")
    names = set(archive.namelist())
    if path not in names:
        return
    for element in read_xml(archive, path):
        target = urllib.parse.unquote(element.get("Target", ""))
        target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        if target in names and element.get("TargetMode") != "External":
            kind = element.get("Type", "").rpartition("/")[2]
            yield Relation(element.get("Id", ""), kind, target)


def main_part(archive: zipfile.ZipFile, usual: str) -> str | None:
    """Returns the name of the main part, `usual` where the archive names no other; None if there
    is none.
    """
    named = (part.path for part in relations(archive, "") if part.kind == "officeDocument")
    main = next(named, usual)
    return main if main in archive.namelist() else None


@contextlib.contextmanager
def opened(content: bytes, what: str) -> Iterator[zipfile.ZipFile]:
    """Yields an archive, of which every part can be read; messages name `what` it should be:
    "a Word document". A UserError if it is none, is damaged, or is too large unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            if total > MAX_BYTES:
                raise UserError(f"holds {total:,} bytes, unpacked; the limit is {MAX_BYTES:,}")
            if len(members) > MAX_FILES:
                raise UserError(f"holds {len(members):,} files; the limit is {MAX_FILES:,}")
            for member in members:  # damage is found before anything is translated
                with archive.open(member) as file:
                    while file.read(1 << 20):
                        pass
            yield archive
    except CORRUPT as error:
        raise UserError(f"is not {what}, or is damaged ({error}); open and save it") from None


@dataclasses.dataclass
class Part:
    """An XML file of the archive; to write a segment changes its tree."""

    root: XmlElement
    segments: list[Segment] = dataclasses.field(default_factory=list)
    left: list[Left] = dataclasses.field(default_factory=list)

    def content(self) -> bytes:
        """Returns the file."""
        tree = self.root.getroottree()
        standalone = tree.docinfo.standalone
        return etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=standalone)


def untranslated_parts(
    archive: zipfile.ZipFile, expression: re.Pattern[str]
) -> Iterator[tuple[str, Part]]:
    """Yields parts such as the comments, of which nothing is translated, with their names.

    A group of the expression of their names says what they are.
    """
    for match in filter(None, map(expression.fullmatch, archive.namelist())):
        name, kind = match[0], match[match.lastindex or 0]
        root = read_xml(archive, name)
        texts = ["".join(text.itertext()) for text in root.iter("{*}t")]
        reason, is_expected = f"in {kind}", kind == "comments"
        left = [Left(reason, 0, is_expected, name) for text in texts if has_words(text)]
        yield name, Part(root, left=left)


class ArchiveDocument:
    """A document that is an archive; `parts` are its XML files with text, in order of reading."""

    def __init__(self, content: bytes, parts: Mapping[str, Part]):
        self._content, self._parts = content, parts
        self.segments = [segment for part in parts.values() for segment in part.segments]
        self.left = [text for part in parts.values() for text in part.left]

    def place(self, text: Segment | Left) -> str:
        """Returns the paragraph or the cell of a text, or the part that it is in."""
        return text.place

    def write(self, translations: Sequence[TranslatedText]) -> bytes:
        """Returns the archive with the translations of its segments; may be called once."""
        changed = set()
        for segment, translation in zip(self.segments, translations, strict=True):
            if nodes := translated_nodes(segment, translation):
                segment.write(nodes)
                changed.add(id(segment))
        if not changed:
            return self._content
        new_parts = {
            name: part.content()
            for name, part in self._parts.items()
            if any(id(segment) in changed for segment in part.segments)
        }
        stream = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(self._content)) as source,
            zipfile.ZipFile(stream, "w") as target,
        ):
            for member in source.infolist():
                target.writestr(member, new_parts.get(member.filename) or source.read(member))
        return stream.getvalue()
