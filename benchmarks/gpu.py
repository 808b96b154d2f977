"""What a GPU makes of this project: is it right, how fast is it, and how much memory does it take?

    python benchmarks/gpu.py [--only NAME ...] [--miniature]

In order of worth, so that a run that ends early has answered the first questions:

    device     what TensorFlow sees, and how fast its matrix products are
    equality   loss and every gradient beside those of the processor, by precision and compiler
    bundled    two epochs of the bundled corpus, from start to scores, by run_demo.py
    training   target tokens/s by size, precision, compiler and tokens of a batch, share of the
               products possible, and memory
    pytorch    the same of torch.nn.Transformer, eager and compiled, where PyTorch sees the GPU
    translating  sentences/s, greedy and beam 4, by sentences of a batch

Batches are of random ids, without padding, 32 tokens a side. Each row is printed when it is
measured; one that fails says why, and the next one follows. `--miniature` is for a processor: it
shows that each part runs, and its figures mean nothing. Prints Markdown.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import keras
import numpy as np
import tensorflow as tf
from train_speed import products_of, torch_network

import params
import run_demo
from nmt.decoding.search import search
from transformer_model import END, MASKED, PAD, START

ROOT = Path(__file__).resolve().parents[1]
LENGTH = 32  # tokens of a side
SIZES = ("tutorial", "tiny", "small", "base")  # presets
TOKENS = (4096, 16384, 65536)  # of a batch, in the target
SENTENCES = (1, 64, 512)
FLOATS = {"float32": False, "bfloat16": True}  # -> mixed precision
SMALLEST = dict(num_layers=1, d_model=16, dff=32, num_heads=2)
TOLERANCES = {"float32": 1e-4, "bfloat16": 0.1}  # of the greatest value
STEPS = 10  # of a measurement, after as many to warm up


def header(*names: str) -> None:
    """Prints the first two lines of a table."""
    print("\n| " + " | ".join(names) + " |\n|" + "---|" * len(names), flush=True)


def row(measure, *cells: str) -> None:
    """Prints a row: `cells`, then what `measure` returns, or why it failed."""
    try:
        results = measure()
    except Exception as error:  # a card runs out of memory, a kernel is missing: the next row
        reason = str(error).splitlines()[0] if str(error) else ""
        results = [f"failed: {type(error).__name__} {reason[:200]}"]
    print("| " + " | ".join([*cells, *results]) + " |", flush=True)


def device() -> str:
    """Returns the name of the first GPU, or of the processor."""
    return "/GPU:0" if tf.config.list_physical_devices("GPU") else "/CPU:0"


def options_of(preset: str, miniature: bool, **changes) -> dict:
    """Returns the values of a preset, or the smallest network."""
    options = params.values(preset) | dict(data_path="random", xla="off")
    if miniature:
        options |= SMALLEST | dict(vocab_size=100)
    return options | changes


def random_batch(rows: int, vocab_size: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns ids (rows, LENGTH), (rows, LENGTH + 1) without padding."""
    rng = np.random.default_rng(1)
    inp, tar = (
        rng.integers(END + 1, vocab_size, (rows, length)) for length in (LENGTH, LENGTH + 1)
    )
    inp[:, 0] = tar[:, 0] = START
    inp[:, -1] = tar[:, -1] = END
    return tf.constant(inp, tf.int32), tf.constant(tar, tf.int32)


def training_on(name: str, options: dict) -> run_demo.Training:
    """Returns a Training on one device."""
    return run_demo.Training(options, options["vocab_size"], tf.distribute.OneDeviceStrategy(name))


def steps_per_second(step) -> float:
    """Returns how often `step`, which waits for the device, is done in a second."""
    for _ in range(2):
        step()
    started = time.perf_counter()
    for _ in range(STEPS):
        step()
    return STEPS / (time.perf_counter() - started)


def products_per_second(dtype: str, size: int) -> float:
    """Returns the operations per second of products of square matrices."""
    with tf.device(device()):
        left, right = (tf.cast(tf.random.normal((size, size)), dtype) for _ in range(2))
        multiply = tf.function(lambda: tf.reduce_sum(tf.matmul(left, right)[0]))
        return steps_per_second(lambda: multiply().numpy()) * 2 * size**3


# ---- The parts ----


