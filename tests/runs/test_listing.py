"""What must hold of run folders: a run is known by its folder, and can be moved."""

import contextlib
import json
import os
import re
import shutil
import time
from pathlib import Path
from subprocess import DEVNULL, PIPE

import numpy as np
import pytest
from helpers import (
    LEARNING,
    PROGRAM,
    TINY,
    call,
    change_parameters,
    output_of,
    pretend_epoch,
    refused,
    sentences,
    source_of,
    start_process,
    write_tsv,
)

import params
from nmt import UserError
from nmt.cli import main
from nmt.cli.train import request_of
from nmt.corpus import corpora
from nmt.corpus.source import CorpusSource
from nmt.results import evaluation
from nmt.runs import listing, loading, train_corpus
from nmt.runs.folder import Run
from nmt.runs.run_corpus import load_corpus_of
from nmt.runs.weights import choose_weights, scores_are_of
from nmt.training import checkpoints, devices


@pytest.fixture
def folder(finished, tmp_path, monkeypatch):
    """A folder of runs with one of them, called "first", where none is named."""
    shutil.copytree(finished / "run", tmp_path / "runs" / "first")
    monkeypatch.setattr(listing, "FOLDER", tmp_path / "runs")
    return tmp_path / "runs"


def test_runs_are_listed_with_what_is_known_of_them(folder, capsys):
    shutil.copytree(folder / "first", folder / "second")
    change_parameters(
        folder / "second", data_path="pt en", corpus={"train": ["x"], "languages": ["pt", "en"]}
    )
    (folder / "second" / "scores.json").unlink()
    shutil.copytree(folder / "first", folder / "broken")
    (folder / "broken" / "history.json").write_text("[3]")
    shutil.copytree(folder / "first", folder / "bare")
    (folder / "bare" / "params.json").write_text("{}")
    (folder / "empty").mkdir()
    assert call("runs", folder) == 0
    printed = capsys.readouterr()
    for name in ("broken/history.json: does not hold", "bare/params.json: corpus names"):
        assert f"{folder / name}" in printed.err
    title, *rows = (line.split("  ") for line in printed.out.splitlines())
    rows = {Path(row[0]).name: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows}
    assert title[0].strip() == "run"
    assert rows.keys() == {"first", "second", "broken", "bare"}
    bleu = json.loads((folder / "first" / "scores.json").read_text())["BLEU"]["score"]
    assert rows["first"][:2] == ["numbers.tsv", "2/2"]
    assert rows["first"][2].startswith("loss ")
    assert rows["first"][3:5] == [f"{bleu:.1f}", "0.0 M"]
    assert rows["second"][:3] == ["pt en", "pt-en", "2/2"]
    assert rows["broken"] == rows["bare"] == ["damaged"]
    assert "no trained run there" in refused(capsys, "runs", folder / "empty")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("history.json", '"ended": ', '"ended": 1e300, "then": '),
        ("history.json", '"ended": ', '"ended": Infinity, "then": '),
        ("history.json", '"ended": ', f'"ended": 1{"0" * 400}, "then": '),
        ("scores.json", '"score": ', f'"score": 1{"0" * 400}, "other": '),
    ],
)
def test_numbers_that_are_too_large_damage_one_run_of_the_list(folder, capsys, name, old, new):
    broken = shutil.copytree(folder / "first", folder / "broken") / name
    broken.write_text(broken.read_text().replace(old, new))
    assert call("runs", folder) == 0
    printed = capsys.readouterr()
    assert re.search(r"broken +damaged", printed.out)
    assert f"{folder / 'first'} " in printed.out
    assert name in printed.err


@pytest.mark.parametrize("content", ["", "{", "[]", "{}"])
def test_a_copy_of_a_run_whose_parameters_are_damaged_is_listed(folder, capsys, content):
    copy = shutil.copytree(folder / "first", folder / "copy")
    for path in (copy / "checkpoints").iterdir():
        if path.name != "final":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert call("runs", folder) == 0
    assert "damaged" not in capsys.readouterr().out
    (copy / "params.json").write_text(content)
    assert call("runs", folder, "--json") == 0
    runs = {Path(run["folder"]).name: run for run in json.loads(capsys.readouterr().out)}
    assert "params.json" in runs["copy"]["damaged"]
    assert "damaged" not in runs["first"]


