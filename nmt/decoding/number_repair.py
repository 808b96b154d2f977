"""Numbers whose digits come out wrong, in a run that has learned no symbols for them.

The network reads such a number, because it may have to write it in another form: 15.000 becomes
15,000. A number of the translation that the source lacks is taken for the garbled form of one that
is missing: this takes its place. Where there is none, the sentence is searched for again without
the missing number, which is put in as what the network never reads.
"""

import collections
from collections.abc import Sequence
from typing import NamedTuple

from nmt.text.differences import NUMBER, with_common_digits
from nmt.text.protected import NOT_A_DIGIT, Protector, Span, replace

MIN_DIGITS = 3  # without zeros at the end, of an integer that is not written as a word


class NumberRepair(NamedTuple):
    """What can be done about the numbers of a translation."""

    text: str  # with the source's numbers in place of garbled ones
    lost: list[str]  # numbers of the source that it still lacks


def repair(
    text: str, numbers: Sequence[Span], protector: Protector, spells_numbers: bool
) -> NumberRepair:
    """Returns a translation with numbers repaired.

    Args:
      text: of the translation.
      numbers: of the source, that the network has read.
      protector: finds those of the translation.
      spells_numbers: whether the run has learned to write some numbers as words: then small and
        round ones are no loss.
    """
    if not numbers:
        return NumberRepair(text, [])
    if apart := _torn_apart(text, numbers):
        return NumberRepair(text, apart)
    spans = protector.spans(with_common_digits(text))
    written = [span for span in spans if span.is_number or span.kind == "code"]
    missing, garbled = _unmatched(numbers, written, spells_numbers)
    if spells_numbers and not garbled:
        missing = [number for number in missing if not _may_be_a_word(number)]
    if not missing:
        return NumberRepair(text, [])
    if len(missing) == len(garbled) and all(span.is_number for span in garbled):
        originals = [number.original for number in missing]
        return NumberRepair(replace(text, garbled, originals), [])
    return NumberRepair(text, [number.original for number in missing])


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


def _unmatched(
    numbers: Sequence[Span], written: Sequence[Span], spells_numbers: bool
) -> tuple[list[Span], list[Span]]:
    """Returns the numbers that are not written, and what is written beyond them.

    If some are written as words, "15 mil" may be 15,000 in the translation: zeros at the end are
    then no difference.
    """
    missing, unmatched = list(numbers), list(written)
    keys = (lambda span: span.digits, lambda span: span.digits.rstrip("0"))
    for key in keys if spells_numbers else keys[:1]:
        counts = collections.Counter(key(span) for span in unmatched)
        still_missing = []
        for number in missing:
            if counts[key(number)]:
                counts[key(number)] -= 1
                first = next(s for s in unmatched if key(s) == key(number))
                unmatched.remove(first)
            else:
                still_missing.append(number)
        missing = still_missing
    return missing, unmatched


def _may_be_a_word(number: Span) -> bool:
    """Returns whether a language may write a number as a word: "two", "a hundred"."""
    return number.kind != "amount" and len(number.digits.rstrip("0")) < MIN_DIGITS
