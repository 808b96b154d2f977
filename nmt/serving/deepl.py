"""DeepL's API, version 2, as far as Weblate and its official clients need it to translate text.

Written from its documentation (developers.deepl.com) and from what these clients send. What they
may ask for and this server cannot do is refused, never ignored.
"""

import re

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nmt import UserError
from nmt.documents import xml_files
from nmt.documents.document import DecodedText, Span, TextDocument
from nmt.serving import notices
from nmt.serving.errors import RefusedError
from nmt.serving.fields import (
    ARRAY,
    INTEGER,
    OBJECTS,
    ChoiceField,
    Field,
    FlagField,
    TextField,
    TextsField,
    Values,
)
from nmt.serving.operations import AUTO, KEY, Operation, check_names
from nmt.serving.service import Service
from nmt.serving.translated_texts import TranslatedText, translate_markup, translate_plain
from nmt.text.language_names import language_name

UNLIMITED = 10**12  # characters, as clients show it
SPLITTING = {"": "1", "xml": "1", "html": "nonewlines"}  # DeepL's default by tag_handling
REGIONS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT")}  # targets have them, sources not
MAX_TAGS = 100  # names in ignore_tags
TAG_NAME = re.compile(r"[A-Za-z_][\w.:-]*")
ATTRIBUTES = r"""((?>(?:[^<>"']|"[^"]*"|'[^']*')*))"""  # of a tag, as they are written
MARK = ' translate="no"'  # of tags whose content stays
TRANSLATE = re.compile(r"(?<=\s)translate(?=[\s=/>]|$)", re.IGNORECASE)  # of the client
RENAMED = "_given-"  # before the name of that attribute, as no tag may have two of a name
RENAMED_TRANSLATE = re.compile(f"(?<=\\s){RENAMED}(?=translate)", re.IGNORECASE)

TEXTS = TextsField("text", "a text, or a list of texts", required=True)
SOURCE = TextField("source_lang", "PT; detected if missing")
TARGET = TextField("target_lang", "EN, or with a region: EN-US", required=True)
TAG_HANDLING = ChoiceField("tag_handling", "of text with tags", ("html", "xml"))
IGNORED_TAGS = TextsField(
    "ignore_tags",
    "with tag_handling: names of tags, in a list or separated by commas, whose content stays as it "
    "is",
)
FORMALITY = ChoiceField(
    "formality", "which change nothing", ("default", "prefer_more", "prefer_less")
)
SPLIT_SENTENCES = Field(
    "split_sentences",
    "1, or with tag_handling=html nonewlines: as the texts are split in any case",
    {"enum": ["1", "nonewlines"]},
)
TRANSLATE_FIELDS = (
    TEXTS,
    SOURCE,
    TARGET,
    TAG_HANDLING,
    IGNORED_TAGS,
    FORMALITY,
    SPLIT_SENTENCES,
    FlagField("preserve_formatting", "which it is in any case"),
    FlagField("show_billed_characters", "which they are in any case"),
    KEY,
)
GLOSSARY = TextField("glossary_id", "of DeepL's glossaries")
LANGUAGE_TYPE = ChoiceField("type", "source (default) or target", ("source", "target"), "source")


async def translate(request: Request) -> Response:
    """Answers one or more texts with their translations."""
    service: Service = request.app.state.service
    values = await service.admit(request)
    texts = TEXTS.read(values)
    target = code_of(TARGET.read(values), service.models.targets)
    source = code_of(SOURCE.read(values), service.models.sources) or AUTO
    tag_handling = check_values(values)
    if tag_handling:
        names = ignored_tags(values)
        translations = await translate_tagged(request, source, target, texts, tag_handling, names)
    else:
        translations = await translate_plain(request, source, target, texts)
    return JSONResponse({
        "translations": [
            {
                "detected_source_language": translation.text_query.source.partition("-")[0].upper(),
                "text": translation.text,
                "billed_characters": len(text),
                "warnings": notices.answers(translation.notices),
            }
            for text, translation in zip(texts, translations, strict=True)
        ]
    })  # fmt: skip


def code_of(language: str, codes: list[str]) -> str:
    """Returns the code of one of DeepL's languages: "EN-US" is "en" if there is no "en-US"."""
    usual = language.replace("_", "-").lower()
    for code in (usual, usual.partition("-")[0]):
        for known in codes:
            if known.lower() == code:
                return known
    return usual


