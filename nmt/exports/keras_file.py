"""Export of the network alone, for further work in Keras."""

from pathlib import Path

from nmt import output
from nmt.exports.exported_model import Export


def write(path: Path, export: Export) -> None:
    """Writes the network alone as a .keras file; text needs the run's tokenizer.model."""
    with output.new(path) as unfinished:
        export.transformer.save(unfinished)
