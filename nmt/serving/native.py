"""This server's own routes: what the APIs of others have no words for."""

import json
import math
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from nmt.decoding.attention import KINDS
from nmt.decoding.sampling import Sampling
from nmt.serving import fields, notices, openapi, prometheus_metrics, streaming
from nmt.serving.batching import Item
from nmt.serving.errors import RefusedError
from nmt.serving.models import MAX_N_BEST, Result
from nmt.serving.service import AUTO, Service, TextQuery
from nmt.text import spelling
from nmt.text.protected import SYMBOL

SAMPLING_FIELDS = ("temperature", "top_k", "top_p", "seed")
MAX_TERMS, MAX_TERM_CHARACTERS = 200, 200  # of a request's glossary
MAX_PREFIX_TOKENS = 500  # of a sentence
EXPLORER_HEADERS = {  # it is one file
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'",
}
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # for proxies


async def n_best(request: Request) -> Response:
    """Answers each text with its n best translations, or samples, and their probabilities."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    fields.check_names(asked, openapi.field_names("/n-best"))
    texts = fields.texts(asked.get("text"), "text")
    source, target = fields.text(asked, "source", AUTO), fields.text(asked, "target")
    text_queries = service.queries(source, target, texts)
    number = fields.number(asked, "n_best", int, 1, MAX_N_BEST, 1)
    prefix = fields.text(asked, "prefix", "")
    service.limits.check_characters([prefix] * len(texts))  # each begins with it
    options = dict(n_best=number, scored=True, sampling=sampling_of(asked), terms=terms_of(asked))
    queries = [one.query and one.query._replace(**options) for one in text_queries]
    has_details = fields.flag(asked, "details")
    if has_details:
        if options["sampling"]:
            raise RefusedError(400, "samples have no details; leave one of the two out")
        queries += [query and query._replace(n_best=1, details=True) for query in queries]
    items = [Item(text, prefix) for text in texts]
    results = await service.translate(request, queries, items * (2 if has_details else 1))
    answers = []
    for row, one in enumerate(text_queries):
        answer = {
            "source": one.source,
            "target": one.query.direction.target if one.query else one.source,
            "translations": [_translation(result) for result in results[row]],
            "warnings": notices.answers([*one.notices, *results[row][0].notices]),
        }
        if has_details:
            answer |= _details(results[len(texts) + row][0])
        answers.append(answer)
    return JSONResponse(answers if isinstance(asked["text"], list) else answers[0])


def terms_of(asked: dict) -> tuple[tuple[str, str], ...]:
    """Returns the terms of a request's own glossary, and their translations, in order."""
    glossary = asked.get("glossary") or {}
    if not isinstance(glossary, dict):
        raise RefusedError(400, "glossary must be an object of terms and their translations")
    if len(glossary) > MAX_TERMS:
        raise RefusedError(413, f"{len(glossary)} terms in glossary; send at most {MAX_TERMS}")
    terms = []
    for pair in glossary.items():
        for text in pair:
            fields.texts(text if isinstance(text, str) else 0, "each term of glossary")
            if spelling.is_blank(text) or SYMBOL.search(text):
                raise RefusedError(400, "glossary has a term or a translation that is no text")
            if len(text) > MAX_TERM_CHARACTERS:
                raise RefusedError(
                    413, f"glossary: at most {MAX_TERM_CHARACTERS} characters a term"
                )
        terms.append((spelling.trimmed(pair[0]), spelling.trimmed(pair[1])))
    return tuple(sorted(terms))


def sampling_of(asked: dict) -> Sampling | None:
    """Returns how samples are drawn; None if none are asked for."""
    if not fields.flag(asked, "sample"):
        if given := [name for name in SAMPLING_FIELDS if name in asked]:
            raise RefusedError(400, f"{given[0]} goes with sample: true")
        return None
    return Sampling(
        temperature=fields.number(asked, "temperature", float, 0.01, 100, 1.0),
        top_k=fields.number(asked, "top_k", int, 0, 1_000_000, 0),
        top_p=fields.number(asked, "top_p", float, 1e-6, 1, 1.0),
        seed=fields.number(asked, "seed", int, 0, 2**31 - 1, 0),
    )


def _translation(result: Result) -> dict:
    return {
        "text": result.text,
        "log_probability": round(result.log_probability, 4),
        "probability": float(f"{math.exp(result.log_probability):.4g}"),
        "missing": result.missing,
        "added": result.added,
    }


def _details(result: Result) -> dict:
    """Returns the tokens of a translation, and which words belong together."""
    return {
        "tokens": [
            {
                "token": score.token,
                "probability": round(math.exp(score.log_probability), 4),
                "alternatives": {
                    token: round(probability, 4) for token, probability in score.alternatives
                },
            }
            for score in result.tokens
        ],
        "alignment": result.links,
    }


