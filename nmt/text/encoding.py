"""The lines of text files: UTF-8, compressed by gzip or not.

Every other encoding, every other compression and every damage is refused by name, with the command
that mends it; or, for a report on the damages, lines are read as they are.
"""

import codecs
import contextlib
import gzip
import io
import itertools
import re
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path

from nmt import UserError

BOM = "\ufeff"  # at the start of what some editors save as UTF-8
GZIP = ".gz"
SAMPLE_LINES = 100_000  # of a file, by which another encoding than UTF-8 is recognized
SAMPLE_BYTES = 1 << 16  # of a file, by which UTF-16 is recognized
OTHER_FILES = {  # by how a file that is no text begins: what it is, and what makes text of it
    b"\x1f\x8b": ("compressed by gzip", "add .gz to its name, or decompress it: gunzip"),
    b"BZh91AY&SY": ("compressed by bzip2", "decompress it: bunzip2"),
    b"\xfd7zXZ\0": ("compressed by xz", "decompress it: unxz"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "decompress it: unzstd"),
    b"PK\x03\x04": (
        "a zip archive or a spreadsheet",
        "unpack it, or save the sheet as text; the name of a spreadsheet ends in .xlsx",
    ),
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet or document", "save it as .xlsx, or as text"),
    b"%PDF-": ("a PDF", "extract its text: pdftotext"),
}
UTF_16 = "iconv -f utf-16 -t utf-8"
MISREAD_BOMS = "\u00ff\u00fe".encode(), "\u00fe\u00ff".encode()  # of UTF-16, taken for Latin-1
LONE_RETURN = re.compile(rb"\r(?![\r\n])")
RETURNS_TO_FEEDS = r"tr '\r' '\n' < FILE"
CONTROLS_OF_LATIN_1 = re.compile(rb"[\x80-\x9f]")  # printed characters of windows-1252
MAX_ACCENTS = 3  # for each ASCII letter, in Western text: a line can be "été"
BYTE_OF_OTHER_ENCODING = re.compile("[\udc80-\udcff]+")  # a surrogate in place of each byte


def utf_16(sample: bytes) -> str | None:
    """Returns in words what bytes of UTF-16 or UTF-32 are and how to convert them; None for others.

    Without a byte order mark, UTF-16 is recognized by the NULs beside line feeds and ASCII.
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
    """Raises a UserError if a file does not begin as text, or as its name says."""
    for beginning, (what, fix) in OTHER_FILES.items():
        if sample.startswith(beginning):
            what = f"{what}, twice" if zipped and "gzip" in what else what
            raise UserError(f"{path}: is {what}; {fix}")


def carriage_returns(sample: bytes) -> str | None:
    """Returns in words that the lines of a file end with carriage returns alone; None if not."""
    if b"\n" in sample or not LONE_RETURN.search(sample.rstrip(b"\r")):
        return None
    return f"ends lines with carriage returns alone; convert it first: {RETURNS_TO_FEEDS}"


def return_within_line(name: str | Path, number: int) -> UserError:
    """Returns the UserError of a carriage return that is not at the end of its line."""
    return UserError(
        f"{name}:{number}: a carriage return within the line; end lines with line feeds "
        f"(where each line ends with a carriage return: {RETURNS_TO_FEEDS})"
    )


@contextlib.contextmanager
def opened(path: str | Path, encoded: bool = False) -> Iterator[gzip.GzipFile | BufferedReader]:
    """Yields a file to read bytes from, decompressed if its name ends in .gz.

    Args:
      encoded: the text may be in another encoding than UTF-8, which it names itself, as XML does.

    Raises:
      UserError: in opening or reading it, something went wrong; or it is no text.
    """
    zipped = str(path).endswith(GZIP)
    try:
        with open(path, "rb") as raw, gzip.open(raw) if zipped else raw as file:
            if zipped and raw.peek(2)[:2] not in (b"\x1f\x8b", b""):
                raise UserError(
                    f"{path}: is not compressed by gzip, though its name ends in .gz; remove .gz "
                    "from the name"
                )
            sample = file.peek(SAMPLE_BYTES)[:SAMPLE_BYTES]
            check_beginning(path, zipped, sample)
            if not encoded and (wrong := utf_16(sample) or carriage_returns(sample)):
                raise UserError(f"{path}: {wrong}")
            yield file
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or "is not a whole gzip file"
        raise UserError(f"{path}: {why}; name a readable text file") from None


def decode_lines(file: Iterable[bytes], name: str | Path, first: int = 1) -> Iterator[str]:
    """Yields the lines of a binary `file` as strings, without line ends and without BOMs.

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
                f"{_encoding_fix(name, line)}"
            ) from None
        if "\0" in text:
            raise UserError(
                f"{name}:{number}: holds a NUL character, as text in UTF-16 does; convert it first "
                f"({UTF_16}), or remove them (tr -d '\\0')"
            )
        if "\r" in text:
            raise return_within_line(name, number)
        if text or line.endswith(b"\n"):  # else a last line of nothing but "\r"
            yield text.removeprefix(BOM)


