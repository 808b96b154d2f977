"""A trained network with the options of its run: what is translated with, scored and drawn."""

import dataclasses

import tensorflow as tf

from nmt.decoding.translator import Translator
from nmt.neighbors import params
from nmt.network.engine import ParallelForward, PlainForward
from nmt.network.parallel_tokens import ParallelTokensForward
from nmt.options import Options
from nmt.text.tokenizer import Tokenizer
from transformer_model import Transformer


@dataclasses.dataclass(eq=False)
class Model:
    """A Transformer, or an ensemble of them, and what its run says of it.

    The tokenizer is an argument, not a field: a network is trained on ids, whatever they stand for.
    """

    options: Options
    transformer: Transformer
    forward: PlainForward | ParallelForward | ParallelTokensForward  # for loss and accuracy
    parts: int  # batches translated in parallel
    epoch: tf.Variable  # epochs that the weights were trained for
    steps: tf.Variable  # of the whole training run
    languages: tuple[str, ...] = ()  # codes of source and target, if they are known
    fixed: bool = True  # the weights do not change
    ensemble: tuple[Transformer, ...] = ()  # others, whose probabilities are averaged with its own
    _translators: dict = dataclasses.field(default_factory=dict, init=False, repr=False)

    @property
    def search_options(self) -> dict:
        """The parameters of the run's search, by name."""
        return self.options.by_name(params.SEARCH)

    def translator(self, tokenizer: Tokenizer, **options) -> Translator:
        """Returns the Translator with these options; it is made once, because tracing takes time.

        Args:
          tokenizer: the Tokenizer of the run.
          options: other arguments of Translator.
        """
        key = tokenizer, frozenset(options.items())
        if key not in self._translators:
            arguments = dict(fixed=self.fixed, workers=self.parts, ensemble=self.ensemble) | options
            self._translators[key] = Translator(self.transformer, tokenizer, **arguments)
        return self._translators[key]

    def text_translator(self, tokenizer: Tokenizer, split: bool = True, **options) -> Translator:
        """Returns the Translator of any text, by the search of the run unless options change it.

        It warns of lines that are longer than those of training.

        Args:
          tokenizer: the Tokenizer of the run.
          split: translate each sentence of a line by itself.
          options: other arguments of Translator.
        """
        if options.get("glossary"):
            options["glossary"] = options["glossary"].in_languages(self.languages)
        language = self.languages[0] if self.languages else "en"
        return self.translator(
            tokenizer,
            language=language if split else None,
            symbols=tuple(self.options.symbols.split()),
            trained_length=self.options.max_length,
            **(self.search_options | options),
        )
