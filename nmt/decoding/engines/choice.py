"""The one choice of an engine. This module imports none before it is chosen."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING

from nmt import UserError
from nmt.decoding.engines.engine import Converted, Engine, EngineSettings
from nmt.messages import log_once

if TYPE_CHECKING:
    from nmt.decoding.networks import Networks
    from nmt.decoding.search_options import SearchOptions
    from nmt.text.tokenizer import Tokenizer

AUTO, CTRANSLATE2, TENSORFLOW = ENGINES = ("auto", "ctranslate2", "tensorflow")
QUANTIZATIONS = ("int8",)  # of the weights, by CTranslate2 as it loads them
MISSING = "its package is missing (pip install ctranslate2)"


def choose_engine(
    options: SearchOptions,
    settings: EngineSettings,
    tokenizer: Tokenizer,
    networks: Callable[[], Networks],
    converted: Callable[[], Converted] | None = None,
    wanted: str = AUTO,
) -> Engine:
    """Returns CTranslate2's engine where it can do what is asked, else that of TensorFlow.

    Args:
      converted: returns the weights for CTranslate2; None if there can be none.

    Raises:
      UserError: a number is out of its range, or the engine cannot do what the options ask for.
    """

    def definition() -> Engine:
        return tensorflow_engine(networks(), options, settings)

    name = name_of_engine(options, converted, wanted)
    if converted is None or name == TENSORFLOW:
        return definition()
    from nmt.decoding.engines.ctranslate2 import CTranslate2Engine

    return CTranslate2Engine(converted(), tokenizer, options, settings, definition)


def name_of_engine(
    options: SearchOptions, converted: Callable[[], Converted] | None, wanted: str = AUTO
) -> str:
    """Returns CTRANSLATE2 or TENSORFLOW; for the arguments see `choose_engine`.

    Raises:
      UserError: CTranslate2 is wanted, and cannot do what the options ask for.
    """
    if wanted == TENSORFLOW:
        return TENSORFLOW
    obstacle = obstacle_to_ctranslate2(options, converted)
    if obstacle and wanted == CTRANSLATE2:
        raise UserError(
            f"CTranslate2: {obstacle}; leave out --engine ctranslate2 and --quantization"
        )
    if obstacle == MISSING:
        log_once(f"CTranslate2: {MISSING}; TensorFlow translates instead, which starts later.")
    return TENSORFLOW if obstacle else CTRANSLATE2


def obstacle_to_ctranslate2(
    options: SearchOptions, converted: Callable[[], Converted] | None
) -> str:
    """Returns what CTranslate2 cannot do of a search; "" if it can do all.

    Its samples depend on the batch and on what was drawn before, and its penalty of repetition is
    another one.
    """
    if options.plain:
        return "--plain translates by the code of transformer_model.py"
    if options.sampling:
        return "it cannot draw the same sample again"
    if options.repetition:
        return "it has other penalties of repetition"
    if converted is None:
        return "it cannot read these weights (an ensemble)"
    return "" if is_installed() else MISSING


def is_installed() -> bool:
    """Returns whether the package of CTranslate2 is there, without importing it."""
    return importlib.util.find_spec("ctranslate2") is not None


def tensorflow_engine(
    networks: Networks,
    options: SearchOptions,
    settings: EngineSettings = EngineSettings(),  # noqa: B008  # immutable
) -> Engine:
    """Returns the engine of TensorFlow; for the arguments see `choose_engine`."""
    from nmt.decoding.engines.tensorflow import TensorFlowEngine

    if settings.workers is None:
        settings = dataclasses.replace(settings, workers=networks.parts)
    return TensorFlowEngine(networks.transformers, options, settings)
