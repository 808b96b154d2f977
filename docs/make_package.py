"""Builds the wheel so that it owns no module but `nmt`: the three modules lie in it, as nmt.params.

pyproject.toml names this class; `pip wheel .` and `pip install .` call it. In a clone the three
modules stand at the top, where learners read them; in site-packages, names such as `params` belong
to everybody. So the copies of the files in the wheel import them by their names there.
"""

import re
from pathlib import Path

from setuptools.command.build_py import build_py

STORY = "params|transformer_model|run_demo"
IMPORT = re.compile(rf"^(\s*)import ({STORY})\b", re.MULTILINE)
FROM_IMPORT = re.compile(rf"^(\s*)from ({STORY}) import\b", re.MULTILINE)


def within_package(source: str) -> str:
    """Returns a module's source that imports the three modules from nmt."""
    return FROM_IMPORT.sub(r"\1from nmt.\2 import", IMPORT.sub(r"\1from nmt import \2", source))


class BuildPackage(build_py):
    """The command of setuptools that copies modules."""

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:
        """Copies a module, one of the top level into nmt. Returns its new path and True."""
        path, _ = super().build_module(module, module_file, package or "nmt")
        source = Path(module_file).read_text(encoding="utf-8")
        Path(path).write_text(within_package(source), encoding="utf-8")
        return path, True
