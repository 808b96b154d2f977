"""Spans that the network does not read: taken out of a source, and put into its translation.

What a network has not learned to copy, it garbles, and the words around it as well: of 300 lines
with one such span, an earlier preset quick translates the rest at 38 BLEU if it reads the span, at
65 to 85 if a number or a name stands for it, and at 88, as without any span, if nothing does. So a
mark of nmt/text/protected.py is taken out before the search. After it, the mark goes to where the
words around it in the source are linked to: that takes no search, so that the text between stays.
"""

from __future__ import annotations

import bisect
import collections
import re
from collections.abc import Sequence
from typing import NamedTuple

from nmt.decoding.context import Context
from nmt.decoding.given_pairs import link_spans
from nmt.decoding.sentence import HiddenSpan, HiddenText, Sentence, SpanLink
from nmt.text.inline_codes import element
from nmt.text.protected import FIRST_MARK, MARK
from nmt.text.scripts import LEFT_SIGNS, RIGHT_SIGNS, SENTENCE_ENDS, UNSPACED, WORD

NEAR_WORDS = 6  # on each side of a mark, whose links count
LONGEST_ELEMENT = 100  # words, of which all links count
MAX_PLACED_SPANS = 200  # of a sentence; more keep their relative positions, which takes no time
SIGN = r"[^\s\w]"
# Marks with nothing but signs between them.
MARKS = rf"{MARK.pattern}(?>(?:{SIGN}{{0,3}}?{MARK.pattern})*)"
# They, what encloses them, and what divides the first one from the text: "({a}/{b})", "{name}, ".
UNIT = re.compile(
    rf"^{MARK.pattern}[,:;](?=\s)|,\s?{MARK.pattern}(?=[{SENTENCE_ENDS}]*$)"
    rf"|(?P<open>(?<!\w)[{re.escape(LEFT_SIGNS)}])?{MARKS}"
    rf"(?(open)[{re.escape(RIGHT_SIGNS)}](?!\w))|{MARKS}"
)
SPACED_LETTER = rf"(?:(?!{UNSPACED.pattern})\w)"
# What nothing is put into: a word with all that is joined to it, as in "mother-in-law's".
JOINED_WORD = rf"{UNSPACED.pattern}|{SPACED_LETTER}+(?:{SIGN}+{SPACED_LETTER}+)*"
SIGNS_AT_END = re.compile(rf"[\s{SENTENCE_ENDS},;:]*$")
SIGNS_ALONE = re.compile(rf"[{SENTENCE_ENDS}]+")
STARTS_WITH_CLOSING_SIGN = re.compile(r"[.,;:!?…)\]}。，！？；：、]|$")


class _Words(NamedTuple):
    """The words of a source and of its translation, and which are linked."""

    starts: list[int]  # of the source's words
    ends: list[int]
    targets: list[tuple[int, int]]  # where the translation's words start and end
    linked: dict[int, list[int]]  # numbers of words of the translation, by those of the source

    sources: dict[int, list[int]]  # the other way round

    def targets_of(self, words: range) -> list[int]:
        """Returns the words of the translation that are linked to these alone, or else to these."""
        targets = [target for word in words for target in self.linked.get(word, ())]
        return [n for n in targets if all(word in words for word in self.sources[n])] or targets


def without_begun(source: HiddenText, prefix: str, hidden: Sequence[str]) -> HiddenText:
    """Returns a HiddenText without the spans that the beginning of the translation holds."""
    spans = []
    for span in source.spans:
        prefix_left = prefix
        for original in _originals(span.marks, hidden):
            before, match, after = prefix_left.partition(original)
            if not match:
                spans.append(span)
                break
            prefix_left = f"{before}\n{after}"
        else:
            prefix = prefix_left
    return source._replace(spans=spans)


def behind(prefix: str, text: str, hidden: Sequence[str]) -> str:
    """Returns a text behind the beginning of a translation, without the spans that this holds.

    Args:
      text: of marks and signs alone.
    """
    left = without_begun(take_out(text, hidden), prefix, hidden)
    return f"{prefix} {put_in(left.text, left)}" if left.spans else prefix


