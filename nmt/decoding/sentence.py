"""The records of translating: a sentence, which each stage fills in, and a line's translation."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import field
from typing import NamedTuple

from nmt.text.learned_words import AS_FOUND, Emphasized
from nmt.text.protected import Protected, Span

Links = list[tuple[int, int]]  # (source word, target word), numbered from 0; see alignment.py


class SpanLink(NamedTuple):
    """A part of a source and the part of a target that translates it, as (start, end)."""

    source: tuple[int, int]
    target: tuple[int, int]


class Candidate(NamedTuple):
    """A translation of a sentence."""

    text: str
    log_probability: float  # natural, of all its tokens
    score: float  # by which candidates are ranked
    ids: list[int] | None = None  # START first, as they were found; None if the text was changed

    def with_text(self, text: str) -> Candidate:
        """Returns the candidate with another text, whose ids are not known."""
        return self if text == self.text else self._replace(text=text, ids=None)


class TokenScore(NamedTuple):
    """A token of a translation, and how likely it was."""

    token: str
    log_probability: float
    alternatives: list[tuple[str, float]]  # the likeliest tokens there, with their probabilities


class Translation(NamedTuple):
    """A translation of a line, and what the SearchOptions ask to know of it."""

    text: str
    log_probability: float | None  # natural, of all its tokens; None if no score was asked for
    links: Links | None = None  # None without `alignments`
    tokens: list[TokenScore] | None = None  # None without `token_scores` and `alternatives`
    confidence: float | None = None  # the expected chrF, 0 to 100; None without `confidence`


class HiddenSpan(NamedTuple):
    """Marks that are next to each other, and where they were in the source."""

    marks: str  # with signs between and around them
    start: int  # in the text without marks, the one that the network reads
    joins_left: bool  # no space was before it
    follows_no_letter: bool  # nor a digit: a space, a sign, or nothing
    joins_right: bool  # none was after it
    ends_text: bool  # it was behind the sign that ends the sentence
    partner: int = -1  # of a start, such as "<b>": the number of the span that ends it


class HiddenText(NamedTuple):
    """A text that the network reads, and what it does not read; see hidden_spans.py."""

    text: str
    spans: list[HiddenSpan]


NOTHING = Candidate("", 0.0, 0.0)  # the translation of a sentence without tokens
NOTHING_HIDDEN = HiddenText("", [])


@dataclasses.dataclass
class Sentence:
    """A sentence of a line.

    It begins with its text and space. Each stage of pipeline.py fills in some of the others.
    """

    text: str  # with the tags that begin its line
    space: str  # the white space after it in the line
    # The text with marks, and what they stand for; see text/protected.py.
    protected: Protected | None = None
    # The normal form of that without marks, its words in the forms that the network knows, and what
    # the marks were. Of a text that is nothing but marks, the translation, which no search is
    # needed for.
    hidden: HiddenText = NOTHING_HIDDEN
    verbatim: str = ""
    # What the case of the translation is to be; see text/learned_words.py.
    case: str = AS_FOUND
    emphasized: Emphasized = ()
    # Numbers that the network reads, and terms of the glossary.
    numbers: list[Span] = field(default_factory=list)
    terms: list[Span] = field(default_factory=list)
    # Ids, START first and END last.
    source: list[int] = field(default_factory=list)
    # What the translation begins with, as it was given and in its normal form, and the ids of that;
    # often nothing. A prefix that was given as ids has no given_prefix.
    given_prefix: str = ""
    prefix_text: str = ""
    prefix: list[int] = field(default_factory=list)
    # The best first; samples in the order drawn. Their texts have marks until they are restored.
    candidates: list[Candidate] = field(default_factory=list)
    # Of the best candidate, without what the network has not read: ids, START first; its tokens;
    # and the links of its words.
    target: list[int] = field(default_factory=list)
    tokens: list[TokenScore] = field(default_factory=list)
    links: Links = field(default_factory=list)
    # Of the best candidate, from 0 to 100; nan where it is not known; see confidence.py.
    confidence: float = math.nan

    def become(self, other: Sentence) -> None:
        """Becomes equal to another Sentence."""
        for each_field in dataclasses.fields(self):
            setattr(self, each_field.name, getattr(other, each_field.name))

    @property
    def source_text(self) -> str:
        """What is tokenized."""
        return self.hidden.text

    @property
    def translation(self) -> str:
        """The text of the best candidate."""
        return self.candidates[0].text
