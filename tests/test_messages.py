"""What must hold of messages: that nobody can read them ends nothing."""

import contextlib
import io
import json
import logging
import os
import pty
import sys
from subprocess import PIPE

import pytest
from helpers import ROOT, start_process

from nmt import messages
from nmt.cli.main import parse_command_line

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


def test_large_numbers_have_commas():
    numbers = [messages.plural(number, "pair") for number in (1, 9_999, 10_000)]
    assert numbers == ["1 pair", "9999 pairs", "10,000 pairs"]


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


AS_JSON = """
import logging, sys, warnings
from tqdm import tqdm
from nmt import messages
messages.show(messages.Style("warning", "json"))
messages.log.info("not shown")
messages.log.warning("a \\x1b\\udcff \\n line", extra={"fields": {"route": "/a", "characters": 3}})
warnings.warn("of Python")
logging.getLogger("uvicorn.error").error("of a library")
for _ in tqdm(range(3), file=sys.stderr, disable=None, mininterval=0):
    pass
raise RuntimeError("of the program")
"""


def test_as_json_each_line_is_an_object_and_nothing_else_is_written():
    here, there = pty.openpty()  # a terminal, on which a bar would be drawn
    process = start_process([sys.executable, "-c", AS_JSON], cwd=ROOT, stdin=PIPE, stderr=there)
    os.close(there)
    content = b""
    with contextlib.suppress(OSError):  # how a terminal says that the process has ended
        while part := os.read(here, 65_536):
            content += part
    os.close(here)
    assert process.wait(timeout=60) == 1
    first, *others = [json.loads(line) for line in content.decode("ascii").splitlines()]
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "warning", "message": "a \x1b\\udcff \n line", "route": "/a", "characters": 3,
    }  # fmt: skip
    assert [line["level"] for line in others] == ["warning", "error", "critical"]
    assert "of Python" in others[0]["message"]
    assert others[2]["exception"].endswith("RuntimeError: of the program")


def test_an_application_that_parses_flags_keeps_its_own_logging():
    """nmt.train does: what it shows, and how, is the application's."""
    before = messages.log.level
    try:
        parse_command_line(["--log-level", "error"])
        assert messages.log.level == before
        parse_command_line(["--log-level", "error"], shows_messages=True)
        assert messages.log.level == logging.ERROR
    finally:
        messages.show()
