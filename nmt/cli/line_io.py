"""The lines that a command is given, the formats in which translations of them are printed, and
the check of these.

Lines are arguments, those of stdin, or typed at a prompt.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import select
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from nmt import CheckFailed, UserError
from nmt.corpus import files
from nmt.decoding.batch_sizes import CHUNK_LINES
from nmt.messages import log
from nmt.text import encoding
from nmt.text.differences import DifferenceCount, difference
from nmt.text.protected import Protector

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.decoding.sentence import TokenScore, Translation

WAIT_SECONDS = 0.01  # for a further line, before those that are there are translated
READ_BYTES = 1 << 16  # at a time; what a pipe holds


# ---- Lines in ----


def given_lines(args: Namespace) -> Iterator[str]:
    """Returns the sentences in the arguments, or else the lines of stdin, as strings."""
    return itertools.chain.from_iterable(given_chunks(args))


def are_typed(args: Namespace) -> bool:
    """Returns whether sentences are typed at a terminal."""
    return not args.text and sys.stdin is not None and sys.stdin.isatty()


def given_chunks(args: Namespace) -> Iterator[list[str]]:
    """Returns an iterator of lists of strings, which are to be translated together.

    They are all arguments; or what waits on stdin, so that a program at the other end of a pipe
    gets its answer while it waits; or one typed line.
    """
    for text in args.text:
        if files.is_file(text):
            raise UserError(
                f"{text}: is a file, not a sentence; to take its lines: {args.command} < "
                f"{shlex.quote(text)}"
            )
    if args.text:  # as bytes, to be checked like the lines of stdin
        sentences = [os.fsencode(text).replace(b"\r\n", b"\n") + b"\n" for text in args.text]
        return decode_chunks([sentences], "argument")
    if sys.stdin is None:
        raise UserError("stdin is closed; give sentences as arguments, or a file: < FILE")
    line_chunks = prompt_lines() if are_typed(args) else waiting_lines(sys.stdin.buffer)
    return decode_chunks(line_chunks, "stdin")


def decode_chunks(chunks: Iterable[list[bytes]], name: str) -> Iterator[list[str]]:
    """Yields lists of lines as strings.

    Args:
      name: what the lines are called if they are not UTF-8.
    """
    first_number = 1
    for chunk in chunks:
        yield list(encoding.decode_lines(chunk, name, first_number))
        first_number += len(chunk)


def prompt_lines() -> Iterator[list[bytes]]:
    """Yields the lines that are typed, one by one, until Ctrl-D."""
    log.info("Type a sentence and Enter; Ctrl-D ends.")
    while True:
        sys.stdout.flush()  # through a pipe, too, the answer is seen before the next line is typed
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            print(file=sys.stderr)
            return
        yield [line]


def waiting_lines(file: Any) -> Iterator[list[bytes]]:
    """Yields lists of the lines of a binary file, buffered, that are there without waiting."""
    lines: list[bytes] = []
    pieces = []  # of a line whose end is not yet read
    while True:
        if lines and not is_ready(file):
            yield lines
            lines = []
        if not lines:
            sys.stdout.flush()  # what was printed is seen before the next lines come
        data = file.read1(READ_BYTES)
        if not data:
            break
        pieces.append(data)
        if b"\n" in data:
            whole_lines, _, beginning = b"".join(pieces).rpartition(b"\n")
            lines += [line + b"\n" for line in whole_lines.split(b"\n")]
            pieces = [beginning]
        while len(lines) >= CHUNK_LINES:
            yield lines[:CHUNK_LINES]
            del lines[:CHUNK_LINES]
    last = b"".join(pieces)  # without a line break at its end
    if last:
        lines.append(last)
    if lines:
        yield lines


def is_ready(file: BinaryIO) -> bool:
    """Returns whether a binary file can be read without waiting, or has ended."""
    try:
        return bool(select.select([file], [], [], WAIT_SECONDS)[0])
    except (OSError, ValueError):  # not a file of the system, as in a notebook
        return True


# ---- Translations out ----


class Layout(NamedTuple):
    """What the flags ask to print of each line."""

    log_probabilities: bool
    links: bool
    translations: int
    confidence: bool = False

    @property
    def has_columns(self) -> bool:
        """Whether a line of text is more than one translation as it is."""
        return self.log_probabilities or self.links or self.confidence or self.translations > 1


def as_text(number: int, translations: list[Translation], layout: Layout) -> Iterator[str]:
    """Yields as many lines as a line has translations at most, so that they can be counted.

    Args:
      translations: of that line, the best first.
    """
    for translation in translations:
        if layout.has_columns:
            yield "\t".join(_columns(translation, layout.log_probabilities))
        else:
            yield translation.text
    for _ in range(layout.translations - len(translations)):
        yield ""


def as_tsv(number: int, translations: list[Translation], layout: Layout) -> Iterator[str]:
    """Yields line number, rank, log-probability, translation and links, separated by tabs.

    The confidence, if it is asked for, follows the log-probability.
    """
    for rank, translation in enumerate(translations, start=1):
        columns = "\t".join(_columns(translation, log_probability=True))
        yield f"{number}\t{rank}\t{columns}"


def as_jsonl(number: int, translations: list[Translation], layout: Layout) -> Iterator[str]:
    """Yields a JSON object for each translation."""
    for rank, translation in enumerate(translations, start=1):
        values: dict[str, Any] = {
            "line": number,
            "rank": rank,
            "log_probability": round(translation.log_probability or 0.0, 4),
            "translation": translation.text,
        }
        if translation.confidence is not None:
            values["confidence"] = round(translation.confidence, 1)
        if translation.links is not None:
            values["alignment"] = translation.links
        if translation.tokens is not None:
            values["tokens"] = [_token_values(token) for token in translation.tokens]
        yield json.dumps(values, ensure_ascii=False)


def _columns(translation: Translation, log_probability: bool) -> list[str]:
    """Returns the columns of a translation: its text, and what else is reported of it."""
    from nmt.decoding.alignment import pharaoh

    columns = []
    if log_probability:
        columns.append(f"{translation.log_probability:.4f}")
    if translation.confidence is not None:
        columns.append(f"{translation.confidence:.0f}")
    columns.append(_one_line(translation.text))
    if translation.links is not None:
        columns.append(pharaoh(translation.links))
    return columns


def _token_values(score: TokenScore) -> dict[str, Any]:
    """Returns the JSON object of a token."""
    values: dict[str, Any] = {
        "token": score.token,
        "log_probability": round(score.log_probability, 4),
    }
    if score.alternatives:
        values["alternatives"] = {
            token: round(probability, 4) for token, probability in score.alternatives
        }
    return values


def _one_line(text: str) -> str:
    """Returns a text without the tabs and line breaks between its sentences."""
    return re.sub(r"[\t\r\n]+", " ", text)


FORMATS = {"text": as_text, "tsv": as_tsv, "jsonl": as_jsonl}
MARKUP = ("html", "xml")  # of --format, too: documents, see translate_file.py


# ---- What translations have lost or added ----


CHECK_ADVICE = ". To name all: --check"  # ends a message that names the first text


class TranslationCheck:
    """Compares translations with their sources, one text after the other.

    Args:
      names_all: name each text that differs on stderr, as --check does; by default the closing
        line names the first.
    """

    def __init__(self, protector: Protector, noun: str = "line", names_all: bool = False):
        self._protector = protector
        self._noun, self._names_all = noun, names_all
        self.count = DifferenceCount()

    def compare(self, source: str, translation: str) -> None:
        """Compares the next text with its translation."""
        result = difference(source, translation, self._protector)
        self.count.add(result)
        if result and self._names_all:
            log.warning(f"{self._noun} {self.count.texts}: {result}")

    def report(self, strict: bool = False) -> None:
        """Logs how many texts differ; if none does, only with `names_all`.

        Args:
          strict: raise an exception if any does.
        """
        if not (self.count.different or self._names_all):
            return
        summary = self.count.summary(self._noun)
        if self.count.different and strict:
            raise CheckFailed(summary)
        log.info(summary + ("" if self._names_all else CHECK_ADVICE))