def show_device(miniature: bool) -> None:
    """What TensorFlow sees."""
    header("what", "value")
    row(lambda: [tf.__version__], "TensorFlow")
    gpus = tf.config.list_physical_devices("GPU")
    details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
    row(lambda: [str(details) if gpus else "none"], "GPUs")
    for dtype in FLOATS:
        size = 256 if miniature else 8192

        def speed(dtype=dtype, size=size):
            return [f"{products_per_second(dtype, size) / 1e12:,.2f} TFLOP/s"]

        row(speed, f"products, {dtype}")


def show_equality(miniature: bool) -> None:
    """Loss and gradients on the GPU beside those on the processor."""
    del miniature  # the network is small in any case
    header("precision", "XLA", "loss", "greatest difference of gradients", "allowed", "right")
    tf.config.experimental.enable_tensor_float_32_execution(False)
    inp, tar = (ids.numpy() for ids in random_batch(8, 100))
    inp[3, 20:], tar[5, 9:], inp[7], tar[7] = PAD, PAD, PAD, PAD  # padding, and an empty row

    for precision, mixed in FLOATS.items():
        for xla in ("off", "on"):

            def compare(precision=precision, mixed=mixed, xla=xla):
                keras.utils.set_random_seed(1)
                sizes = SMALLEST | dict(vocab_size=100, dropout_rate=0.0)
                options = options_of("tutorial", False, **sizes)
                reference = training_on("/CPU:0", options)
                tested = training_on(device(), options | dict(mixed_precision=mixed, xla=xla))
                tested.transformer.set_weights(reference.transformer.get_weights())
                (expected, gradients), (sums, others) = (
                    training.strategy.run(training.loss_and_gradients, (inp, tar))
                    for training in (reference, tested)
                )
                scale = max(float(tf.reduce_max(tf.abs(gradient))) for gradient in gradients)
                difference = max(
                    float(tf.reduce_max(tf.abs(gradient - other)))
                    for gradient, other in zip(gradients, others, strict=True)
                )
                loss = abs(float(sums.loss) / float(expected.loss) - 1)
                allowed = TOLERANCES[precision]
                right = max(loss, difference / scale) <= allowed
                return [f"{loss:.1e}", f"{difference / scale:.1e}", str(allowed), str(right)]

            row(compare, precision, xla)
    tf.config.experimental.enable_tensor_float_32_execution(True)


def show_bundled(miniature: bool) -> None:
    """Two epochs of the bundled corpus, as a user trains them."""
    header("flags", "seconds", "BLEU")
    data = ["bundled"]
    if miniature:
        data = ["winter-games", *(word for size in SMALLEST.items() for word in as_flag(*size))]
    for flags in ((), ("--mixed-precision",)):

        def train(flags=flags):
            with tempfile.TemporaryDirectory() as folder:
                run = ["--run", Path(folder) / "run", "--epochs", "2", "--no-plots", *flags]
                command = [sys.executable, ROOT / "run_demo.py", "--dataset", *data, *run]
                started = time.perf_counter()
                process = subprocess.run(command, capture_output=True, text=True)
                if process.returncode:
                    raise RuntimeError(process.stderr.splitlines()[-1])
                bleu = re.search(r"^BLEU (\S+)", process.stdout, re.MULTILINE)
                return [f"{time.perf_counter() - started:.0f}", bleu[1] if bleu else "none"]

        row(train, " ".join(flags) or "none")


def as_flag(name: str, value: int) -> list[str]:
    """Returns a parameter as it is given to run_demo.py."""
    return [f"--{name.replace('_', '-')}", str(value)]


