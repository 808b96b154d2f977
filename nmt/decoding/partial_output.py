"""A large translation on its way: a folder beside the file, so that an interrupt loses little."""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nmt import UserError, output

SETTINGS = "settings.json"


class PartialOutput:
    """The folder OUT.partial: settings.json, and a file per part of the text that is translated.

    It is this process's alone until it ends. The name of a part says how many bytes it has, so that
    one that a disk has shortened is translated again.

    Args:
      target: OUT, a new file.
      settings: by name, all that translations depend on; JSON.

    Raises:
      UserError: OUT exists; another process translates into it; parts were translated with other
        settings; or the folder cannot be written to.
    """

    def __init__(self, target: Path, settings: dict[str, Any]):
        self.target = target
        self.path = target.with_name(f"{target.name}.partial")
        self.refuse_existing()
        self._lock()
        try:
            self.refuse_existing()  # which another process may have written meanwhile
            self._parts = dict(self._complete_parts())  # by their first lines
            self._claim(json.loads(json.dumps(settings)))
        except BaseException:
            self._unlock()
            raise

    def refuse_existing(self) -> None:
        """Raises a UserError if OUT exists: nothing is overwritten."""
        output.refuse_existing(self.target, "another file")

    def _lock(self) -> None:
        """Reserves the folder for this process, and the processes that it forks."""
        try:
            output.make_folder(self.path)
            self._folder = os.open(self.path, os.O_RDONLY)
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._folder)
            raise UserError(
                f"{self.path}: another process is translating into {self.target}; wait for it, or "
                "name another file"
            ) from None
        except OSError as error:
            raise output.unwritten(self.path, error) from None

    def _claim(self, settings: dict[str, Any]) -> None:
        """Writes the settings, or compares them with those of the parts that are there."""
        path = self.path / SETTINGS
        path.with_name(f"{SETTINGS}.tmp").unlink(missing_ok=True)  # of a process that was killed
        try:
            saved = json.loads(path.read_bytes())
            if not isinstance(saved, dict):
                raise ValueError
        except FileNotFoundError:
            saved = None
        except ValueError:
            raise UserError(f"{path}: is damaged; remove {self.path}") from None
        if saved is None and any(self.path.iterdir()):
            raise UserError(f"{self.path}: holds something else; move it, or name another file")
        if saved is not None and self._parts:
            names = [
                name for name in {**saved, **settings} if saved.get(name) != settings.get(name)
            ]
            if names:
                raise UserError(
                    f"{self.path}: was begun with another {', '.join(names)}; give the same, or "
                    "remove it to start again"
                )
        output.write(path, json.dumps(settings, indent=2).encode())

    def _complete_parts(self) -> Iterator[tuple[int, Path]]:
        """Yields the first line of each complete part, and its path."""
        for path in self.path.glob("*.part"):
            first, _, size = path.stem.partition("-")
            if first.isdecimal() and size == str(path.stat().st_size):
                yield int(first), path

    def holds(self, first: int) -> bool:
        """Returns whether the part that begins with line `first` is translated."""
        return first in self._parts

    def add(self, first: int, text: str) -> None:
        """Writes the translation of the part that begins with line `first`.

        Raises:
          UserError: it cannot be written, as when the disk is full.
        """
        content = text.encode()
        path = self.path / f"{first:012d}-{len(content)}.part"
        output.write(path, content)
        self._parts[first] = path

    def finish(self, firsts: Iterable[int]) -> None:
        """Writes OUT, and removes the folder.

        Args:
          firsts: the first line of each part, in order.

        Raises:
          UserError: OUT exists, or cannot be written.
        """
        self.refuse_existing()
        joined = self.path / "joined"
        try:
            with joined.open("wb") as file:
                for first in firsts:
                    with self._parts[first].open("rb") as part:
                        shutil.copyfileobj(part, file)
            output.move(joined, self.target)
        except OSError as error:
            joined.unlink(missing_ok=True)
            raise output.unwritten(self.target, error) from None
        shutil.rmtree(self.path, ignore_errors=True)  # OUT is complete all the same
        self.close()

    def close(self) -> bool:
        """Lets another process have the folder, which stays if a part is translated.

        Returns:
          Whether it stays.
        """
        if not self._parts:
            with contextlib.suppress(OSError):
                (self.path / SETTINGS).unlink()
        self._unlock()
        return bool(self._parts)

    def _unlock(self) -> None:
        """Lets another process have the folder, and removes it if it is empty."""
        with contextlib.suppress(OSError):
            self.path.rmdir()
        os.close(self._folder)
