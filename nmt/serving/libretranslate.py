"""LibreTranslate's API, so that its clients work with this server, too.

Written from its documentation (docs.libretranslate.com) and from what its clients send and expect.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nmt.documents import FORMATS as FILE_FORMATS
from nmt.serving import notices
from nmt.serving.access_log import access_of
from nmt.serving.detection import Detection
from nmt.serving.errors import RefusedError
from nmt.serving.fields import (
    ARRAY,
    BOOLEAN,
    STRINGS,
    ChoiceField,
    Field,
    FlagField,
    IntegerField,
    TextField,
    TextsField,
)
from nmt.serving.models import MAX_N_BEST
from nmt.serving.operations import (
    AUTO,
    CONFIDENCE,
    DETECTION,
    KEY,
    SOURCE,
    TARGET,
    WARNINGS,
    Operation,
)
from nmt.serving.service import Service
from nmt.serving.suggestions import Suggestion
from nmt.serving.translated_texts import translate_markup, translate_plain
from nmt.text.language_names import language_name
from nmt.text.languages import Pair

TEXTS = TextsField("q", "a text, or a list of texts", required=True)
FORMAT = ChoiceField("format", "text (default) or html", ("text", "html"), "text")
ALTERNATIVES = IntegerField(
    "alternatives",
    f"further translations of each text, 0 to {MAX_N_BEST - 1}",
    highest=MAX_N_BEST - 1,
)
# It costs a pass over the translation after a greedy search, which is why it must be asked for.
WITH_CONFIDENCE = FlagField(
    "confidence", "whether to answer how sure each translation is (not LibreTranslate's)"
)
TRANSLATE_FIELDS = (TEXTS, SOURCE, TARGET, FORMAT, ALTERNATIVES, WITH_CONFIDENCE, KEY)
FIELD_NAMES = {field.name for field in TRANSLATE_FIELDS}


async def translate(request: Request) -> Response:
    """Answers a text or a list of texts with its translation, or a list of as many."""
    service: Service = request.app.state.service
    values = await service.admit(request)
    texts = TEXTS.read(values)
    source, target = SOURCE.read(values), TARGET.read(values)
    is_html = FORMAT.read(values) == "html"
    number, confidence = ALTERNATIVES.read(values), WITH_CONFIDENCE.read(values)
    if is_html and number:
        raise RefusedError(400, "alternatives need the format text")
    if is_html:
        answers = await translate_markup(request, source, target, texts)
    else:
        answers = await translate_plain(request, source, target, texts, number, confidence)
    columns: dict[str, list[Any]] = {"translatedText": [one.text for one in answers]}
    if number:
        columns["alternatives"] = [one.alternatives for one in answers]
    if confidence:
        columns["confidence"] = [one.confidence for one in answers]
    if source == AUTO:
        columns["detectedLanguage"] = [_detection(one.text_query.detection) for one in answers]
    ignored = notices.of_fields([name for name in values if name not in FIELD_NAMES])
    columns["warnings"] = [notices.answers([*one.notices, *ignored]) for one in answers]
    if isinstance(values["q"], list):
        return JSONResponse(columns)
    return JSONResponse({name: column[0] for name, column in columns.items()})


def _detection(detection: Detection | None) -> dict[str, Any]:
    if detection is None:
        raise ValueError("the client has named the language")
    return {"confidence": detection.confidence, "language": detection.code}


TEXT_TO_DETECT = TextsField("q", "the text", required=True)


async def detect(request: Request) -> Response:
    """Answers with the languages that a text may be in, the likeliest first."""
    service: Service = request.app.state.service
    texts = TEXT_TO_DETECT.read(await service.admit(request))
    service.limits.check_texts(texts)
    detections = service.models.detect("\n".join(texts))
    return JSONResponse([_detection(detection) for detection in detections])


async def list_languages(request: Request) -> Response:
    """Answers with the source languages of the runs, and what each is translated into."""
    models = request.app.state.service.models
    codes = dict.fromkeys([*models.sources, *models.targets])  # clients look targets up there, too
    return JSONResponse([
        {"code": code, "name": language_name(code), "targets": models.targets_of(code)}
        for code in codes
    ])  # fmt: skip


async def health(request: Request) -> Response:
    """Answers whether the server runs, and whether its first translation would be slower."""
    service: Service = request.app.state.service
    return JSONResponse({"status": "ok", "warm": service.warm})


async def settings(request: Request) -> Response:
    """Answers with what LibreTranslate's page, and some clients, ask before they begin."""
    service: Service = request.app.state.service
    (source, target), *_ = service.models.by_languages
    has_key = bool(service.limits.keys)
    return JSONResponse({
        "apiKeys": has_key,
        "keyRequired": has_key,
        "charLimit": service.limits.max_chars,
        "frontendTimeout": 500,
        "language": {
            "source": {"code": source, "name": language_name(source)},
            "target": {"code": target, "name": language_name(target)},
        },
        "suggestions": service.suggestions is not None,
        "filesTranslation": True,
        "supportedFilesFormat": list(FILE_FORMATS),
    })  # fmt: skip


