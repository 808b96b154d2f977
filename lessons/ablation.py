"""Ablations: take one part of the Transformer away, train, and see what it was for.

    python lessons/ablation.py                        all ablations, reversed sequences, three seeds
    python lessons/ablation.py --task copy reverse sort --seeds 5
    python lessons/ablation.py --task bundled --only full positions

Predict first: each ablation comes with a question. Then read the table and the curves, which are
drawn into `runs/ablations/`.

The network is that of transformer_model.py, with one function or class replaced by the few lines
below. Two figures show the effect: the tokens right when the decoder reads the right tokens before
(teacher forcing), and the sequences right when it reads its own (greedy search).
"""

import argparse
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from unittest import mock

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt import messages
from nmt.corpus.source import CorpusSource

with messages.quiet():  # of TensorFlow's start
    import keras
    import numpy as np
    import tensorflow as tf

import transformer_model as model
from nmt.network.variants import Variant, network_of
from nmt.training import devices
from transformer_model import END, PAD, START

FOLDER = Path("runs/ablations")  # of the pictures

SIZES = dict(num_layers=2, d_model=64, num_heads=4, dff=128, rate=0.0)
BATCH_SIZE = 64
WARMUP_STEPS = 200
RATE_SCALE = 0.25  # of the paper's learning rate
MEASURED_EVERY = 20  # steps
TEST_SEQUENCES = 100


# ---- What is taken away: a few lines each ----


def no_positions(position, d_model):
    """In place of positional_encoding: all positions look alike."""
    return tf.zeros((1, position, d_model))


def no_scaling(q, k, v, mask):
    """In place of scaled_dot_product_attention: no division by sqrt(d_k)."""
    logits = tf.matmul(q, k, transpose_b=True)  # (..., len_q, len_k)
    if mask is not None:
        logits += mask * model.MASKED
    weights = tf.nn.softmax(logits, axis=-1)
    return tf.matmul(weights, v), weights


def no_look_ahead_mask(size):
    """In place of create_look_ahead_mask: the decoder sees the tokens that it must predict."""
    return tf.zeros((size, size))


def no_padding_mask(seq):
    """In place of create_padding_mask: padding is attended to like any token."""
    return tf.zeros_like(seq, tf.float32)[:, tf.newaxis, tf.newaxis, :]


class EncoderLayerWithoutResiduals(model.EncoderLayer):
    """In place of EncoderLayer: each sub-layer replaces what it read."""

    def call(self, x, *, training=False, mask=None):
        attn_output, weights = self.mha(x, x, x, mask)
        out1 = self.layernorm1(attn_output)  # without x +
        return self.layernorm2(self.ffn(out1)), weights  # without out1 +


class DecoderLayerWithoutResiduals(model.DecoderLayer):
    """In place of DecoderLayer: each sub-layer replaces what it read."""

    def call(self, x, enc_output, *, training=False, look_ahead_mask=None, padding_mask=None):
        attn1, block1 = self.mha1(x, x, x, look_ahead_mask)
        out1 = self.layernorm1(attn1)
        attn2, block2 = self.mha2(enc_output, enc_output, out1, padding_mask)
        out2 = self.layernorm2(attn2)
        return self.layernorm3(self.ffn(out2)), block1, block2


NOTHING = MappingProxyType({})


class Ablation(NamedTuple):
    """One change of the network."""

    question: str  # to answer before looking
    replaced: Mapping = NOTHING  # names in transformer_model -> what stands in their place
    options: Mapping = NOTHING  # of the Transformer


ABLATIONS = {
    "full": Ablation("How many steps does the whole network need?"),
    "positions": Ablation(
        "Without positions, which of copy, reverse and sort can still be learned?",
        dict(positional_encoding=no_positions),
    ),
    "scaling": Ablation(
        "Without the division by sqrt(d_k), is it slower, or worse? With heads of 16 dimensions?",
        dict(scaled_dot_product_attention=no_scaling),
    ),
    "look-ahead": Ablation(
        "If the decoder sees what it must predict: which of the two figures suffers?",
        dict(create_look_ahead_mask=no_look_ahead_mask),
    ),
    "padding": Ablation(
        "If padding is attended to like any token: does the network learn to ignore it?",
        dict(create_padding_mask=no_padding_mask),
    ),
    "residuals": Ablation(
        "Without residual connections, where would the position of a token get lost?",
        dict(
            EncoderLayer=EncoderLayerWithoutResiduals, DecoderLayer=DecoderLayerWithoutResiduals
        ),
    ),
    "one head": Ablation(
        "One head of 64 dimensions instead of four of 16?", options={"num_heads": 1}
    ),
    "pre-norm": Ablation("Normalizing first: faster or slower?", options={"pre_norm": True}),
}  # fmt: skip


