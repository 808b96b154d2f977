"""What turns gradients into steps: Adam, learning rates by name, gradient accumulation."""

import keras
import tensorflow as tf

from nmt import UserError
from nmt.machine import memory
from transformer_model import ConstantSchedule, CosineSchedule, CustomSchedule


def learning_rate(options, steps):
    """Returns the schedule that `options` name, for a training run of `steps`."""
    sizes = options["d_model"], options["warmup_steps"], options["learning_rate_scale"]
    if options["schedule"] == "cosine":
        return CosineSchedule(*sizes, steps)
    constant = options["schedule"] == "constant"
    return ConstantSchedule(*sizes) if constant else CustomSchedule(*sizes)


def check_size(options, vocab_size, weight_bytes=16):
    """Raises a UserError if a Transformer of these sizes cannot fit into memory.

    Args:
      options: values of params.table() by name.
      vocab_size: vocabulary entries.
      weight_bytes: memory per weight; in training, with its gradient and Adam's two moments, 16.
    """
    width, tables = options["d_model"], 1 if options["tie_embeddings"] else 3
    layers = options["num_layers"] * width * (12 * width + 4 * options["dff"])
    needed = weight_bytes * (layers + tables * vocab_size * width)
    if needed > memory():
        raise UserError(
            f"a network of these sizes takes {needed / 2**30:,.0f} GiB at least, and this "
            f"machine has {memory() / 2**30:,.0f}; lower --d-model, --dff, --num-layers or "
            "--vocab-size"
        )


class Adam(keras.optimizers.Adam):
    """Keras's Adam, each variable updated by TensorFlow's fused kernel, not by a dozen operations.

    Args:
      options: values of params.table() by name.
      steps: of the training run; a number, or a scalar variable to be set later.
    """

    def __init__(self, options, steps):
        super().__init__(
            learning_rate(options, steps),
            beta_1=options["adam_beta_1"],
            beta_2=options["adam_beta_2"],
            epsilon=options["adam_epsilon"],
        )

    def _all_reduce_sum_gradients(self, grads_and_vars):
        """Keras would sum the gradients of all devices here; `Training.learn` has done so."""
        return grads_and_vars

    def update_step(self, gradient, variable, learning_rate):
        """Updates one variable, by the formulas of Kingma & Ba 2015 (end of section 2)."""
        number = self._get_variable_index(variable)
        step = tf.cast(self.iterations + 1, tf.float32)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[number].value.handle,
            v=self._velocities[number].value.handle,
            beta1_power=tf.pow(self.beta_1, step),
            beta2_power=tf.pow(self.beta_2, step),
            lr=tf.cast(learning_rate, tf.float32),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=gradient,
        )


class Accumulator:
    """Sums the gradients of several batches for one optimizer step (`--accumulate`).

    Args:
      variables: that the gradients belong to.
      batches: per step; with 1, nothing is kept.
    """

    def __init__(self, variables, batches):
        own = dict(  # each replica has its own sums
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            trainable=False,
        )
        shapes = [variable.shape for variable in variables] + [()] if batches > 1 else []
        self.totals = [tf.Variable(tf.zeros(shape), **own) for shape in shapes]

    @property
    def tokens(self):
        """The tokens of the batches so far, on this replica; 0 where nothing is kept."""
        return tf.convert_to_tensor(self.totals[-1]) if self.totals else tf.constant(0.0)

    def add(self, gradients, tokens):
        """Returns the sums of all gradients so far and, last, of their tokens."""
        new = [*gradients, tokens]
        if not self.totals:
            return new
        for total, value in zip(self.totals, new, strict=True):
            total.assign_add(value)
        return [tf.convert_to_tensor(total) for total in self.totals]

    def reset(self):
        """Sets the sums to zero, after a step."""
        for total in self.totals:
            total.assign(tf.zeros_like(total))
