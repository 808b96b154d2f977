"""What must hold of training: the step, one device or several, and the epochs."""

import ast
import functools
import inspect
import json
import sys
import textwrap
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf
from helpers import (
    ROOT,
    as_dataset,
    of_epoch,
    random_batches,
    run_process,
    sentences,
    tiny_training,
)

import run_demo
from nmt import UserError
from nmt.corpus import batches as batching
from nmt.corpus import corpora
from nmt.options import Options
from nmt.runs.folder import Run
from nmt.training import checkpoints, step
from nmt.training.loop import Epochs
from transformer_model import END, PAD, START

# ---- The step ----


def names_in_order(function):
    """Returns the names that a function's text assigns, calls or reads, in order of first use."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    return [*dict.fromkeys(getattr(node, "id", None) or node.attr for node in nodes)]


def in_order(function, names):
    """Returns those of `names` that a function uses, in the order of first use."""
    return [name for name in names_in_order(function) if name in names]


def test_the_step_has_the_lines_of_the_tutorial_in_their_order():
    tutorial = [
        "tar_inp", "tar_real", "GradientTape", "predictions", "transformer", "loss",
        "loss_function", "gradients", "gradient", "apply_gradients", "train_loss",
        "train_accuracy", "accuracy_function",
    ]  # fmt: skip
    step = run_demo.Step.train_step.python_function
    assert in_order(step, tutorial) == tutorial
    assert len(inspect.getsource(step).splitlines()) < 22


def test_a_run_shows_data_network_step_loop_translating_scores_and_pictures():
    course = [
        "corpus", "tokenizer", "batches", "new_network", "Step", "epochs", "epoch", "train_step",
        "translate_test", "score_test", "report", "draw",
    ]  # fmt: skip
    assert in_order(run_demo.train, course) == course
    network = ["Transformer", "CustomSchedule", "Adam"]
    assert in_order(run_demo.new_network, network) == network
    loops = [node for node in ast.walk(ast.parse(inspect.getsource(run_demo.train)))
             if isinstance(node, ast.For)]  # fmt: skip
    assert [ast.unparse(node.target) for node in loops] == ["epoch", "(inp, tar)"]
    assert ast.unparse(loops[1].body) == "step.train_step(inp, tar)"


def test_importing_runs_nothing_and_one_guard_ends_the_program():
    tree = ast.parse((ROOT / "run_demo.py").read_text())
    calls = [node for node in tree.body if isinstance(node, ast.Expr | ast.For | ast.With)]
    assert [ast.get_docstring(tree)] == [inspect.cleandoc(node.value.value) for node in calls]
    guards = [ast.unparse(node.test) for node in tree.body if isinstance(node, ast.If)]
    assert guards == ["__name__ == '__main__'"]


def test_the_story_refuses_what_the_tutorial_does_not_have():
    one, two = SimpleNamespace(num_replicas_in_sync=1), SimpleNamespace(num_replicas_in_sync=2)
    step.check_story(Options(decoder_layers=4), one)  # as many as the encoder has
    for strategy, changes, said in (
        (one, dict(label_smoothing=0.1), "--label-smoothing 0"),
        (one, dict(accumulate=2), "--accumulate 1"),
        (one, dict(clip_norm=1.0), "--clip-norm 0"),
        (one, dict(mixed_precision=True), "bfloat16"),
        (one, dict(xla="on"), "--xla off"),
        (one, dict(optimizer="muon"), "Muon"),
        (one, dict(schedule="cosine"), "--schedule inverse-sqrt"),
        (one, dict(pre_norm=True), "another form"),
        (two, {}, "several devices"),
    ):
        with pytest.raises(UserError, match=said):
            step.check_story(Options(**changes), strategy)


# ---- What it learns ----


def test_a_step_reports_loss_before_it_and_learns_from_the_mean_over_real_tokens():
    inp = tf.constant([[START, 5, 6, END], [START, 7, END, PAD]])
    tar = tf.constant([[START, 8, 9, END], [START, 9, END, PAD]])
    keras.utils.set_random_seed(3)
    training = tiny_training()
    expected, hits, tokens = training.validator.validate_batch(inp, tar).numpy()
    loss, hits_before, tokens_before = training.train_batch(inp, tar).numpy()
    assert tokens == tokens_before == 5
    assert hits == hits_before
    assert loss == pytest.approx(expected, rel=1e-5)
    for _ in range(60):
        training.train_batch(inp, tar)
    assert training.validator.validate_batch(inp, tar).numpy()[0] < loss / 4


@pytest.mark.usefixtures("eagerly")
def test_padding_rows_and_columns_change_no_gradient():
    inp = tf.constant([[START, 5, 6, END], [START, 7, END, PAD]])
    tar = tf.constant([[START, 8, 9, END], [START, 9, END, PAD]])
    after = []
    for padding in (0, 3):
        keras.utils.set_random_seed(3)
        training = tiny_training()
        pad = [[0, padding], [0, padding]]
        for _ in range(3):
            training.train_batch(tf.pad(inp, pad), tf.pad(tar, pad))
        after.append(training.validator.validate_batch(inp, tar).numpy())
    np.testing.assert_allclose(after[0], after[1], rtol=1e-4)


def in_a_process(script, *arguments):
    """Runs a Python script in a process of its own. Returns what it prints."""
    return run_process([sys.executable, "-c", script, *arguments], check=True).stdout


def test_accumulated_batches_teach_what_one_larger_batch_does():
    batches = random_batches(3, rows=4)
    groups = [batches[:2], batches[2:]]
    joined = [
        tuple(tf.concat(side, axis=0) for side in zip(*group, strict=True)) for group in groups
    ]
    after = []
    for some, together in ((batches, 2), (joined, 1)):
        keras.utils.set_random_seed(3)
        training = tiny_training(accumulate=together)
        data = tf.data.Dataset.from_generator(
            functools.partial(iter, some),
            output_signature=(tf.TensorSpec((None, None), tf.int32),) * 2,
        )
        figures = [of_epoch(training, data, len(some)) for _ in range(3)]
        assert int(training.optimizer.iterations) == 6  # two an epoch
        traces = training.train_batch.experimental_get_tracing_count()
        assert traces == 1 + (together > 1)  # one of each kind for all shapes
        after.append(figures)
    np.testing.assert_allclose(*after, rtol=1e-4)


def test_each_epoch_and_each_seed_has_an_order_of_its_own(tokenizer, tmp_path, monkeypatch):
    orders = []

    def read(epochs, batches, *_):
        orders.append([tuple(row) for inp, _ in batches for row in inp.numpy().tolist()])
        yield from ()

    monkeypatch.setattr(Epochs, "train_on", read)
    monkeypatch.setattr(Epochs, "end_epoch", lambda *_: None)
    tokenizer = run_demo.Tokenizer(tokenizer.model)  # the seeds of other tests end older ones
    pairs = as_dataset(sentences(60))
    batches = batching.Batches(pairs, tokenizer, 8, 40)
    corpus = corpora.Corpus("numbers", pairs, pairs, pairs)
    for seed in (1, 9, 1):
        training = tiny_training(seed=seed, epochs=2, vocab_size=tokenizer.vocab_size)
        keeper = checkpoints.Keeper(training.checkpoint, Run(tmp_path), 1, 60)
        monkeypatch.setattr(keeper, "save", lambda *_: None)
        training.fit(keeper, corpus, tokenizer, batches)
    assert orders[4:] == orders[:2]  # the same seed
    assert len({*map(tuple, orders[:4])}) == 4
    assert all(sorted(order) == sorted(orders[0]) for order in orders)


@pytest.mark.slow
def test_a_compiled_step_is_traced_once_static_and_stays_on_its_device(tokenizer):
    """What a GPU needs, told without one: from what XLA makes of the step for each bucket."""
    pairs = as_dataset(sentences(200))
    tokenizer = run_demo.Tokenizer(tokenizer.model)  # the seeds of other tests end older ones
    training = tiny_training(xla="on", vocab_size=tokenizer.vocab_size)
    batches = batching.Batches(pairs, tokenizer, 8, 40, max_buckets=3)
    compiled, compiler = [], training.step.compiled
    training.step.compiled = lambda function: compiled.append(compiler(function)) or compiled[-1]
    for seed in range(2):
        of_epoch(training, batches.epoch(100, seed), batches.per_epoch)
        assert training.train_batch.experimental_get_tracing_count() == 1
        assert [function.experimental_get_tracing_count() for function in compiled] == [1]
        assert training.optimizer.update_device.experimental_get_tracing_count() == 1
    assert len(batches.lengths) > 1
    for inp, tar in {inp.shape: (inp, tar) for inp, tar in batches.epoch(100, 1)}.values():
        ids = inp, tar[:, :-1], tar[:, 1:]
        program = compiled[0].experimental_get_compiler_ir(*ids)(stage="hlo")
        assert f"s32[{inp.shape[0]},{inp.shape[1]}]" in program
        for word in ("<=", "infeed", "outfeed", "send(", "recv(", "custom-call"):
            assert word not in program
    graph = training.train_batch.get_concrete_function(*batches.epoch(100, 1).element_spec).graph
    types = {operation.type for operation in graph.get_operations()}
    assert not {"PyFunc", "EagerPyFunc"} & types
    assert not {"MatMul", "ResourceApplyAdam"} & types  # all within the compiled functions


def test_a_loop_that_leaves_batches_out_is_no_epoch(tokenizer, tmp_path):
    tokenizer = run_demo.Tokenizer(tokenizer.model)  # the seeds of other tests end older ones
    pairs = as_dataset(sentences(60))
    batches = batching.Batches(pairs, tokenizer, 8, 40)
    training = tiny_training(epochs=1, vocab_size=tokenizer.vocab_size)
    keeper = checkpoints.Keeper(training.checkpoint, Run(tmp_path), 1, 60)
    text = batching.Text(corpora.Corpus("numbers", pairs, pairs, pairs), tokenizer, batches)
    training.epochs.begin(keeper, text)

    def leave_out():
        for epoch in training.epochs:
            next(epoch.batches)

    with pytest.raises(UserError, match="epoch 1: the loop over its batches ended before"):
        leave_out()
    assert not checkpoints.paths(tmp_path / "checkpoints")


def split_arrays(path):
    """Returns the two halves of the arrays of an .npz."""
    with np.load(path) as arrays:
        values = [arrays[f"arr_{number}"] for number in range(len(arrays.files))]
    return values[: len(values) // 2], values[len(values) // 2 :]


@pytest.mark.slow
def test_two_replicas_learn_what_one_device_learns(tmp_path):
    script = f"""
