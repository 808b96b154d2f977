"""What must not change in translation: numbers, addresses, placeholders, tags and the like.

There are two ways to keep such a span of a text:

- A run that has learned symbols, ⟦0⟧ to ⟦9⟧, each one token of its vocabulary, copies a symbol
  where it would have to spell the span.
- Any other run does not read the span: a mark stands for it, which decoding/hidden_spans.py takes
  out before the search and puts into the translation after it.

`restore` puts the originals in place of symbols and marks:

    "Call {name} at 4711."  ->  "Call ⟦0⟧ at ⟦1⟧.", originals ["{name}", "4711"]

In training, a span becomes a symbol where both sides of a pair hold it: `Protector.training_pair`.
"""

from __future__ import annotations

import collections
import copy
import re
import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from nmt import UserError
from nmt.text import placeholders

SYMBOL_START, SYMBOL_END = "⟦", "⟧"
# Of more spans, the eleventh is ⟦0⟧ again.
SYMBOLS = [f"{SYMBOL_START}{number}{SYMBOL_END}" for number in range(10)]
SYMBOL = re.compile(rf"{SYMBOL_START}([0-9]){SYMBOL_END}")
MIN_PAIRS = 1000  # that hold a span on both sides, for a vocabulary to get the symbols
UNPROTECTED_SHARE = 10  # one in so many training pairs is left as it is
FIRST_MARK, MAX_MARKS = 0xF0000, 0xFFFD  # of private use; a mark stands for a span by its number
MARK = re.compile(f"[{chr(FIRST_MARK)}-{chr(FIRST_MARK + MAX_MARKS - 1)}]")
SYMBOL_OR_MARK = re.compile(f"({'|'.join(SYMBOLS)}|{MARK.pattern})")

LANGUAGE_TAG = re.compile("<.*>")  # such as <2de>, one of --symbols

# The letters of alphabets whose words stand between spaces: "mp3" is one word, "我有3只" is not.
LETTER = placeholders.LETTER
SPACE = " \u00a0\u2009\u202f"  # between groups of digits

# ---- Addresses ----

NOT_IN_URL = '\\s<>"\u3000-\u303f\uff00-\uffef'
ENDING = ".,;:!?…'\\]}\u2019\u201d\u00bb"  # of a sentence or a quotation rather than of a URL
IN_PARENTHESES = rf"\([^{NOT_IN_URL}()]*+\)"
URL = (
    rf"(?<![A-Za-z])(?:(?:https?|ftp)://|(?<![\w@.])www\.)"
    rf"(?>(?:[^{NOT_IN_URL}{ENDING}()]|{IN_PARENTHESES}"
    rf"|[{ENDING}]++(?=[^{NOT_IN_URL}{ENDING}()]|{IN_PARENTHESES}))+)"
)
EMAIL = r"(?<![A-Za-z0-9_.+%-])[A-Za-z0-9_.+%-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
ENDINGS = (  # of files
    "avi|bat|bmp|cfg|conf|cpp|css|csv|dll|docx?|epub|exe|flac|gif|gz|html?|ini|ipynb|iso|jar|java"
    "|jpe?g|js|json|log|md|mkv|mov|mp[34]|mpe?g|od[pst]|ogg|pdf|php|png|po|pptx?|ps1|py|rar|rst"
    "|rtf|sh|sql|srt|svg|tar|tex|tiff?|ts|tsv|txt|wav|webp|whl|xlsx?|xml|ya?ml|zip"
)
NAME = r"[\w.-]{0,80}\w"  # of a file or a folder
PATH = (
    rf"(?<!\w)[A-Za-z]:\\(?>(?:[^\s\\/:*?\"<>|]{{1,80}}\\)*)(?:{NAME})?"  # C:\Users\ana
    rf"|(?<![\w\\])\\\\\w[\w.-]{{0,80}}(?>(?:\\{NAME})+)"  # \\server\folder
    rf"|(?<![\w/.~<\\])(?:~|\.{{1,2}})/{NAME}(?>(?:/{NAME})*)/?"  # ~/notes, ./a, ../a
    rf"|(?<![\w/.~<\\])/{NAME}(?>(?:/{NAME})+)/?"  # /etc/hosts
    rf"|(?<![\w/.-])\w[\w-]{{0,80}}(?:/{NAME}){{0,20}}\.(?:{ENDINGS})(?![\w/])"  # docs/a.md, a.pdf
)
HANDLE = (  # @name, #tag, :emoji:
    r"(?<![\w@./])@[A-Za-z_][\w-]*+(?>(?:\.[\w-]++)*)|(?<![\w&/#])#[^\W\d]\w*+"
    r"|(?<![\w:]):[a-z+_-][a-z0-9+_-]{0,40}+:(?![\w:])"
)

