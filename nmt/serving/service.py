"""What all routes of a server share: its runs, its queue, its limits, its figures."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from starlette.requests import Request

from nmt.decoding.attention import Attention
from nmt.messages import log
from nmt.serving import fields, languages, notices, streaming
from nmt.serving.batching import MAX_WAITING, Batcher, Item
from nmt.serving.downloads import TranslatedFiles
from nmt.serving.errors import RefusedError
from nmt.serving.languages import Detection
from nmt.serving.limits import Limits
from nmt.serving.metrics import Metrics
from nmt.serving.models import Models, Query, Result
from nmt.serving.notices import Notice
from nmt.serving.streaming import StreamingSearch
from nmt.text import sentences
from nmt.text.batches import MAX_SOURCE_TOKENS

AUTO = "auto"  # a source language that is to be detected
THREADS = 2  # of streams, attention, files and warming up
MAX_CALLS = 64  # in these threads, with those that wait
MAX_ATTENTION_TOKENS = 200  # of a sentence: its weights are their square, per head and layer

Value = TypeVar("Value")


class TextQuery(NamedTuple):
    """What is asked of a text."""

    query: Query | None  # None for a text that stays as it is: it is in the target language
    source: str  # code of the language of the text
    detection: Detection | None = None  # None where the client has named the language
    notices: tuple[Notice, ...] = ()


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

    def queries(self, source: str, target: str, texts: list[str]) -> list[TextQuery]:
        """Returns the TextQuery of each of the texts, which may be in different languages.

        Args:
          source: a code, or AUTO, with which each text is in the language that it is most like.
          target: a code.
          texts: within the limits.
        """
        self.limits.check_texts(texts)
        if source != AUTO:
            query = self.models.query(source, target)
            return [TextQuery(query, query.direction.source)] * len(texts)
        return [self._detected(text, target) for text in texts]

    def _detected(self, text: str, target: str) -> TextQuery:
        """Returns the TextQuery of a text whose language is to be detected."""
        detections = self.models.detect(text)
        query = self.models.detected_query(detections, target)
        if query is None:
            best = detections[0]
            return TextQuery(None, best.code, best, (notices.unchanged(best),))
        source = query.direction.source
        recognized = detections[0].is_sure and detections[0].code == source
        doubts = languages.words(text) and not recognized
        text_notices = (notices.unrecognized(source),) if doubts else ()
        return TextQuery(query, source, detections[0], text_notices)

    async def translate(
        self, request: Request, queries: Sequence[Query | None], items: Sequence[Item]
    ) -> list[list[Result]]:
        """Returns the translations of each item, the best first.

        Args:
          request: whose client may leave; then its items leave the queue.
          queries: of each item; None for one that stays as it is. Items of equal queries are
            translated together.
          items: texts.
        """
        groups: dict[Query, list[int]] = {}
        for number, query in enumerate(queries):
            if query is not None:
                groups.setdefault(query, []).append(number)
        work = asyncio.gather(
            *(
                self.batcher.submit(query, [items[number] for number in numbers])
                for query, numbers in groups.items()
            )
        )
        results = [[Result(item.text, 0.0)] for item in items]
        answers = await while_connected(request, work)
        for (query, numbers), group_results in zip(groups.items(), answers, strict=True):
            self.count(query, [items[number].text for number in numbers])
            for number, result in zip(numbers, group_results, strict=True):
                results[number] = result
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
        self, text_query: TextQuery, text: str, prefixes: list[list[int]]
    ) -> AsyncIterator[str]:
        """Yields server-sent events of a translation: `partial` texts, a `sentence` each, `end`."""
        query, translated = text_query.query, []
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
                if name == "sentence":
                    translated.append((data["text"], data["space"]))
                if name == "end" and task.exception():
                    error = task.exception()
                    if not isinstance(error, RefusedError):
                        log.error("a stream failed", exc_info=error)
                    name, data = "error", {"error": getattr(error, "message", "the server failed")}
                elif name == "end":
                    data = {"warnings": self._stream_warnings(text_query, text, translated)}
                for line in streaming.lines(name, json.dumps(data, ensure_ascii=False)):
                    yield line
                if name in ("end", "error"):
                    return
        finally:
            gone = True

    def _stream_warnings(
        self, text_query: TextQuery, text: str, translated: list[tuple[str, str]]
    ) -> list[dict]:
        """Returns what a client is told at the end of a stream.

        Args:
          text_query, text: what was asked.
          translated: the translation of each sentence, and the white space after it.
        """
        served = self.models.by_name[text_query.query.model]
        translation = sentences.join(*zip(*translated, strict=True)) if translated else ""
        translator = served.translator(text_query.query)
        parts = [sentence for sentence, _ in translator.parts(text)]
        longest = max(map(len, served.tokenizer.encode(parts, MAX_SOURCE_TOKENS)))
        is_cut, trained = longest > MAX_SOURCE_TOKENS, translator.trained_length
        too_long = notices.of_length(is_cut, longest > trained, MAX_SOURCE_TOKENS, trained)
        differences = notices.of_differences(*translator.difference(text, translation))
        return notices.answers([*text_query.notices, *differences, *too_long])

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
