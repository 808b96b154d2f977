"""What users can get wrong: one line, exit code 2, nothing lost."""

import io
import os
import re
import sys
from pathlib import Path

import pytest
from helpers import TINY, call, refused, sentences, write_tsv

from nmt.runs import listing
from nmt.training import devices

COMMAND_LINES = [  # with what may have been meant
    ("trnslate x", "'trnslate' is not a command (did you mean translate?); see run_demo.py"),
    ("--epoch 3", "unknown --epoch (did you mean --epochs?); see run_demo.py train --help"),
    ("--d_model 8", "unknown --d_model (did you mean --d-model?)"),
    ("--run R translate x", "the command comes first: run_demo.py translate --run R x"),
    ("--zzz=3", "unknown --zzz; see run_demo.py train --help"),
    ("plot", "plot: name the picture: positional-encoding, "),
    ("train.tsv", "to train on a file: --dataset train.tsv"),
    ("translate um --zzz train", "unknown --zzz; see run_demo.py translate --help"),
    ("olá!", "to translate a sentence: translate 'olá!'"),
    ("foo", "'foo' is not a command (train, translate, "),
    ("plot scaling --to x.gif", "'x.gif' does not end in .png, .svg, .pdf"),
    ("translate --run= um", "argument --run: must not be empty"),
    ("align --run R --run S x.tsv", "argument --run: is given twice; give it once"),
    ("score a.tsv b.tsv", "2 files named (a.tsv b.tsv)"),
    ("data a.tsv --to b.tsv --drop test", "--drop test: needs the test text; name it"),
]
TRAINED = ["--run", "RUN"]  # the finished run
OF_DOCUMENTS = [  # IN, OUT and flags of translate-file
    (["missing.html", "b.html"], "missing.html: No such file"),
    (["a.html", "done.html"], "done.html: exists already; remove it, or name another file"),
    (["a.html", "b.txt"], "b.txt: must end in .html like a.html"),
    (["a.pdf", "b.pdf"], "a.pdf: is not a document that can be translated (.txt, "),
    (["folder.html", "b.html"], "folder.html: Is a directory"),
    (["bad.html", "b.html"], "bad.html: line 1: is not UTF-8"),
    (["a.html", "b.html", "--columns", "x"], "--columns x: a.html is no table; leave it out"),
    (["a.html", "b.html", "--min-confidence", "9"], "--min-confidence is for --review; give"),
    (["a.html", "b.html", "--min-confidence", "101"], "101.0 is more than 100; see run_"),
    (["a.html", "b.html", "--review", "x.csv"], "x.csv does not end in .tsv; name FILE.tsv"),
    (["a.html", "b.html", "--review", "done.tsv"], "done.tsv: exists already; remove it, or"),
    (["a.tsv", "b.tsv", "--columns", "1", "--review", "b.tsv"], "b.tsv: is OUT, too; name"),
]
OF_LINES = [  # flags of translate
    (["--format", "html", "--score", "um"], "--format html prints markup: leave --score out"),
    (["--format", "xml", "um", "<b>"], "argument:2: line 1: is not well-formed XML"),
    (["--eager", "um"], "--plain"),
    (["--plain", "--beam", "2", "um"], "--plain: it is greedy search"),
    (["--plain", "--sample", "um"], "--plain: it does not apply --sample"),
    (["--plain", "--prefix", "one", "um"], "--plain"),
    (["--engine", "ctranslate2", "--sample", "um"], "it does not apply --sample"),
    (["--engine", "ctranslate2", "--plain", "um"], "--plain"),
    (["--quantization", "int8", "--no-repeat-ngram", "3", "um"], "leave out"),
    (["--input", "a.pt"], "--input and --output go together; add --output FILE"),
    (["--output", "a.en"], "--input and --output go together; add --input FILE"),
    (["--closest-to", "short", "um"], "--closest-to goes with --input FILE and --output FILE"),
    (["--input", "a.pt", "--output", "a.en", "um"], "leave the sentences out"),
    (["--input", "a.pt", "--output", "a.en", "--format", "xml"], "or use translate-file"),
    (["--input", "a.pt", "--output", "a.en", "--check"], "--check and --strict compare"),
    (["--input", "a.pt", "--output", "bad.pt"], "bad.pt: exists already; remove it"),
    (["--input", "a.pt", "--output", "./a.pt"], "--output is the --input itself"),
    (["--input", "a.pt", "--output", "."], "--output .: is a folder; name a file in it"),
    (["--input", "missing", "--output", "a.en"], "missing: No such file"),
    (["--input", "/dev/null", "--output", "a.en"], "/dev/null: is a pipe or a device"),
    (["--input", "bad.pt", "--output", "a.en"], "bad.pt:2: byte 2 of the line is not UTF-8"),
    (["--input", "a.pt", "--output", "a.en", "--prefixes", "bad.pt"], "bad.pt:2: byte 2"),
    (["--input", "a.pt", "--output", "a.en", "--prefixes", "short"], "short: ends at line 1"),
    (["--input", "a.pt", "--output", "a.pt/a.en"], "a.pt/a.en.partial: Not a directory"),
    (["--input", "a.pt", "--output", "a.en", "--prefix", "caf\udce9"], "is half a character"),
]
OF_PICTURES = [  # flags of plot
    (["attention", "um.", "--layer", "2"], "--layer 2: cross attention has layers 1 to 1"),
    (["attention", "um.", "--layer", "0"], "--layer 0: cross attention has layers 1 to 1"),
    (["attention", "um.", "--head", "3"], "--head 3: cross attention has heads 1 to 2"),
    (["positional-encoding", "--position", "50"], "--position 50: positions 0 to 49 are drawn"),
    (["curves", "--beside", "."], "no trained run"),
]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "missing.tsv"], "missing.tsv: No such file"),
        (["--dataset", "no_such_dataset"], "--dataset no_such_dataset: "),
        (["--dataset", "ted_hrlr_translate/xx_to_yy"], "BuilderConfig xx_to_yy not found"),
        (["--dataset", "mnist"], "holds no source and target text"),
        (["--dataset", "bundled", "--test", "x.tsv"], "--valid and --test go with"),
        (["--dataset", "pairs.txt"], "pairs.txt: is a file; name a .tsv"),
        (["--dataset", "empty.tsv"], "empty.tsv: holds no pair"),
        (["--dataset", "one-column.tsv"], "one-column.tsv:2: 1 column"),
        (["--dataset", "latin1.tsv"], "latin1.tsv:1: byte 2 of the line is not UTF-8"),
        (["--train", "three.txt", "pairs.txt"], "pairs.txt: ends at line 1"),
        (["--train", "blank.tsv", "--valid", "good.tsv", "--test", "good.tsv"], "holds no words"),
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
        (["data", "good.tsv", "--to", "", "--drop", "all"], "--to: must not be empty"),
        (["evaluate", "good.tsv", "--test", "good.tsv"], "--test is for the run's own test split"),
        (["evaluate", "--columns", "2,1"], "--columns is for files; name them, or leave it out"),
        (["export", "--languages", "pt-en"], "--languages goes with --format argos, html"),
        (["export", "--quantization", "int8"], "goes with --format ctranslate2, argos, litert;"),
        (["export", "--package-version", "../1"], "is no version"),
        (["export", "--package-version", "1.1"], "--package-version goes with --format argos:"),
        (["plot", "curves", "um."], "plot curves: takes no sentence"),
        (["plot", "schedule", "--average"], "plot schedule: takes no --average"),
        (["plot", "schedule", "--train", "a.tsv"], "plot schedule: takes no --train"),
        (["plot", "schedule", "--checkpoint", "best"], "--checkpoint is of a run"),
        (["--d-model", "100"], "--d-model 100 is not a multiple of --num-heads 8"),
        (["--epochs", "many"], "argument --epochs: invalid int value: 'many'"),
        (["--dropout-rate", "1.5"], "1.5 is more than 0.99"),
        (["--dropout-rate", "nan"], "nan is not a number"),
        (["translate", "--no-protect", "--protect", "um", "um."], "--no-protect contradicts"),
        (["translate", "--glossary", "nothing.tsv", "um."], "nothing.tsv: No such file"),
        (["translate", "--glossary", "three.txt", "um."], "three.txt: line 1 is not one source"),
        (["--dataset", "bundled", "--run", "/dev/null/run"], "/dev/null/run"),
        *((line.split(), said) for line, said in COMMAND_LINES),
        *((["translate-file", *words], said) for words, said in OF_DOCUMENTS),
        *((["translate", *TRAINED, *words], said) for words, said in OF_LINES),
        *((["plot", *TRAINED, *words], said) for words, said in OF_PICTURES),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2_and_writes_nothing(
    arguments, said, finished, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    files = {
        "pairs.txt": "um\tone\n",
        "three.txt": "um\ndois\ntrês\n",
        "short": "one\n",
        "empty.tsv": "",
        "bad.tsv.gz": "um\tone\n",
        "one-column.tsv": "um\tone\ndois\n",
        "latin1.tsv": "é\t1\n".encode("latin1").replace(b"\xe9", b"a\xe9"),
        "blank.tsv": " \t \n" * 200,
        "good.tsv": "".join(f"{s}\t{t}\n" for s, t in sentences(100)),
        "bad.pt": b"um\nd\xff\n",
        "bad.html": b"\xff",
    } | dict.fromkeys(("a.html", "done.html", "done.tsv", "a.pdf", "a.pt"), "um\n" * 3)
    for name, content in files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    Path("folder.html").mkdir()
    assert call(*(finished / "run" if word == "RUN" else word for word in arguments)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    line = output.err.splitlines()[-1]
    assert line.startswith("run_demo.py: ")
    assert said in line
    assert "Traceback" not in output.err
    assert not list(tmp_path.rglob("checkpoint*"))
    assert output.err.count("run_demo.py: ") == 1
    if arguments[0].startswith("translate"):
        assert {path.name for path in tmp_path.iterdir()} == {*files, "folder.html"}


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


def test_bad_text_is_named_with_its_line(finished, monkeypatch, capsys):
    command, bad = ["translate", "--run", finished / "run"], os.fsdecode(b"um \xff.")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"um.\n\xff\n")))
    assert "stdin:2: byte 1 of the line is not UTF-8" in refused(capsys, *command)
    assert "argument:2: byte 4 of the line is not UTF-8" in refused(capsys, *command, "um.", bad)
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
