"""What turns gradients into optimizer steps: Adam, Muon, and the SharedOptimizer."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import keras
import tensorflow as tf

from nmt.training import devices
from transformer_model import Transformer


class Adam(keras.optimizers.Adam):
    """Keras's Adam, each variable updated by TensorFlow's fused kernel, not by a dozen operations.

    Its gradients are those of all variables that it was built for, in their order.
    """

    @property
    def momentums(self) -> list[keras.Variable]:
        """The means of the gradients, in the order of the variables it was built for."""
        return [variable for variable in self.variables if variable.name.endswith("_momentum")]

    @property
    def velocities(self) -> list[keras.Variable]:
        """The means of their squares."""
        return [variable for variable in self.variables if variable.name.endswith("_velocity")]

    def apply(
        self, grads: Sequence[tf.Tensor], trainable_variables: Sequence[keras.Variable]
    ) -> None:
        """Updates the variables, by the formulas of Kingma & Ba 2015 (end of section 2).

        Each device updates its own copies, with the gradients that a SharedOptimizer has summed
        over all devices; Keras would sum them here. Nothing is asked of other devices, so that XLA
        may compile this.
        """
        if not self.built:
            with tf.init_scope():
                self.build(trainable_variables)
        scalars = adam_scalars(self, self.beta_1, self.beta_2)
        moments = self.momentums, self.velocities
        for gradient, variable, momentum, velocity in zip(
            dense(grads), trainable_variables, *moments, strict=True
        ):
            apply_adam(gradient, variable, momentum, velocity, scalars)
        count_step(self)


class Muon(keras.optimizers.Muon):
    """Keras's Muon: matrices within layers by Muon, all other variables by Adam's fused kernel.

    With sum = 0.95 * sum + gradient, the update of a matrix of m rows and n columns is -lr * 0.2 *
    sqrt(max(m, n)) times an orthogonal matrix near gradient + 0.95 * sum, which Newton and Schulz's
    iteration finds (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon; the factor: Liu
    et al. 2025, arXiv 2502.16982, equation 4). So its values are about as large as those of Adam's
    updates, and the learning rate and its schedule stay. Embeddings and the final layer are left to
    Adam. With mixed precision, the products of the iteration are in bfloat16.
    """

    def __init__(
        self, learning_rate: Any, adam: Adam, transformer: Transformer,
        mixed_precision: bool = False,
    ):  # fmt: skip
        super().__init__(
            learning_rate,
            exclude_layers=[rf"^{re.escape(transformer.final_layer.path)}/"],
            weight_decay=None,
            adam_weight_decay=None,
            adam_beta_1=adam.beta_1,
            adam_beta_2=adam.beta_2,
            epsilon=adam.epsilon,
        )
        self._product_dtype = "bfloat16" if mixed_precision else "float32"

    @property
    def velocities(self) -> list[keras.Variable | None]:
        """The means of the squares of gradients, None for matrices within layers."""
        return self.adam_velocities

    def apply(
        self, grads: Sequence[tf.Tensor], trainable_variables: Sequence[keras.Variable]
    ) -> None:
        """Updates the variables; see Adam.apply."""
        scalars = adam_scalars(self, self.adam_beta_1, self.adam_beta_2)
        moments = self.momentums, self.velocities
        for gradient, variable, momentum, velocity in zip(
            grads, trainable_variables, *moments, strict=True
        ):
            if velocity is None:
                self._apply_to_matrix(gradient, variable, momentum, scalars["lr"])
            else:
                apply_adam(gradient, variable, momentum, velocity, scalars)
        count_step(self)

    def _apply_to_matrix(
        self, gradient: tf.Tensor, variable: keras.Variable, momentum: keras.Variable, lr: tf.Tensor
    ) -> None:
        """Updates a matrix, and the running sum of its gradients."""
        total = self.momentum * momentum.value + gradient  # (m, n)
        ahead = gradient + self.momentum * total  # Nesterov's
        direction = orthogonalized(ahead, self.ns_steps, self._product_dtype)
        size = self.rms_rate * max(variable.shape) ** 0.5
        tf.raw_ops.AssignVariableOp(resource=momentum.value.handle, value=total)
        tf.raw_ops.AssignSubVariableOp(resource=variable.value.handle, value=lr * size * direction)


# Coefficients of a x + b x^3 + c x^5, which, repeated, takes values between 0 and 1 to near 1
# (Jordan et al. 2024).
QUINTIC = (3.4445, -4.7750, 2.0315)


def orthogonalized(matrix: tf.Tensor, steps: int, dtype: str = "float32") -> tf.Tensor:
    """Returns a float32 matrix (m, n) with the same singular vectors, and singular values near 1.

    After five steps of Newton and Schulz's iteration, whose products are computed in `dtype`, they
    are 0.7 to 1.2, but for those below a thousandth of the norm.
    """
    a, b, c = QUINTIC
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = tf.transpose(matrix) if is_tall else matrix
    x = tf.cast(x / (tf.norm(x) + 1e-7), dtype)  # singular values of at most 1
    for _ in range(steps):
        square = tf.matmul(x, x, transpose_b=True)
        x = a * x + tf.matmul(b * square + c * tf.matmul(square, square), x)
    x = tf.cast(x, tf.float32)
    return tf.transpose(x) if is_tall else x


def adam_scalars(
    optimizer: keras.Optimizer, beta_1: float, beta_2: float
) -> dict[str, tf.Tensor | float]:
    """Returns the arguments of `apply_adam` for the next step, the same for all variables."""
    step = tf.cast(optimizer.iterations + 1, tf.float32)
    return dict(
        beta1_power=tf.pow(beta_1, step),
        beta2_power=tf.pow(beta_2, step),
        lr=tf.cast(optimizer.learning_rate, tf.float32),
        beta1=beta_1,
        beta2=beta_2,
        epsilon=optimizer.epsilon,
    )


def apply_adam(
    gradient: tf.Tensor,
    variable: keras.Variable,
    momentum: keras.Variable,
    velocity: keras.Variable,
    scalars: dict[str, tf.Tensor | float],
) -> None:
    """Updates a variable and its moments by Adam's fused kernel."""
    tf.raw_ops.ResourceApplyAdam(
        var=variable.value.handle,
        m=momentum.value.handle,
        v=velocity.value.handle,
        grad=gradient,
        **scalars,
    )


