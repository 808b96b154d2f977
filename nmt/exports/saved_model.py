"""Export as a SavedModel, which holds network, tokenizer and greedy search: strings to strings."""

from pathlib import Path

import tensorflow as tf

from nmt import output
from nmt.decoding.search import greedy_search
from nmt.exports.exported_model import Export
from nmt.exports.graph_tokenizer import GraphTokenizer, printed
from nmt.messages import reason
from nmt.text.tokenizer import MAX_SOURCE_TOKENS, Tokenizer
from transformer_model import Transformer

SENTENCES = tf.TensorSpec((None,), tf.string, name="sentences")


class SavedTranslator(tf.Module):
    """Sentences in, translations and scores out."""

    def __init__(self, transformer: Transformer, tokenizer: Tokenizer):
        super().__init__()
        # By a function: of a Keras model, TensorFlow would save the weights a second time.
        self.transformer = lambda: transformer
        self.tokenizer = tokenizer
        self.sources = GraphTokenizer(tokenizer)
        self.targets = GraphTokenizer(tokenizer.target)
        # One by one: Keras leaves layers in lists out of what TensorFlow saves of a model.
        self.weights = [variable.value for variable in transformer.variables]

    @tf.function(input_signature=[SENTENCES])
    def greedy(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
        """Strings (B,) -> {"translations": strings (B,), "scores": (B,) float32}.

        The translations are those of `translate --beam 1 --no-protect --no-split`, scores
        log-probabilities, as `translate --score` prints them. What shows nothing stays as it is,
        with a score of 0; control characters become spaces.
        """
        ids = self.sources.encode(sentences)  # ragged (B, S)
        hypotheses = greedy_search(self.transformer(), ids[:, :MAX_SOURCE_TOKENS].to_tensor())
        blank = ids.row_lengths() <= self.sources.empty_length
        translations = self.targets.decode(hypotheses.ids[:, 0, 1:])  # without START
        unchanged = tf.strings.strip(printed(sentences))
        translations = tf.where(blank, unchanged, printed(translations))
        scores = tf.where(blank, 0.0, hypotheses.log_probabilities[:, 0])
        return {"translations": translations, "scores": scores}


def write(path: Path, export: Export) -> None:
    """Writes a SavedModel of strings to strings; its signature is serving_default.

    Loading it takes only TensorFlow and tensorflow-text, whose operators contain the tokenizer.
    """
    translator = SavedTranslator(export.transformer, export.tokenizer)
    signatures = {"serving_default": translator.greedy}
    with output.new(path) as unfinished:
        try:
            tf.saved_model.save(translator, str(unfinished), signatures=signatures)
        except tf.errors.OpError as error:  # the disk is full, for example
            raise OSError(reason(error)) from None