def take_out(text: str, hidden: Sequence[str]) -> HiddenText:
    """Returns a text without its marks and the spaces that they leave."""
    if not hidden:
        return HiddenText(text, [])
    output, spans, position = "", [], 0
    for unit in UNIT.finditer(text):
        output += text[position : unit.start()]
        position = unit.end()
        if output.endswith(" ") or not output:
            position += text[position : position + 1] == " "
            before_sign = STARTS_WITH_CLOSING_SIGN.match(text, position)
            output = output.rstrip(" ") if before_sign else output
        elif _divides_words(unit, text, hidden):
            output += " "
        spans.append(_hidden_span(unit, text, len(output), hidden))
    return HiddenText(output + text[position:], _with_partners(spans, hidden))


def _with_partners(spans: list[HiddenSpan], hidden: Sequence[str]) -> list[HiddenSpan]:
    """Returns spans of which those that begin an element name the one that ends it."""
    open_elements: list[tuple[str, int]] = []
    for number, span in enumerate(spans):
        original = _originals(span.marks, hidden)[0]
        part = element(original)
        name = part.name if part else original  # "**" begins and ends
        is_open = bool(open_elements) and open_elements[-1][0] == name
        if is_open and (part is None or part.is_end):
            _, start = open_elements.pop()
            spans[start] = spans[start]._replace(partner=number)
        elif part is None or not part.is_end:
            open_elements.append((name, number))
    return spans


def _divides_words(unit: re.Match[str], text: str, hidden: Sequence[str]) -> bool:
    """Returns whether words that a unit joins are two: not in "<b>B</b>ig"."""
    around = text[unit.start() - 1 : unit.start()], text[unit.end() : unit.end() + 1]
    is_joined = all(letter.isalnum() and not UNSPACED.match(letter) for letter in around)
    return is_joined and not all(
        _is_inline_tag(original) for original in _originals(unit[0], hidden)
    )


def _is_inline_tag(original: str) -> bool:
    part = element(original)
    return part is not None and part.is_inline


def _originals(marks: str, hidden: Sequence[str]) -> list[str]:
    return [hidden[ord(mark) - FIRST_MARK] for mark in MARK.findall(marks)]


def _hidden_span(unit: re.Match[str], text: str, start: int, hidden: Sequence[str]) -> HiddenSpan:
    """Returns the HiddenSpan of a unit of a text, which starts there in the text without marks."""
    before, after = text[: unit.start()][-1:], text[unit.end() :][:1]
    part = element(_originals(unit[0], hidden)[0])
    is_start = part is not None and part.is_inline and not part.is_end
    is_end = part is not None and part.is_inline and part.is_end

    def joins(neighbor: str, is_tag: bool) -> bool:
        if not neighbor or neighbor.isspace():
            return False
        return is_tag or not UNSPACED.match(neighbor)

    joins_right = joins(after, is_start) and (after.isalnum() or is_start or after in LEFT_SIGNS)
    return HiddenSpan(
        unit[0],
        start,
        joins_left=joins(before, is_end),
        follows_no_letter=not before.isalnum() and not is_end,
        joins_right=joins_right,
        ends_text=not text[unit.end() :].strip()
        and text[: unit.start()].rstrip()[-1:] in ".!?…。！？",
    )


def put_in_spans(context: Context, chunk: Sequence[Sentence]) -> None:
    """Puts into candidates the marks of what the network has not read: a stage of the pipeline."""
    places = [
        (sentence, rank)
        for sentence in chunk
        if sentence.hidden.spans
        for rank in range(len(sentence.candidates))
    ]
    texts = [sentence.candidates[rank].text for sentence, rank in places]
    sources = [sentence.source_text for sentence, _ in places]
    links = link_spans(context, zip(sources, texts, strict=True))
    for (sentence, rank), text, text_links in zip(places, texts, links, strict=True):
        # Between the tokens of a prefix of ids, which holds no marks, there may be some.
        prefix = sentence.prefix_text if sentence.given_prefix else ""
        text = put_in(text, sentence.hidden, text_links, prefix)
        sentence.candidates[rank] = sentence.candidates[rank]._replace(text=text)


