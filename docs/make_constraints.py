"""Writes constraints.txt: the installed versions of what the users' requirements need.

python docs/make_constraints.py
"""

import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("serve", "data", "documents", "recipes")  # of pyproject.toml, those for users
CONSTRAINTS = ROOT / "constraints.txt"


def requirements() -> list[Requirement]:
    """Returns what requirements.txt and EXTRAS name."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    texts = [text for line in lines if (text := line.partition("#")[0].strip())]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name in EXTRAS:
        texts += project["optional-dependencies"][name]
    return [Requirement(text) for text in texts]


def installed_versions() -> dict[str, str]:
    """Returns the installed version of each package that is needed, by name."""
    waiting, versions = requirements(), {}
    seen = set()  # packages, each with its extras
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, *sorted(requirement.extras)) in seen:
            continue
        seen.add((name, *sorted(requirement.extras)))
        package = metadata.distribution(name)
        versions[name] = package.version
        for line in package.requires or ():
            needed = Requirement(line)
            extras = [{"extra": extra} for extra in ("", *requirement.extras)]
            if needed.marker is None or any(map(needed.marker.evaluate, extras)):
                waiting.append(needed)
    return dict(sorted(versions.items()))


def write() -> None:
    """Writes constraints.txt; its head, which comments are, stays."""
    head = [line for line in CONSTRAINTS.read_text().splitlines() if line.startswith("#")]
    pins = [f"{name}=={version}" for name, version in installed_versions().items()]
    CONSTRAINTS.write_text("\n".join([*head, *pins]) + "\n")


if __name__ == "__main__":
    write()
