"""Claiming a run folder for a training run: a new one, or the same as the one that it resumes."""

import dataclasses
from typing import NamedTuple

from nmt import UserError, machine
from nmt.corpus.source import CorpusSource
from nmt.neighbors import params
from nmt.options import Options
from nmt.runs.folder import Run
from nmt.runs.parameters import Parameters, in_effect
from nmt.text.imported import Imported
from nmt.training.run_folder import RunFolder

# A run may be resumed with other values of these; all others identify the run. So do its data, by
# content, not by name.
CHANGEABLE_PARAMETERS = (
    "data_path", "epochs", "max_steps", "save_every", "patience", "checkpoint_minutes", "average",
    "beam", "length_penalty", "tokenize", "lowercase", "test_sha256",
)  # fmt: skip

# What a run has of the one that it began with.
SIZES = (
    "num_layers", "decoder_layers", "d_model", "dff", "num_heads", "pre_norm", "tie_embeddings",
    "activation", "norm_epsilon", "logits_bias",
)  # fmt: skip
INHERITED = (*SIZES, *params.names(params.TEXT))  # but for more symbols

# The names of hashed contents in messages.
HASH_LABELS = {
    "train_sha256": "training text",
    "validation_sha256": "validation text",
    "test_sha256": "test text",
    "tokenizer_sha256": "tokenizer",
    "parent_sha256": "run that --from names",
}

NOTES = {  # why a parameter of CHANGEABLE_PARAMETERS identifies this run
    **dict.fromkeys(("epochs", "max_steps"), " (a cosine schedule depends on the number of steps)"),
    **dict.fromkeys(
        params.names(params.SCORING),
        " (--validate-by bleu compares epochs by it; to score otherwise: evaluate)",
    ),
}


class Origin(NamedTuple):
    """The weights that a run begins with: another run's."""

    path: str  # of that run
    sha256: str  # of the weights


def claim(
    run: Run,
    options: Options,
    corpus: CorpusSource,
    hashes: dict[str, str],
    parts: int = 1,
    origin: Origin | None = None,
    spells_numbers: bool = False,
    imported: Imported | None = None,
) -> Parameters:
    """Saves the parameters of a new run, or checks that those of a resumed one are the same.

    Returns them.

    Hashes are of the training data, by the names of HASH_LABELS without "_sha256". `parts` of a
    batch on a device are saved, not compared; `imported` is the model that the run, or the first of
    its parents, was made of. A UserError if the folder holds another run lists the differences.
    """
    hashes = {f"{name}_sha256": value for name, value in hashes.items()}
    if origin:
        hashes["parent_sha256"] = origin.sha256
    parent = origin.path if origin else None
    claimed = Parameters(
        options, corpus, hashes, parts, parent, machine.versions(), spells_numbers, imported
    )
    saved = run.resumable
    if saved:
        check_same(run, saved, claimed)
        claimed = as_begun(saved, claimed)
    run.write("params.json", claimed.content)
    return claimed


def check_same(folder: RunFolder, saved: Parameters, claimed: Parameters) -> None:
    """Raises a UserError if a parameter that identifies a run differs from the saved one."""
    differing = differences(saved, claimed)
    if not differing:
        return
    instead = "or remove the folder"
    if not differing.keys() & {*INHERITED, "tokenizer_sha256", "parent_sha256"}:
        instead = (
            f"or begin one with its weights and what is given here: --from {folder.path} --run NEW"
        )
    raise UserError(
        f"{folder.path}: holds another run ({'; '.join(differing.values())}); name another --run, "
        f"{instead}"
    )


def as_begun(saved: Parameters, claimed: Parameters) -> Parameters:
    """Returns `claimed` with the numbers and parent, if any, of the saved.

    A resumed run may do without its parent: the command that resumes it need not name it.
    """
    hashes = dict(claimed.hashes)
    if saved.parent and "parent_sha256" in saved.hashes:
        hashes["parent_sha256"] = saved.hashes["parent_sha256"]
    return dataclasses.replace(
        claimed, parent=saved.parent or claimed.parent, hashes=hashes,
        spells_numbers=saved.spells_numbers, imported=saved.imported,
    )  # fmt: skip


def differences(saved: Parameters, claimed: Parameters) -> dict[str, str]:
    """Returns by name, as text, what identifies a run and differs from what is saved."""
    changeable = set(CHANGEABLE_PARAMETERS)
    if claimed.options.schedule == "cosine":  # which was scheduled for a number of steps
        changeable -= {"epochs", "max_steps"}
    if claimed.options.validate_by == "bleu":  # which these define
        changeable -= {*params.names(params.SCORING)}
    saved_values = saved.options.by_name()
    differing = {
        name: f"{name} is {saved_values[name]!r} there, {value!r} here{NOTES.get(name, '')}"
        for name, value in claimed.options.by_name().items()
        if name not in changeable
        and value != saved_values[name]
        and in_effect(name, claimed.options) != in_effect(name, saved.options)
    }
    return differing | {
        name: f"the {HASH_LABELS[name]} differs"
        for name, value in claimed.hashes.items()
        if name not in changeable and value != saved.hashes.get(name)
    }
