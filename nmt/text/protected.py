"""What must not change in translation: numbers, addresses, placeholders and tags.

Each such span of a text is replaced by a symbol, ⟦0⟧ to ⟦9⟧, which is one token of the vocabulary.
A model copies a symbol where it would have to spell a span, and `restore` puts the originals back:

    "Call {name} at 4711."  ->  "Call ⟦0⟧ at ⟦1⟧.", originals ["{name}", "4711"]

In training, a span becomes a symbol where both sides of a pair hold it: `Protector.training_pair`.
"""

from __future__ import annotations

import collections
import re
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError

if TYPE_CHECKING:
    from nmt.text.glossary import Glossary

SYMBOLS = [f"⟦{number}⟧" for number in range(10)]  # of more spans, the eleventh is ⟦0⟧ again
SYMBOL = re.compile(r"⟦([0-9])⟧")
MIN_PAIRS = 1000  # that hold a span on both sides, for a vocabulary to get the symbols
UNPROTECTED_SHARE = 10  # one in so many training pairs is left as it is

LANGUAGE_TAG = re.compile("<.*>")  # such as <2de>, one of --symbols

# The letters of alphabets whose words stand between spaces: "mp3" is one word, "我有3只" is not.
LETTER = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f_"
CLOSING = ".,;:!?…'\\])}\u2019\u201d\u00bb"  # ends a sentence or a quotation rather than a URL
URL_CHARACTER = '\\s<>"\u3000-\u303f\uff00-\uffef'  # what a URL does not hold
PRINTF = (
    r"%(?:\d+\$)?(?:\(\w{1,80}\))?[-+#0]*(?:[1-9]\d*)?(?:\.\d+)?(?:hh?|ll?|[Lzjt])?"
    "[diouxXeEfFgGcsp@]"
)
ATTRIBUTE = r"""\s+[\w:.@-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))?"""

