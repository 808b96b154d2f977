"""What must hold of the weights that commands use: the same for all, and scores are of them."""

import dataclasses
import json
import re
import shutil

import pytest
from helpers import LEARNING, call, refused, sentences, write_tsv

from nmt import UserError
from nmt.cli import plot
from nmt.corpus.source import CorpusSource
from nmt.results import evaluation
from nmt.runs import listing, parent
from nmt.runs.claim import claim
from nmt.runs.folder import Run
from nmt.runs.session import Session
from nmt.runs.weights import choose_weights, scores_are_of


def save(folder, *names):
    """Writes the index files of checkpoints, such as "final/ckpt-2"; "ckpt-4" is an epoch's."""
    for name in names:
        path = folder / "checkpoints" / f"{name}.index"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


@pytest.mark.parametrize(
    ("names", "expected", "reason"),
    [
        (["final/ckpt-2", "best/ckpt-1", "ckpt-2"], "final/ckpt-2", "the final weights"),
        (["final/ckpt-2", "best/ckpt-1"], "final/ckpt-2", "the final weights"),  # a copy
        (
            ["final/ckpt-2", "best/ckpt-3", "ckpt-3", "ckpt-4"], "best/ckpt-3",
            "the best epoch (the final ones are of epoch 2, and training went on to 4)",
        ),
        (["best/ckpt-9", "ckpt-9", "ckpt-10"], "best/ckpt-9", "best epoch (training has not ended"),
        (["ckpt-1"], "ckpt-1", "the newest epoch (training has not ended)"),
        (["final/ckpt-2", "ckpt-3"], "ckpt-3", "the newest epoch (the final ones are of epoch 2"),
    ],
)  # fmt: skip
def test_final_weights_are_used_unless_training_went_on(tmp_path, names, expected, reason):
    save(tmp_path, *names)
    weights = choose_weights(Run(tmp_path))
    assert weights.path == str(tmp_path / "checkpoints" / expected)
    assert reason in weights.reason
    assert choose_weights(Run(tmp_path), weights.kind).path == weights.path


def test_weights_that_are_not_there_are_named(tmp_path):
    save(tmp_path, "timed/ckpt-30")
    with pytest.raises(UserError, match="checkpoints: no checkpoint yet; resume its training"):
        choose_weights(Run(tmp_path))
    with pytest.raises(UserError, match="checkpoint 'last': there are final, newest, best; name"):
        choose_weights(Run(tmp_path), "last")
    with pytest.raises(UserError, match="best: no checkpoint yet; name another checkpoint"):
        choose_weights(Run(tmp_path), "best")


def test_scores_are_of_the_weights_that_they_name(tmp_path):
    save(tmp_path, "final/ckpt-2", "ckpt-2")
    weights = choose_weights(Run(tmp_path))
    scores = {"checkpoint": weights.record, "epochs": 2}
    assert scores_are_of(scores, weights)
    assert not scores_are_of({"epochs": 2}, weights)
    (tmp_path / "checkpoints" / "final" / "ckpt-2.index").write_text("another mean")
    assert not scores_are_of(scores, weights)
    save(tmp_path, "best/ckpt-3", "ckpt-3")
    best = choose_weights(Run(tmp_path))
    assert best.kind == "best"
    assert not scores_are_of({"epochs": 3}, best)


def go_on(run, epochs=4):
    """Makes a finished run one whose training went on, and was interrupted after two epochs more.

    The new epochs have the weights of epoch 2.
    """
    checkpoints = run / "checkpoints"
    for folder in (checkpoints, checkpoints / "best"):
        for file in checkpoints.glob("ckpt-2.*"):
            shutil.copy(file, folder / file.name.replace("ckpt-2", f"ckpt-{epochs}"))
    history = json.loads((run / "history.json").read_text())
    new = [
        history[-1] | {"epoch": epoch, "ended": history[-1]["ended"] + epoch} for epoch in (3, 4)
    ]
    (run / "history.json").write_text(json.dumps(history + new))


@pytest.mark.usefixtures("eagerly")
def test_a_run_that_was_trained_further_is_used_with_its_new_weights(
    run, tmp_path, capsys, monkeypatch
):
    go_on(run)
    monkeypatch.setattr(evaluation, "translate_all", lambda model, tokenizer, sources: sources)
    scores, pair = (run / "scores.json").read_bytes(), write_tsv(tmp_path / "a.tsv", sentences(1))
    used = "checkpoints/best/ckpt-4: numbers.tsv, not scored, trained "
    reason = "the weights of the best epoch (the final ones are of epoch 2, and training went on"
    for command in (
        ["translate", "um."], ["evaluate"], ["align", pair], ["explore", "um."],
        ["export", "--format", "keras", "--to", tmp_path / "model.keras"], ["plot", "masks"],
    ):  # fmt: skip
        assert call(*command, "--run", run) == 0
        said = capsys.readouterr().err
        assert used in said
        assert reason in said
        assert ("scores.json stays as it is" in said) is (command == ["evaluate"])
    assert (run / "scores.json").read_bytes() == scores
    assert call("runs", tmp_path) == 0
    _, row = (re.split("  +", line) for line in capsys.readouterr().out.splitlines())
    assert "best, epoch 4" in row
    assert "13a" not in row  # without the BLEU of epoch 2
    assert not plot.is_translated(Run(run), None)
    found = parent.find(str(run), Run(tmp_path / "child"))
    assert found.weights.endswith("best/ckpt-4")
    assert f"Beginning with {found.weights}, {reason}" in capsys.readouterr().err


