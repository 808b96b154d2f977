"""The epochs of a training run: resume, train, save, validate, and stop when nothing improves."""

import contextlib
import functools
import inspect
import math
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from nmt import UserError, seeds
from nmt.corpus.batches import Batches, Text
from nmt.messages import log, plural
from nmt.options import Options
from nmt.progress import ProgressBar
from nmt.training import checkpoints, cluster, devices, tensorboard
from nmt.training.checkpoint_files import number as epoch_of
from nmt.training.checkpoint_files import paths
from nmt.training.epoch_metrics import metrics_text, value_for_early_stopping, value_to_minimize
from nmt.training.estimate import BatchTimer, RunTimes, duration
from nmt.training.listeners import EpochRecord, Listeners, RunRecord, StepRecord
from nmt.training.named_state import NamedState
from nmt.training.plan import Plan, Progress
from nmt.training.run_folder import RunFolder
from nmt.training.step import FastStep, StoryMeter, Trainer

REFRESH_BATCHES = 20  # between two updates of the progress bar, each of which waits for the device
SAMPLES = 3  # validation sentences whose translations are recorded after each epoch
FAR_ABOVE = 3  # times the loss of guessing all tokens alike, from which on a loss is reported


def workers_agree_after(number: int, accumulate: int) -> bool:
    """Returns whether several workers agree to save, or not, after a batch that ends a step.

    They do after the first one of each REFRESH_BATCHES: it takes a message. Batches count from 1.
    """
    return number // REFRESH_BATCHES > (number - accumulate) // REFRESH_BATCHES


def is_finished(epoch: int, history: list[dict[str, Any]], options: Options) -> bool:
    """Returns whether a run was trained to its end, as far as its history says."""
    newest = next((row for row in history if row["epoch"] == epoch), {})
    if options.max_steps:
        is_done = newest.get("step", 0) >= options.max_steps
    elif options.validate_every:
        is_done = newest.get("passes", 0.0) >= options.epochs
    else:
        is_done = epoch >= options.epochs
    return is_done or is_patience_over(epoch, history, options.patience)


def is_patience_over(epoch: int, history: list[dict[str, Any]], patience: int) -> bool:
    """Returns whether more than `patience` epochs in a row, if it is not 0, improved nothing."""
    if not history:
        return False
    improved = min(history, key=value_for_early_stopping)
    return 0 < patience <= epoch - improved["epoch"]


class Stream:
    """The batches of passes over the training pairs, one after the other, without an end.

    `read` returns the replicas' shares of the batches of a pass, from its number and the number of
    batches that are left out.
    """

    def __init__(
        self, read: Callable[[int, int], tf.distribute.DistributedDataset], number: int, first: int
    ):
        self._read, self._number = read, number
        self._batches = read(number, first)

    @property
    def element_spec(self) -> Any:
        """The types of a batch."""
        return self._batches.element_spec

    def __iter__(self) -> Iterator[Any]:
        batches, number = self._batches, self._number
        while True:
            yield from batches
            number += 1
            batches = self._read(number, 0)


class Counters(NamedTuple):
    """How far a training run has come: variables, which its checkpoints hold."""

    epoch: tf.Variable  # finished epochs
    position: tf.Variable  # finished batches of the current epoch
    sums: tf.Variable  # (3,), of their TokenSums
    steps: tf.Variable  # of the whole run, for a schedule that ends; known once the batches are

    @classmethod
    def of(cls, strategy: tf.distribute.Strategy) -> "Counters":
        """Returns those of a run that begins."""
        with strategy.scope():
            steps = tf.Variable(1, dtype=tf.int64)
        return cls(tf.Variable(0), tf.Variable(0), tf.Variable(tf.zeros(3, tf.float64)), steps)


class Epoch(NamedTuple):
    """An epoch that is to be trained."""

    number: int  # from 1
    batches: Iterator[Any]  # ids (B, S), (B, T), from the position on


