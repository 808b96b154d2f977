"""What must hold of --config: the flags of a YAML file are those of a command line."""

import pytest

from nmt import UserError
from nmt.cli import main

FLAGS = """
# Sizes
epochs: 3  # few
tie_embeddings: true
pre-norm: false
xla: off
adam-epsilon: 1e-6
languages: no-en
train: [a.tsv, b.tsv:2]
"""


def parse(tmp_path, content, *arguments):
    """Returns the parsed arguments of a command whose --config holds `content`."""
    path = tmp_path / "flags.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    command, end = [*arguments], len(arguments)
    if "--" in command:
        end = command.index("--")
    return main.parse_command_line([*command[:end], "--config", str(path), *command[end:]])


def test_values_are_read_as_they_are_written(tmp_path):
    args = parse(tmp_path, FLAGS)
    assert (args.epochs, args.tie_embeddings, args.pre_norm) == (3, True, False)
    assert (args.xla, args.adam_epsilon, args.languages) == ("off", 1e-6, ["no", "en"])
    assert args.train == ["a.tsv", "b.tsv:2"]


def test_a_flag_of_the_command_line_takes_precedence(tmp_path):
    args = parse(tmp_path, "epochs: 3\npre-norm: true\nrun: runs/a", "--epochs=4", "--no-pre-norm")
    assert (args.epochs, args.pre_norm, args.run) == (4, False, "runs/a")
    args = parse(tmp_path, "run: [runs/a, runs/b]\nprotect: -x", "translate", "--", "--run")
    assert (args.run, args.ensemble, args.text) == ("runs/a", ["runs/b"], ["--run"])
    assert args.patterns == ["-x"]
    args = parse(tmp_path, "run: [runs/a, runs/b]", "translate", "--run", "runs/c")
    assert (args.run, args.ensemble) == ("runs/c", [])


def test_sentences_and_files_are_no_values_of_its_flags(tmp_path):
    args = parse(tmp_path, "drop: [empty, ratio]\nto: b.tsv", "data", "a.tsv")
    assert (args.files, args.drop, args.to) == (["a.tsv"], ["empty", "ratio"], ["b.tsv"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("epoch: 3", "flags.yaml:1: unknown key epoch (did you mean epochs?)"),
        ("config: a.yaml", "flags.yaml:1: unknown key config"),
        ("epochs: 3\nepochs: 4", "flags.yaml:2: epochs stands in line 1, too"),
        ("dataset: a\ndata-path: b", "flags.yaml:2: data-path contradicts dataset"),
        ("epochs: x", "flags.yaml:1: epochs: invalid int value: 'x'"),
        ("epochs: [1, 2]", "flags.yaml:1: epochs takes one value"),
        ("epochs:", "flags.yaml:1: epochs has no value"),
        ("train: {a: b}", "flags.yaml:1: train takes a value, or a list"),
        ("pre-norm: yes", "flags.yaml:1: pre-norm is true or false"),
        ("- a", "flags.yaml: is not a mapping"),
        ("[a]: 3", "flags.yaml:1: a key is no word"),
        ("epochs: 3\na: [", "flags.yaml:2: is not YAML"),
        ("epochs: 3\x01", "flags.yaml: is not YAML"),
        ("[" * 5000, "flags.yaml: is nested too deeply"),
        (b"# caf\xe9", "flags.yaml:1: byte 6 of the line is not UTF-8"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path, content, message):
    with pytest.raises(UserError) as error:
        parse(tmp_path, content)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
