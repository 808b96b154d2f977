"""Search for the likeliest translation: the one entry to greedy search, sampling and beam search.

These are functions of ids. The engine of TensorFlow calls them as functions that are traced once:
see engines/tensorflow.py.
"""

import tensorflow as tf

from nmt.decoding.beam import beam_search
from nmt.decoding.ensemble import Transformers
from nmt.decoding.greedy import greedy_search, sample
from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.restrictions import UNRESTRICTED, Restrictions
from nmt.decoding.search_options import SearchOptions

__all__ = ["beam_search", "greedy_search", "sample", "search"]


def search(
    transformer: Transformers,
    inp: tf.Tensor,
    options: SearchOptions,
    restrictions: Restrictions = UNRESTRICTED,
    samples: tf.Tensor | None = None,
    scored: bool = True,
) -> Hypotheses:
    """Returns Hypotheses for source ids (B, S): of the search, or the samples, of the options.

    Args:
      samples: see `sample`; 0 for all sources where None.
      scored: see `greedy_search`; the other searches always compute log-probabilities.
    """
    alpha = options.length_penalty
    if options.sampling:
        samples = tf.zeros_like(inp[:, 0]) if samples is None else samples  # (B,)
        return sample(transformer, inp, options.sampling, samples, alpha, restrictions)
    if options.beam == 1:
        return greedy_search(transformer, inp, alpha, restrictions, scored)
    n_best = options.beam if options.n_best > 1 else 1  # several may be the same text
    return beam_search(transformer, inp, options.beam, alpha, n_best, restrictions)
