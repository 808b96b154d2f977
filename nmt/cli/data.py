"""The command `data`: reports on parallel text and writes what is left of it.

See nmt/corpus/cleaning.py.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import html
import itertools
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from nmt import UserError
from nmt.cli import flags
from nmt.corpus import cleaning, corpora, files, line_languages, newest, pair_files
from nmt.corpus.cleaning import PROBLEMS
from nmt.corpus.formats.format import Row, Selection, one_line
from nmt.corpus.line_languages import LineLanguages
from nmt.corpus.newest import KeptPair
from nmt.corpus.pair_files import WritePair
from nmt.messages import log, plural
from nmt.neighbors import how_to_install
from nmt.text.encoding import check_is_utf_8, has_surrogates
from nmt.text.languages import Pair

HELP = "report on parallel text, and filter it"
DROPPABLE = 0.2  # share of a file's lines that --drop encoding leaves out
NEWEST = 100  # pairs that --hold-out gets


def add_flags(parser: ArgumentParser) -> None:
    flags.add_pairs(
        parser, "+", "a file of pairs (.tsv, .csv, .xlsx, .tmx, .xlf), or source and target; data "
        "takes several corpora, one after another, perhaps with weights, as --train: a.tsv:2"
    )  # fmt: skip
    flags.add_encoding(parser)
    parser.add_argument(
        "--unescape",
        action="store_true",
        help="read character references of HTML as characters: &amp; as &, &nbsp; as a space",
    )
    flags.add_data(parser, test="test files: reports lines of theirs that occur in the text")
    flags.add_to(
        parser, "FILE", "a new .tsv or .tmx for the pairs that are not dropped, or two files for "
        "their sides; each pair as often as its weight", nargs="+"
    )  # fmt: skip
    parser.add_argument(
        "--drop", nargs="+", choices=(*PROBLEMS, "all"), metavar="PROBLEM", action=flags.Once,
        help=f"pairs with these problems are not written: {', '.join(PROBLEMS)}, or all",
    )  # fmt: skip
    parser.add_argument(
        "--hold-out", type=flags.filled, metavar="FILE", action=flags.Once,
        help="a new .tsv or .tmx for the newest pairs, by the time of a .tmx's units, else the "
        "last ones: --to has no pair with a source of theirs; of several targets of a source, the "
        "newest is written",
    )  # fmt: skip
    parser.add_argument(
        "--newest", type=flags.number(int, 1), metavar="N", action=flags.Once,
        help=f"how many sources --hold-out gets (default {NEWEST})",
    )  # fmt: skip


class ParallelText(NamedTuple):
    """One of the corpora, of which the first rows are read."""

    group: files.Group
    rows: Iterator[Row]  # all of them
    sample: list[Row]  # the first ones
    pair: Pair | None  # the languages, if they are known

    @property
    def name(self) -> str:
        """The files, and their weight unless it is 1."""
        weight = f":{self.group.weight}" if self.group.weight > 1 else ""
        return " ".join(self.group.paths) + weight


class Outcome(NamedTuple):
    """What became of the pairs of a corpus, or of several."""

    report: cleaning.Report
    written: int  # pairs, each counted once
    lines: int  # that they are written as: each pair as often as its weight
    left_out: collections.Counter[str]  # pairs by the first problem for which they are dropped

    def __str__(self) -> str:
        text = f"{self.written:,} of {plural(self.report.pairs, 'pair')}"
        if self.lines != self.written:
            text += f", by weight {self.lines:,},"
        return text

    @property
    def reasons(self) -> str:
        """What is left out, and why, as the end of a line; "" if nothing is."""
        counts = [f"{number:,} {name}" for name, number in self.left_out.most_common() if number]
        return f"; left out: {', '.join(counts)}" if counts else ""


def run(args: Namespace) -> None:
    """Prints the report on the corpora; writes the pairs without dropped problems to --to."""
    check_flags(args)
    groups = files.grouped(args.files)
    check_encoding(args, [path for group in groups for path in group.paths])
    selection = flags.selection(args)
    texts = [open_text(group, selection, args.unescape) for group in groups]
    pairs = [text.pair for text in texts]
    corpora.warn_of_both_directions(groups, pairs)
    tests = test_hashes(args, selection)
    checks = {pair: check_of_languages(args, pair) for pair in dict.fromkeys(pairs)}
    seen, dropped = cleaning.SeenPairs(), dropped_problems(args)
    outcomes = []
    direction = one_direction(args, pairs) if args.to else None
    kept_pairs: list[KeptPair] = []
    with contextlib.ExitStack() as stack:
        keep: Callable[[KeptPair], None] | None = None
        if args.hold_out:
            keep = kept_pairs.append
        elif args.to:
            write = stack.enter_context(pair_files.new_pairs(args.to, direction))
            keep = functools.partial(write_pair, write)
        for text in texts:
            checker = cleaning.Checker(text.sample, tests, checks[text.pair], seen, dropped)
            outcome = report_and_keep(text, checker, dropped, keep)
            outcomes.append(outcome)
            print_report(text.name if len(texts) > 1 else "", outcome.report)
    split = write_split(args, kept_pairs, direction) if args.hold_out else None
    print_sum(args, texts, outcomes, split)


# ---- What is asked for ----


def check_flags(args: Namespace) -> None:
    """Raises a UserError if flags contradict each other."""
    if args.drop and not args.to:
        raise UserError("--drop needs --to: the file for the pairs without these problems")
    if args.drop and "test" in args.drop and not args.test:
        raise UserError("--drop test: needs the test text; name it by --test")
    if args.newest and not args.hold_out:
        raise UserError("--newest is for --hold-out: the file for the newest pairs; name it, too")
    if args.hold_out and not args.to:
        raise UserError("--hold-out needs --to: the file for the pairs that are not held out")
    if args.hold_out and pair_files.is_one_of(args.hold_out, args.to or ()):
        raise UserError(f"--hold-out {args.hold_out}: is the file of --to, too; name another")
    if args.to:
        pair_files.check_names(args.to)
    if args.hold_out:
        pair_files.check_names([args.hold_out], "--hold-out")


def check_encoding(args: Namespace, paths: Iterable[str]) -> None:
    """Checks that text files are UTF-8, unless --encoding says what they are.

    With --drop encoding, a file may lose DROPPABLE of its lines; one that would lose more, most of
    those with accents, needs --encoding: nobody wants to train on what is left of it.

    Raises a UserError if one is in another encoding, or --encoding is given and none is a text
    file.
    """
    text_files = [path for path in paths if files.is_text(path)]
    if args.encoding and not text_files:
        raise UserError(
            f"--encoding {args.encoding}: no text file is named, and the formats of those that are "
            "say their encoding; leave it out"
        )
    for path in [] if args.encoding else text_files:
        check_is_utf_8(path, DROPPABLE if "encoding" in dropped_problems(args) else 0.0)


def dropped_problems(args: Namespace) -> set[str]:
    """Returns the names of the problems that --drop names."""
    dropped = {*(args.drop or ())}
    if "all" in dropped:
        dropped |= PROBLEMS.keys() - cleaning.HARMLESS
    return dropped


def open_text(group: files.Group, selection: Selection, unescape: bool) -> ParallelText:
    """Returns the text of a Group, of which the first rows are read.

    Raises a UserError if it cannot be read, or has no row, or none of two columns.
    """
    rows = cleaning.read(group.paths, selection)
    if unescape:
        rows = map(without_references, rows)
    sample = list(itertools.islice(rows, cleaning.SAMPLE))
    if not sample:
        raise files.without_pairs(group.paths[0])
    if len(group.paths) == 1 and all(len(row.cells) != 2 for row in sample):
        raise files.wrong_columns(group.paths[0], sample[0], selection)
    pair = files.languages_of(group.paths, selection)
    return ParallelText(group, itertools.chain(sample, rows), sample, pair)


def without_references(row: Row) -> Row:
    """Returns a row with characters in place of HTML's references to them."""
    return row._replace(cells=[one_line(html.unescape(cell)) for cell in row.cells])


