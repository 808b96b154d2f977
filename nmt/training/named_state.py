"""What a checkpoint holds: the variables of a training run by their names.

    model/encoder/enc_layers/1/mha/wq/kernel        optimizer/step                    epoch
    model/encoder/enc_layers/1/dropout1/seed_...    optimizer/momentum/encoder/...    position, sums
    model/final_layer/kernel                        optimizer/velocity/encoder/...    steps

Muon has no velocity of the matrices that it updates.
"""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from nmt.network.named_variables import named_variables
from nmt.training.optimizer import Adam, Muon

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"  # of TensorFlow's names


class NamedState:
    """The state of a training run, with the methods of tf.train.Checkpoint."""

    def __init__(
        self,
        transformer: keras.Model,
        optimizer: Adam | Muon | None = None,
        **counters: tf.Variable,
    ):
        variables = named_variables(transformer)
        self._model = {f"model/{name}": variable for name, variable in variables.items()}
        tree: dict[str, Any] = {"model": _as_tree(variables)}
        if optimizer:
            names = {id(variable): name for name, variable in variables.items()}
            trained = [names[id(variable)] for variable in transformer.trainable_variables]
            tree["optimizer"] = {
                "step": optimizer.iterations.value,
                "momentum": _as_tree(dict(zip(trained, optimizer.momentums, strict=True))),
                "velocity": _as_tree(dict(zip(trained, optimizer.velocities, strict=True))),
            }
        self._named = tf.train.Checkpoint(**tree, **counters)

    def write(self, path: str) -> str:
        """Saves the variables. Returns the path."""
        return self._named.write(path)

    def read(self, path: str) -> Any:
        """Restores the variables. Returns TensorFlow's status, which has assertions.

        A ValueError if the checkpoint is of a network with fewer or more variables, or holds NaN.
        """
        stored = tf.train.load_checkpoint(path).get_variable_to_shape_map()
        names = {name.removesuffix(SUFFIX) for name in stored if name.startswith("model/")}
        if differing := names ^ self._model.keys():
            raise ValueError(f"only one of the two has {min(differing)}")
        status = self._named.read(path)
        for name, variable in self._model.items():
            if not np.isfinite(variable.numpy()).all():
                raise ValueError(f"the weights hold NaN or infinite numbers: {name}")
        return status


def _as_tree(variables: dict[str, keras.Variable | None]) -> dict[str, Any]:
    """Returns variables by name as dicts in dicts, from which TensorFlow makes the same names."""
    tree: dict[str, Any] = {}
    for name, variable in variables.items():
        if variable is None:
            continue
        *folders, leaf = name.split("/")
        branch = tree
        for folder in folders:
            branch = branch.setdefault(folder, {})
        branch[leaf] = variable.value
    return tree
