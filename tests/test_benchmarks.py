"""What must hold of the benchmarks: each runs, in miniature, and prints its table.

Rows of other systems are there where their packages are: the extra `benchmarks`.
"""

import collections
import importlib.util
import itertools
import re
import runpy
import sys

import keras
import numpy as np
import pytest
from helpers import ROOT, run_process, sentences, write_tsv

from nmt.options import Options

sys.path.insert(0, str(ROOT / "benchmarks"))
import train_speed

from transformer_model import PAD

SMALL = "--num-layers 1 --d-model 16 --dff 32 --num-heads 2".split()
ONE_ROUND = "--rounds 1 --seconds 0.05".split()
OURS = ["this project, plain form", "this project"]
KERAS = "Keras MultiHeadAttention, as the tutorial of 2023, fit"
KERAS_HUB = "KerasHub layers, fit"
PYTORCH = [f"PyTorch nn.Transformer, {how}" for how in ("eager", "torch.compile")]


def needs(*packages):
    """Skips a test where one of `packages` is not installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    reason = f"not installed: {', '.join(missing)} (the extra `benchmarks`)"
    return pytest.mark.skipif(bool(missing), reason=reason)


# PyTorch's compiler is not what is tested here, and takes half a minute.
VARIABLES = {"TORCHDYNAMO_DISABLE": "1"}


def tables(program, *arguments):
    """Runs a benchmark in a process. Returns the markdown tables that it prints."""
    command = [sys.executable, ROOT / "benchmarks" / program, *arguments]
    done = run_process(command, VARIABLES, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    return tables_of(done.stdout)


def tables_of(printed):
    """Returns the markdown tables in a text, as lists of rows by column."""
    page_tables = []
    for is_table, lines in itertools.groupby(printed.splitlines(), lambda s: s[:1] == "|"):
        if is_table:
            head, rule, *rows = (line.strip("| ").split(" | ") for line in lines)
            assert set("".join(rule)) == {"-", "|"}
            page_tables.append([dict(zip(head, row, strict=True)) for row in rows])
    return page_tables


@pytest.fixture
def tables_here(monkeypatch, capsys):
    """A function like `tables` that runs a benchmark in this process, which has TensorFlow."""

    def run(program, *arguments):
        path = ROOT / "benchmarks" / program
        monkeypatch.setattr(sys, "argv", [str(path), *map(str, arguments)])
        capsys.readouterr()
        runpy.run_path(str(path), run_name="__main__")
        return tables_of(capsys.readouterr().out)

    return run


def numbers(cell):
    """Returns the numbers of a cell, which is to hold one at least, and nothing negative."""
    values = [float(text.replace(",", "")) for text in re.findall(r"-?\d[\d,]*\.?\d*", cell)]
    assert values, cell
    assert min(values) >= 0
    return values


@pytest.fixture(scope="module")
def tsv(tmp_path_factory):
    """A .tsv of 150 pairs."""
    return write_tsv(tmp_path_factory.mktemp("text") / "numbers.tsv", sentences(150))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A file of few sentences, all of three words."""
    lines = [source for source, _ in sentences(40) if len(source.split()) == 3]
    path = tmp_path_factory.mktemp("sources") / "sources.txt"
    path.write_text("".join(f"{line}\n" for line in lines[:6]), encoding="utf-8")
    return path


# ---- What others drop in training ----


@pytest.fixture
def dropped(monkeypatch):
    """Counts, by kind, the values that Keras's and PyTorch's layers drop from then on."""
    counts = collections.Counter()

    def count(shape, rate):
        if rate > 0:
            kind = {8: "residual", 16: "ffn"}[shape[-1]] if len(shape) == 3 else "attention"
            counts[kind] += 1

    original = keras.layers.Dropout.call

    def spy(layer, inputs, training=False):
        count(inputs.shape, layer.rate if training else 0)
        return original(layer, inputs, training=training)

    monkeypatch.setattr(keras.layers.Dropout, "call", spy)
    if importlib.util.find_spec("torch"):
        from torch.nn import functional

        dropout, attend = functional.dropout, functional.scaled_dot_product_attention

        def dropout_spy(x, p=0.5, training=True, inplace=False):
            count(x.shape, p if training else 0)
            return dropout(x, p, training, inplace)

        def attend_spy(q, k, v, mask=None, dropout_p=0.0, is_causal=False):
            count(q.shape, dropout_p)
            return attend(q, k, v, mask, dropout_p, is_causal)

        monkeypatch.setattr(functional, "dropout", dropout_spy)
        monkeypatch.setattr(functional, "scaled_dot_product_attention", attend_spy)
    return counts


@pytest.mark.parametrize(
    "system",
    [
        pytest.param("keras_attention", marks=needs()),
        pytest.param("keras_hub", marks=needs("keras_hub")),
        pytest.param("torch", marks=needs("torch")),
    ],
)
def test_every_system_drops_embeddings_and_sub_layer_outputs_alone(system, dropped):
    options = Options(
        num_layers=1, decoder_layers=2, d_model=8, dff=16, num_heads=2, dropout_rate=0.5
    )
    inp, tar = np.array([[2, 5, 6, 3, 0]]), np.array([[2, 7, 8]])
    if system == "torch":
        import torch
        from torch_network import torch_network

        network = torch_network(options, 20, PAD)
        network(torch.tensor(inp), torch.tensor(tar))
    else:
        network = getattr(train_speed, system)(keras, options, 20)
        dropped.clear()
        network((inp, tar), training=True)
    # Of the encoder's layer, of the decoder's two, of embeddings.
    assert dropped == {"residual": 2 + 2 * 3 + 2}


# ---- Each benchmark in miniature ----


