"""From 2017 to today: what became of the Transformer's blocks, each in a few lines.

    python lessons/today.py                          what there is
    python lessons/today.py 2017 rope --seeds 1      train variants, compare them with the first
    python lessons/today.py 2017 rope+muon           several changes in one network
    python lessons/today.py all                      all variants, three seeds
    python lessons/today.py cache                    decoding with and without a KV cache
    python lessons/today.py gpt --text "The nurse"   without the encoder: continue a sentence
    python lessons/today.py prompt                   without the encoder: translate by prompt
    python lessons/today.py bert                     without the look-ahead mask: fill gaps

Predict first: each variant comes with a question. The networks are those of transformer_model.py
with a class or a function replaced, as in ablation.py, which trains and measures them, too. All
learn from short pairs of the bundled corpus. docs/today.md has the results.

Shapes in comments: B sentences, L positions, H heads, D = d_model, V vocabulary entries.
"""

import argparse
import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt import UserError, messages

with messages.quiet():  # of TensorFlow's start
    import keras
    import numpy as np
    import tensorflow as tf

import transformer_model as model
from lessons import ablation
from lessons.ablation import Ablation
from nmt.network.variants import EncoderVariant, TiedLogits, shared_embedding
from nmt.results.scores import bleu
from nmt.training import devices
from nmt.training.optimizer import Adam, Muon
from nmt.training.schedules import CosineSchedule
from transformer_model import END, PAD, START

FOLDER = Path("runs/today")  # of the results and pictures

VOCAB_SIZE = 2000
WIDTH = 12  # tokens of a sentence, at most, START and END included
STEPS = 600  # of training a variant
TESTS = 500  # sentences
STACK = {**ablation.SIZES, "num_layers": 4}  # as many as in encoder and decoder together


# ---- Normalization: RMSNorm (Zhang & Sennrich 2019, arXiv 1910.07467) ----


class RMSNorm(keras.layers.Layer):
    """In place of LayerNormalization: x / sqrt(mean(x^2)) * gamma. No mean, no beta."""

    def __init__(self, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, input_shape):
        self.gamma = self.add_weight(shape=input_shape[-1:], initializer="ones", name="gamma")

    def call(self, x):
        """(B, L, D) -> (B, L, D)."""
        mean_square = tf.reduce_mean(tf.square(x), axis=-1, keepdims=True)  # (B, L, 1)
        return x * tf.math.rsqrt(mean_square + self.epsilon) * self.gamma


# ---- Feed-forward: SwiGLU (Shazeer 2020, arXiv 2002.05202) ----


def swiglu_width(d_model, dff):
    """Returns the width of three matrices with as many values as two of `dff` and their biases."""
    return round((2 * d_model * dff + dff + d_model) / (3 * d_model))


class SwiGLU(model.TransformerLayer):
    """In place of point_wise_feed_forward_network: (silu(x W) * x V) W2. A gate, and no biases."""

    def __init__(self, d_model, dff):
        super().__init__()
        self.width = swiglu_width(d_model, dff)
        self.gate = keras.layers.Dense(self.width, activation="silu", use_bias=False)
        self.up = keras.layers.Dense(self.width, use_bias=False)
        self.down = keras.layers.Dense(d_model, use_bias=False)

    def build(self, input_shape):
        self.gate.build(input_shape)
        self.up.build(input_shape)
        self.down.build((None, None, self.width))

    def call(self, x):
        """(B, L, D) -> (B, L, D)."""
        return self.down(self.gate(x) * self.up(x))


# ---- Positions: RoPE (Su et al. 2021, arXiv 2104.09864) ----


def rotate(x, first=0):
    """Turns dimensions 2k and 2k + 1 of each head, as a point in a plane, by a position's angle.

    The angles are those of the sinusoids. The product of a turned query and a turned key depends
    only on what was turned, and on the distance between their positions. x are queries or keys (B,
    H, L, D / H), of positions from `first` on.
    """
    positions, depth = first + tf.range(tf.shape(x)[2]), x.shape[-1]
    angles = model.get_angles(positions[:, tf.newaxis], np.arange(0, depth, 2)[np.newaxis], depth)
    cos, sin = (tf.cast(wave(angles), x.dtype) for wave in (tf.cos, tf.sin))  # (L, D / H / 2)
    even, odd = x[..., 0::2], x[..., 1::2]  # (B, H, L, D / H / 2)
    turned = tf.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
    return tf.reshape(turned, tf.shape(x))


