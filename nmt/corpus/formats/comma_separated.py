"""Comma-separated values, cells quoted as spreadsheets do it (RFC 4180).

Spreadsheets put semicolons between cells where numbers have decimal commas.
"""

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path

from nmt import UserError
from nmt.corpus.formats import table
from nmt.corpus.formats.format import ReadLines, Row, Selection
from nmt.messages import log_once
from nmt.text.encoding import return_within_line
from nmt.text.separators import NAMED, PROSE


def raw_rows(path: str | Path, _selection: Selection, read: ReadLines) -> Iterator[Row]:
    """Yields all cells of each row that is not empty, with the number of its last line.

    A UserError says that a cell is wrongly quoted, or too long.
    """
    lines = iter(read(path))
    first_line = next(lines, "")
    named = NAMED.fullmatch(first_line)
    delimiter = named[1] if named else _delimiter(first_line)
    if delimiter != ",":
        log_once(f"{path}: cells are separated by {delimiter!r}, by its first line.")
    all_lines = itertools.chain(["" if named else first_line], lines)
    reader = csv.reader((f"{line}\n" for line in all_lines), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):  # a blank row of a spreadsheet is all separators
                yield Row(reader.line_num, cells)
    except csv.Error as error:
        if "new-line character" in str(error):  # Python's words for a carriage return
            raise return_within_line(path, reader.line_num) from None
        raise UserError(
            f"{path}:{reader.line_num}: not comma-separated cells ({error}); quote each cell that "
            'holds commas or quotation marks, and double the latter: "He said ""no"", twice"'
        ) from None


def _delimiter(first_line: str) -> str:
    """Returns what separates cells: a semicolon if the first line has one, and no other comma.

    "Ja, genau;Yes" has a comma within a sentence, and "1,5;one and a half" one within a number.
    """
    if "," not in first_line:
        return ";" if ";" in first_line else ","
    separators = PROSE.sub("", first_line)
    return ";" if ";" in separators and "," not in separators else ","


CSV = table.table_format(raw_rows)
