"""Tags within a sentence: what they enclose is translated, then they are put around the same words.

The words of a translation are linked to those of the source. An element takes the stretch of words
in which most are linked to its words and fewest to others, within the stretch of the outer element.
So tags are nested as they were, each is there once, and alignments that are wrong for one word
do no harm. (Bergamot copies the tags of a source token to all target tokens that align with it.)
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from nmt.documents.nodes import Element, Fixed, Node, Text, plain_text, seen_text
from nmt.documents.word_links import Unit, UnitLinks, cut_units, find_units, units_by_word
from nmt.text.protected import MARK, has_words


class TranslatedText(Protocol):
    """What is needed of a translation: the record Translation of nmt/decoding has it."""

    @property
    def text(self) -> str: ...

    @property
    def links(self) -> list[tuple[int, int]] | None:
        """(source word, target word), numbers in text.split(); None if they are unknown."""

    @property
    def confidence(self) -> float | None:
        """The chrF that is expected of it, from 0 to 100; None if it is unknown."""


class Range(NamedTuple):
    """Consecutive units; `end` is the first one after them."""

    start: int
    end: int


class Place(NamedTuple):
    """Where the source has an Element or Fixed."""

    node: Element | Fixed
    parent: int  # its number; OUTSIDE for none
    start: int  # in the text
    end: int


OUTSIDE = -1
MAX_FIXED_TEXTS = 100  # of a segment, which are looked for in its translation


def find_places(nodes: list[Node]) -> list[Place]:
    """Returns the places of all elements, each before those within it."""
    places: list[Place] = []

    def visit(children: list[Node], parent: int, start: int) -> None:
        for node in children:
            end = start + len(plain_text([node]))
            if not isinstance(node, Text):
                places.append(Place(node, parent, start, end))
            if isinstance(node, Element):
                visit(node.children, len(places) - 1, start)
            start = end

    visit(nodes, OUTSIDE, 0)
    return places


class TagInserter:
    """Puts the tags of a source around the words of its translation."""

    def __init__(self, nodes: list[Node], translation: TranslatedText):
        self._source_text, self._text = plain_text(nodes), translation.text
        self._places = find_places(nodes)
        bounds = {bound for place in self._places for bound in (place.start, place.end)}
        self._fixed = self._texts_of_fixed()
        bounds |= self._fixed_bounds(self._source_text)
        self._source = cut_units(find_units(self._source_text), bounds)
        self._starts = [unit.start for unit in self._source]
        self._target = self._cut_equal_words(find_units(self._text))
        self._links = UnitLinks(self._source, self._target, translation.links)
        costs = map(self._links.cost, range(len(self._target)))
        self._costs = [0.0, *itertools.accumulate(costs)]  # of all units before each
        self._numbers = defaultdict(list)  # of target units, by text
        for number, unit in enumerate(self._target):
            self._numbers[unit.text].append(number)
        self._children = defaultdict(list)  # the numbers of places, by that of the parent
        for number, place in enumerate(self._places):
            self._children[place.parent].append(number)
        self._stretches: dict[int, Range] = {}  # of target units, by place

    def nodes(self) -> list[Node]:
        """Returns the translation with tags."""
        self._allocate(OUTSIDE, Range(0, len(self._target)))
        return self._build(OUTSIDE, 0, len(self._text))

    def _texts_of_fixed(self) -> dict[int, str]:
        """Returns the texts of places that a translation holds as they are, by number.

        They are names, placeholders, URLs, numbers and signs.
        """
        texts = {
            number: self._source_text[place.start : place.end].strip()
            for number, place in enumerate(self._places)
        }
        return {
            number: text
            for number, text in texts.items()
            if text and (isinstance(self._places[number].node, Fixed) or not has_words(text))
        }

    def _fixed_bounds(self, text: str) -> set[int]:
        """Returns where units that are Fixed end: "l'{x}" has the units l', {, x and }."""
        texts = sorted({*self._fixed.values()}, key=len, reverse=True)[:MAX_FIXED_TEXTS]
        expression = "|".join(rf"(?<!\d){re.escape(text)}(?!\d)" for text in texts) or "(?!)"
        return {
            match.start() + bound
            for match in re.finditer(expression, text)
            for unit in find_units(match[0])
            for bound in (0, unit.start, unit.end, len(match[0]))
        }

    def _cut_equal_words(self, target: list[Unit]) -> list[Unit]:
        """Returns target units, those cut as in the source that are equal to a cut word there."""
        cuts = {}
        for numbers in units_by_word(self._source).values():
            word = "".join(self._source[number].text for number in numbers)
            start = self._source[numbers[0]].start
            cuts[word] = [self._source[number].start - start for number in numbers]
        positions = set()
        for numbers in units_by_word(target).values():
            word = "".join(target[number].text for number in numbers)
            positions |= {target[numbers[0]].start + cut for cut in cuts.get(word, ())}
        positions |= self._fixed_bounds(self._text)
        return cut_units(target, positions)

    # ---- Which stretch of the translation each element takes ----

    def _source_range(self, number: int) -> Range:
        """Returns the source units in a place; all of them for OUTSIDE."""
        if number == OUTSIDE:
            return Range(0, len(self._source))
        place = self._places[number]
        first = bisect.bisect_left(self._starts, place.start)
        return Range(first, max(first, bisect.bisect_left(self._starts, place.end)))

    def _allocate(self, parent: int, outer: Range) -> None:
        """Finds the stretches of all places within a parent, whose stretch is `outer`."""
        numbers, whole = self._children[parent], self._source_range(parent)
        ranges = {number: self._source_range(number) for number in numbers}
        owners: list[int | None] = [None] * (outer.end - outer.start)  # places, by target unit
        # Stable: what is found as it is, then the longest.
        order = sorted(
            numbers, key=lambda n: (n not in self._fixed, ranges[n].start - ranges[n].end)
        )
        for number in order:
            if ranges[number].start == ranges[number].end:
                stretch = self._position(number, ranges[number].start, outer, owners)
            elif ranges[number] == whole:
                stretch = outer
            else:
                stretch = self._find_stretch(number, ranges[number], outer, owners)
            self._stretches[number] = stretch
            owners[stretch.start - outer.start : stretch.end - outer.start] = [number] * (
                stretch.end - stretch.start
            )
            if isinstance(self._places[number].node, Element):
                self._allocate(number, stretch)

    def _find_stretch(
        self, number: int, source: Range, outer: Range, owners: list[int | None]
    ) -> Range:
        """Returns the free stretch of target units that fits an element best.

        Owners are the places that have taken each unit of the parent; None is free.
        """
        candidates = sorted(
            {
                unit
                for index in range(*source)
                for unit in self._links.targets[index]
                if outer.start <= unit < outer.end and owners[unit - outer.start] is None
            }
        )
        stretch = None
        if number in self._fixed:
            stretch = self._equal_words(source, outer, owners)
            if not stretch and MARK.search(self._fixed[number]):  # the translation has lost it
                return self._position(number, source.end, outer, owners)
        stretch = stretch or self._best_stretch(candidates, source, outer, owners)
        if stretch:
            return stretch
        middle = (source.start + source.end) / 2 / len(self._source) * len(self._target) - 0.5
        if candidates:
            nearest: int | None = min(candidates, key=lambda unit: abs(unit - middle))
        else:
            nearest = self._free_unit(middle, outer, owners)
        if nearest is None:
            return self._between(round(middle), outer, owners)
        return Range(nearest, nearest + 1)

    def _best_stretch(
        self, candidates: list[int], source: Range, outer: Range, owners: list[int | None]
    ) -> Range | None:
        """Returns the stretch of the greatest weight; None if none has more than 0.

        A unit that is linked to the element counts 1, one that is linked to others -1. (Kadane's
        algorithm; between candidates, weights are sums of costs.) Candidates are the free units
        that are linked to the element, in order.
        """
        best, best_weight = None, 0.0
        start, weight, last = 0, 0.0, None
        for unit in candidates:
            if last is not None:
                weight += self._costs[unit] - self._costs[last + 1]
                gap = owners[last + 1 - outer.start : unit - outer.start] if weight > 0 else ()
                if any(owner is not None for owner in gap):
                    weight = 0.0
            if weight <= 0:
                start, weight = unit, 0.0
            cost = self._links.cost(unit)
            weight += abs(cost) * (2 * self._links.share(unit, *source) - 1)
            last = unit
            if weight >= best_weight and weight > 0:  # of equal ones, the last
                best, best_weight = Range(start, unit + 1), weight
        return best

    def _equal_words(self, source: Range, outer: Range, owners: list[int | None]) -> Range | None:
        """Returns the free stretch of units that are those of the source; None without one."""
        words = [unit.text for unit in self._source[slice(*source)]]
        relative = source.start / len(self._source) * len(self._target)
        stretches = []
        for number in self._numbers[words[0]]:
            stretch = Range(number, number + len(words))
            if outer.start <= stretch.start and stretch.end <= outer.end:
                taken = owners[stretch.start - outer.start : stretch.end - outer.start]
                texts = [unit.text for unit in self._target[slice(*stretch)]]
                if texts == words and taken == [None] * len(words):
                    stretches.append(stretch)
        return min(stretches, key=lambda stretch: abs(stretch.start - relative), default=None)

    def _free_unit(self, middle: float, outer: Range, owners: list[int | None]) -> int | None:
        """Returns the free word that is nearest to a position; None if there is none."""
        center = min(max(round(middle), outer.start), outer.end)
        for distance in range(outer.end - outer.start + 1):
            for unit in (center - distance, center + distance):
                is_inside = outer.start <= unit < outer.end
                is_free = is_inside and owners[unit - outer.start] is None
                if is_free and not self._target[unit].is_sign:
                    return unit
        return None

    def _between(self, position: int, outer: Range, owners: list[int | None]) -> Range:
        """Returns an empty stretch at a position, or at the nearer end of the element there."""
        position = min(max(position, outer.start), outer.end)
        if outer.start < position < outer.end:
            owner = owners[position - outer.start]
            if owner is not None and owner == owners[position - 1 - outer.start]:
                stretch = self._stretches[owner]
                is_first_half = position - stretch.start < stretch.end - position
                position = stretch.start if is_first_half else stretch.end
        return Range(position, position)

    def _position(
        self, number: int, following: int, outer: Range, owners: list[int | None]
    ) -> Range:
        """Returns the empty stretch of markup without text, before the source unit `following`.

        It stays behind the word before it, or before the one after it where a space divides them.
        """
        position = round(following / max(len(self._source), 1) * len(self._target))
        if 0 < following < len(self._source):
            is_attached = not self._has_space_before(number)
            neighbor = following - 1 if is_attached else following
            units = self._links.targets[neighbor]
            if units:
                unit = min(units, key=lambda unit: len(self._links.sources[unit]))
                position = unit + 1 if is_attached else unit
        return self._between(position, outer, owners)

    # ---- The tree ----

    def _has_space_before(self, number: int) -> bool:
        """Returns whether a space is before a place in the source."""
        start = self._places[number].start
        return self._source_text[max(start - 1, 0) : start].isspace()

    def _has_space_after(self, number: int) -> bool:
        """Returns whether a space is after a place in the source."""
        end = self._places[number].end
        return self._source_text[end : end + 1].isspace()

    def _build(self, parent: int, start: int, end: int) -> list[Node]:
        """Returns the nodes within a parent, between two positions in the translation."""
        nodes: list[Node] = []
        position = start
        for number in sorted(self._children[parent], key=lambda n: (*self._stretches[n], n)):
            node, stretch = self._places[number].node, self._stretches[number]
            if stretch.start < stretch.end:
                node_start = self._target[stretch.start].start
                node_end = self._target[stretch.end - 1].end
            else:
                node_start = node_end = min(max(self._gap(number), position), end)
            nodes.append(Text(self._text[position:node_start]))
            has_text_before = node_start > start or len(nodes) > 1
            if isinstance(node, Element):
                inner = self._build(number, node_start, node_end)
                nodes.append(Element(node.start_tag, node.end_tag, inner))
            elif stretch.start < stretch.end:
                nodes.append(node)
            else:
                nodes += self._spaced(number, node_start, has_text_before)
            position = node_end
        return [*nodes, Text(self._text[position:end])]

    def _gap(self, number: int) -> int:
        """Returns the position in the translation of markup without text."""
        unit = self._stretches[number].start
        is_behind_word = unit > 0 and not self._has_space_before(number)
        if unit == len(self._target) or is_behind_word:
            return self._target[unit - 1].end if unit else 0
        return self._target[unit].start

    def _spaced(self, number: int, position: int, has_text_before: bool) -> Iterator[Node]:
        """Yields markup without text, with the spaces around it that it has in the source."""
        before = self._text[max(position - 1, 0) : position]
        after = self._text[position : position + 1]
        is_first, is_last = not self._touches(number - 1), not self._touches(number)
        has_word_before = has_text_before and before and not before.isspace()
        if is_first and self._has_space_before(number) and has_word_before:
            yield Text(" ")
        yield self._places[number].node
        if is_last and self._has_space_after(number) and after and not after.isspace():
            yield Text(" ")

    def _touches(self, number: int) -> bool:
        """Returns whether markup without text has more of it right behind, as in <img><img>."""
        both = self._places[max(number, 0) : number + 2]
        positions = {position for place in both for position in (place.start, place.end)}
        return len(both) == 2 and len(positions) == len({place.parent for place in both}) == 1


def insert_tags(nodes: list[Node], translation: TranslatedText) -> list[Node]:
    """Returns the translation of nodes, with their tags around the words that are linked."""
    if all(isinstance(node, Text) for node in nodes):
        return [Text(translation.text)]
    return TagInserter(nodes, translation).nodes()


def written_text(nodes: list[Node], translation: TranslatedText) -> str:
    """Returns what a reader sees of a translation after its markup was inserted."""
    return seen_text(insert_tags(nodes, translation))
