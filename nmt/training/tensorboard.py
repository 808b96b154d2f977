"""What a training run writes for TensorBoard: options, curves by optimizer step, translations."""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams_api
from tensorboard.plugins.hparams.metadata import SESSION_START_INFO_TAG

from nmt import UserError, output
from nmt.messages import reason
from nmt.training.listeners import (
    EpochRecord,
    FinalRecord,
    Listener,
    Record,
    RunRecord,
    StepRecord,
    curves,
)


class TensorBoard(Listener):
    """Writes event files: curves, options for the HParams dashboard, and translations."""

    def __init__(self) -> None:
        self._writer = tf.summary.create_noop_writer()
        self._step = 0

    def begin(self, run: RunRecord) -> None:
        self._writer, self._step = tf.summary.create_file_writer(str(run.folder.logs)), run.step
        with self._writer.as_default(step=run.step):
            hparams_api.hparams(run.options)

    def take(self, record: Record) -> None:
        self._step = self._step if isinstance(record, FinalRecord) else record.step
        with self._writer.as_default(step=self._step):
            for name, value in curves(record).items():
                tf.summary.scalar(name, value)
            if isinstance(record, EpochRecord):
                tf.summary.text("translations", translation_table(record.samples))
        if not isinstance(record, StepRecord):
            self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def translation_table(rows: Iterable[tuple[str, str, str]]) -> str:
    """Returns rows of (source, reference, translation) as a table of Markdown."""
    table = ["|source|reference|translation|", "|---|---|---|"]
    for row in rows:
        cells = [text.replace("|", "\\|") for text in row]
        table.append(f"|{'|'.join(cells)}|")
    return "\n".join(table)


def drop_later_events(logs: Path, step: int) -> None:
    """Removes the TensorBoard events after `step`, from which the run resumes; -1 removes all.

    Its steps are trained and logged again; TensorBoard would draw them twice.
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
                    if _is_kept(event, step):
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


def _is_kept(event: Any, step: int) -> bool:
    """Returns whether an event is not written again by a run that resumes from `step`."""
    if any(value.tag == SESSION_START_INFO_TAG for value in event.summary.value):
        return False  # the options, of which TensorBoard reads the first
    return event.step <= step or event.HasField("file_version")