def put_in(text: str, source: HiddenText, links: Sequence[SpanLink] = (), prefix: str = "") -> str:
    """Returns a translation with the marks of its source.

    Args:
      links: of both texts; without any, marks keep their relative positions.
      prefix: what the translation begins with, in which no mark is put.
    """
    signs = source.text[source.spans[-1].start :].strip() if source.spans else ""
    if SIGNS_ALONE.fullmatch(signs) and text and text[-1] not in SENTENCE_ENDS:
        text += signs  # which the network may leave out behind a word that it has not read
    links = links if len(source.spans) <= MAX_PLACED_SPANS else ()
    words = _linked_words(source.text, text, links, len(prefix))
    positions = [_place(span, source.text, text, words) for span in source.spans]
    for number, span in enumerate(source.spans):
        if span.partner < 0:
            continue
        ends = span.start, source.spans[span.partner].start
        inner = range(*(bisect.bisect_left(words.starts, end) for end in ends))
        enclosed = words.targets_of(inner) if len(inner) <= LONGEST_ELEMENT else []
        if enclosed and inner.start > 0:
            positions[number] = words.targets[min(enclosed)][0]
        if enclosed and inner.stop < len(words.starts):
            positions[span.partner] = words.targets[max(enclosed)][1]
    places = [(position, number) for number, position in enumerate(positions)]
    for position, number in sorted(places, reverse=True):
        text = _insert(text, position, source.spans[number])
    return text


def _linked_words(source: str, text: str, links: Sequence[SpanLink], first: int) -> _Words:
    """Returns the words of a source and of its translation from the position `first` on."""
    words = [match.span() for match in re.finditer(WORD, source)]
    targets = [match.span() for match in re.finditer(JOINED_WORD, text) if match.start() >= first]
    starts, target_starts = [start for start, _ in words], [start for start, _ in targets]
    linked, sources = collections.defaultdict(list), collections.defaultdict(list)
    for link in links:
        word = bisect.bisect_right(starts, link.source[0]) - 1
        target = bisect.bisect_right(target_starts, link.target[0]) - 1
        if target >= 0:
            linked[word].append(target)
            sources[target].append(word)
    return _Words(starts, [end for _, end in words], targets, linked, sources)


def _insert(text: str, position: int, span: HiddenSpan) -> str:
    """Returns a text with a span at a position, and the spaces that it needs."""
    before, after = text[:position], text[position:]
    left, right = before[-1:], after[:1]
    meets_letter = span.follows_no_letter and left.isalnum()
    is_joined = span.joins_left and not meets_letter
    needs_space = left and not left.isspace() and left not in LEFT_SIGNS and not is_joined
    if needs_space and not UNSPACED.match(left):
        before += " "
    needs_space = right and (right.isalnum() or right in LEFT_SIGNS)
    needs_space = needs_space and not span.joins_right and not UNSPACED.match(right)
    if needs_space or MARK.match(right):  # 38.5 and 38.3 would be one number
        after = " " + after
    return before + span.marks + after


def _place(span: HiddenSpan, source: str, text: str, words: _Words) -> int:
    targets = words.targets
    if span.ends_text or not targets:
        return len(text)
    number = bisect.bisect_right(words.ends, span.start)  # of the word after it
    if number == 0:
        return targets[0][0]
    if number == len(words.ends):
        return _end_of_text(text, targets)
    gap = _gap(number, words)
    if gap == 0:
        return targets[0][0]
    if gap == len(targets):
        return _end_of_text(text, targets)
    sign_before = source[words.ends[number - 1] : span.start].strip()
    sign_after = source[span.start : words.starts[number]].strip()
    belongs_right = span.joins_right or (sign_before and not sign_after)
    if belongs_right and not span.joins_left:
        return targets[gap][0]
    return targets[gap - 1][1]


def _end_of_text(text: str, targets: list[tuple[int, int]]) -> int:
    """Returns the position before the signs that end a text."""
    end = SIGNS_AT_END.search(text, targets[-1][1])
    return end.start() if end else len(text)


def _gap(number: int, words: _Words) -> int:
    """Returns before which of the target words a span is, by the fewest links that cross it.

    A link of a word left of the span to one right of it crosses it, and the other way round. Links
    of near words count more.

    Args:
      number: of the source word after the span.
    """
    crossing = []  # (weight, whether the word is on the left, target word)
    for word in range(number - NEAR_WORDS, number + NEAR_WORDS):
        distance = number - word if word < number else word - number + 1
        linked = words.linked.get(word, ())
        crossing += [(1 / distance**2, word < number, target) for target in linked]
    middle = number / max(len(words.ends), 1) * len(words.targets)
    if not crossing:
        return round(middle)
    gaps = {target + is_left for _, is_left, target in crossing}

    def cost(gap: int) -> tuple[float, float, float]:
        crossed = sum(
            weight
            for weight, is_left, target in crossing
            if (target >= gap if is_left else target < gap)
        )
        near = max(weight for weight, is_left, target in crossing if gap == target + is_left)
        return crossed, -near, abs(gap - middle)

    return min(gaps, key=cost)
