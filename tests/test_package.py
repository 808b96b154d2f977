"""What must hold of the package: what it holds, its lists, and that it disturbs no host.

.ci/package builds the wheel, installs it and uses it.
"""

import ast
import re
import signal
import sys
import tomllib

import pytest
from helpers import ROOT, pretend_epoch, run_process, sentences, write_tsv

import nmt
from nmt.runs.validation import Validator
from nmt.training.loop import Epochs

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = SETTINGS["tool"]["setuptools"]
MODULES = sorted((ROOT / "nmt").rglob("*.py"))


def folder_of(package):
    return ROOT / SETUPTOOLS["package-dir"].get(package, package.replace(".", "/"))


def test_the_wheel_has_a_package_for_each_folder_of_modules():
    folders = {path.parent for path in MODULES}
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    assert {*SETUPTOOLS["packages"]} == names | {"nmt.data"}


def test_the_wheel_has_every_file_of_nmt_and_the_text_of_the_corpora():
    packed = set()
    for package, patterns in SETUPTOOLS["package-data"].items():
        for pattern in patterns:
            paths = {*folder_of(package).glob(pattern)}
            assert paths, pattern
            packed |= paths
    files = {path for path in (ROOT / "nmt").rglob("*.*") if "__pycache__" not in path.parts}
    assert {path for path in files if path.is_file() and path.suffix != ".py"} <= packed
    from nmt.corpus import corpora

    splits = [split for corpus in corpora.BUILT_IN_CORPORA.values() for split in corpus]
    bundled = {path for split in splits for path in split}
    assert bundled <= packed
    assert ROOT / "data" / "sentences_to_try.tsv" in packed


def test_the_wheel_has_the_three_modules():
    assert {f"{name}.py" for name in SETUPTOOLS["py-modules"]} == {
        path.name for path in ROOT.glob("*.py")
    }


def test_developers_have_what_the_extras_name():
    lines = (ROOT / "requirements-dev.txt").read_text().splitlines()
    tested = {line.partition("#")[0].strip() for line in lines}
    extras = SETTINGS["project"]["optional-dependencies"]
    large = {"benchmarks"}  # tried where they are installed
    assert {"data", "documents", "recipes", "serve"} == extras.keys() - large
    for name in extras.keys() - large:
        assert {*extras[name]} < tested, name
    assert "-r requirements.txt" in tested


def test_only_one_module_of_nmt_imports_params_by_its_name():
    """A host program may have a params.py of its own."""
    importing = {
        path.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import) and any(alias.name == "params" for alias in node.names)
    }
    assert importing == {"neighbors.py"}


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The folder of an application with modules and folders of the names of this project's."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "params.py").write_text("raise SystemExit('the params.py of the host')\n")
    for name in ("data", "lessons", "docs"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise SystemExit('{name} of the host')\n")
    return folder


SET_BY_TENSORFLOW = {  # environment variables, and by h5py
    "ENABLE_RUNTIME_UPTIME_TELEMETRY", "HDF5_PLUGIN_PATH", "TF2_BEHAVIOR", "TPU_ML_PLATFORM",
    "TPU_ML_PLATFORM_VERSION",
}  # fmt: skip


def call_as_host(host, code):
    """Runs code of an application in its folder; returns the process."""
    variables = {"PYTHONPATH": str(ROOT)}
    return run_process([sys.executable, "-c", code], variables, cwd=host)


def test_the_package_is_imported_at_once_and_changes_nothing(host):
    done = call_as_host(
        host,
        "import os, signal, sys, time\n"
        "def state():\n"
        f"    names = {{*os.environ}} - {SET_BY_TENSORFLOW}\n"
        "    variables = {name: os.environ[name] for name in names}\n"
        "    return variables, signal.getsignal(signal.SIGINT), [*sys.path]\n"
        "before = state()\n"
        "started = time.process_time()\n"
        "import nmt\n"
        "assert time.process_time() - started < 0.5\n"
        "assert 'tensorflow' not in sys.modules\n"
        "nmt.load_translator, nmt.translate_document\n"
        "assert 'tensorflow' not in sys.modules\n"
        "nmt.train\n"
        "assert 'tensorflow' in sys.modules\n"
        "import matplotlib, run_demo\n"
        "assert matplotlib.rcParams._get_backend_or_none() is None\n"
        "assert state() == before\n"
        "import params\n",
    )
    assert (done.stdout, done.stderr) == ("", "the params.py of the host\n")


@pytest.mark.slow
def test_every_module_is_imported_beside_modules_of_the_same_names(host):
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in MODULES]
    done = call_as_host(host, f"for name in {names}: __import__(name)")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_module_that_hides_one_of_the_three_is_named_in_a_line(tmp_path):
    (tmp_path / "transformer_model.py").write_text("")
    done = call_as_host(tmp_path, "from nmt import load_translator")
    assert done.stderr.splitlines()[-1] == (
        f"nmt.UserError: {tmp_path / 'transformer_model.py'}: hides the module transformer_model "
        f"of {ROOT}, which nmt needs; rename your own, or put the folder of nmt before it in "
        "sys.path"
    )


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'load_translater'"):
        _ = nmt.load_translater


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: nmt.evaluate("run", beem=4),
            "evaluate has no argument 'beem'; did you mean beam?",
        ),
        (
            lambda: nmt.translate_document("a.csv", b"", list, column="1"),
            "translate_document has no argument 'column'; did you mean columns?",
        ),
    ],
)
def test_a_misspelled_keyword_is_answered_with_the_right_one(call, said):
    with pytest.raises(TypeError, match=re.escape(said)):
        call()