SUGGESTED_SOURCE = TextField("q", "the text", required=True)
SUGGESTED = TextField("s", "a better translation", required=True)
PREVIOUS = TextField("previous", "the translation that is corrected (not LibreTranslate's)")


async def suggest(request: Request) -> Response:
    """Stores a better translation; without --suggestions, refuses it in LibreTranslate's words."""
    service: Service = request.app.state.service
    values = await service.admit(request)
    texts = [field.read(values) for field in (SUGGESTED_SOURCE, SUGGESTED, PREVIOUS)]
    source, target = SOURCE.read(values), TARGET.read(values)
    suggestions = service.suggestions
    if suggestions is None:
        raise RefusedError(403, "suggestions are disabled on this server")
    for text in texts:
        service.limits.check_characters([text])
    text, corrected, previous = texts
    if not text.strip() or not corrected.strip():
        raise RefusedError(400, "q or s is empty; send a text and its translation")
    query = service.queries(source, target, [text])[0].query
    if query is None:
        raise RefusedError(400, "q is in the target language already; name its source")
    suggestion = Suggestion(
        Pair(query.direction.source, query.direction.target), text, corrected, query.served.name,
        query.served.model.weights, previous, access_of(request.scope).key,
    )  # fmt: skip
    await service.in_thread(lambda: suggestions.add(suggestion))
    service.metrics.suggestions.inc()
    return JSONResponse({"success": True})


OPERATIONS = (
    Operation(
        "post", "/translate", translate,
        "Translate (LibreTranslate's API; GET, forms and multipart, too).",
        TRANSLATE_FIELDS,
        {"q": "Bom dia.", "source": "pt", "target": "en"},
        answer_fields=(
            Field("translatedText", "a string, or a list of them", STRINGS, required=True),
            Field("alternatives", "if they are asked for", ARRAY),
            Field(
                "confidence", "if it is asked for: the chrF that is expected of the translation, 0 "
                "to 100; of a list of texts, a list; null for html, for a text in the target "
                "language, and for a run that is not calibrated",
                {"oneOf": [CONFIDENCE, {"type": "array", "items": CONFIDENCE}]},
            ),
            Field(
                "detectedLanguage", "with source=auto",
                {"oneOf": [DETECTION, {"type": "array", "items": DETECTION}]},
            ),
            Field(
                "warnings", "what to know of the translation; of a list of texts, a list for each",
                {"oneOf": [WARNINGS, {"type": "array", "items": WARNINGS}]}, required=True,
            ),
        ),
        other_methods=("get",),
    ),
    Operation(
        "post", "/detect", detect, "Which source language is a text in?", (TEXT_TO_DETECT, KEY),
        {"q": "Bom dia."}, other_methods=("get",),
    ),
    Operation(
        "post", "/suggest", suggest,
        "Suggest a better translation (LibreTranslate's API), which a server with --suggestions "
        "stores.",
        (SUGGESTED_SOURCE, SUGGESTED, PREVIOUS, SOURCE, TARGET, KEY),
        answer_fields=(Field("success", "true", BOOLEAN, required=True),),
        other_errors=(507,),
    ),
    Operation(
        "get", "/languages", list_languages,
        "The source languages, and what each is translated into.",
    ),
    Operation(
        "get", "/health", health, "Does the server run, and is its first translation prepared?"
    ),
    Operation(
        "get", "/frontend/settings", settings, "What LibreTranslate's page asks before it begins."
    ),
)  # fmt: skip
