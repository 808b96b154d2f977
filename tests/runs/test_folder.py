"""What must hold of the files of a run folder: written once, on the disk, and rebuilt if lost."""

import io
import json
import os
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from helpers import LEARNING, as_dataset, call, refused, sentences

from nmt.cli import startup
from nmt.corpus.source import CorpusSource
from nmt.corpus.vocabulary import train_tokenizer
from nmt.options import Options
from nmt.results import evaluation
from nmt.runs import listing
from nmt.runs.claim import claim
from nmt.runs.folder import Run
from nmt.runs.lock import LockedRun
from nmt.training import averaging


def lose(run, how):
    """Takes the content of params.json, as a loss of power does, or the file."""
    path = run / "params.json"
    content = path.read_bytes()
    path.unlink()
    if how != "missing":
        path.write_bytes(b"" if how == "empty" else bytes(len(content)))


@pytest.mark.parametrize("how", ["missing", "empty", "zeros"])
def test_lost_parameters_are_named_and_no_checkpoint_is_called_damaged(
    run, how, capsys, monkeypatch
):
    lose(run, how)
    monkeypatch.setattr(listing, "FOLDER", run.parent)
    word = "missing" if how == "missing" else "empty"
    for command in (["--run", run], ["translate", "um.", "--run", run], ["translate", "um."]):
        line = refused(capsys, *command)
        assert f"params.json: is {word}, beside intact checkpoints; restore it, or" in line
        assert "remove" not in line


@pytest.mark.parametrize(
    ("removed", "said"),
    [
        ("checkpoints/final/ckpt-2.index", "ckpt-2.index: is missing, beside its weights"),
        ("tokenizer.model", "tokenizer.model: is missing, beside intact checkpoints"),
        ("checkpoints/final", "checkpoints: is empty, beside history.json"),
        ("checkpoints", "checkpoints: is missing, beside history.json"),
    ],
)
def test_what_a_run_lacks_is_named_and_no_weights_are_removed(
    run, removed, said, capsys, monkeypatch
):
    for path in run.glob("checkpoints/*"):  # it is a copy: the final weights alone
        if path.name != "final":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    path = run / removed
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    monkeypatch.setattr(listing, "FOLDER", run.parent)
    commands = [["translate", "um.", "--run", run], ["translate", "um."]]
    if said.endswith("weights"):
        commands += [["--run", run], ["--dataset", "bundled", "--run", run, *LEARNING]]
    for command in commands:
        assert f"{said}; restore" in refused(capsys, *command)
    assert {path: before.get(path) for path in run.rglob("*") if path.is_file()} == before
    assert call("runs", run.parent, "--json") == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert said in listed["damaged"]


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(3_000_000_000)


HOSTILE = {  # how a file is made, and what is said of params.json
    "nested": (lambda path: path.write_text("[" * 100_000), "is nested too deep"),
    "pipe": (os.mkfifo, "is no file"),
    "huge": (sparse, "has more than 256,000,000 bytes"),
    "folder": (os.mkdir, "is no file"),
}


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *(("params.json", how) for how in HOSTILE), ("tokenizer.model", "pipe"),
        ("history.json", "nested"), ("checkpoints/final/ckpt-2.index", "pipe"),
        ("checkpoints/final/ckpt-2.data-00000-of-00001", "pipe"), ("tokenizer.model", "folder"),
    ],
)  # fmt: skip
def test_whatever_stands_in_a_run_folder_ends_in_one_line_at_once(run, name, how, capsys):
    make, said = HOSTILE[how]
    shutil.rmtree(run / "engine")  # so that all is read
    (run / name).unlink()
    make(run / name)
    begin = time.monotonic()
    assert call("translate", "um.", "--run", run) == (0 if name == "history.json" else 2)
    assert time.monotonic() - begin < 30
    line = capsys.readouterr().err.splitlines()[-1]
    if name != "history.json":
        assert str(run / name).partition(".data")[0] in line
        assert said in line
    assert call("runs", run.parent) == 0
    assert "damaged" in capsys.readouterr().out or name != "params.json"


def test_a_run_folder_that_is_a_link_to_itself_is_one_line(tmp_path, capsys):
    (tmp_path / "run").symlink_to("run")
    for command in ["translate", "um.", "--run"], ["--dataset", "bundled", "--from"], ["--run"]:
        assert f"{tmp_path / 'run'}" in refused(capsys, *command, tmp_path / "run")


def change(run, **corpus):
    """Changes the corpus that params.json names."""
    content = json.loads((run / "params.json").read_bytes())
    content["corpus"] |= corpus
    content["data_path"] = "\x1b]0;owned\x07\u009b2J"
    (run / "params.json").write_text(json.dumps(content))


def test_no_escape_sequence_of_a_run_reaches_the_terminal(run, capsys):
    change(run)
    assert call("translate", "um.", "--run", run) == 0
    assert call("runs", run.parent) == 0
    output = capsys.readouterr()
    assert "\\x1b]0;owned\\x07" in output.err
    assert "\\x1b]0;owned\\x07" in output.out
    assert not set("\x1b\x07\x9b") & set(output.err + output.out)


