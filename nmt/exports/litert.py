"""Export for phones and small computers: a LiteRT model (.tflite) of ids to ids.

LiteRT wants fixed shapes, so that the file has one signature per width of the source; they share
the weights.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf

from nmt import UserError, output
from nmt.decoding.search import greedy_search
from nmt.exports.ctranslate2_model import write_tokenizer
from nmt.exports.exported_model import Export
from transformer_model import Transformer

WIDTHS = (16, 32, 64, 128)  # source tokens, START and END included


class FixedWidths(tf.Module):
    """Greedy search with sources of fixed widths in tokens, for a SavedModel to hold."""

    def __init__(self, transformer: Transformer, widths: tuple[int, ...]):
        super().__init__()
        self.transformer = transformer
        # One by one: Keras leaves layers in lists out of what TensorFlow saves of a model.
        self.weights = [variable.value for variable in transformer.variables]
        self.search = greedy_search
        self.functions = {f"translate_{width}": self.function(width) for width in widths}

    def function(self, width: int) -> Callable[[tf.Tensor], dict[str, tf.Tensor]]:
        """Returns a function from ids (1, width), filled up with PAD, to ids (1, T)."""

        @tf.function(input_signature=[tf.TensorSpec((1, width), tf.int32, name="ids")])
        def translate(ids: tf.Tensor) -> dict[str, tf.Tensor]:
            return {"ids": self.search(self.transformer, ids).ids[:, 0]}  # (1, T)

        return translate


def write(path: Path, export: Export) -> None:
    """Writes a folder with model.tflite and the run's SentencePiece models.

    The signature `translate_W` takes ids (1, W) of a source, START first (but of an imported
    model), END last, then PAD, and returns ids (1, T) of its translation by greedy search, END
    included.

    The quantization "int8" is for weights of 8 bits, None for float32.
    """
    if export.quantization not in (None, "int8"):
        raise UserError(f"--quantization {export.quantization}: LiteRT takes int8, or none")
    module = FixedWidths(export.transformer, WIDTHS)
    with output.new(path) as unfinished, tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=module.functions)
        converter = tf.lite.TFLiteConverter.from_saved_model(
            folder, signature_keys=list(module.functions)
        )
        if export.quantization:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        model = converter.convert()
        unfinished.mkdir()
        (unfinished / "model.tflite").write_bytes(model)
        write_tokenizer(unfinished, export.tokenizer)
