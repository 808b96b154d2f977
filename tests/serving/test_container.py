"""What must hold of the files that make a container, as far as reading them shows."""

import re
import tomllib

import pytest
from helpers import ROOT, run_process
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from nmt import messages
from nmt.cli.main import parse_command_line
from nmt.serving import openapi
from nmt.serving.process import GRACE_SECONDS

DOCKERFILE = (ROOT / "recipes" / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = ROOT / "recipes" / "compose.yaml"


def instructions():
    """Returns the instructions of the Dockerfile: name and arguments, lines joined."""
    lines = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", DOCKERFILE)).splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line]


def test_the_last_stage_has_what_the_server_needs_and_no_root():
    names = [name for name, _ in instructions()]
    assert names.count("FROM") == 2
    final = instructions()[names.index("FROM", 1) :]
    assert ("USER", "translator") in final
    assert names[-1] == "ENTRYPOINT"
    assert any(name == "HEALTHCHECK" and "/ready" in text for name, text in final)
    assert not any("pip install" in text for _, text in final)


def test_all_that_is_copied_exists_and_all_modules_are_copied():
    sources = set()
    for name, text in instructions():
        if name == "COPY" and not text.startswith("--from"):
            sources.update(text.split()[:-1])
    assert all((ROOT / source).exists() for source in sources)
    assert {path.name for path in ROOT.glob("*.py")} | {"nmt", "data"} <= sources
    assert "constraints.txt" in sources
    tracked = run_process(["git", "ls-files", *sources], cwd=ROOT).stdout.split("\n")
    assert sum((ROOT / path).stat().st_size for path in tracked if path) < 30_000_000


def test_the_compose_file_gives_the_server_time_to_end_and_a_key():
    yaml = pytest.importorskip("yaml")
    (service,) = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"].values()
    assert service["ports"] == ["127.0.0.1:8765:8765"]  # not the whole network
    assert int(service["stop_grace_period"].rstrip("s")) > GRACE_SECONDS
    assert "NMT_API_KEY" in service["environment"]
    assert service["read_only"]
    assert (COMPOSE.parent / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).is_file()


def test_the_image_has_the_tested_packages_without_tensorflow():
    command = next(text for _, text in instructions() if "pip install" in text)
    image = {*command.partition("/constraints.txt")[2].split()}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    served = {Requirement(line).name for line in (*extras["serve"], *extras["documents"])}
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    needed = {line.partition("#")[0].strip() for line in lines} - {""}
    assert served | {"lxml"} < image  # by which documents are read
    assert image - served < {Requirement(line).name for line in needed}
    assert not any("tensorflow" in name or "keras" in name for name in image)
    pins = re.findall(r"(?m)^([\w.-]+)==", (ROOT / "constraints.txt").read_text())
    assert {canonicalize_name(name) for name in image} < {*pins}


def settings_of_files():
    """Returns the settings in the environment of Dockerfile, compose.yaml and Kubernetes."""
    yaml = pytest.importorskip("yaml")
    settings = dict(re.findall(r"\b(NMT_\w+)=(\S+)", DOCKERFILE.partition("FROM")[2]))
    (service,) = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"].values()
    _, deployment = yaml.safe_load_all((ROOT / "recipes/kubernetes-serve.yaml").read_text("utf-8"))
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    pod = {variable["name"]: variable["value"] for variable in container["env"]}
    return settings | service["environment"] | pod | {"NMT_API_KEY": "k"}


def test_the_settings_of_the_files_are_those_of_the_server(monkeypatch, capsys):
    for name, value in settings_of_files().items():
        monkeypatch.setenv(name, value)
    args = parse_command_line(["serve"])
    assert (args.host, args.engine, args.reload) == ("0.0.0.0", "ctranslate2", True)
    assert (args.runs, args.log_format) == (["/runs/mine"], "json")
    assert not capsys.readouterr().err
    messages.show()  # as text again


def test_probes_ask_routes_of_the_server():
    manifest = (ROOT / "recipes" / "kubernetes-serve.yaml").read_text("utf-8")
    paths = set(re.findall(r"httpGet: {path: (\S+),", manifest))
    assert paths == {"/live", "/ready"}
    assert paths <= {operation.path for operation in openapi.OPERATIONS}
