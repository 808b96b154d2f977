"""What a network says of given pairs: their scores, and which of their words belong together.

Forced decoding: the decoder's input are the tokens of a given target.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError
from nmt.decoding import alignment
from nmt.decoding.batch_sizes import CHUNK_LINES, chunks
from nmt.decoding.context import Context
from nmt.decoding.engines.engine import IdPair
from nmt.decoding.sentence import Links, SpanLink
from nmt.text import spelling
from nmt.text.spelling import MARK_OF_SPACE
from nmt.text.tokenizer import MAX_SOURCE_TOKENS

if TYPE_CHECKING:
    import numpy as np

    from nmt.text.tokenizer import Tokenizer

MAX_WEIGHTS = 2**24  # attention weights of pairs in memory: 64 MiB

TextPair = tuple[str, str]  # source, target


class _Chunk(NamedTuple):
    texts: list[TextPair]  # as they were given
    spelled: list[TextPair]  # as the network reads them
    ids: list[IdPair]  # cut after MAX_SOURCE_TOKENS


class _Attended(NamedTuple):
    """The attention between the tokens of a pair, without START and END."""

    texts: TextPair  # as they were given
    weights: np.ndarray  # (T, S); row t predicted token t
    source: list[str]  # S surfaces; see Tokenizer.surfaces
    target: list[str]
    ids: IdPair  # without START and END


def score(context: Context, pairs: Iterable[TextPair], cut: bool = False) -> Iterator[float]:
    """Yields the log-probability of each of `pairs` under the model, in order.

    It is natural, and that of all tokens of the target, END included.

    Raises:
      UserError: a side of a pair is longer than MAX_SOURCE_TOKENS.
    """
    for chunk in _encode(context, pairs, cut):
        for pair_score in context.engine.score(chunk.ids):
            yield pair_score.log_probability


def align(context: Context, pairs: Iterable[TextPair], cut: bool = False) -> Iterator[Links]:
    """Yields the links of each of `pairs`: sorted (source word, target word), from 0.

    Words are those of Python's split(). See alignment.py.

    Args:
      cut: leave out what is beyond MAX_SOURCE_TOKENS, instead of raising an error.

    Raises:
      UserError: a side of a pair is too long.
    """
    for pair in _attend(context, pairs, cut, in_learned_words=True):
        links = alignment.links(pair.weights, pair.source, pair.target)
        yield alignment.as_given(links, *pair.texts)


def links_of_normal_forms(context: Context, pairs: Iterable[TextPair]) -> Iterator[Links]:
    """Yields what `align` does, cut, but of the words of normal forms; see text/spelling.py."""
    for pair in _attend(context, pairs, cut=True, in_learned_words=True):
        yield alignment.links(pair.weights, pair.source, pair.target)


def link_spans(context: Context, pairs: Iterable[TextPair]) -> Iterator[list[SpanLink]]:
    """Yields the links of each of `pairs`, cut, as spans of characters.

    They link words, or, in scripts without spaces, tokens.

    Args:
      pairs: (source, target), both in their normal form.
    """
    for pair in _attend(context, pairs, cut=True):
        yield _span_links(context.tokenizer, pair)


def _span_links(tokenizer: Tokenizer, pair: _Attended) -> list[SpanLink]:
    if not (pair.source and pair.target):
        return []
    source = alignment.unit_numbers(pair.source)
    target = alignment.unit_numbers(pair.target)
    source_spans = _spans(tokenizer, pair.ids.source, pair.source, source)
    target_spans = _spans(tokenizer.target, pair.ids.target, pair.target, target)
    links = alignment.link_groups(pair.weights, source, target)
    return [SpanLink(source_spans[i], target_spans[j]) for i, j in links]


def _spans(
    tokenizer: Tokenizer, ids: list[int], surfaces: list[str], numbers: list[int]
) -> list[tuple[int, int]]:
    """Returns where in their text each group of tokens begins and ends.

    Args:
      ids: of a text, without those around it.
    """
    sizes = [bisect.bisect(numbers, number) for number in range(numbers[-1] + 1)]  # tokens so far
    if tokenizer.processor.unk_id() in ids:  # whose letters decoding would replace
        texts = ["".join(surfaces[:size])[1:] for size in sizes]  # without the first U+2581
    else:
        texts = tokenizer.processor.decode([ids[:size] for size in sizes])
    ends = [len(text) for text in texts]
    spaces = [texts[-1][end] in f" {MARK_OF_SPACE}" for end in ends[:-1]]  # before each word
    return [*zip([0, *map(int.__add__, ends, spaces)], ends, strict=True)]


def _attend(
    context: Context, pairs: Iterable[TextPair], cut: bool, in_learned_words: bool = False
) -> Iterator[_Attended]:
    """Yields the attention of each pair; for the arguments, see `align` and `_encode`."""
    for chunk in _encode(context, pairs, cut, in_learned_words):
        start = 0
        while start < len(chunk.ids):  # as many at a time as memory holds
            end, weights = start, 0
            while end < len(chunk.ids) and (end == start or weights < MAX_WEIGHTS):
                weights += len(chunk.ids[end].source) * len(chunk.ids[end].target)
                end += 1
            ids = chunk.ids[start:end]
            attentions = context.engine.attend(ids)
            given, spelled = chunk.texts[start:end], chunk.spelled[start:end]
            for number, attention in enumerate(attentions):
                texts = given[number], spelled[number]
                yield _without_ends(context.tokenizer, *texts, ids[number], attention.cross)
            start = end


def _without_ends(
    tokenizer: Tokenizer, texts: TextPair, spelled: TextPair, ids: IdPair, cross: np.ndarray
) -> _Attended:
    """Returns the attention of a pair, (T, S) with START and END, without them."""
    sides = tokenizer, tokenizer.target
    source, target = map(_surfaces, sides, spelled, ids)
    first = len(tokenizer.before)
    weights = cross[: len(target), first : first + len(source)]
    text_ids = IdPair(tokenizer.text_ids(ids.source), tokenizer.target.text_ids(ids.target))
    return _Attended(texts, weights, source, target, text_ids)


def _surfaces(tokenizer: Tokenizer, text: str, ids: list[int]) -> list[str]:
    """Returns the surfaces of the ids of a text, without those around it."""
    surfaces = tokenizer.surfaces(text, MAX_SOURCE_TOKENS)
    return surfaces[: len(ids) - tokenizer.empty_length]


def _encode(
    context: Context, pairs: Iterable[TextPair], cut: bool, in_learned_words: bool = False
) -> Iterator[_Chunk]:
    """Yields pairs in chunks, with their ids; for arguments and errors, see `align`.

    Args:
      in_learned_words: the words in the forms that the network knows; see text/learned_words.py.
    """
    words = context.words, context.target_words
    first_number = 1
    for chunk in chunks(pairs, CHUNK_LINES):
        sides = context.tokenizer, context.tokenizer.target
        spelled_sides = [[*map(spelling.trimmed, side)] for side in zip(*chunk, strict=True)]
        if in_learned_words:
            spelled_sides = [
                [learned.read(text).text for text in side]
                for learned, side in zip(words, spelled_sides, strict=True)
            ]
        sources, targets = (
            tokenizer.encode(side, MAX_SOURCE_TOKENS)
            for tokenizer, side in zip(sides, spelled_sides, strict=True)
        )
        ids = []
        for number, (source, target) in enumerate(zip(sources, targets, strict=True), first_number):
            if max(len(source), len(target)) > MAX_SOURCE_TOKENS and not cut:
                raise UserError(
                    f"pair {number} has more than {MAX_SOURCE_TOKENS} tokens on a side; split it: "
                    "that is the limit"
                )
            ids.append(IdPair(source[:MAX_SOURCE_TOKENS], target[:MAX_SOURCE_TOKENS]))
        yield _Chunk(chunk, [*zip(*spelled_sides, strict=True)], ids)
        first_number += len(chunk)
