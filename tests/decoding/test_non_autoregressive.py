"""Non-autoregressive translation: one pass, which sees none of the tokens it predicts."""

import json

import numpy as np
import pytest
import tensorflow as tf
from helpers import TINY, as_dataset, call, make_translator, randomized, sentences, write_tsv

import run_demo
from nmt import UserError
from nmt.decoding import non_autoregressive
from nmt.decoding.search_options import Sampling
from nmt.network import parallel_tokens
from nmt.network.variants import TransformerVariant
from transformer_model import END, PAD, START, UNKNOWN

INP = np.array([[START, 9, 5, 10, END, 0], [START, 7, END, 0, 0, 0], [0] * 6], np.int32)


@pytest.fixture(scope="module")
def model():
    """A small non-autoregressive Transformer of random weights."""
    model = TransformerVariant(2, 8, 2, 16, 20, 20, non_autoregressive=True)
    model.build(((None, None), (None, None)))
    return randomized(model)


def test_a_search_is_one_pass_whatever_the_batch(model):
    calls = []
    original, model.decoder.call = model.decoder.call, None
    model.decoder.call = lambda *args, **options: calls.append(1) or original(*args, **options)
    hypotheses = non_autoregressive.search(model, INP)
    model.decoder.call = original
    assert calls == [1]
    for row, width in ((0, 5), (1, 3)):
        alone = non_autoregressive.search(model, INP[row : row + 1, :width])
        ids = hypotheses.ids[row, 0].numpy()
        length = alone.ids.shape[-1]
        np.testing.assert_array_equal(ids[:length], alone.ids[0, 0])
        assert (ids[length:] == PAD).all()
        np.testing.assert_allclose(hypotheses.scores[row], alone.scores[0], atol=1e-4)
        start, *words, end = ids[ids != PAD].tolist()
        assert (start, end) == (START, END)
        assert not {START, UNKNOWN, END} & set(words)
    assert hypotheses.finished.numpy().tolist() == [[True], [True], [False]]
    assert hypotheses.ids[2, 0].numpy().tolist() == [START] + [PAD] * 13  # of no source


def test_a_translation_is_at_least_as_likely_as_the_outputs_that_were_found(model):
    hypotheses = non_autoregressive.search(model, INP[:2])
    of_words = non_autoregressive.log_probabilities(model, INP[:2], hypotheses.ids[:, 0]).numpy()
    of_outputs = hypotheses.log_probabilities[:, 0].numpy()
    prediction = parallel_tokens.predict(model, INP[:2])
    likely = tf.nn.log_softmax(prediction.logits).numpy()
    likely[..., [START, END, UNKNOWN]] = -np.inf
    expected = np.where(prediction.is_position, likely.max(axis=-1), 0).sum(axis=1)
    np.testing.assert_allclose(of_outputs, expected, rtol=1e-5)
    assert (of_words > of_outputs).all()
    unscored = non_autoregressive.search(model, INP[:2], scored=False)
    np.testing.assert_array_equal(unscored.ids, hypotheses.ids)
    assert not unscored.log_probabilities.numpy().any()
    long = np.pad(np.full((1, 20), 5, np.int32), ((0, 0), (1, 0)), constant_values=START)
    assert non_autoregressive.log_probabilities(model, INP[:1], long).numpy() == [-np.inf]


@pytest.mark.slow
def test_the_search_compiles(model):
    compiled = tf.function(lambda inp: non_autoregressive.search(model, inp), jit_compile=True)
    np.testing.assert_array_equal(
        compiled(tf.constant(INP)).ids, non_autoregressive.search(model, INP).ids
    )


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
    outputs = serve["serving_default"](sentences=tf.constant(["um dois."]))
    score, text = first.split("\t")
    assert outputs["translations"].numpy()[0].decode() == text
    assert float(outputs["scores"][0]) == pytest.approx(float(score), abs=1e-3)


def test_attention_has_the_positions_that_were_predicted():
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(sentences(50)), 300))
    model = TransformerVariant(1, 8, 2, 16, tokenizer.vocab_size, tokenizer.vocab_size,
                        non_autoregressive=True)  # fmt: skip
    model.build(((None, None), (None, None)))
    translate = make_translator(model, tokenizer)
    seen = translate.attend("um dois.")
    for kind in ("encoder", "decoder", "cross"):
        weights, queries, keys = seen.select(kind, 1)
        assert weights.shape == (2, len(queries), len(keys))
    for options in (dict(beam=4), dict(sampling=Sampling(), n_best=1)):
        with pytest.raises(UserError, match="non-autoregressive: leave out --beam"):
            make_translator(model, tokenizer, **options)
    for options in (dict(alignments=True), dict(token_scores=True), dict(alternatives=2)):
        with pytest.raises(UserError, match="leave out --alignments, --token-scores"):
            make_translator(model, tokenizer, **options)
