"""What the user reads on stderr: one logger, as text or as JSON, and no noise from libraries."""

import contextlib
import datetime
import difflib
import functools
import json
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TextIO

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

LEVELS = {name: getattr(logging, name.upper()) for name in ("debug", "info", "warning", "error")}
TEXT, JSON = "text", "json"
FORMATS = (TEXT, JSON)


class Style(NamedTuple):
    """Which messages are shown, and how."""

    level: str = "info"  # the least one, of LEVELS
    form: str = TEXT  # one of FORMATS


class Stderr:
    """A stream of messages whose loss is no error: a closed terminal, an ended reader, a full disk.

    What is written from then on goes nowhere, by C++ too.
    """

    def __init__(self, stream: TextIO):
        self.stream = stream
        self.has_bars = True  # whether progress bars may be drawn on a terminal

    def isatty(self) -> bool:
        """Returns whether the stream is a terminal: what a progress bar asks before it is drawn."""
        return self.has_bars and self.stream.isatty()

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


class JsonLines(logging.Formatter):
    """A message as an object of JSON in a line of ASCII: time, level, message, and its fields.

    The fields are what a caller of the logger gives as `extra={"fields": {...}}`.
    """

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        content = {
            "time": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            content["exception"] = self.formatException(record.exc_info)
        return json.dumps({name: encodable(value) for name, value in content.items()})


def encodable(value: Any) -> Any:
    """Returns a value in which no text has half a surrogate pair, which strict readers refuse."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


_terminal = Terminal()


def show(style: Style = Style()) -> None:  # noqa: B008  # immutable
    """Makes the messages of this project visible on stderr, as the command line does.

    As JSON, those of libraries and the traceback of an error of the program are lines of JSON,
    too, and there are no progress bars.
    """
    if sys.stderr is None:  # closed by the parent process
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  # open until the end
    if not isinstance(sys.stderr, Stderr):
        sys.stderr = Stderr(sys.stderr)
    is_json = style.form == JSON
    sys.stderr.has_bars = not is_json
    _terminal.setFormatter(JsonLines() if is_json else None)
    # Where HOME cannot be written to, matplotlib warns that it keeps its fonts elsewhere.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    log.addHandler(_terminal)
    log.setLevel(LEVELS[style.level])
    log.propagate = False
    logging.captureWarnings(is_json)
    if is_json:
        logging.getLogger().addHandler(_terminal)  # of libraries, whose level is "warning"
        sys.excepthook = log_failure
    else:
        logging.getLogger().removeHandler(_terminal)
        if sys.excepthook is log_failure:
            sys.excepthook = sys.__excepthook__


def log_failure(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Logs what ends the program with a traceback: an error of its own."""
    log.critical("the program failed", exc_info=(kind, error, trace))


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