def show_training(miniature: bool) -> None:
    """Tokens per second, and memory."""
    header("size", "precision", "XLA", "tokens a batch", "tokens/s", "share of products", "MiB")
    best = {dtype: products_per_second(dtype, 256 if miniature else 8192) for dtype in FLOATS}
    for preset in SIZES[: 1 if miniature else None]:
        for precision, mixed in FLOATS.items():
            for xla in ("off", "on"):
                for tokens in (256,) if miniature else TOKENS:

                    def measure(
                        preset=preset, precision=precision, mixed=mixed, xla=xla, tokens=tokens
                    ):
                        options = options_of(preset, miniature, mixed_precision=mixed, xla=xla)
                        training = training_on(device(), options)
                        batch = random_batch(tokens // LENGTH, options["vocab_size"])
                        reset_memory()
                        rate = steps_per_second(lambda: training.train_step(*batch).numpy())
                        operations = sum(
                            6 * size * to * sum(sides) * tokens
                            for size, to, *sides in products_of(options, options["vocab_size"])
                        )
                        share = rate * operations / best[precision]
                        return [f"{rate * tokens:,.0f}", f"{share:.0%}", memory()]

                    row(measure, preset, precision, xla, str(tokens))


def reset_memory() -> None:
    """Forgets the peak of the GPU's memory."""
    if device() == "/GPU:0":
        tf.config.experimental.reset_memory_stats("GPU:0")


def memory() -> str:
    """Returns the peak of the GPU's memory, in MiB."""
    if device() != "/GPU:0":
        return "none"
    return f"{tf.config.experimental.get_memory_info('GPU:0')['peak'] / 2**20:,.0f}"


def show_pytorch(miniature: bool) -> None:
    """torch.nn.Transformer at the same sizes."""
    header("size", "precision", "compiled", "tokens a batch", "tokens/s")
    for preset in SIZES[: 1 if miniature else None]:
        for precision in FLOATS:
            for compiled in (False,) if miniature else (False, True):
                for tokens in (256,) if miniature else TOKENS[:2]:

                    def measure(
                        preset=preset, precision=precision, compiled=compiled, tokens=tokens
                    ):
                        options = options_of(preset, miniature)
                        rate = torch_steps_per_second(options, precision, compiled, tokens)
                        return [f"{rate * tokens:,.0f}"]

                    row(measure, preset, precision, str(compiled), str(tokens))


def torch_steps_per_second(options: dict, precision: str, compiled: bool, tokens: int) -> float:
    """Returns the training steps per second of torch.nn.Transformer."""
    import torch

    place = "cuda" if torch.cuda.is_available() else "cpu"
    if place == "cpu" and device() == "/GPU:0":
        raise RuntimeError("PyTorch does not see the GPU")
    vocab_size = options["vocab_size"]
    network = torch_network(torch, options | dict(max_length=LENGTH), vocab_size).to(place)
    forward = torch.compile(network) if compiled else network
    optimizer = torch.optim.Adam(network.parameters())
    inp, tar = (
        torch.tensor(ids.numpy(), dtype=torch.long, device=place)
        for ids in random_batch(tokens // LENGTH, vocab_size)
    )

    def step():
        with torch.autocast(place, torch.bfloat16, enabled=precision == "bfloat16"):
            logits = forward(inp, tar[:, :-1])
        loss = torch.nn.functional.cross_entropy(
            logits.float().flatten(0, 1), tar[:, 1:].flatten(), ignore_index=PAD
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    return steps_per_second(step)


def show_translating(miniature: bool) -> None:
    """Sentences per second: translations of LENGTH tokens, of random weights."""
    header("size", "precision", "beam", "sentences a batch", "sentences/s")
    for preset in SIZES[: 1 if miniature else None]:
        for precision, mixed in FLOATS.items():
            for beam in (1, 4):
                for rows in (2,) if miniature else SENTENCES:

                    def measure(preset=preset, mixed=mixed, beam=beam, rows=rows):
                        options = options_of(preset, miniature, mixed_precision=mixed)
                        with tf.device(device()):
                            network = run_demo.build_transformer(options, options["vocab_size"])
                        never_ends(network)
                        inp, _ = random_batch(rows, options["vocab_size"])
                        translate = tf.function(
                            lambda inp: search(network, inp, beam, extra_tokens=0).ids
                        )
                        rate = steps_per_second(lambda: translate(inp).numpy())
                        return [f"{rate * rows:,.0f}"]

                    row(measure, preset, precision, str(beam), str(rows))


def never_ends(network) -> None:
    """Lets a network of random weights never predict END, so that all translations are as long."""
    layer, logits = network.final_layer, network.final_layer.call
    size = network.config["target_vocab_size"]
    layer.call = lambda *args, **options: logits(*args, **options) + tf.one_hot(END, size) * MASKED


PARTS = {
    "device": show_device,
    "equality": show_equality,
    "bundled": show_bundled,
    "training": show_training,
    "pytorch": show_pytorch,
    "translating": show_translating,
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
    for name, show in PARTS.items():
        if name in args.only:
            print(f"\n## {name}", flush=True)
            show(args.miniature)


if __name__ == "__main__":
    main()
