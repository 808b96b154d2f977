"""What must hold of the cache: it answers the same question alone, and stays within its limits."""

import time

import pytest
from clients import ASKED, Capitals, client_of

from nmt.decoding.search_options import Sampling
from nmt.serving.batching import Item
from nmt.serving.keys import Keys
from nmt.serving.limits import Limits
from nmt.serving.models import Models, Query, Result
from nmt.serving.translation_cache import TranslationCache

THREE = ASKED | {"q": ["um", "dois", "um"]}


def translated(run):
    return sum(run.batches)


def warm(client):
    """Waits until the server translates for its clients alone."""
    while not client.get("/health").json()["warm"]:
        time.sleep(0.01)


def test_a_text_is_translated_once_for_all_apis_until_a_reload():
    run, other = Capitals(), Capitals()
    with client_of(
        run, limits=Limits(Keys("k")), headers={"Authorization": "Bearer k"},
        load=lambda: Models([other]), can_reload=True, cached_texts=100,
    ) as client:  # fmt: skip
        cache = client.app.service.cache
        warm(client)
        before = translated(run)
        for _ in range(3):
            answer = client.post("/translate", json=THREE).json()["translatedText"]
            assert answer == ["UM", "DOIS", "UM"]
        deepl = {"text": ["um"], "source_lang": "PT", "target_lang": "EN"}
        assert client.post("/v2/translate", json=deepl).json()["translations"][0]["text"] == "UM"
        assert translated(run) == before + 2
        client.post("/translate", json=THREE | {"q": "um", "alternatives": 1})
        client.post("/n-best", json={"text": "um", "target": "en", "glossary": {"um": "a"}})
        client.post("/n-best", json={"text": "um", "target": "en"})
        assert translated(run) == before + 5
        figures = client.get("/metrics").text
        assert 'nmt_cache_texts_total{result="hit"} 8.0' in figures
        assert 'nmt_cache_texts_total{result="miss"} 5.0' in figures
        assert len(cache) == 5
        assert client.post("/reload").status_code == 200
        assert len(cache) == 0
        before = translated(other)
        client.post("/translate", json=THREE)
        assert translated(other) == before + 2


def test_without_a_cache_nothing_is_kept():
    run = Capitals()
    with client_of(run) as client:
        warm(client)
        before = translated(run)
        client.post("/translate", json=THREE)
        client.post("/translate", json=THREE)
        assert translated(run) == before + 6


def test_what_was_asked_for_longest_ago_goes_first():
    query = Query(Capitals(), Capitals().directions[0])
    cache = TranslationCache(2)
    for text in ("a", "b"):
        cache.put(query, Item(text), [Result(text, None)])
    assert cache.get(query, Item("a"))
    cache.put(query, Item("c"), [Result("c", None)])
    assert [bool(cache.get(query, Item(text))) for text in "abc"] == [True, False, True]
    assert cache.get(query._replace(scored=True), Item("a")) is None
    assert cache.get(query, Item("a", "prefix")) is None
    assert not cache.keeps(query._replace(sampling=Sampling()))


@pytest.mark.parametrize("length", [1, 40, 1000])
def test_the_characters_of_all_entries_have_a_limit(length):
    query = Query(Capitals(), Capitals().directions[0])
    cache = TranslationCache(1000, max_characters=100)
    for number in range(100):
        cache.put(query, Item(f"{number}"), [Result("x" * length, None)])
    assert cache.characters <= 100
    assert len(cache) == {1: 33, 40: 2, 1000: 0}[length]
    cache.clear()
    assert cache.characters == len(cache) == 0
    with_terms = query._replace(terms=(("um", "x" * 100),))
    cache.put(with_terms, Item("um"), [Result("one", None)])
    assert len(cache) == 0
