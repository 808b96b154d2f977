"""Search for the likeliest translation: the one entry to greedy and beam search.

These are functions of ids. A Translator calls them as TensorFlow functions that are traced once, or
compiled: see searcher.py.
"""

import tensorflow as tf

from nmt.decoding.beam import beam_search
from nmt.decoding.ensemble import Transformers
from nmt.decoding.greedy import greedy_search, sample
from nmt.decoding.hypotheses import Hypotheses

__all__ = ["beam_search", "greedy_search", "sample", "search"]


def search(
    transformer: Transformers,
    inp: tf.Tensor,
    beam: int = 1,
    alpha: float = 0.6,
    n_best: int = 1,
    scored: bool = True,
    **options,
) -> Hypotheses:
    """Returns Hypotheses for source ids (B, S): by greedy search for a `beam` of 1.

    Args:
      transformer, inp, alpha, options: see `greedy_search` and `beam_search`.
      beam, n_best: see `beam_search`.
      scored: see `greedy_search`; beam search always computes log-probabilities.
    """
    if beam == 1:
        return greedy_search(transformer, inp, alpha, scored=scored, **options)
    return beam_search(transformer, inp, beam, alpha, n_best, **options)
