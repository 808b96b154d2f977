"""The runs that a server holds in memory, and the searches that its routes may ask for.

The searches are few, whatever numbers a client sends: TensorFlow traces each for a second or two,
and memory must not grow with the requests. TensorFlow is imported for what CTranslate2 cannot do.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError
from nmt.decoding.engines.choice import TENSORFLOW
from nmt.decoding.model import Model
from nmt.decoding.search_options import Protecting, Sampling
from nmt.decoding.sentence import TokenScore, Translation
from nmt.decoding.translator import Translator
from nmt.serving import notices
from nmt.serving.batching import Item
from nmt.serving.detection import Detection, Detector
from nmt.serving.errors import RefusedError
from nmt.serving.notices import Notice
from nmt.text.protected import Protector
from nmt.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from nmt.serving.variable_sampling import VariableSampling

BEAMS = (1, 4, 8)  # of searches; the smallest that holds the translations asked for
MAX_N_BEST = BEAMS[-1]
WARM_UP_TEXT = "1 2 3."
MAX_ALTERNATIVES = 8  # likeliest tokens per position


class Direction(NamedTuple):
    """A source and a target language that a run translates between."""

    source: str  # code
    target: str
    tag: str = ""  # a symbol of the run, which sources begin with: <2de>

    def tagged(self, text: str) -> str:
        """Returns a text as the run reads it: after the tag, if there is one."""
        return f"{self.tag} {text}" if self.tag else text


class Query(NamedTuple):
    """What is asked of a run, beside the texts. Texts of one Query are translated together.

    It holds its run: a request ends on the run that it began with, whatever is loaded meanwhile.
    """

    served: ServedModel
    direction: Direction
    n_best: int = 1  # translations per text, or samples
    sampling: Sampling | None = None  # None for a search
    details: bool = False  # of the best: tokens with scores and alternatives, and word links
    links: bool = False  # word links alone
    scored: bool = False  # log-probabilities, which greedy search does without
    confidence: bool = False  # of the best, if the run knows it
    terms: tuple[tuple[str, str], ...] = ()  # of the request's own glossary, and translations


@dataclasses.dataclass
class Result:
    """A translation of a text."""

    text: str
    log_probability: float | None  # natural, of all its tokens; None without Query.scored
    confidence: float | None = None  # 0 to 100, rounded, with Query.confidence
    tokens: list[TokenScore] = dataclasses.field(default_factory=list)  # with Query.details
    links: list[tuple[int, int]] | None = None  # (source, target) words, if they are asked for
    missing: list[str] = dataclasses.field(default_factory=list)  # of what must not change
    added: list[str] = dataclasses.field(default_factory=list)
    too_long: list[Notice] = dataclasses.field(default_factory=list)

    @property
    def notices(self) -> list[Notice]:
        """What the client is to know of it."""
        return [*notices.of_differences(self.missing, self.added), *self.too_long]


@dataclasses.dataclass(eq=False)
class ServedModel:
    """A run, or an ensemble of runs, with the languages that it translates between."""

    name: str
    model: Model
    tokenizer: Tokenizer
    directions: list[Direction]
    examples: list[str] = dataclasses.field(default_factory=list)  # sentences of its test split
    protecting: Protecting = Protecting()  # noqa: RUF009  # immutable
    stays_without_tensorflow: bool = False  # requests that need it are refused
    # By the number of samples. Nobody waits for those that are being made but who asks for them.
    _samplings: dict[int, VariableSampling] = dataclasses.field(
        default_factory=dict, init=False, repr=False
    )
    _sampling_lock: threading.Lock = dataclasses.field(default_factory=threading.Lock, init=False)
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._sampler = dataclasses.replace(self.model, engine=TENSORFLOW)

    @property
    def parameters(self) -> int:
        """The number of trained weights of the network; of several, of the first."""
        sizes = self.tokenizer.vocab_size, self.tokenizer.target.vocab_size
        return self.model.options.parameters(*sizes)

    @property
    def beam(self) -> int:
        """The hypotheses that the run's own search follows."""
        return self.model.options.beam

    @property
    def protector(self) -> Protector:
        """What finds what must not change."""
        return self.translator(Query(self, self.directions[0])).protector

    def translate(self, query: Query, items: Sequence[Item]) -> list[list[Result]]:
        """Returns the translations of each item, the best first."""
        lines = [query.direction.tagged(item.text) for item in items]
        prefixes = [item.prefix for item in items]
        translator = self.translator(query)
        if query.sampling is None:
            return self._run(translator, lines, prefixes, query)
        sampling = self._variable_sampling(query)
        with sampling.lock:
            sampling.assign(query.sampling)
            return self._run(translator, lines, prefixes, query)

    def translator(self, query: Query) -> Translator:
        """Returns the Translator of a query. There are few engines, each made once."""
        translator = self._shared_translator(query)
        # It is of what a search finds by probability alone.
        knows_confidence = self.model.estimator and self.model.search_options.has_confidence
        confidence = query.confidence and bool(knows_confidence)
        if query.details or query.links or confidence:
            translator = translator.with_reports(
                alignments=query.details or query.links,
                alternatives=MAX_ALTERNATIVES if query.details else 0,
                confidence=confidence,
            )
        if not query.terms:
            return translator
        languages = query.direction.source, query.direction.target
        return translator.with_terms(dict(query.terms), languages)

    def _shared_translator(self, query: Query) -> Translator:
        """Returns the Translator of a query without its terms and reports."""
        number = size_of_beam(query.n_best)
        options = self.model.search_options
        if query.sampling is not None:
            sampling = self._variable_sampling(query)
            options = options._replace(beam=1, n_best=number, sampling=sampling)
            model, lock = self._sampler, self._sampling_lock
        else:
            beam = max(self.beam, number) if query.n_best > 1 else self.beam
            n_best = beam if query.n_best > 1 else 1  # a search for one ends sooner
            options = options._replace(beam=beam, n_best=n_best)
            model, lock = self.model, self._lock
        with lock:
            return model.text_translator(
                self.tokenizer,
                options,
                self.protecting,
                languages=self.directions[0][:2],
            )

    def _variable_sampling(self, query: Query) -> VariableSampling:
        """Returns the VariableSampling of as many samples as a query asks for."""
        from nmt.serving.variable_sampling import VariableSampling

        number = size_of_beam(query.n_best)
        with self._sampling_lock:
            if number not in self._samplings:
                self._samplings[number] = VariableSampling.of_defaults()
            return self._samplings[number]

    def _run(
        self, translator: Translator, lines: list[str], prefixes: list[str], query: Query
    ) -> list[list[Result]]:
        results = []
        batch = translator.translate_chunk(lines, prefixes, query.scored)
        for line, translated in zip(lines, batch, strict=True):
            too_long = notices.of_length(translated.tokens, translator.trained_length)
            line_results = []
            for translation in translated.translations[: query.n_best]:
                result = _result(translation, query)
                difference = translator.difference(line, translation.text)
                result.missing, result.added = difference.missing, difference.added
                result.too_long = too_long
                line_results.append(result)
            results.append(line_results)
        return results


