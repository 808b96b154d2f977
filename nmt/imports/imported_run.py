"""A run made of an imported model: with it, all commands work as with a trained one."""

from __future__ import annotations

from pathlib import Path

from nmt import UserError, output
from nmt.imports.imported_model import ImportedModel
from nmt.messages import log
from nmt.network import marian
from nmt.network.factory import build_transformer
from nmt.runs.folder import Run
from nmt.runs.parameters import Parameters
from nmt.runs.restoring import save_final
from nmt.text.tokenizer import Tokenizer
from transformer_model import Transformer

EPOCH = 1  # that the weights are said to be of


def write_run(path: Path, model: ImportedModel) -> Transformer:
    """Writes the run folder of an imported model, whole or not at all. Returns its network.

    A UserError if a tensor is missing or of another shape, or the folder cannot be written.
    """
    vocabulary = model.vocabulary
    imported = vocabulary.imported(model.name, model.license)
    source, target = vocabulary.source.model, vocabulary.target.model
    two = vocabulary.has_two_models
    tokenizer = Tokenizer(source, imported, target if two else None)
    transformer = build_transformer(
        model.options, imported.entries, target_vocab_size=imported.target_entries
    )
    assign(transformer, model)
    parameters = Parameters.of_imported(model.options, model.languages, imported, tokenizer.sha256)
    with output.new(path) as unfinished:
        run = Run(unfinished)
        run.write(run.tokenizer.name, source)
        if two:
            run.write(run.target_tokenizer.name, target)
        run.write("params.json", parameters.content)
        save_final(run, transformer, EPOCH)
    return transformer


def assign(transformer: Transformer, model: ImportedModel) -> None:
    """Sets the variables of a Transformer to the weights of a model."""
    waiting = dict(model.weights)
    for tensor in marian.tensors(transformer):
        if tensor.name not in waiting:
            raise UserError(f"{model.name}: its weights lack {tensor.name}; name a whole model")
        value = tensor.from_transformers(waiting.pop(tensor.name))
        if value.shape != tuple(tensor.variable.shape):
            raise UserError(
                f"{model.name}: {tensor.name} has the shape {value.shape}, and by config.json "
                f"{tuple(tensor.variable.shape)}; name the folder of a whole model"
            )
        tensor.variable.assign(value)
    if deeper := [name for name in waiting if ".layers." in name]:
        raise UserError(
            f"{model.name}: its weights have more layers than config.json says ({deeper[0]}); name "
            "a whole model"
        )
    if waiting:
        left_out = ", ".join(sorted(waiting))
        log.warning(f"Left out, because the network has no place for it: {left_out}.")
