"""What several tests share: a corpus of numbers, small networks, the program, processes."""

import contextlib
import functools
import io
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sentencepiece
import tensorflow as tf
from safetensors.numpy import save_file

import run_demo
import transformer_model as tm
from nmt.corpus.batches import Text
from nmt.corpus.datasets import Dataset
from nmt.corpus.source import CorpusSource
from nmt.decoding.engines.choice import tensorflow_engine
from nmt.decoding.engines.engine import EngineSettings
from nmt.decoding.networks import Networks
from nmt.decoding.restrictions import Restrictions
from nmt.decoding.search import search
from nmt.decoding.search_options import Protecting, SearchOptions
from nmt.decoding.translator import TextOptions, Translator
from nmt.network import marian
from nmt.network.engine import ParallelForward
from nmt.network.keras_layers import dtype_policy_scope
from nmt.network.variants import TransformerVariant, Variant, network_of
from nmt.options import Options
from nmt.runs.validation import new_epochs
from nmt.training import devices
from nmt.training.devices import Devices
from nmt.training.loop import Counters
from nmt.training.step import new_fast_step
from transformer_model import END, PAD, START

ROOT = Path(run_demo.__file__).parent


def source_of(content):
    """Returns the CorpusSource of an object of JSON, in which paths may stand for their names."""
    return CorpusSource.from_json(json.loads(json.dumps(content, default=str)))


def languages_of(content):
    """Returns the languages that are known of a source, as `source_of` takes it."""
    return [*source_of(content).with_known_languages().languages]


PROGRAM = sys.executable, ROOT / "run_demo.py"


# PROGRAM for trainings whose translations nobody looks at: to trace their searches takes seconds.
UNSCORED = """
import runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
from nmt.cli import startup
import_tensorflow = startup.import_tensorflow

def import_and_replace():
    import_tensorflow()
    from nmt.decoding.model import Model
    from nmt.results import calibration, evaluation
    Model.translator = lambda *_, **options: lambda sources: sources
    calibration.MIN_PAIRS = float("inf")
    evaluation.loss_and_accuracy = lambda *_: (0.0, 0.0)

startup.import_tensorflow = import_and_replace
runpy.run_path(sys.argv[0], run_name="__main__")
"""
UNSCORED_PROGRAM = sys.executable, "-c", UNSCORED, ROOT / "run_demo.py"


NUMBERS = "zero one two three four five six seven eight nine".split()


NUMEROS = "zero um dois três quatro cinco seis sete oito nove".split()


TINY = "--num-layers 1 --d-model 16 --dff 32 --num-heads 2 --vocab-size 320 --epochs 2".split()


LEARNING = "--num-layers 1 --d-model 32 --dff 32 --num-heads 2 --vocab-size 320 --epochs 2".split()
LEARNING += "--batch-size 4 --warmup-steps 60 --learning-rate-scale 0.5".split()


def sentences(pairs, seed=0):
    """Returns that many different (source, target) pairs of spelled-out numbers."""
    digits = random.Random(seed).sample(range(10_000), pairs)
    spelled = [[int(digit) for digit in f"{number:04d}"[number % 3 :]] for number in digits]
    return [
        (" ".join(NUMEROS[i] for i in ds) + ".", " ".join(NUMBERS[i] for i in ds) + ".")
        for ds in spelled
    ]


def copy_some_data(folder):
    """Copies 6400 training pairs and 20 test pairs of the bundled data, and sentences to try."""
    (folder / "data" / "pt_en").mkdir(parents=True)
    for path, number in (
        ("sentences_to_try.tsv", None), ("pt_en/train.tsv", 6400), ("pt_en/test.tsv", 20)
    ):  # fmt: skip
        lines = (ROOT / "data" / path).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "data" / path).write_text("".join(lines[:number]), encoding="utf-8")


def write_tsv(path, pairs):
    """Writes pairs to a .tsv. Returns its path."""
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    return path


def as_dataset(pairs):
    """Returns pairs of strings as a Dataset."""
    pairs = [*pairs]
    return Dataset(lambda: iter(pairs), len(pairs))


