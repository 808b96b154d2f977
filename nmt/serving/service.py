"""What all routes of a server share: its runs, its queue, its limits, its figures."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request

from nmt.decoding.attention import Attention
from nmt.messages import log
from nmt.serving import fields, streaming
from nmt.serving.batching import MAX_WAITING, Batcher, Item
from nmt.serving.downloads import TranslatedFiles
from nmt.serving.errors import RefusedError
from nmt.serving.languages import Detection
from nmt.serving.limits import Limits
from nmt.serving.metrics import Metrics
from nmt.serving.models import Models, Query, Result
from nmt.serving.streaming import StreamingSearch

AUTO = "auto"  # a source language that is to be detected
THREADS = 2  # of streams, attention, files and warming up
MAX_CALLS = 64  # in these threads, with those that wait
MAX_ATTENTION_TOKENS = 200  # of a sentence: its weights are their square, per head and layer

Value = TypeVar("Value")


class Service:
    """A server without its routes.

    Args:
      models: its runs.
      limits: its Limits.
      workers: batches translated in parallel.
      max_waiting: requests in the queue, at most.
    """

    def __init__(
        self, models: Models, limits: Limits, workers: int = 1, max_waiting: int = MAX_WAITING
    ):
        self.models, self.limits = models, limits
        self._workers, self._max_waiting = workers, max_waiting
        self.metrics = Metrics(lambda: self.batcher.waiting if self.batcher else 0)
        self.batcher: Batcher | None = None  # while the server runs
        self._searches: dict[str, StreamingSearch] = {}  # by name of the ServedModel
        self._threads: ThreadPoolExecutor | None = None  # for all but batches
        self._calls: set[Future] = set()  # in these threads, even if nobody waits for them now
        self.files = TranslatedFiles()
        self.characters = 0  # translated since the start
        self.warm = False  # whether the first translation would be as fast as the others

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Within the block, requests are answered; the runs warm up meanwhile."""
        self.batcher = Batcher(
            self.models.translate, self._workers, self._max_waiting, self.metrics.batch.observe
        )
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="serve")
        self._start(self._warm_up)
        try:
            yield
        finally:
            await self.batcher.close()
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _warm_up(self) -> None:
        try:
            self.models.warm_up()
            for name, served in self.models.by_name.items():  # what the page asks for
                if not served.model.options["non_autoregressive"]:
                    self._search_of(name)("1 2 3.", [], lambda ids: True)
            self.warm = True
        except Exception:
            log.exception("warming up failed")

    @property
    def busy(self) -> bool:
        """Whether something is being translated."""
        return bool(self._calls or (self.batcher and self.batcher.running))

    # ---- Requests ----

    async def admit(
        self, request: Request, max_bytes: int = fields.MAX_BODY_BYTES
    ) -> dict[str, Any]:
        """Returns the fields of a request, which has the key and keeps to the rate.

        Args:
          request: the request.
          max_bytes: of its body.
        """
        self.limits.check_rate(request.client.host if request.client else "")
        request_fields = await fields.read(request, max_bytes)
        self.limits.check_key(request, request_fields)
        return request_fields

    def query(
        self, source: str, target: str, texts: list[str]
    ) -> tuple[Query, list[Detection | None]]:
        """Returns the Query of texts, and what was detected of each; None where nothing was asked.

        Args:
          source: a code, or AUTO.
          target: a code.
          texts: which decide on the source language; all of them are in the same one.
        """
        self.limits.check_texts(texts)
        if source != AUTO:
            return self.models.query(source, target), [None] * len(texts)
        detections = [self.models.detect(text)[0] for text in texts]
        (best, *_) = self.models.detect("\n".join(texts))
        if (best.code, target) not in self.models.by_languages:  # only those can be meant
            for detection in self.models.detect("\n".join(texts)):
                if (detection.code, target) in self.models.by_languages:
                    best = detection
                    break
        return self.models.query(best.code, target), detections

    async def translate(
        self, request: Request, query: Query, texts: list[str]
    ) -> list[list[Result]]:
        """Returns the translations of each text, the best first; see `translate_items`."""
        (results,) = await self.translate_items(request, [query], [Item(text) for text in texts])
        return results

    async def translate_items(
        self, request: Request, queries: list[Query], items: list[Item]
    ) -> list[list[list[Result]]]:
        """Returns for each query the translations of each item, the best first.

        Args:
          request: whose client may leave; then its items leave the queue.
          queries: of one direction.
          items: texts.
        """
        work = asyncio.gather(*(self.batcher.submit(query, items) for query in queries))
        results = await while_connected(request, work)
        self.count(queries[0], [item.text for item in items])
        return results

    def count(self, query: Query, texts: list[str]) -> None:
        """Adds the characters of texts to the figures."""
        number = sum(map(len, texts))
        self.characters += number
        direction = query.direction
        self.metrics.characters.labels(direction.source, direction.target).inc(number)

    async def in_thread(self, function: Callable[[], Value]) -> Value:
        """Returns what a function returns, which runs in a thread of the server."""
        if len(self._calls) >= MAX_CALLS:
            raise RefusedError(429, "too many requests are waiting; try again later", 1)
        return await asyncio.wrap_future(self._start(function))

    def _start(self, function: Callable[[], Value]) -> Future:
        """Starts a function in a thread of the server."""
        call = self._threads.submit(function)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return call

    async def attend(self, query: Query, text: str) -> Attention:
        """Returns the Attention of a text, translated as one sentence."""
        served = self.models.by_name[query.model]
        tag = query.direction.tag and query.direction.tag + " "
        if len(served.tokenizer.encode([tag + text])[0]) > MAX_ATTENTION_TOKENS:
            raise RefusedError(413, f"more than {MAX_ATTENTION_TOKENS} tokens; send a part of it")
        translator = served.translator(query)
        return await self.in_thread(lambda: translator.attend(tag + text))

    async def stream(
        self, query: Query, text: str, prefixes: list[list[int]]
    ) -> AsyncIterator[str]:
        """Yields server-sent events of a translation: `partial` texts, a `sentence` each, `end`."""
        loop, queue = asyncio.get_running_loop(), asyncio.Queue()
        gone = False

        def send(name: str, data: dict) -> bool:
            if not gone:
                loop.call_soon_threadsafe(queue.put_nowait, (name, data))
            return not gone

        def work() -> None:
            if gone:
                return
            search = self._search_of(query.model)
            streaming.events(search, text, prefixes, query.direction.tag, send)

        task = asyncio.ensure_future(self.in_thread(work))
        task.add_done_callback(lambda done: queue.put_nowait(("end", {})))
        try:
            while True:
                name, data = await queue.get()
                if name == "end" and task.exception():
                    error = task.exception()
                    if not isinstance(error, RefusedError):
                        log.error("a stream failed", exc_info=error)
                    name, data = "error", {"error": getattr(error, "message", "the server failed")}
                for line in streaming.lines(name, json.dumps(data, ensure_ascii=False)):
                    yield line
                if name in ("end", "error"):
                    return
        finally:
            gone = True

    def _search_of(self, name: str) -> StreamingSearch:
        """Returns the StreamingSearch of a run, made once."""
        if name not in self._searches:
            self._searches[name] = StreamingSearch(self.models.by_name[name])
        return self._searches[name]


async def while_connected(request: Request, work: Awaitable[Value]) -> Value:
    """Returns the result of `work`, which is cancelled if the client of a request leaves.

    Args:
      request: whose body is read.
      work: an awaitable.
    """
    working = asyncio.ensure_future(work)
    working.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, if late
    leaving = asyncio.ensure_future(request.receive())  # nothing comes but the disconnection
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise RefusedError(499, "the client left")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
