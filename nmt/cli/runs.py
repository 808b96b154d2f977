"""The command `runs`."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from nmt import UserError
from nmt.messages import printable
from nmt.runs import listing
from nmt.runs.listing import DAMAGED, TITLES, Summary

HELP = "list all runs: corpus, epochs, BLEU, size, date"


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", default="runs", metavar="DIR", help="that holds runs (default runs)"
    )


def run(args: Namespace) -> None:
    """Prints a table of all trained runs in a folder, the newest first."""
    runs = listing.trained(Path(args.folder))
    if not runs:
        raise UserError(
            f"{args.folder}: no trained run there; train one, or name a folder that holds runs"
        )
    rows: list[tuple[str, ...]] = [TITLES]
    for run in runs:
        try:
            rows.append(Summary(run).row())
        except DAMAGED:
            rows.append((str(run.path), "damaged", *[""] * (len(TITLES) - 2)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(printable("  ".join(map(str.ljust, row, widths)).rstrip()))
