"""How fast this project trains, beside other systems on the same text at the same sizes.

    pip install -r benchmarks/requirements.txt
    python benchmarks/train_speed.py [--train FILE [FILE]] [--vocab-size 3000] [--d-model 128 ...]

Each system is a process of its own that keeps still until its turn comes; the turns go round. This
project reads and batches text as it does in a training; the others, its plain form among them, get
shuffled batches of 64 pairs that lie ready in memory, padded to the longest of each side.
Prints a markdown table: real target tokens a second (median of the rounds; padding and START do not
count), the ratio to the plain form and to PyTorch, the share of padding among the target positions,
and how many of the matrix products that the processor can do in that time the real tokens need. The
processor's own figure is of the products of such a step alone, timed in the same rounds.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import params
from beyond import flags

SIZES = ("num_layers", "d_model", "dff", "num_heads", "dropout_rate", "batch_size", "max_length")
STEPS_BEFORE = 30  # not timed: the first ones make kernels
MOST_STEPS = 400  # of a turn


# ---- The systems. Each is a function of the work at hand, run in a process of its own, and returns
# `turn`: a function that trains for some steps and returns (real, positions), the target tokens
# that were learned from and the target positions that were computed for them.


def text(work):
    """Returns the corpus, its tokenizer and the options of a run, as run_demo.py has them."""
    import run_demo

    corpus = run_demo.load_corpus(work["source"], seed=params.SEED)
    tokenizer = run_demo.Tokenizer(Path(work["model"]).read_bytes())
    return corpus, tokenizer, params.values() | work["sizes"]


def usual_batches(corpus, tokenizer, options, steps):
    """Returns `steps` shuffled batches (B, S), (B, T), each padded to its longest, in memory."""
    import run_demo

    pairs = run_demo.encode(corpus.train, tokenizer)
    pairs = pairs.filter(lambda *pair: run_demo.pair_length(*pair) <= options["max_length"])
    pairs = pairs.shuffle(options["buffer_size"], options["seed"])
    batches = pairs.padded_batch(options["batch_size"], drop_remainder=True).repeat().take(steps)
    batches = batches.cache()
    for _ in batches:
        pass
    return batches


def counts(batches):
    """Returns a function of steps: the real and all target positions of so many batches.

    Worked out beforehand, not in the time that is taken. START is not told, nor is padding.
    """
    told = [tar[:, 1:] for _, tar in batches.as_numpy_iterator()]
    each = [(int((tar != 0).sum()), tar.size) for tar in told]
    return lambda steps: tuple(map(sum, zip(*each[:steps], strict=True)))


def adam(options):
    """Returns Keras's Adam with the tutorial's settings."""
    import keras

    from transformer_model import CustomSchedule

    schedule = CustomSchedule(options["d_model"])
    return keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9)


def ours(work):
    """This project as shipped, tokenizing included."""
    import keras

    import run_demo
    from beyond import devices

    keras.utils.set_random_seed(params.SEED)  # in the order of run_demo.train: first this,
    xla = work.get("xla", "off")  # then this, before TensorFlow is at work
    strategy, parts = devices.find(lambda line: None, whole=xla == "on")
    corpus, tokenizer, options = text(work)
    options.update(mixed_precision=work.get("mixed", False), xla=xla)
    training = run_demo.Training(options, tokenizer.vocab_size, strategy, parts)
    batches = run_demo.Batches(
        corpus.train, tokenizer, options["batch_size"], options["max_length"], training.shares,
        Path(tempfile.mkdtemp(dir=work["folder"])) / "cache",
        run_demo.MOST_COMPILED if xla == "on" else run_demo.MOST_BUCKETS,
    )  # fmt: skip

    epochs = (batches.epoch(options["buffer_size"], seed) for seed in itertools.count())
    endless = itertools.chain.from_iterable(epochs)
    of_each_shape = {inp.shape: (inp, tar) for inp, tar in batches.epoch(1, 0)}
    spec = batches.epoch(1, 0).element_spec
    training.train_step.get_concrete_function(*spec)  # one trace for all shapes, as train_epoch has
    for inp, tar in of_each_shape.values():  # kernels are made, or programs compiled
        training.train_step(inp, tar)

    def turn(steps):
        sums, positions = 0.0, 0
        for inp, tar in itertools.islice(endless, steps):
            sums += training.train_step(inp, tar)
            positions += tar.shape[0] * (tar.shape[1] - 1)
        return float(sums.numpy()[2]), positions

    return turn


def plain(work):
    """This project's network, trained as the tutorial of 2020 trains its own."""
    import keras
    import tensorflow as tf

    import run_demo
    from transformer_model import loss_function

    corpus, tokenizer, options = text(work)
    batches = usual_batches(corpus, tokenizer, options, MOST_STEPS)
    counted = counts(batches)
    keras.utils.set_random_seed(params.SEED)
    transformer = run_demo.build_transformer(options, tokenizer.vocab_size)
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
    """Returns the system that trains by `fit` the Keras model that `build` makes of the options."""

    def system(work):
        import keras

        corpus, tokenizer, options = text(work)
        batches = usual_batches(corpus, tokenizer, options, MOST_STEPS)
        counted = counts(batches)
        data = batches.map(lambda inp, tar: ((inp, tar[:, :-1]), tar[:, 1:]))
        keras.utils.set_random_seed(params.SEED)
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
    """Returns KerasHub's encoder and decoder layers as a model of (inp, tar)."""
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    from keras_hub.layers import TokenAndPositionEmbedding, TransformerDecoder, TransformerEncoder

    sizes = dict(
        intermediate_dim=options["dff"], num_heads=options["num_heads"],
        dropout=options["dropout_rate"],
    )  # fmt: skip
    inp, tar = (keras.Input((None,), dtype="int32") for _ in range(2))

    def embedded(ids):
        table = TokenAndPositionEmbedding(
            vocab_size, options["max_length"], options["d_model"], mask_zero=True
        )
        return keras.layers.Dropout(options["dropout_rate"])(table(ids))

    source, target = embedded(inp), embedded(tar)
    for _ in range(options["num_layers"]):
        source = TransformerEncoder(**sizes)(source)
    for _ in range(options["num_layers"]):
        target = TransformerDecoder(**sizes)(target, source)
    return keras.Model((inp, tar), keras.layers.Dense(vocab_size)(target))


