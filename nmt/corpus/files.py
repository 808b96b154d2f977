"""Files of parallel text by their names, and the pairs that they hold.

A corpus is a file of one of the formats of nmt/corpus/formats/, or a source and a target file with
the same number of lines. Files whose names end in .gz are compressed by gzip.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.corpus.formats import table, tsv
from nmt.corpus.formats.comma_separated import CSV
from nmt.corpus.formats.format import Format, ReadLines, Row, Selection, lenient_reader
from nmt.corpus.formats.registry import FORMATS
from nmt.messages import plural
from nmt.text import languages
from nmt.text.encoding import GZIP, read_lines
from nmt.text.languages import Pair

MAX_WEIGHT = 1000  # of a corpus
WHOLE_FILE = Selection()  # a reader that chooses nothing


# ---- The names of files ----


class Group(NamedTuple):
    """A file of pairs, or a source and a target file, and the weight of their pairs."""

    paths: list[str]
    weight: int  # how often each pair occurs in the training text


def kind(name: str | Path) -> str:
    """Returns what the name of a file ends in, without .gz: "tsv", "de"."""
    return Path(str(name).removesuffix(GZIP)).suffix[1:]


def is_table(name: str | Path) -> bool:
    """Returns whether a name is that of a file of pairs, of one of FORMATS, perhaps with .gz."""
    return kind(name).lower() in FORMATS


def format_of(name: str | Path) -> Format:
    """Returns the Format of a file of pairs by its name; TSV if the name does not say."""
    return FORMATS.get(kind(name).lower(), tsv.TSV)


def is_text(name: str | Path) -> bool:
    """Returns whether a file is read as lines of UTF-8: others say their encoding themselves."""
    return format_of(name) in (tsv.TSV, CSV)


def is_plain(path: str | Path, selection: Selection = WHOLE_FILE) -> bool:
    """Returns whether each line of a file of pairs is a source, a tab and a target."""
    return format_of(path) is tsv.TSV and tsv.is_plain(path, selection)


class WeightedFile(NamedTuple):
    """A file of training text, and how often each of its pairs occurs in it."""

    path: str
    weight: int


def weighted(name: str | Path) -> WeightedFile:
    """Splits "a.tsv:2" into a path and its weight, 1 unless given; a UserError if it is wrong."""
    path, colon, weight = str(name).rpartition(":")
    version = re.fullmatch(r"\d+\.\d+\.\d+", weight)  # of a data set: name:1.0.0
    if not colon or version or is_file(name) or not re.fullmatch(r"[-+.\d]+", weight):
        return WeightedFile(str(name), 1)
    if not weight.isdecimal() or not 1 <= int(weight) <= MAX_WEIGHT:
        raise UserError(
            f"{name}: a weight is a whole number from 1 to {MAX_WEIGHT}, as in {path}:2"
        )
    return WeightedFile(path, int(weight))


def grouped(names: Sequence[str | Path]) -> list[Group]:
    """Returns a Group for each file of pairs, and for each two others: a source and its target.

    Of two files, either may have the weight. A single file is one of pairs, by default a .tsv. A
    UserError says that a source has no target, or another weight.
    """
    groups, waiting = [], [weighted(name) for name in names]
    while waiting:
        size = 1 if is_table(waiting[0].path) or len(names) == 1 else 2
        paths = [file.path for file in waiting[:size]]
        weights = [file.weight for file in waiting[:size]]
        if len(paths) < size or any(map(is_table, paths[1:])):
            raise UserError(
                f"{paths[0]}: is not followed by the file of its translations; name a source and a "
                "target file, or a .tsv, for each corpus"
            )
        if len({*weights} - {1}) > 1:
            raise UserError(f"{paths[0]} and {paths[1]}: have different weights; write one of them")
        groups.append(Group(paths, max(weights)))
        del waiting[:size]
    return groups


def is_file(text: str | Path) -> bool:
    """Returns whether `text` names a file; a text too long for a file name does not."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def check_is_stored(name: str | Path) -> None:
    """Raises a UserError if a name, perhaps with a weight, is that of a pipe or a device.

    What is read several times, as in training, must be a file.
    """
    path = Path(weighted(name).path)
    try:
        stored = path.is_file() or path.is_dir() or not path.exists()
    except (OSError, ValueError):
        stored = True  # reading it says what is wrong
    if not stored:
        raise UserError(
            f"{name}: is a pipe or a device, and the text is read several times; write it to a "
            "file first, and name that"
        )


# ---- Pairs ----


def rows(
    path: str | Path, selection: Selection = WHOLE_FILE, read: ReadLines = read_lines
) -> Iterator[Row]:
    """Returns an iterator of the Rows of a file of pairs; see a Format."""
    return format_of(path).rows(path, selection, read)


