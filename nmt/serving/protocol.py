"""HTTP as uvicorn speaks it, for which a silent client is no client."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 20.0  # in which a client must have sent the header of its first request


class PatientProtocol(H11Protocol):
    """A connection that is closed if no request comes: uvicorn would wait forever."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEADER_SECONDS, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        super().connection_lost(exc)

    def _close_if_silent(self) -> None:
        if self.cycle is None:  # no request has begun
            self.transport.close()
