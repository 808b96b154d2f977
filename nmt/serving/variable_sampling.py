"""How samples are drawn, as variables of TensorFlow, which no other module here imports."""

import threading

import tensorflow as tf

from nmt.decoding.search_options import Sampling


class VariableSampling(Sampling):
    """A Sampling whose numbers are TensorFlow variables, so that one trace serves them all.

    It is equal to itself alone, and has a hash, unlike variables: SearchOptions are a key.
    """

    lock: threading.Lock  # of the variables, which one batch at a time has

    @classmethod
    def of_defaults(cls) -> "VariableSampling":
        """Returns one with the numbers of a Sampling by default."""
        sampling = cls(*(tf.Variable(number, trainable=False) for number in Sampling()))
        sampling.lock = threading.Lock()
        return sampling

    def assign(self, sampling: Sampling) -> None:
        """Takes the numbers of another Sampling."""
        for variable, number in zip(self, sampling, strict=True):
            variable.assign(number)  # type: ignore[attr-defined]  # a tf.Variable

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)
