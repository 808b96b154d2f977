"""A training run of which nothing is left to do: the command that trained it only says so."""

from typing import Any

from nmt import UserError
from nmt.corpus.corpora import Corpus
from nmt.messages import log
from nmt.neighbors import params
from nmt.options import MAX_PAGE_PARAMETERS, Options
from nmt.results import pictures, run_report
from nmt.runs import train_messages
from nmt.runs.folder import Run
from nmt.runs.weights import Weights, choose_weights, scores_are_of
from nmt.training.loop import is_finished

# Options that change neither the scores nor the pictures of a run that is finished.
WITHOUT_EFFECT = (
    "data_path", "epochs", "max_steps", "save_every", "patience", "checkpoint_minutes",
)  # fmt: skip


def is_complete(run: Run, options: Options, test_sha256: str, plots: bool) -> bool:
    """Returns whether a run has all that its training command makes, with these options."""
    try:
        weights, history = choose_weights(run), run.history()
        scores = run.read("scores.json", {})
    except UserError:
        return False
    history = [row for row in history if row["epoch"] <= weights.epoch]
    is_trained = (
        weights.kind == "final"
        and any(row["epoch"] == weights.epoch for row in history)
        and is_finished(weights.epoch, history, options)
    )
    return (
        is_trained
        and is_scored(scores, weights, options, test_sha256)
        and bool(run_report.read_translations(run, 1))
        and (not plots or are_drawn(run, weights))
    )


def is_scored(scores: Any, weights: Weights, options: Options, test_sha256: str) -> bool:
    """Returns whether scores.json holds all scores of the weights, computed with these options."""
    if not isinstance(scores, dict) or not scores_are_of(scores, weights):
        return False
    scored_with = params.values() | scores.get("options", {})  # a newer option had its default
    current = options.by_name()
    names = current.keys() - {*WITHOUT_EFFECT}
    return (
        "validation" in scores
        and scores.get("test_sha256") == test_sha256
        and all(scored_with[name] == current[name] for name in names)
    )


def are_drawn(run: Run, weights: Weights) -> bool:
    """Returns whether the run has all pictures of training's end, no older than the weights."""
    chosen = weights.modified
    for picture in pictures.PICTURES:
        for choices in picture.drawn:
            path = run.plots / picture.file_name(choices)
            if not path.exists() or path.stat().st_mtime < chosen:
                return False
    return True


def report(run: Run, corpus: Corpus) -> None:
    """Prints the scores that the run has, as its training did, and logs what can follow."""
    scores = run.read("scores.json")
    lines = run_report.read_translations(run, run_report.REPORTED_SAMPLES)
    options = run.parameters.options
    length = run_report.training_length(run, scores["epochs"], options)
    run_report.print_report(corpus.name, length, options, scores, lines)
    log.info(
        f"Complete: {length}; nothing is left to do. To score it in "
        "another way: evaluate; to draw a picture again: plot."
    )
    explorable = scores["parameters"] <= MAX_PAGE_PARAMETERS
    train_messages.suggest_commands(run, [lines[0].source], corpus.name, explorable)
