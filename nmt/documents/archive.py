"""Archives of XML files, .docx and .xlsx: parts with text are translated, all others stay."""

from __future__ import annotations

import contextlib
import io
import lzma
import posixpath
import urllib.parse
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nmt import UserError
from nmt.documents.document import Left, Segment, TextDocument
from nmt.documents.tag_placement import TranslatedText
from nmt.documents.xml_files import XmlTokens, decode_xml

MAX_BYTES = 500_000_000  # of an unpacked archive
MAX_FILES = 20_000  # in it
CORRUPT = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, NotImplementedError,
    RuntimeError, ValueError,
)  # fmt: skip


class Relation(NamedTuple):
    """What a part of an archive refers to."""

    id: str
    kind: str  # the last word of its type: "header", "worksheet"
    path: str


def relations(archive: zipfile.ZipFile, name: str) -> Iterator[Relation]:
    """Yields what a part of an archive refers to within it; the part "" is the archive itself."""
    folder, file = posixpath.split(name)
    path = posixpath.join(folder, "_rels", f"{file}.rels")
    if path not in archive.namelist():
        return
    for token in XmlTokens(decode_xml(archive.read(path)).text).tokens:
        target = urllib.parse.unquote(token.attributes.get("Target") or "")
        if target and token.attributes.get("TargetMode") != "External":
            kind = (token.attributes.get("Type") or "").rpartition("/")[2]
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            yield Relation(token.attributes.get("Id") or "", kind, target)


def main_part(archive: zipfile.ZipFile, usual: str) -> str | None:
    """Returns the name of the main part, `usual` where the archive names no other; None if there
    is none.
    """
    names = {*archive.namelist()}
    named = [part.path for part in relations(archive, "") if part.kind == "officeDocument"]
    main = next((path for path in named if path in names), usual)
    return main if main in names else None


@contextlib.contextmanager
def opened(content: bytes, what: str) -> Iterator[zipfile.ZipFile]:
    """Yields an archive, of which every part can be read; messages name `what` it should be:
    "a Word document". A UserError if it is none, is damaged, or is too large unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            if total > MAX_BYTES or len(members) > MAX_FILES:
                raise UserError(f"holds {total:,} bytes, unpacked; the limit is {MAX_BYTES:,}")
            for member in members:  # damage is found before anything is translated
                with archive.open(member) as file:
                    while file.read(1 << 20):
                        pass
            yield archive
    except CORRUPT as error:
        raise UserError(f"is not {what}, or is damaged ({error}); open and save it") from None


class ArchiveDocument:
    """A document that is an archive; `parts` are its XML files with text, in order of reading."""

    def __init__(self, content: bytes, parts: Mapping[str, TextDocument]):
        self._content, self._parts = content, parts
        self.segments = [segment for part in parts.values() for segment in part.segments]
        self.left = [text for part in parts.values() for text in part.left]

    def part_of(self, text: Segment | Left) -> str:
        """Returns the name of the part that a text is in."""
        for name, part in self._parts.items():
            if any(text is other for other in (*part.segments, *part.left)):
                return name
        raise ValueError("the text is of another document")

    def write(self, translations: Sequence[TranslatedText]) -> bytes:
        """Returns the archive with the translations of its segments."""
        new_parts, first = {}, 0
        for name, part in self._parts.items():
            last = first + len(part.segments)
            text = part.translated_text(translations[first:last])
            if text != part.text:
                new_parts[name] = part.encode(text)
            first = last
        if not new_parts:
            return self._content
        stream = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(self._content)) as source,
            zipfile.ZipFile(stream, "w") as target,
        ):
            for member in source.infolist():
                target.writestr(member, new_parts.get(member.filename) or source.read(member))
        return stream.getvalue()
