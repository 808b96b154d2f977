"""What must hold of symbols in a search: each is in a translation as often as in its source."""

import numpy as np
import tensorflow as tf

from nmt.decoding.copied_symbols import CopiedSymbols
from transformer_model import END, MASKED, PAD, START

SYMBOLS = CopiedSymbols(range(END + 1, END + 4))  # A, B, C
A, B, C, WORD = END + 1, END + 2, END + 3, END + 4


def restricted(required, ids, likely):
    """Returns what may follow `ids`: log-probabilities (5,) of END, A, B, C and WORD."""
    likely = tf.constant([[[-90.0] * END + likely]])  # (1, 1, V)
    result = SYMBOLS.restrict(likely, tf.constant([[ids]]), tf.constant([required]))
    return result[0, 0, END:].numpy().tolist()


def test_symbols_are_counted():
    ids = tf.constant([[START, A, WORD, A, C, END, PAD]])
    assert SYMBOLS.count(ids).numpy().tolist() == [[2, 0, 1]]


def test_a_missing_symbol_takes_the_place_of_the_end():
    likely = [-0.5, -9.0, -7.0, -2.0, -1.0]
    assert restricted([1, 1, 0], [START], likely) == [MASKED, -9.0, -0.5, MASKED, -1.0]


def test_a_symbol_that_is_likelier_than_the_end_keeps_its_probability():
    likely = [-8.0, -9.0, -7.0, -2.0, -1.0]
    assert restricted([2, 1, 0], [START, A, PAD], likely) == [MASKED, -9.0, -7.0, MASKED, -1.0]


def test_nothing_is_left_but_the_end_and_words_once_all_symbols_are_there():
    likely = [-0.5, -9.0, -7.0, -2.0, -1.0]
    found = restricted([1, 1, 0], [START, B, A], likely)
    assert found == [-0.5, MASKED, MASKED, MASKED, -1.0]


def test_each_row_has_symbols_of_its_own():
    likely = tf.zeros((2, 2, 8))
    ids = tf.constant([[[START, A], [START, WORD]], [[START, A], [START, B]]])
    result = SYMBOLS.restrict(likely, ids, tf.constant([[1, 0, 0], [0, 1, 0]])).numpy()
    may_end = result[..., END] == 0
    np.testing.assert_array_equal(may_end, [[True, False], [False, True]])
