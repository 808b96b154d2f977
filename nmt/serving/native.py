"""This server's own routes: what the APIs of others have no words for."""

import dataclasses
import math
from collections.abc import AsyncIterator, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from nmt.decoding.attention import KINDS
from nmt.decoding.search_options import Sampling, SearchOptions
from nmt.options import declared, option
from nmt.serving import notices, prometheus_metrics, streaming
from nmt.serving.batching import Item
from nmt.serving.errors import RefusedError
from nmt.serving.fields import (
    ARRAY,
    INTEGER,
    OBJECTS,
    STRING,
    ChoiceField,
    Field,
    FlagField,
    IntegerField,
    TextField,
    TextsField,
    Values,
    checked_texts,
    of_row,
)
from nmt.serving.models import MAX_N_BEST, Result
from nmt.serving.operations import (
    CONFIDENCE,
    KEY,
    SOURCE,
    TARGET,
    TEXT,
    TOKENS,
    WARNINGS,
    Operation,
    check_names,
)
from nmt.serving.service import Service, TextQuery
from nmt.text import spelling

MAX_TERMS, MAX_TERM_CHARACTERS = 200, 200  # of a request's glossary
MAX_PREFIX_TOKENS = 500  # of a sentence
EXPLORER_HEADERS = {  # it is one file
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'",
}
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # for proxies

# ---- The n best translations, and samples ----


class GlossaryField(Field):
    """A field that is an object of terms and their translations."""

    def read(self, values: Values) -> tuple[tuple[str, str], ...]:
        """Returns the terms and their translations, in order; a RefusedError if they are none."""
        glossary = values.get(self.name) or {}
        if not isinstance(glossary, dict):
            raise RefusedError(400, "glossary must be an object of terms and their translations")
        if len(glossary) > MAX_TERMS:
            raise RefusedError(413, f"{len(glossary)} terms in glossary; send at most {MAX_TERMS}")
        terms = []
        for term, translation in glossary.items():
            _check_term(term)
            _check_term(translation)
            terms.append((spelling.trimmed(term), spelling.trimmed(translation)))
        return tuple(sorted(terms))


def _check_term(text: Any) -> None:
    """Raises a RefusedError if a term of a glossary, or a translation, is none."""
    checked_texts(text if isinstance(text, str) else 0, "each term of glossary")
    if spelling.is_blank(text):
        raise RefusedError(400, "glossary has a term or a translation that is no text")
    if len(text) > MAX_TERM_CHARACTERS:
        raise RefusedError(413, f"glossary: at most {MAX_TERM_CHARACTERS} characters a term")


TEXTS = TextsField("text", "a text, or a list of texts", required=True)
N_BEST = of_row(
    option(SearchOptions, "n_best"), f"translations of each text, 1 to {MAX_N_BEST}", MAX_N_BEST
)
PREFIX = TextField("prefix", "what each translation begins with")
GLOSSARY = GlossaryField(
    "glossary",
    f"terms and their translations, at most {MAX_TERMS}, beside those of the server",
    {"type": "object", "additionalProperties": STRING},
)
DETAILS = FlagField("details", "the tokens of the best one, and its word alignment")
SAMPLE = FlagField("sample", "draw translations at random")
SAMPLING_FIELDS = [of_row(row, f"of samples: {row.flag.help}") for row in declared(Sampling)]
N_BEST_FIELDS = (
    TEXTS, SOURCE, TARGET, N_BEST, PREFIX, GLOSSARY, DETAILS, SAMPLE, *SAMPLING_FIELDS, KEY,
)  # fmt: skip


async def n_best(request: Request) -> Response:
    """Answers each text with its n best translations, or samples, and their probabilities."""
    service: Service = request.app.state.service
    values = await service.admit(request)
    check_names(values, N_BEST_FIELDS)
    texts = TEXTS.read(values)
    text_queries = service.queries(SOURCE.read(values), TARGET.read(values), texts)
    number, prefix = N_BEST.read(values), PREFIX.read(values)
    service.limits.check_characters([prefix] * len(texts))  # each begins with it
    sampling, terms = sampling_of(values), GLOSSARY.read(values)
    details = DETAILS.read(values)
    if details and sampling:
        raise RefusedError(400, "samples have no details; leave one of the two out")
    queries = [
        one.query
        and one.query._replace(
            n_best=number,
            scored=True,
            sampling=sampling,
            terms=terms,
            details=details,
            confidence=sampling is None,
        )
        for one in text_queries
    ]
    results = await service.translate(request, queries, [Item(text, prefix) for text in texts])
    answers = []
    for text_query, text_results in zip(text_queries, results, strict=True):
        answer = _n_best_answer(text_query, text_results)
        answers.append(answer | _details(text_results[0]) if details else answer)
    return JSONResponse(answers if isinstance(values[TEXTS.name], list) else answers[0])


