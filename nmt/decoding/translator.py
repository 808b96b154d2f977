"""Translating many lines fast: sorted by length, in parallel batches, returned in order.

Only a chunk of the lines is in memory at a time. A line may be split into sentences, each of which
is translated by itself: a model trained on sentences loses text of longer ones.

For single sentences, as a server receives them, XLA compiles the search once enough of them have
come; for a few widths only, because TensorFlow never releases a compiled program.
"""

import collections
import itertools
import math
import re
from collections.abc import Iterable, Iterator
from concurrent import futures

import keras
import numpy as np
import tensorflow as tf

import params
from nmt import UserError
from nmt.decoding import non_autoregressive
from nmt.decoding.attention import Attention
from nmt.decoding.compiling import compiled
from nmt.decoding.n_best import drawn, joined, merged
from nmt.decoding.sampling import Sampling
from nmt.decoding.search import EXTRA_TOKENS, greedy_search, log_probabilities, search
from nmt.messages import log, plural
from nmt.text import sentences
from nmt.text.batches import MAX_SOURCE_TOKENS
from nmt.text.sentences import SPACE
from transformer_model import PAD

CHUNK_LINES = 4096  # lines sorted by length at a time
BATCH_TOKENS = 2048  # padding included, of the longer side
COMPILED_WIDTHS = 16, 32, 64  # tokens, padding included; about 50 MiB each, never released
COMPILE_AFTER = 300  # single sentences of one width, to make up for the seconds of compiling


