"""What must hold of a client that leaves while it fetches something."""

import asyncio
import socket
import threading

import uvicorn

from nmt.serving.stored_files import StoredBytes


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
