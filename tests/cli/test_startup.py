"""What must hold of a start: TensorFlow's notes are not seen, everything else is."""

import os
import pty
import re
import select
import shutil
import sys
from argparse import Namespace
from subprocess import PIPE

import pytest
import tensorflow as tf
from helpers import (
    PROGRAM,
    ROOT,
    TINY,
    lines_of_tensorflow,
    output_of,
    random_batches,
    run_process,
    sentences,
    start_process,
    tiny_training,
    write_marian_folder,
    write_tsv,
)

from nmt import messages
from nmt.cli import startup
from nmt.cli.exit_codes import exit_code

NOTES = (
    b"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
    b"I0000 00:00:1795292868.961085   27932 port.cc:153] oneDNN custom operations are on.\n"
    b"E0000 00:00:1795292872.363816   27932 cuda_platform.cc:52] failed call to cuInit\n"
)


def test_notes_are_held_back_and_all_else_passed_on(capfd):
    with messages.quiet() as dropped:
        os.write(2, NOTES + b"W0000 00:00:1 1 other.cc:1] of note\n")
        print("port.cc: of mine", file=sys.stderr)
    passed = capfd.readouterr().err.splitlines()
    assert sorted(passed) == ["W0000 00:00:1 1 other.cc:1] of note", "port.cc: of mine"]
    assert b"".join(dropped) == NOTES


def test_what_fails_meanwhile_is_heard():
    code = "from nmt import messages\nwith messages.quiet():\n    import no_such_module"
    done = run_process([sys.executable, "-c", code], cwd=ROOT)
    assert "No module named 'no_such_module'" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["data", "data/pt_en/test.tsv"]])
def test_a_python_without_the_libraries_is_told_of_the_virtual_environment(arguments):
    command = [sys.executable, "-S", "run_demo.py", *arguments]  # -S: none of site-packages
    done = run_process(command, cwd=ROOT)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert re.search(r"has no module \w+; activate the virtual environment", line)


def test_a_missing_module_of_the_program_itself_is_an_error_of_the_program():
    def command():
        raise ModuleNotFoundError(name="nmt.text.missing")

    with pytest.raises(ModuleNotFoundError):
        exit_code(command, Namespace())