# ---- Markup ----

VALUE = r"""\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=]++)"""
SWITCHES = (  # attributes without a value; in "x<y and y>z", "and" is none
    "allowfullscreen|async|autofocus|autoplay|checked|controls|default|defer|disabled|hidden|ismap"
    "|loop|multiple|muted|nomodule|novalidate|nowrap|open|readonly|required|reversed|selected"
)
ATTRIBUTE = rf"\s++(?:[\w:.@-]++{VALUE}|(?:{SWITCHES})(?![\w:.@-])|\w*+[-:@][\w:.@-]*+)"
TAG = (
    rf"</?[A-Za-z][\w:.-]*+(?>(?:{ATTRIBUTE})*)\s*+/?>|<!--(?>(?:[^<>-]|-(?!->))*)-->"
    r"|&(?:[A-Za-z]\w{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});"
)

# ---- Numbers ----

CODE = (
    # An IBAN in groups; telephone numbers; mp3, COVID-19, B2B, v1.2.
    rf"(?<![{LETTER}\d])[A-Z]{{2}}[0-9]{{2}}[{SPACE}]?[A-Z0-9]{{4}}(?:[{SPACE}]?[0-9][0-9A-Z]{{3}}){{2,6}}"
    rf"(?:[{SPACE}][0-9][0-9A-Z]{{0,2}})?(?![{LETTER}\d])"
    rf"|(?<![{LETTER}\d+])\+[1-9][0-9]{{0,2}}(?:[{SPACE}./()-]{{1,2}}[0-9]{{1,9}}){{1,6}}(?!\d)"
    rf"|(?<![{LETTER}\d+])\+[1-9][0-9]{{6,14}}(?!\d)"
    rf"|(?<![{LETTER}\d])\(0?[0-9]{{2,5}}\)[{SPACE}]?[0-9]{{2,9}}(?:[{SPACE}./-][0-9]{{2,9}}){{0,4}}(?!\d)"
    rf"|(?<![{LETTER}\d.,:/-])0[0-9]{{1,4}}(?:[{SPACE}][0-9]{{2,9}}){{1,5}}(?!\d)"
    rf"|(?<![{LETTER}\d.,:/-])0[0-9]{{2,4}}[/-][0-9]{{4,9}}(?!\d)"
    rf"|(?<![{LETTER}\d.,:/-])[0-9]{{3}}-(?:[0-9]{{3}}-)?[0-9]{{4}}(?![{LETTER}\d-])"
    rf"|(?<![{LETTER}\d])[{LETTER}]++[-]?[0-9][{LETTER}0-9]*+(?>(?:[-.:/][0-9][{LETTER}0-9]*+)*)"
)
# Digits of other scripts change in translation, and are left to the network.
START_OF_NUMBER = rf"(?:(?<![^\s(])[-+\u2212])?(?<![{LETTER}\d])"
AMOUNT = (  # 2024-05-06, 150 000, 1,234.50, 12:30
    rf"{START_OF_NUMBER}(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?!\d)"
    rf"|[0-9]{{1,3}}(?>(?:[{SPACE}][0-9]{{3}})+)(?!\d)(?:[.,][0-9]++)?"
    r"|[0-9]++(?>(?:[.,:/'\u2019][0-9]++)+))"
)

