"""What a network says of given pairs: their scores, and which of their words belong together.

Forced decoding: the decoder's input are the tokens of a given target.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nmt import UserError
from nmt.decoding import alignment
from nmt.decoding.batch_sizes import CHUNK_LINES
from nmt.decoding.context import Context
from nmt.decoding.engines.engine import IdPair
from nmt.decoding.sentence import Links, SpanLink
from nmt.text import spelling
from nmt.text.tokenizer import MAX_SOURCE_TOKENS

if TYPE_CHECKING:
    from nmt.text.tokenizer import Tokenizer

MAX_WEIGHTS = 2**24  # attention weights of pairs in memory: 64 MiB

TextPair = tuple[str, str]  # source, target


class _Attended(NamedTuple):
    """The attention between the tokens of a pair, without START and END."""

    weights: np.ndarray  # (T, S); row t predicted token t
    source: list[str]  # S surfaces; see Tokenizer.surfaces
    target: list[str]
    ids: IdPair  # without START and END


def score(context: Context, pairs: Iterable[TextPair], cut: bool = False) -> Iterator[float]:
    """Yields the log-probability of each of `pairs` under the model, in order.

    It is natural, and that of all tokens of the target, END included.

    Args:
      context: the Context.
      pairs: (source, target).
      cut: see `align`.

    Raises:
      UserError: a side of a pair is longer than MAX_SOURCE_TOKENS.
    """
    first_number = 1
    for chunk in _chunks(pairs):
        id_pairs = _encode(context, chunk, None if cut else first_number)
        for pair_score in context.engine.score(id_pairs):
            yield pair_score.log_probability
        first_number += len(chunk)


def align(context: Context, pairs: Iterable[TextPair], cut: bool = False) -> Iterator[Links]:
    """Yields the links of each of `pairs`: sorted (source word, target word), from 0.

    Words are those of Python's split(). See alignment.py.

    Args:
      context: the Context.
      pairs: (source, target).
      cut: leave out what is beyond MAX_SOURCE_TOKENS, instead of raising an error.

    Raises:
      UserError: a side of a pair is too long; or the run is non-autoregressive.
    """
    first_number = 1
    for chunk in _chunks(pairs):
        attended = _attend(context, chunk, None if cut else first_number)
        for (source, target), pair in zip(chunk, attended, strict=True):
            links = alignment.links(pair.weights, pair.source, pair.target)
            yield alignment.as_given(links, source, target)
        first_number += len(chunk)


def links_of_normal_forms(context: Context, pairs: Iterable[TextPair]) -> Iterator[Links]:
    """Yields what `align` does, cut, but of the words of normal forms; see text/spelling.py."""
    for chunk in _chunks(pairs):
        for pair in _attend(context, chunk):
            yield alignment.links(pair.weights, pair.source, pair.target)


def link_spans(context: Context, pairs: Iterable[TextPair]) -> Iterator[list[SpanLink]]:
    """Yields the links of each of `pairs`, cut, as spans of characters.

    They link words, or, in scripts without spaces, tokens.

    Args:
      context: the Context.
      pairs: (source, target), both in their normal form.

    Raises:
      UserError: the run is non-autoregressive.
    """
    for chunk in _chunks(pairs):
        for pair in _attend(context, chunk):
            yield _span_links(context.tokenizer, pair)


def _span_links(tokenizer: Tokenizer, pair: _Attended) -> list[SpanLink]:
    """Returns the links of a pair as spans of characters."""
    if not (pair.source and pair.target):
        return []
    source = alignment.unit_numbers(pair.source)
    target = alignment.unit_numbers(pair.target)
    source_spans = _spans(tokenizer, pair.ids.source, pair.source, source)
    target_spans = _spans(tokenizer, pair.ids.target, pair.target, target)
    links = alignment.link_groups(pair.weights, source, target)
    return [SpanLink(source_spans[i], target_spans[j]) for i, j in links]


def _spans(
    tokenizer: Tokenizer, ids: list[int], surfaces: list[str], numbers: np.ndarray
) -> list[tuple[int, int]]:
    """Returns where in their text each group of tokens begins and ends.

    Args:
      tokenizer: the Tokenizer.
      ids: of a text, without START and END.
      surfaces: of the ids.
      numbers: the number of the group of each, from 0.
    """
    sizes = np.bincount(numbers).cumsum().tolist()
    if tokenizer.processor.unk_id() in ids:  # whose letters decoding would replace
        ends = [len("".join(surfaces[:size])) - 1 for size in sizes]  # without the first U+2581
    else:
        texts = tokenizer.processor.decode([ids[:size] for size in sizes])
        ends = [len(text) for text in texts]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _attend(
    context: Context, chunk: Sequence[TextPair], first_number: int | None = None
) -> Iterator[_Attended]:
    """Yields the attention of each pair of a chunk, of as many at a time as memory holds.

    Args:
      context: the Context.
      chunk: (source, target).
      first_number: see `_encode`.
    """
    if context.engine.limitation:
        raise UserError(f"{context.engine.limitation}: its attention says nothing of words")
    pairs = _encode(context, chunk, first_number)
    start = 0
    while start < len(pairs):
        end, weights = start, 0
        while end < len(pairs) and (end == start or weights < MAX_WEIGHTS):
            weights += len(pairs[end].source) * len(pairs[end].target)
            end += 1
        attentions = context.engine.attend(pairs[start:end])
        for texts, ids, attention in zip(
            chunk[start:end], pairs[start:end], attentions, strict=True
        ):
            source, target = (
                _surfaces(context.tokenizer, text, side)
                for text, side in zip(texts, ids, strict=True)
            )
            yield _Attended(
                attention.cross[: len(target), 1 : 1 + len(source)],
                source,
                target,
                IdPair(ids.source[1:-1], ids.target[1:-1]),
            )
        start = end


def _surfaces(tokenizer: Tokenizer, text: str, ids: list[int]) -> list[str]:
    """Returns the surfaces of the ids of a text, without START and END."""
    return tokenizer.surfaces(spelling.trimmed(text), MAX_SOURCE_TOKENS)[: len(ids) - 2]


def _encode(
    context: Context, chunk: Sequence[TextPair], first_number: int | None = None
) -> list[IdPair]:
    """Returns the ids of pairs, cut after MAX_SOURCE_TOKENS.

    Args:
      context: the Context.
      chunk: (source, target).
      first_number: of the first pair, for the error that a pair is too long; None for none.

    Raises:
      UserError: a side of a pair is too long.
    """
    sources, targets = (
        context.tokenizer.encode([*map(spelling.trimmed, side)], MAX_SOURCE_TOKENS)
        for side in zip(*chunk, strict=True)
    )
    pairs = []
    for index, (source, target) in enumerate(zip(sources, targets, strict=True)):
        if first_number is not None and max(len(source), len(target)) > MAX_SOURCE_TOKENS:
            raise UserError(
                f"pair {first_number + index} has more than {MAX_SOURCE_TOKENS} tokens on a side; "
                "split it: that is the limit"
            )
        pairs.append(IdPair(source[:MAX_SOURCE_TOKENS], target[:MAX_SOURCE_TOKENS]))
    return pairs


def _chunks(pairs: Iterable[TextPair]) -> Iterator[list[TextPair]]:
    """Yields pairs in lists of CHUNK_LINES."""
    waiting = iter(pairs)
    while chunk := list(itertools.islice(waiting, CHUNK_LINES)):
        yield chunk
