"""Ablations: take one part of the Transformer away, train, and see what it was for.

    python lessons/ablation.py                        each part where it is needed, three seeds
    python lessons/ablation.py --only warm-up scaling
    python lessons/ablation.py --task copy reverse    all parts in one setting: few are needed there
    python lessons/ablation.py --task bundled --only full positions
    python lessons/ablation.py --resume               use the results of an interrupted call again

Predict first: each ablation comes with a question. Then read the table and the curves, which are
drawn into `runs/ablations/`. A small network that learns slowly does without most parts. So each
ablation has a setting of its own, found by trial: the whole network learns there, and the one
without the part does not.

The network is that of transformer_model.py, with one function or class replaced by the few lines
below. Two figures show the effect: the tokens right when the decoder reads the right tokens before
(teacher forcing), and the sequences right when it reads its own (greedy search).
"""

import argparse
import contextlib
import functools
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest import mock

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt import messages, output
from nmt.corpus.source import CorpusSource

with messages.quiet():  # of TensorFlow's start
    import keras
    import numpy as np
    import tensorflow as tf

import transformer_model as model
from nmt.network.variants import Variant, network_of
from nmt.results.figures import save, subplots
from nmt.training import devices
from transformer_model import END, PAD, START

FOLDER = Path("runs/ablations")  # of the results and pictures

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


class EncoderLayerWithoutNormalization(model.EncoderLayer):
    """In place of EncoderLayer: residual sums stay as they are."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.layernorm1.trainable = self.layernorm2.trainable = False  # they get no gradient

    def call(self, x, *, training=False, mask=None):
        attn_output, weights = self.mha(x, x, x, mask)
        out1 = x + attn_output  # without layernorm1
        return out1 + self.ffn(out1), weights  # without layernorm2


class DecoderLayerWithoutNormalization(model.DecoderLayer):
    """In place of DecoderLayer: residual sums stay as they are."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        for normalization in (self.layernorm1, self.layernorm2, self.layernorm3):
            normalization.trainable = False  # they get no gradient

    def call(self, x, enc_output, *, training=False, look_ahead_mask=None, padding_mask=None):
        attn1, block1 = self.mha1(x, x, x, look_ahead_mask)
        out1 = x + attn1
        attn2, block2 = self.mha2(enc_output, enc_output, out1, padding_mask)
        out2 = out1 + attn2
        return out2 + self.ffn(out2), block1, block2


class ScheduleWithoutWarmUp(model.CustomSchedule):
    """In place of CustomSchedule: the peak from the first step on, and the same decay."""

    def __call__(self, step):
        return super().__call__(tf.maximum(tf.cast(step, tf.float32), self.warmup_steps))


NOTHING = MappingProxyType({})


def adam(schedule, network):
    """Returns the optimizer of paper 5.3."""
    return keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9)


class Setting(NamedTuple):
    """Where a part is needed, and why."""

    why: str
    sizes: Mapping = NOTHING  # those that differ from SIZES
    task: str = "reverse"  # of RULES
    steps: int = 300  # of training
    rate_scale: float = 0.0  # 0: RATE_SCALE
    padding: int = 0  # columns of it that the test's sources have in addition

    def __str__(self):
        fields = {**self._asdict(), **self.sizes, "sizes": None, "why": None}
        return ", ".join(f"{name} {value}" for name, value in fields.items() if value)


ANY = Setting("")  # of a small network that learns slowly


class Ablation(NamedTuple):
    """One change of the network, or of its training."""

    question: str  # to answer before looking
    replaced: Mapping = NOTHING  # names in transformer_model -> what stands in their place
    options: Mapping = NOTHING  # of the Transformer
    optimizer: Callable = adam  # of a learning-rate schedule and a network
    setting: Setting = ANY


