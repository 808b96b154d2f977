"""What must hold of the program: text, batches, training, translations, and what it says."""

import functools
import hashlib
import http.server
import io
import json
import os
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import keras
import numpy as np
import pytest
import sacrebleu
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import params
import run_demo
from beyond import UserError, checkpoints, corpora, devices, downloads, flags, runs
from beyond.translator import KINDS
from transformer_model import END, PAD, START, loss_function

ROOT = Path(run_demo.__file__).parent
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


def write_tsv(path, pairs):
    """Writes pairs to a .tsv. Returns its path."""
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    return path


def as_dataset(pairs):
    """Returns pairs of strings as a dataset."""
    return tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*pairs, strict=True))))


def call(*arguments):
    """Runs the program in this process. Returns its exit code."""
    return run_demo.main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def tokenizer():
    """A tokenizer of the numbers' text."""
    return run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(sentences(200)), 320, seed=1))


# ---- Text ----


def test_every_text_has_start_first_and_end_last(tokenizer):
    ids = tokenizer.encode(["um dois.", ""])
    assert all(row[0] == START and row[-1] == END for row in ids)
    assert ids[1] == [START, END]


WORDS = '<s> </s> <pad> <unk> <0x41> um dois 汉字 😀 עברית ação & "q" 1º m² ½ … ， \u3000 e\u0301'


@settings(deadline=None, max_examples=300)
@given(text=st.lists(st.one_of(st.sampled_from([*WORDS.split(" "), " "]), st.text())))
def test_any_text_of_unicode_is_given_back_as_it_was(tokenizer, text):
    text = " ".join(text)
    ids = tokenizer.encode([text])
    assert not set(ids[0][1:-1]) & {PAD, START, END}
    assert tokenizer.encode_in_graph(tf.constant(text)).numpy().tolist() == ids[0]
    # One line each, and SentencePiece's own mark of a space is one.
    expected = re.sub("[\r\n\t]", " ", text).replace("\u2581", " ")
    assert tokenizer.decode(np.array(ids)) == [expected]


def test_the_vocabulary_learns_from_lines_however_long():
    line = " ".join(text for pair in sentences(300) for text in pair)  # some 8 KB
    assert len(line) > 4192
    model = run_demo.train_tokenizer(as_dataset([(line, line)]), 320, seed=1)
    tokenizer = run_demo.Tokenizer(model)
    assert len(tokenizer.encode(["quatro seven"])[0]) < 2 + len("quatro seven")


def test_decoding_leaves_no_trace_of_padding_and_never_breaks_a_line(tokenizer):
    (ids,) = tokenizer.encode(["um dois."])
    newline = tokenizer.tokens(range(320)).index("<0x0A>")
    assert tokenizer.decode(np.array([[*ids, PAD, PAD]])) == ["um dois."]
    (broken,) = tokenizer.decode(np.array([[START, ids[1], newline, ids[1], END]]))
    assert "\n" not in broken


def test_a_small_corpus_lowers_the_vocabulary_and_a_large_wish_is_no_error():
    model = run_demo.train_tokenizer(as_dataset(sentences(20)), 8192, seed=1)
    assert 256 < run_demo.Tokenizer(model).vocab_size < 500


def test_a_piece_is_learned_from_at_least_so_many_words(monkeypatch):
    monkeypatch.setattr(run_demo, "SMALL_VOCABULARY", 0)
    pairs = as_dataset(sentences(400))
    words = sum(len(side.split()) for pair in sentences(400) for side in pair)
    for each in (7, 8):
        model = run_demo.train_tokenizer(pairs, 8192, seed=1, words_a_piece=each)
        assert run_demo.Tokenizer(model).vocab_size == words // each


def test_the_vocabulary_is_learned_from_a_bounded_sample(monkeypatch):
    monkeypatch.setattr(run_demo, "SAMPLED_LINES", 10)
    seen = {}
    trainer = run_demo.sentencepiece.SentencePieceTrainer

    def spy(sentence_iterator, **options):
        seen["lines"] = list(sentence_iterator)
        return original(sentence_iterator=iter(seen["lines"]), **options)

    original = trainer.train
    monkeypatch.setattr(trainer, "train", spy)
    pairs = sentences(100)
    run_demo.train_tokenizer(as_dataset(pairs), 320, seed=1)
    lines = seen["lines"]
    assert len(lines) == 10
    assert not set(lines) <= {text for pair in pairs[:10] for text in pair}  # not just the first


# ---- Batches ----


@pytest.fixture(scope="module")
def long_and_short():
    """Pairs of one to some thirty words, a few of them hundreds of words long."""
    words = random.Random(5)
    lengths = [words.randint(1, 30) for _ in range(700)] + [300] * 7
    return [
        (" ".join(words.choices(NUMEROS, k=n)), " ".join(words.choices(NUMBERS, k=n)) + f" {i}")
        for i, n in enumerate(lengths)
    ]


@pytest.fixture(scope="module")
def batches(long_and_short, tokenizer):
    return run_demo.Batches(as_dataset(long_and_short), tokenizer, batch_size=16, max_length=40)


def rows_of(epoch):
    """Returns the real ids of all rows of an epoch, as a list of (source, target) tuples."""
    return [
        (tuple(s[s != PAD].tolist()), tuple(t[t != PAD].tolist()))
        for inp, tar in epoch.as_numpy_iterator()
        for s, t in zip(inp, tar, strict=True)
        if s.any()
    ]


def test_epochs_hold_every_pair_but_the_long_ones_at_most_once(batches, long_and_short, tokenizer):
    ids = [tokenizer.encode(list(pair)) for pair in long_and_short]
    kept = [tuple(map(tuple, pair)) for pair in ids if max(map(len, pair)) <= 40]
    assert 7 < len(ids) - len(kept) == batches.dropped
    assert batches.kept == len(kept)
    seen = set()
    for seed in range(4):
        rows = rows_of(batches.epoch(100, seed))
        assert len(set(rows)) == len(rows) > 0.9 * len(kept)
        seen.update(rows)
    assert seen == set(kept)


def test_a_batch_less_than_half_full_is_left_out_unless_it_is_the_only_one(tokenizer):
    pairs = [(f"um {n}", f"one {n}") for n in range(10, 99)]  # of one length, or nearly
    for number, sizes in ((89, [32, 32, 25]), (70, [32, 32]), (20, [20]), (1, [1])):
        batches = run_demo.Batches(as_dataset(pairs[:number]), tokenizer, 32, max_length=40)
        epoch = list(batches.epoch(100, 1).as_numpy_iterator())
        assert [int((inp[:, 0] != PAD).sum()) for inp, _ in epoch] == sizes
        assert len(epoch) == batches.steps


def test_batches_come_in_few_static_shapes_of_about_the_same_size(batches):
    epoch = list(batches.epoch(100, seed=1).as_numpy_iterator())
    shapes = {inp.shape for inp, _ in epoch}
    assert len(epoch) == batches.steps
    assert all(inp.shape == tar.shape for inp, tar in epoch)
    assert 1 < len(shapes) <= run_demo.MOST_BUCKETS
    assert {length for _, length in shapes} == set(batches.lengths)
    assert all(batches.tokens - length < rows * length <= batches.tokens for rows, length in shapes)


def test_batch_size_counts_sentences_of_average_length(long_and_short, tokenizer):
    pairs = [pair for pair in long_and_short if len(pair[0].split()) == 12]
    same_length = run_demo.Batches(as_dataset(pairs), tokenizer, 16, max_length=100)
    assert same_length.rows_in(same_length.tokens / 16) == 16


def test_a_batch_may_be_counted_in_tokens(long_and_short, tokenizer):
    batches = run_demo.Batches(as_dataset(long_and_short), tokenizer, 64, 40, batch_tokens=300)
    assert batches.tokens == 300
    for inp, tar in batches.epoch(100, 0):
        assert inp.shape == tar.shape
        assert 300 - inp.shape[1] < tf.size(inp) <= 300


def test_the_pairs_of_a_batch_do_not_depend_on_how_many_devices_share_it(long_and_short, tokenizer):
    pairs = as_dataset(long_and_short)
    epochs = []
    for replicas in (1, 2, 3, 4):
        batches = run_demo.Batches(pairs, tokenizer, 16, 40, replicas)
        epoch = list(batches.epoch(100, 1).as_numpy_iterator())
        assert all(len(inp) % replicas == 0 for inp, _ in epoch)
        epochs.append([inp[inp[:, 0] != PAD].tolist() for inp, _ in epoch])
    assert epochs[0] == epochs[1] == epochs[2] == epochs[3]


