"""What must hold of the recurrent networks of lessons/recurrent.py."""

import sys

import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, randomized, run_process, sentences, write_tsv

from transformer_model import END, PAD, START, create_padding_mask

sys.path.insert(0, str(ROOT / "lessons"))
from recurrent import Recurrent

INP = tf.constant([[START, 5, 6, 7, END], [START, 8, END, PAD, PAD]])
TAR = tf.constant([[START, 9, 4, END], [START, 4, 9, 9]])


@pytest.fixture(params=[True, False], ids=["attention", "one context vector"])
def model(request):
    """A small network of random weights."""
    model = Recurrent(12, 4, 6, 2, 0.1, attends=request.param)
    model.build()
    return randomized(model)


def test_attention_is_that_of_the_slides(model):
    """Weights softmax(score(h_t, h_s)), their mean of the states, tanh(W_c [c_t; h_t])."""
    encoded, states = (model.encode(INP)[0].numpy(), model.encode(INP)[1][-1].numpy())
    h = np.random.default_rng(0).normal(size=(2, 3, 6)).astype(np.float32)
    padding = create_padding_mask(INP)[:, 0]  # (B, 1, S)
    vectors, weights = model.attend(tf.constant(h), tf.constant(encoded), states, padding)
    w_c, b_c = model.combine.get_weights()
    for row, length in ((0, 5), (1, 3)):
        for t in range(3):
            if model.attends:
                (w,) = model.score.get_weights()
                scores = np.array([h[row, t] @ w @ encoded[row, s] for s in range(length)])
                shares = np.exp(scores) / np.exp(scores).sum()
                np.testing.assert_allclose(weights[row, t, :length], shares, atol=1e-5)
                assert not weights[row, t, length:].numpy().any()  # padding
                context = shares @ encoded[row, :length]
            else:
                assert weights is None
                context = states[row]
            expected = np.tanh(np.concatenate([context, h[row, t]]) @ w_c + b_c)
            np.testing.assert_allclose(vectors[row, t], expected, atol=1e-5)


def test_the_context_vector_is_the_last_state_before_padding(model):
    encoded, states = model.encode(INP)
    np.testing.assert_allclose(states[-1][0], encoded[0, 4], atol=1e-6)
    np.testing.assert_allclose(states[-1][1], encoded[1, 2], atol=1e-6)


def test_greedy_search_predicts_what_one_pass_over_its_tokens_predicts(model):
    ids = model.translate(INP).numpy()
    logits = model((INP, ids[:, :-1])).numpy()  # (B, L, V)
    for row in range(2):
        own = ids[row, 1:]
        length = list(own).index(END) + 1 if END in own else len(own)
        np.testing.assert_array_equal(own[:length], logits[row, :length].argmax(axis=-1))
        assert (own[length:] == PAD).all()


def test_a_translation_does_not_depend_on_its_batch(model):
    both, alone = model.translate(INP).numpy()[1], model.translate(INP[1:, :3]).numpy()[0]
    shorter = min(len(both), len(alone))
    np.testing.assert_array_equal(both[:shorter], alone[:shorter])


@pytest.mark.slow
def test_the_command_trains_three_networks_and_prints_a_table(tmp_path):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    small = "--num-layers 1 --d-model 16 --dff 32 --num-heads 2 --units 8 --vocab-size 320".split()
    data = ["--train", tsv, "--valid", tsv, "--test", tsv]
    command = [sys.executable, ROOT / "lessons" / "recurrent.py", *data, *small, "--epochs", "1"]
    done = run_process(command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    head, *networks = (row.strip("| ").split(" | ") for row in rows)
    assert [row[0] for row in networks] == [
        "GRU, one context vector", "GRU with attention", "Transformer"
    ]  # fmt: skip
    assert all(len(row) == len(head) and all(row) for row in networks)
