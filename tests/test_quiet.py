"""What must hold of a start: TensorFlow's notes are not seen, everything else is."""

import os
import subprocess
import sys

from test_run_demo import ROOT

from beyond import quiet

NOTES = (
    b"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
    b"I0000 00:00:1795292868.961085   27932 port.cc:153] oneDNN custom operations are on.\n"
    b"E0000 00:00:1795292872.363816   27932 cuda_platform.cc:52] failed call to cuInit\n"
)


def test_notes_are_held_back_and_all_else_passed_on(capfd):
    with quiet.startup() as dropped:
        os.write(2, NOTES + b"W0000 00:00:1 1 other.cc:1] of note\n")
        print("port.cc: of mine", file=sys.stderr)
    passed = capfd.readouterr().err.splitlines()
    assert sorted(passed) == ["W0000 00:00:1 1 other.cc:1] of note", "port.cc: of mine"]
    assert b"".join(dropped) == NOTES


def test_what_fails_meanwhile_is_heard():
    code = "from beyond import quiet\nwith quiet.startup():\n    import no_such_module"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert "No module named 'no_such_module'" in done.stderr


def test_help_says_nothing_but_help():
    done = subprocess.run(
        [sys.executable, ROOT / "run_demo.py", "--help"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage" in done.stdout


def test_a_training_says_nothing_but_its_own_before_it_begins(tmp_path):
    (tmp_path / "one.tsv").write_text("um\tone\n")
    command = [sys.executable, ROOT / "run_demo.py", "--dataset", tmp_path / "one.tsv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    first, *_, last = done.stderr.splitlines()
    assert (first[:7], last[:12]) == ("Device:", "run_demo.py:")


def test_a_program_without_stderr_starts_too():
    command = f"'{sys.executable}' '{ROOT / 'run_demo.py'}' --help 2>&-"
    assert subprocess.run(command, shell=True, capture_output=True).returncode == 0