def pad(rows, step=1):
    """Lists of ids -> one array (B, L), PAD after the ids, L a multiple of `step`."""
    length = -(-max(map(len, rows)) // step) * step
    return keras.utils.pad_sequences(rows, length, padding="post", value=PAD)


class Translator:
    """A Transformer, its tokenizer, and the search for translations.

    Args:
      transformer: a Transformer.
      tokenizer: a Tokenizer.
      beam: hypotheses followed per sentence; 1 is greedy search.
      alpha: of the length penalty.
      n_best: translations returned per sentence, at most `beam`.
      rows: sentences per batch; None for as many as make BATCH_TOKENS tokens.
      workers: batches translated in parallel.
      fixed: the weights will not change, so the search for single sentences may be compiled.
      language: code of the source language, to split each line into sentences; None to leave lines
        as they are.
      symbols: words that, if they begin a line, belong to each of its sentences: language tags.
      trained_length: tokens per sentence that the Transformer was trained on; longer sentences
        cause a warning. None for no warning.
      sampling: how the `n_best` translations of a sentence are drawn at random; None for a search.

    Raises:
      UserError: a number is out of its range.
    """

    def __init__(
        self,
        transformer,
        tokenizer,
        beam: int = params.BEAM,
        alpha: float = params.LENGTH_PENALTY,
        n_best: int = 1,
        rows: int | None = None,
        workers: int = 1,
        fixed: bool = True,
        language: str | None = None,
        symbols: tuple[str, ...] = (),
        trained_length: int | None = None,
        sampling: Sampling | None = None,
    ):
        self.non_autoregressive = transformer.sizes["non_autoregressive"]
        if self.non_autoregressive and max(beam, n_best) > 1:
            raise UserError("the run is non-autoregressive: leave --beam and --n-best out")
        for name, number in (("beam", beam), ("n_best", n_best), ("workers", workers)):
            if number < 1:
                raise UserError(f"{name} is {number}; it must be at least 1")
        if sampling:
            sampling.check()
            if beam > 1 or self.non_autoregressive:
                raise UserError("sampling takes one token at a time: it needs a beam of 1")
        elif n_best > beam:
            raise UserError(
                f"n_best is {n_best}, and the beam {beam}: a beam of K finds K translations; raise "
                "the beam (--beam), or lower n_best (--n-best)"
            )
        self.transformer, self.tokenizer = transformer, tokenizer
        self.beam, self.n_best, self.rows, self.fixed = beam, n_best, rows, fixed
        self.language, self.trained_length = language, trained_length
        either = "|".join(map(re.escape, symbols)) or "(?!)"
        self.tags = re.compile(rf"(?:\s*(?:{either}))*\s*")  # at the start of a line
        self.sampling = sampling
        self.pool = futures.ThreadPoolExecutor(workers)
        ids = tf.TensorSpec((None, None), tf.int32)  # one trace for all shapes

        def find(inp, static=False):
            if self.non_autoregressive:
                return non_autoregressive.search(transformer, inp, alpha)
            wanted = beam if n_best > 1 else 1  # several may be the same text
            return search(transformer, inp, beam, alpha, wanted, static=static)

        # AutoGraph would take three quarters of the time to the first translation, and has nothing
        # to convert here.
        signature = dict(input_signature=[ids], autograph=False)
        self.search_any = tf.function(lambda inp: find(inp), **signature)
        if sampling:
            uniform = tf.TensorSpec((None, None), tf.float32)
            self.sample = tf.function(
                lambda inp, uniform: greedy_search(
                    transformer, inp, alpha,
                    choose=lambda likely, position: sampling.draw(
                        likely, uniform[:, position, tf.newaxis]
                    ),
                ),
                input_signature=[ids, uniform],
                autograph=False,
            )  # fmt: skip
        score = log_probabilities
        if self.non_autoregressive:
            score = non_autoregressive.log_probabilities
        self.log_probabilities = tf.function(
            lambda inp, tar: score(transformer, inp, tar),
            input_signature=[ids, ids],
            autograph=False,
        )
        self.search_width = compiled(transformer, lambda inp: find(inp, static=True))
        self.seen = collections.Counter()  # single sentences by width

    def search(self, sources):
        """Returns Hypotheses of `sources`, B lists of ids.

        For a single sentence and fixed weights, XLA is 2 to 3 times as fast. Compiling takes a few
        seconds per width, so the first sentences are translated without it, as are the rare
        ones beyond the widest. Batches, which keep a processor busy, gain nothing.
        """
        width = next((width for width in COMPILED_WIDTHS if width >= len(sources[0])), None)
        if len(sources) > 1 or not self.fixed or not width:
            return self.search_any(pad(sources))
        self.seen[width] += 1
        if self.seen[width] <= COMPILE_AFTER:
            return self.search_any(pad(sources))
        return self.search_width(pad(sources, width))

    def batches(self, indices, length):
        """Returns `indices` in lists, one per batch, those of the greatest `length` first."""
        waiting, batches = sorted(indices, key=length, reverse=True), []
        while waiting:
            rows = self.rows or max(1, BATCH_TOKENS // (length(waiting[0]) * self.beam))
            batches.append(waiting[:rows])
            del waiting[:rows]
        return batches

    def hypotheses(self, lines, at_a_time=CHUNK_LINES):
        """Yields for each of `lines` (strings), in order, a list of (text, log-probability).

        There are up to `n_best` different texts, the best first; of samples, `n_best` in the order
        drawn, which may be equal. A line without tokens, such as an
        empty one, stays empty, with a log-probability of 0.

        Args:
          lines: an iterable of strings.
          at_a_time: lines that are collected, sorted by length and translated together.
        """
        lines = iter(lines)
        return self.of_chunks(iter(lambda: list(itertools.islice(lines, at_a_time)), []))

    def of_chunks(self, chunks):
        """Yields what `hypotheses` does; the lines of a chunk are translated together.

        Args:
          chunks: an iterable of lists of strings.
        """
        total = too_long = cut = 0  # lines
        for chunk in chunks:
            parts = [self.parts(line) for line in chunk]
            sources = self.tokenizer.encode(sentence for line in parts for sentence, _ in line)
            found = zip(map(len, sources), self.of_sources(sources), strict=True)
            for line in parts:
                lengths, rows = zip(*itertools.islice(found, len(line)), strict=True)
                total += 1
                cut += max(lengths) > MAX_SOURCE_TOKENS
                too_long += max(lengths) > (self.trained_length or math.inf)
                spaces = [space for _, space in line]
                yield drawn(rows, spaces) if self.sampling else joined(rows, spaces, self.n_best)
        if too_long:
            log.warning(
                f"{too_long} of {plural(total, 'line')}: longer than the {self.trained_length} "
                "tokens that the run was trained on (--max-length); translations may lose text."
            )
        if cut:
            log.warning(
                f"{cut} of {plural(total, 'line')}: cut off after {MAX_SOURCE_TOKENS} tokens."
            )

    def parts(self, line):
        """Returns the sentences of a line, each with the white space after it."""
        if self.language is None:
            return [(line.strip(SPACE), "")]
        tags = self.tags.match(line)[0]
        found = sentences.split(line.removeprefix(tags), self.language)
        return [(tags.lstrip() + sentence, space) for sentence, space in found]

    def of_sources(self, sources):
        """Returns rows of (text, log-probability, score) for each of `sources`, lists of ids."""
        copies = self.n_best if self.sampling else 1
        sources = [ids[:MAX_SOURCE_TOKENS] for ids in sources for _ in range(copies)]
        lengths = list(map(len, sources))
        full = [index for index, length in enumerate(lengths) if length > 2]  # START, END
        batches = self.batches(full, lengths.__getitem__)
        each = map if len(batches) == 1 else self.pool.map

        def find(indices):
            rows = [sources[index] for index in indices]
            if not self.sampling:
                return self.search(rows)
            length = max(map(len, rows)) + EXTRA_TOKENS
            numbers = [self.sampling.numbers(sources[i], i % copies, length) for i in indices]
            return self.sample(pad(rows), np.array(numbers))

        found = [[("", 0.0, 0.0)] for _ in sources]
        for indices, best in zip(batches, each(find, batches), strict=True):
            ids, *numbers = (t.numpy() for t in (best.ids, best.log_probabilities, best.scores))
            texts = self.tokenizer.decode(ids.reshape(-1, ids.shape[-1]))
            texts = np.array(texts, object).reshape(ids.shape[:2])  # (B, N)
            rows = zip(*(each.tolist() for each in (texts, *numbers)), strict=True)
            for index, row in zip(indices, rows, strict=True):
                found[index] = merged(zip(*row, strict=True), self.n_best)
        groups = (found[i : i + copies] for i in range(0, len(found), copies))
        return [[row for rows in group for row in rows] for group in groups]

    def __call__(self, lines: Iterable[str]) -> Iterator[str]:
        """Yields one translation, of one line, for each of `lines` (strings), in order."""
        for best in self.hypotheses(lines):
            yield best[0][0]

    def score(self, pairs):
        """Yields the log-probability of each of `pairs` (strings) under the model, in order.

        Natural, of all tokens of the target, END included (forced decoding).

        Raises:
          UserError: a side of a pair is longer than MAX_SOURCE_TOKENS.
        """
        pairs, done = iter(pairs), 0
        while chunk := list(itertools.islice(pairs, CHUNK_LINES)):
            sources, targets = zip(*chunk, strict=True)
            sources = self.tokenizer.encode(line.strip(SPACE) for line in sources)
            targets = self.tokenizer.encode(line.strip(SPACE) for line in targets)
            lengths = list(map(max, map(len, sources), map(len, targets)))
            for number, length in enumerate(lengths, start=done + 1):
                if length > MAX_SOURCE_TOKENS:
                    raise UserError(
                        f"pair {number} has {length} tokens on a side; split it, for at most "
                        f"{MAX_SOURCE_TOKENS} can be scored"
                    )
            totals = np.zeros(len(chunk))
            for indices in self.batches(range(len(chunk)), lengths.__getitem__):
                batch = (pad([side[index] for index in indices]) for side in (sources, targets))
                totals[indices] = self.log_probabilities(*batch).numpy()
            yield from totals.tolist()
            done += len(chunk)

    def attend(self, line: str) -> Attention:
        """Translates a line. Returns its Attention, from one pass over the finished translation."""
        sources = self.tokenizer.encode([line.strip(SPACE)])
        inp, tar = tf.constant(sources), self.search(sources).ids[:, 0]  # (1, S), (1, 1 + L)
        tar = tar[:, : tf.math.count_nonzero(tar)]
        (text,) = self.tokenizer.decode(tar.numpy())
        tar_inp = tar[:, :-1]
        if self.non_autoregressive:
            tar_inp, _ = non_autoregressive.mask_targets(inp, tar[:, 1:])
        _, weights = self.transformer((inp, tar_inp), training=False)
        weights = {name: weight[0].numpy() for name, weight in weights.items()}
        if self.non_autoregressive:  # positions after END are masked tokens only
            length = tar.shape[1] - 1
            for name in weights:
                weights[name] = weights[name][:, :length] if "decoder" in name else weights[name]
                weights[name] = weights[name][..., :length] if "block1" in name else weights[name]
        tokens = map(self.tokenizer.tokens, (inp[0], tar[0]))
        return Attention(*tokens, weights, (line.strip(SPACE), text))
