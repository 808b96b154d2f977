"""`--config FILE`: values of flags that are not given, in the format of params.json."""

import json
from argparse import Namespace
from typing import Any

import params
from nmt import UserError
from nmt.messages import closest, log_once
from nmt.runs.folder import Run
from nmt.runs.parameters import as_now, error_in_row, is_source

SPLITS = ("train", "valid", "test")  # flags, and keys of a corpus
# What params.json says of a run, not of how it was trained.
OF_ONE_RUN = ("parts", "parent", "versions", "training_scheme", "protection")


def apply(args: Namespace) -> None:
    """Sets flags that are not given to the values of the file that `args.config` names.

    Args:
      args: the parsed command line of `train`.

    Raises:
      UserError: the file cannot be read, or holds an unknown key or a value that is not allowed.
    """
    content = _read(args.config)
    rows = {row.name: row for row in params.table()}
    for key, value in content.items():
        if key == "corpus" or key in OF_ONE_RUN or key.endswith("_sha256"):
            continue
        if key not in rows:
            close = closest(key, [*rows, "corpus"])
            meant = f"did you mean {close}?" if close else "docs/reference.md lists the names"
            raise UserError(f"{args.config}: unknown key {key!r} ({meant})")
        if wrong := error_in_row(rows[key], value):
            raise UserError(f"{args.config}: {wrong}")
        if key != "data_path" and getattr(args, key) is None:
            setattr(args, key, value)
    if not args.train and args.data_path is None:
        _apply_corpus(args, content)
    is_new = not (args.run and Run(args.run).trained)
    if content.get("parent") and not args.parent and is_new:
        log_once(
            f"{args.config}: that run began with the weights of {content['parent']}, and this one "
            "begins without; to repeat it, name them by --from"
        )


def _read(path: str) -> dict[str, Any]:
    """Returns the object that a JSON file holds."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise UserError(f"--config {path}: {error.strerror}; name a readable file") from None
    except ValueError as error:
        raise UserError(f"{path}: is not JSON ({error}); write it as a run's params.json") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: is not an object; write it as a run's params.json")
    return as_now(content)


def _apply_corpus(args: Namespace, content: dict[str, Any]) -> None:
    """Sets the flags of the data to the corpus of a file, or else to the data set that it names."""
    corpus = content.get("corpus")
    if corpus is None:
        args.data_path = content.get("data_path")
        return
    if not is_source(corpus):
        raise UserError(f"{args.config}: corpus names neither a data set nor files")
    args.data_path = corpus.get("dataset")
    for split in SPLITS:
        if getattr(args, split) is None:
            setattr(args, split, corpus.get(split))
    reverse = bool(corpus.get("reverse"))
    for key in ("languages", "columns"):
        if key in corpus and len(corpus[key]) < 2:
            raise UserError(f"{args.config}: {key} of the corpus names one, not two; correct it")
    if len(corpus.get("columns", ())) > 2:
        raise UserError(f"{args.config}: columns of the corpus names more than two; correct it")
    if args.languages is None and "languages" in corpus:  # of the run; the flag's are the files'
        args.languages = corpus["languages"][::-1] if reverse else corpus["languages"]
    if args.columns is None and "columns" in corpus:
        args.columns = tuple(corpus["columns"])
    args.sheet = args.sheet or corpus.get("sheet")
    args.no_header = args.no_header or corpus.get("header") is False
    args.reverse = args.reverse or reverse