class RotaryAttention(model.MultiHeadAttention):
    """In place of MultiHeadAttention: self-attention turns queries and keys by their positions."""

    def call(self, v, k, q, mask=None):
        is_self_attention = q is k  # no distance between a position of the source and the target
        q, k, v = (
            self.split_heads(project(x))  # (B, H, L, D / H)
            for project, x in ((self.wq, q), (self.wk, k), (self.wv, v))
        )
        if is_self_attention:
            q = rotate(q, tf.shape(k)[2] - tf.shape(q)[2])  # with a cache, q is the last position
            k = rotate(k)
        heads, weights = model.scaled_dot_product_attention(q, k, v, mask)
        heads = tf.transpose(heads, perm=[0, 2, 1, 3])  # (B, L, H, D / H)
        joined = tf.reshape(heads, (tf.shape(heads)[0], -1, self.d_model))
        return self.dense(joined), weights


# ---- Heads: grouped queries (Ainslie et al. 2023, arXiv 2305.13245) ----


class GroupedAttention(model.MultiHeadAttention):
    """In place of MultiHeadAttention: several heads of queries share a head of keys and values.

    As many groups as heads: multi-head attention. One: multi-query attention (Shazeer 2019, arXiv
    1911.02150). Projections of keys and values are (B, L, groups D / H), and so is what a cache
    keeps.
    """

    groups = 2

    def __init__(self, d_model, num_heads, **kwargs):
        super().__init__(d_model, num_heads, **kwargs)
        self.wk.units = self.wv.units = self.groups * self.depth  # not H, as for queries

    def split_heads(self, x):
        """(B, L, G D / H) -> (B, H, L, D / H): each of the G heads H / G times in a row."""
        heads = x.shape[-1] // self.depth  # H for queries, groups for keys and values
        x = tf.reshape(x, (tf.shape(x)[0], -1, heads, self.depth))  # (B, L, G, D / H)
        return tf.repeat(tf.transpose(x, perm=[0, 2, 1, 3]), self.num_heads // heads, axis=1)


# ---- Training: Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon) ----


def muon(schedule, network):
    """In place of Adam, for matrices within layers; see nmt/training/optimizer.py."""
    return Muon(schedule, Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9), network)


# ---- The variants ----

CHANGES = {
    "2017": Ablation("The network of the paper: which of the changes below will matter here?"),
    "pre-norm": Ablation(
        "Normalize what a sub-layer reads, not the sum: is it needed with two layers?",
        options={"pre_norm": True},
    ),
    "rmsnorm": Ablation(
        "Without the mean and beta: does normalization lose anything?",
        {"keras.layers.LayerNormalization": RMSNorm},
    ),
    "swiglu": Ablation(
        "A gate instead of a threshold, as many parameters: is it better?",
        {"point_wise_feed_forward_network": SwiGLU},
    ),
    "rope": Ablation(
        "Positions in every layer instead of once: is it faster?",
        {"positional_encoding": ablation.no_positions, "MultiHeadAttention": RotaryAttention},
    ),
    "grouped": Ablation(
        "Half of the keys and values: what does it cost in quality?",
        {"MultiHeadAttention": GroupedAttention},
    ),
    "muon": Ablation("The same network, other steps: how many does it save?", optimizer=muon),
}
LLAMA = "pre-norm+rmsnorm+swiglu+rope+grouped"  # arXiv 2302.13971; grouped: 2307.09288
VARIANTS = [*CHANGES, "llama"]  # of the table


def merged(first, second):
    """Returns a class with the methods of both."""
    return type(f"{first.__name__}And{second.__name__}", (first, second), {})


