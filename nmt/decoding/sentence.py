"""A sentence on its way from text to its translations: the record that each stage fills in."""

import dataclasses
from typing import NamedTuple


class Candidate(NamedTuple):
    """A translation of a sentence."""

    text: str
    log_probability: float  # natural, of all its tokens
    score: float  # by which candidates are ranked


class TokenScore(NamedTuple):
    """A token of a translation, and what the model gave it."""

    token: str
    log_probability: float
    alternatives: list  # (token, probability) of the likeliest tokens at this position


NOTHING = Candidate("", 0.0, 0.0)  # the translation of a sentence without tokens


@dataclasses.dataclass
class Sentence:
    """A sentence of a line."""

    text: str  # with the tags that begin its line
    space: str  # the white space after it in the line
    source: list[int]  # its ids, START first and END last
    prefix: list[int]  # ids that its translation begins with, often none
    candidates: list[Candidate] = dataclasses.field(default_factory=list)  # the best first
    tokens: list[TokenScore] = dataclasses.field(default_factory=list)  # of the best candidate
    links: list[tuple] = dataclasses.field(default_factory=list)  # of its words; see alignment.py

    @property
    def translation(self):
        """The text of the best candidate."""
        return self.candidates[0].text