def test_a_batch_of_one_sentence_is_of_one(tokenizer):
    pairs = [(f"um {n}", f"one {n}") for n in range(10, 40)]  # of one length, or nearly
    batches = run_demo.Batches(as_dataset(pairs), tokenizer, 1, 40)
    epoch = list(batches.epoch(100, 1).as_numpy_iterator())
    assert {len(inp) for inp, _ in epoch} == {1}
    training = tiny_training(parts=4, vocab_size=tokenizer.vocab_size)
    whole = tiny_training(vocab_size=tokenizer.vocab_size)
    whole.transformer.set_weights(training.transformer.get_weights())
    for one in (epoch[0], [np.repeat(side, 5, axis=0) for side in epoch[0]]):  # 1 row, 5 rows
        found = [each.train_step(*map(tf.constant, one)).numpy() for each in (training, whole)]
        np.testing.assert_allclose(*found, rtol=1e-5)


def test_pairs_are_kept_in_no_memory_where_there_is_no_folder_for_them(tokenizer, tmp_path):
    def kinds(dataset):
        return {type(dataset).__name__}.union(*map(kinds, dataset._inputs()))

    pairs = as_dataset(sentences(20))
    for folder in (None, tmp_path / "cache"):
        batches = run_demo.Batches(pairs, tokenizer, 8, 40, folder=folder)
        assert any("Cache" in kind for kind in kinds(batches.chunks)) is bool(folder)


