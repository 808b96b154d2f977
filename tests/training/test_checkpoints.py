"""What must hold of checkpoints: a training ends as if it had never been ended before its time."""

import gc
import json
import logging
import math
import os
import random
import re
import signal
import tempfile
import time
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace
from unittest import mock

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import (
    TINY,
    UNSCORED_PROGRAM,
    random_batches,
    run_process,
    sentences,
    start_process,
    tiny_training,
    write_tsv,
)
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from nmt import Interrupted, UserError
from nmt.corpus.batches import Text
from nmt.network.named_variables import named_variables
from nmt.options import Options
from nmt.runs.lock import LockedRun
from nmt.runs.request import TrainingRequest
from nmt.runs.session import Session
from nmt.training import averaging, checkpoints, cluster, metrics, schedules, signals, tensorboard
from nmt.training.checkpoint_files import lost_index
from nmt.training.run_folder import RunFolder


class State:
    """The least that a Keeper can keep: where a training is, and a weight."""

    def __init__(self, folder, weight=0.0):
        self.epoch, self.position = tf.Variable(0), tf.Variable(0)
        self.weight = tf.Variable(weight)
        self.run = RunFolder(folder)
        self.checkpoint = tf.train.Checkpoint(
            epoch=self.epoch, position=self.position, weight=self.weight
        )
        self.keeper = checkpoints.Keeper(self.checkpoint, self.run, kept_epochs=3, minutes=10)

    def save(self, epoch, position, weight):
        self.epoch.assign(epoch)
        self.position.assign(position)
        self.weight.assign(weight)
        folder = self.run.timed if position else self.run.checkpoints
        self.keeper.save(folder, position or epoch)


def saved(folder, epochs):
    """Returns a State that has saved so many epochs; after each, its weight is their number."""
    state = State(folder)
    for epoch in range(1, epochs + 1):
        state.save(epoch, 0, float(epoch))
    return state


def dataset_of(batches):
    return tf.data.Dataset.from_tensor_slices(tuple(map(tf.stack, zip(*batches, strict=True))))


def damage(path, byte=-3):
    """Turns a byte of a file over."""
    content = bytearray(path.read_bytes())
    content[byte] ^= 255
    path.write_bytes(content)


def test_training_resumes_from_the_newest_checkpoint(tmp_path, capsys):
    State(tmp_path).save(1, 0, 1.0)
    State(tmp_path).save(1, 70, 1.7)
    later = State(tmp_path)
    assert later.keeper.restore_newest().endswith("timed/ckpt-70")
    assert (int(later.epoch), int(later.position), float(later.weight)) == (1, 70, np.float32(1.7))
    later.save(2, 0, 2.0)  # what was timed in the epoch before is behind it
    again = State(tmp_path)
    assert again.keeper.restore_newest().endswith("checkpoints/ckpt-2")
    assert float(again.weight) == 2
    assert State(tmp_path / "new").keeper.restore_newest() is None
    assert not capsys.readouterr().err


def test_what_a_kill_left_half_written_or_half_removed_goes_with_the_next_save(tmp_path):
    state, folder = saved(tmp_path, 5), tmp_path / "checkpoints"
    kept = sorted(f"ckpt-{epoch}{end}" for epoch in (4, 5, 6) for end in (".data", ".index"))
    (folder / "ckpt-2.data-00000-of-00001").write_bytes(b"its index went first")
    (folder / "ckpt-6.data-00000-of-00001.tempstate123").write_bytes(b"half")
    (folder / "ckpt-of-mine").mkdir()
    state.save(6, 0, 6.0)
    assert (folder / "ckpt-of-mine").is_dir()
    (folder / "ckpt-of-mine").rmdir()
    assert sorted(path.name.removesuffix("-00000-of-00001") for path in folder.iterdir()) == kept


