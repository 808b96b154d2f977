"""The final weights of a run: the mean of its last checkpoints, or its best epoch (paper 6.1)."""

from typing import NamedTuple

import numpy as np

from nmt import UserError
from nmt.messages import log
from nmt.training import checkpoints
from nmt.training.metrics import metrics_text, value_to_minimize


class Candidate(NamedTuple):
    """Weights that may become the final ones."""

    metrics: dict  # of the validation split, by name
    title: str  # what they are, for the user
    weights: list[np.ndarray]


def assign(variables, weights):
    """Sets `variables` to `weights`, arrays in their order."""
    for variable, value in zip(variables, weights, strict=True):
        variable.assign(value)


def average(checkpoint, variables, keeper, number, validate):
    """Saves the weights that validate best as `final`, and leaves the network with them.

    The candidates are the best epoch's weights and the means of the newest one, two, ... up to
    `number` epochs. The learning rate is still high at the end of a run, and each step leaves the
    weights a little off the point they move towards; their mean is closer to it.

    Args:
      checkpoint: the tf.train.Checkpoint of the run.
      variables: the trainable ones of the network.
      keeper: the checkpoints.Keeper of the run.
      number: of epochs, at most.
      validate: a function that returns the metrics of the network's current weights.
    """
    run = keeper.run
    keeper.workers.barrier()  # the chief has saved the last epoch
    newest = checkpoints.readable(checkpoint, checkpoints.paths(run.checkpoints)[-number:])
    if not newest:
        raise UserError(f"{run.checkpoints}: no checkpoint there can be read; restore one")
    totals, candidates = [0.0] * len(variables), []
    end = checkpoints.number(newest[-1])
    best = [path for path in checkpoints.paths(run.best)[-1:] if checkpoints.number(path) != end]
    best = checkpoints.readable(checkpoint, best)
    compared = ["the last epoch"]
    if len(newest) > 1:
        compared.append(f"means of up to {len(newest)} epochs")
    if best:
        compared.append("the best epoch")
    log.info(f"Validating {', '.join(compared)} ...")
    for count, path in enumerate(reversed(newest), start=1):
        checkpoints.restore(checkpoint, path)
        totals = [v.numpy() + total for v, total in zip(variables, totals, strict=True)]
        means = [total / count for total in totals]
        assign(variables, means)
        title = f"the mean of the newest {count} epochs" if count > 1 else "the last epoch's"
        candidates.append(Candidate(validate(), title, means))
    for path in best:
        checkpoints.restore(checkpoint, path)
        title = f"epoch {checkpoints.number(path)}'s"
        weights = [variable.numpy() for variable in variables]
        candidates.append(Candidate(validate(), title, weights))
    chosen = min(candidates, key=lambda candidate: value_to_minimize(candidate.metrics))
    checkpoints.restore(checkpoint, newest[-1])
    assign(variables, chosen.weights)
    keeper.save(run.final, end)
    last = candidates[0]
    comparison = "" if chosen is last else f"; the last epoch's {metrics_text(last.metrics)}"
    log.info(
        f"Final weights: {chosen.title}, validation {metrics_text(chosen.metrics)}{comparison}."
    )
