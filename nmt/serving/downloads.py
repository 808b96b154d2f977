"""Translated files, until their clients have fetched them.

They are few, and stay in memory for some minutes; nothing is written to the disk.
"""

import collections
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from nmt.serving.errors import RefusedError

MAX_FILES = 32
FILE_SECONDS = 600.0  # for which they may be fetched


class TranslatedFile(NamedTuple):
    """A file that waits to be fetched."""

    name: str
    content: bytes
    made_at: float  # seconds


class TranslatedFiles:
    """The files of a server that wait to be fetched; the oldest leave first.

    Args:
      clock: a function that returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._files: collections.OrderedDict[str, TranslatedFile] = collections.OrderedDict()

    def add(self, name: str, content: bytes) -> str:
        """Returns the key by which a file may be fetched, which nobody can guess."""
        self._forget_old()
        if len(self._files) >= MAX_FILES:
            self._files.popitem(last=False)
        key = secrets.token_urlsafe(16)
        self._files[key] = TranslatedFile(name, content, self._clock())
        return key

    def get(self, key: str) -> TranslatedFile:
        """Returns the file of a key; a RefusedError if there is none any more."""
        self._forget_old()
        if key not in self._files:
            raise RefusedError(404, "there is no such file any more; translate it again")
        return self._files[key]

    def _forget_old(self) -> None:
        oldest = self._clock() - FILE_SECONDS
        for key in [key for key, file in self._files.items() if file.made_at < oldest]:
            del self._files[key]
