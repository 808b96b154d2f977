"""What non-autoregressive translation, all tokens in parallel, gains and costs.

    python benchmarks/parallel.py [RUN ...] [--test FILE FILE]

Runs of one corpus: BLEU of greedy translations of the test split, and sentences per second, in
batches of 64 and of 1; then, with random weights, sentences per second by length of the source, for
an autoregressive network, one with twice the encoder layers and a single decoder layer (Kasai et
al. 2021, arXiv 2006.10369), and a non-autoregressive one. The former two translate into as many
tokens as the source has (END is never predicted). Without runs, only the second table.
In batches of 1 the search is compiled by XLA, as in the program once it has translated a few
hundred single sentences (there, of at most 64 tokens). Medians of interleaved rounds, as Markdown.
"""

import argparse
import dataclasses
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
from nmt.corpus import bleu_tokenizer, files
from nmt.decoding import non_autoregressive
from nmt.decoding.restrictions import Restrictions
from nmt.decoding.search import greedy_search
from nmt.network.variants import variant_of
from nmt.results import evaluation, scores
from nmt.runs import listing, loading
from nmt.runs.loading import EngineChoice
from nmt.runs.run_corpus import load_corpus_of
from transformer_model import END, MASKED, START

LENGTHS, BATCHES = (16, 64, 256), (1, 64)
SIZES = ("num_layers", "decoder_layers", "d_model", "dff", "num_heads")
SINGLE_LINES = 200  # at most, where sentences are translated one at a time
EXAMPLES = 3  # lines that the first run translates as the reference does, and the last does not


def medians(calls, rounds, seconds):
    """Calls each in turn, for `seconds` per round.

    Returns the median calls per second of each, and what each returned first.
    """
    rates = [[] for _ in calls]
    results = [call() for call in calls]  # traced, compiled
    for _ in range(rounds):
        for call, call_rates in zip(calls, rates, strict=True):
            done, started = 0, time.perf_counter()
            while time.perf_counter() - started < seconds:
                call()
                done += 1
            call_rates.append(done / (time.perf_counter() - started))
    return [statistics.median(call_rates) for call_rates in rates], results


def random_networks(options):
    """Returns networks of random weights, by name, which never predict END."""
    layers = options.num_layers
    kinds = {
        "autoregressive": {},
        "deep encoder, one decoder layer": dict(num_layers=2 * layers, decoder_layers=1),
        "non-autoregressive": dict(non_autoregressive=True),
    }
    networks = {}
    for name, changes in kinds.items():
        network = run_demo.build_transformer(
            dataclasses.replace(options, **changes), params.VOCAB_SIZE
        )
        kernel, bias = network.final_layer.get_weights()
        bias[END] = MASKED
        network.final_layer.set_weights([kernel, bias])
        networks[name] = network
    return networks


def search_of(network, batch):
    """Returns the function of ids (batch, S) that translates them, for TensorFlow.

    Single sentences are compiled by XLA, for which shapes stay the same at every step.
    """

    def search(inp):
        if variant_of(network).non_autoregressive:
            return non_autoregressive.search(network, inp, scored=False)
        positions = 0 if batch == 1 else None
        return greedy_search(
            network,
            inp,
            restrictions=Restrictions(extra_tokens=0),
            scored=False,
            extra_positions=positions,
        )

    return tf.function(search, jit_compile=batch == 1)


def print_speed_by_length(options, lengths, batches, rounds, seconds):
    """Prints sentences per second by tokens of a translation, with random weights."""
    networks = random_networks(options)
    print(f"\n| tokens | batch | {' | '.join(networks)} |", flush=True)
    print("|---|---|" + "---|" * len(networks))
    for length in lengths:
        for batch in batches:
            inp = tf.random.uniform((batch, length), START + 2, params.VOCAB_SIZE, tf.int32)
            searches = [search_of(network, batch) for network in networks.values()]
            ids = searches[0](inp).ids
            assert int(tf.reduce_sum(tf.cast(ids != 0, tf.int32))) == batch * (length + 1)
            calls = [lambda search=search, inp=inp: search(inp).ids.numpy() for search in searches]
            calls_per_second, _ = medians(calls, rounds, seconds)
            rates = [batch * rate for rate in calls_per_second]
            figures = " | ".join(f"{rate:,.1f} ({rate / rates[0]:.2f})" for rate in rates)
            print(f"| {length} | {batch} | {figures} |", flush=True)


