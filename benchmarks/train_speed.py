"""How fast this project trains, compared with other systems on the same text at the same sizes.

    pip install -e ".[benchmarks]"
    python benchmarks/train_speed.py [--train FILE [FILE]] [--vocab-size 3000] [--d-model 128 ...]

Every system is measured with the same dropout: of the sums of embeddings and positions, and of the
output of each sub-layer before it is added to the residual stream (Vaswani et al. 2017, 5.4). What
other systems drop by themselves beyond that is switched off: PyTorch's nn.Transformer drops
attention weights and activations within the feed-forward layers, KerasHub's layers and the tutorial
of 2023 attention weights.

Each system is a process of its own, which waits until its turn comes; the systems take turns, round
after round. For none of them is tokenizing timed. This project shuffles and batches ids while it
trains, as in any training run of its own; the others, its plain form among them, get shuffled
batches of 64 pairs that are ready in memory, padded to the longest sentence of each side.

Prints a markdown table: real target tokens per second (median of the rounds; padding and START do
not count), the ratios to the plain form and to PyTorch, the share of padding among the target
positions, and the share of the processor's speed that the real tokens' matrix products account for.
That speed is measured in the same rounds, on the products of such a step alone.
"""

import argparse
import dataclasses
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as `run_demo.py train` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import params
from nmt import messages
from nmt.cli import flags
from nmt.corpus import batches as batching
from nmt.corpus.source import CorpusSource
from nmt.options import Options

SIZES = (
    "num_layers", "decoder_layers", "d_model", "dff", "num_heads", "dropout_rate", "batch_size",
    "max_length",
)  # fmt: skip
MAX_STEPS = 400  # per turn
SHUFFLE_BUFFER = 20_000  # pairs, as in the tutorial


# ---- The systems. Each is a function of `work`, a dict, run in a process of its own, and returns
# `turn`: a function that trains for some steps and returns (real, positions), the target tokens
# that were learned from and the target positions that were computed for them.


def text(work):
    """Returns the corpus, its tokenizer and the options of a run, as run_demo.py has them."""
    import run_demo

    corpus = run_demo.load_corpus(CorpusSource.from_json(work["source"]), params.SEED)
    tokenizer = run_demo.Tokenizer(Path(work["model"]).read_bytes())
    options = Options.of(given=work["sizes"])
    return corpus, tokenizer, options


def usual_batches(corpus, tokenizer, options, steps):
    """Returns `steps` shuffled batches (B, S), (B, T), each padded to its longest, in memory."""
    import tensorflow as tf

    chunks = batching.encoded_chunks(corpus.train, tokenizer)
    all_ids = itertools.chain.from_iterable(zip(*chunk, strict=True) for chunk in chunks)
    short = [pair for pair in all_ids if max(map(len, pair)) <= options.max_length]
    sides = [tf.ragged.constant(side, tf.int32) for side in zip(*short, strict=True)]
    pairs = tf.data.Dataset.from_tensor_slices(tuple(sides))
    pairs = pairs.shuffle(SHUFFLE_BUFFER, options.seed)
    batches = pairs.ragged_batch(options.batch_size, drop_remainder=True)
    batches = batches.map(lambda *sides: tuple(side.to_tensor() for side in sides))
    batches = batches.repeat().take(steps).cache()
    for _ in batches:
        pass
    return batches


def counts(batches):
    """Returns a function of steps: the real and all target positions of that many batches.

    They are counted beforehand, not in the time measured. START and padding are not predicted.
    """
    predicted = [tar[:, 1:] for _, tar in batches.as_numpy_iterator()]
    counted = [(int((tar != 0).sum()), tar.size) for tar in predicted]
    return lambda steps: tuple(map(sum, zip(*counted[:steps], strict=True)))


def adam(options):
    """Returns Keras's Adam with the tutorial's settings."""
    import keras

    from transformer_model import CustomSchedule

    schedule = CustomSchedule(options.d_model)
    return keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9)


