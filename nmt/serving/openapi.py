"""What the server can be asked, as an OpenAPI document and as a page for people."""

import html
import json
import re
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from nmt import __version__
from nmt.serving import notices


class Field(NamedTuple):
    """A field of a request."""

    name: str
    schema: dict
    description: str
    required: bool = False


class Operation(NamedTuple):
    """What a route does."""

    method: str
    path: str
    summary: str
    fields: tuple[Field, ...] = ()
    example: dict | None = None  # of a request
    answer: tuple[Field, ...] = ()  # those of a JSON object; required ones are there always
    media_type: str = "application/json"  # of the answer

    @property
    def takes_file(self) -> bool:
        return any(field.schema.get("format") == "binary" for field in self.fields)

    @property
    def takes_key(self) -> bool:
        return KEY in self.fields

    @property
    def errors(self) -> list[int]:
        """The statuses of its errors."""
        if self.takes_key:  # those that have a body, or may wait for their turn
            return [400, 403, 408, 413, 429, 500, 503]
        return [404, 429, 500, 503] if "{" in self.path else [500, 503]


STRING, INTEGER, NUMBER, BOOLEAN = (
    {"type": name} for name in ("string", "integer", "number", "boolean")
)
STRINGS = {"oneOf": [STRING, {"type": "array", "items": STRING}]}
KEY = Field("api_key", STRING, "the key, if the server has one; or the header Authorization")
TOKENS = {"type": "array", "items": STRING}
DETECTION = {"$ref": "#/components/schemas/Detection"}
DETECTIONS = {"type": "array", "items": DETECTION}
WARNINGS = {"type": "array", "items": {"$ref": "#/components/schemas/Warning"}}
ANY_WARNINGS = Field(
    "warnings", {"oneOf": [WARNINGS, {"type": "array", "items": WARNINGS}]},
    "what to know of the translation; of a list of texts, a list for each", required=True,
)  # fmt: skip
SOURCE = Field("source", STRING, "code of the source language, or auto (default)")
TARGET = Field("target", STRING, "code of the target language", required=True)
TEXT = Field("text", STRING, "the text", required=True)
SAMPLING = (
    Field("sample", BOOLEAN, "draw translations at random"),
    Field("temperature", NUMBER, "of samples: below 1, likely tokens become likelier"),
    Field("top_k", INTEGER, "of samples: draw from the k likeliest tokens; 0 is all"),
    Field("top_p", NUMBER, "of samples: draw from the likeliest tokens of this total probability"),
    Field("seed", INTEGER, "of samples: the same seed gives the same text"),
)
FORMALITIES = ["default", "prefer_more", "prefer_less"]
OPERATIONS = (
    Operation(
        "post", "/translate", "Translate (LibreTranslate's API; GET, forms and multipart, too).",
        (
            Field("q", STRINGS, "a text, or a list of texts", required=True), SOURCE, TARGET,
            Field("format", {"enum": ["text", "html"]}, "text (default) or html"),
            Field("alternatives", INTEGER, "further translations of each text, 0 to 7"), KEY,
        ),
        {"q": "Bom dia.", "source": "pt", "target": "en"},
        answer=(
            Field("translatedText", STRINGS, "a string, or a list of them", required=True),
            Field("alternatives", {"type": "array"}, "if they are asked for"),
            Field("detectedLanguage", {"oneOf": [DETECTION, DETECTIONS]}, "with source=auto"),
            ANY_WARNINGS,
        ),
    ),
    Operation(
        "post", "/translate_file",
        "Translate a file (LibreTranslate's API): a form with the file, as multipart/form-data.",
        (
            Field("file", {"type": "string", "format": "binary"}, "the file", required=True),
            SOURCE, TARGET,
            Field("columns", STRING, "of a table: the names or numbers of those to translate"), KEY,
        ),
        answer=(
            Field("translatedFileUrl", STRING, "where the translation is", required=True),
            Field("report", STRING, "what was translated, what was left, and why", required=True),
            Field("warnings", WARNINGS, "what was left, lost or added", required=True),
        ),
    ),
    Operation(
        "get", "/download_file/{key}/{name}", "A translated file, for ten minutes.",
        media_type="application/octet-stream",
    ),
    Operation(
        "post", "/detect", "Which source language is a text in?",
        (Field("q", STRINGS, "the text", required=True), KEY), {"q": "Bom dia."},
    ),
    Operation(
        "post", "/suggest", "Suggest a translation (LibreTranslate's API): refused, with 403.",
        (
            Field("q", STRING, "the text"), Field("s", STRING, "its translation"), SOURCE,
            Field("target", STRING, "code of the target language"), KEY,
        ),
    ),
    Operation("get", "/languages", "The source languages, and what each is translated into."),
    Operation("get", "/health", "Does the server run, and is its first translation prepared?"),
    Operation("get", "/frontend/settings", "What LibreTranslate's page asks before it begins."),
    Operation(
        "post", "/n-best", "The n best translations with probabilities, or samples.",
        (
            Field("text", STRINGS, "a text, or a list of texts", required=True), SOURCE, TARGET,
            Field("n_best", INTEGER, "translations of each text, 1 to 8"),
            Field("prefix", STRING, "what each translation begins with"),
            Field(
                "glossary", {"type": "object", "additionalProperties": STRING},
                "terms and their translations, at most 200, beside those of the server",
            ),
            Field("details", BOOLEAN, "the tokens of the best one, and its word alignment"),
            *SAMPLING, KEY,
        ),
        {"text": "Bom dia.", "source": "pt", "target": "en", "n_best": 3, "details": True},
        answer=(
            Field("source", STRING, "code of the language of the text", required=True),
            Field("target", STRING, "code of the language of the translations", required=True),
            Field(
                "translations", {"type": "array", "items": {"type": "object"}},
                "text, log_probability, probability, missing and added numbers, placeholders, "
                "URLs, tags and terms; of a list of texts, the answer is a list", required=True,
            ),
            Field("tokens", {"type": "array"}, "with details: of the best translation"),
            Field("alignment", {"type": ["array", "null"]}, "with details: of its words"),
            Field("warnings", WARNINGS, "of the best translation", required=True),
        ),
    ),
    Operation(
        "post", "/stream", "The translation as it is generated, as server-sent events: partial, "
        "sentence, end.",
        (
            TEXT, SOURCE, TARGET,
            Field(
                "prefixes",
                {"type": "array", "items": {"type": "array", "items": INTEGER}},
                "token ids that the translation of each sentence begins with",
            ),
            KEY,
        ),
        {"text": "Bom dia.", "source": "pt", "target": "en"},
        media_type="text/event-stream"
    ),
    Operation(
        "post", "/attention", "The attention weights of a translated sentence.",
        (
            TEXT, SOURCE, TARGET,
            Field("kind", {"enum": ["cross", "encoder", "decoder"]}, "cross (default)"),
            Field("layer", INTEGER, "1, 2, ...; the last one by default"), KEY,
        ),
        {"text": "Bom dia.", "source": "pt", "target": "en"},
        answer=(
            Field("text", STRING, "as it was translated", required=True),
            Field("translation", STRING, "of the text", required=True),
            Field("kind", STRING, "cross, encoder or decoder", required=True),
            Field("layer", INTEGER, "from 1", required=True),
            Field("queries", TOKENS, "tokens that attend", required=True),
            Field("keys", TOKENS, "tokens that are attended to", required=True),
            Field("weights", {"type": "array"}, "heads, queries, keys", required=True),
            Field("warnings", WARNINGS, "of the language", required=True),
        ),
    ),
    Operation("get", "/runs", "The runs of the server."),
    Operation(
        "get", "/explorer/{name}", "A page that runs a run in the browser.", media_type="text/html",
    ),
    Operation("get", "/metrics", "Figures for Prometheus.", (KEY,), media_type="text/plain"),
    Operation(
        "post", "/v2/translate", "Translate (DeepL's API). Other options of it are refused.",
        (
            Field("text", STRINGS, "a text, or a list of texts", required=True),
            Field("source_lang", STRING, "PT; detected if missing"),
            Field("target_lang", STRING, "EN, or with a region: EN-US", required=True),
            Field("tag_handling", {"enum": ["html", "xml"]}, "of text with tags"),
            Field(
                "ignore_tags", STRINGS, "with tag_handling: names of tags, in a list or separated "
                "by commas, whose content stays as it is",
            ),
            Field("formality", {"enum": FORMALITIES}, "which change nothing"),
            Field(
                "split_sentences", {"enum": ["1", "nonewlines"]},
                "1, or with tag_handling=html nonewlines: as the texts are split in any case",
            ),
            Field("preserve_formatting", BOOLEAN, "which it is in any case"),
            Field("show_billed_characters", BOOLEAN, "which they are in any case"), KEY,
        ),
        {"text": ["Bom dia."], "source_lang": "PT", "target_lang": "EN-US"},
        answer=(
            Field(
                "translations", {"type": "array", "items": {"type": "object"}},
                "detected_source_language, text, billed_characters, warnings", required=True,
            ),
        ),
    ),
    Operation(
        "get", "/v2/languages", "Languages (DeepL's API).",
        (Field("type", {"enum": ["source", "target"]}, "source (default) or target"), KEY),
    ),
    Operation(
        "get", "/v2/usage", "Characters translated since the start (DeepL's API).", (KEY,),
        answer=(
            Field("character_count", INTEGER, "since the start", required=True),
            Field("character_limit", INTEGER, "there is none", required=True),
        ),
    ),
    Operation(
        "get", "/v2/glossary-language-pairs", "None: glossaries are the server's (DeepL's API).",
        (KEY,),
        answer=(Field("supported_languages", {"type": "array"}, "none", required=True),),
    ),
)  # fmt: skip
ERRORS = {
    400: "the request is wrong; the message says how",
    403: "the API key is missing or wrong; of /suggest, always",
    404: "there is no such path",
    408: "the body took too long",
    413: "the text or the body is too long",
    429: "too many requests; Retry-After says when to try again",
    500: "the server failed",
    503: "the server ends, or has too many connections or no room on its disk",
}
SCHEMAS = {
    "Detection": {
        "type": "object",
        "required": ["confidence", "language"],
        "properties": {"confidence": NUMBER, "language": STRING},
    },
    "Warning": {
        "type": "object",
        "required": ["kind", "message", "items"],
        "properties": {
            "kind": {"enum": [*notices.KINDS]},
            "message": STRING,
            "items": {"type": "array", "items": STRING, "description": "what the message names"},
        },
    },
    "Error": {"type": "object", "required": ["error"], "properties": {"error": STRING}},
    "Message": {"type": "object", "required": ["message"], "properties": {"message": STRING}},
}
SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "DeepL": {
        "type": "apiKey", "in": "header", "name": "Authorization",
        "description": "DeepL-Auth-Key KEY",
    },
    "field": {"type": "apiKey", "in": "query", "name": "api_key"},
}  # fmt: skip