ONE_LAYER = MappingProxyType({"num_layers": 1})
ABLATIONS = {
    "full": Ablation("How many steps does the whole network need?"),
    "positions": Ablation(
        "Without positions, which of copy, reverse and sort can still be learned?",
        dict(positional_encoding=no_positions),
        setting=Setting("to attention, a sentence is a set without order", ONE_LAYER),
    ),
    "scaling": Ablation(
        "Without the division by sqrt(d_k), is it slower, or worse? With heads of 16 dimensions?",
        dict(scaled_dot_product_attention=no_scaling),
        setting=Setting(
            "sums of 256 products are large: softmax picks one token, and its gradient vanishes",
            dict(num_layers=1, d_model=256, num_heads=1), steps=200,
        ),
    ),
    "look-ahead": Ablation(
        "If the decoder sees what it must predict: which of the two figures suffers?",
        dict(create_look_ahead_mask=no_look_ahead_mask),
        setting=Setting("it learns to copy the answer, and has none when it writes", ONE_LAYER),
    ),
    "padding": Ablation(
        "If padding is attended to like any token: does the network learn to ignore it?",
        dict(create_padding_mask=no_padding_mask),
        setting=Setting("longer sentences in a batch bring more of it", ONE_LAYER, padding=30),
    ),
    "residuals": Ablation(
        "Without residual connections, where would the position of a token get lost?",
        dict(
            EncoderLayer=EncoderLayerWithoutResiduals, DecoderLayer=DecoderLayerWithoutResiduals
        ),
        setting=Setting("each layer mixes tokens anew, until none knows its place", steps=400),
    ),
    "layer normalization": Ablation(
        "Without layer normalization, how large do the sums get, and what does softmax make of it?",
        dict(
            EncoderLayer=EncoderLayerWithoutNormalization,
            DecoderLayer=DecoderLayerWithoutNormalization,
        ),
        setting=Setting("each layer adds to the sums, which grow with depth", dict(num_layers=4)),
    ),
    "warm-up": Ablation(
        "With the highest learning rate from the first step on: faster, or lost?",
        dict(CustomSchedule=ScheduleWithoutWarmUp),
        setting=Setting(
            "the first steps are long, and Adam's averages rest on few batches",
            ONE_LAYER, rate_scale=2.3, steps=400,
        ),
    ),
    "one head": Ablation(
        "One head of 64 dimensions instead of four of 16?", options={"num_heads": 1},
        setting=Setting("tokens need two places, and one softmax blends them", ONE_LAYER, "ends"),
    ),
    "pre-norm": Ablation(
        "Normalizing first: faster or slower?", options={"pre_norm": True},
        setting=Setting(
            "post-norm rescales the residual stream in each layer, and with it the gradient",
            dict(num_layers=4), steps=250, rate_scale=1.0,
        ),
    ),
}  # fmt: skip


# ---- The tasks ----


class Task(NamedTuple):
    """What is to be learned."""

    vocab_size: int
    steps: int  # of training
    batches: Callable[[int], Iterator]  # seed -> endless batches of ids inp (B, S), tar (B, T)
    test: tuple  # ids inp (N, S), tar (N, T)
    pairs: int | None = None  # for training; None: new ones for ever


SYMBOLS = 20  # of the sequences
LENGTHS = (4, 10)  # of the sequences, ends included


def ends(ids: list) -> list:
    """Returns one symbol of 16 for each two: of those at a place from either end, modulo 4."""
    fours = [(token - END - 1) % 4 for token in ids]
    return [END + 1 + 4 * a + b for a, b in zip(fours, fours[::-1], strict=True)]


# source -> target
RULES = {"copy": list, "reverse": lambda ids: ids[::-1], "sort": sorted, "ends": ends}


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


def toy(name: str, padding: int = 0) -> Task:
    """Returns a Task of RULES, with columns of padding added to the test's sources."""
    rule = RULES[name]

    def batches(seed):
        random = np.random.default_rng(seed)
        while True:
            yield sequences(rule, BATCH_SIZE, random)

    inp, tar = sequences(rule, TEST_SEQUENCES, np.random.default_rng(10**6))
    return Task(END + 1 + SYMBOLS, 600, batches, (np.pad(inp, ((0, 0), (0, padding))), tar))


class Pairs(NamedTuple):
    """Pairs of the bundled corpus as ids, START first and END last."""

    tokenizer: Any  # of both languages
    train: list  # of pairs: ids of the Portuguese sentence, ids of the English one
    test: list


@functools.cache
def bundled_pairs(vocab_size: int, width: int) -> Pairs:
    """Returns the pairs of the bundled corpus whose sides have at most `width` tokens each."""
    import run_demo

    corpus = run_demo.load_corpus(CorpusSource("bundled"), seed=1)
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(corpus.train, vocab_size))

    def encoded(pairs):
        sides = [tokenizer.encode(side) for side in zip(*pairs, strict=True)]
        return [pair for pair in zip(*sides, strict=True) if max(map(len, pair)) <= width]

    return Pairs(tokenizer, encoded(corpus.train), encoded(corpus.test))


