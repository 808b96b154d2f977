"""What must hold of the files that make a container, as far as reading them shows."""

import re

import pytest
from helpers import ROOT, run_process

from nmt.serving.process import GRACE_SECONDS

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


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
    assert any(name == "HEALTHCHECK" and "/health" in text for name, text in final)
    assert not any("pip install" in text for _, text in final)


def test_all_that_is_copied_exists_and_all_modules_are_copied():
    sources = set()
    for name, text in instructions():
        if name == "COPY" and not text.startswith("--from"):
            sources.update(text.split()[:-1])
    assert all((ROOT / source).exists() for source in sources)
    assert {path.name for path in ROOT.glob("*.py")} | {"nmt", "data"} <= sources
    tracked = run_process(["git", "ls-files", *sources], cwd=ROOT).stdout.split("\n")
    assert sum((ROOT / path).stat().st_size for path in tracked if path) < 30_000_000


def test_the_compose_file_gives_the_server_time_to_end_and_a_key():
    yaml = pytest.importorskip("yaml")
    (service,) = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"].values()
    assert service["ports"] == ["127.0.0.1:8765:8765"]  # not the whole network
    assert int(service["stop_grace_period"].rstrip("s")) > GRACE_SECONDS
    assert "NMT_API_KEY" in service["environment"]
    assert service["read_only"]
