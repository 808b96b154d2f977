"""The tokens of translations: how likely each was, what else was, and what each attends to."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nmt.decoding.attention import Attention
from nmt.decoding.context import Context
from nmt.decoding.engines.engine import IdPair, TokenLikelihood
from nmt.decoding.sentence import Sentence, TokenScore
from nmt.text import spelling
from nmt.text.tokenizer import MAX_SOURCE_TOKENS


def id_pair(sentence: Sentence) -> IdPair:
    """Returns the ids that the network reads of a Sentence, and those of its translation."""
    return IdPair(sentence.source[:MAX_SOURCE_TOKENS], sentence.target)


def score_tokens(context: Context, chunk: Sequence[Sentence]) -> None:
    """Fills in the TokenScores of the translations of Sentences, END included."""
    waiting = [sentence for sentence in chunk if sentence.target]
    pairs = [id_pair(sentence) for sentence in waiting]
    scores = context.engine.score(pairs, tokens=True, alternatives=context.options.alternatives)
    for sentence, score in zip(waiting, scores, strict=True):
        sentence.tokens = token_scores(context, sentence.target, score.tokens)


def token_scores(
    context: Context, target: list[int], likelihoods: list[TokenLikelihood]
) -> list[TokenScore]:
    """Returns the TokenScores of a translation, START first, as an engine has scored it."""
    names = context.tokenizer.target.tokens(target[1:])
    scores = []
    for name, likelihood in zip(names, likelihoods, strict=True):
        ids = [number for number, _ in likelihood.alternatives]
        alternatives = [
            (other, math.exp(log_probability))
            for other, (_, log_probability) in zip(
                context.tokenizer.target.tokens(ids), likelihood.alternatives, strict=True
            )
        ]
        scores.append(TokenScore(name, likelihood.log_probability, alternatives))
    return scores


def attention(context: Context, line: str, sentence: Sentence) -> Attention:
    """Returns the Attention of one pass over a translated Sentence."""
    tokenizer = context.tokenizer
    (empty,) = tokenizer.target.encode([""])  # for a line that is not translated: START, END
    pair = IdPair(sentence.source[:MAX_SOURCE_TOKENS], sentence.target or empty)
    (attended,) = context.engine.attend([pair], every_layer=True)
    return Attention(
        tokenizer.tokens(pair.source),
        tokenizer.target.tokens(pair.target),
        attended.weights,
        (spelling.trimmed(line), sentence.translation),
    )


def ids_of_translation(context: Context, sentence: Sentence) -> list[int]:
    """Returns the ids of the whole translation of a Sentence, START first.

    For a reader of the plain source: what the network has not read is there, too.
    """
    if not (sentence.hidden.spans or sentence.verbatim) or sentence.protected is None:
        return sentence.target
    return context.tokenizer.target.encode([sentence.translation])[0]
