"""What must hold of the command line: its flags are the rows of params.table()."""

import resource
import subprocess
import sys

import pytest
from helpers import ROOT, TINY, call, sentences, write_tsv

import params
import run_demo
from nmt.program import exit_codes, flags


def test_every_constant_is_a_flag_with_its_default_and_help(capsys):
    assert call("train", "--help") == 0
    text = "".join(capsys.readouterr().out.split())  # argparse breaks lines at hyphens too
    for row in params.table():
        assert f"--{(row.flag.also or row.name).replace('_', '-')}" in text
        assert "".join(f"{row.flag.help} (default {row.default})".split()) in text
    values = {name.lower(): value for name, value in vars(params).items() if name.isupper()}
    sections = {name for name, value in values.items() if isinstance(value, params.Section)}
    assert set(values) - sections - {"presets"} == {row.name for row in params.table()}


def test_half_a_flag_is_refused_before_anything_begins(capsys, tmp_path):
    assert call("--num-layer", 2, "--run", tmp_path / "run") == 2
    assert "--num-layer" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["translate", "explore"])
def test_the_name_of_a_file_is_no_sentence(finished, capsys, tmp_path, command):
    (tmp_path / "text").write_text("um.\n")
    assert call(command, "um.", tmp_path / "text", "--run", finished / "run") == 2
    said = capsys.readouterr()
    assert f"{tmp_path / 'text'}: is a file, not a sentence" in said.err
    assert said.out == ""


@pytest.mark.parametrize("length", [300, 5000])
def test_a_sentence_may_be_longer_than_any_files_name(finished, capsys, length):
    text = ("um dois " * length)[:length].strip()
    assert call("translate", "--run", finished / "run", text) == 0
    assert capsys.readouterr().out.count("\n") == 1
    assert call("--dataset", "x" * length) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_help_names_the_commands_first_then_the_flags_in_the_groups_of_params(capsys):
    assert call("--help") == 0
    text = capsys.readouterr().out
    titles = list(dict.fromkeys(row.section for row in params.table()))
    assert len(titles) == len([v for v in vars(params).values() if isinstance(v, params.Section)])
    titles_and_commands = ["train      train", "translate  ", "plot       "]
    titles_and_commands += [f"\n{title}:" for title in titles]
    positions = [text.index(words) for words in titles_and_commands]
    assert positions == sorted(positions)
    for row in params.table():
        flag = text.index(f"\n  --{(row.flag.also or row.name).replace('_', '-')}")
        assert [title for title in titles if text.index(f"\n{title}:") < flag][-1] == row.section


def test_a_command_of_its_own_needs_no_train_before_the_flags():
    args = exit_codes.parser(run_demo.train).parse_args(
        ["train", "--mixed-precision", "--epochs", "3"]
    )
    options = flags.chosen(args)
    assert options["mixed_precision"] is True
    assert options["epochs"] == 3
    assert options["d_model"] == params.D_MODEL


@pytest.mark.parametrize("preset", params.PRESETS)
def test_a_preset_is_a_row_of_known_values_that_flags_go_before(preset, capsys):
    rows = {row.name: row for row in params.table()}
    for name, value in params.PRESETS[preset].values.items():
        flag = rows[name].flag
        assert type(value) is rows[name].type
        assert value != rows[name].default
        assert flag.choices is None or value in flag.choices
        assert flag.low is None or value >= flag.low
        assert flag.high is None or value <= flag.high
    args = exit_codes.parser(run_demo.train).parse_args(
        ["train", "--dff", "48", "--no-tie-embeddings"]
    )
    options = flags.chosen(args, preset)
    assert options["dff"] == 48
    assert options["tie_embeddings"] is False
    own = {
        n: v for n, v in params.PRESETS[preset].values.items() if n not in ("dff", "tie_embeddings")
    }
    assert options.items() >= own.items()
    for command in (["--help"], ["train", "--help"]):
        assert call(*command) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert f"{preset}: {params.PRESETS[preset].source}" in text


@pytest.mark.slow
def test_a_checkpoint_too_large_for_the_disk_is_one_line_and_the_run_resumes_later(tmp_path):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    run = tmp_path / "run"
    command = [sys.executable, str(ROOT / "run_demo.py"), "--dataset", str(tsv), "--run", str(run)]

    def limit_files():  # to less than a checkpoint, more than the tokenizer
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    wide = [*TINY, "--dff", "4096"]
    limited = subprocess.run(
        [*command, *wide], preexec_fn=limit_files, capture_output=True, text=True, check=False
    )
    assert limited.returncode == 2, limited.stderr
    last = limited.stderr.strip().splitlines()[-1]
    assert last.startswith(f"run_demo.py: {run}")
    assert "Traceback" not in limited.stderr
    assert subprocess.run([*command, *wide], capture_output=True, check=False).returncode == 0


def test_a_former_name_of_a_flag_is_accepted_and_not_shown(capsys):
    args = exit_codes.parser(run_demo.train).parse_args(["train", "--words-a-piece", "100"])
    assert flags.chosen(args)["words_per_piece"] == 100
    assert call("--help") == 0
    shown = capsys.readouterr().out
    assert "--words-per-piece" in shown
    assert "--words-a-piece" not in shown