def test_the_list_has_columns_for_what_differs_between_runs(folder, capsys):
    for name, values in (("wide", {"dff": 64}), ("slow", {"dff": 16, "learning_rate_scale": 0.1})):
        change_parameters(shutil.copytree(folder / "first", folder / name), **values)
    assert call("runs", folder) == 0
    printed = capsys.readouterr()
    title, *lines = printed.out.splitlines()
    names = re.split("  +", title)
    assert names[-2:] == ["dff", "learning-rate-scale"]  # three values before two
    rows = {Path(line.split()[0]).name: line.split()[-2:] for line in lines}
    assert rows == {"first": ["32", "0.5"], "wide": ["64", "0.5"], "slow": ["16", "0.1"]}
    assert "differ" not in printed.err
    change_parameters(
        folder / "wide", seed=1, clip_norm=1.0, average=2, accumulate=2, dropout_rate=0.2
    )
    assert call("runs", folder) == 0
    printed = capsys.readouterr()
    assert len(re.split("  +", printed.out.splitlines()[0])) == len(names) - 2 + 5
    assert "differ in these options, too (--json shows them): average, seed." in printed.err


def test_the_list_is_written_as_json_for_programs(folder, capsys):
    shutil.copytree(folder / "first", folder / "broken")
    (folder / "broken" / "history.json").write_text("[3]")
    (folder / "broken" / "scores.json").unlink()
    assert call("runs", folder, "--json") == 0
    runs = {Path(run["folder"]).name: run for run in json.loads(capsys.readouterr().out)}
    assert "does not hold the metrics of epochs" in runs["broken"]["damaged"]
    first, saved = runs["first"], json.loads((folder / "first" / "scores.json").read_text())
    assert first["validation"] == saved["validation"]
    assert {*first["validation"]} == {"loss", "accuracy"}
    assert first["scores"]["chrF"] == saved["chrF"]
    assert (first["epochs"], first["planned"], first["corpus"]) == (2, 2, "numbers.tsv")
    assert first["options"]["dff"] == 32
    assert "dropout_rate" not in first["options"]  # it has its default
    assert first["parameters"] == saved["parameters"]
    (folder / "first" / "scores.json").unlink()
    shutil.rmtree(folder / "first" / "checkpoints" / "final")  # as while it trains
    assert call("runs", folder, "--json") == 0
    runs = {Path(run["folder"]).name: run for run in json.loads(capsys.readouterr().out)}
    rows = json.loads((folder / "first" / "history.json").read_text())
    assert runs["first"]["validation"]["loss"] == min(row["val_loss"] for row in rows)
    assert runs["first"]["scores"] == {}


@pytest.mark.usefixtures("eagerly")
def test_the_run_that_is_used_is_described(folder, capsys):
    assert call("translate", "um.") == 0
    said = capsys.readouterr().err
    bleu = json.loads((folder / "first" / "scores.json").read_text())["BLEU"]["score"]
    assert f"ckpt-2: numbers.tsv, BLEU {bleu:.1f}, trained " in said


@pytest.fixture
def newest(folder):
    """A newer copy of the first run."""
    path = Path(shutil.copytree(folder / "first", folder / "second"))
    history = json.loads((path / "history.json").read_text())
    history[-1]["ended"] += 9  # copies of the files have other times
    (path / "history.json").write_text(json.dumps(history))
    return path


def test_a_run_without_its_parameters_is_used_only_if_there_is_no_other(folder, newest):
    (newest / "params.json").unlink()
    assert listing.find().path == folder / "first"
    shutil.rmtree(folder / "first")
    with pytest.raises(UserError, match=r"second/params.json: is missing"):
        listing.find()


@pytest.mark.usefixtures("eagerly")
def test_of_runs_of_one_corpus_the_newest_is_used_of_several_none(folder, newest, capsys):
    assert call("translate", "um.") == 0
    assert str(newest) in capsys.readouterr().err
    change_parameters(newest, data_path="other.tsv")
    for command in (["translate", "um."], ["plot", "curves"]):
        said = refused(capsys, *command)
        assert "there are runs of 2 corpora; name one by --run: " in said
        assert f"{folder / 'first'} (numbers.tsv, BLEU " in said


def test_an_age_is_told_in_its_largest_unit():
    ages = [listing.age(time.time() - seconds) for seconds in (5, 61, 7300, 90_000, 200_000)]
    assert ages == ["just now", "1 minute ago", "2 hours ago", "1 day ago", "2 days ago"]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
