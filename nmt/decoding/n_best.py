"""The n best translations of a sentence, each text once; and of a line of several sentences."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from nmt.decoding.context import Context
from nmt.decoding.sentence import Candidate, Sentence, Translation
from nmt.text import sentences, spelling
from nmt.text.protected import Protected, restore


def merge_equal_texts(candidates: Sequence[Candidate], number: int) -> list[Candidate]:
    """Returns the best `number` of a sentence's Candidates, each text once.

    A text has several segmentations into tokens; their probabilities add up to that of the text.

    Args:
      candidates: the best score first.
    """
    if len(candidates) == 1:
        return [*candidates]
    by_text: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.text in by_text:
            known = by_text[candidate.text]
            total = min(log_of_sum(known.log_probability, candidate.log_probability), 0.0)
            share = total / known.log_probability if total else 0.0
            candidate = known._replace(log_probability=total, score=known.score * share)
        by_text[candidate.text] = candidate
    return sorted(by_text.values(), key=lambda candidate: -candidate.score)[:number]


def log_of_sum(log_1: float, log_2: float) -> float:
    """Returns log(exp(log_1) + exp(log_2)), which alone may be too small for a float."""
    if log_1 == log_2:  # -inf, too
        return log_1 + math.log(2)
    return max(log_1, log_2) + math.log1p(math.exp(-abs(log_1 - log_2)))


def restore_candidates(
    candidates: Sequence[Candidate], protected: Protected, number: int | None
) -> list[Candidate]:
    """Returns the best `number` of a sentence's Candidates, with originals in place of marks.

    Texts with other marks may then be equal: each is there once; see `merge_equal_texts`.

    Args:
      candidates: the best score first.
      number: None for all of them, as they are: samples.
    """
    texts = [restored_text(candidate.text, protected) for candidate in candidates]
    restored = [
        candidate if text == candidate.text else candidate._replace(text=text)
        for candidate, text in zip(candidates, texts, strict=True)
    ]
    return merge_equal_texts(restored, number) if number else restored


def restored_text(text: str, protected: Protected | None) -> str:
    """Returns a translation with originals in place of marks, as it is printed."""
    return spelling.printed(restore(text, protected)) if protected else text


def restore_sentences(context: Context, chunk: Sequence[Sentence]) -> None:
    """Puts originals in place of marks: the stage after placement."""
    number = None if context.options.sampling else context.options.n_best
    for sentence in chunk:
        if sentence.protected:
            sentence.candidates = restore_candidates(
                sentence.candidates, sentence.protected, number
            )


class Beginning(NamedTuple):
    """A translation of the first sentences of a line."""

    before: "Beginning | None"  # that of all of them but the last one
    text: str  # of the last one
    log_probability: float  # of all of them
    score: float

    def texts(self) -> list[str]:
        """Returns the translations of all sentences, in their order."""
        texts: list[str] = []
        beginning = self
        while beginning.before is not None:
            texts.append(beginning.text)
            beginning = beginning.before
        return texts[::-1]


def combine_n_best(line: list[Sentence], number: int) -> list[Translation]:
    """Returns the best `number` translations of a line, the best first."""
    if len(line) == 1:  # as most lines: the same as below, sooner
        (sentence,) = line
        return [
            Translation(candidate.text + sentence.space, candidate.log_probability)
            for candidate in sentence.candidates[:number]
        ]
    best = [Beginning(None, "", 0.0, 0.0)]
    for sentence in line:
        longer = []
        for rank, beginning in enumerate(best):
            # Both lists begin with the best. Of the beginnings up to this rank with the first n
            # candidates, (rank + 1) n are at least as good as the next.
            for candidate in sentence.candidates[: number // (rank + 1)]:
                log_probability = beginning.log_probability + candidate.log_probability
                score = beginning.score + candidate.score
                longer.append(Beginning(beginning, candidate.text, log_probability, score))
        best = sorted(longer, key=lambda beginning: -beginning.score)[:number]
    spaces = [sentence.space for sentence in line]
    translations = []
    for beginning in best:
        text = sentences.join(beginning.texts(), spaces)
        translations.append(Translation(text, beginning.log_probability))
    return translations


def combine_samples(line: list[Sentence]) -> list[Translation]:
    """Returns the samples of a line, in the order drawn.

    The first samples of its sentences make the first one of the line, and so on.
    """
    spaces = [sentence.space for sentence in line]
    samples = []
    for number in range(len(line[0].candidates)):
        parts = [sentence.candidates[number] for sentence in line]
        text = sentences.join([part.text for part in parts], spaces)
        samples.append(Translation(text, sum(part.log_probability for part in parts)))
    return samples
