"""The run folder: what a training leaves behind, and what later commands and runs ask of it.

params.json        every parameter, and the data     tokenizer.model    SentencePiece
checkpoints/       newest, timed/, best/, final/     history.json       figures by epoch
logs/              TensorBoard                       plots/             PNG
cache/             tokenised text, while it trains   lock               held while it trains
translations.txt   source, reference, hypothesis     scores.json        what was measured
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
from pathlib import Path

import params
from beyond import UserError, flags

# A run may be resumed with another of these; every other parameter is part of what the run is. So
# are its data, by their content, not by their name.
FREE = (
    "data_path", "epochs", "patience", "checkpoint_minutes", "average", "beam", "length_penalty",
    "tokenize", "lowercase", "test_sha256",
)  # fmt: skip

# What a run's files are hashed for, as it is called.
CALLED = {
    "train_sha256": "training text",
    "validation_sha256": "validation text",
    "test_sha256": "test text",
    "tokenizer_sha256": "tokenizer",
}

# What is in a run folder.
OWN = (
    "params.json", "tokenizer.model", "history.json", "scores.json", "translations.txt", "lock",
    "cache", "checkpoints", "explorer.html", "export", "logs", "plots",
)  # fmt: skip


LOCK = b"A run folder of run_demo.py\n"  # what its lock holds


class Run:
    """A run folder, at `path`; made when something is first written into it.

    Args:
      own: the folder that is written to, where that is another.
    """

    def __init__(self, path, own=None):
        self.path, self.own = Path(path), Path(own or path)
        self.tokenizer = self.path / "tokenizer.model"
        self.checkpoints = self.path / "checkpoints"
        self.logs = self.own / "logs"
        self.plots = self.own / "plots"
        self.cache = self.own / "cache"  # tokenised text, there while a training runs

    @property
    def timed(self):
        """The folder of the checkpoint within an epoch."""
        return self.checkpoints / "timed"

    @property
    def best(self):
        """The folder of the checkpoint of the best validation, by loss or BLEU."""
        return self.checkpoints / "best"

    @property
    def final(self):
        """The folder of the checkpoint with which a training ended; see Training.average."""
        return self.checkpoints / "final"

    @property
    def trained(self):
        """Whether there is a training here to go on with."""
        return bool([*self.checkpoints.glob("ckpt-*.index"), *self.timed.glob("ckpt-*.index")])

    def check_links(self):
        """Raises a UserError where a link in the folder leads out of it, to what is not the run's.

        Whoever writes into the folder, or removes from it, would write and remove there.
        """
        home = self.path.resolve()
        own = [self.path / name for each in OWN for name in (each, f"{each}.tmp")]
        folders = [self.checkpoints, self.timed, self.best, self.final]
        folders += [self.path / name for name in ("cache", "export", "logs", "plots")]
        for folder in folders:
            own += folder.iterdir() if folder.is_dir() else ()
        for path in own:
            try:
                inside = not path.is_symlink() or path.resolve().is_relative_to(home)
            except RuntimeError:  # it leads to itself
                inside = False
            if not inside:
                raise UserError(f"{path}: leads out of the run folder; put a copy in its place")

    def check_ours(self):
        """Raises a UserError where the folder holds files, and none that says they are a run's.

        The program would write over files of the same names, and remove some of its own.
        """
        with contextlib.suppress(OSError):
            if (self.own / "lock").read_bytes() == LOCK:
                return
        try:  # a run of a program that left its lock empty
            saved = json.loads((self.own / "params.json").read_bytes())
        except (OSError, ValueError):
            saved = None
        ours = isinstance(saved, dict) and {"corpus", "num_layers", "tokenizer_sha256"} <= {*saved}
        others = [
            path for path in self.own.iterdir() if path.name != "lock" or path.lstat().st_size
        ]
        if others and not ours:
            raise UserError(
                f"{self.path}: is not empty, and no run folder; name a new or an empty folder with "
                "--run"
            )

    def lock(self):
        """Makes the folder this process's alone, as long as that lives.

        Raises:
          UserError: it is another's, or cannot be written to.
        """
        try:
            self.own.mkdir(parents=True, exist_ok=True)
            self.check_ours()
            self.check_links()
            self.locked = open(self.own / "lock", "ab", buffering=0)  # noqa: SIM115  # until the end
            fcntl.flock(self.locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.locked.truncate(0)
            self.locked.write(LOCK)
        except BlockingIOError:
            raise UserError(
                f"{self.path}: another training is at work here; wait for it, or name another --run"
            ) from None
        except OSError as error:
            raise UserError(
                f"{self.path}: {error.strerror}; name a writable folder with --run"
            ) from None

    def remove_cache(self):
        """Removes the tokenised text, and nothing that somebody else put beside it."""
        for path in self.cache.glob("ids*"):
            path.unlink()
        with contextlib.suppress(OSError):  # none, or not empty
            self.cache.rmdir()

    def write(self, name, content):
        """Writes a file of the run whole or not at all; `content` is bytes, or anything for JSON.

        Raises:
          UserError: the folder cannot be written to.
        """
        if not isinstance(content, bytes):
            content = (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
        write(self.own / name, content)

    def read(self, name, default=None):
        """Returns the content of a JSON file of the run, or `default` if there is no such file."""
        path = self.path / name
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(content, (dict, list)):
                raise ValueError("holds no list and no names")
            return content
        except (FileNotFoundError, NotADirectoryError):
            return default
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: {error}; restore the file, or name another --run") from None

    @property
    def saved(self):
        """The parameters of the run to be resumed, as saved; none where nothing was trained yet."""
        saved = self.read("params.json", {}) if self.trained else {}
        if isinstance(saved, list):
            raise UserError(f"{self.path / 'params.json'}: holds no names; name another --run")
        parts, xla = saved.get("parts", 1), saved.get("xla", "off")
        if type(parts) is not int or not 1 <= parts <= 64 or xla not in ("on", "off"):
            raise UserError(
                f"{self.path / 'params.json'}: parts is {parts!r}, xla {xla!r}; restore the file, "
                "or name another --run"
            )
        return saved

    def check_text(self, split, found):
        """Raises a UserError where a split's text is not that of the run.

        Args:
          split: "train", "validation" or "test".
          found: its fingerprint now.
        """
        saved = self.saved.get(f"{split}_sha256")
        if saved != found:
            raise UserError(
                f"{self.path}: the {CALLED[f'{split}_sha256']} is not what it was when the run was "
                "trained (the files, or the split, have changed); restore it, or name files to "
                "evaluate"
            )

    def claim(self, options, corpus, parts=1, **hashes):
        """Makes the folder this run's: saves its parameters, or checks that they are the same.

        Args:
          options: values by name, one for each row of params.table().
          corpus: what the run is trained on, as JSON; it may lie elsewhere than before.
          parts: of a batch on a device; see `devices.find`. They are saved, not compared.
          hashes: of what it is trained with, by name.

        A folder in which nothing was saved yet holds nothing to lose, and is taken over.

        Returns:
          A number made of all that, which another run would hardly have.

        Raises:
          UserError: the folder holds a run that differs, with the list of what does.
        """
        its = {**options, **{f"{name}_sha256": value for name, value in hashes.items()}}
        free = set(FREE)
        if options["schedule"] == "cosine":  # which was laid out for so many epochs
            free.remove("epochs")
        if self.trained:
            saved = params.values() | self.saved  # see `options`
            differing = [
                f"the {CALLED[name]} is another"
                if name in CALLED
                else f"{name} is {saved.get(name)!r} there, {its[name]!r} here"
                + " (a cosine schedule ends with its epochs)" * (name == "epochs")
                for name in its
                if name not in free and saved.get(name) != its[name]
            ]
            if differing:
                raise UserError(
                    f"{self.path}: holds another run ({'; '.join(differing)}); name another --run, "
                    "or remove the folder"
                )
        self.write("params.json", {**its, "parts": parts, "corpus": corpus})
        digest = hashlib.sha256(json.dumps(its, sort_keys=True).encode()).digest()
        return int.from_bytes(digest[:6], "big")

    def options(self):
        """Returns the saved parameters of a trained run, one for each row of params.table().

        Raises:
          UserError: nothing was trained here, or what was saved is damaged.
        """
        self.check_links()
        saved = self.read("params.json")
        if saved is None or not self.tokenizer.exists() or not self.trained:
            raise UserError(f"{self.path}: no trained run; train it first, or name another --run")
        # A run older than a parameter was trained as its default does.
        saved = params.values() | saved
        wrong = flags.check(saved)
        if not wrong and not names_data(saved.get("corpus")):
            wrong = "corpus names no data"
        if wrong:
            raise UserError(
                f"{self.path / 'params.json'}: {wrong}; restore the file, or name another --run"
            )
        return saved

    def history(self):
        """Returns the figures of each epoch, a dict each; a UserError if they are damaged."""
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
                    f"{self.path / 'history.json'}: holds no figures of epochs; remove it to go on "
                    "without those before"
                )
        return list(rows)


def write(path, content):
    """Writes a file of bytes whole or not at all; a UserError where it cannot be written."""
    unfinished = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name a writable place for it") from None


def names_data(corpus):
    """Whether this is what `load_corpus` takes: a data set's name, or lists of files by split."""
    if not isinstance(corpus, dict) or not ("dataset" in corpus or "train" in corpus):
        return False
    files = (names for split, names in corpus.items() if split != "dataset")
    return isinstance(corpus.get("dataset", ""), str) and all(
        isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        for names in files
    )


RUNS = Path("runs")  # where run folders are made that --run does not name


def default(corpus_name):
    """Returns the run folder for a corpus where --run names none: runs/<its name>."""
    return RUNS / re.sub(r"[^\w.]+", "-", corpus_name)


def newest():
    """Returns the run in RUNS whose parameters were written last; a UserError if there is none."""
    written = sorted(RUNS.glob("*/params.json"), key=lambda path: path.stat().st_mtime)
    written = [path for path in written if Run(path.parent).trained]
    if not written:
        raise UserError(
            f"{RUNS.resolve()}: no trained run there; train one first, or name its folder by --run"
        )
    return Run(written[-1].parent)
