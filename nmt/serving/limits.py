"""Who may ask, and for how much."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from nmt.serving.access_log import access_of
from nmt.serving.errors import RefusedError
from nmt.serving.keys import Keys

MAX_CHARS = 5000  # of the texts of a request
MAX_TEXTS = 500  # of a request
JSON_BYTES = 12  # of a character, at most: "\\ud83d\\ude00"
MAX_BODIES_BYTES = 32_000_000  # of the bodies of all requests that are being answered
SMALL_BYTES = 100_000  # of each, which are not counted: the connections limit them
MAX_KEYLESS_BYTES = 16_000_000  # beside them, of all bodies in which a key has not been found yet


def check_characters(texts: list[str], most: int) -> None:
    """Raises a RefusedError if texts have more than so many characters together."""
    characters = sum(map(len, texts))
    if characters > most:
        raise RefusedError(413, f"{characters} characters; send at most {most} per request")


@dataclasses.dataclass
class Limits:
    """The limits of a server."""

    keys: Keys = dataclasses.field(default_factory=Keys)
    max_chars: int = MAX_CHARS
    open_metrics: bool = False  # whether the figures are for clients without a key, too

    @property
    def max_keyless_bytes(self) -> int:
        """The bytes of a body in which the key must have come: those of a text, however written."""
        return 65_536 + JSON_BYTES * self.max_chars

    def has_key(self, request: Request, fields: Mapping[str, Any]) -> bool:
        """Returns whether a request has a key of the server, if there are any.

        It is the field `api_key`, as LibreTranslate's clients send it, or the last word of the
        header Authorization ("DeepL-Auth-Key KEY", "Bearer KEY").
        """
        if not self.keys:
            return True
        header = request.headers.get("authorization", "").rpartition(" ")[2]
        name = self.keys.name_of(str(fields.get("api_key") or header))
        access_of(request.scope).key = name
        return name is not None

    def check_key(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Raises a RefusedError unless a request has a key of the server."""
        if not self.has_key(request, fields):
            raise RefusedError(403, "the API key is missing or wrong; ask the server's operator")

    def check_texts(self, texts: list[str]) -> None:
        """Raises a RefusedError if there are too many texts, or too long ones."""
        if len(texts) > MAX_TEXTS:
            raise RefusedError(413, f"{len(texts)} texts; send at most {MAX_TEXTS} per request")
        self.check_characters(texts)

    def check_characters(self, texts: list[str]) -> None:
        """Raises a RefusedError if texts have more characters than a request may have."""
        check_characters(texts, self.max_chars)


class Bodies:
    """The bytes of memory that the bodies of requests take, all together."""

    def __init__(self, most: int):
        self.most, self.bytes = most, 0


class Reservation:
    """What the body of a request has of Bodies, until the request is answered."""

    def __init__(self, bodies: Bodies):
        self._bodies, self._bytes, self._size = bodies, 0, 0

    def add(self, number: int) -> None:
        """Reserves a number of bytes; a RefusedError if there are no more."""
        self._size += number
        counted = min(number, max(0, self._size - SMALL_BYTES))
        if self._bodies.bytes + counted > self._bodies.most:
            raise RefusedError(429, "too many large requests at a time; try again later", 1)
        self._bodies.bytes += counted
        self._bytes += counted

    def take_from(self, bodies: Bodies) -> None:
        """Reserves of other Bodies, before anything is added."""
        self._bodies = bodies

    def release(self) -> None:
        """Gives all of it back."""
        self._bodies.bytes -= self._bytes
        self._bytes = 0
