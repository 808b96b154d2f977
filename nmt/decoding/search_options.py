"""The options of translating: of the search, of what it reports, and of what must not change."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from nmt import UserError
from nmt.decoding.consensus import UTILITIES
from nmt.neighbors import params
from nmt.options import declared, error_in_row

if TYPE_CHECKING:
    from nmt.text.glossary import Glossary

Flag, SEARCH = params.Flag, params.SEARCH
SAMPLING, CHOICE, REPORTS = map(params.Section, ("Sampling", "Choice", "Reports"))
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
    reach `top_p` together ("nucleus", Holtzman et al. 2020, arXiv 1904.09751, section 3.1). The
    temperature divides log-probabilities.
    """

    temperature: Annotated[
        float, Flag("below 1: likely tokens become likelier", 1e-3, 1e3), SAMPLING
    ] = 1.0
    top_k: Annotated[
        int, Flag("draw from the N likeliest tokens; 0 is all", 0, 1_000_000), SAMPLING
    ] = 0
    top_p: Annotated[
        float, Flag("draw from the likeliest tokens of total probability X", 1e-6, 1.0), SAMPLING
    ] = 1.0
    seed: Annotated[
        int, Flag("of the samples: the same seed gives the same text", 0, 2**31 - 1), SAMPLING
    ] = 0


class Repetition(NamedTuple):
    """What a translation may repeat.

    Log-probabilities of tokens that it holds are multiplied by `penalty` (Keskar et al. 2019, arXiv
    1909.05858, section 4.1), and count so in scores. No `ngram` tokens in a row occur twice.
    """

    penalty: Annotated[
        float,
        Flag(
            "multiplies log-probabilities of tokens already in the translation; 1: none",
            1.0, 100.0, alias="repetition_penalty",
        ),
        SEARCH,
    ] = 1.0  # fmt: skip
    ngram: Annotated[
        int,
        Flag(
            "no N-gram occurs twice in a translation; 0: off", 0, 1000, alias="no_repeat_ngram"
        ),
        SEARCH,
    ] = 0  # fmt: skip


FLAGS = dict(
    sampling="--sample", repetition="--repetition-penalty, --no-repeat-ngram"
)  # of records

# What chooses among the likeliest translations, or reports of them; others change what is likely.
BY_PROBABILITY = (
    "beam", "length_penalty", "n_best", "plain", "mbr", "alignments", "token_scores",
    "alternatives", "confidence",
)  # fmt: skip


class SearchOptions(NamedTuple):
    """The options of a search, and of what is reported of its translations.

    Each is declared here once: flags, keywords, fields of the server and their bounds come from it.
    Those of SEARCH are flags of all commands that translate. Alignments, scores of tokens and
    alternatives are those of the best translation only. What is not of BY_PROBABILITY is refused by
    all engines but those that say that they apply it.
    """

    beam: int = params.BEAM  # hypotheses followed per sentence; 1 is greedy search
    length_penalty: float = params.LENGTH_PENALTY  # alpha of `length_penalty`
    n_best: Annotated[
        int,
        Flag("different translations per line, at most as many as --beam; or samples", 1, 64),
        CHOICE,
    ] = 1
    plain: bool = False  # greedy search by transformer_model.greedy_translate
    sampling: Sampling | None = None  # how samples are drawn at random; None for a search
    repetition: Repetition | None = None  # what a translation may repeat; None for anything
    mbr: Annotated[
        str | None,
        Flag(
            "of the --n-best translations or samples, the one most like the others (minimum Bayes "
            "risk), by chrF",
            choices=tuple(UTILITIES),
        ),
        CHOICE,
    ] = None
    alignments: Annotated[
        bool,
        Flag(
            "word alignment after each translation, in Pharaoh format (0-0 1-2), by attention"
        ),
        REPORTS,
    ] = False  # fmt: skip
    token_scores: Annotated[
        bool, Flag("the log-probability of each token, with --format jsonl"), REPORTS
    ] = False
    alternatives: Annotated[
        int,
        Flag(
            "--token-scores, and the N likeliest tokens at each position with probabilities", 0, 64
        ),
        REPORTS,
    ] = 0
    confidence: Annotated[
        bool,
        Flag(
            "how sure it is, and tab before each translation: the chrF that is expected of it, 0 "
            "to 100"
        ),
        REPORTS,
    ] = False

    @property
    def scores_tokens(self) -> bool:
        """Whether the tokens of the best translation are reported with log-probabilities."""
        return self.token_scores or self.alternatives > 0

    @property
    def has_confidence(self) -> bool:
        """Whether what is found is found by probability alone, so that its confidence says much."""
        return not self.beyond(BY_PROBABILITY)

    def beyond(self, names: Collection[str]) -> list[str]:
        """Returns the flags of the options that are given, and are not among these names."""
        defaults = self._field_defaults
        return [
            FLAGS.get(name, f"--{name.replace('_', '-')}")
            for name, value in zip(self._fields, self, strict=True)
            if name not in names and value != defaults[name]
        ]

    def check(self) -> None:
        """Raises a UserError if a value is out of its range, or two contradict each other."""
        of_run = [row for row in params.table() if row.name in ("beam", "length_penalty")]
        # A subclass holds variables of TensorFlow: the server checks what it assigns to them.
        sampling = self.sampling if type(self.sampling) is Sampling else None
        for record, rows in (
            (self, of_run), (self, declared(SearchOptions)), (sampling, declared(Sampling)),
            (self.repetition, declared(Repetition)),
        ):  # fmt: skip
            for row in rows if record is not None else ():
                value = getattr(record, row.name)
                named = row._replace(name=row.flag.alias or row.name)
                if value is not row.default and (wrong := error_in_row(named, value)):
                    raise UserError(wrong)
        self._check_reports()
        self._check_number_of_translations()

    def _check_reports(self) -> None:
        if (self.alignments or self.scores_tokens or self.confidence) and self.n_best > 1:
            raise UserError(
                "only the best translation has alignments, scores of tokens and a confidence: "
                "leave out --n-best and --mbr"
            )
        if self.confidence and not self.has_confidence:
            raise UserError(
                "confidence is of what a search finds by probability alone: leave out "
                f"{' and '.join(self.beyond(BY_PROBABILITY))}, or --confidence (--review)"
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