def combined(names: str) -> Ablation:
    """Returns the Ablation that makes all changes of "a+b+c"; "llama" stands for those of LLAMA."""
    chosen = names.replace("llama", LLAMA).split("+")
    if unknown := {*chosen} - CHANGES.keys():
        raise UserError(f"no variant {min(unknown)!r}: choose from {', '.join(VARIANTS)}, or a+b")
    changes = [CHANGES[name] for name in chosen]
    replaced, options, optimizer = {}, {}, ablation.adam
    for change in changes:
        for name, part in change.replaced.items():
            replaced[name] = merged(replaced[name], part) if name in replaced else part
        options |= change.options
        if change.optimizer is not ablation.adam:
            optimizer = change.optimizer
    question = changes[0].question if len(changes) == 1 else "Do the gains add up?"
    return Ablation(question, replaced, options, optimizer)


# ---- Without the encoder ----


class DecoderOnly(keras.Model):
    """The decoder without cross-attention, as in GPT: ids (B, L) -> logits of the next tokens.

    A decoder layer without cross-attention is an encoder layer; what makes it a decoder is the
    look-ahead mask. So this is the story's Encoder with that mask and the story's logits, whose
    matrix is that of the embedding (paper 3.4).
    """

    def __init__(self, vocab_size, num_layers, d_model, num_heads, dff, rate=0.0, pre_norm=False):
        super().__init__()
        self.d_model, self.vocab_size = d_model, vocab_size
        embedding = shared_embedding(vocab_size, vocab_size, d_model)
        self.stack = EncoderVariant(
            num_layers, d_model, num_heads, dff, vocab_size, rate, pre_norm, embedding
        )
        self.final_layer = TiedLogits(embedding)

    def build(self, input_shape):
        for part in (self.stack, self.final_layer):
            part.build((None, None, self.d_model))

    def mask(self, ids):
        """Ids (B, L) -> 1.0 where no query may attend to: padding and the future, (B, 1, L, L)."""
        look_ahead_mask = model.create_look_ahead_mask(tf.shape(ids)[1])  # (L, L)
        return tf.maximum(model.create_padding_mask(ids), look_ahead_mask)

    def call(self, ids, *, training=False):
        """Ids (B, L) -> logits (B, L, V), {"encoder_layer1": weights (B, H, L, L), ...}."""
        x, weights = self.stack(ids, training=training, mask=self.mask(ids))  # (B, L, D)
        return self.final_layer(x), weights

    def last_logits(self, ids):
        """Ids (B, L) -> logits (B, 1, V) of the last position, all that passes the layers.

        Within `cached`, which keeps what attention needs of the positions before. No mask: nothing
        comes later.
        """
        stack, length = self.stack, tf.shape(ids)[1]
        x = stack.embedding(ids[:, -1:]) * self.d_model**0.5  # (B, 1, D)
        x += model.positional_encoding(length, self.d_model)[:, -1:]
        for layer in stack.enc_layers:
            x, _ = layer(x)
        return self.final_layer(stack.layernorm(x))


class EncoderOnly(DecoderOnly):
    """As in BERT (Devlin et al. 2018, arXiv 1810.04805): each position attends to both sides."""

    def mask(self, ids):
        """Ids (B, L) -> 1.0 where padding is, (B, 1, 1, L)."""
        return model.create_padding_mask(ids)


# ---- The KV cache ----


class CachedDense(keras.layers.Dense):
    """In place of Dense, for keys and values: takes new positions, returns all it has ever made."""

    cache = None  # (B, positions, units)

    def call(self, inputs, training=None):
        """(B, L, D) -> (B, earlier positions + L, units)."""
        new = super().call(inputs)
        self.cache = new if self.cache is None else tf.concat([self.cache, new], axis=1)
        return self.cache


@contextlib.contextmanager
def cached(network: DecoderOnly) -> Iterator:
    """Within the block, a network keeps keys and values, and takes one position at a time.

    Queries need no cache: that of an earlier position is never used again.
    """
    projections = [
        projection
        for layer in network.stack.enc_layers
        for projection in (layer.mha.wk, layer.mha.wv)
    ]
    for projection in projections:
        projection.__class__ = CachedDense
    try:
        yield
    finally:
        for projection in projections:
            projection.__class__, projection.cache = keras.layers.Dense, None


