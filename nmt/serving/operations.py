"""What a route does, in one record: its path, its fields, what it answers, and its function."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nmt.serving.errors import RefusedError
from nmt.serving.fields import STRING, Field, Schema, TextField

AUTO = "auto"  # a source language that is to be detected

# ---- Fields of several routes ----

KEY = TextField("api_key", "the key, if the server has one; or the header Authorization")
SOURCE = TextField("source", "code of the source language, or auto (default)", default=AUTO)
TARGET = TextField("target", "code of the target language", required=True)
TEXT = TextField("text", "the text", required=True)

# ---- Schemas of answers ----

CONFIDENCE: Schema = {"type": ["number", "null"]}
TOKENS: Schema = {"type": "array", "items": STRING}
DETECTION: Schema = {"$ref": "#/components/schemas/Detection"}
WARNINGS: Schema = {"type": "array", "items": {"$ref": "#/components/schemas/Warning"}}


@dataclasses.dataclass(frozen=True)
class Operation:
    """What a route does."""

    method: str  # as the document has it; see `other_methods`
    path: str
    answer: Callable[[Request], Awaitable[Response]]
    summary: str
    fields: tuple[Field, ...] = ()
    example: Mapping[str, Any] | None = None  # of a request
    answer_fields: tuple[Field, ...] = ()  # of a JSON object; required ones are there always
    media_type: str = "application/json"  # of the answer
    other_methods: tuple[str, ...] = ()  # by which clients may ask, too
    other_errors: tuple[int, ...] = ()  # statuses, beside the usual ones

    @property
    def route(self) -> Route:
        """The Route of the application."""
        methods = [self.method.upper(), *(name.upper() for name in self.other_methods)]
        return Route(self.path, self.answer, methods=methods)

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
            return [400, 403, 408, 413, 429, 500, 503, *self.other_errors]
        return [404, 429, 500, 503] if "{" in self.path else [500, 503]


def check_names(values: Mapping[str, Any], fields: tuple[Field, ...]) -> None:
    """Raises a RefusedError if a request has a field that would be ignored."""
    known = {field.name for field in fields}
    for name in values:
        if name not in known:
            raise RefusedError(400, f"{name[:40]} is not supported; leave it out, or see /docs")