def in_graph(tokenizer, text):
    """Returns the ids of a string by the Tokenizer of exported graphs."""
    from nmt.exports.graph_tokenizer import GraphTokenizer, normal

    return GraphTokenizer(tokenizer).encode_normal(normal(tf.constant([text]))).to_list()[0]


def call(*arguments):
    """Runs the program in this process. Returns its exit code."""
    return run_demo.main([str(argument) for argument in arguments])


def output_of(capsys, *command):
    """Runs a command. Returns what it prints."""
    capsys.readouterr()
    assert call(*command) == 0
    return capsys.readouterr().out


def refused(capsys, *command):
    """Runs a command that ends in one line on what the user can mend. Returns the line."""
    capsys.readouterr()
    assert call(*command) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    (line,) = (line for line in said.splitlines() if "run_demo.py: " in line)
    return line


def change_parameters(run, **values):
    """Changes values in the params.json of a run. Returns those that it had."""
    path = run / "params.json"
    saved = json.loads(path.read_text())
    path.write_text(json.dumps(saved | values))
    return saved


# ---- Processes: as a user starts them, and none outlives its test ----

ROUNDING = {"TF_ENABLE_ONEDNN_OPTS": "0"}  # where numbers must be those of this process
STARTED = []  # by the test that runs


def user_environment(**variables):
    """Returns the environment of a process: PATH, HOME, LANG, and `variables`.

    Users have nothing else of what the machine that runs the tests may set: PYTHONUNBUFFERED,
    TF_*, CI, COLUMNS.
    """
    names = [name for name in ("PATH", "HOME", "LANG") if name in os.environ]
    return {name: os.environ[name] for name in names} | variables


def process_options(command, variables, options):
    """Returns the arguments of subprocess.Popen; see `run_process`."""
    command = ["bash", "-c", command] if isinstance(command, str) else [*map(str, command)]
    environment = user_environment(**variables or {})
    return dict(args=command, env=environment, stdin=subprocess.DEVNULL) | options


def run_process(command, variables=None, **options):
    """Runs a process to its end. Returns its subprocess.CompletedProcess, with text.

    Args:
      command: a list of words, or a line for bash.
      variables: of its environment, beside those of `user_environment`.
      options: of subprocess.run.
    """
    options = dict(capture_output=True, encoding="utf-8") | options
    return subprocess.run(**process_options(command, variables, options))


def lines_of_tensorflow(stderr):
    """Returns the lines of stderr that TensorFlow and its libraries have written."""
    expression = re.compile(r"absl|\.cc:|\.py:\d|^[IWEF]\d{4} |Warning")
    return [line for line in stderr.splitlines() if expression.search(line)]


def start_process(command, variables=None, **options):
    """Starts a process, which is killed after the test if it still runs. Returns the Popen.

    Without `with`, which would wait for the process where the test fails.

    Args:
      command, variables: as of `run_process`.
      options: of subprocess.Popen.
    """
    process = start_lasting_process(command, variables, **options)
    STARTED.append(process)
    return process


def start_lasting_process(command, variables=None, **options):
    """Starts a process that several tests share. Returns the Popen, which the caller ends."""
    return subprocess.Popen(**process_options(command, variables, options))


def kill_started():
    """Kills the processes that the test has left running."""
    while STARTED:
        process = STARTED.pop()
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(AttributeError, OSError):  # none; unwritten text
                stream.close()
        process.wait()


# ---- Networks of random weights ----

SIZES = dict(
    num_layers=2, d_model=8, num_heads=2, dff=16, input_vocab_size=11, target_vocab_size=13
)

# Three sources of 5, 3 and 4 tokens; PAD fills the rest.
INP = np.array([[4, 9, 5, 10, 6], [7, 4, 8, 0, 0], [5, 5, 10, 9, 0]], np.int32)


def randomized(layer, seed=2):
    """Draws every weight of a built layer at random, so that outputs depend on every input.

    Vectors vary less than matrices: large biases would drown what they are added to. Returns the
    layer.
    """
    rng = np.random.default_rng(seed)
    layer.set_weights(
        [
            rng.normal(w.path.endswith("gamma"), 0.5 if len(w.shape) > 1 else 0.1, w.shape)
            for w in layer.weights
        ]
    )
    return layer


