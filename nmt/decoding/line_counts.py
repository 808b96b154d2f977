"""How many lines could not be translated well, which the user is warned of."""

from __future__ import annotations

import dataclasses

from nmt.decoding.sentence import Sentence
from nmt.messages import log, plural


@dataclasses.dataclass
class LineCounts:
    """How many lines could not be translated well."""

    trained_length: int | None  # see Translator
    max_tokens: int  # of a sentence; the others are cut off
    lines: int = 0
    too_long: int = 0  # lines
    cut: int = 0  # lines
    incomplete: int = 0  # lines whose translation lacks what must not change

    def add(self, line: list[Sentence]) -> None:
        """Counts a line."""
        longest = max(len(sentence.source) for sentence in line)
        self.lines += 1
        if self.trained_length and longest > self.trained_length:
            self.too_long += 1
        if longest > self.max_tokens:
            self.cut += 1
        if any(sentence.missing for sentence in line):
            self.incomplete += 1

    def __add__(self, other: LineCounts) -> LineCounts:
        """Returns the counts of the lines of both."""
        return LineCounts(
            self.trained_length,
            self.max_tokens,
            self.lines + other.lines,
            self.too_long + other.too_long,
            self.cut + other.cut,
            self.incomplete + other.incomplete,
        )

    def warn(self) -> None:
        """Logs a warning of each kind of such lines."""
        lines = plural(self.lines, "line")
        if self.too_long:
            log.warning(
                f"{self.too_long} of {lines}: longer than the {self.trained_length} tokens that "
                "the run was trained on (--max-length); translations may lose text."
            )
        if self.cut:
            log.warning(f"{self.cut} of {lines}: cut off after {self.max_tokens} tokens.")
        if self.incomplete:
            log.warning(
                f"{self.incomplete} of {lines}: the translation lacks numbers, placeholders, tags "
                "or terms of the source; translate --check names them."
            )