@pytest.mark.parametrize("what", ["data", "index", "missing"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(tmp_path, what, capsys):
    saved(tmp_path, 2)
    (data,) = tmp_path.glob("checkpoints/ckpt-2.data*")
    if what == "missing":
        data.unlink()
    else:
        damage(data if what == "data" else tmp_path / "checkpoints" / "ckpt-2.index")
    (tmp_path / "checkpoints" / "checkpoint").write_bytes(b"\xff")  # TensorFlow's list of them
    later = State(tmp_path)
    assert later.keeper.restore_newest().endswith("ckpt-1")
    assert float(later.weight) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "ckpt-2" in said[0]
    for path in tmp_path.glob("checkpoints/ckpt-1.data*"):
        path.write_bytes(b"")
    with pytest.raises(UserError, match="no checkpoint there can be read"):
        State(tmp_path).keeper.restore_newest()


def test_tensorflow_adds_nothing_to_what_is_said_of_a_damaged_checkpoint(tmp_path):
    written = tf.train.Checkpoint(weight=tf.Variable(1.0), optimizer=tf.Variable(2.0))
    checkpoints.write(written, tmp_path / "ckpt-1")
    for path in tmp_path.glob("*.data*"):
        damage(path, byte=0)
        damage(path, byte=4)
    logged = logging.Handler()
    logged.emit = mock.Mock()
    logging.getLogger("tensorflow").addHandler(logged)
    checkpoint = tf.train.Checkpoint(weight=tf.Variable(0.0))
    with pytest.raises(UserError, match="ckpt-1: damaged, or of another model"):
        checkpoints.restore(checkpoint, str(tmp_path / "ckpt-1"))
    del checkpoint
    gc.collect()  # TensorFlow logs when the last of it is collected
    logging.getLogger("tensorflow").removeHandler(logged)
    logged.emit.assert_not_called()


@pytest.fixture
def unignored():
    """No signal is ignored, as it would be in tests that nohup or a shell's & started."""
    numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_the_steps_of_a_whole_run_are_read_without_its_network(tmp_path):
    path = str(tmp_path / "ckpt-3")
    tf.train.Checkpoint(epoch=tf.Variable(3), steps=tf.Variable(4711)).write(path)
    assert checkpoints.planned_steps(path) == 4711
    Path(f"{path}.index").write_bytes(b"no index")
    with pytest.raises(UserError, match="ckpt-3: damaged"):
        checkpoints.planned_steps(path)


@pytest.mark.usefixtures("unignored")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_until_the_training_is_saved(tmp_path, number):
    keeper, before = State(tmp_path).keeper, signal.getsignal(number)

    def train():
        with keeper:
            assert not keeper.agree_on_signals()
            os.kill(os.getpid(), number)
            keeper.raise_if_interrupted()  # not yet: it is to be saved first
            assert keeper.agree_on_signals()
            keeper.raise_if_interrupted()

    with pytest.raises(Interrupted) as end:
        train()
    assert end.value.number == number
    assert signal.getsignal(number) == before


@pytest.mark.usefixtures("unignored")
def test_a_closed_terminal_may_hang_up_twice_and_a_later_hangup_ends_at_once(tmp_path, monkeypatch):
    keeper, now, killed = State(tmp_path).keeper, time.monotonic(), []

    def train():
        with keeper:
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGHUP)  # the terminal's, then the shell's
            monkeypatch.setattr(os, "kill", lambda *call: killed.append(call))
            monkeypatch.setattr(signals.time, "monotonic", lambda: now + 9)
            assert not killed
            keeper.signals.note(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
            keeper.agree_on_signals()
            keeper.raise_if_interrupted()

    with pytest.raises(Interrupted) as end:
        train()
    assert end.value.number == signal.SIGHUP
    assert killed == [(os.getpid(), signal.SIGHUP)]


def test_nohup_stays_deaf(tmp_path):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with State(tmp_path).keeper as keeper:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not keeper.agree_on_signals()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_that_comes_while_the_workers_agree_waits_for_the_next_time(tmp_path, monkeypatch):
    keeper = State(tmp_path).keeper
    keeper.workers = keeper.signals.workers = cluster.Cluster(["a:1", "b:2"])
    totals = iter([0.0, 0.0, 1.0, 1.0])  # of both; the signal is this one's

    def total(own):
        keeper.signals.received = signal.SIGINT  # once `own` is known
        return next(totals)

    monkeypatch.setattr(keeper.workers, "total", total)
    assert not keeper.agree_on_signals()
    keeper.raise_if_interrupted()
    assert keeper.agree_on_signals()
    with pytest.raises(Interrupted) as end:
        keeper.raise_if_interrupted()
    assert end.value.number == signal.SIGINT


def test_a_worker_ends_when_another_is_to(tmp_path, monkeypatch):
    keeper = State(tmp_path).keeper
    keeper.workers = keeper.signals.workers = cluster.Cluster(["a:1", "b:2"])
    others = iter([1.0, 0.0])  # asked to end; what is no chief's counts for nothing
    monkeypatch.setattr(keeper.workers, "total", lambda own: own + next(others))
    assert keeper.agree_on_signals()
    with pytest.raises(Interrupted) as end:
        keeper.raise_if_interrupted()
    assert end.value.number == signal.SIGTERM


def test_a_checkpoint_is_due_after_so_many_minutes(tmp_path, monkeypatch):
    state, now = State(tmp_path), checkpoints.time.monotonic()
    for seconds, is_due in ((590, False), (601, True)):
        monkeypatch.setattr(checkpoints.time, "monotonic", lambda seconds=seconds: now + seconds)
        assert state.keeper.agree_on_signals() is is_due
    state.save(0, 5, 1.0)
    assert not state.keeper.agree_on_signals()


def test_so_many_checkpoints_are_kept_and_the_one_just_saved_is_among_them(tmp_path):
    state = saved(tmp_path, 5)
    folder = state.run.checkpoints
    assert [path[-6:] for path in checkpoints.paths(folder)] == ["ckpt-3", "ckpt-4", "ckpt-5"]
    state.save(4, 7, 4.5)  # as after going back from a damaged one
    state.save(4, 3, 4.5)
    assert [path[-6:] for path in checkpoints.paths(state.run.timed)] == ["ckpt-3"]
    assert {path.suffix for path in folder.iterdir() if path.is_file()} == {
        ".index",
        ".data-00000-of-00001",
    }


def test_as_many_epochs_are_kept_as_are_averaged(tmp_path):
    state = State(tmp_path)
    for average, kept in ((1, 3), (5, 5)):
        session = SimpleNamespace(
            options=Options(average=average), run=state.run, workers=cluster.ALONE,
            request=TrainingRequest(),
        )  # fmt: skip
        state.keeper = Session.keeper(session, state.checkpoint)
        for epoch in range(1, 7):
            state.save(epoch, 0, 1.0)
        assert len(checkpoints.paths(state.run.checkpoints)) == kept


def test_what_makes_a_checkpoint_valid_is_removed_first(tmp_path, monkeypatch):
    state, removed, unlink = saved(tmp_path, 3), [], Path.unlink

    def removing(path, **options):
        removed.append(path.name)
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", removing)
    state.save(4, 0, 4.0)
    assert [name for name in removed if name.startswith("ckpt-1.")] == [
        "ckpt-1.index", "ckpt-1.data-00000-of-00001",
    ]  # fmt: skip


def test_files_that_only_resemble_checkpoints_are_left_alone(tmp_path):
    State(tmp_path).save(3, 0, 1.0)
    strange = [tmp_path / "checkpoints" / name for name in ("ckpt-3 (1).index", "ckpt-x.index")]
    for path in strange:
        path.write_bytes(b"")
    assert [path[-6:] for path in checkpoints.paths(tmp_path / "checkpoints")] == ["ckpt-3"]
    State(tmp_path).save(4, 0, 1.0)
    assert all(path.exists() for path in strange)


def test_a_folder_in_use_is_refused(tmp_path):
    in_use = pytest.raises(UserError, match="another process is training here")
    with LockedRun(RunFolder(tmp_path / "run")), in_use:
        LockedRun(RunFolder(tmp_path / "run"))
    LockedRun(RunFolder(tmp_path / "run"))


def test_a_loss_that_is_no_number_stops_the_training_and_names_the_step():
    training = tiny_training()
    table = training.transformer.encoder.embedding.embeddings
    table.assign(tf.tensor_scatter_nd_update(table, [[19]], [[np.nan] * 8]))
    batches = [(tf.where(inp == 19, 18, inp), tar) for inp, tar in random_batches(9)]
    batches[6] = (tf.where(batches[6][0] > 3, 19, batches[6][0]), batches[6][1])
    with pytest.raises(UserError, match="Epoch 1, batch 7: the loss is NaN or infinite"):
        training.train_epoch(dataset_of(batches), 9, "Epoch 1")


def test_weights_that_the_last_step_makes_nan_stop_the_training_before_it_is_saved(monkeypatch):
    """The loss, which comes before the step, is finite."""
    monkeypatch.setattr(schedules, "learning_rate", lambda *_: np.nan)
    training, batches = tiny_training(schedule="constant"), random_batches(1)
    assert np.isfinite(training.validator.validate_batch(*batches[0]).numpy()).all()
    with pytest.raises(UserError, match="Epoch 1, batch 1: the loss is NaN or infinite"):
        training.train_epoch(dataset_of(batches), 1, "Epoch 1")


def make_older(events):
    """Renames a file of events, whose name holds the seconds by which such files are ordered."""
    events.rename(events.with_name(re.sub(r"\d{10}", "1600000000", events.name, count=1)))


@pytest.mark.parametrize(("saved", "again"), [(40, 60), (-1, 0)])  # -1: nothing
def test_tensorboard_forgets_the_steps_that_are_done_again(tmp_path, saved, again):
    def log(steps):
        with tf.summary.create_file_writer(str(tmp_path)).as_default():
            for step in steps:
                tf.summary.scalar("training/loss", 1.0, step)

    log(range(0, 100, 20))  # 0: of accumulated batches before the first step
    (events,) = tmp_path.glob("events*")
    with events.open("ab") as file:
        file.write(b"\x10\0\0\0")  # a record that is not whole
    make_older(events)
    tensorboard.drop_later_events(tmp_path, saved)  # of a run saved then, and killed after step 80
    log(range(again, 101, 20))
    events = EventAccumulator(str(tmp_path)).Reload()
    steps = [one.step for one in events.Tensors("training/loss")]
    assert steps == [*range(0, 101, 20)]


def test_an_interrupted_epoch_counts_the_seconds_before_and_after(tmp_path):
    run, training = RunFolder(tmp_path), tiny_training()
    training.epochs.position.assign(70)
    training.epochs.times.begin_epoch(seconds_before=100)
    training.epochs.save_seconds(run)
    after = tiny_training()
    assert after.epochs.saved_seconds(run) == 0  # of another position
    after.epochs.position.assign(70)
    assert 100 < after.epochs.saved_seconds(run) < 110
    (tmp_path / "progress.json").write_text('["damaged"]')
    assert after.epochs.saved_seconds(run) == 0


def test_the_best_epoch_is_kept_where_its_metrics_are_lost(tmp_path, monkeypatch):
    run, training = RunFolder(tmp_path), tiny_training()
    keeper = checkpoints.Keeper(training.checkpoint, run, kept_epochs=3, minutes=10)
    losses = {1: 1.0, 2: 3.0, 3: 2.0}
    monkeypatch.setattr(
        training.validator, "validate",
        lambda *_: dict(val_loss=losses[int(training.epochs.epoch)], val_accuracy=0.5),
    )  # fmt: skip
    training.epochs.sums_so_far.assign([8.0, 1.0, 4.0])
    training.epochs.epoch.assign(1)
    keeper.save(run.best, 1)
    training.epochs.epoch.assign(2)
    keeper.save(run.checkpoints, 2)
    text = Text(None, None, None)
    training.epochs.recover_best(keeper, text, checkpoints.paths(run.checkpoints)[-1])
    assert int(training.epochs.epoch) == 2  # where it resumes
    for epoch in (2, 3):
        training.epochs.epoch.assign(epoch)
        training.epochs.history.append(training.epochs.metrics_of_epoch(text))
    assert training.epochs.best_epoch == 1
    assert [training.epochs.history[0][name] for name in ("loss", "val_loss")] == [2.0, 1.0]
    assert json.loads((tmp_path / "history.json").read_text()) == training.epochs.history[:1]


def test_a_signal_after_the_last_save_ends_the_run_too(tmp_path):
    def train():
        with State(tmp_path).keeper:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        train()


def test_an_epoch_of_which_every_batch_was_learned_from_ends(tmp_path):
    training, data = tiny_training(), dataset_of(random_batches(6))
    training.train_epoch(data, 6, "")
    before = training.epochs.sums_so_far.numpy()
    assert int(training.epochs.position) == 6
    # As resumed from a checkpoint at its end.
    assert training.train_epoch(data.skip(6), 6, "") == 0
    np.testing.assert_array_equal(training.epochs.sums_so_far.numpy(), before)


@pytest.mark.parametrize("name", ["[x]", "a\\b", "a*?b", "]{a,b}~ %s#&;"])
def test_checkpoints_are_read_in_a_folder_of_any_name(tmp_path, name, monkeypatch):
    state = State(tmp_path / name / "run")
    state.save(1, 0, 1.0)
    state.save(1, 70, 1.7)
    later = State(tmp_path / name / "run")
    assert later.keeper.restore_newest().endswith("timed/ckpt-70")
    assert float(later.weight) == np.float32(1.7)
    monkeypatch.chdir(tmp_path / name)  # TensorFlow is given absolute paths or relative ones
    assert State("run").keeper.restore_newest().endswith("timed/ckpt-70")


def test_a_folder_for_temporary_files_that_is_a_pattern_too_is_named(tmp_path, monkeypatch):
    (tmp_path / "[x]").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "[x]"))
    with pytest.raises(UserError, match="set TMPDIR to a folder without any of"):
        State(tmp_path / "[x]").keeper.restore_newest()


