"""The training step of the engine, and how an epoch reads what a step has measured."""

from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.network.engine import ParallelForward
from nmt.network.factory import build_transformer
from nmt.network.loss import TokenSums
from nmt.network.variants import Variant
from nmt.options import Options
from nmt.training import devices, schedules
from nmt.training.optimizer import Adam, Muon, SharedOptimizer, dense
from transformer_model import PAD, Transformer


class Trainer(Protocol):
    """What an epoch repeats: run_demo.py's, which is the tutorial's, or FastStep."""

    transformer: Transformer
    optimizer: Adam | Muon

    @property
    def train_step(self) -> Any:
        """A function that learns from ids (B, S), (B, T)."""


class FastStep:
    """The training step of run_demo.py, faster, and with what the tutorial's does not have.

    A batch is split between devices, and each share into parts that are computed in parallel. The
    optimizer adds up the gradients of all shares, over devices and accumulated batches, and divides
    them by their tokens, once: the loss of a step is the mean over all its real tokens.
    """

    def __init__(
        self, transformer: Transformer, optimizer: Adam | Muon, options: Options,
        strategy: tf.distribute.Strategy, parts: int = 1,
    ):  # fmt: skip
        xla = options.xla == "on"
        self.transformer, self.optimizer = transformer, optimizer
        self.label_smoothing = options.label_smoothing
        with strategy.scope():
            self.shared_optimizer = SharedOptimizer(
                optimizer, transformer.trainable_variables, options.accumulate, options.clip_norm,
                xla,
            )  # fmt: skip
        self.forward = ParallelForward(transformer, parts, static_shapes=xla)
        self.compiled = devices.compiler(xla)  # a decorator
        self.train_batch = devices.spread(strategy, self.learn)  # a tf.function
        self.ends_step = True  # False for a batch that others follow in the same step
        self._sums: list[tf.Tensor] = []  # of the newest batches

    def train_step(self, inp: tf.Tensor, tar: tf.Tensor) -> None:
        """Learns from a batch of ids (B, S), (B, T)."""
        self._sums.append(self.train_batch(inp, tar, ends_step=self.ends_step))

    def learn(self, inp: tf.Tensor, tar: tf.Tensor, ends_step: bool = True) -> TokenSums:
        """Learns from one device's share of a batch. Returns its TokenSums."""
        tar_inp, tar_real = tar[:, :-1], tar[:, 1:]  # (B, T - 1)
        sums, gradients = self.compiled(self.sums_and_gradients)(inp, tar_inp, tar_real)
        grads_and_vars = zip(gradients, self.transformer.trainable_variables, strict=True)
        self.shared_optimizer.apply_gradients(grads_and_vars, sums.tokens, ends_step)
        return sums

    def sums_and_gradients(
        self, inp: tf.Tensor, tar_inp: tf.Tensor, tar_real: tf.Tensor
    ) -> tuple[TokenSums, list[tf.Tensor]]:
        """Returns the TokenSums of a share, and the gradients of its summed loss.

        XLA compiles this; what devices exchange stays outside.
        """
        with tf.GradientTape() as tape:
            sums = self.forward.token_sums(
                (inp, tar_inp), tar_real, training=True, label_smoothing=self.label_smoothing
            )
        return sums, dense(tape.gradient(sums.loss, self.transformer.trainable_variables))

    # ---- What an epoch asks for ----

    def trace(self, batch_spec: Any, accumulate: int) -> None:
        """Makes one graph for all shapes of batches; two, if some batches end no step."""
        for ends_step in {True, accumulate == 1}:
            self.train_batch.get_concrete_function(*batch_spec, ends_step=ends_step)

    def note(self, tar: tf.Tensor) -> None:
        """Takes note of a batch that `train_step` has learned from."""

    def take_sums(self) -> np.ndarray:
        """Returns the TokenSums of each batch since the last call, (batches, 3) float64."""
        sums = np.array([batch_sums.numpy() for batch_sums in self._sums], np.float64)
        self._sums.clear()
        return sums

    @property
    def gradient_norm(self) -> float:
        """The global norm of the gradients of the newest step."""
        return float(tf.convert_to_tensor(self.shared_optimizer.gradient_norm))


class StoryMeter:
    """Reads the metrics of the story's step, which are means over batches, as the tutorial's.

    Each batch counts with its real tokens when those of an epoch are added up.
    """

    gradient_norm: float | None = None  # unknown

    def __init__(self, step: Any):
        self.step, self.ends_step = step, True
        self._tokens: list[tf.Tensor] = []  # real ones to predict, of each of the newest batches
        step.transformer.build(((None, None), (None, None)))
        step.optimizer.build(step.transformer.trainable_variables)

    def trace(self, batch_spec: Any, accumulate: int) -> None:
        """Leaves tracing to the first batches: `train_step` names no shapes."""

    def note(self, tar: tf.Tensor) -> None:
        """Counts the real tokens of a batch that the step has learned from, (B, T)."""
        self._tokens.append(tf.math.count_nonzero(tar[:, 1:] != PAD))

    def take_sums(self) -> np.ndarray:
        """Returns the TokenSums of each batch since the last call, as if all had the same means."""
        metrics = self.step.train_loss, self.step.train_accuracy
        loss, accuracy = (float(metric.result()) for metric in metrics)
        for metric in metrics:
            metric.reset_state()
        tokens = np.array(self._tokens, np.float64)
        self._tokens.clear()
        return np.stack([loss * tokens, accuracy * tokens, tokens], axis=1)


def new_fast_step(
    options: Options, vocab_size: int, target_vocab_size: int, strategy: tf.distribute.Strategy,
    parts: int, steps: int | tf.Variable,
) -> FastStep:  # fmt: skip
    """Returns the engine's step of a new network; `steps` are those of the whole run."""
    with strategy.scope():
        transformer = build_transformer(options, vocab_size, target_vocab_size=target_vocab_size)
        learning_rate = schedules.learning_rate(options, steps)
        optimizer: Adam | Muon = Adam(  # Keras's, for embeddings that are shared, too
            learning_rate, beta_1=options.adam_beta_1, beta_2=options.adam_beta_2,
            epsilon=options.adam_epsilon,
        )  # fmt: skip
        if options.optimizer == "muon":  # for matrices within layers; for the rest, as Adam
            optimizer = Muon(learning_rate, optimizer, transformer, options.mixed_precision)
    return FastStep(transformer, optimizer, options, strategy, parts)


def check_story(options: Options, strategy: tf.distribute.Strategy) -> None:
    """Raises a UserError if the options of a run ask for what the story's step does not have."""
    variant = Variant(**{name: getattr(options, name) for name in Variant._fields})
    if variant.decoder_layers == options.num_layers:
        variant = variant._replace(decoder_layers=0)
    beyond = {
        "network of another form (pre-norm, tied embeddings and such)": variant != Variant(),
        "Muon (--optimizer adam)": options.optimizer != "adam",
        "schedule but its own (--schedule inverse-sqrt)": options.schedule != "inverse-sqrt",
        "label smoothing (--label-smoothing 0)": options.label_smoothing > 0,
        "accumulated batches (--accumulate 1)": options.accumulate > 1,
        "clipped gradients (--clip-norm 0)": options.clip_norm > 0,
        "bfloat16 (--no-mixed-precision)": options.mixed_precision,
        "XLA (--xla off)": options.xla == "on",
        "several devices": strategy.num_replicas_in_sync > 1,
    }
    if named := [name for name, asked in beyond.items() if asked]:
        raise UserError(
            f"--plain: the tutorial has no {named[0]}; leave --plain out, or change that in a new "
            "run"
        )
