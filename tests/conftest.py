"""Puts the repository's root on the path and sets TensorFlow up as `run_demo.py translate` does."""

import fcntl
import gc
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt import messages
from nmt.runs.validation import Validator

messages.show()  # as the program does

# Graphs are made of objects that refer to each other, millions in a session: Python's default looks
# through them again and again, which takes a tenth of the time of all tests.
gc.set_threshold(100_000, 50, 1000)

SLOW_SECONDS = 1800  # the time limit of a test that is marked slow; pyproject.toml has the others'


def pytest_collection_modifyitems(items):
    """Gives slow tests, as all in Chromium are, more time; puts first who uses the trained run.

    Of two workers, which begin with a half each, the second then need not wait for its training.
    """
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
    users = {item.path for item in items if "finished" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in users)


@pytest.fixture(autouse=True)
def _no_process_outlives_its_test():
    from helpers import kill_started  # not before the path is set

    yield
    kill_started()


def train_once(folder):
    """Trains the run of `finished` in a new folder, unless another process has done so."""
    from helpers import LEARNING, call, sentences, write_tsv  # not before the path is set

    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return
        folder.mkdir()
        tsv = write_tsv(folder / "numbers.tsv", sentences(1000))
        assert call("--dataset", tsv, "--run", folder / "run", *LEARNING, "--no-plots") == 0
        scores = json.loads((folder / "run" / "scores.json").read_text())
        assert 10 < scores["BLEU"]["score"] < 99
        assert 0.3 < scores["accuracy"] < 0.99
        assert not list(folder.rglob("*.png"))


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder with a .tsv, and the run trained on it: one small layer, which has learned some.

    What is compared of it must not be zero: its BLEU and accuracy are far from that. It has no
    pictures, which take as long as all else. The workers of pytest-xdist have a copy each.
    """
    from nmt.results import figures

    figures.DOTS_PER_INCH = 50  # of all pictures from here on; no test looks at their pixels
    base = tmp_path_factory.getbasetemp()
    trained = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "trained"
    train_once(trained)
    folder = shutil.copytree(trained, base / "finished")
    parameters = folder / "run" / "params.json"  # which names the text
    parameters.write_text(parameters.read_text().replace(str(trained), str(folder)))
    return folder


@pytest.fixture
def run(finished, tmp_path):
    """A copy of the run of `finished`, to be changed: tmp_path / "run"."""
    return shutil.copytree(finished / "run", tmp_path / "run")


@pytest.fixture
def refusal_of(capsys):
    """Returns a function of a command's arguments that returns what it says in refusing them."""
    from helpers import call  # not before the path is set

    def said(*arguments):
        assert call(*arguments) == 2
        return capsys.readouterr().err

    return said


@pytest.fixture
def undrawn(monkeypatch):
    """Trainings draw nothing: pictures take a third of a tiny one's time, and have own tests."""

    from nmt.results.pictures import RunPictures

    monkeypatch.setattr(RunPictures, "draw", lambda *_, **choices: None)


@pytest.fixture
def untrained(monkeypatch):
    """Training ends as it begins, before a network is built, which takes seconds.

    A list of what each run would have begun with: its options, its Keeper and its Corpus.
    """
    from nmt.runs.session import Session

    begun = []

    def begin(session, *_):
        begun.append((session.options, session.keeper(None), session.corpus))
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "fast_step", lambda session: None)
    monkeypatch.setattr(Session, "epochs", begin)
    return begun


@pytest.fixture
def unscored(monkeypatch):
    """Trainings translate nothing: to trace two searches takes longer than tiny epochs.

    They report one line, without scores, and so does `evaluate`, the command.
    """
    from nmt.results import evaluation
    from nmt.results.run_report import TranslatedLine

    line = TranslatedLine("um.", "one.", "one.")
    scores = dict(lines=1, loss=0.0, accuracy=0.0)
    monkeypatch.setattr(evaluation, "translate_test", lambda *_: [line])
    monkeypatch.setattr(evaluation, "score_test", lambda *_: scores)
    monkeypatch.setattr(Validator, "translations_of", lambda *_: [])


@pytest.fixture
def eagerly(monkeypatch):
    """Functions run without graphs: to trace a step of training takes longer than ten steps.

    And to trace a search takes longer than to translate a few short sentences.
    """
    import tensorflow as tf

    from nmt.decoding import searcher

    monkeypatch.setattr(searcher, "TracedOnce", lambda function, *_: function)  # of new searches
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.fixture(scope="module")
def cold():
    """Servers prepare nothing as they start: no search is traced that no test asks for."""
    from nmt.serving.service import Service

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Service, "_prepare", lambda *_: None)
        yield


@pytest.fixture(scope="module")  # a training run of another file, which sets the seed, resets it
def tokenizer():
    """A tokenizer of the numbers' text."""
    from helpers import as_dataset, sentences

    import run_demo

    return run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(sentences(200)), 320))


BROWSER_SECONDS = 60  # for a script, on a busy machine


@pytest.fixture(scope="module")
def chromium():
    """Chromium without a display, started once for all tests of a file."""
    from helpers import user_environment
    from selenium import webdriver

    browser, path = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not path:
        pytest.skip("there is no browser (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--window-size=1280,900", "--lang=en"):
        options.add_argument(flag)
    options.binary_location = browser
    service = webdriver.ChromeService(executable_path=path, env=user_environment())
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(BROWSER_SECONDS)
    yield driver
    driver.quit()


@pytest.fixture
def driver(chromium):
    """Chromium, of the first width and the system's colors; its pages make no error."""
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    yield chromium
    assert chromium.get_log("browser") == []  # no error, nothing fetched