def read_table(path: str | Path, selection: Selection = WHOLE_FILE) -> Iterator[tuple[str, str]]:
    """Yields (source, target) from a file of pairs; empty lines of it are skipped."""
    for row in rows(path, selection):
        if len(row.cells) != 2:
            raise wrong_columns(path, row, selection)
        yield row.cells[0], row.cells[1]


def wrong_columns(path: str | Path, row: Row, selection: Selection = WHOLE_FILE) -> UserError:
    """Returns the UserError of a row that is no pair, with the columns that may be meant."""
    problem = f"{path}:{row.number}: {plural(len(row.cells), 'column')} where two are needed"
    is_tsv = format_of(path) is tsv.TSV
    if len(row.cells) < 2:
        line = "source TAB target" if is_tsv else "source,target"
        return UserError(
            f"{problem}; write one pair per line as: {line}, or name two aligned files"
        )
    sample = [row]
    if is_file(path):  # not a pipe
        all_rows = rows(path, selection, lenient_reader(selection))
        sample = [*itertools.islice(all_rows, table.SAMPLE_ROWS)]
    columns = table.advised_columns(sample)
    if is_tsv:
        numbers = ",".join(map(str, table.likely_columns(sample)))
        advice = f"keep two, for example by: cut -f{numbers}, or by --columns {columns}"
    elif format_of(path) is CSV:
        advice = f"quote cells that hold what separates them, or choose two: --columns {columns}"
    else:
        advice = f"choose two: --columns {columns}"
    return UserError(f"{problem}; {advice}")


def read_aligned(*paths: str | Path) -> Iterator[tuple[str, ...]]:
    """Yields the lines n of aligned files, together: a source, a target and other targets."""
    columns = itertools.zip_longest(*map(read_lines, paths))
    for number, lines in enumerate(columns, start=1):
        if None in lines:
            short = paths[lines.index(None)]
            long = next(path for path, line in zip(paths, lines, strict=True) if line is not None)
            raise UserError(
                f"{short}: ends at line {number - 1}, but {long} is longer; aligned files need the "
                "same number of lines"
            )
        yield lines


def without_pairs(path: str | Path) -> UserError:
    """Returns the UserError of a corpus that was read to its end and holds no pair."""
    if is_table(path):
        return UserError(f"{path}: holds no pair; name a file that holds some")
    return UserError(f"{path}: holds no pair; name a file with one sentence per line")


def check_one_corpus(paths: Sequence[str | Path]) -> None:
    """Raises a UserError unless `paths` are a file of pairs, or a source and a target file."""
    if len(paths) > 2 or (len(paths) == 2 and any(map(is_table, paths))):
        raise UserError(
            f"{len(paths)} files named ({' '.join(map(str, paths))}); name one .tsv, or a source "
            "file and a target file"
        )


def read_pairs(
    paths: Sequence[str | Path], selection: Selection = WHOLE_FILE
) -> Iterator[tuple[str, str]]:
    """Returns an iterator of the (source, target) pairs of a file of pairs, or of aligned files."""
    check_one_corpus(paths)
    if len(paths) == 1:
        return read_table(paths[0], selection)
    return ((source, target) for source, target in read_aligned(*paths))


def languages_of(paths: Sequence[str | Path], selection: Selection = WHOLE_FILE) -> Pair | None:
    """Returns the languages of the files of a corpus, by what they hold or by their names.

    Languages that the selection names are those of the corpus.
    """
    if selection.languages:
        return selection.languages
    if len(paths) == 1:
        named = None
        if is_file(paths[0]):  # a pipe can be read once
            named = format_of(paths[0]).languages(paths[0], selection)
        return named or languages.of_table(paths[0])
    source, target = map(languages.of_file, paths)
    return Pair(source, target) if source and target and source != target else None


def read_references(
    paths: Sequence[str | Path], selection: Selection = WHOLE_FILE
) -> Iterator[tuple[str, ...]]:
    """Returns an iterator of a source and its references, from a file of pairs or several files."""
    if len(paths) <= 2:
        return read_pairs(paths, selection)
    source, reference, *references = map(kind, paths)
    if any(map(is_table, paths)):
        raise UserError(
            f"{len(paths)} files named ({' '.join(map(str, paths))}); name one .tsv, or a source "
            "file and files of references"
        )
    if source != reference and source in references:  # a.de a.en b.de b.en
        path = paths[2 + references.index(source)]
        raise UserError(
            f"{path}: ends as the source file does, and all others are references of the same "
            "source; score one corpus at a time"
        )
    return read_aligned(*paths)


def check_sheet(sheet: str | None, names: Iterable[str]) -> None:
    """Raises a UserError if a sheet is named, and none of the files is a workbook."""
    if sheet and not any(kind(weighted(name).path) == "xlsx" for name in names):
        raise UserError(f"--sheet {sheet}: no .xlsx is named; leave it out")
