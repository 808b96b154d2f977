"""The units of a text, words and signs, and which units of a translation are linked to which.

Links between words come from the network. Here they become links between units: the comma of a word
is a unit of its own, and so is each character of a script without spaces.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import math
import re
from collections import Counter, defaultdict

from nmt.text.scripts import UNSPACED_BLOCKS

SPACED = rf"[^\W{UNSPACED_BLOCKS}]"
UNIT = re.compile(rf"[{UNSPACED_BLOCKS}]|{SPACED}(?:[^\s{UNSPACED_BLOCKS}]*{SPACED})?|\S")
EQUAL_SIGNS = str.maketrans("“”„«»‘’。，！？：；（）", '"""""\'\'.,!?:;()')


@dataclasses.dataclass
class Unit:
    """A word without the signs around it, a sign, or a character of a script without spaces."""

    start: int
    end: int
    word: int  # its number in text.split()
    text: str

    @property
    def is_sign(self) -> bool:
        """Whether it is a punctuation mark."""
        return not any(map(str.isalnum, self.text))


def find_units(text: str) -> list[Unit]:
    """Returns the units of a text, in order."""
    units = []
    for number, word in enumerate(re.finditer(r"\S+", text)):
        for match in UNIT.finditer(word[0]):
            start, end = word.start() + match.start(), word.start() + match.end()
            units.append(Unit(start, end, number, match[0]))
    return units


def cut_units(units: list[Unit], positions: set[int]) -> list[Unit]:
    """Returns units, those divided in which a tag stands: H<sub>2</sub>O has three."""
    pieces = []
    for unit in units:
        inside = [place for place in range(unit.start + 1, unit.end) if place in positions]
        for start, end in itertools.pairwise([unit.start, *inside, unit.end]):
            part = unit.text[start - unit.start : end - unit.start]
            pieces.append(Unit(start, end, unit.word, part))
    return pieces


def units_by_word(units: list[Unit]) -> dict[int, list[int]]:
    """Returns the numbers of the units of each word."""
    numbers = defaultdict(list)
    for number, unit in enumerate(units):
        numbers[unit.word].append(number)
    return numbers


class UnitLinks:
    """Links between the units of a source and those of its translation, in both directions.

    A sign is linked to an equal sign of the source; without one, to nothing. Without links between
    words (numbers in text.split()), units are linked to those at the same relative position.
    """

    def __init__(
        self, source: list[Unit], target: list[Unit], word_links: list[tuple[int, int]] | None
    ):
        self._source, self._target = source, target
        self._signs = defaultdict(list)  # numbers of source units
        for number, unit in enumerate(source):
            if unit.is_sign:
                self._signs[unit.text.translate(EQUAL_SIGNS)].append(number)
        self.sources: list[list[int]] = [[] for _ in target]
        source_words = units_by_word(source)
        words = self._linked_words(word_links)
        for word, numbers in units_by_word(target).items():
            self._link_word(numbers, [n for linked in words[word] for n in source_words[linked]])
        self._share_long_words(source_words)
        self.targets = self._targets()

    def _linked_words(self, word_links: list[tuple[int, int]] | None) -> dict[int, list[int]]:
        """Returns the source words that each target word is linked to.

        Of several, those count that are linked to no other word: in "um gato", "a cat", a network
        that links "a" to both means the article.
        """
        words: dict[int, list[int]] = defaultdict(list)
        uses: Counter[int] = Counter()
        for source_word, target_word in word_links or ():
            words[target_word].append(source_word)
            uses[source_word] += 1
        for word, linked in words.items():
            words[word] = [source for source in linked if uses[source] == 1] or linked
        if not word_links and self._source:
            for number, unit in enumerate(self._target):
                position = number * len(self._source) // len(self._target)
                words[unit.word] = words[unit.word] or [self._source[position].word]
        return words

    def _link_word(self, numbers: list[int], candidates: list[int]) -> None:
        """Links the units of a target word to some of the candidates, units of the source."""
        texts = [self._target[number].text for number in numbers]
        if texts == [self._source[candidate].text for candidate in candidates]:
            for number, candidate in zip(numbers, candidates, strict=True):
                self.sources[number] = [candidate]
            return
        letters = [number for number in numbers if not self._target[number].is_sign]
        of_letters = [number for number in candidates if not self._source[number].is_sign]
        for number, share in zip(letters, shares(of_letters, len(letters)), strict=True):
            self.sources[number] = share
        for number in numbers:
            if self._target[number].is_sign:
                self.sources[number] = self._equal_sign(number, candidates)

    def _equal_sign(self, number: int, candidates: list[int]) -> list[int]:
        """Returns the source unit that a target sign is linked to, in a list; empty for none.

        Candidates, of the words that its word is linked to, count before all others.
        """
        equal = self._signs.get(self._target[number].text.translate(EQUAL_SIGNS), [])
        preferred = sorted(set(candidates) & set(equal)) if candidates and equal else []
        signs = preferred or equal
        if not signs:
            return []
        place = number / len(self._target) * len(self._source)
        index = bisect.bisect(signs, place)
        neighbors = signs[max(index - 1, 0) : index + 1]
        return [min(neighbors, key=lambda sign: abs(sign - place))]

    def _share_long_words(self, source_words: dict[int, list[int]]) -> None:
        """Shares the units of a source word, such as a Chinese sentence, among the target units."""
        targets = self._targets()
        for numbers in source_words.values():
            users = sorted({user for number in numbers for user in targets[number]})
            members = set(numbers)
            users = [user for user in users if len(members.intersection(self.sources[user])) > 1]
            if len(numbers) < 3 or len(users) < 2:
                continue
            for user, share in zip(users, shares(numbers, len(users)), strict=True):
                elsewhere = [number for number in self.sources[user] if number not in members]
                self.sources[user] = sorted([*elsewhere, *share])

    def _targets(self) -> list[list[int]]:
        """Returns the target units of each source unit."""
        targets: list[list[int]] = [[] for _ in self._source]
        for number, linked in enumerate(self.sources):
            for source in linked:
                targets[source].append(number)
        return targets

    def share(self, number: int, first: int, last: int) -> float:
        """Returns which share of what a target unit is linked to is in a range of the source."""
        inside = total = 0
        for index in self.sources[number]:
            length = len(self._source[index].text)
            total += length
            inside += length if first <= index < last else 0
        return inside / total if total else 0.0

    def cost(self, number: int) -> float:
        """Returns the weight of a target unit for elements that it does not belong to.

        A sign counts half: it does not divide two words of an element. What is linked to nothing
        counts nothing.
        """
        if not self.sources[number]:
            return 0.0
        return -0.5 if self._target[number].is_sign else -1.0


def shares(numbers: list[int], count: int) -> list[list[int]]:
    """Returns `numbers` in as many consecutive shares, which overlap if there are too few."""
    size = len(numbers) / max(count, 1)
    return [
        numbers[math.floor(index * size) : max(math.ceil((index + 1) * size), 1)]
        for index in range(count)
    ]
