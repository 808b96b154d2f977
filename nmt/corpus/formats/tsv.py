"""Tab-separated values: a pair on each line, its cells as they are, whatever quotes they hold."""

from collections.abc import Iterator
from pathlib import Path

from nmt.corpus.formats import table
from nmt.corpus.formats.format import Format, ReadLines, Row, Selection, lenient_reader
from nmt.messages import log_once, plural
from nmt.text.languages import Pair


def raw_rows(path: str | Path, read: ReadLines) -> Iterator[Row]:
    """Yields all columns of each line that is not empty; logs how many are."""
    empty = 0
    for number, line in enumerate(read(path), start=1):
        if line:
            yield Row(number, line.split("\t"))
        else:
            empty += 1
    if empty:
        log_once(f"{path}: {plural(empty, 'empty line')} left out.")


def rows(path: str | Path, selection: Selection, read: ReadLines) -> Iterator[Row]:
    """Yields the sides of each line; see a Format."""
    return table.select(raw_rows(path, read), path, selection)


def languages(path: str | Path, selection: Selection) -> Pair | None:
    """Returns the languages that the first line names; see a Format."""
    first = next(raw_rows(path, lenient_reader(selection)), None)
    return first and table.languages(first.cells, path, selection)


def is_plain(path: str | Path, selection: Selection) -> bool:
    """Returns whether each line is a pair: the file has no header, and no columns are chosen."""
    first = next(raw_rows(path, lenient_reader(selection)), None)
    return not first or table.choose(first.cells, path, selection) is None


TSV = Format("TSV", rows, languages)
