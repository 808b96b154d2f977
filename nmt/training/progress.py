"""Figures of a training for TensorBoard: what a resumed training takes back."""

import contextlib
import os

import tensorflow as tf
from tensorboard.compat.proto.event_pb2 import Event


def drop_later_events(logs, step):
    """Removes what was logged after `step`, from which the training resumes.

    Its steps are done and logged again; TensorBoard would draw them twice.

    Args:
      logs: the folder of event files, of which each is a TFRecord file.
    """
    for path in sorted(logs.glob("events.out.tfevents.*")):
        unfinished, dropped = path.with_name("unfinished"), 0
        with (
            tf.io.TFRecordWriter(str(unfinished)) as writer,
            contextlib.suppress(tf.errors.DataLossError),  # a kill may leave half a last record
        ):
            for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
                if Event.FromString(record).step <= step:
                    writer.write(record)
                else:
                    dropped += 1
        if dropped:
            os.replace(unfinished, path)
        else:
            unfinished.unlink()
