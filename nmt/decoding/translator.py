"""Translating many lines fast: sorted by length, in parallel batches, returned in order.

Only a chunk of the lines is in memory at a time. A line may be split into sentences, each of which
is translated by itself: a model trained on sentences loses text of longer ones. The stages that do
it are in pipeline.py.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError
from nmt.decoding import batch_sizes, given_pairs, pipeline, sources, tokens
from nmt.decoding.attention import Attention
from nmt.decoding.batch_sizes import CHUNK_LINES
from nmt.decoding.candidates import OnText
from nmt.decoding.confidence import (
    DOUBTFUL,
    NOT_CALIBRATED,
    Estimator,
    Signs,
    needs_scores,
    of_line,
    signs_of,
)
from nmt.decoding.context import Context
from nmt.decoding.engines.engine import Engine
from nmt.decoding.line_counts import LineCounts, TranslatedLine
from nmt.decoding.search_options import Protecting, SearchOptions
from nmt.decoding.sentence import Links, Sentence, Translation
from nmt.text import sentences
from nmt.text.differences import Difference, DifferenceCount, difference
from nmt.text.encoding import check_characters
from nmt.text.glossary import Glossary
from nmt.text.learned_words import LearnedWords, usual_signs
from nmt.text.protected import Protector
from nmt.text.tokenizer import MAX_SOURCE_TOKENS, Tokenizer

if TYPE_CHECKING:
    from transformer_model import Transformer

NO_PREFIXES = itertools.repeat("")
GROUP_LINES = 256  # of a chunk, that go through the pipeline together while others are searched for


class TextOptions(NamedTuple):
    """How lines are read."""

    language: str | None = None  # of the source, to split lines into sentences; None: left whole
    symbols: tuple[str, ...] = ()  # words: tags that begin a line belong to each of its sentences
    trained_length: int | None = None  # tokens; longer sentences cause a warning, unless None
    languages: tuple[str, ...] = ()  # codes of source and target, for the case of their letters


WHOLE_LINES = TextOptions()


def readable(tokenizer: Tokenizer) -> frozenset[str]:
    """Returns the characters that a network reads, by themselves or as usual ones."""
    return tokenizer.characters.union(usual_signs(tokenizer.characters))


class Translator:
    """A trained network, its tokenizer, and what must not change: lines in, translations out.

    Args:
      estimator: of confidence; None if the run is not calibrated.

    Raises:
      UserError: arguments contradict each other.
    """

    def __init__(
        self,
        engine: Engine,
        tokenizer: Tokenizer,
        protecting: Protecting = Protecting(),  # noqa: B008  # immutable
        text: TextOptions = WHOLE_LINES,
        estimator: Estimator | None = None,
    ):
        protect, patterns, glossary = protecting
        if patterns and not protect:
            raise UserError("patterns of what must not change contradict protect=False")
        if engine.options.confidence and estimator is None:
            raise UserError(NOT_CALIBRATED)
        protector = Protector(patterns, glossary, tokenizer.words, readable(tokenizer))
        source, target = (*text.languages, "", "")[:2]
        words = LearnedWords(tokenizer, source)
        self.context = Context(
            engine, tokenizer, protector, protect,
            words, LearnedWords(tokenizer.target, target), target,
            text.language, sentences.tags(text.symbols), engine.options, estimator,
        )  # fmt: skip
        self.trained_length = text.trained_length

    @property
    def protector(self) -> Protector:
        """What finds what must not change."""
        return self.context.protector

    @property
    def options(self) -> SearchOptions:
        """The options of its search."""
        return self.context.options

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the run."""
        return self.context.tokenizer

    @property
    def transformer(self) -> Transformer:
        """The network for TensorFlow, which this imports; of several, the first."""
        return self.context.engine.transformer

    # ---- Lines ----

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
          at_a_time: lines that are collected, sorted by length and translated together.
          prefixes: what the translation of each line begins with; "" for anything.
          scored: False for Translations without log-probabilities, which greedy search then does
            not compute.
        """
        if isinstance(lines, str):
            raise TypeError("lines is one string; it must be a list of strings")
        if isinstance(prefixes, str):
            raise UserError(
                "prefixes is one string; give a list of strings, one for each line (repeat it by "
                "itertools.repeat)"
            )
        chunks = batch_sizes.chunks(lines, at_a_time)
        return self.translate_chunks(chunks, iter(prefixes), scored, counts)

    def translate_chunks(
        self,
        chunks: Iterable[list[str]],
        prefixes: Iterator[str] = NO_PREFIXES,
        scored: bool = True,
        counts: LineCounts | None = None,
    ) -> Iterator[list[Translation]]:
        """Yields what `hypotheses` does; the lines of a chunk are translated together.

        Args:
          counts: the LineCounts that the lines are added to; None to warn of them at the end.
        """
        line_counts = counts or self.no_counts()
        for chunk in chunks:
            chunk_prefixes = list(itertools.islice(prefixes, len(chunk)))
            if len(chunk_prefixes) < len(chunk):
                raise UserError("there are fewer prefixes than lines; give one for each line")
            translated = self.translate_chunk(chunk, chunk_prefixes, scored)
            for source, line in zip(chunk, translated, strict=True):
                line_counts.add(source, line)
                yield line.translations
        if counts is None:
            line_counts.warn()

    def translate_chunk(
        self, chunk: list[str], prefixes: list[str], scored: bool
    ) -> list[TranslatedLine]:
        """Returns the TranslatedLines of a chunk, whose lines are translated together.

        Where the engine can search for several groups of lines at once, Python reads one group and
        joins another while it does. The lines of a group are of similar length, as in batches.
        """
        check_characters(chunk)
        searches = self.context.engine.searches_at_once
        if searches == 1 or len(chunk) <= GROUP_LINES:
            return self._translate_group(chunk, prefixes, scored)
        numbers = sorted(range(len(chunk)), key=lambda number: -len(chunk[number]))
        groups = [*batch_sizes.chunks(numbers, GROUP_LINES)]

        def translate(group: list[int]) -> list[TranslatedLine]:
            lines, begun = [[texts[number] for number in group] for texts in (chunk, prefixes)]
            return self._translate_group(lines, begun, scored)

        lines: dict[int, TranslatedLine] = {}
        with ThreadPoolExecutor(searches) as pool:
            for group, translated in zip(groups, pool.map(translate, groups), strict=True):
                lines |= zip(group, translated, strict=True)
        return [lines[number] for number in range(len(chunk))]

    def _translate_group(
        self, lines: list[str], prefixes: list[str], scored: bool
    ) -> list[TranslatedLine]:
        """Returns the TranslatedLines of lines that go through the stages together."""
        translated = []
        line_sentences = pipeline.translate_lines(self.context, lines, prefixes, scored)
        for text, line in zip(lines, line_sentences, strict=True):
            translations = pipeline.join(self.context, text, line, scored)
            tokens = max(len(sentence.source) for sentence in line)
            difference = self.difference(text, translations[0].text)
            terms = sum(len(sentence.terms) for sentence in line)
            is_doubtful = of_line(line) < DOUBTFUL
            counted = tokens, difference, terms, is_doubtful
            translated.append(TranslatedLine(translations, *counted))
        return translated

    def no_counts(self, lines_before: int = 0) -> LineCounts:
        """Returns the LineCounts of no lines, which `translate_chunks` adds lines to.

        Args:
          lines_before: of the same file, which are not counted.
        """
        differences = DifferenceCount(lines_before)
        return LineCounts(
            self.trained_length, MAX_SOURCE_TOKENS, differences=differences,
            has_glossary=self.protector.glossary is not None,
        )  # fmt: skip

    def difference(self, source: str, translation: str) -> Difference:
        """Returns what a translation has lost or added of what must not change, and of terms.

        It is false if there is nothing.
        """
        return difference(source, translation, self.protector)

    def with_terms(self, terms: dict[str, str], languages: Sequence[str] = ()) -> Translator:
        """Returns this Translator with further terms in its glossary; the engine is shared.

        Args:
          terms: translations by term, which count before those of the glossary.
        """
        glossary = (self.protector.glossary or Glossary({})).with_terms(terms, languages)
        other = copy.copy(self)
        protector = self.protector.with_glossary(glossary)
        other.context = dataclasses.replace(self.context, protector=protector)
        return other

    def with_reports(
        self, alignments: bool = False, alternatives: int = 0, confidence: bool = False
    ) -> Translator:
        """Returns this Translator, which reports more of the best translation; of a list, too.

        The engine is shared, so that what it says is said of what the same search finds.

        Raises:
          UserError: the run is not calibrated.
        """
        if confidence and self.context.estimator is None:
            raise UserError(NOT_CALIBRATED)
        options = self.options._replace(
            alignments=alignments, alternatives=alternatives, confidence=confidence
        )
        other = copy.copy(self)
        other.context = dataclasses.replace(self.context, options=options)
        return other

    # ---- Sentences of a line ----

    def parts(self, line: str) -> list[tuple[str, str]]:
        """Returns the sentences of a line, each with the white space after it."""
        return sources.split_line(self.context, line)

    def sentences(
        self,
        line: str,
        prefixes: Sequence[list[int]] = (),
        on_text: OnText | None = None,
    ) -> Iterator[Sentence]:
        """Yields the Sentences of a line, translated one after the other, as `hypotheses` does it.

        Args:
          prefixes: ids that the translation of each sentence begins with; missing ones are empty.
          on_text: called with the text of the sentence so far, after each step; it ends the search
            by returning False.
        """
        (line_sentences,) = sources.read_lines(self.context, [line])
        for number, sentence in enumerate(line_sentences):
            prefix = prefixes[number] if number < len(prefixes) else []
            sources.begin_with_ids(self.context, sentence, prefix)
            pipeline.translate(self.context, [sentence], scored=False, on_text=on_text)
            yield sentence

    def whole(self, line: str) -> Sentence:
        """Returns a line that is translated as one sentence, as a Sentence."""
        context = dataclasses.replace(self.context, language=None)
        (((sentence,)),) = pipeline.translate_lines(context, [line], [""], scored=False)
        return sentence

    def signs(self, lines: Iterable[str]) -> Iterator[tuple[str, Signs | None]]:
        """Yields the translation of each of `lines`, whole, and the Signs of how sure it is."""
        context = dataclasses.replace(self.context, language=None)
        scored = needs_scores(context.options)
        for chunk in batch_sizes.chunks(lines, CHUNK_LINES):
            prefixes = [""] * len(chunk)
            for (sentence,) in pipeline.translate_lines(context, chunk, prefixes, scored):
                yield sentence.translation, signs_of(sentence)

    def attend(self, line: str) -> Attention:
        """Translates a line as one sentence. Returns its Attention.

        The weights are those of one pass over the finished translation.
        """
        return tokens.attention(self.context, line, self.whole(line))

    # ---- Given pairs ----

    def score(self, pairs: Iterable[tuple[str, str]]) -> Iterator[float]:
        """Yields the log-probability of each of `pairs`, in order; see given_pairs.score."""
        return given_pairs.score(self.context, pairs)

    def align(self, pairs: Iterable[tuple[str, str]], cut: bool = False) -> Iterator[Links]:
        """Yields the word links of each of `pairs`, in order; see given_pairs.align."""
        return given_pairs.align(self.context, pairs, cut)
