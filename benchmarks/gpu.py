"""What a GPU makes of this project: is it right, how fast is it, and how much memory does it take?

    python benchmarks/gpu.py [--only NAME ...] [--miniature]

In order of worth, so that a run that ends early has answered the first questions:

    device     what TensorFlow sees, and how fast its matrix products are
    equality   loss and every gradient beside those of the processor, by precision and compiler
    bundled    two epochs of the bundled corpus, from start to scores, by run_demo.py
    training   seconds of the first step, which compiles, target tokens/s, share of the products
               possible, and memory, by size, precision, compiler and tokens of a batch
    pytorch    the same of torch.nn.Transformer, eager and compiled, where PyTorch sees the GPU
    translating  sentences/s, greedy and beam 4, by sentences of a batch

Batches are of random ids, without padding, 32 tokens a side. Products of float32 are computed in
TensorFloat-32, except in the part on equality. Each row is printed when it is measured; one that
fails says why, and the next one follows. The 24 compiled rows of training take a minute or more
each. `--miniature` is for a processor: it shows that each part runs, and its figures mean nothing.
Prints Markdown.
"""

import argparse
import dataclasses
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt.cli import startup
from nmt.options import Options
from nmt.training.step import FastStep, new_fast_step

os.environ["XLA_FLAGS"] = startup.xla_flags()  # as `run_demo.py train` has them

import keras
import numpy as np
import tensorflow as tf
from train_speed import products_of

import run_demo
from nmt.decoding.restrictions import Restrictions
from nmt.decoding.search import search
from nmt.decoding.search_options import SearchOptions
from transformer_model import END, MASKED, PAD, START

ROOT = Path(__file__).resolve().parents[1]
LENGTH = 32  # tokens of a side
SIZES = ("tutorial", "tiny", "small", "base")  # presets
TOKENS = (1024, 4096, 16384)  # of a batch, in the target
SENTENCES = (1, 64, 512)
FLOATS = {"float32": False, "bfloat16": True}  # -> mixed precision
SMALLEST = dict(num_layers=1, d_model=16, dff=32, num_heads=2)
TOLERANCES = {"float32": 1e-4, "bfloat16": 0.1}  # of the greatest value
STEPS = 10  # of a measurement, after three to warm up; each waits for the device


class Row(NamedTuple):
    """A row of a table."""

    cells: tuple[str, ...]  # the first ones: what is measured
    prepare: Callable[[], Callable[[], list[str]]]  # compiles and warms up; returns the measurement


def show(columns: str, rows: Iterable[Row]) -> None:
    """Prints a table: each row as soon as it is measured, or why it failed."""
    print(f"\n| {columns} |\n|" + "---|" * len(columns.split("|")), flush=True)
    for row in rows:
        try:
            results = row.prepare()()
        except Exception as error:  # a card runs out of memory, a kernel is missing: the next row
            results = [failure(error)]
        print("| " + " | ".join([*row.cells, *results]) + " |", flush=True)


def failure(error: Exception) -> str:
    """Returns what stands in a row that could not be measured."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    reason = lines[-1] if lines[0] == "Graph execution error:" else lines[0]
    return f"failed: {type(error).__name__} {reason[:300]}"


def device() -> str:
    """Returns the name of the first GPU, or of the processor."""
    return "/GPU:0" if tf.config.list_physical_devices("GPU") else "/CPU:0"


def options_of(preset: str, miniature: bool, **changes) -> Options:
    """Returns the options of a preset, or the smallest network."""
    options = Options.of(preset, dict(data_path="random", xla="off"))
    if miniature:
        options = dataclasses.replace(options, **SMALLEST, vocab_size=100)
    return dataclasses.replace(options, **changes)


def random_batch(rows: int, vocab_size: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns ids (rows, LENGTH), (rows, LENGTH + 1) without padding."""
    rng = np.random.default_rng(1)
    inp, tar = (
        rng.integers(END + 1, vocab_size, (rows, length)) for length in (LENGTH, LENGTH + 1)
    )
    inp[:, 0] = tar[:, 0] = START
    inp[:, -1] = tar[:, -1] = END
    return tf.constant(inp, tf.int32), tf.constant(tar, tf.int32)


