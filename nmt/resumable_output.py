"""Outputs that take long: what is finished stands beside them, so that an interrupt loses little.

OUT appears when it is complete. Until then OUT.partial holds what is finished and the settings that
it was begun with. It is one process's alone, and a process with the same settings resumes it.

  ResumableLines   OUT.partial is a folder: settings.json, and a file per part of the lines
  ResumableTexts   OUT.partial is a file: a line of settings, then a line per text of a document

Where files are not local and several machines write them, as in recipes/translate_beam.py, there
is no OUT.partial, but the settings are compared in the same way: see `other_settings`.
"""

import abc
import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from nmt import UserError, output
from nmt.messages import log

Settings = Mapping[str, Any]  # all that the content of an output depends on, by name; JSON
SETTINGS = "settings.json"


def other_settings(saved: Any, settings: Settings) -> list[str]:
    """Returns the names of the settings that differ from those that an output was begun with.

    A ValueError if `saved`, read from a JSON file, is not an object.
    """
    if not isinstance(saved, dict):
        raise ValueError("is not an object")
    wanted = json.loads(json.dumps(settings))
    return [name for name in {**saved, **wanted} if saved.get(name) != wanted.get(name)]


class ResumableOutput(abc.ABC):
    """OUT.partial, locked; used in a `with` block, which says what stays after an error.

    `finished` is what OUT.partial holds, by what it is the translation of. A UserError if OUT
    exists; another process writes it; it was begun with other settings; or OUT.partial cannot be
    written.
    """

    finished: dict[Any, Any]

    def __init__(self, target: Path, settings: Settings):
        self.target = target
        self.path = target.with_name(f"{target.name}.partial")
        self.refuse_existing()
        self._descriptor = self._lock()
        try:
            self.refuse_existing()  # which another process may have written meanwhile
            self._resume(settings)
        except BaseException:
            self._unlock()
            raise

    @abc.abstractmethod
    def _open(self) -> int:
        """Returns a file descriptor of OUT.partial, which is made if it is missing."""

    @abc.abstractmethod
    def _resume(self, settings: Settings) -> None:
        """Reads what is finished; compares the settings, or writes them."""

    @abc.abstractmethod
    def _forget_settings(self) -> None:
        """Makes OUT.partial empty: nothing is finished."""

    @abc.abstractmethod
    def _remove_if_empty(self) -> None:
        """Removes OUT.partial if it is empty."""

    def refuse_existing(self) -> None:
        """Raises a UserError if OUT exists: nothing is overwritten."""
        output.refuse_existing(self.target, "another file")

    def _other_settings(self, names: Sequence[str]) -> UserError:
        return UserError(
            f"{self.path}: was begun with another {', '.join(names)}; give the same, or remove it "
            "to start again"
        )

    def _something_else(self) -> UserError:
        return UserError(f"{self.path}: holds something else; move it, or name another file")

    def _lock(self) -> int:
        """Reserves OUT.partial for this process, and those that it forks. Returns `_open`'s."""
        try:
            descriptor = self._open()
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

    def _unlock(self) -> None:
        """Lets another process have OUT.partial, and removes it if it is empty."""
        with contextlib.suppress(OSError):
            self._remove_if_empty()
        os.close(self._descriptor)
        self._descriptor = -1

    def close(self) -> bool:
        """Lets another process have OUT.partial. Returns whether it stays: some is finished."""
        if self._descriptor < 0:
            return False
        if not self.finished:
            with contextlib.suppress(OSError):
                self._forget_settings()
        self._unlock()
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
    """A text whose parts are finished in any order, by the number of the first line.

    The name of a part says how many bytes it has, so that one that a disk has shortened is written
    again.
    """

    finished: dict[int, Path]

    def _open(self) -> int:
        output.make_folder(self.path)
        return os.open(self.path, os.O_RDONLY)

    def _resume(self, settings: Settings) -> None:
        self.finished = dict(self._complete_parts())
        path = self.path / SETTINGS
        path.with_name(f"{SETTINGS}.tmp").unlink(missing_ok=True)  # of a process that was killed
        try:
            names = other_settings(json.loads(path.read_bytes()), settings)
        except FileNotFoundError:
            if any(self.path.iterdir()):
                raise self._something_else() from None
            names = []
        except ValueError:
            raise UserError(f"{path}: is damaged; remove {self.path}") from None
        if names and self.finished:
            raise self._other_settings(names)
        output.write(path, json.dumps(settings, indent=2).encode())

    def _complete_parts(self) -> Iterator[tuple[int, Path]]:
        """Yields the first line of each complete part, and its path."""
        for path in self.path.glob("*.part"):
            first, _, size = path.stem.partition("-")
            if first.isdecimal() and size == str(path.stat().st_size):
                yield int(first), path

    def _forget_settings(self) -> None:
        # A signal may have come when a part was written, before `add` noted it.
        if not any(self._complete_parts()):
            (self.path / SETTINGS).unlink()

    def _remove_if_empty(self) -> None:
        self.path.rmdir()

    def add(self, first: int, text: str) -> None:
        """Writes the translation of the part that begins with line `first`."""
        content = text.encode()
        path = self.path / f"{first:012d}-{len(content)}.part"
        output.write(path, content)
        self.finished[first] = path

    def finish(self, firsts: Iterable[int]) -> None:
        """Writes OUT, its parts in the order of `firsts`, and removes the folder."""
        self.refuse_existing()
        joined = self.path / "joined"
        try:
            with joined.open("wb") as file:
                for first in firsts:
                    with self.finished[first].open("rb") as part:
                        shutil.copyfileobj(part, file)
            output.move(joined, self.target)
        except OSError as error:
            joined.unlink(missing_ok=True)
            raise output.unwritten(self.target, error) from None
        shutil.rmtree(self.path, ignore_errors=True)  # OUT is complete all the same
        self._unlock()


