"""Which weights of a run the commands use, why these, and which scores are of them.

Without TensorFlow: the list of all runs names them, too.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from nmt import UserError
from nmt.runs.folder import Run
from nmt.training.checkpoint_files import number, paths

KINDS = ("final", "newest", "best")  # of --checkpoint


class Weights(NamedTuple):
    """A checkpoint of a run, to be used."""

    path: str  # as TensorFlow takes it
    kind: str  # one of KINDS
    reason: str  # what they are and why these, for the user

    @property
    def epoch(self) -> int:
        """The newest epoch in them."""
        return number(self.path)

    @property
    def label(self) -> str:
        """What they are, in a few words: "final", or "best, epoch 4"."""
        return self.kind if self.kind == "final" else f"{self.kind}, epoch {self.epoch}"

    @property
    def sha256(self) -> str:
        """The SHA-256 of the index, which holds a checksum of each weight."""
        return hashlib.sha256(Path(f"{self.path}.index").read_bytes()).hexdigest()

    @property
    def modified(self) -> float:
        """When they were written, in seconds since 1970."""
        return Path(f"{self.path}.index").stat().st_mtime

    @property
    def record(self) -> dict[str, str | int]:
        """What scores.json holds of the weights that the scores are of."""
        return {"kind": self.kind, "epoch": self.epoch, "sha256": self.sha256}


def choose_weights(run: Run, kind: str | None = None) -> Weights:
    """Returns the Weights of a run that all commands use.

    They are the final ones, unless training went on after these were chosen, or has not come to
    that; then the best epoch's, or the newest one's if none is validated yet.

    Args:
      run: the Run.
      kind: one of KINDS, if the user chooses; None for the rule above.

    Raises:
      UserError: there is no such checkpoint.
    """
    folders = {"final": run.final, "newest": run.checkpoints, "best": run.best}
    newest_paths = {name: paths(folder)[-1:] for name, folder in folders.items()}
    if kind and kind not in folders:
        raise UserError(f"checkpoint {kind!r}: there are {', '.join(KINDS)}; name one of them")
    if kind:
        for path in newest_paths[kind]:
            return Weights(path, kind, f"the {kind} weights, as chosen")
        raise UserError(f"{folders[kind]}: no checkpoint yet; name another checkpoint")
    final, newest = (map(number, newest_paths[name]) for name in ("final", "newest"))
    final_epoch, newest_epoch = max(final, default=0), max(newest, default=0)
    if final_epoch and final_epoch >= newest_epoch:
        return Weights(*newest_paths["final"], "final", "the final weights")
    if not newest_epoch:
        raise UserError(f"{run.checkpoints}: no checkpoint yet; resume its training first")
    why = "training has not ended"
    if final_epoch:
        why = f"the final ones are of epoch {final_epoch}, and training went on to {newest_epoch}"
    for path in newest_paths["best"]:
        return Weights(path, "best", f"the weights of the best epoch ({why})")
    return Weights(*newest_paths["newest"], "newest", f"the weights of the newest epoch ({why})")


def scores_are_of(scores: dict[str, Any], weights: Weights) -> bool:
    """Returns whether the content of scores.json is of the `weights`.

    Older runs do not say which weights they scored: those were the final ones of an epoch.
    """
    if "checkpoint" in scores:
        return scores["checkpoint"] == weights.record
    return weights.kind == "final" and scores.get("epochs") == weights.epoch