def load_runs(paths):
    """Returns the tokenizer of runs of one corpus, and their models.

    Raises:
      UserError: their vocabularies differ.
    """
    tokenizers, models = [], []
    for path in paths:
        _, tokenizer, model = loading.load(path, engine=EngineChoice("tensorflow"), beam=1)
        tokenizers.append(tokenizer)
        models.append(model)
    for path, tokenizer in zip(paths, tokenizers, strict=True):
        if tokenizer.sha256 != tokenizers[0].sha256:
            raise UserError(f"{path}: has another vocabulary than {paths[0]}; name runs of one")
    return tokenizers[0], models


def load_test(paths, run):
    """Returns sources and references of given files, or else of the test split of a run."""
    if paths:
        return zip(*files.read_pairs(paths), strict=True)
    corpus = load_corpus_of(listing.find(run), "test")
    return evaluation.texts(corpus.test)


def measure(models, tokenizer, sources, batch, rounds):
    """Returns sentences per second of each model, and its translations."""
    lines = sources if batch > 1 else sources[:SINGLE_LINES]
    translators = [model.translator(tokenizer, rows=batch, workers=1) for model in models]
    calls = [lambda translate=translate: list(translate(lines)) for translate in translators]
    calls_per_second, translations = medians(calls, rounds, 0.1)
    return [len(lines) * rate for rate in calls_per_second], translations


def print_runs(paths, test, rounds):
    """Prints BLEU and sentences per second of trained runs, and examples."""
    tokenizer, models = load_runs(paths)
    sources, references = load_test(test, paths[0])
    batch_rates, translations = measure(models, tokenizer, sources, 64, rounds)
    single_rates, _ = measure(models, tokenizer, sources, 1, rounds)
    print("| run | decoding | BLEU | sentences/s, 64 at a time | one at a time |")
    print("|---|---|---|---|---|")
    tokenize = bleu_tokenizer.choose(models[0].options.tokenize, references)
    lower_cased = scores.bleu(tokenize, lowercase=True)
    for number, (path, model) in enumerate(zip(paths, models, strict=True)):
        bleu = lower_cased.corpus_score(translations[number], [references])
        kind = "non-autoregressive" if model.options.non_autoregressive else "autoregressive"
        print(
            f"| {Path(path).name} | {kind} | {bleu.score:.1f} | {batch_rates[number]:,.0f} "
            f"| {single_rates[number]:,.0f} |"
        )
    print("\nBLEU is lower-cased.")
    print_examples(sources, references, translations[0], translations[-1])


def print_examples(sources, references, good, different):
    """Prints lines whose translation `good` is the reference, and `different` is not."""
    lines = zip(sources, references, good, different, strict=True)
    examples = (
        (source, reference, translation)
        for source, reference, good_translation, translation in lines
        if good_translation == reference != translation
    )
    for source, reference, translation in itertools.islice(examples, EXAMPLES):
        print(f"\n    source:    {source}\n    reference: {reference}")
        print(f"    last run:  {translation}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", metavar="RUN", help="folders of trained runs")
    parser.add_argument("--test", nargs="+", help="a .tsv or two files (default: the first run's)")
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
    if args.test and not args.runs:
        parser.error("--test: name runs, too")
    if args.runs:
        try:
            print_runs(args.runs, args.test, args.rounds)
        except UserError as error:
            parser.error(str(error))
    print_speed_by_length(flags.chosen(args), args.lengths, args.batches, args.rounds, args.seconds)


if __name__ == "__main__":
    main()