def likeliest(logits: np.ndarray) -> np.ndarray:
    """Logits (B, V) -> ids (B,): greedy search."""
    return logits.argmax(axis=-1)


def sampled(seed: int, temperature: float = 0.7) -> Callable:
    """Returns a function that draws ids (B,) with probabilities softmax(logits / temperature).

    Gumbel noise on the logits does it. At a temperature of 1.0, these are the probabilities that
    the network predicts; below, likely tokens become likelier.
    """
    random = np.random.default_rng(seed)
    return lambda logits: (logits / temperature + random.gumbel(size=logits.shape)).argmax(axis=-1)


def generate(
    network: DecoderOnly, begins: list, length: int, cache: bool = True, choose=likeliest
) -> np.ndarray:
    """Continues lists of ids up to END, or to `length` tokens. Returns ids (B, length).

    PAD follows END. Without a cache, keys and values are computed anew for each token. `choose`:
    logits (B, V) -> ids (B,).
    """
    given = ablation.padded([ids[:length] for ids in begins], length)
    ids, finished = given[:, :1], np.zeros(len(given), bool)
    with cached(network) if cache else contextlib.nullcontext():
        for position in range(1, length):
            logits = network.last_logits(ids) if cache else network(ids)[0]  # (B, 1 or L, V)
            logits = logits[:, -1].numpy()
            logits[:, [PAD, START]] = model.MASKED
            chosen = np.where(finished, PAD, choose(logits))
            chosen = np.where(given[:, position] != PAD, given[:, position], chosen)
            finished |= chosen == END
            ids = np.concatenate([ids, chosen[:, np.newaxis].astype(np.int32)], axis=1)
    return ids


def multiplications(sizes: dict, groups: int, new: int, keys: int) -> int:
    """Returns the products of a pass through the layers: `new` positions, each with `keys` keys."""
    width, dff = sizes["d_model"], sizes["dff"]
    projections = 2 * width * width + 2 * width * width * groups // sizes["num_heads"]
    return sizes["num_layers"] * new * (projections + 2 * keys * width + 2 * width * dff)


CACHE_COLUMNS = (
    "heads of keys and values", "tokens", "positions computed", "million products",
    "numbers in the cache", "same tokens",
)  # fmt: skip


def compare_caches(lengths: tuple, heads: tuple) -> None:
    """Prints what decoding takes with and without a cache, with new networks of random weights."""
    print("Without / with a cache:\n")
    print(f"| {' | '.join(CACHE_COLUMNS)} |")
    print(f"|{'---|' * len(CACHE_COLUMNS)}")
    for groups in heads:
        part = type("Grouped", (GroupedAttention,), {"groups": groups})
        keras.utils.set_random_seed(1)
        with ablation.replaced(Ablation("", {"MultiHeadAttention": part})):
            network = DecoderOnly(VOCAB_SIZE, **STACK)
            network.build((None, None))
        for length in lengths:
            passes = range(1, length)  # tokens read so far
            work = (
                sum(multiplications(STACK, groups, keys, keys) for keys in passes),
                sum(multiplications(STACK, groups, 1, keys) for keys in passes),
            )
            tokens = [generate(network, [[START]], length, cache) for cache in (False, True)]
            cached = 2 * STACK["num_layers"] * groups * STACK["d_model"] // STACK["num_heads"]
            print(
                f"| {groups} | {length} | {sum(passes):,} / {length - 1} "
                f"| {work[0] / 1e6:,.0f} / {work[1] / 1e6:,.0f} "
                f"| {cached * (length - 1):,} "
                f"| {'yes' if np.array_equal(*tokens) else 'no'} |",
                flush=True,
            )


# ---- What one stack learns from ----


