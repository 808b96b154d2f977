"""What must hold of sampling: frequencies are probabilities, and a seed gives the same text."""

import numpy as np
import pytest
import tensorflow as tf
from helpers import call

from nmt import UserError
from nmt.decoding.sampling import draw, random_numbers
from nmt.decoding.search_options import Sampling, SearchOptions
from nmt.decoding.sentence import Translation
from nmt.runs import loading

PROBABILITIES = np.array([0.2, 0.5, 0.3])  # of a toy of three tokens
LIKELY = tf.math.log(tf.constant(PROBABILITIES, tf.float32))


def drawn(sampling, uniform):
    """Returns the tokens drawn for random numbers."""
    uniform = tf.constant(uniform, tf.float32)
    return draw(sampling, tf.broadcast_to(LIKELY, (len(uniform), 3)), uniform).numpy()


def test_tokens_are_drawn_in_the_order_of_their_probabilities():
    tokens = drawn(Sampling(), [0.0, 0.49, 0.51, 0.79, 0.81, 0.99999994])
    assert tokens.tolist() == [1, 1, 2, 2, 0, 0]


@pytest.mark.parametrize("temperature", [0.25, 1.0, 100.0])
def test_frequencies_are_the_probabilities_at_every_temperature(temperature):
    number = 40_000
    uniform = np.random.default_rng(1).random(number, np.float32)
    counts = np.bincount(drawn(Sampling(temperature), uniform), minlength=3)
    expected = PROBABILITIES ** (1 / temperature)
    expected /= expected.sum()
    deviations = np.sqrt(expected * (1 - expected) / number)
    assert (np.abs(counts / number - expected) < 4 * deviations + 1e-9).all()


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        (dict(top_k=1), {1}),
        (dict(top_k=2), {1, 2}),
        (dict(top_k=9), {0, 1, 2}),
        (dict(top_p=1e-6), {1}),
        (dict(top_p=0.6), {1, 2}),
        (dict(top_p=0.79), {1, 2}),
        (dict(top_p=0.9), {0, 1, 2}),
        (dict(top_k=2, top_p=0.6), {1}),  # 0.5 / 0.8 of what top_k has left
        (dict(top_k=2, top_p=0.7), {1, 2}),
        (dict(temperature=0.25, top_p=0.86), {1}),  # 0.5^4 / (0.2^4 + 0.5^4 + 0.3^4) = 0.866
        (dict(temperature=0.25, top_p=0.88), {1, 2}),  # with 0.3^4, 0.978
        (dict(temperature=0.25, top_p=0.98), {0, 1, 2}),
    ],
)
def test_the_sets_of_top_k_and_top_p_are_those_worked_out_by_hand(changes, kept):
    assert {*drawn(Sampling(**changes), np.linspace(0, 0.99999, 5000)).tolist()} == kept


def test_random_numbers_depend_on_seed_source_and_sample_alone():
    def numbers(sampling, *sources, samples=0, length=8):
        inp = tf.constant(sources)
        values = random_numbers(sampling, inp, tf.fill(len(sources), samples), length).numpy()
        assert values.shape == (len(sources), length)
        assert ((values >= 0) & (values < 1)).all()
        return values

    one = numbers(Sampling(seed=1), [1, 5, 2])[0]
    np.testing.assert_array_equal(numbers(Sampling(seed=1, top_k=3), [1, 5, 2])[0], one)
    together = numbers(Sampling(seed=1), [1, 6, 2, 0, 0], [1, 5, 2, 0, 0], length=13)
    np.testing.assert_array_equal(together[1, :8], one)
    np.testing.assert_array_equal(numbers(Sampling(seed=1), [1, 5, 2], length=3)[0], one[:3])
    others = [
        numbers(Sampling(seed=2), [1, 5, 2]),
        numbers(Sampling(seed=1), [1, 6, 2]),
        numbers(Sampling(seed=1), [15, 2, 0]),
        numbers(Sampling(seed=1), [1, 5, 2], samples=1),
    ]
    assert all(not np.isin(one, other).any() for other in others)
    many = numbers(Sampling(), *([n, 2] for n in range(500)), length=100)
    assert abs(many.mean() - 0.5) < 0.005
    assert abs(many.std() - 12**-0.5) < 0.005


