"""Reading text files and checking them: UTF-8, two columns, the same number of lines.

Files whose names end in .gz are compressed by gzip; those in .csv have quoted cells.
"""

import codecs
import contextlib
import csv
import gzip
import itertools
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nmt import UserError
from nmt.messages import plural

BOM = "\ufeff"  # at the start of what some editors save as UTF-8
GZIP = ".gz"
TABLES = {"tsv": "source TAB target", "csv": "source,target"}  # of pairs: what a line holds
SAMPLE_LINES = 100_000  # of a file, by which another encoding than UTF-8 is recognized
SAMPLE_BYTES = 1 << 16  # of a file, by which UTF-16 is recognized
COMPRESSED = {  # by how a file begins: what it is, and what makes text of it
    b"\x1f\x8b": ("compressed by gzip", "add .gz to its name, or decompress it: gunzip"),
    b"BZh91AY&SY": ("compressed by bzip2", "decompress it: bunzip2"),
    b"\xfd7zXZ\0": ("compressed by xz", "decompress it: unxz"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "decompress it: unzstd"),
    b"PK\x03\x04": ("a zip archive or a spreadsheet", "unpack it, or save the sheet as text"),
}
UTF_16 = "iconv -f utf-16 -t utf-8"
MISREAD_BOMS = "\u00ff\u00fe".encode(), "\u00fe\u00ff".encode()  # of UTF-16, taken for Latin-1
MAX_WEIGHT = 1000  # of a corpus


# ---- The names of files ----


class Group(NamedTuple):
    """A file of TABLES, or a source and a target file, and the weight of their pairs."""

    paths: list[str]
    weight: int  # how often each pair occurs in the training text


def kind(name: str | Path) -> str:
    """Returns what the name of a file ends in, without .gz: "tsv", "de"."""
    return Path(str(name).removesuffix(GZIP)).suffix[1:]


def is_table(name: str | Path) -> bool:
    """Returns whether a name is that of a file of pairs: .tsv, .csv, or one of them with .gz."""
    return kind(name) in TABLES


class WeightedFile(NamedTuple):
    """A file of training text, and how often each of its pairs occurs in it."""

    path: str
    weight: int


def weighted(name: str | Path) -> WeightedFile:
    """Splits "a.tsv:2" into a path and its weight, which is 1 unless given.

    Raises:
      UserError: the weight is not a whole number, or out of its range.
    """
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
    """Returns a Group for each .tsv or .csv, and for each two other files: a source and its target.

    Args:
      names: of files, each perhaps with a weight, as in "a.tsv:2"; of two files, either may have
        it. A single file is a .tsv, whatever its name.

    Raises:
      UserError: a source file has no target file, or they have different weights.
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


# ---- Their text ----


def utf_16(sample: bytes) -> str | None:
    """Returns in words what bytes of UTF-16 or UTF-32 are and how to convert them; None for others.

    Without a byte order mark, UTF-16 is recognized by the NULs beside line feeds and ASCII.

    Args:
      sample: the beginning of a file.
    """
    if sample.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "is UTF-32, not UTF-8; convert it first: iconv -f utf-32 -t utf-8"
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"is UTF-16, not UTF-8; convert it first: {UTF_16}"
    if b"\0" not in sample:
        return None
    if sample.startswith(MISREAD_BOMS):
        return (
            "was UTF-16 before it was converted from another encoding; restore it: "
            f"iconv -f utf-8 -t latin1 FILE | {UTF_16}"
        )
    if sample.isascii() and sample.count(b"\0") < len(sample) // 4:
        return None  # in UTF-16, every other byte of such text is NUL
    order = "le" if sample.index(b"\0") % 2 else "be"
    text = sample[: len(sample) // 2 * 2].decode(f"utf-16-{order}", "replace")
    one_line = b"\n" not in sample and sample.count(b"\0") > len(sample) // 4
    if "\0" in text or not ("\n" in text or one_line) or text.count("\ufffd") > 1:
        return None
    return f"looks like UTF-16, not UTF-8; convert it first: iconv -f utf-16{order} -t utf-8"


def check_beginning(path: str | Path, zipped: bool, sample: bytes) -> None:
    """Raises a UserError if a file does not begin as UTF-8 text, or as its name says.

    Args:
      path: of the file.
      zipped: whether its name ends in .gz.
      sample: the beginning of what it holds, decompressed if `zipped`.
    """
    for beginning, (what, fix) in COMPRESSED.items():
        if sample.startswith(beginning):
            what = f"{what}, twice" if zipped else what
            raise UserError(f"{path}: is {what}; {fix}")
    if wrong := utf_16(sample):
        raise UserError(f"{path}: {wrong}")


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Yields a file to read bytes from, decompressed if its name ends in .gz.

    Raises:
      UserError: in opening or reading it, something went wrong; or it is no UTF-8 text.
    """
    zipped = str(path).endswith(GZIP)
    try:
        with open(path, "rb") as raw, gzip.open(raw) if zipped else raw as file:
            if zipped and raw.peek(2)[:2] not in (b"\x1f\x8b", b""):
                raise UserError(
                    f"{path}: is not compressed by gzip, though its name ends in .gz; remove .gz "
                    "from the name"
                )
            check_beginning(path, zipped, file.peek(SAMPLE_BYTES)[:SAMPLE_BYTES])
            yield file
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or "is not a whole gzip file"
        raise UserError(f"{path}: {why}; name a readable text file") from None


