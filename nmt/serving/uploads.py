"""What is done with an uploaded file in a process of its own: its texts are read, then written.

The file is parsed both times, so that no process waits for the translation in between. Nothing here
imports TensorFlow.
"""

import io
import zipfile
from collections.abc import Sequence
from typing import NamedTuple

from nmt import UserError
from nmt.documents import endings_with, format_of, parse_document
from nmt.documents.document import Document, FormatOptions
from nmt.documents.office import CORRUPT
from nmt.documents.report import Report, make_report
from nmt.resumable_output import FinishedText
from nmt.serving.errors import RefusedError
from nmt.serving.fields import UploadedFile
from nmt.serving.limits import check_characters
from nmt.text.protected import Protector

MAX_UNPACKED_BYTES = 30_000_000  # of an archive, as .docx is one


class Upload(NamedTuple):
    """A file to translate."""

    file: UploadedFile
    columns: str | None  # of a table; None for other files
    target: str = ""  # the code of a language


class Texts(NamedTuple):
    """What a file holds to translate."""

    texts: list[str]
    has_markup: bool  # so that word links are needed


class TranslatedFile(NamedTuple):
    """A file in translation."""

    content: bytes
    report: Report  # without its `changes`


def read_texts(upload: Upload, most: int) -> Texts:
    """Returns the texts of a file, which may have `most` characters together.

    A UserError if the server cannot translate such files, a RefusedError if it is too large.
    """
    document = parse_upload(upload)
    texts = [segment.text for segment in document.segments]
    check_characters(texts, most)
    return Texts(texts, any(segment.has_markup for segment in document.segments))


def write(
    upload: Upload, translations: Sequence[FinishedText], protector: Protector
) -> TranslatedFile:
    """Returns a file with the translations of its texts, in order."""
    document = parse_upload(upload)
    report = make_report(document, translations, protector)
    return TranslatedFile(document.write(translations), report._replace(changes=[]))


def parse_upload(upload: Upload) -> Document:
    """Returns the Document of a file."""
    file, columns = upload.file, upload.columns
    ending = format_of(file.name)
    if columns is not None and ending not in endings_with("columns"):
        raise RefusedError(400, f"columns: {file.name} is no table; leave it out")
    size = unpacked_size(file.content)
    if size > MAX_UNPACKED_BYTES:
        raise RefusedError(413, f"the archive holds {size} bytes; at most {MAX_UNPACKED_BYTES}")
    try:
        return parse_document(file.name, file.content, FormatOptions(columns, None, upload.target))
    except UserError as error:  # which names the flag of the command line
        raise UserError(str(error).replace("--columns", "the field columns")) from None


def unpacked_size(content: bytes) -> int:
    """Returns the bytes that an archive says it holds; 0 for what is none, or a damaged one."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except CORRUPT:
        return 0