import sys; sys.path.insert(0, {str(ROOT)!r}); sys.path.insert(0, {str(ROOT / "tests")!r})
import numpy as np, tensorflow as tf, keras
two, xla = sys.argv[1] != "one", sys.argv[1] == "compiled"
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import run_demo
from nmt.corpus import batches as batching
from helpers import Training, as_dataset, of_epoch, sentences
from nmt.options import Options
pairs = as_dataset(sentences(120))
keras.utils.set_random_seed(1)
tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(pairs, 320))
strategy = tf.distribute.get_strategy()
if two:
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
options = Options(
    num_layers=1, d_model=8, dff=16, num_heads=2, dropout_rate=0.0, warmup_steps=200,
    xla="on" if xla else "off", accumulate=2, clip_norm=0.5, schedule="cosine",
)
training = Training(options, tokenizer.vocab_size, strategy)
batches = batching.Batches(pairs, tokenizer, 16, 40, replicas=2)
figures = [training.validator.loss_and_accuracy(pairs, tokenizer)]

# First a step from one batch, of which the second replica's rows are all padding.
def first_half(*batch):
    half = tf.shape(batch[0])[0] // 2
    return tuple(tf.concat([ids[:half], tf.zeros_like(ids[half:])], axis=0) for ids in batch)

epochs = [batches.epoch(100, n) for n in range(3)]
figures.append(of_epoch(training, epochs[0].take(1).map(first_half), 1))
variables = training.transformer.trainable_variables
moments = training.optimizer.optimizer.momentums
np.savez(sys.argv[2], *(v.numpy() for v in [*variables, *moments]))