def this_project(work):
    """This project as shipped: batches of similar length, made while it trains."""
    from nmt.training import devices
    from nmt.training.step import new_fast_step

    xla = work.get("xla", "off")
    strategy, parts = devices.configure(xla == "on")  # before TensorFlow starts
    corpus, tokenizer, options = text(work)
    mixed = work.get("mixed", False)
    options = dataclasses.replace(options, mixed_precision=mixed, xla=xla)
    entries = tokenizer.vocab_size
    step = new_fast_step(options, entries, entries, strategy, parts, steps=1)
    folder = Path(tempfile.mkdtemp(dir=work["folder"])) / "cache"
    batches = batching.training_batches(options, corpus, tokenizer, folder=folder)

    epochs = (batches.epoch(options.buffer_size, seed) for seed in itertools.count())
    endless = itertools.chain.from_iterable(epochs)
    of_each_shape = {inp.shape: (inp, tar) for inp, tar in batches.epoch(1, 0)}
    spec = batches.epoch(1, 0).element_spec
    step.trace(spec, accumulate=1)
    for inp, tar in of_each_shape.values():  # creates kernels, or compiles programs
        step.train_batch(inp, tar)

    def turn(steps):
        sums, positions = 0.0, 0
        for inp, tar in itertools.islice(endless, steps):
            sums += step.train_batch(inp, tar)
            positions += tar.shape[0] * (tar.shape[1] - 1)
        return float(sums.numpy()[2]), positions

    return turn


def plain(work):
    """The network of transformer_model.py, trained by the training step of the tutorial of 2020."""
    import tensorflow as tf

    import run_demo
    from transformer_model import loss_function

    corpus, tokenizer, options = text(work)
    batches = usual_batches(corpus, tokenizer, options, MAX_STEPS)
    counted = counts(batches)
    transformer = run_demo.build_transformer(options, tokenizer.vocab_size, plain=True)
    optimizer = adam(options)

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)] * 2)
    def train_step(inp, tar):
        with tf.GradientTape() as tape:
            predictions, _ = transformer((inp, tar[:, :-1]), training=True)
            loss = loss_function(tar[:, 1:], predictions)
        gradients = tape.gradient(loss, transformer.trainable_variables)
        gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
        optimizer.apply_gradients(zip(gradients, transformer.trainable_variables, strict=True))
        return loss

    def turn(steps):
        for inp, tar in batches.take(steps):
            loss = train_step(inp, tar)
        loss.numpy()
        return counted(steps)

    return turn


def fitted(build):
    """Returns the system that trains, by `fit`, the Keras model that `build` returns."""

    def system(work):
        import keras

        corpus, tokenizer, options = text(work)
        batches = usual_batches(corpus, tokenizer, options, MAX_STEPS)
        counted = counts(batches)
        data = batches.map(lambda inp, tar: ((inp, tar[:, :-1]), tar[:, 1:]))
        model = build(keras, options, tokenizer.vocab_size)
        model.compile(
            adam(options),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0),
            jit_compile=False,  # else XLA compiles hundreds of shapes, for seconds each
        )

        def turn(steps):
            model.fit(data.take(steps), verbose=0)
            return counted(steps)

        return turn

    return system


def keras_hub(keras, options, vocab_size):
    """Returns a model of (inp, tar) made of KerasHub's encoder and decoder layers.

    These drop attention weights at the rate of their other dropout, unless told not to.
    """
    from keras_hub.layers import TokenAndPositionEmbedding, TransformerDecoder, TransformerEncoder

    sizes = dict(
        intermediate_dim=options.dff, num_heads=options.num_heads,
        dropout=options.dropout_rate,
    )  # fmt: skip
    inp, tar = (keras.Input((None,), dtype="int32") for _ in range(2))

    def embedded(ids):
        table = TokenAndPositionEmbedding(
            vocab_size, options.max_length, options.d_model, mask_zero=True
        )
        return keras.layers.Dropout(options.dropout_rate)(table(ids))

    def keep_attention_weights(layer):
        """Switches off the dropout within a layer that was called before, and so has its parts."""
        attentions = [layer._self_attention_layer]
        attentions += [getattr(layer, "_cross_attention_layer", None)]
        for attention in filter(None, attentions):
            attention._dropout = attention._dropout_layer.rate = 0.0

    source, target, layers = embedded(inp), embedded(tar), []
    for _ in range(options.num_layers):
        layers.append(TransformerEncoder(**sizes))
        source = layers[-1](source)
    for _ in range(options.decoder_layers or options.num_layers):
        layers.append(TransformerDecoder(**sizes))
        target = layers[-1](target, source)
    for layer in layers:
        keep_attention_weights(layer)
    return keras.Model((inp, tar), keras.layers.Dense(vocab_size)(target))


