"""What the server can be asked, as an OpenAPI document and as a page for people."""

import html
import json
import re
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from nmt import __version__
from nmt.serving import deepl, file_routes, libretranslate, native, notices
from nmt.serving.fields import INTEGER, NUMBER, STRING, Field, Schema
from nmt.serving.limits import Limits
from nmt.serving.operations import Operation

OPERATIONS = (
    *libretranslate.OPERATIONS,
    *file_routes.OPERATIONS,
    *native.OPERATIONS,
    *deepl.OPERATIONS,
)
ERRORS = {
    400: "the request is wrong; the message says how",
    403: "the API key is missing or wrong; of /suggest, or suggestions are disabled",
    404: "there is no such path",
    408: "the body took too long",
    413: "the text or the body is too long",
    429: "too many requests; Retry-After says when to try again",
    500: "the server failed",
    503: "the server ends, loads its runs, or has too many connections or no room on its disk",
    507: "the server cannot store it: its file is full, or cannot be written",
}
SCHEMAS: dict[str, Schema] = {
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


def document(limits: Limits) -> dict[str, Any]:
    """Returns the OpenAPI document of a server with these limits."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        description = described(operation)
        is_open = operation.path == "/metrics" and limits.open_metrics
        if limits.keys and operation.takes_key and not is_open:
            description["security"] = [{name: []} for name in SECURITY_SCHEMES]
        paths.setdefault(operation.path, {})[operation.method] = description
    return {
        "openapi": "3.1.0",
        "info": {"title": "Transformer translator", "version": __version__},
        "paths": paths,
        "components": {"schemas": SCHEMAS, "securitySchemes": SECURITY_SCHEMES},
    }


def described(operation: Operation) -> dict[str, Any]:
    """Returns what OpenAPI says of an operation."""
    description: dict[str, Any] = {"summary": operation.summary, "responses": responses(operation)}
    parameters: list[dict[str, Any]] = []
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
        content: dict[str, Any] = {"schema": object_of(operation.fields)}
        if operation.example:
            content["example"] = operation.example
        media_type = "multipart/form-data" if operation.takes_file else "application/json"
        description["requestBody"] = {"content": {media_type: content}}
    return description


def responses(operation: Operation) -> dict[str, Any]:
    """Returns what OpenAPI says of the answers to an operation, by status."""
    content: dict[str, Any] = {operation.media_type: {}}
    if operation.answer_fields:
        content[operation.media_type] = {"schema": object_of(operation.answer_fields)}
    answers: dict[str, Any] = {"200": {"description": "the answer", "content": content}}
    name = "Message" if operation.path.startswith("/v2/") else "Error"
    for status in operation.errors:
        schema = {"$ref": f"#/components/schemas/{name}"}
        answer: dict[str, Any] = {
            "description": ERRORS[status],
            "content": {"application/json": {"schema": schema}},
        }
        if status == 429:
            answer["headers"] = {"Retry-After": {"schema": INTEGER, "description": "seconds"}}
        answers[str(status)] = answer
    return answers


def object_of(fields: tuple[Field, ...]) -> Schema:
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
    return JSONResponse(document(request.app.state.service.limits))


async def docs(request: Request) -> Response:
    """Answers with the page."""
    return HTMLResponse(page())


ROUTES = [Route("/openapi.json", openapi_json), Route("/docs", docs)]