for epoch in epochs:
    figures.append(of_epoch(training, epoch, batches.per_epoch))
print(np.array(figures).tolist())
"""
    # Compiled, as on GPUs; test_cluster.py has two replicas that are not.
    paths = {how: tmp_path / f"{how}.npz" for how in ("one", "compiled")}
    one, two = (np.array(json.loads(in_a_process(script, how, paths[how]))) for how in paths)
    np.testing.assert_allclose(two[:, 0], one[:, 0], rtol=1e-4)  # loss
    np.testing.assert_allclose(two[:, 1], one[:, 1], atol=0.005)  # accuracy: near ties
    weights, moments = zip(*(split_arrays(path) for path in paths.values()), strict=True)
    largest = max(np.abs(moment).max() for moment in moments[0])
    for moment, other in zip(*moments, strict=True):  # after one step, a tenth of the gradient
        np.testing.assert_allclose(other, moment, rtol=0, atol=1e-5 * largest)
    for weight, other, moment in zip(*weights, moments[0], strict=True):
        # Adam divides a gradient by its own size, also one that is a rounding error.
        is_clear = np.abs(moment) > 1e-3 * largest
        np.testing.assert_allclose(other[is_clear], weight[is_clear], rtol=0, atol=1e-6)


@pytest.mark.slow
def test_two_replicas_drop_values_of_their_own():
    script = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from nmt.network import layers
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    layer = layers.Dropout(0.5, seed=1)
for compiled in (None, True):
    drop = tf.function(lambda x: layer(x, training=True), jit_compile=compiled)
    step = tf.function(lambda: strategy.run(lambda x: drop(x), args=[tf.ones((40, 50))]))
    one, other = (value.numpy() for value in strategy.experimental_local_results(step()))
    print(float((one == other).mean()))
"""
    for same in in_a_process(script).split():
        assert 0.4 < float(same) < 0.6
