"""Tab-separated values: a pair on each line, its cells as they are, whatever quotes they hold."""

from collections.abc import Iterator
from pathlib import Path

from nmt.corpus.formats import table
from nmt.corpus.formats.format import ReadLines, Row, Selection, lenient_reader
from nmt.messages import log_once, plural


def raw_rows(path: str | Path, _selection: Selection, read: ReadLines) -> Iterator[Row]:
    """Yields all columns of each line that is not empty; logs how many are."""
    empty = 0
    for number, line in enumerate(read(path), start=1):
        if line:
            yield Row(number, line.split("\t"))
        else:
            empty += 1
    if empty:
        log_once(f"{path}: {plural(empty, 'empty line')} left out.")


def is_plain(path: str | Path, selection: Selection) -> bool:
    """Returns whether each line is a pair: the file has no header, and no columns are chosen."""
    first = next(raw_rows(path, selection, lenient_reader(selection)), None)
    return not first or table.choose(first.cells, path, selection) is None


TSV = table.table_format(raw_rows)
