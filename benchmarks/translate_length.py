"""What a token costs as a translation grows: python benchmarks/translate_length.py [--plot FILE]

Random weights of the tutorial's size, which never end a translation, on a batch of equal sources.
Prints a markdown table of milliseconds a token by number of tokens: with a cache that grows, as
batches have; with one of fixed size compiled by XLA, as single sentences have; and without any, as
in the tutorial. Then the memory of the cache. --plot draws it.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as run_demo.py has it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

import params
import transformer_model as tm
from beyond import devices

SOURCE = 16  # tokens
LENGTHS = (16, 32, 64, 128, 256, 384, 512)  # tokens produced


def endless_transformer():
    """Returns a Transformer of the default sizes that will not say END."""
    vocab = params.VOCAB_SIZE
    transformer = tm.Transformer(
        params.NUM_LAYERS, params.D_MODEL, params.NUM_HEADS, params.DFF, vocab, vocab
    )
    transformer.build(((None, None), (None, None)))
    kernel, bias = transformer.final_layer.get_weights()
    bias[tm.END] = -1e4
    transformer.final_layer.set_weights([kernel, bias])
    return transformer


def searches(transformer):
    """Returns by name (rows, function of ids (B, S) and of the tokens to produce)."""

    def grown(inp, tokens):
        return tm.greedy_search(transformer, inp, extra_tokens=tokens - SOURCE).ids

    def fixed(inp, tokens):
        return tm.greedy_search(transformer, inp, extra_tokens=tokens - SOURCE, static=True).ids

    def again(inp, tokens):
        """The tutorial's: the whole decoder for each token."""

        def step(tar):
            logits, _ = transformer((inp, tar))
            return (tf.concat([tar, tf.argmax(logits[:, -1:], -1, tf.int32)], axis=1),)

        start = tf.fill((tf.shape(inp)[0], 1), tm.START)
        return tf.while_loop(
            lambda tar: tf.shape(tar)[1] <= tokens, step, (start,),
            shape_invariants=(tf.TensorShape((None, None)),),
        )[0]  # fmt: skip

    signature = [tf.TensorSpec((None, SOURCE), tf.int32), tf.TensorSpec((), tf.int32)]
    in_graph = tf.function(grown, input_signature=signature)
    return {
        "cache, batch 64": (64, in_graph),
        "cache, batch 1": (1, in_graph),
        "cache, XLA, batch 1": (1, tf.function(fixed, jit_compile=True)),
        "no cache, batch 1": (1, tf.function(again, input_signature=signature)),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plot", metavar="FILE", help="PNG to draw")
    args = parser.parse_args()
    devices.find(lambda line: print(line, file=sys.stderr))
    transformer, columns = endless_transformer(), {}
    for name, (rows, search) in searches(transformer).items():
        inp = tf.constant(np.full((rows, SOURCE), 7, np.int32))
        seconds = []
        for tokens in LENGTHS:
            tokens = tokens if "XLA" in name else tf.constant(tokens)  # its shapes are fixed
            search(inp, tokens)
            times = []
            for _ in range(args.rounds):
                started = time.perf_counter()
                search(inp, tokens).numpy()
                times.append(time.perf_counter() - started)
            seconds.append(statistics.median(times))
        columns[name] = np.array(seconds) / LENGTHS * 1e3  # ms a token of each translation
        print(f"{name}: done", file=sys.stderr)

    print("| tokens produced | " + " | ".join(f"{name}, ms a token" for name in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for place, tokens in enumerate(LENGTHS):
        row = " | ".join(f"{column[place]:.2f}" for column in columns.values())
        print(f"| {tokens} | {row} |")
    each = 2 * params.NUM_LAYERS * params.D_MODEL * 4  # keys and values, float32
    print(f"\nThe cache takes {each} bytes a token and sentence: at 512 tokens, ", end="")
    print(f"{512 * each / 2**20:.1f} MiB a sentence, {64 * 512 * each / 2**20:.0f} MiB for 64.")
    if args.plot:
        figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
        for name, column in columns.items():
            axes.plot(LENGTHS, column, "o-", label=name)
        axes.set(xlabel="tokens produced", ylabel="milliseconds a token", yscale="log")
        axes.grid(alpha=0.3)
        axes.legend()
        figure.savefig(args.plot, dpi=120)


if __name__ == "__main__":
    main()