def keras_attention(keras, options, vocab_size):
    """Returns the tutorial of 2023's network: Keras's MultiHeadAttention, heads of d_model each.

    The tutorial drops attention weights, and of sub-layer outputs only those of feed-forward
    layers; here all outputs and no attention weights.
    """
    import tensorflow as tf

    from transformer_model import positional_encoding

    layers, rate, width = keras.layers, options.dropout_rate, options.d_model
    inp, tar = (keras.Input((None,), dtype="int32") for _ in range(2))

    class Positions(layers.Embedding):
        def call(self, ids):
            x = super().call(ids) * width**0.5  # (B, L, D)
            return x + positional_encoding(tf.shape(ids)[1], width)

    def embedded(ids):
        return layers.Dropout(rate)(Positions(vocab_size, width, mask_zero=True)(ids))

    def attend(x, memory, **causal):
        attention = layers.MultiHeadAttention(options.num_heads, width)
        y = layers.Dropout(rate)(attention(x, memory, memory, **causal))
        return layers.LayerNormalization()(x + y)

    def feed_forward(x):
        y = layers.Dense(options.dff, activation="relu")(x)
        return layers.LayerNormalization()(x + layers.Dropout(rate)(layers.Dense(width)(y)))

    source, target = embedded(inp), embedded(tar)
    for _ in range(options.num_layers):
        source = feed_forward(attend(source, source))
    for _ in range(options.decoder_layers or options.num_layers):
        target = attend(target, target, use_causal_mask=True)
        target = feed_forward(attend(target, source))
    return keras.Model((inp, tar), layers.Dense(vocab_size)(target))


def pytorch(work):
    """torch.nn.Transformer, eager or compiled; its batches are tensors in memory."""
    import torch
    from torch_network import torch_network

    from transformer_model import PAD

    corpus, tokenizer, options = text(work)
    batches = usual_batches(corpus, tokenizer, options, MAX_STEPS)
    counted = counts(batches)
    width = options.d_model
    torch.manual_seed(params.SEED)
    network = torch_network(options, tokenizer.vocab_size, PAD)
    forward = torch.compile(network, dynamic=True) if work["compiled"] else network
    optimizer = torch.optim.Adam(network.parameters(), betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: width**-0.5 * min((step + 1) ** -0.5, (step + 1) * 4000**-1.5) * 1e3
    )
    tensors = [
        tuple(torch.tensor(ids, dtype=torch.long) for ids in batch)
        for batch in batches.as_numpy_iterator()
    ]

    def turn(steps):
        for inp, tar in tensors[:steps]:
            logits = forward(inp, tar[:, :-1])
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), tar[:, 1:].flatten(), ignore_index=PAD
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        loss.item()
        return counted(steps)

    return turn


# ---- The processor's limit: the matrix products of a step, and nothing else ----


def products_of(options, vocab_size):
    """Returns the products of a forward pass as (from, to, number for source and for target).

    Those of queries with keys, and of weights with values, are left out: 2% here.
    """
    encoder, width, dff = options.num_layers, options.d_model, options.dff
    decoder = options.decoder_layers or encoder
    return [
        (width, width, 4 * encoder + 2 * decoder, 6 * decoder),  # cross-attention: 2 of the source
        (width, dff, encoder, decoder),
        (dff, width, encoder, decoder),
        (width, vocab_size, 0, 1),
    ]