def test_the_folder_alone_resumes_a_run_with_its_own_data_and_flags_whatever_the_cores(
    finished, tmp_path, monkeypatch, capsys
):
    weights, parts = [], Run(finished / "run").parameters.parts
    for cores in (parts, 1 if parts > 1 else 2):
        monkeypatch.setattr(devices, "cores", lambda cores=cores: cores)
        run = shutil.copytree(finished / "run", tmp_path / str(cores))
        assert call("--run", run, "--epochs", 3) == 0
        said = capsys.readouterr()
        assert "2 epochs done" in said.err
        network = r"Training a Transformer with [\d,]+ parameters for 1 more epoch \("
        assert re.search(network, said.err)
        assert "Test split of numbers.tsv, 1 line, 3 epochs" in said.out
        assert checkpoints.paths(run / "checkpoints")[-1].endswith("-3")
        assert Run(run).parameters.parts == parts  # as it began
        assert Run(run).parameters.options.dropout_rate > 0
        weights.append(loading.load(run, "newest")[2].transformer.get_weights())
    for one, other in zip(*weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_flags_given_with_the_folder_alone_must_be_those_of_the_run(finished, capsys):
    run = finished / "run"
    assert call("--run", run, "--dff", 64) == 2  # a flag that is given must be the run's
    said = capsys.readouterr().err
    assert "dff is 32 there, 64 here" in said
    assert "--from" not in said  # whose sizes are the other run's
    said = refused(capsys, "--run", run, "--batch-size", 32)
    assert "batch_size is 4 there, 32 here" in said
    assert f"--from {run} --run NEW" in said
    for more in ([], ["--dataset", finished / "numbers.tsv"]):  # a preset describes all flags
        said = refused(capsys, "--run", run, "--preset", "tiny", *more)
        assert "holds another run (" in said
        assert "text differs" not in said


@pytest.mark.slow
def test_a_run_that_was_killed_before_its_first_checkpoint_is_resumed_by_its_folder(
    tmp_path, untrained
):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    assert call("--dataset", tsv, "--run", tmp_path / "run", *TINY) == 130
    assert call("--run", tmp_path / "run") == 130
    first, again = (
        (options, corpus.name, len(corpus.train), keeper.run.path)
        for options, keeper, corpus in untrained
    )
    assert again == first
    assert (first[0].d_model, first[1]) == (16, "numbers.tsv")


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_run_is_evaluated_where_only_its_test_files_are_and_resumed_where_its_files_are_now(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("nmt.training.loop.Epochs.train_on", pretend_epoch)
    pairs, there, here = sentences(200), tmp_path / "there", tmp_path / "here"
    there.mkdir()
    for name, part in (("train", pairs[:160]), ("valid", pairs[160:180]), ("test", pairs[180:])):
        for language, side in (("pt", 0), ("en", 1)):
            text = "".join(f"{pair[side]}\n" for pair in part)
            (there / f"{name}.{language}").write_text(text)

    def files(folder, name):
        return [f"--{name}", folder / f"{name}.pt", folder / f"{name}.en"]

    data = [flag for name in ("train", "valid", "test") for flag in files(there, name)]
    run = tmp_path / "run"
    assert call(*data, "--run", run, *LEARNING) == 0
    saved = json.loads((run / "params.json").read_text())
    assert saved["corpus"]["languages"] == ["pt", "en"]
    (there / "train.pt").unlink()
    capsys.readouterr()
    assert call("evaluate", "--run", run) == 0  # needs the test files alone
    scores = capsys.readouterr().out
    pairs_before = json.loads((run / "scores.json").read_text())["pairs"]
    assert pairs_before == {"train": 160, "validation": 20, "test": 20}
    there.rename(here)
    assert "test.pt: No such file" in refused(capsys, "evaluate", "--run", run)
    assert output_of(capsys, "evaluate", "--run", run, *files(here, "test")) == scores
    wrong = ["--test", here / "valid.pt", here / "valid.en"]
    assert "test text has changed" in refused(capsys, "evaluate", "--run", run, *wrong)
    (here / "train.pt").write_text("".join(f"{source}\n" for source, _ in pairs[:160]))
    moved = [flag for name in ("train", "valid", "test") for flag in files(here, name)]
    assert call("--run", run, *moved) == 0  # its own flags, the files where they are now
    assert "2 epochs done" in capsys.readouterr().err
    saved = json.loads((run / "params.json").read_text())
    assert saved["corpus"]["train"] == [str(here / "train.pt"), str(here / "train.en")]


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize(
    "split", ["train", pytest.param("validation", marks=pytest.mark.slow), "test"]
)
def test_a_run_resumes_with_the_training_and_validation_text_it_began_with(
    finished, run, tmp_path, capsys, split
):
    corpus = corpora.load_corpus(source_of({"dataset": str(finished / "numbers.tsv")}), params.SEED)
    paths = {}
    for name, dataset in corpus.splits().items():
        pairs = list(zip(*evaluation.texts(dataset), strict=True))
        paths[name] = write_tsv(tmp_path / f"{name}.tsv", pairs)
        if name == split:
            changed = write_tsv(tmp_path / "changed.tsv", [*pairs[:-1], (pairs[-1][0], "changed")])

    def resume(train, validation, test):
        files = ["--train", train, "--valid", validation, "--test", test]
        return call(*files, "--run", run, *LEARNING)

    assert resume(**paths) == 130
    if split == "test":  # other test text may be scored
        assert resume(**paths | {split: changed}) == 130
        return
    before = (run / "params.json").read_bytes()
    assert resume(**paths | {split: changed}) == 2
    names = {"train": "training", "validation": "validation"}
    assert f"(the {names[split]} text differs)" in capsys.readouterr().err.splitlines()[-1]
    assert (run / "params.json").read_bytes() == before


@pytest.mark.slow
def test_a_process_at_the_other_end_of_a_pipe_gets_its_answer_while_it_waits(finished):
    command = [*PROGRAM, "translate", "--run", finished / "run"]
    process = start_process(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    for text in ("um dois.", "nove. um.", ""):
        process.stdin.write(f"{text}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline().endswith(b"\n")  # or it would wait forever
    process.stdin.write(b"um\ntr\xc3")  # a character that is not yet complete
    process.stdin.flush()
    assert process.stdout.readline()
    process.stdin.write(b"\xaas")
    process.stdin.close()
    assert len(process.stdout.read().splitlines()) == 1
    assert process.wait() == 0


def test_what_a_training_run_has_just_removed_has_no_size(tmp_path, monkeypatch):
    for name in ("a", "gone"):
        (tmp_path / name).write_bytes(b"123")
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "link").symlink_to("a")
    lstat = os.lstat

    def remove_and_lstat(path):
        (tmp_path / "gone").unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            (tmp_path / "unfinished").rmdir()
        return lstat(path)

    monkeypatch.setattr(os, "lstat", remove_and_lstat)
    assert listing.size(tmp_path) == 3
    assert not (tmp_path / "unfinished").exists()


def test_a_preset_with_a_data_set_has_a_folder_of_its_own(capsys):
    for arguments, expected in (
        (["--preset", "quick"], (CorpusSource("bundled"), "quick", True)),
        (["--preset", "quick", "--dataset", "opus"], (CorpusSource("opus"), "opus", True)),
        (["--dataset", "bundled"], (CorpusSource("bundled"), "bundled", True)),
        ([], (CorpusSource(params.DATA_PATH), params.DATA_PATH, False)),
    ):
        assert train_corpus.choose(request_of(main.parse_command_line(arguments))) == expected


@pytest.fixture
def shipped(finished, tmp_path, monkeypatch):
    """A run that comes with the program, which holds what translating needs and no more."""
    folder = tmp_path / "data" / "trained"
    shutil.copytree(finished / "run" / "checkpoints" / "final", folder / "checkpoints" / "final")
    for name in ("params.json", "tokenizer.model", "history.json"):
        shutil.copy(finished / "run" / name, folder / name)
    monkeypatch.setattr(listing, "SHIPPED", folder)
    monkeypatch.setattr(listing, "FOLDER", tmp_path / "runs")
    return folder


@pytest.mark.usefixtures("eagerly")
def test_before_any_training_the_run_that_comes_with_the_program_is_used(
    shipped, finished, tmp_path, capsys
):
    assert call("translate", "um.") == 0
    said = capsys.readouterr().err
    assert f"Using {shipped}" in said
    assert "; it comes with the program, and your own runs take precedence" in said
    shutil.copytree(finished / "run", tmp_path / "runs" / "first")
    assert call("translate", "um.") == 0
    said = capsys.readouterr().err
    assert f"Using {tmp_path / 'runs' / 'first'}" in said
    assert "comes with the program" not in said
    shutil.rmtree(shipped)
    shutil.rmtree(tmp_path / "runs")
    assert call("translate", "um.") == 2
    assert f"no trained run there, nor in {shipped}; train one" in capsys.readouterr().err


def test_the_run_that_comes_with_the_program_is_small_and_of_bundled_text():
    run = Run(listing.SHIPPED)
    weights = choose_weights(run)
    assert weights.kind == "final"
    assert scores_are_of(run.read("scores.json"), weights)
    names = ("params.json", "tokenizer.model", "history.json", "scores.json")
    files = [*run.final.iterdir(), *(run.path / name for name in names)]
    assert sum(path.stat().st_size for path in files) < 6_500_000
    assert run.parameters.options.data_path == "bundled-conversation"
    load_corpus_of(run, "train")  # which is what it was trained on


def test_the_run_that_comes_with_the_program_translates(tmp_path, capsys):
    without_engine = shutil.ignore_patterns("engine")
    run = shutil.copytree(listing.SHIPPED, tmp_path / "run", ignore=without_engine)
    assert call("translate", "--run", run, "Bom dia. O carro vermelho é novo.") == 0
    assert capsys.readouterr().out == "Good morning. The red car is new.\n"
