"""The values of a request's fields: of the types, and within the bounds, that a route takes."""

from collections.abc import Collection
from typing import Any, NamedTuple

from nmt.serving.errors import RefusedError


class UploadedFile(NamedTuple):
    """A file in a form."""

    name: str  # without folders
    content: bytes


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