# Each takes linear time: a match can begin at few characters, or is short, or gives nothing back.
KINDS = {
    "symbol": re.compile(f"{SYMBOL.pattern}|{MARK.pattern}"),  # as the user wrote it
    "url": re.compile(URL, re.IGNORECASE),
    "email": re.compile(EMAIL),
    "tag": re.compile(TAG),
    "placeholder": placeholders.ANY_TEXT,
    "handle": re.compile(HANDLE),
    "path": re.compile(PATH),
    "code": re.compile(CODE),
    "amount": re.compile(AMOUNT),  # a number with separators
    "number": re.compile(rf"{START_OF_NUMBER}[0-9]{{3,}}+"),
    "count": re.compile(rf"{START_OF_NUMBER}[0-9]{{1,2}}(?!\d)"),  # "two" in some languages
}
NUMBER_KINDS = ("amount", "number", "count")  # which a language may write in another form
# Of runs that do not record what their symbols stand for: they are older than these records.
KINDS_OF_OLDER_RUNS = frozenset({*KINDS} - {"handle", "path"})
NOT_A_DIGIT = re.compile(r"\D+")
TAG_NAME = re.compile(r"<(/?)([A-Za-z][\w:.-]*)(?![\w:.-])[^>]*?(/?)>")
VOID_ELEMENTS = {"br", "hr", "img", "input", "wbr", "area", "base", "col", "embed", "link", "meta"}
ENDED_SYMBOL = re.compile(rf"{SYMBOL.pattern}(?=\s|$)")
ATTACHED_SYMBOL = re.compile(rf"(?<=\S){SYMBOL.pattern}")
WORD_END = re.compile(rf"[{LETTER}\d.,;:!?)\]}}>%]")  # after which a symbol needs a space
# No span is without one.
SIGNS_OF_SPANS = re.compile(
    rf"[\d{SYMBOL_START}<@%{{&#$\\/]|{MARK.pattern}|www\.|:[a-z+_-]|\.[A-Za-z]", re.IGNORECASE
)


class Span(NamedTuple):
    """A part of a text that must not change."""

    start: int
    end: int
    kind: str  # of KINDS; or "pattern", "term", "language"
    original: str  # what the translation is to hold for it: of a term, the term's translation
    other_targets: tuple[
        str, ...
    ] = ()  # what it may hold in its place: other translations of a term

    @property
    def is_number(self) -> bool:
        """Whether it may be written in another form."""
        return self.kind in NUMBER_KINDS

    @property
    def digits(self) -> str:
        """Its digits, by which numbers are compared."""
        return NOT_A_DIGIT.sub("", self.original)


class Protected(NamedTuple):
    """A text with symbols and marks, and what they stand for."""

    text: str
    originals: list[str]  # in the order of the symbols
    hidden: list[str] = []  # in the order of the marks  # noqa: RUF012  # never changed


class Restored(NamedTuple):
    """A translation with the originals in place of symbols and marks."""

    text: str
    missing: list[str]  # originals whose symbol or mark the translation lacks
    surplus: int  # symbols that stood for nothing, and were removed


class Protection(NamedTuple):
    """What a run has learned about what must not change."""

    learned: tuple[str, ...] = tuple(sorted(KINDS_OF_OLDER_RUNS))  # KINDS that symbols stand for
    spells_numbers: bool = False  # some numbers of the source are words in the target


# ---- Spans and symbols ----


class Terms(Protocol):
    """What finds terms in a text: a glossary.Glossary."""

    def spans(self, text: str) -> list[Span]:
        """Returns the terms as Spans, whose originals are their translations."""

    def with_terms(self, terms: dict[str, str], languages: Sequence[str]) -> Terms:
        """Returns these and further terms; see glossary.Glossary."""