# ---- Texts: of a document, which is in memory ----


class FinishedText(NamedTuple):
    """A translation as it stands in OUT.partial."""

    text: str
    links: list[tuple[int, int]] | None  # (source word, target word)
    confidence: float | None = None  # the chrF that is expected of it, if it is asked for


class ResumableTexts(ResumableOutput):
    """The texts of a document, each of which is translated once; `finished` is by source."""

    finished: dict[str, FinishedText]

    def _open(self) -> int:
        output.make_folder(self.target.parent)
        return os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666)

    def _resume(self, settings: Settings) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]  # a crash may have cut the last line
        try:
            self.finished = self._read(whole, settings)
        except (ValueError, TypeError, KeyError):
            raise self._something_else() from None
        os.truncate(self._descriptor, len(whole))
        if not whole:
            self._write(settings)

    def _read(self, content: bytes, settings: Settings) -> dict[str, FinishedText]:
        """Returns the finished texts; a UserError if they were begun with other settings.

        ValueError, TypeError and KeyError mean that the content is something else.
        """
        lines = [json.loads(line) for line in content.decode().splitlines()]
        if lines and (names := other_settings(lines[0], settings)):
            raise self._other_settings(names)
        finished = {}
        for values in lines[1:]:
            links = values["links"]
            pairs = None if links is None else [(source, target) for source, target in links]
            finished[values["source"]] = FinishedText(values["text"], pairs, values["confidence"])
        return finished

    def _write(self, values: Mapping[str, Any]) -> None:
        """Writes a line; a UserError if it cannot be written, as when the disk is full."""
        try:
            with open(self._descriptor, "ab", closefd=False) as file:
                file.write(json.dumps(values, ensure_ascii=True).encode() + b"\n")
        except OSError as error:
            raise output.unwritten(self.path, error) from None

    def _forget_settings(self) -> None:
        os.truncate(self._descriptor, 0)

    def _remove_if_empty(self) -> None:
        if not os.fstat(self._descriptor).st_size:
            self.path.unlink()

    def add(self, source: str, translation: FinishedText) -> None:
        """Writes the translation of a text."""
        self._write({"source": source, **translation._asdict()})
        self.finished[source] = translation

    def finish(self, content: bytes) -> None:
        """Writes OUT, the document in translation, and removes OUT.partial."""
        self.refuse_existing()
        output.write(self.target, content)
        self.path.unlink(missing_ok=True)
        self._unlock()
