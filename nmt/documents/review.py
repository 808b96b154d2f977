"""Doubtful translations of a document: what a person should read, the worst first.

    report = make_report(document, translations)
    doubts = find_doubts(document, translations, report, min_confidence=40)
    write(path, doubts)

A translation is doubtful if its confidence is low, if it has other numbers, placeholders, URLs or
tags than its source, or if there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nmt import UserError, output
from nmt.documents.document import Document
from nmt.documents.report import WITHOUT_TRANSLATION, Report
from nmt.documents.tag_placement import TranslatedText, written_text

COLUMNS = "confidence", "place", "source", "translation", "problem"
LOW_CONFIDENCE = "low confidence"
NO_CONFIDENCE = (
    "the translations have no confidence; translate with load_translator(run, confidence=True)"
)


class Doubt(NamedTuple):
    """A doubtful translation, which stands wherever its source does."""

    source: str
    places: list[str]  # all where it stands, in words
    translation: str  # as a reader sees it
    confidence: float  # the chrF that is expected of it, from 0 to 100
    problem: str  # what is wrong; LOW_CONFIDENCE if nothing is known to be

    @property
    def is_known(self) -> bool:
        """Whether something is wrong, not only unlikely to be right."""
        return self.problem != LOW_CONFIDENCE

    @property
    def place(self) -> str:
        """Where it stands first, and how often else."""
        repeated = len(self.places) - 1
        return f"{self.places[0]} and {repeated} more" if repeated else self.places[0]


def find_doubts(
    document: Document,
    translations: Sequence[TranslatedText],
    report: Report,
    min_confidence: float,
) -> list[Doubt]:
    """Returns the doubtful translations: those with something wrong, then the least sure first.

    A translation with a confidence of `min_confidence`, from 0 to 100, or more is not doubtful; one
    without a confidence is a UserError.
    """
    problems = {id(change.segment): str(change.difference) for change in report.changes}
    doubts: dict[tuple[str, str], Doubt] = {}
    for segment, translation in zip(document.segments, translations, strict=True):
        confidence = translation.confidence
        if confidence is None:
            raise UserError(NO_CONFIDENCE)
        problem = problems.get(id(segment), "")
        if not translation.text.strip():
            problem = WITHOUT_TRANSLATION
        elif not problem and confidence < min_confidence:
            problem = LOW_CONFIDENCE
        if problem:
            seen = written_text(segment.nodes, translation)
            new = Doubt(segment.seen_text, [], seen, confidence, problem)
            doubt = doubts.setdefault((segment.seen_text, problem), new)
            doubt.places.append(document.place(segment))
    return sorted(doubts.values(), key=lambda doubt: (not doubt.is_known, doubt.confidence))


def write(path: Path, doubts: Sequence[Doubt]) -> None:
    """Writes doubtful translations as a table with tabs, whose first line has the COLUMNS."""
    rows = [COLUMNS]
    for doubt in doubts:
        number = f"{doubt.confidence:.0f}"
        rows.append((number, doubt.place, doubt.source, doubt.translation, doubt.problem))
    lines = ["\t".join(" ".join(field.split()) for field in row) for row in rows]
    output.write(path, "".join(f"{line}\n" for line in lines).encode())
