"""Files that are written completely or not at all, and that a loss of power does not take back."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nmt import UserError

# What a folder's flush ends in where the file system has none, or the folder cannot be read.
UNSUPPORTED_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)
UNFINISHED = "unfinished-"  # what the names of folders begin with in which `new` writes
FULL = (errno.ENOSPC, errno.EDQUOT)  # of a disk, or of the user's share of it

StrPath = str | os.PathLike[str]


def refuse_existing(path: StrPath | None, instead: str = "another path with --to") -> None:
    """Raises a UserError if `path` exists: nothing is overwritten; or if it cannot be written."""
    if not path:
        return
    if os.path.lexists(path):
        raise UserError(f"{path}: exists already; remove it, or name {instead}")
    check_writable(path)


def check_writable(path: StrPath) -> None:
    """Raises a UserError if the folder that a new file would be in, or is made in, is read-only."""
    folder = next(folder for folder in Path(path).absolute().parents if folder.exists())
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        raise unwritten(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def unwritten(path: StrPath, error: OSError, instead: str = "a writable path") -> UserError:
    """Returns the UserError of an OSError in writing to `path`."""
    fix = "free some space" if error.errno in FULL else f"name {instead}"
    return UserError(f"{path}: {error.strerror or error}; {fix}")


def flush(path: StrPath) -> None:
    """Waits until the disk holds a file, or the names in a folder, as they are now."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in UNSUPPORTED_FLUSH or not os.path.isdir(path):
            raise


def flush_tree(path: StrPath) -> None:
    """Flushes a file, or a folder with all that it holds."""
    for folder, _, names in os.walk(path):
        for name in names:
            flush(os.path.join(folder, name))
        flush(folder)
    if not os.path.isdir(path):
        flush(path)


def make_folder(path: Path) -> None:
    """Makes a folder and the missing ones above it, whose names are then on the disk."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in reversed(missing):
        flush(folder.parent)


def move(path: Path, target: Path) -> None:
    """Renames a file or folder, which is on the disk before its new name is; replaces a file."""
    flush_tree(path)
    os.replace(path, target)
    flush(target.parent)


@contextlib.contextmanager
def new(path: StrPath) -> Iterator[Path]:
    """Yields a path to write to, which is renamed to `path` if the block ends without an error.

    Missing folders above it are made. A UserError if it exists already, or cannot be written.
    """
    refuse_existing(path)
    path = Path(path)
    try:
        make_folder(path.parent)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=path.parent) as folder:
            yield Path(folder) / path.name
            move(Path(folder) / path.name, path)
    except OSError as error:
        raise unwritten(path, error, "a writable path with --to") from None


def write(path: Path, content: bytes, instead: str = "a writable path") -> None:
    """Writes bytes to a file, which is replaced; a UserError if it cannot be written."""
    unfinished = path.with_name(path.name + ".tmp")
    try:
        make_folder(path.parent)
        unfinished.unlink(missing_ok=True)
        unfinished.write_bytes(content)
        move(unfinished, path)
    except OSError as error:
        raise unwritten(path, error, instead) from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
