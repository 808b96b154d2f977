"""What must hold of minimum Bayes risk: the candidate nearest to all others is chosen."""

import math

import pytest
import sacrebleu

from nmt.decoding import consensus

A, B, C = "the cat sat on the mat", "the cat sat on a mat", "dogs bark"


@pytest.mark.parametrize("utility", consensus.UTILITIES)
def test_the_candidate_nearest_to_the_others_is_chosen(utility):
    rows = [(C, -1.0), (A, -2.0), (B, -3.0), (A, -2.0)]
    assert consensus.choose(rows, utility) == (A, -2.0)
    assert consensus.choose([(C, -1.0), (B, -3.0), (C, -1.0)], utility) == (C, -1.0)
    assert consensus.choose([(C, -1.0)], utility) == (C, -1.0)


def test_translations_of_a_search_count_by_their_probabilities():
    def chrf(text, reference):
        return sacrebleu.sentence_chrf(text, [reference]).score

    for of_c in (-0.1, -1.0, -3.0):
        rows = [(A, -2.0), (B, -2.5), (C, of_c)]
        expected = [
            sum(math.exp(number) * chrf(text, other) for other, number in rows) for text, _ in rows
        ]
        found = consensus.choose(rows, "chrf", sampled=False)
        assert found == rows[expected.index(max(expected))]
    assert found == (A, -2.0)
    assert consensus.choose([(A, -2.0), (B, -2.5), (C, -0.1)], "chrf", sampled=False)[0] == C


def test_probabilities_too_small_to_be_numbers_can_be_compared():
    rows = [(A, -2000.0), (B, -2001.0), (C, -5000.0)]
    assert consensus.choose(rows, "chrf", sampled=False) == (A, -2000.0)


def test_bleu_chooses_by_characters_where_words_have_no_spaces():
    texts = ["今晚我的朋友看着大海。", "今晚一个孩子去学校。", "今晚一个孩子去大学校。"]
    for order in (texts, texts[::-1], [texts[1], texts[0], texts[2]]):
        rows = [(text, -1.0) for text in order]
        assert consensus.choose(rows, "bleu")[0] != texts[0]
