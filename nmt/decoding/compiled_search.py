"""The search for single sentences, as a server receives them, compiled by XLA.

It takes a half to a third of the time. Compiling takes a few seconds per width, so it comes once
there were enough sentences; and only for a few widths, because TensorFlow never releases a compiled
program. Batches, which keep a processor busy, gain nothing.
"""

import collections
from collections.abc import Callable, Sequence

import keras
import tensorflow as tf

from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.padding import pad
from transformer_model import Transformer

COMPILED_WIDTHS = 16, 32, 64  # tokens, padding included; 340 MiB in all, never released
EXTRA_POSITIONS = 8  # beyond that width; longer translations are searched for uncompiled
COMPILE_AFTER = 300  # single sentences of one width, to make up for the seconds of compiling


class CompiledSearch:
    """A search of fixed widths, for one sentence at a time.

    Args:
      transformer: whose weights do not change.
      search: a function of source ids (1, S), S known, and extra positions; see CachedDecoder.
    """

    def __init__(self, transformer: Transformer, search: Callable[[tf.Tensor, int], Hypotheses]):
        self.search_width = compiled(transformer, lambda inp: search(inp, EXTRA_POSITIONS))
        self.sentences_by_width: collections.Counter[int] = collections.Counter()

    def __call__(self, source: Sequence[int]) -> Hypotheses | None:
        """Returns the Hypotheses of the ids of a source.

        None if the source is too wide, or one of the first of its width, or its translation too
        long.
        """
        widths = [width for width in COMPILED_WIDTHS if width >= len(source)]
        if not widths:
            return None
        width = widths[0]
        self.sentences_by_width[width] += 1
        if self.sentences_by_width[width] <= COMPILE_AFTER:
            return None
        hypotheses = self.search_width(pad([source], width))
        return hypotheses if tf.reduce_all(hypotheses.ended) else None


def compiled(
    transformer: Transformer, function: Callable[[tf.Tensor], Hypotheses]
) -> Callable[[tf.Tensor], Hypotheses]:
    """Returns `function`, of ids, which runs the Transformer, compiled by XLA per shape.

    The weights are those of the first call for a shape. Each compiled program takes them as
    arguments and shares the memory of the variables. That is about as fast as constants, of which
    each program would hold copies; the variables themselves as arguments, locked and read at each
    call, take 5% to 20% longer for short sentences.
    """

    def with_fixed_weights(inp: tf.Tensor) -> Hypotheses:
        variables = transformer.trainable_variables
        with tf.init_scope():  # eager tensors, which the graph takes as arguments
            weights = [tf.convert_to_tensor(variable) for variable in variables]
        with keras.StatelessScope(list(zip(variables, weights, strict=True))):
            return function(inp)

    return tf.function(with_fixed_weights, jit_compile=True, autograph=False)
