"""Changes of a run that was resumed with other values, as --change allows."""

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from nmt.training.checkpoint_files import number, paths
from nmt.training.run_folder import RunFolder

# What the batches of a pass are made by.
OF_BATCHES = {
    "batch_size", "batch_tokens", "accumulate", "buffer_size", "max_length", "train_sha256",
}  # fmt: skip
# Whatever else does not belong to the weights, or to the order of epochs.
ON_REQUEST = {
    *OF_BATCHES, "epochs", "max_steps", "schedule", "warmup_steps", "learning_rate_scale",
    "clip_norm", "label_smoothing", "dropout_rate",
}  # fmt: skip


class Change(NamedTuple):
    """The values that a run was resumed with, where they differ."""

    epoch: int  # finished epochs before
    checkpoints: list[str]  # the newest ones before, one of which was resumed from
    date: str
    values: dict[str, list[Any]]  # by name: before, after

    @classmethod
    def now(cls, run: RunFolder, values: dict[str, list[Any]]) -> "Change":
        """Returns the Change of a run that is about to be resumed."""
        epochs, timed = paths(run.checkpoints)[-1:], paths(run.timed)[-1:]
        names = [path.removeprefix(f"{run.path}/") for path in (*epochs, *timed)]
        finished = number(epochs[0]) if epochs else 0
        return cls(finished, names, time.strftime("%Y-%m-%dT%H:%M:%S%z"), values)


def begin_again(changes: Iterable[Change], path: str) -> bool:
    """Returns whether the batches of the epoch within which a checkpoint was saved are others now.

    Args:
      changes: of the run.
      path: of the checkpoint from which it is resumed.
    """
    return any(
        path.endswith(f"/{name}") and change.values.keys() & OF_BATCHES
        for change in changes
        for name in change.checkpoints
    )


def values_of(changes: Iterable[Change], epoch: int) -> dict[str, Any]:
    """Returns the values, by name, that the epoch of this number began to use."""
    values: dict[str, Any] = {}
    for change in changes:
        if change.epoch == epoch - 1:
            values |= {name: after for name, (_, after) in change.values.items()}
    return values
