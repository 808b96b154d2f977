"""The table that a search for hyperparameters ends with (recipes/sweep.smk): ranking.tsv."""

from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.text.encoding import read_lines

METRICS = ("loss", "accuracy", "bleu")


class RankedRun(NamedTuple):
    """A run of a search."""

    result: float  # of its validation
    values: list[str]  # of the flags that differ between the runs


class Ranking(NamedTuple):
    """All runs of a search, the best first."""

    metric: str
    flags: list[str]  # without dashes
    runs: list[RankedRun]


def read_ranking(path: str | Path) -> Ranking:
    """Returns the Ranking that a file holds: columns rank, the metric, a flag each, run."""
    lines = read_lines(path)
    head = next(lines, "").split("\t")
    if len(head) < 4 or (head[0], head[-1]) != ("rank", "run") or head[1] not in METRICS:
        raise UserError(f"{path}: is no ranking; name the ranking.tsv of recipes/sweep.smk")
    runs = []
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        try:
            if len(cells) != len(head):
                raise ValueError
            runs.append(RankedRun(float(cells[1]), cells[2:-1]))
        except ValueError:
            raise UserError(f"{path}:{number}: is no row of a ranking; write it again") from None
    if not runs:
        raise UserError(f"{path}: ranks no run; name a ranking of some")
    return Ranking(head[1], head[2:-1], runs)
