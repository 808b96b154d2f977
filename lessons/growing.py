"""Grown from failure: the Transformer, part by part, each added when the last version fails.

    python lessons/growing.py               # all ten steps: three minutes on one core
    python lessons/growing.py --step 6      # one of them
    python lessons/growing.py --ask         # waits for your prediction before each result

It begins with the smallest network that can fail, a bag of words. Each step prints the lines of
code that change and a question. Then it trains, and prints the loss, the share of tokens that are
right when the decoder reads the right tokens before (teacher forcing), the share of sequences that
are right when it reads its own (greedy search), examples, why they are wrong, and what comes next.

The tasks are those of lessons/ablation.py: to reverse letters, and to translate short sentences of
the bundled corpus. Attention, masks, positions and layers are those of transformer_model.py.

Shapes in comments: B sentences, S tokens of the source, T of the target that the decoder reads, D =
D_MODEL, V vocabulary size.
"""

import argparse
import ast
import functools
import inspect
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt import messages

with messages.quiet():  # of TensorFlow's start
    import keras
    import numpy as np
    import tensorflow as tf

import transformer_model as model
from lessons import ablation
from nmt.training import devices
from transformer_model import END, START

SEED = 1
D_MODEL = ablation.SIZES["d_model"]
VOCAB_SIZE, WIDTH = 2000, 12  # of the sentences: subword tokens; tokens of a sentence, at most
STEPS = {"words": 600, "sentences": 1000}  # of training, by task
WORDS = ("garden", "danger", "tomato")  # tested and shown first; letters are a to t
TESTS = 500  # words, or sentences, at most


# ---- The versions: each changes a few lines of the one before ----


class BagOfWords(model.TransformerLayer):
    """Predicts every token from the mean of the source's embeddings."""

    def __init__(self, vocab_size):
        super().__init__()
        self.d_model = D_MODEL  # read by TransformerLayer.build, which creates the weights
        self.config = {"target_vocab_size": vocab_size}  # read by greedy_translate
        self.source_embedding = keras.layers.Embedding(vocab_size, D_MODEL)
        self.final_layer = keras.layers.Dense(vocab_size)

    def embed(self, embedding, ids):
        """Ids (B, L) -> vectors (B, L, D)."""
        return embedding(ids)

    def read_source(self, inp, padding_mask):
        """Encodes ids (B, S) as vectors (B, S, D)."""
        return self.embed(self.source_embedding, inp)

    def read_target(self, tar):
        """Encodes the ids (B, T) that are written so far: not at all. Returns zeros (B, T, D)."""
        return tf.zeros((*tf.unstack(tf.shape(tar)), D_MODEL))

    def context(self, x, y, padding_mask):
        """Returns what the target's `y` (B, T, D) take from the source's `x` (B, S, D): a mean."""
        is_token = 1 - padding_mask[:, 0]  # (B, 1, S)
        number = tf.reduce_sum(is_token, axis=-1, keepdims=True)  # (B, 1, 1)
        return tf.matmul(is_token, x) / number  # (B, 1, D)

    def call(self, inputs, *, training=False):
        """Takes ids (B, S) and (B, T). Returns logits (B, T, V), and no attention weights."""
        inp, tar = inputs
        padding_mask = model.create_padding_mask(inp)  # (B, 1, 1, S)
        x = self.read_source(inp, padding_mask)  # (B, S, D)
        y = self.read_target(tar)  # (B, T, D)
        return self.final_layer(y + self.context(x, y, padding_mask)), {}


class PreviousToken(BagOfWords):
    """The decoder reads the token that it wrote last."""

    def __init__(self, vocab_size):
        super().__init__(vocab_size)
        self.target_embedding = keras.layers.Embedding(vocab_size, D_MODEL)

    def read_target(self, tar):
        return self.embed(self.target_embedding, tar)  # (B, T, D)


class Positions(PreviousToken):
    """Source and target say where each token stands."""

    def embed(self, embedding, ids):
        vectors = embedding(ids) * D_MODEL**0.5  # (B, L, D)
        return vectors + model.positional_encoding(tf.shape(ids)[1], D_MODEL)


class CrossAttention(Positions):
    """Each target position takes its own weighted mean of the source."""

    def __init__(self, vocab_size):
        super().__init__(vocab_size)
        self.cross_attention = model.MultiHeadAttention(D_MODEL, num_heads=1)

    def context(self, x, y, padding_mask):
        output, _ = self.cross_attention(x, x, y, padding_mask)  # values, keys, queries
        return output  # (B, T, D)


class SourceSelfAttention(CrossAttention):
    """The source's tokens attend to one another first.

    What it learns depends on the seed: with SEED = 3, it writes most words right. The failures of
    all other steps are the same with the seeds 1, 2 and 3.
    """

    def __init__(self, vocab_size):
        super().__init__(vocab_size)
        self.source_attention = model.MultiHeadAttention(D_MODEL, num_heads=1)

    def read_source(self, inp, padding_mask):
        x = super().read_source(inp, padding_mask)  # (B, S, D)
        output, _ = self.source_attention(x, x, x, padding_mask)
        return x + output  # (B, S, D)


