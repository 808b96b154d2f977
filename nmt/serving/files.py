"""Files: LibreTranslate's /translate-file, and the translated file that a client then fetches."""

import io
import re
import urllib.parse
import zipfile
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nmt.documents import TABLES, format_of, parse_document
from nmt.documents.document import Document
from nmt.documents.word import CORRUPT
from nmt.serving import fields
from nmt.serving.errors import RefusedError
from nmt.serving.fields import UploadedFile
from nmt.serving.models import Query, Result
from nmt.serving.service import AUTO, Service

MAX_FILE_BYTES = 10_000_000
MAX_UNPACKED_BYTES = 30_000_000  # of an archive, as .docx is one
MAX_SIGNS = 500_000  # that may divide a file, each part of which takes some 600 bytes of memory
SIGNS = b"<&\n,;\t"
FILE_REQUESTS = 20  # a file may have as many characters as so many requests
TEXTS = 64  # translated at a time, so that other clients have their turn
HEADERS = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}


async def translate_file(request: Request) -> Response:
    """Answers a file with the address of its translation."""
    service: Service = request.app.state.service
    asked = await service.admit(request, MAX_FILE_BYTES)
    file = fields.file(asked, "file")
    source, target = fields.text(asked, "source", AUTO), fields.text(asked, "target")
    columns = fields.text(asked, "columns", "") or None
    document = await service.in_thread(lambda: parse(file, columns))
    texts = [segment.text for segment in document.segments]
    service.limits.check_characters(texts, FILE_REQUESTS)
    sample = "\n".join(texts)[: service.limits.max_chars]  # to detect its language by
    query, _ = service.query(source, target, [sample])
    (content,) = await translate_documents(request, query, [document])
    name = translated_name(file.name, target)
    key = service.files.add(name, content)
    plain_name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)  # what no proxy changes
    url = request.url_for("download_file", key=key, name=plain_name)
    return JSONResponse({"translatedFileUrl": str(url)})


def parse(file: UploadedFile, columns: str | None) -> Document:
    """Returns the Document of a file.

    Raises:
      UserError: the server cannot translate such files.
      RefusedError: it is an archive that would fill the memory.
    """
    ending = format_of(file.name)
    if columns is not None and ending not in TABLES:
        raise RefusedError(400, f"columns: {file.name} is no table; leave it out")
    size = unpacked_size(file.content)
    if size > MAX_UNPACKED_BYTES:
        raise RefusedError(413, f"the archive holds {size} bytes; at most {MAX_UNPACKED_BYTES}")
    if number_of_signs(file.content) > MAX_SIGNS:
        raise RefusedError(
            413, f"the file holds more than {MAX_SIGNS} tags, lines or cells; split it"
        )
    return parse_document(file.name, file.content, **({"columns": columns} if columns else {}))


def unpacked_size(content: bytes) -> int:
    """Returns the bytes that an archive says it holds; 0 for what is none, or a damaged one."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return 0


def number_of_signs(content: bytes) -> int:
    """Returns how many SIGNS a file has, or all that an archive holds."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = [archive.read(entry) for entry in archive.infolist()]
    except CORRUPT:
        parts = [content]
    return sum(len(part) - len(part.translate(None, SIGNS)) for part in parts)


async def translate_documents(
    request: Request, query: Query, documents: list[Document]
) -> list[bytes]:
    """Returns the contents of documents in translation. Word links say where tags belong."""
    service: Service = request.app.state.service
    segments = [segment for document in documents for segment in document.segments]
    if any(segment.has_markup for segment in segments):
        options = service.models.by_name[query.model].model.options
        query = query._replace(links=not options["non_autoregressive"])  # which has none
    texts = list(dict.fromkeys(segment.text for segment in segments))
    results = await translate_texts(request, query, texts)

    def write() -> list[bytes]:
        return [
            document.write([results[segment.text] for segment in document.segments])
            for document in documents
        ]

    return await service.in_thread(write)


async def translate_texts(request: Request, query: Query, texts: list[str]) -> dict[str, Result]:
    """Returns the best translation of each of different texts, a few of them at a time."""
    service: Service = request.app.state.service
    results = {}
    for start in range(0, len(texts), TEXTS):
        part = texts[start : start + TEXTS]
        for text, best in zip(part, await service.translate(request, query, part), strict=True):
            results[text] = best[0]
    return results


def translated_name(name: str, target: str) -> str:
    """Returns the name of a translated file: page.en.html."""
    path = PurePosixPath(name)
    return f"{path.stem[:100]}.{target}{path.suffix}"


async def download_file(request: Request) -> Response:
    """Answers with a translated file."""
    service: Service = request.app.state.service
    file = service.files.get(request.path_params["key"])
    name = urllib.parse.quote(file.name)
    headers = HEADERS | {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(file.content, media_type="application/octet-stream", headers=headers)


ROUTES = [
    Route("/translate-file", translate_file, methods=["POST"]),
    Route("/download_file/{key}/{name}", download_file, methods=["GET"]),
]
