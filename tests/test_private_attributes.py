"""A canary: the private attributes of Keras that the product needs are still there.

Where one of these tests fails, Keras has changed; requirements.txt names the version that has them.
No other test uses a private attribute of TensorFlow or Keras.
"""

import re

import keras
import numpy as np
import tensorflow as tf
from helpers import ROOT

from nmt.options import Options
from nmt.training import optimizer as optimizers


def test_requirements_name_the_minor_version_of_keras():
    pinned = (ROOT / "requirements.txt").read_text()
    assert re.search(r"^keras==\d+\.\d+\.\*", pinned, re.M)


def test_adam_has_the_attributes_that_the_faster_adam_uses(monkeypatch):
    monkeypatch.setattr(optimizers, "learning_rate", lambda *_: 0.1)
    optimizer = optimizers.Adam(Options(), 1)
    variable = keras.Variable([1.0, 2.0])
    optimizer.build([variable])
    for name in ("_momentums", "_velocities", "_get_variable_index", "iterations"):
        assert hasattr(optimizer, name), name
    step = tf.function(lambda gradient: optimizer.apply([gradient], [variable]))
    step(tf.constant([1.0, -1.0]))
    graph = step.get_concrete_function(tf.constant([1.0, -1.0])).graph
    assert "ResourceApplyAdam" in {operation.type for operation in graph.get_operations()}
    assert int(optimizer.iterations) == 1
    np.testing.assert_allclose(variable.numpy(), [0.9, 2.1], rtol=1e-5)


def test_a_layer_lists_all_layers_within_it():
    inner = keras.layers.Dense(1)
    outer = keras.Sequential([keras.Sequential([inner])])
    assert inner in outer._flatten_layers()  # what nmt/network/engine.py replaces
    parts = outer._flatten_layers(include_self=False, recursive=False)
    assert list(parts) == outer.layers  # what transformer_model.py builds