def small_transformer(seed=2, **options):
    """Returns a Transformer of random weights.

    Args:
      options: replace some of SIZES, or are of a Variant, or `dtype`, a dtype policy.
    """
    sizes = {**SIZES, **options}
    with dtype_policy_scope(sizes.pop("dtype", "float32")):
        variant = Variant(**{name: sizes.pop(name) for name in Variant._fields if name in sizes})
        model = network_of(variant, **sizes)
    model.build(((None, None), (None, None)))
    return randomized(model, seed)


def transformer_for(tokenizer, **options):
    """Returns a Transformer of random weights for a Tokenizer; see `small_transformer`."""
    sizes = tokenizer.vocab_size, tokenizer.target.vocab_size
    return small_transformer(input_vocab_size=sizes[0], target_vocab_size=sizes[1], **options)


def network_for(tokenizer, end=3, **options):
    """Returns a Transformer of random weights for the ids of a tokenizer.

    Args:
      end: added to the logits of END: translations end early, or, if it is negative, late.
      options: of `small_transformer`.
    """
    sizes = dict.fromkeys(("input_vocab_size", "target_vocab_size"), tokenizer.vocab_size)
    network = small_transformer(**dict(num_layers=1, d_model=16, dff=32) | options, **sizes)
    kernel, bias = network.final_layer.get_weights()
    bias[END] += end
    network.final_layer.set_weights([kernel, bias])
    return network


@functools.cache
def biased_transformer(seed=18, target_vocab_size=13, **biases):
    """Returns a Transformer of one layer whose logits have these biases for END, PAD and START.

    With the default seed, some of its searches end early and some at the limit. Tests share it, so
    none may change it.
    """
    model = small_transformer(seed, num_layers=1, target_vocab_size=target_vocab_size)
    kernel, bias = model.final_layer.get_weights()
    for token, value in biases.items():
        bias[getattr(tm, token)] = value
    model.final_layer.set_weights([kernel, bias])
    return model


@functools.cache
def graph_of(model):
    """Returns a function of ids (B, S), (B, T): a Transformer's logits (B, T, V) by one pass.

    As a graph, which is traced once and then takes a twentieth of the time.
    """
    ids = tf.TensorSpec((None, None), tf.int32)
    return tf.function(lambda inp, tar: model((inp, tar))[0], [ids, ids])


class GraphTransformer:
    """What `greedy_translate` needs of a Transformer, with its logits by `graph_of`."""

    def __init__(self, model):
        self.config, self.logits = model.config, graph_of(model)

    def __call__(self, pair, training=False):
        return self.logits(*pair), None


class Candidate(NamedTuple):
    """One hypothesis of a search."""

    ids: tuple  # without padding
    score: float
    log_probability: float
    finished: bool


def find(model, inp, beam=1, n_best=1, **restrictions):
    """Returns the Hypotheses of a search for source ids, given fields of Restrictions."""
    options = SearchOptions(beam=beam, n_best=n_best)
    return search(model, tf.convert_to_tensor(inp), options, Restrictions(**restrictions))


def hypotheses_of(results):
    """Returns search.Hypotheses as lists of Candidate, one list per source, best first."""
    fields = [field.numpy() for field in results[:4]]
    return [
        [
            Candidate(tuple(ids[ids != PAD].tolist()), score, total, finished)
            for ids, score, total, finished in zip(*row, strict=True)
        ]
        for row in zip(*fields, strict=True)
    ]


