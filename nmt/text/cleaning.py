"""What is wrong with parallel text: a report on its pairs, in one pass.

Nothing is decided here: every problem has a name, and what is dropped is up to the caller.
"""

import collections
import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nmt.messages import log, plural
from nmt.text import files, spelling
from nmt.text.encoding import damaged_lines, without_surrogates
from nmt.text.formats.format import Row, Selection
from nmt.text.words import word_count

PROBLEMS = {  # by name: what is wrong with a pair
    "encoding": "not UTF-8, or decoded wrongly before (Ã©, \ufffd)",
    "columns": "not exactly one source and one target, or a tab within one",
    "empty": "no source or no target",
    "control": "control characters",
    "quotes": "in quotation marks, as spreadsheets write cells (save as .csv to have them read so)",
    "duplicate": "the same pair as before",
    "equal": "the source is its target",
    "ratio": "one side more than three times as long as the other",
    "long": "more than 100 words",
    "script": "letters of another script than most lines of that side",
    "numbers": "other numbers in source and target",
    "test": "the source is a line of the test text",
    "spelling": "letters and their accents apart, or other forms that are not NFC (harmless)",
    "invisible": "marks that nobody sees, or other spaces than U+0020 (harmless)",
}
HARMLESS = {"spelling", "invisible"}  # training reads such text in its spelling.normal form
MAX_RATIO, RATIO_MARGIN = 3, 20  # characters: of short lines, any ratio is possible
MAX_WORDS = 100
SCRIPT_SAMPLE = 2000  # pairs by which the script of each side is decided
EXAMPLES = 3  # of each problem

MOJIBAKE = re.compile("\ufffd|[ÂÃ][\u0080-\u00bf]|â\u0080|â€")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
OTHER_SPACES = f"\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000{spelling.MARK_OF_SPACE}"
INVISIBLE = re.compile(f"[{spelling.INVISIBLE}{OTHER_SPACES}]")
NUMBER = re.compile(r"\d+")
QUOTED = re.compile('"(?:[^"]|"")+"')  # a cell as spreadsheets write it, quotes within it doubled


def read(paths: Sequence[str | Path], selection: Selection = files.WHOLE_FILE) -> Iterator[Row]:
    """Yields the Rows of a file of pairs or of two aligned files, however damaged they are.

    Empty lines of a file of pairs are no pairs. Where one of two aligned files is longer, its last
    rows have one cell.

    Args:
      paths, selection: see `files.read_pairs`.

    Raises:
      UserError: a file cannot be read, or they are neither.
    """
    files.check_one_corpus(paths)
    if len(paths) == 1:
        yield from files.rows(paths[0], selection, damaged_lines)
        return
    are_even = True
    for number, sides in enumerate(itertools.zip_longest(*map(damaged_lines, paths)), start=1):
        if None in sides and are_even:
            are_even = False
            short, long = sorted(paths, key=lambda path: sides[paths.index(path)] is not None)
            log.warning(
                f"{short}: ends at line {number - 1}, but {long} is longer. If a line is missing "
                "before, all pairs after it are wrong: compare both files at their ends."
            )
        yield Row(number, [side for side in sides if side is not None])


@functools.cache
def script(letter: str) -> str | None:
    """Returns the script of a letter, such as LATIN; CJK for those that Japanese mixes, too.

    None for what is no letter.
    """
    if not letter.isalpha():
        return None
    name = unicodedata.name(unicodedata.normalize("NFKC", letter)[0], "?")  # not FULLWIDTH LATIN
    first = re.match(r"\w*", name)[0]
    return "CJK" if first in ("HIRAGANA", "KATAKANA", "IDEOGRAPHIC") else first


def main_script(text: str) -> str | None:
    """Returns the script of most letters of a text; None if it has no letters."""
    if text.isascii():
        return "LATIN" if re.search("[A-Za-z]", text) else None
    counts = collections.Counter(map(script, text))
    counts.pop(None, None)
    return counts.most_common(1)[0][0] if counts else None


