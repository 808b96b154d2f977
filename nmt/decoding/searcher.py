"""The search of a Transformer as TensorFlow functions: traced once, for single sentences compiled.

For single sentences, as a server receives them, XLA compiles the search once enough of them have
come; for a few widths only, because TensorFlow never releases a compiled program.
"""

import collections
import threading

import keras
import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.decoding import non_autoregressive
from nmt.decoding.attention import KINDS
from nmt.decoding.search import Hypotheses, length_penalty, sample, search
from nmt.decoding.tokens import likelihoods, log_probabilities
from transformer_model import END, PAD, greedy_translate

COMPILED_WIDTHS = 16, 32, 64  # tokens, padding included; 340 MiB in all, never released
EXTRA_POSITIONS = 8  # beyond that width; longer translations are searched for uncompiled
LOGIT_TOKENS = 2048  # whose logits are computed at a time
COMPILE_AFTER = 300  # single sentences of one width, to make up for the seconds of compiling


def pad(rows, step=1):
    """Lists of ids -> one array (B, L), PAD after the ids, L a multiple of `step`."""
    length = -(-max([1, *map(len, rows)]) // step) * step
    return keras.utils.pad_sequences(rows, length, padding="post", value=PAD)


def compiled(transformer, find):
    """Returns `find`, a function of ids that runs the Transformer, compiled by XLA per shape.

    The weights are those of the first call for a shape. Each compiled program takes them as
    arguments and shares the memory of the variables. That is about as fast as constants, of which
    each program would hold copies; the variables themselves as arguments, locked and read at each
    call, take 5% to 20% longer for short sentences.
    """

    def find_compiled(inp):
        variables = transformer.trainable_variables
        with tf.init_scope():  # eager tensors, which the graph takes as arguments
            weights = [tf.convert_to_tensor(variable) for variable in variables]
        with keras.StatelessScope(list(zip(variables, weights, strict=True))):
            return find(inp)

    return tf.function(find_compiled, jit_compile=True, autograph=False)


class TracedOnce:
    """A tf.function of one signature, traced before its first call, by one thread alone.

    TensorFlow counts a call during which a function of the same code is traced, in whatever thread
    and for whatever model, and warns of retracing after five.

    Args:
      function: a tf.function with an input signature.
    """

    def __init__(self, function):
        self.function, self.lock, self.traced = function, threading.Lock(), False

    def __call__(self, *arguments):
        if not self.traced:
            with self.lock:
                self.function.get_concrete_function()
                self.traced = True
        return self.function(*arguments)


class Searcher:
    """Finds token ids for token ids.

    Args:
      transformer, fixed, ensemble: as of translator.Translator.
      options: SearchOptions.
    """

    def __init__(self, transformer, options, fixed=True, ensemble=()):
        beam, alpha = options.beam, options.length_penalty
        sampling, repetition = options.sampling, options.repetition
        self.fixed, self.sampling = fixed and not ensemble, sampling
        self.transformer, self.plain, self.length_penalty = transformer, options.plain, alpha
        every = (transformer, *ensemble)
        searched = every if ensemble else transformer
        parallel = transformer.config["non_autoregressive"]

        def find(inp, samples=None, prefix=None, extra_positions=None, scored=True):
            if parallel:
                return non_autoregressive.search(transformer, inp, alpha)
            search_options = dict(extra_positions=extra_positions, prefix=prefix)
            if repetition:
                search_options["restrict"] = repetition.restrict
            if sampling:
                return sample(searched, inp, sampling, samples, alpha, **search_options)
            wanted = beam if options.n_best > 1 else 1  # several may be the same text
            scored = scored or bool(repetition)  # which changes log-probabilities
            return search(searched, inp, beam, alpha, wanted, scored, **search_options)

        def traced(function, *shapes):
            """One trace for all shapes."""
            # AutoGraph would take three quarters of the time to the first translation, and has
            # nothing to convert here.
            signature = [tf.TensorSpec(shape, tf.int32) for shape in shapes]
            return TracedOnce(tf.function(function, input_signature=signature, autograph=False))

        def score(inp, tar):
            if parallel:
                return non_autoregressive.log_probabilities(transformer, inp, tar)
            return log_probabilities(every, inp, tar)

        ids = (None, None)
        self.log_probabilities = traced(score, ids, ids)
        last = KINDS["cross"][0].format(transformer.config["num_layers"])
        self.cross_attention = traced(  # (B, T, S), of the last layer: the mean of its heads
            lambda inp, tar: tf.reduce_mean(transformer((inp, tar), training=False)[1][last], 1),
            ids, ids,
        )  # fmt: skip
        self.likelihoods_of_some = traced(
            lambda inp, tar, number: likelihoods(every, inp, tar, number),
            ids, ids, (),
        )  # fmt: skip
        self.search_any = traced(lambda inp: find(inp), ids)
        self.search_texts = traced(lambda inp: find(inp, scored=False), ids)
        self.search_more = traced(find, ids, (None,), ids)
        self.search_width = compiled(
            transformer, lambda inp: find(inp, extra_positions=EXTRA_POSITIONS)
        )
        self.seen = collections.Counter()  # single sentences by width

    def likelihoods(self, inp, tar, number):
        """Returns what tokens.likelihoods does, as NumPy arrays, computed for few rows at a time.

        A short source may have a long translation, and each token has as many logits as there are
        vocabulary entries.
        """
        rows = max(1, LOGIT_TOKENS // tar.shape[1])
        parts = [
            self.likelihoods_of_some(inp[start : start + rows], tar[start : start + rows], number)
            for start in range(0, len(inp), rows)
        ]
        return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]

    def search_plainly(self, inp):
        """Returns Hypotheses of source ids `inp` (B, S), as the story's greedy loop finds them."""
        ids = greedy_translate(self.transformer, inp)  # (B, 1 + T)
        log_probabilities = self.log_probabilities(inp, ids)[:, tf.newaxis]  # (B, 1)
        tokens = tf.math.count_nonzero(ids, axis=1, keepdims=True) - 1  # (B, 1), without START
        scores = log_probabilities / length_penalty(tokens, self.length_penalty)
        finished = tf.reduce_any(ids == END, axis=1, keepdims=True)  # (B, 1)
        return Hypotheses(ids[:, tf.newaxis], scores, log_probabilities, finished)

    def search(self, sources, prefixes=(), samples=(), scored=True):
        """Returns Hypotheses of `sources`, B lists of ids.

        For a single sentence and fixed weights, XLA is 2 to 3 times as fast. Compiling takes a few
        seconds per width, so the first sentences are translated without it, as are the rare
        ones beyond the widest. Batches, which keep a processor busy, gain nothing.

        Args:
          prefixes: the ids that each translation begins with, B lists, or none at all.
          samples: for sampling, the number of each sample of its source; 0 if not given.
          scored: False if scores and log-probabilities are of no interest.
        """
        search_any = self.search_any if scored else self.search_texts
        if self.plain:
            if any(prefixes):
                raise UserError("--plain takes no prefix; leave it out")
            return self.search_plainly(pad(sources))
        if self.sampling or any(prefixes):
            samples = samples or [0] * len(sources)
            return self.search_more(pad(sources), samples, pad(prefixes or [[]] * len(sources)))
        width = next((width for width in COMPILED_WIDTHS if width >= len(sources[0])), None)
        if len(sources) > 1 or not self.fixed or not width:
            return search_any(pad(sources))
        self.seen[width] += 1
        if self.seen[width] <= COMPILE_AFTER:
            return search_any(pad(sources))
        hypotheses = self.search_width(pad(sources, width))
        return hypotheses if hypotheses.ended.numpy().all() else search_any(pad(sources))
