"""Which of a server's languages a text is in.

A language is recognized by its sequences of three characters, as the sentences of the runs' own
test splits have them (naive Bayes, with add-one smoothing; Dunning 1994, "Statistical
Identification of Language"). What no run translates from is not recognized.
"""

import collections
import math
from collections.abc import Iterable
from typing import NamedTuple

from nmt.text import spelling

CHARACTERS = 3  # of a sequence
MAX_SEQUENCES = 300  # of a text, which are enough to recognize it


class Detection(NamedTuple):
    """A language that a text may be in."""

    code: str
    confidence: float  # 0 to 100


class Profile:
    """How often a language has each sequence of characters.

    Args:
      sentences: of the language.
    """

    def __init__(self, sentences: Iterable[str]):
        self.counts: collections.Counter[str] = collections.Counter()
        self.characters: set[str] = set()
        for sentence in sentences:
            self.counts.update(sequences(sentence))
            self.characters.update(spelling.normal(sentence).lower())
        self.total = self.counts.total()

    def log_probability(self, text_sequences: list[str], kinds: int) -> float:
        """Returns the natural log-probability of sequences.

        Args:
          text_sequences: of a text.
          kinds: the number of different sequences of all languages.
        """
        denominator = math.log(self.total + kinds + 1)
        return sum(math.log(self.counts[key] + 1) - denominator for key in text_sequences)

    def share_of_known(self, text: str) -> float:
        """Returns the share of the characters of a text that sentences of the language had."""
        characters = spelling.normal(text).lower()
        return sum(map(self.characters.__contains__, characters)) / max(1, len(characters))


def sequences(text: str) -> list[str]:
    """Returns the sequences of CHARACTERS of a text, with a space around it."""
    text = f" {spelling.normal(text).lower().strip()} "
    starts = range(min(len(text) - CHARACTERS + 1, MAX_SEQUENCES))
    return [text[start : start + CHARACTERS] for start in starts]


def number_of_kinds(profiles: dict[str, Profile]) -> int:
    """Returns the number of different sequences of all languages."""
    return len(set().union(*(profile.counts for profile in profiles.values())))


def detect(text: str, profiles: dict[str, Profile], kinds: int | None = None) -> list[Detection]:
    """Returns the languages that a text may be in, the likeliest first.

    Args:
      text: a string.
      profiles: of each language, by code; one that has seen no sentence is as likely as the others
        are where they know nothing of the text.
      kinds: their `number_of_kinds`, which takes longer than all else here; None to count it.
    """
    text_sequences = sequences(text)
    kinds = number_of_kinds(profiles) if kinds is None else kinds
    scores = {
        code: profile.log_probability(text_sequences, kinds) for code, profile in profiles.items()
    }
    best = max(scores.values())
    shares = {code: math.exp(max(score - best, -700)) for code, score in scores.items()}
    total = sum(shares.values())
    detections = []
    for code, share in shares.items():
        profile = profiles[code]
        known = profile.share_of_known(text) if profile.characters else 0.5
        detections.append(Detection(code, round(100 * known * share / total, 1)))
    return sorted(detections, key=lambda detection: (-shares[detection.code], detection.code))
