"""A run that begins with the weights and the tokenizer of another one (--from)."""

import dataclasses
import hashlib
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from nmt import UserError
from nmt.corpus.source import CorpusSource
from nmt.messages import log
from nmt.network.factory import build_transformer
from nmt.options import Options
from nmt.runs import listing
from nmt.runs.claim import INHERITED, Origin
from nmt.runs.folder import Run
from nmt.runs.parameters import Parameters, in_effect
from nmt.runs.run_tokenizer import load_tokenizer
from nmt.runs.weights import choose_weights
from nmt.text.imported import Imported
from nmt.text.tokenizer import Tokenizer
from nmt.training import checkpoints
from nmt.training.checkpoint_files import paths as checkpoint_paths
from nmt.training.named_state import NamedState

NEW_ENTRY_SHARE = 0.1  # of initial values, in the weights of new entries of the vocabulary


class Parent(NamedTuple):
    """The run to begin with."""

    run: Run
    options: Options
    weights: str  # the path of a checkpoint: the one that commands use
    sha256: str  # of the weights

    @property
    def origin(self) -> Origin:
        """What params.json says of the weights."""
        return Origin(str(self.run.path), self.sha256)

    @property
    def imported(self) -> Imported | None:
        """The imported model that it, or the first of its parents, was made of."""
        return self.run.parameters.imported

    @property
    def tokenizer(self) -> Tokenizer:
        """The Tokenizer; a UserError if it is not that of the run."""
        return load_tokenizer(self.run)

    def initialize(self, variables: Sequence[keras.Variable]) -> None:
        """Sets the weights that a network of the same sizes trains to the parent's.

        Its vocabulary may have more entries, which follow the parent's.
        """
        # All variables of a network are in its checkpoint: with other dropout rates, other ones.
        tokenizer = self.tokenizer
        parent_network = build_transformer(
            self.options, tokenizer.vocab_size, target_vocab_size=tokenizer.target.vocab_size
        )
        checkpoints.restore(NamedState(parent_network), self.weights)
        both = zip(variables, parent_network.trainable_variables, strict=True)
        for variable, weights in both:
            variable.assign(with_new_entries(weights.numpy(), variable.numpy()))

    def warn_of_held_out(self, source: CorpusSource, train_sha256: str) -> None:
        """Logs that pairs held out of the new run's text may be known from the parent's."""
        held_out = source.held_out
        if held_out and self.run.parameters.hashes.get("train_sha256") != train_sha256:
            log.warning(
                f"The pairs held out for {' and '.join(held_out)} may occur in the text that "
                f"{self.run.path} was trained on, and their scores then measure memorization. Name "
                f"files that it was not: {' '.join(f'--{split}' for split in held_out)}"
            )


def with_new_entries(weights: np.ndarray, initial: np.ndarray) -> np.ndarray:
    """Returns the weights of a vocabulary with those of new entries, the last ones, added.

    They are the mean of all others, so that no new entry is likelier than all known ones, and a
    little of their own initial values, so that they differ. Along one axis there may be fewer
    weights than in `initial`.
    """
    new = [(0, size - known) for size, known in zip(initial.shape, weights.shape, strict=True)]
    if not np.any(new):
        return weights
    extended = np.pad(weights, new, mode="mean")
    is_known = np.pad(np.ones_like(weights), new)
    return extended + NEW_ENTRY_SHARE * initial * (1 - is_known)


def merge_symbols(inherited: str, given: str) -> str:
    """Returns the symbols of a run and those of a flag, words separated by spaces, each once."""
    return " ".join(dict.fromkeys(f"{inherited} {given}".split()))


def inherit(
    inherited: Options,
    given: dict[str, Any],
    options: Options,
    preset: str | None = None,
) -> Options:
    """Returns the options of a run that begins with another: those of the other, but for flags.

    `options` are those of the flags and the preset. A UserError if a flag names another size or
    tokenizer than the other run has; more symbols may be named.
    """
    given = dict(given)
    symbols = merge_symbols(inherited.symbols, given.pop("symbols", ""))
    wanted = dataclasses.replace(inherited, **given)
    for name in INHERITED:
        if in_effect(name, wanted) != in_effect(name, inherited):
            raise UserError(
                f"--{name.replace('_', '-')} {given[name]}: the run that --from names has "
                f"{in_effect(name, inherited)}; leave the flag out"
            )
    values = options
    if not preset:  # but for what depends on this machine and on the new text
        values = dataclasses.replace(inherited, xla=options.xla)
        if inherited.tokenize != "none":  # else the text is tokenized, the new one, too
            values = dataclasses.replace(values, tokenize=options.tokenize)
    fixed = {name: getattr(inherited, name) for name in INHERITED}
    fixed |= dict(symbols=symbols)
    return dataclasses.replace(values, **(given | fixed))


def find(
    path: str | None, run: Run, resumed: Parameters | None = None, text_is_named: bool = True
) -> Parent | None:
    """Returns the Parent of a run; None if it needs none.

    A trained run has weights of its own, and needs no parent that is not there any more. Without a
    path, it is that of the resumed run, if nothing of it is trained yet. A UserError if there is no
    such run, or it is the new run itself, or the text is not named.
    """
    if path is None and resumed and not run.trained:
        path = resumed.parent
    if not path:
        return None
    try:
        return _load(path, run, text_is_named or resumed is not None)
    except UserError as error:
        if not (run.resumable and run.resumable.parent):
            raise
        log.info(f"{error}. The run has weights of its own and is resumed without it.")
        return None


def _load(path: str, child: Run, text_is_named: bool) -> Parent:
    run = listing.find(path)
    if os.path.realpath(child.path) == os.path.realpath(run.path):
        raise UserError(f"--from {path}: is the new run itself; name another --run")
    if not text_is_named:
        raise UserError("--from goes with --train or --dataset: name the text to continue on")
    weights = choose_weights(run)
    sha256 = digest(weights.path)
    options = run.parameters.options
    if not child.resumable:
        log.info(f"Beginning with {weights.path}, {weights.reason}.")
        return Parent(run, options, weights.path, sha256)
    begun_with = child.resumable.hashes.get("parent_sha256")
    if sha256 != begun_with:  # perhaps the parent was trained further meanwhile
        for folder in reversed(run.weight_folders):
            for path in checkpoint_paths(folder):
                if digest(path) == begun_with:
                    return Parent(run, options, path, begun_with)
    return Parent(run, options, weights.path, sha256)


def digest(path: str) -> str:
    """Returns the SHA-256 of the weights in a checkpoint."""
    with open(f"{path}.data-00000-of-00001", "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
