"""The command `runs`."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from nmt import UserError
from nmt.messages import log, printable
from nmt.runs import listing, overview

HELP = "list all runs: corpus, epochs, BLEU, size, date"


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", default="runs", metavar="DIR", help="that holds runs (default runs)"
    )
    parser.add_argument(
        "--json", action="store_true",
        help="a JSON list of objects, with validation, scores and options that are not the default",
    )  # fmt: skip


def run(args: Namespace) -> None:
    """Prints all trained runs in a folder, the newest first: as a table, or as JSON."""
    runs = listing.trained(Path(args.folder))
    if not runs:
        raise UserError(
            f"{args.folder}: no trained run there; train one, or name a folder that holds runs"
        )
    if args.json:
        print(json.dumps([overview.to_json(run) for run in runs], indent=2, ensure_ascii=False))
        return
    rows, left_out, damages = overview.table(runs)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(printable("  ".join(map(str.ljust, row, widths)).rstrip()))
    for damage in damages:
        log.warning(damage)
    if left_out:
        names = ", ".join(name.replace("_", "-") for name in left_out)
        log.info(f"The runs differ in these options, too (--json shows them): {names}.")