def shuffled(rows: list, seed: int) -> Iterator:
    """Yields BATCH_SIZE of the rows at a time, for ever, each time in another order."""
    random = np.random.default_rng(seed)
    while True:
        order = random.permutation(len(rows))
        for start in range(0, len(rows) - BATCH_SIZE + 1, BATCH_SIZE):
            yield [rows[n] for n in order[start : start + BATCH_SIZE]]


def bundled(
    vocab_size: int = 3000, width: int = 40, steps: int = 2000, tests: int | None = None
) -> Task:
    """Returns the Task to translate the bundled corpus, from Portuguese to English."""
    pairs = bundled_pairs(vocab_size, width)

    def arrays(rows):
        sides = map(list, zip(*rows, strict=True))
        return tuple(padded(side, max(map(len, side))) for side in sides)

    def batches(seed):
        return map(arrays, shuffled(pairs.train, seed))

    test = arrays(pairs.test[: tests or TEST_SEQUENCES])
    return Task(vocab_size, steps, batches, test, len(pairs.train))


# ---- Training ----


class Result(NamedTuple):
    """What one training run has reached."""

    steps: int  # of training
    seconds: float  # of processor time, for training
    parameters: int
    losses: list  # means of MEASURED_EVERY steps each, in nats
    test_loss: float  # of the test sequences, in nats per token
    accuracy: float  # tokens right under teacher forcing, 0 to 1, of the test sequences
    right: float  # sequences right by greedy search, 0 to 1


@contextlib.contextmanager
def replaced(ablation: Ablation) -> Iterator:
    """Within the block, transformer_model has the parts of an ablation."""
    with contextlib.ExitStack() as stack:
        for name, part in ablation.replaced.items():
            stack.enter_context(mock.patch(f"transformer_model.{name}", part))
        yield


def network(task: Task, ablation: Ablation, sizes: Mapping = NOTHING) -> model.Transformer:
    """Returns a new Transformer for a task; `sizes` may differ from SIZES."""
    sizes = {**SIZES, **sizes, **ablation.options}
    transformer = network_of(
        Variant(pre_norm=sizes.pop("pre_norm", False)),
        **sizes, input_vocab_size=task.vocab_size, target_vocab_size=task.vocab_size,
    )  # fmt: skip
    transformer.build(((None, None), (None, None)))
    return transformer


def fit(network: keras.Model, optimizer: keras.Optimizer, batches: Iterator, steps: int) -> list:
    """Trains a network with the tutorial's step. Returns means of MEASURED_EVERY losses, in nats.

    Batches are inputs of the network, and the ids (B, T) to be predicted from them, PAD where none
    is. Logits (B, T, V) may not be all that it returns.
    """
    variables = network.trainable_variables
    optimizer.build(variables)

    @tf.function(reduce_retracing=True)
    def train_step(inputs, real):
        with tf.GradientTape() as tape:
            predictions, _ = network(inputs, training=True)
            loss = model.loss_function(real, predictions)
        gradients = tape.gradient(loss, variables)
        gradients = map(tf.convert_to_tensor, gradients)  # Adam mishandles repeated rows
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    losses, recent = [], []
    for step, (inputs, real) in enumerate(itertools.islice(batches, steps), start=1):
        recent.append(train_step(tf.nest.map_structure(tf.constant, inputs), tf.constant(real)))
        if step % MEASURED_EVERY == 0:
            losses.append(float(tf.reduce_mean(recent)))
            recent = []
    return losses


def sequences_right(transformer: model.Transformer, inp: np.ndarray, tar: np.ndarray) -> float:
    """Returns the share of sources `inp` (B, S) whose greedy translation is `tar` (B, T)."""
    predicted = model.greedy_translate(transformer, tf.constant(inp), 4).numpy()
    width = max(predicted.shape[1], tar.shape[1])
    both = [np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (predicted, tar)]
    return float(np.mean((both[0] == both[1]).all(axis=1)))