@pytest.mark.parametrize("code", ["../../../x", "", "\x1b[2J", "a" * 400])
def test_languages_of_a_run_are_codes(run, code, tmp_path, capsys):
    change(run, languages=[code, "en"])
    command = ["export", "--run", run, "--format", "argos", "--to", tmp_path / "p.argosmodel"]
    line = refused(capsys, *command)
    assert "params.json: languages are" in line
    assert not (tmp_path / "p.argosmodel").exists()


@pytest.fixture
def caught():
    """Signals to end are caught as the program does it."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
    startup.catch_interrupts()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "caught")
def test_a_signal_while_averaging_or_scoring_is_a_line_and_loses_nothing(run, capsys, monkeypatch):
    before = json.loads((run / "scores.json").read_text())
    (run / "scores.json").unlink()
    for part, name, number in (
        (averaging, "assign", signal.SIGTERM),
        (evaluation, "translate_all", signal.SIGHUP),
    ):

        def ended(*_, number=number, **options):
            os.kill(os.getpid(), number)

        with monkeypatch.context() as patch:
            patch.setattr(part, name, ended)
            startup.catch_interrupts()
            assert call("--run", run) == 128 + number
        last = capsys.readouterr().err.splitlines()[-1]
        assert last == (
            "run_demo.py: interrupted; to resume it: "
            f"{shlex.join(['python', 'run_demo.py', '--run', str(run)])}"
        )
    assert call("--run", run) == 0
    after = json.loads((run / "scores.json").read_text())
    assert after["BLEU"] == before["BLEU"]
    assert after["chrF"] == before["chrF"]


@pytest.mark.usefixtures("undrawn", "eagerly")
@pytest.mark.parametrize("command", [pytest.param("train", marks=pytest.mark.slow), "evaluate"])
def test_a_closed_stdout_takes_no_scores(run, monkeypatch, capsys, command):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    (run / "scores.json").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Closed())
        assert call(command, "--run", run) == 141
    assert "BLEU" in json.loads((run / "scores.json").read_text())
    assert ("Everything is in" in capsys.readouterr().err) is (command == "train")


def test_final_weights_alone_are_used_and_never_trained_over(run, tmp_path, capsys):
    for path in [*run.glob("checkpoints/ckpt-*"), *run.glob("checkpoints/timed/ckpt-*")]:
        path.unlink()
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for command in ([], ["--dataset", "bundled", "--seed", "7"]):
        assert call(*command, "--run", run) == 2
        (line,) = [line for line in capsys.readouterr().err.splitlines() if "final weights" in line]
        assert line.endswith(f"perhaps one that begins with these: --from {run}")
        assert {path: path.read_bytes() for path in before} == before
    assert [found.path for found in listing.trained(tmp_path)] == [run]
    assert call("translate", "--run", run, "um dois.") == 0
    (run / "tokenizer.model").write_bytes(train_tokenizer(as_dataset(sentences(99)), 320))
    assert call("translate", "--run", run, "um dois.") == 2
    assert "tokenizer.model: not the SentencePiece model that" in capsys.readouterr().err


def test_parameters_are_read_again_once_the_folder_is_reserved(tmp_path):
    run = Run(tmp_path)
    assert run.saved_parameters is None
    options = Options(xla="off")
    claim(Run(tmp_path), options, CorpusSource("bundled"), {"tokenizer": "0"})  # by another process
    assert LockedRun(run).parameters.options == options


def test_a_resumed_run_remembers_how_its_text_writes_numbers(tmp_path):
    given = Options(xla="off"), CorpusSource("bundled"), {"tokenizer": "0"}
    claim(Run(tmp_path), *given, spells_numbers=True)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "ckpt-1.index").write_bytes(b"")
    assert claim(Run(tmp_path), *given).spells_numbers
    assert Run(tmp_path).saved_parameters.spells_numbers


def test_what_is_unchanged_is_not_written_again(tmp_path):
    run = LockedRun(Run(tmp_path))
    run.write("params.json", {"a": 1})
    before = (tmp_path / "params.json").stat().st_mtime_ns
    run.write("params.json", {"a": 1})
    assert (tmp_path / "params.json").stat().st_mtime_ns == before
    run.write("params.json", {"a": 2})
    assert json.loads((tmp_path / "params.json").read_text()) == {"a": 2}
    before = (tmp_path / "lock").stat().st_mtime_ns
    run.resources.close()
    (tmp_path / "params.json.tmp").write_text("half, of a killed process")
    LockedRun(run)
    assert (tmp_path / "lock").stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "params.json"]


def test_a_file_is_on_the_disk_before_its_name_is(tmp_path, monkeypatch):
    calls, fsync, replace = [], os.fsync, os.replace

    def flushed(descriptor):
        calls.append(("flush", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))
        fsync(descriptor)

    def renamed(path, target):
        calls.append(("name", Path(target).name))
        replace(path, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", renamed)
    Run(tmp_path / "new" / "run").write("params.json", {})
    assert calls == [
        ("flush", tmp_path.name),
        ("flush", "new"),
        ("flush", "params.json.tmp"),
        ("name", "params.json"),
        ("flush", "run"),
    ]