# ---- The tasks ----


class Task(NamedTuple):
    """What is to be learned."""

    vocab_size: int
    steps: int  # of training
    batches: Callable[[int], Iterator]  # seed -> endless batches of ids inp (B, S), tar (B, T)
    test: tuple  # ids inp (N, S), tar (N, T)


SYMBOLS = 20  # of the sequences
LENGTHS = (4, 10)  # of the sequences, ends included
RULES = {"copy": list, "reverse": lambda ids: ids[::-1], "sort": sorted}  # source -> target


def padded(rows: list, width: int) -> np.ndarray:
    """Returns lists of ids as an array (B, width)."""
    return np.array([[*row, *[PAD] * (width - len(row))] for row in rows], np.int32)


def sequences(rule: Callable, number: int, random) -> tuple:
    """Returns ids inp (number, S), tar (number, T) of random sequences and what `rule` makes."""
    rows = [
        random.integers(END + 1, END + 1 + SYMBOLS, random.integers(*LENGTHS, endpoint=True))
        for _ in range(number)
    ]
    width = LENGTHS[1] + 2
    sources = padded([[START, *row, END] for row in rows], width)
    return sources, padded([[START, *rule(list(row)), END] for row in rows], width)


def toy(name: str) -> Task:
    """Returns the Task to copy, reverse or sort sequences."""
    rule = RULES[name]

    def batches(seed):
        random = np.random.default_rng(seed)
        while True:
            yield sequences(rule, BATCH_SIZE, random)

    test = sequences(rule, TEST_SEQUENCES, np.random.default_rng(10**6))
    return Task(END + 1 + SYMBOLS, 600, batches, test)


def bundled() -> Task:
    """Returns the Task to translate the bundled corpus, from Portuguese to English."""
    import run_demo

    corpus = run_demo.load_corpus(CorpusSource("bundled"), seed=1)
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(corpus.train, 3000))

    def encoded(pairs, width=40):
        sides = [tokenizer.encode(side) for side in zip(*pairs, strict=True)]
        short = [pair for pair in zip(*sides, strict=True) if max(map(len, pair)) <= width]
        return [padded(side, max(map(len, side))) for side in map(list, zip(*short, strict=True))]

    pairs = list(corpus.train)

    def batches(seed):
        random = np.random.default_rng(seed)
        while True:
            order = random.permutation(len(pairs))
            for start in range(0, len(pairs) - BATCH_SIZE, BATCH_SIZE):
                yield encoded([pairs[n] for n in order[start : start + BATCH_SIZE]])

    test = encoded(corpus.test.take(TEST_SEQUENCES))
    return Task(tokenizer.vocab_size, 2000, batches, tuple(test))


# ---- Training ----


class Result(NamedTuple):
    """What one training run has reached."""

    losses: list  # means of MEASURED_EVERY steps each, in nats
    accuracy: float  # tokens right under teacher forcing, 0 to 1, of the test sequences
    right: float  # sequences right by greedy search, 0 to 1


def network(task: Task, ablation: Ablation) -> model.Transformer:
    """Returns a new Transformer for a task."""
    sizes = {**SIZES, **ablation.options}
    transformer = network_of(
        Variant(pre_norm=sizes.pop("pre_norm", False)),
        **sizes, input_vocab_size=task.vocab_size, target_vocab_size=task.vocab_size,
    )  # fmt: skip
    transformer.build(((None, None), (None, None)))
    return transformer


