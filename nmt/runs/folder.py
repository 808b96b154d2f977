"""A run: its folder, and its parameters, which params.json holds. See parameters.py, too."""

import functools
import os
from pathlib import Path

from nmt import UserError
from nmt.runs.parameters import Parameters, parse
from nmt.runs.weights import choose_weights, scores_are_of
from nmt.training.checkpoint_files import lost_index
from nmt.training.run_folder import RunFolder, parse_json

# The contents of a run folder.
RUN_FILES = (
    "params.json", "tokenizer.model", "target.model", "history.json", "progress.json",
    "scores.json", "confidence.json", "translations.txt", "held-out-validation.tsv",
    "held-out-test.tsv", "lock", "cache", "checkpoints", "engine", "explorer.html", "export",
    "logs", "plots",
)  # fmt: skip
RESTORE = "restore it, or train again in a new --run"


class Run(RunFolder):
    """A RunFolder, and what params.json says of the run."""

    @functools.cached_property
    def saved_parameters(self) -> Parameters | None:
        """What params.json holds, read once; None without any content."""
        path = self.path / "params.json"
        data = self.read_bytes(path.name)
        if data is None or not data.strip(b"\0"):  # a loss of power may leave its size alone
            return None
        content = parse_json(path, data)
        try:
            return parse(content)
        except UserError as error:
            raise UserError(f"{path}: {error}; restore the file, or name another run") from None

    @property
    def parameters(self) -> Parameters:
        """The parameters of a trained run; a UserError if there are none."""
        if self.saved_parameters is None:
            raise UserError(f"{self.path / 'params.json'}: is missing or empty; {RESTORE}")
        return self.saved_parameters

    @property
    def resumable(self) -> Parameters | None:
        """The parameters of the run to resume; None if nothing is trained, or they are lost."""
        return self.saved_parameters if self.trained else None

    def lost(self, weights: bool = True) -> str:
        """Returns as text the first file or folder that a trained run lacks; "" if there is none.

        Without `weights` it may lack all of them, but not their index alone.
        """
        indexes = filter(None, map(lost_index, (*self.weight_folders, self.timed)))
        if index := next(indexes, None):
            return f"{index}: is missing, beside its weights"
        if not (self.has_weights or (self.path / "history.json").exists()):  # it is not trained
            return ""
        beside = "intact checkpoints" if self.has_weights else "history.json"
        for path, is_there in (
            (self.path / "params.json", self.saved_parameters is not None),
            (self.tokenizer, self.tokenizer.exists()),
            (self.checkpoints, self.has_weights or not weights),
        ):
            if not is_there:
                return f"{path}: is {'empty' if path.exists() else 'missing'}, beside {beside}"
        return ""

    def check_can_train(self) -> None:
        """See RunFolder; a UserError, too, if weights are there that cannot be read as they are."""
        if lost := self.lost(weights=False):
            raise UserError(f"{lost}; {RESTORE}")
        super().check_can_train()

    def check_trained(self, weights: bool = True) -> None:
        """Raises a UserError unless this is the folder of a trained run, with weights if needed."""
        check_links(self)
        if lost := self.lost(weights):
            raise UserError(f"{lost}; {RESTORE}")
        if (
            self.saved_parameters is None
            or not self.tokenizer.exists()
            or (weights and not self.has_weights)
        ):
            raise UserError(f"{self.path}: no trained run; train it first, or name another run")
        check_network(self)


def check_network(run: Run) -> None:
    """Raises a UserError if the weights were scored with another network than params.json names.

    A checkpoint does not show these options: its variables are the same.
    """
    try:
        scores = run.read("scores.json", {})
        scored = dict(scores["options"]) if scores_are_of(scores, choose_weights(run)) else {}
    except (UserError, AttributeError, KeyError, TypeError, ValueError):
        return  # there are no scores, or damaged ones
    for name in ("num_heads", "activation", "norm_epsilon"):
        value = getattr(run.parameters.options, name)
        if scored.get(name, value) != value:
            raise UserError(
                f"{run.path / 'params.json'}: {name} is {value}, and {scored[name]} in scores.json "
                "of the same weights; restore the file"
            )


def check_links(folder: RunFolder) -> None:
    """Raises a UserError if a link in a run folder leads out of it.

    Writing or removing files of the run would write or remove files elsewhere.
    """
    home = Path(os.path.realpath(folder.path))  # a link again, if it leads to itself
    run_files = [
        folder.path / name for file_name in RUN_FILES for name in (file_name, f"{file_name}.tmp")
    ]
    parts = [*folder.weight_folders, folder.timed]
    parts += [folder.path / name for name in ("cache", "engine", "export", "logs", "plots")]
    for part in parts:
        run_files += part.iterdir() if part.is_dir() else ()
    for path in run_files:
        if not path.is_symlink():
            continue
        target = Path(os.path.realpath(path))
        if target.is_symlink() or not target.is_relative_to(home):
            raise UserError(f"{path}: leads out of the run folder; replace the link with a copy")