def keras_attention(keras, options, vocab_size):
    """Returns the tutorial of 2023's network: Keras's MultiHeadAttention, heads of d_model each."""
    from transformer_model import embed

    layers, rate, width = keras.layers, options["dropout_rate"], options["d_model"]
    inp, tar = (keras.Input((None,), dtype="int32") for _ in range(2))

    class Positions(layers.Embedding):
        def call(self, ids):
            return embed(super().call, ids)

    def embedded(ids):
        return layers.Dropout(rate)(Positions(vocab_size, width, mask_zero=True)(ids))

    def attend(x, memory, **causal):
        attention = layers.MultiHeadAttention(options["num_heads"], width, dropout=rate)
        return layers.LayerNormalization()(x + attention(x, memory, memory, **causal))

    def feed_forward(x):
        y = layers.Dense(width)(layers.Dense(options["dff"], activation="relu")(x))
        return layers.LayerNormalization()(x + layers.Dropout(rate)(y))

    source, target = embedded(inp), embedded(tar)
    for _ in range(options["num_layers"]):
        source = feed_forward(attend(source, source))
    for _ in range(options["num_layers"]):
        target = attend(target, target, use_causal_mask=True)
        target = feed_forward(attend(target, source))
    return keras.Model((inp, tar), layers.Dense(vocab_size)(target))