def train(task: Task, ablation: Ablation, seed: int, steps: int) -> Result:
    """Trains a network from a seed with the tutorial's step, and measures it."""
    keras.utils.set_random_seed(seed)
    with mock.patch.dict(vars(model), ablation.replaced):
        transformer = network(task, ablation)
        variables = transformer.trainable_variables
        schedule = model.CustomSchedule(SIZES["d_model"], WARMUP_STEPS, RATE_SCALE)
        optimizer = keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
        optimizer.build(variables)
        ids = tf.TensorSpec((None, None), tf.int32)

        @tf.function(input_signature=(ids, ids))
        def train_step(inp, tar):
            tar_inp, tar_real = tar[:, :-1], tar[:, 1:]
            with tf.GradientTape() as tape:
                predictions, _ = transformer((inp, tar_inp), training=True)
                loss = model.loss_function(tar_real, predictions)
            gradients = tape.gradient(loss, variables)
            gradients = map(tf.convert_to_tensor, gradients)  # Adam mishandles repeated rows
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            return loss

        losses, recent = [], []
        for step, (inp, tar) in enumerate(itertools.islice(task.batches(seed), steps), start=1):
            recent.append(train_step(inp, tar))
            if step % MEASURED_EVERY == 0:
                losses.append(float(tf.reduce_mean(recent)))
                recent = []

        inp, tar = task.test
        logits, _ = transformer((inp, tar[:, :-1]), training=False)
        accuracy = float(model.accuracy_function(tar[:, 1:], logits))
        predicted = model.greedy_translate(transformer, tf.constant(inp), 4).numpy()
    width = max(predicted.shape[1], tar.shape[1])
    both = [np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (predicted, tar)]
    return Result(losses, accuracy, float(np.mean((both[0] == both[1]).all(axis=1))))


# ---- Report ----


def spread(numbers: list) -> str:
    """Returns the median of shares and their lowest and highest, in percent."""
    low, middle, high = (
        round(100 * value) for value in (min(numbers), statistics.median(numbers), max(numbers))
    )
    return f"{middle} ({low} to {high})"


def draw(path: Path, title: str, results: dict) -> None:
    """Draws the loss of every ablation: the mean of its seeds, and from lowest to highest."""
    from matplotlib.figure import Figure

    figure = Figure((9, 5), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel="steps", ylabel="training loss (nats per token)")
    for name, runs in results.items():
        losses = np.array([result.losses for result in runs])
        steps = MEASURED_EVERY * np.arange(1, losses.shape[1] + 1)
        (line,) = axes.plot(steps, losses.mean(axis=0), label=name)
        axes.fill_between(
            steps, losses.min(axis=0), losses.max(axis=0), alpha=0.15, color=line.get_color()
        )
    axes.set_ylim(bottom=0)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def run(name: str, task: Task, chosen: list, seeds: int, steps: int) -> None:
    """Trains every chosen ablation of a task, prints its row, and draws the curves."""
    print(f"\n{name}: {steps} steps; percent, median and range of {seeds} seeds\n")
    print("| ablation | tokens right, teacher forcing | sequences right | seconds |")
    print("|---|---|---|---|")
    results = {}
    for ablation in chosen:
        messages.log.info(f"{ablation}: {ABLATIONS[ablation].question}")
        started = time.perf_counter()
        results[ablation] = [
            train(task, ABLATIONS[ablation], seed, steps) for seed in range(1, seeds + 1)
        ]
        seconds = (time.perf_counter() - started) / seeds
        accuracy = spread([result.accuracy for result in results[ablation]])
        right = spread([result.right for result in results[ablation]])
        print(f"| {ablation} | {accuracy} | {right} | {seconds:.0f} |", flush=True)
    path = FOLDER / f"{name}.png"
    draw(path, f"{name}: training loss", results)
    print(f"\n{path}")


def main(arguments: list) -> None:
    """Runs the ablations that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", nargs="+", choices=[*RULES, "bundled"], default=["reverse"])
    parser.add_argument("--only", nargs="+", choices=ABLATIONS, default=[*ABLATIONS])
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs each (default 3)")
    parser.add_argument(
        "--steps", type=int, metavar="N", help="of training (default 600; bundled 2,000)"
    )
    args = parser.parse_args(arguments)
    messages.show()
    devices.gpus()  # TensorFlow looks for them here, quietly
    for name in args.task:
        task = bundled() if name == "bundled" else toy(name)
        run(name, task, args.only, args.seeds, args.steps or task.steps)


if __name__ == "__main__":
    main(sys.argv[1:])
