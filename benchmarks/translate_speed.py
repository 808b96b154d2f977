"""How fast a trained run translates, beside other systems with the same weights.

    pip install -r benchmarks/requirements.txt
    python benchmarks/translate_speed.py --run runs/bundled [--source FILE] [--lines 1000]

Every system gets the same tokens and the same weights, and is timed in turn, round after round, in
one process; loading and compiling come before and are reported apart. Prints a markdown table:
sentences a second (median of the rounds), the ratio to CTranslate2 in float32 of the same search
and batch, and how many translations are the same as ours. Beam search runs at alpha 0, for
there the rankings agree. The slowest systems translate only as many lines as --slow-lines.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as run_demo.py has it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ctranslate2
import numpy as np
import tensorflow as tf
import torch

import run_demo
from beyond import corpora, devices, export, translator
from transformer_model import END, PAD, START, create_masks, positional_encoding

BEAM = 4
CORES = devices.cores()
translator.COMPILE_AFTER = 0  # as a server that has run for a while


def batched(ids, rows):
    """Yields lists of `rows` indices into `ids`, the longest first."""
    order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
    for start in range(0, len(order), rows):
        yield order[start : start + rows]


def ours(transformer, tokenizer, rows, beam):
    """This project as shipped; single sentences one after the other, compiled from the first on."""
    workers = min(CORES, devices.MOST_PARTS) if rows > 1 else 1
    found = translator.Translator(
        transformer, tokenizer, run_demo.say, beam, alpha=0.0, rows=rows, workers=workers
    )
    at_a_time = translator.CHUNK_LINES if rows > 1 else 1
    return lambda lines, _: [best[0][0] for best in found.hypotheses(lines, at_a_time)]


def naive(transformer, tokenizer, in_graph):
    """The tutorial's loop: the whole decoder again for each token, a sentence at a time."""

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
        vectors = tf.TensorSpec((1, None, transformer.sizes["d_model"]))
        step = tf.function(step, input_signature=(ids, ids, vectors))
        encode = tf.function(encode, input_signature=(ids,))

    def run(lines, ids):
        found = []
        for source in ids:
            inp, tar = tf.constant([source]), tf.constant([[START]])
            enc_output = encode(inp)
            while int(tar[0, -1]) != END and tar.shape[1] <= len(source) + 50:
                tar = step(inp, tar, enc_output)
            found.append(tar[0].numpy().tolist())
        return tokenizer.processor.decode(found)

    return run


def pytorch(transformer, tokenizer, rows):
    """torch.nn.Transformer with our weights, its decoder run again for each token, as is usual."""
    sizes = transformer.sizes
    model = torch.nn.Transformer(
        sizes["d_model"], sizes["num_heads"], sizes["num_layers"], sizes["num_layers"],
        sizes["dff"], dropout=0.0, layer_norm_eps=1e-6, batch_first=True,
    ).eval()  # fmt: skip
    model.encoder.norm = model.decoder.norm = None  # post-norm needs none at the end

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
            dense(its.linear2, layer.ffn.layers[1])
            norm(its.norm1, layer.layernorm1)
            norm(its.norm2, layer.layernorm2)
    final = torch.nn.Linear(sizes["d_model"], sizes["target_vocab_size"])
    dense(final, transformer.final_layer)
    scale = sizes["d_model"] ** 0.5
    source_table = tensor(transformer.encoder.embedding.embeddings) * scale
    target_table = tensor(transformer.decoder.embedding.embeddings) * scale
    positions = tensor(positional_encoding(2048, sizes["d_model"])[0])

    @torch.inference_mode()
    def run(lines, ids):
        found = [None] * len(ids)
        for batch in batched(ids, rows):
            inp = torch.tensor(translator.pad([ids[i] for i in batch]), dtype=torch.long)
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


