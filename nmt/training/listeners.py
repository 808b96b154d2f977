"""What listens to a training run: TensorBoard, a function of an application.

All of them get the same records. A Listener keeps what it wants of them.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from nmt.training.epoch_metrics import validation_metrics
from nmt.training.run_folder import RunFolder


class RunRecord(NamedTuple):
    """A training run that begins, or is resumed."""

    folder: RunFolder
    options: dict[str, Any]  # by the names of params.py
    step: int  # optimizer steps so far


class StepRecord(NamedTuple):
    """The newest batches: a report every few steps."""

    step: int  # optimizer steps so far
    loss: float  # mean per token, in nats
    accuracy: float
    gradient_norm: float | None  # of the last step; unknown with --plain
    tokens_per_second: float
    learning_rate: float


class EpochRecord(NamedTuple):
    """A validation, at the end of an epoch or between."""

    step: int
    row: dict[str, Any]  # as history.json holds it
    samples: Iterable[tuple[str, str, str]]  # source, reference, translation of a few pairs


class FinalRecord(NamedTuple):
    """The end of a run."""

    validation: dict[str, float]  # of the final weights, by metric


Record = StepRecord | EpochRecord | FinalRecord


def curves(record: Record) -> dict[str, float]:
    """Returns the numbers of a record by the names of their curves, such as validation/loss."""
    if isinstance(record, StepRecord):
        values = {name: v for name, v in record._asdict().items() if v is not None}
        return {f"training/{name}": v for name, v in values.items() if name != "step"}
    if isinstance(record, EpochRecord):
        metrics = validation_metrics(record.row)
        return {f"validation/{name}": value for name, value in metrics.items()}
    return {f"final/{name}": value for name, value in record.validation.items()}


class Listener:
    """Gets the records of a training run, in their order; keeps nothing unless it is overridden."""

    def begin(self, run: RunRecord) -> None:
        """Takes the first record."""

    def take(self, record: Record) -> None:
        """Takes a further record."""

    def close(self) -> None:
        """Called once nothing follows, however training has ended."""


class Function(Listener):
    """A function of an application: it is called with the row of each EpochRecord.

    What it raises ends training, and reaches the caller: the epoch is saved, and can be resumed.
    """

    def __init__(self, function: Callable[[dict[str, Any]], object]):
        self.function = function

    def take(self, record: Record) -> None:
        if isinstance(record, EpochRecord):
            self.function({**record.row})  # a copy, which it may change


class Listeners(Listener):
    """Several Listeners, which get each record in their order."""

    def __init__(self, listeners: Iterable[Listener] = ()):
        self.listeners = list(listeners)

    def __enter__(self) -> "Listeners":
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Closes all if training ends by an exception: no FinalRecord follows."""
        if error:
            self.close()

    def begin(self, run: RunRecord) -> None:
        for listener in self.listeners:
            listener.begin(run)

    def take(self, record: Record) -> None:
        for listener in self.listeners:
            listener.take(record)

    def close(self) -> None:
        for listener in self.listeners:
            listener.close()
