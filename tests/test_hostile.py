"""What nobody should have to give the program: it answers, or says in one line why it cannot.

`benchmarks/hostile.py` tries such things by the hundreds; here is what it found.
"""

import json
import os
import shutil

import pytest
import tensorflow as tf
from test_run_demo import (
    TINY,
    as_dataset,
    call,
    sentences,
    tiny_training,
)

import params
import run_demo
from beyond import UserError, checkpoints, flags, runs


@pytest.fixture
def run(finished, tmp_path):
    """A copy of a finished run, to be damaged."""
    return shutil.copytree(finished / "run", tmp_path / "run")


def refused(capsys, *command):
    """Returns the line with which a command ends, and checks that it is the only one."""
    assert call(*command) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    (line,) = (line for line in said.splitlines() if "run_demo.py: " in line)
    return line


def other_tokenizer():
    """Returns a SentencePiece model that no run was trained with."""
    return run_demo.train_tokenizer(as_dataset(sentences(50, seed=9)), 300, seed=0)


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 99, other_tokenizer], ids=["empty", "noise", "another"]
)
def test_a_tokenizer_that_is_not_the_runs_is_one_line(run, capsys, content):
    (run / "tokenizer.model").write_bytes(content if isinstance(content, bytes) else content())
    line = refused(capsys, "translate", "--run", run, "um.")
    assert "tokenizer.model: not the SentencePiece model that the run was trained with" in line


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("dff", 0, "dff: 0 is less than 1"),
        ("num_layers", 10**30, "num_layers: 1000000000"),
        ("buffer_size", 2**31, "buffer_size: 2147483648 is more than 2147483647"),
        ("num_heads", "8", "num_heads is '8', no int"),
        ("pre_norm", 1, "pre_norm is 1, no bool"),
        ("schedule", "steep", "schedule: 'steep' is none of inverse-sqrt, cosine"),
        ("dropout_rate", None, "dropout_rate is None, no float"),
        ("corpus", [], "corpus names no data"),
        ("corpus", {"train": [3]}, "corpus names no data"),
        ("corpus", {}, "corpus names no data"),
    ],
)
def test_a_parameter_that_no_flag_could_give_is_named(run, capsys, name, value, told):
    saved = json.loads((run / "params.json").read_text())
    (run / "params.json").write_text(json.dumps({**saved, name: value, "more": "ignored"}))
    assert told in refused(capsys, "evaluate", "--run", run)


@pytest.mark.parametrize("content", ["{}", "[3]", '[{"epoch": 1}]', "[[]]", '{"a": 1}'])
def test_figures_that_are_none_are_told(run, content):
    (run / "history.json").write_text(content)
    if content == "{}":  # as none at all
        assert runs.Run(run).history() == []
    else:
        with pytest.raises(UserError, match="holds no figures of epochs"):
            runs.Run(run).history()


@pytest.mark.parametrize("name", ["lock", "plots", "params.json.tmp", "checkpoints/best", "cache"])
def test_a_link_out_of_the_run_folder_is_not_followed(run, tmp_path, capsys, name):
    outside, path = tmp_path / "outside", run / name
    outside.write_text("precious")
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(outside)
    command = ["--dataset", run.parent / "numbers.tsv", "--run", run, *TINY]
    shutil.copy(json.loads((run / "params.json").read_text())["corpus"]["dataset"], command[1])
    for given in (command, ["plot", "schedule", "--run", run]):
        assert f"{path}: leads out of the run folder" in refused(capsys, *given)
    assert outside.read_text() == "precious"
    for target in (path.name, tmp_path / "nowhere"):
        path.unlink()
        path.symlink_to(target)
        assert f"{path}: leads out of the run folder" in refused(capsys, *command)
    assert not (tmp_path / "nowhere").exists()


def test_a_run_folder_may_itself_be_a_link(run, tmp_path):
    (tmp_path / "link").symlink_to(run)
    assert call("translate", "--run", tmp_path / "link", "um.") == 0


def test_tensorflows_list_of_checkpoints_removes_nothing_elsewhere(tmp_path):
    (tmp_path / "precious.index").write_text("kept")
    training, run = tiny_training(), runs.Run(tmp_path / "run")
    keeper = checkpoints.Keeper(training.checkpoint, run, 1, 10)
    keeper.save(run.checkpoints, 1)
    tf.compat.v1.train.update_checkpoint_state(
        str(run.checkpoints), "../../precious", [str(tmp_path / "precious"), "../../precious"]
    )
    keeper = checkpoints.Keeper(training.checkpoint, run, 1, 10)
    for number in (2, 3):
        keeper.save(run.checkpoints, number)
    assert (tmp_path / "precious.index").read_text() == "kept"
    assert [os.path.basename(path) for path in checkpoints.paths(run.checkpoints)] == ["ckpt-3"]


def test_a_network_that_memory_cannot_hold_is_refused_before_it_is_made(run, tmp_path, capsys):
    corpus = json.loads((run / "params.json").read_text())["corpus"]["dataset"]
    sizes = ["--d-model", 65536, "--dff", 1_000_000, "--num-layers", 200]
    line = refused(capsys, "--dataset", corpus, "--run", tmp_path / "new", *sizes)
    assert "GiB at least, and this machine has" in line


def test_a_batch_holds_no_more_rows_than_there_are_pairs():
    pairs = as_dataset(sentences(40))
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(pairs, 320, seed=0))
    batches = run_demo.Batches(pairs, tokenizer, 64, 40, shares=4, batch_tokens=2**31 - 1)
    assert batches.rows == [40]
    assert batches.steps == 1


def test_a_run_folder_without_a_name_is_refused(capsys):
    assert "argument --run: nothing is named" in refused(capsys, "--run", "")


def test_a_training_text_without_words_is_told(tmp_path, capsys):
    (tmp_path / "a.tsv").write_text(" \t \n" * 200)
    line = refused(capsys, "--dataset", tmp_path / "a.tsv", "--run", tmp_path / "run")
    assert "the training text holds no words" in line


def test_every_default_and_preset_is_a_value_that_a_flag_takes():
    defaults = params.values()
    for preset in params.PRESETS.values():
        assert flags.check({**defaults, **preset.values}) is None