class Corpus(NamedTuple):
    """Rows of one stack: what it reads, and what it must predict there."""

    tokenizer: object
    train: list  # of lists of ids
    test: list
    examples: Callable  # rows, a random generator -> inputs (B, L), ids to be predicted (B, L)


def next_tokens(rows: list, width: int) -> tuple:
    """Returns inputs (B, width - 1) and the token after each: every token is to be predicted."""
    ids = ablation.padded(rows, width)
    return ids[:, :-1], ids[:, 1:].copy()


def english(width: int) -> Corpus:
    """Returns the English sides of the bundled corpus, to be continued."""
    pairs = ablation.bundled_pairs(VOCAB_SIZE, width)
    train, test = ([tar for _, tar in side] for side in (pairs.train, pairs.test))
    return Corpus(pairs.tokenizer, train, test, lambda rows, _: next_tokens(rows, width))


class Prompted(NamedTuple):
    """A pair as one text: "pt: Bom dia. en: Good morning."."""

    prompt: list  # ids: START and the text up to "en:"
    answer: list  # ids, END last


def prompted(tokenizer, pair: tuple) -> Prompted:
    """Returns the Prompted of a pair of ids."""
    (pt, en), (source, target) = tokenizer.encode(["pt:", "en:"]), pair
    return Prompted([*pt[:-1], *source[1:-1], *en[1:-1]], target[1:])


def answers(rows: list, width: int, everything: bool = False) -> tuple:
    """Returns inputs (B, width - 1) and the token after each, PAD within the prompt.

    Without loss on the prompt, no part of the network is spent on predicting Portuguese;
    `everything` predicts it, too.
    """
    inputs, real = next_tokens([[*row.prompt, *row.answer] for row in rows], width)
    if not everything:
        for targets, row in zip(real, rows, strict=True):
            targets[: len(row.prompt) - 1] = PAD
    return inputs, real


def prompts(width: int, everything: bool = False) -> Corpus:
    """Returns the pairs of the bundled corpus as prompts and answers."""
    pairs = ablation.bundled_pairs(VOCAB_SIZE, width)
    train, test = (
        [prompted(pairs.tokenizer, pair) for pair in side] for side in (pairs.train, pairs.test)
    )
    longest = max(len(row.prompt) + len(row.answer) for row in [*train, *test])
    return Corpus(pairs.tokenizer, train, test, lambda rows, _: answers(rows, longest, everything))


MASK = VOCAB_SIZE  # the id of a gap, after those of the tokenizer
MASKED_SHARE = 0.3  # of the tokens; BERT's is 0.15, but short sentences then have a single gap


def gaps(ids: np.ndarray, random) -> tuple:
    """Returns inputs (B, L) with MASK in some positions, and what was there, PAD elsewhere.

    At least one position of a row. (BERT leaves a tenth of the chosen tokens as they are, and
    replaces another tenth by random ones, because no text it is used on has gaps.)
    """
    chances = np.where(ids > END, random.random(ids.shape), 2.0)  # neither START, END nor PAD
    is_gap = (chances < MASKED_SHARE) | (chances == chances.min(axis=1, keepdims=True))
    is_gap &= ids > END
    return np.where(is_gap, MASK, ids), np.where(is_gap, ids, PAD)


def english_with_gaps(width: int) -> Corpus:
    """Returns the English sides of the bundled corpus, with gaps to be filled."""
    corpus = english(width)
    return corpus._replace(examples=lambda rows, random: gaps(ablation.padded(rows, width), random))


# ---- Training one stack ----

STACK_STEPS = 2000
SEED = 1


class StackTask(NamedTuple):
    """What one stack is to learn, and how."""

    name: str  # of the file of its weights
    kind: type  # DecoderOnly or EncoderOnly
    vocab_size: int
    corpus: Corpus


def train_stack(network: DecoderOnly, corpus: Corpus, args: argparse.Namespace) -> None:
    """Trains a network, and prints what it took."""
    random = np.random.default_rng(SEED)
    batches = (corpus.examples(rows, random) for rows in ablation.shuffled(corpus.train, SEED))
    schedule = CosineSchedule(
        network.d_model, ablation.WARMUP_STEPS, ablation.RATE_SCALE, args.steps
    )
    optimizer = combined(args.changes).optimizer(schedule, network)
    started = time.process_time()
    ablation.fit(network, optimizer, batches, args.steps)
    print(f"{args.steps} steps: {time.process_time() - started:.0f} processor seconds")


