"""What must hold of --from: a run begins where another one ended, and resumes like any other."""

import json
import shutil

import numpy as np
import pytest
import tensorflow as tf
from helpers import (
    INP,
    LEARNING,
    as_dataset,
    call,
    change_parameters,
    refused,
    sentences,
    small_transformer,
    write_tsv,
)

from nmt import UserError
from nmt.cli import main
from nmt.cli.train import request_of
from nmt.corpus.vocabulary import train_tokenizer
from nmt.options import Options
from nmt.runs import loading
from nmt.runs.parent import Parent, inherit, with_new_entries
from nmt.training import checkpoints
from nmt.training.loop import Epochs
from nmt.training.run_folder import HELD_OUT_FILES


def weights(path):
    """Returns the float32 tensors of the network in a checkpoint, by name."""
    reader = tf.train.load_checkpoint(str(path))
    names = [name for name in reader.get_variable_to_shape_map() if name.startswith("model")]
    tensors = {name: reader.get_tensor(name) for name in names}
    return {name: value for name, value in tensors.items() if value.dtype == np.float32}


@pytest.fixture
def tsv(tmp_path):
    return write_tsv(tmp_path / "more.tsv", sentences(300, seed=5))


def test_a_run_begins_with_the_weights_the_tokenizer_and_the_sizes_of_its_parent(
    finished, tsv, tmp_path, monkeypatch, capsys
):
    begun = []

    def fit(epochs, *_):
        step = epochs.training_step
        begun.append([v.numpy() for v in step.transformer.trainable_variables])
        begun.append((epochs.options, int(step.optimizer.iterations)))
        raise UserError("enough")

    monkeypatch.setattr(Epochs, "begin", fit)
    command = ["--from", finished / "run", "--dataset", tsv, "--run", tmp_path / "run"]
    more = ["--dropout-rate", 0.3]  # more random states
    assert "enough" in refused(capsys, *command, "--learning-rate-scale", 0.1, *more)
    values, (options, steps) = begun
    _, _, model = loading.load(finished / "run")
    assert len(values) > 20
    for value, variable in zip(values, model.transformer.trainable_variables, strict=True):
        np.testing.assert_array_equal(value, variable.numpy())
    parent = json.loads((finished / "run" / "params.json").read_text())
    assert steps == 0  # a new optimizer
    assert (options.d_model, options.batch_size) == (32, parent["batch_size"])
    assert (options.learning_rate_scale, options.dropout_rate) == (0.1, 0.3)
    tokenizers = [
        (path / "tokenizer.model").read_bytes() for path in (finished / "run", tmp_path / "run")
    ]
    assert tokenizers[0] == tokenizers[1]
    begun.clear()
    command[-1] = tmp_path / "domain"
    assert call(*command, "--symbols", "<med>") == 2
    (values, (options, _)), size = begun, model.transformer.config["target_vocab_size"]
    assert len(values[0]) == size + 1
    np.testing.assert_array_equal(values[0][:size], model.transformer.trainable_variables[0])
    assert options.symbols == "<med>"
    held_out = [(command[-1] / name).read_text().splitlines() for name in HELD_OUT_FILES.values()]
    assert [len(lines) for lines in held_out] == [7, 6]  # 2% of 300, one source has two targets
    assert {*held_out[0], *held_out[1]} <= {*tsv.read_text().splitlines()}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--d-model", 64], "--d-model 64: the run that --from names has 32; leave the flag out"),
        (["--vocab-size", 500], "--vocab-size 500: the run that --from names has 320"),
        (["--decoder-layers", 2], "--decoder-layers 2: the run that --from names has 1"),
        (["--from", "nowhere"], "nowhere: no trained run"),
        (["--from="], "must not be empty"),
    ],
)
def test_other_sizes_are_refused_by_name(finished, tsv, tmp_path, capsys, more, said):
    parent = [] if "--from" in more[0] else ["--from", finished / "run"]
    assert said in refused(capsys, *parent, "--dataset", tsv, "--run", tmp_path / "run", *more)
    assert not (tmp_path / "run").exists()


def test_a_parent_with_another_tokenizer_is_refused(finished, tsv, tmp_path, capsys):
    parent = shutil.copytree(finished / "run", tmp_path / "parent")
    other_model = train_tokenizer(as_dataset(sentences(300, seed=9)), 320)
    for content in (b"no model", other_model):
        (parent / "tokenizer.model").write_bytes(content)
        said = refused(capsys, "--from", parent, "--dataset", tsv, "--run", tmp_path / "run")
        assert "parent/tokenizer.model: not the SentencePiece model that" in said


def test_a_run_is_not_its_own_parent_and_the_text_must_be_named(finished, tsv, tmp_path, capsys):
    run = finished / "run"
    assert "is the new run itself" in refused(capsys, "--from", run, "--dataset", tsv, "--run", run)
    assert call("--from", run, "--run", tmp_path / "run") == 2
    assert "name the text to continue on" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
