"""The tokenizer of a run, and whether its network fits into memory: without TensorFlow."""

from nmt import UserError
from nmt.machine import memory
from nmt.options import Options
from nmt.reading import read_file
from nmt.runs.folder import Run
from nmt.text.imported import Imported
from nmt.text.tokenizer import Tokenizer
from nmt.training.run_folder import unreadable

LOWER = "lower --d-model, --dff, --num-layers, --decoder-layers or --vocab-size"


def check_size(
    options: Options, vocab_size: int, weight_bytes: int = 16,
    target_vocab_size: int | None = None, advice: str = LOWER,
) -> None:  # fmt: skip
    """Raises a UserError if a Transformer of these sizes cannot fit into memory.

    In training, 16 bytes per weight are for its gradient and Adam's two moments, too (Muon has one
    of a matrix within a layer, but its products take memory, too).
    """
    needed = weight_bytes * options.parameters(vocab_size, target_vocab_size)
    if needed > memory():
        raise UserError(
            f"a network of these sizes takes {needed / 2**30:,.0f} GiB at least, and this "
            f"machine has {memory() / 2**30:,.0f}; {advice}"
        )


def load_tokenizer(
    run: Run, spells_numbers: bool | None = None, imported: Imported | None = None
) -> Tokenizer:
    """Returns the Tokenizer of a run; a UserError if its file is missing or damaged.

    The other arguments are of a new run, which inherits them; None for those of its parameters.
    """
    if spells_numbers is None and run.has_weights and run.saved_parameters:
        spells_numbers = run.saved_parameters.spells_numbers
    if imported is None and run.has_weights and run.saved_parameters:
        imported = run.saved_parameters.imported
    try:
        model, target_model = read_file(run.tokenizer), None
        if imported and imported.has_two_models:
            target_model = read_file(run.target_tokenizer)
        tokenizer = Tokenizer(model, imported, target_model, bool(spells_numbers))
    except OSError as error:
        raise unreadable(error.filename or run.tokenizer, error) from None
    except (RuntimeError, ValueError, IndexError):
        tokenizer = None
    saved = (
        run.saved_parameters if run.has_weights else None
    )  # else the file is of the newest start
    trained_with = saved and saved.hashes.get("tokenizer_sha256")
    if tokenizer is None or trained_with not in (None, tokenizer.sha256):
        files = str(run.tokenizer)
        if imported and imported.has_two_models:
            files += f" and {run.target_tokenizer.name}"
        raise UserError(
            f"{files}: not the SentencePiece model that the run was trained with; restore the "
            "file, or name another run"
        )
    return tokenizer