def field_names(path: str) -> set[str]:
    """Returns the names of the fields of the operations of a path."""
    return {
        field.name
        for operation in OPERATIONS
        if operation.path == path
        for field in operation.fields
    }


def document(has_key: bool = False) -> dict:
    """Returns the OpenAPI document.

    Args:
      has_key: the server asks for a key.
    """
    paths: dict[str, dict] = {}
    for operation in OPERATIONS:
        description = described(operation)
        if has_key and operation.takes_key:
            description["security"] = [{name: []} for name in SECURITY_SCHEMES]
        paths.setdefault(operation.path, {})[operation.method] = description
    return {
        "openapi": "3.1.0",
        "info": {"title": "Transformer translator", "version": __version__},
        "paths": paths,
        "components": {"schemas": SCHEMAS, "securitySchemes": SECURITY_SCHEMES},
    }


def described(operation: Operation) -> dict:
    """Returns what OpenAPI says of an operation."""
    description = {"summary": operation.summary, "responses": responses(operation)}
    parameters = []
    for name in re.findall(r"{(\w+)}", operation.path):
        parameters.append({"name": name, "in": "path", "required": True, "schema": STRING})
    if operation.method == "get":
        parameters += [
            {
                "name": field.name, "in": "query", "required": field.required,
                "schema": field.schema, "description": field.description,
            }
            for field in operation.fields
        ]  # fmt: skip
    if parameters:
        description["parameters"] = parameters
    if operation.method == "post":
        content = {"schema": object_of(operation.fields)}
        if operation.example:
            content["example"] = operation.example
        media_type = "multipart/form-data" if operation.takes_file else "application/json"
        description["requestBody"] = {"content": {media_type: content}}
    return description