def test_the_order_of_an_epoch_depends_on_its_seed_alone(batches):
    first, again, other = (rows_of(batches.epoch(100, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_evaluation_batches_drop_no_pair_and_cut_those_that_no_memory_holds(
    tokenizer, long_and_short, capsys
):
    pairs = [*long_and_short[-20:], ("um " * 3000, "one " * 10), ("", "")]
    ids = [tokenizer.encode(list(map(str.strip, pair))) for pair in pairs]
    assert max(len(side) for pair in ids for side in pair) > run_demo.LONGEST
    found = rows_of(run_demo.evaluation_batches(as_dataset(pairs), tokenizer, replicas=3))
    cut = [tuple(tuple(side[: run_demo.LONGEST]) for side in pair) for pair in ids]
    assert sorted(found) == sorted(cut)
    alone = run_demo.evaluation_batches(as_dataset(pairs[-2:-1]), tokenizer)
    assert [len(inp) for inp, _ in alone.as_numpy_iterator()] == [1]  # however many parts
    run_demo.say_what_is_cut(as_dataset(pairs), tokenizer, "test")
    assert "1 of the 22 test pairs have a side of more than 2048" in capsys.readouterr().err


def test_ids_that_cannot_be_kept_are_one_line_of_error(tokenizer):
    with pytest.raises(UserError, match="could not be kept"):
        run_demo.Batches(as_dataset(sentences(5)), tokenizer, 16, 40, folder=Path("/dev/null/ids"))


def test_no_pair_short_enough_is_one_line_of_error(tokenizer):
    with pytest.raises(UserError, match="--max-length"):
        run_demo.Batches(as_dataset(sentences(5)), tokenizer, 16, max_length=3)


# ---- Training ----


def tiny_training(parts=1, **changes):
    """Returns a Training of one small layer, without dropout."""
    options = params.values()
    options.update(num_layers=1, d_model=8, dff=16, num_heads=2, dropout_rate=0.0, warmup_steps=10)
    options.update(dict(vocab_size=20) | changes)
    size = options["vocab_size"]
    return run_demo.Training(options, size, tf.distribute.get_strategy(), parts)


def test_a_repeated_token_is_updated_as_by_an_adam_that_sees_dense_gradients():
    training = tiny_training()
    plain = run_demo.build_transformer(training.options, 20)
    plain.set_weights(training.transformer.get_weights())
    inp = tf.constant([[START, 5, 5, 5, 7, END]])
    tar = tf.constant([[START, 9, 9, 9, 9, 9, END]])

    # Adam by the formulas of Kingma & Ba 2015 (algorithm 1), on gradients made dense by one-hot.
    schedule = run_demo.CustomSchedule(8, 10)
    weights = [v.numpy().astype(np.float64) for v in plain.trainable_variables]
    means = [np.zeros_like(w) for w in weights]
    squares = [np.zeros_like(w) for w in weights]
    for step in range(1, 4):
        training.train_step(inp, tar)
        with tf.GradientTape() as tape:
            predictions, _ = plain((inp, tar[:, :-1]), training=True)
            loss = run_demo.token_sums(tar[:, 1:], predictions)[0] / 6
        gradients = tape.gradient(loss, plain.trainable_variables)
        for n, gradient in enumerate(gradients):
            if isinstance(gradient, tf.IndexedSlices):
                one_hot = tf.one_hot(gradient.indices, 20)  # (rows, V)
                gradient = tf.matmul(one_hot, gradient.values, transpose_a=True)
            g = gradient.numpy().astype(np.float64)
            means[n] = 0.9 * means[n] + 0.1 * g
            squares[n] = 0.98 * squares[n] + 0.02 * g**2
            rate = float(schedule(step - 1))  # Keras counts finished steps
            update = means[n] / (1 - 0.9**step)
            weights[n] -= rate * update / (np.sqrt(squares[n] / (1 - 0.98**step)) + 1e-9)
        plain.set_weights(weights)
    variables = training.transformer.trainable_variables
    compared = 0
    for variable, expected in zip(variables, weights, strict=True):
        if "embeddings" in variable.path:
            compared += 1
            np.testing.assert_allclose(variable.numpy(), expected, atol=2e-5)
    assert compared == 2  # source and target


def test_a_step_reports_loss_before_it_and_learns_from_the_mean_over_real_tokens():
    inp = tf.constant([[START, 5, 6, END], [START, 7, END, PAD]])
    tar = tf.constant([[START, 8, 9, END], [START, 9, END, PAD]])
    keras.utils.set_random_seed(3)
    training = tiny_training()
    expected, hits, tokens = training.validation_step(inp, tar).numpy()
    loss, hits_before, tokens_before = training.train_step(inp, tar).numpy()
    assert tokens == tokens_before == 5
    assert hits == hits_before
    assert loss == pytest.approx(expected, rel=1e-5)
    for _ in range(60):
        training.train_step(inp, tar)
    assert training.validation_step(inp, tar).numpy()[0] < loss / 4


def test_padding_rows_and_columns_change_no_gradient():
    inp = tf.constant([[START, 5, 6, END], [START, 7, END, PAD]])
    tar = tf.constant([[START, 8, 9, END], [START, 9, END, PAD]])
    after = []
    for padding in (0, 3):
        keras.utils.set_random_seed(3)
        training = tiny_training()
        pad = [[0, padding], [0, padding]]
        for _ in range(5):
            training.train_step(tf.pad(inp, pad), tf.pad(tar, pad))
        after.append(training.validation_step(inp, tar).numpy())
    np.testing.assert_allclose(after[0], after[1], rtol=1e-4)


def test_a_batch_in_parts_teaches_what_it_teaches_whole():
    inp = tf.constant([[START, 5, 6, END], [START, 7, END, PAD], [START, 5, 8, END], [PAD] * 4])
    tar = tf.constant([[START, 8, 9, END], [START, 9, END, PAD], [START, 8, END, PAD], [PAD] * 4])
    after = []
    for parts in (1, 2, 4):  # the last part of four holds no token at all
        keras.utils.set_random_seed(3)
        training = tiny_training(parts)
        sums = [training.train_step(inp, tar).numpy() for _ in range(5)]
        after.append([*sums, training.validation_step(inp, tar).numpy()])
    np.testing.assert_allclose(after[0], after[1], rtol=1e-4)
    np.testing.assert_allclose(after[0], after[2], rtol=1e-4)


def in_a_process(script, *arguments):
    """Runs a Python script in a process of its own. Returns what it prints."""
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def random_batches(number, rows=8, length=9):
    """Returns batches (B, S), (B, T) of ids under 20 with padding, some rows all of it."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(number):
        ids = rng.integers(4, 20, (2, rows, length)).astype(np.int32)
        ends = rng.integers(2, length, (2, rows, 1))
        ids = np.where(np.arange(length) < ends, ids, PAD)
        ids = np.where(np.arange(length) == ends, END, ids)
        ids[:, :, 0], ids[:, -1] = START, PAD
        found.append(tuple(map(tf.constant, ids)))
    return found


def plain_losses(training, batches):
    """Returns the losses of a training as the tutorial writes it down, from the same weights."""
    transformer = run_demo.build_transformer(training.options, 20)
    transformer.set_weights(training.transformer.get_weights())
    schedule = run_demo.CustomSchedule(8, training.options["warmup_steps"])
    optimizer = keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    losses = []
    for inp, tar in batches:
        with tf.GradientTape() as tape:
            predictions, _ = transformer((inp, tar[:, :-1]), training=True)
            loss = loss_function(tar[:, 1:], predictions)
        gradients = tape.gradient(loss, transformer.trainable_variables)
        gradients = map(tf.convert_to_tensor, gradients)
        optimizer.apply_gradients(zip(gradients, transformer.trainable_variables, strict=True))
        losses.append(float(loss))
    return losses


@pytest.mark.parametrize("changes", [dict(parts=2), dict(xla="on")], ids=["as on a CPU", "by XLA"])
def test_the_fast_step_learns_what_the_plain_one_does(changes):
    training = tiny_training(warmup_steps=200, **changes)
    batches = random_batches(5) * 10
    plain = plain_losses(training, batches)
    fast = [training.train_step(inp, tar).numpy() for inp, tar in batches]
    np.testing.assert_allclose([loss / tokens for loss, _, tokens in fast], plain, atol=1e-4)
    assert plain[-1] < 0.9 * plain[0]  # else there was nothing to tell apart


def of_epoch(training, batches, steps):
    """Returns the mean loss and accuracy of an epoch that is trained."""
    training.train_epoch(batches, steps, "")
    training.position.assign(0)
    loss, hits, tokens = training.sums_so_far.numpy()
    return float(loss / tokens), float(hits / tokens)


@pytest.mark.parametrize(("number", "accumulate"), [(3, 2), (4, 3), (6, 3)])
def test_accumulated_batches_teach_what_one_larger_batch_does(number, accumulate):
    batches = random_batches(number, rows=4)
    groups = [batches[n : n + accumulate] for n in range(0, number, accumulate)]
    joined = [
        tuple(tf.concat(side, axis=0) for side in zip(*group, strict=True)) for group in groups
    ]
    after = []
    for some, together in ((batches, accumulate), (joined, 1)):
        keras.utils.set_random_seed(3)
        training = tiny_training(accumulate=together)
        data = tf.data.Dataset.from_generator(
            functools.partial(iter, some),
            output_signature=(tf.TensorSpec((None, None), tf.int32),) * 2,
        )
        figures = [of_epoch(training, data, len(some)) for _ in range(3)]
        assert int(training.optimizer.iterations) == 6  # two an epoch
        traces = training.gather_step.experimental_get_tracing_count()
        assert traces == (together > 1)  # one for all shapes
        after.append(figures)
    np.testing.assert_allclose(*after, rtol=1e-4)


def test_a_compiled_step_is_traced_once_static_and_stays_on_its_device(tokenizer):
    """What a GPU needs, told without one: from what XLA makes of the step for each bucket."""
    pairs = as_dataset(sentences(200))
    tokenizer = run_demo.Tokenizer(tokenizer.model)  # the seeds of other tests end older ones
    training = tiny_training(xla="on", vocab_size=tokenizer.vocab_size)
    batches = run_demo.Batches(pairs, tokenizer, 8, 40, most=3)
    for seed in range(2):
        of_epoch(training, batches.epoch(100, seed), batches.steps)
        assert training.train_step.experimental_get_tracing_count() == 1
        assert training.gradients.experimental_get_tracing_count() == 1
    assert len(batches.lengths) > 1
    for inp, tar in {inp.shape: (inp, tar) for inp, tar in batches.epoch(100, 1)}.values():
        program = training.gradients.experimental_get_compiler_ir(inp, tar)(stage="hlo")
        assert f"s32[{inp.shape[0]},{inp.shape[1]}]" in program
        for word in ("<=", "infeed", "outfeed", "send(", "recv(", "custom-call"):
            assert word not in program
    graph = training.train_step.get_concrete_function(*batches.epoch(100, 1).element_spec).graph
    assert not {"PyFunc", "EagerPyFunc"} & {operation.type for operation in graph.get_operations()}


@pytest.mark.slow
def test_two_replicas_learn_what_one_device_learns(tmp_path):
    script = f"""
import sys; sys.path.insert(0, {str(ROOT)!r}); sys.path.insert(0, {str(ROOT / "tests")!r})
import numpy as np, tensorflow as tf, keras
two, xla = sys.argv[1] != "one", sys.argv[1] == "compiled"
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import run_demo
from test_run_demo import as_dataset, of_epoch, sentences, tiny_training
import params
pairs = as_dataset(sentences(120))
keras.utils.set_random_seed(1)
tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(pairs, 320, 1))
strategy = tf.distribute.get_strategy()
if two:
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
options = params.values()
options.update(num_layers=1, d_model=8, dff=16, num_heads=2, dropout_rate=0.0, warmup_steps=200)
options.update(xla="on" if xla else "off", accumulate=2, clip_norm=0.5)
training = run_demo.Training(options, tokenizer.vocab_size, strategy)
batches = run_demo.Batches(pairs, tokenizer, 16, 40, replicas=2)
figures = [training.validate(pairs, tokenizer)]
for n in range(3):
    figures.append(of_epoch(training, batches.epoch(100, n), batches.steps))
print(np.array(figures).tolist())
"""
    one, *both = (
        np.array(json.loads(in_a_process(script, how))) for how in ("one", "two", "compiled")
    )
    for two in both:
        np.testing.assert_allclose(two[:, 0], one[:, 0], rtol=1e-4)  # loss
        np.testing.assert_allclose(two[:, 1], one[:, 1], atol=0.005)  # accuracy: near ties


@pytest.mark.slow
def test_two_replicas_drop_values_of_their_own():
    script = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import transformer_model
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    layer = transformer_model.Dropout(0.5, seed=1)
for compiled in (None, True):
    drop = tf.function(lambda x: layer(x, training=True), jit_compile=compiled)
    step = tf.function(lambda: strategy.run(lambda x: drop(x), args=[tf.ones((40, 50))]))
    one, other = (value.numpy() for value in strategy.experimental_local_results(step()))
    print(float((one == other).mean()))
"""
    for same in in_a_process(script).split():
        assert 0.4 < float(same) < 0.6


# ---- The whole program, on a tiny corpus ----


def test_a_run_leaves_what_later_commands_need(finished):
    run = finished / "run"
    scores = json.loads((run / "scores.json").read_text())
    assert scores["dataset"] == "numbers.tsv"
    assert scores["lines"] == 20
    assert scores["pairs"] == {"train": 960, "validation": 20, "test": 20}
    assert scores["epochs"] == scores["options"]["epochs"] == 2
    assert 0 <= scores["BLEU"]["score"] <= 100
    assert scores["BLEU"]["signature"].startswith(
        "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a"
    )
    assert scores["chrF"]["signature"].startswith("nrefs:1")
    assert {"loss", "accuracy", "training_seconds", "versions"} <= scores.keys()
    rows = [line.split("\t") for line in (run / "translations.txt").read_text().splitlines()]
    assert len(rows) == 20
    assert all(len(row) == 3 for row in rows)
    assert {(row[0], row[1]) for row in rows} <= set(sentences(1000))
    assert scores["options"]["xla"] == "off"  # what "auto" meant on this machine
    names = {path.name for path in run.rglob("*")}
    assert "cache" not in names
    assert {"params.json", "tokenizer.model", "history.json", "best"} <= names
    assert {f"{picture}.png" for picture in run_demo.PICTURES} <= names
    assert any(name.startswith("events.out.tfevents") for name in names)


def test_every_epoch_has_its_figures(finished):
    history = json.loads((finished / "run" / "history.json").read_text())
    assert [row["epoch"] for row in history] == [1, 2]
    assert history[1]["val_loss"] < history[0]["val_loss"]
    assert all(0 <= row["val_accuracy"] <= 1 and row["tokens_per_second"] > 0 for row in history)


def test_translations_come_one_a_line_in_order(finished, capsys):
    texts = ["um dois três.", "", "nove.", "  ", "zero " * 12]
    assert call("translate", "--run", finished / "run", *texts) == 0
    together = capsys.readouterr().out.split("\n")
    assert len(together) == len(texts) + 1
    assert together[1] == together[3] == ""
    for text, translation in zip(texts[:3], together[:3], strict=True):
        call("translate", "--run", finished / "run", text)
        assert capsys.readouterr().out == translation + "\n"


def test_lines_of_stdin_are_translated_as_arguments_are(finished, capsys, monkeypatch):
    texts = ["um dois três.", "", "nove."]
    call("translate", "--run", finished / "run", *texts)
    expected = capsys.readouterr().out

    class Stdin:
        buffer = iter([text.encode() + b"\r\n" for text in texts])
        isatty = staticmethod(bool)  # no

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert call("translate", "--run", finished / "run") == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    "text", ["😀 汉字 עברית", "a\x00b\x01\x02", "x" * 200, "<s> </s> <pad>", "$x$ $$"]
)
def test_any_text_gets_one_line(finished, capsys, text):
    assert call("translate", "--run", finished / "run", text) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_white_space_around_a_sentence_is_no_part_of_it(finished, capsys):
    assert call("translate", "--run", finished / "run", "um dois.", "  um dois. \t", " ") == 0
    plain, spaced, blank = capsys.readouterr().out.splitlines()
    assert plain == spaced
    assert blank == ""


def test_n_best_are_printed_with_scores_best_first(finished, capsys):
    options = ["--beam", 4, "--n-best", 3, "--score", "--run", finished / "run"]
    assert call("translate", *options, "um dois.", "tres.", "") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[6:] == [["0.0000", ""]] * 3
    for three in (rows[:3], rows[3:6]):
        assert all(float(score) < 0 for score, _ in three)
    assert call("translate", *options, "--length-penalty", 0, "um dois.") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    scores = [float(score) for score, _ in rows]
    assert scores == sorted(scores, reverse=True)
    assert call("translate", "--n-best", 2, "--run", finished / "run", "um.") == 2
    assert "--n-best 2 needs a --beam of as many" in capsys.readouterr().err


def test_given_pairs_are_scored_a_line_each(finished, capsys, tmp_path):
    (tmp_path / "s").write_text("um dois.\ntres.\n")
    assert call("translate", "--run", finished / "run", "--score", "um dois.", "tres.") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    (tmp_path / "t").write_text("".join(f"{text}\n" for _, text in rows))
    assert call("score", "--run", finished / "run", tmp_path / "s", tmp_path / "t") == 0
    found = capsys.readouterr().out.splitlines()
    assert len(found) == 2
    (tmp_path / "short").write_text("one\n")
    assert call("score", "--run", finished / "run", tmp_path / "s", tmp_path / "short") == 2
    assert "ends at line 1" in capsys.readouterr().err
    assert call("score", "--run", finished / "run", *[tmp_path / "s"] * 3) == 2
    assert "3 files named" in capsys.readouterr().err


def test_evaluating_again_gives_the_same_scores(finished, capsys):
    before = json.loads((finished / "run" / "scores.json").read_text())
    assert call("evaluate", "--run", finished / "run") == 0
    after = json.loads((finished / "run" / "scores.json").read_text())
    for name in ("BLEU", "chrF", "lines", "accuracy", "epochs", "training_seconds"):
        assert after[name] == before[name], name
    assert "BLEU" in capsys.readouterr().out


def test_files_are_scored_as_asked_for_and_leave_the_run_alone(finished, capsys, tmp_path):
    run, before = finished / "run", (finished / "run" / "scores.json").read_text()
    pairs = sentences(170)[150:]
    tsv = write_tsv(tmp_path / "more.tsv", pairs)
    assert call("evaluate", "--run", run, tsv) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["BLEU", "BLEU,", "chrF"]
    assert all(" ± " in line and "|bs:1000|" in line for line in lines)
    assert call("translate", "--run", run, *[source for source, _ in pairs]) == 0
    hypotheses = capsys.readouterr().out.splitlines()
    references = [target for _, target in pairs]
    expected = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", lowercase=True)
    assert call("evaluate", "--run", run, tsv, "--tokenize", "none", "--lowercase") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"BLEU, lower-cased {expected.score:.1f} ± ")
    assert "case:lc" in lines[0]
    assert "tok:none" in lines[0]
    assert len(lines) == 2
    assert (run / "scores.json").read_text() == before


