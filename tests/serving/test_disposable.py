"""What must hold of work in a process of its own: it is done, or ended, and the server goes on."""

import asyncio
import os
import threading
import time

import pytest

from nmt import UserError
from nmt.serving import uploads
from nmt.serving.disposable import Processes
from nmt.serving.errors import RefusedError
from nmt.serving.fields import UploadedFile
from nmt.serving.uploads import Upload


@pytest.fixture
def processes():
    running = Processes(seconds=1, memory_bytes=256_000_000)
    yield running
    running.close()


def call(processes, function, *arguments):
    return asyncio.run(processes.call(function, *arguments))


def test_what_a_function_returns_comes_back_from_another_process(processes):
    assert call(processes, os.getpid) != os.getpid()
    assert call(processes, sorted, "cba") == ["a", "b", "c"]


def test_a_signal_to_all_processes_of_a_service_ends_no_call(processes):
    terminate = "__import__('os').kill(__import__('os').getpid(), 15) or 'done'"
    assert call(processes, eval, terminate) == "done"


def test_an_endless_call_is_ended_and_holds_nobody_up(processes):
    ticks, is_over = [], threading.Event()

    def tick():
        while not is_over.wait(0.05):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(RefusedError, match="more than 1 s") as refusal:
        call(processes, eval, "all(True for n in iter(int, 1))")
    is_over.set()
    thread.join()
    assert refusal.value.status == 413
    assert len(ticks) > 10  # of 20; the interpreter is free meanwhile
    assert call(processes, len, "abc") == 3


@pytest.mark.parametrize("expression", ["bytearray(10**9)", "[[n] for n in range(10**8)]"])
def test_a_call_that_takes_too_much_memory_is_ended(expression):
    running = Processes(memory_bytes=64_000_000)
    with pytest.raises(RefusedError, match="more than 64 MB of memory"):
        call(running, eval, expression)
    running.close()


def test_a_call_that_crashes_is_refused(processes):
    with pytest.raises(RefusedError, match="memory"):
        call(processes, os.abort)


def test_errors_for_the_user_come_back(processes):
    with pytest.raises(UserError, match=r"a\.pdf: is not a document"):
        call(processes, uploads.read_texts, Upload(UploadedFile("a.pdf", b""), None), 10)
    upload = Upload(UploadedFile("a.txt", b"um dois tre"), None)
    with pytest.raises(RefusedError, match="11 characters; send at most 10") as refusal:
        call(processes, uploads.read_texts, upload, 10)
    assert refusal.value.status == 413


def test_an_error_of_the_program_is_none_of_the_client(processes):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        call(processes, divmod, 1, 0)