def products(work):
    """The products of a step of 1,024 tokens per side, forward and backward, one core each."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    _, tokenizer, options = text(work)
    rows, parts = 1024, 2
    random, operands = tf.random.normal, []
    for size, to, *sides in products_of(options, tokenizer.vocab_size):
        for _ in range(sum(sides) * parts):  # none twice: TensorFlow would compute it once
            operands.append(
                (random((rows // parts, size)), random((size, to)), random((rows // parts, to)))
            )
    operations = sum(6 * len(x) * len(weights) * len(weights[0]) for x, weights, _ in operands)

    @tf.function
    def step():
        results = []
        for x, weights, gradient in operands:
            results.append(tf.matmul(x, weights))
            results.append(tf.matmul(x, gradient, transpose_a=True))
            results.append(tf.matmul(gradient, weights, transpose_b=True))
        return tf.add_n([result[0, 0] for result in results])

    def turn(steps):
        for _ in range(steps):
            total = step()
        total.numpy()
        return operations * steps, 0

    return turn


SYSTEMS = {
    "this project, plain form": (plain, {}),
    "this project": (this_project, {}),
    "this project, --mixed-precision": (this_project, {"mixed": True}),
    "this project, --xla on": (this_project, {"xla": "on"}),
    "KerasHub layers, fit": (fitted(keras_hub), {}),
    "Keras MultiHeadAttention, as the tutorial of 2023, fit": (fitted(keras_attention), {}),
    "PyTorch nn.Transformer, eager": (pytorch, {"compiled": False}),
    "PyTorch nn.Transformer, torch.compile": (pytorch, {"compiled": True}),
}
BASELINES = ("this project, plain form", "PyTorch nn.Transformer, eager")


# ---- Turns ----


def worker():
    """Runs one system: reads its work as a line, says when it is ready, reads steps by the line."""
    answers, sys.stdout = sys.stdout, sys.stderr
    with messages.quiet():
        import keras

        import run_demo  # noqa: F401  # now, for the systems import TensorFlow less quietly

    keras.utils.set_random_seed(params.SEED)  # once: it drops the kernels of what is there already
    work = json.loads(sys.stdin.readline())
    system, settings = SYSTEMS.get(work["name"], (products, {}))
    turn = system(work | settings)
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        started = time.perf_counter()
        real, positions = turn(int(line))
        seconds = time.perf_counter() - started
        print(json.dumps([real, positions, seconds]), file=answers, flush=True)


class System:
    """A system in its own process."""

    def __init__(self, name, work):
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.send(work | {"name": name})

    def send(self, value):
        print(json.dumps(value), file=self.process.stdin, flush=True)

    def turn(self, steps):
        """Returns real tokens, target positions and seconds of a turn of that many steps."""
        self.send(steps)
        return self.receive()

    def receive(self):
        """Returns what the system answers; waits for it."""
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.name} ended; see above")
        return json.loads(answer)


class Row:
    """What was measured of a system, of each turn: real tokens per second, shares of padding.

    A turn has so many `steps` as take the seconds that are asked for. The rates of the processor's
    limit are operations.
    """

    def __init__(self, system, warm_up_steps, seconds):
        self.system = system
        self.rates, self.padding = [], []
        trial_steps = max(1, warm_up_steps // 3)
        system.turn(warm_up_steps)
        _, _, trial_seconds = system.turn(trial_steps)
        self.steps = min(max(round(seconds / trial_seconds * trial_steps), 2), MAX_STEPS)
        print(f"{system.name}: ready, {self.steps} steps per turn", file=sys.stderr)

    def turn(self):
        real, positions, seconds = self.system.turn(self.steps)
        self.rates.append(real / seconds)
        self.padding.append(1 - real / positions if positions else 0)

    @property
    def rate(self):
        return statistics.median(self.rates)


# ---- The program ----


class TrainingText(NamedTuple):
    """What all systems are trained on."""

    corpus: str  # its name
    vocab_size: int
    operations: float  # of a step's matrix products, for each real target token


def prepare(work, vocab_size):
    """Writes the tokenizer that `work` names. Returns the TrainingText."""
    with messages.quiet():
        import run_demo

    corpus = run_demo.load_corpus(CorpusSource.from_json(work["source"]), params.SEED)
    model = run_demo.train_tokenizer(corpus.train, vocab_size)
    Path(work["model"]).write_bytes(model)
    tokenizer = run_demo.Tokenizer(model)
    sample = corpus.train.take(5000)
    lengths = [batching.side_lengths(ids) for ids in batching.encoded_chunks(sample, tokenizer)]
    source_tokens, target_tokens = map(int, sum(chunk.sum(axis=1) for chunk in lengths))
    target_tokens -= len(sample)  # START is not predicted
    options = Options.of(given=work["sizes"])
    operations = 6 * sum(  # per real target token: a product and two for its gradients, 2 each
        size * to * (for_source * source_tokens / target_tokens + for_target)
        for size, to, for_source, for_target in products_of(options, tokenizer.vocab_size)
    )
    return TrainingText(corpus.name, tokenizer.vocab_size, operations)


def print_tables(rows, limit, training_text, sizes):
    """Prints what was compared, and a row for each system."""
    from nmt.training import devices

    print(
        f"{training_text.corpus}, vocabulary of {training_text.vocab_size}, "
        f"{sizes['num_layers']} + {sizes['decoder_layers'] or sizes['num_layers']} layers, "
        f"d_model {sizes['d_model']}, "
        f"batches of {sizes['batch_size']}, dropout rate "
        f"{sizes['dropout_rate']}; {devices.cores()} cores, {limit.rate / 1e9:.0f} GFLOP/s of "
        f"matrix products, {training_text.operations / 1e6:.1f} MFLOP per token\n"
    )
    print("| system | real target tokens/s | to plain | to PyTorch | padding | of the products |")
    print("|---|---|---|---|---|---|")
    rates = {row.system.name: row.rate for row in rows}
    for row in rows:
        baselines = (rates.get(name) for name in BASELINES)
        ratios = " | ".join(f"{row.rate / rate:.2f}" if rate else "" for rate in baselines)
        print(
            f"| {row.system.name} | {row.rate:,.0f} | {ratios} "
            f"| {statistics.mean(row.padding):.0%} "
            f"| {row.rate * training_text.operations / limit.rate:.0%} |"
        )


def parse_flags():
    """Returns the values of the flags."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", nargs="+", metavar="FILE", help="a .tsv, or source and target")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each system (default 5)")
    parser.add_argument(
        "--seconds", type=float, default=8, help="of a turn, approximately (default 8)"
    )
    parser.add_argument(
        "--warm-up-steps", type=int, default=30, metavar="N",
        help="steps before the first turn, not timed (default 30)",
    )  # fmt: skip
    parser.add_argument(
        "--only", nargs="+", choices=SYSTEMS, metavar="NAME", default=list(SYSTEMS),
        help=f"measure these systems only, of: {'; '.join(SYSTEMS)}",
    )  # fmt: skip
    flags.add_parameters(parser, only=(*SIZES, "vocab_size"))
    parser.set_defaults(vocab_size=3000)
    return parser.parse_args()


def main():
    args = parse_flags()
    folder = tempfile.TemporaryDirectory()
    work = {
        "source": CorpusSource("bundled").with_files(args.train).to_json(),
        "model": str(Path(folder.name) / "tokenizer.model"),
        "folder": folder.name,
        "sizes": {name: getattr(flags.chosen(args), name) for name in SIZES},
    }
    training_text = prepare(work, args.vocab_size)
    systems = [System(name, work) for name in ("products", *args.only)]
    for system in systems:
        system.receive()  # that it is ready: none is still starting while another warms up
    limit, *rows = (Row(system, args.warm_up_steps, args.seconds) for system in systems)
    for number in range(1, args.rounds + 1):
        for row in (limit, *rows):
            row.turn()
        print(f"round {number} of {args.rounds} done", file=sys.stderr)
    print_tables(rows, limit, training_text, work["sizes"])


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["--worker"] else main()