def train(task: Task, ablation: Ablation, seed: int, steps: int, setting: Setting = ANY) -> Result:
    """Trains a network from a seed, and measures it."""
    keras.utils.set_random_seed(seed)
    with replaced(ablation):
        transformer = network(task, ablation, setting.sizes)
        d_model, scale = {**SIZES, **setting.sizes}["d_model"], setting.rate_scale or RATE_SCALE
        schedule = model.CustomSchedule(d_model, WARMUP_STEPS, scale)
        optimizer = ablation.optimizer(schedule, transformer)
        batches = (((inp, tar[:, :-1]), tar[:, 1:]) for inp, tar in task.batches(seed))
        started = time.process_time()
        losses = fit(transformer, optimizer, batches, steps)
        seconds = time.process_time() - started

        inp, tar = task.test
        logits, _ = transformer((inp, tar[:, :-1]), training=False)
        return Result(
            steps, seconds, transformer.count_params(), losses,
            test_loss=float(model.loss_function(tar[:, 1:], logits)),
            accuracy=float(model.accuracy_function(tar[:, 1:], logits)),
            right=sequences_right(transformer, inp, tar),
        )  # fmt: skip


# ---- Report ----


def spread(numbers: list, form: str) -> str:
    """Returns the median of numbers, and their lowest and highest, in a format such as ".2f"."""
    low, middle, high = (
        format(value, form) for value in (min(numbers), statistics.median(numbers), max(numbers))
    )
    return f"{middle} ({low} to {high})"


COLUMNS = (
    "parameters", "test loss", "% of tokens right, teacher forcing", "% of sequences right",
    "processor seconds",
)  # fmt: skip


def row(name: str, results: list) -> str:
    """Returns the row of an ablation's results in the table."""
    cells = (
        name,
        f"{results[0].parameters:,}",
        spread([result.test_loss for result in results], ".2f"),
        spread([100 * result.accuracy for result in results], ".0f"),
        spread([100 * result.right for result in results], ".0f"),
        format(statistics.mean(result.seconds for result in results), ".0f"),
    )
    return f"| {' | '.join(cells)} |"


def draw_losses(axes: Any, results: list, color: str, label: str | None = None) -> None:
    """Draws training losses into axes: their mean, and from lowest to highest."""
    losses = np.array([result.losses for result in results])  # (seeds, measured)
    steps = MEASURED_EVERY * np.arange(1, losses.shape[1] + 1)
    axes.plot(steps, losses.mean(axis=0), color=color, label=label)
    axes.fill_between(
        steps, losses.min(axis=0), losses.max(axis=0), alpha=0.25, color=color, linewidth=0
    )


