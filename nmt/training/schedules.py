"""Learning rates by name: the story's CustomSchedule, and two that decay otherwise."""

import math
from typing import Any

import keras
import tensorflow as tf

from nmt.options import Options
from transformer_model import CustomSchedule

register = keras.saving.register_keras_serializable(package="nmt")


@register
class CosineSchedule(CustomSchedule):
    """The same warm-up to the same peak, then times (1 + cos(pi * progress)) / 2: 0.0 at `steps`.

    Progress goes from 0 at `warmup_steps` to 1 at `steps` (Loshchilov & Hutter 2017, arXiv
    1608.03983, without restarts). Without steps after the warm-up, nothing decays. `steps`, of the
    whole training run, is a number, or a scalar variable that is set later.
    """

    def __init__(
        self, d_model: int, warmup_steps: int = 4000, scale: float = 1.0,
        steps: int | tf.Variable = 100_000,
    ):  # fmt: skip
        super().__init__(d_model, warmup_steps, scale)
        self.steps = steps

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        step, steps = tf.cast(step, tf.float32), tf.cast(self.steps, tf.float32)
        warmup = float(self.warmup_steps)
        warmed_up = super().__call__(tf.minimum(step, warmup))
        progress = tf.clip_by_value((step - warmup) / tf.maximum(steps - warmup, 1.0), 0.0, 1.0)
        return warmed_up * 0.5 * (1 + tf.cos(math.pi * progress))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "steps": int(self.steps)}


@register
class ConstantSchedule(CustomSchedule):
    """The same warm-up to the same peak, and no decay."""

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        return super().__call__(tf.minimum(tf.cast(step, tf.float32), float(self.warmup_steps)))


SCHEDULES: dict[str, type[CustomSchedule]] = {  # by the name that params.py gives it
    "inverse-sqrt": CustomSchedule,
    "cosine": CosineSchedule,
    "constant": ConstantSchedule,
}


def learning_rate(options: Options, steps: int | tf.Variable) -> CustomSchedule:
    """Returns the schedule that `options` name."""
    schedule = SCHEDULES[options.schedule]
    arguments = options.d_model, options.warmup_steps, options.learning_rate_scale
    if issubclass(schedule, CosineSchedule):
        return schedule(*arguments, steps=steps)
    return schedule(*arguments)
