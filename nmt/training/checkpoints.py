"""Checkpoints: from which a training run resumes, whatever ended the program.

    checkpoints/        at the ends of the newest epochs
    checkpoints/timed/  within an epoch: every few minutes, and when training is interrupted
    checkpoints/best/   at the end of the epoch of the best validation
    checkpoints/final/  the final weights of the run

TensorFlow writes a checkpoint to new files, the one that makes it valid (.index) last, and older
checkpoints are removed after that: a crash while saving leaves the earlier ones. Files left
half-written or half-removed are removed when the next checkpoint is saved.
"""

import re
import signal
import time
from pathlib import Path

import tensorflow as tf

from nmt import Interrupted, UserError
from nmt.messages import log, reason
from nmt.training import cluster

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# What TensorFlow raises for files that are damaged, missing, or of other variables.
UNREADABLE = (tf.errors.OpError, AssertionError, ValueError, LookupError, RuntimeError, OSError)


def number(path):
    """Returns the number of a checkpoint, its epoch or, within an epoch, its step."""
    return int(Path(path).name.removeprefix("ckpt-"))


def paths(folder):
    """Returns the checkpoints in a folder, the oldest first, as the paths TensorFlow takes."""
    found = (path for path in folder.glob("ckpt-*.index") if re.fullmatch(r"ckpt-\d+", path.stem))
    return sorted((str(path.with_suffix("")) for path in found), key=number)


def restore(checkpoint, path):
    """Restores all of `checkpoint`, a tf.train.Checkpoint; a UserError if that is not possible."""
    try:
        status = checkpoint.read(path).expect_partial()  # no warnings about the rest
        status.assert_existing_objects_matched()
    except UNREADABLE as error:
        raise UserError(
            f"{path}: damaged, or of another model ({reason(error)}); restore or remove it"
        ) from None


def prune(folder, kept):
    """Removes all checkpoints but `kept` from a folder, and files left by an interrupted save."""
    names = [Path(path).name for path in kept]
    files = sorted(folder.glob("ckpt-*"), key=lambda path: path.suffix != ".index")  # first
    for file in files:
        its = re.fullmatch(r"(ckpt-\d+)\.(?:index|data-\d+-of-\d+)(\.tempstate\d+)?", file.name)
        if its and (its[1] not in names or its[2]):
            file.unlink()


class Keeper:
    """Saves and restores a training run.

    Args:
      checkpoint: a tf.train.Checkpoint of its whole state.
      run: the run_folder.Run to save it in.
      kept: checkpoints of epochs to keep.
      minutes: between two checkpoints within an epoch.
      workers: the cluster.Cluster that trains.
    """

    def __init__(self, checkpoint, run, kept, minutes, workers=cluster.ALONE):
        self.checkpoint, self.minutes, self.workers = checkpoint, minutes, workers
        self.run, self.saved = run, time.monotonic()
        self.signal = self.ending = None  # the one received; the one that all workers end with
        self.kept = {run.checkpoints: kept, run.timed: 1, run.best: 1, run.final: 1}

    def save(self, folder, number):
        """Saves into one of the run's folders; a UserError if it cannot be written to.

        Older checkpoints there are then removed: those found in the folder, because the list that
        TensorFlow's own manager keeps may name other files.
        """
        own = self.run.own / folder.relative_to(self.run.path)
        path = str(own / f"ckpt-{number}")
        try:
            own.mkdir(parents=True, exist_ok=True)
            self.checkpoint.write(path)
            others = [other for other in paths(own) if other != path]
            prune(own, [*others, path][-self.kept[folder] :])
        except (tf.errors.OpError, OSError) as error:
            raise UserError(
                f"{folder}: the checkpoint could not be saved ({reason(error)}); free some space, "
                "then the same command resumes from the newest checkpoint"
            ) from None
        self.saved = time.monotonic()

    def restore_newest(self):
        """Restores the newest readable checkpoint. Returns its path, or None if there is none.

        Raises:
          UserError: there are checkpoints, but none can be read.
        """
        found = paths(self.run.checkpoints) + paths(self.run.timed)
        readable = []
        for path in found:
            try:
                reader = tf.train.load_checkpoint(path)
                names = ("epoch", "position")
                key = [reader.get_tensor(f"{name}/.ATTRIBUTES/VARIABLE_VALUE") for name in names]
            except UNREADABLE as error:
                log.warning(f"{path} cannot be read ({reason(error)}): trying the one before it.")
            else:
                readable.append((*map(int, key), path))
        for _, _, path in sorted(readable, reverse=True):
            try:
                restore(self.checkpoint, path)
            except UserError as error:
                log.warning(f"{error}: trying the one before it.")
            else:
                return path
        if found:
            raise UserError(
                f"{self.run.checkpoints}: no checkpoint there can be read; name another --run, or "
                "remove the folder to start again"
            )
        return None

    # ---- Interruptions ----

    def __enter__(self):
        """From here on the first signal to end waits for `leave`; a second one does not wait."""
        self.before = {number: signal.signal(number, self.note) for number in SIGNALS}
        return self

    def __exit__(self, *_):
        self.run.remove_cache()  # however training has ended
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def note(self, number, frame=None):
        """Handles a signal."""
        self.signal = number
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else self.before[number])

    def is_due(self):
        """Returns whether to save now; the same on all workers, which `leave` together.

        A signal received after this call waits for the next one: other workers do not know of it.
        """
        asked = self.signal
        if self.workers.total(float(bool(asked))):
            self.ending = asked or signal.SIGTERM
        due = self.ending or time.monotonic() - self.saved > 60 * self.minutes
        return bool(self.workers.broadcast(float(bool(due))))

    def leave(self):
        """Ends the training run, which is saved, if a signal asked for it."""
        if self.ending:
            raise Interrupted(self.ending)
