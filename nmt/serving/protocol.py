"""HTTP as uvicorn speaks it, with a limit on the time that a client takes for a header."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 20.0  # in which the header of a request must have come
TOO_SLOW = b'{"error": "the header of the request took too long"}'
ANSWER = b"\r\n".join([
    b"HTTP/1.1 408 Request Timeout",
    b"Connection: close",
    b"Content-Type: application/json",
    b"Content-Length: %d" % len(TOO_SLOW),
    b"",
    TOO_SLOW,
])  # fmt: skip


class PatientProtocol(H11Protocol):
    """A connection that is closed if a header does not come: uvicorn would wait forever."""

    _deadline: asyncio.TimerHandle | None = None  # while a header is incomplete

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect_header()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._deadline is None:
            self._expect_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_header(self) -> None:
        self._deadline = self.loop.call_later(HEADER_SECONDS, self._close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self.transport.write(ANSWER)
        self.transport.close()
