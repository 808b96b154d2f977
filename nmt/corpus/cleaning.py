"""What is wrong with parallel text: a report on its pairs, in one pass.

Nothing is decided here: every problem has a name, and what is dropped is up to the caller.
"""

from __future__ import annotations

import collections
import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nmt.corpus import files
from nmt.corpus.formats.format import Row, Selection, lenient_reader
from nmt.corpus.lengths import Lengths
from nmt.corpus.percentile import percentile
from nmt.messages import log, plural
from nmt.text import spelling
from nmt.text.differences import with_common_digits
from nmt.text.encoding import without_surrogates
from nmt.text.line_languages import LineLanguages
from nmt.text.protected import DEFAULT, Span
from nmt.text.scripts import main_script
from nmt.text.words import word_count

PROBLEMS = {  # by name: what is wrong with a pair
    "encoding": "not UTF-8, or decoded wrongly before (Ã©, \ufffd)",
    "columns": "not exactly one source and one target, or a tab within one",
    "empty": "no source or no target",
    "control": "control characters",
    "quotes": "in quotation marks, as spreadsheets write cells (save as .csv to have them read so)",
    "tags": "tags or character references (<b>, &amp;)",
    "urls": "URLs or e-mail addresses",
    "duplicate": "the same pair as before",
    "equal": "the source is its target",
    "ratio": "one side more than three times as long as the other",
    "long": "more than 100 words",
    "script": "letters of another script than most lines of that side",
    "language": "in another language than that side",
    "numbers": "other numbers in source and target",
    "placeholders": "other placeholders, URLs, e-mail addresses or tags in source and target",
    "misaligned": "the target seems to translate something else",
    "test": "the source is a line of the test text",
    "spelling": "letters and their accents apart, or other forms that are not NFC (harmless)",
    "invisible": "marks that nobody sees, or other spaces than U+0020 (harmless)",
}
HARMLESS = {"spelling", "invisible"}  # training reads such text in its spelling.normal form
MAX_RATIO, RATIO_MARGIN = 3, 20  # characters: of short lines, any ratio is possible
MAX_WORDS = 100
EXPLAINED_LENGTHS = {"empty", "equal", "ratio", "long"}  # problems of pairs of unusual lengths
SAMPLE = 2000  # pairs by which script and usual lengths are decided
EXAMPLES = 3  # of each problem

