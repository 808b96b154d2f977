"""What is known of the explorer before it is made: its files, and how large a run it may hold."""

from pathlib import Path

FOLDER = Path(__file__).parent
MAX_PARAMETERS = 25_000_000  # a page of 100 MB


def read(name: str) -> str:
    """Returns the text of a file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")
