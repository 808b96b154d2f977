"""Which columns of a table are its source and its target, by its first row or by name."""

import itertools
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.corpus.formats.format import Format, ReadLines, Row, Selection, lenient_reader, one_line
from nmt.messages import log_once
from nmt.text.language_names import code_of_name
from nmt.text.languages import Pair, canonical, is_known, matches, overlap

SAMPLE_ROWS = 100  # by which columns of text, and names of columns, are recognized
MAX_NAME_WORDS = 4  # of a column
NUMBERS_OF_ROWS = ("id", "nr")  # names of columns, not Indonesian and Southern Ndebele
SIDE_NAMES = ({"source", "src"}, {"target", "tgt", "translation"})  # of columns


def table_format(
    raw_rows: Callable[[str | Path, Selection, ReadLines], Iterator[Row]],
) -> Format:
    """Returns the Format of tables of which a function yields the rows with all their cells."""

    def rows(path: str | Path, selection: Selection, read: ReadLines) -> Iterator[Row]:
        return select(raw_rows(path, selection, read), path, selection)

    def languages_of(path: str | Path, selection: Selection) -> Pair | None:
        first = next(raw_rows(path, selection, lenient_reader(selection)), None)
        return first and languages(first.cells, path, selection)

    return Format(rows, languages_of)


class Choice(NamedTuple):
    """The columns of source and target."""

    indices: tuple[int, int]  # from 0
    has_header: bool  # the first row names the columns; else it may still look like names


def select(rows: Iterator[Row], path: str | Path, selection: Selection) -> Iterator[Row]:
    """Yields rows of two cells, a source and a target, of one line each; see `_selected`."""
    for row in _selected(rows, path, selection):
        cells = [one_line(cell) for cell in row.cells]
        if cells != row.cells:
            cells = [cell.strip(" ") for cell in cells]
            log_once(f"{path}: line breaks and tabs within cells are read as spaces.")
        yield row._replace(cells=cells)


def _selected(rows: Iterator[Row], path: str | Path, selection: Selection) -> Iterator[Row]:
    """Yields rows of two cells, a source and a target; rows that lack one have fewer.

    Without a header and without a selection, all cells of a row stay.
    """
    first = next(rows, None)
    if first is None:
        return
    choice = choose(first.cells, path, selection)
    if choice is None:
        yield first
        yield from rows
        return
    has_header = choice.has_header
    if not has_header:
        sample = [first, *itertools.islice(rows, SAMPLE_ROWS)]
        has_header = selection.has_header and looks_like_header(sample)
        rows = itertools.chain(sample[1:] if has_header else sample, rows)
    if has_header:
        names = " and ".join(first.cells[index].strip() for index in choice.indices)
        log_once(
            f"{path}: columns {names}, by its first line. (If that is a pair of texts: --no-header)"
        )
    for row in rows:
        cells = [row.cells[index] for index in choice.indices if index < len(row.cells)]
        yield Row(row.number, cells)


def names_in(cells: Iterable[str]) -> list[str]:
    """Returns the cells of a first row in the form in which names of columns are compared."""
    return [cell.strip().lower() for cell in cells]


def names_sides(cells: Sequence[str], selection: Selection) -> bool:
    """Returns whether a first row names the columns that are selected, or two sides of a text."""
    names = names_in(cells)
    if selection.columns and not all(map(str.isdecimal, selection.columns)):
        return all(column.lower() in names for column in selection.columns)
    return bool(_sides_by_name(names) or _codes_by_column(names))


def choose(cells: Sequence[str], path: str | Path, selection: Selection) -> Choice | None:
    """Returns the Choice of columns; None if the first row is a pair, and nothing is selected.

    A UserError says that the selected columns are not there, or that there are more than two
    languages.
    """
    names = names_in(cells)
    if not selection.has_header:
        columns = selection.columns
        return _numbered_columns(names, path, columns) if columns else None
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


def words_of_columns(rows: Iterable[Row]) -> list[int]:
    """Returns how many words the columns of some rows hold."""
    words: list[int] = []  # by column
    for row in rows:
        words += [0] * (len(row.cells) - len(words))
        for column, cell in enumerate(row.cells):
            words[column] += sum(any(map(str.isalpha, word)) for word in cell.split())
    return words


def likely_columns(rows: Iterable[Row]) -> list[int]:
    """Returns the numbers, from 1, of the two columns that hold the most words of some rows."""
    words = words_of_columns(rows)
    most = sorted(range(len(words)), key=lambda column: -words[column])[:2]
    return sorted(column + 1 for column in most)


def advised_columns(rows: Sequence[Row]) -> str:
    """Returns the value of --columns for the likely columns of the first rows of a table.

    They are names, if there are some: by numbers, a row of names would be read as a pair.
    """
    numbers = likely_columns(rows[1:] or rows)
    if looks_like_header(rows):
        names = [rows[0].cells[number - 1].strip() for number in numbers]
        if not any("," in name for name in names):
            return shlex.quote(",".join(names))
    return ",".join(map(str, numbers))


def looks_like_header(rows: Sequence[Row]) -> bool:
    """Returns whether the first of some rows names columns that hold text.

    All its cells are different, short, and no sentences or numbers, and below them are longer ones.
    """
    names = [cell.strip() for cell in rows[0].cells] if rows else []
    if len(rows) < 3 or len({*names}) < len(names) or not all(map(_may_be_name, names)):
        return False
    numbers = likely_columns(rows[1:])
    words = words_of_columns(rows[1:])
    return len(numbers) == 2 and all(
        number <= len(names)
        and words[number - 1] > 1.5 * len(names[number - 1].split()) * (len(rows) - 1)
        for number in numbers
    )


def _may_be_name(text: str) -> bool:
    is_short = 0 < len(text.split()) <= MAX_NAME_WORDS
    return is_short and any(map(str.isalpha, text)) and text[-1] not in ".!?。！？…"


def _code(name: str) -> str | None:
    """Returns the code of a language that is the name of a column; None for other names."""
    code = canonical(name.strip())
    return code if code and is_known(code) else code_of_name(name)


def _sides_by_name(names: list[str]) -> tuple[int, int] | None:
    source, target = (
        next((column for column, name in enumerate(names) if name in side), None)
        for side in SIDE_NAMES
    )
    return None if source is None or target is None else (source, target)


def _codes_by_column(names: list[str]) -> dict[int, str]:
    """Returns the codes of different languages that are names of columns, if there are two."""
    codes = {column: code for column, name in enumerate(names) if (code := _code(name))}
    for number_of_row in NUMBERS_OF_ROWS:
        if len(codes) > 2 and number_of_row in names:
            del codes[names.index(number_of_row)]
    return codes if 2 <= len(codes) == len({*codes.values()}) else {}


def _sides_by_language(
    codes: dict[int, str], path: str | Path, wanted: Pair | None
) -> tuple[int, int]:
    """Returns the columns of the wanted languages, or of the only two that there are."""
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


def _numbered_columns(names: list[str], path: str | Path, columns: tuple[str, str]) -> Choice:
    if not all(map(str.isdecimal, columns)):
        raise UserError(
            f"--columns {','.join(columns)}: with --no-header, columns have no names; give their "
            "numbers"
        )
    without_names = [""] * len(names)  # a text that is a number is not the name of a column
    return _named_columns(without_names, path, columns, has_header=False)


def _named_columns(
    names: list[str], path: str | Path, columns: tuple[str, str], has_header: bool
) -> Choice:
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
    source, target = indices
    return Choice((source, target), has_header)
