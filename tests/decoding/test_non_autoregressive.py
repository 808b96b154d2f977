"""Non-autoregressive translation: one pass, which sees none of the tokens it predicts."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import TINY, as_dataset, call, randomized, sentences, tiny_training, write_tsv

import run_demo
from nmt import UserError
from nmt.decoding import non_autoregressive
from nmt.decoding.sampling import Sampling
from nmt.decoding.translator import Translator
from nmt.network.masked_targets import MASK, mask_targets
from transformer_model import END, PAD, START, Transformer

INP = np.array([[START, 9, 5, 10, END, 0], [START, 7, END, 0, 0, 0], [0] * 6], np.int32)
TAR = np.array([[START, 4, 8, 6, END], [START, 9, END, 0, 0], [0] * 5], np.int32)
MASKS = [5 * 5 // 4 + 8, 3 * 5 // 4 + 8, 0]


@pytest.fixture(scope="module")
def model():
    """A small non-autoregressive Transformer of random weights."""
    model = Transformer(2, 8, 2, 16, 20, 20, non_autoregressive=True)
    model.build(((None, None), (None, None)))
    return randomized(model)


def test_the_decoder_input_is_masked_tokens_longer_than_the_source():
    given, real = (found.numpy() for found in mask_targets(INP, TAR[:, 1:]))
    assert given.shape == real.shape == (3, 6 * 5 // 4 + 8)
    for row, masks in enumerate(MASKS):
        assert given[row].tolist() == [MASK] * masks + [PAD] * (15 - masks)
    np.testing.assert_array_equal(real, np.pad(TAR[:, 1:], ((0, 0), (0, 11))))


def test_revealed_tokens_are_not_predicted_and_predicted_ones_not_revealed():
    inp, tar = np.repeat(INP[:1], 1000, axis=0), np.repeat(TAR[:1], 1000, axis=0)
    given, real = (found.numpy() for found in mask_targets(inp, tar[:, 1:], seed=[1, 2]))
    shown = given[:, :4] != MASK
    np.testing.assert_array_equal(given[:, :4][shown], tar[:, 1:][shown])
    np.testing.assert_array_equal(real[:, :4], np.where(shown, PAD, tar[:, 1:]))
    assert (given[:, 4 : MASKS[0]] == MASK).all()  # the target's end is not revealed
    # Half of the rows are hidden whole, and of the others a share that is even between 0 and 1.
    assert shown.mean() == pytest.approx(0.25, abs=0.03)
    assert 0.5 < (~shown.any(axis=1)).mean() < 0.7
    again, other = (mask_targets(inp, tar[:, 1:], seed=[1, s])[0].numpy() for s in (2, 3))
    np.testing.assert_array_equal(again, given)
    assert (other != given).any()


def test_later_positions_are_attended_to_but_no_token_is_passed_on(model):
    given = mask_targets(INP[:1], TAR[:1, 1:])[0].numpy()
    logits, weights = model((INP[:1], given))
    assert (weights["decoder_layer1_block1"][0, :, 0, 1 : MASKS[0]].numpy() > 0).all()
    assert (weights["decoder_layer1_block1"][0, :, :, MASKS[0] :].numpy() == 0).all()
    shown = given.copy()
    shown[0, 3] = 7
    changed, _ = model((INP[:1], shown))
    assert np.abs(changed - logits)[0, 0].max() > 1e-3  # the first place sees the fourth


def test_a_search_is_one_pass_cut_at_the_first_end_whatever_the_batch(model):
    calls = []
    original, model.decoder.call = model.decoder.call, None
    model.decoder.call = lambda *given, **more: calls.append(1) or original(*given, **more)
    found = non_autoregressive.search(model, INP)
    model.decoder.call = original
    assert calls == [1]
    for row in range(2):
        alone = non_autoregressive.search(model, INP[row : row + 1, : 5 if row == 0 else 3])
        ids = found.ids[row, 0].numpy()
        length = alone.ids.shape[-1]
        np.testing.assert_array_equal(ids[:length], alone.ids[0, 0])
        assert (ids[length:] == PAD).all()
        assert float(found.scores[row, 0]) == pytest.approx(float(alone.scores[0, 0]), abs=1e-4)
        tokens = ids[ids != PAD].tolist()
        assert tokens[0] == START
        assert not {START, PAD, MASK} & set(tokens[1:])
        assert tokens.count(END) == bool(found.finished[row, 0]) <= (tokens[-1] == END)
    assert found.ids[2, 0].numpy().tolist() == [START] + [PAD] * 15  # of no source


def test_a_prediction_ends_with_the_first_end(model):
    layer = model.final_layer
    kernel, bias = layer.get_weights()
    layer.set_weights([kernel, bias + 100.0 * (np.arange(len(bias)) == END)])
    try:
        found = non_autoregressive.search(model, INP)
    finally:
        layer.set_weights([kernel, bias])
    ids = found.ids[:, 0].numpy()
    np.testing.assert_array_equal(ids[:, :3], [[START, END, PAD], [START, END, PAD], [START, 0, 0]])
    assert (ids[:, 3:] == PAD).all()
    assert found.finished[:2].numpy().all()
    assert found.log_probabilities.numpy() == pytest.approx(0.0, abs=1e-4)  # of END, once


def test_the_score_is_the_sum_of_log_probabilities_by_position(model):
    found = non_autoregressive.log_probabilities(model, INP, TAR).numpy()
    given, _ = mask_targets(INP, TAR[:, 1:])
    each = tf.nn.log_softmax(model((INP, given))[0]).numpy()
    for row in range(2):
        expected = sum(each[row, place, token] for place, token in enumerate(TAR[row, 1:]) if token)
        assert found[row] == pytest.approx(expected, abs=1e-4)
    long = np.pad(np.full((1, 20), 5, np.int32), ((0, 0), (1, 0)), constant_values=START)
    assert non_autoregressive.log_probabilities(model, INP[:1], long).numpy() == [-np.inf]


def test_training_predicts_masked_tokens_and_is_reproducible():
    sums = []
    for _ in range(2):
        tf.random.set_seed(0)
        keras.utils.set_random_seed(1)
        training = tiny_training(non_autoregressive=True)
        sums.append([training.train_step(INP[:2], TAR[:2]).numpy() for _ in range(20)])
    np.testing.assert_array_equal(*sums)
    tokens = {int(row[2]) for row in sums[0]}
    assert max(tokens) == 6  # all of the two targets
    assert len(tokens) > 1  # and at times some of them
    assert int(training.validation_step(INP[:2], TAR[:2])[2]) == 6


@pytest.mark.slow
def test_a_run_predicts_all_tokens_in_parallel_from_training_to_export(tmp_path, capsys):
    data = write_tsv(tmp_path / "n.tsv", sentences(60))
    command = ["--dataset", data, "--run", tmp_path / "run", *TINY, "--non-autoregressive"]
    assert call(*command, "--beam", 2) == 2
    assert "leave it out" in capsys.readouterr().err
    assert call("train", "--preset", "tiny", *command) == 0  # whose beam is of 5
    saved = json.loads((tmp_path / "run" / "params.json").read_text())
    assert saved["non_autoregressive"] is True
    assert saved["beam"] == 1
    assert "non-autoregressive:" in capsys.readouterr().out
    own = ["--run", tmp_path / "run"]
    assert call("translate", *own, "--n-best", 2, "um dois.") == 2
    assert "leave out --beam, --n-best" in capsys.readouterr().err
    assert call("translate", *own, "--score", "um dois.", "") == 0
    first, empty = capsys.readouterr().out.splitlines()
    assert empty == "0.0000\t"
    assert call("translate", *own, "--beam", 2, "um.") == 2
    assert call("export", *own, "--format", "ctranslate2") == 2
    assert "does not support non-autoregressive models" in capsys.readouterr().err
    assert call("export", *own) == 0
    serve = tf.saved_model.load(capsys.readouterr().out.strip()).signatures
    assert list(serve) == ["serving_default"]
    found = serve["serving_default"](sentences=tf.constant(["um dois."]))
    score, text = first.split("\t")
    assert found["translations"].numpy()[0].decode() == text
    assert float(found["scores"][0]) == pytest.approx(float(score), abs=1e-3)


def test_attention_has_the_positions_that_were_predicted():
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(sentences(50)), 300))
    model = Transformer(1, 8, 2, 16, tokenizer.vocab_size, tokenizer.vocab_size,
                        non_autoregressive=True)  # fmt: skip
    model.build(((None, None), (None, None)))
    translate = Translator(model, tokenizer)
    seen = translate.attend("um dois.")
    for kind in ("encoder", "decoder", "cross"):
        weights, queries, keys = seen.select(kind, 1)
        assert weights.shape == (2, len(queries), len(keys))
    for options in (dict(beam=4), dict(sampling=Sampling(), n_best=1)):
        with pytest.raises(UserError, match="non-autoregressive: leave out --beam"):
            Translator(model, tokenizer, **options)
    for options in (dict(alignments=True), dict(token_scores=True), dict(alternatives=2)):
        with pytest.raises(UserError, match="leave out --alignments, --token-scores"):
            Translator(model, tokenizer, **options)
