"""What the server can be asked, as an OpenAPI document and as a page for people."""

import html
import json
import re
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from nmt import VERSION


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

    @property
    def takes_file(self) -> bool:
        return any(field.schema.get("format") == "binary" for field in self.fields)


STRING, INTEGER, NUMBER, BOOLEAN = (
    {"type": name} for name in ("string", "integer", "number", "boolean")
)
STRINGS = {"oneOf": [STRING, {"type": "array", "items": STRING}]}
KEY = Field("api_key", STRING, "the key, if the server has one; or the header Authorization")
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
    ),
    Operation(
        "post", "/translate_file",
        "Translate a file (LibreTranslate's API): a form with the file, as multipart/form-data.",
        (
            Field("file", {"type": "string", "format": "binary"}, "the file", required=True),
            SOURCE, TARGET,
            Field("columns", STRING, "of a table: the names or numbers of those to translate"), KEY,
        ),
    ),
    Operation("get", "/download_file/{key}/{name}", "A translated file, for ten minutes."),
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
            Field("details", BOOLEAN, "the tokens of the best one, and its word alignment"),
            *SAMPLING, KEY,
        ),
        {"text": "Bom dia.", "source": "pt", "target": "en", "n_best": 3, "details": True},
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
    ),
    Operation(
        "post", "/attention", "The attention weights of a translated sentence.",
        (
            TEXT, SOURCE, TARGET,
            Field("kind", {"enum": ["cross", "encoder", "decoder"]}, "cross (default)"),
            Field("layer", INTEGER, "1, 2, ...; the last one by default"), KEY,
        ),
        {"text": "Bom dia.", "source": "pt", "target": "en"},
    ),
    Operation("get", "/runs", "The runs of the server."),
    Operation("get", "/explorer/{name}", "A page that runs a run in the browser."),
    Operation("get", "/metrics", "Figures for Prometheus."),
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
    ),
    Operation(
        "get", "/v2/languages", "Languages (DeepL's API).",
        (Field("type", {"enum": ["source", "target"]}, "source (default) or target"), KEY),
    ),
    Operation("get", "/v2/usage", "Characters translated since the start (DeepL's API).", (KEY,)),
    Operation(
        "get", "/v2/glossary-language-pairs", "None: glossaries are the server's (DeepL's API).",
        (KEY,),
    ),
)  # fmt: skip
ERRORS = {
    "400": "the request is wrong; the message says how", "403": "the API key is missing or wrong",
    "404": "there is no such path", "413": "the text or the body is too long",
    "429": "too many requests; Retry-After says when to try again", "500": "the server failed",
}  # fmt: skip


def field_names(path: str) -> set[str]:
    """Returns the names of the fields of the operations of a path."""
    return {
        field.name
        for operation in OPERATIONS
        if operation.path == path
        for field in operation.fields
    }


def document() -> dict:
    """Returns the OpenAPI document."""
    paths: dict[str, dict] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = described(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Transformer translator", "version": VERSION},
        "paths": paths,
    }


def described(operation: Operation) -> dict:
    """Returns what OpenAPI says of an operation."""
    responses = {"200": {"description": "the answer"}}
    responses |= {code: {"description": text} for code, text in ERRORS.items()}
    description = {"summary": operation.summary, "responses": responses}
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
        schema = {
            "type": "object",
            "required": [field.name for field in operation.fields if field.required],
            "properties": {
                field.name: {**field.schema, "description": field.description}
                for field in operation.fields
            },
        }
        content = {"schema": schema}
        if operation.example:
            content["example"] = operation.example
        media_type = "multipart/form-data" if operation.takes_file else "application/json"
        description["requestBody"] = {"content": {media_type: content}}
    return description


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
routes. Errors are <code>{{"error": "..."}}</code> with status 400, 403, 404, 413, 429 or 500.
An asterisk marks what is required; ADDRESS is that of this server.</p>
{sections}
</main>
</body>
</html>
"""


async def openapi_json(request: Request) -> Response:
    """Answers with the OpenAPI document."""
    return JSONResponse(document())


async def docs(request: Request) -> Response:
    """Answers with the page."""
    return HTMLResponse(page())


ROUTES = [
    Route("/openapi.json", openapi_json, methods=["GET"]),
    Route("/docs", docs, methods=["GET"]),
]
