"""Translating many lines fast: sorted by length, in batches side by side, given back in order.

Only a chunk of the lines is in memory at a time. Single sentences, as a server receives them, go
through a search that XLA compiles once enough of them have come. It is compiled for a few widths
only, because TensorFlow never releases a compiled program.
"""

import collections
import itertools
import string
from concurrent import futures
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

import params
from beyond import UserError, parallel
from transformer_model import PAD, log_probabilities, search

CHUNK_LINES = 4096  # lines sorted by length at a time
BATCH_TOKENS = 2048  # padding included, of the longer side
LONGEST = 2048  # tokens of a line; attention takes memory by the square of their number
COMPILED_WIDTHS = 16, 32, 64  # tokens, padding included; some 50 MiB each, never released
COMPILE_AFTER = 300  # single sentences of one width, which pay for XLA's seconds of compiling it
SPACE = string.whitespace  # around a sentence is no part of it; as of TensorFlow, ASCII's


KINDS = {  # of attention: the name of its layer, what looks at what
    "encoder": ("encoder_layer{}", "Encoder self-attention: from source tokens to source tokens"),
    "decoder": ("decoder_layer{}_block1", "Decoder self-attention: from its input to its input"),
    "cross": ("decoder_layer{}_block2", "Cross-attention: from produced tokens to source tokens"),
}


class Attention(NamedTuple):
    """Where a Transformer looked while it translated a sentence."""

    source: list  # S token strings, START first and END last
    target: list  # 1 + T of the translation, START first
    weights: dict  # (H, queries, keys) by layer, under the Transformer's names

    @property
    def layers(self):
        """The number of layers of each of KINDS."""
        return len(self.weights) // len(KINDS)

    def look(self, kind="cross", layer=None):
        """Returns the weights (H, Q, K) of one of KINDS in layer 1, 2, ...; Q queries; K keys.

        Without a layer, in the last. The keys, which are looked at, and the queries, which look,
        are token strings. Row t of cross-attention is the look from which token t + 1 of the target
        was told, so that is its query.
        """
        layer = self.layers if layer is None else layer
        if kind not in KINDS or not 1 <= layer <= self.layers:
            raise ValueError(f"kinds are {', '.join(KINDS)}, and layers 1 to {self.layers}")
        told, given = self.target[1:], self.target[:-1]
        queries = {"encoder": self.source, "decoder": given, "cross": told}[kind]
        keys = given if kind == "decoder" else self.source
        return self.weights[KINDS[kind][0].format(layer)], queries, keys