def test_a_checkpoint_is_on_the_disk_before_its_name_is(tmp_path, monkeypatch):
    """The order of what a loss of power would undo: flushes, by name, and renamings."""
    calls, fsync, replace = [], os.fsync, os.replace

    def flushed(descriptor):
        calls.append(("flush", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))
        fsync(descriptor)

    def renamed(path, target):
        calls.append(("name", Path(target).name))
        replace(path, target)

    state = State(tmp_path)
    state.save(1, 0, 1.0)
    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", renamed)
    state.save(2, 0, 2.0)
    data, index = "ckpt-2.data-00000-of-00001", "ckpt-2.index"
    before = calls[: calls.index(("name", data))]
    assert {("flush", data), ("flush", index)} <= {*before}
    after = calls[calls.index(("name", data)) :]
    expected = [("flush", "checkpoints"), ("name", index), ("flush", "checkpoints")]
    assert after == [("name", data), *expected]


def test_what_a_kill_left_goes_at_the_next_start(tmp_path):
    state = State(tmp_path)
    state.save(1, 0, 1.0)
    state.save(1, 70, 1.7)
    for folder in (tmp_path / "checkpoints", tmp_path / "checkpoints" / "timed"):
        for name in ("ckpt-9_temp", "unfinished"):
            (folder / name).mkdir()
            (folder / name / "part-00000-of-00001.data-00000-of-00001").write_bytes(b"half")
        (folder / "ckpt-8.data-00000-of-00001").write_bytes(b"its index is missing")
    with State(tmp_path).keeper:
        pass
    names = [path.name for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()]
    ends = ".data-00000-of-00001", ".index"
    assert sorted(names) == [f"ckpt-{number}{end}" for number in (1, 70) for end in ends]
    assert [path.name for path in tmp_path.glob("checkpoints/*/")] == ["timed"]


