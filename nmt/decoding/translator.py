"""Translating many lines fast: sorted by length, in parallel batches, returned in order.

Only a chunk of the lines is in memory at a time. A line may be split into sentences, each of which
is translated by itself: a model trained on sentences loses text of longer ones.
"""

import itertools
import math
import numbers
from collections.abc import Iterable, Iterator
from concurrent import futures
from typing import NamedTuple

import tensorflow as tf

from nmt import UserError
from nmt.decoding import alignment, consensus, non_autoregressive
from nmt.decoding.attention import Attention
from nmt.decoding.n_best import drawn, joined, merged
from nmt.decoding.options import SearchOptions
from nmt.decoding.searcher import Searcher, pad
from nmt.decoding.sentence import NOTHING, Candidate, Sentence
from nmt.decoding.tokens import described
from nmt.messages import log, plural
from nmt.text import sentences, spelling
from nmt.text.batches import MAX_SOURCE_TOKENS
from nmt.text.tokenizer import check_characters

CHUNK_LINES = 4096  # lines sorted by length at a time
BATCH_TOKENS = 2048  # padding included, of the sources; of pairs, of the longer side
NO_PREFIXES = itertools.repeat("")


class Request(NamedTuple):
    """A row of a batch: a sentence to search translations of, or to draw a sample for."""

    sentence: Sentence
    sample: int  # its number, from 0

    def length(self):
        """Returns the tokens that count: a prefix is decoded like a translation.

        A translation is about as long as its source.
        """
        source, prefix = len(self.sentence.source), len(self.sentence.prefix)
        return max(min(source, MAX_SOURCE_TOKENS), prefix)


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

    def batches(self, items, length):
        """Returns `items` in lists, one per batch, those of the greatest `length` first."""
        waiting, batches = sorted(items, key=length, reverse=True), []
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
        return self.translate_chunks(chunks, iter(prefixes), scored)

    def translate_chunks(self, chunks, prefixes=NO_PREFIXES, scored=True):
        """Yields what `hypotheses` does; the lines of a chunk are translated together.

        Args:
          chunks: an iterable of lists of strings.
          prefixes: an iterator of what the translation of each line begins with.
          scored: as of `hypotheses`.
        """
        total = too_long = cut = 0  # lines
        for chunk in chunks:
            check_characters(chunk)
            lines = self.split_lines(chunk, list(itertools.islice(prefixes, len(chunk))))
            line_sentences = [sentence for line in lines for sentence in line]
            self.search_sentences(line_sentences, scored)
            if self.options.alignments:
                self.align_sentences(line_sentences)
            total += len(chunk)
            for text, line in zip(chunk, lines, strict=True):
                longest = max(len(sentence.source) for sentence in line)
                cut += longest > MAX_SOURCE_TOKENS
                too_long += longest > (self.trained_length or math.inf)
                yield self.join_sentences(text, line)
        if too_long:
            log.warning(
                f"{too_long} of {plural(total, 'line')}: longer than the {self.trained_length} "
                "tokens that the run was trained on (--max-length); translations may lose text."
            )
        if cut:
            log.warning(
                f"{cut} of {plural(total, 'line')}: cut off after {MAX_SOURCE_TOKENS} tokens."
            )

    def split_lines(self, lines, prefixes):
        """Returns the Sentences of each of `lines`, with ids.

        Args:
          lines: strings.
          prefixes: what the translation of each begins with, strings.

        Raises:
          UserError: there are fewer prefixes than lines, or the run cannot use any.
        """
        if self.non_autoregressive and any(prefixes):
            raise UserError("the run is non-autoregressive: leave --prefix out")
        if len(prefixes) < len(lines):
            raise UserError("there are fewer prefixes than lines; give one for each line")
        parts = [self.parts(line) for line in lines]
        texts = [text for line in parts for text, _ in line]
        ids = iter(self.tokenizer.encode(map(spelling.trimmed, texts)))
        prefix_ids = self.tokenizer.encode(map(spelling.trimmed, prefixes), MAX_SOURCE_TOKENS)
        split_lines = []
        for line, prefix in zip(parts, prefix_ids, strict=True):
            line_sentences = [Sentence(text, space, next(ids), []) for text, space in line]
            line_sentences[0].prefix = prefix[1:-1]  # without START and END
            split_lines.append(line_sentences)
        return split_lines

    def join_sentences(self, text, line):
        """Returns the translations of a line, as `hypotheses` yields them, from its Sentences'.

        Args:
          text: the line as it was given.
        """
        options = self.options
        spaces = [sentence.space for sentence in line]
        candidates = [sentence.candidates for sentence in line]
        if options.sampling:
            translations = drawn(candidates, spaces)
        else:
            translations = joined(candidates, spaces, options.n_best)
        if options.mbr:
            translations = [consensus.choose(translations, options.mbr, bool(options.sampling))]
        if options.alignments:
            pairs = [(sentence.text, sentence.translation) for sentence in line]
            tag = self.tags.match(line[0].text)[0]
            links = alignment.joined(pairs, spaces, [sentence.links for sentence in line], tag)
            best = translations[0]
            translations = [(*best, alignment.as_given(links, text, best[0]))]
        if options.token_scores or options.alternatives:
            tokens = [token for sentence in line for token in sentence.tokens]
            translations = [(*translations[0], tokens)]
        return translations

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

    def search_sentences(self, sentences, scored=True):
        """Fills in the candidates of Sentences, and the scored tokens if they are asked for.

        Args:
          scored: as of `hypotheses`.
        """
        samples = self.options.n_best if self.options.sampling else 1
        requests = [
            Request(sentence, sample)
            for sentence in sentences
            if len(sentence.source) > 2  # START, END
            for sample in range(samples)
        ]
        batches = self.batches(requests, Request.length)
        run_batches = map if len(batches) == 1 else self.pool.map
        results = run_batches(lambda batch: self.search_batch(batch, scored), batches)
        for batch, hypotheses in zip(batches, results, strict=True):
            self.add_candidates(batch, hypotheses)
        for sentence in sentences:
            sentence.candidates = sentence.candidates or [NOTHING] * samples

    def search_batch(self, batch, scored):
        """Returns the Hypotheses of a batch of Requests; fills in the scored tokens of each."""
        sources = [request.sentence.source[:MAX_SOURCE_TOKENS] for request in batch]
        prefixes = [request.sentence.prefix for request in batch]
        samples = [request.sample for request in batch]
        hypotheses = self.searcher.search(sources, prefixes, samples, scored)
        if self.options.token_scores or self.options.alternatives:
            tar = hypotheses.ids[:, 0]
            tar = tar[:, : tf.reduce_max(tf.math.count_nonzero(tar, axis=1))]  # (B, 1 + T)
            likely = self.searcher.likelihoods(pad(sources), tar, self.options.alternatives)
            token_scores = described(self.tokenizer, tar.numpy(), *likely)
            for request, tokens in zip(batch, token_scores, strict=True):
                request.sentence.tokens = tokens
        return hypotheses

    def add_candidates(self, batch, hypotheses):
        """Adds the translations that a search found to the Sentences of a batch of Requests."""
        ids = hypotheses.ids.numpy()  # (B, N, 1 + L)
        log_probabilities = hypotheses.log_probabilities.numpy().tolist()  # (B, N)
        scores = hypotheses.scores.numpy().tolist()  # (B, N)
        texts = self.tokenizer.decode(ids.reshape(-1, ids.shape[-1]))  # B N
        number = ids.shape[1]
        for row, request in enumerate(batch):
            candidates = map(
                Candidate,
                texts[row * number : (row + 1) * number],
                log_probabilities[row],
                scores[row],
            )
            request.sentence.candidates += merged(candidates, self.options.n_best)

    def align_sentences(self, sentences):
        """Fills in the links of the best candidate of each of the Sentences."""
        pairs = [(sentence.text, sentence.translation) for sentence in sentences]
        for sentence, links in zip(sentences, self.normal_links(pairs, cut=True), strict=True):
            sentence.links = links

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

        def score_batch(sources, targets):
            return likely(pad(sources), pad(targets)).numpy().tolist()

        return self.map_pairs(pairs, score_batch)

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

        def link_batch(sources, targets):
            weights = self.searcher.cross_attention(pad(sources), pad(targets)[:, :-1]).numpy()
            for row, source, target in zip(weights, sources, targets, strict=True):
                source_tokens = self.tokenizer.tokens(source[1:-1])  # no START, no END
                target_tokens = self.tokenizer.tokens(target[1:-1])
                row = row[: len(target_tokens), 1 : 1 + len(source_tokens)]
                yield alignment.links(row, source_tokens, target_tokens)

        return self.map_pairs(pairs, link_batch, cut)

    def map_pairs(self, pairs, function, cut=False):
        """Yields what `function` returns for each of `pairs` (strings), in order.

        Args:
          function: of B sources and B targets, lists of ids; it returns B values.
          cut: as of `align`.
        """
        pairs, first_number = iter(pairs), 1
        while chunk := list(itertools.islice(pairs, CHUNK_LINES)):
            sources, targets = (
                self.tokenizer.encode(map(spelling.trimmed, side))
                for side in zip(*chunk, strict=True)
            )
            lengths = list(map(max, map(len, sources), map(len, targets)))
            for number, length in enumerate(lengths, start=first_number):
                if length > MAX_SOURCE_TOKENS and not cut:
                    raise UserError(
                        f"pair {number} has more than {MAX_SOURCE_TOKENS} tokens on a side; split "
                        "it: that is the limit"
                    )
            first_number += len(chunk)
            values = {}  # by index
            for indices in self.batches(range(len(chunk)), lengths.__getitem__):
                batch_values = function(
                    [sources[index][:MAX_SOURCE_TOKENS] for index in indices],
                    [targets[index][:MAX_SOURCE_TOKENS] for index in indices],
                )
                values.update(zip(indices, batch_values, strict=True))
            for index in range(len(chunk)):
                yield values[index]

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
        for name, layer_weights in weights.items():
            heads = layer_weights[0].numpy()  # (H, queries, keys)
            if name.startswith("decoder"):
                heads = heads[:, :length]
            if name.endswith("block1"):  # whose keys are target tokens
                heads = heads[:, :, :length]
            weights[name] = heads
        tokens = map(self.tokenizer.tokens, (inp[0], tar[0]))
        return Attention(*tokens, weights, (line, *self.tokenizer.decode(tar.numpy())))
