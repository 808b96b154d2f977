"""Which texts have lost or added numbers, placeholders, URLs or tags: by default, and `--check`."""

import collections
from collections.abc import Iterable, Iterator

from nmt import CheckFailed
from nmt.messages import log
from nmt.text.differences import DifferenceCount, difference
from nmt.text.protected import Protector


class TranslationCheck:
    """Compares translations with their sources, one text after the other.

    Args:
      protector: finds what must not change.
      noun: what is numbered in messages.
      names_all: name each text that differs on stderr, as --check does; by default the closing
        line names the first.
    """

    def __init__(self, protector: Protector, noun: str = "line", names_all: bool = False):
        self._protector = protector
        self._noun, self._names_all = noun, names_all
        self._sources = collections.deque()  # texts whose translation is not yet known
        self.count = DifferenceCount()

    def remember(self, chunks: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yields lists of source texts, to be translated, and remembers the texts."""
        for chunk in chunks:
            self._sources.extend(chunk)
            yield chunk

    def compare(self, translation: str) -> None:
        """Compares the next text with its translation."""
        result = difference(self._sources.popleft(), translation, self._protector)
        self.count.add(result)
        if result and self._names_all:
            log.warning(f"{self._noun} {self.count.texts}: {result}")

    def report(self, strict: bool = False) -> None:
        """Logs how many texts differ; if none does, only with `names_all`.

        Args:
          strict: raise an exception if any does.

        Raises:
          CheckFailed: see `strict`.
        """
        if not (self.count.different or self._names_all):
            return
        summary = self.count.summary(self._noun)
        if self.count.different and strict:
            raise CheckFailed(summary)
        advice = "" if self._names_all else ". To name all: --check"
        log.info(summary + advice)