def pytorch(work):
    """torch.nn.Transformer, eager or compiled; the batches lie ready as tensors."""
    import torch

    from transformer_model import PAD

    corpus, tokenizer, options = text(work)
    batches = usual_batches(corpus, tokenizer, options, MOST_STEPS)
    counted = counts(batches)
    width, vocab_size = options["d_model"], tokenizer.vocab_size
    torch.manual_seed(params.SEED)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = torch.nn.Transformer(
                width, options["num_heads"], options["num_layers"], options["num_layers"],
                options["dff"], dropout=options["dropout_rate"], batch_first=True,
            )  # fmt: skip
            self.source = torch.nn.Embedding(vocab_size, width)
            self.target = torch.nn.Embedding(vocab_size, width)
            self.positions = torch.nn.Embedding(options["max_length"], width)
            self.dropout = torch.nn.Dropout(options["dropout_rate"])
            self.final = torch.nn.Linear(width, vocab_size)

        def forward(self, inp, tar, future):
            source, target = (
                self.dropout(table(ids) * width**0.5 + self.positions.weight[: ids.shape[1]])
                for table, ids in ((self.source, inp), (self.target, tar))
            )
            return self.final(
                self.transformer(
                    source,
                    target,
                    tgt_mask=future,
                    tgt_is_causal=True,
                    src_key_padding_mask=inp == PAD,
                    tgt_key_padding_mask=tar == PAD,
                    memory_key_padding_mask=inp == PAD,
                )
            )

    network = Network()
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
            length = tar.shape[1] - 1
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            logits = forward(inp, tar[:, :-1], future)
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
    """Returns those that a step needs forward as (from, to, number for source and for target).

    The products of queries with keys, and of weights with values, are left out: 2 % here.
    """
    layers, width, dff = options["num_layers"], options["d_model"], options["dff"]
    return [
        (width, width, 6 * layers, 6 * layers),  # of cross-attention, two are for the source
        (width, dff, layers, layers),
        (dff, width, layers, layers),
        (width, vocab_size, 0, 1),
    ]


def products(work):
    """The products of a step of 1,024 tokens of each side, forward and back, each on one core."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    _, tokenizer, options = text(work)
    rows, parts = 1024, 2
    random, operands = tf.random.normal, []
    for size, to, *sides in products_of(options, tokenizer.vocab_size):
        for _ in range(sum(sides) * parts):  # none twice, or TensorFlow would spare itself one
            operands.append(
                (random((rows // parts, size)), random((size, to)), random((rows // parts, to)))
            )
    operations = sum(6 * len(x) * len(weights) * len(weights[0]) for x, weights, _ in operands)

    @tf.function
    def step():
        found = []
        for x, weights, gradient in operands:
            found.append(tf.matmul(x, weights))
            found.append(tf.matmul(x, gradient, transpose_a=True))
            found.append(tf.matmul(gradient, weights, transpose_b=True))
        return tf.add_n([product[0, 0] for product in found])

    def turn(steps):
        for _ in range(steps):
            total = step()
        total.numpy()
        return operations * steps, 0

    return turn


SYSTEMS = {
    "this project, plain form": (plain, {}),
    "this project": (ours, {}),
    "this project, --mixed-precision": (ours, {"mixed": True}),
    "this project, --xla on": (ours, {"xla": "on"}),
    "KerasHub layers, fit": (fitted(keras_hub), {}),
    "Keras MultiHeadAttention, as the tutorial of 2023, fit": (fitted(keras_attention), {}),
    "PyTorch nn.Transformer, eager": (pytorch, {"compiled": False}),
    "PyTorch nn.Transformer, torch.compile": (pytorch, {"compiled": True}),
}


# ---- Turns ----


def worker():
    """Runs one system: reads its work as a line, then a turn's steps from each."""
    answers, sys.stdout = sys.stdout, sys.stderr
    import run_demo  # noqa: F401  # first of all: it sets what TensorFlow reads at its import

    work = json.loads(sys.stdin.readline())
    system, more = SYSTEMS.get(work["name"], (products, {}))
    turn = system(work | more)
    for line in sys.stdin:
        started = time.perf_counter()
        real, positions = turn(int(line))
        seconds = time.perf_counter() - started
        print(json.dumps([real, positions, seconds]), file=answers, flush=True)


