"""The one choice of an engine: a table of them, each of which says what it cannot do.

This module imports none before it is chosen.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError
from nmt.decoding.engines.engine import Converted, Engine, EngineSettings
from nmt.decoding.search_options import BY_PROBABILITY, SearchOptions
from nmt.messages import log_once

if TYPE_CHECKING:
    from nmt.decoding.networks import Networks
    from nmt.text.tokenizer import Tokenizer

AUTO, CTRANSLATE2, TENSORFLOW, STORY = "auto", "ctranslate2", "tensorflow", "story"
MISSING = "its package is missing (pip install ctranslate2)"


class Weights(NamedTuple):
    """What an engine may compute with."""

    tokenizer: Tokenizer
    networks: Callable[[], Networks]  # for TensorFlow, which it imports
    members: int = 1  # of an ensemble
    converted: Callable[[], Converted] | None = None  # for CTranslate2; None if there can be none


# ---- What each cannot do, and how it is made ----


def obstacle_to_ctranslate2(options: SearchOptions, weights: Weights) -> str:
    """Returns what CTranslate2 cannot do."""
    if weights.converted is None:
        return "it cannot read these weights (an ensemble)"
    return "" if is_installed() else MISSING


def obstacle_to_story(options: SearchOptions, weights: Weights) -> str:
    """Returns what the greedy search of transformer_model.py cannot do."""
    if max(options.beam, options.n_best) > 1 or weights.members > 1:
        return "it is greedy search (--beam 1): leave out --n-best and ensembles"
    return ""


def new_ctranslate2(weights: Weights, options: SearchOptions, settings: EngineSettings) -> Engine:
    from nmt.decoding.engines.ctranslate2 import CTranslate2Engine

    assert weights.converted is not None

    def definition() -> Engine:
        return tensorflow_engine(weights.networks(), options, settings)

    return CTranslate2Engine(
        weights.converted(), weights.tokenizer, options, settings, definition
    )  # fmt: skip


def new_tensorflow(weights: Weights, options: SearchOptions, settings: EngineSettings) -> Engine:
    return tensorflow_engine(weights.networks(), options, settings)


class EngineKind(NamedTuple):
    """An engine, before it is made."""

    name: str
    title: str  # how messages call it
    new: Callable[[Weights, SearchOptions, EngineSettings], Engine]
    # Returns why it cannot do what is asked with options that it applies; "" if it can.
    own_obstacle: Callable[[SearchOptions, Weights], str] = lambda options, weights: ""
    quantizations: tuple[str, ...] = ()  # of the weights, as it loads them
    needs_tensorflow: bool = True
    applies: tuple[str, ...] = BY_PROBABILITY  # options; whatever else is given, it is refused

    def obstacle(self, options: SearchOptions, weights: Weights) -> str:
        """Returns why it cannot do what is asked; "" if it can."""
        if unknown := options.beyond(self.applies):
            return f"it does not apply {' and '.join(unknown)}"
        return self.own_obstacle(options, weights)


KINDS = {  # by name; on a CPU, the first that can do what is asked translates
    kind.name: kind
    for kind in (
        EngineKind(  # its samples depend on the batch, its penalty of repetition is another one
            CTRANSLATE2, "CTranslate2", new_ctranslate2, obstacle_to_ctranslate2, ("int8",),
            needs_tensorflow=False,
        ),
        EngineKind(TENSORFLOW, "TensorFlow", new_tensorflow, applies=SearchOptions._fields),
        EngineKind(STORY, "--plain", new_tensorflow, obstacle_to_story),
    )
}  # fmt: skip
ENGINES = (AUTO, *(name for name in KINDS if name != STORY))  # which --plain asks for
QUANTIZATIONS = tuple(name for kind in KINDS.values() for name in kind.quantizations)


# ---- The choice ----


def choose_engine(
    options: SearchOptions, settings: EngineSettings, weights: Weights, wanted: str = AUTO
) -> Engine:
    """Returns the first engine that can do what is asked, or the wanted one.

    Raises:
      UserError: a number is out of its range, or the engine cannot do what the options ask for.
    """
    options.check()
    settings.check()
    return kind_of_engine(options, weights, wanted).new(weights, options, settings)


def kind_of_engine(options: SearchOptions, weights: Weights, wanted: str = AUTO) -> EngineKind:
    """Returns the kind of `choose_engine`."""
    if options.plain:
        if wanted not in (AUTO, TENSORFLOW):
            raise UserError(
                "--plain translates by the code of transformer_model.py: leave --engine and "
                "--quantization out"
            )
        wanted = STORY
    kinds = [kind for kind in KINDS.values() if wanted in (AUTO, kind.name)]
    for kind in kinds:
        obstacle = kind.obstacle(options, weights)
        if not obstacle:
            return kind
        if obstacle == MISSING and wanted == AUTO:
            log_once(f"{kind.title}: {MISSING}; TensorFlow translates instead, which starts later.")
    asked_by = "--engine, --quantization" if kinds[-1].quantizations else "--engine"
    advice = "" if wanted == STORY else f"; leave out what asks for it ({asked_by})"
    raise UserError(f"{kinds[-1].title}: {obstacle}{advice}")


def is_installed() -> bool:
    """Returns whether the package of CTranslate2 is there, without importing it."""
    return importlib.util.find_spec("ctranslate2") is not None


def tensorflow_engine(
    networks: Networks,
    options: SearchOptions,
    settings: EngineSettings = EngineSettings(),  # noqa: B008  # immutable
) -> Engine:
    """Returns the engine of TensorFlow."""
    from nmt.decoding.engines.tensorflow import TensorFlowEngine

    if settings.workers is None:
        settings = dataclasses.replace(settings, workers=networks.parts)
    return TensorFlowEngine(networks.transformers, options, settings)
