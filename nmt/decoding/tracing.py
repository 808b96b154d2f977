"""Python functions as TensorFlow functions with one trace for all shapes."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import tensorflow as tf

Result = TypeVar("Result")
Tensor = Any  # or what becomes one: an array, a number, a list of numbers


class TracedOnce(Generic[Result]):
    """A function of tensors as TensorFlow graphs: one for all shapes, for each choice of its flags.

    TensorFlow counts a call during which a function of the same code is traced, in whatever thread
    and for whatever model, and warns of retracing after five. So a graph is traced before its first
    call, by one thread alone.
    """

    def __init__(self, method: Callable[..., Result], *signature: tf.TensorSpec):
        self._method, self._signature = method, signature
        self._lock = threading.Lock()
        self._graphs: dict[tuple[tuple[str, bool], ...], Callable[..., Result]] = {}

    def __call__(self, *tensors: Tensor, **flags: bool) -> Result:
        choice = tuple(sorted(flags.items()))
        if choice not in self._graphs:
            with self._lock:
                if choice not in self._graphs:
                    self._graphs[choice] = self._trace(flags)
        return self._graphs[choice](*tensors)

    def _trace(self, flags: dict[str, bool]) -> Callable[..., Result]:
        # AutoGraph would take three quarters of the time to the first translation, and has nothing
        # to convert here.
        method = partial(self._method, **flags)
        function = tf.function(method, input_signature=self._signature, autograph=False)
        function.get_concrete_function()
        return function
