"""All runs of a folder: the list of them, and the one that a command uses if none is named."""

import contextlib
import os
import re
import stat
import time
from itertools import chain
from pathlib import Path
from typing import Any

from nmt import UserError
from nmt.messages import plural
from nmt.neighbors import data_folder
from nmt.runs.folder import Run
from nmt.runs.weights import Weights, choose_weights, scores_are_of
from nmt.training.checkpoint_files import paths
from nmt.training.epoch_metrics import validation_metrics

FOLDER = Path("runs")  # of all runs that --run does not name
SHIPPED = data_folder() / "trained"  # a run that comes with the program; docs/make_trained.py
AGES = (("day", 86_400), ("hour", 3600), ("minute", 60))  # seconds


class Summary:
    """What is known of a run without loading its network; from files that may be damaged.

    Scores and age are of the Weights given, else of those that commands use.
    """

    def __init__(self, run: Run, weights: Weights | None = None):
        self.run = run
        run.check_trained()
        with contextlib.suppress(UserError):  # no epoch is finished
            weights = weights or choose_weights(run)
        options, saved_scores = run.parameters.options, run.read("scores.json", {})
        scores = saved_scores if weights and scores_are_of(saved_scores, weights) else {}
        self.weights = weights.label if weights else ""
        self.scores = {name: scores[name] for name in scores if is_reported(name, scores[name])}
        self.validation = validation(run, weights, scores)
        self.options = options
        self.corpus = options.data_path
        self.languages = "-".join(run.parameters.corpus.languages)
        history = run.history()
        self.epochs, self.planned = len(history), options.epochs
        self.steps = history[-1].get("step") if history else 0
        self.passes = history[-1].get("passes", self.epochs) if history else 0
        bleu = scores.get("BLEU", scores.get("BLEU, lower-cased", {}))
        self.bleu = bleu.get("score")
        self.scoring = scoring(bleu.get("signature", ""), scores.get("options", {}))
        self.parameters = saved_scores.get("parameters")
        self.bytes = size(run.path)
        self.trained_at = trained_at(run, weights)

    def __str__(self) -> str:
        """Returns "bundled, pt-en, BLEU 95.0, trained 2 hours ago"."""
        bleu = f"BLEU {self.bleu:.1f}" if self.bleu is not None else "not scored"
        if self.scoring not in ("", DEFAULT_SCORING):
            bleu += f" ({self.scoring})"
        parts = [self.corpus, self.languages, bleu, f"trained {age(self.trained_at)}"]
        return ", ".join(part for part in parts if part)


DEFAULT_SCORING = "13a"  # sacreBLEU's, with greedy search
DAMAGED = (  # of files of other content
    UserError, AttributeError, TypeError, OSError, ValueError, OverflowError
)  # fmt: skip


def is_reported(name: str, value: Any) -> bool:
    """Returns whether a value of scores.json is of the test split: a metric has a signature."""
    is_metric = isinstance(value, dict) and "signature" in value
    return is_metric or name in ("lines", "loss", "accuracy")


def scoring(signature: str, options: dict[str, Any]) -> str:
    """Returns in words how a BLEU was computed: without that, two of them cannot be compared.

    The signature is sacreBLEU's, "" without any; the options are those of the scored run.
    """
    fields = dict(field.split(":", 1) for field in signature.split("|") if ":" in field)
    words = [fields["tok"]] if "tok" in fields else []
    if fields.get("case") == "lc":
        words.append("lower-cased")
    if options.get("beam", 1) > 1:
        words.append(f"beam {options['beam']}")
    return ", ".join(words)


def validation(run: Run, weights: Weights | None, scores: dict[str, Any]) -> dict[str, float]:
    """Returns the validation result of the weights, by metric; {} if it is not known."""
    if "validation" in scores:
        return dict(scores["validation"])
    rows = run.history()
    epoch_rows = [row for row in rows if weights and row["epoch"] == weights.epoch]
    if not epoch_rows or (weights and weights.kind == "final"):  # which may be a mean of epochs
        return {}
    return validation_metrics(epoch_rows[-1])


