"""What a translation has lost or added of what must not change: numbers, URLs, placeholders, tags.

Numbers are compared by their digits, in their order, and by where decimals begin: languages write
"1,234.50" and "1 234,50". Numbers between which there is nothing but a space or a sign count as
one.
"""

from __future__ import annotations

import collections
import dataclasses
import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from nmt.messages import plural
from nmt.text.glossary import take_out_terms
from nmt.text.protected import DEFAULT, NOT_A_DIGIT, SPACE, Protector, Span, replace

# Also 12h30 and, unlike protected.AMOUNT, whatever digits have one sign between them.
NUMBER = re.compile(rf"\d++(?>(?:[.,:/'\u2019{SPACE}hH-]\d++)*)")
# Of no language, so that a translation has as many.
SIGN = re.compile(r"[*|\[\]{}<>`~\\=_\u2022\u266a\u266b\u2190-\u21ff\u2600-\u27bf]")
LAST_GROUP = re.compile(r"\D(\d{1,2})$")  # decimals, minutes, days: not thousands
OTHER_DIGIT = re.compile(r"[^\D0-9]")

Item = TypeVar("Item")


class Difference(NamedTuple):
    """What a translation lacks of its source, and what it holds that the source does not."""

    missing: list[str]
    added: list[str]

    def __bool__(self) -> bool:
        return bool(self.missing or self.added)

    def __str__(self) -> str:
        """Returns it as text: "missing {name}, 4711; added 471"."""
        parts = {"missing": self.missing, "added": self.added}
        return "; ".join(f"{name} {', '.join(texts)}" for name, texts in parts.items() if texts)


@dataclasses.dataclass
class DifferenceCount:
    """How many of a number of texts differ from their translations."""

    texts_before: int = 0  # of the same file, which this count leaves out
    texts: int = 0
    different: int = 0
    # The number, from 1, and the Difference of the first one that differs.
    first: tuple[int, Difference] | None = None

    def add(self, result: Difference) -> None:
        """Counts the next text."""
        self.texts += 1
        if result:
            self.different += 1
            self.first = self.first or (self.texts_before + self.texts, result)

    def summary(self, noun: str = "line") -> str:
        """Returns in words how many texts differ, and the first one."""
        text = (
            f"{self.different} of {plural(self.texts, noun)}: other numbers, placeholders, URLs or "
            "tags than in the source"
        )
        return f"{text}; the first: {noun} {self.first[0]}, {self.first[1]}" if self.first else text


class DifferencesByKind(NamedTuple):
    """The Differences between a source and its translation."""

    terms: Difference  # of the glossary
    spans: Difference  # placeholders, URLs, addresses, tags, codes, and signs of no language
    numbers: Difference


def differences_by_kind(
    source: str, translation: str, protector: Protector = DEFAULT
) -> DifferencesByKind:
    """Returns the Differences between a source and its translation: empty lists if none.

    Args:
      protector: a Protector. Of the terms of its glossary that the source holds, the translation
        must hold the translations.
    """
    texts = source, translation
    if not (any(map(protector.may_hold_spans, texts)) or any(map(SIGN.search, texts))):
        return DifferencesByKind(*(Difference([], []) for _ in range(3)))
    spans = protector.spans(source)
    terms = [span for span in spans if span.kind == "term"]
    translation, missing_terms = take_out_terms(translation, terms)
    other_text, other_spans = _without_spans(source, spans)
    translation, translated_spans = _without_spans(translation, protector.spans(translation))
    missing_spans, added_spans = _compare(other_spans, translated_spans, key=_key)
    missing_signs, added_signs = _compare(
        SIGN.findall(other_text), SIGN.findall(translation), key=str
    )
    return DifferencesByKind(
        Difference([term.original for term in missing_terms], []),
        Difference(
            [span.original for span in missing_spans] + missing_signs,
            [span.original for span in added_spans if span.kind != "sign"] + added_signs,
        ),
        Difference(*_compare(_numbers(other_text), _numbers(translation), key=digits)),
    )


def difference(source: str, translation: str, protector: Protector = DEFAULT) -> Difference:
    """Returns all of `differences_by_kind` as one Difference; for arguments see there."""
    by_kind = differences_by_kind(source, translation, protector)
    missing = [text for kind in by_kind for text in kind.missing]
    return Difference(missing, [text for kind in by_kind for text in kind.added])


def digits(number: str) -> str:
    """Returns the digits of a number, and where a last group of one or two begins: 2,5 is no 25."""
    end = LAST_GROUP.search(number)
    whole = number[: end.start()] if end else number
    return NOT_A_DIGIT.sub("", whole) + (f".{end[1]}" if end else "")


def with_common_digits(text: str) -> str:
    """Returns a text with 0 to 9 in place of the decimal digits of other scripts."""
    return OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)


def _numbers(text: str) -> list[str]:
    return NUMBER.findall(with_common_digits(text))


def _key(span: Span) -> str:
    """Returns what is equal of two equal Spans: "mp3" and "MP3" are."""
    return span.original.casefold() if span.kind == "code" else span.original


def _without_spans(text: str, spans: list[Span]) -> tuple[str, list[Span]]:
    """Returns a text without spans other than numbers, and these spans, without terms."""
    spans = [span for span in spans if not span.is_number]
    text = replace(text, spans, ["\n"] * len(spans))  # which numbers do not hold
    return text, [span for span in spans if span.kind != "term"]


def _compare(
    items: list[Item], other_items: list[Item], key: Callable[[Item], str]
) -> tuple[list[Item], list[Item]]:
    """Returns what `other_items` lacks of `items`, and what it holds beyond them, both in order."""
    counts = collections.Counter(map(key, items))
    other_counts = collections.Counter(map(key, other_items))
    return _take(items, counts - other_counts, key), _take(other_items, other_counts - counts, key)


def _take(
    items: list[Item], counts: collections.Counter[str], key: Callable[[Item], str]
) -> list[Item]:
    """Returns the first of `items` with each key, as many as `counts` says."""
    taken = []
    for item in items:
        if counts[key(item)] > 0:
            counts[key(item)] -= 1
            taken.append(item)
    return taken
