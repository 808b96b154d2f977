"""The seeds of a training run's random numbers.

A seed is a hash of the run's seed, of what the random numbers are for, and of the epoch. Sums would
be related: with seed + epoch, the second epoch of seed 1 has the batches of the first epoch of seed
2, so that runs of several seeds differ by less than chance.
"""

# What random numbers are for; a run's order depends on it: another purpose needs another number.
ORDER = 1


def of_epoch(seed: int, epoch: int) -> int:
    """Returns the seed of the order of pairs in an epoch, numbered from 1: 31 bits.

    By numpy's SeedSequence, a hash that all its versions share.
    """
    import numpy as np  # which commands that only parse flags do without

    sequence = np.random.SeedSequence(seed, spawn_key=(ORDER, epoch))
    return int(sequence.generate_state(1)[0] >> 1)
