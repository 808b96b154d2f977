"""What the user reads on stderr: one logger, and no noise from libraries."""

import contextlib
import difflib
import functools
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

log = logging.getLogger("nmt")  # silent where the host program does not configure logging

# "I0000 00:00:1795 27932 port.cc:153] oneDNN custom operations are on", and that no GPU was found.
NOISE = re.compile(
    rb"WARNING: All log messages before absl::InitializeLog"
    rb"|[IWE]\d{4} .*\b(port|cudart_stub|cuda_platform|cpu_feature_guard)\.cc:"
    rb"|To enable the following instructions:"
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a terminal would obey some of them
# In the message of an error in a graph, the lines on where it was: files, code, and empty lines.
PLACE = re.compile(r"Detected at node |<stack traces unavailable>|\s|$")


class Stderr:
    """A stream of messages whose loss is no error: a closed terminal, an ended reader, a full disk.

    What is written from then on goes nowhere, by C++ too.

    Args:
      stream: a text file.
    """

    def __init__(self, stream: TextIO):
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Writes a text. Returns its length."""
        try:
            self.stream.write(text)
        except (OSError, ValueError):  # ValueError: the stream is closed
            self.lose()
        return len(text)

    def flush(self) -> None:
        """Writes what is buffered."""
        try:
            self.stream.flush()
        except (OSError, ValueError):
            self.lose()

    def lose(self) -> None:
        """Lets the stream write to nowhere: what it has buffered would fail again."""
        with contextlib.suppress(OSError, ValueError):  # a host program's may not be a file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.stream.fileno())
            os.close(nowhere)


def printable(text: str) -> str:
    """Returns a text with control characters as escape sequences of Python: "\\x1b"."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


class Terminal(logging.Handler):
    """Writes messages to stderr, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        text = printable(self.format(record))  # names of files and runs may hold anything
        if "tqdm" in sys.modules:
            sys.modules["tqdm"].tqdm.write(text, file=sys.stderr)
        else:  # nothing has imported it, so there is no bar
            print(text, file=sys.stderr)


def show() -> None:
    """Makes the messages of this project visible on stderr, as the command line does."""
    if sys.stderr is None:  # closed by the parent process
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  # open until the end
    if not isinstance(sys.stderr, Stderr):
        sys.stderr = Stderr(sys.stderr)
    # Where HOME cannot be written to, matplotlib warns that it keeps its fonts elsewhere.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    if not any(isinstance(handler, Terminal) for handler in log.handlers):
        log.addHandler(Terminal())
        log.setLevel(logging.INFO)
        log.propagate = False


@functools.cache
def log_once(message: str) -> None:
    """Logs a line unless it was logged before: what is read several times says it once."""
    log.info(message)


def plural(number: int, noun: str) -> str:
    """Returns "1 epoch", "2 epochs"; of numbers from 10,000 on with a comma."""
    ending = "" if number == 1 else "es" if noun.endswith("tch") else "s"
    return f"{number:{',' if number >= 10_000 else ''}} {noun}{ending}"


def reason(error: BaseException) -> str:
    """Returns the line of the message of an `error` that says what happened: most often, the first.

    TensorFlow's message of an error in a graph begins with lines about the place.
    """
    first, *later_lines = str(error).splitlines() or [""]
    if first.startswith("Graph execution error"):
        first = next((line for line in later_lines if not PLACE.match(line)), first)
    return re.sub(r"^\{\{.*?\}\} *", "", first).rstrip(".:")


@contextlib.contextmanager
def quiet() -> Iterator[list[bytes]]:
    """Holds back what is written to stderr, by C++ too, and then passes on what is not NOISE.

    Yields a list, which receives the lines that were dropped.
    """
    dropped: list[bytes] = []
    try:
        stderr = os.dup(2)
    except OSError:  # closed by the parent process
        yield dropped
        return
    if sys.stderr:
        sys.stderr.flush()
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield dropped
        finally:
            if sys.stderr:
                sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            held.seek(0)
            for line in held:
                if NOISE.match(line):
                    dropped.append(line)
                else:
                    with contextlib.suppress(OSError):  # the reader of stderr has ended
                        os.write(2, line)


def closest(word: str, known: Iterable[str]) -> str | None:
    """Returns the one of `known` words that is most like `word`; None if none is like it."""
    matches = difflib.get_close_matches(word.replace("_", "-").lower(), known, 1)
    return matches[0] if matches else None
