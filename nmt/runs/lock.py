"""The lock of a run folder: one process trains there, and no file of others is overwritten."""

import contextlib
import fcntl
import json
from pathlib import Path
from typing import Self

from nmt import UserError, output
from nmt.reading import read_file
from nmt.runs.folder import RUN_FILES, Run, check_links
from nmt.training.checkpoint_files import paths
from nmt.training.run_folder import RunFolder

LOCK = b"A run folder of run_demo.py\n"  # the content of the file


class LockedRun(Run):
    """A run whose folder this process, which is to train, reserves: to be used with `with`.

    Until then another process may have trained there: the parameters are read again. A UserError if
    another process has reserved it, it cannot be written to, or it holds weights that training
    would replace and cannot resume.
    """

    def __init__(self, folder: RunFolder):
        super().__init__(folder.path, folder.worker_folder)
        with contextlib.ExitStack() as resources:
            try:
                self._reserve(resources)
            except BlockingIOError:
                raise UserError(
                    f"{self.path}: another process is training here; wait for it, or name another "
                    "--run"
                ) from None
            except OSError as error:
                raise UserError(
                    f"{self.path}: {error.strerror}; name a writable folder with --run"
                ) from None
            self.check_can_train()
            self.resources = resources.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.resources.close()  # now, however long somebody keeps an exception that holds the run

    def _reserve(self, resources: contextlib.ExitStack) -> None:
        """Locks the folder; removes what a process left that was killed while writing."""
        output.make_folder(self.worker_folder)
        check_is_run_folder(self.worker_folder)
        check_links(self)
        lock = resources.enter_context((self.worker_folder / "lock").open("a+b", buffering=0))
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.seek(0)
        if lock.read() != LOCK:
            lock.truncate(0)
            lock.write(LOCK)
            output.flush_tree(self.worker_folder / "lock")
            output.flush(self.worker_folder)
        for name in RUN_FILES:
            (self.worker_folder / f"{name}.tmp").unlink(missing_ok=True)


def check_is_run_folder(path: Path) -> None:
    """Raises a UserError if a folder holds files, but is not a run folder.

    The program would overwrite files of the same names, and remove some.
    """
    with contextlib.suppress(OSError):
        if read_file(path / "lock") == LOCK:
            return
    try:  # a copy without the lock, or one that was being written when the machine stopped
        saved = json.loads(read_file(path / "params.json"))
    except (OSError, ValueError, RecursionError):
        saved = None
    folder = RunFolder(path)
    if folder.tokenizer.exists() and any(map(paths, (*folder.weight_folders, folder.timed))):
        return  # params.json may be lost
    needed = {"corpus", "num_layers", "tokenizer_sha256"}
    other_files = [
        entry for entry in path.iterdir() if entry.name != "lock" or entry.lstat().st_size
    ]
    if other_files and not (isinstance(saved, dict) and needed <= {*saved}):
        raise UserError(
            f"{path}: is not empty, and not a run folder; name a new or empty folder with --run"
        )
