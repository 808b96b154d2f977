"""What must hold of models that leave home: they translate as the run does, in a fresh process."""

import json
import math
import shutil
import sys
import textwrap
from pathlib import Path

import ctranslate2
import numpy as np
import pytest
import tensorflow as tf
from helpers import (
    ROOT,
    ROUNDING,
    call,
    make_translator,
    output_of,
    run_process,
    sentences,
    transformer_for,
)

import run_demo
from nmt.cli.export import default_path
from nmt.decoding.likelihoods import log_probabilities
from nmt.decoding.search_options import SearchOptions
from nmt.exports import ctranslate2_model
from nmt.exports.exported_model import Export
from nmt.exports.saved_model import SavedTranslator
from nmt.runs import loading

pytestmark = pytest.mark.slow  # a process for each format


@pytest.fixture(scope="module")
def folder(finished, tmp_path_factory):
    """A folder with a trained `run`, and what it translates: `source`, `greedy`."""
    path = tmp_path_factory.mktemp("export")
    shutil.copytree(finished / "run", path / "run")
    lines = [source for source, _ in sentences(1599)[1500:]] + [""]
    (path / "source").write_text("\n".join(lines) + "\n")
    # What SavedModel and LiteRT hold is the search of TensorFlow.
    _, tokenizer, model = loading.load(path / "run", engine=loading.EngineChoice("tensorflow"))
    texts = list(model.translator(tokenizer, SearchOptions(1, 0.6))(lines))
    (path / "greedy").write_text("\n".join(texts) + "\n")
    assert len(set(texts)) > 60  # it has learned to tell them apart
    return path


def shell(command):
    """Runs a command outside of the project's folder. Returns what it printed to stdout."""
    done = run_process(command, ROUNDING, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(path, script, *arguments):
    """Runs `script`, which sees only what is installed and its arguments."""
    (path / "script.py").write_text(script)
    return shell(" ".join(map(str, (sys.executable, path / "script.py", *arguments))))


def test_a_saved_model_translates_strings_with_nothing_but_tensorflow(folder, capsys):
    path = output_of(capsys, "export", "--run", folder / "run").strip()
    versions = folder / "run" / "export" / "saved_model"  # as TensorFlow Serving looks for them
    assert path == str(versions / "1")
    shapes = tf.train.load_checkpoint(f"{path}/variables/variables").get_variable_to_shape_map()
    parameters = json.loads((folder / "run" / "scores.json").read_text())["parameters"]
    sizes = [math.prod(shape) for shape in shapes.values() if shape != [2]]  # of dropout's states
    assert sum(sizes) == parameters + 1  # once, and the graph of objects
    (versions / "9").mkdir()
    assert default_path(folder / "run" / "export", "saved_model") == versions / "10"
    script = """
import sys
import tensorflow as tf
import tensorflow_text
serve = tf.saved_model.load(sys.argv[1]).signatures
lines = tf.constant(open(sys.argv[2]).read().split("\\n")[:-1])
outputs = serve["serving_default"](sentences=lines)
scores = outputs["scores"].numpy()
assert list(serve) == ["serving_default"]
assert scores.shape == lines.shape and (scores[:-1] < 0).all() and scores[-1] == 0
with open(sys.argv[3], "wb") as file:
    file.writelines(text + b"\\n" for text in outputs["translations"].numpy())
assert not {"run_demo", "transformer_model", "sentencepiece"} & set(sys.modules)
"""
    python(folder, script, path, folder / "source", folder / "out")
    assert (folder / "out").read_text() == (folder / "greedy").read_text()
    assert (folder / "greedy").read_text().count("\n") == 100


def test_a_keras_file_holds_the_same_network(folder, capsys):
    path = output_of(capsys, "export", "--run", folder / "run", "--format", "keras").strip()
    assert path.endswith(".keras")
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import keras, numpy, sentencepiece
import nmt.network.variants, transformer_model
model = keras.saving.load_model(sys.argv[1])
pieces = sentencepiece.SentencePieceProcessor(model_file=sys.argv[2])
for line in open(sys.argv[3]).read().split("\\n")[:-2]:
    ids = numpy.array([pieces.encode(line, add_bos=True, add_eos=True)])
    print(pieces.decode(transformer_model.greedy_translate(model, ids)[0].numpy().tolist()))
print()
"""
    few = folder / "few"
    few.write_text("".join((folder / "source").open().readlines()[:10]) + "\n")
    tokenizer = folder / "run" / "tokenizer.model"
    expected = (folder / "greedy").read_text().splitlines()[:10]
    assert python(folder, script, path, tokenizer, few).splitlines()[:10] == expected


@pytest.mark.parametrize("quantization", [None, "int8"])
def test_ctranslate2_gives_the_same_translations(folder, capsys, quantization):
    """At least 99 of 100 in float32, whose sums are added in another order."""
    to = folder / f"ct2-{quantization}"
    options = ["--quantization", quantization] if quantization else []
    options += ["--format", "ctranslate2", "--to", to]
    assert output_of(capsys, "export", "--run", folder / "run", *options).strip() == str(to)
    # One thread: several that wait for each other on a busy machine keep it busy.
    script = """
import sys
import ctranslate2, sentencepiece
model = ctranslate2.Translator(sys.argv[1], intra_threads=1)
pieces = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1] + "/tokenizer.model")
lines = open(sys.argv[2]).read().split("\\n")[:-1]
tokens = pieces.encode(lines, out_type=str)
for row in tokens:
    limit = len(row) + 2 + 50  # ours: 50 more than the source with START and END
    (best,) = model.translate_batch([row], beam_size=1, max_decoding_length=limit)
    print(pieces.decode(best.hypotheses[0]))
