"""What nobody should have to give the program: it answers, or says in one line why it cannot."""

import errno
import gc
import json
import os
import shutil

import numpy as np
import pytest
import tensorflow as tf
from helpers import (
    LEARNING,
    TINY,
    as_dataset,
    call,
    change_parameters,
    output_of,
    refused,
    sentences,
    source_of,
    tiny_training,
    write_tsv,
)

import run_demo
from nmt import UserError
from nmt.cli import exit_codes
from nmt.corpus import batches as batching
from nmt.corpus import corpora, files
from nmt.network.factory import build_transformer
from nmt.options import Options
from nmt.results import evaluation
from nmt.runs import listing, loading, restoring, run_tokenizer, session
from nmt.runs.folder import Run
from nmt.runs.lock import LOCK, LockedRun
from nmt.runs.validation import Validator
from nmt.training import checkpoints, devices

WITHOUT_ENGINE = shutil.ignore_patterns("engine")


@pytest.fixture(autouse=True)
def _few_graphs(request):
    """All but the slow tests translate little and train less."""
    if not request.node.get_closest_marker("slow"):
        request.getfixturevalue("eagerly")


@pytest.fixture
def run(finished, tmp_path):
    """A copy of a finished run, to be damaged."""
    return shutil.copytree(finished / "run", tmp_path / "run")


def other_tokenizer():
    """Returns a SentencePiece model that no run was trained with."""
    return run_demo.train_tokenizer(as_dataset(sentences(50, seed=9)), 300)


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 99, other_tokenizer], ids=["empty", "noise", "another"]
)
def test_a_tokenizer_that_is_not_the_runs_is_one_line(run, capsys, content):
    (run / "tokenizer.model").write_bytes(content if isinstance(content, bytes) else content())
    line = refused(capsys, "translate", "--run", run, "um.")
    assert "tokenizer.model: not the SentencePiece model that the run was trained with" in line


def test_a_tokenizer_that_cannot_be_read_is_named_with_the_reason(run, monkeypatch):
    path = str(run / "tokenizer.model")

    def deny(*_):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(run_tokenizer, "read_file", deny)  # root may read anything
    with pytest.raises(UserError) as refusal:
        run_tokenizer.load_tokenizer(Run(run))
    advice = "make it readable, or name another run"
    assert str(refusal.value) == f"{path}: Permission denied; {advice}"


@pytest.mark.parametrize(
    ("path", "readable", "advice"),
    [
        ("params.json", False, "make {}/params.json readable"),
        ("new.json", False, "make {} readable"),  # the folder may not be read
        ("new.json", True, "make it writable"),
    ],
)
def test_what_may_not_be_read_is_to_be_made_readable(
    run, monkeypatch, capsys, path, readable, advice
):
    monkeypatch.setattr(os, "access", lambda *_: readable)  # root may do anything
    error = PermissionError(errno.EACCES, "Permission denied", str(run / path))
    assert exit_codes.report_os_error(error) == 2
    assert f"{run / path}: Permission denied; {advice.format(run)}\n" in capsys.readouterr().err


def test_a_parameter_that_no_flag_could_give_is_named(run, capsys):
    change_parameters(run, pre_norm=1, more="ignored")
    assert "pre_norm is 1, not of type bool" in refused(capsys, "evaluate", "--run", run)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"num_layers": 1}, "damaged, or of another model than params.json describes"),
        ({"num_layers": 3}, "damaged, or of another model than params.json describes"),
        ({"num_heads": 4}, "params.json: num_heads is 4, and 8 in scores.json of the same weights"),
        ({"activation": "swish"}, "params.json: activation is swish, and relu in scores.json"),
    ],
)
def test_weights_of_another_network_than_the_parameters_describe_are_refused(
    tmp_path, capsys, change, said
):
    run = shutil.copytree(listing.SHIPPED, tmp_path / "run", ignore=WITHOUT_ENGINE)
    change_parameters(run, **change)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for command in (["translate", "Bom dia."], ["evaluate"]):
        assert said in refused(capsys, *command, "--run", run)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_nan_or_infinite_are_named(run, capsys, value):
    network = loading.load(run, "final").model.transformer
    network.final_layer.kernel.assign(network.final_layer.kernel * value)
    shutil.rmtree(run / "checkpoints" / "final")
    restoring.save_final(Run(run), network, 2)
    scores = (run / "scores.json").read_bytes()
    for command in ["translate", "um."], ["evaluate"]:
        line = refused(capsys, *command, "--run", run)
        assert "the weights hold NaN or infinite numbers: model/final_layer/kernel" in line
    assert (run / "scores.json").read_bytes() == scores


