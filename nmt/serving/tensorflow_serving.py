"""The REST form of TensorFlow Serving, for clients that move from there.

The signatures are those of an export: serving_default is greedy search, beam a beam of 4, prefix
that beam with a beginning. A string may hold several sentences here.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nmt.serving import fields
from nmt.serving.batching import Item
from nmt.serving.errors import RefusedError
from nmt.serving.models import Query, ServedModel
from nmt.serving.service import Service

BEAMS = {"serving_default": 1, "beam": 4, "prefix": 4}  # by signature


def _served(request: Request) -> ServedModel:
    service: Service = request.app.state.service
    served = service.models.by_name.get(request.path_params["name"])
    if served is None:
        raise RefusedError(404, "there is no such model; GET /runs lists them")
    return served


async def status(request: Request) -> Response:
    """Answers that a model is available."""
    _served(request)
    version = {"version": "1", "state": "AVAILABLE", "status": {"error_code": "OK"}}
    return JSONResponse({"model_version_status": [version]})


async def predict(request: Request) -> Response:
    """Answers sentences, as columns (`inputs`) or rows (`instances`), with their translations."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    served = _served(request)
    signature = fields.text(asked, "signature_name", "serving_default")
    if signature not in BEAMS:
        raise RefusedError(400, f"signature_name must be one of {', '.join(BEAMS)}")
    in_rows = "instances" in asked
    items = _items(asked["instances"] if in_rows else asked.get("inputs"), in_rows, signature)
    texts = [item.text for item in items]
    service.limits.check_texts(texts)
    direction = served.directions[0]._replace(tag="")  # sentences come with their tags
    query = Query(served.name, direction, beam=BEAMS[signature], scored=True)
    (results,) = await service.translate_items(request, [query], items)
    translations = [best[0].text for best in results]
    scores = [best[0].log_probability for best in results]
    if in_rows:
        rows = zip(translations, scores, strict=True)
        predictions = [{"translations": text, "scores": score} for text, score in rows]
        return JSONResponse({"predictions": predictions})
    return JSONResponse({"outputs": {"translations": translations, "scores": scores}})


def _items(given: Any, in_rows: bool, signature: str) -> list[Item]:
    """Returns the Items of a request's `instances` (rows) or `inputs` (columns)."""
    if in_rows:
        rows = given if isinstance(given, list) else []
        rows = [row if isinstance(row, dict) else {"sentences": row} for row in rows]
        columns = {name: [row.get(name) for row in rows] for name in ("sentences", "prefixes")}
    else:
        columns = given if isinstance(given, dict) else {"sentences": given}
    sentences = fields.texts(columns.get("sentences"), "sentences")
    if signature != "prefix":
        return [Item(sentence) for sentence in sentences]
    prefixes = fields.texts(columns.get("prefixes"), "prefixes")
    if len(prefixes) != len(sentences):
        raise RefusedError(400, "give one of prefixes for each of sentences")
    return [Item(*pair) for pair in zip(sentences, prefixes, strict=True)]


ROUTES = [
    Route("/v1/models/{name}:predict", predict, methods=["POST"]),
    Route("/v1/models/{name}", status, methods=["GET"]),
]
