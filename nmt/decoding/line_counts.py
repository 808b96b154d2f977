"""How many lines could not be translated well, which the user is warned of."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import NamedTuple

from nmt.decoding.confidence import DOUBTFUL
from nmt.decoding.sentence import Translation
from nmt.messages import log, plural
from nmt.text.differences import Difference, DifferenceCount
from nmt.text.repeats import is_loop
from nmt.text.spelling import is_blank

MAX_QUOTED = 80  # characters of a line
MANY_LINES = 100  # in which some term of a glossary is expected


class TranslatedLine(NamedTuple):
    """A line's translations, and what is counted of them."""

    translations: list[Translation]  # the best first
    tokens: int  # of the longest sentence
    difference: Difference  # of the line and its best translation
    terms: int  # of the glossary, in the line
    is_doubtful: bool  # by its confidence, if the run is calibrated


@dataclasses.dataclass
class LineCounts:
    """How many lines could not be translated well."""

    trained_length: int | None  # see Translator
    max_tokens: int  # of a sentence; the others are cut off
    lines: int = 0
    too_long: int = 0  # lines
    cut: int = 0  # lines
    doubtful: int = 0  # lines
    # Sources whose translation is empty, or one part again and again: how many, and the first.
    empty: int = 0
    looping: int = 0
    first_empty: str = ""
    first_looping: str = ""
    differences: DifferenceCount = field(default_factory=DifferenceCount)  # from translations
    has_glossary: bool = False
    terms: int = 0  # of the glossary, in all lines

    def add(self, source: str, line: TranslatedLine) -> None:
        """Counts a line."""
        self.lines += 1
        translation = line.translations[0].text
        is_empty = is_blank(translation) and not is_blank(source)
        is_looping = is_loop(translation) and not is_loop(source)
        self.empty += is_empty
        self.looping += is_looping
        self.first_empty = self.first_empty or (source if is_empty else "")
        self.first_looping = self.first_looping or (source if is_looping else "")
        if self.trained_length and line.tokens > self.trained_length:
            self.too_long += 1
        if line.tokens > self.max_tokens:
            self.cut += 1
        self.differences.add(line.difference)
        self.terms += line.terms
        self.doubtful += line.is_doubtful

    def warn(self, differences: bool = True, advice: str = "") -> None:
        """Logs a warning of each kind of such lines.

        Args:
          differences: False if what translations lose or add is reported otherwise.
          advice: ends the warning of differences: how the command that is run names them all.
        """
        lines = plural(self.lines, "line")
        if self.too_long:
            log.warning(
                f"{self.too_long} of {lines}: longer than the {self.trained_length} tokens that "
                "the run was trained on (--max-length); translations may lose text."
            )
        for number, what, first in (
            (self.empty, "translated by nothing", self.first_empty),
            (self.looping, "translated by one part again and again", self.first_looping),
        ):
            if number:
                log.warning(f"{number} of {lines}: {what}. The first: {first[:MAX_QUOTED]}")
        if self.doubtful:
            log.warning(
                f"{self.doubtful} of {lines}: doubtful, with a confidence below {DOUBTFUL:.0f}. To "
                "see it: --confidence, or --review of a file"
            )
        if self.cut:
            log.warning(f"{self.cut} of {lines}: cut off after {self.max_tokens} tokens.")
        if self.has_glossary and not self.terms and self.lines >= MANY_LINES:
            log.warning(
                f"No term of the glossary occurs in {lines}. (A term with a capital is found only "
                "as it is written.)"
            )
        if differences and self.differences.different:
            log.warning(self.differences.summary() + advice)
