"""What must hold of the plan of a run: its steps, its epochs, and where it resumes."""

import json
import shutil

import pytest
import tensorflow as tf
from helpers import LEARNING, call

from nmt.options import Options
from nmt.training.loop import is_finished
from nmt.training.plan import Plan, Progress

START = Progress(0, 0, 0)


def course(plan, first=START):
    """Returns the epochs of a run as (pass, first batch, batches, last step)."""
    epochs, progress = [], first
    while not plan.is_done(progress):
        number, batch = plan.first_batch(progress)
        batches, end = plan.batches_of_epoch(progress), plan.end_of_epoch(progress)
        epochs.append((number, batch, batches, end))
        progress = Progress(end, progress.epoch + 1, 0)
    assert progress.step == plan.total_steps(progress) == plan.total_steps(first)
    return epochs


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Plan(10, 1, 2, 0, 0), [(0, 0, 10, 10), (1, 0, 10, 20)]),
        (Plan(10, 4, 2, 0, 0), [(0, 0, 10, 3), (1, 0, 10, 6)]),  # the last step has 2 batches
        (Plan(10, 1, 9, 25, 0), [(0, 0, 10, 10), (1, 0, 10, 20), (2, 0, 5, 25)]),
        (Plan(10, 1, 1, 0, 4), [(0, 0, 4, 4), (0, 4, 4, 8), (0, 8, 2, 10)]),
        (Plan(10, 1, 9, 26, 12), [(0, 0, 12, 12), (1, 2, 12, 24), (2, 4, 2, 26)]),
        (Plan(10, 4, 2, 0, 2), [(0, 0, 8, 2), (0, 8, 8, 4), (1, 6, 4, 5)]),
    ],
)
def test_steps_are_divided_into_epochs(plan, expected):
    assert course(plan) == expected
    assert plan.epochs_left(START) == len(expected)


def test_an_interrupted_epoch_ends_where_it_would_have_ended():
    for plan, progress in (
        (Plan(10, 2, 3, 0, 0), Progress(7, 1, 4)),
        (Plan(10, 2, 3, 12, 0), Progress(7, 1, 4)),
        (Plan(10, 2, 3, 14, 5), Progress(7, 1, 4)),
    ):
        *_, before = course(plan)[:2]
        assert plan.end_of_epoch(progress) == before[3] == 10
        assert plan.batches_of_epoch(progress) == before[2] == 10
        number, batch = plan.first_batch(progress)
        assert 10 * number + batch == 14
        assert plan.total_steps(progress) == plan.total_steps(START)


def test_a_pass_that_the_last_step_ended_counts_as_much_as_was_done():
    plan = Plan(100, 1, 9, 10, 0)
    assert plan.passes_done(Progress(10, 1, 0)) == 0.1
    longer = Plan(100, 1, 9, 300, 0)
    assert longer.leaves_out(Progress(10, 1, 0))
    assert not longer.leaves_out(Progress(100, 1, 0))
    assert not longer.leaves_out(Progress(50, 0, 50))  # interrupted: the same pass goes on
    assert not Plan(100, 1, 9, 300, 7).leaves_out(Progress(10, 1, 0))


def test_a_longer_run_continues_after_a_shorter_last_epoch():
    assert course(Plan(10, 1, 9, 30, 8), Progress(20, 3, 0)) == [(2, 0, 4, 24), (2, 4, 6, 30)]


def test_progress_is_counted_in_the_unit_of_the_run():
    passes, steps = Plan(10, 1, 7, 0, 0), Plan(10, 1, 7, 500, 100)
    assert passes.title(Progress(20, 2, 0)) == "Epoch 3/7"
    assert passes.finished_title(Progress(20, 2, 0)) == "Epoch 2/7"
    assert passes.left(Progress(20, 2, 0)) == "5 epochs"
    assert steps.title(Progress(200, 2, 0)) == "Step 300/500"
    assert steps.finished_title(Progress(200, 2, 0)) == "Step 200/500"
    assert steps.left(Progress(210, 2, 10)) == "290 steps"


def test_a_run_is_finished_by_its_history():
    rows = [dict(epoch=n, step=100 * n, passes=n / 2, val_loss=1 / n) for n in (1, 2, 3)]
    for expected, options in (
        ((False, True), dict(epochs=3)),
        ((False, True), dict(max_steps=300)),
        ((True, True), dict(max_steps=200)),
        ((False, False), dict(validate_every=100, epochs=2)),
        ((True, True), dict(validate_every=100, epochs=1)),
    ):
        options = Options.of(given=options)
        assert (is_finished(2, rows, options), is_finished(3, rows, options)) == expected
    assert is_finished(3, [rows[0], *({**row, "val_loss": 2} for row in rows[1:])],
                       Options.of(given=dict(max_steps=900, patience=2)))  # fmt: skip


@pytest.mark.usefixtures("undrawn", "unscored")
def test_a_run_by_steps_resumes_within_an_epoch_bit_for_bit(finished, tmp_path, capsys):
    steps = "--max-steps 100 --validate-every 45 --save-every 15 --batch-size 32".split()
    steps += ["--schedule", "cosine"]
    run = tmp_path / "run"
    assert call("--dataset", finished / "numbers.tsv", "--run", run, *LEARNING, *steps) == 0
    printed = capsys.readouterr()
    assert "for 100 steps, then" in printed.err
    for step in (45, 90, 100):
        assert f"Step {step}/100: loss " in printed.err
    assert "1 line, 100 steps, greedy" in printed.out
    history = json.loads((run / "history.json").read_text())
    assert [(row["epoch"], row["step"]) for row in history] == [(1, 45), (2, 90), (3, 100)]
    assert history[-1]["learning_rate"] == 0  # the schedule is as long as the run
    assert 1 < history[0]["passes"] < 2 < history[1]["passes"]
    assert call("runs", tmp_path) == 0
    assert "  100/100 steps  " in capsys.readouterr().out
    assert call("--run", run, "--no-plots") == 0
    assert "Complete: 100 steps" in capsys.readouterr().err

    resumed = shutil.copytree(run, tmp_path / "resumed")  # as after a kill after step 75
    for path in resumed.glob("checkpoints/ckpt-[23].*"):
        path.unlink()
    shutil.rmtree(resumed / "checkpoints" / "final")
    shutil.rmtree(resumed / "checkpoints" / "best")
    (timed,) = (run / "checkpoints" / "timed").glob("*.index")
    assert timed.name == "ckpt-75.index"
    (resumed / "history.json").write_text(json.dumps(history[:1]))
    assert call("--run", resumed) == 0
    assert "75 steps done" in capsys.readouterr().err
    again = json.loads((resumed / "history.json").read_text())
    names = ("epoch", "step", "passes", "loss", "val_loss", "learning_rate")
    assert [[row[name] for name in names] for row in again] == [
        [row[name] for name in names] for row in history
    ]
    one, other = (
        tf.train.load_checkpoint(str(path / "checkpoints" / "ckpt-3")) for path in (run, resumed)
    )
    for name in one.get_variable_to_shape_map():
        if name != "_CHECKPOINTABLE_OBJECT_GRAPH":
            assert (one.get_tensor(name) == other.get_tensor(name)).all(), name
