"""Errors of translations by kind, with examples: what a score does not say. Without TensorFlow.

Each kind is decided as elsewhere in the program: numbers, placeholders and terms as by `translate
--check`, lengths and copies as by `data`. What the reference has, too, is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nmt.corpus.cleaning import CHECKS, EXAMPLES, excerpt, pair_of
from nmt.corpus.lengths import Lengths
from nmt.messages import plural
from nmt.results.run_report import TranslatedLine
from nmt.text import spelling
from nmt.text.differences import differences_by_kind
from nmt.text.glossary import Glossary
from nmt.text.protected import Protector
from nmt.text.repeats import repeated_part

KINDS = {  # of errors: what a translation has, or is
    "numbers": "other numbers than source and reference",
    "placeholders": "other placeholders, URLs, addresses, tags or codes than source and reference",
    "terms": "a term of the glossary is missing",
    "empty": "nothing is translated",
    "copied": "the source as it is, unlike the reference",
    "short": "far shorter than the reference, or than is usual for the source",
    "long": "far longer than the reference, or than is usual for the source",
    "repeats": "a part repeats itself, unlike in the reference",
}
Check = Callable[[TranslatedLine], str]  # returns what is wrong in words, or ""


class Part(NamedTuple):
    """A file of the test text."""

    name: str
    lines: int


class Example(NamedTuple):
    """A line with an error."""

    file: str
    number: int  # of the line, from 1
    detail: str  # what is wrong
    line: TranslatedLine


class ErrorReport(NamedTuple):
    """The errors of a system's translations."""

    parts: list[Part]
    wrong_lines: list[int]  # lines with an error, by part
    counts: dict[str, list[int]]  # lines by kind of error, and part
    examples: dict[str, list[Example]]  # by kind

    @property
    def lines(self) -> int:
        """The number of all lines."""
        return sum(part.lines for part in self.parts)

    def totals(self) -> dict[str, int]:
        """Returns the number of lines with an error, of any kind and of each."""
        totals = {kind: sum(numbers) for kind, numbers in self.counts.items()}
        return {"any": sum(self.wrong_lines)} | totals

    def to_json(self) -> dict[str, Any]:
        """Returns the report as scores.json holds it."""
        kinds = {
            kind: {
                "lines": sum(self.counts[kind]),
                "by_file": {
                    part.name: number
                    for part, number in zip(self.parts, self.counts[kind], strict=True)
                },
                "examples": [
                    {"file": example.file, "line": example.number, "detail": example.detail}
                    | example.line._asdict()
                    for example in self.examples[kind]
                ],
            }
            for kind in self.counts
        }
        return {"lines": self.lines, "wrong_lines": sum(self.wrong_lines), "kinds": kinds}

    def text(self) -> str:
        """Returns the report as text."""
        wrong = sum(self.wrong_lines)
        share = wrong / max(self.lines, 1)
        blocks = [f"{plural(wrong, 'line')} of {self.lines} with an error ({share:.1%})"]
        if len(self.parts) > 1:
            columns = {
                part.name: {"any": self.wrong_lines[number]}
                | {kind: numbers[number] for kind, numbers in self.counts.items()}
                for number, part in enumerate(self.parts)
            }
            blocks.append(count_table(columns | {"all": self.totals()}))
        blocks += ["\n".join(self._lines_of(kind)) for kind in self.counts if self.examples[kind]]
        return "\n\n".join(blocks)

    def _lines_of(self, kind: str) -> Iterator[str]:
        number = sum(self.counts[kind])
        yield f"{kind}: {number:,} ({number / self.lines:.1%}): {KINDS[kind]}"
        for example in self.examples[kind]:
            file = f"{example.file}, " if len(self.parts) > 1 else ""
            detail = f": {excerpt(example.detail)}" if example.detail else ""
            yield f"  {file}line {example.number}{detail}"
            for name, text in example.line._asdict().items():
                yield f"    {name:<11} {excerpt(text)}"


