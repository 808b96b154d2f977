"""Scores of translations by sacreBLEU, with confidence intervals and significance tests."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import sacrebleu
from sacrebleu.metrics.base import Metric, Score
from sacrebleu.metrics.bleu import BLEUScore
from sacrebleu.significance import PairedTest, Result

from nmt.messages import log
from nmt.text import spelling

BOOTSTRAP_SAMPLES = 1000  # Koehn 2004
SIGNIFICANT = 0.05  # below this p-value, a difference is commonly called significant
TOKENIZED_SHARE = 0.3  # of the references, at least, that end so
Lines = Sequence[str] | Sequence[str | None]  # None where a line has no reference in a set


class FloatScores:
    """A metric of sacreBLEU whose score is always a Python float.

    sacreBLEU 2.6 computes the scores of bootstrap samples in float32, but 0.0 for a sample without
    a common n-gram is a float, and its mean over both types raises a TypeError.
    """

    def _compute_score_from_stats(self, stats: list[Any]) -> Any:
        result = super()._compute_score_from_stats(stats)  # type: ignore[misc]  # of a Metric
        result.score = float(result.score)
        return result


class CHRF(FloatScores, sacrebleu.CHRF):
    """sacreBLEU's chrF."""


class TER(FloatScores, sacrebleu.TER):
    """sacreBLEU's TER: of words, or of characters in text without spaces. Lower is better.

    TER has switches of its own for Chinese and Japanese; by BLEU's tokenizer "char", it counts
    characters, too.
    """

    def __init__(self, tokenize: str):
        asian = tokenize in ("zh", "ja-mecab")
        super().__init__(normalized=asian, asian_support=asian)
        self.of_characters = tokenize == "char"
        if self.of_characters:
            self.tokenizer_signature = "char"

    def _preprocess_segment(self, sent: str) -> str:
        words = super()._preprocess_segment(sent)
        return " ".join("".join(words.split())) if self.of_characters else words


def bleu(tokenize: str = "13a", lowercase: bool = False) -> sacrebleu.BLEU:
    """Returns sacreBLEU's BLEU, without its warning about tokenized text: see below."""
    return sacrebleu.BLEU(lowercase=lowercase, tokenize=tokenize, force=True)


def warn_of_tokenized_text(
    references: Sequence[str], tokenize: str = "13a", **options: Any
) -> None:
    """Logs that the references are tokenized text, if they are and are to be tokenized again."""
    if tokenize == "none" or not references:
        return
    apart = sum(line.endswith(" .") for line in references)
    if apart > TOKENIZED_SHARE * len(references):
        log.warning(
            f"The references seem to be tokenized: {apart} of {len(references)} end in a space and "
            "a full stop. To score them as they are: --tokenize none"
        )


class MetricKind(NamedTuple):
    """A metric: how it is computed, and for which text."""

    name: str  # in reports and in scores.json
    new: Callable[[str], Metric]  # from the name of BLEU's tokenizer
    regards_case: bool = False  # so that it says nothing of lower-cased text
    for_lower_case: bool = False  # of lower-cased text alone
    lower_is_better: bool = False
    on_demand: bool = False  # because it takes long


METRICS = (
    MetricKind("BLEU", bleu, regards_case=True),
    MetricKind("BLEU, lower-cased", lambda tokenize: bleu(tokenize, lowercase=True)),
    MetricKind("chrF", lambda _: CHRF(), regards_case=True),
    MetricKind("chrF, lower-cased", lambda _: CHRF(lowercase=True), for_lower_case=True),
    MetricKind("TER", TER, lower_is_better=True, on_demand=True),
)


def metrics(tokenize: str = "13a", lowercase: bool = False, ter: bool = False) -> dict[str, Metric]:
    """Returns sacreBLEU's metrics by the names they are reported under.

    `tokenize` is of BLEU; `lowercase` leaves out those that regard case, which TER does not.
    """
    chosen = [
        kind
        for kind in METRICS
        if not (kind.regards_case if lowercase else kind.for_lower_case)
        and (ter or not kind.on_demand)
    ]
    return {kind.name: kind.new(tokenize) for kind in chosen}


