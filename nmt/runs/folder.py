"""The run folder: what a training run writes, and later commands read. See parameters.py, too.

params.json        every parameter, and the data     tokenizer.model    SentencePiece
checkpoints/       newest, timed/, best/, final/     history.json       metrics by epoch
logs/              TensorBoard                       plots/             PNG
cache/             tokenized text, while it trains   lock               held while it trains
translations.txt   source, reference, hypothesis     scores.json        test scores
progress.json      seconds of an epoch that was interrupted
held-out-validation.tsv, held-out-test.tsv           pairs that are not trained on
"""

import contextlib
import dataclasses
import fcntl
import functools
import io
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import params
from nmt import UserError, machine, output
from nmt.messages import log
from nmt.runs import safety
from nmt.runs.parameters import Parameters, in_effect, parse
from nmt.text.protected import Protection

if TYPE_CHECKING:  # it imports this module, and TensorFlow
    from nmt.runs.parent import Parent

# A run may be resumed with other values of these; all others identify the run. So do its data, by
# content, not by name.
CHANGEABLE_PARAMETERS = (
    "data_path", "epochs", "patience", "checkpoint_minutes", "average", "beam", "length_penalty",
    "tokenize", "lowercase", "test_sha256",
)  # fmt: skip

# The names of hashed contents in messages.
HASH_LABELS = {
    "train_sha256": "training text",
    "validation_sha256": "validation text",
    "test_sha256": "test text",
    "tokenizer_sha256": "tokenizer",
    "parent_sha256": "run that --from names",
}

NOTES = {  # why a parameter of CHANGEABLE_PARAMETERS identifies this run
    "epochs": " (a cosine schedule depends on the number of epochs)",
    **dict.fromkeys(
        params.names(params.SCORING),
        " (--validate-by bleu compares epochs by it; to score otherwise: evaluate)",
    ),
}

HELD_OUT_FILES = {  # of pairs that are held out of training files, by flag
    "valid": "held-out-validation.tsv",
    "test": "held-out-test.tsv",
}


