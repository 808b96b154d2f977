"""What must hold of the searches of transformer_model.py, greedy and beam, and of their cache."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from helpers import INP, SIZES, biased_transformer, find, graph_of, hypotheses_of, small_transformer

import transformer_model as tm
from nmt.decoding.beam import BLOCK, beam_search, best_continuations
from nmt.decoding.cached_decoder import CachedDecoder
from nmt.decoding.likelihoods import log_probabilities
from nmt.decoding.restrictions import Restrictions
from nmt.network.keras_layers import dtype_policy_scope
from transformer_model import END, PAD, START

EXTRA = 4
FEW_MORE = Restrictions(extra_tokens=EXTRA)


def log_probability(model, source, tokens):
    """Returns that of all `tokens` but START, by one pass of the whole model."""
    each = next_log_probabilities(model, source, tokens[:-1])
    return sum(each[t, token] for t, token in enumerate(tokens[1:]))


def next_log_probabilities(model, source, tokens):
    """Returns (T, V), by one pass of the whole model, in float64."""
    logits = graph_of(model)([source], [tokens]).numpy()[0].astype(np.float64)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def candidates(model, beam, inp=INP, **restrictions):
    """Returns the candidates that a search finds for ids, EXTRA tokens longer than them at most."""
    return hypotheses_of(find(model, inp, beam, extra_tokens=EXTRA, **restrictions))


def assert_same(lists, expected):
    """Asserts that lists of candidates have the same ids, the best ones with the same scores."""
    for rows, expected_rows in zip(lists, expected, strict=True):
        assert [row.ids for row in rows] == [row.ids for row in expected_rows]
        np.testing.assert_allclose(rows[0][1:3], expected_rows[0][1:3], atol=1e-5)


# ---- The cache ----


@pytest.mark.parametrize(
    ("beam", "variant"),
    [
        (1, {}),
        (3, dict(pre_norm=True, tie_embeddings=True, input_vocab_size=13)),
        (3, dict(num_layers=3, decoder_layers=1)),
        (3, dict(activation="swish", norm_epsilon=0.1)),
        (1, dict(tie_embeddings=True, logits_bias=True, input_vocab_size=13)),
    ],
)
def test_a_cached_step_equals_a_call_of_the_whole_model(beam, variant):
    """At every step to 1e-5, for sources of unequal lengths and hypotheses that change places."""
    rng = np.random.default_rng(1)
    model = small_transformer(**variant)
    decoding = CachedDecoder(model, tf.constant(INP), beam, FEW_MORE)
    batch, length = len(INP), INP.shape[1] + EXTRA
    ids = np.full((batch, beam, 1), START)
    origin, state = np.full((batch, beam, length), -1), decoding.state
    for position in range(length):
        origin[:, :, position] = np.arange(beam)
        logits, state = decoding.logits(
            tf.constant(ids[:, :, -1]),
            tf.constant(position),
            None if beam == 1 else tf.constant(origin),
            state,
        )
        cached = tf.nn.log_softmax(logits)
        for place in range(beam):
            logits = graph_of(model)(INP, ids[:, place])[:, -1]
            whole = tf.nn.log_softmax(logits)
            np.testing.assert_allclose(cached[:, place], whole, rtol=0, atol=1e-5)
        parent = rng.integers(beam, size=(batch, beam))  # as if these were the best to follow
        ids = np.take_along_axis(ids, parent[..., np.newaxis], 1)
        origin = np.take_along_axis(origin, parent[..., np.newaxis], 1)
        ids = np.concatenate([ids, rng.integers(4, 13, (batch, beam, 1))], axis=2)


# ---- Beam search ----


@pytest.mark.parametrize("number", [2, 6, 200])
def test_the_likeliest_tokens_are_found_in_their_blocks(number):
    """As in all sums of log-probabilities; PAD and START, though the likeliest, are not chosen."""
    rng = np.random.default_rng(number)
    likely = rng.normal(size=(4, 3, 5 * BLOCK)).astype(np.float32)
    likely[:, :, [PAD, START]] = 9.0
    live = rng.normal(size=(4, 3), scale=3.0).astype(np.float32)
    never = np.zeros(5 * BLOCK, np.float32)
    never[[PAD, START]] = tm.MASKED
    sums = (likely + never + live[..., np.newaxis]).reshape(4, -1)
    order = np.argsort(-sums, axis=1)[:, :number]
    best_sums, parent, token = best_continuations(likely, never, live, number)
    np.testing.assert_array_equal(parent * likely.shape[2] + token, order)
    np.testing.assert_allclose(best_sums, np.take_along_axis(sums, order, axis=1), atol=1e-5)


def test_a_beam_of_everything_is_exhaustive_search():
    """Three ordinary tokens (1, 4 and 5) and END, at most four of them: 121 translations."""
    model = biased_transformer(target_vocab_size=6, END=1.0)
    source, alpha = [4, 5, 6], 0.6
    ended = [
        (START, *body, END) for n in range(4) for body in itertools.product((1, 4, 5), repeat=n)
    ]
    cut_off = [(START, *body) for body in itertools.product((1, 4, 5), repeat=4)]
    tokens = [*ended, *cut_off]
    tar = np.array([[*row, *[PAD] * (6 - len(row))] for row in tokens])  # (121, 6)
    logits = model((np.tile(source, (len(tar), 1)), tar[:, :-1]))[0].numpy().astype(np.float64)
    each = logits - np.log(np.exp(logits).sum(-1, keepdims=True))  # (121, 5, 6)
    totals = [
        sum(each[n, t, token] for t, token in enumerate(row[1:])) for n, row in enumerate(tokens)
    ]
    expected = {
        row: (total / ((5 + len(row) - 1) / 6) ** alpha, total)  # START does not count, END does
        for row, total in zip(tokens, totals, strict=True)
    }
    assert len(expected) == 121
    results = beam_search(
        model, tf.constant([source]), 121, alpha, 121, Restrictions(extra_tokens=1)
    )
    (hypotheses,) = hypotheses_of(results)
    assert {row.ids for row in hypotheses} == set(expected)
    assert hypotheses[0][0] == max(expected, key=expected.get)
    scores = [score for _, score, _, _ in hypotheses]
    assert scores == sorted(scores, reverse=True)
    for ids, score, total, finished in hypotheses:
        assert (score, total) == pytest.approx(expected[ids], abs=1e-4)
        assert finished == (ids[-1] == END)


def beam_by_hand(model, source, beam, alpha, limit):
    """Beam search as its definition says, a call of the whole model for each hypothesis."""
    live, ended = [((START,), 0.0)], []
    for length in range(1, limit + 1):
        grown = []
        for tokens, total in live:
            each = next_log_probabilities(model, source, tokens)[-1]
            allowed = [t for t in range(len(each)) if t not in (PAD, START)]
            grown += [((*tokens, t), total + each[t]) for t in allowed]
        grown = sorted(grown, key=lambda row: -row[1])[: 2 * beam]
        over = [row for row in grown if row[0][-1] == END or length == limit]
        ended += [(total / ((5 + length) / 6) ** alpha, tokens) for tokens, total in over]
        live = [row for row in grown if row not in over][:beam]
    return sorted(ended, reverse=True)[:beam]


@pytest.mark.parametrize("alpha", [0.0, pytest.param(0.6, marks=pytest.mark.slow), 2.0])
def test_beam_search_equals_a_search_without_cache_or_early_stop(alpha):
    model = biased_transformer(END=1.0)
    hypotheses = hypotheses_of(
        beam_search(model, tf.constant(INP), 3, alpha, n_best=3, restrictions=FEW_MORE)
    )
    for source, rows in zip(INP, hypotheses, strict=True):
        source = source[source != PAD].tolist()
        expected = beam_by_hand(model, source, 3, alpha, len(source) + EXTRA)
        assert [row.ids for row in rows] == [tokens for _, tokens in expected]
        np.testing.assert_allclose([row.score for row in rows], [s for s, _ in expected], atol=1e-4)


def test_a_long_translation_may_overtake_a_short_one_that_ended_before():
    """With a large alpha; one sentence at a time, because a batch searches until all are done."""
    model = biased_transformer(END=3.0)
    for source in INP:
        source = source[source != PAD].tolist()
        inp = tf.constant([source])
        hypotheses = beam_search(model, inp, 3, alpha=5.0, restrictions=FEW_MORE)
        (((ids, *_),),) = hypotheses_of(hypotheses)
        assert ids == beam_by_hand(model, source, 3, 5.0, len(source) + EXTRA)[0][1]
        assert len(ids) > 4


def test_one_best_is_the_first_of_n_best():
    model = biased_transformer(END=1.0)
    best, all_three = (candidates(model, 3, n_best=number) for number in (1, 3))
    for one, three in zip(best, all_three, strict=True):
        assert one[0].ids == three[0].ids
        assert len({row.ids for row in three}) == 3
        assert [row.score for row in three] == sorted((row.score for row in three), reverse=True)


def test_a_hypothesis_at_the_limit_is_returned_and_flagged():
    hypotheses = candidates(biased_transformer(END=-1e4), 2, n_best=2)
    for source, rows in zip(INP, hypotheses, strict=True):
        for ids, _, _, finished in rows:
            assert not finished
            assert len(ids) == 1 + np.count_nonzero(source) + EXTRA


@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_does_not_depend_on_batch_mates_or_padding(beam):
    model = biased_transformer(END=1.5)

    together = candidates(model, beam)
    assert_same(candidates(model, beam, np.pad(INP, [[0, 0], [0, 3]])), together)
    assert_same(candidates(model, beam, INP[::-1])[::-1], together)
    assert_same([candidates(model, beam, source[np.newaxis])[0] for source in INP], together)


# ---- Scores ----


def test_greedy_scores_are_those_of_its_own_tokens():
    model = biased_transformer(END=1.5)
    for source, rows in zip(INP, candidates(model, 1), strict=True):
        ((ids, score, total, finished),) = rows
        source = source[source != PAD].tolist()
        assert total == pytest.approx(log_probability(model, source, ids), abs=1e-4)
        assert score == pytest.approx(total / ((5 + len(ids) - 1) / 6) ** 0.6, abs=1e-5)
        assert finished == (ids[-1] == END)
        forced = log_probabilities((model,), tf.constant([source]), tf.constant([ids]))
        assert float(forced[0]) == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("beam", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_products_of_a_search_are_in_bfloat16_where_the_model_is_mixed(beam):
    with dtype_policy_scope("mixed_bfloat16"):
        low = tm.Transformer(**SIZES)
    low.build(((None, None), (None, None)))
    search = tf.function(lambda: find(low, INP, beam))
    traced = search.get_concrete_function()
    graph = traced.graph.as_graph_def()
    nodes = [*graph.node, *(node for part in graph.library.function for node in part.node_def)]
    products = [node.attr for node in nodes if "MatMul" in node.op]
    kinds = [tf.as_dtype(attr["Tout" if "Tout" in attr else "T"].type) for attr in products]
    assert kinds.count(tf.float32) == 1  # that of the logits
    assert traced.structured_outputs.scores.dtype == tf.float32


# ---- Forced beginnings ----


@pytest.mark.parametrize("beam", [1, 3])
def test_a_prefix_that_the_search_would_find_changes_nothing(beam):
    model = biased_transformer(seed=6, END=1.5)
    free = candidates(model, beam)
    for number in (1, 2, 3):
        prefixes = [rows[0].ids[1 : 1 + number] for rows in free]
        prefixes = [[token for token in ids if token != END] for ids in prefixes]
        prefix = tf.constant([ids + [PAD] * (number - len(ids)) for ids in prefixes])
        assert_same(candidates(model, beam, prefix=prefix), free)


@pytest.mark.parametrize("beam", [1, 3])
def test_translations_begin_with_their_prefixes_which_count(beam):
    model = biased_transformer(END=1.5)
    prefix = np.full((len(INP), EXTRA + 20), PAD)  # longer than any translation would be
    prefix[0] = np.arange(EXTRA + 20) % 5 + 4
    prefix[1, :3] = [7, 5, 7]
    prefixed = candidates(model, beam, prefix=tf.constant(prefix, tf.int32))
    free = candidates(model, beam)
    for row, its in ((0, prefix[0]), (1, prefix[1, :3])):
        ((ids, _, total, _), *_) = prefixed[row]
        assert list(ids[1 : 1 + len(its)]) == list(its)
        source = [token for token in INP[row] if token != PAD]
        assert total == pytest.approx(log_probability(model, source, ids), abs=1e-3)
    assert prefixed[2][0].ids == free[2][0].ids  # without a prefix, in the same batch


# ---- Ensembles ----


@pytest.mark.parametrize("beam", [1, 3])
def test_an_ensemble_of_a_model_with_itself_is_that_model(beam):
    model = biased_transformer(END=1.5)
    assert_same(candidates((model, model), beam), candidates(model, beam))


@pytest.mark.parametrize("beam", [1, 3])
def test_the_probabilities_of_an_ensemble_are_the_means_of_its_members(beam):
    models = biased_transformer(END=1.5), biased_transformer(END=0.5, seed=9)
    source = [token for token in INP[0] if token != PAD]
    ((ids, _, total, _), *_) = candidates(models, beam, [source])[0]
    each = [np.exp(next_log_probabilities(model, source, ids[:-1])) for model in models]
    mean = np.log(np.mean(each, axis=0))
    expected = sum(mean[t, token] for t, token in enumerate(ids[1:]))
    assert total == pytest.approx(expected, abs=1e-4)
    alone = sum(np.log(each[0])[t, token] for t, token in enumerate(ids[1:]))
    assert abs(total - alone) > 1e-2
    if beam == 1:
        never = np.isin(np.arange(mean.shape[-1]), (PAD, tm.START))
        assert list(ids[1:]) == np.where(never, -np.inf, mean).argmax(-1).tolist()


@pytest.mark.parametrize("beam", [1, 3])
def test_an_ensemble_scores_a_prefix_to_which_float32_gives_a_probability_of_0(beam):
    models = biased_transformer(END=1.5, UNKNOWN=-300), biased_transformer(END=0.5, UNKNOWN=-300)
    prefix = tf.constant([[tm.UNKNOWN]] * len(INP))
    for (first, *_), source in zip(candidates(models, beam, prefix=prefix), INP, strict=True):
        if any(source):
            assert first.ids[1] == tm.UNKNOWN
            assert max(first.ids) < SIZES["target_vocab_size"]  # no entry that pads the vocabulary
            assert -150 < first.log_probability < -87
