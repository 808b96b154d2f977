"""Requests that arrive together are translated together: one queue, whose threads take batches.

A batch costs much less than its requests one by one. CTranslate2 has a queue of its own, but makes
batches of one call's texts alone. Most clients wait for an answer before they ask again, so those
that were answered together come back together: a thread waits a moment for as many requests as
there were, or, beside other threads, for its share of them. A single client does not wait. The
thread takes those at the head of the queue that may be translated together, up to a number of
tokens, and answers each.
"""

import asyncio
import collections
import dataclasses
import math
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from nmt import UserError
from nmt.messages import log
from nmt.serving.errors import RefusedError

MAX_WAIT_SECONDS = 0.03  # of the first request of a batch for others
POLL_SECONDS = 0.002  # after which a waiting thread counts the requests again
MAX_BATCH_TOKENS = 2048  # of the sources of a batch, as estimated
MAX_WAITING = 1000  # requests; those beyond are refused
BYTES_PER_TOKEN = 4  # of UTF-8, as an estimate


class Item(NamedTuple):
    """A text to translate."""

    text: str
    prefix: str = ""  # what the translation begins with

    def tokens(self) -> int:
        """Returns an estimate of the tokens of text and prefix, which takes no tokenizer."""
        longer = max(self.text, self.prefix, key=len)
        return 2 + len(longer.encode("utf-8", "replace")) // BYTES_PER_TOKEN


@dataclasses.dataclass(eq=False)
class Job:
    """The texts of a request, which waits for their translations."""

    key: Hashable  # jobs of one key may be translated together
    items: list[Item]
    answer: asyncio.Future[list[Any]]  # a list of results, one per item
    arrived: float  # seconds of time.monotonic()

    def tokens(self) -> int:
        return sum(item.tokens() for item in self.items)


class Batcher:
    """The queue of a server, and its threads. To be made and used within a running event loop.

    `translate` runs in one of the threads; `observe` gets the number of items of each batch.
    """

    def __init__(
        self,
        translate: Callable[[Any, list[Item]], list[Any]],
        threads: int = 1,
        max_waiting: int = MAX_WAITING,
        observe: Callable[[int], None] = lambda items: None,
        max_batch_tokens: int = MAX_BATCH_TOKENS,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
    ):
        self._translate, self._observe = translate, observe
        self._max_waiting = max_waiting
        self._max_batch_tokens, self._max_wait_seconds = max_batch_tokens, max_wait_seconds
        self._waiting: collections.deque[Job] = collections.deque()
        self._arrival = asyncio.Event()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="translate")
        self._takers = [asyncio.create_task(self._work()) for _ in range(threads)]
        self._translating = self._in_flight = 0  # requests: now; when the last batch was answered
        # In the threads, even if nobody waits for them now.
        self._batches: set[Future[list[Any]]] = set()

    @property
    def running(self) -> int:
        """The number of batches that are being translated."""
        return len(self._batches)

    @property
    def waiting(self) -> int:
        """The number of requests in the queue."""
        return len(self._waiting)

    async def submit(self, key: Hashable, items: list[Item]) -> list[Any]:
        """Returns the results of `items`; a RefusedError if the queue is full.

        Cancelling the call takes them from the queue.
        """
        if len(self._waiting) >= self._max_waiting:
            raise RefusedError(429, "too many requests are waiting; try again later", retry_after=1)
        answer = asyncio.get_running_loop().create_future()
        job = Job(key, items, answer, time.monotonic())
        self._waiting.append(job)
        self._arrival.set()
        try:
            return await answer
        finally:
            if answer.cancelled() and job in self._waiting:
                self._waiting.remove(job)

    async def close(self) -> None:
        """Takes no more batches; what is in work goes on in its thread, and nobody waits for it."""
        for taker in self._takers:
            taker.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _work(self) -> None:
        while True:
            batch = await self._next_batch()
            if not batch:
                continue
            self._translating += len(batch)
            try:
                await self._answer(batch)
            finally:
                self._in_flight = self._translating + len(self._waiting)
                self._translating -= len(batch)

    async def _next_batch(self) -> list[Job]:
        """Returns the jobs at the head of the queue that are translated together, maybe none."""
        while not self._waiting:
            self._arrival.clear()
            await self._arrival.wait()
        until = self._waiting[0].arrived + self._max_wait_seconds
        while 0 < len(self._waiting) < self._share() and time.monotonic() < until:
            await asyncio.sleep(POLL_SECONDS)
        batch: list[Job] = []
        tokens = 0
        most = max(self._share(), math.ceil(len(self._waiting) / len(self._takers)))
        while self._waiting and len(batch) < most:
            job = self._waiting[0]
            tokens += job.tokens()
            if batch and (job.key != batch[0].key or tokens > self._max_batch_tokens):
                break
            batch.append(self._waiting.popleft())
        return batch

    def _share(self) -> int:
        """Returns how many requests a thread waits for."""
        return math.ceil(self._in_flight / len(self._takers))

    async def _answer(self, batch: list[Job]) -> None:
        """Translates a batch and answers its jobs; if that fails, each job by itself."""
        items = [item for job in batch for item in job.items]
        self._observe(len(items))
        future = self._pool.submit(self._translate, batch[0].key, items)
        self._batches.add(future)
        future.add_done_callback(self._batches.discard)
        try:
            results = await asyncio.wrap_future(future)
        except Exception as error:
            if len(batch) > 1:  # one of them may be the cause
                for job in batch:
                    if not job.answer.done():
                        await self._answer([job])
                return
            if not isinstance(error, (UserError, RefusedError)):
                log.exception("a request failed")
            if not batch[0].answer.done():
                batch[0].answer.set_exception(error)
            return
        remaining = iter(results)
        for job in batch:
            answer = [next(remaining) for _ in job.items]
            if not job.answer.done():  # its client has not left
                job.answer.set_result(answer)
