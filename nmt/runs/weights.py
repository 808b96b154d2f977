"""Which weights of a run the commands use, why these, and which scores are of them.

Without TensorFlow: the list of all runs names them, too.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from nmt import UserError
from nmt.reading import read_file
from nmt.training.checkpoint_files import number, paths
from nmt.training.run_folder import RunFolder

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
        return hashlib.sha256(read_file(Path(f"{self.path}.index"))).hexdigest()

    @property
    def modified(self) -> float:
        """When they were written, in seconds since 1970."""
        return Path(f"{self.path}.index").stat().st_mtime

    @property
    def record(self) -> dict[str, str | int]:
        """What scores.json holds of the weights that the scores are of."""
        return {"kind": self.kind, "epoch": self.epoch, "sha256": self.sha256}


def choose_weights(run: RunFolder, kind: str | None = None) -> Weights:
    """Returns the Weights of a run that all commands use.

    They are the final ones, unless training went on after these were chosen, or has not come to
    that; then the best epoch's, or the newest one's if none is validated yet. The user may choose
    another kind. A UserError if there is no such checkpoint.
    """
    folders = {"final": run.final, "newest": run.checkpoints, "best": run.best}
    if kind and kind not in folders:
        raise UserError(f"checkpoint {kind!r}: there are {', '.join(KINDS)}; name one of them")
    newest_paths = {name: paths(folder)[-1] for name, folder in folders.items() if paths(folder)}
    if kind:
        if kind not in newest_paths:
            raise UserError(f"{folders[kind]}: no checkpoint yet; name another checkpoint")
        return Weights(newest_paths[kind], kind, f"the {kind} weights, as chosen")
    epochs = {name: number(path) for name, path in newest_paths.items()}
    final_epoch, newest_epoch = epochs.get("final", 0), epochs.get("newest", 0)
    if final_epoch and final_epoch >= newest_epoch:
        return Weights(newest_paths["final"], "final", "the final weights")
    if not newest_epoch:
        raise UserError(f"{run.checkpoints}: no checkpoint yet; resume its training first")
    why = "training has not ended"
    if final_epoch:
        why = f"the final ones are of epoch {final_epoch}, and training went on to {newest_epoch}"
    name = "best" if "best" in newest_paths else "newest"
    return Weights(newest_paths[name], name, f"the weights of the {name} epoch ({why})")


def scores_are_of(scores: dict[str, Any], weights: Weights) -> bool:
    """Returns whether the content of scores.json is of the `weights`."""
    return scores.get("checkpoint") == weights.record
