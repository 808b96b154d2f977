"""What non-autoregressive translation, all tokens in parallel, gains and costs.

    python benchmarks/parallel.py --one-by-one RUN --at-once RUN [--test FILE FILE]

Two runs of one corpus, trained alike but for --non-autoregressive: BLEU of greedy translations of
the test split, and sentences per second, in batches of 64 and of 1; then, with random weights,
sentences per second by length of the source: translations of as many tokens one by one (END is
never predicted), or of as many positions as non-autoregressive search fills at once. Without runs,
only the second table. In batches of 1 the search is compiled by XLA in both, as in the program once
it has translated a few hundred single sentences (there, of at most 64 tokens). Medians of
interleaved rounds, as Markdown.
"""

import argparse
import itertools
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as `run_demo.py translate` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tensorflow as tf

import params
import run_demo
from nmt import UserError
from nmt.cli import flags
from nmt.decoding import non_autoregressive, searcher
from nmt.decoding.search import greedy_search
from nmt.decoding.tracing import compiled
from nmt.decoding.translator import Translator
from nmt.results import evaluation, scores
from nmt.runs import loading
from nmt.text import bleu_tokenizer, files
from transformer_model import END, MASKED, START

LENGTHS, BATCHES = (16, 64, 256), (1, 64)
SIZES = ("num_layers", "decoder_layers", "d_model", "dff", "num_heads")
SINGLE_LINES = 200  # at most, where sentences are translated one at a time
EXAMPLES = 3  # translations in which a word comes twice, one after the other


def medians(calls, rounds, seconds):
    """Calls each in turn, for `seconds` per round. Returns the median calls per second of each."""
    rates = [[] for _ in calls]
    for call in calls:
        call()  # traced, compiled
    for _ in range(rounds):
        for call, found in zip(calls, rates, strict=True):
            done, started = 0, time.perf_counter()
            while time.perf_counter() - started < seconds:
                call()
                done += 1
            found.append(done / (time.perf_counter() - started))
    return [statistics.median(found) for found in rates]


def by_length(options, lengths, batches, rounds, seconds):
    """Prints sentences per second by tokens of a translation."""
    print("\n| tokens | batch | one by one | at once | ratio |\n|---|---|---|---|---|", flush=True)
    networks = []
    for at_once in (False, True):
        options = {**options, "non_autoregressive": at_once}
        network = run_demo.build_transformer(options, params.VOCAB_SIZE)
        never = tf.one_hot(END, params.VOCAB_SIZE) * MASKED
        logits, network.final_layer.call = network.final_layer.call, None
        network.final_layer.call = lambda inputs, training=None, logits=logits, never=never: (
            logits(inputs) + never
        )
        networks.append(network)
    one_by_one, at_once = networks
    for length in lengths:
        for batch in batches:
            inp = tf.random.uniform((batch, length), START + 2, params.VOCAB_SIZE, tf.int32)

            def slow(inp, extra_positions=0 if batch == 1 else None):
                return greedy_search(
                    one_by_one, inp, extra_tokens=0, extra_positions=extra_positions
                )

            def fast(inp):
                return non_autoregressive.search(at_once, inp)

            if batch == 1:
                slow, fast = compiled(one_by_one, slow), compiled(at_once, fast)
            else:
                slow, fast = tf.function(slow), tf.function(fast)
            assert int(tf.reduce_sum(tf.cast(slow(inp).ids != 0, tf.int32))) == batch * (length + 1)
            calls = [lambda s=slow, i=inp: s(i).ids.numpy(), lambda f=fast, i=inp: f(i).ids.numpy()]
            rates = [batch * rate for rate in medians(calls, rounds, seconds)]
            figures = f"{rates[0]:,.1f} | {rates[1]:,.1f} | {rates[1] / rates[0]:.2f}"
            print(f"| {length} | {batch} | {figures} |", flush=True)


def of_runs(paths, test, rounds):
    """Prints BLEU and sentences per second of two trained runs."""
    searcher.COMPILE_AFTER = 0  # as if there had been some hundred sentences
    systems = []
    for path, at_once in zip(paths, (False, True), strict=True):
        _, tokenizer, training = loading.load(path, beam=1)
        if training.options["non_autoregressive"] != at_once:
            flag = "--at-once" if at_once else "--one-by-one"
            raise UserError(f"{flag} {path}: was not trained so; name another run")
        systems.append((tokenizer, training))
    if systems[0][0].sha256 != systems[1][0].sha256:
        raise UserError("the two runs have different vocabularies; name two of one corpus")
    options = systems[0][1].options
    if test:
        sources, references = zip(*files.read_pairs(test), strict=True)
    else:
        corpus = run_demo.load_corpus(systems[0][1].corpus, options["seed"])
        sources, references = evaluation.texts(corpus.test)
    print("| decoding | BLEU | sentences/s, 64 at a time | one at a time |\n|---|---|---|---|")
    translations, rates = [], []
    for batch in (64, 1):
        lines = sources if batch == 64 else sources[:SINGLE_LINES]
        calls = []
        for tokenizer, training in systems:
            translate = Translator(training.transformer, tokenizer, rows=batch)
            calls.append(lambda translate=translate, lines=lines: list(translate(lines)))
        if batch == 64:
            translations = [call() for call in calls]
        rates.append([len(lines) * rate for rate in medians(calls, rounds, 0.1)])
    tokenize = bleu_tokenizer.choose(options["tokenize"], references)
    lower_cased = scores.bleu(tokenize, lowercase=True)
    for row, name in enumerate(("one by one", "at once")):
        bleu = lower_cased.corpus_score(translations[row], [references])
        print(f"| {name} | {bleu.score:.1f} | {rates[0][row]:,.0f} | {rates[1][row]:,.0f} |")
    print("\nBLEU is lower-cased.")
    mixed = [
        (source, reference, fast)
        for source, reference, slow, fast in zip(sources, references, *translations, strict=True)
        if slow == reference and any(a == b for a, b in itertools.pairwise(fast.split()))
    ]
    if mixed:
        print("Where all tokens are predicted in parallel, two translations may mix:\n")
    for source, reference, fast in mixed[:EXAMPLES]:
        print(f"    source:    {source}\n    reference: {reference}\n    at once:   {fast}\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--one-by-one", help="folder of a trained run")
    parser.add_argument("--at-once", help="folder of a run with --non-autoregressive")
    parser.add_argument("--test", nargs="+", help="a .tsv or two files (default: the run's)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=LENGTHS, metavar="N",
        help="tokens of the sources of random ids",
    )  # fmt: skip
    parser.add_argument(
        "--batches", type=int, nargs="+", default=BATCHES, metavar="ROWS", help="of them"
    )
    flags.add_parameters(parser, SIZES)
    args = parser.parse_args()
    runs = [path for path in (args.one_by_one, args.at_once) if path]
    if len(runs) == 1 or (args.test and not runs):
        parser.error("--one-by-one and --at-once go together, and --test with them")
    if runs:
        try:
            of_runs(runs, args.test, args.rounds)
        except UserError as error:
            parser.error(str(error))
    by_length(flags.chosen(args), args.lengths, args.batches, args.rounds, args.seconds)


if __name__ == "__main__":
    main()