def test_a_run_is_not_trained_further_as_another_network(run, capsys):
    change_parameters(run, num_heads=4)
    line = refused(capsys, "--run", run, "--epochs", 3)
    assert "params.json: num_heads is 4, and 2 in scores.json of the same weights" in line


@pytest.mark.parametrize("content", ["{}", "[3]", '[{"epoch": 1}]'])
def test_damaged_metrics_are_reported(run, content):
    (run / "history.json").write_text(content)
    if content == "{}":  # as none at all
        assert Run(run).history() == []
    else:
        with pytest.raises(UserError, match="does not hold the metrics of epochs"):
            Run(run).history()


@pytest.mark.parametrize("name", ["lock", "plots", "params.json.tmp", "checkpoints/best", "cache"])
def test_a_link_out_of_the_run_folder_is_not_followed(run, tmp_path, capsys, name):
    outside, path = tmp_path / "outside", run / name
    outside.write_text("precious")
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(outside)
    command = tiny(run, "--run", run)
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
    training, run = tiny_training(), Run(tmp_path / "run")
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
    sizes = ["--d-model", 65536, "--dff", 1_000_000, "--num-layers", 200]
    line = refused(capsys, *tiny(run, "--run", tmp_path / "new", *sizes))
    assert "GiB at least, and this machine has" in line
    change_parameters(run, d_model=65_536, num_layers=200)
    assert "a network of these sizes takes" in refused(capsys, "translate", "--run", run, "um")


def test_memory_must_hold_the_weights_of_encoder_and_decoder(monkeypatch):
    options = Options(num_layers=3, decoder_layers=1, d_model=8, dff=24, num_heads=2)
    network = build_transformer(options, 20, plain=True)
    monkeypatch.setattr(run_tokenizer, "memory", lambda: 16 * network.count_params())
    run_tokenizer.check_size(options, 20)
    with pytest.raises(UserError, match="lower --d-model, --dff, --num-layers, --decoder-layers"):
        run_tokenizer.check_size(options, 21)


def test_a_batch_holds_no_more_rows_than_there_are_pairs():
    pairs = as_dataset(sentences(40))
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(pairs, 320))
    batches = batching.Batches(pairs, tokenizer, 64, 40, replicas=4, batch_tokens=2**31 - 1)
    assert batches.buckets.rows == [40]
    assert batches.per_epoch == 1


def test_a_run_folder_without_a_name_is_refused(capsys):
    assert "argument --run: must not be empty" in refused(capsys, "--run", "")


def test_a_training_text_without_words_is_reported(tmp_path, capsys):
    (tmp_path / "a.tsv").write_text(" \t \n" * 200)
    held = write_tsv(tmp_path / "held.tsv", sentences(5))
    files = ["--train", tmp_path / "a.tsv", "--valid", held, "--test", held]
    line = refused(capsys, *files, "--run", tmp_path / "run")
    assert "the training text holds no words" in line


# ---- Folders and files that are not the program's ----


def tiny(run, *more):
    """Returns the arguments of a short training on the run's own corpus."""
    corpus = json.loads((run / "params.json").read_text())["corpus"]["dataset"]
    return ["--dataset", corpus, *TINY, *more]


def test_a_folder_of_a_stranger_is_refused_and_left_as_it_was(run, tmp_path, capsys):
    theirs = tmp_path / "theirs"
    for content in ("{}", json.dumps({"tokenizer": "bert", "num_layers": 3})):
        shutil.rmtree(theirs, ignore_errors=True)
        (theirs / "cache").mkdir(parents=True)
        for name in ("cache/ids_0", "tokenizer.model", "params.json", "lock"):
            (theirs / name).write_text(content)
        line = refused(capsys, *tiny(run, "--run", theirs))
        assert f"{theirs}: is not empty, and not a run folder" in line
        left = {str(path.relative_to(theirs)) for path in theirs.rglob("*") if path.is_file()}
        assert left == {"cache/ids_0", "tokenizer.model", "params.json", "lock"}
        assert (theirs / "cache" / "ids_0").read_text() == content


def test_of_a_cache_only_what_the_program_wrote_is_removed(run):
    (run / "cache").mkdir()
    for name in ("ids_0.data-00000-of-00001", "ids.index", "notes.txt"):
        (run / "cache" / name).write_text("x")
    Run(run).remove_cache()
    assert [path.name for path in (run / "cache").iterdir()] == ["notes.txt"]
    (run / "cache" / "notes.txt").unlink()
    Run(run).remove_cache()
    assert not (run / "cache").exists()


def test_a_run_that_left_its_lock_empty_is_still_a_run(run):
    (run / "lock").write_bytes(b"")
    LockedRun(Run(run))
    assert (run / "lock").read_bytes() == LOCK


