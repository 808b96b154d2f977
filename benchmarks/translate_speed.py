"""How fast a trained run translates, compared with other systems with the same weights.

    pip install -e ".[benchmarks]"
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
import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # as `run_demo.py translate` sets it
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.decoding import translator
from nmt.decoding.engines.choice import CTRANSLATE2, TENSORFLOW
from nmt.decoding.padding import pad
from nmt.decoding.search_options import SearchOptions
from nmt.exports import ctranslate2_model
from nmt.exports.exported_model import Export
from nmt.network.variants import sizes_of
from nmt.runs import loading
from nmt.runs.loading import EngineChoice
from nmt.runs.run_corpus import load_corpus_of
from nmt.text import encoding
from nmt.training import devices
from transformer_model import END, PAD, START, create_masks, positional_encoding

BEAM = 4
SINGLE_LINES = 200  # at most, where sentences are translated one at a time
SYSTEMS = (
    "this project", "this project int8", "this project, TensorFlow",
    "CTranslate2 float32", "CTranslate2 int8",
    "PyTorch, no cache", "no cache, tf.function", "no cache, eager",
)  # fmt: skip
ENGINES = {  # of this project, by system
    "this project": EngineChoice(CTRANSLATE2),
    "this project int8": EngineChoice(CTRANSLATE2, "int8"),
    "this project, TensorFlow": EngineChoice(TENSORFLOW),
}

Translate = Callable[[list[str]], list[str]]  # lines to their translations


class Setting(NamedTuple):
    """How a system uses the cores."""

    batches: int  # in parallel
    threads: int  # of each batch


class Key(NamedTuple):
    """What a row of the table is about."""

    system: str
    search: str
    rows: int  # of a batch


class Candidate(NamedTuple):
    """A system that is to be measured."""

    lines: list[str]
    builders: dict[Setting, Callable[[], Translate]]


class System(NamedTuple):
    """A system with its best setting."""

    lines: list[str]
    setting: Setting
    translate: Translate
    first_call: float  # seconds


def batched(ids, rows):
    """Yields lists of `rows` indices into `ids`, the longest first."""
    order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
    for start in range(0, len(order), rows):
        yield order[start : start + rows]


# ---- This project, and the tutorial's loop ----


def this_project(run, engine, rows, beam, workers):
    """This project as shipped, from text to text, with protection of what must not change."""
    _, tokenizer, model = loading.load(run, engine=engine)
    options = SearchOptions(beam, length_penalty=0.0)
    translate = model.translator(tokenizer, options, rows=rows, workers=workers)
    chunk_lines = translator.CHUNK_LINES if rows > 1 else 1

    def run(lines):
        return [best[0].text for best in translate.hypotheses(lines, chunk_lines, scored=False)]

    return run


def without_cache(transformer, tokenizer, in_graph):
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
        translations = []
        for line in lines:
            (source,) = tokenizer.encode([line])
            inp, tar = tf.constant([source]), tf.constant([[START]])
            enc_output = encode(inp)
            while int(tar[0, -1]) != END and tar.shape[1] <= len(source) + 50:
                tar = step(inp, tar, enc_output)
            translations += tokenizer.decode(tar.numpy())
        return translations

    return run


# ---- PyTorch ----


def torch_tensor(*values):
    """Returns Keras variables, joined along their last axis, as a tensor."""
    import torch

    return torch.tensor(np.concatenate([np.asarray(value) for value in values], axis=-1))


def copy_dense(linear, layer):
    """Copies the weights of a Keras Dense layer into a torch.nn.Linear."""
    linear.weight.data, linear.bias.data = torch_tensor(layer.kernel).T, torch_tensor(layer.bias)


def copy_attention(attention, mha):
    """Copies the weights of a MultiHeadAttention into a torch.nn.MultiheadAttention."""
    projections = (mha.wq, mha.wk, mha.wv)
    attention.in_proj_weight.data = torch_tensor(*(dense.kernel for dense in projections)).T
    attention.in_proj_bias.data = torch_tensor(*(dense.bias for dense in projections))
    copy_dense(attention.out_proj, mha.dense)


def copy_norm(norm, layer):
    """Copies the weights of a LayerNormalization into a torch.nn.LayerNorm."""
    norm.weight.data, norm.bias.data = torch_tensor(layer.gamma), torch_tensor(layer.beta)


def copy_layer(torch_layer, layer):
    """Copies the weights of an EncoderLayer or DecoderLayer into PyTorch's."""
    is_decoder = hasattr(layer, "mha2")
    copy_attention(torch_layer.self_attn, layer.mha1 if is_decoder else layer.mha)
    if is_decoder:
        copy_attention(torch_layer.multihead_attn, layer.mha2)
        copy_norm(torch_layer.norm3, layer.layernorm3)
    copy_dense(torch_layer.linear1, layer.ffn.layers[0])
    copy_dense(torch_layer.linear2, layer.ffn.layers[-1])
    copy_norm(torch_layer.norm1, layer.layernorm1)
    copy_norm(torch_layer.norm2, layer.layernorm2)


