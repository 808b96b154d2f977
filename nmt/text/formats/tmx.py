"""Translation memories (TMX 1.1 to 1.4b): units of one text in two or more languages."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nmt import UserError
from nmt.messages import log_once
from nmt.text.formats import xml_elements
from nmt.text.formats.format import Format, ReadLines, Row, Selection
from nmt.text.languages import Pair, canonical, matches, primary

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

CODES = {"bpt", "ept", "it", "ph", "ut"}  # what they hold is markup of the original document
ANY_SOURCE = "*all*"  # srclang of a memory whose units have no direction


def rows(path: str | Path, selection: Selection, _read: ReadLines) -> Iterator[Row]:
    """Yields the two sides of each unit; see a Format.

    Without languages in the selection, they are those of the first unit that has two.

    Raises:
      UserError: a unit has more than two languages and none are selected, or no unit has those
        that are.
    """
    wanted, source_language = selection.languages, ANY_SOURCE
    number = left_out = 0
    given_languages = set()
    for event in xml_elements.events(path, starts={"header"}, ends={"tu"}):
        if not event.is_end:
            source_language = event.element.get("srclang", ANY_SOURCE)
            continue
        number += 1
        segments = _segments(event.element)
        given_languages.update(segments)
        if wanted is None and len(segments) > 1:
            wanted = _choose([*segments], source_language, path)
            log_once(f"{path}: {wanted.source} to {wanted.target}, by its first unit.")
        sides = [_segment(segments, code) for code in wanted or ()]
        if sides and None not in sides:
            yield Row(number, sides)
        else:
            left_out += 1
    if number and left_out == number:
        raise UserError(
            f"{path}: no unit is in {' and '.join(wanted or ('two languages',))}; the languages "
            f"are {', '.join(sorted(given_languages)[:20]) or 'not named'}: choose by --languages"
        )
    if left_out:
        why = f"without text in {' or '.join(wanted)}"
        log_once(xml_elements.left_out_line(path, left_out, number, why))


def languages(path: str | Path, selection: Selection) -> Pair | None:
    """Returns the languages of the units that are read; see a Format."""
    if selection.languages:
        return selection.languages
    source_language = ANY_SOURCE
    for event in xml_elements.events(path, starts={"header"}, ends={"tu"}):
        if not event.is_end:
            source_language = event.element.get("srclang", ANY_SOURCE)
        elif len(segments := _segments(event.element)) > 1:
            return _choose([*segments], source_language, path)
    return None


def _segments(unit: "Element") -> dict[str, str]:
    """Returns the text of a unit by language, the first of each."""
    segments = {}
    for variant in unit.iterchildren("{*}tuv"):
        segment = xml_elements.child(variant, "seg")
        if segment is not None:
            text = xml_elements.text_of(segment, without=CODES)
            segments.setdefault(xml_elements.language_of(variant), text)
    return segments


def _segment(segments: dict[str, str], code: str) -> str | None:
    """Returns the text of a unit in a language, or in one of its regions; None if it has none."""
    return next((text for given, text in segments.items() if matches(code, given)), None)


def _choose(given: list[str], source_language: str, path: str | Path) -> Pair:
    """Returns the languages of a file, the source first, by those of a unit.

    Args:
      given: the codes of the unit, in order.
      source_language: the code that the header names.

    Raises:
      UserError: there are more than two.
    """
    codes = [canonical(code) or code for code in given]
    if len(codes) > 2:
        raise UserError(
            f"{path}: holds {', '.join(codes)}; name two of them, for example: "
            f"--languages {codes[0]}-{codes[1]}"
        )
    if primary(codes[0]) != primary(codes[1]):  # later units may be of other regions
        codes = [primary(code) for code in codes]
    source = canonical(source_language) or source_language
    if matches(codes[1], source) and not matches(codes[0], source):
        codes.reverse()
    return Pair(*codes)


TMX = Format("TMX", rows, languages)
