"""What must hold of what is reported while a run trains."""

import math

import pytest
import tensorflow as tf
from helpers import tiny_training

from nmt.training import loop


def test_the_last_batches_of_an_epoch_that_is_resumed_are_no_measure():
    """They are few, and the first of them trace functions."""
    training = tiny_training(vocab_size=20)
    batches = tf.data.Dataset.from_tensors(tf.ones((2, 4), tf.int32)).repeat()
    for first, measured in ((0, True), (8, False)):
        training.epochs.position.assign(first)
        training.epochs.times.batch_seconds = 0.0
        training.train_epoch(tf.data.Dataset.zip(batches, batches).take(10 - first), 10, "")
        assert bool(training.epochs.times.batch_seconds) is measured


@pytest.mark.parametrize(
    ("accumulate", "agreed"),
    [(1, [20, 40, 60]), (3, [21, 42, 60]), (27, [27, 54, 81])],
)
def test_workers_agree_after_the_first_step_of_each_twenty_batches(accumulate, agreed):
    ends = range(accumulate, 500, accumulate)
    agreements = [number for number in ends if loop.workers_agree_after(number, accumulate)]
    assert agreements[:3] == agreed


def test_a_loss_far_above_that_of_guessing_is_reported_once(capsys):
    training = tiny_training(vocab_size=20)
    training.epochs.warn_of_loss(
        "Epoch 1/2, batch 20", 2 * math.log(20)
    )  # as at the beginning of many runs
    assert capsys.readouterr().err == ""
    training.epochs.warn_of_loss("Epoch 1/2, validation", 4e11)
    training.epochs.warn_of_loss("Epoch 2/2, batch 20", 5e11)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Epoch 1/2, validation: the loss is 4e+11, that of guessing all tokens")
    assert "3.0: training diverges" in line
    assert "--learning-rate-scale" in line