@pytest.mark.parametrize(
    "changes",
    [
        dict(temperature=0.0), dict(temperature=float("nan")), dict(temperature=float("inf")),
        dict(top_k=-1), dict(top_p=0.0), dict(top_p=1.1), dict(top_p=float("nan")),
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(changes):
    with pytest.raises(UserError, match=next(iter(changes))):
        SearchOptions(sampling=Sampling(**changes)).check()


LINES = ["um dois três.", "quatro. cinco seis.", "", "sete", "um dois três."]


@pytest.fixture
def sampled(finished):
    """A function that draws translations of lines by the finished run."""

    def sample(lines, n_best=3, **more):
        sampling = Sampling(seed=more.pop("seed", 7), **more.pop("changes", {}))
        translate = loading.load_translator(
            finished / "run", n_best=n_best, sampling=sampling, **more
        )
        return list(translate.hypotheses(lines))

    return sample


def texts(hypotheses):
    """Returns the texts of what `sampled` returns."""
    return [[sample.text for sample in samples] for samples in hypotheses]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_text_whatever_the_batch(sampled):
    hypotheses = sampled(LINES)
    assert [len(best) for best in hypotheses] == [3] * len(LINES)
    assert texts(hypotheses[:1]) == texts(hypotheses[4:])  # the same line
    assert hypotheses[2] == [Translation("", 0.0)] * 3
    expected = [sample.log_probability for samples in hypotheses for sample in samples]
    for rows, workers in ((1, 1), (2, 2)):
        again = sampled(LINES[::-1], rows=rows, workers=workers)[::-1]
        assert texts(again) == texts(hypotheses)
        totals = [sample.log_probability for samples in again for sample in samples]
        np.testing.assert_allclose(totals, expected, atol=1e-4)
    assert len({*texts(sampled(LINES[:1], 9))[0]}) > 1
    assert texts(sampled(LINES, seed=8)) != texts(hypotheses)
    assert texts(sampled(LINES, n_best=1)) == [best[:1] for best in texts(hypotheses)]


def test_log_probabilities_of_samples_are_those_of_score(finished, sampled):
    (samples,) = sampled(["um dois três."], 8, changes=dict(temperature=0.5, top_k=5))
    translate = loading.load_translator(finished / "run")
    scores = translate.score([("um dois três.", sample.text) for sample in samples])
    # A text may have been drawn in other tokens than those that `score` gives it: no more likely.
    excess = np.array([sample.log_probability for sample in samples]) - list(scores)
    assert all(excess < 1e-3)
    assert sum(excess > -1e-3) >= 4


def test_one_token_to_draw_from_is_greedy_search(finished, sampled):
    greedy = loading.load_translator(finished / "run", beam=1)
    hypotheses = sampled(LINES, 1, changes=dict(top_k=1))
    assert [samples[0].text for samples in hypotheses] == list(greedy(LINES))


def test_the_attention_of_a_sample_is_that_of_its_text(finished):
    sampling = Sampling(seed=3)
    translate = loading.load_translator(finished / "run", n_best=2, sampling=sampling)
    attended = translate.attend("um dois três.")
    (best,) = translate.hypotheses(["um dois três."])
    assert attended.texts[1] == best[0].text


@pytest.mark.usefixtures("eagerly")
def test_samples_are_printed_and_wrong_flags_refused(finished, capsys, refusal_of):
    command = ["translate", "--run", finished / "run", "um dois.", "três."]
    assert call(*command, "--sample", "--n-best", "5", "--seed", "3", "--top-p", "0.9") == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 10
    assert call(*command, "--sample", "--n-best", "5", "--seed", "3", "--top-p", "0.9") == 0
    assert capsys.readouterr().out == out
    for more, said in (
        (["--temperature", "0.5"], "--temperature goes with --sample"),
        (["--sample", "--beam", "4"], "leave --beam out"),
        (["--sample", "--temperature", "0"], "0.0 is less than 0.001"),
        (["--sample", "--top-p", "nan"], "nan is not a number"),
        (["--sample", "--top-k", "-1"], "-1 is less than 0"),
        (["--sample", "--seed", "x"], "invalid int value"),
    ):
        assert said in refusal_of(*command, *more).splitlines()[-1]