def test_an_index_is_lost_unless_a_kill_explains_that_it_is_missing(tmp_path):
    def lost(*names):
        folder = tmp_path / "-".join(names).replace("/", "-")
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(b"")
        index = lost_index(folder)
        return index and index.name

    data = ".data-00000-of-00001"
    assert lost(f"ckpt-2{data}") == "ckpt-2.index"
    assert lost(f"ckpt-2{data}", "ckpt-3.index") is None  # it was being removed
    assert lost(f"ckpt-4{data}", "ckpt-3.index") is None  # it was being copied
    assert lost(f"ckpt-2{data}", "unfinished/ckpt-2.index") is None  # it was being saved
    assert lost(f"ckpt-2{data}", "ckpt-2.index") is None
    assert lost(f"ckpt-of-mine{data}") is None


def test_a_damaged_older_checkpoint_is_no_reason_to_say_anything(tmp_path, capsys):
    state = saved(tmp_path, 3)
    damage(*tmp_path.glob("checkpoints/ckpt-2.index"))
    assert State(tmp_path).keeper.restore_newest().endswith("ckpt-3")
    assert not capsys.readouterr().err
    state.save(3, 70, 3.7)
    damage(*tmp_path.glob("checkpoints/timed/ckpt-70.index"))
    assert State(tmp_path).keeper.restore_newest().endswith("ckpt-3")
    (line,) = capsys.readouterr().err.splitlines()
    assert "ckpt-70 cannot be read" in line
    assert line.endswith("it is left out.")


