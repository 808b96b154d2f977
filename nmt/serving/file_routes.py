"""Files: LibreTranslate's /translate_file, and the translated file that a client then fetches."""

import re
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Generic, NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nmt.documents import html_pages
from nmt.documents.document import DecodedText, Document, TextDocument
from nmt.documents.report import Report, make_report
from nmt.serving import notices, uploads
from nmt.serving.batching import Item
from nmt.serving.errors import RefusedError
from nmt.serving.fields import STRING, Field, FileField, TextField
from nmt.serving.models import Query, Result
from nmt.serving.notices import Notice
from nmt.serving.operations import KEY, SOURCE, TARGET, WARNINGS, Operation
from nmt.serving.service import Service, TextQuery
from nmt.text.protected import DEFAULT, Protector

MAX_FILE_BYTES = 10_000_000
FILE_REQUESTS = 20  # a file may have as many characters as so many requests
TEXTS = 64  # translated at a time, so that other clients have their turn
FILE = FileField("file", "the file", required=True)
COLUMNS = TextField("columns", "of a table: the names or numbers of those to translate")


async def translate_file(request: Request) -> Response:
    """Answers a file with the address of its translation."""
    service: Service = request.app.state.service
    values = await service.admit(request, MAX_FILE_BYTES)
    file, columns = FILE.read(values), COLUMNS.read(values) or None
    source, target = SOURCE.read(values), TARGET.read(values)
    service.files.check_room()
    upload = uploads.Upload(file, columns, target)
    most = FILE_REQUESTS * service.limits.max_chars
    texts = await service.in_process(uploads.read_texts, upload, most)
    sample = "\n".join(texts.texts)[: service.limits.max_chars]  # to detect its language by
    (text_query,) = service.queries(source, target, [sample])
    if text_query.query is None:  # it is in the target language
        content, report, warnings = file.content, text_query.notices[0].message, []
    else:
        translations = await translations_of(request, text_query.query, texts)
        protector = text_query.query.served.protector
        plain = [uploads.Translation(one.text, one.links) for one in translations]
        written = await service.in_process(uploads.write, upload, plain, protector)
        content, report = written.content, str(written.report)
        warnings = [*too_long(translations), *notices.of_report(written.report)]
    name = translated_name(file.name, target)
    key = service.files.add(name, content)
    plain_name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)  # what no proxy changes
    url = request.url_for("download_file", key=key, name=plain_name)
    return JSONResponse({
        "translatedFileUrl": str(url),
        "report": report,
        "warnings": notices.answers([*text_query.notices, *warnings]),
    })  # fmt: skip


async def translations_of(request: Request, query: Query, texts: uploads.Texts) -> list[Result]:
    """Returns the translation of each text of a file."""
    if texts.has_markup:
        query = query._replace(links=True)
    results = await translate_texts(request, [*dict.fromkeys((query, one) for one in texts.texts)])
    return [results[query, text] for text in texts.texts]


def protector_of(query: Query | None) -> Protector:
    """Returns what finds what must not change in texts of a Query."""
    return query.served.protector if query else DEFAULT


def too_long(translations: Sequence[Result]) -> list[Notice]:
    """Returns what the client is to know of sentences that are too long, once each."""
    return [*{notice.kind: notice for one in translations for notice in one.too_long}.values()]


DocumentType = TypeVar("DocumentType", bound=Document)


class TranslatedDocument(NamedTuple, Generic[DocumentType]):
    """A Document with the translations of its segments."""

    document: DocumentType
    translations: list[Result]
    report: Report

    @property
    def too_long(self) -> list[Notice]:
        """What the client is to know of sentences that are too long, once each."""
        return too_long(self.translations)


class TranslatedMarkup(NamedTuple):
    """HTML or XML in translation."""

    text_query: TextQuery
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
    request: Request, queries: Sequence[Query | None], documents: Sequence[DocumentType]
) -> list[TranslatedDocument[DocumentType]]:
    """Returns documents in translation. Word links say where tags belong.

    Args:
      request: whose client may leave.
      queries: of each document; None for one that stays as it is.
      documents: of any format.
    """
    service: Service = request.app.state.service
    if any(segment.has_markup for document in documents for segment in document.segments):
        queries = [query and query._replace(links=True) for query in queries]
    texts = [
        (query, segment.text)
        for query, document in zip(queries, documents, strict=True)
        for segment in document.segments
    ]
    results = await translate_texts(request, [*dict.fromkeys(texts)])

    def report(query: Query | None, document: DocumentType) -> TranslatedDocument[DocumentType]:
        translations = [results[query, segment.text] for segment in document.segments]
        protector = protector_of(query)
        return TranslatedDocument(
            document, translations, make_report(document, translations, protector)
        )

    return await service.in_thread(
        lambda: [report(*pair) for pair in zip(queries, documents, strict=True)]
    )


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
    headers = {
        "Content-Security-Policy": "sandbox",
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
    }
    return file.content.response("application/octet-stream", headers)


OPERATIONS = (
    Operation(
        "post", "/translate_file", translate_file,
        "Translate a file (LibreTranslate's API): a form with the file, as multipart/form-data.",
        (FILE, SOURCE, TARGET, COLUMNS, KEY),
        answer_fields=(
            Field("translatedFileUrl", "where the translation is", STRING, required=True),
            Field("report", "what was translated, what was left, and why", STRING, required=True),
            Field("warnings", "what was left, lost or added", WARNINGS, required=True),
        ),
    ),
    Operation(
        "get", "/download_file/{key}/{name}", download_file,
        "A translated file, for ten minutes.", media_type="application/octet-stream",
    ),
)  # fmt: skip