def test_mistakes_of_an_application_are_user_errors(tmp_path):
    run, text = tmp_path / "run", tmp_path / "a.pt"
    text.write_text("um.\n")
    for call, said in (
        (lambda: nmt.train(run, dataset="bundled", epochs=0), "epochs: 0 is less than 1"),
        (lambda: nmt.train(run, train=[text, "--epochs=1"]), "--epochs=1: No such file"),
        (lambda: nmt.train(None, dataset="bundled"), "run is None; name a folder"),
        (lambda: nmt.train(run, parent="", dataset="bundled"), "parent is ''; name a folder"),
        (lambda: nmt.train(run, languages=["pt"]), "languages is ['pt']; write them"),
        (lambda: nmt.train(run, on_epoch=5), "on_epoch is 5; give a function"),
        (lambda: nmt.load_translator(repetition=2.0), "repetition is 2.0; give a Repetition"),
        (lambda: nmt.train(run, train="a.tsv"), "train is one path; give a list of paths"),
        (lambda: nmt.train(run, preset="huge"), "preset 'huge' is not one of tutorial, "),
        (lambda: nmt.evaluate(run), "no trained run"),
        (lambda: nmt.translate_document("a.html", b"", list, columns="1"), "columns is for .csv"),
    ):
        with pytest.raises(nmt.UserError, match=re.escape(said)):
            call()
    assert not run.exists()


@pytest.mark.usefixtures("eagerly")
def test_an_application_trains_resumes_and_scores_without_output(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(Epochs, "train_on", pretend_epoch)
    monkeypatch.setattr(Validator, "translations_of", lambda *_: [])
    corpus = write_tsv(tmp_path / "numbers.tsv", sentences(300))
    sizes = dict(num_layers=1, d_model=16, dff=32, num_heads=2, vocab_size=320, batch_size=64)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    rows = []

    def on_epoch(row):
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
        rows.append({**row})
        row.clear()  # a copy: the history stays

    arguments = dict(dataset=corpus, on_epoch=on_epoch, **sizes)
    trained = nmt.train(tmp_path / "run", epochs=1, **arguments)
    resumed = nmt.train(tmp_path / "run", epochs=2, **arguments)
    assert nmt.train(tmp_path / "run", epochs=2, **arguments) == resumed  # complete
    assert [row["epoch"] for row in rows] == [1, 2]
    assert trained.history == rows[:1]
    assert (resumed.path, resumed.history) == (tmp_path / "run", rows)
    scores = nmt.evaluate(resumed.path)
    assert scores["loss"] == pytest.approx(resumed.scores["loss"], rel=1e-5)
    assert scores["BLEU"] == resumed.scores["BLEU"]
    few = nmt.evaluate(resumed.path, ["um dois."], ["one two."], ter=True)
    assert few["lines"] == 1
    assert few["TER"]["signature"]
    with pytest.raises(nmt.UserError, match="as many references as sources"):
        nmt.evaluate(resumed.path, ["um dois."])
    assert capfd.readouterr().out == ""


def test_a_wheel_has_the_three_modules_within_nmt():
    from docs.make_package import within_package

    source = """
import params
import transformer_model as model
from transformer_model import (
    END,
)
def f():
    import run_demo
    from params_of import x  # import params
"""
    assert (
        within_package(source)
        == """
from nmt import params
from nmt import transformer_model as model
from nmt.transformer_model import (
    END,
)
def f():
    from nmt import run_demo
    from params_of import x  # import params
"""
    )
