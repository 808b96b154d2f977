"""Outputs that take long: what is finished stands beside them, so that an interrupt loses little.

OUT appears when it is complete. Until then OUT.partial holds, in lines of JSON, the settings that
it was begun with, and what is finished. It is one process's alone, and a process with the same
settings resumes it.

  ResumableLines   a line per part of a text of any size
  ResumableTexts   a line per text of a document

Where files are not local and several machines write them, as in recipes/translate_beam.py, there
is no OUT.partial, but the settings are compared in the same way: see `other_settings`.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from nmt import UserError, output
from nmt.messages import log

Settings = Mapping[str, Any]  # all that the content of an output depends on, by name; JSON


def other_settings(saved: Any, settings: Settings) -> list[str]:
    """Returns the names of the settings that differ from those that an output was begun with.

    A ValueError if `saved`, read from a JSON file, is not an object.
    """
    if not isinstance(saved, dict):
        raise ValueError("is not an object")
    wanted = json.loads(json.dumps(settings))
    return [name for name in {**saved, **wanted} if saved.get(name) != wanted.get(name)]


class ResumableOutput:
    """OUT.partial, locked; used in a `with` block, which says what stays after an error.

    A UserError if OUT exists; another process writes it; it was begun with other settings; or
    OUT.partial cannot be written.
    """

    def __init__(self, target: Path, settings: Settings):
        self.target = target
        self.path = target.with_name(f"{target.name}.partial")
        self._size_of_settings = 0  # in bytes
        self.refuse_existing()
        self._descriptor = self._lock()
        try:
            self.refuse_existing()  # which another process may have written meanwhile
            self._resume(settings)
        except BaseException:
            self.close()
            raise

    def refuse_existing(self) -> None:
        """Raises a UserError if OUT exists: nothing is overwritten."""
        output.refuse_existing(self.target, "another file")

    def _lock(self) -> int:
        """Returns a file descriptor of OUT.partial, which is reserved for this process."""
        try:
            if not self.target.parent.exists():
                output.make_folder(self.target.parent)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
            descriptor = os.open(self.path, flags, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BaseException:
                os.close(descriptor)
                raise
        except BlockingIOError:
            raise UserError(
                f"{self.path}: another process is translating into {self.target}; wait for it, or "
                "name another file"
            ) from None
        except OSError as error:
            raise output.unwritten(self.path, error) from None
        return descriptor

    def _resume(self, settings: Settings) -> None:
        """Reads what is finished; compares the settings, or writes them."""
        size = 0  # of whole lines
        try:
            with self.path.open("rb") as file:
                for line in file:
                    if not line.endswith(b"\n"):  # a crash has cut it
                        break
                    values = json.loads(line)
                    if size:
                        self._note(values)
                    else:
                        self._check(values, settings)
                        self._size_of_settings = len(line)
                    size += len(line)
        except (ValueError, TypeError, KeyError):
            raise UserError(
                f"{self.path}: holds something else; move it, or name another file"
            ) from None
        os.truncate(self._descriptor, size)
        if not size:
            self._size_of_settings = self._write(settings)

    def _check(self, saved: Any, settings: Settings) -> None:
        if names := other_settings(saved, settings):
            raise UserError(
                f"{self.path}: was begun with another {', '.join(names)}; give the same, or remove "
                "it to start again"
            )

    def _note(self, values: dict[str, Any]) -> None:
        """Remembers what a line says is finished."""
        raise NotImplementedError

    def _write(self, values: Settings) -> int:
        """Writes a line, and returns its bytes; a UserError if the disk is full, for example."""
        line = json.dumps(values).encode() + b"\n"
        try:
            with open(self._descriptor, "ab", closefd=False) as file:
                file.write(line)
        except OSError as error:
            raise output.unwritten(self.path, error) from None
        return len(line)

    def close(self) -> bool:
        """Lets another process have OUT.partial. Returns whether it stays: some is finished."""
        if self._descriptor < 0:
            return False
        with contextlib.suppress(OSError):
            if os.fstat(self._descriptor).st_size <= self._size_of_settings:
                self.path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1
        return self.path.exists()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        if self.close() and error:
            log.info(f"{self.path}: holds what is translated; the same command resumes it")


# ---- Lines: parts of a text of any size ----


class ResumableLines(ResumableOutput):
    """A text whose parts are finished one after the other; `finished` are their first lines."""

    def __init__(self, target: Path, settings: Settings):
        self.finished: set[int] = set()
        super().__init__(target, settings)

    def _note(self, values: dict[str, Any]) -> None:
        self.finished.add(int(values["first"]))

    def add(self, first: int, text: str) -> None:
        """Writes the translation of the part that begins with line `first`."""
        values = {"first": first, "text": text}
        self._write(values)
        os.fsync(self._descriptor)
        self._note(values)

    def finish(self) -> None:
        """Writes OUT, of which a part at a time is in memory, and removes OUT.partial."""
        self.refuse_existing()
        joined = self.path.with_name(f"{self.path.name}.joined")
        try:
            with joined.open("wb") as file, self.path.open("rb") as lines:
                next(lines)  # the settings
                for line in lines:
                    file.write(json.loads(line)["text"].encode())
            output.move(joined, self.target)
        except OSError as error:
            raise output.unwritten(self.target, error) from None
        finally:
            joined.unlink(missing_ok=True)
        self.path.unlink()
        self.close()


# ---- Texts: of a document, which is in memory ----


class FinishedText(NamedTuple):
    """A translation as it stands in OUT.partial."""

    text: str
    links: list[tuple[int, int]] | None  # (source word, target word)
    confidence: float | None = None  # the chrF that is expected of it, if it is asked for


class ResumableTexts(ResumableOutput):
    """The texts of a document, each of which is translated once; `finished` is by source."""

    def __init__(self, target: Path, settings: Settings):
        self.finished: dict[str, FinishedText] = {}
        super().__init__(target, settings)

    def _note(self, values: dict[str, Any]) -> None:
        links = values["links"]
        pairs = None if links is None else [(source, target) for source, target in links]
        translation = FinishedText(values["text"], pairs, values["confidence"])
        self.finished[values["source"]] = translation

    def add(self, source: str, translation: FinishedText) -> None:
        """Writes the translation of a text."""
        values = {"source": source, **translation._asdict()}
        self._write(values)
        self._note(values)

    def finish(self, content: bytes) -> None:
        """Writes OUT, the document in translation, and removes OUT.partial."""
        self.refuse_existing()
        output.write(self.target, content)
        self.path.unlink(missing_ok=True)
        self.close()
