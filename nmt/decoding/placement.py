"""Putting into a translation the terms that it lacks.

The network has read the whole source, so it decides on the place: a term takes the place of a word
that attends to the term of the source. In "My father cooks.", "dad" replaces "father". Of several
places, the one of the likeliest translation is taken.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from nmt.decoding import given_pairs
from nmt.decoding.context import Context
from nmt.decoding.sentence import Candidate, Sentence, SpanLink
from nmt.text import scripts
from nmt.text.case import capitalize
from nmt.text.glossary import take_out_terms
from nmt.text.scripts import SENTENCE_ENDS, UNSPACED

MAX_PHRASES = 16  # of a sentence, for which a place is sought
MAX_PLACES = 64  # of a phrase, whose translations are scored

# At the end of a text, ' is no apostrophe.
CLOSING = re.escape(f"{scripts.CLOSING_SIGNS}'")
END_OF_SENTENCE = re.compile(rf"\s*[{SENTENCE_ENDS}]+[{CLOSING}]*\s*$")


class Phrase(NamedTuple):
    """What a translation is to hold."""

    text: str
    start: int  # in the source: of the term that it translates
    end: int
    other_targets: tuple[str, ...] = ()  # texts that are as good


@dataclasses.dataclass
class Slot:
    """A candidate of a sentence that lacks phrases, and the text that it becomes with them."""

    sentence: Sentence
    rank: int  # of the candidate
    text: str  # of the candidate
    phrases: list[Phrase]  # that are to be put into it, the first one next

    def texts(self, links: list[SpanLink]) -> list[str]:
        """Returns translations that hold the next phrase, each at another place.

        Of too many phrases, all are put before the end. What the user wants a translation to begin
        with stays.
        """
        phrase, added = self.phrases[0], self.phrases[0].text
        if len(self.phrases) > MAX_PHRASES:
            added = " ".join(phrase.text for phrase in self.phrases)
            texts = [with_phrase(self.text, added)]
        else:
            texts = self._replacements(phrase, links)
        texts = [text for text in texts if text.startswith(self.sentence.prefix_text)]
        return texts or [f"{self.text} {added}"]

    def _replacements(self, phrase: Phrase, links: list[SpanLink]) -> list[str]:
        """Returns translations in which a phrase has replaced a word that is linked to its term."""
        spans = [
            link.target
            for link in links
            if link.source[0] < phrase.end and link.source[1] > phrase.start
        ]
        known = len(missing_terms(self.text, self.sentence))
        texts = [
            text
            for translation in (phrase.text, *phrase.other_targets)
            for text in replacements(self.text, translation, spans)
        ]
        texts = [text for text in texts if len(missing_terms(text, self.sentence)) < known]
        return texts or [with_phrase(self.text, phrase.text)]

    def take(self, texts: list[str], log_probabilities: list[float]) -> None:
        """Takes the likeliest of `texts` that lack the fewest terms.

        If a term could not be put in, no phrase is left to be put in.
        """
        missing = [missing_terms(text, self.sentence) for text in texts]
        best = min(range(len(texts)), key=lambda i: (len(missing[i]), -log_probabilities[i]))
        if len(missing[best]) >= len(self.phrases):
            self.phrases = []
            return
        self.text, self.phrases = texts[best], missing[best]
        candidate = self.sentence.candidates[self.rank]
        self.sentence.candidates[self.rank] = candidate.with_text(self.text)


def place_phrases(context: Context, chunk: Sequence[Sentence]) -> None:
    """Puts phrases into candidates that lack them, one at a time: a stage of the pipeline.

    They do not count in log-probabilities and scores: candidates stay in the search's order.
    """
    waiting, changed = [], []
    for sentence in chunk:
        if sentence_slots := slots(sentence):
            waiting += sentence_slots
            changed.append(sentence)
    while waiting:
        _place_next_phrases(context, waiting)
        waiting = [slot for slot in waiting if slot.phrases]
    if not context.options.sampling:
        for sentence in changed:
            best: dict[str, Candidate] = {}
            for candidate in sentence.candidates:
                best.setdefault(candidate.text, candidate)
            sentence.candidates = [*best.values()]


def _place_next_phrases(context: Context, waiting: list[Slot]) -> None:
    """Puts the next phrase into each Slot, at the place of the likeliest translation."""
    pairs = [(slot.sentence.source_text, slot.text) for slot in waiting]
    links = given_pairs.link_spans(context, pairs)
    texts = [slot.texts(slot_links) for slot, slot_links in zip(waiting, links, strict=True)]
    scores = given_pairs.score(
        context,
        (
            (slot.sentence.source_text, text)
            for slot, slot_texts in zip(waiting, texts, strict=True)
            for text in slot_texts
        ),
        cut=True,
    )
    for slot, slot_texts in zip(waiting, texts, strict=True):
        slot.take(slot_texts, list(itertools.islice(scores, len(slot_texts))))


def slots(sentence: Sentence) -> list[Slot]:
    """Returns a Slot for each candidate of a sentence that lacks phrases."""
    if not sentence.terms:
        return []
    sentence_slots = []
    for rank, candidate in enumerate(sentence.candidates):
        if phrases := missing_terms(candidate.text, sentence):
            sentence_slots.append(Slot(sentence, rank, candidate.text, phrases))
    return sentence_slots


def missing_terms(text: str, sentence: Sentence) -> list[Phrase]:
    """Returns the terms of a sentence whose translations a text lacks, as Phrases."""
    _, missing = take_out_terms(text, sentence.terms)
    return [Phrase(term.original, term.start, term.end, term.other_targets) for term in missing]


def replacements(text: str, phrase: str, spans: list[tuple[int, int]]) -> list[str]:
    """Returns a text with a phrase in place of each word within `spans`, (start, end).

    Letters beside an apostrophe, as in "l'eau" and "father's", are no words unless there are no
    others. A text without words in the spans gets the phrase before its end.
    """
    words = [
        word
        for word in re.finditer(scripts.WORD, text)  # "father" and "s" in "father's"
        if any(start < word.end() and word.start() < end for start, end in spans)
    ]
    words = [word for word in words if len(word[0]) > 1 or UNSPACED.match(word[0])] or words
    if not words:
        return [with_phrase(text, phrase)]
    return [
        text[: word.start()] + _cased(phrase, word[0], word.start()) + text[word.end() :]
        for word in words[:MAX_PLACES]
    ]


def with_phrase(text: str, phrase: str) -> str:
    """Returns a text with a phrase before its end."""
    match = END_OF_SENTENCE.search(text)
    end = match.start() if match else len(text)
    return f"{text[:end].rstrip()} {phrase}{text[end:]}".lstrip()


def _cased(phrase: str, word: str, start: int) -> str:
    """Returns a phrase, with a capital if it begins a text in place of a word that has one."""
    return capitalize(phrase) if start == 0 and word[:1].isupper() and phrase.islower() else phrase
