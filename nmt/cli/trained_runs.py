"""What the commands share that use a trained run: finding it, and loading it."""

from __future__ import annotations

import contextlib
import hashlib
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt import UserError
from nmt.cli import flags, startup
from nmt.neighbors import params
from nmt.reading import read_file
from nmt.runs import listing
from nmt.runs.folder import Run
from nmt.training.checkpoint_files import paths

if TYPE_CHECKING:  # what takes a while to import
    from nmt.runs.loading import TrainedRun


def find_runs(args: Namespace, weights: bool = True) -> list[Run]:
    """Returns the runs that --run names, or the newest one. Without TensorFlow.

    Args:
      weights: False if a run that is named needs no checkpoint.

    Raises a UserError if there is no such run, or it is damaged.
    """
    return [listing.find(path, weights) for path in (args.run, *getattr(args, "ensemble", ()))]


def digest(run: Run) -> str:
    """Returns the SHA-256 of the parameters, the tokenizer and the checkpoints of a run.

    Of a checkpoint, the index: it holds a checksum of each weight.
    """
    files = [run.path / "params.json", run.tokenizer]
    for folder in run.weight_folders:
        files += sorted(Path(f"{path}.index") for path in paths(folder))
    sha256 = hashlib.sha256()
    for path in files:
        with contextlib.suppress(OSError):  # of a run that is trained meanwhile, or unreadable
            sha256.update(read_file(path))
    return sha256.hexdigest()


# Flags that do not change what a text is translated into, or whose content is compared.
NOT_COMPARED = {
    "input", "output", "text", "source", "target", "columns", "check",
    "review", "min_confidence", "strict", "run", "ensemble", "glossary", "prefixes", "closest_to",
    "command", "typed", "config", "log_level", "log_format",
}  # fmt: skip


def translation_settings(args: Namespace, runs: list[Run], digests: list[str]) -> dict[str, Any]:
    """Returns what translations depend on, besides their sources, by names for messages.

    Args:
      args: the parsed command line: all flags but NOT_COMPARED.
      runs: from `find_runs`; the options of the first hold where no flag is given.
    """
    settings = {name: value for name, value in vars(args).items() if name not in NOT_COMPARED}
    for run in runs[:1]:
        for name in params.names(params.SEARCH):
            if settings[name] is None:
                settings[name] = getattr(run.parameters.options, name)
    glossary = Path(args.glossary).read_bytes() if args.glossary else b""
    return settings | {"run": digests, "glossary": hashlib.sha256(glossary).hexdigest()}


@contextlib.contextmanager
def unchanged(runs: list[Run]) -> Iterator[list[str]]:
    """Yields the digests of runs, which a block loads; a UserError if they have changed then."""
    digests = [digest(run) for run in runs]
    yield digests
    if digests != [digest(run) for run in runs]:
        raise UserError("the run was trained further meanwhile; the same command tries again")


def load_runs(args: Namespace, runs: list[Run]) -> TrainedRun:
    """Returns the first run, loaded; TensorFlow is imported once something needs it.

    Several runs are an ensemble; see `loading.load_ensemble`.

    Args:
      args: the parsed command line, whose flags take precedence over the options of the run.
    """
    from nmt.runs import loading

    if getattr(args, "plain", False) or getattr(args, "eager", False):
        startup.import_tensorflow()
        from nmt.training import devices

        devices.run_plainly(args.command, args.plain, args.eager)
    changed = flags.given_parameters(args) | {
        name: getattr(args, name) for name in ("plain", "languages") if hasattr(args, name)
    }
    engine = loading.EngineChoice()
    if hasattr(args, "engine"):
        engine = loading.EngineChoice(args.engine, args.quantization)
    return loading.load_ensemble(
        runs, args.checkpoint, engine=engine, before_tensorflow=startup.import_tensorflow,
        search=flags.search_of(args), **changed,
    )  # fmt: skip
