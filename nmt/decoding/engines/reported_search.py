"""The search for one sentence, which reports its best hypothesis after each step.

The search is that of nmt/decoding/search.py, unchanged. It calls a function before each step, which
passes the best hypothesis on.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from nmt.decoding.copied_symbols import CopiedSymbols
from nmt.decoding.engines.engine import OnToken
from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.restrictions import Restrictions
from nmt.decoding.search import search
from nmt.decoding.search_options import SearchOptions
from nmt.decoding.tracing import TracedOnce
from transformer_model import Transformer

IDS = tf.TensorSpec((None, None), tf.int32)  # (B, L)
NUMBER = tf.TensorSpec((), tf.int32)


class ReportedSearch:
    """The search of one Transformer, or of several, whose probabilities are averaged.

    Args:
      transformers: of the same vocabulary.
      options: of the search.
      symbol_ids: see choice.choose_engine.
    """

    def __init__(
        self, transformers: Sequence[Transformer], options: SearchOptions, symbol_ids: range
    ):
        self._transformers, self._options = tuple(transformers), options
        self._symbols = CopiedSymbols(symbol_ids) if symbol_ids else None
        self._search = TracedOnce(self._search_in_graph, IDS, IDS, NUMBER)
        self._reports: dict[int, OnToken] = {}
        self._numbers = itertools.count()

    def __call__(self, source: list[int], prefix: list[int], on_token: OnToken) -> Hypotheses:
        """Returns the Hypotheses of a source; for the arguments, see engine.py."""
        number = next(self._numbers) % 2**31
        self._reports[number] = on_token
        try:
            return self._search(np.array([source]), np.array([prefix], np.int32), number)
        finally:
            del self._reports[number]

    def _search_in_graph(self, inp: tf.Tensor, prefix: tf.Tensor, number: tf.Tensor) -> Hypotheses:
        """Returns the Hypotheses of source ids (1, S), with a prefix (1, L)."""

        def report(ids: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
            continues = tf.numpy_function(
                self._report, [number, ids[0, 0], position], tf.bool, stateful=True
            )
            return tf.reshape(continues, ())

        restrictions = Restrictions(
            prefix=prefix,
            repetition=self._options.repetition,
            symbols=self._symbols,
            on_step=report,
        )
        several = len(self._transformers) > 1
        transformers = self._transformers if several else self._transformers[0]
        return search(transformers, inp, self._options, restrictions)

    def _report(self, number: np.ndarray, ids: np.ndarray, position: np.ndarray) -> np.bool_:
        """Passes the ids so far on to the function of a call."""
        on_token = self._reports[int(number)]
        return np.bool_(on_token(ids[: int(position) + 1].tolist()))
