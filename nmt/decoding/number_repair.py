"""Numbers whose digits come out wrong.

The network reads a number, because it may have to write it in another form: 15.000 becomes
15,000. A number of the translation that the source lacks is taken for the garbled form of one that
is missing: this takes its place. Where there is none, the sentence is searched for again without
the missing number, which is put in as what the network never reads.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nmt.decoding import candidates, sources
from nmt.decoding.context import Context
from nmt.decoding.sentence import Sentence
from nmt.text.differences import NUMBER, digits, with_common_digits
from nmt.text.protected import NOT_A_DIGIT, SPACE, Protector, Span, replace

DECADE, YEAR = re.compile("[1-9]0"), re.compile("(?:1[5-9]|20)[1-9]0")
TIME = re.compile("[:/]")
WELL_FORMED = re.compile(
    rf"[-+\u2212]?(?:[0-9]{{1,3}}(?>(?:[.,'\u2019{SPACE}][0-9]{{3}})+)|[0-9]++)(?:[.,][0-9]++)?"
)
GROUP = 3  # digits: a thousand, a million
DIGITS, WORDS = re.compile(r"\d+"), re.compile(r"\w+")


class Form(NamedTuple):
    """What is equal of a number of a source and of the same number in a translation."""

    number: Callable[[Span], str]
    written: Callable[[Span], str]


def _without_zeros(span: Span) -> str:
    """Returns what is equal of 15 (thousand), 15,000 and 15.0 million: not of 22 and 2,200."""
    groups = DIGITS.findall(span.original)
    whole = "".join(groups[:-1] or groups)  # before decimals, or before the last three digits
    return f"{span.digits.rstrip('0')} {len(whole) % GROUP}"


def _decade(span: Span) -> str:
    """Returns the digits of "70"; an unlikely text of another number."""
    return span.digits if DECADE.fullmatch(span.digits) else span.original


def _decade_of_year(span: Span) -> str:
    """Returns "70" of 1970; "" of another number."""
    return span.digits[2:] if YEAR.fullmatch(span.digits) else ""


def _groups(span: Span) -> str:
    return " ".join(DIGITS.findall(span.original))


def _digits(span: Span) -> str:
    """Returns what `digits` does; a time or a date is its groups of digits, or nothing."""
    return span.original if TIME.search(span.original) else digits(span.original)


def _written_digits(span: Span) -> str:
    """Returns the digits of a number, unless its separators are none of a number: 79,98.836."""
    return digits(span.original) if WELL_FORMED.fullmatch(span.original) else span.original


STRICT_FORMS = [Form(_groups, _groups), Form(_digits, _written_digits)]
# If a run writes some numbers as words, it may write parts of others so: 15,000 for "15 mil", the
# 1970s for "70".
FORMS = [*STRICT_FORMS, Form(_without_zeros, _without_zeros), Form(_decade, _decade_of_year)]


class NumberRepair(NamedTuple):
    """What can be done about the numbers of a translation."""

    text: str  # with the source's numbers in place of garbled ones
    lost: list[str]  # numbers of the source that it still lacks
    doubtful: list[str] = []  # that it lacks, or holds as words  # noqa: RUF012  # never changed


class _Retry(NamedTuple):
    """A sentence to search for again, because its candidates lack numbers."""

    sentence: Sentence
    without: Sentence  # the same without the numbers, not yet searched for
    is_lost: bool  # else the numbers may be there as words


def repair_numbers(context: Context, chunk: Sequence[Sentence], scored: bool) -> None:
    """Repairs numbers of candidates, or searches again without the ones that they lack.

    A number that may be written as a word is put in if the translation without it is the same.
    The translation without the lost numbers may lack others: the last search reads none.
    """
    waiting = list(chunk)
    for hides_all in (False, True):
        retries = [_repair_sentence(context, sentence, hides_all) for sentence in waiting]
        needed = [retry for retry in retries if retry]
        if not needed:
            return
        without_numbers = [retry.without for retry in needed]
        sources.encode(context, without_numbers)
        candidates.search(context, without_numbers, scored)
        waiting = []
        for sentence, without, is_lost in needed:
            if is_lost or says_the_same(sentence.translation, without.translation):
                sentence.become(without)
                waiting.append(sentence)


def _repair_sentence(context: Context, sentence: Sentence, hides_all: bool) -> _Retry | None:
    """Repairs numbers of candidates. Returns what is left to do; None if nothing is.

    Args:
      hides_all: whether no number is left in a sentence whose candidates lack some.
    """
    if not sentence.numbers:
        return None
    protector, spells_numbers = context.protector, context.tokenizer.spells_numbers
    lost: set[str] = set()
    doubtful: set[str] = set()
    for rank, candidate in enumerate(sentence.candidates):
        repaired = repair(candidate.text, sentence.numbers, protector, spells_numbers)
        if repaired.text.startswith(sentence.prefix_text):  # which may hold another number
            sentence.candidates[rank] = candidate.with_text(repaired.text)
        lost |= {*repaired.lost}
        doubtful |= {*repaired.doubtful}
    if not lost and (hides_all or not doubtful):
        return None
    hidden = lost or doubtful
    if hides_all:
        hidden = {number.original for number in protector.numbers(sentence.text)}
    without = dataclasses.replace(sentence, candidates=[])
    sources.protect(context, without, [*hidden])
    if not without.prefix or without.given_prefix:
        sources.protect_prefix(without)
    return _Retry(sentence, without, bool(lost))


def repair(
    text: str, numbers: Sequence[Span], protector: Protector, spells_numbers: bool
) -> NumberRepair:
    """Returns a translation with numbers repaired.

    Args:
      numbers: of the source, that the network has read.
      spells_numbers: whether the run has learned to write some numbers as words: then small and
        round ones are no loss.
    """
    if not numbers:
        return NumberRepair(text, [])
    if apart := _torn_apart(text, numbers):
        return NumberRepair(text, apart)
    spans = protector.spans(with_common_digits(text))
    written = [span for span in spans if span.is_number or span.kind == "code"]
    missing, garbled = _unmatched(numbers, written, STRICT_FORMS)
    if spells_numbers and missing:
        lenient = _unmatched(numbers, written, FORMS)
        if not lenient.garbled:
            lost = [number.original for number in lenient.missing if not _may_be_a_word(number)]
            words = [number.original for number in lenient.missing if _may_be_a_word(number)]
            return NumberRepair(text, lost, words)
    if not missing:
        return NumberRepair(text, [])
    if len(missing) == len(garbled) and all(span.is_number for span in garbled):
        originals = [number.original for number in missing]
        return NumberRepair(replace(text, garbled, originals), [])
    return NumberRepair(text, [number.original for number in missing])


def says_the_same(text: str, without: str) -> bool:
    """Returns whether a translation holds nothing for a doubtful number, not even a word.

    Args:
      without: the translation of the same source without the number.
    """
    return WORDS.findall(text.casefold()) == WORDS.findall(without.casefold())


def _torn_apart(text: str, numbers: Sequence[Span]) -> list[str]:
    """Returns numbers next to each other in the source, as in "12 34", but not in the text."""
    groups = [[numbers[0]]]
    for number in numbers[1:]:
        if number.start - groups[-1][-1].end <= 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    written = {NOT_A_DIGIT.sub("", number) for number in NUMBER.findall(with_common_digits(text))}
    return [
        number.original
        for group in groups
        if len(group) > 1 and "".join(number.digits for number in group) not in written
        for number in group
    ]


class _Unmatched(NamedTuple):
    missing: list[Span]  # numbers that are not written
    garbled: list[Span]  # what is written beyond them


def _unmatched(
    numbers: Sequence[Span], written: Sequence[Span], forms: Sequence[Form]
) -> _Unmatched:
    """Returns the numbers that are written in none of some forms, and what is written beyond."""
    missing, garbled = list(numbers), list(written)
    for form in forms:
        # Places in `garbled`, by form.
        waiting: dict[str, collections.deque[int]] = collections.defaultdict(collections.deque)
        for place, span in enumerate(garbled):
            waiting[form.written(span)].append(place)
        still_missing, matched = [], set()
        for number in missing:
            if places := waiting[form.number(number)]:
                matched.add(places.popleft())
            else:
                still_missing.append(number)
        missing = still_missing
        garbled = [span for place, span in enumerate(garbled) if place not in matched]
    return _Unmatched(missing, garbled)


def _may_be_a_word(number: Span) -> bool:
    """Returns whether a language may write a number as a word: "two", "a hundred"."""
    is_small, is_round = number.kind == "count", len(number.digits.rstrip("0")) == 1
    return number.kind != "amount" and (is_small or is_round)
