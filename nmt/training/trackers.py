"""Trackers of experiments: MLflow, Trackio, Weights & Biases. They get options and curves of a run.

Where they store it, and who may see it, is set as they document it, by environment variables.
"""

import contextlib
import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from nmt import UserError
from nmt.messages import log, reason
from nmt.neighbors import how_to_install
from nmt.training.listeners import FinalRecord, Listener, Record, RunRecord, curves

PROJECT = "transformer-tutorial"  # under which a tracker groups runs


class Tracker(Listener):
    """A Listener that sends records to a module of an experiment tracker.

    A failure at the beginning is the user's to mend; a later one must not end training.

    Args:
      module: with the functions of the tracker.
    """

    def __init__(self, module: Any):
        self.module, self.step, self.is_open = module, 0, False

    @property
    def name(self) -> str:
        return str(self.module.__name__)

    def start(self, run: RunRecord) -> None:
        """Begins the run, or continues it, at the tracker."""
        raise NotImplementedError

    def send(self, metrics: dict[str, float], step: int) -> None:
        """Sends numbers by name."""
        raise NotImplementedError

    def finish(self) -> None:
        """Ends the run at the tracker."""
        self.module.finish()

    def begin(self, run: RunRecord) -> None:
        self.step = run.step
        try:
            with contextlib.redirect_stdout(sys.stderr):  # where all messages go
                self.start(run)
        except Exception as error:  # whatever the tracker raises
            raise UserError(f"--tracker {self.name}: {reason(error)}") from None
        self.is_open = True

    def take(self, record: Record) -> None:
        self.step = self.step if isinstance(record, FinalRecord) else record.step
        if self.is_open:
            self._try(lambda: self.send(curves(record), self.step))

    def close(self) -> None:
        if self.is_open:
            self._try(self.finish)
        self.is_open = False

    def _try(self, action: Callable[[], object]) -> None:
        try:
            with contextlib.redirect_stdout(sys.stderr):
                action()
        except Exception as error:  # whatever the tracker raises
            self.is_open = False
            log.warning(
                f"--tracker {self.name}: {reason(error)}. It gets nothing more of this run."
            )


class MLflow(Tracker):
    """MLflow: MLFLOW_TRACKING_URI, or files in the current folder."""

    def start(self, run: RunRecord) -> None:
        self.module.set_experiment(PROJECT)
        key = run.folder.key()
        runs = self.module.search_runs(
            filter_string=f"tags.run_key = '{key}'", output_format="list"
        )
        if runs:
            self.module.start_run(run_id=runs[0].info.run_id)
        else:
            self.module.start_run(run_name=run.folder.path.name, tags={"run_key": key})
            self.module.log_params(run.options)  # which cannot be changed later

    def send(self, metrics: dict[str, float], step: int) -> None:
        self.module.log_metrics(metrics, step=step)

    def finish(self) -> None:
        self.module.end_run()


class Trackio(Tracker):
    """Trackio: files in the cache of Hugging Face, or TRACKIO_DIR."""

    def start(self, run: RunRecord) -> None:
        name = f"{run.folder.path.name}-{run.folder.key()}"
        self.module.init(project=PROJECT, name=name, config=run.options, resume="allow")

    def send(self, metrics: dict[str, float], step: int) -> None:
        self.module.log(metrics, step=step)


class Wandb(Trackio):
    """Weights & Biases: WANDB_MODE=offline stores files in ./wandb."""

    def start(self, run: RunRecord) -> None:
        self.module.init(
            project=PROJECT, name=run.folder.path.name, id=run.folder.key(), config=run.options,
            resume="allow",
        )  # fmt: skip


TRACKERS: dict[str, type[Tracker]] = {"mlflow": MLflow, "trackio": Trackio, "wandb": Wandb}


def tracker(name: str, module: ModuleType | Any = None) -> Tracker:
    """Returns the Tracker of that name.

    Args:
      name: a key of TRACKERS.
      module: with its functions; None to import it.

    Raises:
      UserError: it is not installed.
    """
    if module is None:
        try:
            module = importlib.import_module(name)
        except ImportError:
            raise UserError(f"--tracker {name} needs it; install: {how_to_install(name)}") from None
    return TRACKERS[name](module)
