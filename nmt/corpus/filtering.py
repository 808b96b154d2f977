"""Filtering parallel text: what is wrong with it, and what is left of it.

    filtered = filter_text(FilterRequest(files=("a.tsv",), to=("clean.tsv",), drop=("ratio",)))

What each problem is stands in cleaning.py.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import html
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nmt import UserError
from nmt.corpus import cleaning, corpora, files, newest, pair_files
from nmt.corpus.cleaning import PROBLEMS
from nmt.corpus.formats.format import Row, Selection, one_line
from nmt.corpus.newest import KeptPair
from nmt.corpus.pair_files import WritePair
from nmt.messages import log, plural
from nmt.neighbors import how_to_install
from nmt.progress import with_progress
from nmt.text import line_languages
from nmt.text.encoding import check_is_utf_8, has_surrogates
from nmt.text.languages import Pair
from nmt.text.line_languages import LineLanguages

DROPPABLE = 0.2  # share of a file's lines that are left out for their encoding
NEWEST = 100  # pairs that are held out


@dataclasses.dataclass(frozen=True)
class FilterRequest:
    """What is asked of a filter."""

    files: tuple[str, ...]  # of corpora, one after another, perhaps with weights
    selection: Selection = Selection()  # noqa: RUF009  # of two sides of them
    unescape: bool = False  # whether references of HTML are read as characters
    test: tuple[str, ...] = ()  # files whose lines the text must not have
    to: tuple[str, ...] = ()  # one new file for the pairs that are left, or one for each side
    drop: tuple[str, ...] = ()  # problems for which a pair is left out, or "all"
    hold_out: str | None = None  # a new file for the newest pairs
    newest: int | None = None  # how many sources that one gets; NEWEST if not given

    @property
    def dropped(self) -> set[str]:
        """The names of all problems for which a pair is left out."""
        names = {*self.drop}
        return names | (PROBLEMS.keys() - cleaning.HARMLESS if "all" in names else set())

    def check(self) -> None:
        """Raises a UserError if what is asked contradicts itself."""
        if self.drop and not self.to:
            raise UserError("--drop needs --to: the file for the pairs without these problems")
        if unknown := {*self.drop} - {*cleaning.PROBLEMS, "all"}:
            raise UserError(f"--drop {min(unknown)}: is none of {', '.join(cleaning.PROBLEMS)}")
        if "test" in self.drop and not self.test:
            raise UserError("--drop test: needs the test text; name it by --test")
        if self.newest and not self.hold_out:
            raise UserError(
                "--newest is for --hold-out: the file for the newest pairs; name it, too"
            )
        if self.hold_out and not self.to:
            raise UserError("--hold-out needs --to: the file for the pairs that are not held out")
        if self.hold_out and pair_files.is_one_of(self.hold_out, self.to):
            raise UserError(f"--hold-out {self.hold_out}: is the file of --to, too; name another")
        if self.to:
            pair_files.check_names(self.to)
        if self.hold_out:
            pair_files.check_names([self.hold_out], "--hold-out")


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


class Filtered(NamedTuple):
    """What a filter has found, and written."""

    texts: list[ParallelText]
    outcomes: list[Outcome]  # of each
    split: newest.Split | None  # what was written, if the newest pairs were held out


def filter_text(
    request: FilterRequest,
    on_report: Callable[[ParallelText, cleaning.Report, int], None] = lambda *_: None,
) -> Filtered:
    """Reports on corpora, and writes the pairs that are left of them.

    Args:
      on_report: takes each corpus once it is read, its report, and the number of all corpora.
    """
    request.check()
    groups = files.grouped(request.files)
    check_encoding(request, [path for group in groups for path in group.paths])
    texts = [open_text(group, request.selection, request.unescape) for group in groups]
    pairs = [text.pair for text in texts]
    corpora.warn_of_both_directions(groups, pairs)
    tests = test_hashes(request)
    checks = {pair: check_of_languages(request, pair) for pair in dict.fromkeys(pairs)}
    seen, dropped = cleaning.SeenPairs(), request.dropped
    outcomes = []
    direction = one_direction(request, pairs) if request.to else None
    kept_pairs: list[KeptPair] = []
    with contextlib.ExitStack() as stack:
        keep: Callable[[KeptPair], None] | None = None
        if request.hold_out:
            keep = kept_pairs.append
        elif request.to:
            write = stack.enter_context(pair_files.new_pairs(request.to, direction))
            keep = functools.partial(write_pair, write)
        for text in texts:
            checker = cleaning.Checker(text.sample, tests, checks[text.pair], seen, dropped)
            outcome = report_and_keep(text, checker, dropped, keep)
            outcomes.append(outcome)
            on_report(text, outcome.report, len(texts))
    split = write_split(request, kept_pairs, direction) if request.hold_out else None
    return Filtered(texts, outcomes, split)


# ---- What is asked for ----


def check_encoding(request: FilterRequest, paths: Sequence[str]) -> None:
    """Checks that text files are UTF-8, unless --encoding says what they are.

    With --drop encoding, a file may lose DROPPABLE of its lines; one that would lose more, most of
    those with accents, needs --encoding: nobody wants to train on what is left of it.

    Raises a UserError if one is in another encoding, or --encoding is given and none is a text
    file.
    """
    text_files = [path for path in paths if files.is_text(path)]
    encoding = request.selection.encoding
    if encoding and not text_files:
        raise UserError(
            f"--encoding {encoding}: no text file is named, and the formats of those that are "
            "say their encoding; leave it out"
        )
    for path in [] if encoding else text_files:
        check_is_utf_8(path, DROPPABLE if "encoding" in request.dropped else 0.0)


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


def test_hashes(request: FilterRequest) -> set[int]:
    """Returns the hashes of the sources of all test files, which are UTF-8."""
    selection = request.selection._replace(encoding=None)
    groups = files.grouped(request.test) if request.test else []
    return cleaning.source_hashes(
        source for group in groups for source, _ in files.read_pairs(group.paths, selection)
    )


def one_direction(request: FilterRequest, pairs: Sequence[Pair | None]) -> Pair | None:
    """Returns the languages of the corpora that are written; None if they are unknown.

    Raises a UserError if a .tmx is to be written, and the corpora have different languages.
    """
    known = [pair for pair in dict.fromkeys(pairs) if pair]
    if files.kind(request.to[0]).lower() == "tmx" and len(known) > 1:
        raise UserError(
            f"--to {request.to[0]}: the corpora are in {' and '.join(map('-'.join, known))}, which "
            "this file would not tell apart; name one: --languages A-B"
        )
    return known[0] if known else None


def check_of_languages(request: FilterRequest, pair: Pair | None) -> LineLanguages | None:
    """Returns what checks the languages of lines; None, and says so, where they are not checked.

    Args:
      pair: the languages of the corpus; None if unknown.
    """
    asked = "language" in request.drop
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
    report, written_pairs = cleaning.Report(), 0
    left_out: collections.Counter[str] = collections.Counter()
    for row in with_progress(text.rows, "pair"):
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
    request: FilterRequest, kept_pairs: Sequence[KeptPair], direction: Pair | None
) -> newest.Split:
    """Writes the newest pairs to --hold-out, each once, and the earlier ones to --to."""
    split = newest.split_by_time(kept_pairs, request.newest or NEWEST)
    with (
        pair_files.new_pairs(request.to, direction) as write,
        pair_files.new_pairs([request.hold_out or ""], direction, "--hold-out") as write_newest,
    ):
        for pair in split.earlier:
            write_pair(write, pair)
        for pair in split.newest:
            write_pair(write_newest, pair._replace(weight=1))
    return split


def sum_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Returns the sum of what became of several corpora."""
    reports, written, lines, left_out = zip(*outcomes, strict=True)
    reasons: collections.Counter[str] = sum(left_out, collections.Counter())
    return Outcome(cleaning.total(reports), sum(written), sum(lines), reasons)
