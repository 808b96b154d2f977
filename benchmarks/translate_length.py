"""What a token costs as a translation grows: python benchmarks/translate_length.py [--plot FILE]

Random weights of the tutorial's size, which never end a translation, on a batch of equal sources.
Prints a markdown table of milliseconds per token and sentence, by number of tokens: with a cache
that grows, as in translating; with one of fixed size, compiled by XLA; and without any, as in the
tutorial. Then the memory of the cache. --plot draws the table.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as `run_demo.py translate` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

import params
import transformer_model as tm
from nmt.cli import flags
from nmt.decoding import search
from nmt.decoding.restrictions import Restrictions
from nmt.network.variants import Variant, network_of, sizes_of
from nmt.training import devices

SOURCE = 16  # tokens
LENGTHS = (16, 32, 64, 128, 256, 384, 512)  # tokens generated
SIZES = ("num_layers", "decoder_layers", "d_model", "num_heads", "dff")


def endless_transformer(sizes):
    """Returns a Transformer of random weights that never predicts END."""
    vocab = params.VOCAB_SIZE
    variant = Variant(decoder_layers=sizes["decoder_layers"])
    stack_sizes = {name: size for name, size in sizes.items() if name != "decoder_layers"}
    transformer = network_of(
        variant, **stack_sizes, input_vocab_size=vocab, target_vocab_size=vocab
    )
    transformer.build(((None, None), (None, None)))
    kernel, bias = transformer.final_layer.get_weights()
    bias[tm.END] = -1e4
    transformer.final_layer.set_weights([kernel, bias])
    return transformer


def searches(transformer):
    """Returns by name (rows, function of ids (B, S) and of the tokens to generate)."""

    def growing_cache(inp, tokens):
        return search.greedy_search(
            transformer, inp, restrictions=Restrictions(extra_tokens=tokens - SOURCE)
        ).ids

    def fixed_cache(inp, tokens):
        extra = tokens - SOURCE
        return search.greedy_search(
            transformer, inp, restrictions=Restrictions(extra_tokens=extra), extra_positions=extra
        ).ids

    def no_cache(inp, tokens):
        """The tutorial's search: the whole decoder for each token."""

        def step(tar):
            logits, _ = transformer((inp, tar))
            return (tf.concat([tar, tf.argmax(logits[:, -1:], -1, tf.int32)], axis=1),)

        start = tf.fill((tf.shape(inp)[0], 1), tm.START)
        return tf.while_loop(
            lambda tar: tf.shape(tar)[1] <= tokens, step, (start,),
            shape_invariants=(tf.TensorShape((None, None)),),
        )[0]  # fmt: skip

    signature = [tf.TensorSpec((None, SOURCE), tf.int32), tf.TensorSpec((), tf.int32)]
    in_graph = tf.function(growing_cache, input_signature=signature)
    return {
        "cache, batch 64": (64, in_graph),
        "cache, batch 1": (1, in_graph),
        "cache, XLA, batch 1": (1, tf.function(fixed_cache, jit_compile=True)),
        "no cache, batch 1": (1, tf.function(no_cache, input_signature=signature)),
    }


def median_seconds(find, inp, tokens, rounds):
    """Returns the median seconds of a search, after a first call."""
    find(inp, tokens)
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        find(inp, tokens).numpy()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def measure(transformer, lengths, rounds):
    """Returns by name of a search the milliseconds per token and sentence at each length."""
    milliseconds = {}
    for name, (rows, find) in searches(transformer).items():
        inp = tf.constant(np.full((rows, SOURCE), 7, np.int32))
        seconds = [
            median_seconds(find, inp, tokens if "XLA" in name else tf.constant(tokens), rounds)
            for tokens in lengths  # a Python number for XLA, whose shapes are fixed
        ]
        milliseconds[name] = np.array(seconds) / lengths / rows * 1e3
        print(f"{name}: done", file=sys.stderr)
    return milliseconds


def print_table(milliseconds, lengths):
    """Prints a row for each length."""
    print("| tokens | " + " | ".join(f"{name}, ms" for name in milliseconds) + " |")
    print("|---|" + "---|" * len(milliseconds))
    for number, tokens in enumerate(lengths):
        cells = " | ".join(f"{column[number]:.3f}" for column in milliseconds.values())
        print(f"| {tokens} | {cells} |")


def print_memory(transformer, tokens):
    """Prints what the cache takes."""
    sizes = sizes_of(transformer)
    token_bytes = 2 * sizes["decoder_layers"] * sizes["d_model"] * 4  # k, v; float32
    sentence_mib = tokens * token_bytes / 2**20
    print(
        f"\nThe cache takes {token_bytes} bytes per token and sentence: at {tokens} tokens, "
        f"{sentence_mib:.1f} MiB per sentence, {64 * sentence_mib:.0f} MiB for 64."
    )


def draw(milliseconds, lengths, path):
    """Draws the table."""
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, column in milliseconds.items():
        axes.plot(lengths, column, "o-", label=name)
    axes.set(xlabel="tokens generated", ylabel="milliseconds per token and sentence", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=200)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="times that each is timed")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=LENGTHS, metavar="N",
        help=f"tokens generated, {SOURCE} or more (default {' '.join(map(str, LENGTHS))})",
    )  # fmt: skip
    parser.add_argument("--plot", metavar="FILE", help="PNG to draw")
    flags.add_parameters(parser, SIZES)
    args = parser.parse_args()
    if min(args.lengths) < SOURCE:
        parser.error(f"--lengths are of {SOURCE} tokens or more")
    devices.configure()
    transformer = endless_transformer({name: getattr(flags.chosen(args), name) for name in SIZES})
    milliseconds = measure(transformer, args.lengths, args.rounds)
    print_table(milliseconds, args.lengths)
    print_memory(transformer, max(args.lengths))
    if args.plot:
        draw(milliseconds, args.lengths, args.plot)


if __name__ == "__main__":
    main()
