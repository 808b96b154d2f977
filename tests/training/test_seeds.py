"""What must hold of seeds: runs of different seeds share no batches, and none changes."""

import itertools

from nmt import seeds


def test_no_epoch_of_a_seed_has_the_order_of_another_seeds_epoch():
    orders = [seeds.of_epoch(*numbers) for numbers in itertools.product(range(100), range(1, 61))]
    assert len(set(orders)) == len(orders)
    assert all(0 <= order < 2**31 for order in orders)


def test_derived_seeds_never_change():
    """A run is resumed by later versions of the program and of numpy."""
    assert seeds.of_epoch(42, 1) == 250469879
