"""What a checkpoint holds: the variables of a training run by their names.

    model/encoder/enc_layers/1/mha/wq/kernel        optimizer/step                    epoch
    model/encoder/enc_layers/1/dropout1/seed_...    optimizer/momentum/encoder/...    position, sums
    model/final_layer/kernel                        optimizer/velocity/encoder/...    steps

A name is the way of attributes to a variable, so that it depends neither on the order in which
Keras creates variables nor on the names that it gives to layers. Muon has no velocity of the
matrices that it updates.
"""

from collections.abc import Iterator
from typing import Any

import keras
import tensorflow as tf

from nmt.network.keras_layers import parts_of
from nmt.training.optimizer import Adam, Muon


def named_variables(layer: keras.Layer) -> dict[str, keras.Variable]:
    """Returns the variables of a layer by name; a shared one has the first of its names."""
    named: dict[int, tuple[str, keras.Variable]] = {}
    for name, variable in _walk(layer, ""):
        named.setdefault(id(variable), (name, variable))
    variables = dict(named.values())
    if len(variables) < len(named):
        raise ValueError(f"{layer.name} has variables of the same name")
    return variables


def _walk(layer: keras.Layer, path: str) -> Iterator[tuple[str, keras.Variable]]:
    """Yields all variables with their names, which begin with `path`."""
    if not parts_of(layer):
        yield from ((f"{path}{variable.name}", variable) for variable in layer.variables)
    attributes = {name: value for name, value in vars(layer).items() if not name.startswith("_")}
    if isinstance(layer, keras.Sequential):
        attributes = {"layers": layer.layers}
    for name, value in attributes.items():
        if isinstance(value, keras.Layer):
            yield from _walk(value, f"{path}{name}/")
        elif isinstance(value, keras.Variable) and parts_of(layer):  # beside those of its parts
            yield f"{path}{name}", value
        elif isinstance(value, list):
            for number, part in enumerate(value, start=1):
                if isinstance(part, keras.Layer):
                    yield from _walk(part, f"{path}{name}/{number}/")


class NamedState:
    """The state of a training run, with the methods of tf.train.Checkpoint."""

    def __init__(
        self,
        transformer: keras.Model,
        optimizer: Adam | Muon | None = None,
        **counters: tf.Variable,
    ):
        variables = named_variables(transformer)
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
        """Restores the variables. Returns TensorFlow's status, which has assertions."""
        return self._named.read(path)


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