def make_translator(
    transformer,
    tokenizer,
    *,
    rows=None,
    workers=1,
    ensemble=(),
    language=None,
    symbols=(),
    trained_length=None,
    protect=True,
    patterns=(),
    glossary=None,
    **options,
):
    """Returns the Translator of a Transformer, or of an `ensemble` with others.

    Args:
      transformer, tokenizer, ensemble: of the same vocabulary.
      rows, workers: of EngineSettings.
      language, symbols, trained_length: of TextOptions.
      protect, patterns, glossary: of Protecting.
      options: of SearchOptions.
    """
    engine = tensorflow_engine(
        networks_of(transformer, ensemble),
        SearchOptions(**options),
        EngineSettings(rows, workers),
    )
    protecting = Protecting(protect, patterns, glossary)
    return Translator(engine, tokenizer, protecting, TextOptions(language, symbols, trained_length))


def networks_of(transformer, ensemble=()):
    """Returns the Networks of a Transformer, or of an `ensemble` with others."""
    return Networks(transformer, ParallelForward(transformer), 1, None, None, tuple(ensemble))


def searcher_of(translate):
    """Returns the Searcher of a Translator, whose functions tests replace."""
    return translate.context.engine.searcher


# ---- Trainings ----


class Training:
    """The engine's step of a new network, with the Epochs that it trains."""

    def __init__(self, options, vocab_size, strategy, parts=1):
        counters = Counters.of(strategy)
        self.options, self.strategy, self.total_steps = options, strategy, counters.steps
        self.step = new_fast_step(options, vocab_size, vocab_size, strategy, parts, counters.steps)
        self.transformer, self.optimizer = self.step.transformer, self.step.shared_optimizer
        self.train_batch, self.forward = self.step.train_batch, self.step.forward
        self.epochs = new_epochs(self.step, options, counters, Devices(strategy, parts))
        self.checkpoint, self.validator = self.epochs.checkpoint, self.epochs.validator
        self.model = self.validator.model

    def train_epoch(self, batches, steps, title="", keeper=None):
        """Trains on an epoch's batches from its position on. Returns real tokens per second."""
        for inp, tar in self.epochs.train_on(batches, steps, title, keeper):
            self.step.train_step(inp, tar)
        return self.epochs.rate

    def fit(self, keeper, corpus, tokenizer, batches):
        """Trains all epochs that are left."""
        self.epochs.begin(keeper, Text(corpus, tokenizer, batches))
        with self.epochs as epochs:
            for epoch in epochs:
                for inp, tar in epoch.batches:
                    self.step.train_step(inp, tar)


def tiny_training(parts=1, **changes):
    """Returns a Training of one small layer, without dropout."""
    sizes = dict(num_layers=1, d_model=8, dff=16, num_heads=2, dropout_rate=0.0, warmup_steps=10)
    options = Options.of(given=sizes | dict(vocab_size=20) | changes)
    return Training(options, options.vocab_size, tf.distribute.get_strategy(), parts)


def pretend_epoch(epochs, *_):
    """Stands in for Epochs.train_on: every weight grows, without a step, slow to trace."""
    for weight in epochs.training_step.transformer.trainable_variables:
        weight.assign_add(tf.fill(weight.shape, 0.01))
    epochs.training_step.optimizer.iterations.assign_add(5)
    epochs.sums_so_far.assign([9.0, 1.0, 3.0])
    epochs.rate = 1.0  # token per second
    yield from ()


def random_batches(number, rows=8, length=9):
    """Returns batches (B, S), (B, T) of ids under 20 with padding, some rows all of it."""
    rng = np.random.default_rng(4)
    batches = []
    for _ in range(number):
        ids = rng.integers(4, 20, (2, rows, length)).astype(np.int32)
        ends = rng.integers(2, length, (2, rows, 1))
        ids = np.where(np.arange(length) < ends, ids, PAD)
        ids = np.where(np.arange(length) == ends, END, ids)
        ids[:, :, 0], ids[:, -1] = START, PAD
        batches.append(tuple(map(tf.constant, ids)))
    return batches


def figures(*rows):
    """Returns the history of epochs whose validation BLEU and loss are given."""
    return [
        dict(epoch=epoch, val_bleu=bleu, val_loss=loss)
        for epoch, (bleu, loss) in enumerate(rows, start=1)
    ]


