"""The report of a run: what is printed of its scores, and written into its folder.

Without TensorFlow until scores are written: commands read translations before they need it.
"""

from __future__ import annotations

import contextlib
import io
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt import UserError, machine
from nmt.messages import plural
from nmt.options import Options
from nmt.reading import read_file
from nmt.training.epoch_metrics import validation_metrics
from nmt.training.run_folder import RunFolder

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.corpus.corpora import Corpus
    from nmt.decoding.model import Model

REPORTED_SAMPLES = 3  # translations

Scores = dict[str, Any]  # by name: what scores.json holds
Checkpoint = dict[str, str | int]  # the `record` of runs.weights.Weights


class TranslatedLine(NamedTuple):
    """A line of the test split."""

    source: str
    reference: str
    hypothesis: str


def read_translations(folder: RunFolder, number: int) -> list[TranslatedLine]:
    """Returns the first test lines of a run, as translations.txt holds them.

    There are none before the run is scored, or if the file is damaged.
    """
    try:
        text = read_file(folder.path / "translations.txt").decode()
        lines = itertools.islice(io.StringIO(text), number)
        return [TranslatedLine(*line.rstrip("\n").split("\t")) for line in lines]
    except (OSError, ValueError, TypeError):  # no file, no text, no three columns
        return []


def search_name(options: Options) -> str:
    """Returns the name of the search that a run's `options` choose, for reports."""
    return f"a beam of {options.beam}" if options.beam > 1 else "greedy search"


def training_length(folder: RunFolder, epochs: int, options: Options) -> str:
    """Returns as text how long a run was trained: in epochs, or in steps if these are validated."""
    if options.max_steps or options.validate_every:
        with contextlib.suppress(UserError):
            steps = [row["step"] for row in folder.history() if row["epoch"] == epochs]
            if steps:
                return plural(steps[0], "step")
    return plural(epochs, "epoch")


def print_report(
    corpus_name: str,
    length: str,
    options: Options,
    test_scores: Scores,
    lines: list[TranslatedLine],
) -> None:
    """Prints samples and scores."""
    from nmt.results import scores

    for line in lines[:REPORTED_SAMPLES]:
        print(f"Source:     {line.source}\nReference:  {line.reference}")
        print(f"Hypothesis: {line.hypothesis}\n")
    size, search = plural(test_scores["lines"], "line"), search_name(options)
    print(f"Test split of {corpus_name}, {size}, {length}, {search}:")
    print(f"loss {test_scores['loss']:.3f}, accuracy {test_scores['accuracy']:.3f}")
    metrics_by_name = {
        name: score
        for name, score in test_scores.items()
        if type(score) is dict and "signature" in score
    }
    print(scores.table(metrics_by_name), flush=True)


def write_validation(
    folder: RunFolder, corpus: Corpus, checkpoint: Checkpoint, validation: dict[str, float]
) -> None:
    """Writes the validation result of a checkpoint into scores.json, before it is scored.

    What the file holds of other weights goes.
    """
    content = saved_scores(folder, checkpoint) | {
        "pairs": {split: len(split_pairs) for split, split_pairs in corpus.splits().items()},
        "checkpoint": checkpoint,
        "validation": validation_metrics(validation),
    }
    folder.write("scores.json", content)


def saved_scores(folder: RunFolder, checkpoint: Checkpoint) -> Scores:
    """Returns what scores.json holds of a checkpoint; {} if it is of another or damaged."""
    with contextlib.suppress(UserError, AttributeError):
        scores = folder.read("scores.json", {})
        if scores.get("checkpoint") == checkpoint:
            return scores
    return {}


def check_reportable(folder: RunFolder) -> None:
    """Raises a UserError if the report of a run could not be written: before hours of translating.

    That it may not be written is none here: it is printed.
    """
    folder.history()
    for name in ("scores.json", "translations.txt"):
        if (folder.path / name).is_dir():
            raise UserError(f"{folder.path / name}: is a folder; remove it")


def report(
    folder: RunFolder,
    corpus: Corpus,
    model: Model,
    checkpoint: Checkpoint,
    test_scores: Scores,
    lines: list[TranslatedLine],
) -> None:
    """Prints scores and samples, then writes scores.json and translations.txt.

    They are printed even if they cannot be written (UserError), and written even if they cannot be
    printed (OSError).
    """
    try:
        length = training_length(folder, int(model.epoch), model.options)
        print_report(corpus.name, length, model.options, test_scores, lines)
    finally:
        write_report(folder, corpus, model, checkpoint, test_scores, lines)


def write_report(
    folder: RunFolder,
    corpus: Corpus,
    model: Model,
    checkpoint: Checkpoint,
    test_scores: Scores,
    lines: list[TranslatedLine],
) -> None:
    """Writes scores.json and translations.txt."""
    from nmt.corpus.corpora import fingerprint

    epochs, pairs, splits = int(model.epoch), {}, corpus.splits()
    history = [row for row in folder.history() if row["epoch"] <= epochs]
    with contextlib.suppress(UserError, AttributeError, TypeError, ValueError):
        pairs = dict(folder.read("scores.json", {}).get("pairs", {}))  # of splits not loaded now
    saved = saved_scores(folder, checkpoint)
    validation = {"validation": saved["validation"]} if "validation" in saved else {}
    rows = ["\t".join(" ".join(text.split()) for text in line) + "\n" for line in lines]
    folder.write("translations.txt", "".join(rows).encode())
    folder.write(
        "scores.json",
        {
            "dataset": corpus.name,
            "pairs": pairs | {split: len(split_pairs) for split, split_pairs in splits.items()},
            "checkpoint": checkpoint,
            **validation,
            **test_scores,
            "test_sha256": fingerprint(corpus.test),
            "epochs": epochs,
            "training_seconds": sum(row["seconds"] for row in history),
            "parameters": model.transformer.count_params(),
            "options": model.options.by_name(),
            "versions": machine.versions(),
        },
    )
