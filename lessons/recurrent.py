"""What came before: recurrent encoder-decoders, without and with attention, and the Transformer.

    python lessons/recurrent.py [--train FILE FILE --valid FILE FILE --test FILE FILE]

The same tokenizer, batches, schedule, dropout and loss (those of `--preset tiny`, but half its
learning rate, and gradients clipped, for the GRU with attention unlearns at its whole) train three
networks of like size: a GRU encoder-decoder that has one context vector for the whole sentence, its
last state (Cho et al. 2014, arXiv 1406.1078); the same with attention, Luong's general score (arXiv
1508.04025), which attends to all states of the encoder for each token; and the Transformer. Greedy
search. Prints BLEU by length of the source, training speed, and how many steps must follow one
another, as Markdown.
"""

import argparse
import itertools
import os
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as `run_demo.py train` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import keras
import sacrebleu
import tensorflow as tf

import run_demo
from nmt import UserError
from nmt.cli import flags
from nmt.corpus import batches as batching
from nmt.corpus.source import CorpusSource
from nmt.messages import log
from nmt.network.engine import decoder_output
from nmt.network.variants import TiedLogits
from nmt.options import Options
from nmt.results import evaluation
from nmt.runs.validation import new_epochs
from nmt.text import tokenizer as tokenizing
from nmt.training import devices, schedules
from nmt.training.loop import Counters, Epochs
from nmt.training.optimizer import Adam
from nmt.training.step import FastStep
from transformer_model import END, MASKED, PAD, START, create_padding_mask

LENGTHS = ((1, 8), (9, 12), (13, 16), (17, 10_000))  # words of a source
SIZES = ("num_layers", "d_model", "dff", "num_heads", "vocab_size", "batch_tokens")


class Recurrent(keras.Model):
    """GRU encoder and decoder, `layers` deep, and an attention vector for each predicted token.

    It offers what FastStep asks of a Transformer: `encoder`, `decoder` and `final_layer`.
    Embeddings and attention vector have the width D, each GRU has U `units`. If it attends, the
    context of a token is a weighted mean of all of the encoder's states, else always its last.
    """

    def __init__(self, vocab_size, width, units, layers, rate, attends):
        super().__init__()
        self.config, self.attends = {"target_vocab_size": vocab_size}, attends
        normal = keras.initializers.RandomNormal(stddev=width**-0.5)
        self.embedding = keras.layers.Embedding(vocab_size, width, embeddings_initializer=normal)
        gru = dict(return_sequences=True, return_state=True, reset_after=True)
        self.encoders = [keras.layers.GRU(units, **gru) for _ in range(layers)]
        self.decoders = [keras.layers.GRU(units, **gru) for _ in range(layers)]
        self.dropout = keras.layers.Dropout(rate)
        self.score = keras.layers.Dense(units, use_bias=False)  # Luong's general: h_t W h_s
        self.combine = keras.layers.Dense(width, activation="tanh")  # tanh(W_c [c; h])
        self.final_layer = TiedLogits(self.embedding, dtype="float32")

    def embed(self, ids, training=False):
        """Ids (B, L) -> (B, L, D)."""
        vectors = self.embedding(ids)
        return self.dropout(vectors * vectors.shape[-1] ** 0.5, training=training)

    def encode(self, inp, training=False):
        """Ids (B, S) -> top states (B, S, U), and the last states of each layer, (B, U) each."""
        x, states = self.embed(inp, training), []
        for gru in self.encoders:
            x, state = gru(x, mask=inp != PAD, training=training)
            x = self.dropout(x, training=training)
            states.append(state)
        return x, states

    def attend(self, h, encoded, state, padding):
        """Decoder's states (B, T, U), padding (B, 1, S) -> vectors (B, T, D), weights (B, T, S)."""
        if self.attends:
            scores = tf.matmul(self.score(h), encoded, transpose_b=True)  # (B, T, S)
            weights = tf.nn.softmax(scores + MASKED * padding)
            context = tf.matmul(weights, encoded)  # (B, T, U)
        else:
            weights = None
            context = tf.broadcast_to(state[:, tf.newaxis], tf.shape(h))  # one for all tokens
        return self.combine(tf.concat([context, h], axis=-1)), weights

    def encoder(self, inp, *, training, mask):
        """Ids (B, S) -> what `decoder` takes of the source, and no weights."""
        return self.encode(inp, training), {}

    def decoder(self, tar, enc_output, *, training, look_ahead_mask, padding_mask):
        """Ids (B, T) -> attention vectors (B, T, D), which predict each next token, and weights."""
        encoded, states = enc_output
        x = self.embed(tar, training)  # (B, T, D)
        for gru, state in zip(self.decoders, states, strict=True):
            x, _ = gru(x, initial_state=state, training=training)
            x = self.dropout(x, training=training)
        output, weights = self.attend(x, encoded, states[-1], padding_mask[:, 0])
        return self.dropout(output, training=training), {"attention": weights}

    def call(self, inputs, *, training=False):
        """Ids (B, S), (B, T) -> logits (B, T, V)."""
        inp, tar = inputs
        return self.final_layer(decoder_output(self, inp, tar, training))

    def build(self, *_):
        """Makes all variables, by the call of each layer."""
        ids = tf.fill((1, 2), START)
        self.call((ids, ids))

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
    def translate(self, inp):
        """Ids (B, S) -> those of the likeliest next tokens, one after the other: (B, 1 + L)."""
        encoded, states = self.encode(inp)
        last, length = states[-1], tf.shape(inp)[1] + 50
        padding = create_padding_mask(inp)[:, 0]  # (B, 1, S)
        tokens = tf.fill((tf.shape(inp)[0], 1), START)  # (B, 1)
        ids = tokens

        def unfinished(ids, tokens, states):
            return (tf.shape(ids)[1] <= length) & ~tf.reduce_all(tf.reduce_any(ids == END, axis=1))

        def step(ids, tokens, states):
            x, after = self.embed(tokens), []
            for gru, state in zip(self.decoders, states, strict=True):
                x, state = gru(x, initial_state=state)
                after.append(state)
            output, _ = self.attend(x, encoded, last, padding)
            tokens = tf.argmax(self.final_layer(output), axis=-1, output_type=tf.int32)
            tokens = tf.where(tf.reduce_any(ids == END, axis=1, keepdims=True), PAD, tokens)
            return tf.concat([ids, tokens], axis=1), tokens, after

        shapes = (tf.TensorShape((None, None)), tokens.shape, [state.shape for state in states])
        return tf.while_loop(unfinished, step, (ids, tokens, states), shape_invariants=shapes)[0]


