"""How fast a trained run translates, compared with other systems with the same weights.

    pip install -r benchmarks/requirements.txt
    python benchmarks/translate_speed.py --run runs/bundled [--source FILE] [--batches 64 256]

Every system has the same weights and is timed from text to text, tokenizing and detokenizing
included. All run in one process, in turn, round after round. A batch of 1 is a sentence that is
translated before the next one is read.

Each system is measured with its best use of this machine's cores, found in a sweep before the
rounds: on --sweep-lines lines (at least a batch per core), each setting is timed twice after a
first call, and the fastest is kept. The column "threads" names it, as batches in parallel x threads
of each: workers of this project's Translator, inter_threads x intra_threads of CTranslate2,
torch.set_num_threads of PyTorch. TensorFlow's threads within a batch are those that run_demo.py
sets; they cannot be changed in a process.

Prints a markdown table: sentences per second (median of the rounds); the ratio to CTranslate2 in
float32 with the same search and batch; how many translations are the same as this project's; and
the seconds of the first call, on the lines of the sweep, in which graphs are traced and programs
compiled. Beam search runs at alpha 0, where all systems rank hypotheses alike. The slowest systems
translate fewer lines.
"""

import argparse
import functools
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as `run_demo.py translate` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import tensorflow as tf

import run_demo
from nmt import UserError
from nmt.decoding import searcher, translator
from nmt.exports import ctranslate2_model
from nmt.runs import loading
from nmt.text import encoding
from nmt.training import devices
from transformer_model import END, PAD, START, create_masks, positional_encoding

BEAM = 4
SINGLE_LINES = 200  # at most, where sentences are translated one at a time
SYSTEMS = (
    "this project", "CTranslate2 float32", "CTranslate2 int8",
    "PyTorch, no cache", "no cache, tf.function", "no cache, eager",
)  # fmt: skip
searcher.COMPILE_AFTER = 0  # as a server that has run for a while


def batched(ids, rows):
    """Yields lists of `rows` indices into `ids`, the longest first."""
    order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
    for start in range(0, len(order), rows):
        yield order[start : start + rows]


def ours(transformer, tokenizer, rows, beam, workers):
    """This project as shipped; the search for single sentences is compiled from the first on."""
    translate = translator.Translator(
        transformer, tokenizer, beam=beam, length_penalty=0.0, rows=rows, workers=workers
    )
    at_a_time = translator.CHUNK_LINES if rows > 1 else 1

    def run(lines):
        return [best[0].text for best in translate.hypotheses(lines, at_a_time, scored=False)]

    return run


def naive(transformer, tokenizer, in_graph):
    """The tutorial's loop: the whole decoder for each token, one sentence at a time."""

    def step(inp, tar, enc_output):
        padding_mask, look_ahead_mask, _ = create_masks(inp, tar)
        output, _ = transformer.decoder(
            tar,
            enc_output,
            training=False,
            look_ahead_mask=look_ahead_mask,
            padding_mask=padding_mask,
        )
        logits = transformer.final_layer(output[:, -1:])
        return tf.concat([tar, tf.argmax(logits, -1, output_type=tf.int32)], axis=1)

    def encode(inp):
        return transformer.encoder(inp, training=False, mask=create_masks(inp, inp)[0])[0]

    if in_graph:
        ids = tf.TensorSpec((1, None), tf.int32)
        vectors = tf.TensorSpec((1, None, transformer.config["d_model"]))
        step = tf.function(step, input_signature=(ids, ids, vectors))
        encode = tf.function(encode, input_signature=(ids,))

    def run(lines):
        found = []
        for line in lines:
            (source,) = tokenizer.encode([line])
            inp, tar = tf.constant([source]), tf.constant([[START]])
            enc_output = encode(inp)
            while int(tar[0, -1]) != END and tar.shape[1] <= len(source) + 50:
                tar = step(inp, tar, enc_output)
            found += tokenizer.decode(tar.numpy())
        return found

    return run


