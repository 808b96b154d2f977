"""What must hold of the house: three modules, twelve rooms, and imports that run one way."""

import ast
import collections
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Each room may use those before it; training and decoding do not use each other.
CORE = ["text", "corpus", "network", "decoding", "exports", "training", "results", "runs"]
EDGE = {  # the applications, and what each takes of the rooms; nothing of the core uses one
    "documents": ["text"],
    "imports": ["text", "network", "runs"],
    "serving": ["text", "decoding", "results", "runs", "documents"],
}
ROOMS = [*CORE, *EDGE, "cli"]
STORY = ["params", "transformer_model", "run_demo"]


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
        if top == "run_demo":
            wrong.add(other)
        if name == "transformer_model" and top == "nmt" and room(other) != "network":
            wrong.add(other)
        if name == "transformer_model" and top == "params":
            wrong.add(other)
        allowed = [*EDGE[own], own] if own in EDGE else ROOMS[: ROOMS.index(own) + 1] if own else []
        if own == "training":
            allowed.remove("decoding")
        # What applications call is in any room: nmt names it.
        if room(other) and name.startswith("nmt.") and room(other) not in allowed:
            wrong.add(other)
    return wrong


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


SOURCES = {name_of(path): path.read_text() for path in sorted((ROOT / "nmt").rglob("*.py"))}
PRODUCT = SOURCES | {name: (ROOT / f"{name}.py").read_text() for name in STORY}


def test_imports_run_one_way():
    wrong = {name: wrong_imports(name, source) for name, source in PRODUCT.items()}
    assert not {name: imports for name, imports in wrong.items() if imports}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("nmt.corpus.corpora", "from nmt.decoding import search"),
        ("nmt.training.metrics", "from nmt.decoding import search"),
        ("nmt.results.plots", "def draw():\n    from nmt.cli import flags"),
        ("nmt.runs.loading", "from nmt.documents import parse_document"),
        ("nmt.documents.word", "from nmt.decoding import search"),
        ("nmt.machine", "from nmt.text import corpora"),
        ("nmt.cli.commands", "import run_demo"),
        ("nmt.runs.api", "def train():\n    from nmt.cli import main"),
        ("transformer_model", "import params"),
    ],
)
def test_an_import_the_other_way_is_found(name, line):
    assert wrong_imports(name, line)


# ---- Arguments: what the rooms on the left take are values ----

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OF_THE_RIGHT = {"Namespace", "Run", "LockedRun", "TrainedRun", "Training"}
LEFT_OF_RUNS = ROOMS[: ROOMS.index("runs")]
STAND_TWICE = {"engine"}


def annotations(function):
    """Returns the annotations of a function's arguments and result by name; None without one."""
    arguments = function.args
    all_arguments = [
        *arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg,
        arguments.kwarg,
    ]  # fmt: skip
    by_name = {
        argument.arg: argument.annotation
        for argument in all_arguments
        if argument and argument.arg not in ("self", "cls")
    }
    result = {} if function.name == "__init__" else {"return": function.returns}
    return by_name | result


def named_types(source):
    """Returns all names in the annotations of a file's text."""
    nodes = [*ast.walk(ast.parse(source))]
    given = [node.annotation for node in nodes if isinstance(node, ast.AnnAssign)]
    for node in nodes:
        if isinstance(node, FUNCTIONS):
            given += filter(None, annotations(node).values())
    return {name for annotation in given for name in re.findall(r"\w+", ast.unparse(annotation))}


def test_what_stands_left_of_runs_takes_values():
    users = {
        name
        for name, source in SOURCES.items()
        if room(name) in LEFT_OF_RUNS and named_types(source) & OF_THE_RIGHT
    }
    assert not users


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class A:\n    def draw(self, *, runs: 'list[Run]') -> None: ...", {"Run"}),
        ("def draw(folder: RunFolder) -> Training | None: ...", {"Training"}),
        ("class Record:\n    args: argparse.Namespace", {"Namespace"}),
    ],
)
def test_an_object_of_the_right_is_seen_in_annotations(source, names):
    assert named_types(source) & OF_THE_RIGHT == names


# ---- Files: no circles, and one module of a name ----


def reached(name, graph):
    """Returns the modules that a module imports, and those that these import, and so on."""
    seen, todo = set(), [name]
    while todo:
        new = graph[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


def circles(sources):
    """Returns the modules that import themselves through others of their room.

    Args:
      sources: text by name of the module.
    """
    graph = {
        name: {other for other in imported(source) & sources.keys() if room(other) == room(name)}
        - {name}
        for name, source in sources.items()
        if room(name)
    }
    return {name for name in graph if name in reached(name, graph)}


def test_no_files_of_a_room_form_a_circle():
    assert circles(SOURCES) == set()


def test_a_circle_is_found():
    sources = {
        "nmt.text.a": "def f():\n    from nmt.text.b import c",
        "nmt.text.b": "from nmt.text import c",
        "nmt.text.c": "from nmt.text.a import f",
        "nmt.text.d": "import nmt.text.a",
    }
    assert circles(sources) == {"nmt.text.a", "nmt.text.b", "nmt.text.c"}


def test_no_module_name_stands_twice():
    counts = collections.Counter(name.split(".")[-1] for name in SOURCES)
    twice = {name for name, count in counts.items() if count > 1}
    assert twice <= STAND_TWICE, sorted(twice - STAND_TWICE)


def test_no_file_of_tests_has_the_name_of_another():
    """pytest imports them by their names alone."""
    counts = collections.Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name, count in counts.items() if count > 1]


def test_tests_start_processes_by_helpers_with_the_environment_of_a_user():
    starts = r"^import subprocess|^from subprocess import .*\b(run|Popen|call|check_\w+)\b"
    files = [path for path in (ROOT / "tests").rglob("*.py") if path.name != "helpers.py"]
    assert files
    for path in files:
        assert not re.search(starts, path.read_text(), re.M), path


TESTS = sorted((ROOT / "tests").rglob("*.py"))


def test_no_test_file_imports_another():
    """What several of them share is in tests/helpers.py, of servers in clients.py there."""
    names = {path.stem for path in TESTS} - {"helpers", "clients", "explorer_page"}
    imports = {path.stem: imported(path.read_text()) & names for path in TESTS}
    assert {name: shared for name, shared in imports.items() if shared} == {}


def private_attributes(path):
    """Returns the names of private attributes in a file; a named tuple's are public."""
    nodes = [
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
    ]
    private = {node.attr for node in nodes if re.match(r"_[a-z]", node.attr)}
    return private - {"_replace", "_asdict", "_fields"}


def test_no_test_uses_private_attributes():
    assert not {path.stem for path in TESTS if private_attributes(path)}


def test_folders_of_tests_mirror_the_packages():
    folders = {path.parent.name for path in TESTS} - {"tests"}
    assert folders == {*ROOMS, "lessons"}


def test_three_modules_stand_at_the_top_level():
    assert {path.stem for path in ROOT.glob("*.py")} == set(STORY)
