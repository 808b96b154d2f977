"""Tags within a sentence: what they enclose is translated, then they are put around the same words.

The words of a translation are linked to those of the source. An element takes the stretch of words
in which most are linked to its words and fewest to others, within the stretch of the outer element.
So tags are nested as they were, each is there once, and alignments that are wrong for one word
do no harm. (Bergamot copies the tags of a source token to all target tokens that align with it.)
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

# Scripts without spaces between words: there, a character is a unit.
UNSPACED = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff"
UNIT = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}](?:[^\s{UNSPACED}]*[^\W{UNSPACED}])?|\S")
SAME_SIGNS = str.maketrans("“”„«»‘’。，！？：；（）", '"""""\'\'.,!?:;()')


class TranslatedText(Protocol):
    """What is needed of a translation: the record Translation of nmt/decoding has it."""

    text: str
    links: list[tuple[int, int]] | None  # (source word, target word), numbers in text.split()


# ---- A segment's source: a tree ----


@dataclasses.dataclass
class Text:
    """Text, without markup and character references."""

    text: str


@dataclasses.dataclass
class Tag:
    """A tag with attributes that are translated."""

    pieces: list[str]  # of its markup; some are values of attributes

    def __str__(self) -> str:
        return "".join(self.pieces)


@dataclasses.dataclass
class Element:
    """What a pair of tags encloses."""

    start_tag: str | Tag
    end_tag: str
    children: list[Node]


@dataclasses.dataclass
class Fixed:
    """Markup that encloses nothing to translate: an image, a comment, or code."""

    markup: str | Tag
    text: str = ""  # of code: what it contributes to the sentence, for the network


Node = Text | Element | Fixed


def plain_text(nodes: Iterable[Node]) -> str:
    """Returns what a reader sees of nodes."""
    return "".join(
        plain_text(node.children) if isinstance(node, Element) else node.text for node in nodes
    )


def render(nodes: Iterable[Node], escape: Callable[[str], str]) -> str:
    """Returns nodes as markup.

    Args:
      nodes: of a tree.
      escape: turns text into markup.
    """
    parts = []
    for node in nodes:
        if isinstance(node, Text):
            parts.append(escape(node.text))
        elif isinstance(node, Fixed):
            parts.append(str(node.markup))
        else:
            parts += str(node.start_tag), render(node.children, escape), node.end_tag
    return "".join(parts)


def cut_nodes(nodes: list[Node], position: int) -> tuple[list[Node], list[Node]]:
    """Returns nodes before and after a position of their text; an element there is in both."""
    before, after = [], []
    for node in nodes:
        length = len(plain_text([node]))
        if position >= length and (length or position or not after):
            before.append(node)
        elif position <= 0:
            after.append(node)
        elif isinstance(node, Element):
            first, second = cut_nodes(node.children, position)
            before.append(Element(node.start_tag, node.end_tag, first))
            after.append(Element(node.start_tag, node.end_tag, second))
        elif isinstance(node, Text):
            before.append(Text(node.text[:position]))
            after.append(Text(node.text[position:]))
        else:
            before.append(node)
        position = max(position - length, 0)
    return before, after


def replace_character(nodes: list[Node], position: int, text: str) -> list[Node]:
    """Returns nodes with another text in place of the character at a position of their text."""
    replaced = []
    for node in nodes:
        length = len(plain_text([node]))
        if not 0 <= position < length or isinstance(node, Fixed):
            replaced.append(node)
        elif isinstance(node, Element):
            children = replace_character(node.children, position, text)
            replaced.append(Element(node.start_tag, node.end_tag, children))
        else:
            replaced.append(Text(node.text[:position] + text + node.text[position + 1 :]))
        position -= length
    return replaced


# ---- Units: words and signs ----


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
        return not any(character.isalnum() for character in self.text)


def find_units(text: str) -> list[Unit]:
    """Returns the units of a text, in order."""
    units = []
    for number, word in enumerate(re.finditer(r"\S+", text)):
        for match in UNIT.finditer(word[0]):
            start, end = word.start() + match.start(), word.start() + match.end()
            units.append(Unit(start, end, number, match[0]))
    return units


def cut_units(units: list[Unit], positions: set[int]) -> list[Unit]:
    """Returns units, those divided in which a tag stands: H<sub>2</sub>O has three.

    Args:
      units: of a text.
      positions: of tags in the text.
    """
    pieces = []
    for unit in units:
        inside = [position for position in range(unit.start + 1, unit.end) if position in positions]
        bounds = [unit.start, *inside, unit.end]
        for start, end in itertools.pairwise(bounds):
            part = unit.text[start - unit.start : end - unit.start]
            pieces.append(Unit(start, end, unit.word, part))
    return pieces