def test_a_run_is_no_better_than_itself(finished, capsys):
    assert call("evaluate", "--run", finished / "run", "--against", finished / "run") == 0
    title, *lines = capsys.readouterr().out.splitlines()
    run = f"{finished / 'run'} (greedy search)"
    assert re.fullmatch(r"\d+ lines of the test split of \S+: (.+) against \1", title)[1] == run
    for name, line in zip(("BLEU", "BLEU, lower-cased", "chrF"), lines, strict=True):
        score, other, chance = re.fullmatch(
            rf"{name} (\S+ ± \S+) against (\S+ ± \S+), p = (\S+)   \(.*bs:1000.*\)", line
        ).groups()
        assert score == other
        assert float(chance) == 1


def test_a_run_to_compare_with_is_looked_for_before_anything_is_translated(
    finished, capsys, monkeypatch, tmp_path
):
    monkeypatch.setattr(run_demo, "hypotheses", lambda *_: pytest.fail("translated"))
    assert call("evaluate", "--run", finished / "run", "--against", tmp_path / "gone") == 2
    assert f"{tmp_path / 'gone'}: no trained run" in capsys.readouterr().err


def test_a_run_is_searched_as_it_was_trained_unless_told_otherwise(finished, capsys, tmp_path):
    shutil.copytree(finished / "run", tmp_path / "run")
    saved = json.loads((tmp_path / "run" / "params.json").read_text())
    (tmp_path / "run" / "params.json").write_text(json.dumps({**saved, "beam": 3}))
    assert call("translate", "--run", tmp_path / "run", "--n-best", 3, "um.") == 0
    assert capsys.readouterr().out.count("\n") == 3
    assert call("translate", "--run", tmp_path / "run", "--n-best", 3, "--beam", 2, "um.") == 2


@pytest.mark.parametrize("what", run_demo.PICTURES)
def test_a_picture_is_drawn_again_where_it_is_said_to_be(finished, capsys, what):
    picture = finished / "run" / "plots" / f"{what}.png"
    picture.unlink()
    assert call("plot", what, "um três $$ $a_$.", "--run", finished / "run") == 0
    assert Path(capsys.readouterr().out.strip()) == picture
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_trained_run_is_used_from_python(finished, capsys, tmp_path):
    translate = run_demo.load_translator(finished / "run", beam=2)
    found = list(translate(["um dois.", "", "três."]))
    assert call("translate", "--run", finished / "run", "--beam", 2, "um dois.", "", "três.") == 0
    assert capsys.readouterr().out.splitlines() == found
    heads, queries, keys = translate.attend("um dois.").look("cross", layer=1)
    assert heads.shape == (2, len(queries), len(keys))
    best = run_demo.load_translator(finished / "run", checkpoint="best", n_best=1)
    assert best.beam == 1
    saved = json.loads((finished / "run" / "params.json").read_text())
    shutil.copytree(finished / "run", tmp_path / "run")
    (tmp_path / "run" / "params.json").write_text(json.dumps({**saved, "beam": 3}))
    own = run_demo.load_translator(tmp_path / "run", n_best=3, workers=1, rows=2)
    assert own.beam == 3
    assert [len(best) for best in own.hypotheses(["um dois.", "nove."])] == [3, 3]
    for wrong, said in (
        (dict(beam=0), "beam: 0 is less than 1"),
        (dict(length_penalty=-1.0), "length_penalty: -1.0 is less than 0.0"),
        (dict(n_best=3, beam=1), "n_best is 3, and the beam 1"),
        (dict(n_best=0), "n_best is 0"),
        (dict(workers=-1), "workers is -1"),
    ):
        with pytest.raises(UserError, match=re.escape(said)):
            run_demo.load_translator(tmp_path / "run", **wrong)
    with pytest.raises(TypeError):
        run_demo.load_translator(tmp_path / "run", fixed=True)
    with pytest.raises(UserError, match="no trained run"):
        run_demo.load_translator(finished / "nowhere")


def test_times_are_told_in_seconds_while_they_are_few():
    told = [run_demo.duration(seconds) for seconds in (0.4, 99.4, 100, 5400)]
    assert told == ["0 s", "99 s", "2 min", "90 min"]


