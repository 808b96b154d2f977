"""The texts of a program by their keys: what .json, .yaml, .strings and .properties have in common.

    texts = ResourceTexts()
    texts.add("Hello, {name}!", Span(12, 28), json.dumps)
    document = TextDocument(text, texts.segments, encode, texts.left)

Each value is a message; see program_messages.py. Keys, comments and everything else stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nmt.documents.document import Left, Segment, Span
from nmt.documents.icu_messages import IcuError
from nmt.documents.nodes import Text
from nmt.documents.program_messages import NOT_UNDERSTOOD, Message, syntax_of
from nmt.text.placeholders import SYNTAXES

CONVERSION = SYNTAXES["conversion"].expression


class ResourceTexts:
    """Collects the segments of values, and what stays."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.left: list[Left] = []

    def add(
        self, value: str, span: Span, write: Callable[[str], str], flags: Iterable[str] = ()
    ) -> None:
        """Adds a value.

        Args:
          value: the text.
          span: where it stands in the file.
          write: turns the translated value into what stands there.
          flags: name the format of its placeholders, as gettext's: "java-format".
        """
        try:
            message = Message(
                [Text(value)], syntax_of(flags, value), str, lambda text: [write(text)]
            )
        except IcuError:
            self.left.append(Left(NOT_UNDERSTOOD, span.start))
        else:
            self.segments += message.segments([span], has_target=False)

    def leave(self, reason: str, span: Span) -> None:
        """Adds a value that is not translated, and of which that is expected."""
        self.left.append(Left(reason, span.start, is_expected=True))


def format_flags(value: str, name: str) -> list[str]:
    """Returns the flag of a format for a value that holds one of its conversions: %s, %1$@."""
    return [f"{name}-format"] if CONVERSION.search(value) else []


def characters_of(codes: Iterable[str]) -> str:
    """Returns the text of codes of UTF-16, as \\uXXXX has them: two are one character, or half."""
    units = b"".join(int(code, 16).to_bytes(2, "little") for code in codes)
    return units.decode("utf-16-le", "replace")


def codes_of(character: str) -> list[str]:
    """Returns the codes of UTF-16, four hexadecimal digits each, of a character."""
    units = character.encode("utf-16-be").hex()
    return [units[start : start + 4] for start in range(0, len(units), 4)]
