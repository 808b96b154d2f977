"""A sentence on its way from text to its translations: the record that each stage fills in."""

import dataclasses
from dataclasses import field
from typing import NamedTuple


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


NOTHING = Candidate("", 0.0, 0.0)  # the translation of a sentence without tokens


@dataclasses.dataclass
class Sentence:
    """A sentence of a line.

    It is made with its text and space; tokenizing fills in the ids, the search the candidates and
    their tokens, alignment the links.
    """

    text: str  # with the tags that begin its line
    space: str  # the white space after it in the line
    source: list[int] = field(default_factory=list)  # ids, START first and END last
    prefix: list[int] = field(
        default_factory=list
    )  # ids that the translation begins with, often none
    candidates: list[Candidate] = field(
        default_factory=list
    )  # the best first; samples in the order drawn
    tokens: list[TokenScore] = field(default_factory=list)  # of the best candidate
    links: list[tuple[int, int]] = field(
        default_factory=list
    )  # of the best candidate; see alignment.py

    @property
    def translation(self) -> str:
        """The text of the best candidate."""
        return self.candidates[0].text
