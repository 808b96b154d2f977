"""What a training run writes for TensorBoard: curves by optimizer step, and translations."""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tensorflow as tf

from nmt import UserError, output
from nmt.messages import reason


class TensorBoard:
    """Writes event files.

    Args:
      folder: for the files; None to write nothing.
    """

    def __init__(self, folder: Path | None = None):
        self._writer = (
            tf.summary.create_file_writer(str(folder))
            if folder
            else tf.summary.create_noop_writer()
        )

    def log(self, step: int, group: str, **metrics: Any) -> None:
        """Writes metrics as curves `group`/name, at an optimizer step."""
        with self._writer.as_default(step=step):
            for name, value in metrics.items():
                tf.summary.scalar(f"{group}/{name}", value)

    def log_translations(self, step: int, rows: Iterable[tuple[str, str, str]]) -> None:
        """Writes rows of (source, reference, translation) as a table."""
        table = ["|source|reference|translation|", "|---|---|---|"]
        for row in rows:
            cells = [text.replace("|", "\\|") for text in row]
            table.append(f"|{'|'.join(cells)}|")
        with self._writer.as_default(step=step):
            tf.summary.text("translations", "\n".join(table))
        self._writer.flush()


def drop_later_events(logs: Path, step: int) -> None:
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
