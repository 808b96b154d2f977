"""A canary: what the product needs of Keras, beyond what its documentation promises, is there.

Where one of these tests fails, Keras has changed; requirements.txt names the version that has them.
No test uses a private attribute of TensorFlow or Keras.
"""

import re

import keras
import numpy as np
import tensorflow as tf
from helpers import ROOT

from nmt.network.keras_layers import parts_of
from nmt.training.optimizer import Adam


def test_requirements_name_the_minor_version_of_keras():
    pinned = (ROOT / "requirements.txt").read_text()
    assert re.search(r"^keras==\d+\.\d+\.\*", pinned, re.M)


def test_adam_has_the_variables_that_the_faster_adam_uses():
    optimizer = Adam(0.1)
    variables = [keras.Variable([1.0, 2.0]), keras.Variable([[3.0]])]
    optimizer.build(variables)
    for moments in (optimizer.momentums, optimizer.velocities):
        assert [moment.shape for moment in moments] == [(2,), (1, 1)]
    gradients = [tf.constant([1.0, -1.0]), tf.constant([[2.0]])]
    step = tf.function(lambda: optimizer.apply(gradients, variables))
    step()
    graph = step.get_concrete_function().graph
    assert "ResourceApplyAdam" in {operation.type for operation in graph.get_operations()}
    assert int(optimizer.iterations) == 1
    np.testing.assert_allclose(variables[0].numpy(), [0.9, 2.1], rtol=1e-5)
    np.testing.assert_allclose(optimizer.momentums[1].numpy(), [[0.2]], rtol=1e-5)


def test_a_layer_has_all_parts_as_attributes():
    inner = keras.layers.Dense(1)
    outer = keras.Sequential([keras.Sequential([inner])])
    assert parts_of(outer) == outer.layers  # what transformer_model.py builds
    assert parts_of(outer.layers[0]) == [inner]  # what nmt/network/engine.py replaces
