"""Loading a trained run: its tokenizer, options and network, without an optimizer.

TensorFlow is imported when something needs the network: a translation on a CPU does not.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nmt import UserError
from nmt.decoding.confidence import Estimator
from nmt.decoding.engines.choice import AUTO, ENGINES, KINDS, QUANTIZATIONS, TENSORFLOW
from nmt.decoding.engines.engine import Converted
from nmt.decoding.model import Model
from nmt.decoding.networks import Networks
from nmt.decoding.search_options import Protecting, Repetition, Sampling, SearchOptions
from nmt.decoding.translator import Translator
from nmt.keywords import check_keywords
from nmt.machine import may_have_gpu
from nmt.messages import log
from nmt.options import Options
from nmt.runs import listing, parameters
from nmt.runs.conversion import convert
from nmt.runs.folder import Run
from nmt.runs.run_tokenizer import check_size, load_tokenizer
from nmt.runs.weights import Weights, choose_weights
from nmt.text.glossary import read_glossary
from nmt.text.tokenizer import Tokenizer


class TrainedRun(NamedTuple):
    """A run that is loaded."""

    run: Run
    tokenizer: Tokenizer
    model: Model


class EngineChoice(NamedTuple):
    """What is to translate."""

    name: str = AUTO  # one of choice.ENGINES
    quantization: str | None = None  # of the weights of CTranslate2, one of QUANTIZATIONS

    def check(self) -> None:
        """Raises a UserError for an unknown name, and for a quantization that nothing takes."""
        if self.name not in ENGINES:
            raise UserError(f"engine is {self.name!r}; choose one of {', '.join(ENGINES)}")
        if self.quantization is None:
            return
        if self.quantization not in QUANTIZATIONS:
            raise UserError(
                f"quantization is {self.quantization!r}; choose one of {', '.join(QUANTIZATIONS)}"
            )
        if self.name != AUTO and self.quantization not in KINDS[self.name].quantizations:
            raise UserError(
                f"--quantization {self.quantization} goes with --engine {self._of_quantization}; "
                "leave one of them out"
            )

    @property
    def _of_quantization(self) -> str:
        """The name of the engine that has the quantization."""
        return next(name for name, kind in KINDS.items() if self.quantization in kind.quantizations)

    @property
    def decided(self) -> str:
        """The name; for "auto" the engine that has the quantization, or TensorFlow on a GPU."""
        if self.name != AUTO:
            return self.name
        if self.quantization:
            return self._of_quantization
        return TENSORFLOW if _sees_gpu() else AUTO


def _sees_gpu() -> bool:
    """Returns whether TensorFlow sees a GPU; where there is no driver, without importing it."""
    if not may_have_gpu():
        return False
    from nmt.training.devices import gpus

    return bool(gpus().gpus)


def _read(
    path: str | Path | Run | None, weights: bool, changed: dict[str, Any]
) -> tuple[Run, Options, Tokenizer]:
    """Returns a run, its options and its tokenizer; for the arguments see `load`."""
    run = listing.find(path, weights)
    options = dataclasses.replace(run.parameters.options, **changed)
    if wrong := parameters.error_in_options(options.by_name()):
        raise UserError(wrong)
    tokenizer = load_tokenizer(run)
    check_size(options, tokenizer.vocab_size, 4, tokenizer.target.vocab_size)
    return run, options, tokenizer


def load_without_weights(path: str | Path | Run | None = None, **changed: Any) -> TrainedRun:
    """Returns what `load` does, with newly initialized weights, of a run that may have none."""
    run, options, tokenizer = _read(path, False, changed)

    @functools.cache
    def networks() -> Networks:
        from nmt.runs.restoring import new_networks

        return new_networks(options, tokenizer)

    model = Model(options, networks, run.parameters.corpus.languages)
    return TrainedRun(run, tokenizer, model)


def load(
    path: str | Path | Run | None = None,
    checkpoint: str | None = None,
    plain: bool = False,
    languages: Sequence[str] | None = None,
    engine: EngineChoice = EngineChoice(),  # noqa: B008  # immutable
    search: SearchOptions = SearchOptions(),  # noqa: B008
    before_tensorflow: Callable[[], None] = lambda: None,
    **changed: Any,
) -> TrainedRun:
    """Returns a TrainedRun: the folder.Run, its Tokenizer, and its Model.

    Args:
      path: the run folder; None for the newest one in runs/, if all are of one corpus, or for
        the one that comes with the program, if there is none.
      checkpoint: "final", "newest" (epoch) or "best" (validation); None for those that
        `choose_weights` chooses.
      plain: without the engine; see `build_transformer`.
      search: what commands ask of it, but for beam and length penalty.
      before_tensorflow: called before TensorFlow is needed, if it is.
      changed: options to use instead of the run's own.
    """
    engine.check()
    run, options, tokenizer = _read(path, True, changed)
    chosen = choose_weights(run, checkpoint)

    @functools.cache
    def networks() -> Networks:
        before_tensorflow()
        from nmt.runs.restoring import restored_networks

        return restored_networks(options, tokenizer, chosen, plain)

    @functools.cache
    def converted() -> Converted:
        return Converted(convert(run, chosen, tokenizer, networks), engine.quantization)

    codes = tuple(languages or run.parameters.corpus.languages)
    model = Model(
        options, networks, codes, converted=None if plain else converted,
        engine=engine.decided, estimator=estimator_of(run, chosen), search=search,
        weights=f"{chosen.label}, {chosen.sha256[:12]}",
    )  # fmt: skip
    summary = f"{listing.describe(run, chosen)}; {chosen.reason}{listing.origin(run)}"
    log.info(f"Using {chosen.path}: {summary}")
    return TrainedRun(run, tokenizer, model)


def estimator_of(run: Run, weights: Weights) -> Estimator | None:
    """Returns the Estimator of confidence; None if the run, or these weights, have none."""
    try:
        content = run.read("confidence.json", {})
        if not isinstance(content, dict) or content.get("checkpoint") != weights.record:
            return None
        return Estimator.from_json(content)
    except UserError as error:
        path = run.path / "confidence.json"
        reason = str(error).removeprefix(f"{path}: ").partition(";")[0]
        log.warning(f"{path}: {reason}; remove it, or calibrate the run: evaluate --calibrate")
        return None


def load_ensemble(
    paths: Sequence[str | Path | Run | None], checkpoint: str | None = None, **changed: Any
) -> TrainedRun:
    """Returns what `load` does for the first path; its model is an ensemble with the others."""
    first = load(paths[0], checkpoint, **changed)
    if len(paths) == 1:
        return first
    members = []
    for path in paths[1:]:
        member = load(path, checkpoint)
        if member.tokenizer.sha256 != first.tokenizer.sha256:
            raise UserError(
                f"{member.run.path}: has another tokenizer than {first.run.path}; an ensemble "
                "needs runs with the same one (trained on the same text, or with --from)"
            )
        members.append(member.model)

    @functools.cache
    def networks() -> Networks:
        first_networks = first.model.networks()  # imports TensorFlow for all
        transformers = tuple(member.transformer for member in members)
        return dataclasses.replace(first_networks, ensemble=transformers)

    model = dataclasses.replace(
        first.model, networks=networks, members=len(paths), converted=None, estimator=None
    )
    return first._replace(model=model)


def load_translator(
    path: str | Path | Sequence[str | Path] | None = None,
    checkpoint: str | None = None,
    *,
    rows: int | None = None,
    workers: int | None = None,
    split: bool = True,
    protect: bool = True,
    patterns: Sequence[str] = (),
    glossary: str | Path | None = None,
    engine: str = AUTO,
    quantization: str | None = None,
    **search: Any,
) -> Translator:
    """Returns the Translator of a trained run, for use from Python.

    `list(translate(lines))` are translations; `translate.attend(line)` is an Attention.

    Args:
      path: the run folder, or a list of them, whose probabilities are averaged; None for the newest
        one in runs/, if all are of one corpus.
      checkpoint: "final", "newest" or "best"; see `load`.
      rows: sentences per batch; None for as many as suit their length.
      workers: batches translated in parallel; None for one per core (TensorFlow: at most four).
      split: translate each sentence of a line independently.
      protect: keep numbers, placeholders and the like; see docs/protecting.md.
      patterns: regular expressions of what must not change, either.
      glossary: a file of terms and their translations, source TAB target.
      engine: "ctranslate2", "tensorflow", or "auto": the former on a CPU, where it can do all that
        is asked.
      quantization: "int8" for weights of 8 bits in CTranslate2: faster, some translations differ.
      search: any field of SearchOptions by its name, such as `beam=4` or `alignments=True`; beam
        and length penalty are otherwise the run's.

    Raises:
      UserError: there is no such run, it is damaged, or an argument is not allowed.
      TypeError: there is no such argument.
    """
    check_keywords("load_translator", search, [*SearchOptions._fields, *TRANSLATOR_KEYWORDS])
    paths: Sequence[str | Path | None]
    paths = [path] if path is None or isinstance(path, str | Path) else path
    if not paths:
        raise UserError("load_translator was given an empty list; name one run folder or several")
    if isinstance(patterns, str):
        raise UserError("patterns is one string; give a list of strings")
    search = {name: value for name, value in search.items() if value is not None}
    for name, kind in (("sampling", Sampling), ("repetition", Repetition)):
        if not isinstance(search.get(name, kind()), kind):
            raise UserError(f"{name} is {search[name]!r}; give a {kind.__name__}")
    if search.get("sampling") or search.get("plain"):
        search.setdefault("beam", 1)
    changed = {name: search[name] for name in ("beam", "length_penalty") if name in search}
    plain, choice = search.get("plain", False), EngineChoice(engine, quantization)
    _, tokenizer, model = load_ensemble(paths, checkpoint, plain=plain, engine=choice, **changed)
    options = model.search_options._replace(**search)
    options.check()
    terms = read_glossary(glossary) if glossary else None
    return model.text_translator(
        tokenizer, options, Protecting(protect, tuple(patterns), terms), split, rows, workers
    )


TRANSLATOR_KEYWORDS = {*inspect.signature(load_translator).parameters} - {"search"}
