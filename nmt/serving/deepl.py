"""DeepL's API, version 2, as far as Weblate and its official clients need it to translate text.

Written from its documentation (developers.deepl.com) and from what these clients send. What they
may ask for and this server cannot do is refused, never ignored.
"""

import re
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nmt import UserError
from nmt.documents import html_pages, xml_files
from nmt.documents.document import DecodedText, Span, TextDocument
from nmt.serving import fields, notices, openapi
from nmt.serving.batching import Item
from nmt.serving.errors import RefusedError
from nmt.serving.file_routes import translate_markup
from nmt.serving.notices import Notice
from nmt.serving.service import AUTO, Service
from nmt.text.language_names import language_name

UNLIMITED = 10**12  # characters, as clients show it
SPLITTING = {"": "1", "xml": "1", "html": "nonewlines"}  # DeepL's default by tag_handling
REGIONS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT")}  # targets have them, sources not
MAX_TAGS = 100  # names in ignore_tags
TAG_NAME = re.compile(r"[A-Za-z_][\w.:-]*")
MARK = ' translate="no"'  # of tags whose content stays


class Translated(NamedTuple):
    """A text in translation."""

    source: str  # code of its language
    text: str
    notices: list[Notice]


async def translate(request: Request) -> Response:
    """Answers one or more texts with their translations."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    texts = fields.texts(asked.get("text"), "text")
    target = code_of(fields.text(asked, "target_lang"), service.models.targets)
    source = code_of(fields.text(asked, "source_lang", ""), service.models.sources) or AUTO
    tag_handling = check_options(asked)
    if tag_handling:
        names = ignored_tags(asked)
        translations = await translate_tagged(request, source, target, texts, tag_handling, names)
    else:
        translations = await translate_plain(request, source, target, texts)
    return JSONResponse({
        "translations": [
            {
                "detected_source_language": translation.source.partition("-")[0].upper(),
                "text": translation.text,
                "billed_characters": len(text),
                "warnings": notices.answers(translation.notices),
            }
            for text, translation in zip(texts, translations, strict=True)
        ]
    })  # fmt: skip


def code_of(language: str, codes: list[str]) -> str:
    """Returns the code of one of DeepL's languages: "EN-US" is "en" if there is no "en-US".

    Args:
      language: as a client writes it; "" for none.
      codes: those of the server.
    """
    usual = language.replace("_", "-").lower()
    for code in (usual, usual.partition("-")[0]):
        for known in codes:
            if known.lower() == code:
                return known
    return usual


def check_options(asked: dict[str, Any]) -> str:
    """Returns the tag_handling of a request: "html", "xml", or "" for none.

    Raises:
      RefusedError: it asks for something else that this server cannot do.
    """
    tag_handling = fields.text(asked, "tag_handling", "")
    if tag_handling not in SPLITTING:
        raise RefusedError(400, "tag_handling must be html or xml")
    if fields.text(asked, "formality", "") not in ("", *openapi.FORMALITIES):
        raise RefusedError(400, "formality is not supported; use prefer_more or leave it out")
    if fields.text(asked, "glossary_id", ""):
        raise RefusedError(400, "glossary_id is not supported; start the server with --glossary")
    splitting = str(asked.get("split_sentences", SPLITTING[tag_handling]))
    if splitting != SPLITTING[tag_handling]:
        raise RefusedError(
            400,
            f"split_sentences={splitting[:40]} is not supported here; leave it out, which means "
            f"{SPLITTING[tag_handling]}",
        )
    if "ignore_tags" in asked and not tag_handling:
        raise RefusedError(400, "ignore_tags needs tag_handling")
    options = {name: value for name, value in asked.items() if value not in ("", None, [])}
    fields.check_names(options, openapi.field_names("/v2/translate"))
    return tag_handling


def ignored_tags(asked: dict[str, Any]) -> list[str]:
    """Returns the names of the tags whose content stays: of a list, or separated by commas."""
    names = [
        name.strip()
        for names in fields.texts(asked.get("ignore_tags", []), "ignore_tags")
        for name in names.split(",")
    ]
    if len(names) > MAX_TAGS:
        raise RefusedError(413, f"{len(names)} names in ignore_tags; send at most {MAX_TAGS}")
    for name in filter(None, names):
        if not TAG_NAME.fullmatch(name):
            raise RefusedError(400, f"ignore_tags: {name[:40]} is no name of a tag")
    return [name for name in names if name]


async def translate_plain(
    request: Request, source: str, target: str, texts: list[str]
) -> list[Translated]:
    """Returns texts without tags in translation."""
    service: Service = request.app.state.service
    text_queries = service.queries(source, target, texts)
    queries = [one.query for one in text_queries]
    results = await service.translate(request, queries, [Item(text) for text in texts])
    return [
        Translated(one.source, best[0].text, [*one.notices, *best[0].notices])
        for one, best in zip(text_queries, results, strict=True)
    ]


async def translate_tagged(
    request: Request, source: str, target: str, texts: list[str], kind: str, names: list[str]
) -> list[Translated]:
    """Returns texts with tags in translation.

    Args:
      request, source, target, texts: see files.translate_markup.
      kind: html or xml.
      names: of the tags whose content stays as it is.
    """
    either = "|".join(map(re.escape, names)) or "(?!)"
    begin, begin_marked = (re.compile(f"<({either}){after}") for after in (r"(?=[\s/>])", MARK))
    texts = [begin.sub(lambda match: match[0] + MARK, text) for text in texts]
    parse = html_pages.document if kind == "html" else parse_lines
    translations = await translate_markup(request, source, target, texts, parse)
    return [
        Translated(one.asked.source, begin_marked.sub(r"<\1", one.text), one.notices)
        for one in translations
    ]


def parse_lines(decoded: DecodedText) -> TextDocument:
    """Returns the Document of XML text, whose lines are translated one by one.

    Those of text with a tag that goes over several lines are translated together.
    """
    lines = decoded.text.split("\n")
    try:
        documents = [xml_files.fragment(decoded._replace(text=line)) for line in lines]
    except UserError:
        return xml_files.fragment(decoded)
    segments, start = [], 0
    for line, document in zip(lines, documents, strict=True):
        for segment in document.segments:
            segment.spans = [Span(start + first, start + end) for first, end in segment.spans]
            segments.append(segment)
        start += len(line) + 1
    return TextDocument(decoded.text, segments, decoded.encode_with_references)


async def list_languages(request: Request) -> Response:
    """Answers with the source languages, or with type=target the target languages."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    kind = fields.text(asked, "type", "source")
    if kind == "source":
        codes = {code.upper(): code for code in service.models.sources}
    elif kind == "target":
        codes = {
            region: code
            for code in service.models.targets
            for region in REGIONS.get(code, (code.upper(),))
        }
    else:
        raise RefusedError(400, "type must be source or target")
    return JSONResponse([
        {"language": region, "name": language_name(code), "supports_formality": False}
        for region, code in codes.items()
    ])  # fmt: skip


async def usage(request: Request) -> Response:
    """Answers with the characters that the server has translated since it started."""
    service: Service = request.app.state.service
    await service.admit(request)
    return JSONResponse({"character_count": service.characters, "character_limit": UNLIMITED})


async def glossary_language_pairs(request: Request) -> Response:
    """Answers that there are no glossaries, so that clients ask for none."""
    service: Service = request.app.state.service
    await service.admit(request)
    return JSONResponse({"supported_languages": []})


ROUTES = [
    Route("/v2/translate", translate, methods=["POST"]),
    Route("/v2/languages", list_languages, methods=["GET", "POST"]),
    Route("/v2/usage", usage, methods=["GET", "POST"]),
    Route("/v2/glossary-language-pairs", glossary_language_pairs, methods=["GET"]),
]