class TargetSelfAttention(SourceSelfAttention):
    """The target's tokens attend to one another, too: to all of them."""

    def __init__(self, vocab_size):
        super().__init__(vocab_size)
        self.target_attention = model.MultiHeadAttention(D_MODEL, num_heads=1)

    def mask(self, size):
        return tf.zeros((size, size))

    def read_target(self, tar):
        y = super().read_target(tar)  # (B, T, D)
        output, _ = self.target_attention(y, y, y, self.mask(tf.shape(tar)[1]))
        return y + output  # (B, T, D)


class LookAheadMask(TargetSelfAttention):
    """The target's tokens attend only to those before, and to themselves."""

    def mask(self, size):
        return model.create_look_ahead_mask(size)


def two_layers_without_residuals(vocab_size):
    """Two layers, four heads, feed-forward networks, normalization; but no x + Sublayer(x)."""
    with ablation.replaced(ablation.ABLATIONS["residuals"]):
        return whole_transformer(vocab_size)


def whole_transformer(vocab_size):
    """The network of transformer_model.py, with its residual connections."""
    return model.Transformer(
        **ablation.SIZES, input_vocab_size=vocab_size, target_vocab_size=vocab_size
    )


# ---- The steps ----


class Step(NamedTuple):
    """One version, what to predict of it, and what it teaches."""

    name: str
    version: Callable  # of a vocabulary size
    task: str  # of STEPS
    question: str  # before the result
    reason: str  # of what was seen, and what comes next


GROWTH = (
    Step(
        "bag of words", BagOfWords, "words",
        "It sees which letters a word has. What will it write at each position?",
        "All positions see the same mean, so all predict the same token: END, or one letter for "
        "ever. Next: the decoder reads the token that it wrote last.",
    ),
    Step(
        "previous token", PreviousToken, "words",
        "It knows the letter before. Will it ever stop?",
        "The same letter is always followed by the same one: it goes round in circles, or stops at "
        "once. Next: positions.",
    ),
    Step(
        "positions", Positions, "words",
        "It knows how far it has come. Can it tell garden from danger?",
        "It stops, but a mean forgets which letter stands where: both words have the same one. "
        "Next: attention, a mean with other weights at each position.",
    ),
    Step(
        "cross-attention", CrossAttention, "words",
        "It can fetch any letter. Which letters of a word will be right, which ones wrong?",
        "The first is right: the last letter of the source is the one before END. How far the "
        "others are from END, their vectors do not say. Next: the source reads itself.",
    ),
    Step(
        "self-attention of the source", SourceSelfAttention, "words",
        "Each letter of the source has read the others. In which words will it lose its way?",
        "It looks for the letter that it wrote last; one that stands twice leads to two positions. "
        "Next: the target reads all that was written, by self-attention.",
    ),
    Step(
        "self-attention of the target", TargetSelfAttention, "words",
        "Each target position attends to all others. What is easier than to reverse a word?",
        "In training, the right answer is its own input, one position later: it copies that. "
        "When it writes alone, nothing is there to copy. Next: the look-ahead mask.",
    ),
    Step(
        "look-ahead mask", LookAheadMask, "words",
        "It no longer sees the answer. Will it learn to reverse words now?",
        "It does, but for a few words, most of them with a letter twice. Next: a language, with "
        "the same network.",
    ),
    Step(
        "the same, for sentences", LookAheadMask, "sentences",
        "The same network translates Portuguese into English. What will it get wrong?",
        "Sentences begin well and lose words: each token attends to the others only once, with one "
        "head. Next: two layers, four heads, feed-forward networks, normalization.",
    ),
    Step(
        "two layers, no residuals", two_layers_without_residuals, "sentences",
        "Twice the layers, four times the heads. Twice as good?",
        "As in step 1, one token fills all positions: each of ten sub-layers replaces what it "
        "read, and what stood where is lost. Next: x + Sublayer(x), as steps 5 to 8 had it.",
    ),
    Step(
        "the whole Transformer", whole_transformer, "sentences",
        "The residual connections are back. What will still be wrong?",
        "Single words, as in step 8, but fewer. Next: more layers, more steps: run_demo.py.",
    ),
)  # fmt: skip


# ---- Tasks: ids, and what people read ----


@functools.cache
def task_of(name: str) -> ablation.Task:
    """Returns a task of ablation.py: to reverse letters, or to translate sentences."""
    if name == "sentences":
        return ablation.bundled(VOCAB_SIZE, WIDTH, tests=TESTS)
    sides = ablation.sequences(ablation.RULES["reverse"], TESTS, np.random.default_rng(10**6))
    for row, word in enumerate(WORDS):
        for ids, letters in zip(sides, (word, word[::-1]), strict=True):
            tokens = [START, *(ord(letter) - ord("a") + END + 1 for letter in letters), END]
            ids[row] = ablation.padded([tokens], ids.shape[1])
    return ablation.toy("reverse")._replace(test=sides)