def test_a_child_is_resumed_with_the_weights_of_its_parent_that_it_began_with(
    run, tmp_path, monkeypatch
):
    begun = parent.find(str(run), Run(tmp_path / "child"))
    child = Run(tmp_path / "child")
    options = dataclasses.replace(begun.options, xla="off")
    claim(child, options, CorpusSource("bundled"), {"tokenizer": "0"}, origin=begun.origin)
    save(tmp_path / "child", "ckpt-1")
    go_on(run)
    data = run / "checkpoints" / "best" / "ckpt-4.data-00000-of-00001"
    data.write_bytes(data.read_bytes() + b"\0")  # other weights
    again = parent.find(str(run), Run(tmp_path / "child"))
    assert (again.weights, again.sha256) == (begun.weights, begun.sha256)


def test_scores_of_other_tokenizers_are_labeled_in_the_list_of_runs(finished, tmp_path, capsys):
    for name, tokenizer in (("a", "13a"), ("b", "char|case:lc")):
        run = shutil.copytree(finished / "run", tmp_path / name)
        text = (run / "scores.json").read_text()
        (run / "scores.json").write_text(text.replace("tok:13a", f"tok:{tokenizer}"))
    assert call("runs", tmp_path) == 0
    _, *rows = (re.split("  +", line) for line in capsys.readouterr().out.splitlines())
    labels = {row[0][-1]: row[-1] for row in rows}  # no languages
    assert labels == {"a": "13a", "b": "char, lower-cased"}
    assert " (char, lower-cased), trained " in listing.describe(Run(tmp_path / "b"))


def test_scores_hold_the_validation_result_and_the_checkpoint(finished):
    run = Run(finished / "run")
    scores = run.read("scores.json")
    assert scores["checkpoint"] == choose_weights(run).record
    assert scores["validation"].keys() == {"loss", "accuracy"}
    best = min(row["val_loss"] for row in run.history())
    assert scores["validation"]["loss"] <= best + 1e-6


@pytest.mark.usefixtures("eagerly")
def test_evaluate_keeps_the_validation_result_of_the_same_weights(run, monkeypatch):
    monkeypatch.setattr(evaluation, "translate_all", lambda model, tokenizer, sources: sources)
    monkeypatch.setattr(evaluation, "loss_and_accuracy", lambda *_: (1.0, 0.5))
    before = json.loads((run / "scores.json").read_text())
    assert call("evaluate", "--run", run, "--lowercase") == 0
    after = json.loads((run / "scores.json").read_text())
    for name in ("validation", "checkpoint", "test_sha256"):
        assert after[name] == before[name]
    assert "BLEU" not in after


def test_the_command_of_a_finished_run_scores_and_draws_nothing_again(
    finished, tmp_path, capsys, monkeypatch
):
    def refuse(*_):
        raise UserError("a network was built")

    run = shutil.copytree(finished / "run", tmp_path / "run")
    monkeypatch.setattr(Session, "fast_step", refuse)
    before = {path: path.read_bytes() for path in run.rglob("*.json")}
    tsv = finished / "numbers.tsv"
    for command in (["--run", run], ["--dataset", tsv, "--run", run, *LEARNING]):
        assert call(*command, "--no-plots") == 0
        said = capsys.readouterr()
        assert "Complete: 2 epochs" in said.err
        assert "BLEU " in said.out
        assert "Source: " in said.out
    assert {path: path.read_bytes() for path in run.rglob("*.json")} == before
    (tmp_path / "test.tsv").write_text("um\tone\n")
    for needed in (
        [], ["--no-plots", "--beam", 2], ["--no-plots", "--epochs", 3],
        ["--no-plots", "--average", 1],
    ):  # fmt: skip
        assert "a network was built" in refused(capsys, "--run", run, *needed)
    shutil.rmtree(run)
    shutil.copytree(finished / "run", run)
    (run / "scores.json").unlink()
    assert call("--run", run, "--no-plots") == 2


@pytest.mark.slow
def test_a_finished_run_with_pictures_is_complete(tmp_path, capsys):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(60))
    command = ["--dataset", tsv, "--run", tmp_path / "run", *LEARNING]
    assert call(*command) == 0
    first = capsys.readouterr()
    assert call(*command) == 0
    again = capsys.readouterr()
    assert "Complete: 2 epochs" in again.err
    assert "Drawing" not in again.err
    assert again.out == first.out
    (tmp_path / "run" / "plots" / "masks.png").unlink()
    assert call(*command) == 0
    assert "Drawing" in capsys.readouterr().err
