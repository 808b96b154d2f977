"""What a search for one sentence reports after each step: the ids of its best hypothesis.

The search is in a graph, which is traced once, so that it calls a function of Python by a number.
"""

import contextlib
import itertools
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from nmt.decoding.engines.engine import OnToken
from nmt.decoding.restrictions import OnStep


class StepReports:
    """The functions that searches report to, by number."""

    def __init__(self) -> None:
        self._functions: dict[int, OnToken] = {}
        self._numbers = itertools.count()

    @contextlib.contextmanager
    def number_of(self, on_token: OnToken | None) -> Iterator[int]:
        """Gives the number that a search reports to `on_token` by; any for None."""
        number = next(self._numbers) % 2**31
        if on_token is not None:
            self._functions[number] = on_token
        try:
            yield number
        finally:
            self._functions.pop(number, None)

    def on_step(self, number: tf.Tensor) -> OnStep:
        """Returns the function of a graph that reports by a number, a scalar, from each step."""

        def report(ids: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
            inputs = [number, ids[0, 0], position]
            continues = tf.numpy_function(self._report, inputs, tf.bool, stateful=True)
            return tf.reshape(continues, ())

        return report

    def _report(self, number: np.ndarray, ids: np.ndarray, position: np.ndarray) -> np.bool_:
        on_token = self._functions[int(number)]
        return np.bool_(on_token(ids[: int(position) + 1].tolist()))
