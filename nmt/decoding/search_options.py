"""The options of translating: of the search, of what it reports, and of what must not change."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt import UserError
from nmt.decoding.consensus import UTILITIES
from nmt.neighbors import params

if TYPE_CHECKING:
    from nmt.text.glossary import Glossary

EXTRA_TOKENS = 50  # of a translation, at most, beyond the tokens of its source (paper 6.1)


def length_penalty(length: Any, alpha: float) -> Any:
    """((5 + length) / 6)^alpha, which divides log-probabilities (Wu et al. 2016, equation 14).

    Length is in tokens and counts END, not START: a number, or a tensor of them. With alpha = 0,
    log-probabilities alone rank.
    """
    return ((5 + length) / 6) ** alpha


class Protecting(NamedTuple):
    """What must not change, and terms; see docs/protecting.md."""

    protect: bool = True  # False: numbers, placeholders and the like are translated as any text
    patterns: tuple[str, ...] = ()  # regular expressions of what must not change, either
    glossary: Glossary | None = None  # terms and their translations


class Sampling(NamedTuple):
    """How tokens are drawn.

    First the `top_k` likeliest tokens stay, then the fewest likeliest ones whose probabilities
    reach `top_p` together ("nucleus", Holtzman et al. 2020, arXiv 1904.09751, section 3.1).
    """

    temperature: float = 1.0  # divides log-probabilities; below 1: likely tokens become likelier
    top_k: int = 0  # 0: all tokens stay
    top_p: float = 1.0
    seed: int = 0

    def check(self) -> None:
        """Raises a UserError if a number is out of its range."""
        if not 0 < self.temperature < math.inf:
            raise UserError(f"temperature is {self.temperature}; it must be more than 0")
        if self.top_k < 0:
            raise UserError(f"top_k is {self.top_k}; it must be 0 or more")
        if not 0 < self.top_p <= 1:
            raise UserError(f"top_p is {self.top_p}; it must be more than 0 and at most 1")


class Repetition(NamedTuple):
    """What a translation may repeat.

    Log-probabilities of tokens that it holds are multiplied by `penalty` (Keskar et al. 2019, arXiv
    1909.05858, section 4.1), and count so in scores. No `ngram` tokens in a row occur twice.
    """

    penalty: float = 1.0  # 1: none
    ngram: int = 0  # 0: no limit

    def check(self) -> None:
        """Raises a UserError if a number is out of its range."""
        if not 1 <= self.penalty <= 100:
            raise UserError(f"repetition_penalty is {self.penalty}; it must be from 1 to 100")
        if self.ngram < 0:
            raise UserError(f"no_repeat_ngram is {self.ngram}; it must be 0 or more")


class SearchOptions(NamedTuple):
    """The options of a search, and of what is reported of its translations.

    Alignments, scores of tokens and alternatives are those of the best translation only.
    """

    beam: int = params.BEAM  # hypotheses followed per sentence; 1 is greedy search
    length_penalty: float = params.LENGTH_PENALTY  # alpha of `length_penalty`
    n_best: int = 1  # translations of a sentence, at most `beam`; or samples
    plain: bool = False  # greedy search by transformer_model.greedy_translate
    sampling: Sampling | None = None  # how samples are drawn at random; None for a search
    repetition: Repetition | None = None  # what a translation may repeat; None for anything
    mbr: str | None = None  # one of consensus.UTILITIES, to choose one of `n_best` by
    alignments: bool = False  # report its word links; see alignment.py
    token_scores: bool = False  # report its tokens with log-probabilities; see tokens.py
    alternatives: int = 0  # report this many of the likeliest tokens per position, too
    confidence: bool = False  # report the chrF that is expected of it; see confidence.py

    @property
    def scores_tokens(self) -> bool:
        """Whether the tokens of the best translation are reported with log-probabilities."""
        return self.token_scores or self.alternatives > 0

    @property
    def _is_greedy(self) -> bool:
        """Whether one likeliest token follows the other, without any other option."""
        several = max(self.beam, self.n_best) > 1
        return not (several or self.repetition or self.sampling)

    def check(self, ensemble: bool) -> None:
        """Raises a UserError if a number is out of its range, or two contradict each other."""
        for name in ("beam", "n_best", "alternatives"):
            if not isinstance(getattr(self, name), numbers.Integral):
                raise UserError(f"{name} is {getattr(self, name)!r}; it must be a whole number")
        if self.plain:
            self._check_plain(ensemble)
        self._check_ranges()
        self._check_reports()
        self._check_number_of_translations()

    def _check_plain(self, ensemble: bool) -> None:
        if ensemble or not self._is_greedy:
            raise UserError(
                "--plain is greedy search (--beam 1): leave out --n-best, --sample, penalties, "
                "ensembles"
            )

    def _check_ranges(self) -> None:
        for name in ("beam", "n_best"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if not self.length_penalty >= 0:  # the search could not know when to stop
            raise UserError(f"length_penalty is {self.length_penalty}; it must be 0 or more")
        if self.mbr not in (None, *UTILITIES):
            raise UserError(f"mbr is {self.mbr!r}; choose one of {', '.join(UTILITIES)}")
        if self.alternatives < 0:
            raise UserError(f"alternatives is {self.alternatives}; it must be 0 or more")
        if self.repetition:
            self.repetition.check()
        if self.sampling:
            self.sampling.check()

    def _check_reports(self) -> None:
        if (self.alignments or self.scores_tokens or self.confidence) and self.n_best > 1:
            raise UserError(
                "only the best translation has alignments, scores of tokens and a confidence: "
                "leave out --n-best and --mbr"
            )
        if self.confidence and (self.sampling or self.repetition):
            raise UserError(
                "confidence is of what a search finds by probability alone: leave out --sample, "
                "--repetition-penalty and --no-repeat-ngram, or --confidence"
            )
        if self.mbr and self.n_best == 1:
            raise UserError("mbr chooses one of several: it needs n_best (--n-best) of 2 or more")

    def _check_number_of_translations(self) -> None:
        if self.sampling and self.beam > 1:
            raise UserError("sampling takes one token at a time: it needs a beam of 1")
        if not self.sampling and self.n_best > self.beam:
            raise UserError(
                f"n_best is {self.n_best}, and the beam {self.beam}: a beam of K finds K "
                "translations; raise the beam (--beam), or lower n_best (--n-best)"
            )
