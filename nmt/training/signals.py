"""Signals that ask a training run to end: noted at once, obeyed after the next checkpoint.

Ctrl-C, SIGTERM, or a terminal that is closed. Where several workers train together, a signal may
reach only one of them, so they agree on it before any of them ends.
"""

import os
import signal
import time
from collections.abc import Sequence
from types import FrameType
from typing import Any

from nmt import Interrupted
from nmt.machine import END_SIGNALS
from nmt.training import cluster

HANGUP_SECONDS = 1  # a closed terminal may send SIGHUP more than once, within this time


class Signals:
    """Notes the signals that arrive within its `with` block; a second one does not wait.

    `received` is the number of the newest signal of this process, `agreed` of the one that all
    workers end with.
    """

    def __init__(
        self,
        workers: cluster.Cluster = cluster.ALONE,
        handled: Sequence[signal.Signals] = END_SIGNALS,
    ):
        self.workers, self.handled = workers, handled
        self.received: int | None = None
        self.agreed: int | None = None
        self._first_hangup: float | None = None  # when it came
        self._handlers: dict[int, Any] = {}  # of before the `with` block

    def __enter__(self) -> "Signals":
        heard = [number for number in self.handled if signal.getsignal(number) != signal.SIG_IGN]
        self._handlers = {number: signal.signal(number, self.note) for number in heard}
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if kind is None and self.received and self.workers.alone:  # nobody has to agree any more
            raise Interrupted(self.received)

    def note(self, number: int, frame: FrameType | None = None) -> None:
        """Handles a signal: the first one of a kind is noted, a second one ends the process."""
        self.received = number
        if number == signal.SIGHUP:
            now = time.monotonic()
            self._first_hangup = self._first_hangup or now
            if now - self._first_hangup > HANGUP_SECONDS:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)
        else:
            default = signal.SIG_DFL if number == signal.SIGTERM else self._handlers[number]
            signal.signal(number, default)

    def agree(self) -> None:
        """Makes a signal that any worker has received the `agreed` one; all call this together.

        A signal received after this call waits for the next one: other workers do not know of it.
        """
        received = self.received
        if self.workers.total(float(bool(received))):
            self.agreed = received or signal.SIGTERM

    def raise_if_agreed(self) -> None:
        """Raises Interrupted if the workers have agreed to end."""
        if self.agreed:
            raise Interrupted(self.agreed)
