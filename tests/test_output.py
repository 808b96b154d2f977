"""What must hold of files that are written: completely, or not at all."""

import os
import resource

import pytest

from nmt import UserError, output
from nmt.runs.folder import Run


@pytest.fixture
def full_disk():
    """Files may have no more than 4,096 bytes, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("full_disk")
def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path):
    run = Run(tmp_path)
    run.write("scores.json", {"BLEU": 1})
    with pytest.raises(UserError, match=r"scores.json: File too large"):
        run.write("scores.json", {"BLEU": "x" * 5000})
    assert run.read("scores.json") == {"BLEU": 1}
    with pytest.raises(UserError, match=r"new.bin: File too large"):
        run.write("new.bin", b"x" * 5000)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]


def test_a_file_is_replaced_never_written_over(tmp_path):
    """Who has opened it before, or is killed meanwhile, has the old content, all of it."""
    path = tmp_path / "history.json"
    output.write(path, b"old" * 100)
    with path.open("rb") as file:
        output.write(path, b"new")
        assert file.read() == b"old" * 100
    assert path.read_bytes() == b"new"
    os.link(path, tmp_path / "link")
    output.write(path, b"newer")
    assert (tmp_path / "link").read_bytes() == b"new"


def fail():
    raise ValueError


def test_a_named_path_is_there_only_once_it_is_complete(tmp_path):
    path = tmp_path / "missing" / "picture.png"
    for end in (fail, lambda: None):
        try:
            with output.new(path) as unfinished:
                unfinished.write_bytes(b"half")
                assert not path.exists()
                end()
        except ValueError:
            assert list(path.parent.iterdir()) == []
    assert path.read_bytes() == b"half"