class Run:
    """A run folder, created when something is first written into it.

    Args:
      path: of the folder.
      worker_folder: the folder to write to, if that is another one; see cluster.py.
    """

    def __init__(self, path: str | Path, worker_folder: str | Path | None = None):
        self.path, self.worker_folder = Path(path), Path(worker_folder or path)
        self.tokenizer = self.path / "tokenizer.model"
        self.checkpoints = self.path / "checkpoints"  # of epochs
        self.timed = self.checkpoints / "timed"  # within an epoch
        self.best = self.checkpoints / "best"  # of the best validation, by loss or BLEU
        self.final = self.checkpoints / "final"  # of the final weights; see averaging.py
        self.logs = self.worker_folder / "logs"
        self.plots = self.worker_folder / "plots"
        self.cache = self.worker_folder / "cache"  # tokenized text, while training
        self.unconfirmed: Parameters | None = None  # in place of lost ones; see `claim`

    @property
    def trained(self) -> bool:
        """Whether there is a training run to resume."""
        return bool([*self.checkpoints.glob("ckpt-*.index"), *self.timed.glob("ckpt-*.index")])

    @property
    def has_final_weights(self) -> bool:
        """Whether there are final weights: those of a run that ended, or a copy of these alone."""
        return any(self.final.glob("ckpt-*.index"))

    @property
    def has_weights(self) -> bool:
        """Whether there are any weights to translate with."""
        return self.trained or self.has_final_weights

    @functools.cached_property
    def parameters(self) -> Parameters | None:
        """What params.json holds, read once; None without any content.

        Raises:
          UserError: the file is damaged, or holds a value that is not allowed.
        """
        path = self.path / "params.json"
        content = self.read(path.name, empty=None)
        if content is None:
            return None
        try:
            return parse(content)
        except UserError as error:
            raise UserError(f"{path}: {error}; restore the file, or name another run") from None

    @property
    def resumable(self) -> Parameters | None:
        """The parameters of the run to resume; None if nothing is trained, or they are lost."""
        return self.parameters if self.trained else None

    @property
    def training_scheme(self) -> int:
        """The scheme that the run began with, once it is claimed; see seeds.py."""
        return (self.unconfirmed or self.parameters).training_scheme

    @property
    def lost_parameters(self) -> str:
        """What is wrong, as text, if there are checkpoints but no parameters; else ""."""
        if not self.trained or self.parameters is not None:
            return ""
        path = self.path / "params.json"
        return f"{path}: is {'empty' if path.exists() else 'missing'}, beside intact checkpoints"

    def without_parameters(self) -> UserError:
        """Returns the UserError of a run that has checkpoints but no parameters."""
        return UserError(
            f"{self.lost_parameters}; restore the file, or repeat the full command that trained "
            "the run (with its data and flags), which rebuilds it"
        )

    def check_trained(self, weights: bool = True) -> None:
        """Raises a UserError unless this is the folder of a trained run.

        Args:
          weights: False if the run needs no checkpoint.
        """
        safety.check_links(self)
        if self.lost_parameters:
            raise self.without_parameters()
        trained = self.parameters is not None and self.tokenizer.exists()
        if not trained or (weights and not self.has_weights):
            raise UserError(f"{self.path}: no trained run; train it first, or name another run")

    def lock(self) -> None:
        """Reserves the folder for this process, which is to train, until it ends.

        Until then another process may have trained here: the parameters are read again.

        Raises:
          UserError: another process has reserved it, or it cannot be written to, or it holds
            weights that training would replace and cannot resume.
        """
        try:
            output.make_folder(self.worker_folder)
            safety.check_is_run_folder(self.worker_folder)
            safety.check_links(self)
            self.locked = open(self.worker_folder / "lock", "a+b", buffering=0)  # noqa: SIM115  # until the end
            fcntl.flock(self.locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.locked.seek(0)
            if self.locked.read() != safety.LOCK:
                self.locked.truncate(0)
                self.locked.write(safety.LOCK)
                output.flush_tree(self.worker_folder / "lock")
                output.flush(self.worker_folder)
            self.__dict__.pop("parameters", None)
            for name in safety.RUN_FILES:  # of a process that was killed while writing
                (self.worker_folder / f"{name}.tmp").unlink(missing_ok=True)
        except BlockingIOError:
            raise UserError(
                f"{self.path}: another process is training here; wait for it, or name another --run"
            ) from None
        except OSError as error:
            raise UserError(
                f"{self.path}: {error.strerror}; name a writable folder with --run"
            ) from None
        if self.has_final_weights and not self.trained:
            raise UserError(
                f"{self.path}: holds the final weights of a run, and none to resume; name another "
                f"--run, perhaps one that begins with these: --from {self.path}"
            )

    def remove_cache(self) -> None:
        """Removes the tokenized text, and nothing else."""
        for path in self.cache.glob("ids*"):
            path.unlink()
        with contextlib.suppress(OSError):  # none, or not empty
            self.cache.rmdir()

    def write(self, name: str, content: Any) -> None:
        """Writes a file of the run atomically, unless it has that content already.

        Args:
          name: of the file.
          content: bytes, or what is written as JSON.

        Raises:
          UserError: the folder cannot be written to.
        """
        if not isinstance(content, bytes):
            content = (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
        with contextlib.suppress(OSError):
            if (self.worker_folder / name).read_bytes() == content:
                return
        output.write(self.worker_folder / name, content)

    def read(self, name: str, default: Any = None, empty: Any = ...) -> Any:
        """Returns the content of a JSON file of the run.

        Args:
          name: of the file.
          default: what is returned if there is no such file.
          empty: what is returned if a loss of power took its content; otherwise it is an error.

        Raises:
          UserError: it cannot be read, or is neither a list nor an object.
        """
        path = self.path / name
        try:
            data = safety.read_file(path)
            if empty is not ... and not data.strip(b"\0"):  # its size may be left
                return empty
            content = json.loads(data.decode())
            if not isinstance(content, (dict, list)):
                raise ValueError("is neither a list nor an object")
            return content
        except (FileNotFoundError, NotADirectoryError):
            return default
        except RecursionError:
            error = "is nested too deep"
        except (OSError, ValueError) as unread:
            error = unread
        raise UserError(f"{path}: {error}; restore the file, or name another run")

    def first_translations(self, number: int) -> list[list[str]]:
        """Returns source, reference and translation of the first test lines.

        Args:
          number: of lines, at most; there are none before the run is scored, or if the file of
            translations is damaged.
        """
        try:
            text = safety.read_file(self.path / "translations.txt").decode()
            lines = itertools.islice(io.StringIO(text), number)
            rows = [line.rstrip("\n").split("\t") for line in lines]
        except (OSError, ValueError):
            return []
        return rows if all(len(row) == 3 for row in rows) else []

    def check_text(self, split: str, sha256: str) -> None:
        """Raises a UserError if the text of a split is not what the run was trained on.

        Args:
          split: "train", "validation" or "test".
          sha256: its current fingerprint.
        """
        if self.parameters.hashes.get(f"{split}_sha256") != sha256:
            raise UserError(
                f"{self.path}: the {HASH_LABELS[f'{split}_sha256']} has changed since the run was "
                "trained (the files, or the split); restore it, or name files to evaluate"
            )

    def claim(
        self,
        options: dict,
        corpus: dict,
        parts: int = 1,
        parent: "Parent | None" = None,
        protection: Protection | None = None,
        **hashes: str,
    ) -> int:
        """Saves the parameters of a new run, or checks that those of a resumed one are the same.

        Those of a run that has lost its parameters are `unconfirmed`, and saved by `confirm`, once
        a checkpoint fits them.

        Args:
          options: values by name, one for each row of params.table().
          corpus: the source of the corpus, as JSON; the files may have moved.
          parts: of a batch on a device; see `devices.configure`. They are saved, not compared.
          parent: the parent.Parent of the run, if it is needed.
          protection: what the run learns about what must not change.
          hashes: of the training data, by name.

        Returns:
          A number that identifies the run.

        Raises:
          UserError: the folder holds another run; the message lists the differences.
        """
        hashes = {f"{name}_sha256": value for name, value in hashes.items()}
        if parent:
            hashes["parent_sha256"] = parent.sha256
        claimed = Parameters(
            options,
            corpus,
            hashes,
            parts,
            str(parent.run.path) if parent else None,
            machine.versions(),
            protection=protection,
        )
        if self.lost_parameters:
            log.warning(
                f"{self.lost_parameters}: rebuilt from this command, which must be the one that "
                "trained the run: only its sizes can be checked."
            )
            self.unconfirmed = claimed
        elif self.resumable:
            self._check_same(claimed)
            self._save_parameters(self._as_begun(claimed))
        else:
            self._save_parameters(claimed)
        return claimed.identity

    def confirm(self) -> None:
        """Saves the `unconfirmed` parameters, now that a checkpoint has turned out to fit them."""
        self._save_parameters(self.unconfirmed)
        self.unconfirmed = None

    def _check_same(self, claimed: Parameters) -> None:
        """Raises a UserError if a parameter that identifies the run differs from the saved one."""
        if differing := differences(self.resumable, claimed):
            raise UserError(
                f"{self.path}: holds another run ({'; '.join(differing)}); name another --run, "
                "or remove the folder"
            )

    def _as_begun(self, claimed: Parameters) -> Parameters:
        """Returns `claimed` with the training scheme, protection and parent, if any, of the saved.

        A resumed run may do without its parent: the command that resumes it need not name it.
        """
        saved = self.resumable
        claimed = dataclasses.replace(
            claimed, training_scheme=saved.training_scheme, protection=saved.protection
        )
        if not saved.parent:
            return claimed
        hashes = dict(claimed.hashes)
        if "parent_sha256" in saved.hashes:
            hashes["parent_sha256"] = saved.hashes["parent_sha256"]
        return dataclasses.replace(claimed, parent=saved.parent, hashes=hashes)

    def _save_parameters(self, parameters: Parameters) -> None:
        """Writes params.json."""
        self.write("params.json", parameters.content)
        self.parameters = parameters

    def history(self) -> list[dict]:
        """Returns the metrics of each epoch, a dict each; a UserError if they are damaged."""
        needed = ("epoch", "loss", "accuracy", "val_loss", "val_accuracy", "seconds")
        try:
            rows = self.read("history.json", [])
        except UserError:
            rows = [None]
        for row in rows:
            if not isinstance(row, dict) or not all(
                isinstance(row.get(name), (int, float)) for name in needed
            ):
                raise UserError(
                    f"{self.path / 'history.json'}: does not hold the metrics of epochs; remove it "
                    "to resume without them"
                )
        return list(rows)


def differences(saved: Parameters, claimed: Parameters) -> list[str]:
    """Returns as text each parameter that identifies a run and differs from the saved one."""
    changeable = set(CHANGEABLE_PARAMETERS)
    if claimed.options["schedule"] == "cosine":  # which was scheduled for a number of epochs
        changeable.remove("epochs")
    if claimed.options["validate_by"] == "bleu":  # which these define
        changeable -= {*params.names(params.SCORING)}
    differing = [
        f"{name} is {saved.options[name]!r} there, {value!r} here{NOTES.get(name, '')}"
        for name, value in claimed.options.items()
        if name not in changeable
        and value != saved.options[name]
        and in_effect(name, claimed.options) != in_effect(name, saved.options)
    ]
    differing += [
        f"the {HASH_LABELS[name]} differs"
        for name, value in claimed.hashes.items()
        if name not in changeable and value != saved.hashes.get(name)
    ]
    return differing
