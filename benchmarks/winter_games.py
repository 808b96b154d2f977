"""Why a first lesson's toy fails: one sentence, 20 steps, several recipes, each on three seeds.

    python benchmarks/winter_games.py [--seeds 1 2 3] [--recipes post-norm-1e-3 ...]

The lesson (a Chinese introduction to the Transformer) teaches a network of 6 layers of width 512
the pair "I like the 2022 Beijing Winter Games" in 20 steps of Adam at a constant rate of 0.001,
post-norm and without dropout, and is left with a loss of 1.75 and one word over and over. Its data
has faults too: its word for "I" has the id of its padding, and three of its words share one id.
Here the data is right, so what fails is the recipe. Prints a table: how far apart the positions of
the target are before the first step, after two and after the last, as `apart` measures it; the loss
in nats per token after the last; and of the 7 tokens of the translation, END included, how many
greedy search predicts correctly.
"""

import argparse
import dataclasses
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as `run_demo.py train` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import keras
import numpy as np
import tensorflow as tf

import run_demo
from nmt.cli import flags
from nmt.corpus import corpora
from nmt.decoding.search import greedy_search
from nmt.options import Options

STEPS = 20
RECIPES = {  # learning rate at its peak, steps of warm-up, other values than the preset's
    "post-norm-1e-3": (1e-3, 1, dict(pre_norm=False)),  # the lesson's
    "post-norm-3e-4": (3e-4, 1, dict(pre_norm=False)),
    "post-norm-1e-4": (1e-4, 1, dict(pre_norm=False)),
    "post-norm-3e-5": (3e-5, 1, dict(pre_norm=False)),
    "post-norm-1e-4-warm-up-8": (1e-4, 8, dict(pre_norm=False)),
    "post-norm-1e-3-one-layer": (1e-3, 1, dict(pre_norm=False, num_layers=1)),
    "pre-norm-1e-3": (1e-3, 1, {}),
    "pre-norm-3e-4": (3e-4, 1, {}),  # the preset
}


def apart(transformer, inp, tar):
    """Returns how far the probabilities at a position are from the mean of all positions.

    As total variation, averaged over positions: 0 where all predict the same, however the loss
    falls, and 1 - 1/7 where each of 7 is sure of a different token.
    """
    predictions, _ = transformer((inp, tar[:, :-1]))
    probabilities = tf.nn.softmax(predictions[0])  # (T, V)
    differences = tf.abs(probabilities - tf.reduce_mean(probabilities, axis=0))  # (T, V)
    return float(tf.reduce_sum(differences) / 2 / len(probabilities))


class Lesson(NamedTuple):
    """How a network has learned its sentence."""

    distances: list[float]  # how far `apart` positions are at three times
    loss: float  # after the last step
    right: int  # tokens
    tokens: int


def learn(recipe, seed, sizes):
    """Trains by `recipe`; `sizes` are options of the preset to be replaced. Returns a Lesson."""
    rate, warmup_steps, changes = RECIPES[recipe]
    given = sizes | changes | dict(seed=seed, warmup_steps=warmup_steps, xla="off")
    options = Options.of("winter-games", given)
    scale = rate * (options.d_model * warmup_steps) ** 0.5
    options = dataclasses.replace(options, learning_rate_scale=scale)
    keras.utils.set_random_seed(seed)
    corpus = corpora.built_in("winter-games")
    model = run_demo.train_tokenizer(corpus.train, options.vocab_size, options.pieces)
    tokenizer = run_demo.Tokenizer(model)
    training = run_demo.Training(options, tokenizer.vocab_size, tf.distribute.get_strategy())
    ((source, target),) = corpus.train
    inp, tar = (tf.constant(tokenizer.encode([side])) for side in (source, target))
    distances = [apart(training.transformer, inp, tar)]
    for step in range(1, STEPS + 1):
        training.train_batch(inp, tar)
        if step in (2, STEPS):
            distances.append(apart(training.transformer, inp, tar))
    loss, _, tokens = training.validator.validate_batch(inp, tar).numpy()
    ids = greedy_search(training.transformer, inp).ids[0, 0, 1 : tar.shape[1]]
    right = int(tf.reduce_sum(tf.cast(ids == tar[0, 1 : 1 + len(ids)], tf.int32)))
    return Lesson(distances, float(loss / tokens), right, tar.shape[1] - 1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    sizes = ("num_layers", "d_model", "dff", "num_heads")
    flags.add_parameters(parser, sizes, "that of --preset winter-games")
    args = parser.parse_args()
    started = time.perf_counter()
    print("| recipe | apart before, after 2, after 20 steps | loss | tokens right | right |")
    print("|---|---|---|---|---|", flush=True)
    for recipe in args.recipes:
        lessons = [learn(recipe, seed, flags.given(args)) for seed in args.seeds]
        means = np.mean([lesson.distances for lesson in lessons], axis=0)
        distances = ", ".join(f"{mean:.3f}" for mean in means)
        losses = ", ".join(f"{lesson.loss:.2f}" for lesson in lessons)
        tokens = ", ".join(f"{lesson.right} of {lesson.tokens}" for lesson in lessons)
        learned = sum(lesson.right == lesson.tokens for lesson in lessons)
        print(
            f"| {recipe} | {distances} | {losses} | {tokens} | {learned} of {len(lessons)} |",
            flush=True,
        )
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
