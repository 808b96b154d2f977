"""What must hold of the road from 2017 to today: each variant does what its paper says."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

import transformer_model as model
from lessons import ablation, today
from nmt.training.optimizer import Muon
from transformer_model import END, PAD, START

SIZES = dict(num_layers=2, d_model=8, num_heads=4, dff=16)


def random(*shape):
    """Returns float32 random numbers."""
    return tf.constant(np.random.default_rng(1).normal(size=shape), tf.float32)


def stack(kind=today.DecoderOnly, names="2017", vocab_size=20):
    """Returns a new DecoderOnly or EncoderOnly with changes; its own parts must stay replaced."""
    change = today.combined(names)
    with ablation.replaced(change):
        network = kind(vocab_size, **SIZES, **change.options)
        network.build((None, None))
    for weight in network.trainable_variables:  # biases, too, so that each of them matters
        weight.assign(random(*weight.shape) * 0.3)
    return network


IDS = np.array([[START, 7, 5, 9, 6, END], [START, 4, 4, 8, END, PAD]], np.int32)


# ---- The blocks ----


def test_rmsnorm_divides_by_the_root_mean_square():
    norm = today.RMSNorm(epsilon=0.0)
    norm.build((None, 4))
    norm.gamma.assign([1.0, 2.0, 1.0, 1.0])
    x = tf.constant([[1.0, -1.0, 5.0, 3.0]])  # the mean of the squares is 9
    np.testing.assert_allclose(norm(x), [[1 / 3, -2 / 3, 5 / 3, 1]], rtol=1e-6)


def test_swiglu_has_as_many_parameters_as_the_network_that_it_replaces():
    parts = today.SwiGLU(128, 512), model.point_wise_feed_forward_network(128, 512)
    for part in parts:
        part.build((None, None, 128))
    gated, plain = (part.count_params() for part in parts)
    assert abs(gated - plain) <= 1.5 * 128  # half a column of three matrices


def test_swiglu_by_hand():
    layer = today.SwiGLU(2, 1)  # of width 1
    layer.build((None, None, 2))
    layer.set_weights([np.array([[1.0], [0.0]]), np.array([[0.0], [3.0]]), np.array([[1.0, -2.0]])])
    hidden = 2 / (1 + np.exp(-2)) * 3 * 5  # silu(2), times 3 * 5
    np.testing.assert_allclose(layer(tf.constant([[[2.0, 5.0]]]))[0, 0], [hidden, -2 * hidden])


def test_scores_of_turned_queries_and_keys_depend_only_on_the_distance():
    q, k = (tf.repeat(random(1, 1, 1, 8) + shift, 9, axis=2) for shift in (0.0, 1.0))
    scores = tf.matmul(today.rotate(q), today.rotate(k), transpose_b=True)[0, 0].numpy()  # (9, 9)
    for distance in range(-8, 9):
        diagonal = np.diagonal(scores, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-4)
    assert np.ptp(scores[0]) > 0.1  # and they do depend on it
    later = tf.matmul(today.rotate(q, 5), today.rotate(k, 5), transpose_b=True)[0, 0]
    np.testing.assert_allclose(later, scores, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("same", [True, False])
def test_rotary_attention_tells_positions_apart_in_self_attention_only(same):
    attention = today.RotaryAttention(8, 2)
    x = random(1, 5, 8)
    order = [3, 0, 4, 1, 2]
    shuffled = tf.gather(x, order, axis=1)
    if same:
        output, moved = attention(x, x, x)[0], attention(shuffled, shuffled, shuffled)[0]
        moved = tf.gather(moved, np.argsort(order), axis=1)
    else:
        q = random(1, 3, 8)
        output, moved = attention(x, x, q)[0], attention(shuffled, shuffled, q)[0]
    assert np.allclose(output, moved, atol=1e-5) != same


def grouped(groups):
    """Returns a GroupedAttention of 4 heads."""
    part = type("Grouped", (today.GroupedAttention,), {"groups": groups})(8, 4)
    part.build((None, None, 8))
    return part


def test_with_as_many_groups_as_heads_grouped_attention_is_multi_head_attention():
    attention, story = grouped(4), model.MultiHeadAttention(8, 4)
    story.build((None, None, 8))
    story.set_weights(attention.get_weights())
    q, k, v = random(1, 3, 8), random(1, 5, 8), random(1, 5, 8) + 1
    for output, expected in zip(attention(v, k, q), story(v, k, q), strict=True):
        np.testing.assert_allclose(output, expected, atol=1e-6)


def test_a_group_is_multi_head_attention_whose_heads_have_equal_keys_and_values():
    attention, story = grouped(2), model.MultiHeadAttention(8, 4)
    story.build((None, None, 8))
    assert attention.wk.kernel.shape == attention.wv.kernel.shape == (8, 4)
    for part in ("wq", "dense"):
        getattr(story, part).set_weights(getattr(attention, part).get_weights())
    for part in ("wk", "wv"):
        weights = getattr(attention, part).get_weights()  # (8, 4), (4,): two heads of two
        columns = [0, 1, 0, 1, 2, 3, 2, 3]
        getattr(story, part).set_weights([values[..., columns] for values in weights])
    x = random(1, 5, 8)
    for output, expected in zip(attention(x, x, x), story(x, x, x), strict=True):
        np.testing.assert_allclose(output, expected, atol=1e-6)


# ---- The variants ----


@pytest.mark.parametrize("names", [*today.VARIANTS, "llama+muon"])
def test_a_variant_trains_and_has_no_weight_that_does_nothing(names):
    task, change = ablation.toy("copy"), today.combined(names)
    with ablation.replaced(change):
        network = ablation.network(task, change)
        inp, tar = next(task.batches(1))
        with tf.GradientTape() as tape:
            logits, _ = network((inp, tar[:, :-1]))
            loss = model.loss_function(tar[:, 1:], logits)
    gradients = tape.gradient(loss, network.trainable_variables)
    assert all(gradient is not None for gradient in gradients)
    assert isinstance(change.optimizer(0.1, network), Muon) == ("muon" in names)


def test_llama_has_all_changes_at_once():
    change = today.combined("llama")
    with ablation.replaced(change):
        layer = ablation.network(ablation.toy("copy"), change).encoder.enc_layers[0]
    assert isinstance(layer.mha, today.RotaryAttention)
    assert isinstance(layer.mha, today.GroupedAttention)
    assert isinstance(layer.ffn, today.SwiGLU)
    assert isinstance(layer.layernorm1, today.RMSNorm)
    assert type(layer).__name__ == "PreNormEncoderLayer"
    assert keras.layers.LayerNormalization is not today.RMSNorm  # the block has ended


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["2017+rode"], "no variant 'rode'"),
        (["gpt", "rope"], "no variant 'gpt'"),
        (["gpt", "--with", "rode"], "no variant 'rode'"),
    ],
)
def test_a_variant_that_does_not_exist_ends_the_command(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        today.main(arguments)
    assert message in capsys.readouterr().err


# ---- One stack ----


@pytest.mark.parametrize("names", ["2017", "llama"])
@pytest.mark.parametrize("kind", [today.DecoderOnly, today.EncoderOnly])
def test_later_tokens_change_earlier_logits_only_without_the_look_ahead_mask(kind, names):
    network = stack(kind, names)
    other = IDS.copy()
    other[:, 3] = 11
    with ablation.replaced(today.combined(names)):
        first, second = (network(ids)[0].numpy() for ids in (IDS, other))
    assert np.allclose(first[:, :3], second[:, :3], atol=1e-5) == (kind is today.DecoderOnly)
    assert not np.allclose(first[:, 3:], second[:, 3:], atol=1e-3)


@pytest.mark.parametrize("kind", [today.DecoderOnly, today.EncoderOnly])
def test_padding_changes_no_logits(kind):
    network = stack(kind)
    alone = network(IDS[1:, :-1])[0]
    np.testing.assert_allclose(network(IDS)[0][1:, :-1], alone, atol=1e-5)


@pytest.mark.parametrize("names", ["2017", "pre-norm", "llama"])
def test_decoding_with_a_cache_is_decoding_without(names):
    network = stack(names=names)
    begins = [[START, 7, 5], [START], [START, 4, 4, 8, 9, 6]]
    with ablation.replaced(today.combined(names)):
        tokens = [today.generate(network, begins, 12, cache) for cache in (False, True)]
        with today.cached(network):
            for length in range(1, 7):
                last = network.last_logits(IDS[:1, :length])
        np.testing.assert_allclose(last[:, 0], network(IDS[:1])[0][:, -1], atol=1e-4)
    np.testing.assert_array_equal(*tokens)
    for begin, row in zip(begins, tokens[0], strict=True):
        assert row[: len(begin)].tolist() == begin
        assert PAD not in row[: len(begin) + 1]
        after_end = row[len(begin) :][(row[len(begin) :] == END).cumsum() > 1]
        assert not after_end.any()


def test_a_cache_holds_the_keys_and_values_of_its_groups():
    network = stack(names="grouped")  # two groups of four heads: half of d_model
    layer = network.stack.enc_layers[1].mha
    with today.cached(network):
        for length in range(1, 4):
            network.last_logits(IDS[:, :length])
        assert layer.wk.cache.shape == layer.wv.cache.shape == (2, 3, 4)
    assert layer.wk.cache is None
    assert type(layer.wk) is keras.layers.Dense


def test_one_position_takes_the_products_of_its_matrices_and_keys():
    sizes = dict(num_layers=1, d_model=4, num_heads=2, dff=8)
    # Four projections of 16, two matrices of 32, two products with each of 3 keys of 4 values.
    assert today.multiplications(sizes, groups=2, new=1, keys=3) == 64 + 64 + 24
    assert today.multiplications(sizes, groups=1, new=1, keys=3) == 48 + 64 + 24
    assert today.multiplications(sizes, groups=2, new=3, keys=3) == 3 * (64 + 64 + 24)


# ---- What one stack learns from ----


class Letters:
    """A tokenizer of letters."""

    def encode(self, texts):
        return [[START, *(ord(letter) - 50 for letter in text), END] for text in texts]

    def decode(self, rows):
        return ["".join(chr(n + 50) for n in row if n > END) for row in np.array(rows).tolist()]


def test_the_loss_of_a_prompt_is_that_of_its_answer():
    tokenizer = Letters()
    source, target = tokenizer.encode(["xy", "abc"])
    row = today.prompted(tokenizer, (source, target))
    inputs, real = today.answers([row], 20)
    whole = [START, *tokenizer.encode(["pt:xyen:abc"])[0][1:]]
    assert inputs[0, : len(whole)].tolist() == whole
    (predicted,) = np.nonzero(real[0])
    assert real[0, predicted].tolist() == target[1:]
    assert inputs[0, predicted].tolist() == [whole[len(row.prompt) - 1], *target[1:-1]]
    _, everything = today.answers([row], 20, everything=True)
    assert np.count_nonzero(everything) == len(whole) - 1


def test_gaps_hide_words_and_ask_for_them_only():
    rows = np.tile(IDS, (200, 1))
    inputs, real = today.gaps(rows, np.random.default_rng(1))
    is_gap = inputs == today.MASK
    np.testing.assert_array_equal(real[is_gap], rows[is_gap])
    assert not real[~is_gap].any()
    np.testing.assert_array_equal(inputs[~is_gap], rows[~is_gap])
    assert is_gap.any(axis=1).all()
    assert not is_gap[rows <= END].any()
    long = np.full((50, 200), 9)
    share = np.mean(today.gaps(long, np.random.default_rng(1))[0] == today.MASK)
    assert share == pytest.approx(today.MASKED_SHARE, abs=0.02)


def test_a_text_with_gaps_has_masks_in_their_positions():
    ids = today.with_gaps(Letters(), "a___b___")
    with pytest.raises(today.UserError, match="no gap"):
        today.with_gaps(Letters(), "ab")
    assert ids == [START, ord("a") - 50, today.MASK, ord("b") - 50, today.MASK, END]


# ---- The commands ----


def test_without_a_name_all_names_are_listed(capsys):
    today.main([])
    printed = capsys.readouterr().out
    for name in [*today.VARIANTS, *today.COMMANDS]:
        assert f"{name} " in printed


@pytest.fixture
def miniature(monkeypatch, tmp_path):
    """A corpus of a few words, small networks and few test sentences."""
    pairs = [
        ([START, a, b, END], [START, b, a, END])
        for a, b in itertools.product(range(20, 36), range(36, 48))
    ]
    corpus = ablation.Pairs(Letters(), pairs, pairs[:5])
    monkeypatch.setattr(ablation, "bundled_pairs", lambda *_: corpus)
    sizes = dict(num_layers=1, d_model=8, num_heads=4, dff=8)
    monkeypatch.setattr(ablation, "SIZES", sizes)
    of_today = dict(STACK=sizes, VOCAB_SIZE=80, MASK=80, TESTS=3, FOLDER=tmp_path)
    for name, value in of_today.items():
        monkeypatch.setattr(today, name, value)
    return tmp_path


@pytest.mark.slow
def test_a_table_and_a_picture_are_made_and_kept(miniature, capsys, monkeypatch):
    command = ["2017", "rope+muon", "--seeds", "1", "--steps", "20"]
    today.main(command)
    first = capsys.readouterr().out
    assert "| rope+muon | " in first
    assert (miniature / "today.png").stat().st_size > 5_000
    monkeypatch.setattr(ablation, "train", None)  # nothing is trained again
    today.main([*command, "--resume"])
    assert capsys.readouterr().out == first


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["gpt", "--text", "qr"], "likeliest: qr"),
        (["prompt"], "of 3 sentences right, BLEU"),
        pytest.param(
            ["prompt", "--whole-loss", "--with", "llama"], "of 3 sentences right, BLEU",
            marks=pytest.mark.slow,
        ),
        (["bert", "--text", "q___"], "q___   "),
        pytest.param(
            ["bert", "--text", "q___", "--causal"], "q___   ", marks=pytest.mark.slow
        ),
    ],
)  # fmt: skip
def test_one_stack_is_trained_tried_and_kept(miniature, capsys, monkeypatch, command, expected):
    monkeypatch.setattr(Letters, "tokens", lambda self, ids: [*map(str, ids)], raising=False)
    today.main([*command, "--steps", "20"])
    first = capsys.readouterr().out
    assert "20 steps:" in first
    assert expected in first
    today.main([*command, "--steps", "20", "--resume"])
    assert capsys.readouterr().out == first.partition("\n")[2]


def test_the_caches_are_compared(monkeypatch, capsys):
    monkeypatch.setattr(today, "STACK", SIZES)
    today.compare_caches(lengths=(5,), heads=(4, 1))
    rows = capsys.readouterr().out.splitlines()[4:]
    assert [row.split(" | ")[0] for row in rows] == ["| 4", "| 1"]
    assert all(row.endswith("| yes |") and " | 10 / 4 | " in row for row in rows)
