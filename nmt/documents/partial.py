"""What is translated of a document so far: a file beside it, so that an interrupt loses little."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from nmt import UserError, output
from nmt.documents.inline import TranslatedText


class SavedTranslation(NamedTuple):
    """A translation as it was written to the file."""

    text: str
    links: list[list[int]] | None


class PartialTranslation:
    """The file OUT.partial: a line that describes the run, then a line per translated text.

    Args:
      target: OUT.
      settings: all that a translation depends on, besides its source; JSON.

    Attributes:
      translations: by source.

    Raises:
      UserError: the file was written with other settings, or by a process that still runs, or it
        cannot be written.
    """

    def __init__(self, target: Path, settings: dict[str, Any]):
        self.path = target.with_name(target.name + ".partial")
        self.translations: dict[str, TranslatedText] = {}
        try:
            output.make_folder(target.parent)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
            self._file = os.fdopen(os.open(self.path, flags, 0o666), "a+b")
            try:
                self._resume(target, settings)
            except BaseException:
                self._file.close()
                raise
        except BlockingIOError:
            raise UserError(
                f"{self.path}: another process is translating into {target}; wait for it, or name "
                "another OUT"
            ) from None
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror}; name a writable path") from None
        except (ValueError, TypeError, KeyError):
            raise self._error() from None

    def _resume(self, target: Path, settings: dict[str, Any]) -> None:
        """Locks the file, and reads what an earlier process has left in it."""
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._file.seek(0)
        content = self._file.read()
        try:  # the earlier one may have finished
            output.refuse_existing(target, "another file")
        except UserError:
            if not content:
                self.remove()
            raise
        whole = content[: content.rfind(b"\n") + 1]  # a crash may have cut the last line
        self._read(whole.decode(), settings)
        self._file.truncate(len(whole))
        if not whole:
            self._write(settings)

    def _read(self, content: str, settings: dict[str, Any]) -> None:
        lines = [json.loads(line) for line in content.splitlines()]
        if lines and lines[0] != json.loads(json.dumps(settings)):
            raise self._error()
        for values in lines[1:]:
            self.translations[values["source"]] = SavedTranslation(values["text"], values["links"])

    def _error(self) -> UserError:
        return UserError(
            f"{self.path}: was begun with another run or other options; remove it, or name another "
            "OUT"
        )

    def _write(self, values: dict[str, Any]) -> None:
        self._file.write(json.dumps(values, ensure_ascii=True).encode() + b"\n")
        self._file.flush()

    def add(self, source: str, translation: TranslatedText) -> None:
        """Adds the translation of a text.

        Raises:
          UserError: it cannot be written, as when the disk is full.
        """
        self.translations[source] = translation
        try:
            self._write({"source": source, "text": translation.text, "links": translation.links})
        except OSError as error:
            raise UserError(f"{self.path}: {error.strerror}; free some space") from None

    def close(self) -> None:
        """Closes the file, which stays."""
        with contextlib.suppress(OSError):  # of the line that `add` could not write
            self._file.close()

    def remove(self) -> None:
        """Removes the file: the document is complete."""
        self.path.unlink(missing_ok=True)