def torch_transformer(transformer):
    """Returns a torch.nn.Transformer with the weights of a Transformer."""
    import torch

    sizes = sizes_of(transformer)
    model = torch.nn.Transformer(
        sizes["d_model"], sizes["num_heads"], sizes["num_layers"], sizes["decoder_layers"],
        sizes["dff"], dropout=0.0, layer_norm_eps=1e-6, batch_first=True,
        norm_first=sizes["pre_norm"],
    ).eval()  # fmt: skip
    for stack, layers in (
        (model.encoder, transformer.encoder.enc_layers),
        (model.decoder, transformer.decoder.dec_layers),
    ):
        for torch_layer, layer in zip(stack.layers, layers, strict=True):
            copy_layer(torch_layer, layer)
    if sizes["pre_norm"]:
        copy_norm(model.encoder.norm, transformer.encoder.layernorm)
        copy_norm(model.decoder.norm, transformer.decoder.layernorm)
    else:
        model.encoder.norm = model.decoder.norm = None
    return model


def torch_logits(transformer):
    """Returns the layer of PyTorch that computes logits, with the weights of a Transformer's."""
    import torch

    sizes = sizes_of(transformer)
    tied = sizes["tie_embeddings"]
    final = torch.nn.Linear(sizes["d_model"], sizes["target_vocab_size"], bias=not tied)
    if tied:
        final.weight.data = torch_tensor(transformer.decoder.embedding.embeddings)
    else:
        copy_dense(final, transformer.final_layer)
    return final


def pytorch(transformer, tokenizer, rows, threads):
    """torch.nn.Transformer, its whole decoder run for each token: it has no cache."""
    import torch

    width = transformer.config["d_model"]
    model, final = torch_transformer(transformer), torch_logits(transformer)
    source_table, target_table = (
        torch_tensor(stack.embedding.embeddings) * width**0.5
        for stack in (transformer.encoder, transformer.decoder)
    )
    positions = torch_tensor(positional_encoding(2048, width)[0])

    def search(sources):
        """Lists of ids -> rows of generated ids, START first, PAD after END."""
        inp = torch.tensor(pad(sources), dtype=torch.long)
        is_pad = inp == PAD
        memory = model.encoder(
            source_table[inp] + positions[: inp.shape[1]], src_key_padding_mask=is_pad
        )
        tar = torch.full((len(sources), 1), START)
        limits = torch.tensor([len(source) + 50 for source in sources])
        ended = torch.zeros(len(sources), dtype=torch.bool)
        while not ended.all():
            length = tar.shape[1]
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            output = model.decoder(
                target_table[tar] + positions[:length], memory,
                tgt_mask=future, memory_key_padding_mask=is_pad,
            )  # fmt: skip
            token = final(output[:, -1]).argmax(-1).masked_fill(ended, PAD)
            tar = torch.cat([tar, token[:, None]], 1)
            ended |= (token == END) | (length >= limits)
        return tar.tolist()

    @torch.inference_mode()
    def run(lines):
        torch.set_num_threads(threads)  # of the process, so before each call
        ids = tokenizer.encode(lines)
        generated = [None] * len(ids)
        for batch in batched(ids, rows):
            for i, row in zip(batch, search([ids[i] for i in batch]), strict=True):
                generated[i] = [token for token in row if token != PAD]
        return tokenizer.processor.decode(generated)

    return run


