"""What must hold of README.md: each of its commands runs.

docs/README.zh-CN.md shows the same commands: see test_docs.py.
"""

import json
import re
import shutil
import sys
from subprocess import PIPE

import pytest
from helpers import ROOT, lines_of_tensorflow, run_process, start_process, write_tsv

README = (ROOT / "README.md").read_text(encoding="utf-8")
# A training run of seconds, in place of one of minutes; the first draws pictures, too.
MINIATURE = "--num-layers 1 --d-model 16 --dff 32 --num-heads 2 --epochs 1 --batch-size 1024"
DRAWS = "python run_demo.py --preset quick"
RESUMES = "python run_demo.py --run runs/mine"
INSTALLS = ("git clone", "python3 -m venv", "pip install")  # .ci/run and .ci/package do that
PAGE = "<html><body><p>O carro vermelho é novo.</p></body></html>"


def commands():
    """Returns the lines of shell in the blocks of the page, without comments and installing."""
    blocks = re.findall(r"(?:^ {4}.*\n)+", README, re.M)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    shell = [line.partition("  #")[0].strip() for line in lines]
    return [
        line
        for line in shell
        if line.startswith(("python", "tensorboard", "jupyter")) and not line.startswith(INSTALLS)
    ]


def write_texts(folder):
    """Writes the files that the examples name, and the program, into a folder."""
    folder.mkdir()
    (folder / "run_demo.py").symlink_to(ROOT / "run_demo.py")
    lines = (ROOT / "data" / "pt_en" / "train.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines[:700]]
    for name, part in (("a", pairs[:600]), ("b", pairs[600:650]), ("c", pairs[650:])):
        for side, ending in enumerate(("pt", "en")):
            text = "".join(f"{pair[side]}\n" for pair in part)
            (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
    write_tsv(folder / "pairs.tsv", pairs[:600])
    (folder / "file.pt").write_text("Bom dia.\n", encoding="utf-8")
    (folder / "page.html").write_text(PAGE, encoding="utf-8")


@pytest.fixture(scope="module")
def clone(tmp_path_factory, finished):
    """A folder with three clones: without runs, with one run, and with all that the page names."""
    clone = tmp_path_factory.mktemp("readme")
    for name, runs in (("none", ()), ("one", ("a",)), ("several", ("quick", "mine", "a", "b"))):
        write_texts(clone / name)
        for run in runs:
            shutil.copytree(finished / "run", clone / name / "runs" / run)
    return clone


def in_shell(command):
    """Returns a line of the page as the tests run it, with this Python."""
    return re.sub(r"^(exec )?python\b", rf"\1{sys.executable}", command)


@pytest.mark.slow
def test_the_first_command_translates_before_any_training(clone):
    first = next(command for command in commands() if "translate" in command)
    assert "--run" not in first
    process = run_process(in_shell(first), cwd=clone / "none")
    printed = re.search(r"prints\s+`([^`]+)`", README)[1]
    assert process.stdout == f"{printed}\n", process.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_a_command_runs(command, clone, tmp_path):
    if "run_demo.py serve" in command:  # the run that comes with the program, in an empty folder
        line = in_shell(f"exec {command} --port 0").replace("run_demo.py", f"{ROOT}/run_demo.py")
        server = start_process(line, cwd=tmp_path, stderr=PIPE, encoding="utf-8")
        assert any("http://" in line for line in server.stderr)
        return
    folder = clone / ("several" if "--run" in command else "one")
    if command.startswith("python run_demo.py --") and command != RESUMES:
        without_pictures = "" if command == DRAWS else "--no-plots"
        command, folder = f"{command} {MINIATURE} {without_pictures}", clone / "none"
    process = run_process(in_shell(command), cwd=folder)
    assert process.returncode == 0, process.stderr
    assert not lines_of_tensorflow(process.stderr)


def test_every_line_of_shell_is_run_or_installs():
    blocks = "".join(re.findall(r"(?:^ {4}.*\n)+", README, re.M))
    shell = [line.strip() for line in blocks.replace("\\\n", " ").splitlines()]
    lines = [line for line in shell if re.match(r"(python3?|pip|git|tensorboard|jupyter) ", line)]
    bare = [line.partition("  #")[0].strip() for line in lines]
    assert {line for line in bare if not line.startswith(INSTALLS)} == {*commands()}
    assert len(commands()) >= 10


@pytest.mark.parametrize("page", ["README.md", "docs/README.zh-CN.md", "docs/evaluation.md"])
def test_scores_that_a_page_quotes_are_those_of_the_notebook(page):
    cells = json.loads((ROOT / "docs" / "walkthrough.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    printed = "".join("".join(output.get("text", ())) for output in outputs)
    text = (ROOT / page).read_text(encoding="utf-8")
    block = re.search(r"(^ {4}(Source|Test split).*\n(?: {4}.*\n|\n(?= {4}))*)", text, re.M)[0]
    quoted = re.sub(r"^ {4}", "", block, flags=re.M).strip()
    assert "BLEU" in quoted
    assert quoted in printed


def test_it_gives_the_length_of_the_network():
    lines = (ROOT / "transformer_model.py").read_text(encoding="utf-8").splitlines()
    assert f"one file of {len(lines)} lines" in README


@pytest.mark.slow
def test_the_page_to_try_is_what_the_explorer_writes_of_the_trained_run(tmp_path):
    """CONTRIBUTING.md has the command that writes it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("\\\n", " ")
    command = re.search(r"python run_demo.py explore .*--to docs/try.html[^#]*", text)[0]
    page = tmp_path / "try.html"
    command = command.replace("run_demo.py", str(ROOT / "run_demo.py"))
    command = command.replace("data/trained", str(ROOT / "data" / "trained"))
    process = run_process(in_shell(command.replace("docs/try.html", str(page))), cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    stored = (ROOT / "docs" / "try.html").read_bytes()
    assert len(stored) < 6_000_000
    assert page.read_bytes() == stored