def test_a_page_overwrites_nothing(run, tmp_path, capsys):
    (tmp_path / "mine").write_text("precious")
    for path in (tmp_path / "mine", tmp_path, "."):
        assert "exists already" in refused(capsys, "explore", "um.", "--run", run, "--to", path)
    assert (tmp_path / "mine").read_text() == "precious"
    assert call("explore", "um.", "--run", run, "--to", tmp_path / "new.html") == 0
    assert "<html" in (tmp_path / "new.html").read_text()


@pytest.mark.parametrize("name", ["export", "export/saved_model"])
def test_an_export_follows_no_link_out_of_the_run_folder(run, tmp_path, capsys, name):
    (tmp_path / "outside").mkdir()
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).symlink_to(tmp_path / "outside")
    assert "leads out of the run folder" in refused(capsys, "export", "--run", run)
    assert not any((tmp_path / "outside").iterdir())


# ---- Corpora that have changed ----


@pytest.mark.parametrize("name", ["history.json", "scores.json", "translations.txt"])
def test_what_bars_the_report_of_scores_is_found_before_translating(run, monkeypatch, capsys, name):
    monkeypatch.setattr(loading, "load", lambda *_, **options: pytest.fail("loaded"))
    (run / name).unlink()
    (run / name).mkdir()
    assert f"{run / name}: " in refused(capsys, "evaluate", "--run", run)


def test_a_changed_corpus_is_not_scored(run, tmp_path, capsys):
    tsv = shutil.copy(tiny(run)[1], tmp_path / "numbers.tsv")
    change_parameters(run, corpus={"dataset": str(tsv)})
    scores = (run / "scores.json").read_text()
    assert call("evaluate", "--run", run, "--against", run) == 0
    tsv.write_text("um nove.\tone nine.\n" + tsv.read_text())  # other pairs are held out now
    capsys.readouterr()
    for more in ([], ["--against", run]):
        line = refused(capsys, "evaluate", "--run", run, *more)
        assert "has changed since the run was trained" in line
    assert (run / "scores.json").read_text() == scores
    assert "training text has changed" in refused(capsys, "plot", "lengths", "--run", run)


def test_runs_of_different_test_splits_are_not_compared(run, tmp_path, capsys):
    other = shutil.copytree(run, tmp_path / "other")
    saved = json.loads((run / "params.json").read_text())
    pairs = write_tsv(tmp_path / "more.tsv", sentences(30, seed=4))
    saved["corpus"]["test"] = [str(pairs)]
    held_out = run_demo.load_corpus(source_of(saved["corpus"]), saved["seed"])
    for split in ("train", "validation", "test"):
        saved[f"{split}_sha256"] = corpora.fingerprint(getattr(held_out, split))
    (other / "params.json").write_text(json.dumps(saved))
    for flag in ("--against", "--run"):  # beside it, or an ensemble with it
        line = refused(capsys, "evaluate", "--run", run, flag, other)
        assert f"{other}: has another test split" in line
    lines = tmp_path / "hypotheses"
    corpus = json.loads((run / "params.json").read_text())["corpus"]
    lines.write_text("one.\n" * len(run_demo.load_corpus(source_of(corpus), saved["seed"]).test))
    line = refused(capsys, "evaluate", "--hypotheses", lines, "--run", run, "--against", other)
    assert f"{other}: has another test split" in line


def test_the_test_split_of_a_data_set_has_not_moved(run, tmp_path, capsys):
    change_parameters(run, corpus={"dataset": "bundled"})
    pairs = write_tsv(tmp_path / "more.tsv", sentences(30, seed=4))
    line = refused(capsys, "evaluate", "--run", run, "--test", pairs)
    assert "--test: the test split is that of bundled; leave it out" in line


@pytest.mark.parametrize("content", ["[]", '{"pairs": [1]}', "{"])
def test_damaged_scores_are_replaced(content, run, monkeypatch):
    monkeypatch.setattr(evaluation, "translate_all", lambda model, tokenizer, sources: sources)
    monkeypatch.setattr(evaluation, "loss_and_accuracy", lambda *_: (1.0, 0.5))
    (run / "scores.json").write_text(content)
    assert call("evaluate", "--run", run) == 0
    assert "BLEU" in json.loads((run / "scores.json").read_text())


def test_the_scores_of_a_run_are_those_of_its_final_weights(run, capsys):
    shutil.rmtree(run / "checkpoints" / "final")  # as if training had not ended
    (run / "scores.json").unlink()
    assert "BLEU" in output_of(capsys, "evaluate", "--run", run)
    assert not (run / "scores.json").exists()