def size(folder: Path) -> int:
    """Returns the bytes of all files in a folder, of which a training run may remove some."""
    total = 0
    for parent, _, names in os.walk(folder):  # which does not mind a folder that is gone
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                status = os.lstat(os.path.join(parent, name))
                total += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return total


def age(timestamp: float) -> str:
    """Returns how long ago a time was, as text."""
    seconds = time.time() - timestamp
    for unit, unit_seconds in AGES:
        if seconds >= unit_seconds:
            return f"{plural(int(seconds // unit_seconds), unit)} ago"
    return "just now"


def trained_at(run: Run, weights: Weights | None = None) -> float:
    """Returns when an epoch ended; if unknown, when its checkpoint was written.

    The epoch is the last one of the Weights, else the newest of the run.
    """
    try:
        rows = run.history()
        if weights:
            rows = [row for row in rows if row["epoch"] == weights.epoch]
        return float(rows[-1]["ended"])
    except (UserError, IndexError, KeyError, TypeError, ValueError):
        if weights:
            return weights.modified
        folders = (*run.weight_folders, run.timed)
        indexes = [f"{path}.index" for path in chain(*map(paths, folders))]
        return max(os.path.getmtime(path) for path in indexes or [str(run.path)])


def default(corpus_name: str) -> Path:
    """Returns the default run folder for a corpus: runs/<its name>."""
    return FOLDER / re.sub(r"[^\w.]+", "-", corpus_name)


def trained(folder: Path | None = None) -> list[Run]:
    """Returns the trained runs in `folder`, the newest first."""
    known = [(folder or FOLDER).glob(f"*/{name}") for name in ("checkpoints", "history.json")]
    runs = map(Run, {path.parent for path in chain(*known)})
    return sorted(filter(is_trained, runs), key=trained_at, reverse=True)


def is_trained(run: Run) -> bool:
    """Returns whether a folder holds a trained run, perhaps a damaged one."""
    try:
        return run.has_weights or bool(run.lost())
    except UserError:  # params.json is damaged
        return True


def describe(run: Run, weights: Weights | None = None) -> str:
    """Returns in words what a run is, or that its files are damaged."""
    try:
        return str(Summary(run, weights))
    except DAMAGED:
        return "its files are damaged"


def origin(run: Run) -> str:
    """Returns in words where a run comes from, if the user has not trained it; else ""."""
    if run.path == SHIPPED:
        return "; it comes with the program, and your own runs take precedence"
    imported = run.parameters.imported
    if imported is None:
        return ""
    return f"; made of {imported.model}, license {imported.license or 'not named'}"


def shipped() -> Run:
    """Returns the run that comes with the program: no folder of runs/ holds a trained one."""
    run = Run(SHIPPED)
    if not run.path.exists():
        raise UserError(
            f"{FOLDER.resolve()}: no trained run there, nor in {SHIPPED}; train one first, or name "
            "the folder of a run (--run)"
        )
    run.check_trained()
    return run


def find(path: str | Path | Run | None = None, weights: bool = True) -> Run:
    """Returns the trained Run that is named, or else the newest one, or else the shipped one.

    A UserError if there is none; or none is named, and there are runs of several corpora. A run
    that is named needs no checkpoint without `weights`.
    """
    if path:
        run = path if isinstance(path, Run) else Run(path)
        run.check_trained(weights)
        return run
    runs = trained()
    if not runs:
        return shipped()
    runs = [run for run in runs if not run.lost()] or runs
    corpora = {run.parameters.options.data_path for run in runs if run.saved_parameters}
    if len(corpora) > 1:
        named = "; ".join(f"{run.path} ({describe(run)})" for run in runs)
        raise UserError(f"there are runs of {len(corpora)} corpora; name one by --run: {named}")
    runs[0].check_trained()
    return runs[0]
