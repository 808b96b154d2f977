"""Spreadsheets (.xlsx), read by openpyxl row by row: the sheet that names two sides of a text.

If none does, or several do, the one of them with the most text in two columns.
"""

import datetime
import itertools
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nmt import UserError
from nmt.corpus.formats import table
from nmt.corpus.formats.format import ReadLines, Row, Selection, check_installed
from nmt.messages import log_once

SAMPLE_ROWS = 200  # of each sheet, by which one is chosen
MAX_BYTES = 1 << 30  # of a file, unpacked: a small archive can hold what no memory does
DAMAGED = (  # what openpyxl raises where an archive is not what it should be
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, AttributeError, EOFError,
    SyntaxError, IndexError, NotImplementedError, RuntimeError,
)  # fmt: skip


def raw_rows(path: str | Path, selection: Selection, _read: ReadLines) -> Iterator[Row]:
    """Yields the cells of each row that is not empty, as text, at least two."""
    check_installed("openpyxl", path)
    check_installed("defusedxml", path)  # openpyxl then refuses entities
    import openpyxl

    try:
        with zipfile.ZipFile(path) as archive:
            if sum(part.file_size for part in archive.infolist()) > MAX_BYTES:
                raise UserError(f"{path}: is larger than 1 GiB when unpacked; save it as a .csv")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            yield from _rows_of_sheet(_choose_sheet(book, path, selection))
        finally:
            book.close()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}; name a readable file") from None
    except DAMAGED as error:
        raise UserError(
            f"{path}: is not a spreadsheet that can be read ({type(error).__name__}); save it "
            "again as .xlsx, or as a .csv"
        ) from None


def _choose_sheet(book: Any, path: str | Path, selection: Selection) -> Any:
    """Returns a sheet of an openpyxl workbook: the selected one, or else the likeliest.

    A sheet whose first row names the columns comes before all others. Of several, or if there is
    none, that whose second longest column has the most words: notes on a text have fewer. Rows that
    occur again do not count.
    """
    name, sheets = selection.sheet, {sheet.title: sheet for sheet in book.worksheets}
    names = ", ".join(map(repr, sheets))
    if name is not None and name not in sheets:
        raise UserError(f"--sheet {name}: {path} has no such sheet, but {names}; name one of them")
    if name is not None:
        return sheets[name]

    def likelihood(sheet: Any) -> tuple[bool, int]:
        sample = [*itertools.islice(_rows_of_sheet(sheet), SAMPLE_ROWS)]
        different_rows = {tuple(row.cells): row for row in sample}
        words = table.words_of_columns(different_rows.values())
        words_of_shorter_side = sorted(words)[-2] if len(words) > 1 else 0
        return bool(sample) and table.names_sides(sample[0].cells, selection), words_of_shorter_side

    sheet = max(sheets.values(), key=likelihood)
    if len(sheets) > 1:
        log_once(f"{path}: sheet {sheet.title!r} of {names}. To choose another: --sheet NAME")
    return sheet


def _rows_of_sheet(sheet: Any) -> Iterator[Row]:
    width = 0  # cells of the first row
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = [_text(value) for value in values]
        if any(cells):
            cells = _resized(cells, max(width, 2))
            width = width or len(cells)
            yield Row(number, cells)


def _resized(cells: list[str], width: int) -> list[str]:
    """Returns the cells of a row without empty ones at its end, but at least `width` cells."""
    last = max(column for column, cell in enumerate(cells, start=1) if cell)
    return cells[: max(last, width)] + [""] * (width - len(cells))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


XLSX = table.table_format(raw_rows)