@contextlib.contextmanager
def trained_stack(task: StackTask, args: argparse.Namespace) -> Iterator[DecoderOnly]:
    """Yields a trained network, whose parts stay replaced within the block; prints its test loss.

    With --resume, its weights are those of an earlier call, if there are any.
    """
    keras.utils.set_random_seed(SEED)
    change = combined(args.changes)
    with ablation.replaced(change):
        network = task.kind(task.vocab_size, **STACK, **change.options)
        network.build((None, None))
        path = FOLDER / f"{task.name}-{args.changes}-{args.steps}.weights.h5"
        if args.resume and path.exists():
            network.load_weights(path)
        else:
            train_stack(network, task.corpus, args)
            path.parent.mkdir(parents=True, exist_ok=True)
            network.save_weights(path)
        inputs, real = task.corpus.examples(task.corpus.test[:TESTS], np.random.default_rng(0))
        logits, _ = network(inputs)
        loss, accuracy = model.loss_function(real, logits), model.accuracy_function(real, logits)
        print(
            f"{task.name}: {network.count_params():,} parameters; {len(inputs)} test sentences: "
            f"loss {loss:.2f} nats per token, {100 * accuracy:.1f}% of tokens right\n"
        )
        yield network


# ---- The commands ----

GAP = "___"  # in a text that `bert` is to fill
BEGINS = ("The nurse", "I would like", "My brother")
GAPPED = ("___ brother is a teacher.", "I would ___ to go home.", "The ___ is red.")


def frequency_loss(corpus: Corpus) -> float:
    """Returns the loss of predicting each token with its frequency, in nats per token."""
    counts = np.ones(VOCAB_SIZE)
    for ids in corpus.train:
        np.add.at(counts, ids[1:], 1)
    log_probabilities = np.log(counts / counts.sum())
    return -float(np.mean([log_probabilities[token] for ids in corpus.test for token in ids[1:]]))


def gpt(args: argparse.Namespace) -> None:
    """Without the encoder: learns English sentences, and continues each --text."""
    corpus = english(WIDTH)
    tokenizer = corpus.tokenizer
    with trained_stack(StackTask("gpt", DecoderOnly, VOCAB_SIZE, corpus), args) as network:
        print(f"By the frequencies of tokens alone: loss {frequency_loss(corpus):.2f}\n")
        begins = [ids[:-1] for ids in tokenizer.encode(args.text or BEGINS)]  # without END
        choices = {"likeliest": likeliest, "sampled": sampled(1), "sampled again": sampled(2)}
        for name, choose in choices.items():
            for text in tokenizer.decode(generate(network, begins, WIDTH, choose=choose)):
                print(f"{name}: {text}")
        known = {*tokenizer.decode(corpus.train)}
        ids = generate(network, [[START]] * TESTS, WIDTH, choose=sampled(3))
        new = [text for text in tokenizer.decode(ids) if text not in known]
        print(f"\nOf {TESTS} sampled sentences, {len(new)} are not in the training text, such as:")
        print("\n".join(new[:8]))


def prompt(args: argparse.Namespace) -> None:
    """Without the encoder: learns "pt: ... en: ...", and translates by continuing it."""
    corpus = prompts(WIDTH, args.whole_loss)
    tokenizer, rows = corpus.tokenizer, corpus.test[:TESTS]
    name = "prompt-whole-loss" if args.whole_loss else "prompt"
    with trained_stack(StackTask(name, DecoderOnly, VOCAB_SIZE, corpus), args) as network:
        ids = generate(network, [row.prompt for row in rows], 3 * WIDTH)
    texts = tokenizer.decode(ids)
    translations = [text.partition(" en: ")[2] for text in texts]
    references = tokenizer.decode([row.answer for row in rows])
    right = sum(text == other for text, other in zip(translations, references, strict=True))
    score = bleu().corpus_score(translations, [references]).score
    print(f"{100 * right / len(rows):.0f}% of {len(rows)} sentences right, BLEU {score:.1f}\n")
    for text, reference in zip(texts[:8], references, strict=False):
        print(f"{text}    (reference: {reference})")


