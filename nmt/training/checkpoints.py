"""Checkpoints: what a training goes on from, whatever ended the program before it.

    checkpoints/        at the ends of the newest epochs
    checkpoints/timed/  within an epoch: every so many minutes, and where a training is interrupted
    checkpoints/best/   at the end of the epoch of the best validation
    checkpoints/final/  the weights that a training ended with

TensorFlow writes a checkpoint to new files, the one that makes it count (.index) last, and older
ones are removed after that: an end in the midst of it leaves those before. What was left
half-written or half-removed goes when the next one is saved.
"""

import re
import signal
import time
from pathlib import Path

import tensorflow as tf

from beyond import Interrupted, UserError, cluster, reason

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# What TensorFlow raises of files that are damaged, missing, or of other variables.
UNREADABLE = (tf.errors.OpError, AssertionError, ValueError, LookupError, RuntimeError, OSError)


def paths(folder):
    """Returns the checkpoints in a folder, the oldest first, as the paths TensorFlow takes."""
    found = [path.with_suffix("") for path in folder.glob("ckpt-*.index")]
    return [str(path) for path in sorted(found, key=lambda path: int(re.sub(r"\D", "", path.name)))]


def restore(checkpoint, path):
    """Restores all that `checkpoint` (a tf.train.Checkpoint) holds; a UserError if it cannot."""
    try:
        status = checkpoint.read(path).expect_partial()  # or TensorFlow warns of what is not asked
        status.assert_existing_objects_matched()
    except UNREADABLE as error:
        raise UserError(f"{path}: damaged, or of another model ({reason(error)})") from None


def prune(folder, kept):
    """Removes all checkpoints but `kept` from a folder, and what a kill left of writing others."""
    names = [Path(path).name for path in kept]
    files = sorted(folder.glob("ckpt-*"), key=lambda path: path.suffix != ".index")  # these count
    for file in files:
        its = re.fullmatch(r"(ckpt-\d+)\.(?:index|data-\d+-of-\d+)(\.tempstate\d+)?", file.name)
        if its and (its[1] not in names or its[2]):
            file.unlink()


class Keeper:
    """Saves a training, of which `checkpoint` holds the whole state, and finds it again.

    Args:
      run: the runs.Run whose folders it keeps.
      kept: ends of epochs that are kept.
      minutes: between two checkpoints within an epoch.
      workers: the cluster.Cluster that trains.
    """

    def __init__(self, checkpoint, run, kept, minutes, workers=cluster.ALONE):
        self.checkpoint, self.minutes, self.workers = checkpoint, minutes, workers
        self.run, self.saved = run, time.monotonic()
        self.signal = self.ending = None  # the one that came; the one that all workers end by
        self.kept = {run.checkpoints: kept, run.timed: 1, run.best: 1, run.final: 1}

    def save(self, folder, number):
        """Saves the training into one of the run's folders; a UserError if there is no room.

        Older ones there are removed then, by what lies in the folder: TensorFlow's own manager
        would go by a list in it, which may name other files.
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
                f"{folder}: the training could not be saved ({reason(error)}); make room, then the "
                "same command goes on from what was saved"
            ) from None
        self.saved = time.monotonic()

    def restore_newest(self, say):
        """Restores the newest checkpoint that can be read. Returns its path, None for none at all.

        Raises:
          UserError: there are some, and none can be read.
        """
        found = paths(self.run.checkpoints) + paths(self.run.timed)
        readable = []
        for path in found:
            try:
                reader = tf.train.load_checkpoint(path)
                names = ("epoch", "position")
                key = [reader.get_tensor(f"{name}/.ATTRIBUTES/VARIABLE_VALUE") for name in names]
            except UNREADABLE as error:
                say(f"{path} cannot be read ({reason(error)}): going back to one before it.")
            else:
                readable.append((*map(int, key), path))
        for _, _, path in sorted(readable, reverse=True):
            try:
                restore(self.checkpoint, path)
            except UserError as error:
                say(f"{error}: going back to one before it.")
            else:
                return path
        if found:
            raise UserError(
                f"{self.run.checkpoints}: no checkpoint there can be read; name another --run, or "
                "remove the folder to train anew"
            )
        return None

    # ---- Interruptions ----

    def __enter__(self):
        """From here on a signal to end waits for `leave`; a second one does not."""
        self.before = {number: signal.signal(number, self.note) for number in SIGNALS}
        return self

    def __exit__(self, *_):
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def note(self, number, frame=None):
        """Takes a signal."""
        self.signal = number
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else self.before[number])

    def is_due(self):
        """Returns whether to save now. All workers do at the same step, and `leave` if one is to.

        A signal that comes after this waits for the next time: the others do not know of it yet.
        """
        asked = self.signal
        if self.workers.total(float(bool(asked))):
            self.ending = asked or signal.SIGTERM
        due = self.ending or time.monotonic() - self.saved > 60 * self.minutes
        return bool(self.workers.chiefs(float(bool(due))))

    def leave(self):
        """Ends the training where it is to end, once it is saved."""
        if self.ending:
            raise Interrupted(self.ending)
