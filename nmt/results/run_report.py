"""The report of a run: what is printed of its scores, and written into its folder."""

import io
import itertools
from typing import NamedTuple

from nmt.training.run_folder import RunFolder, read_file


class TranslatedLine(NamedTuple):
    """A line of the test split."""

    source: str
    reference: str
    hypothesis: str


def read_translations(folder: RunFolder, number: int) -> list[TranslatedLine]:
    """Returns the first test lines of a run, as translations.txt holds them.

    Args:
      folder: of the run.
      number: of lines, at most; there are none before the run is scored, or if the file is damaged.
    """
    try:
        text = read_file(folder.path / "translations.txt").decode()
        lines = itertools.islice(io.StringIO(text), number)
        return [TranslatedLine(*line.rstrip("\n").split("\t")) for line in lines]
    except (OSError, ValueError, TypeError):  # no file, no text, no three columns
        return []
