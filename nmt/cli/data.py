"""The command `data`: reports on parallel text and writes what is left of it.

See nmt/text/cleaning.py.
"""

import contextlib
import gzip
import itertools
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TextIO

from nmt import UserError, output
from nmt.cli import flags
from nmt.text import cleaning, files
from nmt.text.cleaning import PROBLEMS
from nmt.text.encoding import GZIP
from nmt.text.formats.registry import FORMATS

HELP = "report on parallel text, and filter it"


def add_flags(parser: ArgumentParser) -> None:
    flags.add_pairs(
        parser, "+", "a file of pairs (.tsv, .csv, .xlsx, .tmx, .xlf), or source and target"
    )
    flags.add_data(parser, test="test files: reports lines of theirs that occur in the text")
    flags.add_to(parser, "FILE", "a new .tsv for the pairs that are not dropped")
    parser.add_argument(
        "--drop", nargs="+", choices=(*PROBLEMS, "all"), metavar="PROBLEM", action=flags.Once,
        help=f"pairs with these problems are not written: {', '.join(PROBLEMS)}, or all",
    )  # fmt: skip


def run(args: Namespace) -> None:
    """Prints the report on the files; writes the pairs without dropped problems to --to."""
    from tqdm import tqdm  # here, so that a Python without it can say what is missing

    if args.drop and not args.to:
        raise UserError("--drop needs --to: the file for the pairs without these problems")
    if args.drop and "test" in args.drop and not args.test:
        raise UserError("--drop test: needs the test text; name it by --test")
    if args.to and files.kind(args.to) in FORMATS.keys() - {"tsv"}:
        raise UserError(f"--to {args.to}: pairs are written as a .tsv; name one")
    drop = {*(args.drop or ())}
    if "all" in drop:
        drop |= cleaning.PROBLEMS.keys() - cleaning.HARMLESS
    selection = flags.selection(args)
    test = files.read_pairs(args.test, selection) if args.test else ()
    rows, written_pairs = cleaning.read(args.files, selection), 0
    sample = list(itertools.islice(rows, cleaning.SCRIPT_SAMPLE))
    if not sample:
        raise files.without_pairs(args.files[0])
    if len(args.files) == 1 and all(len(row.cells) != 2 for row in sample):
        raise files.wrong_columns(args.files[0], sample[0])
    report = cleaning.Report(cleaning.Checker(sample, (source for source, _ in test)))
    rows = itertools.chain(sample, rows)
    rows = tqdm(rows, unit="pair", file=sys.stderr, disable=None, leave=False)
    with contextlib.ExitStack() as stack:
        cleaned = stack.enter_context(_new_text_file(args.to)) if args.to else None
        for row in rows:
            names, source, target = report.add(row)
            if cleaned and not drop & {*names}:
                if len(row.cells) != 2 or re.search("[\t\r\n]", source + target):
                    raise UserError(
                        f"line {row.number}: not one source and one target; add columns to --drop"
                    )
                cleaned.write(f"{source}\t{target}\n")
                written_pairs += 1
    print("\n".join(report.lines()))
    if args.to:
        print(f"\n{written_pairs:,} of {report.pairs:,} pairs written to {args.to}")


@contextlib.contextmanager
def _new_text_file(path: str) -> Iterator[TextIO]:
    """Yields a new text file, compressed if its name ends in .gz; see output.new."""
    write = gzip.open if path.endswith(GZIP) else open
    with (
        output.new(path) as unfinished,
        write(unfinished, "wt", encoding="utf-8", newline="\n") as file,
    ):
        yield file
