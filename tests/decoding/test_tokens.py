"""What must hold of the scores of single tokens: they add up, and the likeliest come first."""

import json
import math

import numpy as np
import pytest
import tensorflow as tf
from helpers import biased_transformer, call, small_transformer

from nmt.decoding.likelihoods import token_likelihoods
from run_demo import load_translator
from transformer_model import END, START

INP, TAR = tf.constant([[5, 6, 7]]), tf.constant([[START, 4, 5, END]])


def test_probabilities_of_each_token_and_of_what_else_was_likely():
    """Of two models: the mean of their softmax."""
    models = biased_transformer(END=1.0), small_transformer(seed=1)
    each = [tf.nn.softmax(model((INP, TAR[:, :-1]))[0]).numpy()[0] for model in models]
    mean = np.mean(each, axis=0)  # (T, V)
    likely, best, ids = (t.numpy()[0] for t in token_likelihoods(models, INP, TAR, 3))
    np.testing.assert_allclose(np.exp(likely), mean[range(3), TAR[0, 1:]], rtol=1e-5)
    np.testing.assert_array_equal(ids, np.argsort(-mean)[:, :3])
    np.testing.assert_allclose(np.exp(best), -np.sort(-mean)[:, :3], rtol=1e-5)
    assert token_likelihoods(models, INP, TAR, 999)[2].shape == (
        1,
        3,
        mean.shape[1],
    )  # all there are


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("beam", [1, 3])
def test_scores_of_tokens_add_up_to_that_of_the_translation(finished, beam):
    translate = load_translator(finished / "run", beam=beam, alternatives=2)
    lines = ["um dois três.", "", "Um dois. Três quatro. Cinco."]
    for (best,) in translate.hypotheses(lines):
        total = sum(score.log_probability for score in best.tokens)
        assert total == pytest.approx(best.log_probability, abs=1e-4)
        words = "".join(score.token for score in best.tokens)
        words = words.replace("</s>", "").replace("\u2581", " ")
        assert words.split() == best.text.lower().split()  # its case is that of the source
        for token, log_probability, (likeliest, second) in best.tokens:
            assert likeliest[1] >= second[1]
            if beam == 1:  # greedy search takes the likeliest
                assert likeliest == (token, pytest.approx(math.exp(log_probability), abs=1e-4))


@pytest.mark.usefixtures("eagerly")
def test_token_scores_are_printed_and_wrong_flags_refused(finished, capsys, refusal_of):
    command = ["translate", "--run", finished / "run", "--format", "jsonl"]
    assert call(*command, "--token-scores", "um dois.", "") == 0
    first, empty = map(json.loads, capsys.readouterr().out.splitlines())
    assert [*first["tokens"][-1]] == ["token", "log_probability"]
    assert first["tokens"][-1]["token"] == "</s>"
    assert empty["tokens"] == []
    assert call(*command, "--alternatives", 3, "--alignments", "um dois.") == 0
    row = json.loads(capsys.readouterr().out)
    assert row["alignment"]
    assert all(len(token["alternatives"]) == 3 for token in row["tokens"])
    for flags, wrong in (
        (["--format", "tsv"], "need --format jsonl"),
        (["--beam", 2, "--n-best", 2], "only the best translation"),
        (["--alternatives", -1], "--alternatives: -1 is less than 0"),
    ):
        assert wrong in refusal_of(*command, "--alternatives", 3, *flags, "um.").splitlines()[-1]
