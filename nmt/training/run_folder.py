"""The run folder: what a training run writes, and later commands read. Without TensorFlow.

params.json        every parameter, and the data     tokenizer.model    SentencePiece
checkpoints/       newest, timed/, best/, final/     history.json       metrics by epoch
logs/              TensorBoard                       plots/             PNG
engine/            final/ again, for CTranslate2
cache/             tokenized text, while it trains   lock               held while it trains
translations.txt   source, reference, hypothesis     scores.json        test scores
confidence.json    of the calibration                explorer.html, export/  of commands
target.model       SentencePiece of the target, of a model imported with two
progress.json      seconds of an epoch that was interrupted
held-out-validation.tsv, held-out-test.tsv           pairs that are not trained on
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from nmt import UserError, output
from nmt.reading import read_file
from nmt.training.checkpoint_files import paths

LATEST = 2**37  # seconds from 1970 to the year 6325: no epoch has ended later
HELD_OUT_FILES = {  # of pairs that are held out of training files, by flag
    "valid": "held-out-validation.tsv",
    "test": "held-out-test.tsv",
}


class RunFolder:
    """The paths of a run folder, which is created when something is first written into it.

    `worker_folder` is the folder to write to, if that is another one; see cluster.py.
    """

    def __init__(self, path: str | Path, worker_folder: str | Path | None = None):
        self.path, self.worker_folder = Path(path), Path(worker_folder or path)
        self.tokenizer = self.path / "tokenizer.model"
        self.target_tokenizer = self.path / "target.model"  # of some imported models
        self.checkpoints = self.path / "checkpoints"  # of epochs
        self.timed = self.checkpoints / "timed"  # within an epoch
        self.best = self.checkpoints / "best"  # of the best validation, by loss or BLEU
        self.final = self.checkpoints / "final"  # of the final weights; see averaging.py
        self.weight_folders = (self.checkpoints, self.best, self.final)  # that commands load from
        self.engine = self.path / "engine"  # weights as CTranslate2 reads them
        self.logs = self.worker_folder / "logs"
        self.plots = self.worker_folder / "plots"
        self.cache = self.worker_folder / "cache"  # tokenized text, while training

    @property
    def trained(self) -> bool:
        """Whether there is a training run to resume."""
        return bool(paths(self.checkpoints) or paths(self.timed))

    @property
    def has_final_weights(self) -> bool:
        """Whether there are final weights: those of a run that ended, or a copy of these alone."""
        return bool(paths(self.final))

    @property
    def has_weights(self) -> bool:
        """Whether there are any weights to translate with."""
        return self.trained or self.has_final_weights

    def check_can_train(self) -> None:
        """Raises a UserError if the folder holds final weights alone: a copy, or an import."""
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
        """Writes bytes, or content as JSON, to a file atomically, unless it has it already."""
        if not isinstance(content, bytes):
            content = (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
        with contextlib.suppress(OSError):
            if (self.worker_folder / name).read_bytes() == content:
                return
        output.write(self.worker_folder / name, content, "a writable --run, such as a copy")

    def read_bytes(self, name: str) -> bytes | None:
        """Returns the content of a file of the run; None if there is no such file."""
        path = self.path / name
        try:
            return read_file(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(path, error) from None

    def read(self, name: str, default: Any = None) -> Any:
        """Returns the content of a JSON file of the run; `default` if there is no such file.

        A UserError if it cannot be read, or is neither a list nor an object.
        """
        data = self.read_bytes(name)
        return default if data is None else parse_json(self.path / name, data)

    def history(self) -> list[dict[str, Any]]:
        """Returns the metrics of each epoch, by name; a UserError if they are damaged."""
        needed = ("epoch", "loss", "accuracy", "val_loss", "val_accuracy", "seconds")
        try:
            epochs = self.read("history.json", [])
        except UserError:
            epochs = [None]
        for metrics in epochs:
            if not isinstance(metrics, dict) or not (
                all(isinstance(metrics.get(name), (int, float)) for name in needed)
                and isinstance(ended := metrics.get("ended", 0), (int, float))
                and 0 <= ended < LATEST
            ):
                raise UserError(
                    f"{self.path / 'history.json'}: does not hold the metrics of epochs; remove it "
                    "to resume without them"
                )
        return list(epochs)


def parse_json(path: Path, data: bytes) -> Any:
    """Returns the list or object that a JSON file holds; a UserError if it holds something else."""
    try:
        content = json.loads(data.decode())
    except RecursionError:
        raise unreadable(path, "is nested too deep") from None
    except ValueError as error:
        raise unreadable(path, error) from None
    if not isinstance(content, (dict, list)):
        raise unreadable(path, "is neither a list nor an object")
    return content


def unreadable(path: Path, reason: object) -> UserError:
    """Returns the UserError of a file of a run that cannot be read, for a reason."""
    fix = "make it readable" if isinstance(reason, PermissionError) else "restore the file"
    text = getattr(reason, "strerror", None) or reason  # else it holds the path again
    return UserError(f"{path}: {text}; {fix}, or name another run")
