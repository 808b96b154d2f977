"""What the stages of the pipeline ask of a network: to search, to score, to attend.

An engine takes ids and returns ids and numbers; text is the pipeline's. It batches by itself: it
takes any number of requests or pairs, and returns as many results in the same order. This module
imports no TensorFlow.
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nmt import UserError

if TYPE_CHECKING:
    import numpy as np

    from nmt.decoding.search_options import SearchOptions
    from transformer_model import Transformer

# A function of the ids of the best hypothesis so far, START first, which a search calls after each
# step. It returns whether to continue: else the search ends there, with what it has.
OnToken = Callable[[list[int]], bool]


class Request(NamedTuple):
    """A source to search translations of, or to draw a sample for."""

    source: list[int]  # ids, START first and END last
    prefix: list[int] = []  # noqa: RUF012  # ids that each translation begins with, without START
    sample: int = 0  # number of the sample, with sampling: each gives another translation

    @property
    def length(self) -> int:
        """The tokens that count: a translation is about as long as its source, or prefix."""
        return max(len(self.source), len(self.prefix))


class Hypothesis(NamedTuple):
    """A translation that a search has found."""

    ids: list[int]  # START first; END last if it is finished; no PAD
    # Natural, of all tokens after START; nan where none was asked for, nor known anyway.
    log_probability: float
    score: float  # that over the length penalty; hypotheses are ranked by it
    finished: bool  # False where the length limit cut it off


class IdPair(NamedTuple):
    """A source and a target, as ids."""

    source: list[int]  # START first and END last
    target: list[int]  # START first; END last if it is finished

    @property
    def length(self) -> int:
        """The tokens of the longer side."""
        return max(len(self.source), len(self.target))


class TokenLikelihood(NamedTuple):
    """How likely a token of a target is, given the source and the tokens before it."""

    log_probability: float  # natural
    alternatives: list[tuple[int, float]]  # ids and log-probabilities, the likeliest first


class PairScore(NamedTuple):
    """How likely a target is, given its source."""

    log_probability: float  # natural, of all tokens after START
    tokens: list[TokenLikelihood]  # of each token after START; [] where none are asked for


class PairAttention(NamedTuple):
    """The attention of one pass over a pair with S source and 1 + T target tokens."""

    cross: np.ndarray  # (T, S): of the last layer, the mean of its heads; row t predicts token t
    # (H, queries, keys) by the Transformer's names; {} where they are not asked for.
    weights: dict[str, np.ndarray]


class Engine(Protocol):
    """A network, or an ensemble of networks, with the options of its search.

    Attributes:
      searches_at_once: calls of `search` that it gains by: one is prepared while another one waits.
    """

    options: SearchOptions
    searches_at_once: int

    @property
    def transformer(self) -> Transformer:
        """The network for TensorFlow, which this imports; of several, the first."""

    def search(
        self, requests: Sequence[Request], scored: bool = True, on_token: OnToken | None = None
    ) -> list[list[Hypothesis]]:
        """Returns the hypotheses of each request, the best first: one, or as many as the beam.

        Args:
          requests: any number; with `on_token`, one.
          scored: False if scores and log-probabilities are of no interest.

        Raises:
          UserError: the engine cannot take a prefix, or cannot report.
        """

    def score(
        self, pairs: Sequence[IdPair], tokens: bool = False, alternatives: int = 0
    ) -> list[PairScore]:
        """Returns the score of each pair.

        Args:
          alternatives: how many of the likeliest tokens are, at each position.
        """

    def attend(self, pairs: Sequence[IdPair], every_layer: bool = False) -> list[PairAttention]:
        """Returns the attention of each pair."""


@dataclasses.dataclass(frozen=True)
class Converted:
    """The weights of a run as CTranslate2 reads them."""

    folder: Path
    quantization: str | None = None  # "int8"; None for float32


@dataclasses.dataclass(frozen=True)
class EngineSettings:
    """How an engine runs: nothing of it changes a translation."""

    rows: int | None = None  # requests per batch; None for as many as make a batch of tokens
    workers: int | None = None  # batches searched in parallel; None for as many as suit the machine

    def check(self) -> None:
        """Raises a UserError if a number is out of its range."""
        for name, number in (("workers", self.workers), ("rows", self.rows)):
            if number is None:
                continue
            if not isinstance(number, numbers.Integral) or number < 1:
                raise UserError(f"{name} is {number!r}; it must be a whole number, at least 1")
