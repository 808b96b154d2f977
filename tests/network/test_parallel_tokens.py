"""The decoder of all tokens in parallel: what it sees, in training and in translating."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import randomized, tiny_training

from nmt.network import ctc, parallel_tokens
from nmt.network.parallel_tokens import BLANK_INPUT, GLANCE_SHARE, ParallelTokensForward
from nmt.network.variants import TransformerVariant
from transformer_model import END, PAD, START

INP = np.array([[START, 9, 5, 10, END, 0], [START, 7, END, 0, 0, 0], [0] * 6], np.int32)
TAR = np.array([[START, 4, 8, 8, END], [START, 9, END, 0, 0], [0] * 5], np.int32)


@pytest.fixture(scope="module")
def model():
    """A small non-autoregressive Transformer of random weights."""
    model = TransformerVariant(2, 8, 2, 16, 20, 20, non_autoregressive=True)
    model.build(((None, None), (None, None)))
    return randomized(model)


def test_the_decoder_sees_each_source_token_twice_and_all_positions(model):
    tar_inp = parallel_tokens.decoder_input(INP)
    assert tar_inp[1].numpy().tolist() == [START, START, 7, 7, END, END] + [PAD] * 6
    logits, weights = model((INP, tar_inp))
    block1 = weights["decoder_layer1_block1"].numpy()
    assert (block1[1, :, 0, :6] > 0).all()
    assert (block1[1, :, :, 6:] == 0).all()
    prediction = parallel_tokens.predict(model, INP)
    np.testing.assert_allclose(prediction.logits, logits, atol=1e-5)
    np.testing.assert_array_equal(prediction.is_position, tar_inp != PAD)


def test_training_reveals_half_of_what_is_predicted_wrongly(model):
    inp, target = np.repeat(INP[:1], 500, axis=0), np.repeat(TAR[:1, 1:], 500, axis=0)
    logits, is_position = parallel_tokens.predict(model, inp[:1])
    aligned = ctc.lattice(target[:1], logits, is_position).alignment().tokens[0].numpy()
    missed = (aligned != logits[0].numpy().argmax(axis=-1))[:10].mean()
    tar_inp = parallel_tokens.glance(model, inp, target, [1, 2]).numpy()
    without = parallel_tokens.decoder_input(inp).numpy()
    revealed = np.where(aligned == ctc.BLANK, BLANK_INPUT, aligned)
    is_revealed = tar_inp != without
    np.testing.assert_array_equal(tar_inp[is_revealed], np.tile(revealed, (500, 1))[is_revealed])
    share = is_revealed[:, (revealed != without[0]) & is_position[0].numpy()].mean()
    assert share == pytest.approx(GLANCE_SHARE * missed, abs=0.04)
    again, other = (parallel_tokens.glance(model, inp, target, [1, seed]) for seed in (2, 3))
    np.testing.assert_array_equal(again, tar_inp)
    assert (other != tar_inp).numpy().any()


def test_each_part_of_a_batch_reveals_tokens_of_its_own(model, monkeypatch):
    seeds = []
    glance = parallel_tokens.glance
    monkeypatch.setattr(
        parallel_tokens,
        "glance",
        lambda *args: seeds.append(tuple(args[3].numpy())) or glance(*args),
    )
    forward = ParallelTokensForward(model, 2, lambda: tf.constant([1, 2]))
    forward.predict((INP[:2], TAR[:2, :-1]), training=True)
    assert len(set(seeds)) == 2


def test_nothing_is_revealed_of_padding_or_of_a_target_without_room(model):
    long = np.full((1, 30), 5, np.int32)
    tar_inp = parallel_tokens.glance(model, INP[:1], long, [1, 2])
    np.testing.assert_array_equal(tar_inp, parallel_tokens.decoder_input(INP[:1]))
    tar_inp = parallel_tokens.glance(model, INP, TAR[:, 1:], [1, 2]).numpy()
    np.testing.assert_array_equal(tar_inp == PAD, parallel_tokens.decoder_input(INP) == PAD)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_sums_count_words_and_parts_add_up_to_the_whole(model, smoothing):
    def sums(parts, rows):
        forward = ParallelTokensForward(model, parts)
        predictions = forward.predict((INP[rows], TAR[rows, :-1]))
        return np.stack(forward.token_sums(TAR[rows, 1:], predictions.parts, smoothing))

    whole = sums(1, slice(None))
    assert whole[2] == 4  # words, without END
    np.testing.assert_allclose(sums(2, slice(None)), whole, rtol=1e-5)
    np.testing.assert_allclose(sums(1, [0]) + sums(1, [1]), whole, rtol=1e-5)
    prediction = parallel_tokens.predict(model, INP)
    losses = ctc.lattice(TAR[:, 1:], *prediction).losses().numpy().sum()
    even = -tf.nn.log_softmax(prediction.logits).numpy().mean(axis=-1)
    expected = (1 - smoothing) * losses + smoothing * even[prediction.is_position].sum()
    assert whole[0] == pytest.approx(expected, rel=1e-5)


def test_a_hit_is_a_word_at_its_place(model):
    prediction = parallel_tokens.predict(model, INP)
    words = ctc.meaning(ctc.best_outputs(*prediction)).numpy()
    length = int((words[0] != PAD).sum())
    target = np.array([[*words[0, :length], END, PAD]], np.int32)
    prediction = parallel_tokens.Prediction(*(part[:1] for part in prediction))
    assert parallel_tokens.token_sums(target, prediction).hits == length
    shifted = np.array([[19, *words[0, :length], END]], np.int32)
    assert parallel_tokens.token_sums(shifted, prediction).hits < length


def test_training_learns_and_is_reproducible():
    sums = []
    for _ in range(2):
        keras.utils.set_random_seed(1)
        training = tiny_training(non_autoregressive=True)
        sums.append([training.train_batch(INP[:2], TAR[:2]).numpy() for _ in range(20)])
    np.testing.assert_array_equal(*sums)
    assert sums[0][-1][0] < sums[0][0][0]
    assert int(training.validator.validate_batch(INP[:2], TAR[:2])[2]) == 4
