"""Puts the repository's root on the path and sets TensorFlow up as `run_demo.py translate` does."""

import json
import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt import messages

messages.show()  # as the program does


SLOW_SECONDS = 1800  # the time limit of a test that is marked slow; pyproject.toml has the others'


def pytest_collection_modifyitems(items):
    """Gives slow tests more time."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))


@pytest.fixture(autouse=True)
def _no_process_outlives_its_test():
    from helpers import kill_started  # not before the path is set

    yield
    kill_started()


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder with a .tsv, and the run trained on it: one small layer, which has learned some.

    What is compared of it must not be zero: its BLEU and accuracy are far from that.
    """
    from helpers import LEARNING, call, sentences, write_tsv  # not before the path is set

    folder = tmp_path_factory.mktemp("finished")
    tsv = write_tsv(folder / "numbers.tsv", sentences(1000))
    assert call("--dataset", tsv, "--run", folder / "run", *LEARNING) == 0
    scores = json.loads((folder / "run" / "scores.json").read_text())
    assert 10 < scores["BLEU"]["score"] < 99
    assert 0.3 < scores["accuracy"] < 0.99
    return folder


@pytest.fixture
def undrawn(monkeypatch):
    """Trainings draw nothing: pictures take a third of a tiny one's time, and have own tests."""

    from nmt.results.pictures import RunPictures

    monkeypatch.setattr(RunPictures, "draw", lambda *_, **choices: None)


@pytest.fixture(scope="module")  # a training run of another file, which sets the seed, resets it
def tokenizer():
    """A tokenizer of the numbers' text."""
    from helpers import as_dataset, sentences

    import run_demo

    return run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(sentences(200)), 320))
