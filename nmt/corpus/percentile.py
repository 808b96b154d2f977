"""A percentile of counted numbers."""

import collections


def percentile(counts: collections.Counter[int], share: float) -> int:
    """Returns the smallest number that at least a `share` of the counted lines do not exceed."""
    total, so_far = counts.total(), 0
    for number in sorted(counts):
        so_far += counts[number]
        if so_far >= share * total:
            return number
    return 0
