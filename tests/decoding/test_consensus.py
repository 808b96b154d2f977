"""What must hold of minimum Bayes risk: the candidate nearest to all others is chosen."""

import math

import sacrebleu

from nmt.decoding import consensus
from nmt.decoding.sentence import Translation

A, B, C = "the cat sat on the mat", "the cat sat on a mat", "dogs bark"


def test_the_candidate_nearest_to_the_others_is_chosen():
    c = Translation(C, -1.0)
    candidates = [c, Translation(A, -2.0), Translation(B, -3.0), Translation(A, -2.0)]
    assert consensus.choose(candidates) == Translation(A, -2.0)
    assert consensus.choose([c, Translation(B, -3.0), c]) == c
    assert consensus.choose([c]) == c


def test_translations_of_a_search_count_by_their_probabilities():
    def chrf(text, reference):
        return sacrebleu.sentence_chrf(text, [reference]).score

    def utility(candidate, candidates):
        return sum(
            math.exp(reference.log_probability) * chrf(candidate.text, reference.text)
            for reference in candidates
        )

    for log_probability, expected in ((-0.1, C), (-1.0, None), (-3.0, A)):
        candidates = [Translation(A, -2.0), Translation(B, -2.5), Translation(C, log_probability)]
        chosen = consensus.choose(candidates, sampled=False)
        utilities = [utility(candidate, candidates) for candidate in candidates]
        assert chosen == candidates[utilities.index(max(utilities))]
        assert chosen.text == (expected or chosen.text)


def test_probabilities_too_small_to_be_numbers_can_be_compared():
    candidates = [Translation(A, -2000.0), Translation(B, -2001.0), Translation(C, -5000.0)]
    assert consensus.choose(candidates, sampled=False) == candidates[0]


def test_the_candidate_closest_to_a_reference_is_the_first_of_the_highest_chrf():
    candidates = [Translation(C, -1.0), Translation(B, -2.0), Translation(A, -3.0)]
    assert consensus.closest(candidates, A) == candidates[2]
    assert consensus.closest(candidates, "dogs") == candidates[0]
    assert consensus.closest(candidates, "xyz") == candidates[0]  # all are equal
