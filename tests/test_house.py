"""What must hold of the house: three modules, eleven rooms, and imports that run one way."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Each room may use those before it; training and decoding do not use each other.
ROOMS = [
    "text", "corpus", "documents", "network", "decoding", "exports", "training", "results", "runs",
    "serving", "cli",
]  # fmt: skip
STORY = ["params", "transformer_model", "run_demo"]
PRODUCT = [*(ROOT / f"{name}.py" for name in STORY), *sorted((ROOT / "nmt").rglob("*.py"))]


def imported(source, package=""):
    """Returns the names of all modules that a file's text imports, in functions too."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide what they import"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def room(name):
    """Returns the room of a module's name; None where it is in none."""
    parts = name.split(".")
    return parts[1] if parts[0] == "nmt" and parts[1:] and parts[1] in ROOMS else None


def wrong_imports(name, source):
    """Returns the imports of the module `name` that the rules of the house do not allow."""
    own, wrong = room(name), set()
    for other in imported(source):
        top = other.split(".")[0]
        if top == "run_demo" or (name == "transformer_model" and top in ("nmt", "params")):
            wrong.add(other)
        allowed = ROOMS[: ROOMS.index(own) + 1] if own else []
        if own == "training":
            allowed.remove("decoding")
        if room(other) and name.startswith("nmt") and room(other) not in allowed:
            wrong.add(other)
    return wrong


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", PRODUCT, ids=name_of)
def test_imports_run_one_way(path):
    assert not wrong_imports(name_of(path), path.read_text())


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("nmt.corpus.corpora", "from nmt.decoding import search"),
        ("nmt.network.layers", "from nmt.decoding import search"),
        ("nmt.documents.inline", "from nmt.decoding.sentence import Translation"),
        ("nmt.decoding.search", "from nmt.training.devices import find"),
        ("nmt.training.devices", "import nmt.results.plots"),
        ("nmt.training.metrics", "from nmt.decoding import search"),
        ("nmt.results.plots", "def draw():\n    from nmt.cli import flags"),
        ("nmt.runs.loading", "from nmt.serving import models"),
        ("nmt.serving.app", "from nmt.cli import flags"),
        ("nmt.machine", "from nmt.text import corpora"),
        ("nmt.cli.commands", "import run_demo"),
        ("transformer_model", "import params"),
        ("transformer_model", "from nmt import UserError"),
    ],
)
def test_an_import_the_other_way_is_found(name, line):
    assert wrong_imports(name, line)


def test_tests_start_processes_by_helpers_with_the_environment_of_a_user():
    starts = r"^import subprocess|^from subprocess import .*\b(run|Popen|call|check_\w+)\b"
    files = [path for path in (ROOT / "tests").rglob("*.py") if path.name != "helpers.py"]
    assert files
    for path in files:
        assert not re.search(starts, path.read_text(), re.M), path


TESTS = sorted((ROOT / "tests").rglob("*.py"))


def test_no_test_file_imports_another():
    """What several of them share is in tests/helpers.py."""
    names = {path.stem for path in TESTS} - {"helpers"}
    imports = {path.stem: imported(path.read_text()) & names for path in TESTS}
    assert {name: shared for name, shared in imports.items() if shared} == {}


def private_attributes(path):
    """Returns the names of private attributes in a file; a named tuple's are public."""
    nodes = [
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
    ]
    private = {node.attr for node in nodes if re.match(r"_[a-z]", node.attr)}
    return private - {"_replace", "_asdict", "_fields"}


def test_the_canary_alone_uses_private_attributes():
    users = {path.stem for path in TESTS if private_attributes(path)}
    assert users == {"test_private_attributes"}


def test_folders_of_tests_mirror_the_packages():
    folders = {path.parent.name for path in TESTS} - {"tests"}
    assert folders == {*ROOMS, "lessons"}


def test_three_modules_stand_at_the_top_level():
    assert {path.stem for path in ROOT.glob("*.py")} == set(STORY)
