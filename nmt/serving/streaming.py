"""A translation as it is generated: the same stages as any other, sentence by sentence."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nmt.decoding import sources, tokens
from nmt.decoding.sentence import Sentence
from nmt.decoding.translator import Translator
from nmt.serving import notices
from nmt.serving.models import MAX_ALTERNATIVES
from nmt.serving.notices import Notice

MAX_EVENTS = 64  # that a client has not read

Event = tuple[str, dict[str, Any]]  # name and data
Send = Callable[[str, dict[str, Any]], bool]  # name and data of an event; whether to continue


@dataclasses.dataclass
class StreamedToken:
    """A token of a translation, and what else was likely there."""

    id: int
    token: str
    probability: float
    alternatives: list[dict[str, Any]]  # id, token, probability; the likeliest first


@dataclasses.dataclass
class Finished:
    """The translation of a sentence."""

    sentence: int  # its number, from 0
    given: str  # the sentence that is translated, without a language tag
    space: str  # the white space after it
    text: str
    confidence: float | None  # 0 to 100; None if the run is not calibrated
    tokens: list[StreamedToken]
    source: list[str]  # tokens of the sentence
    # Of each token to each of `source`: the mean of the last layer's heads.
    attention: list[list[float]]


def events(translator: Translator, text: str, prefixes: list[list[int]], send: Send) -> None:
    """Translates a text, tagged as its run needs it, and sends what there is to say of it.

    `prefixes` are the ids that the translation of each sentence begins with; missing ones are
    empty.
    """
    number = 0

    def send_text(partial: str) -> bool:
        return send("partial", {"sentence": number, "text": partial})

    for sentence in translator.sentences(text, prefixes, send_text):
        if not send("sentence", dataclasses.asdict(finished(translator, number, sentence))):
            return
        number += 1


def finished(translator: Translator, number: int, sentence: Sentence) -> Finished:
    """Returns what is known of a translated Sentence of a number: one pass over its tokens."""
    context = translator.context
    given = sources.without_tags(context, sentence.text)
    text = given, sentence.space, sentence.translation
    confidence = round(sentence.confidence, 1) if context.options.confidence else None
    if not sentence.target:
        return Finished(number, *text, confidence, [], [], [])
    pair = tokens.id_pair(sentence)
    (score,) = context.engine.score([pair], tokens=True, alternatives=MAX_ALTERNATIVES)
    (attended,) = context.engine.attend([pair])
    target = pair.target[1:]
    tokenizer = context.tokenizer
    scores = tokens.token_scores(context, pair.target, score.tokens)
    streamed = []
    for token, named, likelihood in zip(target, scores, score.tokens, strict=True):
        ids = [token_id for token_id, _ in likelihood.alternatives]
        alternatives = [
            {"id": token_id, "token": name, "probability": round(probability, 4)}
            for token_id, (name, probability) in zip(ids, named.alternatives, strict=True)
        ]
        probability = round(math.exp(named.log_probability), 4)
        streamed.append(StreamedToken(token, named.token, probability, alternatives))
    of_text = attended.cross[:, len(tokenizer.before) : -1]  # neither START nor END
    weights = np.round(of_text.astype(float), 3).tolist()
    source = tokenizer.tokens(tokenizer.text_ids(pair.source))
    return Finished(number, *text, confidence, streamed, source, weights)


def end(source: str, target: str, text_notices: Sequence[Notice]) -> dict[str, Any]:
    """Returns the data of the last event; a text that stays as it is has one language twice."""
    return {"source": source, "target": target, "warnings": notices.answers(text_notices)}


def event_lines(name: str, data: dict[str, Any]) -> str:
    """Returns a server-sent event as it is sent."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


class EventQueue:
    """Events from a thread to the event loop, in whose thread the queue is made.

    Beyond MAX_EVENTS, a partial text takes the place of one that has not been read: a slow client
    gets fewer of them, and they take no memory.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: collections.deque[Event] = collections.deque()
        self._arrival = asyncio.Event()
        self.is_closed = False  # whether nobody reads any more

    def put(self, name: str, data: dict[str, Any]) -> bool:
        """Puts an event into the queue, from another thread; returns whether to go on."""
        if not self.is_closed:
            self._loop.call_soon_threadsafe(self._add, name, data)
        return not self.is_closed

    def end(self) -> None:
        """Puts the last event into the queue."""
        self._add("end", {})

    def _add(self, name: str, data: dict[str, Any]) -> None:
        if len(self._events) >= MAX_EVENTS and name == self._events[-1][0] == "partial":
            self._events.pop()
        self._events.append((name, data))
        self._arrival.set()

    async def get(self) -> Event:
        """Returns the name and the data of the next event."""
        while not self._events:
            self._arrival.clear()
            await self._arrival.wait()
        return self._events.popleft()
