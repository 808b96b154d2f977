"""Writes constraints.txt: the installed versions of what the users' requirements need.

python docs/make_constraints.py
"""

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LISTS = ("", "-serve", "-data", "-documents", "-recipes")  # requirements*.txt, but for developers'
CONSTRAINTS = ROOT / "constraints.txt"


def requirements() -> Iterator[Requirement]:
    """Yields what the files of LISTS name."""
    for name in LISTS:
        for line in (ROOT / f"requirements{name}.txt").read_text().splitlines():
            text = line.partition("#")[0].strip()
            if text:
                yield Requirement(text)


def installed_versions() -> dict[str, str]:
    """Returns the installed version of each package that is needed, by name."""
    waiting, versions = list(requirements()), {}
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
