"""What waits on the disk to be sent: translated files, for some minutes, and explorers.

The files have no names on the disk: they are gone when the process ends, however it ends.
"""

import asyncio
import os
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from starlette.responses import Response, StreamingResponse

from nmt.serving.errors import RefusedError

MAX_FILES = 1000
MAX_BYTES = 500_000_000  # of all files
FILE_SECONDS = 600.0  # for which they may be fetched
PART_BYTES = 65_536  # in memory for each client that fetches a file


class StoredBytes:
    """Bytes on the disk; a RefusedError if there is no room for them."""

    def __init__(self, content: bytes):
        self.size = len(content)
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed with this object
            self._file.write(content)
            self._file.flush()
        except OSError as error:
            raise RefusedError(
                503, f"the server cannot write temporary files: {error.strerror}", retry_after=60
            ) from None

    async def parts(self) -> AsyncIterator[bytes]:
        """Yields the bytes in parts."""
        for offset in range(0, self.size, PART_BYTES):
            yield os.pread(self._file.fileno(), PART_BYTES, offset)
            await asyncio.sleep(0)  # others have their turn, and a lost connection is noticed

    def response(self, media_type: str, headers: dict[str, str]) -> Response:
        """Returns an answer that reads them from the disk as its client takes them."""
        headers = headers | {"Content-Length": str(self.size)}
        return StreamingResponse(self.parts(), media_type=media_type, headers=headers)


class TranslatedFile(NamedTuple):
    """A file that waits to be fetched."""

    name: str
    content: StoredBytes
    made_at: float  # seconds


class TranslatedFiles:
    """The files of a server that wait to be fetched, none of which leaves before its time."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        max_files: int = MAX_FILES,
        max_bytes: int = MAX_BYTES,
    ):
        self._clock, self._max_files, self._max_bytes = clock, max_files, max_bytes
        self._files: dict[str, TranslatedFile] = {}  # the oldest first

    def add(self, name: str, content: bytes) -> str:
        """Returns the key of a file, which nobody can guess; a RefusedError without room for it."""
        self.check_room(len(content))
        key = secrets.token_urlsafe(16)
        self._files[key] = TranslatedFile(name, StoredBytes(content), self._clock())
        return key

    def check_room(self, size: int = 0) -> None:
        """Raises a RefusedError if there is no room for another file of `size` bytes."""
        self._forget_old()
        files = [*self._files.values()]
        used = sum(file.content.size for file in files)
        if len(files) >= self._max_files or used + size > self._max_bytes:
            seconds = int(files[0].made_at + FILE_SECONDS - self._clock()) + 1 if files else 0
            raise RefusedError(
                429,
                f"too many translated files wait to be fetched; try again in {seconds} s",
                retry_after=max(1, seconds),
            )

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
