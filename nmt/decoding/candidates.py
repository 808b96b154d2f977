"""The stage of the search: Sentences get candidates, and at the end the tokens of the best one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from nmt.decoding import letter_case
from nmt.decoding.context import Context
from nmt.decoding.engines.engine import Hypothesis, OnToken, Request
from nmt.decoding.n_best import merge_equal_texts, restored_text
from nmt.decoding.sentence import NOTHING, Candidate, Sentence
from nmt.text import spelling
from nmt.text.tokenizer import MAX_SOURCE_TOKENS

MAX_SAMPLES, TEXTS = 2**10, 2**20  # of a sentence; that have samples of their own

# A function of the text so far, of one sentence, which a search calls after each step. It returns
# whether to continue.
OnText = Callable[[str], bool]


def search(
    context: Context, chunk: Sequence[Sentence], scored: bool, on_text: OnText | None = None
) -> None:
    """Fills in the candidates of Sentences.

    Args:
      on_text: see OnText; then the chunk is one sentence.
    """
    is_sampled = context.options.sampling is not None
    samples = context.options.n_best if is_sampled else 1
    asked = [
        (sentence, rank)
        for sentence in chunk
        if len(sentence.source) > context.tokenizer.empty_length
        for rank in range(samples)
    ]
    requests = [
        Request(
            sentence.source[:MAX_SOURCE_TOKENS],
            sentence.prefix,
            _sample_number(sentence, rank) if is_sampled else 0,
        )
        for sentence, rank in asked
    ]
    on_token = on_text and asked and _report_text(context, chunk[0], on_text)
    results = context.engine.search(requests, scored, on_token or None) if requests else []
    all_ids = [hypothesis.ids for hypotheses in results for hypothesis in hypotheses]
    texts = iter(context.tokenizer.target.decode(all_ids))
    for (sentence, _), hypotheses in zip(asked, results, strict=True):
        candidates = [_candidate(next(texts), hypothesis) for hypothesis in hypotheses]
        sentence.candidates += merge_equal_texts(candidates, context.options.n_best)
    for sentence in chunk:
        if not sentence.candidates:
            sentence.candidates = [NOTHING._replace(text=sentence.verbatim)] * samples


def _candidate(text: str, hypothesis: Hypothesis) -> Candidate:
    return Candidate(text, hypothesis.log_probability, hypothesis.score, hypothesis.ids)


def _sample_number(sentence: Sentence, rank: int) -> int:
    """Returns a number of a sample, which differs for texts that the network reads alike."""
    text = spelling.trimmed(sentence.text)
    if text == sentence.source_text:
        return rank
    return rank + MAX_SAMPLES * (zlib.crc32(text.encode()) % TEXTS)


def _report_text(context: Context, sentence: Sentence, on_text: OnText) -> OnToken:
    """Returns a function that calls `on_text` with the text of ids."""

    def report(ids: list[int]) -> bool:
        (text,) = context.tokenizer.target.decode([ids])
        text = text.rstrip("\ufffd")  # the first bytes of a character
        text = letter_case.as_written(context, sentence, text)
        return on_text(restored_text(text, sentence.protected))

    return report


def find_targets(context: Context, chunk: Sequence[Sentence]) -> None:
    """Fills in the ids of the best candidates: of a text that was changed, newly encoded."""
    changed = []
    for sentence in chunk:
        ids = sentence.candidates[0].ids
        sentence.target = ids or []
        if ids is None and len(sentence.source) > context.tokenizer.empty_length:
            changed.append(sentence)
    texts = [sentence.translation for sentence in changed]
    encoded = context.tokenizer.target.encode(texts, MAX_SOURCE_TOKENS) if texts else []
    for sentence, target in zip(changed, encoded, strict=True):
        sentence.target = target[:MAX_SOURCE_TOKENS]