class Protector:
    """Replaces the spans of texts with symbols, or with marks.

    Args:
      patterns: regular expressions of further spans.
      glossary: terms, which stay in a text.
      words: those of the vocabulary that are never split (--symbols); language tags among them are
        no spans.
      learned: the kinds of spans that the run has learned symbols for.

    Raises:
      UserError: a pattern is not a regular expression.
    """

    def __init__(
        self,
        patterns: Iterable[str] = (),
        glossary: Terms | None = None,
        words: Iterable[str] = (),
        learned: Collection[str] = KINDS_OF_OLDER_RUNS,
    ):
        self._patterns = [compile_pattern(pattern) for pattern in patterns]
        self.glossary = glossary
        self._learned = frozenset({*learned, "pattern"} if learned else ())
        tags = [re.escape(word) for word in words if LANGUAGE_TAG.fullmatch(word)]
        self._tag = re.compile("|".join(tags) or "(?!)")

    def with_glossary(self, glossary: Terms) -> Protector:
        """Returns this Protector with another glossary."""
        other = copy.copy(self)
        other.glossary = glossary
        return other

    @property
    def expressions(self) -> list[tuple[str, re.Pattern[str]]]:
        """Kinds that have symbols, with regular expressions, in the order of `spans`."""
        patterns = [("pattern", pattern) for pattern in self._patterns]
        kinds = [(kind, pattern) for kind, pattern in KINDS.items() if kind in self._learned]
        return [*patterns, ("language", self._tag), *kinds]

    def may_hold_spans(self, text: str) -> bool:
        """Returns whether a text may hold a span, or a number of any script.

        Most texts show at once that they do not.
        """
        return bool(self.glossary or self._patterns or SIGNS_OF_SPANS.search(text))

    def spans(self, text: str) -> list[Span]:
        """Returns the spans of a text, in order; of overlapping ones, the first or longest."""
        if not self.may_hold_spans(text):
            return []
        spans = self.glossary.spans(text) if self.glossary else []
        for pattern in self._patterns:
            spans += _matches("pattern", pattern, text)
        if SIGNS_OF_SPANS.search(text):
            spans += _matches("language", self._tag, text)
            for kind, pattern in KINDS.items():
                spans += _matches(kind, pattern, text)
        spans.sort(key=lambda span: (span.start, -span.end))  # stable: patterns before kinds
        apart, end = [], 0
        for span in spans:
            if span.start >= end:
                apart.append(span)
                end = span.end
        spans = [span for span in apart if span.kind != "language"]
        return self._with_joined_numbers(spans, text)

    def _with_joined_numbers(self, spans: list[Span], text: str) -> list[Span]:
        """Returns spans of a text. Numbers beside each other, as in "6113 12", are one of them.

        That is so where a symbol would stand for some of them and not for others.
        """
        joined: list[Span] = []
        for span in spans:
            while joined and self._are_joined(joined[-1], span):
                left = joined.pop()
                kind = left.kind if left.kind in self._learned else span.kind
                span = Span(left.start, span.end, kind, text[left.start : span.end])
            joined.append(span)
        return joined

    def _are_joined(self, left: Span, right: Span) -> bool:
        """Returns whether two spans are numbers beside each other, one of them with a symbol."""
        is_mixed = (left.kind in self._learned) != (right.kind in self._learned)
        return is_mixed and left.is_number and right.is_number and right.start - left.end <= 1

    def terms(self, text: str) -> list[Span]:
        """Returns the terms of the glossary in a text, in order."""
        if not self.glossary:
            return []
        return [span for span in self.spans(text) if span.kind == "term"]

    def _symbol_spans(self, text: str) -> list[Span]:
        """Returns the spans of a text that symbols stand for."""
        return [span for span in self.spans(text) if span.kind in self._learned]

    def protect(self, text: str) -> Protected:
        """Returns a text with symbols in place of the spans that the run has learned them for."""
        spans = self._symbol_spans(text)
        symbols = [SYMBOLS[number % len(SYMBOLS)] for number in range(len(spans))]
        return Protected(replace(text, spans, symbols), [span.original for span in spans])

    def hide(self, text: str, numbers: Collection[str] = ()) -> Protected:
        """Returns a text with symbols, and with marks in place of all other spans but numbers.

        Args:
          text: of a sentence.
          numbers: those that a mark is to stand for, too.
        """
        spans = [span for span in self.spans(text) if span.kind != "term"]
        symbols: list[str | None] = []
        originals: list[str] = []
        hidden: list[str] = []
        for span in spans:
            if span.kind in self._learned:
                symbols.append(SYMBOLS[len(originals) % len(SYMBOLS)])
                originals.append(span.original)
            elif len(hidden) < MAX_MARKS and not (span.is_number and span.original not in numbers):
                symbols.append(chr(FIRST_MARK + len(hidden)))
                hidden.append(span.original)
            else:
                symbols.append(None)
        return Protected(replace(text, spans, symbols), originals, hidden)

    def numbers(self, text: str) -> list[Span]:
        """Returns the numbers of a text that the network reads as they are."""
        spans = self.spans(text)
        return [span for span in spans if span.is_number and span.kind not in self._learned]

    def protect_prefix(self, prefix: str, source: Protected) -> Protected:
        """Returns what a translation begins with, with the symbols of the source's spans in it.

        Args:
          prefix: of the translation.
          source: of the translation. In the result, symbols that the user wrote into the prefix
            follow its originals.
        """
        originals = source.originals
        # The numbers of each original.
        waiting: dict[str, collections.deque[int]] = collections.defaultdict(collections.deque)
        for number, original in enumerate(originals):
            waiting[original].append(number)
        spans, originals = self._symbol_spans(prefix), list(originals)
        chosen: list[str | None] = []
        # By symbol: how many of its originals, which come in order.
        used: collections.Counter[int] = collections.Counter()
        for span in spans:
            numbers = waiting[span.original]
            uses, symbol = divmod(numbers[0], len(SYMBOLS)) if numbers else (0, 0)
            if numbers and used[symbol] == uses:
                numbers.popleft()
                used[symbol] += 1
                chosen.append(SYMBOLS[symbol])
            elif span.kind == "symbol":
                chosen.append(SYMBOLS[len(originals) % len(SYMBOLS)])
                originals.append(span.original)
            else:
                chosen.append(None)
        return Protected(replace(prefix, spans, chosen), originals, source.hidden)

    def protect_pair(self, source: str, target: str, first: int = 0) -> tuple[str, str]:
        """Returns both sides of a pair with symbols in place of the spans that both hold.

        Args:
          source, target: of the pair.
          first: the number of the first symbol.
        """
        source_spans = self._symbol_spans(source)
        target_spans = self._symbol_spans(target) if source_spans else []
        if not target_spans:
            return source, target
        # Target spans by original.
        unmatched: dict[str, collections.deque[int]] = collections.defaultdict(collections.deque)
        for number, span in enumerate(target_spans):
            unmatched[span.original].append(number)
        source_symbols: list[str | None] = [None] * len(source_spans)
        target_symbols: list[str | None] = [None] * len(target_spans)
        number = first
        for index, span in enumerate(source_spans):
            if unmatched[span.original]:
                symbol = SYMBOLS[number % len(SYMBOLS)]
                source_symbols[index] = symbol
                target_symbols[unmatched[span.original].popleft()] = symbol
                number += 1
        source = replace(source, source_spans, source_symbols)
        return source, replace(target, target_spans, target_symbols)

    def training_pair(self, source: str, target: str) -> tuple[str, str]:
        """Returns a pair as it is trained on: with symbols, or, one in UNPROTECTED_SHARE, as it is.

        Pairs that stay keep a model able to translate text without symbols. Symbols begin with
        another number in each pair, so that all are learned. Both follow from the source alone: a
        pair is the same in every epoch and every process.
        """
        number = zlib.crc32(source.encode())
        if number // len(SYMBOLS) % UNPROTECTED_SHARE == 0:
            return source, target
        return self.protect_pair(source, target, first=number % len(SYMBOLS))


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Returns a compiled pattern of --protect; a UserError if it is not a regular expression."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UserError(f"--protect {pattern}: is not a regular expression ({error})") from None


