"""What must hold of the names of a server, and of a client that is slow to send a header."""

import asyncio
import contextlib
import functools
import socket
import threading
import time

import pytest
import uvicorn

from nmt.serving.hosts import is_allowed
from nmt.serving.protocol import PatientProtocol
from nmt.serving.stored_files import StoredBytes


@pytest.mark.parametrize(
    "host",
    ["", "localhost", "LocalHost:8765", "127.0.0.1:8765", "[::1]:80", "192.168.0.7", "mt.org"],
)
def test_names_of_this_machine_are_allowed(host):
    assert is_allowed(host, ["mt.org"])


@pytest.mark.parametrize(
    "host",
    ["evil.org", "evil.org:8765", "localhost.evil.org", "127.0.0.1.evil.org", "[x", "a b", "::"],
)
def test_names_that_a_page_may_point_at_it_are_not(host):
    assert not is_allowed(host, ["mt.org"])


async def answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@contextlib.contextmanager
def serve(header_seconds, app=answer):
    """Yields the port of a server of `app`, which waits so long for a header."""
    protocol = functools.partial(PatientProtocol, header_seconds=header_seconds)
    config = uvicorn.Config(
        app, http=protocol, lifespan="off", ws="none", log_config=None, log_level="error"
    )
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=asyncio.run, args=(server.serve([listener]),))
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_a_header_must_come_soon(first):
    with serve(0.2) as port, socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(first)
        if first:
            assert b"204" in client.recv(1000)
        client.sendall(b"GET / HTTP/1.1\r\nHost: a")
        begin = time.monotonic()
        assert client.recv(1000).startswith(b"HTTP/1.1 408")
        assert client.recv(1000) == b""  # closed
        assert time.monotonic() - begin < 10  # on a busy machine; without a limit, never


def test_a_client_that_sends_headers_in_time_stays():
    with serve(0.6) as port, socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        for pause in (0, 0.35, 0.35):  # together longer than a header may take
            time.sleep(pause)
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"204" in client.recv(1000)


def test_a_client_that_leaves_during_a_download_fills_no_log(caplog):
    content = StoredBytes(b"1" * 20_000_000)
    ended = threading.Event()

    async def download(scope, receive, send):
        await content.response("text/plain", {})(scope, receive, send)
        ended.set()

    with serve(60, download) as port:
        client = socket.create_connection(("127.0.0.1", port), timeout=60)
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.recv(100)
        client.close()  # with unread bytes: the connection is reset
        assert ended.wait(60)
    assert not caplog.records
