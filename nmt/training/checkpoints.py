"""Checkpoints: from which a training run resumes, whatever ended the program.

    checkpoints/        at the ends of the newest epochs
    checkpoints/timed/  within an epoch: every few minutes, and when training is interrupted
    checkpoints/best/   at the end of the epoch of the best validation
    checkpoints/final/  the final weights of the run

TensorFlow writes a checkpoint into the folder UNFINISHED. Its files are flushed to the disk, then
moved to their place, the one that makes it valid (.index) last, and older checkpoints are removed
after that: neither a crash while saving nor a loss of power takes those of other numbers. What a
crash leaves behind is removed at the next start.
"""

import contextlib
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from nmt import UserError, output
from nmt.machine import END_SIGNALS
from nmt.messages import log, reason
from nmt.training import cluster
from nmt.training.checkpoint_files import UNFINISHED, number, paths
from nmt.training.named_state import SUFFIX
from nmt.training.run_folder import RunFolder
from nmt.training.signals import Signals

# What TensorFlow raises for files that are damaged, missing, or of other variables.
UNREADABLE = (tf.errors.OpError, AssertionError, ValueError, LookupError, RuntimeError, OSError)

GLOB = re.compile(r"[\\\[*?]")  # TensorFlow takes these in a path for a pattern when it reads
UNRESTORED = (  # begins what TensorFlow logs of values that it has not restored
    "Detecting that an object or model or tf.train.Checkpoint is being deleted with unrestored",
    "Value in checkpoint could not be found in the restored object",
    "An attribute in the restored object could not be found in the checkpoint",
)


@contextlib.contextmanager
def readable_path(path: str | Path) -> Iterator[str | Path]:
    """Yields a path of a checkpoint that TensorFlow can read: by a link, if GLOB is in its own."""
    folder, name = os.path.split(os.path.abspath(path))
    if not GLOB.search(folder):
        yield path
        return
    with tempfile.TemporaryDirectory() as temporary:
        if GLOB.search(temporary):
            raise UserError(
                f"{path}: TensorFlow takes the path for a pattern, and that of the folder for "
                "temporary files, too; set TMPDIR to a folder without any of [ * ? \\"
            )
        os.symlink(folder, os.path.join(temporary, "link"))
        yield os.path.join(temporary, "link", name)


class State(Protocol):
    """What is saved and restored: a NamedState, or a tf.train.Checkpoint."""

    def write(self, path: str) -> str: ...

    def read(self, path: str) -> Any: ...


class Position(NamedTuple):
    """How far a training run had come when a checkpoint was saved."""

    epoch: int  # finished epochs
    batch: int  # finished batches of the next one


def position(path: str) -> Position:
    """Returns the Position of a checkpoint."""
    return Position(_counter(path, "epoch"), _counter(path, "position"))


def planned_steps(path: str) -> int:
    """Returns the optimizer steps of the whole training run that a checkpoint is of."""
    try:
        return _counter(path, "steps")
    except UNREADABLE as error:
        raise UserError(f"{path}: damaged ({reason(error)}); restore or remove it") from None


def _counter(path: str, name: str) -> int:
    """Returns a counter of a NamedState, without the network."""
    with readable_path(path) as readable:
        reader = tf.train.load_checkpoint(readable)
        return int(reader.get_tensor(f"{name}{SUFFIX}"))


def restore(checkpoint: State, path: str) -> None:
    """Restores all of a State; a UserError if that is not possible."""
    try:
        if not all(map(Path.is_file, Path(path).parent.glob(f"{Path(path).name}.*"))):
            raise OSError("a part of it is no file")  # TensorFlow would wait for a named pipe
        with readable_path(path) as readable:
            status = checkpoint.read(str(readable)).expect_partial()  # no warnings about the rest
            status.assert_existing_objects_matched()
    except UNREADABLE as error:
        logging.getLogger("tensorflow").addFilter(_is_not_of_unrestored_values)
        raise UserError(
            f"{path}: damaged, or of another model than params.json describes ({reason(error)}); "
            "restore the file that is wrong"
        ) from None


def _is_not_of_unrestored_values(record: logging.LogRecord) -> bool:
    """Returns False for what TensorFlow logs after a failure: each value that was not restored.

    It does so when the checkpoint is deleted, often as the program ends, below our own message.
    """
    return not record.getMessage().startswith(UNRESTORED)


def try_restore(checkpoint: State, path: str) -> bool:
    """Restores all of `checkpoint`. Returns whether that was possible; if not, logs why."""
    try:
        restore(checkpoint, path)
    except UserError as error:
        log.warning(f"{error}. It is left out of the final weights.")
        return False
    return True


