"""Texts in translation, plain or with markup, as more than one API answers them."""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from starlette.requests import Request

from nmt.documents import html_pages
from nmt.documents.document import DecodedText, TextDocument
from nmt.documents.report import make_report
from nmt.serving import notices
from nmt.serving.batching import Item
from nmt.serving.errors import RefusedError
from nmt.serving.models import Query, Result
from nmt.serving.notices import Notice
from nmt.serving.service import Service, TextQuery
from nmt.text.protected import DEFAULT

TEXTS = 64  # translated at a time, so that other clients have their turn


def too_long(translations: Sequence[Result]) -> list[Notice]:
    """Returns what the client is to know of sentences that are too long, once each."""
    return [*{notice.kind: notice for one in translations for notice in one.too_long}.values()]


class TranslatedText(NamedTuple):
    """A text in translation, and what its client is to know of it."""

    text_query: TextQuery
    text: str
    notices: list[Notice]
    alternatives: Sequence[str] = ()
    confidence: float | None = None  # 0 to 100, if it is asked for and known


async def translate_plain(
    request: Request,
    source: str,
    target: str,
    texts: list[str],
    alternatives: int = 0,
    confidence: bool = False,
) -> list[TranslatedText]:
    """Returns texts without markup in translation, each with further translations if asked for."""
    service: Service = request.app.state.service
    text_queries = service.queries(source, target, texts)
    queries = [
        one.query
        and one.query._replace(
            n_best=1 + alternatives, scored=alternatives > 0, confidence=confidence
        )
        for one in text_queries
    ]
    results = await service.translate(request, queries, [Item(text) for text in texts])
    return [
        TranslatedText(
            one,
            best.text,
            [*one.notices, *best.notices],
            [result.text for result in further_results],
            best.confidence,
        )
        for one, (best, *further_results) in zip(text_queries, results, strict=True)
    ]


async def translate_markup(
    request: Request,
    source: str,
    target: str,
    texts: list[str],
    parse_text: Callable[[DecodedText], TextDocument] | None = None,
) -> list[TranslatedText]:
    """Returns HTML in translation, or what `parse_text` parses."""
    parse_text = parse_text or functools.partial(
        html_pages.document, target_language=target, source_language=source
    )
    service: Service = request.app.state.service
    service.limits.check_texts(texts)
    if any("\0" in text for text in texts):
        raise RefusedError(400, "the text holds NUL characters, which markup cannot")

    def parse_texts() -> list[TextDocument]:
        return [parse_text(DecodedText(text, b"", "utf-8")) for text in texts]

    documents = await service.in_thread(parse_texts)
    contents = ["\n".join(segment.text for segment in one.segments) for one in documents]
    text_queries = service.queries(source, target, contents)
    translated = await translate_documents(request, text_queries, documents)
    return await service.in_thread(lambda: [written(*one) for one in translated])


async def translate_documents(
    request: Request, text_queries: Sequence[TextQuery], documents: Sequence[TextDocument]
) -> list[tuple[TextQuery, TextDocument, list[Result]]]:
    """Returns each document with its TextQuery and the translations of its segments.

    Word links say where tags belong.
    """
    has_markup = any(segment.has_markup for document in documents for segment in document.segments)
    queries = [one.query and one.query._replace(links=has_markup) for one in text_queries]
    texts = [
        (query, segment.text)
        for query, document in zip(queries, documents, strict=True)
        for segment in document.segments
    ]
    results = iter(await translate_texts(request, texts))
    return [
        (text_query, document, [*itertools.islice(results, len(document.segments))])
        for text_query, document in zip(text_queries, documents, strict=True)
    ]


def written(
    text_query: TextQuery, document: TextDocument, translations: list[Result]
) -> TranslatedText:
    """Returns a document as text in translation, with what the client is to know of it."""
    protector = text_query.query.served.protector if text_query.query else DEFAULT
    changes = notices.of_changes(make_report(document, translations, protector))
    doubts = [*text_query.notices, *too_long(translations), *changes]
    return TranslatedText(text_query, document.translated_text(translations), doubts)


async def translate_texts(
    request: Request, texts: Sequence[tuple[Query | None, str]]
) -> list[Result]:
    """Returns the best translation of each text, a few at a time, of equal ones found once."""
    service: Service = request.app.state.service
    different_texts = list(dict.fromkeys(texts))
    results = {}
    for start in range(0, len(different_texts), TEXTS):
        part = different_texts[start : start + TEXTS]
        queries = [query for query, _ in part]
        part_results = await service.translate(request, queries, [Item(text) for _, text in part])
        for key, best in zip(part, part_results, strict=True):
            results[key] = best[0]
    return [results[text] for text in texts]
