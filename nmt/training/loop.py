"""The epochs of a training run: resume, train, save, validate, and stop when nothing improves."""

import time

import tensorflow as tf

from nmt.messages import log, plural
from nmt.training import checkpoints, devices, progress
from nmt.training.metrics import metrics_text, value_to_improve, value_to_minimize

REFRESH_STEPS = 20  # between two updates of the progress bar, each of which waits for the device
TENSORBOARD_SAMPLES = 3  # validation sentences whose translations are logged after each epoch


class TrainingLoop:
    """The epochs of run_demo.Training, which inherits them and defines the network and the step.

    A subclass has the attributes of run_demo.Training and its methods `train_step`,
    `accumulate_step`, `validate` and `translations_of`.
    """

    def steps_per_epoch(self, batches):
        """Returns the number of optimizer steps for a pass over `batches`."""
        return -(-batches.steps // self.options["accumulate"])

    def train_epoch(self, batches, steps, title, keeper=None):
        """Trains on the batches of an epoch from `position` on. Returns real tokens per second.

        Args:
          batches: of the whole epoch.
          steps: their number.
          title: of the progress bar.
          keeper: a checkpoints.Keeper, asked after each step whether to save.

        Raises:
          UserError: the loss is NaN or infinite.
        """
        first, accumulate = int(self.position), self.options["accumulate"]
        if not first:
            self.sums_so_far.assign(tf.zeros(3, tf.float64))
        batches = devices.distribute(self.strategy, batches.skip(first))
        self.train_step.get_concrete_function(*batches.element_spec)  # one trace for all shapes
        if accumulate > 1:
            self.accumulate_step.get_concrete_function(*batches.element_spec)
        with self.progress.epoch(title, steps) as bar:
            for number, (inp, tar) in enumerate(batches, start=first + 1):
                complete = number % accumulate == 0 or number == steps
                step = self.train_step if complete else self.accumulate_step
                bar.add(step(inp, tar))
                refresh = number % REFRESH_STEPS == 0 or number == steps
                may_save = keeper is not None and complete and number < steps
                due = False
                if may_save and (refresh or self.workers.alone):
                    keeper.agree_on_signals()
                    due = keeper.is_due()
                if refresh or due:
                    bar.refresh(number)  # `position` and `sums_so_far` advance, too
                if due:
                    keeper.save(keeper.run.timed, int(self.optimizer.iterations.numpy()))
                    self.progress.save_seconds(keeper.run)
                    keeper.raise_if_interrupted()
            return bar.tokens_per_second

    def fit(self, keeper, corpus, tokenizer, batches, announce=None):
        """Trains until `finished`, from the newest checkpoint of the run if there is one.

        Each epoch ends with a checkpoint, then validation; the best so far is also saved in best/.

        Args:
          keeper: the checkpoints.Keeper of the run.
          corpus: a corpora.Corpus.
          tokenizer: its Tokenizer.
          batches: the batches.Batches to train on.
          announce: called without arguments once it is known what is left to do, or None.
        """
        run, epochs = keeper.run, self.options["epochs"]
        self.workers.barrier()  # until the chief has written, so that all find the same
        if newest := keeper.restore_newest():
            within = f" and {plural(int(self.position), 'batch')}" if int(self.position) else ""
            log.info(f"Resuming from {newest}: {plural(int(self.epoch), 'epoch')}{within} done.")
        if int(self.epoch) > epochs:
            log.info(f"Already trained for {int(self.epoch)} epochs; --epochs is {epochs}.")
        progress.drop_later_events(
            run.logs, int(self.optimizer.iterations.numpy()) if newest else -1
        )
        self.steps.assign(self.steps_per_epoch(batches) * epochs)
        self.history = [row for row in run.history() if row["epoch"] <= int(self.epoch)]
        self.recover_best(keeper, corpus, tokenizer, newest)
        if announce:
            announce()
        self.progress.begin(run)
        if not int(self.position) and not self.is_validated():  # validation was interrupted
            self.end_epoch(keeper, corpus, tokenizer)
        while not self.finished:
            epoch = int(self.epoch) + 1
            if not int(self.position):
                self.progress.begin_epoch()
            rate = self.train_epoch(
                batches.epoch(self.options["buffer_size"], self.options["seed"] + epoch),
                batches.steps,
                f"Epoch {epoch}/{epochs}",
                keeper,
            )
            self.position.assign(0)
            self.epoch.assign(epoch)
            keeper.save(run.checkpoints, epoch)  # an error in validation then loses nothing
            self.progress.save_seconds(run)
            keeper.agree_on_signals()
            keeper.raise_if_interrupted()
            self.end_epoch(keeper, corpus, tokenizer, rate)
        if int(self.epoch) < epochs:
            log.info(
                f"Stopped after epoch {int(self.epoch)}: the best validation is that of epoch "
                f"{self.best_epoch} (--patience {self.options['patience']})."
            )

    @property
    def best_epoch(self):
        """The number of the epoch with the best validation; the first of equal ones."""
        return min(self.history, key=value_to_minimize)["epoch"]

    @property
    def finished(self):
        """Whether all epochs are done, or too many in a row did not improve validation."""
        epoch, patience, waited = int(self.epoch), self.options["patience"], 0
        if self.history:
            improved = min(self.history, key=value_to_improve)
            waited = epoch - improved["epoch"]
        return epoch >= self.options["epochs"] or 0 < patience <= waited

    def is_validated(self):
        """Returns whether the last finished epoch has its metrics, or there is no such epoch."""
        known = any(row["epoch"] == int(self.epoch) for row in self.history)
        return known or not float(self.sums_so_far[2])

    def metrics_of_epoch(self, corpus, tokenizer, rate=None):
        """Validates the newest epoch. Returns its row of the history; `rate` as of `end_epoch`."""
        loss, hits, tokens = self.sums_so_far.numpy()
        metrics = self.validate(corpus, tokenizer)
        return dict(
            epoch=int(self.epoch), loss=loss / tokens, accuracy=hits / tokens, **metrics,
            tokens_per_second=rate, learning_rate=float(self.optimizer.learning_rate),
            seconds=self.progress.epoch_seconds, ended=time.time(),
        )  # fmt: skip

    def recover_best(self, keeper, corpus, tokenizer, newest):
        """Validates the epoch in best/ if its metrics are lost, so that none worse replaces it.

        Args:
          keeper, corpus, tokenizer: as of `fit`.
          newest: the path of the checkpoint that was restored; None without any.
        """
        now = int(self.epoch), int(self.position)
        known = [row["epoch"] for row in self.history]
        best = [
            path
            for path in checkpoints.paths(keeper.run.best)[-1:]
            if checkpoints.number(path) not in known and (checkpoints.number(path), 0) < now
        ]
        if not (newest and best):
            return
        for path in checkpoints.readable(self.checkpoint, best):
            log.info(f"Validating {path}: history.json does not hold its metrics.")
            row = self.metrics_of_epoch(corpus, tokenizer) | dict(seconds=0.0)
            self.history = sorted([*self.history, row], key=lambda row: row["epoch"])
            keeper.run.write("history.json", self.history)
        checkpoints.restore(self.checkpoint, newest)

    def end_epoch(self, keeper, corpus, tokenizer, rate=None):
        """Validates an epoch that was trained and saved, and keeps its metrics.

        Args:
          keeper, corpus, tokenizer: as of `fit`.
          rate: tokens per second of its training; None if before a restart.
        """
        run, epoch, epochs = keeper.run, int(self.epoch), self.options["epochs"]
        row = self.metrics_of_epoch(corpus, tokenizer, rate)
        self.progress.warn_of_loss(f"Epoch {epoch}/{epochs}, validation", row["val_loss"])
        self.history.append(row)
        if self.best_epoch == epoch:
            keeper.save(run.best, epoch)
        run.write("history.json", self.history)
        validation_metrics = {
            name.removeprefix("val_"): value
            for name, value in row.items()
            if name.startswith("val_")
        }
        self.progress.log("validation", **validation_metrics)
        samples = corpus.validation.take(TENSORBOARD_SAMPLES)
        self.progress.log_translations(self.translations_of(samples, tokenizer))
        test_share = len(corpus.test) / len(corpus.validation)
        left = self.progress.time_left(epochs - epoch, test_share)
        speed = f"; {rate:,.0f} tokens/s, {row['seconds']:.0f} s" if rate else ""
        log.info(
            f"Epoch {epoch}/{epochs}: loss {row['loss']:.3f}, accuracy {row['accuracy']:.3f}; "
            f"validation {metrics_text(row)}{speed}{left}"
        )
        keeper.agree_on_signals()
        keeper.raise_if_interrupted()
