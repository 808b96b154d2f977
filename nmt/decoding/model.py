"""A trained network with the options of its run: what is translated with, scored and drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nmt.decoding.confidence import Estimator
from nmt.decoding.engines.choice import AUTO, Weights, choose_engine, kind_of_engine
from nmt.decoding.engines.engine import Converted, EngineSettings
from nmt.decoding.networks import Networks
from nmt.decoding.search_options import Protecting, SearchOptions
from nmt.decoding.translator import WHOLE_LINES, TextOptions, Translator
from nmt.options import Options
from nmt.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tensorflow as tf

    from nmt.network.factory import ForwardPass
    from transformer_model import Transformer


@dataclasses.dataclass(frozen=True, eq=False)
class Model:
    """A Transformer, or an ensemble of them, and what its run says of it.

    The tokenizer is an argument, not a field: a network is trained on ids, whatever they stand for.
    With other options or languages it is another Model (`dataclasses.replace`): see _translators.
    """

    options: Options
    networks: Callable[[], Networks]  # the same each time; the first call may take seconds
    languages: tuple[str, ...] = ()  # codes of source and target, if they are known
    members: int = 1  # networks of an ensemble
    converted: Callable[[], Converted] | None = None  # for CTranslate2; None if it cannot be used
    engine: str = AUTO  # one of choice.ENGINES
    estimator: Estimator | None = None  # of confidence; None if the run is not calibrated
    search: SearchOptions = SearchOptions()  # noqa: RUF009  # but for what `options` say
    weights: str = ""  # what they are, in a few words; of an ensemble, those of the first run
    _translators: dict[Any, Translator] = dataclasses.field(  # of these options and languages
        default_factory=dict, init=False, repr=False
    )

    @property
    def transformer(self) -> Transformer:
        """The network; of several, the first."""
        return self.networks().transformer

    @property
    def forward(self) -> ForwardPass:
        """The forward pass of the network, for loss and accuracy."""
        return self.networks().forward

    @property
    def epoch(self) -> tf.Variable:
        """The epochs that the weights were trained for."""
        return self.networks().epoch

    @property
    def steps(self) -> tf.Variable:
        """The steps of the whole training run."""
        return self.networks().steps

    @property
    def search_options(self) -> SearchOptions:
        """The options of the run's search."""
        options = self.options
        return self.search._replace(beam=options.beam, length_penalty=options.length_penalty)

    @property
    def searches_by_tensorflow(self) -> bool:
        """Whether TensorFlow computes the run's search, not CTranslate2."""
        return kind_of_engine(self.search_options, self._weights(), self.engine).needs_tensorflow

    def _weights(self, tokenizer: Any = None) -> Weights:
        return Weights(tokenizer, self.networks, self.members, self.converted)

    def translator(
        self,
        tokenizer: Tokenizer,
        options: SearchOptions = SearchOptions(),  # noqa: B008  # immutable
        protecting: Protecting = Protecting(),  # noqa: B008
        text: TextOptions = WHOLE_LINES,
        rows: int | None = None,
        workers: int | None = None,
    ) -> Translator:
        """Returns the Translator with these options; it is made once, because tracing takes time.

        Args:
          rows: sentences per batch; None for as many as suit their length.
          workers: batches translated in parallel; None for as many as suit the machine.
        """
        settings = EngineSettings(rows, workers)
        key = tokenizer, options, protecting, text, settings
        if key not in self._translators:
            engine = choose_engine(options, settings, self._weights(tokenizer), self.engine)
            self._translators[key] = Translator(engine, tokenizer, protecting, text, self.estimator)
        return self._translators[key]

    def text_translator(
        self,
        tokenizer: Tokenizer,
        options: SearchOptions | None = None,
        protecting: Protecting = Protecting(),  # noqa: B008
        split: bool = True,
        rows: int | None = None,
        workers: int | None = None,
        languages: Sequence[str] | None = None,
    ) -> Translator:
        """Returns the Translator of any text. It warns of lines longer than those of training.

        Args:
          options: of its search; None for those of the run.
          languages: codes of source and target; None for those of the run.
        """
        languages = self.languages if languages is None else languages
        if protecting.glossary:
            glossary = protecting.glossary.in_languages(languages)
            protecting = protecting._replace(glossary=glossary)
        source = languages[0] if languages else "en"
        symbols = tuple(self.options.symbols.split())
        language = source if split else None
        text = TextOptions(language, symbols, self.options.max_length, tuple(languages))
        options = options or self.search_options
        return self.translator(tokenizer, options, protecting, text, rows, workers)
