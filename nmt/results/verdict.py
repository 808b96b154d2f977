"""Whether a run that learned more is better than before: for corrections.smk and evening.smk."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nmt.results.scores import SIGNIFICANT


class Change(NamedTuple):
    """The scores of a test set before and after, by one metric."""

    test: str  # its name
    lines: int
    metric: str
    before: float
    after: float
    p_value: float  # of the difference

    @property
    def difference(self) -> float:
        """What is gained; negative for a loss."""
        return self.after - self.before

    @property
    def is_significant(self) -> bool:
        """Whether the difference is hardly chance."""
        return self.p_value < SIGNIFICANT

    def __str__(self) -> str:
        return (
            f"{self.test} {self.difference:+.1f} {self.metric} ({self.before:.1f} to "
            f"{self.after:.1f}, p = {self.p_value:.3f})"
        )


class Verdict(NamedTuple):
    """Whether a run is better than before, and why not."""

    changes: list[Change]  # that of the corrections is the first
    reasons: list[str]  # why it is not better; none if it is

    @property
    def is_better(self) -> bool:
        """Whether the run should replace the one before."""
        return not self.reasons

    @property
    def line(self) -> str:
        """The verdict in a line."""
        if self.reasons:
            return f"Not better: {'; '.join(self.reasons)}."
        return f"Better: {'; '.join(map(str, self.changes))}."

    def table(self) -> str:
        """Returns the changes as lines, below their titles."""
        rows = [("test", "lines", "metric", "before", "after", "change", "p")]
        rows += [
            (
                change.test, str(change.lines), change.metric, f"{change.before:.1f}",
                f"{change.after:.1f}", f"{change.difference:+.1f}", f"{change.p_value:.3f}",
            )
            for change in self.changes
        ]  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def read_change(test: str, path: str | Path) -> Change:
    """Returns the Change that a file of `evaluate --run NEW --against OLD --json` holds."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    metric = next(iter(content["p_values"]))  # BLEU, or the lower-cased one with --lowercase
    after, before = (system[metric]["score"] for system in content["systems"])
    p_value = content["p_values"][metric][0][1]
    return Change(test, content["lines"], metric, before, after, p_value)


def judge(
    corrections: Change, tests: Sequence[Change], significant: bool = True, max_loss: float = 0.3
) -> Verdict:
    """Returns the Verdict on a run by its test sets.

    It is better if it is so on corrections that it has not seen, significantly or by any gain, and
    loses nothing elsewhere. To lose more than `max_loss` is no reason if it may be chance.
    """
    reasons = []
    if corrections.difference <= 0:
        reasons.append(f"{'a loss' if corrections.difference else 'no gain'} on {corrections}")
    elif significant and not corrections.is_significant:
        reasons.append(f"may be chance: {corrections}")
    for change in tests:
        if change.difference < -max_loss and change.is_significant:
            reasons.append(f"worse on {change}")
    return Verdict([corrections, *tests], reasons)