def write(checkpoint: State, path: Path) -> None:
    """Saves a State: its files are on the disk before any of them has its name."""
    unfinished = path.parent / UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    output.make_folder(unfinished)
    try:
        checkpoint.write(str(unfinished / path.name))
        output.flush_tree(unfinished)
        index = path.with_name(f"{path.name}.index")
        index.unlink(missing_ok=True)  # it would name the data of another save
        for data in unfinished.glob(f"{path.name}.data-*"):
            os.replace(data, path.parent / data.name)
        output.flush(path.parent)
        os.replace(unfinished / index.name, index)
        output.flush(path.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def prune(folder: Path, kept_paths: Iterable[str]) -> None:
    """Removes all checkpoints but `kept_paths`, and files left by an interrupted save."""
    names = [Path(path).name for path in kept_paths]
    files = sorted(folder.glob("ckpt-*"), key=lambda path: path.suffix != ".index")  # first
    for file in files:
        match = re.fullmatch(
            r"(ckpt-\d+)(?:\.(?:index|data-\d+-of-\d+)(\.tempstate\d+)?|(_temp))", file.name
        )
        if not match or (match[1] in names and not match[2] and not match[3]):
            continue
        if file.is_dir():
            shutil.rmtree(file, ignore_errors=True)
        else:
            file.unlink()


class Keeper:
    """Saves and restores a training run."""

    def __init__(
        self, checkpoint: State, run: RunFolder, kept_epochs: int, minutes: float,
        workers: cluster.Cluster = cluster.ALONE, handles_signals: bool = True,
    ):  # fmt: skip
        self.checkpoint, self.minutes, self.workers = checkpoint, minutes, workers
        self.run, self.saved = run, time.monotonic()
        self.signals = Signals(workers, END_SIGNALS if handles_signals else ())
        self._kept_numbers = {run.checkpoints: kept_epochs, run.timed: 1, run.best: 1, run.final: 1}

    def save(self, folder: Path, number: int) -> None:
        """Saves into one of the run's folders; a UserError if it cannot be written to.

        Older checkpoints there are then removed: those found in the folder, because the list that
        TensorFlow's own manager keeps may name other files.
        """
        target = self._folder_to_write(folder)
        path = str(target / f"ckpt-{number}")
        try:
            write(self.checkpoint, Path(path))
            older = [other for other in paths(target) if other != path]
            prune(target, [*older, path][-self._kept_numbers[folder] :])
        except (tf.errors.OpError, OSError) as error:
            raise UserError(
                f"{folder}: the checkpoint could not be saved ({reason(error)}); free some space, "
                "then the same command resumes from the newest checkpoint"
            ) from None
        self.saved = time.monotonic()

    def _folder_to_write(self, folder: Path) -> Path:
        """Returns where this worker writes what belongs into one of the run's folders."""
        return self.run.worker_folder / folder.relative_to(self.run.path)

    def restore_newest(self) -> str | None:
        """Restores the newest readable checkpoint. Returns its path, or None if there is none.

        A UserError if there are checkpoints, but none can be read.
        """
        with readable_path(self.run.checkpoints / "ckpt-0"):
            pass  # before anything is trained, if it raises an error
        epochs, timed = paths(self.run.checkpoints), paths(self.run.timed)
        candidates = [(Position(number(path), 0), path) for path in epochs]
        for path in timed:
            try:
                candidates.append((position(path), path))
            except UNREADABLE as error:
                log.warning(f"{path} cannot be read ({reason(error)}); it is left out.")
        for _, path in sorted(candidates, reverse=True):
            try:
                restore(self.checkpoint, path)
            except UserError as error:
                log.warning(f"{error}: trying the one before it.")
            else:
                return path
        if epochs or timed:
            raise UserError(
                f"{self.run.checkpoints}: no checkpoint there can be read; restore one, or "
                "params.json, or name another --run"
            )
        return None

    # ---- When to save, and when to end ----

    def __enter__(self) -> "Keeper":
        """From here on a signal waits until the run is saved; see signals.py.

        What a killed process left of checkpoints that it was saving is removed.
        """
        for folder in map(self._folder_to_write, self._kept_numbers):
            prune(folder, paths(folder))  # what has its index in UNFINISHED, first
            shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
        self.signals.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.run.remove_cache()  # however training has ended
        self.signals.__exit__(*error)

    def agree_on_signals(self) -> bool:
        """Agrees with all workers, which call this together, to end. Returns whether to save."""
        self.signals.agree()
        late = time.monotonic() - self.saved > 60 * self.minutes
        return bool(self.workers.broadcast(float(bool(self.signals.agreed or late))))

    def raise_if_interrupted(self) -> None:
        """Raises Interrupted if a signal, on which all workers agreed, asks training to end."""
        self.signals.raise_if_agreed()
