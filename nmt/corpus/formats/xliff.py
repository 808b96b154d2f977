"""Files between translation tools (XLIFF 1.2 and 2.0): units of a source and its translation."""

from collections.abc import Iterator
from pathlib import Path

from nmt import UserError
from nmt.corpus.formats import xml_elements
from nmt.corpus.formats.format import Format, ReadLines, Row, Selection
from nmt.messages import log_once
from nmt.text.languages import Pair, canonical, matches, overlap

CODES = {"bpt", "ept", "it", "ph", "x", "bx", "ex", "sc", "ec", "cp"}  # markup of the original
LANGUAGES = {  # attributes, by the element that has them
    "file": ("source-language", "target-language"),  # 1.2
    "xliff": ("srcLang", "trgLang"),  # 2.0
}
UNITS = {"trans-unit", "segment"}  # of 1.2, of 2.0


def rows(path: str | Path, selection: Selection, _read: ReadLines) -> Iterator[Row]:
    """Yields source and target of each unit that is translated; see a Format."""
    wanted, given = selection.languages, None
    number = left_out = 0
    for event in xml_elements.events(path, starts=LANGUAGES, ends=UNITS):
        if not event.is_end:
            given = _languages_of(event) or given
            wanted = wanted or given  # all files within a file are of one direction
            continue
        number += 1
        if wanted and given and not all(map(overlap, wanted, given)):
            raise UserError(
                f"{path}: is {given.source} to {given.target}, not {wanted.source} to "
                f"{wanted.target}; name --languages as the file does, and one direction per file"
            )
        if wanted and given and not all(map(matches, wanted, given)):
            log_once(f"{path}: {' to '.join(given)} is read as {' to '.join(wanted)}.")
        sides = [xml_elements.child(event.element, name) for name in ("source", "target")]
        texts = [
            xml_elements.text_of(side, without=CODES) if side is not None else "" for side in sides
        ]
        if texts[1]:
            yield Row(number, texts)
        else:
            left_out += 1
    if left_out:
        why = "not translated"
        log_once(xml_elements.left_out_line(path, left_out, number, why))


def languages(path: str | Path, _selection: Selection) -> Pair | None:
    """Returns the languages that the file names; see a Format."""
    for event in xml_elements.events(path, starts=LANGUAGES, ends=UNITS):
        if event.is_end:
            return None
        if pair := _languages_of(event):
            return pair
    return None


def _languages_of(event: xml_elements.Event) -> Pair | None:
    """Returns the languages that an element names, in their usual form."""
    codes = [event.element.get(name) for name in LANGUAGES[event.name]]
    return Pair(*(canonical(code) or code for code in codes)) if all(codes) else None


XLIFF = Format(rows, languages)