def step_on(name: str, options: Options) -> FastStep:
    """Returns the step of a new network on one device."""
    strategy, entries = tf.distribute.OneDeviceStrategy(name), options.vocab_size
    return new_fast_step(options, entries, entries, strategy, parts=1, steps=1)


class Step(NamedTuple):
    """A step that was done a few times, so that it is compiled."""

    step: Callable[[], object]  # waits for the device
    first_seconds: float  # of the first one, which compiles

    def per_second(self) -> float:
        """Returns how often the step is done in a second."""
        started = time.perf_counter()
        for _ in range(STEPS):
            self.step()
        return STEPS / (time.perf_counter() - started)


def warmed_up(step: Callable[[], object]) -> Step:
    """Does a step a few times."""
    started = time.perf_counter()
    step()
    first_seconds = time.perf_counter() - started
    for _ in range(2):
        step()
    return Step(step, first_seconds)


@functools.cache
def products_per_second(dtype: str, size: int) -> float:
    """Returns the operations per second of products of square matrices."""
    with tf.device(device()):
        left, right = (tf.cast(tf.random.normal((size, size)), dtype) for _ in range(2))
        multiply = tf.function(lambda: tf.reduce_sum(tf.matmul(left, right)[0]))
        return warmed_up(lambda: multiply().numpy()).per_second() * 2 * size**3


# ---- The parts: their rows ----


def device_rows(miniature: bool) -> Iterator[Row]:
    """What TensorFlow sees."""
    gpus = tf.config.list_physical_devices("GPU")
    details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
    yield Row(("TensorFlow",), lambda: lambda: [tf.__version__])
    yield Row(("GPUs",), lambda: lambda: [str(details) if gpus else "none"])
    size = product_size(miniature)
    for dtype in FLOATS:

        def speed(dtype=dtype):
            return [f"{products_per_second(dtype, size) / 1e12:,.2f} TFLOP/s"]

        yield Row((f"products, {dtype}",), lambda speed=speed: speed)


def product_size(miniature: bool) -> int:
    """Returns the rows of the matrices whose product shows what the device can do."""
    return 256 if miniature else 8192


def equality_rows(miniature: bool) -> Iterator[Row]:
    """Loss and gradients on the GPU beside those on the processor."""
    del miniature  # the network is small in any case
    for precision in FLOATS:
        for xla in ("off", "on"):
            compare = functools.partial(differences, precision, xla)
            yield Row((precision, xla), lambda compare=compare: compare)


def loss_and_gradients(step, inp, tar):
    """Returns the mean loss of a batch, and its gradients."""
    sums, gradients = step.compiled(step.sums_and_gradients)(inp, tar[:, :-1], tar[:, 1:])
    return sums.loss / sums.tokens, [gradient / sums.tokens for gradient in gradients]


def differences(precision: str, xla: str) -> list[str]:
    """Returns how much the loss and the gradients differ from those in float32 on the processor."""
    inp, tar = (ids.numpy() for ids in random_batch(8, 100))
    inp[3, 20:], tar[5, 9:], inp[7], tar[7] = PAD, PAD, PAD, PAD  # padding, and an empty row
    keras.utils.set_random_seed(1)
    sizes = SMALLEST | dict(vocab_size=100, dropout_rate=0.0)
    options = options_of("tutorial", False, **sizes)
    changed = dataclasses.replace(options, mixed_precision=FLOATS[precision], xla=xla)
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        devices = "/CPU:0", device()
        reference, tested = map(step_on, devices, (options, changed))
        tested.transformer.set_weights(reference.transformer.get_weights())
        (expected, gradients), (loss, others) = (
            tf.distribute.OneDeviceStrategy(name).run(loss_and_gradients, (step, inp, tar))
            for name, step in zip(devices, (reference, tested), strict=True)
        )
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)
    scale = max(float(tf.reduce_max(tf.abs(gradient))) for gradient in gradients)
    difference = max(
        float(tf.reduce_max(tf.abs(gradient - other)))
        for gradient, other in zip(gradients, others, strict=True)
    )
    difference_of_loss = abs(float(loss) / float(expected) - 1)
    allowed = TOLERANCES[precision]
    right = max(difference_of_loss, difference / scale) <= allowed
    return [f"{loss:.1e}", f"{difference / scale:.1e}", str(allowed), str(right)]


