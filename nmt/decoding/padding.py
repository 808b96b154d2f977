"""Lists of ids as an array."""

import math
from collections.abc import Sequence

import numpy as np

from nmt.text.special_tokens import PAD


def pad(sequences: Sequence[Sequence[int]], step: int = 1) -> np.ndarray:
    """Lists of ids -> one array (B, L) int32, PAD after the ids, L a multiple of `step`."""
    longest = max((len(ids) for ids in sequences), default=0)
    length = math.ceil(max(1, longest) / step) * step
    padded = np.full((len(sequences), length), PAD, np.int32)
    for number, ids in enumerate(sequences):
        padded[number, : len(ids)] = ids
    return padded
