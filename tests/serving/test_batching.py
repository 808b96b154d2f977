"""What must hold of the queue: who shares a batch, who is refused, who may leave."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from clients import ASKED, Capitals, client_of

from nmt import UserError
from nmt.serving import batching
from nmt.serving.batching import Batcher, Item
from nmt.serving.errors import RefusedError


class Translations:
    """A function that translates to capital letters, and notes its batches."""

    def __init__(self):
        self.batches, self.open = [], threading.Event()
        self.open.set()

    def __call__(self, key, items):
        self.open.wait(60)
        texts = [item.text for item in items]
        self.batches.append((key, texts))
        if "bad" in texts:
            raise UserError("bad text")
        return [text.upper() for text in texts]


def run(scenario, threads=1, **options):
    """Runs a coroutine function of a Batcher and its Translations. Returns what it returns."""

    async def main():
        translations = Translations()
        batcher = Batcher(translations, threads, **options)
        try:
            return await scenario(batcher, translations)
        finally:
            translations.open.set()
            await batcher.close()

    return asyncio.run(main())


def submit(batcher, *texts, key="de-en"):
    return asyncio.ensure_future(batcher.submit(key, [Item(text) for text in texts]))


def test_requests_that_arrive_together_are_translated_together():
    async def scenario(batcher, translations):
        answers = await asyncio.gather(submit(batcher, "a", "b"), submit(batcher, "c"))
        return answers, translations.batches

    answers, batches = run(scenario)
    assert answers == [["A", "B"], ["C"]]
    assert batches == [("de-en", ["a", "b", "c"])]


def test_requests_of_different_kinds_are_not():
    async def scenario(batcher, translations):
        waiting = [submit(batcher, text, key=key) for text, key in ("ax", "by", "cy")]
        return await asyncio.gather(*waiting), translations.batches

    answers, batches = run(scenario)
    assert answers == [["A"], ["B"], ["C"]]
    assert batches == [("x", ["a"]), ("y", ["b", "c"])]


def test_a_batch_has_a_number_of_tokens():
    async def scenario(batcher, translations):
        await asyncio.gather(submit(batcher, "a" * 20), submit(batcher, "b"), submit(batcher, "c"))
        return translations.batches

    sizes = [len(texts) for _, texts in run(scenario, max_batch_tokens=10)]
    assert sizes == [2, 1]  # 7 and 2 tokens, then 2
    assert batching.Item("a", "b" * 40).tokens() == 12
    assert batching.Item("\ud800").tokens() == 2


def test_what_waits_while_a_batch_is_translated_makes_the_next_one():
    async def scenario(batcher, translations):
        translations.open.clear()
        first = submit(batcher, "a")
        await asyncio.sleep(0.01)
        others = [submit(batcher, text) for text in "bcd"]
        translations.open.set()
        await asyncio.gather(first, *others)
        return translations.batches

    assert [texts for _, texts in run(scenario)] == [["a"], ["b", "c", "d"]]


def test_clients_that_come_back_share_batches():
    async def client(batcher, rounds):
        for _ in range(rounds):
            await submit(batcher, "a")

    async def scenario(batcher, translations):
        translations.open.clear()
        first = asyncio.ensure_future(client(batcher, 4))
        await asyncio.sleep(0.01)  # its text is in work
        others = [asyncio.ensure_future(client(batcher, 4)) for _ in range(5)]
        await asyncio.sleep(0)
        translations.open.set()
        await asyncio.gather(first, *others)
        return [len(texts) for _, texts in translations.batches]

    assert run(scenario) == [1, 6, 6, 6, 5]


def test_a_single_client_does_not_wait():
    async def scenario(batcher, translations):
        for _ in range(3):
            await asyncio.wait_for(submit(batcher, "a"), 10)
        return translations.batches

    assert len(run(scenario, max_wait_seconds=60)) == 3


def test_a_request_that_cannot_be_translated_does_no_harm_to_others():
    async def scenario(batcher, translations):
        waiting = [submit(batcher, text) for text in ("a", "bad", "c")]
        return await asyncio.gather(*waiting, return_exceptions=True)

    first, wrong, last = run(scenario)
    assert (first, last) == (["A"], ["C"])
    assert isinstance(wrong, UserError)


def test_a_full_queue_refuses():
    async def scenario(batcher, translations):
        waiting = [submit(batcher, text) for text in "ab"]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError) as refusal:
            await batcher.submit("de-en", [Item("c")])
        return refusal.value.status, await asyncio.gather(*waiting)

    assert run(scenario, max_waiting=2) == (429, [["A"], ["B"]])


def test_a_batch_counts_as_running_until_its_thread_ends():
    async def scenario(batcher, translations):
        translations.open.clear()
        waiting = submit(batcher, "a")
        await asyncio.sleep(0.01)
        await batcher.close()
        await asyncio.sleep(0)
        running = batcher.running
        waiting.cancel()
        return running

    assert run(scenario) == 1


def test_a_client_that_leaves_takes_its_texts_along():
    async def scenario(batcher, translations):
        translations.open.clear()
        first = submit(batcher, "a")
        await asyncio.sleep(0.01)  # it is in work
        leaving, staying = submit(batcher, "b"), submit(batcher, "c")
        await asyncio.sleep(0)
        leaving.cancel()
        translations.open.set()
        await asyncio.gather(first, staying)
        return [texts for _, texts in translations.batches], batcher.waiting

    assert run(scenario) == ([["a"], ["c"]], 0)


@pytest.mark.parametrize(
    ("path", "long_request"),
    [
        ("/translate", {**ASKED, "q": "um " * 1000}),
        ("/n-best", {"text": "um " * 200, "target": "en", "n_best": 8}),
    ],
)
def test_a_sentence_does_not_wait_for_a_page(path, long_request):
    begun, may_end = threading.Event(), threading.Event()

    class Slow(Capitals):
        def translation(self, text):
            if len(text) > 100:
                begun.set()
                assert may_end.wait(60)
            return super().translation(text)

    with client_of(Slow()) as client, ThreadPoolExecutor() as pool:
        answer = pool.submit(client.post, path, json=long_request)
        assert begun.wait(60)
        assert client.post("/translate", json=ASKED).json()["translatedText"] == "UM"
        may_end.set()
        assert answer.result().status_code == 200