def test_few_batches_wait_in_memory_for_the_threads_that_compute_them():
    made, most_waiting = 0, 0

    def batches():
        nonlocal made
        for number in range(100):
            made += 1
            yield (number,)

    results = []
    for result in metrics.in_parallel(lambda number: 10 * number, batches(), threads=2):
        results.append(result)
        most_waiting = max(most_waiting, made - len(results))
    assert results == [10 * number for number in range(100)]  # in their order
    assert most_waiting <= 4


def test_averaging_leaves_a_damaged_checkpoint_out_and_says_so(tmp_path, capsys):
    state = saved(tmp_path, 3)
    state.keeper.save(state.run.best, 1)
    for name in ("ckpt-2.index", "best/ckpt-1.index"):
        damage(tmp_path / "checkpoints" / name)

    def validate():  # the mean of 3 and 1 is best
        return dict(val_loss=abs(float(state.weight) - 2), val_accuracy=0.0)

    averaging.average(state.checkpoint, [state.weight], state.keeper, 3, validate)
    said = capsys.readouterr().err.splitlines()
    assert [line.endswith("It is left out of the final weights.") for line in said] == [
        False, True, True, False,
    ]  # fmt: skip
    assert "checkpoints/ckpt-2: damaged" in said[1]
    assert "best/ckpt-1: damaged" in said[2]
    assert said[-1].startswith("Final weights: the mean of the newest 2 epochs, ")
    assert float(state.weight) == 2


