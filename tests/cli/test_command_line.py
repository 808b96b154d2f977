"""What must hold of the command line: its flags are the rows of params.table()."""

import argparse
import contextlib
import io
import re
import resource
import sys
import tempfile

import pytest
from helpers import (
    ROOT,
    TINY,
    call,
    output_of,
    pretend_epoch,
    refused,
    run_process,
    sentences,
    write_tsv,
)

import params
from nmt.cli import exit_codes, flags, main
from nmt.runs.parameters import error_in_options
from nmt.training.loop import Epochs


@pytest.fixture(autouse=True)
def _few_graphs(request):
    """All but the slow tests translate little."""
    if not request.node.get_closest_marker("slow"):
        request.getfixturevalue("eagerly")


def test_every_constant_is_a_flag_with_its_default_and_help_in_its_group(capsys):
    text = output_of(capsys, "train", "--help")
    words = "".join(text.split())  # argparse breaks lines at hyphens too
    titles = list(dict.fromkeys(row.section for row in params.table()))
    positions = [text.index(f"\n{title}:") for title in titles]
    assert positions == sorted(positions)
    for row in params.table():
        name = f"--{(row.flag.alias or row.name).replace('_', '-')}"
        described = f"{row.flag.help} (default {'none' if row.default == '' else row.default})"
        assert "".join(described.split()) in words
        flag = text.index(f"\n  {name}")
        assert [title for title in titles if text.index(f"\n{title}:") < flag][-1] == row.section
    values = {name.lower(): value for name, value in vars(params).items() if name.isupper()}
    sections = {name for name, value in values.items() if isinstance(value, params.Section)}
    assert set(values) - sections - {"presets"} == {row.name for row in params.table()}
    assert len(sections) == len(titles)


def test_the_name_of_a_file_is_no_sentence(finished, capsys, tmp_path):
    (tmp_path / "text").write_text("um.\n")
    assert call("explore", "um.", tmp_path / "text", "--run", finished / "run") == 2
    said = capsys.readouterr()
    assert f"{tmp_path / 'text'}: is a file, not a sentence" in said.err
    assert said.out == ""


def test_a_sentence_may_be_longer_than_any_files_name(finished, capsys):
    text = ("um dois " * 5000)[:5000].strip()
    assert output_of(capsys, "translate", "--run", finished / "run", text).count("\n") == 1
    assert "Traceback" not in refused(capsys, "--dataset", "x" * 5000)


def test_help_fits_on_a_screen_and_names_every_command_and_preset(capsys):
    for arguments in (["--help"], ["-h"]):
        lines = output_of(capsys, *arguments).splitlines()
        assert len(lines) <= 30
        assert max(map(len, lines)) <= 80
        for name in main.COMMANDS:
            assert f"  {name:14} {main.module_of(name).HELP}" in lines
        assert all(name in "\n".join(lines) for name in params.PRESETS)


def test_the_version_names_what_the_program_runs_on(capsys):
    assert call("--version") == 0
    assert re.fullmatch(
        r"run_demo.py \d+\.\d+\.\d+ \(Python 3\.\d+\.\d+, tensorflow 2\.21\.\d+, keras \S+, "
        r"ctranslate2 \S+\)\n",
        capsys.readouterr().out,
    )


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("plot attention --run R um", dict(what="attention", sentence="um", run="R")),
        ("plot attention um --layer 2", dict(what="attention", sentence="um", layer=2)),
        ("translate um --beam 2 dois", dict(text=["um", "dois"], beam=2)),
        ("translate --beam 2 -- -um --x", dict(text=["-um", "--x"], beam=2)),
        ("translate um -- -um", dict(text=["um", "-um"])),
        ("plot masks -- --help", dict(sentence="--help")),
        ("translate um --run r -- -x", dict(run="r", text=["um", "-x"])),
        ("translate um -- --run r", dict(run=None, text=["um", "--run", "r"])),
        ("evaluate a b --run R --test c", dict(files=["a", "b"], run="R", test=["c"])),
        ("evaluate --train t --hypotheses h -- -a", dict(hypotheses=["h"], files=["-a"])),
        ("--epochs 3", dict(command="train", epochs=3)),
        ("train --no-plots", dict(command="train", no_plots=True)),
        ("", dict(command="train", run=None, preset=None)),
    ],
)
def test_flags_and_sentences_may_come_in_any_order(arguments, values):
    args = vars(main.parse_command_line(arguments.split()))
    assert {name: args[name] for name in values} == values


