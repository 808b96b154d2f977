"""What must hold of recipes/translate_beam.py: a line for each line, and mistakes in one."""

import os
import sys

import pytest
from helpers import ROOT, call, run_process, sentences

BEAM_PYTHON = os.environ.get("BEAM_PYTHON")  # see .ci/run


@pytest.mark.slow
@pytest.mark.skipif(not BEAM_PYTHON, reason="BEAM_PYTHON names no Python that has apache-beam")
def test_translate_beam(finished, tmp_path):
    lines = [source for source, _ in sentences(40) if len(source.split()) == 3][:6]
    text = tmp_path / "lines.txt"
    text.write_text("".join(f"{line}\n" for line in (*lines, "", "last")).removesuffix("\n"))
    model = tmp_path / "model"
    run = "--run", finished / "run"
    assert call("export", *run, "--to", model) == 0
    program = ROOT / "recipes" / "translate_beam.py"
    flags = "--model", model, "--input", text, "--output", tmp_path / "x", "--shard-bytes", 20
    command = [BEAM_PYTHON, program, *flags]

    def shards():
        return sorted(tmp_path.glob("x-*-of-*"))

    process = run_process(command)
    assert process.returncode == 0, process.stderr[-2000:]
    written = [shard.read_bytes() for shard in shards()]
    assert f"{len(written)} shards, {len(written)} to translate" in process.stderr
    assert len(written) > 2
    command = [sys.executable, ROOT / "run_demo.py", "translate", *run, "--no-split"]
    with open(text) as stdin:
        assert b"".join(written).decode() == run_process(command, stdin=stdin).stdout
    shards()[1].unlink()
    process = run_process([BEAM_PYTHON, program, *flags])
    assert f"{len(written)} shards, 1 to translate" in process.stderr
    assert [shard.read_bytes() for shard in shards()] == written
    text.write_bytes(text.read_bytes() + b"\nanother")
    process = run_process([BEAM_PYTHON, program, *flags])
    assert process.returncode == 2
    assert process.stderr.splitlines()[-1] == (
        f"translate_beam.py: {tmp_path / 'x'}: was begun with another --input; give the same, or "
        "another --output"
    )
    assert [shard.read_bytes() for shard in shards()] == written


@pytest.mark.slow
@pytest.mark.skipif(not BEAM_PYTHON, reason="BEAM_PYTHON names no Python that has apache-beam")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "in.txt: cannot be read ([Errno 2] No such file or directory: '{}/in.txt')"),
        (b"um\nd\xffis\n", "in.txt: line 2 is not UTF-8; see `run_demo.py data`"),
        (b"um\n", "--model {}: is no SavedModel; name a folder that holds saved_model.pb"),
    ],
    ids=["no input", "bad UTF-8", "no model"],
)
def test_a_mistake_of_translate_beam_is_one_line_before_the_job(content, message, tmp_path):
    if content:
        (tmp_path / "in.txt").write_bytes(content)
    program = ROOT / "recipes" / "translate_beam.py"
    flags = "--model", tmp_path, "--input", tmp_path / "in.txt", "--output", tmp_path / "out"
    process = run_process([BEAM_PYTHON, program, *flags])
    assert process.returncode == 2
    assert process.stderr.splitlines()[-1].endswith(message.format(tmp_path))
    assert list(tmp_path.glob("out*")) == []