def bundled_rows(miniature: bool) -> Iterator[Row]:
    """Two epochs of the bundled corpus, as a user trains them; in miniature, of one sentence."""
    data = ["bundled"]
    if miniature:
        data = ["winter-games", *(word for size in SMALLEST.items() for word in as_flag(*size))]
    for flags in ((), ("--mixed-precision",), ("--xla", "off")):

        def train(flags=flags):
            with tempfile.TemporaryDirectory() as folder:
                run = ["--run", Path(folder) / "run", "--epochs", "2", "--no-plots", *flags]
                command = [sys.executable, ROOT / "run_demo.py", "--dataset", *data, *run]
                started = time.perf_counter()
                process = subprocess.run(command, capture_output=True, text=True)
                check(process)
                bleu = re.search(r"^BLEU (\S+)", process.stdout, re.MULTILINE)
                return [f"{time.perf_counter() - started:.0f}", bleu[1] if bleu else "none"]

        yield Row((" ".join(flags) or "none",), lambda train=train: train)


def check(process: subprocess.CompletedProcess) -> None:
    """Raises an error if a process has failed: with its last line on stderr."""
    if process.returncode:
        *_, last = process.stderr.splitlines() or [f"exit code {process.returncode}"]
        raise RuntimeError(last)


def as_flag(name: str, value: int) -> list[str]:
    """Returns a parameter as it is given to run_demo.py."""
    return [f"--{name.replace('_', '-')}", str(value)]


def training_rows(miniature: bool) -> Iterator[Row]:
    """Training steps: how long the first one takes, tokens per second, and memory."""
    for preset in SIZES[: 1 if miniature else None]:
        for precision in FLOATS:
            for xla in ("off", "on"):
                for tokens in (256,) if miniature else TOKENS:
                    case = preset, precision, xla, tokens
                    prepare = functools.partial(prepare_training, *case, miniature)
                    yield Row(tuple(map(str, case)), prepare)