def sampling_of(values: Values) -> Sampling | None:
    """Returns how samples are drawn; None if none are asked for."""
    if not SAMPLE.read(values):
        if given := [field.name for field in SAMPLING_FIELDS if field.name in values]:
            raise RefusedError(400, f"{given[0]} goes with sample: true")
        return None
    return Sampling(**{field.name: field.read(values) for field in SAMPLING_FIELDS})


def _n_best_answer(text_query: TextQuery, results: list[Result]) -> dict[str, Any]:
    query = text_query.query
    return {
        "source": text_query.source,
        "target": query.direction.target if query else text_query.source,
        "translations": [_translation(result) for result in results],
        "confidence": results[0].confidence,
        "warnings": notices.answers([*text_query.notices, *results[0].notices]),
    }


def _translation(result: Result) -> dict[str, Any]:
    log_probability = result.log_probability or 0.0
    return {
        "text": result.text,
        "log_probability": round(log_probability, 4),
        "probability": float(f"{math.exp(log_probability):.4g}"),
        "missing": result.missing,
        "added": result.added,
    }


def _details(result: Result) -> dict[str, Any]:
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


# ---- Streams ----


class PrefixesField(Field):
    """A field that is a list of token ids for each sentence."""

    def read(self, values: Values, vocab_size: int) -> list[list[int]]:
        """Returns the lists; a RefusedError if they hold anything but ids of the vocabulary."""
        prefixes = values.get(self.name, [])
        for prefix in prefixes if isinstance(prefixes, list) else [None]:
            if not isinstance(prefix, list) or len(prefix) > MAX_PREFIX_TOKENS:
                raise RefusedError(
                    400, f"prefixes must be lists of at most {MAX_PREFIX_TOKENS} token ids"
                )
            for number in prefix:
                # PAD, UNKNOWN, START and END are the first four.
                if type(number) is not int or not 3 < number < vocab_size:
                    raise RefusedError(400, "prefixes must hold ids of tokens of the run")
        return list(prefixes)


PREFIXES = PrefixesField(
    "prefixes",
    "token ids that the translation of each sentence begins with",
    {"type": "array", "items": {"type": "array", "items": INTEGER}},
)
STREAM_FIELDS = (TEXT, SOURCE, TARGET, PREFIXES, KEY)


async def stream(request: Request) -> Response:
    """Answers with server-sent events: the translation as it is generated, token by token."""
    service: Service = request.app.state.service
    values = await service.admit(request)
    check_names(values, STREAM_FIELDS)
    text = TEXT.read(values)
    (text_query,) = service.queries(SOURCE.read(values), TARGET.read(values), [text])
    events: Iterator[str] | AsyncIterator[str]
    if text_query.query is None:
        events = unchanged_events(text, text_query)
    else:
        query = text_query.query._replace(confidence=True)
        prefixes = PREFIXES.read(values, query.served.tokenizer.target.vocab_size)
        service.count(request, query, [text])
        # A refusal, if any, comes before the answer begins.
        events = service.stream(query, text_query.notices, text, prefixes)
    return StreamingResponse(events, media_type="text/event-stream", headers=STREAM_HEADERS)


def unchanged_events(text: str, text_query: TextQuery) -> Iterator[str]:
    """Yields the server-sent events of a text that stays as it is."""
    sentence = dataclasses.asdict(streaming.Finished(0, text, "", text, None, [], [], []))
    yield streaming.event_lines("sentence", sentence)
    end = streaming.end(text_query.source, text_query.source, text_query.notices)
    yield streaming.event_lines("end", end)


# ---- Attention, runs, the explorer, figures ----

KIND = ChoiceField("kind", "cross (default)", KINDS, "cross")
LAYER = IntegerField(
    "layer", "1, 2, ...; the last one by default", lowest=1, highest=1000, default=1
)
ATTENTION_FIELDS = (TEXT, SOURCE, TARGET, KIND, LAYER, KEY)


async def attention(request: Request) -> Response:
    """Answers with the attention weights of a text, which is translated as one sentence."""
    service: Service = request.app.state.service
    values = await service.admit(request)
    check_names(values, ATTENTION_FIELDS)
    text = TEXT.read(values)
    (text_query,) = service.queries(SOURCE.read(values), TARGET.read(values), [text])
    if text_query.query is None:
        raise RefusedError(400, f"{text_query.notices[0].message}; name its source")
    kind = KIND.read(values)
    result = await service.attend(text_query.query, text)
    service.count(request, text_query.query, [text])
    layer = LAYER.read_within(values, result.layers(kind))
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
            "parameters": served.parameters,
            "ensemble": served.model.members,
            "explorer": service.why_no_explorer(served) is None,
            "examples": [] if service.limits.keys else served.examples,
        })  # fmt: skip
    return JSONResponse(answer)