def test_averaging_keeps_few_candidates_in_memory(tmp_path):
    state, alive = State(tmp_path), []
    state.keeper = checkpoints.Keeper(state.checkpoint, state.run, kept_epochs=8, minutes=10)
    for epoch in range(1, 9):
        state.save(epoch, 0, float(epoch))
    state.keeper.save(state.run.best, 8)  # the last epoch's, which is validated once
    gc.collect()

    def validate():
        tuples = (item for item in gc.get_objects() if type(item) is averaging.Candidate)
        alive.append(sum(1 for _ in tuples))
        return dict(val_loss=float(state.weight), val_accuracy=0.0)  # each is better than before

    averaging.average(state.checkpoint, [state.weight], state.keeper, 8, validate)
    assert len(alive) == 8
    assert max(alive) <= 3  # the last epoch's, the best so far, and the one before


@pytest.mark.slow
def test_a_training_killed_again_and_again_ends_bit_for_bit_as_one_never_killed(tmp_path):
    tsv, chance = write_tsv(tmp_path / "numbers.tsv", sentences(3000)), random.Random(3)
    command = [*UNSCORED_PROGRAM, "--dataset", tsv, *TINY, "--batch-size", "16"]
    command += ["--dropout-rate", "0.3", "--checkpoint-minutes", "0.003", "--no-plots"]
    command += ["--epochs", "4", "--run"]
    run_process([*command, tmp_path / "whole"], check=True)
    ends = []
    for number in (signal.SIGKILL, signal.SIGINT):
        process = start_process([*command, tmp_path / "killed"], stderr=PIPE, bufsize=0)
        said = b""
        while b" tokens/s" not in said:  # a line after the first steps
            piece = process.stderr.read(4096)
            assert piece, said.decode()
            said += piece
        time.sleep(chance.uniform(0, 0.7))
        process.send_signal(number)
        process.stderr.read()
        ends.append(process.wait())
    assert ends == [-9, 130]
    done = run_process([*command, tmp_path / "killed"])
    assert done.returncode == 0, done.stderr
    assert "Resuming from" in done.stderr
    for name in ("checkpoints/ckpt-4", "checkpoints/final/ckpt-4"):
        whole, killed = (
            tf.train.load_checkpoint(str(tmp_path / run / name)) for run in ("whole", "killed")
        )
        names = [n for n in whole.get_variable_to_shape_map() if "_OBJECT" not in n]
        compared = [n for n in names if "save_counter" not in n]
        assert len(compared) > 100
        for variable in compared:
            np.testing.assert_array_equal(
                killed.get_tensor(variable), whole.get_tensor(variable), err_msg=variable
            )


