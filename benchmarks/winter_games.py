"""Why a first lesson's toy fails: one sentence, 20 steps, several recipes, each on three seeds.

    python benchmarks/winter_games.py [--seeds 1 2 3] [--recipes post-norm-1e-3 ...]

The lesson (a Chinese introduction to the Transformer) teaches a network of 6 layers of width 512
the pair "I like the 2022 Beijing Winter Games" in 20 steps of Adam at a constant rate of 0.001,
post-norm and without dropout, and is left with a loss of 1.75 and one word over and over. Its data
has faults too: its word for "I" has the id of its padding, and three of its words share one id.
Here the data is right, so what fails is the recipe. Prints a table: how far apart the places of the
target are before the first step, after two and after the last, as `apart` measures it; the loss in
nats a token after the last; and of the 7 tokens of the translation, END included, how many greedy
search tells right.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import keras
import numpy as np
import tensorflow as tf

import params
import run_demo
from beyond import corpora
from transformer_model import greedy_search

STEPS = 20
RECIPES = {  # learning rate at its peak, steps of warm-up, what else is not the preset's
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
    """Returns how far the probabilities told at a place are from those of all places on average.

    As total variation, the mean of all places: 0 where all places tell the same, however the loss
    falls, and 1 - 1/7 where each of 7 is sure of another token.
    """
    predictions, _ = transformer((inp, tar[:, :-1]))
    told = tf.nn.softmax(predictions[0])  # (T, V)
    return float(tf.reduce_sum(tf.abs(told - tf.reduce_mean(told, axis=0))) / 2 / len(told))


def learn(recipe, seed):
    """Trains as `recipe` says.

    Returns how far `apart` places are at three times, the last loss, and how many tokens are right.
    """
    rate, warmup_steps, others = RECIPES[recipe]
    options = params.values("winter-games") | others
    options |= dict(seed=seed, warmup_steps=warmup_steps, xla="off")
    options["learning_rate_scale"] = rate * (options["d_model"] * warmup_steps) ** 0.5
    keras.utils.set_random_seed(seed)
    corpus = corpora.ours("winter-games", print)
    model = run_demo.train_tokenizer(corpus.train, options["vocab_size"], seed, options["pieces"])
    tokenizer = run_demo.Tokenizer(model)
    training = run_demo.Training(options, tokenizer.vocab_size, tf.distribute.get_strategy())
    ((source, target),) = corpus.train.as_numpy_iterator()
    inp, tar = (tf.constant(tokenizer.encode([side.decode()])) for side in (source, target))
    places = [apart(training.transformer, inp, tar)]
    for step in range(1, STEPS + 1):
        training.train_step(inp, tar)
        if step in (2, STEPS):
            places.append(apart(training.transformer, inp, tar))
    loss, _, tokens = training.validation_step(inp, tar).numpy()
    told = greedy_search(training.transformer, inp).ids[0, 0, 1 : tar.shape[1]]
    right = int(tf.reduce_sum(tf.cast(told == tar[0, 1 : 1 + len(told)], tf.int32)))
    return places, float(loss / tokens), right, tar.shape[1] - 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    args = parser.parse_args()
    started = time.perf_counter()
    print("| recipe | apart before, after 2, after 20 steps | loss | tokens right | right |")
    print("|---|---|---|---|---|", flush=True)
    for recipe in args.recipes:
        found = [learn(recipe, seed) for seed in args.seeds]
        places = ", ".join(
            f"{np.mean(each):.3f}" for each in zip(*(row[0] for row in found), strict=True)
        )
        losses = ", ".join(f"{loss:.2f}" for _, loss, *_ in found)
        rights = ", ".join(f"{right} of {tokens}" for *_, right, tokens in found)
        whole = f"{sum(right == tokens for *_, right, tokens in found)} of {len(found)}"
        print(f"| {recipe} | {places} | {losses} | {rights} | {whole} |", flush=True)
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
