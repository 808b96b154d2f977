"""What must hold of Muon: Keras's updates, of matrices within layers, with Adam for the rest."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import random_batches, tiny_training

from nmt.network.factory import build_transformer
from nmt.network.named_variables import named_variables
from nmt.options import Options
from nmt.training import checkpoints
from nmt.training.optimizer import Adam, Muon, SharedOptimizer, orthogonalized

ADAM = Adam(0.01, beta_1=0.9, beta_2=0.98, epsilon=1e-9)


def network(**options):
    """Returns a small Transformer, equal in each call."""
    keras.utils.set_random_seed(3)
    sizes = dict(num_layers=1, d_model=16, dff=32, num_heads=2)
    return build_transformer(Options.of(given=sizes | options), 50)


def gradients_of(variables, step):
    return [
        tf.random.stateless_normal(variable.shape, (step, number))
        for number, variable in enumerate(variables)
    ]


@pytest.mark.parametrize(
    ("options", "compiled"),
    [({}, False), pytest.param({"tie_embeddings": True}, True, marks=pytest.mark.slow)],
)
def test_updates_are_those_of_keras(options, compiled):
    ours, theirs = network(**options), network(**options)
    muon = SharedOptimizer(Muon(0.01, ADAM, ours), ours.trainable_variables, compiled=compiled)
    reference = keras.optimizers.Muon(
        0.01, weight_decay=None, adam_weight_decay=None,
        exclude_layers=[f"^{theirs.final_layer.path}/"], adam_beta_1=0.9,
        adam_beta_2=0.98, epsilon=1e-9,
    )  # fmt: skip
    reference.build(theirs.trainable_variables)
    for step in range(4):
        gradients = gradients_of(ours.trainable_variables, step)
        pairs = [*zip(gradients, ours.trainable_variables, strict=True)]
        tf.distribute.get_strategy().run(
            lambda pairs=pairs: muon.apply_gradients(pairs, tf.constant(1.0))
        )
        reference.apply_gradients(zip(gradients, theirs.trainable_variables, strict=True))
    for one, other in zip(ours.trainable_variables, theirs.trainable_variables, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=0, atol=1e-6)


def test_matrices_within_layers_alone_are_its_own():
    transformer = network()
    muon = Muon(0.01, ADAM, transformer)
    muon.build(transformer.trainable_variables)
    names = {id(variable): name for name, variable in named_variables(transformer).items()}
    own = {
        names[id(variable)]
        for variable, velocity in zip(transformer.trainable_variables, muon.velocities, strict=True)
        if velocity is None
    }
    kernels = {name for name in names.values() if name.endswith("kernel")}
    assert own == {name for name in kernels if not name.startswith("final_layer")}
    assert len(own) == 4 + 2 + 8 + 2  # attention and feed-forward network, twice


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("bfloat16", 0.1)])
def test_an_orthogonal_matrix_keeps_the_singular_vectors(dtype, tolerance):
    matrix = tf.random.stateless_normal((6, 4), (1, 2))
    near = orthogonalized(matrix, 5, dtype).numpy()
    singular = np.linalg.svd(near, compute_uv=False)
    assert singular.min() > 0.6
    assert singular.max() < 1.3
    left, _, right = np.linalg.svd(matrix.numpy(), full_matrices=False)
    rotated = left.T @ near @ right.T  # diagonal
    np.testing.assert_allclose(rotated - np.diag(np.diag(rotated)), 0, atol=tolerance)
    other = orthogonalized(tf.transpose(matrix), 5, dtype)
    np.testing.assert_allclose(other, near.T, atol=tolerance)


@pytest.mark.usefixtures("eagerly")
def test_a_training_goes_on_bit_for_bit(tmp_path):
    batches = random_batches(4)
    whole = tiny_training(optimizer="muon")
    for batch in batches[:2]:
        whole.train_batch(*batch)
    checkpoints.write(whole.checkpoint, tmp_path / "ckpt-1")
    resumed = tiny_training(optimizer="muon")
    checkpoints.restore(resumed.checkpoint, str(tmp_path / "ckpt-1"))
    for training in (whole, resumed):
        for batch in batches[2:]:
            training.train_batch(*batch)
    for variable, other in zip(
        whole.transformer.variables, resumed.transformer.variables, strict=True
    ):
        np.testing.assert_array_equal(variable.numpy(), other.numpy())


@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param(dict(mixed_precision=True), marks=pytest.mark.slow),
        pytest.param(dict(xla="on"), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_accumulated_batches_make_one_clipped_step_of_both(changes, request):
    if "xla" not in changes:
        request.getfixturevalue("eagerly")
    tolerance = 1.0 if changes.get("mixed_precision") else 1e-3  # unrelated steps: 1.4
    (inp, tar), (more_inp, more_tar) = batches = random_batches(2)
    muon = dict(optimizer="muon", clip_norm=0.1, schedule="constant", warmup_steps=1) | changes
    once, twice = tiny_training(**muon), tiny_training(**muon, accumulate=2)
    twice.transformer.set_weights(once.transformer.get_weights())
    before = [variable.numpy() for variable in once.transformer.trainable_variables]
    for _ in range(2):  # the first step has a learning rate of 0
        once.train_batch(tf.concat([inp, more_inp], axis=0), tf.concat([tar, more_tar], axis=0))
        for batch, ends_step in zip(batches, (False, True), strict=True):
            twice.train_batch(*batch, ends_step=ends_step)
    assert once.optimizer.gradient_norm.numpy() > 0.1  # so that it was clipped
    trained = (training.transformer.trainable_variables for training in (once, twice))
    velocities = once.optimizer.optimizer.velocities
    for one, two, start, velocity in zip(*trained, before, velocities, strict=True):
        step, other = one.numpy() - start, two.numpy() - start
        if velocity is None:  # Adam would divide what is a rounding error by its own size
            size = np.linalg.norm(step)
            assert size > 0
            assert np.linalg.norm(other - step) < tolerance * size
