"""Connectionist temporal classification, by its definition: the sum over all outputs."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from nmt.network import ctc
from transformer_model import END, PAD, START, UNKNOWN

VOCABULARY, POSITIONS = 7, 5
TARGETS = [[4], [4, 5], [4, 4], [4, 5, 4], [6, 6, 6], []]  # the fifth needs five positions


def meaning(outputs):
    """Returns the words that outputs mean, by the definition."""
    return [token for token, _ in itertools.groupby(outputs) if token != ctc.BLANK]


def case(seed=0, positions=POSITIONS):
    """Returns target ids with END, logits (B, L, V), and which positions there are."""
    targets = tf.keras.utils.pad_sequences([[*words, END] for words in TARGETS], padding="post")
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (len(TARGETS), POSITIONS, VOCABULARY)).astype(np.float32)
    is_position = np.broadcast_to(np.arange(POSITIONS) < positions, logits.shape[:2])
    return targets, logits, is_position


def probabilities_of_outputs(logits, positions):
    """Yields all outputs of one target, each with its probability."""
    shares = tf.nn.softmax(logits.astype(np.float64)).numpy()
    for outputs in itertools.product(range(VOCABULARY), repeat=positions):
        yield outputs, np.prod([shares[place, token] for place, token in enumerate(outputs)])


def test_the_loss_is_the_sum_over_all_outputs_that_mean_the_target():
    targets, logits, is_position = case()
    losses = ctc.lattice(targets, logits, is_position).losses().numpy()
    for row, words in enumerate(TARGETS):
        outputs = probabilities_of_outputs(logits[row], POSITIONS)
        expected = sum(share for tokens, share in outputs if meaning(tokens) == words)
        assert losses[row] == pytest.approx(-np.log(expected), rel=1e-5)


def test_a_target_without_room_for_it_and_its_blanks_has_no_loss():
    targets, logits, is_position = case(positions=3)
    paths = ctc.lattice(targets, logits, is_position)
    assert paths.fits().numpy().tolist() == [True, True, True, True, False, True]
    assert paths.losses()[4] == 0.0
    outputs = probabilities_of_outputs(logits[2], 3)
    expected = sum(share for tokens, share in outputs if meaning(tokens) == TARGETS[2])
    assert paths.losses()[2].numpy() == pytest.approx(-np.log(expected), rel=1e-5)


def test_the_gradient_is_that_of_ctc_over_the_whole_vocabulary():
    targets, logits, is_position = case()
    logits = tf.constant(logits)
    lengths = [len(words) for words in TARGETS]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(logits)
        losses = ctc.lattice(targets, logits, is_position).losses()
        expected = tf.nn.ctc_loss(
            np.where(targets == END, 0, targets), logits, lengths, [POSITIONS] * len(TARGETS),
            logits_time_major=False, blank_index=ctc.BLANK,
        )  # fmt: skip
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    difference = tape.gradient(losses, logits) - tape.gradient(expected, logits)
    assert np.abs(difference).max() < 1e-4


def test_the_alignment_is_the_likeliest_token_among_outputs_that_mean_the_target():
    targets, logits, is_position = case()
    alignment, is_missed = ctc.lattice(targets, logits, is_position).alignment()
    for row, words in enumerate(TARGETS):
        shares = np.zeros((POSITIONS, VOCABULARY))
        for tokens, share in probabilities_of_outputs(logits[row], POSITIONS):
            if meaning(tokens) == words:
                shares[range(POSITIONS), tokens] += share
        np.testing.assert_array_equal(alignment[row], shares.argmax(axis=1))
    np.testing.assert_array_equal(is_missed, alignment != logits.argmax(axis=-1))


def test_equal_neighbors_count_once_and_blanks_are_dropped():
    rng = np.random.default_rng(3)
    outputs = rng.choice([0, 0, 4, 5, 6], (50, 12)).astype(np.int32)
    for row, words in zip(outputs, ctc.meaning(outputs).numpy(), strict=True):
        expected = meaning(row.tolist())
        assert words.tolist() == expected + [PAD] * (12 - len(expected))


def test_special_tokens_are_never_predicted():
    logits = np.zeros((1, 2, VOCABULARY), np.float32)
    logits[..., [START, END, UNKNOWN]] = 9
    logits[0, 0, 5] = 1
    is_position = np.array([[True, False]])
    assert ctc.best_outputs(logits, is_position).numpy().tolist() == [[5, ctc.BLANK]]
    expected = tf.nn.log_softmax(logits)[0, 0, 5]
    log_probability = ctc.log_probability_of_best(logits, is_position)
    np.testing.assert_allclose(log_probability, [expected], rtol=1e-6)
