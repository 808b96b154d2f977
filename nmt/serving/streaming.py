"""A translation as it is generated: the search of the run, which reports after each step.

The search is that of nmt/decoding/search.py, unchanged. It asks a function which tokens may follow
the hypotheses so far; here that function allows all of them, and passes the best hypothesis on.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf

from nmt.corpus.batches import MAX_SOURCE_TOKENS
from nmt.decoding.copied_symbols import CopiedSymbols
from nmt.decoding.padding import pad
from nmt.decoding.restrictions import Restrictions
from nmt.decoding.search import search
from nmt.decoding.search_options import SearchOptions
from nmt.decoding.searcher import IDS, NUMBER
from nmt.decoding.tracing import TracedOnce
from nmt.serving.models import MAX_ALTERNATIVES, Query, ServedModel
from nmt.text import spelling
from nmt.text.protected import Protected, restore
from transformer_model import PAD

Report = Callable[[list[int]], bool]  # of the ids so far, START first; returns whether to go on
Show = Callable[[str], bool]  # of the text so far; returns whether to go on


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
        self._beam, self._alpha = served.beam, model.options.length_penalty
        self._search = TracedOnce(self._search_in_graph, IDS, IDS, NUMBER)
        self._reports: dict[int, Report] = {}
        self._numbers = itertools.count()
        self._protects = served.protects
        self._copied = CopiedSymbols(self.tokenizer.symbol_ids) if self._protects else None

    def sentences(self, line: str) -> list[tuple[str, str]]:
        """Returns the sentences of a line, each with the white space after it."""
        return self.translator.parts(line)

    def __call__(self, sentence: str, prefix: list[int], show: Show) -> Finished:
        """Translates a sentence.

        Args:
          sentence: a string.
          prefix: ids that the translation begins with.
          show: called after each step; it ends the search by returning False.
        """
        protected = self._protect(sentence)
        (source,) = self.tokenizer.encode([spelling.trimmed(protected.text)], MAX_SOURCE_TOKENS)
        source = source[:MAX_SOURCE_TOKENS]
        if len(source) <= 2:  # START, END
            return Finished("", [], [], [])
        number = next(self._numbers) % 2**31
        self._reports[number] = lambda ids: show(self._text(ids, protected))
        try:
            ids = self._search(pad([source]), np.array([prefix], np.int32), number)  # (1, 1 + L)
        finally:
            del self._reports[number]
        ids = ids[0].numpy()
        ids = ids[ids != PAD]  # (1 + T,)
        return self._finished(source, ids, protected)

    def _protect(self, sentence: str) -> Protected:
        """Returns a sentence with symbols in place of what must not change."""
        if self._protects:
            return self.translator.protector.protect(sentence)
        return Protected(sentence, [])

    def _search_in_graph(self, inp, prefix, number):
        """Returns the ids (1, 1 + L) of the translation of source ids (1, S)."""

        def report(ids, position):
            going_on = tf.numpy_function(
                self._report, [number, ids[0, 0], position], tf.bool, stateful=True
            )
            return tf.reshape(going_on, ())

        transformer = self._members if len(self._members) > 1 else self._members[0]
        options = SearchOptions(beam=self._beam, length_penalty=self._alpha)
        restrictions = Restrictions(prefix=prefix, symbols=self._copied, on_step=report)
        hypotheses = search(transformer, inp, options, restrictions)
        return hypotheses.ids[:, 0]

    def _report(self, number, ids, position) -> np.bool_:
        """Passes the ids so far on to the report of a call."""
        report = self._reports[int(number)]
        return np.bool_(report(ids[: int(position) + 1].tolist()))

    def _text(self, ids: list[int], protected: Protected) -> str:
        """Returns the text of a translation that may be unfinished, START first."""
        (text,) = self.tokenizer.decode(np.array([ids], np.int32))
        text = text.rstrip("\ufffd")  # the first bytes of a character
        return spelling.printed(restore(text, protected).text) if self._protects else text

    def _names(self, ids: list[int], protected: Protected) -> list[str]:
        """Returns the tokens of ids; what a symbol stands for in its place."""
        names, symbols = self.tokenizer.tokens(ids), self.tokenizer.symbol_ids
        if not self._protects:
            return names
        waiting = [iter(protected.originals[n :: len(symbols)]) for n in range(len(symbols))]
        return [
            next(waiting[token - symbols.start], "") if token in symbols else name
            for token, name in zip(ids, names, strict=True)
        ]

    def _finished(self, source: list[int], ids: np.ndarray, protected: Protected) -> Finished:
        """Returns what is known of a translation: one pass of the network over it."""
        searcher = self.translator.searcher
        inp, tar = pad([source]), tf.constant(ids[np.newaxis], tf.int32)  # (1, S), (1, 1 + T)
        likelihoods = searcher.token_likelihoods(inp, tar, MAX_ALTERNATIVES)
        attention = searcher.cross_attention(inp, tar[:, :-1]).numpy()[0]  # (T, S)
        text = self._text(ids.tolist(), protected)
        token_ids = ids[1:].tolist()
        token_names = self._names(token_ids, protected)
        tokens = []
        for position, (token, name) in enumerate(zip(token_ids, token_names, strict=True)):
            likeliest_ids = likelihoods.likeliest_ids[0, position].tolist()
            likeliest = likelihoods.likeliest[0, position].tolist()
            names = self._names(likeliest_ids, protected)
            alternatives = [
                dict(id=number, token=other, probability=round(math.exp(logarithm), 4))
                for number, other, logarithm in zip(likeliest_ids, names, likeliest, strict=True)
            ]
            probability = math.exp(likelihoods.log_probabilities[0, position])
            tokens.append(StreamedToken(token, name, round(probability, 4), alternatives))
        weights = np.round(attention[:, 1:-1].astype(float), 3).tolist()  # no START, no END
        return Finished(text, tokens, self._names(source[1:-1], protected), weights)


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
        send_text = sender(send, number)
        finished = streaming(f"{tag} {sentence}" if tag else sentence, prefix, send_text)
        data = dict(sentence=number, space=space, **dataclasses.asdict(finished))
        if not send("sentence", data):
            return


def sender(send: Callable[[str, dict], bool], number: int) -> Show:
    """Returns a function that sends the text so far of the sentence of a number."""

    def send_text(text: str) -> bool:
        return send("partial", dict(sentence=number, text=text))

    return send_text


def lines(name: str, data: str) -> Iterator[str]:
    """Yields the lines of a server-sent event."""
    yield f"event: {name}\n"
    yield f"data: {data}\n\n"
