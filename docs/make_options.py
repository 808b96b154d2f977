"""Writes the fields of nmt/options.py from params.py: python docs/make_options.py"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import params

PATH = Path(__file__).resolve().parents[1] / "nmt" / "options.py"
BEGIN, END = "    # Fields: by docs/make_options.py.\n", "    # End of fields.\n"


def fields() -> str:
    """Returns the lines of the fields, one for each row of params.table()."""
    return "".join(
        f"    {row.name}: {row.type.__name__} = params.{row.name.upper()}\n"
        for row in params.table()
    )


def with_fields(source: str) -> str:
    """Returns the source of nmt/options.py with the fields that params.py has now."""
    return re.sub(f"(?s){BEGIN}.*{END}", lambda _: BEGIN + fields() + END, source)


if __name__ == "__main__":
    PATH.write_text(with_fields(PATH.read_text()))