class Network(NamedTuple):
    """A network that is trained beside the others."""

    title: str
    epochs: Epochs
    rates: list[float]  # tokens per second, of each epoch


def recurrent_builder(units, attends):
    """Returns what builds a Recurrent as run_demo.build_transformer builds a Transformer."""

    def build(options, vocab_size):
        model = Recurrent(vocab_size, options.d_model, units, 2, options.dropout_rate, attends)
        model.build()
        return model

    return build


def build_network(title, build, options, vocab_size):
    """Returns an untrained Network."""
    keras.utils.set_random_seed(options.seed)  # which drops the kernels of tokenizers
    on = devices.configure()
    counters = Counters.of(on.strategy)
    optimizer = Adam(
        schedules.learning_rate(options, counters.steps), beta_1=0.9, beta_2=0.98, epsilon=1e-9
    )
    step = FastStep(build(options, vocab_size), optimizer, options, on.strategy, on.parts)
    return Network(title, new_epochs(step, options, counters, on), rates=[])


def train(networks, options, corpus, tokenizer, epochs):
    """Trains Networks, an epoch of each in turn."""
    batches = batching.training_batches(options, corpus, tokenizer)
    for network in networks:
        network.epochs.total_steps.assign(batches.per_epoch * epochs)
    for epoch, network in itertools.product(range(1, epochs + 1), networks):
        done = network.epochs
        order = batches.epoch(options.buffer_size, options.seed + epoch)
        title = f"Epoch {epoch}/{epochs} of {network.title}"
        for inp, tar in done.train_on(order, batches.per_epoch, title):
            done.training_step.train_step(inp, tar)
        done.position.assign(0)
        loss, _, tokens = done.sums_so_far.numpy()
        validation, accuracy = done.validator.loss_and_accuracy(corpus.validation, tokenizer)
        network.rates.append(done.rate)
        log.info(
            f"{title}: loss {loss / tokens:.3f}; validation loss {validation:.3f}, accuracy "
            f"{accuracy:.3f}; {done.rate:,.0f} tokens/s"
        )


