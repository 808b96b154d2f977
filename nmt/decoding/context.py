"""What all stages of the pipeline share: the engine, the tokenizer, and what must not change."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.decoding.confidence import Estimator
    from nmt.decoding.engines.engine import Engine
    from nmt.decoding.search_options import SearchOptions
    from nmt.text.learned_words import LearnedWords
    from nmt.text.protected import Protector
    from nmt.text.tokenizer import Tokenizer


@dataclasses.dataclass(frozen=True)
class Context:
    """What all stages share."""

    engine: Engine
    tokenizer: Tokenizer
    protector: Protector  # finds what must not change, and terms
    protects: bool  # False: what must not change is translated as any other text
    words: LearnedWords  # in which forms the network knows the words of a source
    target_words: LearnedWords
    target_language: str  # its code; "" if it is unknown
    language: str | None  # code of the source language, to split lines by; None to leave them whole
    tags: re.Pattern[str]  # matches the language tags that begin a line, or nothing
    options: SearchOptions  # of the engine's search; and of what is reported of its translations
    estimator: Estimator | None = None  # of confidence; None if the run is not calibrated
