"""The command `data`: reports on parallel text and writes what is left of it.

See nmt/corpus/filtering.py.
"""

from argparse import ArgumentParser, Namespace

from nmt.cli import flags
from nmt.corpus import cleaning
from nmt.corpus.cleaning import PROBLEMS
from nmt.corpus.filtering import NEWEST, Filtered, FilterRequest, ParallelText, filter_text, sum_of
from nmt.messages import plural

HELP = "report on parallel text, and filter it"


def add_flags(parser: ArgumentParser) -> None:
    text = (
        "data takes several corpora, one after another, perhaps with weights, as --train: a.tsv:2"
    )
    flags.add_pairs(parser, text=f"{flags.PAIRS}; {text}")
    text = "of text files that are not UTF-8, such as cp1252; what is written is UTF-8"
    flags.add_value(parser, "--encoding", "NAME", text, flags.text_encoding)
    flags.add_switch(
        parser, "--unescape", "read character references of HTML as characters: &amp; as &, &nbsp; "
        "as a space",
    )  # fmt: skip
    flags.add_data(parser, test="test files: reports lines of theirs that occur in the text")
    flags.add_value(
        parser, "--to", "FILE", "a new .tsv or .tmx for the pairs that are not dropped, or two "
        "files for their sides; each pair as often as its weight", nargs="+",
    )  # fmt: skip
    parser.add_argument(
        "--drop", nargs="+", choices=(*PROBLEMS, "all"), metavar="PROBLEM", action=flags.Once,
        help=f"pairs with these problems are not written: {', '.join(PROBLEMS)}, or all",
    )  # fmt: skip
    flags.add_value(
        parser, "--hold-out", "FILE", "a new .tsv or .tmx for the newest pairs, by the time of a "
        ".tmx's units, else the last ones: --to has no pair with a source of theirs; of several "
        "targets of a source, the newest is written",
    )  # fmt: skip
    text = f"how many sources --hold-out gets (default {NEWEST})"
    flags.add_value(parser, "--newest", "N", text, flags.number(int, 1))


def run(args: Namespace) -> None:
    """Prints the report on the corpora; writes the pairs without dropped problems to --to."""
    request = FilterRequest(
        files=tuple(args.files),
        selection=flags.selection(args),
        unescape=args.unescape,
        test=tuple(args.test or ()),
        to=tuple(args.to or ()),
        drop=tuple(args.drop or ()),
        hold_out=args.hold_out,
        newest=args.newest,
    )
    print_sum(request, filter_text(request, print_report))


def print_report(text: ParallelText, report: cleaning.Report, corpora: int) -> None:
    """Prints the report on a corpus, under its name if there are several."""
    lines = "\n".join(report.lines())
    print(lines if corpora == 1 else f"{text.name}\n\n{lines}\n")


def print_sum(request: FilterRequest, filtered: Filtered) -> None:
    """Prints the report on all corpora if there are several, and what was written of each."""
    texts, outcomes, split = filtered
    whole = sum_of(outcomes)
    if len(texts) > 1:
        print(f"All {len(texts)} corpora\n")
        print("\n".join(whole.report.lines()))
    if not request.to:
        return
    print()
    if len(texts) > 1:
        for text, outcome in zip(texts, outcomes, strict=True):
            verb = "kept" if split else "written"
            print(f"{text.name}: {outcome} {verb}{outcome.reasons}")
    if split is None:
        print(f"{whole} written to {' and '.join(request.to)}{whole.reasons}")
        return
    whole.left_out["older than another target of their source"] += split.superseded
    lines = sum(pair.weight for pair in split.earlier)
    by_weight = f", by weight {lines:,}," if lines > len(split.earlier) else ""
    print(
        f"{plural(len(split.earlier), 'pair')} of {whole.report.pairs:,}{by_weight} written to "
        f"{' and '.join(request.to)}, the newest {len(split.newest):,} to {request.hold_out}"
        f"{whole.reasons}"
    )
