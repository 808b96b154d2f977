"""What must hold of the names of a server, and of a client that leaves."""

import asyncio
import socket
import threading

import pytest
import uvicorn

from nmt.serving.hosts import is_allowed
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


def test_a_client_that_leaves_during_a_download_fills_no_log(caplog):
    content = StoredBytes(b"1" * 20_000_000)
    ended = threading.Event()

    async def download(scope, receive, send):
        await content.response("text/plain", {})(scope, receive, send)
        ended.set()

    config = uvicorn.Config(
        download, http="h11", lifespan="off", ws="none", log_config=None, log_level="error"
    )
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=asyncio.run, args=(server.serve([listener]),))
    thread.start()
    client = socket.create_connection(listener.getsockname(), timeout=60)
    client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    client.recv(100)
    client.close()  # with unread bytes: the connection is reset
    assert ended.wait(60)
    server.should_exit = True
    thread.join()
    assert not caplog.records
