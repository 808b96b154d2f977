"""Files that are written completely or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path

from nmt import UserError


def refuse_existing(path):
    """Raises a UserError if `path` exists: nothing is overwritten."""
    if path and os.path.lexists(path):
        raise UserError(f"{path}: exists already; remove it, or name another path with --to")


@contextlib.contextmanager
def new(path):
    """Yields a path to write to, which is renamed to `path` if the block ends without an error.

    Args:
      path: what --to names, a file or a folder; missing folders above it are made.

    Raises:
      UserError: it exists already, or cannot be written.
    """
    refuse_existing(path)
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="unfinished-", dir=path.parent) as folder:
            yield Path(folder) / path.name
            (Path(folder) / path.name).rename(path)
    except OSError as error:
        why = error.strerror or error
        raise UserError(f"{path}: {why}; name a writable path with --to") from None


def write(path, content):
    """Writes bytes to a file, which is replaced; a UserError if it cannot be written."""
    unfinished = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise UserError(f"{path}: {error.strerror}; name a writable path") from None
