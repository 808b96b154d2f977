"""The fields of a request, in whichever of five ways a client sends them.

JSON (Weblate), an urlencoded form (libretranslatepy), a query string without a body
(deep-translator), GET with a query string (OmegaT's plugin), multipart (Linguist).
"""

import asyncio
import email.message
import json
import re
import urllib.parse
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request

from nmt.serving.errors import RefusedError

MAX_BODY_BYTES = 2_000_000  # far beyond the text of a request, however it is encoded
BODY_SECONDS = 20.0  # in which a client must send its body
MAX_FIELDS = 1000
FILE_NAME = re.compile(rb';\s*filename="((?:[^"\\\r\n]|\\.)*)"', re.IGNORECASE)
PART_NAME = re.compile(rb';\s*name="?([^";\r\n]*)', re.IGNORECASE)  # of a part of multipart


class UploadedFile(NamedTuple):
    """A file in a form."""

    name: str  # without folders
    content: bytes


async def read(request: Request, max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Returns the fields of a request by name: of its query string, and of its body.

    A name that a form repeats has a list of its values.

    Args:
      request: the request.
      max_bytes: of the body.

    Raises:
      RefusedError: the body is too large, too slow, or not what its Content-Type says.
    """
    fields = _from_pairs(_pairs(request.url.query))
    body = await read_body(request, max_bytes)
    if not body.strip():
        return fields
    content_type = request.headers.get("content-type", "").lower()
    kind = content_type.partition(";")[0].strip()
    if kind == "multipart/form-data":
        return fields | _from_multipart(request.headers["content-type"], body)
    # curl calls JSON a form, too, if it is not told otherwise.
    if kind == "application/x-www-form-urlencoded" and not body.lstrip().startswith(b"{"):
        return fields | _from_pairs(_pairs(_decoded(body)))
    return fields | _from_json(body)


async def read_body(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Returns the body of a request.

    One that is too large is read to its end, and dropped: a client that is still sending would not
    see the answer.

    Raises:
      RefusedError: it has more than `max_bytes`, or takes more than BODY_SECONDS.
    """
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > max_bytes:
                    parts.clear()
                else:
                    parts.append(part)
    except TimeoutError:
        raise RefusedError(408, f"the body took more than {BODY_SECONDS:.0f} s") from None
    except ClientDisconnect:
        raise RefusedError(400, "the client left before its body ended") from None
    if size > max_bytes:
        raise RefusedError(413, f"the body has {size} bytes; send at most {max_bytes}")
    return b"".join(parts)


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError(400, "the body is not UTF-8") from None


def _pairs(query: str) -> list[tuple[str, str]]:
    """Returns the names and values of a query string or an urlencoded form."""
    try:
        return urllib.parse.parse_qsl(
            query, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except UnicodeDecodeError:
        raise RefusedError(400, "a field is not UTF-8") from None
    except ValueError:
        raise RefusedError(413, f"more than {MAX_FIELDS} fields") from None


def _from_pairs(pairs: list[tuple[str, str | UploadedFile]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name not in fields:
            fields[name] = value
        elif isinstance(fields[name], list):
            fields[name].append(value)
        else:
            fields[name] = [fields[name], value]
    return fields


def _from_json(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(_decoded(body))
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body is not JSON; see /docs") from None
    if not isinstance(fields, dict):
        raise RefusedError(400, "the body must be a JSON object; see /docs")
    return fields


def _from_multipart(content_type: str, body: bytes) -> dict[str, Any]:
    header = email.message.Message()
    header["Content-Type"] = content_type
    boundary = header.get_boundary("").encode("latin-1", "replace")
    _, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary)
    if not boundary or not parts:
        raise RefusedError(400, "the body is not multipart/form-data")
    if len(parts) > MAX_FIELDS:
        raise RefusedError(413, f"more than {MAX_FIELDS} fields")
    pairs = []
    for part in parts:
        head, _, value = part.partition(b"\r\n\r\n")
        name, file_name = PART_NAME.search(head), FILE_NAME.search(head)
        if name and file_name:
            path = PurePosixPath(_decoded(file_name[1]).replace("\\", "/"))
            pairs.append((_decoded(name[1]), UploadedFile(path.name, value)))
        elif name:
            pairs.append((_decoded(name[1]), _decoded(value)))
    return _from_pairs(pairs)


# ---- Values ----


def check_names(fields: dict, known: Collection[str]) -> None:
    """Raises a RefusedError if a request has a field that would be ignored."""
    for name in fields:
        if name not in known:
            raise RefusedError(400, f"{name[:40]} is not supported; leave it out, or see /docs")


def texts(value: Any, name: str = "q") -> list[str]:
    """Returns a field as a list of strings.

    Raises:
      RefusedError: it is something else, or holds half a character (a lone surrogate).
    """
    if value is None:
        raise RefusedError(400, f"the field {name} is missing")
    values = value if isinstance(value, list) else [value]
    for text in values:
        if not isinstance(text, str):
            raise RefusedError(400, f"{name} must be a string, or a list of strings")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RefusedError(400, f"{name} holds half a character (a lone surrogate)") from None
    return values


def text(fields: dict, name: str, default: str | None = None) -> str:
    """Returns a field that is one string; a RefusedError if it is missing or something else."""
    value = fields.get(name, default)
    if isinstance(value, list) or value is None:
        raise RefusedError(400, f"the field {name} is missing, or not a string")
    return texts(value, name)[0]


def file(fields: dict, name: str) -> UploadedFile:
    """Returns a field that is a file; a RefusedError if it is missing or something else."""
    value = fields.get(name)
    if not isinstance(value, UploadedFile):
        raise RefusedError(400, f"{name} must be a file, in a form of multipart/form-data")
    return value


def number(
    fields: dict, name: str, kind: type, lowest: float, highest: float, default: float
) -> float:
    """Returns a field as an int or float; a RefusedError if it is none, or out of its bounds."""
    value = fields.get(name, default)
    try:
        if isinstance(value, (bool, list, dict)) or (kind is int and float(value) % 1):
            raise ValueError
        value = kind(float(value)) if kind is int else float(value)
    except (TypeError, ValueError, OverflowError):
        value = None
    if value is None or not lowest <= value <= highest:
        raise RefusedError(400, f"{name} must be a number from {lowest} to {highest}")
    return value


def flag(fields: dict, name: str) -> bool:
    """Returns a field as a boolean; missing ones are False."""
    return str(fields.get(name, "")).lower() in ("1", "true", "yes", "on")
