"""What is loaded once, when the first request needs it, while others are answered."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Loader:
    """A thread that loads one thing after the other; requests wait for it in no thread."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="load")
        self._loads: dict[Hashable, Future[Any]] = {}

    async def load(self, key: Hashable, function: Callable[[], object]) -> None:
        """Waits until a function has loaded something; what has failed is tried again."""
        if key not in self._loads:
            self._loads[key] = self._thread.submit(function)
        loading = self._loads[key]
        try:
            await asyncio.shield(asyncio.wrap_future(loading))  # a client may leave
        except Exception:
            if self._loads.get(key) is loading:
                del self._loads[key]
            raise

    def forget(self) -> None:
        """Forgets what was loaded, so that the next request loads it anew."""
        self._loads.clear()

    def close(self) -> None:
        """Loads nothing more; nobody waits for what is being loaded."""
        self._thread.shutdown(wait=False, cancel_futures=True)