def test_hashes(args: Namespace, selection: Selection) -> set[int]:
    """Returns the hashes of the sources of all test files, which are UTF-8."""
    selection = selection._replace(encoding=None)
    groups = files.grouped(args.test) if args.test else []
    return cleaning.source_hashes(
        source for group in groups for source, _ in files.read_pairs(group.paths, selection)
    )


def one_direction(args: Namespace, pairs: Sequence[Pair | None]) -> Pair | None:
    """Returns the languages of the corpora that are written; None if they are unknown.

    Raises a UserError if a .tmx is to be written, and the corpora have different languages.
    """
    known = [pair for pair in dict.fromkeys(pairs) if pair]
    if files.kind(args.to[0]).lower() == "tmx" and len(known) > 1:
        raise UserError(
            f"--to {args.to[0]}: the corpora are in {' and '.join(map('-'.join, known))}, which "
            "this file would not tell apart; name one: --languages A-B"
        )
    return known[0] if known else None


def check_of_languages(args: Namespace, pair: Pair | None) -> LineLanguages | None:
    """Returns what checks the languages of lines; None, and says so, where they are not checked.

    Args:
      pair: the languages of the corpus; None if unknown.
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


def report_and_keep(
    text: ParallelText,
    checker: cleaning.Checker,
    dropped: set[str],
    keep: Callable[[KeptPair], None] | None,
) -> Outcome:
    """Reports on the rows of a corpus, and keeps those without dropped problems.

    Args:
      keep: takes a pair that is to be written; None if none is.
    """
    from tqdm import tqdm  # here, so that a Python without it can say what is missing

    report, written_pairs = cleaning.Report(), 0
    left_out: collections.Counter[str] = collections.Counter()
    for row in tqdm(text.rows, unit="pair", file=sys.stderr, disable=None, leave=False):
        names, sides = checker.problems(row.cells)
        report.add(row.number, names, sides)
        reason = next((name for name in names if name in dropped), None)
        if reason:
            left_out[reason] += 1
        elif keep:
            keep(checked_pair(text, row, sides))
            written_pairs += 1
    return Outcome(report, written_pairs, written_pairs * text.group.weight, left_out)


def checked_pair(text: ParallelText, row: Row, sides: Sequence[str]) -> KeptPair:
    """Returns the KeptPair of a row; a UserError if it is no pair, or damaged."""
    source, target = sides
    where = f"{text.name}: line {row.number}"
    if len(row.cells) != 2 or re.search("[\t\r\n]", source + target):
        raise UserError(f"{where}: not one source and one target; add columns to --drop")
    if any(map(has_surrogates, row.cells)):
        raise UserError(
            f"{where}: is not UTF-8, and would be written with U+FFFD; add encoding to --drop"
        )
    return KeptPair(source, target, text.group.weight, row.created, where)


def write_pair(write: WritePair, pair: KeptPair) -> None:
    """Writes a pair as often as its weight; a UserError if it cannot be written."""
    try:
        for _ in range(pair.weight):
            write(pair.source, pair.target)
    except ValueError as error:
        raise UserError(f"{pair.place}: {error}; add control to --drop, or write a .tsv") from None


def write_split(
    args: Namespace, kept_pairs: Sequence[KeptPair], direction: Pair | None
) -> newest.Split:
    """Writes the newest pairs to --hold-out, each once, and the earlier ones to --to."""
    split = newest.split_by_time(kept_pairs, args.newest or NEWEST)
    with (
        pair_files.new_pairs(args.to, direction) as write,
        pair_files.new_pairs([args.hold_out], direction, "--hold-out") as write_newest,
    ):
        for pair in split.earlier:
            write_pair(write, pair)
        for pair in split.newest:
            write_pair(write_newest, pair._replace(weight=1))
    return split


# ---- The report ----


def print_report(title: str, report: cleaning.Report) -> None:
    """Prints the report on a corpus, under its title if there are several."""
    if title:
        print(f"{title}\n")
    print("\n".join(report.lines()))
    if title:
        print()


def print_sum(
    args: Namespace,
    texts: Sequence[ParallelText],
    outcomes: Sequence[Outcome],
    split: newest.Split | None,
) -> None:
    """Prints the report on all corpora if there are several, and what was written of each.

    Args:
      split: what was written if the newest pairs were held out.
    """
    whole = sum_of(outcomes)
    if len(texts) > 1:
        print(f"All {len(texts)} corpora\n")
        print("\n".join(whole.report.lines()))
    if not args.to:
        return
    print()
    if len(texts) > 1:
        for text, outcome in zip(texts, outcomes, strict=True):
            verb = "kept" if split else "written"
            print(f"{text.name}: {outcome} {verb}{outcome.reasons}")
    if split is None:
        print(f"{whole} written to {' and '.join(args.to)}{whole.reasons}")
        return
    whole.left_out["older than another target of their source"] += split.superseded
    lines = sum(pair.weight for pair in split.earlier)
    by_weight = f", by weight {lines:,}," if lines > len(split.earlier) else ""
    print(
        f"{plural(len(split.earlier), 'pair')} of {whole.report.pairs:,}{by_weight} written to "
        f"{' and '.join(args.to)}, the newest {len(split.newest):,} to {args.hold_out}"
        f"{whole.reasons}"
    )


def sum_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Returns the sum of what became of several corpora."""
    left_out: collections.Counter[str] = collections.Counter()
    for outcome in outcomes:
        left_out += outcome.left_out
    return Outcome(
        cleaning.total(outcome.report for outcome in outcomes),
        sum(outcome.written for outcome in outcomes),
        sum(outcome.lines for outcome in outcomes),
        left_out,
    )
