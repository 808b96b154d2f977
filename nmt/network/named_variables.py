"""The names of a network's variables: encoder/enc_layers/1/mha/wq/kernel.

A name is the way of attributes to a variable, so that it depends neither on the order in which
Keras creates variables nor on the names that it gives to layers.
"""

from collections.abc import Iterator

import keras

from nmt.network.keras_layers import parts_of


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
