"""What all routes of a server share: its runs, its queue, its limits, its figures."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from starlette.requests import Request

from nmt.decoding.attention import Attention
from nmt.decoding.search_options import Sampling
from nmt.messages import log, log_once
from nmt.options import MAX_PAGE_PARAMETERS
from nmt.serving import bodies, detection, notices, streaming
from nmt.serving.access_log import access_of
from nmt.serving.batching import MAX_WAITING, Batcher, Item
from nmt.serving.detection import Detection
from nmt.serving.disposable import Processes
from nmt.serving.errors import RefusedError
from nmt.serving.limits import MAX_BODIES_BYTES, MAX_KEYLESS_BYTES, Bodies, Limits
from nmt.serving.loader import Loader
from nmt.serving.models import (
    WARM_UP_TEXT,
    Models,
    Query,
    Result,
    ServedModel,
    size_of_beam,
)
from nmt.serving.notices import Notice
from nmt.serving.operations import AUTO
from nmt.serving.prometheus_metrics import Metrics
from nmt.serving.reloading import LoadedModels
from nmt.serving.stored_files import StoredBytes, TranslatedFiles
from nmt.serving.suggestions import SuggestionFile
from nmt.serving.translation_cache import TranslationCache
from nmt.text import line_languages, sentences
from nmt.text.tokenizer import MAX_SOURCE_TOKENS

THREADS = 2  # of streams, attention, HTML and warming up
SHORT_REQUEST_TOKENS = 400  # as estimated, of all translations of a request
WITHOUT_TENSORFLOW = "samples and attention need TensorFlow; start without --engine"
LOADING = "Loading TensorFlow, for the first request that CTranslate2 cannot answer alone."
MAX_ATTENTION_TOKENS = 200  # of a sentence: its weights are their square, per head and layer

Value = TypeVar("Value")


class TextQuery(NamedTuple):
    """What is asked of a text."""

    query: Query | None  # None for a text that stays as it is: it is in the target language
    source: str  # code of the language of the text
    detection: Detection | None = None  # None where the client has named the language
    notices: tuple[Notice, ...] = ()


class Service:
    """A server without its routes; without `models`, `load` returns the first ones, too."""

    def __init__(
        self,
        models: Models | None,
        limits: Limits,
        threads: int = 1,
        max_waiting: int = MAX_WAITING,
        load: Callable[[], Models] | None = None,
        can_reload: bool = False,
        cached_texts: int = 0,
        suggestions: SuggestionFile | None = None,
    ):
        self.limits, self.can_reload = limits, can_reload
        self.suggestions = suggestions
        self.cache = TranslationCache(cached_texts)
        self._batch_threads, self._max_waiting = threads, max_waiting
        self.metrics = Metrics(lambda: sum(batcher.waiting for batcher in self._batchers))
        self.loaded = LoadedModels(models, load, self._prepare, self.metrics)
        self.loaded.on_change = self._begin_with
        self.announce: Callable[[Models], None] = lambda models: None  # the first that are loaded
        self._batchers: list[Batcher] = []  # while the server runs: of short requests, of long ones
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="serve")  # for all others
        self.processes = Processes()  # for files
        self._loader = Loader()  # of what TensorFlow needs
        self._explorers: dict[ServedModel, StoredBytes] = {}
        self._explorer_lock = threading.Lock()
        self._calls: set[Future[Any]] = set()  # in these threads, even if nobody waits for them now
        self.files = TranslatedFiles()
        self.characters = 0  # translated since the start
        self.bodies, self.keyless_bodies = Bodies(MAX_BODIES_BYTES), Bodies(MAX_KEYLESS_BYTES)
        self.requests: set[asyncio.Task[Any]] = set()  # that are being answered
        self.is_ending = False  # whether new ones go elsewhere
        self.is_over = False  # whether the time to finish them has passed
        self.warm = False  # whether the first translation would be as fast as the others

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Within the block, requests are answered; the runs warm up meanwhile."""
        self._batchers = [
            Batcher(
                lambda query, items: query.served.translate(query, items),
                self._batch_threads,
                self._max_waiting,
                self.metrics.batch.observe,
            )
            for _ in range(2)
        ]
        self.processes.prepare()
        self.loaded.start()
        try:
            yield
        finally:
            self.is_over = True
            self.loaded.close()
            for batcher in self._batchers:
                await batcher.close()
            self.processes.close()
            self._loader.close()
            self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def models(self) -> Models:
        """The runs that requests begin with; a RefusedError before they are loaded."""
        return self.loaded.current

    def check_ready(self) -> None:
        """Raises a RefusedError unless new requests are to come here."""
        if self.is_ending:
            raise RefusedError(503, "the server ends; ask another one", retry_after=5)
        self.loaded.current  # noqa: B018  # raises

    def _begin_with(self, models: Models) -> None:
        """Lets requests begin with runs, and forgets what belongs to those of before."""
        pages = list(self._explorers.items())  # to which another thread may add
        self._explorers = {served: page for served, page in pages if models.holds(served)}
        self._loader.forget()
        self.cache.clear()
        self.announce(models)
        self.announce = lambda models: None
        if not self.warm:  # later ones come warm
            self._start(lambda: self._warm_up(models))

    def _warm_up(self, models: Models) -> None:
        try:
            self._prepare(models)
            self.warm = True
        except Exception:
            log.exception("warming up failed")

    def _prepare(self, models: Models) -> None:
        """Does what would make the first requests of runs slower."""
        models.warm_up(lambda: not self.is_over)
        for served in models.by_name.values():
            if self.is_over:
                return
            if not served.model.searches_by_tensorflow:
                continue
            query = Query(served, served.directions[0], confidence=True)
            translator = served.translator(query)
            streaming.events(translator, WARM_UP_TEXT, [], lambda name, data: True)
            translator.attend(WARM_UP_TEXT)
            if self.why_no_explorer(served) is None:
                self._make_explorer(served)
        line_languages.load_identifier()

    @property
    def busy(self) -> bool:
        """Whether something is being translated."""
        return bool(self._calls or any(batcher.running for batcher in self._batchers))

    async def reload(self) -> None:
        """Exchanges the runs for those that are loaded now, and the keys, whoever waits for it."""
        self.limits.keys.reload()
        await asyncio.shield(asyncio.create_task(self.loaded.reload()))

    def reload_soon(self) -> None:
        """Reloads in the background. Within the event loop."""
        self.limits.keys.reload()
        self.loaded.reload_soon()

    def end(self) -> None:
        """Ends all requests that are still being answered: the application answers 503."""
        self.is_over = True
        for request_task in self.requests:
            request_task.cancel()

    # ---- Requests ----

    async def admit(
        self, request: Request, max_bytes: int = bodies.MAX_BODY_BYTES
    ) -> dict[str, Any]:
        """Returns the fields of a request, which has the key, and a body of `max_bytes` at most."""
        return await bodies.read(request, self.limits, self.keyless_bodies, max_bytes)

    def queries(self, source: str, target: str, texts: list[str]) -> list[TextQuery]:
        """Returns the TextQuery of each of the texts; with AUTO, each has a source of its own."""
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
        doubts = detection.words(text) and not recognized
        text_notices = (notices.unrecognized(source),) if doubts else ()
        taken_for = next(one for one in detections if one.code == source)
        return TextQuery(query, source, taken_for, text_notices)

    async def translate(
        self, request: Request, queries: Sequence[Query | None], items: Sequence[Item]
    ) -> list[list[Result]]:
        """Returns the translations of each item, the best first.

        An item stays as it is if its query is None. Those of equal queries are translated together.
        If the client leaves, they leave the queue.
        """
        groups: dict[Query, list[int]] = {}
        for number, query in enumerate(queries):
            if query is not None:
                groups.setdefault(query, []).append(number)
        work = asyncio.gather(
            *(
                self._submit(query, [items[number] for number in numbers])
                for query, numbers in groups.items()
            )
        )
        results = [[Result(item.text, 0.0)] for item in items]
        answers = await while_connected(request, work)
        for (query, numbers), group_results in zip(groups.items(), answers, strict=True):
            self.count(request, query, [items[number].text for number in numbers])
            for number, result in zip(numbers, group_results, strict=True):
                results[number] = result
        return results

    async def _submit(self, query: Query, items: list[Item]) -> list[list[Result]]:
        """Returns the translations of items; samples wait in no thread for what they need."""
        if query.sampling is not None:
            served = query.served
            usual = query._replace(terms=(), n_best=size_of_beam(query.n_best), sampling=Sampling())

            def load() -> None:
                served.model.networks()  # imports TensorFlow as it should be
                served.translate(usual, [Item(WARM_UP_TEXT)])  # traces the search

            await self._wait_for_tensorflow(served, usual, load)
        if not self.cache.keeps(query):
            return await self._batcher(query, items).submit(query, items)
        known = {item: results for item in items if (results := self.cache.get(query, item))}
        missing = [item for item in dict.fromkeys(items) if item not in known]
        self.metrics.cached.labels("hit").inc(len(items) - len(missing))
        self.metrics.cached.labels("miss").inc(len(missing))
        if missing:
            translated = await self._batcher(query, missing).submit(query, missing)
            known.update(zip(missing, translated, strict=True))
            if self.models.holds(query.served):  # else nothing would ask for them again
                for item in missing:
                    self.cache.put(query, item, known[item])
        return [known[item] for item in items]

    def _batcher(self, query: Query, items: list[Item]) -> Batcher:
        """Returns the queue of a request: who asks for a sentence waits for nobody's pages."""
        tokens = query.n_best * sum(item.tokens() for item in items)
        short_requests, long_requests = self._batchers
        return long_requests if tokens > SHORT_REQUEST_TOKENS else short_requests

    async def _wait_for_tensorflow(
        self, served: ServedModel, key: Hashable, load: Callable[[], object]
    ) -> None:
        """Waits until what TensorFlow needs is loaded; a RefusedError if it is to stay away.

        A run that TensorFlow searches for has loaded all of it as the server started.
        """
        if served.model.searches_by_tensorflow:
            return
        if served.stays_without_tensorflow:
            raise RefusedError(400, WITHOUT_TENSORFLOW)
        log_once(LOADING)
        await self._loader.load((served, key), load)

    def count(self, request: Request, query: Query, texts: list[str]) -> None:
        """Adds the characters of texts of a request to the figures."""
        number = sum(map(len, texts))
        access_of(request.scope).characters += number
        self.characters += number
        direction = query.direction
        self.metrics.characters.labels(direction.source, direction.target).inc(number)

    async def in_thread(self, function: Callable[[], Value]) -> Value:
        """Returns what a function returns, which runs in a thread of the server."""
        self._check_calls()
        return await asyncio.wrap_future(self._start(function))

    def _check_calls(self) -> None:
        """Raises a RefusedError if as many calls wait for the threads as requests may wait."""
        if len(self._calls) >= self._max_waiting:
            raise RefusedError(429, "too many requests are waiting; try again later", 1)

    def _start(self, function: Callable[[], Value]) -> Future[Value]:
        """Starts a function in a thread of the server."""
        call = self._threads.submit(function)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return call

    async def attend(self, query: Query, text: str) -> Attention:
        """Returns the Attention of a text, translated as one sentence."""
        served = query.served
        line = query.direction.tagged(text)
        if len(served.tokenizer.encode([line])[0]) > MAX_ATTENTION_TOKENS:
            raise RefusedError(413, f"more than {MAX_ATTENTION_TOKENS} tokens; send a part of it")
        translator = served.translator(query)
        await self._wait_for_tensorflow(served, "networks", served.model.networks)
        return await self.in_thread(lambda: translator.attend(line))

    def why_no_explorer(self, served: ServedModel) -> str | None:
        """Returns why there is no page that holds a run; None if there is one."""
        if self.limits.keys:
            return "a server with a key has no explorer: a link sends no key"
        if served.stays_without_tensorflow:
            return "the explorer needs TensorFlow; start without --engine ctranslate2"
        if served.model.members > 1:
            return "an ensemble has no explorer"
        if served.parameters > MAX_PAGE_PARAMETERS:
            return f"a run of more than {MAX_PAGE_PARAMETERS:,} parameters has no explorer"
        return None

    async def explorer(self, served: ServedModel) -> StoredBytes:
        """Returns the explorer of a run, a page with some sentences of its test split."""
        if page := self._explorers.get(served):
            return page
        await self._wait_for_tensorflow(served, "networks", served.model.networks)
        return await self.in_thread(lambda: self._make_explorer(served))

    def _make_explorer(self, served: ServedModel) -> StoredBytes:
        """Returns the explorer of a run, made once."""
        from nmt.results.explorer import page as explorer

        with self._explorer_lock:
            if served not in self._explorers:
                translator = served.translator(Query(served, served.directions[0]))
                examples = explorer.examples(translator, served.examples, are_chosen=False)
                page = explorer.assemble(
                    served.name, served.model.transformer, served.tokenizer, examples,
                    estimator=served.model.estimator,
                )  # fmt: skip
                self._explorers[served] = StoredBytes(page.encode())
            return self._explorers[served]

    def stream(
        self, query: Query, text_notices: Sequence[Notice], text: str, prefixes: list[list[int]]
    ) -> AsyncIterator[str]:
        """Returns server-sent events of a translation: `partial` texts, a `sentence` each, `end`.

        `prefixes` are the ids that the translation of each sentence begins with. A RefusedError if
        too many requests are waiting.
        """
        self._check_calls()
        queue = streaming.EventQueue()

        def work() -> None:
            if not queue.is_closed:
                line = query.direction.tagged(text)
                streaming.events(query.served.translator(query), line, prefixes, queue.put)

        task = asyncio.wrap_future(self._start(work))
        task.add_done_callback(lambda done: queue.end())
        return self._events(query, text_notices, text, queue, task)

    async def _events(
        self,
        query: Query,
        text_notices: Sequence[Notice],
        text: str,
        queue: streaming.EventQueue,
        task: asyncio.Future[None],
    ) -> AsyncIterator[str]:
        """Yields the events that a call in a thread puts into a queue."""
        translated = []
        try:
            while True:
                name, data = await queue.get()
                if name == "sentence":
                    translated.append((data["text"], data["space"]))
                if name == "end" and task.exception():
                    log.error("a stream failed", exc_info=task.exception())
                    name, data = "error", {"error": "the server failed"}
                elif name == "end":
                    last_notices = self._stream_notices(query, text, translated)
                    languages = query.direction.source, query.direction.target
                    data = streaming.end(*languages, [*text_notices, *last_notices])
                yield streaming.event_lines(name, data)
                if name in ("end", "error"):
                    return
        finally:
            queue.is_closed = True

    def _stream_notices(
        self, query: Query, text: str, translated: list[tuple[str, str]]
    ) -> list[Notice]:
        """Returns what the client is to know of streamed sentences, each with its white space."""
        translation = sentences.join(*zip(*translated, strict=True)) if translated else ""
        translator = query.served.translator(query)
        parts = [sentence for sentence, _ in translator.parts(text)]
        longest = max(map(len, query.served.tokenizer.encode(parts, MAX_SOURCE_TOKENS)))
        too_long = notices.of_length(longest, translator.trained_length)
        differences = notices.of_differences(*translator.difference(text, translation))
        return [*differences, *too_long]


async def while_connected(request: Request, work: Awaitable[Value]) -> Value:
    """Returns the result of `work`, cancelled if the client leaves whose body has been read."""
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
