"""Reading text files and checking them: UTF-8, two columns, the same number of lines."""

import itertools
from pathlib import Path

from nmt import UserError
from nmt.messages import plural

BOM = "\ufeff"  # at the start of what some editors save as UTF-8


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
    try:
        with open(path, "rb") as file:
            yield from decode_lines(file, path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name a readable text file") from None


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


def read_pairs(paths):
    """Returns an iterator of the (source, target) pairs of a .tsv file or of two aligned files."""
    if len(paths) > 2:
        raise UserError(
            f"{len(paths)} files named ({' '.join(map(str, paths))}); name one .tsv, or a source "
            "file and a target file"
        )
    return read_tsv(*paths) if len(paths) == 1 else read_aligned(*paths)


def is_file(text):
    """Returns whether `text` names a file; a text too long for a file name does not."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False
