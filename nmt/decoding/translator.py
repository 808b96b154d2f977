"""Translating many lines fast: sorted by length, in parallel batches, returned in order.

Only a chunk of the lines is in memory at a time. A line may be split into sentences, each of which
is translated by itself: a model trained on sentences loses text of longer ones.
"""

import copy
import dataclasses
import itertools
import numbers
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent import futures
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.corpus.batches import MAX_SOURCE_TOKENS
from nmt.decoding import alignment, consensus, hidden_spans, number_repair, placement
from nmt.decoding.attention import Attention
from nmt.decoding.batch_sizes import CHUNK_LINES, GPU_BATCH_TOKENS, Batching
from nmt.decoding.given_pairs import GivenPairs
from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.line_counts import LineCounts
from nmt.decoding.n_best import (
    combine_n_best,
    combine_samples,
    merge_equal_texts,
    restore_candidates,
)
from nmt.decoding.padding import pad
from nmt.decoding.search_options import SearchOptions
from nmt.decoding.searcher import Searcher
from nmt.decoding.sentence import NOTHING, Candidate, Links, Sentence, TokenScore, Translation
from nmt.decoding.tokens import token_scores
from nmt.text import sentences, spelling
from nmt.text.differences import Difference, DifferenceCount, difference
from nmt.text.encoding import check_characters
from nmt.text.glossary import Glossary
from nmt.text.protected import SYMBOL, Protected, Protector, restore
from nmt.text.tokenizer import Tokenizer
from transformer_model import PAD, Transformer

MAX_SAMPLES, TEXTS = 2**10, 2**20  # of a sentence; that have samples of their own
NO_PREFIXES = itertools.repeat("")


class _Request(NamedTuple):
    """A row of a batch: a sentence to search translations of, or to draw a sample for."""

    sentence: Sentence
    rank: int  # the number of the sample, from 0

    @property
    def sample(self) -> int:
        """A number of the sample, which differs for texts that the network reads alike."""
        text = spelling.trimmed(self.sentence.text)
        if text == self.sentence.source_text:
            return self.rank
        return self.rank + MAX_SAMPLES * (zlib.crc32(text.encode()) % TEXTS)

    def length(self) -> int:
        """Returns the tokens that count: a prefix is decoded like a translation.

        A translation is about as long as its source.
        """
        source, prefix = len(self.sentence.source), len(self.sentence.prefix)
        return max(min(source, MAX_SOURCE_TOKENS), prefix)


class _NumberRepair(NamedTuple):
    """A sentence to search for again, because its candidates lack numbers."""

    sentence: Sentence
    without: Sentence  # the same without the numbers, not yet searched for
    is_lost: bool  # else the numbers may be there as words


class _SearchedBatch(NamedTuple):
    """What the search returns for the requests of a batch."""

    hypotheses: Hypotheses
    tokens: list[list[TokenScore]] | None  # of the best hypothesis; None if they are not asked for