def of_epoch(training, batches, steps):
    """Returns the mean loss and accuracy of an epoch that is trained."""
    training.train_epoch(devices.distribute(training.strategy, batches), steps)
    training.epochs.position.assign(0)
    loss, hits, tokens = training.epochs.sums_so_far.numpy()
    return float(loss / tokens), float(hits / tokens)


# ---- Translators of documents: without a network, with links that are known ----


class Translated(NamedTuple):
    text: str
    links: list | None
    confidence: float | None = None


def identity(texts):
    """Returns the texts."""
    return [Translated(text, None) for text in texts]


def upper(texts):
    """Returns the texts in capitals; each word is linked to itself."""
    return [Translated(text.upper(), [(i, i) for i in range(len(text.split()))]) for text in texts]


def backwards(texts):
    """Returns the texts in capitals, their words in reverse order."""
    translations = []
    for text in texts:
        words = text.upper().split()
        links = [(i, len(words) - 1 - i) for i in range(len(words))]
        translations.append(Translated(" ".join(reversed(words)), links))
    return translations


# ---- Pages in Chromium ----


class BrowserPage:
    """A page that Chromium shows."""

    def __init__(self, driver):
        self.driver = driver

    def ask(self, script, *arguments):
        """Returns what a script in the page returns."""
        return self.driver.execute_script(script, *arguments)

    def wait_for(self, script, *arguments):
        """Returns what a script returns, once that is true."""
        until = time.monotonic() + 60  # seconds, on a busy machine
        while not (value := self.ask(script, *arguments)):
            assert time.monotonic() < until, script
            time.sleep(0.02)
        return value

    def texts(self, selector):
        """Returns the texts of the elements that a CSS selector chooses."""
        script = "return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)"
        return self.ask(script, selector)

    def resize(self, width, height=844):
        """Makes the page as wide as on a phone, or wider."""
        metrics = dict(width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


# The color of each text that is visible, and of the backgrounds behind it, from the inside out.
TEXT_COLORS = """
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), result = [];
while (texts.nextNode()) {
  const text = texts.currentNode.data.trim(), parent = texts.currentNode.parentElement, behind = [];
  if (!text || !parent.checkVisibility() || parent.closest("option, :disabled")) continue;
  for (let one = parent; one; one = one.parentElement) {
    behind.push(getComputedStyle(one).backgroundColor);
  }
  result.push([text, getComputedStyle(parent).color, behind]);
}
return result;
"""


def over(color, background):
    """Returns "rgb(r, g, b)" or "rgba(r, g, b, a)" over an opaque color, as r, g and b."""
    *values, opacity = [*map(float, re.findall(r"[\d.]+", color)), 1.0][:4]
    return np.array(values) * opacity + background * (1 - opacity)


def luminance(color):
    """Returns the relative luminance of a color (WCAG 2.1)."""
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in color / 255]
    return np.dot(linear, (0.2126, 0.7152, 0.0722))


def check_contrasts(driver, scheme):
    """Checks that all text of a page is readable, on a background that is "light" or "dark".

    Returns the texts.
    """
    texts = driver.execute_script(TEXT_COLORS)
    for text, color, behind in texts:
        background = np.zeros(3)
        for layer in reversed(behind):
            background = over(layer, background)
        light = sorted([luminance(over(color, background)), luminance(background)])
        assert (light[1] + 0.05) / (light[0] + 0.05) >= 4.5, (text, color, behind)  # WCAG 1.4.3
    assert (luminance(background) > 0.5) == (scheme == "light")
    return [text for text, *_ in texts]


# ---- Folders of Marian models as transformers stores them, made without it: random weights ----

MARIAN_TAGS = (">>por<<", ">>nld<<")
MARIAN_WIDTH = 16


def unigram_model(lines, entries):
    """Returns a SentencePiece model of unigrams, as OPUS-MT has them."""
    output = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=output, vocab_size=entries, minloglevel=2,
        hard_vocab_limit=False,
    )  # fmt: skip
    return output.getvalue()


def pieces_of(model):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(number) for number in range(3, processor.vocab_size())]


