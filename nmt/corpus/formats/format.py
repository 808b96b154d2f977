"""What a format of parallel text is: a way to read rows, and what a reader may choose of them."""

import functools
import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.neighbors import how_to_install
from nmt.text.encoding import damaged_lines, lines_in
from nmt.text.languages import Pair

LINE_BREAK = re.compile(r" *[\t\r\n]+[ \t\r\n]*")


class Selection(NamedTuple):
    """Which two sides of a file are meant, where it has several or does not say."""

    languages: Pair | None = None  # of source and target
    columns: tuple[str, str] | None = None  # of a table: names in its first row, or numbers from 1
    sheet: str | None = None  # of a spreadsheet
    has_header: bool = True  # False if the first row of a table is a pair, whatever it looks like
    encoding: str | None = None  # of a text file; None for UTF-8


class Row(NamedTuple):
    """A pair as a file holds it, or what should be one."""

    number: int  # of its line, row or unit in the file, from 1
    cells: list[str]  # a source and a target, unless the row is damaged
    created: str = ""  # or changed last, as the file says; later times are greater strings


ReadLines = Callable[[str | Path], Iterator[str]]  # such as encoding.read_lines


def one_line(text: str) -> str:
    """Returns text in which a space stands for line breaks and tabs, and what is around them."""
    return LINE_BREAK.sub(" ", text)


def lenient_reader(selection: Selection) -> ReadLines:
    """Returns what reads the lines of a text file, damaged ones too, in the selected encoding."""
    if selection.encoding:
        return functools.partial(lines_in, selection.encoding)
    return damaged_lines


class Format(NamedTuple):
    """A kind of file that holds both sides of parallel text."""

    rows: Callable[[str | Path, Selection, ReadLines], Iterator[Row]]
    languages: Callable[[str | Path, Selection], Pair | None]  # as the file itself says


def check_installed(package: str, path: str | Path) -> None:
    """Raises a UserError if a package is missing that a file needs to be read."""
    if importlib.util.find_spec(package) is None:
        raise UserError(f"{path}: needs {package} to be read; install: {how_to_install('data')}")
