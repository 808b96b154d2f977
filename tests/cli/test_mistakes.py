"""What users can get wrong: one line, exit code 2, nothing lost."""

import io
import os
import re
import sys
from pathlib import Path

import pytest
from helpers import TINY, call, sentences, write_tsv

from nmt.runs import listing
from nmt.training import devices


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "missing.tsv"], "missing.tsv: No such file"),
        (["--dataset", "no_such_dataset"], "--dataset no_such_dataset: "),
        (["--dataset", "ted_hrlr_translate/xx_to_yy"], "BuilderConfig xx_to_yy not found"),
        (["--dataset", "mnist"], "holds no source and target text"),
        (["--dataset", ""], "--dataset "),
        (["--dataset", "bundled", "--test", "x.tsv"], "--valid and --test go with"),
        (["--dataset", "pairs.txt"], "pairs.txt: is a file; name a .tsv"),
        (["--dataset", "empty.tsv"], "empty.tsv: holds no pair"),
        (["--dataset", "one-column.tsv"], "one-column.tsv:2: 1 column"),
        (["--dataset", "latin1.tsv"], "latin1.tsv:1: byte 2 of the line is not UTF-8"),
        (["--train", "three.txt", "pairs.txt"], "pairs.txt: ends at line 1"),
        (["--train", "blank.tsv", "--valid", "good.tsv", "--test", "good.tsv"], "holds no words"),
        (["--dataset", "good.tsv", "--max-length", "2"], "raise --max-length"),
        (["--dataset", "ted_hrlr_translate/pt_to_en:9.9.9"], "--dataset ted_hrlr_translate/pt"),
        (["--dataset", "bundled", "--train", "a", "b"], "choose one"),
        (["--train", "pairs.txt", "three.txt", "good.tsv:0"], "good.tsv:0: a weight is a whole"),
        (["--train", "good.tsv", "three.txt"], "three.txt: is not followed by the file of its"),
        (["--train", "good.tsv:2"], "weights need --valid and --test files"),
        (["--train", "good.tsv", "--valid", "good.tsv:2"], "--valid good.tsv:2: only --train"),
        (["--train", "bad.tsv.gz"], "bad.tsv.gz: is not compressed by gzip"),
        (["--dataset", "good.tsv", "--symbols", "<x> <s>"], "--symbols <s>: has a meaning"),
        (["--dataset", "good.tsv", "--reverse", "yes"], "unknown yes"),
        (["--train", "good.tsv", "--train", "good.tsv"], "--train: is given twice"),
        (["--config", "missing.yaml"], "missing.yaml: No such file"),
        (["--config", ""], "--config: must not be empty"),
        (["plot", "curves", "--beside", "a", "--beside", "b"], "--beside: is given twice"),
        (["data", "good.tsv", "--to", "", "--drop", "all"], "--to: must not be empty"),
        (["evaluate", "--against", ""], "--against: must not be empty"),
        (["evaluate", "good.tsv", "--test", "good.tsv"], "--test is for the run's own test split"),
        (["evaluate", "--columns", "2,1"], "--columns is for files; name them, or leave it out"),
        (["evaluate", "--sheet", "a"], "--sheet is for files; name them, or leave it out"),
        (["evaluate", "--no-header"], "--no-header is for files; name them, or leave it out"),
        (["export", "--languages", "pt-en"], "--languages goes with --format argos, html"),
        (["plot", "curves", "um."], "plot curves: takes no sentence"),
        (["plot", "schedule", "--average"], "plot schedule: takes no --average"),
        (["plot", "schedule", "--train", "a.tsv"], "plot schedule: takes no --train"),
        (["plot", "schedule", "--checkpoint", "best"], "--checkpoint is of a run"),
        (["runs", "--", "-x", "-y"], "unknown -y"),
        (["--d-model", "100"], "--d-model 100 is not a multiple of --num-heads 8"),
        (["--decoder-layers", "-1"], "argument --decoder-layers: -1 is less than 0"),
        (["--decoder-layers", "201"], "argument --decoder-layers: 201 is more than 200"),
        (["--epochs", "many"], "argument --epochs: invalid int value: 'many'"),
        (["--dropout-rate", "1.5"], "1.5 is more than 0.99"),
        (["--dropout-rate", "nan"], "nan is not a number"),
        (["translate", "--run", "nothing-here", "Bom dia."], "nothing-here: no trained run"),
        (["translate", "--protect", "(", "um."], "--protect (: is not a regular expression"),
        (["translate", "--no-protect", "--protect", "um", "um."], "--no-protect contradicts"),
        (["translate", "--glossary", "nothing.tsv", "um."], "nothing.tsv: No such file"),
        (
            ["translate", "--glossary", "three.txt", "um."],
            "three.txt: line 1 is not one source term",
        ),
        (["plot", "no-such-picture"], "invalid choice"),
        (["--dataset", "bundled", "--run", "/dev/null/run"], "/dev/null/run"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2_and_trains_nothing(
    arguments, said, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    files = {
        "pairs.txt": "um\tone\n",
        "three.txt": "um\ndois\ntrês\n",
        "empty.tsv": "",
        "bad.tsv.gz": "um\tone\n",
        "one-column.tsv": "um\tone\ndois\n",
        "latin1.tsv": "é\t1\n".encode("latin1").replace(b"\xe9", b"a\xe9"),
        "blank.tsv": " \t \n" * 200,
        "good.tsv": "".join(f"{s}\t{t}\n" for s, t in sentences(100)),
    }
    for name, content in files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert call(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    line = output.err.splitlines()[-1]
    assert line.startswith("run_demo.py: ")
    assert said in line
    assert not list(tmp_path.rglob("checkpoint*"))


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
def test_a_start_that_failed_does_not_bar_the_corrected_command(tmp_path, capsys, monkeypatch):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(100))
    monkeypatch.chdir(tmp_path)
    command = ["--dataset", tsv, "--run", "runs/run", *TINY[:-1], 1]
    assert call(*command, "--max-length", 2) == 2
    assert not listing.trained()  # and nothing is taken for a trained run
    capsys.readouterr()
    assert call(*command) == 0
    said = capsys.readouterr().err
    assert "epochs end in about" not in said  # too few steps to tell
    sentence = re.search(r"translate --run \S+/run '?([^'\n]+)'?", said)[1]
    assert call("translate", "--run", "runs/run", sentence) == 0


@pytest.mark.usefixtures("eagerly")
def test_sentences_are_typed_at_a_prompt(finished, monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO("um dois.\ntrês.\n".encode())
        isatty = staticmethod(lambda: True)

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert call("translate", "--run", finished / "run") == 0
    said = capsys.readouterr()
    assert said.out.count("\n") == 2
    assert said.err.count("> ") == 3  # the last is answered by Ctrl-D
    assert "Ctrl-D ends" in said.err


def test_bad_text_on_stdin_is_named_with_its_line(finished, monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO(b"um.\n\xff\n")
        isatty = staticmethod(bool)  # no

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert call("translate", "--run", finished / "run") == 2
    assert "stdin:2: byte 1 of the line is not UTF-8" in capsys.readouterr().err


def test_bad_text_as_an_argument_is_named(finished, capsys):
    bad = os.fsdecode(b"um \xff.")
    assert call("translate", "--run", finished / "run", "um.", bad) == 2
    assert "argument:2: byte 4 of the line is not UTF-8" in capsys.readouterr().err
    assert call("plot", "attention", bad, "--run", finished / "run") == 2
    assert "argument:1: byte 4 of the line is not UTF-8" in capsys.readouterr().err


def test_a_gpu_that_tensorflow_does_not_see_is_named_with_the_remedy(tmp_path, monkeypatch, capsys):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA Test (UUID: GPU-1)'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(devices, "gpus", lambda: devices.SeenGpus([], "no library for it"))
    devices.configure()
    error = capsys.readouterr().err
    assert "NVIDIA Test" in error
    assert error.endswith("no library for it\n")
    assert "pip install 'tensorflow[and-cuda]==2.21" in error
    tool.write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    devices.configure()
    assert "pip" not in capsys.readouterr().err
