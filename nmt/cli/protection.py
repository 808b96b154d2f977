"""The flags of what must not change, and of terms: of `translate`, `translate-file`, `serve`."""

from argparse import ArgumentParser, Namespace
from typing import Any

from nmt import UserError
from nmt.cli import flags
from nmt.text.glossary import read_glossary
from nmt.text.protected import compile_pattern


def add_protection_flags(parser: ArgumentParser, checks: bool = True) -> None:
    """Adds the flags of what must not change, and of terms; without `checks`, not --check."""
    group = parser.add_argument_group("What must not change (docs/protecting.md)")
    group.add_argument(
        "--no-protect", action="store_false", dest="protection",
        help="translate numbers, addresses, placeholders and tags as text, not as symbols",
    )  # fmt: skip
    group.add_argument(
        "--protect", action="append", metavar="REGEX", dest="patterns", default=[],
        help="what matches must not change, either (repeatable)",
    )  # fmt: skip
    group.add_argument(
        "--glossary", type=flags.filled, metavar="FILE", action=flags.Once,
        help="terms and their translations, lines of source TAB target; # begins a comment",
    )  # fmt: skip
    if not checks:
        return
    group.add_argument(
        "--check", action="store_true",
        help="name on stderr the lines whose numbers, placeholders, URLs or tags are not those of "
        "the source",
    )  # fmt: skip
    group.add_argument(
        "--strict", action="store_true",
        help="--check, with exit code 3 if there is such a line, or if text of a document stays",
    )  # fmt: skip


def read_protection(args: Namespace) -> dict[str, Any]:
    """Returns the arguments of a Translator on what must not change, by name.

    Raises:
      UserError: they contradict each other, or the glossary cannot be read.
    """
    if not args.protection and args.patterns:
        raise UserError("--no-protect contradicts --protect; leave it out")
    for pattern in args.patterns:
        compile_pattern(pattern)  # a wrong one is reported before anything is loaded
    return dict(
        protect=args.protection,
        patterns=tuple(args.patterns),
        glossary=read_glossary(args.glossary) if args.glossary else None,
    )