def count_table(columns: Mapping[str, Mapping[str, int]]) -> str:
    """Returns ErrorReport.totals, by their titles, as text: a row per kind of error."""
    widths = {title: max(len(title), 6) + 2 for title in columns}
    kinds = [kind for kind in ("any", *KINDS) if any(kind in column for column in columns.values())]
    lines = [f"{'lines with':<14}" + "".join(f"{t:>{w}}" for t, w in widths.items())]
    for kind in kinds:
        cells = (f"{columns[title][kind]:>{width}}" for title, width in widths.items())
        lines.append(f"{kind:<14}" + "".join(cells))
    return "\n".join(lines)


# ---- The kinds ----


class LineChecks:
    """The Check of each of KINDS; the lines of the test text show what lengths are usual."""

    def __init__(self, lines: Sequence[TranslatedLine], glossary: Glossary | None):
        self._protector = Protector(glossary=glossary)
        self._lengths = Lengths((line.source, line.reference) for line in lines)
        self.by_kind: dict[str, Check] = {
            "numbers": lambda line: self._difference("numbers", line),
            "placeholders": lambda line: self._difference("spans", line),
            "terms": self._missing_terms,
            "empty": _empty,
            "copied": _copied,
            "short": lambda line: self._unusual_length(line, is_short=True),
            "long": lambda line: self._unusual_length(line, is_short=False),
            "repeats": _repeats,
        }
        if not glossary:
            del self.by_kind["terms"]

    def _difference(self, name: str, line: TranslatedLine) -> str:
        """Returns what differs from the source, if anything differs from the reference, too."""
        differences = differences_by_kind(line.source, line.hypothesis, self._protector)
        from_source = getattr(differences, name)
        if not from_source:
            return ""
        from_reference = getattr(differences_by_kind(line.reference, line.hypothesis), name)
        return str(from_source) if from_reference else ""

    def _missing_terms(self, line: TranslatedLine) -> str:
        return str(differences_by_kind(line.source, line.hypothesis, self._protector).terms)

    def _unusual_length(self, line: TranslatedLine, is_short: bool) -> str:
        """Returns both lengths if that of a translation is unusual, and is the shorter or not."""
        is_shorter = len(line.hypothesis) < len(line.reference)
        if not self._is_unusual(line) or is_shorter != is_short:
            return ""
        return f"{len(line.hypothesis)} characters, the reference {len(line.reference)}"

    def _is_unusual(self, line: TranslatedLine) -> bool:
        if spelling.is_blank(line.hypothesis) or spelling.is_blank(line.reference):
            return False
        differs = self._lengths.differ((line.source, line.hypothesis))
        differs = differs and not self._lengths.differ((line.source, line.reference))
        return differs or CHECKS["ratio"](pair_of((line.reference, line.hypothesis)))


def _empty(line: TranslatedLine) -> str:
    is_empty = spelling.is_blank(line.hypothesis) and not spelling.is_blank(line.reference)
    return "no text" if is_empty else ""


def _copied(line: TranslatedLine) -> str:
    is_equal = CHECKS["equal"]
    is_copied = is_equal(pair_of((line.source, line.hypothesis)))
    is_copied = is_copied and not is_equal(pair_of((line.source, line.reference)))
    return "equal to the source" if is_copied else ""


def _repeats(line: TranslatedLine) -> str:
    return "" if repeated_part(line.reference) else repeated_part(line.hypothesis)


def find_errors(
    lines: Sequence[TranslatedLine], parts: Sequence[Part], glossary: Glossary | None = None
) -> ErrorReport:
    """Returns the ErrorReport of translations, those of all parts one after the other."""
    kinds = LineChecks(lines, glossary).by_kind
    report = ErrorReport(
        list(parts), [0] * len(parts), {kind: [0] * len(parts) for kind in kinds},
        {kind: [] for kind in kinds},
    )  # fmt: skip
    remaining = iter(lines)
    for place, part in enumerate(parts):
        for number, line in zip(range(1, part.lines + 1), remaining, strict=False):
            errors = {kind: detail for kind, check in kinds.items() if (detail := check(line))}
            report.wrong_lines[place] += bool(errors)
            for kind, detail in errors.items():
                report.counts[kind][place] += 1
                if len(report.examples[kind]) < EXAMPLES:
                    report.examples[kind].append(Example(part.name, number, detail, line))
    return report