class System:
    """A system in its own process, and what it has answered."""

    def __init__(self, name, work):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.ask(json.dumps(work | {"name": name}))
        self.name, self.rates, self.padding = name, [], []

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)

    def turn(self, steps):
        """Returns real tokens, target positions and seconds of a turn of so many steps."""
        self.ask(steps)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.name} ended; see above")
        return json.loads(answer)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", nargs="+", metavar="FILE", help="a .tsv, or source and target")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8, help="of a turn, about")
    parser.add_argument("--only", nargs="+", choices=SYSTEMS, metavar="NAME", help="not all")
    flags.add_parameters(parser, only=(*SIZES, "vocab_size"))
    parser.set_defaults(vocab_size=3000)
    args = parser.parse_args()

    import run_demo

    source = {"train": args.train} if args.train else {"dataset": "bundled"}
    corpus = run_demo.load_corpus(source, params.SEED)
    folder = tempfile.TemporaryDirectory()
    model = Path(folder.name) / "tokenizer.model"
    model.write_bytes(run_demo.train_tokenizer(corpus.train, args.vocab_size, params.SEED))
    tokenizer = run_demo.Tokenizer(model.read_bytes())
    sizes = {name: flags.chosen(args)[name] for name in SIZES}
    sample = run_demo.encode(corpus.train.take(5000), tokenizer).as_numpy_iterator()
    source_tokens, target_tokens = map(sum, zip(*(map(len, pair) for pair in sample), strict=True))
    target_tokens -= 5000  # START is told by none
    operations = 6 * sum(  # a real target token: a product and two for its gradients, 2 each
        size * to * (for_source * source_tokens / target_tokens + for_target)
        for size, to, for_source, for_target in products_of(sizes, tokenizer.vocab_size)
    )

    work = {"source": source, "model": str(model), "folder": folder.name, "sizes": sizes}
    systems, steps = {}, {}
    for name in ("products", *(args.only or SYSTEMS)):
        systems[name] = System(name, work)
        systems[name].turn(STEPS_BEFORE)
        real, _, seconds = systems[name].turn(STEPS_BEFORE // 3)
        steps[name] = round(args.seconds / seconds * (STEPS_BEFORE // 3))
        steps[name] = min(max(steps[name], 2), MOST_STEPS)
        print(f"{name}: ready, {steps[name]} steps a turn", file=sys.stderr)
    for number in range(1, args.rounds + 1):
        for name, system in systems.items():
            real, positions, seconds = system.turn(steps[name])
            system.rates.append(real / seconds)
            system.padding.append(1 - real / positions if positions else 0)
        print(f"round {number} of {args.rounds} done", file=sys.stderr)

    limit = statistics.median(systems.pop("products").rates)  # operations a second
    rates = {name: statistics.median(system.rates) for name, system in systems.items()}
    print(
        f"{corpus.name}, {tokenizer.vocab_size} pieces, {sizes['num_layers']} layers, d_model "
        f"{sizes['d_model']}, batches of {sizes['batch_size']}; {len(os.sched_getaffinity(0))} "
        f"cores, {limit / 1e9:.0f} GFLOP/s of products, {operations / 1e6:.1f} MFLOP a token\n"
    )
    print("| system | real target tokens/s | to plain | to PyTorch | padding | of the products |")
    print("|---|---|---|---|---|---|")
    for name, rate in rates.items():
        ratios = [
            f"{rate / rates[other]:.2f}" if other in rates else ""
            for other in ("this project, plain form", "PyTorch nn.Transformer, eager")
        ]
        padding = statistics.mean(systems[name].padding)
        print(
            f"| {name} | {rate:,.0f} | {' | '.join(ratios)} | {padding:.0%} "
            f"| {rate * operations / limit:.0%} |"
        )


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["--worker"] else main()
