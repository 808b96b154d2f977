"""What must hold of the faster layers beside those of the story."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from nmt.network import layers


def test_dropout_drops_its_share_and_keeps_the_mean():
    x = tf.ones((200, 501))  # of an odd number of values, and no multiple of four
    for rate, share in ((0.1, 26 / 256), (0.5, 0.5), (0.001, 0.0), (0.999, 255 / 256)):
        y = layers.Dropout(rate, seed=1)(x, training=True).numpy()
        assert (y == 0).mean() == pytest.approx(share, abs=0.005)
        np.testing.assert_allclose(np.unique(y[y != 0]), 1 / (1 - share), rtol=1e-6)
    np.testing.assert_allclose(layers.Dropout(0.5)(x, training=False), x)


def test_dropout_works_outside_of_a_replica():
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        assert (
            0 < int(tf.math.count_nonzero(layers.Dropout(0.5)(tf.ones(100), training=True))) < 100
        )


def test_dropout_drops_other_values_each_time_and_the_same_in_a_second_run():
    x = tf.ones((40, 50))
    first, again = (layers.Dropout(0.5, seed=7) for _ in range(2))
    runs = [[layer(x, training=True).numpy() for _ in range(3)] for layer in (first, again)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert all((a == b).mean() < 0.6 for a, b in itertools.combinations(runs[0], 2))


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_the_gradient_of_dropout_is_what_was_kept_compiled_or_not(dtype):
    x = tf.ones((30, 40))
    results = []
    for compiled in (None, True):
        layer = layers.Dropout(0.3, seed=3, dtype=dtype)

        @tf.function(jit_compile=compiled)
        def both(x, layer=layer):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = layer(x, training=True)
            return y, tape.gradient(y, x)

        results.append([value.numpy().astype(np.float32) for value in both(x)])
    np.testing.assert_array_equal(results[0][0], results[0][1])  # for x is one
    np.testing.assert_array_equal(results[0], results[1])