def _matches(kind: str, pattern: re.Pattern[str], text: str) -> list[Span]:
    """Returns the matches of a pattern as Spans of a kind."""
    return [Span(*match.span(), kind, match[0]) for match in pattern.finditer(text) if match[0]]


def replace(text: str, spans: list[Span], symbols: Iterable[str | None]) -> str:
    """Returns a text with `symbols` in place of its spans; a span without a symbol stays."""
    parts: list[str] = []
    end = 0
    for span, symbol in zip(spans, symbols, strict=True):
        if symbol is not None:
            parts += text[end : span.start], symbol
            end = span.end
    return "".join([*parts, text[end:]])


def restore(text: str, source: Protected) -> Restored:
    """Returns a text with originals in place of its symbols and marks.

    Symbols of the same number, which stand for several spans of a long text, take their originals
    in order. A symbol that stands for nothing is removed. Tags that would not be nested as in the
    source take the places of tags in its order. A symbol other than a tag that follows a space in
    the source, but a word, a sentence or another symbol in the translation, gets a space before it:
    a search that has to put in what is missing puts it right after the last token. One with letters
    that is before a space gets one after it, too: letters would belong to a URL.

    Args:
      text: a translation with symbols and marks.
      source: the Protected source.
    """
    texts, symbols = split_at_symbols(text)
    if not (symbols or source.originals or source.hidden):
        return Restored(text, [], 0)
    waiting = _Originals(source)
    restored = [waiting.take(symbol) for symbol in symbols]
    surplus = restored.count("")
    restored = _nest_tags(restored, _Originals(source).in_order(source.text))
    apart = set(SYMBOL.findall(source.text)) - set(ATTACHED_SYMBOL.findall(source.text))
    ended = set(ENDED_SYMBOL.findall(source.text))
    pieces, last = [texts[0]], texts[0][-1:]  # the last character so far
    for symbol, original, following in zip(symbols, restored, texts[1:], strict=True):
        is_apart = symbol[1:2] in apart and original and not TAG_NAME.match(original)
        if is_apart and WORD_END.match(last):
            pieces.append(" ")
        has_letters = any(map(str.isalpha, original)) and original[-1:].isalnum()
        if symbol[1:2] in ended and has_letters and following[:1].isalpha():
            following = f" {following}"
        pieces += original, following
        last = (original + following)[-1:] or last
    return Restored("".join(pieces), waiting.missing, surplus)


