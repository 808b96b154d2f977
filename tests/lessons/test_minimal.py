"""What must hold of lessons/minimal.py: its network is the story's; it learns and translates."""

import ast
import contextlib
import importlib.util
import io
import re
import sys
from typing import NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import ROOT, copy_some_data, randomized, run_process

import transformer_model as story

FILE = ROOT / "lessons" / "minimal.py"
SUBJECTS = {"o gato": "the cat", "a menina": "the girl", "meu pai": "my father"}
VERBS = {"dorme": "sleeps", "come uma maçã": "eats an apple", "não canta": "does not sing"}
PAIRS = [(f"{s} {v}.", f"{SUBJECTS[s]} {VERBS[v]}.") for s in SUBJECTS for v in VERBS]
SOURCES = [source for source, _ in PAIRS]


class Trained(NamedTuple):
    """The lesson, trained in miniature."""

    lesson: object  # the module
    transformer: keras.Model
    tokenizer: object
    output: str  # what it printed


def load_lesson():
    spec = importlib.util.spec_from_file_location("minimal", FILE)
    lesson = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lesson)
    return lesson


def small_lesson(num_layers):
    lesson = load_lesson()
    lesson.NUM_LAYERS, lesson.D_MODEL, lesson.NUM_HEADS, lesson.DFF = num_layers, 32, 4, 48
    lesson.VOCAB_SIZE, lesson.BATCH_SIZE, lesson.EPOCHS, lesson.WARMUP_STEPS = 72, 6, 6, 300
    lesson.MAX_TOKENS = 12
    return lesson


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    lesson = small_lesson(num_layers=1)
    lesson.DATA, lesson.EXAMPLE = tmp_path_factory.mktemp("data"), SOURCES[0]
    (lesson.DATA / "pt_en").mkdir()
    for split, copies in (("train", 106), ("test", 1)):
        lines = ["\t".join(pair) + "\n" for pair in PAIRS * copies]
        (lesson.DATA / "pt_en" / f"{split}.tsv").write_text("".join(lines), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        transformer, tokenizer = lesson.main(["a menina dorme.", "o gato não canta."])
    return Trained(lesson, transformer, tokenizer, output.getvalue())


def network_of_story(lesson, transformer):
    """Returns the network of transformer_model.py, with the weights of a lesson's."""
    network = story.Transformer(
        lesson.NUM_LAYERS, lesson.D_MODEL, lesson.NUM_HEADS, lesson.DFF, lesson.VOCAB_SIZE,
        lesson.VOCAB_SIZE, rate=0.0,
    )  # fmt: skip
    network.build(None)
    network.set_weights(transformer.get_weights())
    return network


def test_it_prints_the_loss_of_each_epoch_bleu_and_translations(trained):
    losses = re.findall(r"epoch \d of 6: loss ([\d.]+), \d+ s", trained.output)
    losses = [*map(float, losses)]
    assert len(losses) == 6
    assert losses[-1] < 0.1 < 1 < losses[0]
    lines = trained.output.splitlines()
    assert lines[11:] == [
        "    the cat sleeps.",
        "BLEU 100.0 on the 9 sentences of the test split",
        "a menina dorme. -> the girl sleeps.",
        "o gato não canta. -> the cat does not sing.",
    ]


def test_its_logits_are_those_of_the_story():
    lesson = small_lesson(num_layers=2)
    transformer = lesson.Transformer()
    ids = np.random.default_rng(1).integers(4, lesson.VOCAB_SIZE, (3, 9)).astype(np.int32)
    inp, tar = ids.copy(), ids[:, :7].copy()
    inp[1, 6:] = tar[2, 4:] = story.PAD
    transformer((inp, tar))
    randomized(transformer)
    expected, _ = network_of_story(lesson, transformer)((tf.constant(inp), tf.constant(tar)))
    np.testing.assert_allclose(transformer((inp, tar)), expected, rtol=0, atol=3e-5)


def test_its_translations_are_those_of_the_story(trained):
    network = network_of_story(trained.lesson, trained.transformer)
    inp = trained.lesson.pad(trained.tokenizer.encode(SOURCES))
    rows = story.greedy_translate(network, tf.constant(inp)).numpy().tolist()
    expected = [trained.tokenizer.decode(row[: row.index(story.END)]) for row in rows]
    translations = trained.lesson.translate(trained.transformer, trained.tokenizer, SOURCES)
    assert translations == expected
    assert len({*translations}) == len(PAIRS)


def test_a_translation_without_an_end_is_cut_off(trained):
    def predict_no_end(inputs):
        return tf.one_hot(tf.fill(tf.shape(inputs[1]), 5), trained.lesson.VOCAB_SIZE)  # (B, T, V)

    (translation,) = trained.lesson.translate(predict_no_end, trained.tokenizer, SOURCES[:1])
    assert translation == trained.tokenizer.decode([5] * trained.lesson.MAX_TOKENS)


def test_its_learning_rate_grows_to_the_peak_of_the_story_and_ends_at_zero():
    lesson = load_lesson()
    peak = float(story.CustomSchedule(lesson.D_MODEL, lesson.WARMUP_STEPS)(lesson.WARMUP_STEPS))
    rate = lesson.learning_rate(steps=2000)
    assert float(rate(lesson.WARMUP_STEPS)) == pytest.approx(peak)
    assert float(rate(lesson.WARMUP_STEPS // 2)) == pytest.approx(peak / 2)
    assert float(rate(1200)) == pytest.approx(peak / 2)  # halfway from the peak to the end
    assert float(rate(2000)) == pytest.approx(0.0, abs=1e-9)


def test_its_loss_is_that_of_the_story():
    random = np.random.default_rng(2)
    real = random.integers(0, 3, (2, 5)).astype(np.int32)
    logits = random.normal(size=(2, 5, 3)).astype(np.float32)
    assert story.PAD in real
    loss = float(load_lesson().loss_function(real, logits))
    assert loss == pytest.approx(float(story.loss_function(real, logits)), abs=1e-6)


def test_its_special_tokens_are_those_of_the_story():
    lesson = load_lesson()
    for name in ("PAD", "UNKNOWN", "START", "END"):
        assert getattr(lesson, name) == getattr(story, name)


def test_its_batches_hold_each_pair_once_in_another_order_each_epoch():
    lesson = load_lesson()
    random = np.random.default_rng(3)
    lengths = random.integers(3, 12, (200, 2))
    pairs = [
        [[number] * source, [number] * target] for number, (source, target) in enumerate(lengths, 4)
    ]
    epochs = [[*lesson.make_batches(pairs)] for _ in range(2)]
    for batches in epochs:
        rows = [rows for batch in batches for rows in zip(*batch, strict=True)]
        read = [
            [[id_ for id_ in row.tolist() if id_ != story.PAD] for row in pair] for pair in rows
        ]
        assert sorted(read) == pairs
        assert max(len(inp) for inp, _ in batches) == lesson.BATCH_SIZE
        slots, tokens = sum(inp.size + tar.size for inp, tar in batches), lengths.sum()
        assert tokens <= slots < 1.4 * tokens
    first, second = ([*batches[0][0][:, 0]] for batches in epochs)
    assert first != second


def test_it_imports_nothing_of_the_program():
    imported = set()
    for node in ast.walk(ast.parse(FILE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.partition(".")[0])
    libraries = imported - sys.stdlib_module_names
    assert libraries == {"keras", "numpy", "sacrebleu", "sentencepiece", "tensorflow"}


@pytest.mark.slow
def test_the_command_trains_and_leaves_python_open(tmp_path):
    """With one epoch of a fifth of the corpus."""
    (tmp_path / "lessons").mkdir()
    text = FILE.read_text(encoding="utf-8").replace("EPOCHS = 5", "EPOCHS = 1")
    (tmp_path / "lessons" / "minimal.py").write_text(text, encoding="utf-8")
    copy_some_data(tmp_path)
    statement = 'print(translate(transformer, tokenizer, ["Bom dia."]))'
    command = f"echo '{statement}' | {sys.executable} -i lessons/minimal.py"
    result = run_process(command, cwd=tmp_path)
    lines = result.stdout.splitlines()
    assert re.fullmatch(r"epoch 1 of 1: loss \d\.\d{3}, \d+ s", lines[0])
    assert re.fullmatch(r"BLEU \d+\.\d on the 20 sentences of the test split", lines[2])
    assert sum(" -> " in line for line in lines) == 12
    assert lines[-1].startswith("['")
    assert "Traceback" not in result.stderr
    assert "CUDA error" not in result.stderr
