"""What tests of the server share: a process with a run."""

import functools
import json
import re
import signal
import socket
import time
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers import PROGRAM, start_lasting_process

START_SECONDS = 120  # on a busy machine


class Server(NamedTuple):
    """A process of `serve`, at a port of the loopback address."""

    process: Any  # a subprocess.Popen
    port: int
    log: Path  # what it writes to stderr

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path, asked=None):
        """Returns the JSON that answers a path; with `asked`, that was posted as JSON."""
        body = None if asked is None else json.dumps(asked).encode()
        with urllib.request.urlopen(self.address + path, body, timeout=60) as answer:
            return json.load(answer)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)


def start(run, folder, *flags):
    """Returns a Server of a run, once its first translation is prepared."""
    log = folder / "stderr.txt"
    command = [*PROGRAM, "serve", "--run", run, "--languages", "pt-en", "--port", "0", *flags]
    with log.open("w") as stderr:
        hears_sighup = functools.partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
        process = start_lasting_process(  # which ignores it if the tests do, under nohup
            command, stderr=stderr, preexec_fn=hears_sighup
        )
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if match := re.search(r"Serving pt-en at http://127.0.0.1:(\d+)/", log.read_text()):
            server = Server(process, int(match[1]), log)
            if server.ask("/health")["warm"]:
                return server
        time.sleep(0.1)
    process.kill()
    raise AssertionError(log.read_text())


@pytest.fixture(scope="session")
def servers(finished, tmp_path_factory):
    """A function that returns the Server, which is started if it does not run."""
    started = []

    def running():
        if not started or started[-1].process.poll() is not None:
            started.append(start(finished / "run", tmp_path_factory.mktemp("server")))
        return started[-1]

    yield running
    for server in started:
        server.process.kill()
        server.process.wait()


@pytest.fixture
def reloading(finished, tmp_path):
    """The Server of a run with --reload, and with the glossary tmp_path / "terms.tsv"."""
    terms = tmp_path / "terms.tsv"
    terms.write_text("um\talpha\n")
    yield from running(finished, tmp_path, "--reload", "--glossary", str(terms))


@pytest.fixture
def suggesting(finished, tmp_path):
    """The Server of a run that stores suggestions in tmp_path / "corrections.tmx"."""
    yield from running(finished, tmp_path, "--suggestions", str(tmp_path / "corrections.tmx"))


def running(finished, folder, *flags):
    """Yields the Server of a run, and ends it."""
    server = start(finished / "run", folder, *flags)
    yield server
    server.process.kill()
    server.process.wait()


@pytest.fixture
def server(servers):
    return servers()
