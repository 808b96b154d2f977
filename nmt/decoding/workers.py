"""Translating parts of a text by several processes, each of which loads the network itself.

A process of its own uses a core fully: of threads, one at a time runs Python. The program that
starts the workers hands out parts and receives translations; it needs no TensorFlow.
"""

import dataclasses
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import connection as connections
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError, WorkersLost, machine, messages
from nmt.decoding.line_counts import LineCounts
from nmt.messages import log

if TYPE_CHECKING:  # Windows has no ForkContext
    from multiprocessing.context import ForkContext, SpawnContext


class Part(NamedTuple):
    """Consecutive lines of a text."""

    first: int  # the number of the first line, from 1
    lines: list[str]
    prefixes: list[str]  # what the translation of each line begins with
    references: Sequence[
        str
    ] = ()  # what the translation of each line is to be like; none: whatever


class TranslatedPart(NamedTuple):
    """What is to be written for the lines of a Part."""

    first: int
    text: str
    counts: LineCounts


Translate = Callable[[Part], TranslatedPart]


@dataclasses.dataclass
class Worker:
    """A process that translates one Part after the other."""

    process: BaseProcess
    connection: Connection
    part: Part | None = None  # that it translates


class Workers:
    """Processes that translate; within a `with` block, all of them have loaded the network.

    Args:
      load: a function that each worker calls once. It returns the function that translates a Part.
      number: of processes, which share the cores of this machine.

    Raises:
      WorkersLost: all of them have ended, because they were killed or have crashed.
      Exception: of a worker, whatever it is.
    """

    def __init__(self, load: Callable[[], Translate], number: int):
        self._load, self._number = load, number
        self._workers: list[Worker] = []

    def __enter__(self) -> "Workers":
        # A copy of this process starts at once, but one of TensorFlow's threads would not work.
        spawns = "tensorflow" in sys.modules
        get_context = multiprocessing.get_context
        context = get_context("spawn") if spawns else get_context("fork")
        try:
            for index in range(self._number):
                self._workers.append(self._start(context, index))
            for worker in [*self._workers]:
                self._receive(worker)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, context: "ForkContext | SpawnContext", index: int) -> Worker:
        """Returns a new Worker; a UserError if the machine has no room for it."""
        try:
            connection, other_end = context.Pipe()
            process = context.Process(
                target=run_worker,
                args=(other_end, self._load, self._number, index, messages.style()),
                daemon=True,
            )
            process.start()
        except OSError as error:
            fix = "ask for fewer" if self._number > 1 else "end other programs"
            raise UserError(f"--workers {self._number}: {error.strerror}; {fix}") from None
        other_end.close()  # the worker's alone, so that its end is noticed
        return Worker(process, connection)

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.connection.close()
        for worker in self._workers:
            worker.process.join()

    def translate(self, parts: Iterable[Part]) -> Iterator[TranslatedPart]:
        """Yields the translation of each of `parts`, as soon as it is there, in any order."""
        waiting = iter(parts)
        lost_parts: list[Part] = []  # of workers that have ended
        while True:
            for worker in self._workers:
                if worker.part is None:
                    worker.part = lost_parts.pop() if lost_parts else next(waiting, None)
                    self._send(worker)
            busy = [(worker, worker.part) for worker in self._workers if worker.part]
            if not busy:
                return
            ready = connections.wait([worker.connection for worker, _ in busy])
            for worker, part in busy:
                if worker.connection not in ready:
                    continue
                translated = self._receive(worker)
                if translated is None:
                    lost_parts.append(part)
                else:
                    worker.part = None
                    yield translated

    @staticmethod
    def _send(worker: Worker) -> None:
        """Sends a worker its part; one that has ended is noticed when its answer is received."""
        try:
            if worker.part:
                worker.connection.send(worker.part)
        except OSError:
            pass

    def _receive(self, worker: Worker) -> TranslatedPart | None:
        """Returns the answer of a worker; None if it has ended, and others are left."""
        try:
            answer: TranslatedPart | Exception | None = worker.connection.recv()
        except (EOFError, OSError):
            self._lose(worker)
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _lose(self, worker: Worker) -> None:
        """Leaves out a worker that has ended."""
        self._workers.remove(worker)
        worker.process.join()
        code = worker.process.exitcode or 0  # never None after join()
        why = f"was killed by signal {-code}" if code < 0 else f"has ended with exit code {code}"
        if -code == signal.SIGKILL:
            why += ", perhaps for lack of memory"
        if not self._workers:
            raise WorkersLost(f"the last worker {why}; fewer --workers need less memory")
        log.warning(f"A worker {why}; {len(self._workers)} of {self._number} go on.")


# ---- In a worker ----


def run_worker(
    connection: Connection,
    load: Callable[[], Translate],
    number: int,
    index: int,
    style: messages.Style,
) -> None:
    """Is the process of a worker; see `Workers`.

    Args:
      connection: to the program.
      load: see `Workers`.
      number: of workers.
      index: of this one. The first one's messages are shown; the others' would be the same.
      style: of messages.
    """
    for signal_number in machine.END_SIGNALS:  # the program ends, and with it its workers
        signal.signal(signal_number, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    machine.share_cores(number)
    messages.show(style)
    log.disabled = index > 0
    answer_parts(connection, load)


def end_with_parent() -> None:
    """Ends this process as soon as its parent has ended, in whatever way."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connections.wait([parent.sentinel])
        os._exit(1)


def answer_parts(connection: Connection, load: Callable[[], Translate]) -> None:
    """Sends None when all is loaded, then the translation of each Part; or the first exception."""
    try:
        translate = load()
        connection.send(None)
        while part := receive_part(connection):
            connection.send(translate(part))
    except Exception as error:
        error.add_note(traceback.format_exc())  # which would be lost on the way
        connection.send(error)


def receive_part(connection: Connection) -> Part | None:
    """Returns the next Part; None if the program has closed the connection."""
    try:
        part: Part = connection.recv()
    except EOFError:
        return None
    return part
