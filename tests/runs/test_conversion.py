"""What must hold of a run's weights for CTranslate2: converted once, wherever they can be."""

import os
import shutil
import sys
import time
from argparse import Namespace

import pytest
from helpers import (
    ROOT,
    TINY,
    call,
    change_parameters,
    output_of,
    pretend_epoch,
    run_process,
    sentences,
    start_process,
    write_tsv,
)

from nmt import UserError
from nmt.cli import serve
from nmt.decoding.engines import choice
from nmt.decoding.engines.ctranslate2 import CTranslate2Engine
from nmt.decoding.engines.tensorflow import TensorFlowEngine
from nmt.decoding.search_options import Protecting
from nmt.runs import conversion, loading
from nmt.runs.folder import Run
from nmt.runs.loading import EngineChoice
from nmt.serving.models import Query
from nmt.training.loop import Epochs

TEXT = "um dois três."


@pytest.fixture
def run(finished, tmp_path):
    """A copy of the trained run without converted weights."""
    return shutil.copytree(
        finished / "run", tmp_path / "run", ignore=shutil.ignore_patterns("engine")
    )


def translate(run, **options):
    """Returns the translation of TEXT, and what translated."""
    translator = loading.load_translator(run, **options)
    return next(translator([TEXT])), type(translator.context.engine)


def test_weights_are_converted_once_and_again_when_they_change(finished, run):
    (trained,) = (finished / "run" / "engine").iterdir()  # training ends with them
    text, engine = translate(run)
    assert engine is CTranslate2Engine
    (folder,) = (run / "engine").iterdir()
    assert folder.name == trained.name
    written = (folder / "model.bin").stat()
    assert translate(run)[0] == text
    assert translate(run, quantization="int8")[1] is CTranslate2Engine  # of the same folder
    assert (folder / "model.bin").stat() == written
    for kind in ("newest", "best"):
        translate(run, checkpoint=kind)
    assert folder in [*(run / "engine").iterdir()]
    for kind in ("final", "best"):  # these change to the weights of the first epoch
        for path in (run / "checkpoints").glob("ckpt-1.*"):
            shutil.copy(path, run / "checkpoints" / kind / f"ckpt-2{path.suffix}")
    for path in (run / "checkpoints").glob("ckpt-2.*"):
        path.unlink()
    translate(run, checkpoint="final")
    assert folder not in [*(run / "engine").iterdir()]


def test_weights_are_converted_again_for_another_network(run):
    (run / "scores.json").unlink()  # which names the network, too
    models = []
    for heads in (2, 4, 2):
        change_parameters(run, num_heads=heads)
        translate(run)
        (path,) = (run / "engine").glob("*/model.bin")
        models.append(path.read_bytes())
    assert models[0] == models[2] != models[1]


def test_what_another_process_writes_stays(run):
    for name, hours in (("unfinished-a", 1), ("unfinished-b", 25), ("0123", 0)):
        (run / "engine" / name).mkdir(parents=True)
        changed = time.time() - hours * 3600
        os.utime(run / "engine" / name, (changed, changed))
    translate(run)
    names = {path.name for path in (run / "engine").iterdir()}
    assert "unfinished-a" in names
    assert not names & {"unfinished-b", "0123"}


@pytest.fixture
def sealed(run):
    """A run that cannot be converted in its folder, and its translation."""
    expected = translate(run)
    shutil.rmtree(run / "engine")
    (run / "engine").write_text("")  # in place of the folder; root may write anywhere
    yield run, expected
    assert (run / "engine").read_text() == ""


def test_a_run_that_cannot_be_written_to_is_converted_once_for_this_user(
    sealed, tmp_path, monkeypatch, capsys
):
    run, expected = sealed
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert translate(run) == expected
    (folder,) = (tmp_path / "transformer-tutorial" / "engine").iterdir()
    assert f"CTranslate2 are kept in {folder}." in capsys.readouterr().err
    before = (folder / "model.bin").stat()
    assert translate(run) == expected
    assert "CTranslate2 are" not in capsys.readouterr().err
    assert (folder / "model.bin").stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("cache", [os.devnull, "relative"])
def test_a_user_without_a_cache_converts_for_one_process(
    sealed, tmp_path, monkeypatch, capsys, cache
):
    run, expected = sealed
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.setenv("HOME", os.devnull)
    monkeypatch.chdir(tmp_path)
    assert translate(run) == expected
    assert "converted for this process alone" in capsys.readouterr().err
    assert not (tmp_path / "relative").exists()


def test_where_weights_can_be_converted_nowhere_another_engine_is_advised(sealed, monkeypatch):
    def full(folder, *_):
        raise UserError(f"{folder}: No space left on device; free some space")

    run, _ = sealed
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setattr(conversion, "save", full)
    with pytest.raises(UserError, match="free some space, or translate by --engine tensorflow"):
        translate(run)


@pytest.mark.slow
def test_two_processes_convert_a_run_at_the_same_time(run):
    command = [sys.executable, ROOT / "run_demo.py", "translate", "--run", run, TEXT]
    other = start_process(command, stdout=-1, stderr=-1, encoding="utf-8")
    done = run_process(command)
    output, errors = other.communicate()
    assert (done.returncode, other.returncode) == (0, 0), done.stderr + errors
    assert done.stdout == output != ""
    assert "for this process alone" not in done.stderr + errors
    assert len([*(run / "engine").iterdir()]) == 1


