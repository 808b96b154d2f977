"""Work on what strangers send, in a process that can be ended: `python -m nmt.serving.disposable`.

A parser that takes too long, or too much memory, takes neither the server's interpreter nor its
memory. A process works once. The next one waits already, so that nobody waits for Python to start.
"""

import asyncio
import collections
import os
import pickle
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from nmt import UserError
from nmt.serving.errors import RefusedError

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 10  # of processor time that a process may take
PATIENCE = 6  # times as many seconds may pass, on a busy machine
MEMORY_BYTES = 256_000_000  # that it may take
PROCESSES = 2  # that work at a time
NICENESS = 10  # so that translations come first

Value = TypeVar("Value")


class Processes:
    """Processes that call a function each, and end."""

    def __init__(self, seconds: int = SECONDS, memory_bytes: int = MEMORY_BYTES):
        self._seconds, self._memory_bytes = seconds, memory_bytes
        self._threads = ThreadPoolExecutor(PROCESSES, thread_name_prefix="disposable")
        self._spare: collections.deque[subprocess.Popen[bytes]] = collections.deque()
        self._working: set[subprocess.Popen[bytes]] = set()

    def prepare(self) -> None:
        """Starts a process that waits for its work."""
        limits = [str(self._seconds), str(self._memory_bytes)]
        command = [sys.executable, "-m", "nmt.serving.disposable", *limits]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            start_new_session=True,  # a signal of the terminal is for the server, which ends it
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._spare.append(process)

    async def call(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """Returns what a function returns, which is called in a process of its own.

        Its module is quick to import; what it takes and returns can be pickled. Its UserError or
        RefusedError comes back, and a RefusedError if it takes too much time or memory.
        """
        loop = asyncio.get_running_loop()
        result: Value = await loop.run_in_executor(self._threads, self._call, function, arguments)
        return result

    def _call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        work = pickle.dumps((function, arguments))
        self.prepare()
        process = self._spare.popleft()
        self._working.add(process)
        try:
            answer, _ = process.communicate(work, PATIENCE * self._seconds)
        except subprocess.TimeoutExpired:
            raise self._too_slow() from None
        finally:
            process.kill()
            process.wait()
            self._working.discard(process)
        if process.returncode == -signal.SIGXCPU:
            raise self._too_slow()
        if not answer:  # the system, or Python without memory, has ended it
            raise self._too_large()
        error, value = pickle.loads(answer)
        if isinstance(error, MemoryError):
            raise self._too_large()
        if error is not None:
            raise error
        return value

    def _too_slow(self) -> RefusedError:
        message = f"the file takes more than {self._seconds} s to read or write; split it"
        return RefusedError(413, message)

    def _too_large(self) -> RefusedError:
        megabytes = self._memory_bytes // 1_000_000
        return RefusedError(413, f"the file takes more than {megabytes} MB of memory; split it")

    def close(self) -> None:
        """Ends all processes."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in [*self._spare, *self._working]:
            process.kill()


def main() -> None:
    """Calls the function that comes by stdin, and writes to stdout what it returns or raises."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # for whatever a library prints
    import nmt.documents.html_pages  # noqa: F401  # while there is no work yet

    os.nice(NICENESS)
    seconds, memory_bytes = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # systemd's, for all; the server ends this one
    work = sys.stdin.buffer.read()
    if not work:  # the server has ended
        return
    try:
        function, arguments = pickle.loads(work)
        outcome: tuple[Exception | None, Any] = (None, function(*arguments))
    except (UserError, RefusedError, MemoryError) as error:
        outcome = (error, None)
    except Exception:  # which the server logs
        outcome = (RuntimeError(traceback.format_exc()), None)
    with answers:
        pickle.dump(outcome, answers)


if __name__ == "__main__":
    main()