async def stream(request: Request) -> Response:
    """Answers with server-sent events: the translation as it is generated, token by token."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    fields.check_names(asked, openapi.field_names("/stream"))
    text = fields.text(asked, "text")
    source, target = fields.text(asked, "source", AUTO), fields.text(asked, "target")
    (text_query,) = service.queries(source, target, [text])
    if text_query.query is None:
        events = unchanged_events(text, text_query)
        return StreamingResponse(events, media_type="text/event-stream", headers=STREAM_HEADERS)
    served = service.models.by_name[text_query.query.model]
    if served.model.options["non_autoregressive"]:
        raise RefusedError(400, "the run is non-autoregressive: all tokens come together")
    prefixes = prefixes_of(asked, served.tokenizer.vocab_size)
    service.count(text_query.query, [text])
    events = service.stream(text_query, text, prefixes)  # or a refusal, before the answer begins
    return StreamingResponse(events, media_type="text/event-stream", headers=STREAM_HEADERS)


def unchanged_events(text: str, text_query: TextQuery) -> Iterator[str]:
    """Yields the server-sent events of a text that stays as it is."""
    sentence = dict(sentence=0, space="", text=text, tokens=[], source=[], attention=[])
    warnings = {"warnings": notices.answers(text_query.notices)}
    for name, data in (("sentence", sentence), ("end", warnings)):
        yield from streaming.lines(name, json.dumps(data, ensure_ascii=False))


def prefixes_of(asked: dict, vocab_size: int) -> list[list[int]]:
    """Returns the token ids that the translation of each sentence is to begin with."""
    prefixes = asked.get("prefixes", [])
    for prefix in prefixes if isinstance(prefixes, list) else [None]:
        if not isinstance(prefix, list) or len(prefix) > MAX_PREFIX_TOKENS:
            raise RefusedError(
                400, f"prefixes must be lists of at most {MAX_PREFIX_TOKENS} token ids"
            )
        for number in prefix:
            if type(number) is not int or not 3 < number < vocab_size:  # PAD, UNKNOWN, START, END
                raise RefusedError(400, "prefixes must hold ids of tokens of the run")
    return prefixes


async def attention(request: Request) -> Response:
    """Answers with the attention weights of a text, which is translated as one sentence."""
    service: Service = request.app.state.service
    asked = await service.admit(request)
    fields.check_names(asked, openapi.field_names("/attention"))
    text = fields.text(asked, "text")
    source, target = fields.text(asked, "source", AUTO), fields.text(asked, "target")
    (text_query,) = service.queries(source, target, [text])
    if text_query.query is None:
        raise RefusedError(400, f"{text_query.notices[0].message}; name its source")
    kind = fields.text(asked, "kind", "cross")
    if kind not in KINDS:
        raise RefusedError(400, f"kind must be one of {', '.join(KINDS)}")
    result = await service.attend(text_query.query, text)
    layers = result.layers(kind)
    layer = fields.number(asked, "layer", int, 1, layers, layers)
    weights, queries, keys = result.select(kind, layer)
    return JSONResponse({
        "text": result.texts[0],
        "translation": result.texts[1],
        "kind": kind,
        "layer": layer,
        "queries": queries,
        "keys": keys,
        "weights": weights.astype(float).round(4).tolist(),  # heads, queries, keys
        "warnings": notices.answers(text_query.notices),
    })  # fmt: skip


async def runs(request: Request) -> Response:
    """Answers with the runs of the server, and what they can do."""
    service: Service = request.app.state.service
    answer = []
    for served in service.models.by_name.values():
        directions = [
            {"source": direction.source, "target": direction.target}
            for direction in served.directions
        ]
        answer.append({
            "name": served.name,
            "languages": directions,
            "beam": served.beam,
            "parameters": served.model.transformer.count_params(),
            "ensemble": 1 + len(served.model.ensemble),
            "streams": not served.model.options["non_autoregressive"],
            "explorer": service.has_explorer(served),
            "examples": served.examples if service.limits.api_key is None else [],
        })  # fmt: skip
    return JSONResponse(answer)


async def explore(request: Request) -> Response:
    """Answers with the explorer of a run, a page that runs it in the browser."""
    service: Service = request.app.state.service
    served = service.models.by_name.get(request.path_params["name"])
    if served is None or not service.has_explorer(served):
        raise RefusedError(404, "there is no explorer of such a run")
    return (await service.explorer(served)).response("text/html", EXPLORER_HEADERS)


async def prometheus(request: Request) -> Response:
    """Answers with the figures that Prometheus collects."""
    service: Service = request.app.state.service
    service.limits.check_key(request, dict(request.query_params))
    return Response(service.metrics.text(), media_type=prometheus_metrics.CONTENT_TYPE)


ROUTES = [
    Route("/n-best", n_best, methods=["POST"]),
    Route("/stream", stream, methods=["POST"]),
    Route("/attention", attention, methods=["POST"]),
    Route("/runs", runs, methods=["GET"]),
    Route("/explorer/{name}", explore, methods=["GET"]),
    Route("/metrics", prometheus, methods=["GET"]),
]
