"""What is exported, and how: all that any of the formats needs. Without TensorFlow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.text.tokenizer import Tokenizer
    from transformer_model import Transformer


class Score(NamedTuple):
    """A score of the test split."""

    value: float
    interval: float  # half the width of the 95% confidence interval
    signature: str  # sacreBLEU's


@dataclass(frozen=True)
class ModelCard:
    """What a run knows of itself, for the page that readers of a model see first."""

    name: str = "model"
    corpus: str = "a corpus that is not named"
    beam: int = 1
    length_penalty: float = 0.0
    scores: dict[str, Score] = field(default_factory=dict)  # by name of the metric: BLEU, chrF
    languages: tuple[str, ...] = ()  # codes of the source and the targets, if they are known
    example: str = ""  # a line of the source; "" if none is known
    base_model: str = ""  # the name of the imported model that it was made of, if it was
    license: str = ""  # of that model; "" if it names none


@dataclass(frozen=True)
class Export:
    """A network with its tokenizer, and how a format writes them."""

    transformer: Transformer
    tokenizer: Tokenizer
    quantization: str | None = None  # of the weights
    card: ModelCard = ModelCard()
    package_version: str | None = None  # of a package for Argos; None for the first