WITHOUT_TENSORFLOW = """
import sys
sys.path.insert(0, {root!r})
from nmt.cli import main, startup
startup.import_tensorflow = lambda: print("TensorFlow is needed")
try:
    sys.exit(main.start({arguments!r}))
finally:
    slow = {{"tensorflow", "keras", "matplotlib", "numpy", "sacrebleu"}} & {{*sys.modules}}
    print("imported:", *slow)
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["train", "--help"], 0), (["--version"], 0), (["--epochs", "0"], 2),
        (["translate", "--run", "nowhere", "um"], 2), (["export", "--run", "nowhere"], 2),
    ],
)  # fmt: skip
def test_help_and_mistakes_are_answered_before_tensorflow_is_imported(arguments, code, tmp_path):
    program = WITHOUT_TENSORFLOW.format(root=str(ROOT), arguments=arguments)
    done = run_process([sys.executable, "-c", program], cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout.splitlines()[-1].strip() == "imported:"


@pytest.mark.parametrize("preset", params.PRESETS)
def test_a_preset_is_a_row_of_known_values_that_flags_go_before(preset, capsys):
    values, defaults = params.PRESETS[preset].values, params.values()
    assert error_in_options(defaults | values) is None
    assert all(value != defaults[name] for name, value in values.items())
    args = main.parse_command_line(["train", "--dff", "48", "--no-tie-embeddings"])
    options = flags.chosen(args, preset)
    assert options.dff == 48
    assert options.tie_embeddings is False
    own = {n: v for n, v in values.items() if n not in ("dff", "tie_embeddings")}
    assert options.by_name().items() >= own.items()
    assert call("train", "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"{preset}: {params.PRESETS[preset].description}" in text


@contextlib.contextmanager
def small_files():
    """Files grow to less than a checkpoint, more than the tokenizer and its rules."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
@pytest.mark.usefixtures("unscored")
def test_a_checkpoint_too_large_for_the_disk_is_one_line_and_the_run_resumes_later(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(Epochs, "train_on", pretend_epoch)
    tsv, run = write_tsv(tmp_path / "numbers.tsv", sentences(150)), tmp_path / "run"
    command = ["--dataset", tsv, "--run", run, *TINY, "--dff", 4096, "--no-plots"]
    with small_files():
        assert call(*command) == 2
    said = capsys.readouterr().err
    assert said.strip().splitlines()[-1].startswith(f"run_demo.py: {run}")
    assert "Traceback" not in said
    assert call(*command) == 0


def test_each_command_is_a_file_and_in_the_only_list():
    files = {
        path.stem.replace("_", "-"): path.read_text()
        for path in (ROOT / "nmt" / "cli").glob("*.py")
    }
    files["import"] = files.pop("import-model")  # a keyword of Python names no module
    names = {name for name, text in files.items() if "\ndef add_flags(" in text}
    assert names == {*main.COMMANDS}
    for name in main.COMMANDS:
        module = main.module_of(name)
        assert module.HELP
        assert hasattr(module, "run") is (name != "train"), name  # which is in run_demo.py


def test_a_path_that_is_not_utf8_is_printed_as_it_is(monkeypatch):
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="ascii"))
    assert exit_codes.exit_code(lambda: print("caf\udce9 é"), argparse.Namespace()) == 0
    assert printed.getvalue() == b"caf\xe9 \xc3\xa9\n"


def test_a_full_file_without_a_name_is_not_taken_for_stdout_alone(capsys):
    def fill():
        with open("/dev/full", "wb", buffering=0) as file:
            file.write(b"1")

    assert exit_codes.exit_code(fill, argparse.Namespace()) == 2
    said = capsys.readouterr().err
    assert "No space left on device; free some space" in said
    assert f"{tempfile.gettempdir()} (TMPDIR names another temporary folder)" in said
