"""The sentences that a command is given: as arguments, on stdin, or typed at a prompt."""

import itertools
import os
import select
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from nmt import UserError
from nmt.corpus import files
from nmt.decoding.batching import CHUNK_LINES
from nmt.messages import log
from nmt.text import encoding

WAIT_SECONDS = 0.01  # for a further line, before those that are there are translated
READ_BYTES = 1 << 16  # at a time; what a pipe holds


def lines(args: Namespace) -> Iterator[str]:
    """Returns the sentences in the arguments, or else the lines of stdin, as strings."""
    return itertools.chain.from_iterable(chunks(args))


def typed(args: Namespace) -> bool:
    """Returns whether sentences are typed at a terminal."""
    return not args.text and sys.stdin is not None and sys.stdin.isatty()


def chunks(args: Namespace) -> Iterator[list[str]]:
    """Returns an iterator of lists of strings, which are to be translated together.

    They are all arguments; or what waits on stdin, so that a program at the other end of a pipe
    gets its answer while it waits; or one typed line.

    Raises:
      UserError: an argument is a file, stdin is closed, or the text is not UTF-8.
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
    line_chunks = prompt_lines() if typed(args) else waiting_lines(sys.stdin.buffer)
    return decode_chunks(line_chunks, "stdin")


def decode_chunks(chunks: Iterable[list[bytes]], name: str) -> Iterator[list[str]]:
    """Yields lists of lines as strings.

    Args:
      chunks: lists of lines, with their line breaks.
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


def waiting_lines(file: BinaryIO) -> Iterator[list[bytes]]:
    """Yields lists of the lines of a file that can be read without waiting for another."""
    lines = []
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
