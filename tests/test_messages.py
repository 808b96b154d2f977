"""What must hold of messages: that nobody can read them ends nothing."""

import io
import os
import pty
import sys
from subprocess import PIPE

import pytest
from helpers import ROOT, start_process

from nmt import messages

WRITER = """
import sys
from tqdm import tqdm
from nmt import messages
messages.show()
print("begun", flush=True)
sys.stdin.readline()
bar = tqdm(total=9, file=sys.stderr, leave=False, mininterval=0, disable=%s)
for number in range(9):
    messages.log.info(f"message {number}")
    bar.update()
bar.close()
with messages.quiet():
    print("held back", file=sys.stderr)
print("done", flush=True)
"""


@pytest.mark.parametrize("end", ["reader", "terminal"])
def test_an_ended_reader_of_stderr_and_a_closed_terminal_end_nothing(end):
    here, there = pty.openpty() if end == "terminal" else os.pipe()
    code = WRITER % (None if end == "terminal" else False)
    process = start_process(
        [sys.executable, "-c", code], cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=there, text=True
    )
    os.close(there)
    assert process.stdout.readline() == "begun\n"
    os.close(here)
    output, _ = process.communicate("go on\n", timeout=60)
    assert (output, process.returncode) == ("done\n", 0)


def test_a_message_that_is_lost_loses_no_later_one_of_another_stream():
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    stream = messages.Stderr(Broken())
    assert stream.write("lost") == 4
    stream.flush()
    stream = messages.Stderr(io.StringIO())
    assert stream.write("read") == 4
    assert stream.getvalue() == "read"


def test_the_reason_of_an_error_is_not_where_it_was():
    graph = (
        "Graph execution error:\n\nDetected at node a/Assert defined at (most recent call last):\n"
        '  File "a.py", line 7, in <module>\n\n  File "a.py", line 5, in f\n\n'
        "{{function_node f}} a socket was closed.\n\t [[{{node a/Assert}}]] [Op:f]"
    )
    assert messages.reason(RuntimeError(graph)) == "a socket was closed"
    traces = "Graph execution error:\n\nDetected at node a\n<stack traces unavailable>\nlost\n"
    assert messages.reason(RuntimeError(traces)) == "lost"
    assert messages.reason(RuntimeError("Graph execution error:")) == "Graph execution error"
    assert messages.reason(RuntimeError("{{node a}} first:\nsecond")) == "first"
    assert messages.reason(RuntimeError()) == ""
