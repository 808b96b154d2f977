"""All runs of a folder at a glance: as a table with what differs between them, and as JSON."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from nmt import UserError
from nmt.messages import reason
from nmt.options import Options
from nmt.runs.folder import Run
from nmt.runs.listing import DAMAGED, Summary, trained_at
from nmt.runs.parameters import in_effect

TITLES = (
    "run", "corpus", "languages", "epochs", "validation", "BLEU", "parameters", "size", "trained",
    "weights", "scored by",
)  # fmt: skip
IN_OTHER_COLUMNS = ("data_path", "epochs", "max_steps", "beam", "tokenize", "lowercase")
IN_JSON = (  # of a Summary
    "corpus", "languages", "epochs", "planned", "steps", "weights", "validation", "scores",
    "parameters", "bytes",
)  # fmt: skip
MAX_COLUMNS = 5  # of options that differ


def differing_options(options: Sequence[Options]) -> list[str]:
    """Returns the names of options that differ between runs and have no column in TITLES.

    Those with the most values come first: they distinguish runs best.
    """
    numbers = {
        name: len({in_effect(name, run_options) for run_options in options})
        for name in Options().by_name()
        if name not in IN_OTHER_COLUMNS
    }
    names = [name for name, number in numbers.items() if number > 1]
    return sorted(names, key=lambda name: -numbers[name])  # stable: else in the order of params.py


def validation_text(validation: dict[str, float]) -> str:
    """Returns the validation result that epochs are compared by: "BLEU 35.2", or "loss 1.234"."""
    if "bleu" in validation:
        return f"BLEU {validation['bleu']:.1f}"
    return f"loss {validation['loss']:.3f}" if "loss" in validation else ""


def length(summary: Summary) -> str:
    """Returns what is trained of what is planned: "3/7" epochs, "2000/9000 steps", "1.5/7"."""
    if summary.options.max_steps:
        return f"{summary.steps}/{summary.options.max_steps} steps"
    if summary.options.validate_every:
        return f"{summary.passes:.1f}/{summary.planned}"
    return f"{summary.epochs}/{summary.planned}"


def row(summary: Summary, names: Sequence[str]) -> list[str]:
    """Returns the columns of TITLES, and those of the named options, as text."""
    number = f"{summary.parameters / 1e6:.1f} M" if summary.parameters else ""
    when = datetime.fromtimestamp(trained_at(summary.run))
    values = (in_effect(name, summary.options) for name in names)
    return [
        str(summary.run.path), summary.corpus, summary.languages,
        length(summary), validation_text(summary.validation),
        "" if summary.bleu is None else f"{summary.bleu:.1f}", number,
        f"{summary.bytes / 1e6:.0f} MB", f"{when:%Y-%m-%d %H:%M}", summary.weights,
        summary.scoring, *map(str, values),
    ]  # fmt: skip


def damage(run: Run, error: Exception) -> str:
    """Returns as text which file of a run is damaged."""
    if isinstance(error, UserError | OSError):
        return str(error)
    return f"{run.path}: scores.json or history.json is damaged ({reason(error)}); remove it"


def table(runs: Sequence[Run]) -> tuple[list[list[str]], list[str], list[str]]:
    """Returns rows of text, titles first; differing options without a column; what is damaged."""
    summaries, damages = {}, []
    for run in runs:
        try:
            summaries[run.path] = Summary(run)
        except DAMAGED as error:
            damages.append(damage(run, error))
    differing = differing_options([summary.options for summary in summaries.values()])
    names, left_out = differing[:MAX_COLUMNS], differing[MAX_COLUMNS:]
    rows = [[*TITLES, *(name.replace("_", "-") for name in names)]]
    for run in runs:
        cells = [str(run.path), "damaged", *[""] * (len(rows[0]) - 2)]
        try:
            if run.path in summaries:
                cells = row(summaries[run.path], names)
        except DAMAGED as error:  # a score may be no number
            damages.append(damage(run, error))
        rows.append(cells)
    return rows, left_out, damages


def to_json(run: Run) -> dict[str, Any]:
    """Returns what is known of a run, as `runs --json` prints it; see docs/runs.md."""
    try:
        summary = Summary(run)
        trained = datetime.fromtimestamp(trained_at(run)).astimezone()
    except DAMAGED as error:
        return {"folder": str(run.path), "damaged": damage(run, error)}
    defaults = Options().by_name()
    options = {
        name: value
        for name, value in summary.options.by_name().items()
        if value != defaults[name] and name != "data_path"
    }
    return {
        "folder": str(run.path),
        **{name: getattr(summary, name) for name in IN_JSON},
        "date": trained.isoformat(timespec="seconds"),
        "options": options,
    }
