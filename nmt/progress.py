"""The progress bars of long work. They are given numbers and text, and change nothing else."""

import sys
import time
from collections.abc import Iterable
from typing import Any, TypeVar

from nmt.messages import log

T = TypeVar("T")
REPORT_SECONDS = 60  # between two lines on progress if stderr is not a terminal


def with_progress(results: Iterable[T], unit: str = "line", **options: Any) -> Iterable[T]:
    """Yields `results` and shows their number and rate, if stderr is a terminal.

    `options` are tqdm's, such as the `total` number.
    """
    if not sys.stderr.isatty():
        return results
    from tqdm import tqdm  # which imports a parser of e-mail

    return tqdm(results, unit=unit, file=sys.stderr, disable=None, leave=False, **options)


class ProgressBar:
    """A bar on stderr; where that is no terminal, a line now and then.

    `first` units of `total` are done when the bar appears.
    """

    def __init__(self, title: str, total: int, first: int = 0, unit: str = "batch"):
        from tqdm import tqdm

        self.title, self.total, self.unit = title, total, unit
        self._reported: float | None = None  # when the newest line was written
        self._bar = tqdm(
            total=total, initial=first, desc=title, unit=unit, file=sys.stderr, leave=False,
            disable=None,
        )  # fmt: skip

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def show(self, number: int, text: str) -> None:
        """Shows that units 1 ... `number` are done, and a text about them."""
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(number - self._bar.n)
        if self._bar.disable and number < self.total:
            self._report(number, text)

    def _report(self, number: int, text: str) -> None:
        now = time.perf_counter()
        if self._reported is None or now - self._reported > REPORT_SECONDS:
            log.info(f"{self.title}: {self.unit} {number}/{self.total}, {text}")
            self._reported = now
