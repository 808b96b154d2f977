"""The final weights of a run: the mean of its last checkpoints, or its best epoch (paper 6.1)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from nmt import UserError
from nmt.messages import log
from nmt.training import checkpoints
from nmt.training.checkpoint_files import number as epoch_of
from nmt.training.checkpoint_files import paths
from nmt.training.epoch_metrics import metrics_text, value_to_minimize


class Candidate(NamedTuple):
    """Weights that may become the final ones."""

    title: str  # what they are, for the user
    weights: list[np.ndarray]
    metrics: dict[str, float]  # of the validation split, by name
    path: str  # the checkpoint of the newest epoch in them


def assign(variables: Sequence[keras.Variable], weights: Sequence[np.ndarray]) -> None:
    """Sets `variables` to `weights`, arrays in their order."""
    for variable, value in zip(variables, weights, strict=True):
        variable.assign(value)


def average(
    checkpoint: checkpoints.State,
    variables: Sequence[keras.Variable],
    keeper: checkpoints.Keeper,
    number: int,
    validate: Callable[[], dict[str, float]],
) -> dict[str, float]:
    """Saves the weights that validate best as `final`, and leaves the network with them.

    Returns their metrics of the validation split, by name.

    The candidates are the best epoch's weights and the means of the newest one, two, ... up to
    `number` epochs. The learning rate is still high at the end of a run, and each step leaves the
    weights a little off the point they move towards; their mean is closer to it.
    """
    run = keeper.run
    keeper.workers.barrier()  # the chief has saved the last epoch
    epoch_paths = paths(run.checkpoints)[-number:]
    best_paths = paths(run.best)[-1:]
    log.info(f"{comparison_title(epoch_paths, best_paths)} ...")
    last: Candidate | None = None
    chosen: Candidate | None = None
    for candidate in candidates(checkpoint, variables, epoch_paths, best_paths, validate):
        last = last or candidate
        if not chosen or value_to_minimize(candidate.metrics) < value_to_minimize(chosen.metrics):
            chosen = candidate  # the memory of all others is free again
    if not last or not chosen:
        raise UserError(f"{run.checkpoints}: no checkpoint there can be read; restore one")
    checkpoints.restore(checkpoint, last.path)
    assign(variables, chosen.weights)
    keeper.save(run.final, epoch_of(last.path))
    comparison = "" if chosen is last else f"; the last epoch's {metrics_text(last.metrics)}"
    log.info(
        f"Final weights: {chosen.title}, validation {metrics_text(chosen.metrics)}{comparison}."
    )
    return chosen.metrics


def candidates(
    checkpoint: checkpoints.State,
    variables: Sequence[keras.Variable],
    epoch_paths: Sequence[str],
    best_paths: Sequence[str],
    validate: Callable[[], dict[str, float]],
) -> Iterator[Candidate]:
    """Yields the last epoch's weights, means of the newest two, three, ..., and the best epoch's.

    Of `epoch_paths`, the oldest first, those that cannot be restored are left out; so is the last
    epoch from `best_paths`.
    """
    newest, count = "", 0
    totals: list[Any] = [0.0] * len(variables)  # arrays
    for path in reversed(epoch_paths):
        if not checkpoints.try_restore(checkpoint, path):
            continue
        newest, count = newest or path, count + 1
        totals = [v.numpy() + total for v, total in zip(variables, totals, strict=True)]
        means = [total / count for total in totals]
        assign(variables, means)
        title = f"the mean of the newest {count} epochs" if count > 1 else "the last epoch's"
        yield Candidate(title, means, validate(), newest)
    for path in best_paths if newest else ():
        is_last = epoch_of(path) == epoch_of(newest)
        if not is_last and checkpoints.try_restore(checkpoint, path):
            weights = [variable.numpy() for variable in variables]
            title = f"epoch {epoch_of(path)}'s"
            yield Candidate(title, weights, validate(), path)


def comparison_title(epoch_paths: Sequence[str], best_paths: Sequence[str]) -> str:
    """Returns as text which weights are compared, given the checkpoints of epochs and the best."""
    rivals = []
    if len(epoch_paths) > 1:
        rivals.append(f"averages of up to {len(epoch_paths)} epochs")
    if {*map(epoch_of, best_paths)} - {*map(epoch_of, epoch_paths[-1:])}:
        rivals.append("the best epoch")
    if not rivals:
        return "Validating the last epoch"
    return f"Comparing the last epoch with {' and '.join(rivals)}"