async def explore(request: Request) -> Response:
    """Answers with the explorer of a run, a page that runs it in the browser."""
    service: Service = request.app.state.service
    served = service.models.by_name.get(request.path_params["name"])
    if served is None:
        raise RefusedError(404, "there is no such run; see /runs")
    if reason := service.why_no_explorer(served):
        raise RefusedError(404, reason)
    return (await service.explorer(served)).response("text/html", EXPLORER_HEADERS)


async def prometheus(request: Request) -> Response:
    """Answers with the figures that Prometheus collects."""
    service: Service = request.app.state.service
    if not service.limits.open_metrics:
        service.limits.check_key(request, dict(request.query_params))
    return Response(service.metrics.text(), media_type=prometheus_metrics.CONTENT_TYPE)


# ---- The state of the server ----


async def live(request: Request) -> Response:
    """Answers that the process listens."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """Answers whether new requests are to come here."""
    request.app.state.service.check_ready()
    return JSONResponse({"status": "ok"})


async def reload(request: Request) -> Response:
    """Loads the runs anew, and answers when they are used."""
    service: Service = request.app.state.service
    check_names(await service.admit(request), (KEY,))
    if not service.can_reload:
        raise RefusedError(403, "the server does not reload; start it with --reload")
    if not service.limits.keys:
        raise RefusedError(403, "a server without a key reloads by SIGHUP alone")
    await service.reload()
    return JSONResponse({"status": "ok"})


STATUS = Field("status", "ok", STRING, required=True)
TRANSLATION_EXAMPLE = {"text": "Bom dia.", "source": "pt", "target": "en"}
OPERATIONS = (
    Operation(
        "post", "/n-best", n_best, "The n best translations with probabilities, or samples.",
        N_BEST_FIELDS, {**TRANSLATION_EXAMPLE, "n_best": 3, "details": True},
        answer_fields=(
            Field("source", "code of the language of the text", STRING, required=True),
            Field("target", "code of the language of the translations", STRING, required=True),
            Field(
                "translations", "text, log_probability, probability, missing and added numbers, "
                "placeholders, URLs, tags and terms; of a list of texts, the answer is a list",
                OBJECTS, required=True,
            ),
            Field(
                "confidence", "the chrF that is expected of the best translation, 0 to 100; null "
                "for samples, and for a run that is not calibrated", CONFIDENCE, required=True,
            ),
            Field("tokens", "with details: of the best translation", ARRAY),
            Field("alignment", "with details: of its words", {"type": ["array", "null"]}),
            Field("warnings", "of the best translation", WARNINGS, required=True),
        ),
    ),
    Operation(
        "post", "/stream", stream, "The translation as it is generated, as server-sent events: "
        "partial, sentence, end.",
        STREAM_FIELDS, TRANSLATION_EXAMPLE, media_type="text/event-stream",
    ),
    Operation(
        "post", "/attention", attention, "The attention weights of a translated sentence.",
        ATTENTION_FIELDS, TRANSLATION_EXAMPLE,
        answer_fields=(
            Field("text", "as it was translated", STRING, required=True),
            Field("translation", "of the text", STRING, required=True),
            Field("kind", "cross, encoder or decoder", STRING, required=True),
            Field("layer", "from 1", INTEGER, required=True),
            Field("queries", "tokens that attend", TOKENS, required=True),
            Field("keys", "tokens that are attended to", TOKENS, required=True),
            Field("weights", "heads, queries, keys", ARRAY, required=True),
            Field("warnings", "of the language", WARNINGS, required=True),
        ),
    ),
    Operation("get", "/runs", runs, "The runs of the server."),
    Operation(
        "get", "/explorer/{name}", explore, "A page that runs a run in the browser.",
        media_type="text/html",
    ),
    Operation("get", "/live", live, "Does the process listen?", answer_fields=(STATUS,)),
    Operation(
        "get", "/ready", ready,
        "Are new requests to come here? 503 until the runs are loaded, and while the server ends.",
        answer_fields=(STATUS,),
    ),
    Operation(
        "post", "/reload", reload,
        "Load the runs and their glossary anew, of a server with --reload and a key.", (KEY,),
        answer_fields=(STATUS,),
    ),
    Operation(
        "get", "/metrics", prometheus, "Figures for Prometheus.", (KEY,), media_type="text/plain",
    ),
)  # fmt: skip
