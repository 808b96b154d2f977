"""Which columns of a table are its source and its target, by its first row or by name."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.messages import log_once
from nmt.text.formats.format import Row, Selection
from nmt.text.languages import Pair, canonical, is_known, matches, overlap

SIDE_NAMES = ({"source", "src"}, {"target", "tgt", "translation"})  # of columns


class Choice(NamedTuple):
    """The columns of source and target."""

    indices: tuple[int, int]  # from 0
    has_header: bool  # the first row names the columns


def select(rows: Iterator[Row], path: str | Path, selection: Selection) -> Iterator[Row]:
    """Yields rows of two cells, a source and a target; rows that lack one have fewer.

    Without a header and without a selection, all cells of a row stay.

    Args:
      rows: of the table, without empty ones.
      path: of the file, in messages.
      selection: the Selection.
    """
    first = next(rows, None)
    if first is None:
        return
    choice = choose(first.cells, path, selection)
    if choice is None:
        yield first
        yield from rows
        return
    if choice.has_header:
        names = " and ".join(first.cells[index].strip() for index in choice.indices)
        log_once(f"{path}: columns {names}, by its first line.")
    else:
        rows = itertools.chain([first], rows)
    for row in rows:
        cells = [row.cells[index] for index in choice.indices if index < len(row.cells)]
        yield Row(row.number, cells)


def choose(cells: Sequence[str], path: str | Path, selection: Selection) -> Choice | None:
    """Returns the Choice of columns; None if the first row is a pair, and nothing is selected.

    Args:
      cells: of the first row.

    Raises:
      UserError: the selected columns are not there, or the row names more than two languages.
    """
    names = [cell.strip().lower() for cell in cells]
    codes = _codes_by_column(names)
    by_name = _sides_by_name(names)
    if selection.columns:
        return _named_columns(names, path, selection.columns, bool(by_name or codes))
    if by_name:
        return Choice(by_name, has_header=True)
    if codes:
        return Choice(_sides_by_language(codes, path, selection.languages), has_header=True)
    return None


def languages(cells: Sequence[str], path: str | Path, selection: Selection) -> Pair | None:
    """Returns the languages that the first row of a table names, as codes or words; or None."""
    choice = choose(cells, path, selection)
    if not choice or not choice.has_header:
        return None
    source, target = (_code(cells[index]) for index in choice.indices)
    return Pair(source, target) if source and target else None


def likely_columns(rows: Iterable[Row]) -> list[int]:
    """Returns the numbers, from 1, of the two columns that hold the most words of some rows."""
    words = []  # by column
    for row in rows:
        words += [0] * (len(row.cells) - len(words))
        for column, cell in enumerate(row.cells):
            words[column] += sum(any(map(str.isalpha, word)) for word in cell.split())
    most = sorted(range(len(words)), key=lambda column: -words[column])[:2]
    return sorted(column + 1 for column in most)


def _code(name: str) -> str | None:
    """Returns the code of a language that is the name of a column; None for other names."""
    code = canonical(name.strip())
    return code if code and is_known(code) else None


def _sides_by_name(names: list[str]) -> tuple[int, int] | None:
    """Returns the columns that are called source and target."""
    source, target = (
        next((column for column, name in enumerate(names) if name in side), None)
        for side in SIDE_NAMES
    )
    return None if source is None or target is None else (source, target)


def _codes_by_column(names: list[str]) -> dict[int, str]:
    """Returns the codes of different languages that are names of columns, if there are two."""
    codes = {column: code for column, name in enumerate(names) if (code := _code(name))}
    if len(codes) > 2 and "id" in names:  # the number of a row, not Indonesian
        del codes[names.index("id")]
    return codes if 2 <= len(codes) == len({*codes.values()}) else {}


def _sides_by_language(
    codes: dict[int, str], path: str | Path, wanted: Pair | None
) -> tuple[int, int]:
    """Returns the columns of two languages.

    Args:
      codes: from `_codes_by_column`.
      path: of the file, in messages.
      wanted: the languages; None for the only two that there are.

    Raises:
      UserError: those that are wanted are not there, or there are more than two.
    """
    if wanted is None and len(codes) == 2:
        source, target = codes
        return source, target
    columns = [_columns_of(side, codes) for side in wanted or ()]
    if [*map(len, columns)] == [1, 1] and columns[0] != columns[1]:
        return columns[0][0], columns[1][0]
    raise UserError(
        f"{path}: has columns {', '.join(codes.values())}; name two of them, for example: "
        f"--languages {'-'.join([*codes.values()][:2])}"
    )


def _columns_of(language: str, codes: dict[int, str]) -> list[int]:
    """Returns the columns of a language: where none is, that of which it is a region."""
    return [column for column in codes if matches(language, codes[column])] or [
        column for column in codes if overlap(language, codes[column])
    ]


def _named_columns(
    names: list[str], path: str | Path, columns: tuple[str, str], has_header: bool
) -> Choice:
    """Returns the Choice of --columns; a UserError if the table lacks one."""
    indices = []
    for column in columns:
        if column.lower() in names:
            indices.append(names.index(column.lower()))
            has_header = True
        elif column.isdecimal() and 1 <= int(column) <= len(names):
            indices.append(int(column) - 1)
        else:
            raise UserError(
                f"--columns {','.join(columns)}: {path} has no column {column}; its first line is: "
                f"{', '.join(names)[:200]}"
            )
    return Choice(tuple(indices), has_header)
