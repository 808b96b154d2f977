"""Learning rates that decay otherwise than the paper's."""

import math

import pytest
import tensorflow as tf

import params
from nmt.options import Options
from nmt.training.schedules import CosineSchedule, learning_rate
from transformer_model import CustomSchedule


def test_a_cosine_grows_to_the_same_peak_and_falls_to_zero_at_the_last_step():
    """The factor after warm-up is (1 + cos(pi p)) / 2, of the share p of the steps since."""
    cosine, paper = CosineSchedule(128, 100, 2.0, steps=500), CustomSchedule(128, 100, 2.0)
    for step in (0, 1, 50, 100):
        assert float(cosine(step)) == pytest.approx(float(paper(step)), rel=1e-6)
    peak = 2 * 128**-0.5 * 100**-0.5
    for step, factor in ((200, (1 + 0.5**0.5) / 2), (300, 0.5), (400, (1 - 0.5**0.5) / 2)):
        assert float(cosine(step)) == pytest.approx(peak * factor, rel=1e-5)
    assert float(cosine(500)) == float(cosine(900)) == 0
    steps = tf.Variable(1, dtype=tf.int64)  # not known yet
    later = CosineSchedule(128, 100, 2.0, steps)
    steps.assign(500)
    assert float(later(300)) == float(cosine(300))
    assert CosineSchedule.from_config(later.get_config())(300) == cosine(300)


def test_a_cosine_is_that_of_the_notes():
    """get_cosine_schedule_with_warmup of the notes on self-attention: a factor to the peak."""

    def factor(step, warmup, steps):
        if step < warmup:
            return step / warmup
        progress = (step - warmup) / (steps - warmup)
        return max(0.0, 0.5 * (1.0 + math.cos(math.pi * 0.5 * 2.0 * progress)))

    schedule = CosineSchedule(512, 40, 1.0, steps=200)
    peak = float(schedule(40))
    for step in range(0, 201, 10):
        assert float(schedule(step)) == pytest.approx(peak * factor(step, 40, 200), abs=1e-7 * peak)


FLAG = next(row.flag for row in params.table() if row.name == "schedule")


@pytest.mark.parametrize("name", FLAG.choices)
def test_a_name_of_a_schedule_leads_to_it(name):
    options = Options(schedule=name, warmup_steps=100, learning_rate_scale=2.0)
    schedule = learning_rate(options, 500)
    assert float(schedule(50)) == pytest.approx(float(schedule(100)) / 2)
    assert float(schedule(100)) == pytest.approx(2 * 128**-0.5 * 100**-0.5)
    assert float(schedule(500)) == pytest.approx(
        float(schedule(100)) * {"inverse-sqrt": 5**-0.5, "cosine": 0, "constant": 1}[name]
    )
