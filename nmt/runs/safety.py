"""What a run folder may be: no file of others is overwritten, and none keeps a reader waiting."""

import contextlib
import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from nmt import UserError

if TYPE_CHECKING:  # it imports this module
    from nmt.runs.folder import Run

# The contents of a run folder.
RUN_FILES = (
    "params.json", "tokenizer.model", "history.json", "progress.json", "scores.json",
    "translations.txt", "held-out-validation.tsv", "held-out-test.tsv", "lock", "cache",
    "checkpoints", "explorer.html", "export", "logs", "plots",
)  # fmt: skip
LOCK = b"A run folder of run_demo.py\n"  # the content of its lock


MAX_BYTES = 256_000_000  # of a file but weights, all of which is in memory


def read_file(path: Path) -> bytes:
    """Returns the content of a file of a run; at once, whatever stands there.

    Raises:
      OSError: it cannot be read, is no file (a named pipe would wait), or is too large.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError("is no file")
    if status.st_size > MAX_BYTES:
        raise OSError(f"has more than {MAX_BYTES:,} bytes")
    return path.read_bytes()


def check_links(run: "Run") -> None:
    """Raises a UserError if a link in the folder of a folder.Run leads out of it.

    Writing or removing files of the run would write or remove files elsewhere.
    """
    home = run.path.resolve()
    run_files = [
        run.path / name for file_name in RUN_FILES for name in (file_name, f"{file_name}.tmp")
    ]
    folders = [run.checkpoints, run.timed, run.best, run.final]
    folders += [run.path / name for name in ("cache", "export", "logs", "plots")]
    for folder in folders:
        run_files += folder.iterdir() if folder.is_dir() else ()
    for path in run_files:
        try:
            inside = not path.is_symlink() or path.resolve().is_relative_to(home)
        except RuntimeError:  # it leads to itself
            inside = False
        if not inside:
            raise UserError(f"{path}: leads out of the run folder; replace the link with a copy")


def check_is_run_folder(path: Path) -> None:
    """Raises a UserError if a folder holds files, but is not a run folder.

    The program would overwrite files of the same names, and remove some.
    """
    with contextlib.suppress(OSError):
        if read_file(path / "lock") == LOCK:
            return
    try:  # an older run, whose lock is empty
        saved = json.loads(read_file(path / "params.json"))
    except (OSError, ValueError, RecursionError):
        saved = None
    if (path / "tokenizer.model").exists() and any((path / "checkpoints").rglob("ckpt-*.index")):
        return  # params.json may be lost
    needed = {"corpus", "num_layers", "tokenizer_sha256"}
    other_files = [
        entry for entry in path.iterdir() if entry.name != "lock" or entry.lstat().st_size
    ]
    if other_files and not (isinstance(saved, dict) and needed <= {*saved}):
        raise UserError(
            f"{path}: is not empty, and not a run folder; name a new or empty folder with --run"
        )
