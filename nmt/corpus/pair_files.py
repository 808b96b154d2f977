"""New files of pairs: a .tsv, a .tmx, or a source and a target file (Moses format)."""

import contextlib
import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from nmt import UserError, output
from nmt.corpus import files
from nmt.corpus.formats.registry import FORMATS
from nmt.text.encoding import GZIP
from nmt.text.languages import Pair
from nmt.text.tmx_text import unit_writer

WRITTEN_FORMATS = ("tsv", "tmx")

WritePair = Callable[[str, str], None]  # of a source and a target, without tabs and line ends


def check_names(paths: Sequence[str], flag: str = "--to") -> None:
    """Raises a UserError unless pairs can be written to the files that a flag names."""
    named = f"{flag} {' '.join(paths)}"
    if len(paths) > 2 or is_one_of(paths[0], paths[1:]):
        raise UserError(f"{named}: name one .tsv or .tmx, or a source and a target file")
    for path in paths:
        kind = files.kind(path).lower()
        if kind in FORMATS and (len(paths) == 2 or kind not in WRITTEN_FORMATS):
            raise UserError(f"{named}: pairs are written as a .tsv or .tmx, or as two other files")
        output.refuse_existing(path, f"another path with {flag}")


def is_one_of(path: str, paths: Iterable[str]) -> bool:
    """Returns whether a path is that of one of several files, however it is spelled."""
    return Path(path).resolve() in {Path(file).resolve() for file in paths}


@contextlib.contextmanager
def new_pairs(paths: Sequence[str], pair: Pair | None, flag: str = "--to") -> Iterator[WritePair]:
    """Yields what writes a pair to new files, which appear when the block ends without an error.

    They are a .tsv or .tmx, or a source and a target file; each may end in .gz. A UserError says
    that one cannot be written, or that the languages of a .tmx are unknown. What writes raises a
    ValueError for a character that the format lacks.
    """
    check_names(paths, flag)
    is_tmx = files.kind(paths[0]).lower() == "tmx"
    if is_tmx and pair is None:
        raise UserError(f"{flag} {paths[0]}: needs the languages; name them: --languages A-B")
    with contextlib.ExitStack() as stack:
        new_files = [stack.enter_context(_new_text_file(path)) for path in paths]
        if is_tmx and pair:
            yield stack.enter_context(unit_writer(new_files[0], pair))
            return

        def write(*sides: str) -> None:
            lines = sides if len(new_files) == 2 else ["\t".join(sides)]
            for file, line in zip(new_files, lines, strict=True):
                file.write(f"{line}\n")

        yield write


@contextlib.contextmanager
def _new_text_file(path: str) -> Iterator[TextIO]:
    write = gzip.open if path.endswith(GZIP) else open
    with (
        output.new(path) as unfinished,
        write(unfinished, "wt", encoding="utf-8", newline="\n") as file,
    ):
        yield file
