"""A server that the tests of its process and of its page share."""

import json
import re
import socket
import time
import urllib.request
from typing import Any, NamedTuple

import pytest
from helpers import PROGRAM, start_lasting_process

START_SECONDS = 120  # on a busy machine


class Server(NamedTuple):
    """A process of `serve`, at a port of the loopback address."""

    process: Any  # a subprocess.Popen
    port: int

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


def start(run, folder):
    """Returns a Server of a run, once its first translation is prepared."""
    log = folder / "stderr.txt"
    command = [*PROGRAM, "serve", "--run", run, "--languages", "pt-en", "--port", "0"]
    with log.open("w") as stderr:
        process = start_lasting_process(command, stderr=stderr)
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if match := re.search(r"Serving pt-en at http://127.0.0.1:(\d+)/", log.read_text()):
            server = Server(process, int(match[1]))
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
def server(servers):
    return servers()
