"""The records of translating: a sentence, which each stage fills in, and a line's translation."""

import dataclasses
from dataclasses import field
from typing import NamedTuple

from nmt.decoding.hidden_spans import NOTHING_HIDDEN, HiddenText
from nmt.text.protected import Protected, Span

Links = list[tuple[int, int]]  # (source word, target word), numbered from 0; see alignment.py


class Candidate(NamedTuple):
    """A translation of a sentence."""

    text: str
    log_probability: float  # natural, of all its tokens
    score: float  # by which candidates are ranked


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


NOTHING = Candidate("", 0.0, 0.0)  # the translation of a sentence without tokens


@dataclasses.dataclass
class Sentence:
    """A sentence of a line.

    It begins with its text and space. Tokenizing fills in the ids, the search the candidates and
    the tokens, and alignment the links.
    """

    text: str  # with the tags that begin its line
    space: str  # the white space after it in the line
    # The text with symbols and marks, and what they stand for; see text/protected.py.
    protected: Protected | None = None
    # The normal form of that without marks, and what they were; see hidden_spans.py. Of a text that
    # is nothing but marks, the translation, which no search is needed for.
    hidden: HiddenText = NOTHING_HIDDEN
    verbatim: str = ""
    # Numbers that the network reads, and terms of the glossary.
    numbers: list[Span] = field(default_factory=list)
    terms: list[Span] = field(default_factory=list)
    # Ids, START first and END last.
    source: list[int] = field(default_factory=list)
    # What the translation begins with, as it was given and with symbols, and the ids of that; often
    # nothing.
    given_prefix: str = ""
    prefix_text: str = ""
    prefix: list[int] = field(default_factory=list)
    # The best first; samples in the order drawn. Their texts have symbols until they are restored.
    candidates: list[Candidate] = field(default_factory=list)
    # Of the best candidate.
    tokens: list[TokenScore] = field(default_factory=list)
    links: Links = field(default_factory=list)

    def take(self, other: "Sentence") -> None:
        """Becomes equal to another Sentence."""
        for row in dataclasses.fields(self):
            setattr(self, row.name, getattr(other, row.name))

    @property
    def source_text(self) -> str:
        """What is tokenized."""
        return self.hidden.text

    @property
    def translation(self) -> str:
        """The text of the best candidate."""
        return self.candidates[0].text