# ---- Names ----


def test_a_checkpoint_names_every_variable_by_the_way_of_attributes_to_it(tmp_path):
    training = tiny_training(pre_norm=True, tie_embeddings=True, dropout_rate=0.1, logits_bias=True)
    checkpoints.write(training.checkpoint, tmp_path / "ckpt-1")
    suffix = "/.ATTRIBUTES/VARIABLE_VALUE"
    shapes = tf.train.load_checkpoint(str(tmp_path / "ckpt-1")).get_variable_to_shape_map()
    shapes = {name.removesuffix(suffix): shape for name, shape in shapes.items()}
    assert shapes["model/encoder/enc_layers/1/mha/wq/kernel"] == [8, 8]
    assert shapes["model/decoder/dec_layers/1/ffn/layers/2/kernel"] == [16, 8]
    assert shapes["model/final_layer/bias"] == [training.options.vocab_size]
    assert shapes["optimizer/velocity/decoder/dec_layers/1/layernorm3/gamma"] == [8]
    shared = [name for name in shapes if name.startswith("model/") and "embedding" in name]
    assert shared == ["model/encoder/embedding/embeddings"]
    network = [name for name in shapes if name.startswith("model/")]
    assert len(network) == len(training.transformer.variables)
    optimizer = [math.prod(shapes[name]) for name in shapes if name.startswith("optimizer/")]
    assert sum(optimizer) == 2 * training.transformer.count_params() + 1  # Adam's moments, its step
    assert shapes.keys() >= {"optimizer/step", "epoch", "position", "sums", "steps"}


def test_variables_of_two_lists_have_names_of_their_own():
    layer = keras.layers.Layer()
    layer.first, layer.second = ([keras.layers.Dense(1)] for _ in range(2))
    for dense in (*layer.first, *layer.second):
        dense.build((None, 1))
    assert [*named_variables(layer)] == [
        "first/1/kernel", "first/1/bias", "second/1/kernel", "second/1/bias"
    ]  # fmt: skip
