"""Reading a file whole, at once, whatever stands there."""

import errno
import stat
from pathlib import Path

MAX_BYTES = 256_000_000  # of a file but weights, all of which is in memory


def read_file(path: Path) -> bytes:
    """Returns the content of a file.

    An OSError if it cannot be read, is no file (a named pipe would wait), or is too large.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is no file", str(path))
    if status.st_size > MAX_BYTES:
        raise OSError(errno.EFBIG, f"has more than {MAX_BYTES:,} bytes", str(path))
    return path.read_bytes()