def pad(rows, step=1):
    """Lists of ids -> one array (B, L), PAD behind the ids; L is the next multiple of `step`."""
    length = -(-max(map(len, rows)) // step) * step
    return keras.utils.pad_sequences(rows, length, padding="post", value=PAD)


def compiled(transformer, find):
    """Returns `find`, a function of ids that runs the Transformer, compiled by XLA for each shape.

    The weights stay as they are at the first call for a shape. Each program takes them as arguments
    and shares the memory of the variables. A search is about as fast as with constants, which would
    be copied into each program several times. With the variables themselves as arguments, locked
    and read at each call, short sentences would take 5% to 20% longer.
    """

    def find_compiled(inp):
        variables = transformer.trainable_variables
        with tf.init_scope():  # eager tensors, which the graph takes as arguments
            weights = [tf.convert_to_tensor(variable) for variable in variables]
        with keras.StatelessScope(list(zip(variables, weights, strict=True))):
            return find(inp)

    return tf.function(find_compiled, jit_compile=True)


class Translator:
    """A Transformer, its tokenizer, and the search for translations.

    Args:
      say: called with a line where a source is cut off at LONGEST tokens.
      beam: hypotheses followed for each sentence, at least 1, which is greedy search.
      alpha: of the length penalty by which hypotheses are ranked.
      n_best: hypotheses returned for each sentence, at most `beam`.
      rows: sentences in a batch; without it, as many as make BATCH_TOKENS tokens.
      workers: batches translated side by side.
      fixed: the weights change no more, so the search for single sentences may be compiled.

    Raises:
      UserError: a number is out of its range.
    """

    def __init__(
        self,
        transformer,
        tokenizer,
        say,
        beam=params.BEAM,
        alpha=params.LENGTH_PENALTY,
        n_best=1,
        rows=None,
        workers=1,
        fixed=True,
    ):
        self.at_once = transformer.sizes["non_autoregressive"]
        if self.at_once and max(beam, n_best) > 1:
            raise UserError("the run tells all tokens at once: leave --beam and --n-best out")
        for name, number in (("beam", beam), ("n_best", n_best), ("workers", workers)):
            if number < 1:
                raise UserError(f"{name} is {number}; it must be at least 1")
        if n_best > beam:
            raise UserError(
                f"n_best is {n_best}, and the beam {beam}: a beam of K finds K translations; raise "
                "the beam (--beam), or lower n_best (--n-best)"
            )
        self.transformer, self.tokenizer, self.say = transformer, tokenizer, say
        self.beam, self.n_best, self.rows, self.fixed = beam, n_best, rows, fixed
        self.pool = futures.ThreadPoolExecutor(workers)
        ids = tf.TensorSpec((None, None), tf.int32)  # one trace for all shapes

        def find(inp, static=False):
            if self.at_once:
                return parallel.search(transformer, inp, alpha)
            return search(transformer, inp, beam, alpha, n_best, static=static)

        self.search_any = tf.function(lambda inp: find(inp), input_signature=[ids])
        score = parallel.log_probabilities if self.at_once else log_probabilities
        self.log_probabilities = tf.function(
            lambda inp, tar: score(transformer, inp, tar), input_signature=[ids, ids]
        )
        self.search_width = compiled(transformer, lambda inp: find(inp, static=True))
        self.seen = collections.Counter()  # single sentences by width

    def search(self, sources):
        """Returns Hypotheses of `sources`, B lists of ids.

        XLA, with weights that can change no more, makes a single sentence 2 to 3 times as fast.
        Compiling takes a few seconds per width, so the first sentences do not wait for it. Longer
        sentences than the widest, which are rare, are never compiled. A batch, which keeps a
        processor busy, gains nothing by it.
        """
        width = next((width for width in COMPILED_WIDTHS if width >= len(sources[0])), None)
        if len(sources) > 1 or not self.fixed or not width:
            return self.search_any(pad(sources))
        self.seen[width] += 1
        if self.seen[width] <= COMPILE_AFTER:
            return self.search_any(pad(sources))
        return self.search_width(pad(sources, width))

    def batches(self, places, length):
        """Returns lists of `places` that make a batch together, those of most `length` first."""
        waiting, batches = sorted(places, key=length, reverse=True), []
        while waiting:
            rows = self.rows or max(1, BATCH_TOKENS // (length(waiting[0]) * self.beam))
            batches.append(waiting[:rows])
            del waiting[:rows]
        return batches

    def hypotheses(self, lines, at_a_time=CHUNK_LINES):
        """Yields for each of `lines` (strings), in order, a list of (text, log-probability).

        `n_best` of them, the best first. A line without tokens, such as an empty one, stays empty,
        with a log-probability of 0.

        Args:
          at_a_time: lines that are waited for before they are sorted by length and translated.
        """
        lines, done = iter(lines), 0
        while chunk := list(itertools.islice(lines, at_a_time)):
            sources = self.tokenizer.encode(line.strip(SPACE) for line in chunk)
            for number, ids in enumerate(sources, start=done + 1):
                if len(ids) > LONGEST:
                    self.say(
                        f"Line {number} has {len(ids)} tokens; only the first {LONGEST} are "
                        "translated."
                    )
                    del ids[LONGEST:]
            lengths = list(map(len, sources))
            full = [place for place, length in enumerate(lengths) if length > 2]  # START, END
            batches = self.batches(full, lengths.__getitem__)
            each = map if len(batches) == 1 else self.pool.map
            inputs = ([sources[place] for place in places] for places in batches)
            found = [[("", 0.0)] * self.n_best for _ in chunk]
            for places, best in zip(batches, each(self.search, inputs), strict=True):
                ids, totals = best.ids.numpy(), best.log_probabilities.numpy()
                texts = self.tokenizer.decode(ids.reshape(-1, ids.shape[-1]))
                rows = np.array(texts, object).reshape(totals.shape).tolist()  # (B, N)
                for place, row, its in zip(places, rows, totals.tolist(), strict=True):
                    found[place] = list(zip(row, its, strict=True))
            yield from found
            done += len(chunk)

    def __call__(self, lines):
        """Yields one translation for each of `lines` (strings), in their order; one line each."""
        for best in self.hypotheses(lines):
            yield best[0][0]

    def score(self, pairs):
        """Yields the log-probability of each of `pairs` (strings) under the model, in order.

        Natural, of all tokens of the target with its END: translations given, not searched for.

        Raises:
          UserError: a side of a pair is longer than LONGEST.
        """
        pairs, done = iter(pairs), 0
        while chunk := list(itertools.islice(pairs, CHUNK_LINES)):
            sources, targets = zip(*chunk, strict=True)
            sources = self.tokenizer.encode(line.strip(SPACE) for line in sources)
            targets = self.tokenizer.encode(line.strip(SPACE) for line in targets)
            lengths = list(map(max, map(len, sources), map(len, targets)))
            for number, length in enumerate(lengths, start=done + 1):
                if length > LONGEST:
                    raise UserError(
                        f"pair {number} has {length} tokens on a side; split it, for at most "
                        f"{LONGEST} can be scored"
                    )
            totals = np.zeros(len(chunk))
            for places in self.batches(range(len(chunk)), lengths.__getitem__):
                batch = (pad([side[place] for place in places]) for side in (sources, targets))
                totals[places] = self.log_probabilities(*batch).numpy()
            yield from totals.tolist()
            done += len(chunk)

    def attend(self, line):
        """Translates a line. Returns its Attention, of one pass over the finished translation."""
        sources = self.tokenizer.encode([line.strip(SPACE)])
        inp, tar = tf.constant(sources), self.search(sources).ids[:, 0]  # (1, S), (1, 1 + L)
        tar = tar[:, : tf.math.count_nonzero(tar)]
        given = parallel.hide(inp, tar[:, 1:])[0] if self.at_once else tar[:, :-1]
        _, weights = self.transformer((inp, given), training=False)
        weights = {name: weight[0].numpy() for name, weight in weights.items()}
        if self.at_once:  # of places beyond the END nothing is told
            told = tar.shape[1] - 1
            for name in weights:
                weights[name] = weights[name][:, :told] if "decoder" in name else weights[name]
                weights[name] = weights[name][..., :told] if "block1" in name else weights[name]
        return Attention(*map(self.tokenizer.tokens, (inp[0], tar[0])), weights)
