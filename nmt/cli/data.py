"""The command `data`: reports on parallel text and writes what is left of it.

See nmt/corpus/cleaning.py.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TextIO

from nmt import UserError, output
from nmt.cli import flags, startup
from nmt.corpus import cleaning, files, line_languages
from nmt.corpus.cleaning import PROBLEMS
from nmt.corpus.formats.format import Row, Selection
from nmt.corpus.formats.registry import FORMATS
from nmt.corpus.line_languages import LineLanguages
from nmt.messages import log
from nmt.neighbors import how_to_install
from nmt.runs import listing
from nmt.text.encoding import GZIP, check_is_utf_8, has_surrogates, without_surrogates
from nmt.text.languages import Pair, overlap

HELP = "report on parallel text, and filter it"
VARYING_SHAPES = True  # of --by-run


def add_flags(parser: ArgumentParser) -> None:
    flags.add_pairs(
        parser, "+", "a file of pairs (.tsv, .csv, .xlsx, .tmx, .xlf), or source and target"
    )
    flags.add_encoding(parser)
    flags.add_data(parser, test="test files: reports lines of theirs that occur in the text")
    flags.add_to(parser, "FILE", "a new .tsv for the pairs that are not dropped")
    parser.add_argument(
        "--drop", nargs="+", choices=(*PROBLEMS, "all"), metavar="PROBLEM", action=flags.Once,
        help=f"pairs with these problems are not written: {', '.join(PROBLEMS)}, or all",
    )  # fmt: skip
    parser.add_argument(
        "--by-run", type=flags.filled, metavar="DIR", action=flags.Once,
        help="a trained run of these languages, which recognizes misaligned pairs by its scores "
        "(default: by the lengths of both sides)",
    )  # fmt: skip


def run(args: Namespace) -> None:
    """Prints the report on the files; writes the pairs without dropped problems to --to."""
    check_flags(args)
    files.check_one_corpus(args.files)
    check_encoding(args, args.files)
    selection = flags.selection(args)
    rows = cleaning.read(args.files, selection)
    sample = read_sample(rows, args.files, selection)
    pair = files.languages_of(args.files, selection)
    test_selection = selection._replace(encoding=None)
    test = files.read_pairs(args.test, test_selection) if args.test else ()
    checker = cleaning.Checker(
        sample, (source for source, _ in test), check_of_languages(args, pair)
    )
    judged_rows = judge(args, itertools.chain(sample, rows), pair)
    report = cleaning.Report(checker)
    with contextlib.ExitStack() as stack:
        cleaned = stack.enter_context(_new_text_file(args.to)) if args.to else None
        written_pairs = report_and_write(judged_rows, report, dropped_problems(args), cleaned)
    print("\n".join(report.lines()))
    if args.to:
        print(f"\n{written_pairs:,} of {report.pairs:,} pairs written to {args.to}")


# ---- What is asked for ----


def check_flags(args: Namespace) -> None:
    """Raises a UserError if flags contradict each other."""
    if args.drop and not args.to:
        raise UserError("--drop needs --to: the file for the pairs without these problems")
    if args.drop and "test" in args.drop and not args.test:
        raise UserError("--drop test: needs the test text; name it by --test")
    if args.to and files.kind(args.to) in FORMATS.keys() - {"tsv"}:
        raise UserError(f"--to {args.to}: pairs are written as a .tsv; name one")


def check_encoding(args: Namespace, paths: Iterable[str]) -> None:
    """Checks that text files are UTF-8, unless --encoding says what they are.

    Where lines that are not UTF-8 are dropped, a warning says that a file has hardly any others.

    Raises:
      UserError: one is in another encoding, or --encoding is given and none is a text file.
    """
    text_files = [path for path in paths if files.is_text(path)]
    if args.encoding and not text_files:
        raise UserError(
            f"--encoding {args.encoding}: no text file is named, and the formats of those that are "
            "say their encoding; leave it out"
        )
    for path in [] if args.encoding else text_files:
        try:
            check_is_utf_8(path)
        except UserError as error:
            if "encoding" not in (args.drop or ()):
                raise
            log.warning(str(error))


def dropped_problems(args: Namespace) -> set[str]:
    """Returns the names of the problems that --drop names."""
    dropped = {*(args.drop or ())}
    if "all" in dropped:
        dropped |= PROBLEMS.keys() - cleaning.HARMLESS
    return dropped


def read_sample(rows: Iterator[Row], paths: Sequence[str], selection: Selection) -> list[Row]:
    """Returns the first rows of a corpus; a UserError if it has none, or none of two columns."""
    sample = list(itertools.islice(rows, cleaning.SAMPLE))
    if not sample:
        raise files.without_pairs(paths[0])
    if len(paths) == 1 and all(len(row.cells) != 2 for row in sample):
        raise files.wrong_columns(paths[0], sample[0], selection)
    return sample


def check_of_languages(args: Namespace, pair: Pair | None) -> LineLanguages | None:
    """Returns what checks the languages of lines; None, and says so, where they are not checked.

    Args:
      args: the parsed command line.
      pair: the languages of the corpus; None if unknown.

    Raises:
      UserError: they are to be checked and cannot be.
    """
    asked = "language" in (args.drop or ())
    if pair is None:
        if asked:
            raise UserError(
                "--drop language: the languages are unknown; name them: --languages A-B"
            )
        log.info("language: not checked. Name the languages of the text: --languages A-B")
        return None
    if not asked and not line_languages.is_installed():
        log.info(f"language: not checked. Install: {how_to_install('data')}")
        return None
    check = LineLanguages(pair)
    if check.unknown:
        log.warning(f"language: {', '.join(check.unknown)} is not recognized and not checked.")
    log.info(f"Languages: {pair.source} and {pair.target}.")
    return check


# ---- Rows ----


class JudgedRow(NamedTuple):
    """A Row, and what a trained run says of it."""

    row: Row
    misaligned: bool | None = None  # None without a run


def judge(args: Namespace, rows: Iterator[Row], pair: Pair | None) -> Iterator[JudgedRow]:
    """Yields rows, judged by --by-run if it is given."""
    if args.by_run is None:
        yield from map(JudgedRow, rows)
        return
    trained_run = listing.find(args.by_run)
    if limitation := trained_run.parameters.options.limitation:
        raise UserError(
            f"--by-run {args.by_run}: {limitation}, so scores only targets that its sources have "
            "room for; name another run"
        )
    check_direction(trained_run.parameters.corpus.languages, args.by_run, pair)
    from nmt.decoding.misaligned import misaligned
    from nmt.runs import loading

    _, tokenizer, model = loading.load(trained_run, before_tensorflow=startup.import_tensorflow)
    score = model.translator(tokenizer).score
    rows, rows_ahead = itertools.tee(rows)  # the run reads a chunk ahead
    verdicts = misaligned(score, (texts_of(row) for row in rows_ahead if is_translated(row)))
    for row in rows:
        yield JudgedRow(row, next(verdicts) if is_translated(row) else False)


def texts_of(row: Row) -> tuple[str, str]:
    """Returns the source and the target of a row that has both."""
    source, target = map(without_surrogates, row.cells)
    return source, target


def is_translated(row: Row) -> bool:
    """Returns whether a row has two sides, neither of them empty."""
    return len(row.cells) == 2 and all(map(str.strip, row.cells))


def check_direction(codes: Sequence[str] | None, path: str, pair: Pair | None) -> None:
    """Raises a UserError if a run translates between other languages than those of the text.

    Args:
      codes: of the run; None if unknown.
      path: of the run.
      pair: the languages of the text; None if unknown.
    """
    if not codes or not pair or len(codes) != 2:
        return
    if not all(map(overlap, pair, codes)):
        raise UserError(
            f"--by-run {path}: translates {codes[0]} to {codes[1]}, and the text is "
            f"{pair.source} to {pair.target}; name the files in the order of the run"
        )


def report_and_write(
    judged_rows: Iterable[JudgedRow],
    report: cleaning.Report,
    dropped: set[str],
    cleaned: TextIO | None,
) -> int:
    """Adds rows to a report, and writes those without dropped problems. Returns their number.

    Args:
      judged_rows: all rows.
      report: the Report.
      dropped: names of problems.
      cleaned: the file to write to; None for none.
    """
    from tqdm import tqdm  # here, so that a Python without it can say what is missing

    written_pairs = 0
    for row, misaligned in tqdm(
        judged_rows, unit="pair", file=sys.stderr, disable=None, leave=False
    ):
        names, source, target = report.add(row, misaligned)
        if cleaned and not dropped & {*names}:
            if len(row.cells) != 2 or re.search("[\t\r\n]", source + target):
                raise UserError(
                    f"line {row.number}: not one source and one target; add columns to --drop"
                )
            if any(map(has_surrogates, row.cells)):
                raise UserError(
                    f"line {row.number}: is not UTF-8, and would be written with U+FFFD; add "
                    "encoding to --drop"
                )
            cleaned.write(f"{source}\t{target}\n")
            written_pairs += 1
    return written_pairs


@contextlib.contextmanager
def _new_text_file(path: str) -> Iterator[TextIO]:
    """Yields a new text file, compressed if its name ends in .gz; see output.new."""
    write = gzip.open if path.endswith(GZIP) else open
    with (
        output.new(path) as unfinished,
        write(unfinished, "wt", encoding="utf-8", newline="\n") as file,
    ):
        yield file
