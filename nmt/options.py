"""The parameters of a run as one typed record; what each means is in params.py.

And the check of their values, and of other records that are declared in the same way.
"""

import dataclasses
import math
import numbers
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from nmt.neighbors import params

MAX_INTEGER = 2**31 - 1  # unless a flag has another maximum
MAX_PAGE_PARAMETERS = 25_000_000  # of a network that a page for browsers may hold: 100 MB


@dataclasses.dataclass(frozen=True)
class Options:
    """A value for every constant of params.py, of the type written there.

    `dataclasses.replace` changes some. In a run's own, `data_path` is the name of its corpus, and
    `xla` is "on" or "off".
    """

    # Fields: by docs/make_options.py.
    data_path: str = params.DATA_PATH
    buffer_size: int = params.BUFFER_SIZE
    batch_size: int = params.BATCH_SIZE
    max_length: int = params.MAX_LENGTH
    epochs: int = params.EPOCHS
    num_layers: int = params.NUM_LAYERS
    d_model: int = params.D_MODEL
    dff: int = params.DFF
    num_heads: int = params.NUM_HEADS
    dropout_rate: float = params.DROPOUT_RATE
    decoder_layers: int = params.DECODER_LAYERS
    pre_norm: bool = params.PRE_NORM
    tie_embeddings: bool = params.TIE_EMBEDDINGS
    activation: str = params.ACTIVATION
    norm_epsilon: float = params.NORM_EPSILON
    logits_bias: bool = params.LOGITS_BIAS
    max_steps: int = params.MAX_STEPS
    validate_every: int = params.VALIDATE_EVERY
    save_every: int = params.SAVE_EVERY
    schedule: str = params.SCHEDULE
    warmup_steps: int = params.WARMUP_STEPS
    learning_rate_scale: float = params.LEARNING_RATE_SCALE
    optimizer: str = params.OPTIMIZER
    adam_beta_1: float = params.ADAM_BETA_1
    adam_beta_2: float = params.ADAM_BETA_2
    adam_epsilon: float = params.ADAM_EPSILON
    clip_norm: float = params.CLIP_NORM
    label_smoothing: float = params.LABEL_SMOOTHING
    accumulate: int = params.ACCUMULATE
    average: int = params.AVERAGE
    validate_by: str = params.VALIDATE_BY
    checkpoint_minutes: float = params.CHECKPOINT_MINUTES
    patience: int = params.PATIENCE
    batch_tokens: int = params.BATCH_TOKENS
    augment: float = params.AUGMENT
    pieces: str = params.PIECES
    vocab_size: int = params.VOCAB_SIZE
    words_per_piece: int = params.WORDS_PER_PIECE
    symbols: str = params.SYMBOLS
    beam: int = params.BEAM
    length_penalty: float = params.LENGTH_PENALTY
    tokenize: str = params.TOKENIZE
    lowercase: bool = params.LOWERCASE
    seed: int = params.SEED
    mixed_precision: bool = params.MIXED_PRECISION
    xla: str = params.XLA
    # End of fields.

    @classmethod
    def of(cls, preset: str = "tutorial", given: Mapping[str, Any] | None = None) -> "Options":
        """Returns the values of a preset, but for those that are `given` by name, as flags are."""
        return cls(**(params.values(preset) | dict(given or {})))

    @property
    def layers_of_decoder(self) -> int:
        """The number of layers of the decoder: 0 means as many as the encoder has."""
        return self.decoder_layers or self.num_layers

    def parameters(self, vocab_size: int, target_vocab_size: int | None = None) -> int:
        """Returns the number of trained weights of a network, as `count_params` of Keras does.

        Without `target_vocab_size` both languages share one vocabulary.
        """
        width = self.d_model
        attention = 4 * (width**2 + width)
        feed_forward = 2 * width * self.dff + self.dff + width
        norm = 2 * width
        encoder = self.num_layers * (attention + feed_forward + 2 * norm)
        decoder = self.layers_of_decoder * (2 * attention + feed_forward + 3 * norm)
        last_norms = 2 * norm if self.pre_norm else 0
        target_size = target_vocab_size or vocab_size
        bias = target_size if self.logits_bias or not self.tie_embeddings else 0
        tables = vocab_size * width
        if not self.tie_embeddings:
            tables += 2 * target_size * width
        return encoder + decoder + last_norms + tables + bias

    def by_name(self, *sections: params.Section) -> dict[str, Any]:
        """Returns values by name, of all sections of params.py or of those given."""
        names = params.names(*sections) if sections else params.values().keys()
        return {name: getattr(self, name) for name in names}


def declared(record: type[Any]) -> list[params.Param]:
    """Returns a row for each field of a NamedTuple that is declared as the constants of params.py.

    That is, as `Annotated[type, Flag(...)]`; the fields of a Section stand together.
    """
    rows = []
    for name, hint in get_type_hints(record, include_extras=True).items():
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if notes:
            flag, section = notes
            rows.append(params.Param(section, name, kind, record._field_defaults[name], flag))
    return rows


def option(record: type[Any], name: str) -> params.Param:
    """Returns the row of one declared field."""
    return next(row for row in declared(record) if row.name == name)


def error_in(value: Any, flag: params.Flag) -> str | None:
    """Returns as text what is wrong with a value; None if the flag allows it."""
    if flag.choices and value not in flag.choices:
        return f"{value!r} is not one of {', '.join(flag.choices)}"
    if isinstance(value, float) and math.isnan(value):
        return "nan is not a number"
    high = MAX_INTEGER if flag.high is None and isinstance(value, int) else flag.high
    if flag.low is not None and not value >= flag.low:
        return f"{value} is less than {flag.low}"
    if high is not None and not value <= high:
        return f"{value} is more than {high}"
    return None


def error_in_row(row: params.Param, value: Any) -> str | None:
    """Returns as text what is wrong with the value of a parameter; None if it is allowed."""
    kind = {int: numbers.Integral, float: numbers.Real}.get(row.type, row.type)
    if not isinstance(value, kind) or (isinstance(value, bool) and row.type is not bool):
        return f"{row.name} is {value!r}, not of type {row.type.__name__}"
    wrong = error_in(value, row.flag)
    return f"{row.name}: {wrong}" if wrong else None
