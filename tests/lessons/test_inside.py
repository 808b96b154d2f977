"""What must hold of the look inside a trained network: what is left out, recorded and counted."""

import numpy as np
import pytest
import tensorflow as tf
from helpers import INP, sentences, small_transformer

import transformer_model as model
from lessons import inside

TAR = np.array([[2, 5, 6, 3], [2, 7, 3, 0], [2, 9, 8, 3]], np.int32)
PAIRS = inside.Pairs(tf.constant(INP), tf.constant(TAR))


# ---- Byte-pair encoding ----


def test_pairs_are_counted_as_often_as_their_words():
    counts = inside.pair_counts({("a", "b", "a", "b"): 2, ("b", "a"): 3})
    assert counts == {("a", "b"): 4, ("b", "a"): 5}


def test_a_merge_goes_from_left_to_right_and_never_overlaps():
    assert inside.merged("aaa", ("a", "a")) == ("aa", "a")
    assert inside.merged("xabab", ("a", "b")) == ("x", "ab", "ab")


def test_a_word_is_encoded_by_the_merges_that_were_learned_first(tokenizer):
    tokens = tokenizer.tokens(range(tokenizer.vocab_size))
    entries = {token: number for number, token in enumerate(tokens)}
    lengths = set()
    for word in {word for pair in sentences(30) for side in pair for word in side.split()}:
        steps = inside.encoding_steps(f"\u2581{word}", entries)
        assert steps[0] == tuple(f"\u2581{word}")
        assert [*steps[-1]] == tokenizer.surfaces(word)
        lengths.add(len(steps))
    assert max(lengths) > 2


# ---- Embeddings ----


def test_the_most_similar_rows_are_those_of_the_smallest_angle():
    table = np.array([[1.0, 0.0], [9.0, 9.0], [0.5, 0.1], [-1.0, 0.0]])
    assert inside.most_similar(table, table[0], 3) == [0, 2, 1]


def test_principal_components_keep_what_varies_most():
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(30, 5)) * [0.1, 5.0, 0.1, 2.0, 0.1]
    points = inside.principal_components(vectors)
    for column, dimension in enumerate((1, 3)):
        correlation = np.corrcoef(points[:, column], vectors[:, dimension])[0, 1]
        assert abs(correlation) > 0.99
        assert points[np.abs(points[:, column]).argmax(), column] > 0


# ---- Sub-layers ----


def test_without_a_head_its_share_of_the_output_is_missing():
    """And nothing stays changed."""
    layer = model.MultiHeadAttention(d_model=8, num_heads=2)
    x = tf.random.stateless_normal((1, 4, 8), (1, 2))
    whole, _ = layer(x, x, x)
    parts = []
    for head in range(2):
        with inside.without_head(layer, head):
            parts.append(layer(x, x, x)[0])
    assert not np.allclose(parts[0], whole, atol=1e-3)
    np.testing.assert_allclose(parts[0] + parts[1] - layer.dense.bias, whole, atol=1e-5)
    np.testing.assert_array_equal(layer(x, x, x)[0], whole)


def test_the_loss_is_that_of_the_network_without_a_part():
    transformer = small_transformer()
    losses = inside.Losses(transformer, PAIRS)
    logits, _ = transformer((INP, TAR[:, :-1]))
    whole = losses()
    assert whole == pytest.approx(float(model.loss_function(TAR[:, 1:], logits)), rel=1e-5)
    for attention in inside.attentions(transformer).values():
        without = losses.without_heads(attention)
        assert len(without) == 2
        assert all(loss != pytest.approx(whole, abs=1e-6) for loss in without)
    for ffn in inside.feed_forwards(transformer).values():
        assert losses.without(ffn.layers[-1]) != pytest.approx(whole, abs=1e-6)
    assert losses() == whole