def ctranslate(folder, tokenizer, rows, beam, compute_type):
    """CTranslate2, on the exported run; a core a batch, which is the fastest of what it offers."""
    model = ctranslate2.Translator(
        str(folder), device="cpu", compute_type=compute_type,
        inter_threads=CORES if rows > 1 else 1, intra_threads=1,
    )  # fmt: skip
    vocabulary = tokenizer.tokens(range(tokenizer.vocab_size))
    number = {token: n for n, token in enumerate(vocabulary)}

    def run(lines, ids):
        tokens = [[vocabulary[i] for i in row[1:-1]] for row in ids]  # it adds START and END
        calls = [tokens] if rows > 1 else [[row] for row in tokens]
        found = [
            best
            for call in calls
            for best in model.translate_batch(
                call, beam_size=beam, length_penalty=0.0, max_batch_size=rows,
                max_decoding_length=export.CTRANSLATE2_LENGTH,
            )
        ]  # fmt: skip
        return tokenizer.processor.decode(
            [[number[t] for t in best.hypotheses[0]] for best in found]
        )

    return run


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", required=True, help="folder of a trained run")
    parser.add_argument("--source", help="text to translate (default: the run's test split)")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--slow-lines", type=int, default=20, help="for the loops without a cache")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    _, tokenizer, training = run_demo.load(args.run)
    transformer, options = training.transformer, training.options
    if args.source:
        lines = list(corpora.read_lines(args.source))
    else:
        corpus = run_demo.load_corpus(options["corpus"], options["seed"])
        lines = [source.decode() for source, _ in corpus.test.as_numpy_iterator()]
    lines = [line for line in lines if line.strip()][: args.lines]
    ids = tokenizer.encode(lines)
    folder = tempfile.TemporaryDirectory()
    exported = Path(folder.name) / "ctranslate2"
    export.ctranslate2(exported, transformer, tokenizer)

    systems = {}  # (name, search, batch): (lines it gets, how to run it)
    for rows in (64, 1):
        for beam in (1, BEAM):
            name = "greedy" if beam == 1 else f"beam {beam}"
            few = lines if rows == 64 or len(lines) < 200 else lines[:200]
            systems["this project", name, rows] = few, ours(transformer, tokenizer, rows, beam)
            for kind in ("float32", "int8"):
                systems[f"CTranslate2 {kind}", name, rows] = (
                    few, ctranslate(exported, tokenizer, rows, beam, kind),
                )  # fmt: skip
    slow = lines[: args.slow_lines]
    systems["PyTorch, no cache", "greedy", 64] = lines[:128], pytorch(transformer, tokenizer, 64)
    systems["PyTorch, no cache", "greedy", 1] = slow, pytorch(transformer, tokenizer, 1)
    systems["no cache, tf.function", "greedy", 1] = slow, naive(transformer, tokenizer, True)
    systems["no cache, eager", "greedy", 1] = slow, naive(transformer, tokenizer, False)

    seconds, first, outputs = {key: [] for key in systems}, {}, {}
    for number in range(1 + args.rounds):
        for key, (some, run) in systems.items():
            started = time.perf_counter()
            outputs[key] = run(some, ids[: len(some)])
            if number:
                seconds[key].append(time.perf_counter() - started)
            else:
                first[key] = time.perf_counter() - started
        print(f"round {number} of {args.rounds} done", file=sys.stderr)

    print(f"{len(lines)} lines, {CORES} cores, {args.rounds} rounds\n")
    print(
        "| system | search | batch | sentences/s | to CTranslate2 float32 | same as ours | first |"
    )
    print("|---|---|---|---|---|---|---|")
    rates = {
        key: len(systems[key][0]) / statistics.median(values) for key, values in seconds.items()
    }
    for key, rate in rates.items():
        name, search, rows = key
        ratio = rate / rates["CTranslate2 float32", search, rows]
        reference = outputs["this project", search, 64][: len(outputs[key])]
        same = sum(a == b for a, b in zip(outputs[key], reference, strict=True))
        print(
            f"| {name} | {search} | {rows} | {rate:,.1f} | {ratio:.3f} "
            f"| {same} of {len(reference)} | {first[key]:.1f} s |"
        )


if __name__ == "__main__":
    main()
