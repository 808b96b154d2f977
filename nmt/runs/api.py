"""Training and scoring from Python, for applications; docs/api.md describes all that is public.

A mistake is a UserError; nothing is printed, no signal is handled and the process does not end.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from nmt import UserError, messages, neighbors
from nmt.keywords import check_keywords, suggests_keywords
from nmt.neighbors import params
from nmt.program import MODULE
from nmt.results import evaluation, scores
from nmt.runs import (
    loading,
    restoring,  # noqa: F401  # TensorFlow is imported here, where nmt silences its messages
)
from nmt.runs.folder import Run
from nmt.runs.request import TrainingRequest
from nmt.runs.run_corpus import load_corpus_of
from nmt.text.languages import parse_direction


@dataclasses.dataclass(frozen=True)
class FinishedRun:
    """A run that was trained: what `train` returns.

    Attributes:
      path: of the run folder, for `load_translator` and `evaluate`.
      scores: of the test split by name, as scores.json holds them.
      history: the metrics of each epoch by name, as history.json holds them.
    """

    path: Path
    scores: dict[str, Any]
    history: list[dict[str, Any]]


def train(
    run: str | Path,
    *,
    dataset: str | Path | None = None,
    train: Sequence[str | Path] = (),
    valid: Sequence[str | Path] = (),
    test: Sequence[str | Path] = (),
    languages: str | None = None,
    reverse: bool = False,
    preset: str | None = None,
    parent: str | Path | None = None,
    plots: bool = False,
    on_epoch: Callable[[dict[str, Any]], object] | None = None,
    **parameters: bool | float | str,
) -> FinishedRun:
    """Trains a run, or resumes it, as the program does. Returns it with its scores.

    After an exception, KeyboardInterrupt for example, the same call resumes from the newest
    checkpoint. The seeds of Python, NumPy and TensorFlow are set to that of the run.

    Args:
      run: the run folder.
      dataset: "bundled", a TFDS translation dataset, or a file of pairs; None for `train`, or for
        the corpus of a run that is resumed.
      train: files of parallel text: source and target, or files of pairs.
      valid: the same, for validation; without, pairs of `train` are held out.
      test: the same, for the final scores.
      languages: of the text, such as "pt-en", where its name does not say them.
      reverse: translate the second language into the first.
      preset: one of params.PRESETS, for the parameters that are not given.
      parent: the folder of a run to begin with (--from).
      plots: whether to draw the pictures of the run at the end.
      on_epoch: called after each validation with its row of the history; what it raises ends
        training, after the epoch is saved, and reaches the caller.
      parameters: any constant of params.py by its name in lower case, such as `epochs`.

    Returns:
      A FinishedRun: its `path`; `scores` of the test split, as scores.json holds them; and
      `history`, a row of metrics for each epoch.

    Raises:
      UserError: the text, the folder or a value is wrong; the message says how to fix it.
      TypeError: there is no such argument.
    """
    names = [row.name for row in params.table() if row.name != "data_path"]
    check_keywords("train", parameters, [*names, *TRAIN_KEYWORDS])
    for name, files in (("train", train), ("valid", valid), ("test", test)):
        if isinstance(files, str | Path):
            raise UserError(f"{name} is one path; give a list of paths")
    folders = {"run": run} if parent is None else {"run": run, "parent": parent}
    for name, value in folders.items():
        if not isinstance(value, str | Path) or not str(value):
            raise UserError(f"{name} is {value!r}; name a folder")
    if languages is not None and not isinstance(languages, str):
        raise UserError(f"languages is {languages!r}; write them as in 'pt-en'")
    if on_epoch is not None and not callable(on_epoch):
        raise UserError(f"on_epoch is {on_epoch!r}; give a function of the row of an epoch")
    request = TrainingRequest(
        run=str(run),
        dataset=None if dataset is None else str(dataset),
        train=tuple(map(str, train)),
        valid=tuple(map(str, valid)),
        test=tuple(map(str, test)),
        languages=tuple(parse_direction(languages)) if languages else (),
        reverse=reverse,
        preset=preset,
        parent=None if parent is None else str(parent),
        plots=plots,
        parameters=parameters,
        prints=False,
        handles_signals=False,
        on_epoch=on_epoch,
    )
    story().train(request)
    folder = Run(run)
    return FinishedRun(folder.path, folder.read("scores.json", {}), folder.history())


TRAIN_KEYWORDS = {*inspect.signature(train).parameters} - {"parameters"}


def story() -> ModuleType:
    """Returns run_demo.py, where the step and the course of a run are written."""
    neighbors.check_names(MODULE)
    with messages.quiet():
        return importlib.import_module(MODULE)


@suggests_keywords
def evaluate(
    path: str | Path | None = None,
    sources: Sequence[str] | None = None,
    references: Sequence[str] | None = None,
    *,
    checkpoint: str | None = None,
    beam: int | None = None,
    length_penalty: float | None = None,
    ter: bool = False,
) -> dict[str, Any]:
    """Translates text by a run, and scores the translations by BLEU and chrF.

    Args:
      path: the run folder; None for the newest one in runs/, if all are of one corpus.
      sources: lines to translate; None for the run's own test split.
      references: a translation of each, to compare with.
      checkpoint: "final", "newest" or "best"; None for the one that `load_translator` chooses.
      beam, length_penalty: of the search; None for the run's own.
      ter: compute TER, too.

    Returns:
      Scores by name, as in scores.json: "BLEU", "chrF" and so on, each with its signature; of the
      test split also its loss in nats and its accuracy.

    Raises:
      UserError: there is no such run, its test split has changed, or there are not as many
        references as sources.
      TypeError: there is no such argument.
    """
    search: dict[str, Any] = {"beam": beam, "length_penalty": length_penalty}
    changed = {name: value for name, value in search.items() if value is not None}
    run, tokenizer, model = loading.load(path, checkpoint, **changed)
    if sources is None and references is None:
        test_scores, _ = evaluation.evaluate(model, tokenizer, load_corpus_of(run, "test"), ter)
        return test_scores
    if not sources or not references or len(sources) != len(references):
        raise UserError("evaluate needs as many references as sources, and at least one")
    translations = evaluation.translate_all(model, tokenizer, sources)
    scoring = evaluation.scoring_options(model, references)
    metrics = scores.score(translations, references, ter=ter, **scoring)
    return {"lines": len(translations)} | metrics