# No expression takes more than linear time, whatever the text: each can begin at few characters.
KINDS = {
    "symbol": SYMBOL,  # as the user wrote it
    "url": re.compile(
        rf"(?<![A-Za-z])(?:(?:https?|ftp)://|(?<![\w@.])www\.)"
        rf"[^{URL_CHARACTER}]*[^{URL_CHARACTER}{CLOSING}]",
        re.IGNORECASE,
    ),
    "email": re.compile(
        r"(?<![A-Za-z0-9_.+%-])[A-Za-z0-9_.+%-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
    ),
    "tag": re.compile(
        rf"</?[A-Za-z][\w:.-]*(?:{ATTRIBUTE})*\s*/?>|<!--[^<>]*-->"
        r"|&(?:[A-Za-z]\w{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});"
    ),
    "placeholder": re.compile(
        r"\{\{[^{}\n]{0,80}\}\}|\$?\{[^{}\s]{0,80}\}|\$\{[^{}\n]{0,80}\}"
        rf"|(?<!\d){PRINTF}(?![{LETTER}])|(?<![\d%])%[A-Za-z_]\w*%"
    ),
    "code": re.compile(  # mp3, COVID-19, B2B, v1.2
        rf"(?<![{LETTER}\d])[{LETTER}]+[-]?[0-9][{LETTER}0-9]*(?:[-.:/][0-9][{LETTER}0-9]*)*"
    ),
    "number": re.compile(
        rf"(?:(?<![^\s(])[-+\u2212])?(?<![{LETTER}\d])"
        # Digits of other scripts change in translation, and are left to the network.
        r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}(?!\d)|[0-9]+(?:[.,:/'\u2019][0-9]+)*)"
    ),
}
TAG_NAME = re.compile(r"<(/?)([A-Za-z][\w:.-]*)(?![\w:.-])[^>]*?(/?)>")
VOID_ELEMENTS = {"br", "hr", "img", "input", "wbr", "area", "base", "col", "embed", "link", "meta"}
ATTACHED_SYMBOL = re.compile(r"(?<=\S)⟦([0-9])⟧")
WORD_END = re.compile(rf"[{LETTER}\d.,;:!?)\]}}>%]")  # after which a symbol needs a space
SIGNS_OF_SPANS = re.compile(r"[\d⟦<@%{&]|://|www\.", re.IGNORECASE)  # no span is without one


class Span(NamedTuple):
    """A part of a text that must not change."""

    start: int
    end: int
    kind: str  # of KINDS; or "pattern", "term", "language"
    original: str  # what the translation is to hold for it: of a term, the term's translation


class Protected(NamedTuple):
    """A text with symbols, and what they stand for."""

    text: str
    originals: list[str]  # in the order of the symbols


class Restored(NamedTuple):
    """A translation with the originals in place of symbols."""

    text: str
    missing: list[str]  # originals whose symbol the translation lacks
    surplus: int  # symbols that stood for nothing, and were removed


# ---- Spans and symbols ----


class Protector:
    """Replaces the spans of texts with symbols.

    Args:
      patterns: regular expressions of further spans.
      glossary: terms, which stay in a text.
      words: those of the vocabulary that are never split (--symbols); language tags among them are
        no spans.

    Raises:
      UserError: a pattern is not a regular expression.
    """

    def __init__(
        self,
        patterns: Iterable[str] = (),
        glossary: Glossary | None = None,
        words: Iterable[str] = (),
    ):
        self._patterns = [compile_pattern(pattern) for pattern in patterns]
        self._glossary = glossary
        tags = [re.escape(word) for word in words if LANGUAGE_TAG.fullmatch(word)]
        self._tag = re.compile("|".join(tags) or "(?!)")

    @property
    def expressions(self) -> list[tuple[str, re.Pattern]]:
        """Kinds with their regular expressions, in the order of `spans`; without the glossary."""
        patterns = [("pattern", pattern) for pattern in self._patterns]
        return [*patterns, ("language", self._tag), *KINDS.items()]

    def spans(self, text: str) -> list[Span]:
        """Returns the spans of a text, in order; of overlapping ones, the first or longest."""
        spans = self._glossary.spans(text) if self._glossary else []
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
        return [span for span in apart if span.kind != "language"]

    def terms(self, text: str) -> list[Span]:
        """Returns the terms of the glossary in a text, in order."""
        if not self._glossary:
            return []
        return [span for span in self.spans(text) if span.kind == "term"]

    def _fixed_spans(self, text: str) -> list[Span]:
        """Returns the spans of a text that symbols stand for: all but terms."""
        return [span for span in self.spans(text) if span.kind != "term"]

    def protect(self, text: str) -> Protected:
        """Returns a text with symbols in place of its spans other than terms."""
        spans = self._fixed_spans(text)
        symbols = [SYMBOLS[number % len(SYMBOLS)] for number in range(len(spans))]
        return Protected(replace(text, spans, symbols), [span.original for span in spans])

    def protect_prefix(self, prefix: str, originals: list[str]) -> Protected:
        """Returns what a translation begins with, with the symbols of the source's spans in it.

        Args:
          prefix: of the translation.
          originals: those of the Protected source. In the result, symbols that the user wrote into
            the prefix follow them.
        """
        waiting = collections.defaultdict(collections.deque)  # by original: its numbers
        for number, original in enumerate(originals):
            waiting[original].append(number)
        spans, chosen, originals = self._fixed_spans(prefix), [], list(originals)
        used = collections.Counter()  # by symbol: how many of its originals, which come in order
        for span in spans:
            numbers = waiting[span.original]
            uses, symbol = divmod(numbers[0], len(SYMBOLS)) if numbers else (None, None)
            if numbers and used[symbol] == uses:
                numbers.popleft()
                used[symbol] += 1
                chosen.append(SYMBOLS[symbol])
            elif span.kind == "symbol":
                chosen.append(SYMBOLS[len(originals) % len(SYMBOLS)])
                originals.append(span.original)
            else:
                chosen.append(None)
        return Protected(replace(prefix, spans, chosen), originals)

    def protect_pair(self, source: str, target: str, first: int = 0) -> tuple[str, str]:
        """Returns both sides of a pair with symbols in place of the spans that both hold.

        Args:
          source, target: of the pair.
          first: the number of the first symbol.
        """
        source_spans = self._fixed_spans(source)
        target_spans = self._fixed_spans(target) if source_spans else []
        if not target_spans:
            return source, target
        unmatched = collections.defaultdict(collections.deque)  # target spans by original
        for number, span in enumerate(target_spans):
            unmatched[span.original].append(number)
        source_symbols, target_symbols = [None] * len(source_spans), [None] * len(target_spans)
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


def compile_pattern(pattern: str) -> re.Pattern:
    """Returns a compiled pattern of --protect; a UserError if it is not a regular expression."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UserError(f"--protect {pattern}: is not a regular expression ({error})") from None


def _matches(kind: str, pattern: re.Pattern, text: str) -> list[Span]:
    """Returns the matches of a pattern as Spans of a kind."""
    return [Span(*match.span(), kind, match[0]) for match in pattern.finditer(text) if match[0]]


def replace(text: str, spans: list[Span], symbols: Iterable[str | None]) -> str:
    """Returns a text with `symbols` in place of its spans; a span without a symbol stays."""
    parts, end = [], 0
    for span, symbol in zip(spans, symbols, strict=True):
        if symbol is not None:
            parts += text[end : span.start], symbol
            end = span.end
    return "".join([*parts, text[end:]])


def restore(text: str, source: Protected) -> Restored:
    """Returns a text with originals in place of its symbols.

    Symbols of the same number, which stand for several spans of a long text, take their originals
    in order. A symbol that stands for nothing is removed. Tags that would not be nested as in the
    source take the places of tags in its order. A symbol other than a tag that follows a space in
    the source, but a word, a sentence or another symbol in the translation, gets a space before it:
    a search that has to put in what is missing puts it right after the last token.

    Args:
      text: a translation with symbols.
      source: the Protected source.
    """
    originals = source.originals
    waiting = [
        collections.deque(originals[number :: len(SYMBOLS)]) for number in range(len(SYMBOLS))
    ]
    parts = SYMBOL.split(text)  # text, number of a symbol, text, ...
    texts, numbers = parts[::2], parts[1::2]
    restored, surplus = [], 0
    for number in map(int, numbers):
        surplus += not waiting[number]
        restored.append(waiting[number].popleft() if waiting[number] else "")
    missing = [original for queue in waiting for original in queue]
    restored = _nest_tags(restored, originals)
    apart = set(SYMBOL.findall(source.text)) - set(ATTACHED_SYMBOL.findall(source.text))
    pieces, last = [texts[0]], texts[0][-1:]  # the last character so far
    for number, original, following in zip(numbers, restored, texts[1:], strict=True):
        if number in apart and original and WORD_END.match(last) and not TAG_NAME.match(original):
            pieces.append(" ")
        pieces += original, following
        last = (original + following)[-1:] or last
    return Restored("".join(pieces), missing, surplus)


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
        is_end, name, is_empty = TAG_NAME.match(tag).groups()
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