def draw(path: Path, title: str, results: dict) -> Path:
    """Draws the losses of the first ablation, in gray, beside those of each other one."""
    from matplotlib.ticker import LogLocator, NullLocator

    (first, first_results), *compared = results.items()
    panels = compared or [(first, first_results)]
    columns = min(len(panels), 4)
    rows = -(-len(panels) // columns)
    figure, grid = subplots(
        rows, columns, figsize=(3.2 * columns + 1, 2.8 * rows + 0.6), sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes in grid.flat[max(len(panels) - columns, 0) : len(panels)]:
        axes.tick_params(labelbottom=True)  # also above a removed one
    for axes, (name, ablation_results) in zip(grid.flat, panels, strict=False):
        if compared:
            draw_losses(axes, first_results, "gray", label=first)
            axes.legend()
        draw_losses(axes, ablation_results, "C0")
        axes.set(title=name, yscale="log")
        axes.yaxis.set(
            major_locator=LogLocator(subs=(1, 2, 5)), minor_locator=NullLocator(),
            major_formatter="{x:g}",
        )  # fmt: skip
        axes.grid(alpha=0.3)
    figure.suptitle(title)
    figure.supxlabel("Step")
    figure.supylabel("training loss, nats per token (logarithmic)")
    return save(figure, path)


class Plan(NamedTuple):
    """What to train, and where to keep it."""

    name: str  # of the task
    task: Task
    ablations: Mapping  # by name
    seeds: int
    steps: int
    folder: Path
    resume: bool  # use the results that the folder has
    setting: Setting = ANY  # its sizes and rate


def result_of(plan: Plan, name: str, seed: int) -> Result:
    """Returns the result of an ablation and a seed: kept from an earlier call, or trained now."""
    path = plan.folder / f"{plan.name}-{name.replace(' ', '-')}-{seed}.json"
    if plan.resume and path.exists():
        result = Result(**json.loads(path.read_text()))
        if result.steps == plan.steps:
            return result
    result = train(plan.task, plan.ablations[name], seed, plan.steps, plan.setting)
    output.write(path, json.dumps(result._asdict()).encode())
    return result


def results_of(plan: Plan, name: str) -> list:
    """Returns the results of an ablation, one for each seed."""
    return [result_of(plan, name, seed) for seed in range(1, plan.seeds + 1)]


def run(plan: Plan) -> None:
    """Trains every ablation of a plan, prints its row, and draws the curves."""
    sizes = f"{plan.steps} steps, {len(plan.task.test[0])} test sequences"
    if plan.task.pairs:
        sizes += f", {plan.task.pairs:,} pairs for training"
    print(f"\n{plan.name}: {sizes}; median (lowest to highest) of {plan.seeds} seeds\n")
    print(f"| {' | '.join(['ablation', *COLUMNS])} |")
    print(f"|{'---|' * (1 + len(COLUMNS))}")
    results = {}
    for name, ablation in plan.ablations.items():
        messages.log.info(f"{name}: {ablation.question}")
        results[name] = results_of(plan, name)
        print(row(name, results[name]), flush=True)
    title = f"{plan.name}: mean, lowest and highest of {plan.seeds} seeds"
    print(f"\n{draw(plan.folder / f'{plan.name}.png', title, results)}")


NEEDED_COLUMNS = (
    "part", "% of tokens right, teacher forcing: whole", "changed", "% of sequences right: whole",
    "changed", "processor seconds", "setting", "why",
)  # fmt: skip


def run_needed(args: argparse.Namespace) -> None:
    """Trains ablations, each beside the whole network in its setting; prints rows, draws curves."""
    print(f"\nmedian (lowest to highest) of {args.seeds} seeds\n")
    print(f"| {' | '.join(NEEDED_COLUMNS)} |\n|{'---|' * len(NEEDED_COLUMNS)}")
    for name in args.only:
        setting, file = ABLATIONS[name].setting, f"needed-{name.replace(' ', '-')}"
        task, steps = toy(setting.task, setting.padding), args.steps or setting.steps
        plan = Plan(file, task, ABLATIONS, args.seeds, steps, FOLDER, args.resume, setting)
        messages.log.info(f"{name}: {ABLATIONS[name].question}")
        results = {version: results_of(plan, version) for version in ("full", name)}
        both, cells = [*results.values()], [name]
        for figure in ("accuracy", "right"):
            cells += [spread([100 * getattr(r, figure) for r in part], ".0f") for part in both]
        seconds = sum(result.seconds for part in both for result in part)
        print(f"| {' | '.join(cells)} | {seconds:.0f} | {setting} | {setting.why} |", flush=True)
        draw(FOLDER / f"{file}.png", f"{name}: {setting}", results)


def add_flags(parser: argparse.ArgumentParser, steps: str) -> None:
    """Adds the flags of a Plan; `steps` says what they are by default."""
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs each (default 3)")
    parser.add_argument("--steps", type=int, metavar="N", help=f"of training (default {steps})")
    parser.add_argument(
        "--resume", action="store_true", help="use the results of an interrupted call again"
    )


def main(arguments: list) -> None:
    """Runs the ablations that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", nargs="+", choices=[*RULES, "bundled"], help="one for all parts")
    parser.add_argument("--only", nargs="+", choices=ABLATIONS, default=[*ABLATIONS])
    add_flags(parser, steps="the setting's; with --task 600, bundled 2,000")
    args = parser.parse_args(arguments)
    messages.show()
    devices.gpus()  # TensorFlow looks for them here, quietly
    if not args.task:
        if args.only == ["full"]:
            parser.error("full alone: say of which --task")
        args.only = [name for name in args.only if name != "full"]  # beside each other one
        run_needed(args)
    for name in args.task or ():
        task = bundled() if name == "bundled" else toy(name)
        chosen = {ablation: ABLATIONS[ablation] for ablation in args.only}
        steps = args.steps or task.steps
        run(Plan(name, task, chosen, args.seeds, steps, FOLDER, args.resume))


if __name__ == "__main__":
    main(sys.argv[1:])
