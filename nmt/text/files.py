"""Reading text files and checking them: UTF-8, two columns, the same number of lines.

Files whose names end in .gz are compressed by gzip.
"""

import contextlib
import gzip
import itertools
import re
import zlib
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.messages import plural

BOM = "\ufeff"  # at the start of what some editors save as UTF-8
GZIP = ".gz"
MAX_WEIGHT = 1000  # of a corpus


# ---- The names of files ----


class Group(NamedTuple):
    """A .tsv file, or a source and a target file, and the weight of their pairs."""

    paths: list
    weight: int  # how often each pair occurs in the training text


def kind(name):
    """Returns what the name of a file ends in, without .gz: "tsv", "de"."""
    return Path(str(name).removesuffix(GZIP)).suffix[1:]


def is_tsv(name):
    """Returns whether a name is that of a .tsv or .tsv.gz file."""
    return kind(name) == "tsv"


def weighted(name):
    """Splits "a.tsv:2" into a path and its weight, which is 1 unless given.

    Raises:
      UserError: the weight is not a whole number, or out of its range.
    """
    path, colon, weight = str(name).rpartition(":")
    if not colon or is_file(name) or not re.fullmatch(r"[-+.\d]+", weight):
        return str(name), 1
    if not weight.isdecimal() or not 1 <= int(weight) <= MAX_WEIGHT:
        raise UserError(
            f"{name}: a weight is a whole number from 1 to {MAX_WEIGHT}, as in {path}:2"
        )
    return path, int(weight)


def grouped(names):
    """Returns a Group for each .tsv file, and for each two other files: a source and its target.

    Args:
      names: of files, each perhaps with a weight, as in "a.tsv:2"; of two files, either may have
        it. A single file is a .tsv, whatever its name.

    Raises:
      UserError: a source file has no target file, or they have different weights.
    """
    found, waiting = [], [weighted(name) for name in names]
    while waiting:
        size = 1 if is_tsv(waiting[0][0]) or len(names) == 1 else 2
        paths, weights = zip(*waiting[:size], strict=True)
        if len(paths) < size or any(map(is_tsv, paths[1:])):
            raise UserError(
                f"{paths[0]}: is not followed by the file of its translations; name a source and a "
                "target file, or a .tsv, for each corpus"
            )
        if len({*weights} - {1}) > 1:
            raise UserError(f"{paths[0]} and {paths[1]}: have different weights; write one of them")
        found.append(Group(list(paths), max(weights)))
        del waiting[:size]
    return found


def is_file(text):
    """Returns whether `text` names a file; a text too long for a file name does not."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


# ---- Their text ----


@contextlib.contextmanager
def opened(path):
    """Yields a file to read bytes from, decompressed if its name ends in .gz.

    Raises:
      UserError: in opening or reading it, something went wrong.
    """
    try:
        with gzip.open(path) if str(path).endswith(GZIP) else open(path, "rb") as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or "is not a whole gzip file"
        raise UserError(f"{path}: {why}; name a readable text file") from None


def decode_lines(file, name, first=1):
    """Yields the lines of a binary `file` as strings, without line ends and without BOMs.

    Args:
      file: an iterable of lines, as bytes.
      name: of the file, in messages.
      first: the number of the first line.

    Raises:
      UserError: a line is not UTF-8, or has a carriage return before its end.
    """
    for number, line in enumerate(file, start=first):
        try:
            text = line.decode().removesuffix("\n").rstrip("\r")
        except UnicodeDecodeError as error:
            raise UserError(
                f"{name}:{number}: byte {error.start + 1} of the line is not UTF-8; convert the "
                "text first (for example: iconv -f latin1 -t utf-8)"
            ) from None
        if "\r" in text:
            raise UserError(
                f"{name}:{number}: a carriage return within the line; end lines with line feeds "
                r"(where each line ends with a carriage return: tr '\r' '\n')"
            )
        if text or line.endswith(b"\n"):  # else a last line of nothing but "\r"
            yield text.removeprefix(BOM)


def read_lines(path):
    """Yields the lines of a text file as `decode_lines` does; a UserError if it cannot be read."""
    with opened(path) as file:
        yield from decode_lines(file, path)


def read_tsv(path):
    """Yields (source, target) from lines of source TAB target; lines of nothing are skipped."""
    for number, line in enumerate(read_lines(path), start=1):
        if not line:
            continue
        columns = line.split("\t")
        if len(columns) != 2:
            fix = (
                "keep two, for example by: cut -f1,2"
                if len(columns) > 2
                else "write one pair per line as: source TAB target, or name two aligned files"
            )
            raise UserError(
                f"{path}:{number}: {plural(len(columns), 'column')} where two are needed; {fix}"
            )
        yield columns[0], columns[1]


def read_aligned(source_path, target_path):
    """Yields (source, target) from two files, line n of one translating line n of the other."""
    lines = itertools.zip_longest(read_lines(source_path), read_lines(target_path))
    for number, (source, target) in enumerate(lines, start=1):
        if source is None or target is None:
            short, long = source_path, target_path
            if target is None:
                short, long = long, short
            raise UserError(
                f"{short}: ends at line {number - 1}, but {long} is longer; aligned files need the "
                "same number of lines"
            )
        yield source, target


def without_pairs(path):
    """Returns the UserError of a corpus that was read to its end and holds no pair."""
    return UserError(f"{path}: holds no pair; name a file with one sentence per line")


def check_one_corpus(paths):
    """Raises a UserError unless `paths` are a .tsv file, or a source and a target file."""
    if len(paths) > 2 or (len(paths) == 2 and any(map(is_tsv, paths))):
        raise UserError(
            f"{len(paths)} files named ({' '.join(map(str, paths))}); name one .tsv, or a source "
            "file and a target file"
        )


def read_pairs(paths):
    """Returns an iterator of the (source, target) pairs of a .tsv file or of two aligned files."""
    check_one_corpus(paths)
    return read_tsv(*paths) if len(paths) == 1 else read_aligned(*paths)
