"""DeepL's API, version 2, as far as its official clients need it to translate text.

Written from its documentation (developers.deepl.com) and from what its Python client sends.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nmt.serving import fields
from nmt.serving.errors import RefusedError
from nmt.serving.service import AUTO, Service
from nmt.text.language_names import language_name

UNLIMITED = 10**12  # characters, as clients show it
FORMALITIES = ("", "default", "prefer_more", "prefer_less")  # which all mean the same here
REGIONS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT")}  # targets have them, sources not


def _code(language: str) -> str:
    """Returns the code of one of DeepL's languages: "EN-US" is "en"."""
    return language.partition("-")[0].lower()


async def translate(request: Request) -> Response:
    """Answers one or more texts with their translations."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    texts = fields.texts(asked.get("text"), "text")
    target = _code(fields.text(asked, "target_lang"))
    source = _code(fields.text(asked, "source_lang", AUTO)) or AUTO
    if fields.text(asked, "tag_handling", ""):
        raise RefusedError(400, "tag_handling is not supported; use /translate with format=html")
    if fields.text(asked, "formality", "") not in FORMALITIES:
        raise RefusedError(400, "formality is not supported; use prefer_more or leave it out")
    if fields.text(asked, "glossary_id", ""):
        raise RefusedError(400, "glossary_id is not supported; start the server with --glossary")
    query, _ = service.query(source, target, texts)
    results = await service.translate(request, query, texts)
    return JSONResponse({
        "translations": [
            {
                "detected_source_language": query.direction.source.upper(),
                "text": best[0].text,
                "billed_characters": len(text),
            }
            for text, best in zip(texts, results, strict=True)
        ]
    })  # fmt: skip


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


ROUTES = [
    Route("/v2/translate", translate, methods=["POST"]),
    Route("/v2/languages", list_languages, methods=["GET", "POST"]),
    Route("/v2/usage", usage, methods=["GET", "POST"]),
]