# ---- The elements of the source ----


class Place(NamedTuple):
    """Where the source has an Element or Fixed."""

    node: Element | Fixed
    parent: int  # its number; -1 for none
    start: int  # in the text
    end: int


def find_places(nodes: list[Node]) -> list[Place]:
    """Returns the places of all elements, each before those within it."""
    places = []

    def visit(children: list[Node], parent: int, position: int) -> int:
        for node in children:
            if isinstance(node, Text):
                position += len(node.text)
                continue
            number, start = len(places), position
            places.append(Place(node, parent, start, start))
            if isinstance(node, Element):
                position = visit(node.children, number, position)
            else:
                position += len(node.text)
            places[number] = Place(node, parent, start, position)
        return position

    visit(nodes, -1, 0)
    return places


# ---- Links between units ----


def link_units(
    source: list[Unit], target: list[Unit], links: list[tuple[int, int]] | None
) -> list[list[int]]:
    """Returns for each target unit the numbers of the source units that it is linked to.

    A sign is linked to an equal sign of the source; without one, to nothing. Without links, units
    are linked to those at the same relative position.

    Args:
      source, target: the units.
      links: of words.
    """
    linked_words = defaultdict(list)
    for source_word, target_word in links or ():
        linked_words[target_word].append(source_word)
    source_words, target_words = units_by_word(source), units_by_word(target)
    linked = [[] for _ in target]
    for word, numbers in target_words.items():
        words = linked_words[word] if links else [nearest_word(source, target, numbers[0])]
        candidates = [number for source_word in words for number in source_words[source_word]]
        if [target[i].text for i in numbers] == [source[i].text for i in candidates]:
            for number, candidate in zip(numbers, candidates, strict=True):
                linked[number] = [candidate]
            continue
        of_letters = [number for number in candidates if not source[number].is_sign]
        letters = [number for number in numbers if not target[number].is_sign]
        for number, share in zip(letters, shares(of_letters, len(letters)), strict=True):
            linked[number] = share
        for number in numbers:
            if target[number].is_sign:
                linked[number] = equal_sign(source, target, number, candidates)
    share_unspaced_words(source_words, linked)
    return linked


def units_by_word(units: list[Unit]) -> dict[int, list[int]]:
    """Returns the numbers of the units of each word."""
    numbers = defaultdict(list)
    for number, unit in enumerate(units):
        numbers[unit.word].append(number)
    return numbers


