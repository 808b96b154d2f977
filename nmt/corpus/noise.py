"""Text as people type it: in capitals, without accents, with typing errors, drawn by a seed.

The kinds are those of OpusTrainer (Bogoychev et al. 2023, arXiv 2311.14838), and missing accents.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from nmt.text.case import capitals, small, without_accents
from nmt.text.learned_words import TITLE, in_case

LONG_WORD = re.compile(r"[^\W\d_]{4,}")  # in which a typing error is likely
STOPS = re.compile(r"([.,;:!?])(?!\S)")
EMOJI = " \N{GRINNING FACE}"


def titled(text: str, language: str = "") -> str:
    """Returns a text whose words begin with a capital, as those of a title."""
    return in_case(text, TITLE, language)


def mistyped(text: str, language: str = "") -> str:
    """Returns a text with a letter left out, doubled, or in the place of the next one.

    The text is the seed.
    """
    draw = random.Random(text)
    words = [*LONG_WORD.finditer(text)]
    if not words:
        return text
    word = draw.choice(words)
    start = draw.randrange(word.start(), word.end() - 1)
    one, next_one = text[start], text[start + 1]
    typed = draw.choice([next_one, one + one + next_one, next_one + one])
    return text[:start] + typed + text[start + 2 :]


class Noise(NamedTuple):
    """A way to type a text: functions of it and the code of its language."""

    source: Callable[[str, str], str]
    reference: Callable[[str, str], str] = lambda text, _: text  # what is expected then


KINDS = {
    "as it is": Noise(lambda text, _: text),
    "in capitals": Noise(capitals, capitals),
    "as titles": Noise(titled, titled),
    "in small letters": Noise(small),
    "without accents": Noise(lambda text, _: without_accents(text)),
    "with a typing error": Noise(mistyped),
    "without stops": Noise(lambda text, _: STOPS.sub("", text)),
    "with two stops for one": Noise(lambda text, _: STOPS.sub(r"\1\1", text)),
    "with an emoji": Noise(lambda text, _: text + EMOJI, lambda text, _: text and text + EMOJI),
}

AUGMENTED = ("without accents", "with a typing error", "without stops")  # what training learns


def augmented(
    pairs: Iterable[tuple[str, str]], share: float, seed: int
) -> Iterator[tuple[str, str]]:
    """Yields pairs of strings, a share of them (0 to 1) with a source of one of AUGMENTED."""
    draw = random.Random(seed)
    for source, target in pairs:
        if draw.random() < share:
            source = KINDS[draw.choice(AUGMENTED)].source(source, "")
        yield source, target


def typed(columns: Sequence[Sequence[str]], languages: Sequence[str]) -> list[Sequence[str]]:
    """Returns sources and sets of references, once for each of KINDS, one after the other."""
    source, target = languages or ("", "")
    sources, *references = columns
    kinds = [*KINDS.values()]
    return [
        [kind.source(text, source) for kind in kinds for text in sources],
        *([kind.reference(text, target) for kind in kinds for text in one] for one in references),
    ]