def without_missing(references: Sequence[Sequence[str]]) -> list[tuple[str | None, ...]]:
    """Returns sets of references in which empty strings, which are missing references, are None.

    A line that has no reference in any of the sets keeps the empty ones.
    """
    lines = [
        [text or None for text in texts] if any(texts) else texts
        for texts in zip(*references, strict=True)
    ]
    return [*zip(*lines, strict=True)]


def in_normal_form(*texts: Lines) -> list[list[Any]]:
    """Returns lists of strings, or of None, in the normal form of text, which translations have.

    Without it, a reference in NFD has no accented letter in common with its translation.
    """
    return [[line if line is None else spelling.normal(line) for line in lines] for lines in texts]


def note_spelling(references: Sequence[Lines]) -> None:
    """Logs how many references are not in normal form, so that their scores are not of raw text."""
    texts = [line for lines in references for line in lines if line]
    other = sum(spelling.normal(line) != line for line in texts)
    if other:
        log.info(
            f"{other} of {len(texts)} references have another Unicode spelling (NFD, other spaces, "
            "invisible marks): they are scored in the one that translations have, NFC."
        )


def reason_of_zero(result: Score) -> str | None:
    """Returns in words why a BLEU is 0.0; None if it is not, or result is of another metric."""
    if result.score or not isinstance(result, BLEUScore):
        return None
    if not result.sys_len:
        return "no translation has a word"
    if not result.totals[-1]:
        return "no translation has four words, and BLEU counts sequences of one to four: see chrF"
    if not result.counts[0]:
        return "no translation has a word in common with its reference"
    return None


def note_zeros(results: Mapping[str, Score]) -> None:
    """Logs why a BLEU is 0.0, if one is."""
    for name, result in results.items():
        if reason := reason_of_zero(result):
            log.warning(f"{name} is 0.0: {reason}.")
            return  # the lower-cased one has the same reason, or one less


