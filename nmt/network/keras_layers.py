"""What Keras 3 asks of layers, and the tutorial did not need: the bases of transformer_model.py.

Saving and rebuilding, variables that exist before the first call, dtype policies.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import keras

if keras.config.backend() != "tensorflow":
    raise ImportError(
        "transformer_model needs Keras on TensorFlow: set KERAS_BACKEND=tensorflow in the "
        "environment before Keras is imported"
    )

# Keras rebuilds a saved model (.keras) from classes that are registered.
register = keras.saving.register_keras_serializable(package="transformer_model")


@contextlib.contextmanager
def dtype_policy_scope(policy: Any) -> Iterator[None]:
    """Within the block, new layers have a dtype policy, such as "float32" or "mixed_bfloat16"."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def rebuild(layer_class: type[keras.Layer], config: dict[str, Any]) -> keras.Layer:
    """Returns a layer made from the result of `get_config`, with its dtype policy for all parts."""
    config = dict(config)
    with dtype_policy_scope(keras.dtype_policies.get(config.pop("dtype"))):
        return layer_class(**config)


def parts_of(layer: keras.Layer) -> list[keras.Layer]:
    """Returns the layers that a layer has as attributes, or in lists, each once."""
    attributes = keras.tree.flatten(vars(layer))
    return [*dict.fromkeys(part for part in attributes if isinstance(part, keras.Layer))]


class TransformerLayer(keras.layers.Layer):
    """A layer that is made of other layers; `d_model` is the width of the vectors it takes."""

    d_model: int
    from_config = classmethod(rebuild)

    def build(self, input_shape: Any) -> None:
        """Creates the variables of all parts. They take vectors of width D; an embedding, ids."""
        for part in parts_of(self):
            if not part.built:  # two stacks may share an embedding (variants.py)
                part.build((None, None, self.d_model))

    def compute_mask(self, inputs: Any, previous_mask: Any) -> None:
        """Returns None: masks are arguments of `call`, never attached to an output."""
        return


class TransformerModel(keras.Model):
    """A network of an `encoder`, a `decoder` and a `final_layer`.

    `config` holds the constructor's arguments by name. Raises a ValueError for float16, or a dtype
    policy that the layers within would not have.
    """

    config: dict[str, Any]
    from_config = classmethod(rebuild)

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        policy, policy_of_layers = self.dtype_policy.name, keras.config.dtype_policy().name
        if self.compute_dtype == "float16":
            raise ValueError(
                f"{policy} cannot hold the value of masked logits, -1e9: use mixed_bfloat16 or "
                "float32"
            )
        if policy != policy_of_layers:
            raise ValueError(
                f"dtype {policy} is not that of the layers within, {policy_of_layers}: leave it "
                f'out, and build the network within dtype_policy_scope("{policy}") of '
                "nmt.network.keras_layers"
            )

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments by name, from which Keras rebuilds the model."""
        return {**super().get_config(), **self.config}

    def build(self, input_shape: Any) -> None:
        """Creates all variables; see TransformerLayer."""
        for part in (self.encoder, self.decoder, self.final_layer):
            part.build((None, None, self.config["d_model"]))
