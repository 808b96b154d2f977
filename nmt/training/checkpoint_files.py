"""The files of checkpoints, by name. Without TensorFlow; checkpoints.py writes and reads them."""

import re
from pathlib import Path


def number(path: str | Path) -> int:
    """Returns the number of a checkpoint, its epoch or, within an epoch, its step."""
    return int(Path(path).name.removeprefix("ckpt-"))


def paths(folder: Path) -> list[str]:
    """Returns the checkpoints in a folder, the oldest first, as the paths TensorFlow takes."""
    index_files = (
        path for path in folder.glob("ckpt-*.index") if re.fullmatch(r"ckpt-\d+", path.stem)
    )
    return sorted((str(path.with_suffix("")) for path in index_files), key=number)