def test_a_run_without_a_finished_epoch_says_what_to_do(run, capsys):
    timed = run / "checkpoints" / "timed"
    timed.mkdir(exist_ok=True)
    for path in (run / "checkpoints").glob("ckpt-*"):
        path.rename(timed / path.name)
    shutil.rmtree(run / "checkpoints" / "final")
    line = refused(capsys, "translate", "um.", "--run", run)
    assert "checkpoints: no checkpoint yet; resume its training first" in line


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"um\tone\rdois\ttwo\rnove\tnine\r", "a.tsv: ends lines with carriage returns alone"),
        (b"u\rm\tone\n", "a.tsv:1: a carriage return within the line"),
    ],
)
def test_a_carriage_return_within_a_line_joins_no_words(tmp_path, capsys, content, said):
    (tmp_path / "a.tsv").write_bytes(content)
    line = refused(capsys, "--dataset", tmp_path / "a.tsv", "--run", tmp_path / "run")
    assert said in line
    (tmp_path / "b.tsv").write_bytes(b"um\tone\r\ndois\ttwo\r\r\n\r")
    assert list(files.read_pairs([tmp_path / "b.tsv"])) == [("um", "one"), ("dois", "two")]


# ---- What was computed is not lost ----


def test_scores_that_cannot_be_written_are_printed(run, capsys, monkeypatch):
    def refuse(*_):
        raise UserError("read-only")

    monkeypatch.setattr(Run, "write", refuse)
    assert call("evaluate", "--run", run) == 2
    said = capsys.readouterr()
    assert "BLEU" in said.out
    assert "read-only" in said.err


@pytest.mark.usefixtures("untrained")
def test_an_interrupt_prints_the_command_that_resumes(run, capsys, monkeypatch, tmp_path):
    small = run_demo.load_corpus(source_of({"dataset": tiny(run)[1]}), 1)._replace(name="bundled")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "load_corpus", lambda *_, **__: small)  # no network: it fell back
    assert call(*TINY) == 130
    command = f"python run_demo.py {' '.join(TINY)} --dataset bundled"
    assert f"to resume it: {command}\n" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
def test_a_run_killed_in_each_validation_and_given_more_epochs_ends_as_if_never_stopped(
    finished, tmp_path, monkeypatch
):
    """Bit for bit as the run `finished`: each epoch is saved before it is validated."""

    def killed(*_):
        raise SystemError("killed")

    validate, run = Validator.validate, tmp_path / "run"
    command = ["--dataset", finished / "numbers.tsv", "--run", run, *LEARNING, "--epochs"]
    monkeypatch.setattr(Validator, "validate", killed)
    for epoch in (1, 2):  # the second time, the first epoch is validated first
        with pytest.raises(SystemError):
            call(*command, epoch)
        gc.collect()  # which unlocks the run, as the end of the process would
        assert checkpoints.paths(run / "checkpoints")[-1].endswith(f"ckpt-{epoch}")
        calls = iter([validate])
        monkeypatch.setattr(
            Validator, "validate", lambda *given, calls=calls: next(calls, killed)(*given)
        )
    monkeypatch.setattr(Validator, "validate", validate)
    assert call(*command, 2) == 0
    runs = [finished / "run", run]
    for folder in ("checkpoints", "checkpoints/final"):
        whole, again = (
            tf.train.load_checkpoint(checkpoints.paths(path / folder)[-1]) for path in runs
        )
        shapes = whole.get_variable_to_shape_map()
        names = [name for name in shapes if name.startswith("model")]
        assert len(names) > 40  # every variable of the model, whatever the optimizer saves
        for name in names:
            np.testing.assert_array_equal(again.get_tensor(name), whole.get_tensor(name))
    for whole, again in zip(*(Run(path).history() for path in runs), strict=True):
        assert (again["epoch"], again["loss"]) == (whole["epoch"], whole["loss"])
        assert again["val_loss"] == whole["val_loss"]
    indices = sorted(path.name for path in (run / "checkpoints").glob("*.index"))
    assert indices == ["ckpt-1.index", "ckpt-2.index"]


def test_a_run_keeps_the_step_that_it_began_with_where_a_gpu_comes_or_goes(
    run, monkeypatch, capsys, untrained
):
    monkeypatch.setattr(devices, "gpus", lambda: devices.SeenGpus(["a GPU"], ""))
    strategy = tf.distribute.get_strategy()
    monkeypatch.setattr(devices, "configure", lambda *_, **__: devices.Devices(strategy, 1))
    command = ["--dataset", tiny(run)[1], *LEARNING, "--run"]
    assert call(*command, run) == 130
    assert "xla is 'off' there, 'on' here" in refused(capsys, *command, run, "--xla", "on")
    assert call(*command, run.parent / "new") == 130
    assert [options.xla for options, *_ in untrained] == ["off", "on"]  # begun without one, and now
