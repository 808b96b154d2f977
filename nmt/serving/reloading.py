"""The runs of a server as they come: loaded in the background, and exchanged for newer ones.

While the first ones are loaded, the server answers that it is not ready. While others are loaded,
it goes on with those that it has; they are exchanged once the new ones are warm. A request ends on
the run that it began with, which is freed when the last one has ended.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from nmt.messages import log, reason
from nmt.serving.errors import RefusedError
from nmt.serving.models import Models
from nmt.serving.prometheus_metrics import Metrics

LOADING = "the runs are being loaded; try again in a moment"


class LoadedModels:
    """The Models that a server has now; without first ones, `load` loads them, in a thread.

    In it, `warm_up` is called with those that are loaded anew. In the event loop, `on_change` is
    called with those that are used from now on. `error` is why the first could not be loaded.
    """

    def __init__(
        self,
        models: Models | None,
        load: Callable[[], Models] | None,
        warm_up: Callable[[Models], None],
        metrics: Metrics,
    ):
        self._models, self._load, self._warm_up, self._metrics = models, load, warm_up, metrics
        self.on_change: Callable[[Models], None] = lambda models: None
        self.error: Exception | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reload")
        self._is_loading = self._asked_again = False
        self._task: asyncio.Task[None] | None = None  # what no request waits for

    @property
    def current(self) -> Models:
        """The Models that requests begin with; a RefusedError before they are loaded."""
        if self._models is None:
            raise RefusedError(503, LOADING, retry_after=2)
        return self._models

    def start(self) -> None:
        """Begins to load the first Models, unless they are there. Within a running event loop."""
        if self._models is None:
            self._task = asyncio.create_task(self._load_first())
        else:
            self._use(self._models)

    async def _load_first(self) -> None:
        try:
            self._use(await self._in_thread(self._loaded))
        except Exception as error:
            self.error = error
            return
        await self._reload_as_asked()

    def _loaded(self) -> Models:
        if self._load is None:
            raise ValueError("there is nothing to load")
        return self._load()

    def _loaded_and_warm(self) -> Models:
        models = self._loaded()
        self._warm_up(models)
        return models

    async def _in_thread(self, function: Callable[[], Models]) -> Models:
        return await asyncio.wrap_future(self._thread.submit(function))

    def _use(self, models: Models) -> None:
        self._models = models
        self._metrics.loaded_at.set(time.time())
        self.on_change(models)

    async def reload(self) -> None:
        """Exchanges the Models for those that are loaded now; after a RefusedError, they stay."""
        if self._is_loading or self._models is None:
            raise RefusedError(429, "a reload is in progress; try again later", retry_after=5)
        self._is_loading = True
        try:
            models = await self._in_thread(self._loaded_and_warm)
        except Exception as error:
            self._metrics.reloads.labels("failed").inc()
            log.error(f"The reload failed, and the runs of before stay: {reason(error)}")
            raise RefusedError(500, "the reload failed; the server's log says why") from None
        finally:
            self._is_loading = False
        self._use(models)
        self._metrics.reloads.labels("done").inc()
        log.info("Reloaded; requests in work end on the runs of before.")

    def reload_soon(self) -> None:
        """Reloads in the background; once more, if that was asked while a reload was under way."""
        self._asked_again = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._reload_as_asked())

    async def _reload_as_asked(self) -> None:
        while self._asked_again:
            self._asked_again = False
            while self._is_loading:  # for a request
                await asyncio.sleep(0.1)
            try:
                await self.reload()
            except RefusedError:  # which the log says
                continue

    def close(self) -> None:
        """Loads nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
