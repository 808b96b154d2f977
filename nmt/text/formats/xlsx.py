"""Spreadsheets (.xlsx): the first sheet that holds something, read by openpyxl row by row."""

import datetime
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nmt import UserError
from nmt.messages import log_once
from nmt.text.formats import table
from nmt.text.formats.format import Format, ReadLines, Row, Selection, check_installed
from nmt.text.languages import Pair

MAX_BYTES = 1 << 30  # of a file, unpacked: a small archive can hold what no memory does
DAMAGED = (  # what openpyxl raises where an archive is not what it should be
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, AttributeError, EOFError,
    SyntaxError, IndexError, NotImplementedError, RuntimeError,
)  # fmt: skip


def raw_rows(path: str | Path) -> Iterator[Row]:
    """Yields the cells of each row that is not empty, as text, at least two.

    Raises:
      UserError: it is no spreadsheet, or a package is missing that reads it.
    """
    check_installed("openpyxl", path)
    check_installed("defusedxml", path)  # openpyxl then refuses entities
    import openpyxl

    try:
        with zipfile.ZipFile(path) as archive:
            if sum(part.file_size for part in archive.infolist()) > MAX_BYTES:
                raise UserError(f"{path}: is larger than 1 GiB when unpacked; save it as a .csv")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            yield from _rows_of_book(book, path)
        finally:
            book.close()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}; name a readable file") from None
    except DAMAGED as error:
        raise UserError(
            f"{path}: is not a spreadsheet that can be read ({type(error).__name__}); save it "
            "again as .xlsx, or as a .csv"
        ) from None


def _rows_of_book(book: Any, path: str | Path) -> Iterator[Row]:
    """Yields the rows of the first sheet of an openpyxl workbook that holds something."""
    for sheet in book.worksheets:
        width = 0  # cells of the first row
        for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
            cells = [_text(value) for value in values]
            if any(cells):
                cells = _resized(cells, max(width, 2))
                if not width and len(book.worksheets) > 1:
                    log_once(f"{path}: sheet {sheet.title!r} of {len(book.worksheets)}.")
                width = width or len(cells)
                yield Row(number, cells)
        if width:
            return


def _resized(cells: list[str], width: int) -> list[str]:
    """Returns the cells of a row without empty ones at its end, but at least `width` cells."""
    last = max(column for column, cell in enumerate(cells, start=1) if cell)
    return cells[: max(last, width)] + [""] * (width - len(cells))


def _text(value: Any) -> str:
    """Returns the value of a cell as text."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def rows(path: str | Path, selection: Selection, _read: ReadLines) -> Iterator[Row]:
    """Yields the sides of each row; see a Format."""
    return table.select(raw_rows(path), path, selection)


def languages(path: str | Path, selection: Selection) -> Pair | None:
    """Returns the languages that the first row names; see a Format."""
    first = next(raw_rows(path), None)
    return first and table.languages(first.cells, path, selection)


XLSX = Format("spreadsheet", rows, languages)