# ---- CTranslate2 ----


def ctranslate(folder, tokenizer, rows, beam, compute_type, setting):
    """CTranslate2, on the exported run."""
    import ctranslate2

    model = ctranslate2.Translator(
        str(folder), device="cpu", compute_type=compute_type,
        inter_threads=setting.batches, intra_threads=setting.threads,
    )  # fmt: skip

    def run(lines):
        translations = []
        for call in [lines] if rows > 1 else [[line] for line in lines]:
            results = model.translate_batch(
                tokenizer.processor.encode(call, out_type=str),  # it adds START and END
                beam_size=beam, length_penalty=0.0, max_batch_size=rows,
                max_decoding_length=ctranslate2_model.MAX_TOKENS,
            )  # fmt: skip
            translations += tokenizer.processor.decode([best.hypotheses[0] for best in results])
        return translations

    return run


# ---- What is measured, and with which settings ----


def candidates(run, training, tokenizer, exported, lines, slow_lines, batches):
    """Returns all Candidates by Key.

    Systems without a cache translate `slow_lines` one at a time. Of `batches`, 1 is a sentence at a
    time.
    """
    transformer, cores = training.transformer, devices.cores()
    intra = tf.config.threading.get_intra_op_parallelism_threads() or cores
    systems = {}
    for rows in batches:
        is_single = rows == 1
        fast_lines = lines[:SINGLE_LINES] if is_single else lines
        few_lines = lines[: slow_lines if is_single else 2 * rows]
        workers = [1] if is_single else sorted({1, cores})
        for search, beam in (("greedy", 1), (f"beam {BEAM}", BEAM)):
            for name, engine in ENGINES.items():
                systems[Key(name, search, rows)] = Candidate(fast_lines, {
                    Setting(n, intra if engine.name == TENSORFLOW else 1): functools.partial(
                        this_project, run, engine, rows, beam, n
                    )
                    for n in workers
                })  # fmt: skip
            for kind in ("float32", "int8"):
                systems[Key(f"CTranslate2 {kind}", search, rows)] = Candidate(fast_lines, {
                    setting: functools.partial(
                        ctranslate, exported, tokenizer, rows, beam, kind, setting
                    )
                    for setting in shared_cores(cores, is_single)
                })  # fmt: skip
        systems[Key("PyTorch, no cache", "greedy", rows)] = Candidate(few_lines, {
            Setting(1, n): functools.partial(pytorch, transformer, tokenizer, rows, n)
            for n in sorted({1, cores})
        })  # fmt: skip
        for name, in_graph in (("tf.function", True), ("eager", False)) if is_single else ():
            build = functools.partial(without_cache, transformer, tokenizer, in_graph)
            systems[Key(f"no cache, {name}", "greedy", 1)] = Candidate(
                few_lines, {Setting(1, intra): build}
            )
    return systems


