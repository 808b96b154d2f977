"""What must hold of --config: a run's params.json describes another run, and flags win."""

import json

import pytest

import params
from nmt import UserError
from nmt.cli import main
from nmt.runs.parameters import Parameters


@pytest.fixture
def parse(tmp_path):
    """A function of the content of a file and of flags that returns the parsed command line."""

    def parse(content, *words):
        path = tmp_path / "config.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return main.parse_command_line(["--config", str(path), *words])

    return parse


def test_flags_that_are_given_win_and_others_are_the_files(parse):
    args = parse(
        {"epochs": 7, "dff": 64, "learning_rate_scale": 2, "protect": False}, "--dff", "32"
    )
    assert (args.epochs, args.dff, args.learning_rate_scale, args.protect) == (7, 32, 2, "off")
    assert args.num_layers is None  # the preset's


def test_a_run_that_began_with_another_is_not_repeated_without_a_word(parse, capsys):
    saved = {"corpus": {"dataset": "bundled"}, "parent": "runs/p"}
    parse(saved)
    assert "began with the weights of runs/p" in capsys.readouterr().err
    assert parse(saved, "--from", "runs/p").parent == "runs/p"
    assert not capsys.readouterr().err


def test_params_json_of_a_run_describes_another_run(parse):
    corpus = {"train": ["/a.pt", "/a.en"], "valid": ["/b.tsv"], "reverse": True}
    options = params.values("tiny") | {"data_path": "a.pt a.en", "xla": "off"}
    saved = Parameters(options, corpus, {"train_sha256": "0"}, parts=2, parent="runs/p").content
    args = parse(saved)
    assert (args.train, args.valid, args.test) == (corpus["train"], ["/b.tsv"], None)
    assert args.reverse
    assert (args.data_path, args.batch_tokens, args.parent) == (None, 1024, None)
    args = parse(saved, "--dataset", "bundled", "--epochs", "2")
    assert (args.data_path, args.train, args.reverse, args.epochs) == ("bundled", None, False, 2)
    assert parse(saved | {"corpus": {"dataset": "bundled-zh"}}).data_path == "bundled-zh"
    assert parse({"data_path": "bundled"}).data_path == "bundled"


def test_languages_and_columns_of_a_corpus_are_kept(parse):
    source = {"dataset": "/a.csv", "languages": ["en", "fr"], "columns": ["2", "3"]}
    args = parse({"corpus": source})
    assert (args.languages, args.columns) == (["en", "fr"], ("2", "3"))
    for direction in ([], ["--reverse"]):  # saved as those of the run, given as those of the files
        args = parse({"corpus": source | {"reverse": True}}, *direction)
        assert args.languages == ["fr", "en"]
    assert parse({"corpus": source}, "--languages", "de-en").languages == ["de", "en"]
    assert parse({"corpus": source}, "--columns", "a,b").columns == ("a", "b")
    assert parse({"corpus": source}, "--dataset", "bundled").languages is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"num_layer": 2}, r"unknown key 'num_layer' \(did you mean num_layers\?\)"),
        ({"colour": 2}, r"unknown key 'colour' \(docs/reference.md lists the names\)"),
        ({"epochs": 0}, "epochs: 0 is less than 1"),
        ({"epochs": "3"}, "epochs is '3', not of type int"),
        ({"schedule": "none"}, "schedule: 'none' is not one of"),
        ({"corpus": {"dataset": "a", "columns": ["2"]}}, "columns of the corpus names one"),
        ({"corpus": {"test": ["a"]}}, "corpus names neither a data set nor files"),
        ("{epochs", "is not JSON"),
        ("[]", "is not an object"),
    ],
)
def test_what_is_wrong_with_the_file_is_one_line(parse, content, said):
    with pytest.raises(UserError, match=f"config.json: {said}") as error:
        parse(content)
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_is_named():
    with pytest.raises(UserError, match=r"--config nothing\.json: No such file"):
        main.parse_command_line(["--config", "nothing.json"])