def nearest_word(source: list[Unit], target: list[Unit], number: int) -> int:
    """Returns the source word at the relative position of a target unit."""
    if not source:
        return 0
    return source[number * len(source) // len(target)].word


def shares(numbers: list[int], count: int) -> list[list[int]]:
    """Returns `numbers` in as many consecutive shares, which overlap if there are too few."""
    size = len(numbers) / max(count, 1)
    return [
        numbers[math.floor(index * size) : max(math.ceil((index + 1) * size), 1)]
        for index in range(count)
    ]


def share_unspaced_words(source_words: dict[int, list[int]], linked: list[list[int]]) -> None:
    """Shares the units of a source word, such as a Chinese sentence, among the target units.

    Args:
      source_words: the units of each source word.
      linked: the source units of each target unit; changed in place.
    """
    for numbers in source_words.values():
        if len(numbers) < 3:
            continue
        members = set(numbers)
        users = [index for index, units in enumerate(linked) if len(members & set(units)) > 1]
        if len(users) < 2:
            continue
        for user, share in zip(users, shares(numbers, len(users)), strict=True):
            others = [number for number in linked[user] if number not in members]
            linked[user] = sorted([*others, *share])


def equal_sign(
    source: list[Unit], target: list[Unit], number: int, candidates: list[int]
) -> list[int]:
    """Returns the source unit that a target sign is linked to, in a list; an empty one for none.

    Args:
      source, target: the units.
      number: of the sign.
      candidates: the source units that its word is linked to, which count before all others.
    """
    sign = target[number].text.translate(SAME_SIGNS)

    def equals(index: int) -> bool:
        return source[index].text.translate(SAME_SIGNS) == sign

    equal = [index for index in candidates if equals(index)]
    equal = equal or [index for index in range(len(source)) if equals(index)]
    position = number / len(target)
    return sorted(equal, key=lambda index: abs(index / len(source) - position))[:1]


# ---- Putting tags back ----


class TagInserter:
    """Puts the tags of a source around the words of its translation.

    Args:
      nodes: the source.
      translation: of its text.
    """

    def __init__(self, nodes: list[Node], translation: TranslatedText):
        self.text = translation.text
        self.places = find_places(nodes)
        source_text = plain_text(nodes)
        bounds = {position for place in self.places for position in (place.start, place.end)}
        self.source = cut_units(find_units(source_text), bounds)
        self.starts = [unit.start for unit in self.source]
        self.target = self.cut_equal_words(find_units(self.text))
        self.linked = link_units(self.source, self.target, translation.links)
        self.source_text = source_text
        self.children = defaultdict(list)  # the numbers of places by that of the parent
        for number, place in enumerate(self.places):
            self.children[place.parent].append(number)
        self.stretches: dict[int, tuple[int, int]] = {}  # of target units, by place

    def cut_equal_words(self, target: list[Unit]) -> list[Unit]:
        """Returns target units, those cut as in the source that are equal to a cut word there."""
        cuts = {}
        for numbers in units_by_word(self.source).values():
            word = "".join(self.source[number].text for number in numbers)
            start = self.source[numbers[0]].start
            cuts[word] = [self.source[number].start - start for number in numbers]
        positions = set()
        for numbers in units_by_word(target).values():
            word = "".join(target[number].text for number in numbers)
            positions |= {target[numbers[0]].start + cut for cut in cuts.get(word, ())}
        return cut_units(target, positions)

    def nodes(self) -> list[Node]:
        """Returns the translation with tags."""
        self.allocate(-1, 0, len(self.target))
        return self.build(-1, 0, len(self.text))

    def source_range(self, place: Place) -> tuple[int, int]:
        """Returns the numbers of the first source unit in a place and of the first after it."""
        first = bisect.bisect_left(self.starts, place.start)
        return first, max(first, bisect.bisect_left(self.starts, place.end))

    def allocate(self, parent: int, start: int, end: int) -> None:
        """Finds the stretches of target units of all places within a parent.

        Args:
          parent: its number.
          start, end: its stretch.
        """
        numbers = self.children[parent]
        ranges = {number: self.source_range(self.places[number]) for number in numbers}
        free = [True] * (end - start)
        parent_range = self.source_range(self.places[parent]) if parent >= 0 else None
        whole = parent_range or (0, len(self.source))
        longest_first = sorted(numbers, key=lambda n: ranges[n][0] - ranges[n][1])  # stable
        for number in longest_first:
            first, last = ranges[number]
            if first == last:
                continue
            if (first, last) == whole:
                stretch = (start, end)
            else:
                stretch = self.find_stretch(number, (first, last), free, start)
            self.stretches[number] = stretch
            free[stretch[0] - start : stretch[1] - start] = [False] * (stretch[1] - stretch[0])
        for number in numbers:
            if ranges[number][0] == ranges[number][1]:
                position = self.position(ranges[number][0], self.places[number])
                position = self.outside_siblings(min(max(position, start), end), parent)
                self.stretches[number] = (position, position)
            elif isinstance(self.places[number].node, Element):
                self.allocate(number, *self.stretches[number])

    def find_stretch(
        self, number: int, source_range: tuple[int, int], free: list[bool], start: int
    ) -> tuple[int, int]:
        """Returns the free stretch of target units that fits an element best.

        Args:
          number: of the place.
          source_range: its source units, first and after the last.
          free: whether each target unit of the parent is free.
          start: the parent's first unit.
        """
        if isinstance(self.places[number].node, Fixed):
            stretch = self.equal_words(source_range, free, start)
            if stretch:
                return stretch
        weights = [
            self.weight(start + index, source_range) if is_free else -math.inf
            for index, is_free in enumerate(free)
        ]
        stretch = best_stretch(weights)
        if stretch:
            return start + stretch[0], start + stretch[1]
        middle = sum(source_range) / 2 / max(len(self.source), 1) * len(self.target) - 0.5
        candidates = [
            (self.share(start + index, source_range) == 0, abs(start + index - middle), index)
            for index, is_free in enumerate(free)
            if is_free and not self.target[start + index].is_sign
        ]
        if not candidates:
            position = min(max(round(middle), start), start + len(free))
            position = self.outside_siblings(position, self.places[number].parent)
            return position, position
        index = start + min(candidates)[2]
        return index, index + 1

    def equal_words(
        self, source_range: tuple[int, int], free: list[bool], start: int
    ) -> tuple[int, int] | None:
        """Returns the stretch of target units that are those of the source; None without one."""
        words = [unit.text for unit in self.source[slice(*source_range)]]
        relative = source_range[0] / len(self.source) * len(self.target)
        stretches = []
        for index in range(len(free) - len(words) + 1):
            stretch = start + index, start + index + len(words)
            units = self.target[slice(*stretch)]
            if all(free[index : index + len(words)]) and [unit.text for unit in units] == words:
                stretches.append(stretch)
        return min(stretches, key=lambda stretch: abs(stretch[0] - relative), default=None)

    def share(self, number: int, source_range: tuple[int, int]) -> float:
        """Returns which share of what a target unit is linked to is in a range of the source."""
        lengths = [
            (len(self.source[index].text), source_range[0] <= index < source_range[1])
            for index in self.linked[number]
        ]
        total = sum(length for length, _ in lengths)
        return sum(length for length, inside in lengths if inside) / total if total else 0.0

    def weight(self, number: int, source_range: tuple[int, int]) -> float:
        """Returns 1 if a target unit belongs to a range of the source, -1 if not, 0 if unknown.

        A sign counts half: it does not divide two words that belong to the range.
        """
        if not self.linked[number]:
            return 0.0
        scale = 0.5 if self.target[number].is_sign else 1.0
        return scale * (2 * self.share(number, source_range) - 1)

    def position(self, first: int, place: Place) -> int:
        """Returns the number of the target unit before which markup without text belongs.

        It stays behind the word before it, or before the one after it where a space divides them.

        Args:
          first: the number of the source unit after it.
          place: of the markup.
        """
        if first == 0:
            return 0
        if first == len(self.source):
            return len(self.target)
        attached = not self.has_space_before(place)
        neighbor = first - 1 if attached else first
        users = [index for index, units in enumerate(self.linked) if neighbor in units]
        if not users:
            return round(first / len(self.source) * len(self.target))
        best = min(users, key=lambda index: len(self.linked[index]))
        return best + 1 if attached else best

    def outside_siblings(self, position: int, parent: int) -> int:
        """Returns the position, or the nearer end of the element that it would be in."""
        for number in self.children[parent]:
            start, end = self.stretches.get(number, (0, 0))
            if start < position < end:
                return start if position - start < end - position else end
        return position

    def has_space_before(self, place: Place) -> bool:
        """Returns whether a space is before a place in the source."""
        return self.source_text[max(place.start - 1, 0) : place.start].isspace()

    def has_space_after(self, place: Place) -> bool:
        """Returns whether a space is after a place in the source."""
        return self.source_text[place.end : place.end + 1].isspace()

    def build(self, parent: int, start: int, end: int) -> list[Node]:
        """Returns the nodes within a parent.

        Args:
          parent: its number.
          start, end: positions in the translation.
        """
        children = sorted(
            self.children[parent], key=lambda number: (*self.stretches[number], number)
        )
        nodes, position = [], start
        for number in children:
            place, (first, last) = self.places[number], self.stretches[number]
            if first < last:
                child_start, child_end = self.target[first].start, self.target[last - 1].end
            else:
                child_start = child_end = self.gap(first, place, position, end)
            nodes.append(Text(self.text[position:child_start]))
            if isinstance(place.node, Element):
                inner = self.build(number, child_start, child_end)
                nodes.append(Element(place.node.start_tag, place.node.end_tag, inner))
            elif first < last:
                nodes.append(place.node)
            else:
                nodes += self.spaced(place, child_start, bool(nodes[0].text or nodes[1:]))
            position = child_end
        return [*nodes, Text(self.text[position:end])]

    def gap(self, unit: int, place: Place, lowest: int, highest: int) -> int:
        """Returns the position in the translation of what stands before a target unit."""
        behind_word = unit > 0 and not self.has_space_before(place)
        if unit == len(self.target) or behind_word:
            position = self.target[unit - 1].end if unit else 0
        else:
            position = self.target[unit].start
        return min(max(position, lowest), highest)

    def spaced(self, place: Place, position: int, has_text_before: bool) -> Iterator[Node]:
        """Yields markup without text, with the spaces around it that it has in the source."""
        before, after = (
            self.text[max(position - 1, 0) : position],
            self.text[position : position + 1],
        )
        if self.has_space_before(place) and has_text_before and before and not before.isspace():
            yield Text(" ")
        yield place.node
        if self.has_space_after(place) and after and not after.isspace():
            yield Text(" ")


def best_stretch(weights: list[float]) -> tuple[int, int] | None:
    """Returns the first and the end of the stretch with the greatest sum; None if none is positive.

    Kadane's algorithm; the first of equal ones, without zeros at its ends.
    """
    best, best_sum = None, 0.0
    start, running = 0, 0.0
    for index, weight in enumerate(weights):
        if running <= 0:
            start, running = index, 0.0
        running += weight
        if running > best_sum:
            best, best_sum = (start, index + 1), running
    return best


def insert_tags(nodes: list[Node], translation: TranslatedText) -> list[Node]:
    """Returns the translation of nodes, with their tags around the words that are linked.

    Args:
      nodes: of a segment.
      translation: of its text.
    """
    if all(isinstance(node, Text) for node in nodes):
        return [Text(translation.text)]
    return TagInserter(nodes, translation).nodes()