MOJIBAKE = re.compile("\ufffd|[ÂÃ][\u0080-\u00bf]|â\u0080|â€")
MISREAD_AS = ("cp1252", "latin1")  # encodings that UTF-8 is taken for
# Some words and the marks after them look like one character of UTF-8, too: LIBERTÉ\u00a0!, SPAß…,
# café\u00a0». As such they are letters that no word has there (LIBERTɠ!). What follows Ä, Ã and Å
# in capitals can be a capital, as in GÅR: there, the word must end with the mark, and of Ã, begin
# before, not with O (OÃ™ is OÙ). Â ends no word.
MARKS = "…’”“»›–—™®©¹²³·•†‡\u00a0"
MARKS_OF_COMMON_LEADS = "…’”»›–—™®©\u00a0"
CAPITALS, SMALL_LETTERS = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿ"
WORD_BEFORE_MARKS = re.compile(
    f"(?<![{SMALL_LETTERS}])(?:[ÀÁÆ-ÖØ-Þ][{MARKS}]"
    f"|(?:[ÄÅ]|(?<=[{CAPITALS}])(?<!O)Ã)[{MARKS_OF_COMMON_LEADS}](?![{CAPITALS}{SMALL_LETTERS}]))"
    f"|ß[{MARKS}]|[à-ï][{MARKS}]{{2}}|[ð-ô][{MARKS}]{{3}}"
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
OTHER_SPACES = f"\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000{spelling.MARK_OF_SPACE}"
INVISIBLE = re.compile(f"[{spelling.INVISIBLE}{OTHER_SPACES}]")
NUMBER = re.compile(r"\d+")
QUOTED = re.compile('"(?:[^"]|"")+"')  # a cell as spreadsheets write it, quotes within it doubled
QUOTATION_MARK = re.compile('["«»“”„‹›「」『』]')
ADDRESS_KINDS = {"url", "email"}  # of Spans
MARKUP_KINDS = {*ADDRESS_KINDS, "mark", "tag", "placeholder"}


def read(paths: Sequence[str | Path], selection: Selection = files.WHOLE_FILE) -> Iterator[Row]:
    """Yields the Rows of a file of pairs or of two aligned files, however damaged they are.

    Empty lines of a file of pairs are no pairs. Where one of two aligned files is longer, its last
    rows have one cell.
    """
    files.check_one_corpus(paths)
    read_lines = lenient_reader(selection)
    if len(paths) == 1:
        yield from files.rows(paths[0], selection, read_lines)
        return
    are_even = True
    for number, sides in enumerate(itertools.zip_longest(*map(read_lines, paths)), start=1):
        if None in sides and are_even:
            are_even = False
            short = sides.index(None)
            log.warning(
                f"{paths[short]}: ends at line {number - 1}, but {paths[1 - short]} is longer. "
                "If a line is missing before, all pairs after it are wrong: compare both files at "
                "their ends."
            )
        yield Row(number, [side for side in sides if side is not None])


# ---- The problems of a pair by itself ----


class TextPair(NamedTuple):
    """A source and a target, in three forms. Each field has two entries."""

    texts: tuple[str, str]  # as the file has them
    normal: tuple[str, str]  # as they are trained on
    spans: tuple[list[Span], list[Span]]  # what must not change: see nmt/text/protected.py

    @property
    def lengths(self) -> tuple[int, int]:
        """The characters of both sides."""
        source, target = self.normal
        return len(source), len(target)


def pair_of(texts: Sequence[str]) -> TextPair:
    """Returns the TextPair of a source and a target."""
    source, target = texts
    normal = spelling.trimmed(source), spelling.trimmed(target)
    return TextPair((source, target), normal, (DEFAULT.spans(normal[0]), DEFAULT.spans(normal[1])))


def is_decoded_wrongly(text: str) -> bool:
    """Returns whether a text is UTF-8 that was read in another encoding, or has lost characters."""
    if text.isascii():
        return False
    unclear = WORD_BEFORE_MARKS.sub("", text)
    if MOJIBAKE.search(unclear):
        return True
    return not unclear.isascii() and any(_is_utf_8_in(encoding, text) for encoding in MISREAD_AS)


def _is_utf_8_in(encoding: str, text: str) -> bool:
    """Returns whether the bytes of a text in an encoding are UTF-8: by chance, hardly any are."""
    try:
        text.encode(encoding).decode()
    except UnicodeError:
        return False
    return True


def _is_quoted(pair: TextPair) -> bool:
    """Returns whether one side is a quoted cell, and the other is, too, or has no quotes."""
    cells = [QUOTED.fullmatch(text) for text in pair.texts]
    if any(cell and '""' in cell[0] for cell in cells):
        return True
    return any(cells) and all(
        cell or (text and not QUOTATION_MARK.search(text))
        for cell, text in zip(cells, pair.texts, strict=True)
    )


def _differs_in_length(pair: TextPair) -> bool:
    short, long = sorted(pair.lengths)
    return long > MAX_RATIO * short + RATIO_MARGIN


def _has_span_of(pair: TextPair, kinds: set[str]) -> bool:
    return any(span.kind in kinds for spans in pair.spans for span in spans)


def _differs_in_spans(pair: TextPair) -> bool:
    source, target = (
        sorted(span.original for span in spans if span.kind in MARKUP_KINDS) for spans in pair.spans
    )
    return source != target


def _differs_in_numbers(pair: TextPair) -> bool:
    source, target = (sorted(NUMBER.findall(with_common_digits(text))) for text in pair.normal)
    return source != target


CHECKS: dict[str, Callable[[TextPair], bool]] = {  # by problem: whether a pair has it
    "encoding": lambda pair: any(map(is_decoded_wrongly, pair.texts)),
    "empty": lambda pair: not all(pair.normal),
    "control": lambda pair: any(map(CONTROL.search, pair.texts)),
    "quotes": _is_quoted,
    "tags": lambda pair: _has_span_of(pair, {"tag"}),
    "urls": lambda pair: _has_span_of(pair, ADDRESS_KINDS),
    "equal": lambda pair: bool(pair.normal[0]) and pair.normal[0] == pair.normal[1],
    "ratio": _differs_in_length,
    "long": lambda pair: max(map(word_count, pair.normal)) > MAX_WORDS,
    "numbers": _differs_in_numbers,
    "placeholders": _differs_in_spans,
    "spelling": lambda pair: not all(unicodedata.is_normalized("NFC", text) for text in pair.texts),
    "invisible": lambda pair: any(map(INVISIBLE.search, pair.texts)),
}


# ---- The problems of a pair within its text ----


def source_hashes(lines: Iterable[str]) -> set[int]:
    """Returns what a Checker compares sources with, for lines of a test text."""
    return {hash(spelling.trimmed(line)) for line in lines}


class SeenPairs:
    """The pairs of one or several corpora so far, by their hashes."""

    def __init__(self) -> None:
        self._pairs: set[int] = set()
        self._pairs_with_controls: set[int] = set()

    def is_repeated(self, pair: TextPair) -> bool:
        """Returns whether a pair was there before.

        A pair without control characters does not repeat one with them: it is the better one.
        """
        key = hash(pair.normal)
        return key in self._pairs or (_has_controls(pair) and key in self._pairs_with_controls)

    def add(self, pair: TextPair) -> None:
        """Remembers a pair."""
        pairs = self._pairs_with_controls if _has_controls(pair) else self._pairs
        pairs.add(hash(pair.normal))


def _has_controls(pair: TextPair) -> bool:
    return any(map(CONTROL.search, pair.texts))


class Checker:
    """Finds the PROBLEMS of pairs, one after the other.

    A sample of Rows decides the script of each side, and what lengths are usual. `test_sources` are
    hashes of the lines of the test text. Pairs of other corpora in `seen` may not be repeated
    either; this one's are added. Another pair does not repeat one that is left out, for one of the
    problems in `dropped`.
    """

    def __init__(
        self,
        sample: Sequence[Row],
        test_sources: Container[int] = (),
        languages: LineLanguages | None = None,
        seen: SeenPairs | None = None,
        dropped: Collection[str] = (),
    ):
        self.test_sources = test_sources
        self.languages = languages
        self.lengths = Lengths(row.cells for row in sample if len(row.cells) == 2)
        self.usual_scripts = usual_scripts(sample)
        self.seen = SeenPairs() if seen is None else seen
        self._dropped = set(dropped)
        self._checks = CHECKS | {
            "duplicate": self.seen.is_repeated,
            "script": self._is_in_other_script,
            "language": lambda pair: languages is not None and languages.differ(pair.normal),
            "test": lambda pair: hash(pair.normal[0]) in self.test_sources and bool(pair.normal[0]),
        }

    def problems(self, columns: list[str]) -> tuple[list[str], list[str]]:
        """Returns the names of the problems of the cells of a Row, and its source and target."""
        texts = [without_surrogates(column).strip() for column in columns]
        if len(texts) != 2 or any(re.search("[\t\r\n]", text) for text in texts):
            return ["columns"], [*texts, "", ""][:2]
        pair = pair_of(texts)
        problems = {name for name, check in self._checks.items() if check(pair)}
        if not problems & EXPLAINED_LENGTHS and self.lengths.differ(pair.normal):
            problems.add("misaligned")
        if not problems & self._dropped:
            self.seen.add(pair)
        return [name for name in PROBLEMS if name in problems], texts

    def _is_in_other_script(self, pair: TextPair) -> bool:
        scripts = map(main_script, pair.normal)
        return any(
            script not in (None, usual)
            for script, usual in zip(scripts, self.usual_scripts, strict=True)
        )


def usual_scripts(sample: Iterable[Row]) -> list[str | None]:
    """Returns the script of most lines of each side; None for a side without letters."""
    scripts: list[collections.Counter[str]] = [collections.Counter(), collections.Counter()]
    for row in sample:
        for counts, column in zip(scripts, row.cells, strict=False):
            if script := main_script(without_surrogates(column)):
                counts[script] += 1
    return [max(counts, key=counts.__getitem__, default=None) for counts in scripts]


class Report:
    """Counts pairs, words and problems, and keeps the first examples of each."""

    def __init__(self) -> None:
        self.pairs = self.clean = 0
        # Lines of each side by number of words.
        self.words: list[collections.Counter[int]] = [collections.Counter(), collections.Counter()]
        self.counts: collections.Counter[str] = collections.Counter()  # pairs by problem
        self.examples: dict[str, list[tuple[Any, ...]]] = collections.defaultdict(list)

    def add(self, number: int, names: Sequence[str], texts: Sequence[str]) -> None:
        """Takes a pair, the number of its line, row or unit, and the names of its problems."""
        self.pairs += 1
        self.clean += HARMLESS.issuperset(names)
        for words, text in zip(self.words, texts, strict=True):
            words[word_count(text)] += 1
        for name in names:
            self.counts[name] += 1
            if len(self.examples[name]) < EXAMPLES:
                self.examples[name].append((number, *texts))

    def lines(self) -> Iterator[str]:
        """Yields the report as lines of text."""
        yield f"{plural(self.pairs, 'pair')}, {self.clean:,} without a problem"
        yield ""
        yield f"{'words per line':16}{'all':>14}{'median':>8}{'95%':>6}{'99%':>6}{'most':>6}"
        for side, words in zip(("source", "target"), self.words, strict=True):
            total = sum(number * count for number, count in words.items())
            shares = "".join(
                f"{percentile(words, share):>{width}}"
                for share, width in ((0.5, 8), (0.95, 6), (0.99, 6), (1, 6))
            )
            yield f"{side:16}{total:>14,}{shares}"
        for name, text in PROBLEMS.items():
            if self.counts[name]:
                share = self.counts[name] / self.pairs
                yield ""
                yield f"{name}: {self.counts[name]:,} ({share:.1%}): {text}"
                for number, *texts in self.examples[name]:
                    yield f"  {number}: " + " | ".join(excerpt(text) for text in texts)


def total(reports: Iterable[Report]) -> Report:
    """Returns the sum of the Reports on several corpora, without examples."""
    whole = Report()
    for report in reports:
        whole.pairs += report.pairs
        whole.clean += report.clean
        whole.counts += report.counts
        whole.words = [a + b for a, b in zip(whole.words, report.words, strict=True)]
    return whole


def excerpt(text: str) -> str:
    """Returns the beginning of a text, with what nobody would see of it spelled out: \\u200b."""

    def spell_out(character: str) -> str:
        return character.encode("unicode_escape").decode()

    for pattern in (CONTROL, INVISIBLE):
        text = pattern.sub(lambda match: spell_out(match[0]), text)
    if not unicodedata.is_normalized("NFC", text):
        text = "".join(
            spell_out(character)
            if unicodedata.combining(character) or not unicodedata.is_normalized("NFC", character)
            else character
            for character in text
        )
    return text if len(text) <= 60 else text[:59] + "\u2026"