def pytorch(transformer, tokenizer, rows, threads):
    """torch.nn.Transformer, its whole decoder run for each token: it has no cache."""
    import torch

    sizes = transformer.config
    model = torch.nn.Transformer(
        sizes["d_model"], sizes["num_heads"], sizes["num_layers"], sizes["decoder_layers"],
        sizes["dff"], dropout=0.0, layer_norm_eps=1e-6, batch_first=True,
        norm_first=sizes["pre_norm"],
    ).eval()  # fmt: skip

    def tensor(*values):
        return torch.tensor(np.concatenate([np.asarray(value) for value in values], axis=-1))

    def dense(its, layer):
        its.weight.data, its.bias.data = tensor(layer.kernel).T, tensor(layer.bias)

    def attention(its, mha):
        parts = (mha.wq, mha.wk, mha.wv)
        its.in_proj_weight.data = tensor(*(part.kernel for part in parts)).T
        its.in_proj_bias.data = tensor(*(part.bias for part in parts))
        dense(its.out_proj, mha.dense)

    def norm(its, layer):
        its.weight.data, its.bias.data = tensor(layer.gamma), tensor(layer.beta)

    pairs = (
        (model.encoder.layers, transformer.encoder.enc_layers),
        (model.decoder.layers, transformer.decoder.dec_layers),
    )
    for theirs, layers in pairs:
        for its, layer in zip(theirs, layers, strict=True):
            attention(its.self_attn, layer.mha if hasattr(layer, "mha") else layer.mha1)
            if hasattr(layer, "mha2"):
                attention(its.multihead_attn, layer.mha2)
                norm(its.norm3, layer.layernorm3)
            dense(its.linear1, layer.ffn.layers[0])
            dense(its.linear2, layer.ffn.layers[-1])
            norm(its.norm1, layer.layernorm1)
            norm(its.norm2, layer.layernorm2)
    if sizes["pre_norm"]:
        norm(model.encoder.norm, transformer.encoder.layernorm)
        norm(model.decoder.norm, transformer.decoder.layernorm)
    else:
        model.encoder.norm = model.decoder.norm = None
    tied = sizes["tie_embeddings"]
    final = torch.nn.Linear(sizes["d_model"], sizes["target_vocab_size"], bias=not tied)
    if tied:
        final.weight.data = tensor(transformer.decoder.embedding.embeddings)
    else:
        dense(final, transformer.final_layer)
    scale = sizes["d_model"] ** 0.5
    source_table = tensor(transformer.encoder.embedding.embeddings) * scale
    target_table = tensor(transformer.decoder.embedding.embeddings) * scale
    positions = tensor(positional_encoding(2048, sizes["d_model"])[0])

    @torch.inference_mode()
    def run(lines):
        torch.set_num_threads(threads)  # of the process, so before each call
        ids = tokenizer.encode(lines)
        found = [None] * len(ids)
        for batch in batched(ids, rows):
            inp = torch.tensor(searcher.pad([ids[i] for i in batch]), dtype=torch.long)
            pad = inp == PAD
            memory = model.encoder(
                source_table[inp] + positions[: inp.shape[1]], src_key_padding_mask=pad
            )
            tar = torch.full((len(batch), 1), START)
            limits = torch.tensor([len(ids[i]) + 50 for i in batch])
            ended = torch.zeros(len(batch), dtype=torch.bool)
            while not ended.all():
                length = tar.shape[1]
                future = torch.ones(length, length, dtype=torch.bool).triu(1)
                output = model.decoder(
                    target_table[tar] + positions[:length], memory,
                    tgt_mask=future, memory_key_padding_mask=pad,
                )  # fmt: skip
                token = final(output[:, -1]).argmax(-1).masked_fill(ended, PAD)
                tar = torch.cat([tar, token[:, None]], 1)
                ended |= (token == END) | (length >= limits)
            for i, row in zip(batch, tar.tolist(), strict=True):
                found[i] = [t for t in row if t != PAD]
        return tokenizer.processor.decode(found)

    return run


def ctranslate(folder, tokenizer, rows, beam, compute_type, inter_threads, intra_threads):
    """CTranslate2, on the exported run."""
    import ctranslate2

    model = ctranslate2.Translator(
        str(folder), device="cpu", compute_type=compute_type,
        inter_threads=inter_threads, intra_threads=intra_threads,
    )  # fmt: skip

    def run(lines):
        found = []
        for call in [lines] if rows > 1 else [[line] for line in lines]:
            results = model.translate_batch(
                tokenizer.processor.encode(call, out_type=str),  # it adds START and END
                beam_size=beam, length_penalty=0.0, max_batch_size=rows,
                max_decoding_length=ctranslate2_model.MAX_TOKENS,
            )  # fmt: skip
            found += tokenizer.processor.decode([best.hypotheses[0] for best in results])
        return found

    return run