def shared_cores(cores, is_single):
    """Returns the Settings that share all cores evenly, and that of one core."""
    divisors = [threads for threads in range(1, cores + 1) if cores % threads == 0]
    settings = {Setting(1 if is_single else cores // threads, threads) for threads in divisors}
    return sorted(settings | {Setting(1, 1)})


def timed(call, *arguments):
    """Returns what a call returns, and its seconds."""
    started = time.perf_counter()
    result = call(*arguments)
    return result, time.perf_counter() - started


def sweep(candidate, sample_lines):
    """Returns a Candidate's fastest setting on its first lines, as a System."""
    sample = candidate.lines[:sample_lines]
    translates, first_calls, fastest = {}, {}, {}
    for setting, build in candidate.builders.items():
        translates[setting], loading_seconds = timed(build)
        first_calls[setting] = loading_seconds + timed(translates[setting], sample)[1]
    if len(translates) > 1:
        for _ in range(2):
            for setting, translate in translates.items():
                _, seconds = timed(translate, sample)
                fastest[setting] = min(seconds, fastest.get(setting, seconds))
    best = min(fastest, key=fastest.get) if fastest else next(iter(translates))
    return System(candidate.lines, best, translates[best], first_calls[best])


def measure(systems, rounds):
    """Returns, by Key, the seconds of each round, and the translations."""
    seconds, outputs = {key: [] for key in systems}, {}
    for number in range(1 + rounds):
        for key, system in systems.items():
            outputs[key], turn = timed(system.translate, system.lines)
            if number:  # in the first of all, shapes that the sweep has not seen are compiled
                seconds[key].append(turn)
        print(f"round {number} of {rounds} done", file=sys.stderr)
    return seconds, outputs


def print_table(systems, seconds, outputs):
    """Prints a row for each system."""
    print(
        "| system | search | batch | threads | sentences/s | to CTranslate2 float32 "
        "| same as this project | first call |"
    )
    print("|---|---|---|---|---|---|---|---|")
    rates = {key: len(systems[key].lines) / statistics.median(seconds[key]) for key in systems}
    most_rows = max(key.rows for key in systems)
    for key, system in systems.items():
        baseline = rates.get(key._replace(system="CTranslate2 float32"))
        ratio = f"{rates[key] / baseline:.3f}" if baseline else ""
        reference = outputs.get(Key("this project", key.search, most_rows), ())
        pairs = list(zip(outputs[key], reference, strict=False))  # some translate fewer lines
        same = f"{sum(a == b for a, b in pairs)} of {len(pairs)}" if pairs else ""
        threads = f"{system.setting.batches} x {system.setting.threads}"
        print(
            f"| {key.system} | {key.search} | {key.rows} | {threads} | {rates[key]:,.1f} "
            f"| {ratio} | {same} | {system.first_call:.1f} s |"
        )


# ---- The program ----


def parse_flags():
    """Returns the parser of the flags, and their values."""
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
        "--slow-lines", type=int, default=20,
        help="to translate one at a time by systems without a cache (default 20)",
    )  # fmt: skip
    parser.add_argument(
        "--sweep-lines", type=int, default=200,
        help="on which settings are compared; at least a batch per core (default 200)",
    )  # fmt: skip
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
    return parser, args


def load_lines(args, run):
    """Returns the lines of --source, or of the run's test split; those that are not blank."""
    if args.source:
        lines = encoding.read_lines(args.source)
    else:
        corpus = load_corpus_of(run, "test")
        lines = (source for source, _ in corpus.test)
    return [line for line in lines if line.strip()][: args.lines]


def main():
    parser, args = parse_flags()
    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "ctranslate2"
        try:
            run, tokenizer, training = loading.load(args.run)
            lines = load_lines(args, run)
            if any("CTranslate2" in name for name in args.only):
                ctranslate2_model.write(exported, Export(training.transformer, tokenizer))
        except UserError as error:
            parser.error(str(error))
        gc.freeze()  # TensorFlow's objects, which `run_demo.py translate` has none of
        batches = sorted({*args.batches, 1}, reverse=True)
        systems = {}
        for key, candidate in candidates(
            run, training, tokenizer, exported, lines, args.slow_lines, batches
        ).items():
            if key.system in args.only:
                sample_lines = max(args.sweep_lines, devices.cores() * key.rows)
                systems[key] = sweep(candidate, sample_lines)
                print(f"{key}: ready, {systems[key].setting}", file=sys.stderr)
        seconds, outputs = measure(systems, args.rounds)
    print(f"{len(lines)} lines, {devices.cores()} cores, {args.rounds} rounds\n")
    print_table(systems, seconds, outputs)


if __name__ == "__main__":
    main()
