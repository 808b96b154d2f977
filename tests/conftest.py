"""Puts the repository's root on the path and sets TensorFlow up as `run_demo.py translate` does."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder with a .tsv, and the run trained on it, two epochs of one tiny layer."""
    from test_run_demo import TINY, call, sentences, write_tsv  # not before the path is set

    folder = tmp_path_factory.mktemp("finished")
    tsv = write_tsv(folder / "numbers.tsv", sentences(150))
    (folder / "run" / "cache").mkdir(parents=True)  # as a training that was killed leaves it
    assert call("--dataset", tsv, "--run", folder / "run", *TINY) == 0
    return folder


@pytest.fixture
def undrawn(monkeypatch):
    """Trainings draw nothing: pictures take a third of a tiny one's time, and have own tests."""
    import run_demo

    monkeypatch.setattr(run_demo.Pictures, "draw", lambda *_, **choices: None)
