"""`translate --input FILE --output FILE`: a file of any size, resumable."""

from __future__ import annotations

import hashlib
import itertools
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt import UserError, output
from nmt.cli import flags, trained_runs
from nmt.corpus import files
from nmt.decoding.batch_sizes import CHUNK_LINES
from nmt.decoding.line_counts import LineCounts
from nmt.messages import log, plural
from nmt.progress import ProgressBar
from nmt.resumable_output import ResumableLines
from nmt.runs.folder import Run
from nmt.text import encoding

if TYPE_CHECKING:
    from nmt.decoding.translator import Translator

# Of a part: the lines that `translate` without --input translates together, so that batches are the
# same, and so are the last bits of all numbers.
PART_LINES = CHUNK_LINES


class Part(NamedTuple):
    """Consecutive lines of a text."""

    first: int  # the number of the first line, from 1
    lines: list[str]
    prefixes: list[str]  # what the translation of each line begins with
    # What the translation of each line is to be like; none: whatever.
    references: Sequence[str] = ()


# Returns what is written for a Part, whose lines it counts.
WritePart = Callable[["Translator", Part, LineCounts], str]


class Row(NamedTuple):
    """A line of the input, and what goes with it."""

    line: str
    prefix: str  # what its translation begins with
    reference: str = ""  # what its translation is to be like


def add_file_flags(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("A file of any size (docs/scaling.md)")
    flags.add_value(group, "--input", "FILE", "the lines to translate, instead of stdin")
    flags.add_value(
        group, "--output", "FILE", "a new file, instead of stdout, which appears when it is "
        "complete; until then, what is translated stands in FILE.partial, and the same command "
        "resumes it",
    )  # fmt: skip
    flags.add_value(
        group, "--closest-to", "FILE", "of the --n-best translations of each line of --input, "
        "write the one most like the line of this file, by chrF",
    )  # fmt: skip


def check_flags(args: Namespace, documents: bool) -> None:
    """Raises a UserError if flags contradict each other."""
    if not (args.input or args.output):
        if args.closest_to:
            raise UserError("--closest-to goes with --input FILE and --output FILE; add them")
        return
    if not (args.input and args.output):
        missing = "--output" if args.input else "--input"
        raise UserError(f"--input and --output go together; add {missing} FILE")
    if args.text:
        raise UserError("--input names the lines to translate: leave the sentences out")
    if documents:
        raise UserError(
            f"--format {args.format} translates a document as a whole: leave --input and --output "
            "out, or use translate-file"
        )
    if args.check or args.strict:
        raise UserError(
            "--check and --strict compare the lines that are printed: leave them out, or --input "
            "and --output"
        )
    try:
        encoding.check_characters([args.prefix or ""])
    except UserError as error:
        raise UserError(f"--prefix {error}") from None
    if args.closest_to and (args.n_best == 1 or args.mbr):
        raise UserError(
            "--closest-to chooses one of several translations: add --n-best N, and leave --mbr out"
        )
    for name in filter(None, (args.input, args.prefixes, args.closest_to)):
        files.check_is_stored(name)
    output_path = Path(args.output)
    if output_path.is_dir():
        raise UserError(f"--output {args.output}: is a folder; name a file in it")
    if output_path.exists() and output_path.samefile(args.input):
        raise UserError("--output is the --input itself; name another file")
    output.refuse_existing(args.output, "another file")


def run(
    args: Namespace, runs: list[Run], load: Callable[[], Translator], write_part: WritePart
) -> None:
    """Translates --input into --output, but for what is translated already.

    Args:
      load: loads the runs.

    Raises a UserError if a run was trained further while it was loaded.
    """
    lines, digest = count_lines(args)
    with ResumableLines(Path(args.output), line_settings(args, runs, digest)) as partial:
        firsts = range(1, lines + 1, PART_LINES)
        if missing := [first for first in firsts if first not in partial.finished]:
            with trained_runs.unchanged(runs):
                translator = load()
            done = missing[0] - 1
            if done:
                log.info(f"{partial.path}: holds {done} of {plural(lines, 'line')}")
            counts = translator.no_counts(done)
            parts = (part for part in read_parts(args) if part.first not in partial.finished)
            texts = ((part.first, write_part(translator, part, counts)) for part in parts)
            write_texts(texts, partial, counts, done, lines)
        partial.finish()
    log.info(f"{args.output}: {plural(lines, 'line')} translated")


def read_rows(args: Namespace) -> Iterator[Row]:
    """Yields the lines, their prefixes and references."""
    paths = [path for path in (args.input, args.prefixes, args.closest_to) if path]
    for line, *columns in files.read_aligned(*paths):
        prefix = columns.pop(0) if args.prefixes else args.prefix or ""
        yield Row(line, prefix, columns[0] if args.closest_to else "")


def read_parts(args: Namespace) -> Iterator[Part]:
    """Yields the Parts of the input, one of which is in memory at a time."""
    rows = read_rows(args)
    for first in itertools.count(1, PART_LINES):
        part_rows = list(itertools.islice(rows, PART_LINES))
        if not part_rows:
            return
        yield Part(
            first,
            [row.line for row in part_rows],
            [row.prefix for row in part_rows],
            [row.reference for row in part_rows] if args.closest_to else [],
        )


def count_lines(args: Namespace) -> tuple[int, str]:
    """Returns the number of lines of the input, and the SHA-256 of it and what goes with it.

    All of it is read before anything is translated: a damaged line would be found hours later.

    Raises a UserError if the input, or a line of it, cannot be read; or there are fewer or more
    prefixes.
    """
    digest, lines = hashlib.sha256(), 0
    for row in read_rows(args):
        lines += 1
        digest.update(f"{row.line}\n{row.prefix}\n".encode())
        if args.closest_to:
            digest.update(f"{row.reference}\n".encode())
    return lines, digest.hexdigest()


def line_settings(args: Namespace, runs: list[Run], digest: str) -> dict[str, Any]:
    """Returns what the content of the output depends on, by names for messages."""
    digests = [trained_runs.digest(run) for run in runs]
    return trained_runs.translation_settings(args, runs, digests) | {
        "input": digest,
        "size of parts": PART_LINES,
    }


def write_texts(
    texts: Iterator[tuple[int, str]],
    partial: ResumableLines,
    counts: LineCounts,
    done: int,
    lines: int,
) -> None:
    """Writes texts, each by the number of its first line, and shows progress.

    Args:
      counts: of the lines of `texts`, as they are yielded; then those are named that could not be
        translated well.
      done, lines: those that `partial` holds, and all.
    """
    started = time.perf_counter()
    try:
        with ProgressBar("Translating", lines, done, unit="line") as bar:
            for first, text in texts:
                partial.add(first, text)
                rate = counts.lines / (time.perf_counter() - started)
                bar.show(done + counts.lines, f"{rate:,.0f} lines/s")
    finally:  # the process that resumes an interrupted one knows nothing of these lines
        counts.warn()
