"""The keys that clients send: one of the operator's settings, or several of a file, with names.

A file has a line for each key, its name and then the key: "mobile 3fGk...". It is read again when
the operator asks for a reload: a key comes and goes without a restart.
"""

import hashlib
import hmac
import re
import stat
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.messages import log

DEFAULT_NAME = "default"  # of the key that no file names
MAX_FILE_BYTES = 10**6
MAX_KEYS = 1000  # each request is compared with all of them
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
PRINTABLE = re.compile(r"[!-~]+")  # what every client can send in a header


class NamedKey(NamedTuple):
    """A key as it is kept: who knows it, and its SHA-256."""

    name: str
    digest: bytes


def digest_of(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


class Keys:
    """The keys of a server, maybe none; a UserError if a file holds anything but keys."""

    def __init__(self, key: str | None = None, path: Path | None = None):
        self._single = [] if key is None else [NamedKey(DEFAULT_NAME, digest_of(key))]
        self._path = path
        self._from_file = [] if path is None else self._read(path)

    def __bool__(self) -> bool:
        """Whether clients must send a key."""
        return bool(self._single or self._path)

    def name_of(self, key: str) -> str | None:
        """Returns the name of a key; None if it is none. How long that takes says nothing of it."""
        digest, name = digest_of(key), None
        for known in [*self._single, *self._from_file]:
            if hmac.compare_digest(known.digest, digest):
                name = known.name
        return name

    def reload(self) -> None:
        """Reads the file again; if that fails, the keys stay as they are, and a line says why."""
        if self._path is None:
            return
        try:
            self._from_file = self._read(self._path)
            log.info(f"{self._path}: {len(self._from_file)} API keys are read again.")
        except UserError as error:
            log.error(f"{error}; the API keys of before stay valid")

    def _read(self, path: Path) -> list[NamedKey]:
        """Returns the keys of a file; a UserError if it holds anything else."""
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
                raise UserError(f"{path}: is no file of keys, or has more than 1 MB")
            lines = path.read_text(encoding="utf-8").splitlines()
            is_public = status.st_mode & stat.S_IROTH
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}; --api-keys needs a file of keys") from None
        except UnicodeDecodeError:
            raise UserError(f"{path}: is not UTF-8; write a name and a key per line") from None
        keys: list[NamedKey] = []
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                keys.append(_parsed(f"{path}, line {number}", line, [*self._single, *keys]))
        if not keys or len(self._single) + len(keys) > MAX_KEYS:
            message = f"{len(keys)} keys; write 1 to {MAX_KEYS}, a name and a key each"
            raise UserError(f"{path}: {message}")
        if is_public:
            log.warning(f"{path}: all users of this machine can read the keys: chmod o-r {path}")
        return keys


def _parsed(place: str, line: str, known: list[NamedKey]) -> NamedKey:
    """Returns the key of a line, which no message shows; a UserError if there is none, or twice."""
    words = line.split()
    if len(words) != 2 or not NAME.fullmatch(words[0]) or not PRINTABLE.fullmatch(words[1]):
        raise UserError(
            f"{place}: is not a name (letters, digits, . _ -), a space and a key of printable ASCII"
        )
    key = NamedKey(words[0], digest_of(words[1]))
    if any(other.name == key.name for other in known):
        raise UserError(f"{place}: there is another key with the name {key.name}; rename one")
    if any(other.digest == key.digest for other in known):
        raise UserError(f"{place}: the key of {key.name} has another name, too; choose another key")
    return key
