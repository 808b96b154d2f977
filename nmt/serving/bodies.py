"""The body of a request: read within the limits, to the fields that it holds.

A client sends fields in whichever of five ways: JSON (Weblate), an urlencoded form
(libretranslatepy), a query string without a body (deep-translator), GET with a query string
(OmegaT's plugin), multipart (Linguist).

Nothing large is read for a client without the key: it comes in the header Authorization, in the
query string, or at the beginning of the body. The memory of all bodies together has a limit.
"""

import collections
import email.message
import json
import urllib.parse
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from starlette.requests import ClientDisconnect, Request

from nmt.serving.errors import RefusedError
from nmt.serving.fields import UploadedFile
from nmt.serving.limits import Bodies, Limits, Reservation

if TYPE_CHECKING:  # which exists for type checkers alone
    from python_multipart.multipart import MultipartCallbacks

MAX_BODY_BYTES = 2_000_000  # far beyond the text of a request, however it is encoded
MAX_FIELDS = 1000
MAX_HEADER_BYTES = 8192  # of a part of multipart
MAX_CONTAINERS = 20_000  # objects and lists of JSON, of 232 bytes of memory for 7 of text
VALUE_BYTES = 12  # of memory for one byte of JSON or of an urlencoded form, without containers
NO_MULTIPART = "the body is not multipart/form-data, or is cut off"

Pairs = Sequence[tuple[str, str | UploadedFile]]


