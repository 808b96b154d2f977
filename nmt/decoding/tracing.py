"""Python functions as TensorFlow functions: traced once for all shapes, or compiled per shape."""

import threading
from collections.abc import Callable

import keras
import tensorflow as tf

from transformer_model import Transformer


def compiled(transformer: Transformer, function: Callable) -> tf.types.experimental.GenericFunction:
    """Returns `function`, of ids, which runs the Transformer, compiled by XLA per shape.

    The weights are those of the first call for a shape. Each compiled program takes them as
    arguments and shares the memory of the variables. That is about as fast as constants, of which
    each program would hold copies; the variables themselves as arguments, locked and read at each
    call, take 5% to 20% longer for short sentences.
    """

    def with_fixed_weights(inp):
        variables = transformer.trainable_variables
        with tf.init_scope():  # eager tensors, which the graph takes as arguments
            weights = [tf.convert_to_tensor(variable) for variable in variables]
        with keras.StatelessScope(list(zip(variables, weights, strict=True))):
            return function(inp)

    return tf.function(with_fixed_weights, jit_compile=True, autograph=False)


class TracedOnce:
    """A tf.function of one signature, traced before its first call, by one thread alone.

    TensorFlow counts a call during which a function of the same code is traced, in whatever thread
    and for whatever model, and warns of retracing after five.

    Args:
      function: a tf.function with an input signature.
    """

    def __init__(self, function: tf.types.experimental.GenericFunction):
        self._function, self._lock, self._traced = function, threading.Lock(), False

    def __call__(self, *arguments):
        if not self._traced:
            with self._lock:
                self._function.get_concrete_function()
                self._traced = True
        return self._function(*arguments)


def traced_once(method: Callable, *signature: tf.TensorSpec) -> TracedOnce:
    """Returns a method as a TensorFlow function with one trace for all shapes."""
    # AutoGraph would take three quarters of the time to the first translation, and has nothing to
    # convert here.
    return TracedOnce(tf.function(method, input_signature=signature, autograph=False))
