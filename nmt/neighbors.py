"""What stands beside this package in a clone, and within it where it is installed: the three
modules, and data/.

    from nmt.neighbors import params

An application may have a `params.py` of its own, which `import params` would find first. Installed,
this one is nmt.params (docs/make_package.py); in a clone it is found by its place.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from nmt import UserError

PACKAGE = Path(__file__).resolve().parent
FOLDER = PACKAGE.parent
IS_INSTALLED = (PACKAGE / "params.py").exists()


def is_ours(path: str | None) -> bool:
    """Returns whether a module's file stands beside this package."""
    return path is not None and Path(path).resolve().parent == FOLDER


def load_params() -> ModuleType:
    """Returns the module params.py; in a clone as `params` where no other is so named."""
    if IS_INSTALLED:
        return importlib.import_module("nmt.params")
    if "params" in sys.modules:
        module = sys.modules["params"]
        if is_ours(getattr(module, "__file__", None)):
            return module
    else:
        spec = importlib.util.find_spec("params")
        if spec and is_ours(spec.origin):
            return importlib.import_module("params")
    spec = importlib.util.spec_from_file_location("nmt.params", FOLDER / "params.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{FOLDER / 'params.py'} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its table() looks itself up
    spec.loader.exec_module(module)
    return module


def check_names(*names: str) -> None:
    """Raises a UserError if another module is, or would be, imported by one of these names."""
    for name in () if IS_INSTALLED else names:
        if name in sys.modules:
            path = getattr(sys.modules[name], "__file__", None)
        else:
            spec = importlib.util.find_spec(name)
            path = spec.origin if spec else None
        if not is_ours(path):
            raise UserError(
                f"{path or name}: hides the module {name} of {FOLDER}, which nmt needs; rename "
                "your own, or put the folder of nmt before it in sys.path"
            )


def data_folder() -> Path:
    """Returns the folder of the bundled corpora: the package's where it is installed, or data/."""
    return (PACKAGE if IS_INSTALLED else FOLDER) / "data"


def how_to_install(extra: str) -> str:
    """Returns the command that installs what an extra of pyproject.toml needs."""
    if IS_INSTALLED:
        return f'pip install "transformer-tutorial[{extra}]", from where you have the package'
    return f'pip install -e ".[{extra}]"'


if TYPE_CHECKING:
    import params as params
else:
    params = load_params()