def _kind(content_type: str) -> str:
    """Returns the media type of a header Content-Type, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _message(header: str, value: str) -> email.message.Message:
    """Returns a message with one header, whose parameters it parses."""
    message = email.message.Message()
    message[header] = value.replace("\r", " ").replace("\n", " ")
    return message


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


def _from_pairs(pairs: Pairs) -> dict[str, Any]:
    values: dict[str, list[Any]] = collections.defaultdict(list)
    for name, value in pairs:
        values[name].append(value)
    return {name: several if len(several) > 1 else several[0] for name, several in values.items()}


def _from_json(body: bytes) -> dict[str, Any]:
    if body.count(b"{") + body.count(b"[") > MAX_CONTAINERS:
        raise RefusedError(413, f"the body holds more than {MAX_CONTAINERS} objects and lists")
    try:
        fields = json.loads(_decoded(body))
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body is not JSON; see /docs") from None
    if not isinstance(fields, dict):
        raise RefusedError(400, "the body must be a JSON object; see /docs")
    return fields


class Whole:
    """A body that is parsed when it is complete: JSON, or an urlencoded form."""

    weight = VALUE_BYTES  # of memory for one byte of the body

    def __init__(self, content_type: str):
        self._kind = _kind(content_type)
        self._parts: list[bytes] = []

    def write(self, part: bytes) -> None:
        """Takes the next part."""
        self._parts.append(part)

    def clear(self) -> None:
        """Forgets all parts."""
        self._parts.clear()

    def fields_so_far(self) -> dict[str, Any]:
        """Returns the fields that are complete."""
        return {}

    def fields(self) -> dict[str, Any]:
        """Returns all fields, after the last part."""
        body = b"".join(self._parts)
        self._parts.clear()
        if not body.strip():
            return {}
        # curl calls JSON a form, too, unless a header says otherwise.
        if self._kind == "application/x-www-form-urlencoded" and not body.lstrip().startswith(b"{"):
            if b"=" not in body:
                raise RefusedError(
                    400, "the body is neither JSON nor a form, name=value; see /docs"
                )
            return _from_pairs(_pairs(_decoded(body)))
        return _from_json(body)


class Multipart:
    """A body of multipart/form-data.

    python-multipart finds the parts, and email what their headers say, filename* included, which
    python-multipart ignores, as browsers do; clients in Python and Java send it.
    """

    weight = 1

    def __init__(self, content_type: str):
        self._pairs: list[tuple[str, str | UploadedFile]] = []
        self._header, self._value = b"", b""  # of the part that is being read
        self._disposition = email.message.Message()
        self._content: list[bytes] = []
        self._is_complete = False
        names = (
            "part_begin", "part_data", "part_end", "header_field", "header_value", "header_end",
            "end",
        )  # fmt: skip
        callbacks = {f"on_{name}": getattr(self, f"_on_{name}") for name in names}
        boundary = _message("Content-Type", content_type).get_boundary("")
        try:
            self._parser = MultipartParser(
                boundary.encode("latin-1", "replace"), cast("MultipartCallbacks", callbacks)
            )
        except FormParserError:  # an empty or overlong boundary
            raise RefusedError(400, NO_MULTIPART) from None

    def write(self, part: bytes) -> None:
        try:
            self._parser.write(part)
        except FormParserError:
            raise RefusedError(400, NO_MULTIPART) from None

    def clear(self) -> None:
        self._content.clear()
        self._pairs.clear()

    def fields_so_far(self) -> dict[str, Any]:
        return _from_pairs(self._pairs)

    def fields(self) -> dict[str, Any]:
        if not self._is_complete:
            raise RefusedError(400, NO_MULTIPART)
        return _from_pairs(self._pairs)

    def _on_part_begin(self) -> None:
        if len(self._pairs) >= MAX_FIELDS:
            raise RefusedError(413, f"more than {MAX_FIELDS} fields")
        self._disposition = email.message.Message()

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        if len(self._value) > MAX_HEADER_BYTES:
            raise RefusedError(400, f"a part has a header of more than {MAX_HEADER_BYTES} bytes")
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = _message("Content-Disposition", _decoded(self._value))
        self._header = self._value = b""

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._content.append(data[start:end])

    def _on_part_end(self) -> None:
        content = b"".join(self._content)
        self._content.clear()
        name = self._disposition.get_param("name", "", "Content-Disposition")
        file_name = self._disposition.get_filename()
        if file_name is not None:
            path = PurePosixPath(file_name.replace("\\", "/"))
            self._pairs.append((str(name), UploadedFile(path.name, content)))
        else:
            self._pairs.append((str(name), _decoded(content)))

    def _on_end(self) -> None:
        self._is_complete = True


Form = Whole | Multipart


async def read(
    request: Request, limits: Limits, keyless: Bodies, max_bytes: int = MAX_BODY_BYTES
) -> dict[str, Any]:
    """Returns the fields of a request by name: of its query string, and of its body.

    A name that a form repeats has a list of its values. A RefusedError if the key is missing, or
    the body is too large, or not what its Content-Type says. `keyless` is what all bodies take in
    which no key has been found yet.
    """
    fields = _from_pairs(_pairs(request.url.query))
    content_type = request.headers.get("content-type", "")
    is_multipart = _kind(content_type) == "multipart/form-data"
    form = Multipart(content_type) if is_multipart else Whole(content_type)
    has_key = limits.has_key(request, fields)
    if not has_key:
        request.scope["reservation"].take_from(keyless)
    await _read_parts(request, limits, form, has_key, max_bytes)
    fields |= form.fields()
    limits.check_key(request, fields)
    return fields


async def _read_parts(
    request: Request, limits: Limits, form: Form, has_key: bool, max_bytes: int
) -> None:
    """Writes the parts of a body to a form as they arrive.

    A RefusedError if one is beyond the limits of size, of memory or of keyless clients. What comes
    after it is read and dropped: a client that is still sending would not see the answer.
    """
    reservation: Reservation = request.scope["reservation"]
    size, refusal = 0, None
    try:
        async for part in request.stream():
            if refusal:
                continue
            size += len(part)
            try:
                if size > max_bytes:
                    message = f"the body is too large; send at most {max_bytes} bytes"
                    raise RefusedError(413, message)
                if not has_key and size > limits.max_keyless_bytes:
                    limits.check_key(request, form.fields_so_far())
                    has_key = True
                reservation.add(len(part) * form.weight)
                form.write(part)
            except RefusedError as error:
                refusal = error
                form.clear()
                reservation.release()
    except ClientDisconnect:
        raise RefusedError(400, "the client left before its body ended") from None
    if refusal:
        raise refusal
