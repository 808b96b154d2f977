"""What must hold of downloads: TFDS's own builder, on an archive of ours in TED's layout."""

import errno
import functools
import hashlib
import http.server
import json
import os
import shutil
import socket
import sys
import tarfile
import threading

import pytest
from helpers import (
    TINY,
    call,
    sentences,
    source_of,
)

import params
import run_demo
from nmt.corpus import downloads
from nmt.machine import cores
from nmt.runs import session
from nmt.runs.folder import Run


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


@pytest.mark.slow
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
    assert run_demo.load_corpus(source_of(source), 1, may_fall_back=True).name == "bundled"
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "ted_hrlr_translate/pt_to_en cannot be downloaded" in error
    assert "bundled" in error


def test_a_run_on_the_corpus_that_replaces_the_default_is_resumed_as_it_began(
    ted, finished, tmp_path, monkeypatch
):
    ted("http://127.0.0.1:9/gone")
    monkeypatch.chdir(tmp_path)
    run = Run(shutil.copytree(finished / "run", tmp_path / "runs" / "bundled"))
    other = 2 if cores() == 3 else 3  # than this machine would choose
    run.write("params.json", run.read("params.json") | {"parts": other})
    claimed = []

    def claim(_run, _options, _source, _hashes, parts, *_):
        claimed.append(parts)
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "claim", claim)
    assert call() == 130
    assert claimed == [other]


def test_a_named_dataset_never_falls_back(ted, capsys):
    ted("http://127.0.0.1:9/gone")
    assert call("--dataset", params.DATA_PATH) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"run_demo.py: --dataset {params.DATA_PATH}: no connection to")


def test_only_a_failed_download_falls_back(ted, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", None)  # as if it were not installed
    with pytest.raises(ModuleNotFoundError):
        run_demo.load_corpus(source_of({"dataset": params.DATA_PATH}), 1, may_fall_back=True)


def test_one_host_of_several_is_enough_and_an_answer_of_failure_is_none(archive):
    url, _ = archive
    downloads.probe(["http://127.0.0.1:9/", url])
    with pytest.raises(ConnectionError):
        downloads.probe([url + ".missing"])  # the server says 404


def test_a_host_that_never_answers_is_given_up_within_seconds(monkeypatch):
    monkeypatch.setattr(downloads, "PROBE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(ConnectionError):
        downloads.probe([f"http://127.0.0.1:{silent.getsockname()[1]}/"])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/data/ted"),
            "/data/ted: No space left on device; free some space",
        ),
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
            "No space left on device; free some space",
        ),
        (
            OSError("Not enough disk space. Needed: 1 GiB"),
            "Needed: 1 GiB; free some space",
        ),  # TFDS's
    ],
)
def test_a_disk_that_is_full_is_not_called_a_wrong_name(error, said, monkeypatch, capsys, tmp_path):
    import tensorflow_datasets as tfds

    def full(name):
        raise error

    monkeypatch.setattr(tfds, "builder", full)
    assert call("--dataset", "ted_hrlr_translate/pt_to_en", "--run", tmp_path / "run") == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(said)
