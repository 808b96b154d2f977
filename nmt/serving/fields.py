"""The fields of requests: each is declared once, for parsing and for the OpenAPI document."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from nmt.neighbors import params
from nmt.serving.errors import RefusedError

Schema = dict[str, Any]  # of JSON Schema
Values = Mapping[str, Any]  # of the fields of a request, by name, as the client has sent them

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
ARRAY: Schema = {"type": "array"}
OBJECTS: Schema = {"type": "array", "items": {"type": "object"}}
STRINGS: Schema = {"oneOf": [STRING, {"type": "array", "items": STRING}]}


class UploadedFile(NamedTuple):
    """A file in a form."""

    name: str  # without folders
    content: bytes


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of a request or of an answer."""

    name: str
    description: str
    schema: Schema
    required: bool = False


@dataclasses.dataclass(frozen=True)
class TextField(Field):
    """A field that is one string."""

    schema: Schema = dataclasses.field(default_factory=STRING.copy)
    default: str = ""

    def read(self, values: Values) -> str:
        """Returns the string; a RefusedError if it is missing or something else."""
        value = values.get(self.name, None if self.required else self.default)
        if isinstance(value, list) or value is None:
            raise RefusedError(400, f"the field {self.name} is missing, or not a string")
        return checked_texts(value, self.name)[0]


@dataclasses.dataclass(frozen=True)
class TextsField(Field):
    """A field that is a string, or a list of strings."""

    schema: Schema = dataclasses.field(default_factory=STRINGS.copy)

    def read(self, values: Values) -> list[str]:
        """Returns the strings, one for a string; a RefusedError if it is something else."""
        return checked_texts(values.get(self.name, None if self.required else []), self.name)


class ChoiceField(TextField):
    """A field that is one of several strings; its default may be none of them, ""."""

    def __init__(self, name: str, description: str, choices: Collection[str], default: str = ""):
        super().__init__(name, description, {"enum": [*choices]}, default=default)

    def allows(self, values: Values) -> bool:
        """Returns whether the string is one of the choices, or empty."""
        return super().read(values) in ("", *self.schema["enum"])

    def read(self, values: Values) -> str:
        """Returns the string; the default for an empty one; a RefusedError if it is another."""
        if not self.allows(values):
            choices = self.schema["enum"]
            listed = " or ".join(choices) if len(choices) == 2 else f"one of {', '.join(choices)}"
            raise RefusedError(400, f"{self.name} must be {listed}")
        return super().read(values) or self.default


@dataclasses.dataclass(frozen=True)
class NumberField(Field):
    """A field that is a number."""

    schema: Schema = dataclasses.field(default_factory=NUMBER.copy)
    lowest: float = 0
    highest: float = 0
    default: float = 0

    def _refusal(self) -> RefusedError:
        message = f"{self.name} must be a number from {self.lowest} to {self.highest}"
        return RefusedError(400, message)

    def read(self, values: Values) -> float:
        """Returns the number; a RefusedError if it is none, or out of its bounds."""
        value = values.get(self.name, self.default)
        try:
            if isinstance(value, (bool, list, dict)):
                raise ValueError
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise self._refusal() from None
        if not self.lowest <= number <= self.highest:
            raise self._refusal()
        return number


@dataclasses.dataclass(frozen=True)
class IntegerField(NumberField):
    """A field that is a whole number."""

    schema: Schema = dataclasses.field(default_factory=INTEGER.copy)

    def read(self, values: Values) -> int:
        """Returns the number; a RefusedError if it is none, or out of its bounds."""
        number = super().read(values)
        if number % 1:
            raise self._refusal()
        return int(number)

    def read_within(self, values: Values, highest: int) -> int:
        """Returns the number, by default the highest one, of which only the request decides."""
        return dataclasses.replace(self, highest=highest, default=highest).read(values)


def of_row(row: params.Param, description: str, highest: float | None = None) -> Any:
    """Returns the field of a number that is declared elsewhere, perhaps with a lower maximum."""
    kind = IntegerField if row.type is int else NumberField
    bounds = dict(lowest=row.flag.low, highest=highest or row.flag.high, default=row.default)
    return kind(row.name, description, **bounds)


@dataclasses.dataclass(frozen=True)
class FlagField(Field):
    """A field that is true or false."""

    schema: Schema = dataclasses.field(default_factory=BOOLEAN.copy)

    def read(self, values: Values) -> bool:
        """Returns the boolean; missing ones are False."""
        return str(values.get(self.name, "")).lower() in ("1", "true", "yes", "on")


@dataclasses.dataclass(frozen=True)
class FileField(Field):
    """A field that is a file, in a form."""

    schema: Schema = dataclasses.field(
        default_factory=lambda: {"type": "string", "format": "binary"}
    )

    def read(self, values: Values) -> UploadedFile:
        """Returns the file; a RefusedError if it is missing or something else."""
        value = values.get(self.name)
        if not isinstance(value, UploadedFile):
            raise RefusedError(400, f"{self.name} must be a file, in a form of multipart/form-data")
        return value


def checked_texts(value: Any, name: str) -> list[str]:
    """Returns the strings of a value of the field `name`; a RefusedError if it is none."""
    if value is None:
        raise RefusedError(400, f"the field {name} is missing")
    texts = value if isinstance(value, list) else [value]
    for text in texts:
        if not isinstance(text, str):
            raise RefusedError(400, f"{name} must be a string, or a list of strings")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RefusedError(400, f"{name} holds half a character (a lone surrogate)") from None
    return texts
