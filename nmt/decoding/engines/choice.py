"""The one choice of an engine: both run on TensorFlow."""

from collections.abc import Callable, Sequence
from functools import partial

import tensorflow as tf

from nmt.decoding import non_autoregressive
from nmt.decoding.engines.engine import Engine, EngineSettings
from nmt.decoding.engines.one_pass import OnePassEngine
from nmt.decoding.engines.tensorflow import TensorFlowEngine
from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.restrictions import Restrictions
from nmt.decoding.search import greedy_search
from nmt.decoding.search_options import SearchOptions
from nmt.network.variants import variant_of
from transformer_model import Transformer

DEFAULT_SETTINGS = EngineSettings()


def choose_engine(
    transformers: Sequence[Transformer],
    options: SearchOptions,
    settings: EngineSettings = DEFAULT_SETTINGS,
    symbol_ids: range = range(0),
) -> Engine:
    """Returns the engine of one Transformer, or of several, whose probabilities are averaged.

    Args:
      transformers: of the same vocabulary.
      options: of the search.
      settings: of the engine.
      symbol_ids: of the vocabulary's symbols, which a translation holds as often as its source.

    Raises:
      UserError: a number is out of its range, or the network cannot do what the options ask for.
    """
    one_pass = variant_of(transformers[0]).limitation
    engine_type = OnePassEngine if one_pass else TensorFlowEngine
    return engine_type(transformers, options, settings, symbol_ids)


def simplest_search(
    transformer: Transformer, restrictions: Restrictions
) -> Callable[[Transformer, tf.Tensor], Hypotheses]:
    """Returns the function that finds one translation each of source ids (B, S), for a graph.

    Args:
      transformer: which it will be called with.
      restrictions: of the tokens; a network that predicts all tokens in one pass has none.
    """
    if variant_of(transformer).limitation:
        return non_autoregressive.search
    return partial(greedy_search, restrictions=restrictions)