@pytest.mark.parametrize("stderr", ["", "2>&-"])
def test_help_says_nothing_but_help_and_needs_no_stderr(stderr):
    done = run_process(f"'{sys.executable}' '{ROOT / 'run_demo.py'}' --help {stderr}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage" in done.stdout


# ---- What the environment and the streams may be ----


def program(command, variables=None, **options):
    """Runs run_demo.py with a shell's words behind it. Returns its CompletedProcess."""
    line = f"exec {sys.executable} {ROOT / 'run_demo.py'} {command}"
    return run_process(line, variables, **options)


def test_a_start_says_nothing_but_its_own_and_needs_nothing_of_the_environment(tmp_path):
    """Keras would read its backend from KERAS_BACKEND, or else from keras.json."""
    home = tmp_path / ".keras"
    home.mkdir()
    (home / "keras.json").write_text('{"backend": "torch"}')
    (tmp_path / "one.tsv").write_text("um\tone\n")
    variables = {"KERAS_HOME": str(home), "TF_USE_LEGACY_KERAS": "1", "KERAS_BACKEND": "jax"}
    done = program("--dataset one.tsv", variables, cwd=tmp_path)
    assert done.returncode == 2
    first, *_, last = done.stderr.splitlines()
    assert (first[:7], last[:12]) == ("Device:", "run_demo.py:")


def test_flags_of_xla_are_added_to_those_of_the_user(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    assert startup.xla_flags() == "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false"
    mine = "--xla_gpu_autotune_level=4 --xla_gpu_cuda_data_dir=/usr/cuda"
    monkeypatch.setenv("XLA_FLAGS", mine)
    assert startup.xla_flags() == f"{mine} --xla_gpu_enable_triton_gemm=false"


STARTED = """
import gc, signal, sys, threading
from nmt.cli import startup
startup.set_environment(varying_shapes=True)
startup.catch_interrupts()
handler = signal.getsignal(signal.SIGTERM)
failed = []
threading.excepthook = failed.append
thread = threading.Thread(target=startup.import_tensorflow)  # only the main one handles signals
thread.start()
thread.join()
assert not failed, failed
assert signal.getsignal(signal.SIGTERM) is handler
unused = {"matplotlib", "tensorflow_text", "tensorflow_datasets", "sacrebleu", "pandas", "tqdm"}
assert not unused & {*sys.modules}, unused & {*sys.modules}
assert gc.isenabled()
assert gc.get_freeze_count() > 100_000, "each collection would search what was imported"
import matplotlib  # as pictures do
import tensorflow as tf
print(tf.function(lambda x: x + 1, jit_compile=True)(1.0).numpy())  # a wrong flag of XLA ends it
"""


WITHOUT_TENSORFLOW_TEXT = """
import sys
sys.modules["tensorflow_text"] = None  # an import of it fails
import run_demo
sys.exit(run_demo.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_training_translating_and_scoring_do_without_tensorflow_text(tmp_path):
    """A new TensorFlow, for which there is none yet, can be used but for one export."""
    text = write_tsv(tmp_path / "a.tsv", sentences(99))
    command = [sys.executable, "-c", WITHOUT_TENSORFLOW_TEXT, "--run", tmp_path / "run", *TINY]
    command += ["--train", text, "--valid", text, "--test", text, "--epochs", "1", "--no-plots"]
    done = run_process(command, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "BLEU" in done.stdout


def test_a_start_beside_the_main_thread_imports_only_what_translating_needs():
    """It is never searched for garbage, and XLA knows the flags that are set for it."""
    done = run_process([sys.executable, "-c", STARTED], cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "2.0\n"), done.stderr


def test_a_module_that_the_host_program_has_imported_stays_installed():
    with startup.not_installed("json"):
        import json
    assert sys.modules["json"] is json


@pytest.mark.slow
def test_a_library_without_tensorflow_under_keras_says_so_in_a_line():
    # As with KERAS_BACKEND=jax, which takes the package of that name.
    code = "import keras; keras.config.backend = lambda: 'jax'; import transformer_model"
    done = run_process([sys.executable, "-c", code], cwd=ROOT)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: transformer_model needs Keras on TensorFlow: ")
    assert "set KERAS_BACKEND=tensorflow" in last


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("um. >&-", "run_demo.py: stdout is closed"),
        ("<&-", "run_demo.py: stdin is closed"),
        pytest.param(
            "um. > /dev/full",
            "stdout: No space left on device",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_closed_and_full_streams_are_one_line(finished, command, said):
    done = program(f"translate --run {finished / 'run'} {command}")
    assert done.returncode == 2, done
    assert said in done.stderr.splitlines()[-1]
    assert "Exception ignored" not in done.stderr
    assert "Traceback" not in done.stderr


def read_until(stream, end):
    """Reads from a pipe until what came ends with `end`. Returns it."""
    said = b""
    while not said.endswith(end):
        piece = os.read(stream.fileno(), 4096)
        assert piece, said.decode()
        said += piece
    return said


@pytest.mark.slow
def test_a_typed_line_is_translated_before_the_next_and_nothing_else_is_said(finished, capsys):
    arguments = ["translate", "--run", finished / "run"]
    answers = output_of(capsys, *arguments, "um dois.", "nove.").splitlines()
    terminal, stdin = pty.openpty()
    process = start_process([*PROGRAM, *arguments], stdin=stdin, stdout=PIPE, stderr=PIPE)
    os.close(stdin)
    try:
        said = read_until(process.stderr, b"> ").splitlines()
        assert [line.split()[0] for line in said] == [b"Using", b"Type", b">"]
        for text, answer in zip(("um dois.", "nove."), answers, strict=True):
            os.write(terminal, f"{text}\n".encode())
            read_until(process.stderr, b"> ")  # it asks for the next line
            assert select.select([process.stdout], [], [], 1)[0], f"no answer to {text!r} yet"
            assert process.stdout.readline().decode() == f"{answer}\n"
        os.write(terminal, b"\x04")  # Ctrl-D
        assert process.wait() == 0
    finally:
        os.close(terminal)


def test_a_log_file_gets_lines_and_no_bar(capsys):
    training, batches = tiny_training(), random_batches(21)
    data = tf.data.Dataset.from_tensor_slices(tuple(map(tf.stack, zip(*batches, strict=True))))
    training.train_epoch(data, 21, "Epoch 1/1")
    said = capsys.readouterr().err
    assert "\r" not in said
    assert len(re.findall(r"^Epoch 1/1: batch 20/\d+, loss .* tokens/s$", said, re.M)) == 1
    assert max(map(len, said.splitlines())) < 500


@pytest.mark.slow
def test_explore_says_what_it_uses_and_nothing_of_tensorflow(finished, tmp_path):
    page = tmp_path / "page.html"
    done = run_process([*PROGRAM, "explore", "um.", "--run", finished / "run", "--to", page])
    assert done.stdout == f"{page}\n"
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["Using", "Device:"]


# ---- TensorFlow's lines: one test over all that starts it ----

COMMANDS = [  # beside those of the README, of which tests/test_readme.py asks the same
    "translate --run {run} --engine tensorflow um.", "translate --run {shipped} --confidence um.",
    "evaluate --run {shipped} --confidence", "evaluate --run {shipped} --calibrate",
    "score {text} --run {run}", "align {text} --run {run}", "plot masks um. --run {run}",
    *(f"export --run {{run}} --format {form}" for form in (
        "keras", "ctranslate2", "huggingface", "argos --languages pt-en", "litert", "html",
    )),
    "data {text}", "import {marian} --run imported",
]  # fmt: skip
LESSONS = ["minimal", "ablation", "today"]  # the others are parts of the notebook


@pytest.fixture(scope="module")
def places(finished, tmp_path_factory):
    """What the commands name."""
    folder = tmp_path_factory.mktemp("places")
    return dict(
        run=shutil.copytree(finished / "run", folder / "run"),  # exports go there
        text=write_tsv(folder / "text.tsv", sentences(200)),
        shipped=shutil.copytree(ROOT / "data" / "trained", folder / "trained"),
        marian=write_marian_folder(folder / "opus-mt-no-en"),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_shows_lines_of_tensorflow(command, places, tmp_path):
    done = program(command.format(**places), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not lines_of_tensorflow(done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_lesson_shows_lines_of_tensorflow(lesson):
    done = run_process([sys.executable, "-c", f"import lessons.{lesson}"], cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
