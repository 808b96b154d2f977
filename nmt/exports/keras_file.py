"""Export of the network alone, for further work in Keras."""

from pathlib import Path

from nmt import output
from transformer_model import Transformer


def keras_file(path: Path, transformer: Transformer) -> None:
    """Writes the network alone as a .keras file; text needs the run's tokenizer.model."""
    with output.new(path) as unfinished:
        transformer.save(unfinished)