def test_the_estimate_is_of_all_steps_that_are_left(capsys, monkeypatch):
    training = tiny_training(epochs=3)
    training.epoch.assign(1)  # one of three is done, and 10 steps of this one in 30 seconds
    monkeypatch.setattr(run_demo.time, "perf_counter", lambda: 130.0)
    training.estimate(done=10, started=100.0, left=40, steps=60)
    assert "3 epochs end in about 5 min" in capsys.readouterr().err  # 3 s x (40 + 60)


def test_tensorboard_gets_figures_by_step_and_translations(finished):
    events = EventAccumulator(str(finished / "run" / "logs"), {"tensors": 0}).Reload()
    names = ("loss", "accuracy", "gradient_norm", "tokens_per_second", "learning_rate")
    assert {f"training/{name}" for name in names} <= set(events.Tags()["tensors"])
    assert {"validation/loss", "validation/accuracy"} <= set(events.Tags()["tensors"])

    def values(name):
        found = events.Tensors(name)
        return [one.step for one in found], [tf.make_ndarray(one.tensor_proto) for one in found]

    history = json.loads((finished / "run" / "history.json").read_text())
    steps, losses = values("validation/loss")
    assert losses == pytest.approx([row["val_loss"] for row in history])
    assert steps == [steps[0], 2 * steps[0]] == [*steps[:1], values("training/loss")[0][-1]]
    assert all(0 < norm < 100 for norm in values("training/gradient_norm")[1])
    _, losses = values("training/loss")
    epoch = steps[0]
    spread = np.ptp(np.ravel(losses[:3]))  # of the steps' own means; the epoch's hardly move
    assert len(losses) >= 2 * (epoch // run_demo.REFRESH_STEPS)
    assert min(losses[-3:]) < history[1]["loss"] < history[0]["loss"] < losses[0]
    assert spread > 0
    (text,) = values("translations")[1][-1].ravel().tolist()
    assert text.decode().count("\n") == 4  # a heading, its line, and a row a sentence


@pytest.mark.parametrize("kind", KINDS)
def test_attention_of_each_kind_is_drawn_with_its_own_tokens(finished, monkeypatch, kind):
    drawn = []
    monkeypatch.setattr(run_demo.plots, "attention", lambda path, *rest: drawn.append(rest))
    more = ["--kind", kind, "--layer", 1, "--run", finished / "run"]
    assert call("plot", "attention", "um três.", *more) == 0
    assert call("plot", "attention", "um três.", *more, "--average") == 0
    assert call("plot", "attention", "um três.", *more, "--head", 2) == 0
    (heads, names, keys, queries, title), (mean, (name,), *_), (one, (second,), *_) = drawn
    np.testing.assert_array_equal(one, heads[1:])
    assert second == "Head 2"
    assert heads.shape == (2, len(queries), len(keys))
    np.testing.assert_allclose(heads.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(mean, heads.mean(axis=0, keepdims=True))
    assert (names, name) == (["Head 1", "Head 2"], "Mean of 2 heads")
    assert (keys[0] == "<s>", keys[-1] == "</s>") == (True, kind != "decoder")
    assert (queries[0] == "<s>") is (kind != "cross")
    assert title.endswith("layer 1")


def test_a_picture_of_what_there_is_not_is_one_line(finished, tmp_path, capsys):
    for wrong, told in (
        (["attention", "um.", "--layer", 2], "--layer 2: the run has layers 1 to 1"),
        (["attention", "um.", "--layer", 0], "--layer 0: the run has layers 1 to 1"),
        (["attention", "um.", "--head", 3], "--head 3: the run has heads 1 to 2"),
        (["positional-encoding", "--position", 50], "--position 50: drawn are positions 0 to 49"),
        (["curves", "--beside", tmp_path], "no trained run"),
    ):
        assert call("plot", *wrong, "--run", finished / "run") == 2
        assert told in capsys.readouterr().err


def test_a_picture_without_a_sentence_is_of_the_first_test_line(finished, monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(run_demo.plots, "attention", lambda path, *rest: drawn.append(rest))
    assert call("plot", "attention", "--run", finished / "run") == 0
    first = (finished / "run" / "translations.txt").read_text().partition("\t")[0]
    tokenizer = run_demo.load_tokenizer(runs.Run(finished / "run"))
    assert drawn[0][2] == tokenizer.tokens(tokenizer.encode([first])[0])
    assert run_demo.first_source(runs.Run(tmp_path)) == ""
    assert call("plot", "masks", " ", "--run", finished / "run") == 2


def test_pictures_find_a_font_for_every_letter_or_say_that_there_is_none(finished, capfd):
    assert run_demo.plots.use_fonts_for("▁olá", "привет") == ""
    assert run_demo.plots.use_fonts_for("a\U0010fffd") == "\U0010fffd"
    unknown = "um \U0010fffd."  # comes as bytes: <0xF4>, ...
    assert call("plot", "attention", unknown, "--run", finished / "run") == 0
    assert "Glyph" not in capfd.readouterr().err
    letters = run_demo.plots.letters("no font")
    assert letters == set()


@pytest.mark.slow
def test_one_sentence_is_learned_by_heart_by_its_own_preset(tmp_path, capsys):
    small = "--num-layers 1 --d-model 64 --dff 64 --learning-rate-scale 0.05".split()
    assert call("--dataset", "winter-games", *small, "--run", tmp_path / "run") == 0
    assert "Hypothesis: 我 爱 2022 北京 冬 奥会\n" in capsys.readouterr().out
    saved = json.loads((tmp_path / "run" / "params.json").read_text())
    expected = params.PRESETS["winter-games"].values | dict(num_layers=1, d_model=64, dff=64)
    assert {name: saved[name] for name in expected} == expected | dict(learning_rate_scale=0.05)
    assert saved["epochs"] == 20  # of one step each
    words = run_demo.load_tokenizer(runs.Run(tmp_path / "run"))
    assert words.tokens(words.encode(["I like Games"])[0])[1:-1] == ["▁I", "▁like", "▁Games"]
    pictures = {path.name for path in (tmp_path / "run" / "plots").iterdir()}
    assert pictures >= {"attention.png", "attention-encoder.png", "attention-decoder.png"}


def test_runs_are_drawn_beside_each_other(finished, monkeypatch):
    drawn = []
    monkeypatch.setattr(run_demo.plots, "curves", lambda path, histories: drawn.append(histories))
    shutil.copytree(finished / "run", finished / "other", dirs_exist_ok=True)
    assert call("plot", "curves", "--run", finished / "run", "--beside", finished / "other") == 0
    assert list(drawn[0]) == ["run", "other"]
    shutil.rmtree(finished / "other")


def test_too_few_steps_for_the_warm_up_are_told(tmp_path, capsys, monkeypatch):
    def fit(*_):
        raise UserError("enough")

    monkeypatch.setattr(run_demo.Training, "fit", fit)
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(60))
    for warmup, said in ((1000, True), (2, False)):
        flags = ["--warmup-steps", warmup, "--run", tmp_path / str(warmup)]
        assert call("--dataset", tsv, *TINY, *flags) == 2
        error = capsys.readouterr().err
        assert error.splitlines()[-1] == "run_demo.py: enough"
        assert ("fewer --warmup-steps" in error) is said
        assert f"{tmp_path / str(warmup) / 'logs'}" in error  # TensorBoard's command


def test_the_best_checkpoint_can_be_used(finished, capsys):
    assert call("translate", "--checkpoint", "best", "--run", finished / "run", "um.") == 0
    assert "best" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_training_ends_with_the_mean_of_its_newest_checkpoints_that_validates_best(
    tmp_path, capsys, monkeypatch
):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    # Four epochs; means of one, two and three; the best; the test split.
    number, losses = 2, iter([9, 8, 7, 6, 3, 1, 2, 4, 5])
    monkeypatch.setattr(run_demo.Training, "validate", lambda *_: (next(losses), 0.5))
    assert call("--dataset", tsv, "--run", tmp_path / "run", *TINY[:-1], 4) == 0
    assert f"Final weights: the mean of the newest {number} epochs, " in capsys.readouterr().err
    checkpoints = tmp_path / "run" / "checkpoints"
    readers = [tf.train.load_checkpoint(str(checkpoints / f"ckpt-{4 - n}")) for n in range(number)]
    final = tf.train.load_checkpoint(str(checkpoints / "final" / "ckpt-4"))
    names = [name for name in final.get_variable_to_shape_map() if name.startswith("model")]
    floats = [name for name in names if final.get_tensor(name).dtype == np.float32]
    assert len(floats) > 40
    for name in floats:
        mean = np.mean([reader.get_tensor(name) for reader in readers], axis=0)
        np.testing.assert_allclose(final.get_tensor(name), mean, atol=1e-6, err_msg=name)
    kept = (final, readers[0])  # all but the weights is that of the newest
    iterations = [
        reader.get_tensor("optimizer/_iterations/.ATTRIBUTES/VARIABLE_VALUE") for reader in kept
    ]
    assert iterations[0] == iterations[1] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_training_stops_without_patience_and_ends_with_its_best_epoch(
    tmp_path, capsys, monkeypatch
):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    # Four epochs of nine, the second the best; two means, the best epoch again; the test split.
    losses = iter([8, 6, 7, 7, 7, 7, 6, 5])
    monkeypatch.setattr(run_demo.Training, "validate", lambda *_: (next(losses), 0.5))
    command = ["--dataset", tsv, "--run", tmp_path / "run", *TINY[:-1], 9, "--average", 2]
    assert call(*command, "--patience", 2) == 0
    said = capsys.readouterr().err
    assert "Stopped after epoch 4: the best validation is that of epoch 2 (--patience 2)" in said
    assert "Final weights: epoch 2's, validation loss 6.000" in said
    assert "; the last epoch's loss 7.000" in said
    checkpoints = tmp_path / "run" / "checkpoints"
    best = tf.train.load_checkpoint(str(checkpoints / "best" / "ckpt-2"))
    final = tf.train.load_checkpoint(str(checkpoints / "final" / "ckpt-4"))
    for name in final.get_variable_to_shape_map():
        if name.startswith("model") and final.get_tensor(name).dtype == np.float32:
            np.testing.assert_array_equal(final.get_tensor(name), best.get_tensor(name))
    losses = iter([7, 7, 6, 5])  # again: no epoch more
    assert call(*command, "--patience", 2) == 0
    losses = iter([3, 9, 9, 9, 9, 9, 3, 5])  # more patience: the fifth is the best, and three more
    assert call(*command, "--patience", 3) == 0
    assert (
        "Stopped after epoch 8: the best validation is that of epoch 5" in capsys.readouterr().err
    )
    assert next(losses, None) is None


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_epochs_can_be_judged_by_bleu(tmp_path, capsys):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    command = ["--dataset", tsv, "--run", tmp_path / "run", *TINY, "--validate-by", "bleu"]
    assert call(*command) == 0
    history = json.loads((tmp_path / "run" / "history.json").read_text())
    assert all(0 <= row["val_bleu"] <= 100 for row in history)
    assert ", BLEU " in capsys.readouterr().err


def test_epochs_are_judged_by_the_bleu_that_the_run_is_scored_by(monkeypatch):
    pairs = as_dataset([("um", "ONE TWO THREE , FOUR .")])
    corpus = corpora.Corpus("numbers", pairs, pairs, pairs)
    found = ["one two three , four ."]
    monkeypatch.setattr(run_demo, "translator", lambda *_: lambda sources: found)
    losses = iter([2.0, 1.0, 3.0])
    monkeypatch.setattr(run_demo.Training, "validate", lambda *_: (next(losses), 0.5))
    training = tiny_training(validate_by="bleu", tokenize="none", lowercase=True)
    judged = training.judge(corpus, None)
    assert judged["val_bleu"] == pytest.approx(100.0)
    less = training.judge(corpus, None)
    value = run_demo.value_to_minimise
    assert value(less) < value(judged)  # of equal BLEU, the lower loss
    training = tiny_training(validate_by="bleu", tokenize="none", lowercase=False)
    worse = training.judge(corpus, None)
    assert worse["val_bleu"] < 25
    assert value(worse) > value(judged)


def figures(*rows):
    """Returns the history of epochs whose validation BLEU and loss are given."""
    return [
        dict(epoch=epoch, val_bleu=bleu, val_loss=loss)
        for epoch, (bleu, loss) in enumerate(rows, start=1)
    ]


def test_epochs_of_equal_bleu_go_by_loss_however_small_the_difference():
    training = tiny_training(validate_by="bleu")
    training.history = figures((95.001, 2.13), (95.0, 2.10), (95.004, 2.11))
    assert training.best_epoch == 2


def test_patience_ends_with_no_better_bleu_even_where_the_loss_falls():
    training = tiny_training(validate_by="bleu", patience=2, epochs=9)
    training.history = figures((94.0, 3.0), (95.0, 2.3), (95.0, 2.2))
    training.epoch.assign(3)
    assert not training.finished
    training.history += [dict(epoch=4, val_bleu=95.0, val_loss=2.1)]
    training.epoch.assign(4)
    assert training.finished
    assert training.best_epoch == 4  # of equal BLEU, whose weights the training ends with


def test_an_equal_loss_is_no_better_one():
    training = tiny_training(patience=1, epochs=9)
    training.history = [dict(epoch=1, val_loss=2.0), dict(epoch=2, val_loss=2.0)]
    training.epoch.assign(2)
    assert (training.best_epoch, training.finished) == (1, True)


def test_more_epochs_suit_a_run_unless_its_schedule_was_laid_out_for_them(finished, tmp_path):
    shutil.copytree(finished / "run", tmp_path / "run")
    run = runs.Run(tmp_path / "run")
    options = run.options()
    corpus = options.pop("corpus")
    run.claim({**options, "epochs": 3}, corpus)
    assert run.options()["epochs"] == 3
    run.write("params.json", {**options, "schedule": "cosine", "corpus": corpus})
    with pytest.raises(UserError, match=r"epochs is 2 there, 3 here \(a cosine schedule"):
        run.claim({**options, "schedule": "cosine", "epochs": 3}, corpus)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_cosine_ends_at_zero_with_the_last_epoch(tmp_path):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    options = ["--schedule", "cosine", "--warmup-steps", 3]
    assert call("--dataset", tsv, "--run", tmp_path / "run", *options, *TINY) == 0
    history = json.loads((tmp_path / "run" / "history.json").read_text())
    assert history[0]["learning_rate"] > 1e-3
    assert history[1]["learning_rate"] < 1e-9


def test_a_gradient_longer_than_the_clip_norm_is_cut_to_it():
    (batch,) = random_batches(1)
    steps = []
    for clip in (0.0, 1e-3):
        keras.utils.set_random_seed(3)
        training = tiny_training(clip_norm=clip, adam_epsilon=1.0)  # a step as long as its gradient
        before = [v.numpy() for v in training.transformer.trainable_variables]
        training.train_step(*batch)
        training.train_step(*batch)  # the first has a learning rate of zero
        after = [v.numpy() for v in training.transformer.trainable_variables]
        steps.append(np.sqrt(sum(((a - b) ** 2).sum() for a, b in zip(after, before, strict=True))))
    _, gradients = training.gradients(*batch)
    assert steps[1] < steps[0] / 100
    assert tf.linalg.global_norm(gradients) > 1


def test_label_smoothing_is_of_training_alone():
    (batch,) = random_batches(1)
    found = []
    for smoothing in (0.0, 0.3):
        keras.utils.set_random_seed(3)
        training = tiny_training(label_smoothing=smoothing)
        found.append(
            (float(training.validation_step(*batch)[0]), float(training.train_step(*batch)[0]))
        )
    assert found[0][0] == found[1][0] == pytest.approx(found[0][1])
    assert found[1][1] != pytest.approx(found[1][0], rel=1e-3)


def test_a_run_without_a_final_checkpoint_uses_the_newest(finished, capsys, tmp_path):
    shutil.copytree(finished / "run", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "final")
    assert call("translate", "--run", tmp_path / "run", "um.") == 0
    assert str(tmp_path / "run" / "checkpoints" / "ckpt") in capsys.readouterr().err
    assert call("translate", "--checkpoint", "final", "--run", tmp_path / "run", "um.") == 2
    assert "final: no checkpoint yet" in capsys.readouterr().err


def test_a_run_older_than_a_parameter_has_its_default_and_goes_on(finished, tmp_path, capsys):
    shutil.copytree(finished / "run", tmp_path / "run")
    saved = json.loads((tmp_path / "run" / "params.json").read_text())
    for name in ("beam", "words_a_piece"):
        del saved[name]
    (tmp_path / "run" / "params.json").write_text(json.dumps(saved))
    options = runs.Run(tmp_path / "run").options()
    assert (options["beam"], options["words_a_piece"]) == (params.BEAM, params.WORDS_A_PIECE)
    hashes = {name.removesuffix("_sha256"): saved[name] for name in saved if "_sha256" in name}
    options = {row.name: options[row.name] for row in params.table()}
    with pytest.raises(UserError, match="words_a_piece is 220 there, 100 here"):
        runs.Run(tmp_path / "run").claim(options | {"words_a_piece": 100}, {}, **hashes)
    runs.Run(tmp_path / "run").claim(options, {"dataset": "bundled"}, **hashes)
    del saved["corpus"]
    (tmp_path / "run" / "params.json").write_text(json.dumps(saved))
    with pytest.raises(UserError, match="corpus names no data"):
        runs.Run(tmp_path / "run").options()


def test_the_newest_run_is_used_where_none_is_named(finished, capsys, monkeypatch):
    monkeypatch.setattr(runs, "RUNS", finished)
    assert call("translate", "um.") == 0
    assert str(finished / "run") in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_more_epochs_go_on_as_if_never_stopped(tmp_path):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    weights = []
    for name, epochs in (("whole", [3]), ("parts", [1, 3])):
        for last in epochs:
            options = [*TINY[:-1], last]
            assert call("--dataset", tsv, "--run", tmp_path / name, *options) == 0
        history = json.loads((tmp_path / name / "history.json").read_text())
        assert [row["epoch"] for row in history] == [1, 2, 3]
        path = checkpoints.paths(tmp_path / name / "checkpoints")[-1]
        assert path.endswith("-3")
        reader = tf.train.load_checkpoint(path)
        shapes = reader.get_variable_to_shape_map()
        weights.append({n: reader.get_tensor(n) for n in shapes if n.startswith("model")})
    assert len(weights[0]) > 40  # every variable of the model, whatever the optimizer saves
    for name, value in weights[0].items():
        np.testing.assert_allclose(weights[1][name], value, atol=1e-6, err_msg=name)
    kept = sorted(path.name for path in (tmp_path / "whole" / "checkpoints").glob("*.index"))
    assert kept == ["ckpt-1.index", "ckpt-2.index", "ckpt-3.index"]


def test_a_folder_of_another_run_is_refused_with_what_differs(finished, capsys):
    before = (finished / "run" / "params.json").read_text()
    tsv = finished / "numbers.tsv"
    code = call("--dataset", tsv, "--run", finished / "run", *TINY, "--dff", 64, "--seed", 7)
    error = capsys.readouterr().err.splitlines()[-1]
    assert code == 2
    assert "dff is 32 there, 64 here" in error
    assert "seed is 42 there, 7 here" in error
    assert (finished / "run" / "params.json").read_text() == before


@pytest.mark.usefixtures("undrawn")
def test_other_data_under_the_same_name_are_refused_and_the_same_elsewhere_are_not(
    finished, tmp_path, capsys
):
    shutil.copytree(finished / "run", tmp_path / "run")
    text = (finished / "numbers.tsv").read_text()
    (tmp_path / "numbers.tsv").write_text(text.replace("zero", "nought", 1))
    command = ["--run", tmp_path / "run", *LEARNING, "--dataset"]
    assert call(*command, tmp_path / "numbers.tsv") == 2
    assert "text is another" in capsys.readouterr().err
    (tmp_path / "moved.tsv").write_text(text)
    assert call(*command, tmp_path / "moved.tsv") == 0
    assert "2 epoch(s) done" in capsys.readouterr().err


# ---- TFDS: its own builder, on an archive of our sentences in TED's layout ----


@pytest.fixture
def ted(tmp_path, monkeypatch):
    """Points TFDS's TED builder at an address, and its data folder at an empty one."""
    import tensorflow_datasets as tfds
    from tensorflow_datasets.core.download import checksums
    from tensorflow_datasets.datasets.ted_hrlr_translate import (
        ted_hrlr_translate_dataset_builder as module,
    )

    monkeypatch.setattr(tfds.core.constants, "DATA_DIR", str(tmp_path / "tensorflow_datasets"))

    def point_to(url, content=b""):
        info = checksums.UrlInfo(
            len(content), hashlib.sha256(content).hexdigest(), "qi18naacl-dataset.tar.gz"
        )
        monkeypatch.setattr(module, "_DATA_URL", url)
        monkeypatch.setattr(module.Builder, "url_infos", {url: info})

    return point_to


@pytest.fixture
def archive(tmp_path):
    """Serves an archive in TED's layout on this machine. Gives its address and content."""
    pairs = sentences(160)
    folder = tmp_path / "served"
    data = folder / "datasets" / "pt_to_en"
    data.mkdir(parents=True)
    for split, part in (("train", pairs[:140]), ("dev", pairs[140:150]), ("test", pairs[150:])):
        for side, language in enumerate(("pt", "en")):
            text = "\n".join(pair[side] for pair in part)
            (data / f"{language}.{split}").write_text(text, encoding="utf-8")
    with tarfile.open(folder / "ted.tar.gz", "w:gz") as tar:
        tar.add(folder / "datasets", "datasets")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/ted.tar.gz", (folder / "ted.tar.gz").read_bytes()
    server.shutdown()


@pytest.mark.usefixtures("undrawn")
def test_tfds_downloads_prepares_and_trains(ted, archive, tmp_path, capsys):
    ted(*archive)
    assert call("--run", tmp_path / "run", *TINY[:-1], 1) == 0  # the unnamed default
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert scores["dataset"] == "ted_hrlr_translate/pt_to_en"
    assert scores["lines"] == 10
    ted("http://127.0.0.1:9/gone")  # prepared data needs no network
    assert call("evaluate", "--run", tmp_path / "run") == 0
    assert "bundled" not in capsys.readouterr().err


def test_the_unnamed_default_falls_back_to_the_bundled_corpus_and_says_so(ted, capsys):
    ted("http://127.0.0.1:9/gone")
    source = {"dataset": params.DATA_PATH}
    assert run_demo.load_corpus(source, 1, may_fall_back=True).name == "bundled"
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "ted_hrlr_translate/pt_to_en cannot be downloaded" in error
    assert "bundled" in error


def test_a_named_dataset_never_falls_back(ted, capsys):
    ted("http://127.0.0.1:9/gone")
    assert call("--dataset", params.DATA_PATH) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"run_demo.py: --dataset {params.DATA_PATH}: no connection to")


def test_only_a_failed_download_falls_back(ted, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", None)  # as if it were not installed
    with pytest.raises(ModuleNotFoundError):
        run_demo.load_corpus({"dataset": params.DATA_PATH}, 1, may_fall_back=True)


def test_one_host_of_several_is_enough_and_an_answer_of_failure_is_none(archive):
    url, _ = archive
    downloads.probe(["http://127.0.0.1:9/", url])
    with pytest.raises(ConnectionError):
        downloads.probe([url + ".missing"])  # the server says 404


def test_a_host_that_never_answers_is_given_up_within_seconds(monkeypatch):
    monkeypatch.setattr(downloads, "PROBE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(ConnectionError):
        downloads.probe([f"http://127.0.0.1:{silent.getsockname()[1]}/"])


# ---- What users can get wrong ----


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "missing.tsv"], "missing.tsv: No such file"),
        (["--train", "missing.pt", "missing.en"], "missing.pt: No such file"),
        (["--dataset", "no_such_dataset"], "--dataset no_such_dataset: "),
        (["--dataset", "ted_hrlr_translate/xx_to_yy"], "BuilderConfig xx_to_yy not found"),
        (["--dataset", "mnist"], "holds no source and target text"),
        (["--dataset", ""], "--dataset "),
        (["--dataset", "bundled", "--test", "x.tsv"], "--valid and --test go with"),
        (["--valid", "x.tsv"], "--valid and --test go with"),
        (["--dataset", "pairs.txt"], "pairs.txt: is a file; name a .tsv"),
        (["--dataset", "empty.tsv"], "empty.tsv: holds no pair"),
        (["--dataset", "one-column.tsv"], "one-column.tsv:2: 1 column(s)"),
        (["--dataset", "latin1.tsv"], "latin1.tsv:1: byte 2 of the line is not UTF-8"),
        (["--train", "three.txt", "pairs.txt"], "pairs.txt: ends at line 1"),
        (["--dataset", "blank.tsv", "--test", "good.tsv"], "holds no words"),
        (["--dataset", "good.tsv", "--max-length", "2"], "raise --max-length"),
        (["--dataset", "ted_hrlr_translate/pt_to_en:9.9.9"], "--dataset ted_hrlr_translate/pt"),
        (["--dataset", "bundled", "--train", "a", "b"], "choose one"),
        (["--d-model", "100"], "--d-model 100 is not a multiple of --num-heads 8"),
        (["--epochs", "-1"], "argument --epochs: -1 is less than 1"),
        (["--epochs", "many"], "argument --epochs: invalid int value: 'many'"),
        (["--dropout-rate", "1.5"], "1.5 is more than 0.99"),
        (["--dropout-rate", "nan"], "nan is less than 0.0"),
        (["--no-such-flag"], "unrecognized arguments"),
        (["no-such-command"], "invalid choice"),
        (["translate", "--run", "nothing-here", "Bom dia."], "nothing-here: no trained run"),
        (["translate", "Bom dia."], "no trained run"),
        (["evaluate", "--run", "nothing-here"], "nothing-here: no trained run"),
        (["plot", "no-such-picture"], "invalid choice"),
        (["--dataset", "bundled", "--run", "/dev/null/run"], "/dev/null/run"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2_and_trains_nothing(
    arguments, said, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    files = {
        "pairs.txt": "um\tone\n",
        "three.txt": "um\ndois\ntrês\n",
        "empty.tsv": "",
        "one-column.tsv": "um\tone\ndois\n",
        "latin1.tsv": "é\t1\n".encode("latin1").replace(b"\xe9", b"a\xe9"),
        "blank.tsv": " \t \n" * 200,
        "good.tsv": "".join(f"{s}\t{t}\n" for s, t in sentences(100)),
    }
    for name, content in files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert call(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    line = output.err.splitlines()[-1]
    assert line.startswith("run_demo.py: ")
    assert said in line
    assert not list(tmp_path.rglob("checkpoint*"))


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_start_that_failed_does_not_bar_the_corrected_command(tmp_path, capsys, monkeypatch):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(100))
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    command = ["--dataset", tsv, "--run", tmp_path / "run", *TINY[:-1], 1]
    assert call(*command, "--max-length", 2) == 2
    assert call("translate", "um.") == 2  # and nothing is taken for a trained run
    assert "no trained run" in capsys.readouterr().err
    assert call(*command) == 0
    said = capsys.readouterr().err
    assert "epochs end in about" not in said  # too few steps to tell
    sentence = re.search(r"translate --run \S+/run '?([^'\n]+)'?", said)[1]
    assert call("translate", "--run", tmp_path / "run", sentence) == 0


def test_sentences_are_typed_at_a_prompt(finished, monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO("um dois.\ntrês.\n".encode())
        isatty = staticmethod(lambda: True)

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert call("translate", "--run", finished / "run") == 0
    said = capsys.readouterr()
    assert said.out.count("\n") == 2
    assert said.err.count("> ") == 3  # the last is answered by Ctrl-D
    assert "Ctrl-D ends" in said.err


def test_bad_text_on_stdin_is_named_with_its_line(finished, monkeypatch, capsys):
    class Stdin:
        buffer = iter([b"um.\n", b"\xff\n"])
        isatty = staticmethod(bool)  # no

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert call("translate", "--run", finished / "run") == 2
    assert "stdin:2: byte 1 of the line is not UTF-8" in capsys.readouterr().err


def test_bad_text_as_an_argument_is_named(finished, capsys):
    bad = os.fsdecode(b"um \xff.")
    assert call("translate", "--run", finished / "run", "um.", bad) == 2
    assert "argument:2: byte 4 of the line is not UTF-8" in capsys.readouterr().err
    assert call("plot", "attention", bad, "--run", finished / "run") == 2
    assert "argument:1: byte 4 of the line is not UTF-8" in capsys.readouterr().err


def test_a_gpu_that_tensorflow_does_not_see_is_named_with_the_remedy(tmp_path, monkeypatch, capsys):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA Test (UUID: GPU-1)'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(devices, "gpus", lambda: ([], "no library for it"))
    devices.find(run_demo.say)
    error = capsys.readouterr().err
    assert "NVIDIA Test" in error
    assert error.endswith("no library for it\n")
    assert "pip install 'tensorflow[and-cuda]==2.21" in error
    tool.write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    devices.find(run_demo.say)
    assert "pip" not in capsys.readouterr().err


# ---- The command line ----


def test_every_constant_is_a_flag_with_its_default_and_help(capsys):
    assert call("train", "--help") == 0
    text = "".join(capsys.readouterr().out.split())  # argparse breaks lines at hyphens too
    for row in params.table():
        assert f"--{row.name.replace('_', '-')}" in text
        assert "".join(f"{row.flag.help} (default {row.default})".split()) in text
    values = {name.lower(): value for name, value in vars(params).items() if name.isupper()}
    sections = {name for name, value in values.items() if isinstance(value, params.Section)}
    assert set(values) - sections - {"presets"} == {row.name for row in params.table()}


def test_half_a_flag_is_refused_before_anything_begins(capsys, tmp_path):
    assert call("--num-layer", 2, "--run", tmp_path / "run") == 2
    assert "--num-layer" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["translate", "explore"])
def test_the_name_of_a_file_is_no_sentence(finished, capsys, tmp_path, command):
    (tmp_path / "text").write_text("um.\n")
    assert call(command, "um.", tmp_path / "text", "--run", finished / "run") == 2
    said = capsys.readouterr()
    assert f"{tmp_path / 'text'}: is a file, not a sentence" in said.err
    assert said.out == ""


@pytest.mark.parametrize("length", [300, 5000])
def test_a_sentence_may_be_longer_than_any_files_name(finished, capsys, length):
    text = ("um dois " * length)[:length].strip()
    assert call("translate", "--run", finished / "run", text) == 0
    assert capsys.readouterr().out.count("\n") == 1
    assert call("--dataset", "x" * length) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_help_names_the_commands_first_then_the_flags_in_the_groups_of_params(capsys):
    assert call("--help") == 0
    text = capsys.readouterr().out
    titles = list(dict.fromkeys(row.section for row in params.table()))
    assert len(titles) == len([v for v in vars(params).values() if isinstance(v, params.Section)])
    told = ["train      train", "translate  ", "plot       "] + [f"\n{title}:" for title in titles]
    places = [text.index(words) for words in told]
    assert places == sorted(places)
    for row in params.table():
        flag = text.index(f"\n  --{(row.flag.also or row.name).replace('_', '-')}")
        assert [title for title in titles if text.index(f"\n{title}:") < flag][-1] == row.section


def test_a_command_of_its_own_needs_no_train_before_the_flags():
    args = run_demo.command_line().parse_args(["train", "--mixed-precision", "--epochs", "3"])
    options = flags.chosen(args)
    assert options["mixed_precision"] is True
    assert options["epochs"] == 3
    assert options["d_model"] == params.D_MODEL


@pytest.mark.parametrize("preset", params.PRESETS)
def test_a_preset_is_a_row_of_known_values_that_flags_go_before(preset, capsys):
    rows = {row.name: row for row in params.table()}
    for name, value in params.PRESETS[preset].values.items():
        flag = rows[name].flag
        assert type(value) is rows[name].type
        assert value != rows[name].default
        assert flag.choices is None or value in flag.choices
        assert flag.low is None or value >= flag.low
        assert flag.high is None or value <= flag.high
    args = run_demo.command_line().parse_args(["train", "--dff", "48", "--no-tie-embeddings"])
    options = flags.chosen(args, preset)
    assert options["dff"] == 48
    assert options["tie_embeddings"] is False
    own = {
        n: v for n, v in params.PRESETS[preset].values.items() if n not in ("dff", "tie_embeddings")
    }
    assert options.items() >= own.items()
    for command in (["--help"], ["train", "--help"]):
        assert call(*command) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert f"{preset}: {params.PRESETS[preset].source}" in text


@pytest.mark.slow
def test_a_checkpoint_too_large_for_the_disk_is_one_line_and_the_run_goes_on_later(tmp_path):
    tsv = write_tsv(tmp_path / "numbers.tsv", sentences(150))
    run = tmp_path / "run"
    command = [sys.executable, str(ROOT / "run_demo.py"), "--dataset", str(tsv), "--run", str(run)]

    def limit_files():  # to less than a checkpoint, more than the tokenizer
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    wide = [*TINY, "--dff", "4096"]
    limited = subprocess.run(
        [*command, *wide], preexec_fn=limit_files, capture_output=True, text=True, check=False
    )
    assert limited.returncode == 2, limited.stderr
    last = limited.stderr.strip().splitlines()[-1]
    assert last.startswith(f"run_demo.py: {run}")
    assert "Traceback" not in limited.stderr
    assert subprocess.run([*command, *wide], capture_output=True, check=False).returncode == 0
