"""The process of a server, as uvicorn runs it, with an end that is in time and in order."""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from types import FrameType

import uvicorn

from nmt.serving.service import Service

GRACE_SECONDS = 8  # for what is in work when the server is to end
MAX_CONNECTIONS = 200  # beside those of requests that may wait; a header takes up to 64 kB


class Server(uvicorn.Server):
    """A server that answers 503, in its last moment, what it could not finish in GRACE_SECONDS."""

    def __init__(self, config: uvicorn.Config, service: Service):
        super().__init__(config)
        self._service = service
        self.signal_number: int | None = None  # of the signal that ends it

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.signal_number = sig
        self._service.is_ending = True
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Within the block, SIGHUP reloads a server that can; else it ends it, but for nohup's."""
        with super().capture_signals():
            handler = signal.getsignal(signal.SIGHUP)
            is_heard = threading.current_thread() is threading.main_thread()
            can_reload = self._service.can_reload
            if not is_heard or (handler == signal.SIG_IGN and not can_reload):
                yield
                return
            signal.signal(signal.SIGHUP, self._reload if can_reload else self.handle_exit)
            try:
                yield
            finally:
                signal.signal(signal.SIGHUP, handler)

    def _reload(self, number: int, frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(self._service.reload_soon)

    async def on_tick(self, counter: int) -> bool:
        """Returns whether the server is to end: also if its first runs cannot be loaded."""
        return await super().on_tick(counter) or self._service.loaded.error is not None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        timer = asyncio.get_running_loop().call_later(GRACE_SECONDS, self._end_requests)
        await super().shutdown(sockets)
        timer.cancel()

    def _end_requests(self) -> None:
        # An answer that has begun is cut off, for which uvicorn would log an error each.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._service.end()
