"""The seeds of a training run's random numbers.

A seed is a hash of the run's seed, of what the random numbers are for, and of the epoch or the
device. Sums would be related: with seed + epoch, the second epoch of seed 1 has the batches of the
first epoch of seed 2, so that runs of several seeds differ by less than chance.
"""

import enum


class Purpose(enum.IntEnum):
    """What random numbers are for. A run's order depends on these values: never reuse one."""

    ORDER = 1  # of the training pairs in an epoch


def derive(seed: int, purpose: Purpose, *numbers: int) -> int:
    """Returns a seed of 31 bits: numpy's SeedSequence, a hash that all its versions share.

    The numbers, 0 or more each, are what else distinguishes the random numbers, such as an epoch.
    """
    import numpy as np  # which commands that only parse flags do without

    sequence = np.random.SeedSequence(seed, spawn_key=(purpose, *numbers))
    return int(sequence.generate_state(1)[0] >> 1)


def of_epoch(seed: int, epoch: int) -> int:
    """Returns the seed of the order of pairs in an epoch, numbered from 1."""
    return derive(seed, Purpose.ORDER, epoch)
