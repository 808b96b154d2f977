"""Checksums of a folder that a program has made of others' files, and can make again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from nmt.reading import read_file

NAME = "checksums.json"


def write(folder: Path, maker: str) -> None:
    """Writes the SHA-256 of each file of a folder, and what has made them, a version included."""
    files = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
    (folder / NAME).write_text(json.dumps({"maker": maker, "files": files}, indent=1) + "\n")


def are_right(folder: Path, maker: str) -> bool:
    """Returns whether a folder holds what this maker has written into it, to the byte."""
    try:
        sums = json.loads(read_file(folder / NAME))
        return bool(
            sums["maker"] == maker
            and sums["files"]
            and all(
                (folder / name).is_file() and _sha256(folder / name) == known
                for name, known in sums["files"].items()
            )
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