def with_gaps(tokenizer, text: str) -> list:
    """Returns the ids of a text, MASK where GAP stands; without one, raises a UserError."""
    if GAP not in text:
        raise UserError(f"{text!r} has no gap: write {GAP} where a token is missing")
    first, *after_gaps = (ids[1:-1] for ids in tokenizer.encode(text.split(GAP)))
    return [START, *first, *itertools.chain(*([MASK, *ids] for ids in after_gaps)), END]


def bert(args: argparse.Namespace) -> None:
    """Without the look-ahead mask: learns to fill gaps, and fills the ___ of each --text."""
    corpus = english_with_gaps(WIDTH)
    kind, name = (DecoderOnly, "bert-causal") if args.causal else (EncoderOnly, "bert")
    with trained_stack(StackTask(name, kind, VOCAB_SIZE + 1, corpus), args) as network:
        for text in args.text or GAPPED:
            ids = np.array([with_gaps(corpus.tokenizer, text)])
            logits, _ = network(ids)  # (1, L, V)
            for chances in tf.nn.softmax(logits).numpy()[ids == MASK]:  # (V,)
                best = np.argsort(-chances)[:5]
                tokens = zip(corpus.tokenizer.tokens(best), chances[best], strict=True)
                print(f"{text}  ", ", ".join(f"{token} {chance:.0%}" for token, chance in tokens))


def cache(_: argparse.Namespace) -> None:
    """Decoding with and without a KV cache, in networks of random weights: steps and work."""
    compare_caches(lengths=(16, 64), heads=(4, 2, 1))


COMMANDS = {"cache": cache, "gpt": gpt, "prompt": prompt, "bert": bert}


# ---- The command line ----


def compare(names: list, args: argparse.Namespace) -> None:
    """Trains variants, and prints and draws what ablation.py does."""
    variants = {name: combined(name) for name in names}
    task = ablation.bundled(VOCAB_SIZE, WIDTH, STEPS, TESTS)
    steps = args.steps or task.steps
    ablation.run(ablation.Plan("today", task, variants, args.seeds, steps, FOLDER, args.resume))


def overview() -> str:
    """Returns what there is to run, one line each."""
    lines = [f"{name:10} {change.question}" for name, change in CHANGES.items()]
    lines += [f"{'llama':10} {LLAMA}"]
    lines += [f"{name:10} {command.__doc__.splitlines()[0]}" for name, command in COMMANDS.items()]
    return "\n".join(lines)


def command_line() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="variants, or one command")
    ablation.add_flags(parser, steps=f"{STEPS:,}; gpt, prompt and bert {STACK_STEPS:,}")
    parser.add_argument(
        "--with", dest="changes", default="muon", metavar="A+B",
        help="changes in the network of gpt, prompt or bert (default muon)",
    )  # fmt: skip
    parser.add_argument("--text", nargs="+", help="for gpt to continue, for bert with gaps: ___")
    parser.add_argument("--whole-loss", action="store_true", help="prompt: predict it, too")
    parser.add_argument("--causal", action="store_true", help="bert: with the look-ahead mask")
    return parser


def main(arguments: list) -> None:
    """Runs what the command line names."""
    parser = command_line()
    args = parser.parse_args(arguments)
    messages.show()
    devices.gpus()  # TensorFlow looks for them here, quietly
    try:
        if not args.names:
            print(overview())
        elif len(args.names) == 1 and args.names[0] in COMMANDS:
            combined(args.changes)  # what is wrong is named before the corpus is read
            args.steps = args.steps or STACK_STEPS
            COMMANDS[args.names[0]](args)
        else:
            compare(VARIANTS if args.names == ["all"] else args.names, args)
    except UserError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
