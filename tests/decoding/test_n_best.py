"""What must hold of n best translations: each text once; of lines, those of their sentences."""

import itertools
import math
import random

import pytest

from nmt.decoding import n_best
from nmt.decoding.n_best import combine_n_best, merge_equal_texts, restore_candidates
from nmt.decoding.sentence import Candidate, Sentence, Translation
from nmt.text.protected import FIRST_MARK, Protected


def test_two_segmentations_of_a_text_are_one_translation_whose_probabilities_add():
    rows = [
        ("a b", math.log(0.3), math.log(0.3)),
        ("c", math.log(0.25), math.log(0.25)),
        ("c", math.log(0.1), math.log(0.1)),
    ]
    rows = [Candidate(*row) for row in rows]
    first, second = merge_equal_texts(rows, 3)
    assert (first.text, second.text) == ("c", "a b")  # together more likely
    assert [first.log_probability, first.score] == pytest.approx([math.log(0.35)] * 2)
    assert [text for text, *_ in merge_equal_texts(rows, 1)] == ["c"]


def test_texts_that_are_equal_once_marks_are_replaced_are_one():
    a, b, c = (chr(FIRST_MARK + number) for number in range(3))
    texts = {f"{a} or {b}": 0.3, f"{a} and {b}": 0.25, f"{b} or {a}": 0.2, f"{a} or {b} {c}": 0.05}
    candidates = [Candidate(text, math.log(p), math.log(p)) for text, p in texts.items()]
    protected = Protected(f"{a} ou {b}", ["4711", "4711"])
    best = restore_candidates(candidates, protected, 2)
    assert [candidate.text for candidate in best] == ["4711 or 4711", "4711 and 4711"]
    assert math.exp(best[0].log_probability) == pytest.approx(0.5)
    samples = restore_candidates(candidates[::-1], protected, None)
    assert len(samples) == 4


def test_a_length_penalty_stays_that_of_the_best_segmentation():
    (merged,) = merge_equal_texts([Candidate("a", -2.0, -1.0), Candidate("a", -2.0, -0.9)], 2)
    assert merged.log_probability == pytest.approx(math.log(2) - 2)
    assert merged.score == pytest.approx(merged.log_probability / 2)


def test_probabilities_do_not_add_up_to_more_than_1():
    """Those of a memorized sentence are rounded to 1."""
    certain, unlikely = Candidate("a", 0.0, 0.0), Candidate("a", -18.0, -9.0)
    assert merge_equal_texts([certain, unlikely], 2) == [certain]
    assert merge_equal_texts([Candidate("a", -0.5, -0.4)] * 2, 2) == [certain]


def line_of(rows, spaces):
    """Returns the Sentences of a line from (text, log-probability, score) of their candidates."""
    return [
        Sentence("", space, candidates=[Candidate(*row) for row in candidates])
        for candidates, space in zip(rows, spaces, strict=True)
    ]


def test_the_best_of_a_line_are_the_best_combinations_of_its_sentences():
    first = [("a", -1.0, -1.0), ("b", -2.0, -2.0)]
    second = [("x", -1.0, -1.0), ("y", -1.5, -1.5), ("z", -9.0, -9.0)]
    combined = combine_n_best(line_of([first, second], [" ", ""]), 3)
    assert [(best.text, best.log_probability) for best in combined] == [
        ("a x", -2.0), ("a y", -2.5), ("b x", -3.0)
    ]  # fmt: skip
    assert combine_n_best(line_of([[("", 0.0, 0.0)]], [""]), 3) == [Translation("", 0.0)]


def test_a_long_line_has_the_best_combinations_without_trying_all(monkeypatch):
    rng = random.Random(1)
    rows = [
        sorted(((f"{i}.{j}", -rng.random(), -rng.choice(range(9))) for j in range(5)),
               key=lambda row: -row[2])
        for i in range(4)
    ]  # fmt: skip
    lines = [
        (" ".join(text for text, _, _ in line), *(sum(row[k] for row in line) for k in (1, 2)))
        for line in itertools.product(*rows)
    ]
    expected = sorted(lines, key=lambda line: -line[2])[:7]
    combined = combine_n_best(line_of(rows, [" "] * 3 + [""]), 7)
    assert [best.text for best in combined] == [text for text, *_ in expected]
    totals = [best.log_probability for best in combined]
    assert totals == pytest.approx([total for _, total, _ in expected])
    made = []
    make = n_best.Beginning
    monkeypatch.setattr(n_best, "Beginning", lambda *row: made.append(1) or make(*row))
    long = [[(f"{j}", -float(j), -float(j)) for j in range(64)]] * 100
    assert len(combine_n_best(line_of(long, [" "] * 100), 64)) == 64
    assert len(made) < 100 * 64 * 5  # of 64 * 64 each