def score(
    hypotheses: Sequence[str], *references: Lines, **options: Any
) -> dict[str, dict[str, Any]]:
    """Returns a dict for each of `metrics`: score, half of its 95% interval, signature.

    A reference is None where a line has none in the set.
    """
    note_spelling(references)
    translations, *normal_references = in_normal_form(hypotheses, *references)
    results: dict[str, Score] = {}
    rows: dict[str, dict[str, Any]] = {}
    for name, metric in metrics(**options).items():
        result = metric.corpus_score(translations, normal_references, n_bootstrap=BOOTSTRAP_SAMPLES)
        results[name] = result
        signature = str(metric.get_signature())
        details = json.loads(result.format(signature=signature, is_json=True))
        rows[name] = {
            "score": result.score,
            "interval": float(details.get("confidence_var", 0.0)),  # left out where all is 0
            "signature": signature,
        }
    note_zeros(results)
    return rows


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns what `score` found as text, one line per metric."""
    return "\n".join(
        f"{name} {row['score']:.1f} ± {row['interval']:.1f}   ({row['signature']})"
        for name, row in rows.items()
    )


class Comparison(NamedTuple):
    """The scores of several systems by one metric, and which differences are due to chance."""

    name: str  # of the metric
    signature: str  # sacreBLEU's
    scores: list[float]
    intervals: list[float]  # half of the 95% confidence interval of each
    p_values: list[list[float]]  # of the difference of two systems
    lower_is_better: bool

    def is_better(self, system: int, other: int) -> bool:
        """Returns whether a system is significantly better than another one, by their numbers."""
        difference = self.scores[system] - self.scores[other]
        difference = -difference if self.lower_is_better else difference
        return difference > 0 and self.p_values[system][other] < SIGNIFICANT

    def line(self) -> str:
        """Returns the comparison of two systems as text."""
        this, other = (
            f"{score:.1f} ± {interval:.1f}"
            for score, interval in zip(self.scores, self.intervals, strict=True)
        )
        p_value = f"p = {self.p_values[0][1]:.3f}"
        return f"{self.name} {this} against {other}, {p_value}   ({self.signature})"

    def matrix(self) -> str:
        """Returns the comparison of more systems as text: a row and a column for each."""
        numbers = range(len(self.scores))
        lines = [f"{self.name}   ({self.signature})"]
        lines.append(f"{'':20}" + "".join(f"{number + 1:>9}" for number in numbers))
        for row in numbers:
            score = f"{self.scores[row]:.1f} ± {self.intervals[row]:.1f}"
            cells = (self._cell(row, column) for column in numbers)
            lines.append(f"{row + 1:>3}  {score:<15}" + "".join(f"{cell:>9}" for cell in cells))
        return "\n".join(lines)

    def _cell(self, row: int, column: int) -> str:
        """Returns the p-value of two systems as text, with > where that of the row is better."""
        if row == column:
            return "."
        sign = "> " if self.is_better(row, column) else ""
        sign = "< " if self.is_better(column, row) else sign
        return f"{sign}{self.p_values[row][column]:.3f}"


def compare(
    systems: Sequence[Sequence[str]], *references: Lines, **options: Any
) -> list[Comparison]:
    """Returns a Comparison of all systems for each metric, by paired bootstrap resampling.

    That is Koehn 2004, as sacreBLEU does it.
    """
    note_spelling(references)
    normal_systems = in_normal_form(*systems)
    normal_references = in_normal_form(*references)
    for translations in normal_systems:
        note_zeros(
            {
                name: metric.corpus_score(translations, normal_references)
                for name, metric in metrics(**options).items()
                if "BLEU" in name
            }
        )
    return [
        _comparison(name, metric, normal_systems, normal_references)
        for name, metric in metrics(**options).items()
    ]


def _comparison(
    name: str, metric: Metric, systems: list[list[str]], references: list[list[Any]]
) -> Comparison:
    """Returns the Comparison of systems by a metric of that name."""
    numbers = range(len(systems))
    p_values = [[1.0 for _ in numbers] for _ in numbers]
    scores: list[float] = []
    intervals: list[float] = []
    signature = ""
    for baseline in numbers[:-1]:  # sacreBLEU compares all that follow with the first one
        named: list[tuple[str, Sequence[str]]] = [
            (str(number), systems[number]) for number in numbers[baseline:]
        ]
        test = PairedTest(named, {name: metric}, references, "bs", BOOTSTRAP_SAMPLES)
        signatures, test_rows = test()
        results = [row for row in [*test_rows.values()][1] if isinstance(row, Result)]
        if baseline == 0:
            scores, intervals = [row.score for row in results], [row.ci or 0.0 for row in results]
            signature = str(*signatures.values())
        for number, result in zip(numbers[baseline:], results, strict=True):
            # sacreBLEU counts samples with a larger difference; identical outputs have none.
            if systems[number] != systems[baseline]:
                p_values[baseline][number] = p_values[number][baseline] = result.p_value or 0.0
    lower_is_better = any(kind.lower_is_better for kind in METRICS if kind.name == name)
    return Comparison(name, signature, scores, intervals, p_values, lower_is_better)


def as_json(
    text: str, lines: int, systems: Sequence[dict[str, Any]], comparisons: Sequence[Comparison] = ()
) -> str:
    """Returns scores as JSON.

    `systems` has, for each, its name and all that is known of it but the scores of `comparisons`.
    """
    objects = [*map(dict, systems)]
    content: dict[str, Any] = {"text": text, "lines": lines, "systems": objects}
    for comparison in comparisons:
        columns = zip(objects, comparison.scores, comparison.intervals, strict=True)
        for system, score, interval in columns:
            system[comparison.name] = {
                "score": score,
                "interval": interval,
                "signature": comparison.signature,
            }
    if comparisons:
        content["p_values"] = {row.name: row.p_values for row in comparisons}
    return json.dumps(content, indent=2, ensure_ascii=False)


def comparison_table(comparisons: Sequence[Comparison]) -> str:
    """Returns as text a line per metric for two systems, or a matrix per metric for more."""
    if len(comparisons[0].scores) == 2:
        return "\n".join(comparison.line() for comparison in comparisons)
    matrices = "\n\n".join(comparison.matrix() for comparison in comparisons)
    return f"{matrices}\n\n> the row is better than the column, < worse, with p < {SIGNIFICANT}"
