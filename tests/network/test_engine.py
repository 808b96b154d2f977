"""What must hold of the engine: it computes what the story computes, to 1e-5 in float32."""

import inspect

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import find, random_batches, tiny_training

import run_demo
import transformer_model as tm
from nmt.network import layers, loss
from nmt.network.engine import FASTER, ParallelForward, accelerate
from nmt.network.factory import PlainForward
from nmt.network.variants import Variant, network_of
from nmt.training.optimizer import Adam

VARIANTS = [
    dict(),
    dict(pre_norm=True),
    dict(tie_embeddings=True),
    dict(pre_norm=True, tie_embeddings=True),
    dict(num_layers=3, decoder_layers=1),
    dict(tie_embeddings=True, activation="swish", norm_epsilon=0.1, logits_bias=True),
]


def twins(seed=1, num_layers=2, **variant):
    """Returns a Transformer of the story and an accelerated one, with the same random weights."""
    networks = []
    for convert in (lambda transformer: transformer, accelerate):
        network = network_of(
            Variant(**variant), num_layers=num_layers, d_model=8, num_heads=2, dff=16,
            input_vocab_size=20, target_vocab_size=20, rate=0.0,
        )  # fmt: skip
        network.build(((None, None), (None, None)))
        networks.append(convert(network))
    story, engine = networks
    rng = np.random.default_rng(seed)
    weights = [rng.normal(w.path.endswith("gamma"), 0.5, w.shape) for w in story.weights]
    for network in networks:
        network.set_weights(weights)
    return story, engine


def assert_equal(actual, expected, tolerance=1e-5):
    """The engine's tolerance: 1e-5 of the greatest value."""
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


def layers_of(layer):
    """Returns a layer and all layers within it."""
    values = [
        part
        for value in vars(layer).values()
        for part in (value if isinstance(value, list) else [value])
    ]
    return [layer] + [
        inner for part in values if isinstance(part, keras.Layer) for inner in layers_of(part)
    ]


def test_every_layer_of_an_accelerated_network_has_its_faster_form():
    _, engine = twins()
    kinds = {type(layer) for layer in layers_of(engine)}
    assert not kinds & FASTER.keys()
    assert {layers.Dense, layers.Dropout, layers.LayerNormalization} < kinds
    assert layers.MultiHeadAttention in kinds


def test_a_faster_form_adds_no_state_and_keeps_the_name():
    for story_class, faster_class in FASTER.items():
        assert issubclass(faster_class, story_class)
        assert "__init__" not in vars(faster_class)
        assert faster_class.__name__ == story_class.__name__  # the names in a .keras file
        # Keras reads a layer's signature when it is constructed.
        signatures = [inspect.signature(kind.call) for kind in (story_class, faster_class)]
        assert signatures[0].parameters.keys() == signatures[1].parameters.keys()


@pytest.mark.parametrize("variant", [*VARIANTS[:1], *VARIANTS[3:]], ids=str)
def test_logits_and_attention_weights_are_those_of_the_story(variant):
    story, engine = twins(**variant)
    inp, tar = random_batches(1)[0]
    logits, weights = engine((inp, tar))
    expected_logits, expected_weights = story((inp, tar))
    assert_equal(logits, expected_logits)
    assert weights.keys() == expected_weights.keys()
    for name, expected in expected_weights.items():
        assert_equal(weights[name], expected)


@pytest.mark.parametrize(
    ("variant", "static_shapes", "parts"),
    [
        (VARIANTS[0], False, 1),
        (VARIANTS[1], False, 3),
        (VARIANTS[3], True, 3),
        pytest.param(VARIANTS[2], True, 1, marks=pytest.mark.slow),
        pytest.param(VARIANTS[4], False, 1, marks=pytest.mark.slow),
        (VARIANTS[5], False, 1),
    ],
    ids=str,
)
def test_loss_accuracy_and_every_gradient_are_those_of_the_story(variant, static_shapes, parts):
    story, engine = twins(**variant)
    inp, tar = random_batches(1)[0]
    results = []
    for forward in (PlainForward(story), ParallelForward(engine, parts, static_shapes)):
        with tf.GradientTape() as tape:
            sums = forward.token_sums((inp, tar[:, :-1]), tar[:, 1:], training=True)
            mean_loss = sums.loss / sums.tokens
        gradients = tape.gradient(mean_loss, forward.transformer.trainable_variables)
        results.append(([mean_loss, *sums], map(tf.convert_to_tensor, gradients)))
    (expected_figures, expected_gradients), (figures, gradients) = results
    assert_equal(figures, expected_figures)
    for gradient, expected in zip(gradients, expected_gradients, strict=True):
        assert_equal(gradient, expected, 2e-5)  # up to 1.2e-5 on a processor without AVX-512


@pytest.mark.parametrize(
    "options",
    [dict(), *(pytest.param(it, marks=pytest.mark.slow) for it in (dict(xla="on"), dict(parts=2)))],
    ids=str,
)
def test_ten_steps_of_training_leave_the_weights_of_the_story(options):
    """Adam would divide a gradient that is 0 but for rounding, of wk's bias, by its own size."""
    keras.utils.set_random_seed(3)
    training = tiny_training(adam_epsilon=1e-4, **options)
    story = tm.Transformer.from_config(training.transformer.get_config())
    story.build(((None, None), (None, None)))
    story.set_weights(training.transformer.get_weights())
    schedule = tm.CustomSchedule(8, training.options.warmup_steps)
    step = run_demo.Step(story, Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-4))
    for inp, tar in random_batches(10):
        step.train_loss.reset_state()
        step.train_step(inp, tar)
        sums = loss.TokenSums(*training.train_batch(inp, tar).numpy())
        assert sums.loss / sums.tokens == pytest.approx(float(step.train_loss.result()), abs=1e-5)
    for weight, other in zip(story.weights, training.transformer.weights, strict=True):
        np.testing.assert_allclose(weight, other, rtol=0, atol=1e-5, err_msg=weight.path)


@pytest.mark.parametrize(("variant", "seed"), [(VARIANTS[0], 3), (VARIANTS[4], 5)], ids=str)
def test_greedy_translations_are_those_of_the_story(variant, seed):
    story, engine = twins(seed=seed, **variant)
    ((inp, _),) = random_batches(1)
    expected = tm.greedy_translate(story, inp, extra_tokens=8).numpy()
    assert min(len(np.unique(ids[ids > tm.END])) for ids in expected[[0, 4]]) > 1
    ids = find(engine, inp, extra_tokens=8).ids.numpy()[:, 0]
    np.testing.assert_array_equal(ids[:, : expected.shape[1]], expected)
    assert not ids[:, expected.shape[1] :].any()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_losses_and_their_gradients_are_tensorflows(smoothing):
    rng = np.random.default_rng(0)
    logits = tf.constant(rng.normal(size=(3, 4, 13)).astype(np.float32) * 30)
    weights = rng.normal(size=(3, 4)).astype(np.float32)
    real = rng.integers(0, 13, (3, 4)).astype(np.int32)
    labels = (1 - smoothing) * tf.one_hot(real, 13) + smoothing / 13
    results = []
    for losses_of in (
        lambda logits: loss.cross_entropy(real, logits, smoothing)[0],
        lambda logits: tf.nn.softmax_cross_entropy_with_logits(labels, logits),
    ):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            losses = losses_of(logits)
            total = tf.reduce_sum(losses * weights)
        results.append((losses, tape.gradient(total, logits)))
    assert_equal(results[0][0], results[1][0])
    assert_equal(results[0][1], results[1][1])
