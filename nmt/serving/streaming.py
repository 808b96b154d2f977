"""A translation as it is generated: the search of the run, which reports after each step.

The search is that of nmt/decoding/search.py, unchanged. It asks a function which tokens may follow
the hypotheses so far; here that function allows all of them, and passes the best hypothesis on.
"""

import dataclasses
import itertools
import math
import threading
from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf

from nmt.decoding.search import search
from nmt.decoding.searcher import IDS, NUMBER, pad, traced_once
from nmt.serving.models import MAX_ALTERNATIVES, Query, ServedModel
from nmt.text import spelling
from nmt.text.batches import MAX_SOURCE_TOKENS
from transformer_model import END, MASKED, PAD

Report = Callable[[list[int]], bool]  # of the ids so far, START first; returns whether to go on


@dataclasses.dataclass
class StreamedToken:
    """A token of a translation, and what else was likely there."""

    id: int
    token: str
    probability: float
    alternatives: list[dict]  # id, token, probability; the likeliest first


@dataclasses.dataclass
class Finished:
    """The translation of a sentence."""

    text: str
    tokens: list[StreamedToken]
    source: list[str]  # tokens of the sentence
    attention: list[
        list[float]
    ]  # of each token to each of `source`; mean of the last layer's heads


class StreamingSearch:
    """The search of a run for one sentence, which reports its best hypothesis after each step.

    Args:
      served: the ServedModel.
    """

    def __init__(self, served: ServedModel):
        self.translator = served.translator(Query(served.name, served.directions[0]))
        self.tokenizer = served.tokenizer
        model = served.model
        self._members = (model.transformer, *model.ensemble)
        self._beam, self._alpha = served.beam, model.options["length_penalty"]
        self._search = traced_once(self._search_in_graph, IDS, IDS, NUMBER)
        self._reports: dict[int, Report] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def sentences(self, line: str) -> list[tuple[str, str]]:
        """Returns the sentences of a line, each with the white space after it."""
        return self.translator.parts(line)

    def __call__(self, sentence: str, prefix: list[int], report: Report) -> Finished:
        """Translates a sentence.

        Args:
          sentence: a string.
          prefix: ids that the translation begins with.
          report: called after each step; it ends the search by returning False.
        """
        (source,) = self.tokenizer.encode([spelling.trimmed(sentence)], MAX_SOURCE_TOKENS)
        source = source[:MAX_SOURCE_TOKENS]
        if len(source) <= 2:  # START, END
            return Finished("", [], [], [])
        number = next(self._numbers) % 2**31
        self._reports[number] = report
        try:
            ids = self._search(pad([source]), np.array([prefix], np.int32), number)  # (1, 1 + L)
        finally:
            del self._reports[number]
        ids = ids[0].numpy()
        ids = ids[ids != PAD]  # (1 + T,)
        return self._finished(source, ids)

    def _search_in_graph(self, inp, prefix, number):
        """Returns the ids (1, 1 + L) of the translation of source ids (1, S)."""

        def report(likely, ids, position):
            going_on = tf.numpy_function(
                self._report, [number, ids[0, 0], position], tf.bool, stateful=True
            )
            going_on = tf.reshape(going_on, ())
            is_end = tf.range(tf.shape(likely)[-1]) == END  # (V,)
            return tf.where(going_on | is_end, likely, likely + MASKED)

        transformer = self._members if len(self._members) > 1 else self._members[0]
        hypotheses = search(
            transformer, inp, self._beam, self._alpha, scored=True, prefix=prefix, restrict=report
        )
        return hypotheses.ids[:, 0]

    def _report(self, number, ids, position) -> np.bool_:
        """Passes the ids so far on to the report of a call."""
        report = self._reports[int(number)]
        return np.bool_(report(ids[: int(position) + 1].tolist()))

    def _finished(self, source: list[int], ids: np.ndarray) -> Finished:
        """Returns what is known of a translation: one pass of the network over it."""
        searcher = self.translator.searcher
        inp, tar = pad([source]), tf.constant(ids[np.newaxis], tf.int32)  # (1, S), (1, 1 + T)
        likelihoods = searcher.token_likelihoods(inp, tar, MAX_ALTERNATIVES)
        attention = searcher.cross_attention(inp, tar[:, :-1]).numpy()[0]  # (T, S)
        (text,) = self.tokenizer.decode(ids[np.newaxis])
        tokens = []
        for position, token in enumerate(ids[1:].tolist()):
            likeliest_ids = likelihoods.likeliest_ids[0, position].tolist()
            likeliest = likelihoods.likeliest[0, position].tolist()
            names = self.tokenizer.tokens(likeliest_ids)
            alternatives = [
                dict(id=number, token=name, probability=round(math.exp(logarithm), 4))
                for number, name, logarithm in zip(likeliest_ids, names, likeliest, strict=True)
            ]
            probability = math.exp(likelihoods.log_probabilities[0, position])
            (name,) = self.tokenizer.tokens([token])
            tokens.append(StreamedToken(token, name, round(probability, 4), alternatives))
        rounded = np.round(attention[:, 1:-1].astype(float), 3).tolist()  # no START, no END
        return Finished(text, tokens, self.tokenizer.tokens(source[1:-1]), rounded)


def partial_text(streaming: StreamingSearch, ids: list[int]) -> str:
    """Returns the text of an unfinished translation.

    Args:
      streaming: the StreamingSearch.
      ids: START first.
    """
    (text,) = streaming.tokenizer.decode(np.array([ids], np.int32))
    return text.rstrip("\ufffd")  # the first bytes of a character


def events(
    streaming: StreamingSearch,
    text: str,
    prefixes: list[list[int]],
    tag: str,
    send: Callable[[str, dict], bool],
) -> None:
    """Translates a text, sentence by sentence, and sends what there is to say of it.

    Args:
      streaming: the StreamingSearch of the run.
      text: what to translate.
      prefixes: ids that the translation of each sentence begins with; missing ones are empty.
      tag: of the target language; "" for none.
      send: a function of the name and the data of an event; it returns whether to go on.
    """
    for number, (sentence, space) in enumerate(streaming.sentences(text)):
        prefix = prefixes[number] if number < len(prefixes) else []
        send_text = sender(streaming, send, number)
        finished = streaming(f"{tag} {sentence}" if tag else sentence, prefix, send_text)
        data = dict(sentence=number, space=space, **dataclasses.asdict(finished))
        if not send("sentence", data):
            return


def sender(streaming: StreamingSearch, send: Callable[[str, dict], bool], number: int) -> Report:
    """Returns a function of ids that sends the text so far of the sentence of a number."""

    def send_text(ids):
        return send("partial", dict(sentence=number, text=partial_text(streaming, ids)))

    return send_text


def lines(name: str, data: str) -> Iterator[str]:
    """Yields the lines of a server-sent event."""
    yield f"event: {name}\n"
    yield f"data: {data}\n\n"
