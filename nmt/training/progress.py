"""Progress of a training run: the bar, the time estimate, the NaN check, and TensorBoard."""

import contextlib
import math
import sys
import time

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from nmt import UserError, output
from nmt.messages import log, plural, reason

REPORT_SECONDS = 60  # between two lines on progress if stderr is not a terminal
MEASURED_STEPS = 60  # left out before the time is estimated, then as many that are measured
FAR_ABOVE = 3  # times the loss of guessing all tokens alike, from which on a loss is reported
PICTURE_SECONDS = 10  # for all pictures of a run; measured on two cores
TRANSLATION_SHARE = 0.6  # of the seconds of a validation, per hypothesis of the search; measured


def duration(seconds):
    """Returns a time as text: whole seconds, tens of seconds or minutes."""
    minutes, rest = divmod(round(seconds, -1), 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min {rest:02.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"


class Progress:
    """Follows a Training: what it shows, logs and checks every few steps.

    Args:
      training: the Training, whose `position` and `sums_so_far` are kept up to date.
    """

    def __init__(self, training):
        self.training = training
        self.writer = tf.summary.create_noop_writer()  # a real one from `begin` on
        self.warned = False  # that the loss is far too high
        self.estimated = False  # whether the user knows how long training will take
        self.steps, self.step_seconds = 0, 0.0  # batches of an epoch; seconds for each, measured
        self.validation_seconds = 0.0  # of the newest loss of the validation split, once traced
        self.translation_seconds = 0.0  # of its newest greedy translation, if it is translated
        self.epoch_started = time.perf_counter()
        self.seconds_before = 0.0  # of the current epoch, in processes that were interrupted
        self.picture_seconds = PICTURE_SECONDS

    def begin(self, run):
        """Writes for TensorBoard, into the logs of a folder.Run, and times from here on.

        The seconds of an interrupted epoch are those up to the checkpoint that was restored.
        """
        self.writer = tf.summary.create_file_writer(str(run.logs))
        self.begin_epoch()
        with contextlib.suppress(UserError, TypeError, ValueError):  # a damaged file is overwritten
            saved = dict(run.read("progress.json", {}))
            if saved and saved == self.state | {"seconds": saved.get("seconds")}:
                self.seconds_before = float(saved["seconds"])

    # ---- Seconds of the epoch, validation included ----

    @property
    def state(self):
        """Where the training is: its finished epochs, and batches."""
        return {"epoch": int(self.training.epoch), "position": int(self.training.position)}

    def begin_epoch(self):
        """Times the epoch from here on."""
        self.epoch_started, self.seconds_before = time.perf_counter(), 0.0

    @property
    def epoch_seconds(self):
        """The seconds of this epoch, before interruptions, too."""
        return self.seconds_before + time.perf_counter() - self.epoch_started

    def save_seconds(self, run):
        """Saves the seconds of this epoch beside a checkpoint that was just saved."""
        run.write("progress.json", self.state | {"seconds": self.epoch_seconds})

    @contextlib.contextmanager
    def epoch(self, title, steps):
        """Shows a bar for an epoch of `steps` batches, from the training's position on."""
        self.title, self.steps, self.first = title, steps, int(self.training.position)
        self.pending = []  # `token_sums` of the batches since the last `refresh`
        self.tokens_before = float(self.training.sums_so_far[2])
        self.started = time.perf_counter()
        self.reported = -np.inf  # when the last line was written, where there is no terminal
        self.measured = None  # batches and time at which the estimate begins
        self.bar = tqdm(
            total=steps, initial=self.first, desc=title, unit="step", file=sys.stderr, leave=False,
            disable=None,
        )  # fmt: skip
        with self.bar:
            yield self
        begun, started = self.measured or (self.first, self.started)
        self.step_seconds = (time.perf_counter() - started) / max(steps - begun, 1)

    @property
    def tokens_per_second(self):
        """Real target tokens per second of this epoch."""
        tokens = float(self.training.sums_so_far[2]) - self.tokens_before
        return tokens / (time.perf_counter() - self.started)

    def add(self, sums):
        """Takes the `token_sums` of one batch, a tensor that may not be computed yet."""
        self.pending.append(sums)

    def refresh(self, batch):
        """Brings everything up to date after `batch` 1, 2, ... of the epoch; waits for the device.

        Raises:
          UserError: the loss or a weight is NaN or infinite.
        """
        new_loss, new_hits, new_tokens = self.collect()
        loss, hits, tokens = self.training.sums_so_far.numpy()
        self.warn_of_loss(f"{self.title}, step {batch}", new_loss / new_tokens)
        rate, now = self.tokens_per_second, time.perf_counter()
        self.log(
            "training", loss=new_loss / new_tokens, accuracy=new_hits / new_tokens,
            gradient_norm=self.training.updater.gradient_norm.numpy(), tokens_per_second=rate,
            learning_rate=self.training.optimizer.learning_rate,
        )  # fmt: skip
        text = f"loss {loss / tokens:.3f}, accuracy {hits / tokens:.3f}, {rate:,.0f} tokens/s"
        self.bar.set_postfix_str(text, refresh=False)
        self.bar.update(batch - self.bar.n)
        if self.bar.disable and now - self.reported > REPORT_SECONDS and batch < self.steps:
            log.info(f"{self.title}: step {batch}/{self.steps}, {text}")
            self.reported = now
        if self.measured is None and batch - self.first >= MEASURED_STEPS:
            self.measured = batch, now  # the first steps trace functions and prepare kernels
        elif self.measured and not self.estimated and batch - self.measured[0] >= MEASURED_STEPS:
            self.estimate(batch - self.measured[0], now - self.measured[1], self.steps - batch)

    def collect(self):
        """Adds the pending sums to those of the epoch. Returns the pending sums' total.

        Raises:
          UserError: one of them, or a weight, is NaN or infinite.
        """
        training = self.training
        sums = np.array(
            [batch_sums.numpy() for batch_sums in self.pending], np.float64
        )  # (batches, 3)
        weights = sum(float(tf.reduce_sum(v)) for v in training.transformer.trainable_variables)
        finite = [*np.isfinite(sums).all(axis=1), np.isfinite(weights)]
        if not all(finite):  # the weights are the result of the last step
            step = int(training.position) + min(finite.index(False) + 1, len(sums))
            raise UserError(
                f"{self.title}, step {step}: the loss is NaN or infinite; checkpoints are of "
                "earlier steps; try a lower --learning-rate-scale or a --clip-norm, in a new --run"
            )
        self.pending.clear()
        training.sums_so_far.assign_add(sums.sum(axis=0))
        training.position.assign_add(len(sums))
        return sums.sum(axis=0)

    def warn_of_loss(self, where, loss):
        """Logs, once, that a mean loss per token is far above that of guessing.

        Args:
          where: epoch and step, or validation, as text.
          loss: in nats.
        """
        guessing = math.log(self.training.vocab_size)
        if self.warned or loss <= FAR_ABOVE * guessing:
            return
        self.warned = True
        log.warning(
            f"{where}: the loss is {loss:.3g}, that of guessing all tokens alike {guessing:.1f}: "
            "training diverges. In a new --run, try a lower "
            "--learning-rate-scale, more --warmup-steps, or a --clip-norm."
        )

    def estimate(self, batches, seconds, left):
        """Reports, once, how long training will take, from `seconds` for so many `batches`."""
        self.estimated = True
        epochs = self.training.options["epochs"] - int(self.training.epoch)  # with this one
        left += (epochs - 1) * self.steps
        log.info(
            f"{plural(epochs, 'epoch')} will take about {duration(seconds / batches * left)}, then "
            "come scores and pictures."
        )

    def time_left(self, epochs, test_share):
        """Returns as text what `seconds_left` says; empty before any epoch is measured."""
        if not self.step_seconds:
            return ""
        return f"; about {duration(self.seconds_left(epochs, test_share))} left"

    def seconds_left(self, epochs, test_share):
        """Returns how long the rest of a run will take, from what its parts have taken so far.

        Args:
          epochs: that are left.
          test_share: lines of the test split per line of the validation split.
        """
        options, loss = self.training.options, self.validation_seconds
        validation = loss + self.translation_seconds
        hypothesis = self.translation_seconds or TRANSLATION_SHARE * loss
        training = epochs * (self.steps * self.step_seconds + validation)
        averaging = (min(options["average"], options["epochs"]) + 1) * validation
        scoring = (loss + options["beam"] * hypothesis) * test_share
        return training + averaging + scoring + self.picture_seconds

    # ---- TensorBoard ----

    @property
    def step(self):
        """The optimizer steps so far."""
        return self.training.optimizer.iterations.numpy()

    def log(self, group, **metrics):
        """Writes metrics for TensorBoard, as curves `group`/name."""
        with self.writer.as_default(step=self.step):
            for name, value in metrics.items():
                tf.summary.scalar(f"{group}/{name}", value)

    def log_translations(self, rows):
        """Writes rows of (source, reference, translation) for TensorBoard, as a table."""
        table = ["|source|reference|translation|", "|---|---|---|"]
        table += ["|" + "|".join(text.replace("|", "\\|") for text in row) + "|" for row in rows]
        with self.writer.as_default(step=self.step):
            tf.summary.text("translations", "\n".join(table))
        self.writer.flush()


def drop_later_events(logs, step):
    """Removes the TensorBoard events after `step`, from which the run resumes.

    Its steps are trained and logged again; TensorBoard would draw them twice.

    Args:
      logs: the folder of event files, which are TFRecord files.
      step: the optimizer steps of the checkpoint; -1 without any, to remove all events.

    Raises:
      UserError: the folder cannot be written to.
    """
    from tensorboard.compat.proto.event_pb2 import Event

    for path in sorted(logs.glob("events.out.tfevents.*")):
        unfinished, dropped = path.with_name("unfinished"), 0
        try:
            with (
                tf.io.TFRecordWriter(str(unfinished)) as writer,
                contextlib.suppress(tf.errors.DataLossError),  # half a last record, after a kill
            ):
                for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
                    event = Event.FromString(record)
                    if event.step <= step or event.HasField("file_version"):
                        writer.write(record)
                    else:
                        dropped += 1
            if dropped:
                output.move(unfinished, path)
            else:
                unfinished.unlink()
        except (tf.errors.OpError, OSError) as error:
            raise UserError(
                f"{logs}: cannot be written ({reason(error)}); free some space"
            ) from None
