"""Better translations that clients suggest, in a translation memory (TMX) that grows.

Nothing that is stored changes later. The file is a whole memory after each unit, which takes the
place of the closing tags and brings them along. What a killed server left is mended at the start.
"""

import contextlib
import datetime
import fcntl
import os
import stat
import threading
from pathlib import Path
from typing import NamedTuple

from nmt import UserError, output
from nmt.messages import log
from nmt.serving.errors import RefusedError
from nmt.text import tmx_text as tmx
from nmt.text.languages import Pair

MAX_BYTES = 100_000_000  # of the file
HEAD_BYTES = 1000  # in which the head of a file ends
ORIGIN = "serve"  # o-tmf, by which a file of suggestions is recognized
UNIT_END = b"</tu>"
INSTEAD = "another file with --suggestions"


class Suggestion(NamedTuple):
    """A translation that a client suggests."""

    languages: Pair  # codes
    source: str
    corrected: str
    run: str  # its name, and what its weights are called
    weights: str
    previous: str = ""  # the translation that is corrected; "" if the client does not send it
    key: str | None = None  # the name of the client's key; None without one


class SuggestionFile:
    """A file of suggestions, made if it is missing, which no other server writes to meanwhile.

    A UserError if it holds something else, another server writes to it, or it cannot be written.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES):
        self._path, self._max_bytes = path, max_bytes
        self._lock = threading.Lock()
        self._descriptor = _opened(path)

    def add(self, suggestion: Suggestion) -> None:
        """Stores a suggestion, which is on the disk then.

        A RefusedError if a text has a character that XML lacks, or there is no room.
        """
        try:
            unit = _unit(suggestion).encode()
        except ValueError as error:
            raise RefusedError(400, f"{error}; leave it out") from None
        with self._lock:
            try:
                self._reopen_if_changed()
                self._append(unit)
            except (UserError, OSError) as error:
                log.error(f"{self._path}: a suggestion was not stored: {error}")
                raise RefusedError(507, "the server cannot store it; its log says why") from None

    def close(self) -> None:
        """Lets another server write to the file."""
        os.close(self._descriptor)

    def _reopen_if_changed(self) -> None:
        """Opens the file anew if it was moved away, removed or edited."""
        try:
            is_same = os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except FileNotFoundError:
            is_same = False
        if is_same and _ends_well(self._descriptor):
            return
        if is_same:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        descriptor = _opened(self._path)
        os.close(self._descriptor)
        self._descriptor = descriptor

    def _append(self, unit: bytes) -> None:
        """Writes a unit over the closing tags, and these after it."""
        size = os.fstat(self._descriptor).st_size
        if size + len(unit) > self._max_bytes:
            raise RefusedError(
                507, f"the server's file of suggestions is full ({self._max_bytes:,} bytes)"
            )
        begin = size - len(tmx.END)
        try:
            _write(self._descriptor, unit + tmx.END.encode(), begin)
        except OSError:  # the old end lies on blocks that the file has
            _write(self._descriptor, tmx.END.encode(), begin)
            os.ftruncate(self._descriptor, size)
            raise


def _unit(suggestion: Suggestion) -> str:
    """Returns a suggestion as a unit; a ValueError if a text has a character that XML lacks."""
    now = datetime.datetime.now(datetime.UTC)
    attributes = {"creationdate": f"{now:%Y%m%dT%H%M%SZ}", "srclang": suggestion.languages.source}
    if suggestion.key is not None:
        attributes["creationid"] = suggestion.key
    properties = {"run": suggestion.run, "weights": suggestion.weights}
    if suggestion.previous:
        properties["previous"] = suggestion.previous
    texts = suggestion.source, suggestion.corrected
    return tmx.unit(suggestion.languages, texts, attributes, properties)


def _opened(path: Path) -> int:
    """Returns the descriptor of a locked file of suggestions; a UserError if it is none."""
    with contextlib.ExitStack() as after_error:
        try:
            output.make_folder(path.absolute().parent)
            # Clients' texts are for nobody else. A pipe is opened, too, and refused then.
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
            descriptor = os.open(path, flags, 0o600)
            after_error.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _prepare(path, descriptor)
        except BlockingIOError:
            message = f"{path}: another server stores suggestions here; name {INSTEAD}"
            raise UserError(message) from None
        except OSError as error:
            raise output.unwritten(path, error, INSTEAD) from None
        after_error.pop_all()  # it stays open
    return descriptor


def _prepare(path: Path, descriptor: int) -> None:
    """Lets a locked file begin and end as a memory; a UserError if it holds another text."""
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and not status.st_size:
        _write(descriptor, (tmx.head(tmx.ANY_SOURCE, ORIGIN) + tmx.END).encode(), 0)
        output.flush(path.absolute().parent)
        return
    is_ours = False
    if stat.S_ISREG(status.st_mode):
        beginning, tags, _ = os.pread(descriptor, HEAD_BYTES, 0).partition(b"<body>\n")
        is_ours = bool(tags) and f'o-tmf="{ORIGIN}"'.encode() in beginning
    if not is_ours:
        raise UserError(f"{path}: holds something else than a server's suggestions; name {INSTEAD}")
    if not _ends_well(descriptor):
        content = os.pread(descriptor, status.st_size, 0)
        end = max(content.rfind(UNIT_END) + len(UNIT_END), len(beginning) + len(tags))
        log.warning(f"{path}: {len(content) - end} bytes after the last whole unit are removed.")
        _write(descriptor, tmx.END.encode(), end)
        os.ftruncate(descriptor, end + len(tmx.END))
        os.fsync(descriptor)


def _ends_well(descriptor: int) -> bool:
    """Returns whether a file ends with the closing tags."""
    end = tmx.END.encode()
    begin = os.fstat(descriptor).st_size - len(end)
    return begin > 0 and os.pread(descriptor, len(end), begin) == end


def _write(descriptor: int, content: bytes, begin: int) -> None:
    """Writes bytes to a place of a file, and waits until the disk holds them."""
    while content:
        written = os.pwrite(descriptor, content, begin)
        content, begin = content[written:], begin + written
    os.fsync(descriptor)
