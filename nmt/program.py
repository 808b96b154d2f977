"""The program's name, in a clone and installed, and its console script.

In a clone it is called as `python run_demo.py`; the package installs the script of SCRIPT.
"""

import runpy
import sys
from pathlib import Path

from nmt.neighbors import IS_INSTALLED

SCRIPT = "transformer-tutorial"  # as pyproject.toml names it
CALLED_AS_SCRIPT = Path(sys.argv[0]).name == SCRIPT if sys.argv else False
PROGRAM = SCRIPT if CALLED_AS_SCRIPT else "run_demo.py"  # begins every line on what went wrong
COMMAND = [SCRIPT] if CALLED_AS_SCRIPT else ["python", "run_demo.py"]  # what users type
MODULE = "nmt.run_demo" if IS_INSTALLED else "run_demo"


def main() -> None:
    """Runs run_demo.py as `python run_demo.py` does."""
    runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