try:
    model.translate_batch([tokens[0] * 1024], max_input_length=0, max_decoding_length=1024)
except RuntimeError as error:
    assert ">= 1024" in str(error), error
else:
    raise AssertionError("a source longer than the exported positions was taken")
"""
    translations = python(folder, script, to, folder / "source").split("\n")
    expected = (folder / "greedy").read_text().split("\n")
    other = [pair for pair in zip(translations, expected, strict=True) if pair[0] != pair[1]]
    # 8 bits change what a small network, half trained, is unsure of.
    assert len(other) <= {None: 1, "int8": 40}[quantization], other
    assert ("int8" in ctranslate2.Translator(str(to)).compute_type) is (quantization == "int8")


@pytest.mark.parametrize(
    "variant",
    [
        dict(pre_norm=True, tie_embeddings=True, decoder_layers=1),
        dict(tie_embeddings=True, activation="swish", norm_epsilon=0.1, logits_bias=True),
    ],
    ids=str,
)
def test_ctranslate2_scores_two_layers_as_we_do(folder, tmp_path, variant):
    tokenizer = run_demo.Tokenizer((folder / "run" / "tokenizer.model").read_bytes())
    transformer = transformer_for(tokenizer, d_model=16, dff=32, **variant)
    ctranslate2_model.write(tmp_path / "ct2", Export(transformer, tokenizer))
    pairs = sentences(3)
    ids = [[np.array(tokenizer.encode([side])) for side in pair] for pair in pairs]
    ours = [float(log_probabilities((transformer,), *pair)[0]) for pair in ids]
    script = """
import sys
import ctranslate2, sentencepiece
model = ctranslate2.Translator(sys.argv[1], intra_threads=1)
pieces = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1] + "/tokenizer.model")
for pair in zip(*[iter(sys.stdin.read().split("\\n")[:-1])] * 2):
    source, target = pieces.encode(list(pair), out_type=str)
    print(sum(model.score_batch([source], [target])[0].log_probs))
"""
    (tmp_path / "text").write_text("".join(f"{s}\n{t}\n" for s, t in pairs))
    printed = python(tmp_path, script, tmp_path / "ct2", "<", tmp_path / "text")
    np.testing.assert_allclose(list(map(float, printed.split())), ours, rtol=1e-4)


def test_what_is_there_is_not_overwritten_and_a_failure_leaves_nothing(folder, capsys, tmp_path):
    (tmp_path / "here").write_text("mine")
    assert call("export", "--run", folder / "run", "--to", tmp_path / "here") == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "here").read_text() == "mine"
    (tmp_path / "unfinished-new").mkdir()
    assert (
        call("export", "--run", folder / "run", "--format", "keras", "--to", tmp_path / "v1.0") == 0
    )
    assert {path.name for path in tmp_path.iterdir()} == {"here", "unfinished-new", "v1.0.keras"}
    assert (
        "The exported model neither protects nor repairs numbers, placeholders and tags, and knows "
        "no glossary: docs/export.md"
    ) in capsys.readouterr().err.splitlines()
    assert call("export", "--run", folder / "run", "--format", "keras", "--to", ".") == 2
    assert "exists already" in capsys.readouterr().err
    assert call("export", "--run", folder / "run", "--to", "/dev/null/there") == 2
    assert "/dev/null/there" in capsys.readouterr().err
    assert call("export", "--run", folder / "run", "--quantization", "int8") == 2
    assert "--format ctranslate2" in capsys.readouterr().err


def test_an_export_that_fails_midway_leaves_nothing(folder, capsys, monkeypatch, tmp_path):
    def save(translator, path, signatures):
        Path(path).mkdir()
        (Path(path) / "saved_model.pb").write_text("half")
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    monkeypatch.setattr(tf.saved_model, "save", save)
    assert call("export", "--run", folder / "run", "--to", tmp_path / "new") == 2
    assert "new: No space left on device; name" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_missing_ctranslate2_is_one_line(folder, capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ctranslate2.specs", None)
    path = tmp_path / "ct2"
    assert call("export", "--run", folder / "run", "--format", "ctranslate2", "--to", path) == 2
    assert "pip install ctranslate2" in capsys.readouterr().err.splitlines()[-1]
    assert not path.exists()


def test_the_recipe_of_ctranslate2_gives_the_text_of_translate(folder, capsys, tmp_path):
    to = tmp_path / "ct2"
    assert call("export", "--run", folder / "run", "--format", "ctranslate2", "--to", to) == 0
    page = (ROOT / "docs" / "export.md").read_text()
    _, _, block = page.partition("    import ctranslate2")
    code = textwrap.dedent("    import ctranslate2" + block.partition("\nTranslations in")[0])
    code = code.replace("runs/quick/export/ctranslate2", str(to))
    lines = ["   um dois três.   ", "   ", "um.", "\tnove oito. "]
    script = f"{code}\nfor line in {lines!r}:\n    print(translate(line))\n"
    _, *translations = python(tmp_path, script).split("\n")
    capsys.readouterr()
    assert call("translate", "--run", folder / "run", "--beam", 1, "--", *lines) == 0
    assert translations == capsys.readouterr().out.split("\n")


def test_a_saved_model_of_a_shallow_decoder_translates_as_the_program(tokenizer):
    network = transformer_for(tokenizer, num_layers=3, decoder_layers=1)
    serve, lines = SavedTranslator(network, tokenizer), ["um dois.", "três."]
    translations = serve.greedy(tf.constant(lines))["translations"].numpy()
    assert [text.decode() for text in translations] == list(
        make_translator(network, tokenizer)(lines)
    )
