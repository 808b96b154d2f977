"""What must hold of a run that is resumed with other values: it is asked for, and recorded."""

import json
import shutil

import pytest
from helpers import LEARNING, call, sentences, write_tsv

from nmt.training.changes import Change, begin_again, values_of


def test_an_epoch_begins_again_where_its_batches_were_changed():
    names = ["checkpoints/ckpt-1", "checkpoints/timed/ckpt-75"]
    larger = Change(1, names, "", {"batch_size": [4, 8], "dropout_rate": [0.1, 0.2]})
    wider = Change(1, names, "", {"dropout_rate": [0.1, 0.3]})
    assert begin_again([larger], "runs/a/checkpoints/timed/ckpt-75")
    assert not begin_again([wider], "runs/a/checkpoints/timed/ckpt-75")
    assert not begin_again([larger], "runs/a/checkpoints/timed/ckpt-175")  # saved since
    assert values_of([larger, wider], 2) == {"batch_size": 8, "dropout_rate": 0.3}
    assert values_of([larger], 1) == values_of([larger], 3) == {}


@pytest.mark.usefixtures("undrawn", "unscored")
def test_what_is_changed_is_asked_for_and_recorded(finished, tmp_path, capsys):
    run = shutil.copytree(finished / "run", tmp_path / "run")
    before = (run / "params.json").read_bytes()
    flags = ["--run", run, "--epochs", 3, "--batch-size", 32, "--dropout-rate", 0.2]
    assert call(*flags) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "batch_size is 4 there, 32 here" in said
    assert said.endswith("go on with what is given here by --change, or remove the folder")
    assert call(*flags, "--dff", 64, "--change") == 2  # which belongs to the weights
    assert "--change" not in capsys.readouterr().err
    assert (run / "params.json").read_bytes() == before
    assert call(*flags, "--change") == 0
    assert "Changed from here on: dropout_rate is 0.1 there, 0.2 here; batch_size is 4" in (
        capsys.readouterr().err
    )
    saved = json.loads((run / "params.json").read_text())
    assert (saved["batch_size"], saved["dropout_rate"], saved["epochs"]) == (32, 0.2, 3)
    (change,) = saved["changes"]
    assert change["values"] == {"dropout_rate": [0.1, 0.2], "batch_size": [4, 32]}
    assert change["epoch"] == 2
    history = json.loads((run / "history.json").read_text())
    assert [row.get("changed") for row in history] == [
        None, None, {"dropout_rate": 0.2, "batch_size": 32},
    ]  # fmt: skip
    steps = [history[0]["step"], history[2]["step"] - history[1]["step"]]
    assert 6 * steps[1] < steps[0] < 9 * steps[1]  # an eighth of the batches
    assert call("--run", run, "--no-plots") == 0  # by its own values now
    assert "Complete" in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn", "unscored")
def test_a_cosine_and_its_text_are_extended(tmp_path, capsys):
    pairs = sentences(300)
    train = write_tsv(tmp_path / "train.tsv", pairs[:200])
    more = write_tsv(tmp_path / "more.tsv", pairs[200:260])
    held_out = ["--valid", write_tsv(tmp_path / "v.tsv", pairs[260:280])]
    held_out += ["--test", write_tsv(tmp_path / "t.tsv", pairs[280:])]
    run, schedule = tmp_path / "run", ["--schedule", "cosine", "--warmup-steps", 2]
    sizes = [*LEARNING, *schedule, "--batch-size", 32, "--epochs"]
    assert call("--train", train, *held_out, "--run", run, *sizes, 2) == 0
    longer = ["--train", train, more, *held_out, "--run", run, *sizes, 4]
    assert call(*longer) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "a cosine schedule depends on the number of steps" in said
    assert "the training text differs" in said
    assert call(*longer, "--change") == 0
    first, second, third, last = json.loads((run / "history.json").read_text())
    assert second["learning_rate"] == last["learning_rate"] == 0
    assert 0 < third["learning_rate"] < first["learning_rate"]  # that of the longer run
    assert last["step"] - third["step"] > first["step"]  # more text
    assert third["changed"].keys() == {"epochs", "train_sha256"}


def test_passes_that_are_counted_by_batches_keep_their_batches(finished, tmp_path, capsys):
    run = shutil.copytree(finished / "run", tmp_path / "run")
    saved = json.loads((run / "params.json").read_text())
    (run / "params.json").write_text(json.dumps(saved | {"validate_every": 50}))
    assert call("--run", run, "--epochs", 3, "--batch-size", 32, "--change") == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "batch_size is 4 there, 32 here" in said
    assert "--change" not in said
