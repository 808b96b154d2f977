"""LibreTranslate's API, so that its clients work with this server, too.

Written from its documentation (docs.libretranslate.com) and from what its clients send and expect.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nmt.documents import FORMATS as FILE_FORMATS
from nmt.serving import fields, notices
from nmt.serving.batching import Item
from nmt.serving.detection import Detection
from nmt.serving.errors import RefusedError
from nmt.serving.file_routes import translate_markup
from nmt.serving.models import MAX_N_BEST, Result
from nmt.serving.service import AUTO, Service
from nmt.text.language_names import language_name

FORMATS = ("text", "html")


async def translate(request: Request) -> Response:
    """Answers a text or a list of texts with its translation, or a list of as many."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    texts = fields.texts(asked.get("q"))
    source = fields.text(asked, "source", AUTO)
    target = fields.text(asked, "target")
    kind = fields.text(asked, "format", "text") or "text"
    if kind not in FORMATS:
        raise RefusedError(400, f"format must be one of {', '.join(FORMATS)}")
    number = fields.number(asked, "alternatives", int, 0, MAX_N_BEST - 1, 0)
    if kind == "html":
        if number:
            raise RefusedError(400, "alternatives need the format text")
        translated = await translate_markup(request, source, target, texts)
        text_queries = [markup.asked for markup in translated]
        translations = [markup.text for markup in translated]
        warnings = [markup.notices for markup in translated]
        alternatives = [[] for _ in texts]
    else:
        text_queries = service.queries(source, target, texts)
        queries = [
            one.query and one.query._replace(n_best=1 + number, scored=number > 0)
            for one in text_queries
        ]
        results = await service.translate(request, queries, [Item(text) for text in texts])
        translations = [best[0].text for best in results]
        warnings = [
            [*one.notices, *best[0].notices]
            for one, best in zip(text_queries, results, strict=True)
        ]
        alternatives = [_other_texts(best) for best in results]
    answer = {"translatedText": translations}
    if number:
        answer["alternatives"] = alternatives
    if source == AUTO:
        answer["detectedLanguage"] = [_detection(one.detection) for one in text_queries]
    answer["warnings"] = [notices.answers(text_warnings) for text_warnings in warnings]
    if not isinstance(asked["q"], list):
        answer = {name: values[0] for name, values in answer.items()}
    return JSONResponse(answer)


def _other_texts(best: list[Result]) -> list[str]:
    return [result.text for result in best[1:]]


def _detection(detection: Detection) -> dict:
    return {"confidence": detection.confidence, "language": detection.code}


async def detect(request: Request) -> Response:
    """Answers with the languages that a text may be in, the likeliest first."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    texts = fields.texts(asked.get("q"))
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
    has_key = service.limits.api_key is not None
    return JSONResponse({
        "apiKeys": has_key,
        "keyRequired": has_key,
        "charLimit": service.limits.max_chars,
        "frontendTimeout": 500,
        "language": {
            "source": {"code": source, "name": language_name(source)},
            "target": {"code": target, "name": language_name(target)},
        },
        "suggestions": False,
        "filesTranslation": True,
        "supportedFilesFormat": list(FILE_FORMATS),
    })  # fmt: skip


async def suggest(request: Request) -> Response:
    """Refuses suggestions in the words that clients know from LibreTranslate without them."""
    service: Service = request.app.state.service
    await service.admit(request)
    raise RefusedError(403, "suggestions are disabled on this server")


ROUTES = [
    Route("/translate", translate, methods=["GET", "POST"]),
    Route("/detect", detect, methods=["GET", "POST"]),
    Route("/languages", list_languages, methods=["GET"]),
    Route("/suggest", suggest, methods=["POST"]),
    Route("/health", health, methods=["GET"]),
    Route("/frontend/settings", settings, methods=["GET"]),
]
