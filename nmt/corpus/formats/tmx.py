"""Translation memories (TMX 1.1 to 1.4b): units of one text in two or more languages.

How they are written stands in nmt/text/tmx_text.py.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError
from nmt.corpus.formats import xml_elements
from nmt.corpus.formats.format import Format, ReadLines, Row, Selection
from nmt.messages import log_once, plural
from nmt.text.languages import Pair, canonical, matches, primary
from nmt.text.tmx_text import ANY_SOURCE

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

CODES = {"bpt", "ept", "it", "ph", "ut"}  # what they hold is markup of the original document


def rows(path: str | Path, selection: Selection, _read: ReadLines) -> Iterator[Row]:
    """Yields the two sides of each unit; see a Format.

    Without languages in the selection, they are those of the first unit that has two; a UserError
    if it has more. Another one if no unit has those that are selected.
    """
    wanted, source_language = selection.languages, ANY_SOURCE
    number = left_out = with_variants = 0
    given_languages: set[str] = set()
    for event in xml_elements.events(path, starts={"header"}, ends={"tu"}):
        if not event.is_end:
            source_language = event.element.get("srclang", ANY_SOURCE)
            continue
        number += 1
        variants = _variants(event.element)
        segments = _segments(variants)
        given_languages.update(segments)
        if wanted is None and len(segments) > 1:
            wanted = _choose([*segments], source_language, path)
            log_once(f"{path}: {wanted.source} to {wanted.target}, by its first unit.")
        sides = [_texts_in(variants, code) for code in wanted or ()]
        if sides and all(sides):
            with_variants += any(len(texts) > 1 for texts in sides)
            yield Row(number, [texts[0] for texts in sides], _last_change(event.element))
        else:
            left_out += 1
    if number and left_out == number:
        raise UserError(
            f"{path}: no unit is in {' and '.join(wanted or ('two languages',))}; the languages "
            f"are {', '.join(sorted(given_languages)[:20]) or 'not named'}: choose by --languages"
        )
    if left_out:
        why = f"without text in {' or '.join(wanted or ())}"
        log_once(xml_elements.left_out_line(path, left_out, number, why))
    if with_variants:
        log_once(
            f"{path}: {with_variants:,} of {plural(number, 'unit')} with several texts in a "
            "language: the first of each is read, the others are left out."
        )


def languages(path: str | Path, selection: Selection) -> Pair | None:
    """Returns the languages of the units that are read; see a Format."""
    if selection.languages:
        return selection.languages
    source_language = ANY_SOURCE
    for event in xml_elements.events(path, starts={"header"}, ends={"tu"}):
        if not event.is_end:
            source_language = event.element.get("srclang", ANY_SOURCE)
        elif len(segments := _segments(_variants(event.element))) > 1:
            return _choose([*segments], source_language, path)
    return None


def _last_change(unit: "Element") -> str:
    """Returns when a unit, or a text of it, was written or changed last; "" if nothing says so."""
    dates = (
        one.get(name, "")
        for one in (unit, *unit.iterchildren("{*}tuv"))
        for name in ("creationdate", "changedate")
    )
    return max(re.sub("[-:]", "", date) for date in dates)  # 2026-01-01 is how some write it


class Variant(NamedTuple):
    """A text of a unit."""

    language: str  # as the file has it
    text: str


def _variants(unit: "Element") -> list[Variant]:
    variants = []
    for variant in unit.iterchildren("{*}tuv"):
        segment = xml_elements.child(variant, "seg")
        if segment is not None:
            text = xml_elements.text_of(segment, without=CODES)
            variants.append(Variant(xml_elements.language_of(variant), text))
    return variants


def _segments(variants: Iterable[Variant]) -> dict[str, str]:
    """Returns the text of a unit by language, the first of each."""
    segments: dict[str, str] = {}
    for variant in variants:
        segments.setdefault(variant.language, variant.text)
    return segments


def _texts_in(variants: Iterable[Variant], code: str) -> list[str]:
    """Returns the different texts of a unit in a language, or in regions of it."""
    texts = (variant.text for variant in variants if matches(code, variant.language))
    return [*dict.fromkeys(texts)]


def _choose(given: list[str], source_language: str, path: str | Path) -> Pair:
    """Returns the languages of a file, the source first; a UserError if there are more than two."""
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


TMX = Format(rows, languages)