def candidates(training, tokenizer, exported, lines, slow_lines, batches, only):
    """Returns what is to be measured, by (system, search, batch).

    Each is a pair: the lines that it translates, and a dict by setting (batches in parallel,
    threads of each) of functions that return how to translate, a function of lines.
    """
    transformer, cores, found = training.transformer, devices.cores(), {}
    intra = tf.config.threading.get_intra_op_parallelism_threads() or cores
    divisors = [threads for threads in range(1, cores + 1) if cores % threads == 0]
    for rows in batches:
        single = rows == 1
        some = lines[:SINGLE_LINES] if single else lines
        few = lines[: slow_lines if single else 2 * rows]
        workers = {1} if single else {1, training.parts, cores}
        shared = {(1 if single else cores // threads, threads) for threads in divisors} | {(1, 1)}
        for search, beam in (("greedy", 1), (f"beam {BEAM}", BEAM)):
            model = transformer, tokenizer, rows, beam
            found["this project", search, rows] = (
                some, {(n, intra): functools.partial(ours, *model, n) for n in sorted(workers)},
            )  # fmt: skip
            for kind in ("float32", "int8"):
                model = exported, tokenizer, rows, beam, kind
                found[f"CTranslate2 {kind}", search, rows] = (
                    some, {n: functools.partial(ctranslate, *model, *n) for n in sorted(shared)},
                )  # fmt: skip
        model = transformer, tokenizer, rows
        found["PyTorch, no cache", "greedy", rows] = (
            few, {(1, n): functools.partial(pytorch, *model, n) for n in sorted({1, cores})},
        )  # fmt: skip
        for name, in_graph in (("tf.function", True), ("eager", False)) if single else ():
            build = functools.partial(naive, transformer, tokenizer, in_graph)
            found[f"no cache, {name}", "greedy", 1] = few, {(1, intra): build}
    return {key: value for key, value in found.items() if key[0] in only}


def timed(call, *arguments):
    """Returns what a call returns, and its seconds."""
    started = time.perf_counter()
    found = call(*arguments)
    return found, time.perf_counter() - started


def sweep(settings, sample):
    """Returns the fastest of `settings` on the lines of `sample`, as `candidates` has them.

    As (setting, how to translate, seconds of the first call).
    """
    runs, first, fastest = {}, {}, {}
    for setting, build in settings.items():
        runs[setting], loading = timed(build)
        first[setting] = loading + timed(runs[setting], sample)[1]
    if len(runs) > 1:
        for _ in range(2):
            for setting, run in runs.items():
                seconds = timed(run, sample)[1]
                fastest[setting] = min(seconds, fastest.get(setting, seconds))
    best = min(fastest, key=fastest.get) if fastest else next(iter(runs))
    return best, runs[best], first[best]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", required=True, help="folder of a trained run")
    parser.add_argument("--source", help="text to translate (default: the run's test split)")
    parser.add_argument(
        "--lines", type=int, default=1000,
        help=f"to translate; one at a time, at most {SINGLE_LINES} (default 1000)",
    )  # fmt: skip
    parser.add_argument(
        "--slow-lines",
        type=int,
        default=20,
        help="to translate one at a time by systems without a cache (default 20)",
    )
    parser.add_argument(
        "--sweep-lines",
        type=int,
        default=200,
        help="on which settings are compared; at least a batch per core (default 200)",
    )
    parser.add_argument(
        "--batches", type=int, nargs="+", default=[64], metavar="ROWS",
        help="sentences in a batch; 1 is always measured too (default 64)",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="turns of each system (default 5)")
    parser.add_argument(
        "--only", nargs="+", choices=SYSTEMS, metavar="NAME", default=SYSTEMS,
        help=f"measure these systems only, of: {'; '.join(SYSTEMS)}",
    )  # fmt: skip
    args = parser.parse_args()
    if min(args.batches) < 1:
        parser.error("--batches are of 1 sentence or more")

    folder = tempfile.TemporaryDirectory()
    exported = Path(folder.name) / "ctranslate2"
    try:
        _, tokenizer, training = loading.load(args.run)
        options = training.options
        if args.source:
            lines = list(encoding.read_lines(args.source))
        else:
            corpus = run_demo.load_corpus(training.corpus, options["seed"])
            lines = [source.decode() for source, _ in corpus.test.as_numpy_iterator()]
        if any("CTranslate2" in name for name in args.only):
            ctranslate2_model.ctranslate2_model(exported, training.transformer, tokenizer)
    except UserError as error:
        parser.error(str(error))
    lines = [line for line in lines if line.strip()][: args.lines]
    batches = sorted({*args.batches, 1}, reverse=True)

    systems = {}  # by key: (lines, setting, how to translate, seconds of the first call)
    for key, (some, settings) in candidates(
        training, tokenizer, exported, lines, args.slow_lines, batches, args.only
    ).items():
        sample = some[: max(args.sweep_lines, devices.cores() * key[-1])]
        systems[key] = some, *sweep(settings, sample)
        print(f"{key}: ready, threads {systems[key][1]}", file=sys.stderr)

    seconds, outputs = {key: [] for key in systems}, {}
    for number in range(1 + args.rounds):
        for key, (some, _, run, _) in systems.items():
            outputs[key], taken = timed(run, some)
            if number:  # in the first of all, shapes that the sweep has not seen are compiled
                seconds[key].append(taken)
        print(f"round {number} of {args.rounds} done", file=sys.stderr)

    print(f"{len(lines)} lines, {devices.cores()} cores, {args.rounds} rounds\n")
    print(
        "| system | search | batch | threads | sentences/s | to CTranslate2 float32 "
        "| same as this project | first call |"
    )
    print("|---|---|---|---|---|---|---|---|")
    rates = {key: len(systems[key][0]) / statistics.median(taken) for key, taken in seconds.items()}
    for key, rate in rates.items():
        name, search, rows = key
        _, setting, _, first = systems[key]
        other = rates.get(("CTranslate2 float32", search, rows))
        ratio = f"{rate / other:.3f}" if other else ""
        reference = outputs.get(("this project", search, batches[0]), ())
        pairs = list(zip(outputs[key], reference, strict=False))  # some translate fewer lines
        same = f"{sum(a == b for a, b in pairs)} of {len(pairs)}" if pairs else ""
        print(
            f"| {name} | {search} | {rows} | {' x '.join(map(str, setting))} | {rate:,.1f} "
            f"| {ratio} | {same} | {first:.1f} s |"
        )


if __name__ == "__main__":
    main()
