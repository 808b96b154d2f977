"""What must hold of seeds: runs of different seeds share no batches; a resumed run has its own."""

import itertools
import json
import shutil

import pytest
from helpers import call, pretend_epoch

from nmt import seeds
from nmt.corpus.batches import Batches


def test_no_epoch_of_a_seed_has_the_order_of_another_seeds_epoch():
    orders = [seeds.of_epoch(*numbers) for numbers in itertools.product(range(100), range(1, 61))]
    assert len(set(orders)) == len(orders)
    assert all(0 <= order < 2**31 for order in orders)


def test_derived_seeds_never_change():
    """A run is resumed by later versions of the program and of numpy."""
    assert seeds.of_epoch(42, 1) == 250469879


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn", "unscored")
def test_a_run_is_resumed_with_its_own_seeds(finished, tmp_path, monkeypatch):
    run, orders, read_epoch = tmp_path / "run", [], Batches.epoch
    shutil.copytree(finished / "run", run)
    saved = json.loads((run / "params.json").read_text())

    def note(batches, buffer_size, seed, *arguments):
        orders.append(seed)
        return read_epoch(batches, buffer_size, seed, *arguments)

    monkeypatch.setattr(Batches, "epoch", note)
    monkeypatch.setattr("nmt.training.loop.Epochs.train_epoch", pretend_epoch)
    assert call("--run", run, "--epochs", 3) == 0
    assert set(orders) == {seeds.of_epoch(saved["seed"], 3)}