@pytest.mark.slow
def test_beginner_sentences(finished, tmp_path):
    (tmp_path / "list.tsv").write_text("um dois.\t[one|an] two.\nnove.\tnothing\n")
    arguments = ["--run", finished / "run", "--list", tmp_path / "list.tsv", "--wrong"]
    done = run_process([sys.executable, ROOT / "benchmarks" / "beginner_sentences.py", *arguments])
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    assert re.search(r"^[01] of 2 right: (0|50)\.0%$", printed, re.M)
    assert re.search(r"^nove\.\t.*\tnothing$", printed, re.M)


@pytest.mark.slow
def test_crash(tsv):
    small = [*SMALL, "--vocab-size", 320]
    ((row,),) = tables("crash.py", "--kills", 1, "--train", tsv, "--", *small)
    assert (row["kills"], row["equal endings"], row["unreadable"]) == ("1", "1", "0")
    assert row["left behind"] == "0"
    assert len(numbers(row["steps again: median, most"])) == 2


@pytest.mark.slow
def test_hostile_server(finished):
    (table,) = tables("hostile_server.py", "--run", finished / "run", "--seconds", 4)
    assert [row["key"] for row in table] == ["no", "yes"]
    assert all(int(row["requests"]) > 0 == int(row["failed"]) for row in table)


@pytest.mark.slow
def test_train_speed(tables_here, tsv, monkeypatch):
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    systems = [*OURS, KERAS]
    for package, names in (("keras_hub", [KERAS_HUB]), ("torch", PYTORCH)):
        systems += names if importlib.util.find_spec(package) else []
    small = [*SMALL, *ONE_ROUND, "--vocab-size", 320, "--batch-size", 8, "--warm-up-steps", 2]
    small += ["--decoder-layers", 2]
    (table,) = tables_here("train_speed.py", "--train", tsv, *small, "--only", *systems)
    assert [row["system"] for row in table] == systems
    for row in table:
        assert min(numbers(row["real target tokens/s"])) > 0
        assert numbers(row["padding"])
        assert numbers(row["of the products"])
    assert table[0]["to plain"] == "1.00"


@pytest.mark.slow
@needs("ctranslate2")
def test_translate_speed(finished, sources):
    systems = ["this project", "CTranslate2 float32", "CTranslate2 int8", "no cache, tf.function"]
    if importlib.util.find_spec("torch"):
        systems.append("PyTorch, no cache")
    few = "--lines", 6, "--slow-lines", 2, "--sweep-lines", 2, "--batches", 3, "--rounds", 1
    small = "--source", sources, *few, "--only", *systems
    (table,) = tables("translate_speed.py", "--run", finished / "run", *small)
    rows = [(row["system"], row["search"], row["batch"]) for row in table]
    searches = list(itertools.product(("greedy", "beam 4"), ("3", "1")))
    for name in systems[:3]:
        assert {(name, *search) for search in searches} <= set(rows)
    assert set(systems) == {row["system"] for row in table}
    for row in table:
        assert min(numbers(row["sentences/s"])) > 0
        assert min(numbers(row["threads"])) >= 1
        same, of = numbers(row["same as this project"])
        # On some processors, one translation of this little network is a near tie.
        assert same >= of - 1 or "int8" in row["system"]


@pytest.mark.slow
@needs("ctranslate2")
def test_translate_file(finished, sources):
    small = "--source", sources, "--lines", 7
    (table,) = tables("translate_file.py", "--run", finished / "run", *small)
    assert [(row["system"], row["beam"]) for row in table] == [
        (system, beam) for beam in "14" for system in ("this project", "CTranslate2 float32")
    ]
    for row in table:
        assert row["same"] in ("6", "7")  # on some processors, one is a near tie
        assert all(map(numbers, list(row.values())[1:]))


@needs("torch")
def test_pytorch_is_measured_on_a_gpu_without_tensorflow_in_the_process():
    code = "import gpu_pytorch, sys; print('torch' in sys.modules, 'tensorflow' in sys.modules)"
    process = run_process([sys.executable, "-c", code], cwd=ROOT / "benchmarks")
    assert process.stdout.split() == ["True", "False"]


@pytest.mark.slow
def test_gpu():
    everything = tables("gpu.py", "--miniature", "--only", "equality", "training", "pytorch")
    equality, training, pytorch = everything
    assert [row["right"] for row in equality] == ["True"] * 4
    assert (len(training), len(pytorch)) == (4, 2)
    for row in training + pytorch:
        assert float(row["tokens/s"].replace(",", "")) > 0


def test_data_recognizes_the_dirt_that_a_script_puts_into_clean_text(tables_here, tmp_path):
    clean = (ROOT / "data" / "pt_en" / "test.tsv").read_text(encoding="utf-8").splitlines()
    for side, name in enumerate(("a.pt", "a.en")):
        lines = [line.split("\t")[side] + "\n" for line in clean]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    (tmp_path / "a.de").write_text("Die Katze schläft auf dem alten Stuhl.\n" * 9, encoding="utf-8")
    text = [tmp_path / "a.pt", tmp_path / "a.en", "--other", tmp_path / "a.de"]
    recall, precision = tables_here(
        "cleaning.py", *text, "--folder", tmp_path / "dirty", "--clean", 300, "--each", 5
    )
    unsure = {"target of the next line", "target of any line"}  # nothing but their length is wrong
    for row in recall:
        if row["dirt"] not in unsure:
            assert row["recall"] == "100%", row
    all_problems = next(row for row in precision if row["problem"] == "`all`")
    assert float(all_problems["of clean pairs"].rstrip("%")) < 10
    kinds = (tmp_path / "dirty" / "kinds.txt").read_text().splitlines()
    assert collections.Counter(kinds)["clean"] == 300
    assert len(kinds) == len((tmp_path / "dirty" / "dirty.tsv").read_text().splitlines())