class Checker:
    """Finds the PROBLEMS of pairs, one after the other.

    Args:
      sample: Rows by which the script of each side is decided.
      test_sources: lines of the test text, as strings.
    """

    def __init__(self, sample: Iterable[Row], test_sources: Iterable[str] = ()):
        self.test_sources = {hash(spelling.trimmed(line)) for line in test_sources}
        self.seen = set()  # hashes of pairs
        scripts = [collections.Counter(), collections.Counter()]  # of each side
        for row in sample:
            for counts, column in zip(scripts, row.cells, strict=False):
                counts[main_script(without_surrogates(column))] += 1
        for counts in scripts:
            counts.pop(None, None)
        self.usual = [max(counts, key=counts.get, default=None) for counts in scripts]

    def problems(self, columns: list[str]) -> tuple[list[str], list[str]]:
        """Returns the names of the problems of a pair, and its source and target as strings.

        Args:
          columns: the cells of a Row.
        """
        texts = [without_surrogates(column).strip() for column in columns]
        if len(texts) != 2 or any(re.search("[\t\r\n]", text) for text in texts):
            return ["columns"], [*texts, "", ""][:2]
        source, target = map(spelling.trimmed, texts)  # as it is trained on
        problems = []
        if any(map(MOJIBAKE.search, texts)):
            problems.append("encoding")
        if not source or not target:
            problems.append("empty")
        if any(map(CONTROL.search, texts)):
            problems.append("control")
        quoted = [QUOTED.fullmatch(text) for text in texts]
        if all(quoted) or any(cell and '""' in cell[0] for cell in quoted):
            problems.append("quotes")
        key = hash((source, target))
        if key in self.seen:
            problems.append("duplicate")
        self.seen.add(key)
        if source == target and source:
            problems.append("equal")
        short, long = sorted((len(source), len(target)))
        if long > MAX_RATIO * short + RATIO_MARGIN:
            problems.append("ratio")
        if max(word_count(source), word_count(target)) > MAX_WORDS:
            problems.append("long")
        both = zip(map(main_script, (source, target)), self.usual, strict=True)
        if any(script not in (None, usual) for script, usual in both):
            problems.append("script")
        if sorted(NUMBER.findall(source)) != sorted(NUMBER.findall(target)):
            problems.append("numbers")
        if source and hash(source) in self.test_sources:
            problems.append("test")
        if not all(unicodedata.is_normalized("NFC", text) for text in texts):
            problems.append("spelling")
        if any(INVISIBLE.search(text) for text in texts):
            problems.append("invisible")
        return problems, texts


class Report:
    """Counts pairs, words and problems, and keeps the first examples of each.

    Args:
      checker: a Checker.
    """

    def __init__(self, checker: Checker):
        self.checker = checker
        self.pairs = self.clean = 0
        self.words = [collections.Counter(), collections.Counter()]  # lines by number of words
        self.counts = collections.Counter()  # pairs by problem
        self.examples = collections.defaultdict(list)

    def add(self, row: Row) -> tuple[list[str], str, str]:
        """Takes a Row. Returns the names of its problems, its source and its target."""
        names, texts = self.checker.problems(row.cells)
        self.pairs += 1
        self.clean += HARMLESS.issuperset(names)
        for words, text in zip(self.words, texts, strict=True):
            words[word_count(text)] += 1
        for name in names:
            self.counts[name] += 1
            if len(self.examples[name]) < EXAMPLES:
                self.examples[name].append((row.number, *texts))
        return names, *texts

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


def percentile(counts: collections.Counter, share: float) -> int:
    """Returns the smallest number that at least a `share` of the counted lines do not exceed."""
    total, so_far = counts.total(), 0
    for number in sorted(counts):
        so_far += counts[number]
        if so_far >= share * total:
            return number
    return 0


def excerpt(text: str) -> str:
    """Returns the beginning of a text, with what nobody would see of it spelled out: \\u200b."""

    def spell_out(character):
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