def responses(operation: Operation) -> dict:
    """Returns what OpenAPI says of the answers to an operation, by status."""
    content = {operation.media_type: {}}
    if operation.answer:
        content[operation.media_type] = {"schema": object_of(operation.answer)}
    answers = {"200": {"description": "the answer", "content": content}}
    name = "Message" if operation.path.startswith("/v2/") else "Error"
    for status in operation.errors:
        schema = {"$ref": f"#/components/schemas/{name}"}
        answer = {
            "description": ERRORS[status],
            "content": {"application/json": {"schema": schema}},
        }
        if status == 429:
            answer["headers"] = {"Retry-After": {"schema": INTEGER, "description": "seconds"}}
        answers[str(status)] = answer
    return answers


def object_of(fields: tuple[Field, ...]) -> dict:
    """Returns the schema of a JSON object."""
    return {
        "type": "object",
        "required": [field.name for field in fields if field.required],
        "properties": {
            field.name: {**field.schema, "description": field.description} for field in fields
        },
    }


def page() -> str:
    """Returns the document as HTML, a section per operation, with a command to try it."""
    sections = []
    for operation in OPERATIONS:
        rows = "".join(
            f"<tr><td><code>{html.escape(field.name)}</code>{' *' if field.required else ''}</td>"
            f"<td>{html.escape(field.description)}</td></tr>"
            for field in operation.fields
        )
        command = f"curl ADDRESS{operation.path}"
        if operation.example:
            body = json.dumps(operation.example, ensure_ascii=False)
            command += f" -H 'Content-Type: application/json' -d '{body}'"
        if operation.takes_file:
            command += " -F file=@page.html -F target=en"
        sections.append(
            f"<section><h2><small>{operation.method.upper()}</small> "
            f"<code>{html.escape(operation.path)}</code></h2><p>{html.escape(operation.summary)}"
            f"</p>{f'<table>{rows}</table>' if rows else ''}<pre>{html.escape(command)}</pre>"
            "</section>"
        )
    return FRAME.format(sections="\n".join(sections))


FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API</title>
<link rel="stylesheet" href="/style.css">
</head>
<body class="reference">
<header><h1>API</h1></header>
<main>
<p>The same as <a href="/openapi.json">an OpenAPI document</a>. <a href="/">The page</a> uses these
routes. Errors are <code>{{"error": "..."}}</code> (DeepL's: <code>{{"message": "..."}}</code>)
with status 400, 403, 404, 408, 413, 429, 500 or 503. Every translation has <code>warnings</code>, a
list that may be empty. An asterisk marks what is required; ADDRESS is that of this server.</p>
{sections}
</main>
</body>
</html>
"""


async def openapi_json(request: Request) -> Response:
    """Answers with the OpenAPI document."""
    return JSONResponse(document(request.app.state.service.limits.api_key is not None))


async def docs(request: Request) -> Response:
    """Answers with the page."""
    return HTMLResponse(page())


ROUTES = [
    Route("/openapi.json", openapi_json, methods=["GET"]),
    Route("/docs", docs, methods=["GET"]),
]