def _result(translation: Translation, query: Query) -> Result:
    """Returns the Result of what a Translator yields for a line."""
    known = translation.confidence
    confidence = None if known is None else round(known, 1)
    result = Result(translation.text, translation.log_probability, confidence)
    if not query.details and not query.links:
        return result
    links = translation.links
    if links and query.direction.tag:  # the first word of the source, which the client has not sent
        links = [(source - 1, target) for source, target in links if source]
    return dataclasses.replace(result, tokens=translation.tokens or [], links=links)


def size_of_beam(n_best: int) -> int:
    """Returns the smallest of BEAMS that finds `n_best` translations."""
    return next(beam for beam in BEAMS if beam >= n_best)


class Models:
    """All runs of a server, by direction; no two translate between the same languages."""

    def __init__(self, served: Sequence[ServedModel]):
        self.by_name = {model.name: model for model in served}
        self.by_languages: dict[tuple[str, str], Query] = {}
        for model in served:
            for direction in model.directions:
                pair = direction.source, direction.target
                self.by_languages[pair] = Query(model, direction)
        self.detect = Detector([*self.sources, *self.targets])

    @property
    def sources(self) -> list[str]:
        """The codes of all source languages."""
        return list(dict.fromkeys(source for source, _ in self.by_languages))

    @property
    def targets(self) -> list[str]:
        """The codes of all target languages."""
        return list(dict.fromkeys(target for _, target in self.by_languages))

    def targets_of(self, source: str) -> list[str]:
        """Returns the codes of the languages that texts of a language are translated into."""
        return [target for known, target in self.by_languages if known == source]

    def query(self, source: str, target: str) -> Query:
        """Returns the Query of two languages; a RefusedError if no run translates between them.

        A region may be missing or added if that leaves no doubt: "pt" for "pt-BR".
        """
        if query := self.by_languages.get((source, target)):
            return query
        similar = [
            query
            for (known_source, known_target), query in self.by_languages.items()
            if is_variety(known_source, source) and is_variety(known_target, target)
        ]
        if len(similar) == 1:
            return similar[0]
        raise self.refusal(source, target)

    def detected_query(self, detections: Sequence[Detection], target: str) -> Query | None:
        """Returns the Query of a text of unknown language; None if it is in the target language.

        A RefusedError if no run translates into it. The likeliest of `detections` is the first.
        """
        best = detections[0]
        if best.is_sure and is_variety(best.code, target):
            if not any(is_variety(known, target) for known in self.targets):
                raise self.refusal(None, target)
            return None
        for detection in detections:
            for (source, known), query in self.by_languages.items():
                if source == detection.code and is_variety(known, target):
                    return query
        raise self.refusal(None, target)

    def refusal(self, source: str | None, target: str) -> RefusedError:
        """Returns the refusal of two languages, None for any source."""
        known = ", ".join(f"{source}-{target}" for source, target in self.by_languages)
        asked = "translation into " if source is None else f"{source[:40]} to "
        return RefusedError(400, f"{asked}{target[:40]} is not available; this server has {known}")

    def holds(self, served: ServedModel) -> bool:
        """Returns whether a run is one of these, not one that was served before."""
        return self.by_name.get(served.name) is served

    def warm_up(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Translates a few words: with TensorFlow, which traces each search, in every way.

        `goes_on` is asked before each of them.
        """
        for served in self.by_name.values():
            usual = Query(served, served.directions[0])
            served.translate(usual, [Item(WARM_UP_TEXT)])  # the most usual one first
            if not served.model.searches_by_tensorflow:
                continue
            for query in itertools.takewhile(lambda _: goes_on(), queries_of(usual)):
                with contextlib.suppress(UserError):  # a search that the run does not have
                    served.translate(query, [Item(WARM_UP_TEXT)])
                    if query == usual._replace(scored=True):
                        served.translate(query, [Item(WARM_UP_TEXT, "1")])  # a prefix


def queries_of(query: Query) -> list[Query]:
    """Returns a Query for each search that TensorFlow traces for a run, beside the usual one."""
    samples = [query._replace(n_best=beam, sampling=Sampling(), scored=True) for beam in BEAMS]
    lists = [query._replace(n_best=beam, scored=True) for beam in BEAMS]
    details = [one._replace(details=True) for one in lists]  # which each engine traces
    return [query._replace(links=True), *lists, *details, *samples]


def is_variety(code: str, other_code: str) -> bool:
    """Returns whether one of two languages is the other, or a region or script of it.

    For what clients send, of which nothing is remembered: languages.overlap remembers all codes.
    """
    usual, other = (f"{text}-".replace("_", "-").lower() for text in (code, other_code))
    return usual.startswith(other) or other.startswith(usual)


def directions_of(codes: Sequence[str], symbols: str) -> list[Direction]:
    """Returns the Directions of a run; a ValueError if one of several targets has no tag.

    The first of `codes` is the source. `symbols` are separated by spaces: <2de> <2fr>.
    """
    source, *targets = codes
    tags = {f"<2{target}>": target for target in targets}
    tagged = [tag for tag in tags if tag in symbols.split()]
    if len(targets) == 1 and not tagged:
        return [Direction(source, targets[0])]
    if len(tagged) < len(targets):
        raise ValueError(f"symbols of the run are {symbols or 'none'}")
    return [Direction(source, tags[tag], tag) for tag in tagged]
