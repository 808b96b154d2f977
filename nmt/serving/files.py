"""Files: LibreTranslate's /translate_file, and the translated file that a client then fetches."""

import io
import re
import urllib.parse
import zipfile
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nmt.documents import TABLES, format_of, html_pages, name_language, parse_document
from nmt.documents.document import DecodedText, Document, TextDocument
from nmt.documents.report import Report, make_report
from nmt.documents.word import CORRUPT
from nmt.serving import fields, notices
from nmt.serving.batching import Item
from nmt.serving.errors import RefusedError
from nmt.serving.fields import UploadedFile
from nmt.serving.models import Query, Result
from nmt.serving.notices import Notice
from nmt.serving.service import AUTO, Service, TextQuery
from nmt.text.protected import DEFAULT

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
    name_language(document, target)
    texts = [segment.text for segment in document.segments]
    service.limits.check_characters(texts, FILE_REQUESTS)
    sample = "\n".join(texts)[: service.limits.max_chars]  # to detect its language by
    (text_query,) = service.queries(source, target, [sample])
    if text_query.query is None:  # it is in the target language
        content, report, warnings = file.content, text_query.notices[0].message, []
    else:
        (translated,) = await translate_documents(request, [text_query.query], [document])
        content = await service.in_thread(lambda: document.write(translated.translations))
        report = str(translated.report)
        warnings = [*translated.too_long, *notices.of_report(translated.report)]
    name = translated_name(file.name, target)
    key = service.files.add(name, content)
    plain_name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)  # what no proxy changes
    url = request.url_for("download_file", key=key, name=plain_name)
    return JSONResponse({
        "translatedFileUrl": str(url),
        "report": report,
        "warnings": notices.answers([*text_query.notices, *warnings]),
    })  # fmt: skip


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


class TranslatedDocument(NamedTuple):
    """A Document with the translations of its segments."""

    document: Document
    translations: list[Result]
    report: Report

    @property
    def too_long(self) -> list[Notice]:
        """What the client is to know of sentences that are too long, once each."""
        kinds = {notice.kind: notice for result in self.translations for notice in result.too_long}
        return [*kinds.values()]


class TranslatedMarkup(NamedTuple):
    """HTML or XML in translation."""

    asked: TextQuery
    text: str
    notices: list[Notice]


async def translate_markup(
    request: Request,
    source: str,
    target: str,
    texts: list[str],
    parse_text: Callable[[DecodedText], TextDocument] = html_pages.document,
) -> list[TranslatedMarkup]:
    """Returns HTML or XML in translation.

    Args:
      request: whose client may leave.
      source, target, texts: see Service.queries.
      parse_text: a function that returns the Document of a text.
    """
    service: Service = request.app.state.service
    service.limits.check_texts(texts)
    if any("\0" in text for text in texts):
        raise RefusedError(400, "the text holds NUL characters, which markup cannot")

    def parse_texts() -> list[TextDocument]:
        return [parse_text(DecodedText(text, b"", "utf-8")) for text in texts]

    documents = await service.in_thread(parse_texts)
    contents = ["\n".join(segment.text for segment in one.segments) for one in documents]
    text_queries = service.queries(source, target, contents)
    queries = [one.query for one in text_queries]
    translated = await translate_documents(request, queries, documents)

    def write_texts() -> list[str]:
        return [one.document.translated_text(one.translations) for one in translated]

    written = await service.in_thread(write_texts)
    return [
        TranslatedMarkup(
            text_query,
            text,
            [*text_query.notices, *one.too_long, *notices.of_changes(one.report)],
        )
        for text_query, text, one in zip(text_queries, written, translated, strict=True)
    ]


async def translate_documents(
    request: Request, queries: Sequence[Query | None], documents: Sequence[Document]
) -> list[TranslatedDocument]:
    """Returns documents in translation. Word links say where tags belong.

    Args:
      request: whose client may leave.
      queries: of each document; None for one that stays as it is.
      documents: of any format.
    """
    service: Service = request.app.state.service
    if any(segment.has_markup for document in documents for segment in document.segments):
        queries = [query and _with_links(service, query) for query in queries]
    texts = [
        (query, segment.text)
        for query, document in zip(queries, documents, strict=True)
        for segment in document.segments
    ]
    results = await translate_texts(request, [*dict.fromkeys(texts)])

    def report(query: Query | None, document: Document) -> TranslatedDocument:
        translations = [results[query, segment.text] for segment in document.segments]
        protector = service.models.by_name[query.model].protector if query else DEFAULT
        return TranslatedDocument(
            document, translations, make_report(document, translations, protector)
        )

    return await service.in_thread(
        lambda: [report(*pair) for pair in zip(queries, documents, strict=True)]
    )


def _with_links(service: Service, query: Query) -> Query:
    """Returns a Query that asks for word links, too, if its run has any."""
    options = service.models.by_name[query.model].model.options
    return query._replace(links=not options["non_autoregressive"])


async def translate_texts(
    request: Request, texts: Sequence[tuple[Query | None, str]]
) -> dict[tuple[Query | None, str], Result]:
    """Returns the best translation of each of different texts, a few of them at a time."""
    service: Service = request.app.state.service
    results = {}
    for start in range(0, len(texts), TEXTS):
        part = texts[start : start + TEXTS]
        queries = [query for query, _ in part]
        part_results = await service.translate(request, queries, [Item(text) for _, text in part])
        for key, best in zip(part, part_results, strict=True):
            results[key] = best[0]
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
    Route("/translate_file", translate_file, methods=["POST"]),
    Route("/download_file/{key}/{name}", download_file, methods=["GET"]),
]