def count_step(optimizer: keras.Optimizer) -> None:
    """Adds one to the steps of an optimizer."""
    one = tf.ones((), optimizer.iterations.dtype)
    tf.raw_ops.AssignAddVariableOp(resource=optimizer.iterations.value.handle, value=one)


def dense(gradients: Sequence[tf.Tensor | tf.IndexedSlices]) -> list[tf.Tensor]:
    """Returns `gradients` as tensors of the shapes of their variables.

    The gradient of an embedding has one row per token, and Keras's Adam would square the rows of a
    repeated token one by one. A dense tensor has their sum.
    """
    return [tf.convert_to_tensor(gradient) for gradient in gradients]


class SharedOptimizer:
    """An optimizer whose steps learn from shares: accumulated batches, on all devices.

    The loss of a step is the mean over the real tokens of all its shares, so the gradients of their
    summed losses, and their tokens, are summed first, then divided once. The Keras optimizer, one
    of those above, does not sum gradients over devices itself. `clip_norm` 0 clips nothing.
    """

    def __init__(
        self, optimizer: keras.Optimizer, variables: Sequence[keras.Variable],
        accumulate: int = 1, clip_norm: float = 0.0, compiled: bool = False,
    ):  # fmt: skip
        self.update_device = devices.compiler(compiled)(self._update_device)
        self.optimizer, self.variables, self.clip_norm = optimizer, variables, clip_norm
        optimizer.build(variables)
        self.gradient_norm = tf.Variable(  # of the newest step
            0.0, trainable=False, synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
        )  # fmt: skip
        shapes = [*(variable.shape for variable in variables), ()] if accumulate > 1 else []
        self.totals = [  # of gradients and, last, of tokens; each replica has its own
            tf.Variable(
                tf.zeros(shape), trainable=False,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
            for shape in shapes
        ]  # fmt: skip

    @property
    def iterations(self) -> keras.Variable:
        """The number of steps so far."""
        return self.optimizer.iterations

    @property
    def learning_rate(self) -> tf.Tensor:
        """That of the next step."""
        return self.optimizer.learning_rate

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[tf.Tensor, keras.Variable]],
        tokens: tf.Tensor,
        ends_step: bool = True,
    ) -> None:
        """Adds the gradients of a share; makes a step if it ends one. In a replica context.

        The gradients, `dense`, are of the summed loss of the share's real tokens, of which there
        are `tokens`, ().
        """
        gradients = [gradient for gradient, _ in grads_and_vars]
        totals = self._accumulate([*gradients, tokens])
        if not ends_step:
            return
        context = tf.distribute.get_replica_context()
        self.update_device(context.all_reduce(tf.distribute.ReduceOp.SUM, totals))
        for total in self.totals:
            total.assign(tf.zeros_like(total))

    def _accumulate(self, summands: list[tf.Tensor]) -> list[tf.Tensor]:
        """Returns the sums, on this device, of gradients and tokens since the last step."""
        if not self.totals:
            return summands
        for total, summand in zip(self.totals, summands, strict=True):
            total.assign_add(summand)
        # In a cluster, such a variable is read without a device, which all_reduce refuses. A copy
        # is on this device.
        return [tf.identity(total) for total in self.totals]

    def _update_device(self, totals: Sequence[tf.Tensor]) -> None:
        """Updates this device's copies of the variables.

        The totals are sums over all devices, of gradients and, last, of tokens.
        """
        *gradients, tokens = totals
        gradients = [tf.math.divide_no_nan(gradient, tokens) for gradient in gradients]
        norm = tf.linalg.global_norm(gradients)
        self.gradient_norm.assign(norm)
        if self.clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, self.clip_norm, norm)
        self.optimizer.apply_gradients(zip(gradients, self.variables, strict=True))