def decode_lines(file: Iterable[bytes], name: str | Path, first: int = 1) -> Iterator[str]:
    """Yields the lines of a binary `file` as strings, without line ends and without BOMs.

    Args:
      file: an iterable of lines, as bytes.
      name: of the file, in messages.
      first: the number of the first line.

    Raises:
      UserError: a line is not UTF-8, or has a NUL, or a carriage return before its end.
    """
    for number, line in enumerate(file, start=first):
        try:
            text = line.decode().removesuffix("\n").rstrip("\r")
        except UnicodeDecodeError as error:
            if number == 1 and (wrong := utf_16(line)):
                raise UserError(f"{name}: {wrong}") from None
            raise UserError(
                f"{name}:{number}: byte {error.start + 1} of the line is not UTF-8; "
                f"{_encoding_fix(name)}"
            ) from None
        if "\0" in text:
            raise UserError(
                f"{name}:{number}: holds a NUL character, as text in UTF-16 does; convert it first "
                f"({UTF_16}), or remove them (tr -d '\\0')"
            )
        if "\r" in text:
            raise UserError(
                f"{name}:{number}: a carriage return within the line; end lines with line feeds "
                r"(where each line ends with a carriage return: tr '\r' '\n')"
            )
        if text or line.endswith(b"\n"):  # else a last line of nothing but "\r"
            yield text.removeprefix(BOM)


def _encoding_fix(name: str | Path) -> str:
    """Returns in words how to mend text that is not all UTF-8.

    Conversion would damage the lines that are UTF-8, so it is advised only where few are: a file of
    another encoding has hardly a line with accents that happens to be valid.

    Args:
      name: of a file; or of stdin, whose other lines are unknown.
    """
    lines = []
    if is_file(name):
        with opened(name) as file:
            lines = [line for line in itertools.islice(file, SAMPLE_LINES) if not line.isascii()]
    damaged = sum("\ufffd" in line.decode(errors="replace") for line in lines)
    if lines and 2 * damaged <= len(lines):
        return "leave such lines out by the command data, with --drop encoding --to NEW.tsv"
    return "convert the text first (for example: iconv -f latin1 -t utf-8)"


def read_lines(path: str | Path) -> Iterator[str]:
    """Yields the lines of a text file as `decode_lines` does; a UserError if it cannot be read."""
    with opened(path) as file:
        yield from decode_lines(file, path)


def csv_rows(lines: Iterable[str], path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yields (number of its last line, list of cells) of each row of a .csv file, by RFC 4180.

    A first row of nothing but the words source and target is left out, as are empty lines.

    Args:
      lines: strings, without line ends.
      path: of the file, in messages.
    """
    reader = csv.reader((f"{line}\n" for line in lines), strict=True)
    try:
        for cells in reader:
            header = reader.line_num == 1 and [*map(str.lower, cells)] == ["source", "target"]
            if cells and not header:
                yield reader.line_num, cells
    except csv.Error as error:
        raise UserError(
            f"{path}:{reader.line_num}: not comma-separated cells ({error}); quote each cell that "
            'holds commas or quotation marks, and double the latter: "He said ""no"", twice"'
        ) from None


def rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yields (line number, list of columns) of a .tsv or .csv file, as strings."""
    if kind(path) == "csv":
        yield from csv_rows(read_lines(path), path)
    else:
        for number, line in enumerate(read_lines(path), start=1):
            if line:
                yield number, line.split("\t")


def read_table(path: str | Path) -> Iterator[tuple[str, str]]:
    """Yields (source, target) from a .tsv or .csv file; lines of nothing are skipped."""
    for number, columns in rows(path):
        if len(columns) != 2:
            line = TABLES.get(kind(path), TABLES["tsv"])
            fix = (
                "keep two, for example by: cut -f1,2"
                if len(columns) > 2 and kind(path) != "csv"
                else f"write one pair per line as: {line}, or name two aligned files"
            )
            raise UserError(
                f"{path}:{number}: {plural(len(columns), 'column')} where two are needed; {fix}"
            )
        if re.search(r"[\t\n]", "".join(columns)):  # within the quotes of a .csv
            raise UserError(
                f"{path}:{number}: a cell holds a tab or a line break; write spaces instead"
            )
        yield columns[0], columns[1]


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
    return UserError(f"{path}: holds no pair; name a file with one sentence per line")


def check_one_corpus(paths: Sequence[str | Path]) -> None:
    """Raises a UserError unless `paths` are a .tsv or .csv, or a source and a target file."""
    if len(paths) > 2 or (len(paths) == 2 and any(map(is_table, paths))):
        raise UserError(
            f"{len(paths)} files named ({' '.join(map(str, paths))}); name one .tsv, or a source "
            "file and a target file"
        )


def read_pairs(paths: Sequence[str | Path]) -> Iterator[tuple[str, str]]:
    """Returns an iterator of the (source, target) pairs of a .tsv, a .csv or two aligned files."""
    check_one_corpus(paths)
    return read_table(*paths) if len(paths) == 1 else read_aligned(*paths)


def read_references(paths: Sequence[str | Path]) -> Iterator[tuple[str, ...]]:
    """Returns an iterator of a source and its references, one or more, from files.

    Args:
      paths: a .tsv or .csv file, or a source file and one or more files of references.
    """
    if len(paths) <= 2:
        return read_pairs(paths)
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