def in_the_middle(content):
    middle = len(content) // 2
    return content[:middle] + b"0123456789" + content[middle + 10 :]


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("model.bin", in_the_middle),  # which CTranslate2 reads without a word
        ("model.bin", lambda content: content[:1000]),
        ("shared_vocabulary.json", lambda content: b"[]"),
        ("checksums.json", lambda content: b"{}"),
        ("checksums.json", lambda content: b"null"),
        ("checksums.json", lambda content: b"[" * 100_000),
        ("checksums.json", lambda content: content.replace(b"model 1", b"model 0")),
    ],
)
def test_damaged_converted_weights_are_made_again(run, capsys, name, damage):
    expected = translate(run)
    (path,) = (run / "engine").glob(f"*/{name}")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    copy = shutil.copytree(run, run.parent / "damaged")  # which this process has not loaded
    capsys.readouterr()
    assert translate(copy) == expected
    assert "is damaged or of another version; it is made again." in capsys.readouterr().err
    assert (copy / path.relative_to(run)).read_bytes() == whole
    translate(copy)
    assert "made again" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["model.bin", "checksums.json"])
def test_a_named_pipe_among_converted_weights_is_not_waited_for(run, name):
    expected = translate(run)
    copy = shutil.copytree(run, run.parent / "damaged")  # which this process has not loaded
    (path,) = (copy / "engine").glob(f"*/{name}")
    path.unlink()
    os.mkfifo(path)
    assert translate(copy) == expected


def test_without_the_package_nothing_is_converted(run, monkeypatch, capsys):
    expected, _ = translate(run)
    shutil.rmtree(run / "engine")
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    choice.log_once.cache_clear()
    text, engine = translate(run)
    assert text == expected
    assert engine is not CTranslate2Engine
    assert "pip install ctranslate2" in capsys.readouterr().err
    assert not (run / "engine").exists()


# ---- EngineChoice ----


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (EngineChoice("torch"), "engine is 'torch'; choose one of auto, ctranslate2, tensorflow"),
        (EngineChoice("auto", "int4"), "quantization is 'int4'; choose one of int8"),
        (EngineChoice("tensorflow", "int8"), "--quantization int8 goes with --engine ctranslate2"),
    ],
)
def test_a_wrong_choice_is_refused(run, engine, reason):
    with pytest.raises(UserError, match=reason):
        loading.load(run, engine=engine)


def test_a_gpu_is_tensorflows_unless_weights_have_8_bits(monkeypatch):
    monkeypatch.setattr(loading, "_sees_gpu", lambda: True)
    assert EngineChoice().decided == "tensorflow"
    assert EngineChoice("ctranslate2").decided == "ctranslate2"
    assert EngineChoice(quantization="int8").decided == "ctranslate2"
    monkeypatch.setattr(loading, "_sees_gpu", lambda: False)
    assert EngineChoice().decided == "auto"


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("engine", ["ctranslate2", "tensorflow"])
def test_all_commands_translate_by_the_engine_that_is_named(finished, engine, tmp_path, capsys):
    expected, _ = translate(finished / "run", engine=engine)
    choice_of_engine = ["--run", finished / "run", "--engine", engine]
    assert output_of(capsys, "translate", *choice_of_engine, TEXT) == f"{expected}\n"
    (tmp_path / "a.txt").write_text(f"{TEXT}\n")
    assert call("translate-file", *choice_of_engine, tmp_path / "a.txt", tmp_path / "b.txt") == 0
    assert (tmp_path / "b.txt").read_text() == f"{expected}\n"


@pytest.mark.parametrize("engine", ["ctranslate2", "tensorflow"])
def test_a_server_translates_by_the_engine_that_is_named(finished, engine):
    runs = [Run(finished / "run")]
    args = Namespace(checkpoint=None, engine=engine, quantization=None)
    served = serve.load(("en", "fr"), runs, args, Protecting())
    query = Query(served, served.directions[0])
    used = type(served.translator(query).context.engine)
    assert used is (CTranslate2Engine if engine == "ctranslate2" else TensorFlowEngine)


@pytest.mark.usefixtures("eagerly", "unscored")
def test_a_training_run_ends_even_if_its_weights_cannot_be_converted(tmp_path, capsys, monkeypatch):
    """The disk is full, for example: scores and pictures still come."""

    def full(folder, *_):
        raise UserError(f"{folder}: No space left on device; free some space")

    monkeypatch.setattr(conversion, "save", full)
    monkeypatch.setattr(Epochs, "train_on", pretend_epoch)
    data = write_tsv(tmp_path / "numbers.tsv", sentences(60))
    assert call("--dataset", data, "--run", tmp_path / "run", *TINY, "--no-plots") == 0
    assert "No space left on device" in capsys.readouterr().err
    assert (tmp_path / "run" / "scores.json").exists()
    assert not [*(tmp_path / "run").glob("engine/*")]
