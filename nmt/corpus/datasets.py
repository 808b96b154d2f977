"""Parallel text as data sets of pairs of known length, which can be read again and again.

Everything streams: a file is read once to check it and to count its pairs, and again whenever its
data set is iterated. No corpus is ever held in memory. Formats that take long to parse, such as XML
and spreadsheets, are copied to a temporary file of plain lines.
"""

import functools
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from nmt import FileChangedError, UserError
from nmt.corpus import files
from nmt.corpus.formats.format import Selection
from nmt.messages import log, plural

COPIES: list[IO[str]] = []  # open temporary files, which are removed when the program ends
CHUNK = 1024  # pairs, in which several corpora are mixed


class Dataset:
    """Pairs of strings, always in the same order: `read` returns an iterator at each call."""

    def __init__(self, read: Callable[[], Iterator[tuple[str, str]]], length: int):
        self._read, self._length = read, length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._read()

    def take(self, number: int) -> "Dataset":
        """Returns the first pairs."""
        return Dataset(lambda: itertools.islice(self, number), min(number, len(self)))

    def repeat(self, times: int) -> "Dataset":
        """Returns all pairs, so many times."""
        if times == 1:
            return self
        return Dataset(
            lambda: itertools.chain.from_iterable(itertools.repeat(self, times)), times * len(self)
        )

    def swap(self) -> "Dataset":
        """Returns each pair as target and source."""
        return Dataset(lambda: ((target, source) for source, target in self), len(self))


def copied(path: str | Path, lines: Iterable[str]) -> str:
    """Writes lines to a temporary file. Returns its path; a UserError if there is no space."""
    try:
        copy = tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8", newline="\n")  # noqa: SIM115
        COPIES.append(copy)
        copy.writelines(f"{line}\n" for line in lines)
        copy.flush()
    except OSError as error:
        raise UserError(
            f"{path}: cannot be copied to {tempfile.gettempdir()} ({error.strerror}), to be read "
            "several times; free some space there, or name a .tsv of two columns"
        ) from None
    log.info(f"{path}: copied to {copy.name} while the program runs, as plain lines.")
    return copy.name


def read_copy(path: str) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a file that `copied` wrote."""
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            source, target = line.removesuffix("\n").split("\t")
            yield source, target


def checked_dataset(
    paths: Sequence[str | Path], selection: Selection = files.WHOLE_FILE
) -> Dataset:
    """Reads the files through once. Returns their pairs."""
    for path in paths:
        files.check_is_stored(path)
    read = functools.partial(files.read_pairs, paths, selection)
    if len(paths) == 1 and not files.is_plain(paths[0], selection):
        read = functools.partial(read_copy, copied(paths[0], map("\t".join, read())))
    pairs = sum(1 for _ in read())
    if not pairs:
        raise files.without_pairs(paths[0])
    return Dataset(functools.partial(unchanged_pairs, read, pairs, paths), pairs)


def unchanged_pairs(
    read: Callable[[], Iterator[tuple[str, str]]], pairs: int, paths: Sequence[str | Path]
) -> Iterator[tuple[str, str]]:
    """Yields the pairs of files that were read through once, and held so many pairs then.

    A FileChangedError if they cannot be read any more, or hold more or fewer.
    """
    number = 0
    try:
        for number, pair in enumerate(read(), 1):
            if number <= pairs:
                yield pair
    except UserError as error:
        raise FileChangedError(str(error)) from None
    if number != pairs:
        names = " ".join(map(str, paths))
        raise FileChangedError(f"{names}: {plural(number, 'pair')} now, {pairs} before")


def share_of_chunk(pairs: int, chunks: int, chunk: int) -> int:
    """Returns how many of the `pairs` of a data set a chunk holds, of about equally large ones."""
    size = -(-pairs // chunks)
    filled = -(-pairs // size)
    return 0 if (chunk + 1) * filled // chunks == chunk * filled // chunks else size


def mixed(datasets: Sequence[Dataset]) -> Dataset:
    """Returns one data set of the pairs of all, evenly mixed, always in the same order.

    Each CHUNK of it holds pairs of each data set by their numbers, so that the vocabulary's sample
    and a small --buffer-size mix corpora that follow each other.
    """
    if len(datasets) == 1:
        return datasets[0]
    pairs = sum(map(len, datasets))
    chunks = -(-pairs // CHUNK)

    def read() -> Iterator[tuple[str, str]]:
        readers = [(iter(dataset), len(dataset)) for dataset in datasets]
        for chunk in range(chunks):
            for reader, length in readers:
                yield from itertools.islice(reader, share_of_chunk(length, chunks, chunk))

    return Dataset(read, pairs)


def text_dataset(names: Sequence[str | Path], selection: Selection = files.WHOLE_FILE) -> Dataset:
    """Returns the pairs of files as one data set; those of a group are repeated by its weight."""
    groups = files.grouped(names)
    return mixed([checked_dataset(group.paths, selection).repeat(group.weight) for group in groups])
