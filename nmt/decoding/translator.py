"""Translating many lines fast: sorted by length, in parallel batches, returned in order.

Only a chunk of the lines is in memory at a time. A line may be split into sentences, each of which
is translated by itself: a model trained on sentences loses text of longer ones.
"""

import itertools
import math
import numbers
from collections.abc import Iterable, Iterator
from concurrent import futures

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.decoding import alignment, consensus, non_autoregressive
from nmt.decoding.attention import Attention
from nmt.decoding.n_best import drawn, joined, merged
from nmt.decoding.options import SearchOptions
from nmt.decoding.searcher import Searcher, pad
from nmt.decoding.tokens import described
from nmt.messages import log, plural
from nmt.text import sentences, spelling
from nmt.text.batches import MAX_SOURCE_TOKENS
from nmt.text.tokenizer import check_characters

CHUNK_LINES = 4096  # lines sorted by length at a time
BATCH_TOKENS = 2048  # padding included, of the sources; of pairs, of the longer side
NO_PREFIXES = itertools.repeat("")


class Translator:
    """A Transformer, its tokenizer, and the search for translations.

    Args:
      transformer: a Transformer.
      tokenizer: a Tokenizer.
      rows: sentences per batch; None for as many as make BATCH_TOKENS tokens.
      workers: batches translated in parallel.
      fixed: the weights will not change, so the search for single sentences may be compiled.
      language: code of the source language, to split each line into sentences; None to leave lines
        as they are.
      symbols: words that, if they begin a line, belong to each of its sentences: language tags.
      trained_length: of sentences in training, in tokens; longer ones cause a warning, unless None.
      ensemble: other Transformers of the same vocabulary; their probabilities are averaged.
      options: of SearchOptions.

    Raises:
      UserError: a number is out of its range, or options contradict each other.
    """

    def __init__(
        self,
        transformer,
        tokenizer,
        *,
        rows: int | None = None,
        workers: int = 1,
        fixed: bool = True,
        language: str | None = None,
        symbols: tuple[str, ...] = (),
        trained_length: int | None = None,
        ensemble: tuple = (),
        **options,
    ):
        self.options = SearchOptions(**options)
        self.non_autoregressive = transformer.config["non_autoregressive"]
        self.options.check(self.non_autoregressive, bool(ensemble))
        for name, number in (("workers", workers), ("rows", rows)):
            if number is None:
                continue
            if not isinstance(number, numbers.Integral) or number < 1:
                raise UserError(f"{name} is {number!r}; it must be a whole number, at least 1")
        self.transformer, self.tokenizer, self.rows = transformer, tokenizer, rows
        self.language, self.trained_length = language, trained_length
        self.tags = sentences.tags(symbols)
        self.searcher = Searcher(transformer, self.options, fixed, ensemble)
        self.pool = futures.ThreadPoolExecutor(workers)

    def batches(self, indices, length):
        """Returns `indices` in lists, one per batch, those of the greatest `length` first."""
        waiting, batches = sorted(indices, key=length, reverse=True), []
        while waiting:
            rows = self.rows or max(1, BATCH_TOKENS // (length(waiting[0]) * self.options.beam))
            batches.append(waiting[:rows])
            del waiting[:rows]
        return batches

    def hypotheses(self, lines, at_a_time=CHUNK_LINES, prefixes=NO_PREFIXES, scored=True):
        """Yields for each of `lines` (strings), in order, a list of (text, log-probability).

        There are up to `n_best` different texts, the best first; of samples, `n_best` in the order
        drawn, which may be equal; with `mbr`, one. An empty line stays empty, its log-probability
        is 0. With `alignments`, a list of links follows, as of `align`; with `token_scores` or
        `alternatives`, one of tokens, as of tokens.described.

        Args:
          lines: an iterable of strings.
          at_a_time: lines that are collected, sorted by length and translated together.
          prefixes: what the translation of each line begins with, strings; "" for anything.
          scored: False if log-probabilities are of no interest; greedy search then computes none.
        """
        if isinstance(lines, str):
            raise TypeError("lines is one string; it must be a list of strings")
        if isinstance(prefixes, str):
            raise UserError(
                "prefixes is one string; give a list of strings, one for each line (repeat it by "
                "itertools.repeat)"
            )
        lines = iter(lines)
        chunks = iter(lambda: list(itertools.islice(lines, at_a_time)), [])
        return self.of_chunks(chunks, iter(prefixes), scored)

    def of_chunks(self, chunks, prefixes=NO_PREFIXES, scored=True):
        """Yields what `hypotheses` does; the lines of a chunk are translated together.

        Args:
          chunks: an iterable of lists of strings.
          prefixes: an iterator of what the translation of each line begins with.
          scored: as of `hypotheses`.
        """
        total = too_long = cut = 0  # lines
        for chunk in chunks:
            check_characters(chunk)
            parts = [self.parts(line) for line in chunk]
            texts = [text for line in parts for text, _ in line]
            sources = self.tokenizer.encode(map(spelling.trimmed, texts))
            prefix_ids = self.prefix_ids([*itertools.islice(prefixes, len(chunk))], map(len, parts))
            rows, tokens = self.of_sources(sources, prefix_ids, scored)
            pairs = zip(texts, (its[0][0] for its in rows), strict=True)
            links = (
                self.normal_links(pairs, True) if self.options.alignments else itertools.repeat([])
            )
            found = zip(sources, rows, tokens, links, strict=False)
            total += len(chunk)
            for text, line in zip(chunk, parts, strict=True):
                ids, *its = zip(*itertools.islice(found, len(line)), strict=True)
                cut += max(map(len, ids)) > MAX_SOURCE_TOKENS
                too_long += max(map(len, ids)) > (self.trained_length or math.inf)
                yield self.of_line(text, line, *its)
        if too_long:
            log.warning(
                f"{too_long} of {plural(total, 'line')}: longer than the {self.trained_length} "
                "tokens that the run was trained on (--max-length); translations may lose text."
            )
        if cut:
            log.warning(
                f"{cut} of {plural(total, 'line')}: cut off after {MAX_SOURCE_TOKENS} tokens."
            )

    def of_line(self, text, line, rows, tokens, links):
        """Returns the translations of a line, as `hypotheses` yields them, from its sentences'.

        Args:
          text: the line as it was given.
          line: pairs of a sentence of it and the space after it.
          rows, tokens: for each sentence, what `of_sources` returns.
          links: of each sentence and its best translation, if they are asked for.
        """
        options, spaces = self.options, [space for _, space in line]
        best = drawn(rows, spaces) if options.sampling else joined(rows, spaces, options.n_best)
        if options.mbr:
            best = [consensus.choose(best, options.mbr, bool(options.sampling))]
        if options.alignments:
            pairs = [(text, its[0][0]) for (text, _), its in zip(line, rows, strict=True)]
            tag = self.tags.match(line[0][0])[0]
            line_links = alignment.joined(pairs, spaces, links, tag)
            best = [(*best[0], alignment.as_given(line_links, text, best[0][0]))]
        if options.token_scores or options.alternatives:
            best = [(*best[0], [*itertools.chain(*tokens)])]
        return best

    def parts(self, line):
        """Returns the sentences of a line, each with the white space after it.

        A line that shows nothing is white space after an empty sentence, so that it stays as it is.
        """
        if spelling.is_blank(line):
            return [("", spelling.printed(line).strip(" "))]
        line = spelling.visible(line)
        if self.language is None:
            return [(line.strip(), "")]
        return sentences.split_tagged(line, self.language, self.tags)

    def prefix_ids(self, prefixes, sentences_per_line):
        """Returns the ids that the translation of each sentence begins with, often none.

        Args:
          prefixes: what the first sentence of each line begins with, a list of strings.
          sentences_per_line: numbers.
        """
        if self.non_autoregressive and any(prefixes):
            raise UserError("the run is non-autoregressive: leave --prefix out")
        found = []
        for text, number in itertools.zip_longest(prefixes, sentences_per_line):
            if text is None:
                raise UserError("there are fewer prefixes than lines; give one for each line")
            found += [spelling.trimmed(text)] + [""] * (number - 1)
        return [
            ids[1:-1] for ids in self.tokenizer.encode(found, MAX_SOURCE_TOKENS)
        ]  # without START and END

    def of_sources(self, sources, prefixes, scored=True):
        """Returns rows of (text, log-probability, score) for each of `sources`, lists of ids.

        And a second list: of the tokens of the best translation of each, if they are asked for.

        Args:
          prefixes: the ids that the translation of each begins with.
          scored: as of `hypotheses`.
        """
        options = self.options
        copies = options.n_best if options.sampling else 1
        sources = [ids[:MAX_SOURCE_TOKENS] for ids in sources for _ in range(copies)]
        prefixes = [ids[:MAX_SOURCE_TOKENS] for ids in prefixes for _ in range(copies)]
        # A prefix is decoded like a translation, which is about as long as its source.
        lengths = [max(map(len, sides)) for sides in zip(sources, prefixes, strict=True)]
        full = [index for index, ids in enumerate(sources) if len(ids) > 2]  # START, END
        batches = self.batches(full, lengths.__getitem__)
        each = map if len(batches) == 1 else self.pool.map

        def find(indices):
            rows, begins = ([side[i] for i in indices] for side in (sources, prefixes))
            best = self.searcher.search(rows, begins, [i % copies for i in indices], scored)
            if not (options.token_scores or options.alternatives):
                return best, itertools.repeat([])
            tar = best.ids[:, 0]
            tar = tar[:, : tf.reduce_max(tf.math.count_nonzero(tar, axis=1))]  # (B, 1 + T)
            arrays = self.searcher.likelihoods(pad(rows), tar, options.alternatives)
            return best, described(self.tokenizer, tar.numpy(), *arrays)

        found, tokens = [[("", 0.0, 0.0)] for _ in sources], [[] for _ in sources]
        for indices, (best, of_tokens) in zip(batches, each(find, batches), strict=True):
            ids, *numbers = (t.numpy() for t in (best.ids, best.log_probabilities, best.scores))
            texts = self.tokenizer.decode(ids.reshape(-1, ids.shape[-1]))
            texts = np.array(texts, object).reshape(ids.shape[:2])  # (B, N)
            rows = zip(*(each.tolist() for each in (texts, *numbers)), strict=True)
            for index, row, its in zip(indices, rows, of_tokens, strict=False):
                found[index] = merged(zip(*row, strict=True), options.n_best)
                tokens[index] = its
        groups = (found[i : i + copies] for i in range(0, len(found), copies))
        return [[row for rows in group for row in rows] for group in groups], tokens[::copies]

    def __call__(self, lines: Iterable[str]) -> Iterator[str]:
        """Yields one translation for each of `lines` (strings), in order."""
        for best in self.hypotheses(lines, scored=False):
            yield best[0][0]

    def score(self, pairs):
        """Yields the log-probability of each of `pairs` (strings) under the model, in order.

        Natural, of all tokens of the target, END included (forced decoding).

        Raises:
          UserError: a side of a pair is longer than MAX_SOURCE_TOKENS.
        """
        likely = self.searcher.log_probabilities
        return self.of_pairs(pairs, lambda *sides: likely(*map(pad, sides)).numpy().tolist())

    def align(self, pairs, cut=False):
        """Yields the links of each of `pairs` (strings): sorted (source word, target word) from 0.

        Words are those of Python's split(). See alignment.py.

        Args:
          cut: leave out what is beyond MAX_SOURCE_TOKENS, instead of raising an error.

        Raises:
          UserError: see above; or the run is non-autoregressive.
        """
        pairs, texts = itertools.tee(pairs)
        for links, pair in zip(self.normal_links(pairs, cut), texts, strict=True):
            yield alignment.as_given(links, *pair)

    def normal_links(self, pairs, cut):
        """Yields what `align` does, of the words of normal forms, see text/spelling.py."""
        if self.non_autoregressive:
            raise UserError("the run is non-autoregressive: its attention says nothing of words")

        def find(sources, targets):
            weights = self.searcher.cross_attention(pad(sources), pad(targets)[:, :-1]).numpy()
            for row, *pair in zip(weights, sources, targets, strict=True):
                tokens = [self.tokenizer.tokens(ids[1:-1]) for ids in pair]  # no START, no END
                source, target = map(len, tokens)
                yield alignment.links(row[:target, 1 : 1 + source], *tokens)

        return self.of_pairs(pairs, find, cut)

    def of_pairs(self, pairs, find, cut=False):
        """Yields what `find` returns for each of `pairs` (strings), in order.

        Args:
          find: a function of B sources and B targets, lists of ids, that returns B values.
          cut: as of `align`.
        """
        pairs, numbers = iter(pairs), itertools.count(1)
        while chunk := list(itertools.islice(pairs, CHUNK_LINES)):
            sides = [
                self.tokenizer.encode(map(spelling.trimmed, side))
                for side in zip(*chunk, strict=True)
            ]
            lengths = [max(map(len, pair)) for pair in zip(*sides, strict=True)]
            for length, number in zip(lengths, numbers, strict=False):
                if length > MAX_SOURCE_TOKENS and not cut:
                    raise UserError(
                        f"pair {number} has more than {MAX_SOURCE_TOKENS} tokens on a side; split "
                        "it: that is the limit"
                    )
            found = {}
            for indices in self.batches(range(len(chunk)), lengths.__getitem__):
                rows = ([side[i][:MAX_SOURCE_TOKENS] for i in indices] for side in sides)
                found.update(zip(indices, find(*rows), strict=True))
            yield from (found[index] for index in range(len(chunk)))

    def attend(self, line: str) -> Attention:
        """Translates a line. Returns its Attention, from one pass over the finished translation."""
        line = spelling.trimmed(line)
        sources = [self.tokenizer.encode([line])[0][:MAX_SOURCE_TOKENS]]
        inp = tf.constant(sources)  # (1, S)
        tar = self.searcher.search(sources).ids[:, 0]  # (1, 1 + L)
        tar = tar[:, : tf.math.count_nonzero(tar)]
        tar_inp, length = tar[:, :-1], tar.shape[1] - 1
        if self.non_autoregressive:  # whose positions after END are left out
            tar_inp, _ = non_autoregressive.mask_targets(inp, tar[:, 1:])
        _, weights = self.transformer((inp, tar_inp), training=False)
        for name, weight in weights.items():
            queries, keys = (length if part in name else None for part in ("decoder", "block1"))
            weights[name] = weight[0, :, :queries, :keys].numpy()
        tokens = map(self.tokenizer.tokens, (inp[0], tar[0]))
        return Attention(*tokens, weights, (line, *self.tokenizer.decode(tar.numpy())))