def text_of(ids: np.ndarray, task: str) -> str:
    """Returns the text of ids; dots at its end if letters have no END."""
    if task == "sentences":
        return ablation.bundled_pairs(VOCAB_SIZE, WIDTH).tokenizer.decode([ids.tolist()])[0]
    letters = "".join(chr(ord("a") + token - END - 1) for token in ids if token > END)
    return letters if END in ids else f"{letters}..."


# ---- Training and report ----


def train(step: Step) -> keras.Layer:
    """Returns a new network of a step's version, trained for its task."""
    keras.utils.set_random_seed(SEED)
    task = task_of(step.task)
    network = step.version(task.vocab_size)
    network.build(None)
    schedule = model.CustomSchedule(D_MODEL, ablation.WARMUP_STEPS, ablation.RATE_SCALE)
    batches = (((inp, tar[:, :-1]), tar[:, 1:]) for inp, tar in task.batches(SEED))
    ablation.fit(network, ablation.adam(schedule, network), batches, STEPS[step.task])
    return network


def write(network: keras.Layer, task: str) -> np.ndarray:
    """Lets a network write alone. Returns which of the task's N test sequences are right, (N,).

    Prints the first ones, as many as WORDS, and two others that are wrong.
    """
    inp, tar = task_of(task).test  # ids (N, S), (N, T)
    predicted = model.greedy_translate(network, tf.constant(inp), 4).numpy()  # (N, any length)
    sides = ([text_of(ids, task) for ids in rows] for rows in (inp, predicted, tar))
    examples = [*zip(*sides, strict=True)]  # of source, answer and target
    is_right = np.array([answer == target for _, answer, target in examples])  # (N,)
    wrong_rows = [row for row in np.flatnonzero(~is_right) if row >= len(WORDS)]
    for row in [*range(len(WORDS)), *wrong_rows[:2]]:
        source, answer, target = examples[row]
        correction = "" if is_right[row] else f"    (right: {target})"
        print(f"    {source} -> {answer or '(nothing)'}{correction}")
    return is_right


def has_letter_twice(ids: np.ndarray) -> bool:
    """Returns whether ids (S,) hold a letter more than once."""
    letters = ids[ids > END]
    return len({*letters.tolist()}) < len(letters)


def code_of(version: Callable) -> list:
    """Returns the lines of code of a version, without docstrings and empty lines."""
    source = inspect.getsource(version)
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            first, last = node.body[0].lineno - 1, node.body[0].end_lineno
            lines[first:last] = [""] * (last - first)
    return [line for line in lines if line]


def run(number: int, ask: bool) -> str:
    """Trains and shows a step of GROWTH. Returns its row in the table."""
    step = GROWTH[number - 1]
    print(f"\nStep {number}, {step.task}: {step.name}\n")
    is_new = number == 1 or step.version is not GROWTH[number - 2].version
    code = code_of(step.version) if is_new else []
    print("\n".join(f"    {line}" for line in code) or "    (no line changes)")
    print(f"\nWhat will go wrong? {step.question}", flush=True)
    if ask:
        input("Your prediction, then Enter: ")

    started = time.process_time()
    network = train(step)
    seconds = time.process_time() - started
    is_right = write(network, step.task)  # (N,)
    inp, tar = task_of(step.task).test  # (N, S), (N, T)
    logits, _ = network((inp, tar[:, :-1]))  # (N, T - 1, V)
    loss = float(model.loss_function(tar[:, 1:], logits))
    accuracy = float(model.accuracy_function(tar[:, 1:], logits))
    print(f"Loss {loss:.2f} nats per token. Right: {accuracy:.0%} of tokens under teacher forcing,")
    print(f"{is_right.mean():.0%} of {step.task} that it writes alone.")
    if step.task == "words":
        twice = np.array([has_letter_twice(ids) for ids in inp])  # (N,)
        print(f"Of words with a letter twice, {is_right[twice].mean():.0%} are right, ", end="")
        print(f"of the others {is_right[~twice].mean():.0%}.")
    print(f"Why? {step.reason}", flush=True)
    figures = f"{loss:.2f} | {accuracy:.0%} | {is_right.mean():.0%} | {seconds:.0f}"
    return f"| {number} | {step.name} | {len(code)} | {figures} |"


def main(arguments: list) -> None:
    """Runs the steps that the command line names, and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    numbers = range(1, len(GROWTH) + 1)
    parser.add_argument("--step", type=int, choices=numbers, metavar="N", help="1 to 10; else all")
    parser.add_argument("--ask", action="store_true", help="wait for Enter before each result")
    args = parser.parse_args(arguments)
    messages.show()
    devices.gpus()  # TensorFlow looks for them here, quietly
    rows = [run(number, args.ask) for number in ([args.step] if args.step else numbers)]
    columns = (
        "step", "version", "lines", "test loss", "tokens right, teacher forcing",
        "written right", "processor seconds",
    )  # fmt: skip
    print(f"\n| {' | '.join(columns)} |")
    print(f"|{'---|' * len(columns)}")
    print("\n".join(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
