"""What a model says of given pairs: their scores, their alignments, their attention weights."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.corpus.batches import MAX_SOURCE_TOKENS
from nmt.decoding import alignment
from nmt.decoding.attention import Attention
from nmt.decoding.batch_sizes import CHUNK_LINES, Batching
from nmt.decoding.padding import pad
from nmt.decoding.searcher import Searcher
from nmt.decoding.sentence import Links
from nmt.network.ctc import best_outputs
from nmt.network.parallel_tokens import decoder_input
from nmt.text import spelling
from nmt.text.tokenizer import Tokenizer
from transformer_model import PAD, START, UNKNOWN


@dataclasses.dataclass
class _Pair:
    """A source and its target."""

    source_text: str
    target_text: str
    source: list[int]  # ids, START first and END last
    target: list[int]
    result: "float | Links | list[SpanLink] | None" = None

    def length(self) -> int:
        """Returns the tokens of the longer side."""
        return max(len(self.source), len(self.target))


class SpanLink(NamedTuple):
    """A part of a source and the part of a target that translates it, as (start, end)."""

    source: tuple[int, int]
    target: tuple[int, int]


class GivenPairs:
    """Forced decoding: the decoder's input are the tokens of a given target.

    Args:
      searcher: the Searcher of the model.
      tokenizer: a Tokenizer.
      batching: how pairs are batched.
    """

    def __init__(self, searcher: Searcher, tokenizer: Tokenizer, batching: Batching):
        self._searcher, self._tokenizer, self._batching = searcher, tokenizer, batching
        self._non_autoregressive = searcher.transformer.config["non_autoregressive"]

    def score(self, pairs: Iterable[tuple[str, str]], cut: bool = False) -> Iterator[float]:
        """Yields the log-probability of each of `pairs` under the model, in order.

        It is natural, and that of all tokens of the target, END included.

        Args:
          pairs: (source, target).
          cut: see `align`.

        Raises:
          UserError: a side of a pair is longer than MAX_SOURCE_TOKENS.
        """
        for pair in self._map_batches(pairs, self._score_batch, cut):
            yield pair.result

    def align(self, pairs: Iterable[tuple[str, str]], cut: bool = False) -> Iterator[Links]:
        """Yields the links of each of `pairs`: sorted (source word, target word), from 0.

        Words are those of Python's split(). See alignment.py.

        Args:
          pairs: (source, target).
          cut: leave out what is beyond MAX_SOURCE_TOKENS, instead of raising an error.

        Raises:
          UserError: a side of a pair is too long; or the run is non-autoregressive.
        """
        self._refuse_non_autoregressive()
        for pair in self._map_batches(pairs, self._link_batch, cut):
            yield alignment.as_given(pair.result, pair.source_text, pair.target_text)

    def links_of_normal_forms(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Links]:
        """Yields what `align` does, cut, but of the words of normal forms; see text/spelling.py."""
        self._refuse_non_autoregressive()
        for pair in self._map_batches(pairs, self._link_batch, cut=True):
            yield pair.result

    def link_spans(self, pairs: Iterable[tuple[str, str]]) -> Iterator[list[SpanLink]]:
        """Yields the links of each of `pairs`, cut, as spans of characters.

        They link words, or, in scripts without spaces, tokens.

        Args:
          pairs: (source, target), both in their normal form.

        Raises:
          UserError: the run is non-autoregressive.
        """
        self._refuse_non_autoregressive()
        for pair in self._map_batches(pairs, self._link_span_batch, cut=True):
            yield pair.result

    def attend(self, text: str, source: list[int], target: list[int]) -> Attention:
        """Returns the Attention of one pass over a pair.

        Args:
          text: the source.
          source: the ids of it, START first and END last.
          target: ids, START first.
        """
        inp, tar = tf.constant([source]), tf.constant([target])  # (1, S), (1, 1 + T)
        tar_inp = decoder_input(inp) if self._non_autoregressive else tar[:, :-1]
        logits, weights = self._searcher.transformer((inp, tar_inp), training=False)
        weights = {name: heads[0].numpy() for name, heads in weights.items()}  # (H, queries, keys)
        (translation,) = self._tokenizer.decode(tar.numpy())
        if self._non_autoregressive:  # the outputs at all positions, blanks among them
            target = [START, *best_outputs(logits, tar_inp != PAD)[0].numpy()]
        source_tokens = self._tokenizer.tokens(source)
        target_tokens = self._tokenizer.tokens(target)
        return Attention(source_tokens, target_tokens, weights, (text, translation))

    def _refuse_non_autoregressive(self) -> None:
        if self._non_autoregressive:
            raise UserError("the run is non-autoregressive: its attention says nothing of words")

    def _score_batch(self, batch: list[_Pair], inp: np.ndarray, tar: np.ndarray) -> list[float]:
        return self._searcher.log_probabilities(inp, tar).numpy().tolist()

    def _link_batch(self, batch: list[_Pair], inp: np.ndarray, tar: np.ndarray) -> list[Links]:
        weights = self._searcher.cross_attention(inp, tar[:, :-1]).numpy()  # (B, T, S)
        return [
            alignment.links(*self._weights_of_tokens(pair, pair_weights))
            for pair, pair_weights in zip(batch, weights, strict=True)
        ]

    def _link_span_batch(
        self, batch: list[_Pair], inp: np.ndarray, tar: np.ndarray
    ) -> list[list[SpanLink]]:
        weights = self._searcher.cross_attention(inp, tar[:, :-1]).numpy()  # (B, T, S)
        batch_links = []
        for pair, pair_weights in zip(batch, weights, strict=True):
            pair_weights, *sides = self._weights_of_tokens(pair, pair_weights)
            if not all(sides):
                batch_links.append([])
                continue
            source, target = map(alignment.unit_numbers, sides)
            source_spans = self._spans(_truncated(pair.source)[1:-1], sides[0], source)
            target_spans = self._spans(_truncated(pair.target)[1:-1], sides[1], target)
            links = alignment.link_groups(pair_weights, source, target)
            batch_links.append([SpanLink(source_spans[i], target_spans[j]) for i, j in links])
        return batch_links

    def _weights_of_tokens(
        self, pair: _Pair, weights: np.ndarray
    ) -> tuple[np.ndarray, list[str], list[str]]:
        """Returns the attention (T, S) of a pair without START and END, and the tokens of both."""
        source, target = (
            self._tokenizer.surfaces(spelling.trimmed(text), MAX_SOURCE_TOKENS)[
                : len(_truncated(ids)) - 2
            ]
            for text, ids in ((pair.source_text, pair.source), (pair.target_text, pair.target))
        )
        return weights[: len(target), 1 : 1 + len(source)], source, target

    def _spans(
        self, ids: list[int], surfaces: list[str], numbers: np.ndarray
    ) -> list[tuple[int, int]]:
        """Returns where in their text each group of tokens begins and ends.

        Args:
          ids: of a text, without START and END.
          surfaces: of the ids.
          numbers: the number of the group of each, from 0.
        """
        sizes = np.bincount(numbers).cumsum().tolist()
        if UNKNOWN in ids:  # whose letters decoding would replace
            ends = [len("".join(surfaces[:size])) - 1 for size in sizes]  # without the first U+2581
        else:
            texts = self._tokenizer.processor.decode([ids[:size] for size in sizes])
            ends = [len(text) for text in texts]
        return list(zip([0, *ends[:-1]], ends, strict=True))

    def _map_batches(
        self, pairs: Iterable[tuple[str, str]], compute: Callable[..., list], cut: bool = False
    ) -> Iterator[_Pair]:
        """Yields `pairs` in order, with results.

        Args:
          pairs: (source, target).
          compute: a function of a batch of _Pairs and its ids (B, S) and (B, 1 + T) that returns
            their results.
          cut: see `align`.
        """
        pairs, first_number = iter(pairs), 1
        while texts := list(itertools.islice(pairs, CHUNK_LINES)):
            chunk = self._encode(texts)
            if not cut:
                _check_lengths(chunk, first_number)
            first_number += len(chunk)
            for batch in self._batching.batches(chunk, _Pair.length):
                inp = pad([_truncated(pair.source) for pair in batch])
                tar = pad([_truncated(pair.target) for pair in batch])
                for pair, result in zip(batch, compute(batch, inp, tar), strict=True):
                    pair.result = result
            yield from chunk

    def _encode(self, texts: list[tuple[str, str]]) -> list[_Pair]:
        """Returns pairs with ids."""
        sources, targets = (
            self._tokenizer.encode(map(spelling.trimmed, side), MAX_SOURCE_TOKENS)
            for side in zip(*texts, strict=True)
        )
        return [
            _Pair(source, target, sources[index], targets[index])
            for index, (source, target) in enumerate(texts)
        ]


def _truncated(ids: list[int]) -> list[int]:
    return ids[:MAX_SOURCE_TOKENS]


def _check_lengths(chunk: list[_Pair], first_number: int) -> None:
    """Raises a UserError if a pair is too long; the first one has this number."""
    for number, pair in enumerate(chunk, start=first_number):
        if pair.length() > MAX_SOURCE_TOKENS:
            raise UserError(
                f"pair {number} has more than {MAX_SOURCE_TOKENS} tokens on a side; split "
                "it: that is the limit"
            )
