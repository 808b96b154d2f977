"""The files of checkpoints, by name. Without TensorFlow; checkpoints.py writes and reads them."""

import re
from pathlib import Path

UNFINISHED = "unfinished"  # the folder in which a checkpoint is written


def number(path: str | Path) -> int:
    """Returns the number of a checkpoint, its epoch or, within an epoch, its step."""
    return int(Path(path).name.removeprefix("ckpt-"))


def paths(folder: Path) -> list[str]:
    """Returns the checkpoints in a folder, the oldest first, as the paths TensorFlow takes."""
    index_files = (
        path for path in folder.glob("ckpt-*.index") if re.fullmatch(r"ckpt-\d+", path.stem)
    )
    return sorted((str(path.with_suffix("")) for path in index_files), key=number)


def lost_index(folder: Path) -> Path | None:
    """Returns the index that the only weights in a folder lack; None if they have it.

    What a process that was killed was saving has its index in UNFINISHED. Beside a checkpoint that
    is complete, others without an index are ignored: half removed, or half copied.
    """
    names = {path.name.partition(".")[0] for path in folder.glob("ckpt-*.data-*")}
    indexes = [folder / f"{name}.index" for name in names if re.fullmatch(r"ckpt-\d+", name)]
    if any((folder / UNFINISHED / index.name).exists() for index in indexes):
        return None  # asked before `paths`: it is moved out of there
    return None if paths(folder) else max(indexes, default=None)