def marian_configuration(entries, target_entries, **changes):
    """Returns config.json, as that of OPUS-MT but for the sizes."""
    sizes = dict(layers=1, attention_heads=2, ffn_dim=24)
    stacks = {f"{stack}_{k}": v for stack in ("encoder", "decoder") for k, v in sizes.items()}
    return {
        "architectures": ["MarianMTModel"], "model_type": "marian", "d_model": MARIAN_WIDTH,
        **stacks,
        "vocab_size": entries, "decoder_vocab_size": target_entries, "dropout": 0.1,
        "activation_function": "swish", "scale_embedding": True, "normalize_before": False,
        "normalize_embedding": False, "static_position_embeddings": True,
        "max_position_embeddings": 512, "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True, "pad_token_id": entries - 1, "bos_token_id": 0,
        "eos_token_id": 0, "decoder_start_token_id": entries - 1, "init_std": 0.1,
    } | changes  # fmt: skip


def marian_weights(config):
    """Returns random tensors by the names of transformers, PAD's embedding 0."""
    tied = config["share_encoder_decoder_embeddings"]
    network = TransformerVariant(
        config["encoder_layers"], config["d_model"], config["encoder_attention_heads"],
        config["encoder_ffn_dim"], config["vocab_size"], config["decoder_vocab_size"],
        tie_embeddings=tied, decoder_layers=config["decoder_layers"], logits_bias=tied,
    )  # fmt: skip
    network.build(((None, None), (None, None)))
    tensors = {
        tensor.name: tensor.to_transformers() for tensor in marian.tensors(randomized(network))
    }
    tensors["final_logits_bias"] = tensors["final_logits_bias"].reshape(1, -1)
    for name, tensor in tensors.items():
        if "embed" in name or "shared" in name:
            tensor[-1] = 0
    return tensors


def write_marian_folder(path, tags=(), separate=False, without=0, **changes):
    """Writes a folder of a model. Returns its path.

    Args:
      path: of the new folder.
      tags: of its target languages, if it has several.
      separate: whether each language has a vocabulary of its own.
      without: of so many pieces, the table of ids lacks one; 0 for none.
      changes: of config.json.
    """
    path.mkdir(parents=True)
    pairs = sentences(200)
    models = [unigram_model(side, 60) for side in zip(*pairs, strict=True)]
    kept = [
        [p for n, p in enumerate(pieces_of(m), 1) if not without or n % without] for m in models
    ]
    if separate:
        tables = [["</s>", "<unk>", *side] for side in kept]
        size = max(map(len, tables)) + 1  # of both, so that PAD and START have one id
        tables = [[*t, *(f"_{n}" for n in range(size - 1 - len(t))), "<pad>"] for t in tables]
    else:
        tables = [["</s>", "<unk>", *tags, *dict.fromkeys(kept[0] + kept[1]), "<pad>"]]
    config = marian_configuration(*map(len, (tables[0], tables[-1])), **changes)
    if separate:
        config |= {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False}
    files = {"config.json": config}
    for name, table in zip(("vocab.json", "target_vocab.json"), tables, strict=False):
        files[name] = {piece: number for number, piece in enumerate(table)}
    pad = config["pad_token_id"]
    files["generation_config.json"] = {
        "num_beams": 4, "bad_words_ids": [[pad]], "pad_token_id": pad, "eos_token_id": 0,
        "decoder_start_token_id": pad,
    }  # fmt: skip
    files["tokenizer_config.json"] = {
        "source_lang": "no", "target_lang": "en", "separate_vocabs": separate,
        "tokenizer_class": "MarianTokenizer",
    }  # fmt: skip
    for name, content in files.items():
        (path / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    for name, model in zip(("source.spm", "target.spm"), models, strict=True):
        (path / name).write_bytes(model)
    save_file(marian_weights(config), path / "model.safetensors", {"format": "pt"})
    (path / "README.md").write_text("---\nlanguage: no\nlicense: cc-by-4.0\n---\n# model\n")
    return path


def ids_of_transformers(side, ids):
    """Returns ids as transformers has them, of a Side of the vocabulary."""
    return [side.rows[number] for number in np.asarray(ids).tolist()]
