"""HTTP as uvicorn speaks it, with limits on connections, and on clients that neither send nor read.

uvicorn waits forever for a header, and for a client that does not read its answer.
"""

import asyncio
import http
import json
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 20.0  # in which the header of a request must have come
READ_SECONDS = 20.0  # in which a client must read something of its answer
MAX_CONNECTIONS = 200  # beside those of requests that may wait; a header takes up to 64 kB


class PatientProtocol(H11Protocol):
    """A connection that is closed if a header does not come, or an answer is not read.

    Args:
      refused: a function of the HTTP status of a connection that is refused.
      max_connections: at a time; those beyond are refused.
      header_seconds: in which the header of a request must have come.
      args, options: of uvicorn's protocol.
    """

    _deadline: asyncio.TimerHandle | None = None  # while a header is incomplete
    _unread: asyncio.TimerHandle | None = None  # while the client reads nothing

    def __init__(
        self,
        *args: Any,
        refused: Callable[[int], None] = lambda status: None,
        max_connections: int = MAX_CONNECTIONS,
        header_seconds: float = HEADER_SECONDS,
        **options: Any,
    ):
        super().__init__(*args, **options)
        self._refused, self._max_connections = refused, max_connections
        self._header_seconds = header_seconds

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        if len(self.connections) > self._max_connections:
            self._refuse(http.HTTPStatus.SERVICE_UNAVAILABLE, "too many connections")
        else:
            self._expect_header()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():  # refused
            return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._deadline is None:
            self._expect_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_watching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_watching()
        super().resume_writing()

    def _stop_watching(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _expect_header(self) -> None:
        self._deadline = self.loop.call_later(
            self._header_seconds,
            self._refuse,
            http.HTTPStatus.REQUEST_TIMEOUT,
            "the header of the request took too long",
        )

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, status: http.HTTPStatus, message: str) -> None:
        """Answers a request that is incomplete, and closes the connection."""
        self._refused(status.value)
        content = json.dumps({"error": message}).encode()
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self.transport.write(head.encode() + content)
        self.transport.close()
