"""What must hold against repetition: penalties by hand, and no n-gram twice, in any search."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from helpers import INP, biased_transformer, call, find, hypotheses_of

from nmt import UserError
from nmt.decoding.repetition import restrict
from nmt.decoding.search_options import Repetition, SearchOptions
from transformer_model import END, MASKED, PAD, START

EXTRA = 4
IDS = [[START, 4, 5, 6, 4, 5, PAD, PAD], [START, 4, 4, 4, 7, 4, PAD, PAD]]  # up to position 5


def restricted(repetition, position=5):
    """Returns log-probabilities (2, 1, 9) of the token after IDS, all -1 before."""
    likely = tf.fill((2, 1, 9), -1.0)
    ids = tf.constant(IDS)[:, tf.newaxis]
    return restrict(repetition, likely, ids, position).numpy()[:, 0]


def test_tokens_that_were_said_are_penalized():
    penalized = restricted(Repetition(penalty=3.0))
    expected = np.full((2, 9), -1.0)
    expected[0, [START, 4, 5, 6]] = expected[1, [START, 4, 7]] = -3
    np.testing.assert_allclose(penalized, expected)


@pytest.mark.parametrize(
    ("ngram", "position", "banned"),
    [
        (1, 5, [{4, 5, 6}, {4, 7}]),
        (2, 5, [{6}, {4, 7}]),  # after 5 came 6; after 4 came 4 and 7
        (3, 5, [{6}, set()]),  # after 4 5 came 6; after 7 4 nothing yet
        (3, 3, [set(), {4}]),  # nothing after 5 6; after 4 4 came 4
        (4, 5, [set(), set()]),
        (500, 5, [set(), set()]),
        (2, 0, [set(), set()]),
    ],
)
def test_tokens_that_would_repeat_an_n_gram_are_banned(ngram, position, banned):
    ids = np.where(np.arange(8) <= position, IDS, PAD)
    likely = restrict(
        Repetition(ngram=ngram),
        tf.zeros((2, 1, 9)),
        tf.constant(ids, tf.int32)[:, tf.newaxis],
        position,
    )
    masked = [{*np.flatnonzero(row).tolist()} for row in likely.numpy()[:, 0]]
    assert masked == banned
    assert {*np.unique(likely)} <= {0.0, MASKED}


@pytest.mark.parametrize("beam", [1, 3])
def test_no_translation_repeats_an_n_gram(beam):
    model = biased_transformer(END=-1e4)  # which would never end
    more = dict(extra_tokens=EXTRA + 3)
    hypotheses = hypotheses_of(find(model, INP, beam, repetition=Repetition(ngram=2), **more))
    for rows in hypotheses:
        ids = [token for token in rows[0].ids[1:] if token != END]
        pairs = list(itertools.pairwise(ids))
        assert len({*pairs}) == len(pairs)
    free = hypotheses_of(find(model, INP, beam, **more))
    assert any(len({*itertools.pairwise(rows[0].ids)}) < len(rows[0].ids) - 1 for rows in free)


@pytest.mark.parametrize("beam", [1, 3])
def test_a_prefix_may_repeat(beam):
    model, prefix = biased_transformer(END=1.5), [5, 5, 6, 5]
    hypotheses = find(
        model, INP, beam, extra_tokens=EXTRA, prefix=tf.constant([prefix] * len(INP)),
        repetition=Repetition(2.0, 1),
    )  # fmt: skip
    for source, rows in zip(INP, hypotheses_of(hypotheses), strict=True):
        if source.any():
            assert list(rows[0].ids[1:5]) == prefix


@pytest.mark.usefixtures("eagerly")
def test_flags_against_repetition(finished, capsys, refusal_of):
    command = ["translate", "--run", finished / "run", "um um um um."]
    assert call(*command, "--no-repeat-ngram", "1") == 0
    words = capsys.readouterr().out.split()
    assert len({*words}) == len(words)
    assert call(*command, "--repetition-penalty", "50", "--beam", "3") == 0
    assert capsys.readouterr().out
    for more in (["--repetition-penalty", "0.5"], ["--no-repeat-ngram", "-1"]):
        assert "is less than" in refusal_of(*command, *more)
    with pytest.raises(UserError, match="repetition_penalty: nan is not a number"):
        SearchOptions(repetition=Repetition(float("nan"))).check()
    with pytest.raises(UserError, match="no_repeat_ngram: -1 is less than 0"):
        SearchOptions(repetition=Repetition(ngram=-1)).check()