def split_at_symbols(text: str) -> tuple[list[str], list[str]]:
    """Returns the texts before, between and after the symbols and marks of a text, and these."""
    parts = SYMBOL_OR_MARK.split(text)
    return parts[::2], parts[1::2]


class _Originals:
    """What the symbols and marks of a Protected text stand for, each taken once."""

    def __init__(self, source: Protected):
        self._of_symbols = {
            symbol: collections.deque(source.originals[number :: len(SYMBOLS)])
            for number, symbol in enumerate(SYMBOLS)
        }
        self._of_marks = {
            chr(FIRST_MARK + number): original for number, original in enumerate(source.hidden)
        }

    def take(self, symbol: str) -> str:
        """Returns the next original of a symbol or mark; "" if none is left."""
        if symbol in self._of_symbols:
            queue = self._of_symbols[symbol]
            return queue.popleft() if queue else ""
        return self._of_marks.pop(symbol, "")

    def in_order(self, text: str) -> list[str]:
        """Returns all originals in the order of the symbols of a text, and those that it lacks."""
        _, symbols = split_at_symbols(text)
        return [*filter(None, map(self.take, symbols)), *self.missing]

    @property
    def missing(self) -> list[str]:
        """The originals that are not taken."""
        queues = self._of_symbols.values()
        return [*(original for queue in queues for original in queue), *self._of_marks.values()]


def _nest_tags(restored: list[str], originals: list[str]) -> list[str]:
    """Returns `restored` with its tags in the order of the source if they are not nested as there.

    Args:
      restored: originals in the order of a translation.
      originals: in the order of the source.
    """
    tags = [original for original in originals if TAG_NAME.match(original)]
    positions = [index for index, original in enumerate(restored) if TAG_NAME.match(original)]
    translated_tags = [restored[index] for index in positions]
    if len(tags) != len(positions) or _open_tags(translated_tags) == _open_tags(tags):
        return restored
    restored = list(restored)
    for index, tag in zip(positions, tags, strict=True):
        restored[index] = tag
    return restored


def _open_tags(tags: list[str]) -> tuple[list[str], list[str]] | None:
    """Returns the names that tags close before they open them, and those that they leave open.

    None if an element ends within another one that is still open.
    """
    closed, opened = [], []
    for tag in tags:
        name_of_tag = TAG_NAME.match(tag)
        assert name_of_tag
        is_end, name, is_empty = name_of_tag.groups()
        if not is_end:
            if not is_empty and name.lower() not in VOID_ELEMENTS:
                opened.append(name)
        elif opened and opened[-1] == name:
            opened.pop()
        elif opened:
            return None
        else:
            closed.append(name)
    return closed, opened


DEFAULT = Protector()  # of what every text may hold
