"""Errors of TensorFlow that the user can fix, as one line: the only place that reads its messages.

TensorFlow has one class for a full memory and a full disk, and another for whatever it could not
read, so that only the message says which it was. Import this when TensorFlow is imported already.
"""

import re

import tensorflow as tf

from nmt import FileChangedError, UserError, WorkersLost
from nmt.messages import reason
from nmt.training import cluster

FULL_DISK = "No space left|[Qq]uota"
GONE_FILE = "No such file"  # of a TFDS data set, or of the tokenized text


def as_ours(error: Exception, training: bool, resume: str) -> UserError | WorkersLost | None:
    """Returns the error of this project that says what an error of TensorFlow means to the user.

    Args:
      resume: how to resume that, in words.

    Returns:
      None for an error that nobody expects, whose traceback is needed.
    """
    if isinstance(error, tf.errors.ResourceExhaustedError):
        if re.search(FULL_DISK, str(error)):
            return UserError(f"{reason(error)}; free some space")
        sizes = "--batch-size, --max-length or the model's sizes" if training else "--beam"
        return UserError(f"out of memory; lower {sizes}")
    if isinstance(error, tf.errors.OpError) and re.search(GONE_FILE, reason(error)):
        changed = FileChangedError(reason(error))
        return UserError(f"{changed}; {resume}") if training else changed
    if isinstance(error, cluster.LOST) and not cluster.configured().alone:
        return WorkersLost(
            f"a worker of {cluster.VARIABLE} was lost ({reason(error)}); start all of them again "
            "with the same command, which resumes from the newest checkpoint"
        )
    return None
