"""What must hold of params.json: it is read once, checked once, and written as it was read."""

import dataclasses
import json
import re

import pytest
import tensorflow as tf

import params
from nmt import UserError
from nmt.options import Options
from nmt.runs import parameters
from nmt.runs.folder import Run


def test_parameters_are_written_as_they_were_read_and_cannot_be_changed(finished):
    saved = json.loads((finished / "run" / "params.json").read_text())
    run_parameters = Run(finished / "run").parameters
    assert json.dumps(run_parameters.content) == json.dumps(saved)
    assert saved["versions"]["tensorflow"] == tf.__version__
    assert list(run_parameters.options.by_name()) == [row.name for row in params.table()]
    with pytest.raises(dataclasses.FrozenInstanceError):
        run_parameters.parts = 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"d_model": 0}, "d_model: 0 is less than 1"),
        ({"d_model": "8"}, "d_model is '8', not of type int"),
        ({"num_layers": 10**30}, "num_layers: 1000000000"),
        ({"buffer_size": 2**31}, "buffer_size: 2147483648 is more than 2147483647"),
        ({"schedule": "steep"}, "schedule: 'steep' is not one of inverse-sqrt, cosine"),
        ({"dropout_rate": None}, "dropout_rate is None, not of type float"),
        ({"num_heads": 5}, "d_model 32 is not a multiple of num_heads 5"),
        ({"parts": 0}, "parts is 0"),
        ({"parts": 10**9}, "parts is 1000000000"),
        ({"xla": [[]]}, "xla is [[]], not of type str"),
        ({"corpus": {}}, "corpus names neither a data set nor files"),
        ({"corpus": []}, "corpus names neither a data set nor files"),
        ({"spells_numbers": 1}, "spells_numbers is 1"),
    ],
)
def test_a_value_that_is_not_allowed_is_named(finished, change, reason):
    saved = json.loads((finished / "run" / "params.json").read_text())
    with pytest.raises(UserError, match=re.escape(reason)):
        parameters.parse(saved | change)


def test_a_parameter_that_is_missing_has_its_default():
    options = parameters.parse({"corpus": {"dataset": "bundled"}, "num_layers": 2}).options
    assert options == Options(num_layers=2, xla="off")
    assert options.decoder_layers == 0  # as many as those of the encoder


def test_parameters_tokenizer_and_final_weights_are_a_run_to_use(tmp_path):
    run = Run(tmp_path)
    (tmp_path / "params.json").write_text(json.dumps({"corpus": {"dataset": "bundled"}}))
    run.tokenizer.write_bytes(b"")
    with pytest.raises(UserError, match="no trained run"):
        Run(tmp_path).check_trained()
    run.final.mkdir(parents=True)
    (run.final / "ckpt-6.index").write_bytes(b"")
    Run(tmp_path).check_trained()


def test_the_record_of_options_has_the_fields_of_params():
    """If not: python docs/make_options.py."""
    rows = [(row.name, row.type, row.default) for row in params.table()]
    assert rows == [(row.name, row.type, row.default) for row in dataclasses.fields(Options)]