def check_values(values: Values) -> str:
    """Returns the tag_handling of a request: "html", "xml", or "" for none.

    A RefusedError if it asks for something else that this server cannot do.
    """
    tag_handling = TAG_HANDLING.read(values)
    if not FORMALITY.allows(values):
        raise RefusedError(400, "formality is not supported; use prefer_more or leave it out")
    if GLOSSARY.read(values):
        raise RefusedError(400, "glossary_id is not supported; start the server with --glossary")
    splitting = str(values.get(SPLIT_SENTENCES.name, SPLITTING[tag_handling]))
    if splitting != SPLITTING[tag_handling]:
        raise RefusedError(
            400,
            f"split_sentences={splitting[:40]} is not supported here; leave it out, which means "
            f"{SPLITTING[tag_handling]}",
        )
    if IGNORED_TAGS.name in values and not tag_handling:
        raise RefusedError(400, "ignore_tags needs tag_handling")
    filled = {name: value for name, value in values.items() if value not in ("", None, [])}
    check_names(filled, TRANSLATE_FIELDS)
    return tag_handling


def ignored_tags(values: Values) -> list[str]:
    """Returns the names of the tags whose content stays: of a list, or separated by commas."""
    names = [name.strip() for names in IGNORED_TAGS.read(values) for name in names.split(",")]
    if len(names) > MAX_TAGS:
        raise RefusedError(413, f"{len(names)} names in ignore_tags; send at most {MAX_TAGS}")
    for name in filter(None, names):
        if not TAG_NAME.fullmatch(name):
            raise RefusedError(400, f"ignore_tags: {name[:40]} is no name of a tag")
    return [name for name in names if name]


async def translate_tagged(
    request: Request, source: str, target: str, texts: list[str], kind: str, names: list[str]
) -> list[TranslatedText]:
    """Returns texts with tags, html or xml, in translation; what is in tags of `names` stays."""
    either = "|".join(map(re.escape, names)) or "(?!)"
    tag = re.compile(rf"<({either})(?=[\s/>]){ATTRIBUTES}")
    marked_tag = re.compile(f"<({either}){MARK}{ATTRIBUTES}")
    texts = [tag.sub(_marked, text) for text in texts]
    parse_text = xml_lines if kind == "xml" else None
    translations = await translate_markup(request, source, target, texts, parse_text)
    return [one._replace(text=marked_tag.sub(_unmarked, one.text)) for one in translations]


def _marked(tag: re.Match[str]) -> str:
    """Returns the beginning of a tag with MARK in place of its own attribute `translate`."""
    name, attributes = tag.groups()
    return f"<{name}{MARK}" + TRANSLATE.sub(lambda match: RENAMED + match[0], attributes)


def _unmarked(tag: re.Match[str]) -> str:
    """Returns the beginning of a tag as it was before `_marked`."""
    name, attributes = tag.groups()
    return f"<{name}" + RENAMED_TRANSLATE.sub("", attributes)


def xml_lines(decoded: DecodedText) -> TextDocument:
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
    values = await service.admit(request)
    if LANGUAGE_TYPE.read(values) == "source":
        codes = {code.upper(): code for code in service.models.sources}
    else:
        codes = {
            region: code
            for code in service.models.targets
            for region in REGIONS.get(code, (code.upper(),))
        }
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


OPERATIONS = (
    Operation(
        "post", "/v2/translate", translate,
        "Translate (DeepL's API). Other options of it are refused.", TRANSLATE_FIELDS,
        {"text": ["Bom dia."], "source_lang": "PT", "target_lang": "EN-US"},
        answer_fields=(
            Field(
                "translations", "detected_source_language, text, billed_characters, warnings",
                OBJECTS, required=True,
            ),
        ),
    ),
    Operation(
        "get", "/v2/languages", list_languages, "Languages (DeepL's API).", (LANGUAGE_TYPE, KEY),
        other_methods=("post",),
    ),
    Operation(
        "get", "/v2/usage", usage, "Characters translated since the start (DeepL's API).", (KEY,),
        answer_fields=(
            Field("character_count", "since the start", INTEGER, required=True),
            Field("character_limit", "there is none", INTEGER, required=True),
        ),
        other_methods=("post",),
    ),
    Operation(
        "get", "/v2/glossary-language-pairs", glossary_language_pairs,
        "None: glossaries are the server's (DeepL's API).", (KEY,),
        answer_fields=(Field("supported_languages", "none", ARRAY, required=True),),
    ),
)  # fmt: skip
