"""Export as a SavedModel, which holds network, tokenizer and search: strings to strings."""

from collections.abc import Callable
from pathlib import Path

import tensorflow as tf

from nmt import output
from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.restrictions import Restrictions
from nmt.decoding.search import beam_search, greedy_search, sample
from nmt.decoding.search_options import Sampling
from nmt.exports.exported_model import Export
from nmt.exports.graph_tokenizer import GraphTokenizer, printed
from nmt.messages import reason
from nmt.text.tokenizer import MAX_SOURCE_TOKENS, Tokenizer
from transformer_model import Transformer

BEAM, ALPHA = 4, 0.6  # of the signature "beam" (paper 6.1)

SENTENCES = tf.TensorSpec((None,), tf.string, name="sentences")
PREFIXES = tf.TensorSpec((None,), tf.string, name="prefixes")
SEED = tf.TensorSpec((), tf.int32, name="seed")
TEMPERATURE = tf.TensorSpec((), tf.float32, name="temperature")
TOP_K = tf.TensorSpec((), tf.int32, name="top_k")
TOP_P = tf.TensorSpec((), tf.float32, name="top_p")

Search = Callable[[Transformer, tf.Tensor], Hypotheses]  # of source ids (B, S)
Results = dict[str, tf.Tensor]


class SavedTranslator(tf.Module):
    """Sentences in, translations and scores out.

    Args:
      transformer: a Transformer.
      tokenizer: the Tokenizer of it.
    """

    def __init__(self, transformer: Transformer, tokenizer: Tokenizer):
        super().__init__()
        # By a function: of a Keras model, TensorFlow would save the weights a second time.
        self.transformer = lambda: transformer
        self.tokenizer = tokenizer
        self.sources = GraphTokenizer(tokenizer)
        self.targets = GraphTokenizer(tokenizer.target)
        self.search: Search = greedy_search
        # One by one: Keras leaves layers in lists out of what TensorFlow saves of a model.
        self.weights = [variable.value for variable in transformer.variables]

    @tf.function(input_signature=[SENTENCES])
    def greedy(self, sentences: tf.Tensor) -> Results:
        """The translations of `translate --beam 1 --no-protect --no-split`."""
        return self.translate(sentences, self.search)

    @tf.function(input_signature=[SENTENCES])
    def beam(self, sentences: tf.Tensor) -> Results:
        """The translations of beam search."""

        def search(transformer: Transformer, inp: tf.Tensor) -> Hypotheses:
            return beam_search(transformer, inp, BEAM, ALPHA)

        return self.translate(sentences, search)

    @tf.function(input_signature=[SENTENCES, PREFIXES])
    def prefix(self, sentences: tf.Tensor, prefixes: tf.Tensor) -> Results:
        """Beam search; each translation begins with a string of `prefixes`, "" for anything."""
        is_one_each = tf.debugging.assert_equal(
            tf.size(prefixes), tf.size(sentences), "prefixes: give one for each of the sentences"
        )
        with tf.control_dependencies([is_one_each]):
            prefixes = tf.identity(prefixes)
        ids = self.targets.encode(prefixes)  # ragged (B, P + 2)
        ids = ids[:, 1:-1].to_tensor()  # no START, no END
        restrictions = Restrictions(prefix=ids)

        def search(transformer: Transformer, inp: tf.Tensor) -> Hypotheses:
            return beam_search(transformer, inp, BEAM, ALPHA, restrictions=restrictions)

        return self.translate(sentences, search)

    @tf.function(input_signature=[SENTENCES, SEED, TEMPERATURE, TOP_K, TOP_P])
    def sample(
        self,
        sentences: tf.Tensor,
        seed: tf.Tensor,
        temperature: tf.Tensor,
        top_k: tf.Tensor,
        top_p: tf.Tensor,
    ) -> Results:
        """The samples of `translate --sample --no-protect --no-split` with the same numbers."""
        with tf.control_dependencies(_check_sampling(temperature, top_k, top_p)):
            sentences = tf.identity(sentences)
        sampling = Sampling(temperature, top_k, top_p, seed)
        first = tf.zeros_like(sentences, tf.int32)  # the number of the sample of each sentence

        def search(transformer: Transformer, inp: tf.Tensor) -> Hypotheses:
            return sample(transformer, inp, sampling, first)

        return self.translate(sentences, search)

    def translate(self, sentences: tf.Tensor, search: Search) -> Results:
        """Strings (B,) -> {"translations": strings (B,), "scores": (B,) float32}.

        Scores are log-probabilities, as `translate --score` prints them. What shows nothing
        stays as it is, with a score of 0; control characters become spaces.
        """
        ids = self.sources.encode(sentences)  # ragged (B, S)
        hypotheses = search(self.transformer(), ids[:, :MAX_SOURCE_TOKENS].to_tensor())
        blank = ids.row_lengths() <= self.sources.empty_length
        translations = self.targets.decode(hypotheses.ids[:, 0, 1:])  # without START
        unchanged = tf.strings.strip(printed(sentences))
        translations = tf.where(blank, unchanged, printed(translations))
        scores = tf.where(blank, 0.0, hypotheses.log_probabilities[:, 0])
        return {"translations": translations, "scores": scores}


def _check_sampling(
    temperature: tf.Tensor, top_k: tf.Tensor, top_p: tf.Tensor
) -> list[tf.Operation]:
    """Returns operations that fail if a number is out of its range."""

    def check(name: str, number: tf.Tensor, allowed: tf.Tensor, text: str) -> tf.Operation:
        return tf.debugging.Assert(allowed, [f"{name} must be {text}, and is", number])

    finite = tf.math.is_finite(temperature)
    return [
        check("temperature", temperature, (temperature > 0) & finite, "more than 0, and finite"),
        check("top_k", top_k, top_k >= 0, "0 (for all tokens) or more"),
        check("top_p", top_p, (top_p > 0) & (top_p <= 1), "more than 0 and at most 1"),
    ]


def write(path: Path, export: Export) -> None:
    """Writes a SavedModel of strings to strings.

    Its signatures are serving_default (greedy search), beam, prefix and sample. Loading it takes
    only TensorFlow and tensorflow-text, whose operators contain the tokenizer.
    """
    translator = SavedTranslator(export.transformer, export.tokenizer)
    signatures = {
        "serving_default": translator.greedy, "beam": translator.beam,
        "prefix": translator.prefix, "sample": translator.sample,
    }  # fmt: skip
    with output.new(path) as unfinished:
        try:
            tf.saved_model.save(translator, str(unfinished), signatures=signatures)
        except tf.errors.OpError as error:  # the disk is full, for example
            raise OSError(reason(error)) from None