def prepare_training(
    preset: str, precision: str, xla: str, tokens: int, miniature: bool
) -> Callable[[], list[str]]:
    """Compiles a training step. Returns its measurement."""
    mixed = FLOATS[precision]
    options = options_of(preset, miniature, mixed_precision=mixed, xla=xla)
    fast_step = step_on(device(), options)
    batch = random_batch(tokens // LENGTH, options.vocab_size)
    step = warmed_up(lambda: fast_step.train_batch(*batch).numpy())
    operations = sum(
        6 * size * to * sum(sides) * tokens
        for size, to, *sides in products_of(options, options.vocab_size)
    )

    def measure():
        reset_memory()
        rate = step.per_second()
        share = rate * operations / products_per_second(precision, product_size(miniature))
        return [f"{step.first_seconds:.0f}", f"{rate * tokens:,.0f}", f"{share:.1%}", memory()]

    return measure


def reset_memory() -> None:
    """Forgets the peak of the GPU's memory."""
    if device() == "/GPU:0":
        tf.config.experimental.reset_memory_stats("GPU:0")


def memory() -> str:
    """Returns the peak of the GPU's memory, in MiB."""
    if device() != "/GPU:0":
        return "none"
    return f"{tf.config.experimental.get_memory_info('GPU:0')['peak'] / 2**20:,.0f}"


def pytorch_rows(miniature: bool) -> Iterator[Row]:
    """torch.nn.Transformer at the same sizes."""
    for preset in SIZES[: 1 if miniature else None]:
        for precision in FLOATS:
            for compiled in (False,) if miniature else (False, True):
                for tokens in (256,) if miniature else TOKENS:
                    case = preset, precision, compiled, tokens
                    measure = functools.partial(pytorch, *case, miniature)
                    yield Row(tuple(map(str, case)), lambda measure=measure: measure)


def pytorch(preset: str, precision: str, compiled: bool, tokens: int, miniature: bool) -> list[str]:
    """Measures a training step of torch.nn.Transformer, in a process without TensorFlow."""
    options = options_of(preset, miniature)
    work = dict(
        options=options.by_name(), precision=precision, compiled=compiled, rows=tokens // LENGTH,
        length=LENGTH, steps=STEPS, needs_gpu=device() == "/GPU:0",
    )  # fmt: skip
    command = [sys.executable, ROOT / "benchmarks" / "gpu_pytorch.py", json.dumps(work)]
    process = subprocess.run(command, capture_output=True, text=True)
    check(process)
    results = json.loads(process.stdout.splitlines()[-1])
    peak = f"{results['peak'] / 2**20:,.0f}" if results["peak"] else "none"
    return [f"{results['first']:.0f}", f"{results['tokens_per_second']:,.0f}", peak]


def translating_rows(miniature: bool) -> Iterator[Row]:
    """Sentences per second: translations of LENGTH tokens, of random weights."""
    for preset in SIZES[: 1 if miniature else None]:
        for precision in FLOATS:
            for beam in (1, 4):
                for rows in (2,) if miniature else SENTENCES:
                    case = preset, precision, beam, rows
                    prepare = functools.partial(prepare_translating, *case, miniature)
                    yield Row(tuple(map(str, case)), prepare)


def prepare_translating(
    preset: str, precision: str, beam: int, rows: int, miniature: bool
) -> Callable[[], list[str]]:
    """Traces a search. Returns its measurement."""
    options = options_of(preset, miniature, mixed_precision=FLOATS[precision])
    with tf.device(device()):
        network = run_demo.build_transformer(options, options.vocab_size)
    never_ends(network)
    inp, _ = random_batch(rows, options.vocab_size)
    search_options, restrictions = SearchOptions(beam=beam), Restrictions(extra_tokens=0)
    translate = tf.function(lambda inp: search(network, inp, search_options, restrictions).ids)
    step = warmed_up(lambda: translate(inp).numpy())
    return lambda: [f"{step.per_second() * rows:,.0f}"]


def never_ends(network) -> None:
    """Lets a network of random weights never predict END, so that all translations are as long."""
    layer, logits = network.final_layer, network.final_layer.call
    size = network.config["target_vocab_size"]
    layer.call = lambda *args, **options: logits(*args, **options) + tf.one_hot(END, size) * MASKED


class Part(NamedTuple):
    """A table of the benchmark."""

    columns: str  # their names, between bars
    rows: Callable[[bool], Iterator[Row]]  # whether in miniature -> rows


PARTS = {
    "device": Part("what | value", device_rows),
    "equality": Part(
        "precision | XLA | loss | greatest difference of gradients | allowed | right", equality_rows
    ),
    "bundled": Part("flags | seconds | BLEU", bundled_rows),
    "training": Part(
        "size | precision | XLA | tokens a batch | first step, s | tokens/s | share of products "
        "| MiB",
        training_rows,
    ),
    "pytorch": Part(
        "size | precision | compiled | tokens a batch | first step, s | tokens/s | MiB",
        pytorch_rows,
    ),
    "translating": Part(
        "size | precision | beam | sentences a batch | sentences/s", translating_rows
    ),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts")
    parser.add_argument("--miniature", action="store_true", help="the smallest network")
    args = parser.parse_args()
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    if not args.miniature and device() != "/GPU:0":
        parser.error("TensorFlow sees no GPU; for a try on the processor, give --miniature")
    for name, part in PARTS.items():
        if name in args.only:
            print(f"\n## {name}", flush=True)
            show(part.columns, part.rows(args.miniature))


if __name__ == "__main__":
    main()
