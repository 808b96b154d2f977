"""`translate --check`: which lines have lost or added numbers, placeholders, URLs or tags."""

import collections
from collections.abc import Iterable, Iterator

from nmt import CheckFailed
from nmt.messages import log, plural
from nmt.text.differences import difference
from nmt.text.protected import Protector


class TranslationCheck:
    """Compares translations with their sources, one line after the other.

    Args:
      protector: finds what must not change.
      noun: what is numbered in messages.
    """

    def __init__(self, protector: Protector, noun: str = "line"):
        self._protector = protector
        self._noun = noun
        self._sources = collections.deque()  # lines whose translation is not yet known
        self._lines = self._different = 0

    def remember(self, chunks: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yields lists of source lines, to be translated, and remembers the lines."""
        for chunk in chunks:
            self._sources.extend(chunk)
            yield chunk

    def compare(self, translation: str) -> None:
        """Compares the next line with its translation, and names what differs on stderr."""
        self._lines += 1
        result = difference(self._sources.popleft(), translation, self._protector)
        if result.missing or result.added:
            self._different += 1
            log.warning(f"{self._noun} {self._lines}: {result}")

    def report(self, strict: bool) -> None:
        """Logs how many lines differ.

        Args:
          strict: raise an exception if any does.

        Raises:
          CheckFailed: see `strict`.
        """
        lines = plural(self._lines, self._noun)
        message = (
            f"{self._different} of {lines}: other numbers, placeholders, URLs or tags than in the "
            "source"
        )
        if self._different and strict:
            raise CheckFailed(message)
        log.info(message)