def likely_encoding(content: bytes) -> str | None:
    """Returns the encoding of Western text that is not UTF-8; None if it is of other letters.

    Bytes from 0x80 to 0x9F are control characters in Latin-1, which no text holds: where they
    occur, it is windows-1252, as Windows and its office programs write it. Where letters are hardly
    ASCII, it is neither.
    """
    text = content.decode(errors="surrogateescape")
    other_bytes = "".join(BYTE_OF_OTHER_ENCODING.findall(text)).encode(errors="surrogateescape")
    source = "cp1252" if CONTROLS_OF_LATIN_1.search(other_bytes) else "latin1"
    try:
        content.decode(source)
    except UnicodeDecodeError:
        return None
    ascii_letters = sum(map(str.isalpha, filter(str.isascii, text)))
    return source if len(other_bytes) <= MAX_ACCENTS * ascii_letters else None


def conversion(lines: Iterable[bytes]) -> str:
    """Returns in words how to convert lines that are not UTF-8."""
    content = b"".join(lines)
    if is_utf_8(content):
        return "it is UTF-8: correct the encoding that it declares"
    if source := likely_encoding(content):
        return f"convert the text first (for example: iconv -f {source} -t utf-8)"
    return "convert the text first from its encoding: iconv -f ENCODING -t utf-8 (see iconv -l)"


def is_utf_8(line: bytes) -> bool:
    """Returns whether bytes are UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _damaged_lines_of(path: str | Path) -> list[bytes] | None:
    """Returns the lines of a file that are not UTF-8, where they are most of those beyond ASCII.

    None where they are few: conversion would damage the lines that are UTF-8. A file of another
    encoding has hardly a line with accents that happens to be valid.
    """
    with opened(path) as file:
        lines = [line for line in itertools.islice(file, SAMPLE_LINES) if not line.isascii()]
    damaged = [line for line in lines if not is_utf_8(line)]
    return damaged if 2 * len(damaged) > len(lines) else None


def _encoding_fix(name: str | Path, line: bytes) -> str:
    """Returns in words how to mend text that is not all UTF-8.

    Args:
      name: of a file; or of stdin, whose other lines are unknown.
    """
    damaged = _damaged_lines_of(name) if Path(name).is_file() else [line]
    if damaged is None:
        return "leave such lines out by the command data, with --drop encoding --to NEW.tsv"
    return conversion([*damaged, line])


def check_is_utf_8(path: str | Path, droppable: float = 0.0) -> None:
    """Raises a UserError if a file as a whole is in another encoding than UTF-8.

    Args:
      droppable: the share of its lines that may be left out instead.
    """
    damaged = _damaged_lines_of(path) if Path(path).is_file() else None
    if damaged and len(damaged) > droppable * _sample_size(path):
        source = likely_encoding(b"".join(damaged)) or "NAME"
        raise UserError(
            f"{path}: is not UTF-8; add --encoding {source} to the command data, or "
            f"{conversion(damaged)}"
        )


def _sample_size(path: str | Path) -> int:
    """Returns the number of lines of a file among which damaged ones are looked for."""
    with opened(path) as file:
        return sum(1 for _ in itertools.islice(file, SAMPLE_LINES))


def lines_in(encoding: str, path: str | Path) -> Iterator[str]:
    """Yields the lines of a text file in another encoding than UTF-8.

    Raises:
      UserError: it cannot be read, or is not text in this encoding.
    """
    with opened(path, encoded=True) as file:
        text = io.TextIOWrapper(file, encoding=encoding, newline="\n")
        try:
            for number, line in enumerate(text):
                line = line.rstrip("\r\n")
                yield line if number else line.removeprefix(BOM)
        except UnicodeError:
            raise UserError(f"{path}: is not {encoding}; name another --encoding") from None


def read_lines(path: str | Path) -> Iterator[str]:
    """Yields the lines of a text file as `decode_lines` does; a UserError if it cannot be read."""
    with opened(path) as file:
        yield from decode_lines(file, path)


def damaged_lines(path: str | Path) -> Iterator[str]:
    """Yields the lines of a text file, whatever they hold; a UserError if it cannot be read.

    A byte that is not UTF-8 is a lone surrogate, as of os.fsdecode; see `without_surrogates`.
    """
    with opened(path) as file:
        for number, line in enumerate(file):
            text = line.decode(errors="surrogateescape").rstrip("\r\n")
            yield text if number else text.removeprefix(BOM)


def without_surrogates(text: str) -> str:
    """Returns a text of `damaged_lines` with U+FFFD in place of what was not UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def has_surrogates(text: str) -> bool:
    """Returns whether a text of `damaged_lines` has lost characters: bytes that were not UTF-8."""
    return BYTE_OF_OTHER_ENCODING.search(text) is not None


def check_characters(lines: Iterable[str]) -> None:
    """Raises a UserError if one of `lines` (strings) holds a lone surrogate, which is no character.

    Python has them for bytes that were not UTF-8 (errors="surrogateescape"), and for halves of
    characters from UTF-16.
    """
    for line in lines:
        if line.isprintable():
            continue
        if match := re.search("[\ud800-\udfff]", line):
            raise UserError(
                f"{line[:40]!r}: U+{ord(match[0]):04X} is half a character; decode the text with "
                'errors="replace", or remove it'
            )
