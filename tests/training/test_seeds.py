"""What must hold of seeds: runs of different seeds share no batches; older runs keep theirs."""

import itertools
import json
import shutil

import pytest
from helpers import call, pretend_epoch

from nmt import UserError, seeds
from nmt.corpus.batches import Batches
from nmt.runs.parameters import parse


def test_no_epoch_of_a_seed_has_the_order_of_another_seeds_epoch():
    orders = [seeds.of_epoch(*numbers) for numbers in itertools.product(range(100), range(1, 61))]
    assert len(set(orders)) == len(orders)
    assert all(0 <= order < 2**31 for order in orders)


def test_derived_seeds_never_change():
    """A run is resumed by later versions of the program and of numpy."""
    assert seeds.of_epoch(42, 1) == 250469879


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
@pytest.mark.parametrize("scheme", [1, 2])
def test_a_run_is_resumed_with_the_seeds_that_it_began_with(
    finished, tmp_path, monkeypatch, scheme
):
    run, orders, read_epoch = tmp_path / "run", [], Batches.epoch
    shutil.copytree(finished / "run", run)
    saved = json.loads((run / "params.json").read_text())
    assert saved["training_scheme"] == seeds.TRAINING_SCHEME == 2
    if scheme == 1:  # of a run that is older than the key
        del saved["training_scheme"]
        (run / "params.json").write_text(json.dumps(saved))

    def note(batches, buffer_size, seed, *arguments):
        orders.append(seed)
        return read_epoch(batches, buffer_size, seed, *arguments)

    monkeypatch.setattr(Batches, "epoch", note)
    monkeypatch.setattr("nmt.training.loop.Epochs.train_epoch", pretend_epoch)
    assert call("--run", run, "--epochs", 3) == 0
    assert set(orders) == {seeds.of_epoch(saved["seed"], 3, scheme)}
    assert json.loads((run / "params.json").read_text())["training_scheme"] == scheme


def test_a_run_of_a_later_scheme_is_refused():
    with pytest.raises(UserError, match="training_scheme is 3; this version of the program knows"):
        parse({"corpus": {"dataset": "bundled"}, "training_scheme": 3})