def test_all_attentions_and_feed_forward_networks_have_names():
    transformer = small_transformer()
    assert [*inside.attentions(transformer)] == [
        "encoder 1", "encoder 2", "decoder 1, self", "decoder 1, cross", "decoder 2, self",
        "decoder 2, cross",
    ]  # fmt: skip
    assert [*inside.feed_forwards(transformer)] == [
        "encoder 1", "encoder 2", "decoder 1", "decoder 2"
    ]  # fmt: skip


def test_calls_of_a_layer_are_recorded_within_the_block_only():
    layer = model.MultiHeadAttention(d_model=8, num_heads=2)
    x, y = tf.ones((1, 2, 8)), tf.zeros((1, 3, 8))
    with inside.recorded(layer) as calls:
        output, weights = layer(x, x, y)
    layer(x, x, x)
    (call,) = calls
    np.testing.assert_array_equal(call.arguments[2], y)
    np.testing.assert_array_equal(call.output[0], output)
    np.testing.assert_array_equal(call.output[1], weights)


@pytest.mark.parametrize(("stack", "ids"), [("encoder", INP), ("decoder", TAR[:, :-1])])
def test_activations_are_averaged_over_the_positions_of_a_token(stack, ids, monkeypatch):
    monkeypatch.setattr(inside, "MIN_COUNT", 2)
    transformer = small_transformer()
    ffn = inside.feed_forwards(transformer)[f"{stack} 1"]
    with inside.recorded(ffn.layers[0]) as calls:
        transformer((INP, TAR[:, :-1]))
    activations = calls[0].output.numpy()
    result = inside.token_means(transformer, ffn, PAIRS)
    known, counts = np.unique(ids[ids != 0], return_counts=True)
    assert result.ids.tolist() == known[counts >= 2].tolist()
    for token, means in zip(result.ids, result.means, strict=True):
        np.testing.assert_allclose(means, activations[ids == token].mean(axis=0), rtol=1e-5)


def test_the_neuron_of_a_class_separates_it_from_the_others():
    ids = np.array([5, 6, 7, 8])
    means = np.array([[3.0, 0.0, 9.0], [3.1, 0.0, 9.0], [0.0, 1.0, 9.0], [0.1, 1.0, 8.0]])
    result = inside.TokenMeans(ids, means)
    assert result.neuron_for([5, 6]) == 0
    assert result.neuron_for([7, 8]) == 1
    assert result.top(0, 3) == [6, 5, 8]
    with pytest.raises(ValueError, match="none of these tokens"):
        result.neuron_for([9])


# ---- Costs ----


def test_multiplications_are_those_of_the_matrices():
    """3 tokens of width 2, a hidden layer of 5: projections, scores and values, feed-forward."""
    assert inside.layer_multiplications(3, 3, 2, 5) == 4 * 3 * 4 + 2 * 3 * 3 * 2 + 2 * 3 * 2 * 5


def test_the_cache_saves_all_but_the_newest_position():
    whole = inside.generation_multiplications(3, False, 2, 5)
    cached = inside.generation_multiplications(3, True, 2, 5)
    assert whole == sum(inside.layer_multiplications(n, n, 2, 5) for n in (1, 2, 3))
    assert cached == sum(inside.layer_multiplications(1, n, 2, 5) for n in (1, 2, 3))


# ---- Pictures ----


def test_every_picture_is_drawn(tmp_path):
    words = {"a": ["\u2581x", "\u2581y"], "b": ["\u2581z"]}
    pictures = [
        inside.draw_merges(tmp_path / "merges.png", [("a", "b"), ("ab",)]),
        inside.draw_map(tmp_path / "map.png", {"one": np.eye(3), "two": -np.eye(3)}, words),
        inside.draw_grid(tmp_path / "grid.png", np.eye(2), ["a", "b"], ["c", "d"], title="t"),
        inside.draw_tokens(tmp_path / "tokens.png", [["\u2581a", "b"]], [[0.5, 2.0]], "t"),
        inside.draw_curves(tmp_path / "curves.png", {"a": ([1, 2], [3, 4])}, xlabel="x"),
    ]
    assert all(picture.stat().st_size > 1000 for picture in pictures)