class Epochs:
    """The epochs of a training run, one after the other, for a loop that trains on their batches.

    for epoch in epochs:
        for inp, tar in epoch.batches:
            step.train_step(inp, tar)

    Each is then saved and validated, by a `validator` as runs/validation.py has it, because nothing
    is translated in this room. `per_pass` is the number of batches of a pass, once they are known;
    `rate`, real tokens per second, that of the newest epoch.
    """

    def __init__(
        self, step: Trainer, options: Options, counters: Counters, validator: Any,
        strategy: tf.distribute.Strategy, workers: cluster.Cluster = cluster.ALONE,
    ):  # fmt: skip
        self.training_step, self.options = step, options
        self.meter = step if isinstance(step, FastStep) else StoryMeter(step)
        self.counters, self.validator = counters, validator
        self.strategy, self.workers = strategy, workers
        self.epoch, self.position, self.sums_so_far, self.total_steps = counters
        self.checkpoint = NamedState(  # all that a resumed run needs
            step.transformer, step.optimizer, **counters._asdict()
        )
        self.history: list[dict[str, Any]] = []
        self.times, self.listeners = RunTimes(), Listeners([tensorboard.TensorBoard()])
        self.per_pass, self.rate = 1, 0.0
        self._running: Generator[Epoch] | None = None
        self._warned = False  # that the loss is far too high

    @property
    def plan(self) -> Plan:
        """What the run is to do."""
        return Plan.of(self.options, self.per_pass)

    @property
    def progress(self) -> Progress:
        """What is done of it."""
        return Progress(self.step, int(self.epoch), int(self.position))

    @property
    def step(self) -> int:
        """The number of optimizer steps so far."""
        return int(self.training_step.optimizer.iterations.numpy())

    # ---- An epoch ----

    def train_on(
        self,
        batches: "tf.distribute.DistributedDataset | tf.data.Dataset | Stream",
        batches_per_epoch: int,
        title: str,
        keeper: checkpoints.Keeper | None = None,
    ) -> Generator[Any]:
        """Yields each batch of an epoch, from `position` on, to train on before the next one.

        `batches` are the replicas' shares from `position` on, and perhaps more. Without a keeper
        nothing is saved within the epoch. A UserError if the loss is NaN or infinite.
        """
        first, accumulate, step = int(self.position), self.options.accumulate, self.step
        if not first:
            self.sums_so_far.assign(tf.zeros(3, tf.float64))
        self.meter.trace(batches.element_spec, accumulate)
        self.times.batches = batches_per_epoch
        timer = BatchTimer(first, float(self.sums_so_far[2]))
        with ProgressBar(title, batches_per_epoch, first) as bar:
            numbers = range(first + 1, batches_per_epoch + 1)
            for number, (inp, tar) in zip(numbers, batches, strict=False):
                is_last = number == batches_per_epoch
                ends_step = is_last or number % accumulate == 0
                self.meter.ends_step = ends_step
                yield inp, tar
                self.meter.note(tar)
                step += ends_step
                save = False
                if keeper and ends_step and not is_last:
                    save = self.is_to_be_saved(keeper, number, step)
                if save or is_last or number % REFRESH_BATCHES == 0:
                    new_sums = self.advance(title)
                    self.rate = timer.per_second(float(self.sums_so_far[2]))
                    bar.show(number, self.report(title, number, new_sums))
                    timer.note(number)
                    self.estimate_once(timer, number)
                if save and keeper:
                    self.save_within_epoch(keeper)
        if not first or timer.is_measured(batches_per_epoch):  # else these few trace functions
            self.times.batch_seconds = timer.seconds_per_batch(batches_per_epoch)
        self.rate = timer.per_second(float(self.sums_so_far[2]))

    def rest_of_epoch(self, batches: Batches) -> "tf.distribute.DistributedDataset | Stream":
        """Returns the replicas' shares of the batches of this epoch, from `position` on.

        Where the epoch may end within a pass, or reach into the next one, more batches follow.
        """
        number, first = self.plan.first_batch(self.progress)
        if self.options.validate_every:
            return Stream(functools.partial(self.rest_of_pass, batches), number, first)
        return self.rest_of_pass(batches, number, first)

    def rest_of_pass(
        self, batches: Batches, number: int, first: int
    ) -> tf.distribute.DistributedDataset:
        """Returns the replicas' shares of the batches of a pass, from 0, but for the first ones."""
        buffer_size = self.options.buffer_size
        seed = seeds.of_epoch(self.options.seed, number + 1)
        read_shares = functools.partial(batches.epoch, buffer_size, seed, first)
        return devices.distribute_shares(self.strategy, read_shares)

    def is_to_be_saved(self, keeper: checkpoints.Keeper, number: int, step: int) -> bool:
        """Returns whether to save after a batch that ends a step: a signal, time or a flag asks it.

        All workers call this for the same batches.
        """
        save_every, agreed = self.options.save_every, False
        if self.workers.alone or workers_agree_after(number, self.options.accumulate):
            agreed = keeper.agree_on_signals()
        return agreed or (save_every > 0 and step % save_every == 0)

    def save_within_epoch(self, keeper: checkpoints.Keeper) -> None:
        """Saves a checkpoint in timed/; then ends training if a signal has asked for it."""
        keeper.save(keeper.run.timed, self.step)
        self.save_seconds(keeper.run)
        keeper.raise_if_interrupted()

    def advance(self, title: str) -> np.ndarray:
        """Adds the TokenSums of the newest batches to those of the epoch; returns their sum.

        This waits for the device. A UserError if one of them, or a weight, is NaN or infinite.
        """
        sums = self.meter.take_sums()  # (batches, 3)
        finite: list[bool] = [bool(np.isfinite(batch_sums).all()) for batch_sums in sums]
        weights = sum(
            float(tf.reduce_sum(v)) for v in self.training_step.transformer.trainable_variables
        )
        if not (all(finite) and np.isfinite(weights)):  # the weights are the last batch's result
            wrong = finite.index(False) if False in finite else len(finite) - 1
            raise UserError(
                f"{title}, batch {int(self.position) + wrong + 1}: the loss is NaN or infinite; "
                "checkpoints are of earlier steps; try a lower --learning-rate-scale or a "
                "--clip-norm, in a new --run"
            )
        new_sums = sums.sum(axis=0)
        self.sums_so_far.assign_add(new_sums)
        self.position.assign_add(len(sums))
        return new_sums

    def report(self, title: str, number: int, new_sums: np.ndarray) -> str:
        """Logs the metrics of the newest batches. Returns those of the epoch, for the bar."""
        new_loss, new_hits, new_tokens = new_sums
        self.warn_of_loss(f"{title}, batch {number}", new_loss / new_tokens)
        self.listeners.take(
            StepRecord(
                self.step, new_loss / new_tokens, new_hits / new_tokens,
                self.meter.gradient_norm, self.rate,
                float(self.training_step.optimizer.learning_rate),
            )
        )  # fmt: skip
        loss, hits, tokens = self.sums_so_far.numpy()
        return f"loss {loss / tokens:.3f}, accuracy {hits / tokens:.3f}, {self.rate:,.0f} tokens/s"

    def warn_of_loss(self, where: str, loss: float) -> None:
        """Logs, once, that a mean loss per token, in nats, is far above that of guessing."""
        guessing = math.log(self.training_step.transformer.config["target_vocab_size"])
        if self._warned or loss <= FAR_ABOVE * guessing:
            return
        self._warned = True
        log.warning(
            f"{where}: the loss is {loss:.3g}, that of guessing all tokens alike {guessing:.1f}: "
            "training diverges. In a new --run, try a lower "
            "--learning-rate-scale, more --warmup-steps, or a --clip-norm."
        )

    def estimate_once(self, timer: BatchTimer, number: int) -> None:
        """Logs, once enough batches are measured, how long training will take."""
        if self.times.estimated or not timer.is_measured(number):
            return
        self.times.estimated = True
        plan, progress = self.plan, self.progress
        batches_left = plan.epochs_left(progress) * self.times.batches - number
        if plan.counts_steps:
            batches_left = (plan.total_steps(progress) - progress.step) * plan.accumulate
        seconds = timer.seconds_per_batch(number) * batches_left
        then = "scores and pictures" if self.times.picture_seconds else "scores"
        log.info(f"{plan.left(progress)} will take about {duration(seconds)}, then come {then}.")

    # ---- Seconds of an epoch that is interrupted ----

    def save_seconds(self, run: RunFolder) -> None:
        """Saves the seconds of this epoch beside a checkpoint that was just saved."""
        run.write("progress.json", self._place | {"seconds": self.times.epoch_seconds})

    def saved_seconds(self, run: RunFolder) -> float:
        """Returns the seconds of this epoch up to the checkpoint that was restored; or 0."""
        with contextlib.suppress(UserError, TypeError, ValueError):  # a damaged file is overwritten
            saved = dict(run.read("progress.json", {}))
            if saved and saved == self._place | {"seconds": saved.get("seconds")}:
                return float(saved["seconds"])
        return 0.0

    @property
    def _place(self) -> dict[str, int]:
        return {"epoch": int(self.epoch), "position": int(self.position)}

    # ---- A run ----

    def begin(self, keeper: checkpoints.Keeper, text: Text) -> None:
        """Restores the newest checkpoint of the run, if there is one, and says so."""
        run, self.per_pass = keeper.run, text.batches.per_epoch
        self.keeper, self.text = keeper, text
        self.workers.barrier()  # until the chief has written, so that all find the same
        if newest := keeper.restore_newest():
            log.info(f"Resuming from {newest}: {self.done()} done.")
        if self.plan.leaves_out(self.progress) and not self.plan.is_done(self.progress):
            log.info("The pass that --max-steps ended is not finished: a new one begins.")
        if int(self.epoch) > self.plan.passes and not self.plan.counts_steps:
            log.info(
                f"Already trained for {int(self.epoch)} epochs; --epochs is {self.plan.passes}."
            )
        tensorboard.drop_later_events(run.logs, self.step if newest else -1)
        self.history = [row for row in run.history() if row["epoch"] <= int(self.epoch)]
        self.recover_best(keeper, text, newest)
        self.total_steps.assign(self.plan.total_steps(self.progress))  # restoring changes it

    def __iter__(self) -> Iterator[Epoch]:
        """Yields each epoch that is left to do; once it is trained, saves and validates it."""
        self._running = self._train()
        return self._running

    def __enter__(self) -> "Epochs":
        return self

    def __exit__(self, *error: Any) -> None:
        """Ends what an exception in the loop has left open: the progress bar, the listeners."""
        if self._running:
            self._running.close()
        self.listeners.__exit__(*error)

    def _train(self) -> Generator[Epoch]:
        """Yields epochs. Each ends with a checkpoint, then validation; the best goes to best/."""
        keeper, text = self.keeper, self.text
        self.listeners.begin(RunRecord(keeper.run, self.options.by_name(), self.step))
        self.times.begin_epoch(self.saved_seconds(keeper.run))
        if not int(self.position) and not self.is_validated():  # validation was interrupted
            self.end_epoch(keeper, text)
        while not self.finished:
            number = int(self.epoch) + 1
            if not int(self.position):
                self.times.begin_epoch()
            batches = self.train_on(
                self.rest_of_epoch(text.batches),
                self.plan.batches_of_epoch(self.progress),
                self.plan.title(self.progress),
                keeper,
            )
            with contextlib.closing(batches):
                yield Epoch(number, batches)
                if inspect.getgeneratorstate(batches) != inspect.GEN_CLOSED:
                    raise UserError(
                        f"epoch {number}: the loop over its batches ended before the last one; "
                        "train on all of them"
                    )
            self.position.assign(0)
            self.epoch.assign(number)
            keeper.save(keeper.run.checkpoints, number)  # an error in validation loses nothing
            self.save_seconds(keeper.run)
            keeper.agree_on_signals()
            keeper.raise_if_interrupted()
            self.end_epoch(keeper, text, self.rate)
        if not self.plan.is_done(self.progress):
            unit = "validation" if self.plan.counts_steps else "epoch"
            log.info(
                f"Stopped after {unit} {int(self.epoch)}: the best validation is that of {unit} "
                f"{self.best_epoch} (--patience {self.options.patience})."
            )

    def done(self) -> str:
        """Returns what is done as text: "2 epochs and 30 batches", or "1,200 steps"."""
        if self.plan.counts_steps:
            return plural(self.step, "step")
        within = f" and {plural(int(self.position), 'batch')}" if int(self.position) else ""
        return f"{plural(int(self.epoch), 'epoch')}{within}"

    @property
    def best_epoch(self) -> int:
        """The number of the epoch with the best validation; the first of equal ones."""
        return min(self.history, key=value_to_minimize)["epoch"]

    @property
    def finished(self) -> bool:
        """Whether all is done, or too many epochs in a row did not improve validation."""
        patience = self.options.patience
        is_over = is_patience_over(int(self.epoch), self.history, patience)
        return is_over or self.plan.is_done(self.progress)

    def is_validated(self) -> bool:
        """Returns whether the last finished epoch has its metrics, or there is no such epoch."""
        known = any(row["epoch"] == int(self.epoch) for row in self.history)
        return known or not float(self.sums_so_far[2])

    def metrics_of_epoch(self, text: Text, rate: float | None = None) -> dict[str, Any]:
        """Validates the newest epoch. Returns its row of the history."""
        loss, hits, tokens = self.sums_so_far.numpy()
        tokens = max(tokens, 1)
        metrics = self.validator.validate(text.corpus, text.tokenizer, self.times)
        return dict(
            epoch=int(self.epoch), step=self.step, passes=self.plan.passes_done(self.progress),
            loss=loss / tokens, accuracy=hits / tokens, **metrics,
            tokens_per_second=rate, learning_rate=float(self.training_step.optimizer.learning_rate),
            seconds=self.times.epoch_seconds, ended=time.time(),
        )  # fmt: skip

    def recover_best(self, keeper: checkpoints.Keeper, text: Text, newest: str | None) -> None:
        """Validates the epoch in best/ if its metrics are lost, so that none worse replaces it.

        `newest` is the path of the checkpoint that was restored.
        """
        now = int(self.epoch), int(self.position)
        known = [row["epoch"] for row in self.history]
        best = [
            path
            for path in paths(keeper.run.best)[-1:]
            if epoch_of(path) not in known and (epoch_of(path), 0) < now
        ]
        if not (newest and best):
            return
        (path,) = best
        if checkpoints.try_restore(self.checkpoint, path):
            log.info(f"Validating {path}: history.json does not hold its metrics.")
            row = self.metrics_of_epoch(text) | dict(seconds=0.0)
            self.history = sorted([*self.history, row], key=lambda row: row["epoch"])
            keeper.run.write("history.json", self.history)
        checkpoints.restore(self.checkpoint, newest)

    def end_epoch(self, keeper: checkpoints.Keeper, text: Text, rate: float | None = None) -> None:
        """Validates an epoch that was trained and saved, and keeps its metrics.

        `rate`, tokens per second in training, is None if the epoch was trained before a restart.
        """
        run, corpus, epoch = keeper.run, text.corpus, int(self.epoch)
        title = self.plan.finished_title(self.progress)
        row = self.metrics_of_epoch(text, rate)
        self.warn_of_loss(f"{title}, validation", row["val_loss"])
        self.history.append(row)
        if self.best_epoch == epoch:
            keeper.save(run.best, epoch)
        run.write("history.json", self.history)
        samples = corpus.validation.take(SAMPLES)
        translations = self.validator.translations_of(samples, text.tokenizer)
        test_share = len(corpus.test) / len(corpus.validation)
        left = self.times.time_left(self.options, self.plan.epochs_left(self.progress), test_share)
        speed = f"; {rate:,.0f} tokens/s, {row['seconds']:.0f} s" if rate else ""
        log.info(
            f"{title}: loss {row['loss']:.3f}, accuracy {row['accuracy']:.3f}; "
            f"validation {metrics_text(row)}{speed}{left}"
        )
        self.listeners.take(EpochRecord(self.step, row, translations))
        keeper.agree_on_signals()
        keeper.raise_if_interrupted()