def test_a_continued_run_resumes_bit_for_bit_and_knows_its_parent(
    finished, tsv, tmp_path, capsys, monkeypatch
):
    def stop(*_):
        raise UserError("it is resumed")

    parent = shutil.copytree(finished / "run", tmp_path / "parent")
    run_weights = []
    for name, epochs in (("whole", [2]), ("parts", [1, 2])):
        first, *others = epochs
        run = tmp_path / name
        assert call("--from", parent, "--dataset", tsv, "--run", run, "--epochs", first) == 0
        for last in others:
            assert call("--run", run, "--epochs", last) == 0
        run_weights.append(weights(checkpoints.paths(run / "checkpoints")[-1]))
    for name, value in run_weights[0].items():
        np.testing.assert_array_equal(run_weights[1][name], value, err_msg=name)
    saved = [
        json.loads((tmp_path / name / "params.json").read_text()) for name in ("whole", "parts")
    ]
    assert saved[0]["parent_sha256"] == saved[1]["parent_sha256"]
    assert saved[1]["parent"] == str(parent)
    # The same command again is the same run, without --from, too; with another parent it is not.
    monkeypatch.setattr(Epochs, "begin", stop)
    command = ["--dataset", tsv, "--run", tmp_path / "whole", *LEARNING]
    for start, said in (
        (["--from", parent], "it is resumed"),
        ([], "it is resumed"),
        (["--from", tmp_path / "parts"], "the run that --from names differs"),
    ):
        assert said in refused(capsys, *start, *command)
    # A run that has weights needs no parent: the command that is printed still resumes it.
    parent.rename(tmp_path / "moved")
    assert call("--from", parent, "--dataset", tsv, "--run", tmp_path / "whole") == 2
    said = capsys.readouterr().err
    assert "parent: no trained run; " in said
    assert "The run has weights of its own and is resumed without it." in said
    assert "it is resumed" in said.splitlines()[-1]
    last = json.loads((tmp_path / "whole" / "params.json").read_text())
    assert last == saved[0]
    assert call("--from", parent, "--dataset", tsv, "--run", tmp_path / "new") == 2
    assert "parent: no trained run" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.slow
def test_a_run_that_ended_before_its_first_checkpoint_still_begins_with_its_parent(
    finished, tsv, tmp_path, monkeypatch
):
    begun = []

    def killed(epochs, *_):
        begun.append(epochs.training_step.transformer.trainable_variables[0].numpy())
        raise KeyboardInterrupt

    monkeypatch.setattr(Epochs, "begin", killed)
    run = tmp_path / "run"
    assert call("--from", finished / "run", "--dataset", tsv, "--run", run, "--epochs", 1) == 130
    assert call("--run", run) == 130  # by its folder alone
    np.testing.assert_array_equal(*begun)
    _, _, model = loading.load(finished / "run")
    np.testing.assert_array_equal(begun[0], model.transformer.trainable_variables[0].numpy())


@pytest.mark.usefixtures("untrained")
@pytest.mark.slow
def test_held_out_pairs_that_the_parent_may_know_are_named(
    finished, tsv, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(Parent, "initialize", lambda *_: None)
    others = write_tsv(tmp_path / "others.tsv", sentences(9, seed=6))
    its = finished / "numbers.tsv"  # the parent's own text: the same pairs are held out again
    for number, (command, said) in enumerate(
        [
            (["--dataset", tsv], "The pairs held out for valid and test may occur in"),
            (["--train", tsv, "--valid", others], "that it was not: --test"),
            (["--train", tsv, "--valid", others, "--test", others], None),
            (["--dataset", its], None),
        ]
    ):
        run = tmp_path / f"run{number}"
        assert call("--from", finished / "run", *command, "--run", run) == 130
        error = capsys.readouterr().err
        assert (said in error) if said else ("may occur in" not in error)


@pytest.mark.slow
def test_xla_is_decided_on_the_machine_of_the_new_run(
    finished, tsv, tmp_path, monkeypatch, untrained
):
    parent = shutil.copytree(finished / "run", tmp_path / "parent")
    change_parameters(parent, xla="on")
    monkeypatch.setattr(Parent, "initialize", lambda *_: None)
    for number, more in enumerate(([], ["--xla", "on"])):
        command = ["--from", parent, "--dataset", tsv, "--run", tmp_path / f"run{number}"]
        assert call(*command, *more) == 130
    assert [options.xla for options, *_ in untrained] == ["off", "on"]


@pytest.mark.parametrize("tied", [False, True])
def test_new_entries_change_no_logit_of_the_others_and_are_never_the_likeliest(tied):
    known = small_transformer(input_vocab_size=13, tie_embeddings=tied)
    extended = small_transformer(
        3, input_vocab_size=16, target_vocab_size=16, tie_embeddings=tied, num_layers=2
    )
    for variable, weights in zip(
        extended.trainable_variables, known.trainable_variables, strict=True
    ):
        variable.assign(with_new_entries(weights.numpy(), variable.numpy()))
    logits, more_logits = (model((INP, INP))[0].numpy() for model in (known, extended))
    np.testing.assert_allclose(more_logits[..., :13], logits, atol=1e-5)
    assert (more_logits[..., 13:].max(axis=-1) < logits.max(axis=-1)).all()
    new_rows = extended.trainable_variables[0].numpy()[13:]
    assert len({*map(tuple, new_rows)}) == 3


def test_a_child_may_have_more_symbols_than_its_parent_and_no_fewer():
    def inherited(saved, *given):
        request = request_of(main.parse_command_line(["--from", "x", "--dataset", "a.tsv", *given]))
        made = inherit(Options.of(given=saved), request.given, request.options("tutorial"))
        return made.symbols

    assert inherited({"symbols": "<a> <b>"}, "--symbols", "<c> <b>") == "<a> <b> <c>"
    assert inherited({"symbols": "<a>"}) == "<a>"


def test_a_child_chooses_the_tokenizer_of_bleu_for_its_own_text_unless_text_is_tokenized():
    def inherited(saved, *given):
        options = Options(tokenize=saved, lowercase=True)
        request = request_of(main.parse_command_line(["--from", "x", "--dataset", "a.tsv", *given]))
        made = inherit(options, request.given, request.options("tutorial"))
        assert made.lowercase
        return made.tokenize

    assert inherited("zh") == inherited("13a") == "auto"
    assert inherited("none") == "none"
    assert inherited("zh", "--tokenize", "intl") == "intl"
