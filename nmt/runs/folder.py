"""The run folder: what a training run writes, and later commands read.

params.json        every parameter, and the data     tokenizer.model    SentencePiece
checkpoints/       newest, timed/, best/, final/     history.json       metrics by epoch
logs/              TensorBoard                       plots/             PNG
cache/             tokenized text, while it trains   lock               held while it trains
translations.txt   source, reference, hypothesis     scores.json        test scores
progress.json      seconds of an epoch that was interrupted
"""

import contextlib
import fcntl
import hashlib
import json
from pathlib import Path

import params
from nmt import UserError, output
from nmt.messages import log
from nmt.runs import parameters, safety

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


class Run:
    """A run folder, created when something is first written into it.

    Args:
      path: of the folder.
      own: the folder to write to, if that is another one; see cluster.py.
    """

    def __init__(self, path, own=None):
        self.path, self.own = Path(path), Path(own or path)
        self.tokenizer = self.path / "tokenizer.model"
        self.checkpoints = self.path / "checkpoints"  # of epochs
        self.timed = self.checkpoints / "timed"  # within an epoch
        self.best = self.checkpoints / "best"  # of the best validation, by loss or BLEU
        self.final = self.checkpoints / "final"  # of the final weights; see averaging.py
        self.logs = self.own / "logs"
        self.plots = self.own / "plots"
        self.cache = self.own / "cache"  # tokenized text, while training
        self.claimed = None  # the content of params.json; see `claim`

    @property
    def trained(self):
        """Whether there is a training run to resume."""
        return bool([*self.checkpoints.glob("ckpt-*.index"), *self.timed.glob("ckpt-*.index")])

    @property
    def lost_parameters(self):
        """What is wrong, as text, if there are checkpoints but no parameters; else ""."""
        if not self.trained or self.parameters() is not None:
            return ""
        path = self.path / "params.json"
        return f"{path}: is {'empty' if path.exists() else 'missing'}, beside intact checkpoints"

    def without_parameters(self):
        """Returns the UserError of a run that has checkpoints but no parameters."""
        return UserError(
            f"{self.lost_parameters}; restore the file, or repeat the full command that trained "
            "the run (with its data and flags), which rebuilds it"
        )

    def lock(self):
        """Reserves the folder for this process, until it ends.

        Raises:
          UserError: another process has reserved it, or it cannot be written to.
        """
        try:
            output.make_folder(self.own)
            safety.check_is_run_folder(self.own)
            safety.check_links(self)
            self.locked = open(self.own / "lock", "a+b", buffering=0)  # noqa: SIM115  # until the end
            fcntl.flock(self.locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.locked.seek(0)
            if self.locked.read() != safety.LOCK:
                self.locked.truncate(0)
                self.locked.write(safety.LOCK)
                output.flush_tree(self.own / "lock")
                output.flush(self.own)
            for name in safety.RUN_FILES:  # of a process that was killed while writing
                (self.own / f"{name}.tmp").unlink(missing_ok=True)
        except BlockingIOError:
            raise UserError(
                f"{self.path}: another process is training here; wait for it, or name another --run"
            ) from None
        except OSError as error:
            raise UserError(
                f"{self.path}: {error.strerror}; name a writable folder with --run"
            ) from None

    def remove_cache(self):
        """Removes the tokenized text, and nothing else."""
        for path in self.cache.glob("ids*"):
            path.unlink()
        with contextlib.suppress(OSError):  # none, or not empty
            self.cache.rmdir()

    def write(self, name, content):
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
            if (self.own / name).read_bytes() == content:
                return
        output.write(self.own / name, content)

    def read(self, name, default=None):
        """Returns the content of a JSON file of the run, or `default` if there is no such file."""
        path = self.path / name
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(content, (dict, list)):
                raise ValueError("is neither a list nor an object")
            return content
        except (FileNotFoundError, NotADirectoryError):
            return default
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: {error}; restore the file, or name another run") from None

    def parameters(self):
        """Returns the content of params.json, under today's names; None without any content."""
        with contextlib.suppress(OSError):
            if not (self.path / "params.json").read_bytes().strip(b"\0"):
                return None  # after a loss of power, a file may have no content, or only its size
        saved = self.read("params.json")
        if isinstance(saved, list):
            raise UserError(f"{self.path / 'params.json'}: is not an object; name another run")
        return saved

    @property
    def saved(self):
        """The saved parameters of the run to be resumed; empty if nothing was trained yet."""
        saved = self.parameters() or {} if self.trained else {}
        parts, xla = saved.get("parts", 1), saved.get("xla", "off")
        if type(parts) is not int or not 1 <= parts <= 64 or xla not in ("on", "off"):
            raise UserError(
                f"{self.path / 'params.json'}: parts is {parts!r}, xla {xla!r}; restore the file, "
                "or name another run"
            )
        return saved

    def check_text(self, split, sha256):
        """Raises a UserError if the text of a split is not what the run was trained on.

        Args:
          split: "train", "validation" or "test".
          found: its current fingerprint.
        """
        saved = self.saved.get(f"{split}_sha256")
        if saved != sha256:
            raise UserError(
                f"{self.path}: the {HASH_LABELS[f'{split}_sha256']} has changed since the run was "
                "trained (the files, or the split); restore it, or name files to evaluate"
            )

    def claim(self, options, corpus, parts=1, parent=None, **hashes):
        """Saves the parameters of a new run, or checks that those of a resumed one are the same.

        Those of a run that has lost its parameters are saved by `save_parameters`, later.

        Args:
          options: values by name, one for each row of params.table().
          corpus: the source of the corpus, as JSON; the files may have moved.
          parts: of a batch on a device; see `devices.find`. They are saved, not compared.
          parent: the parent.Parent of the run, if it is needed.
          hashes: of the training data, by name.

        Returns:
          A number that identifies the run.

        Raises:
          UserError: the folder holds another run; the message lists the differences.
        """
        identity = {**options, **{f"{name}_sha256": value for name, value in hashes.items()}}
        if parent:
            identity["parent_sha256"] = parent.sha256
        parent_identity = {"parent": str(parent.run.path)} if parent else {}
        changeable = set(CHANGEABLE_PARAMETERS)
        if options["schedule"] == "cosine":  # which was scheduled for a number of epochs
            changeable.remove("epochs")
        if options["validate_by"] == "bleu":  # which these define
            changeable -= {*params.names(params.SCORING)}
        if self.lost_parameters:
            log.warning(
                f"{self.lost_parameters}: rebuilt from this command, which must be the one that "
                "trained the run: only its sizes can be checked."
            )
        elif self.trained:
            saved = params.values() | self.saved  # older runs used the defaults of newer parameters
            differing = [
                f"the {HASH_LABELS[name]} differs"
                if name in HASH_LABELS
                else f"{name} is {saved.get(name)!r} there, {identity[name]!r} here"
                + NOTES.get(name, "")
                for name in identity
                if name not in changeable and saved.get(name) != identity[name]
            ]
            parent_identity = {
                name: saved[name] for name in ("parent", "parent_sha256") if name in saved
            }
            if differing:
                raise UserError(
                    f"{self.path}: holds another run ({'; '.join(differing)}); name another --run, "
                    "or remove the folder"
                )
        self.claimed = {**parent_identity, **identity, "parts": parts, "corpus": corpus}
        if not self.lost_parameters:
            self.save_parameters()
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).digest()
        return int.from_bytes(digest[:6], "big")

    @property
    def rebuilt(self):
        """Whether the parameters are claimed anew, and not saved yet."""
        return self.claimed is not None and bool(self.lost_parameters)

    def save_parameters(self):
        """Writes params.json, as claimed: rebuilt parameters once checkpoints fit them."""
        self.write("params.json", self.claimed)

    def options(self, weights=True):
        """Returns the saved parameters of a trained run, one for each row of params.table().

        Args:
          weights: False if the run needs no checkpoint.

        Raises:
          UserError: nothing was trained here, or the file is damaged.
        """
        saved = self.options_so_far()
        if self.lost_parameters:
            raise self.without_parameters()
        if saved is None or not self.tokenizer.exists() or (weights and not self.trained):
            raise UserError(f"{self.path}: no trained run; train it first, or name another run")
        return saved

    def options_so_far(self):
        """Returns what `options` does, even before anything is trained; None if there are none."""
        safety.check_links(self)
        saved = self.parameters()
        if saved is None:
            return None
        saved = params.values() | saved  # older runs used the defaults of newer parameters
        wrong = parameters.check(saved)
        if not wrong and not is_source(saved.get("corpus")):
            wrong = "corpus names neither a data set nor files"
        if wrong:
            raise UserError(
                f"{self.path / 'params.json'}: {wrong}; restore the file, or name another run"
            )
        return saved

    def history(self):
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


def is_source(corpus):
    """Returns whether `corpus` is a source for `load_corpus`: a data set, or files by split."""
    if not isinstance(corpus, dict) or not ("dataset" in corpus or "train" in corpus):
        return False
    files = (names for split, names in corpus.items() if split not in ("dataset", "reverse"))
    return isinstance(corpus.get("dataset", ""), str) and all(
        isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        for names in files
    )
