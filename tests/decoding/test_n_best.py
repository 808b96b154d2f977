"""What must hold of n best translations: each text once; of lines, those of their sentences."""

import math

import pytest

from nmt.decoding.n_best import joined, merged


def test_two_segmentations_of_a_text_are_one_translation_whose_probabilities_add():
    rows = [
        ("a b", math.log(0.3), math.log(0.3)),
        ("c", math.log(0.25), math.log(0.25)),
        ("c", math.log(0.1), math.log(0.1)),
    ]
    (first, *numbers), (second, *_) = merged(rows, 3)
    assert (first, second) == ("c", "a b")  # together more likely
    assert numbers == pytest.approx([math.log(0.35)] * 2)
    assert [text for text, *_ in merged(rows, 1)] == ["c"]


def test_a_length_penalty_stays_that_of_the_best_segmentation():
    ((_, log_probability, score),) = merged([("a", -2.0, -1.0), ("a", -2.0, -0.9)], 2)
    assert log_probability == pytest.approx(math.log(2) - 2)
    assert score == pytest.approx(log_probability / 2)


def test_probabilities_do_not_add_up_to_more_than_1():
    """Those of a memorized sentence are rounded to 1."""
    assert merged([("a", 0.0, 0.0), ("a", -18.0, -9.0)], 2) == [("a", 0.0, 0.0)]
    assert merged([("a", -0.5, -0.4), ("a", -0.5, -0.4)], 2) == [("a", 0.0, 0.0)]


def test_the_best_of_a_line_are_the_best_combinations_of_its_sentences():
    first = [("a", -1.0, -1.0), ("b", -2.0, -2.0)]
    second = [("x", -1.0, -1.0), ("y", -1.5, -1.5), ("z", -9.0, -9.0)]
    found = joined([first, second], [" ", ""], 3)
    assert found == [("a x", -2.0), ("a y", -2.5), ("b x", -3.0)]
    assert joined([[("", 0.0, 0.0)]], [""], 3) == [("", 0.0)]