def recurrent_translations(model, tokenizer, lines):
    """Returns greedy translations of `lines` by a Recurrent, in batches of like length."""
    sources = tokenizer.encode(lines)
    order = sorted(range(len(lines)), key=lambda number: len(sources[number]))
    translations = {}
    for start in range(0, len(order), 64):
        batch = order[start : start + 64]
        inp = keras.utils.pad_sequences([sources[n] for n in batch], padding="post", value=PAD)
        texts = tokenizer.decode(model.translate(tf.constant(inp)).numpy())
        translations.update(zip(batch, texts, strict=True))
    return [translations[number] for number in range(len(lines))]


def score(translations, references):
    """Returns sacreBLEU's BLEU of lower-cased text, as text; a dash for no lines."""
    if not translations:
        return "-"
    return f"{sacrebleu.corpus_bleu(translations, [references], lowercase=True).score:.1f}"


def scores_by_length(translations, references, sources):
    """Returns the score of all lines, then of those in each of LENGTHS."""
    scores = [score(translations, references)]
    for low, high in LENGTHS:
        lines = [n for n, source in enumerate(sources) if low <= len(source.split()) <= high]
        scores.append(score([translations[n] for n in lines], [references[n] for n in lines]))
    return scores


def print_table(networks, tokenizer, sources, references):
    """Translates and prints a row for each Network."""
    spans = [f"{low}-{high}" if high < 1000 else f"{low}+" for low, high in LENGTHS]
    heads = ["network", "parameters", "BLEU", *spans, "tokens/s", "steps"]
    target_tokens = sum(map(len, tokenizer.encode(references))) / len(references) - 1  # with END
    source_tokens = sum(map(len, tokenizer.encode(sources))) / len(sources)
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for network in networks:
        model = network.epochs.training_step.transformer
        if isinstance(model, Recurrent):
            translations = recurrent_translations(model, tokenizer, sources)
            recurrent_steps = source_tokens + target_tokens
            steps = f"{recurrent_steps:.0f} / {recurrent_steps:.0f}"
        else:
            translations = list(network.epochs.validator.model.translator(tokenizer)(sources))
            steps = f"1 / {1 + target_tokens:.0f}"
        scores = " | ".join(scores_by_length(translations, references, sources))
        print(
            f"| {network.title} | {model.count_params():,} | {scores} "
            f"| {statistics.median(network.rates):,.0f} | {steps} |"
        )
    print("\nBLEU is lower-cased; then by words of the source. Steps that must follow one")
    print("another, for a test sentence of mean length: in training / in translating. Tokens/s is")
    print("the median of the epochs, which the networks took in turn.")


def parse_flags():
    """Returns the parser of the flags, and their values."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", nargs="+", help="a .tsv or two aligned files")
    parser.add_argument("--valid", nargs="+", help="the same")
    parser.add_argument("--test", nargs="+", help="the same")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--learning-rate-scale", type=float, default=1.0)
    parser.add_argument("--clip-norm", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--units", type=int, default=256, help="of each GRU")
    flags.add_parameters(parser, SIZES, "that of --preset tiny")
    args = parser.parse_args()
    if args.epochs < 1 or (not args.train and (args.valid or args.test)):
        parser.error("--epochs are 1 or more; --valid and --test go with --train")
    return parser, args


def main():
    parser, args = parse_flags()
    options = Options.of("tiny", flags.given_parameters(args) | dict(xla="off"))
    source = CorpusSource("bundled").with_files(args.train, args.valid, args.test)
    try:
        corpus = run_demo.load_corpus(source, args.seed)
    except UserError as error:
        parser.error(str(error))
    model = run_demo.train_tokenizer(
        corpus.train, **{name: getattr(options, name) for name in tokenizing.PARAMETERS}
    )
    vocab_size = run_demo.Tokenizer(model).vocab_size
    sources, references = evaluation.texts(corpus.test)
    networks = [
        build_network(title, build, options, vocab_size)
        for title, build in (
            ("GRU, one context vector", recurrent_builder(args.units, attends=False)),
            ("GRU with attention", recurrent_builder(args.units, attends=True)),
            ("Transformer", run_demo.build_transformer),
        )
    ]
    tokenizer = run_demo.Tokenizer(model)  # after the seeds, which drop the kernels of tokenizers
    train(networks, options, corpus, tokenizer, args.epochs)
    print_table(networks, tokenizer, sources, references)


if __name__ == "__main__":
    main()
