"""The formats in which `translate` prints translations: text, tsv and jsonl."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nmt.decoding.sentence import TokenScore, Translation


class Layout(NamedTuple):
    """What the flags ask to print of each line."""

    log_probabilities: bool
    links: bool
    translations: int

    @property
    def has_columns(self) -> bool:
        """Whether a line of text is more than one translation as it is."""
        return self.log_probabilities or self.links or self.translations > 1


def as_text(number: int, translations: list[Translation], layout: Layout) -> Iterator[str]:
    """Yields as many lines as a line has translations at most, so that they can be counted.

    Args:
      number: of the line that was translated, from 1.
      translations: of that line, the best first.
      layout: see Layout.
    """
    for translation in translations:
        if layout.has_columns:
            yield "\t".join(_columns(translation, layout.log_probabilities))
        else:
            yield translation.text
    for _ in range(layout.translations - len(translations)):
        yield ""


def as_tsv(number: int, translations: list[Translation], layout: Layout) -> Iterator[str]:
    """Yields line number, rank, log-probability, translation and links, separated by tabs.

    Args:
      number, translations, layout: see `as_text`.
    """
    for rank, translation in enumerate(translations, start=1):
        columns = "\t".join(_columns(translation, log_probability=True))
        yield f"{number}\t{rank}\t{columns}"


def as_jsonl(number: int, translations: list[Translation], layout: Layout) -> Iterator[str]:
    """Yields a JSON object for each translation.

    Args:
      number, translations, layout: see `as_text`.
    """
    for rank, translation in enumerate(translations, start=1):
        values = {
            "line": number,
            "rank": rank,
            "log_probability": round(translation.log_probability, 4),
            "translation": translation.text,
        }
        if translation.links is not None:
            values["alignment"] = translation.links
        if translation.tokens is not None:
            values["tokens"] = [_token_values(token) for token in translation.tokens]
        yield json.dumps(values, ensure_ascii=False)


def _columns(translation: Translation, log_probability: bool) -> list[str]:
    """Returns the columns of a translation: its text, and what else is reported of it."""
    from nmt.decoding.alignment import pharaoh

    columns = []
    if log_probability:
        columns.append(f"{translation.log_probability:.4f}")
    columns.append(_one_line(translation.text))
    if translation.links is not None:
        columns.append(pharaoh(translation.links))
    return columns


def _token_values(score: TokenScore) -> dict:
    """Returns the JSON object of a token."""
    values = {"token": score.token, "log_probability": round(score.log_probability, 4)}
    if score.alternatives:
        values["alternatives"] = {
            token: round(probability, 4) for token, probability in score.alternatives
        }
    return values


def _one_line(text: str) -> str:
    """Returns a text without the tabs and line breaks between its sentences."""
    return re.sub(r"[\t\r\n]+", " ", text)


FORMATS = {"text": as_text, "tsv": as_tsv, "jsonl": as_jsonl}
