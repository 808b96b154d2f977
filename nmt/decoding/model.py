"""A trained network with the options of its run: what is translated with, scored and drawn."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from nmt.decoding.engines.choice import choose_engine
from nmt.decoding.engines.engine import EngineSettings
from nmt.decoding.search_options import Protecting, SearchOptions
from nmt.decoding.translator import WHOLE_LINES, TextOptions, Translator
from nmt.network.factory import ForwardPass
from nmt.options import Options
from nmt.text.tokenizer import Tokenizer
from transformer_model import Transformer


@dataclasses.dataclass(frozen=True, eq=False)
class Model:
    """A Transformer, or an ensemble of them, and what its run says of it.

    The tokenizer is an argument, not a field: a network is trained on ids, whatever they stand for.
    With other options or languages it is another Model (`dataclasses.replace`): see _translators.
    """

    options: Options
    transformer: Transformer
    forward: ForwardPass  # for loss and accuracy
    parts: int  # batches translated in parallel
    epoch: tf.Variable  # epochs that the weights were trained for
    steps: tf.Variable  # of the whole training run
    languages: tuple[str, ...] = ()  # codes of source and target, if they are known
    fixed: bool = True  # the weights do not change
    ensemble: tuple[Transformer, ...] = ()  # others, whose probabilities are averaged with its own
    _translators: dict[Any, Translator] = dataclasses.field(  # of these options and languages
        default_factory=dict, init=False, repr=False
    )

    @property
    def search_options(self) -> SearchOptions:
        """The options of the run's search."""
        return SearchOptions(self.options.beam, self.options.length_penalty)

    def translator(
        self,
        tokenizer: Tokenizer,
        options: SearchOptions = SearchOptions(),  # noqa: B008  # immutable
        protecting: Protecting = Protecting(),  # noqa: B008
        text: TextOptions = WHOLE_LINES,
        rows: int | None = None,
        workers: int | None = None,
        may_compile: bool = True,
    ) -> Translator:
        """Returns the Translator with these options; it is made once, because tracing takes time.

        Args:
          tokenizer: the Tokenizer of the run.
          options: of its search.
          protecting: what must not change, and terms.
          text: how its lines are read.
          rows: sentences per batch; None for as many as suit their length.
          workers: batches translated in parallel; None for as many as the model's parts.
          may_compile: whether a search may be compiled, which takes seconds, if weights are fixed.
        """
        workers = self.parts if workers is None else workers
        settings = EngineSettings(rows, workers, self.fixed and may_compile)
        key = tokenizer, options, protecting, text, settings
        if key not in self._translators:
            transformers = self.transformer, *self.ensemble
            engine = choose_engine(transformers, options, settings, tokenizer.symbol_ids)
            self._translators[key] = Translator(engine, tokenizer, protecting, text)
        return self._translators[key]

    def text_translator(
        self,
        tokenizer: Tokenizer,
        options: SearchOptions | None = None,
        protecting: Protecting = Protecting(),  # noqa: B008
        split: bool = True,
        rows: int | None = None,
        workers: int | None = None,
        may_compile: bool = True,
        languages: Sequence[str] | None = None,
    ) -> Translator:
        """Returns the Translator of any text. It warns of lines longer than those of training.

        Args:
          tokenizer: the Tokenizer of the run.
          options: of its search; None for those of the run.
          protecting: what must not change, and terms, in the same languages.
          split: translate each sentence of a line by itself.
          rows, workers, may_compile: see `translator`.
          languages: codes of source and target; None for those of the run.
        """
        languages = self.languages if languages is None else languages
        if protecting.glossary:
            glossary = protecting.glossary.in_languages(languages)
            protecting = protecting._replace(glossary=glossary)
        source = languages[0] if languages else "en"
        symbols = tuple(self.options.symbols.split())
        text = TextOptions(source if split else None, symbols, self.options.max_length)
        options = options or self.search_options
        return self.translator(tokenizer, options, protecting, text, rows, workers, may_compile)