class Translator:
    """A Transformer, its tokenizer, and the search for translations.

    Args:
      transformer: a Transformer.
      tokenizer: a Tokenizer.
      rows: sentences per batch; None for as many as make a batch of tokens; see batch_sizes.py.
      workers: batches translated in parallel.
      fixed: the weights will not change, so the search for single sentences may be compiled.
      language: code of the source language, to split each line into sentences; None to leave lines
        as they are.
      symbols: words that, if they begin a line, belong to each of its sentences: language tags.
      trained_length: of sentences in training, in tokens; longer ones cause a warning, unless None.
      ensemble: other Transformers of the same vocabulary; their probabilities are averaged.
      protect: keep what must not change: as symbols, if the vocabulary has them, else by putting
        it into the translation; see text/protected.py.
      patterns: regular expressions of what must not change, either.
      glossary: terms and their translations.
      options: fields of SearchOptions.

    Attributes:
      protector: the Protector, which finds what must not change.

    Raises:
      UserError: a number is out of its range, or options contradict each other.
    """

    def __init__(
        self,
        transformer: Transformer,
        tokenizer: Tokenizer,
        *,
        rows: int | None = None,
        workers: int = 1,
        fixed: bool = True,
        language: str | None = None,
        symbols: tuple[str, ...] = (),
        trained_length: int | None = None,
        ensemble: tuple[Transformer, ...] = (),
        protect: bool = True,
        patterns: tuple[str, ...] = (),
        glossary: Glossary | None = None,
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
        self.transformer, self.tokenizer = transformer, tokenizer
        self.language, self.trained_length = language, trained_length
        self.tags: re.Pattern = sentences.tags(symbols)
        if patterns and not protect:
            raise UserError("patterns of what must not change contradict protect=False")
        learned, self._spells_numbers = tokenizer.protection
        self.protector = Protector(patterns, glossary, tokenizer.words, learned if protect else ())
        self._keeps, self._protects = protect, protect and bool(tokenizer.symbol_ids)
        if glossary and self.non_autoregressive:
            raise UserError("the run is non-autoregressive: leave --glossary out")
        self.searcher = Searcher(transformer, self.options, fixed, ensemble, tokenizer.symbol_ids)
        tokens = GPU_BATCH_TOKENS if tf.config.list_physical_devices("GPU") else None
        self._batching = Batching(rows, self.options.beam, tokens)
        # The logits of pairs are computed at once, so that their batches stay small.
        self._pairs = GivenPairs(self.searcher, tokenizer, Batching(rows, self.options.beam))
        self._pool = futures.ThreadPoolExecutor(workers)

    # ---- Translating ----

    def __call__(self, lines: Iterable[str]) -> Iterator[str]:
        """Yields one translation for each of `lines`, in order."""
        for translations in self.hypotheses(lines, scored=False):
            yield translations[0].text

    def hypotheses(
        self,
        lines: Iterable[str],
        at_a_time: int = CHUNK_LINES,
        prefixes: Iterable[str] = NO_PREFIXES,
        scored: bool = True,
        counts: LineCounts | None = None,
    ) -> Iterator[list[Translation]]:
        """Yields for each of `lines`, in order, the list of its Translations.

        There are up to `n_best` different texts, the best first; of samples, `n_best` in the order
        drawn, which may be equal; with `mbr`, one. An empty line stays empty, its log-probability
        is 0.

        Args:
          lines: strings.
          at_a_time: lines that are collected, sorted by length and translated together.
          prefixes: what the translation of each line begins with; "" for anything.
          scored: False for Translations without log-probabilities, which greedy search then does
            not compute.
          counts: see `translate_chunks`.
        """
        if isinstance(lines, str):
            raise TypeError("lines is one string; it must be a list of strings")
        if isinstance(prefixes, str):
            raise UserError(
                "prefixes is one string; give a list of strings, one for each line (repeat it by "
                "itertools.repeat)"
            )
        return self.translate_chunks(_chunks(lines, at_a_time), iter(prefixes), scored, counts)

    def translate_chunks(
        self,
        chunks: Iterable[list[str]],
        prefixes: Iterator[str] = NO_PREFIXES,
        scored: bool = True,
        counts: LineCounts | None = None,
    ) -> Iterator[list[Translation]]:
        """Yields what `hypotheses` does; the lines of a chunk are translated together.

        Args:
          chunks: lists of lines.
          prefixes: what the translation of each line begins with.
          scored: see `hypotheses`.
          counts: the LineCounts that the lines are added to; None to warn of them at the end.
        """
        warns = counts is None
        counts = counts or self.no_counts()
        for chunk in chunks:
            check_characters(chunk)
            lines = self._split_lines(chunk, list(itertools.islice(prefixes, len(chunk))))
            chunk_sentences = [sentence for line in lines for sentence in line]
            self._search_sentences(chunk_sentences, scored)
            self._repair_numbers(chunk_sentences, scored)
            self._place_phrases(chunk_sentences)
            self._put_in_spans(chunk_sentences)
            self._restore_sentences(chunk_sentences)
            if self.options.alignments:
                self._align_sentences(chunk_sentences)
            for text, line in zip(chunk, lines, strict=True):
                translations = self._join_sentences(text, line, scored)
                counts.add(line, self.difference(text, translations[0].text))
                yield translations
        if warns:
            counts.warn()

    def no_counts(self, lines_before: int = 0) -> LineCounts:
        """Returns the LineCounts of no lines, which `translate_chunks` adds lines to.

        Args:
          lines_before: of the same file, which are not counted.
        """
        differences = DifferenceCount(lines_before)
        return LineCounts(self.trained_length, MAX_SOURCE_TOKENS, differences=differences)

    def with_terms(self, terms: dict[str, str], languages: Sequence[str] = ()) -> "Translator":
        """Returns this Translator with further terms in its glossary; the traces are shared.

        Args:
          terms: translations by term, which count before those of the glossary.
          languages: see Glossary.

        Raises:
          UserError: the run is non-autoregressive.
        """
        if terms and self.non_autoregressive:
            raise UserError("the run is non-autoregressive: leave the glossary out")
        glossary = (self.protector.glossary or Glossary({})).with_terms(terms, languages)
        other = copy.copy(self)
        other.protector = self.protector.with_glossary(glossary)
        return other

    def difference(self, source: str, translation: str) -> Difference:
        """Returns what a translation has lost or added of what must not change, and of terms.

        It is false if there is nothing.
        """
        return difference(source, translation, self.protector)

    def parts(self, line: str) -> list[tuple[str, str]]:
        """Returns the sentences of a line, each with the white space after it.

        A line that shows nothing is white space after an empty sentence, so that it stays as it is.
        """
        if spelling.is_blank(line):
            return [("", spelling.printed(line).strip(" "))]
        line = spelling.visible(line)
        if self.language is None:
            return [(line.strip(), "")]
        return sentences.split_tagged(line, self.language, self.tags)

    # ---- The stages, which fill in Sentences ----

    def _split_lines(self, lines: list[str], prefixes: list[str]) -> list[list[Sentence]]:
        """Returns the Sentences of each line, with ids.

        Args:
          lines: as they were given.
          prefixes: what the translation of each begins with.

        Raises:
          UserError: there are fewer prefixes than lines, or the run cannot use any.
        """
        if self.non_autoregressive and any(prefixes):
            raise UserError("the run is non-autoregressive: leave --prefix out")
        if len(prefixes) < len(lines):
            raise UserError("there are fewer prefixes than lines; give one for each line")
        split_lines = []
        for line in lines:
            split_lines.append([Sentence(text, space) for text, space in self.parts(line)])
        chunk_sentences = [sentence for line in split_lines for sentence in line]
        for sentence in chunk_sentences:
            self._protect(sentence)
        self._encode_sources(chunk_sentences)
        for prefix, (first, *_) in zip(prefixes, split_lines, strict=True):
            first.given_prefix = prefix
            self._protect_prefix(first)
        prefix_ids = self.tokenizer.encode(
            [line[0].prefix_text for line in split_lines], MAX_SOURCE_TOKENS
        )
        for line, ids in zip(split_lines, prefix_ids, strict=True):
            line[0].prefix = ids[1:-1]  # without START and END
        return split_lines

    def _encode_sources(self, chunk: list[Sentence]) -> None:
        """Fills in the ids of Sentences."""
        sources = self.tokenizer.encode(
            [sentence.source_text for sentence in chunk], MAX_SOURCE_TOKENS
        )
        for sentence, ids in zip(chunk, sources, strict=True):
            sentence.source = ids

    def _protect(self, sentence: Sentence, lost_numbers: Sequence[str] = ()) -> None:
        """Fills in what is not as it was given in the text to tokenize, and its terms.

        Args:
          sentence: without these fields.
          lost_numbers: that the network shall not read.
        """
        text = sentence.text
        if self._keeps:
            sentence.protected = self.protector.hide(text, lost_numbers)
            text = sentence.protected.text
            sentence.numbers = self.protector.numbers(text)
        text = spelling.trimmed(text)
        sentence.hidden = hidden_spans.HiddenText(text, [])
        if sentence.protected:
            sentence.hidden = hidden_spans.take_out(text, sentence.protected.hidden)
        if sentence.hidden.spans and not self._has_words(sentence.source_text):
            sentence.hidden = hidden_spans.NOTHING_HIDDEN
            sentence.verbatim = text[self.tags.match(text).end() :]
        sentence.terms = self.protector.terms(sentence.source_text)

    def _has_words(self, text: str) -> bool:
        """Returns whether a text holds letters besides language tags and symbols."""
        return any(map(str.isalpha, SYMBOL.sub("", text[self.tags.match(text).end() :])))

    def _protect_prefix(self, sentence: Sentence) -> None:
        """Fills in what a translation begins with, with the symbols of the source's spans."""
        prefix = sentence.given_prefix
        if self._keeps and prefix:
            begun = self.protector.protect_prefix(prefix, sentence.protected)
            sentence.protected = begun._replace(text=sentence.protected.text)
            sentence.hidden = hidden_spans.without_begun(sentence.hidden, prefix, begun.hidden)
            if sentence.verbatim and not restore(sentence.verbatim, begun).text.startswith(prefix):
                sentence.verbatim = hidden_spans.behind(prefix, sentence.verbatim, begun.hidden)
            prefix = begun.text
        sentence.prefix_text = spelling.trimmed(prefix)

    def _search_sentences(self, chunk: list[Sentence], scored: bool):
        """Fills in the candidates of Sentences, and their tokens if scores of tokens are wanted."""
        samples = self.options.n_best if self.options.sampling else 1
        requests = [
            _Request(sentence, rank)
            for sentence in chunk
            if len(sentence.source) > 2  # START, END
            for rank in range(samples)
        ]
        batches = self._batching.batches(requests, _Request.length)
        for batch, searched in zip(batches, self._search_batches(batches, scored), strict=True):
            self._add_candidates(batch, searched.hypotheses)
            if searched.tokens is not None:
                for request, tokens in zip(batch, searched.tokens, strict=True):
                    request.sentence.tokens = tokens
        for sentence in chunk:
            if not sentence.candidates:
                sentence.candidates = [NOTHING._replace(text=sentence.verbatim)] * samples

    def _repair_numbers(self, chunk: list[Sentence], scored: bool):
        """Repairs numbers of candidates, or searches again without the ones that they lack.

        A number that may be written as a word is put in if the translation without it is the same.
        The translation without the lost numbers may lack others: the last search reads none.
        """
        waiting = chunk
        for hides_all in (False, True):
            repairs = [self._number_repair(sentence, hides_all) for sentence in waiting]
            repairs = [repair for repair in repairs if repair]
            if not repairs:
                return
            without_numbers = [repair.without for repair in repairs]
            self._encode_sources(without_numbers)
            self._search_sentences(without_numbers, scored)
            waiting = []
            for sentence, without, is_lost in repairs:
                if is_lost or number_repair.says_the_same(
                    sentence.translation, without.translation
                ):
                    sentence.take(without)
                    waiting.append(sentence)

    def _number_repair(self, sentence: Sentence, hides_all: bool) -> _NumberRepair | None:
        """Repairs numbers of candidates. Returns what is left to do; None if nothing is.

        Args:
          sentence: with candidates.
          hides_all: whether no number is left in a sentence whose candidates lack some.
        """
        lost, doubtful = set(), set()
        for rank, candidate in enumerate(sentence.candidates):
            repaired = number_repair.repair(
                candidate.text, sentence.numbers, self.protector, self._spells_numbers
            )
            if repaired.text.startswith(sentence.prefix_text):  # which may hold another number
                sentence.candidates[rank] = candidate._replace(text=repaired.text)
            lost |= {*repaired.lost}
            doubtful |= {*repaired.doubtful}
        if not lost and (hides_all or not doubtful):
            return None
        hidden = lost or doubtful
        if hides_all:
            hidden = {number.original for number in self.protector.numbers(sentence.text)}
        without = dataclasses.replace(sentence, candidates=[], tokens=[])
        self._protect(without, hidden)
        self._protect_prefix(without)
        return _NumberRepair(sentence, without, bool(lost))

    def _place_phrases(self, chunk: list[Sentence]):
        """Puts phrases into candidates that lack them, one at a time; see placement.py.

        They do not count in log-probabilities and scores: candidates stay in the search's order.
        """
        waiting, changed = [], []
        for sentence in chunk:
            if slots := placement.slots(sentence):
                waiting += slots
                changed.append(sentence)
        while waiting:
            pairs = [(slot.sentence.source_text, slot.text) for slot in waiting]
            links = self._pairs.link_spans(pairs)
            texts = [
                slot.texts(slot_links) for slot, slot_links in zip(waiting, links, strict=True)
            ]
            scores = self._pairs.score(
                (
                    (slot.sentence.source_text, text)
                    for slot, slot_texts in zip(waiting, texts, strict=True)
                    for text in slot_texts
                ),
                cut=True,
            )
            for slot, slot_texts in zip(waiting, texts, strict=True):
                slot.take(slot_texts, list(itertools.islice(scores, len(slot_texts))))
            waiting = [slot for slot in waiting if slot.phrases]
        for sentence in changed:
            self._score_changed_tokens(sentence)

    def _score_changed_tokens(self, sentence: Sentence):
        """Keeps one candidate of each text of a changed Sentence, and scores its new tokens."""
        if not self.options.sampling:
            best = {}
            for candidate in sentence.candidates:
                best.setdefault(candidate.text, candidate)
            sentence.candidates = [*best.values()]
        if self.options.scores_tokens:
            (best,) = self.tokenizer.encode([sentence.translation])
            source = sentence.source[:MAX_SOURCE_TOKENS]
            (sentence.tokens,) = self._token_scores([source], tf.constant([best]))

    def _put_in_spans(self, chunk: list[Sentence]):
        """Puts into candidates the marks of what the network has not read."""
        candidates = [
            (sentence, rank)
            for sentence in chunk
            if sentence.hidden.spans
            for rank in range(len(sentence.candidates))
        ]
        texts = [sentence.candidates[rank].text for sentence, rank in candidates]
        links = itertools.repeat(())
        if not self.non_autoregressive:
            sources = [sentence.source_text for sentence, _ in candidates]
            links = self._pairs.link_spans(zip(sources, texts, strict=True))
        for (sentence, rank), text, text_links in zip(candidates, texts, links, strict=False):
            text = hidden_spans.put_in(text, sentence.hidden, text_links, sentence.prefix_text)
            sentence.candidates[rank] = sentence.candidates[rank]._replace(text=text)

    def _restore_sentences(self, chunk: list[Sentence]):
        """Puts originals in place of symbols and marks."""
        for sentence in chunk:
            if sentence.protected:
                number = None if self.options.sampling else self.options.n_best
                sentence.candidates = restore_candidates(
                    sentence.candidates, sentence.protected, number
                )

    def _search_batches(
        self, batches: list[list[_Request]], scored: bool
    ) -> Iterator[_SearchedBatch]:
        """Yields what `_search_batch` returns for each of `batches`, several in parallel."""
        if len(batches) == 1:  # without the cost of another thread
            return iter([self._search_batch(batches[0], scored)])
        return self._pool.map(lambda batch: self._search_batch(batch, scored), batches)

    def _search_batch(self, batch: list[_Request], scored: bool) -> _SearchedBatch:
        """Searches for translations of a batch. Threads run it: it changes no Sentence."""
        sources = [request.sentence.source[:MAX_SOURCE_TOKENS] for request in batch]
        prefixes = [request.sentence.prefix for request in batch]
        samples = [request.sample for request in batch]
        hypotheses = self.searcher.search(sources, prefixes, samples, scored)
        if not self.options.scores_tokens:
            return _SearchedBatch(hypotheses, None)
        tar = hypotheses.ids[:, 0]  # (B, 1 + L)
        tar = tar[:, : tf.reduce_max(tf.math.count_nonzero(tar, axis=1))]  # (B, 1 + T)
        return _SearchedBatch(hypotheses, self._token_scores(sources, tar))

    def _token_scores(self, sources: list[list[int]], tar: tf.Tensor) -> list[list[TokenScore]]:
        """Returns the TokenScores of target ids (B, 1 + T), given the ids of B sources."""
        likelihoods = self.searcher.token_likelihoods(pad(sources), tar, self.options.alternatives)
        return list(token_scores(self.tokenizer, tar.numpy(), likelihoods))

    def _add_candidates(self, batch: list[_Request], hypotheses: Hypotheses):
        """Adds the texts of the hypotheses of a batch to its Sentences, as candidates."""
        ids = hypotheses.ids.numpy()  # (B, N, 1 + L)
        log_probabilities = hypotheses.log_probabilities.numpy().tolist()  # (B, N)
        scores = hypotheses.scores.numpy().tolist()  # (B, N)
        number, length = ids.shape[1:]
        texts = self.tokenizer.decode(ids.reshape(-1, length))  # B N strings
        for row, request in enumerate(batch):
            ranks = range(row * number, (row + 1) * number)
            candidates = [
                Candidate(texts[index], log_probabilities[row][rank], scores[row][rank])
                for rank, index in enumerate(ranks)
            ]
            # Texts with other symbols may be equal once originals stand in their place.
            symbols = request.sentence.protected and request.sentence.protected.originals
            best = merge_equal_texts(candidates, number if symbols else self.options.n_best)
            request.sentence.candidates += best

    def _align_sentences(self, chunk: list[Sentence]):
        """Fills in the links of the best candidate of each of the Sentences."""
        pairs = [(sentence.text, sentence.translation) for sentence in chunk]
        pair_links = self._pairs.links_of_normal_forms(pairs)
        for sentence, links in zip(chunk, pair_links, strict=True):
            sentence.links = links

    def _join_sentences(self, text: str, line: list[Sentence], scored: bool) -> list[Translation]:
        """Returns the Translations of a line, the best first.

        Args:
          text: the line as it was given.
          line: the Sentences of the line.
          scored: see `hypotheses`.
        """
        options = self.options
        if options.sampling:
            translations = combine_samples(line)
        else:
            translations = combine_n_best(line, options.n_best)
        if options.mbr:
            translations = [consensus.choose(translations, options.mbr, bool(options.sampling))]
        if options.alignments:  # of the only translation, see SearchOptions.check
            tag = self.tags.match(line[0].text)[0]
            links = alignment.join_links(line, tag)
            links = alignment.as_given(links, text, translations[0].text)
            translations = [translations[0]._replace(links=links)]
        if options.scores_tokens:
            tokens = [token for sentence in line for token in sentence.tokens]
            translations = [translations[0]._replace(tokens=tokens)]
        if not scored:
            translations = [
                translation._replace(log_probability=None) for translation in translations
            ]
        return translations

    # ---- Given pairs, and a line as one sentence ----

    def score(self, pairs: Iterable[tuple[str, str]]) -> Iterator[float]:
        """Yields the log-probability of each of `pairs`, in order; see GivenPairs.score."""
        if self._protects:
            pairs = itertools.starmap(self.protector.protect_pair, pairs)
        return self._pairs.score(pairs)

    def align(self, pairs: Iterable[tuple[str, str]], cut: bool = False) -> Iterator[Links]:
        """Yields the word links of each of `pairs`, in order; see GivenPairs.align."""
        return self._pairs.align(pairs, cut)

    def translate_ids(self, line: str) -> tuple[str, list[int]]:
        """Translates a line as one sentence. Returns the text, and its ids, START first.

        The ids hold symbols where the text has what must not change and the run has learned to
        copy; the network reads all else.
        """
        source = Protected(spelling.visible(line).strip(), [])
        if self._protects:
            source = self.protector.protect(source.text)
        _, target = self._search_line(source.text)
        (text,) = self.tokenizer.decode(np.array([target]))
        return spelling.printed(restore(text, source).text), target

    def attend(self, line: str) -> Attention:
        """Translates a line as one sentence. Returns its Attention.

        The weights are those of one pass over the finished translation.
        """
        source, target = self._search_line(line)
        return self._pairs.attend(spelling.trimmed(line), source, target)

    def _search_line(self, line: str) -> tuple[list[int], list[int]]:
        """Returns the source ids of a line, and the ids of its best translation, START first."""
        (source,) = self.tokenizer.encode([spelling.trimmed(line)], MAX_SOURCE_TOKENS)
        source = source[:MAX_SOURCE_TOKENS]
        target = self.searcher.search([source]).ids[0, 0].numpy().tolist()  # 1 + L
        return source, [token for token in target if token != PAD]


def _chunks(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yields `lines` in lists of `size`; the last one may be shorter."""
    lines = iter(lines)
    while chunk := list(itertools.islice(lines, size)):
        yield chunk
