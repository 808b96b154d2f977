"""What must hold of misaligned pairs: their targets are as likely after any other source."""

import pytest

from nmt import UserError
from nmt.decoding import misaligned


def score(pairs):
    """Yields the log-probabilities of a model that knows translations: the same word, in capitals.

    Each character of another target costs 1 nat, of a correct one 0.1.
    """
    for source, target in pairs:
        yield -len(target) * (0.1 if target == source.upper() else 1.0)


WORDS = [f"word{number}" for number in range(20)]
RIGHT = [(word, word.upper()) for word in WORDS]
SHIFTED = [(word, WORDS[number - 1].upper()) for number, word in enumerate(WORDS)]


def test_the_gain_is_that_of_the_own_source_per_character():
    assert misaligned.gains(score, RIGHT) == pytest.approx([0.9] * 20)
    assert misaligned.gains(score, SHIFTED) == pytest.approx([0.0] * 20)


def test_pairs_are_judged_in_order_in_chunks(monkeypatch):
    monkeypatch.setattr(misaligned, "CHUNK_PAIRS", 7)
    pairs = [*RIGHT[:9], *SHIFTED[9:11], *RIGHT[11:]]
    verdicts = [*misaligned.misaligned(score, pairs)]
    assert [number for number, verdict in enumerate(verdicts) if verdict] == [9, 10]
    assert [*misaligned.misaligned(score, SHIFTED[:2])] == [False, False]  # nothing to compare with
    with pytest.raises(UserError, match="as likely after other sources as after their own"):
        [*misaligned.misaligned(score, SHIFTED)]
    assert [*misaligned.misaligned(score, [])] == []


def test_long_sides_are_scored_by_their_beginnings():
    lengths = []

    def remember(pairs):
        for source, target in pairs:
            lengths.extend((len(source), len(target)))
            yield -1.0

    misaligned.gains(remember, [("a" * 9000, "b" * 9000)] * 3)
    assert {*lengths} == {misaligned.MAX_CHARACTERS}
