"""What must not change in translation: numbers, addresses, placeholders, tags and the like.

The network does not read such a span of a text: a mark, a character of private use, stands for it,
which decoding/hidden_spans.py takes out before the search and puts into the translation after it.
`restore` puts the originals in place of marks. Numbers, which a language may write in another form,
are read, and repaired by decoding/number_repair.py.
"""

from __future__ import annotations

import copy
import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from nmt import UserError
from nmt.text import inline_codes, placeholders

FIRST_MARK, MAX_MARKS = 0xF0000, 0xFFFD  # of private use; a mark stands for a span by its number
MARK = re.compile(f"[{chr(FIRST_MARK)}-{chr(FIRST_MARK + MAX_MARKS - 1)}]")

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

# ---- Numbers ----

HEX, HOUR = "[0-9A-Fa-f]", "[0-9]{1,2}[hH][0-9]{2}(?![0-9A-Za-z])"
CODE = (
    # UUIDs, addresses of devices, time stamps; 1.0.0-rc.2, 10.0.0.1; groups: 978-3-16-148410-0.
    rf"(?<![{LETTER}\d]){HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}(?![{LETTER}\d])"
    rf"|(?<![{LETTER}\d:]){HEX}{{2}}(?:[:-]{HEX}{{2}}){{5}}(?![{LETTER}\d:])"
    r"|(?<!\d)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?(?!\d)"
    rf"|(?<![{LETTER}\d.,])[0-9]{{1,9}}(?:\.[0-9]{{1,9}}){{1,4}}[-+][A-Za-z]{{1,12}}\.?[0-9]{{1,9}}(?![{LETTER}\d])"
    rf"|(?<![{LETTER}\d.,])(?![0-9]{{1,3}}(?:\.[0-9]{{3}}){{3}}(?!\d))[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}"
    rf"(?:/[0-9]{{1,2}})?(?![{LETTER}\d])"
    rf"|(?<![{LETTER}\d.,/-])(?=[0-9./]{{1,40}}-)[0-9]{{1,15}}(?:[./-][0-9]{{1,15}}){{3,8}}(?![{LETTER}\d])"
    # 4x4, 1920x1080, 0x1F, 8a52fd9; 3D, 5G, but neither 3rd nor the number 10h30.
    rf"|(?<![{LETTER}\d.,])(?!{HOUR})[0-9]{{1,20}}[A-Za-z\u00d7]{{1,20}}[0-9][0-9A-Za-z]*+"
    rf"(?>(?:[-.:/\u00d7][0-9A-Za-z]*[0-9][0-9A-Za-z]*+)*)(?![{LETTER}])"
    rf"|(?<![{LETTER}\d.,])[0-9]{{1,4}}(?!(?:ST|ND|RD|TH)\b)[A-Z]{{1,3}}(?![{LETTER}\d])"
    # 5km, 2,5kg, 25°C, 3ª, of which the sign or the letters may be unknown.
    rf"|(?=[0-9])(?<![{LETTER}\d.,])[0-9]{{1,9}}(?:[.,][0-9]{{1,9}})?"
    rf"(?:km/h|[kcm]?m[\u00b2\u00b32]?|[km]?g|[mc]?[lL]|kWh?|[kMG]B|\u00b0[CF]?|[\u00aa\u00ba])(?![{LETTER}\d])"
    # An IBAN in groups; telephone numbers; mp3, COVID-19, B2B, v1.2.
    rf"|(?<![{LETTER}\d])[A-Z]{{2}}[0-9]{{2}}[{SPACE}]?[A-Z0-9]{{4}}(?:[{SPACE}]?[0-9][0-9A-Z]{{3}}){{2,6}}"
    rf"(?:[{SPACE}][0-9][0-9A-Z]{{0,2}})?(?![{LETTER}\d])"
    rf"|(?<![{LETTER}\d+])\+[1-9][0-9]{{0,2}}(?:[{SPACE}./()-]{{1,2}}[0-9]{{1,9}}){{1,6}}(?!\d)"
    rf"|(?<![{LETTER}\d+])\+[1-9][0-9]{{6,14}}(?!\d)"
    rf"|(?<![{LETTER}\d])\(0?[0-9]{{2,5}}\)[{SPACE}]?[0-9]{{2,9}}(?:[{SPACE}./-][0-9]{{2,9}}){{0,4}}(?!\d)"
    rf"|(?<![{LETTER}\d.,:/-])0[0-9]{{1,4}}(?:[{SPACE}][0-9]{{2,9}}){{1,5}}(?!\d)"
    rf"|(?<![{LETTER}\d.,:/-])0[0-9]{{2,4}}[/-][0-9]{{4,9}}(?!\d)"
    rf"|(?<![{LETTER}\d.,:/-])[0-9]{{3}}-(?:[0-9]{{3}}-)?[0-9]{{4}}(?![{LETTER}\d-])"
    rf"|(?<![{LETTER}\d])[{LETTER}]++[-]?[0-9][{LETTER}0-9]*+(?>(?:[-.:/][0-9][{LETTER}0-9]*+)*)"
)
# Single quotes around words: 'Don't go', ‘yes’, ‚ja‘.
QUOTED = re.compile(
    "(?<![\\w'\u2019])(['\u2018\u201a\u2039])(?=\\S)"
    "(?:[^'\u2018\u2019\u201a\u2039\u203a]|(?<=\\w)['\u2019](?=\\w)){1,300}(?<=\\S)"
    "(['\u2018\u2019\u203a])(?!\\w)"
)
NOTHING = re.compile("(?!)")
QUANTITY_SIGNS = "$\u20ac\u00a3\u00a5\u20b9\u20bd%\u2030"  # beside a number
# Digits of other scripts change in translation, and are left to the network.
START_OF_NUMBER = rf"(?:(?<![^\s(])[-+\u2212])?(?<![{LETTER}\d])"
AMOUNT = (  # 2024-05-06, 150 000, 1,234.50, 12:30
    rf"{START_OF_NUMBER}(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?!\d)"
    rf"|[0-9]{{1,3}}(?>(?:[{SPACE}][0-9]{{3}})+)(?!\d)(?:[.,][0-9]++)?"
    rf"|{HOUR}|[0-9]++(?>(?:[.,:/'\u2019][0-9]++)+))"
)


@functools.cache  # compiled for the first text that may hold one: it takes 10 ms
def kinds() -> dict[str, re.Pattern[str]]:
    """Returns what finds the spans of each kind, in the order of precedence.

    Each takes linear time: a match can begin at few characters, or is short, or gives nothing back.
    """
    return {
        "mark": MARK,  # as the user wrote it
        "url": re.compile(URL, re.IGNORECASE),
        "email": re.compile(EMAIL),
        "tag": re.compile(inline_codes.TAG),
        "markup": re.compile(inline_codes.MARKDOWN),
        "placeholder": re.compile(placeholders.PLACEHOLDER),
        "handle": re.compile(HANDLE),
        "path": re.compile(PATH),
        "code": re.compile(CODE),
        "amount": re.compile(AMOUNT),  # a number with separators
        "number": re.compile(rf"{START_OF_NUMBER}[0-9]{{3,}}+"),
        "count": re.compile(rf"{START_OF_NUMBER}[0-9]{{1,2}}(?!\d)"),  # "two" in some languages
    }


NUMBER_KINDS = ("amount", "number", "count")  # which a language may write in another form
NOT_A_DIGIT = re.compile(r"\D+")
# No span is without one.
SIGNS_OF_SPANS = re.compile(
    rf"[\d<@%{{&#$\\/*_~`\[|]|{MARK.pattern}|www\.|:[a-z+_-]|\.[A-Za-z]", re.IGNORECASE
)


class Span(NamedTuple):
    """A part of a text that must not change."""

    start: int
    end: int
    kind: str  # of `kinds`; or "pattern", "term", "language", "sign"
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
    """A text with marks, and what they stand for."""

    text: str
    hidden: list[str]  # in the order of the marks


# ---- Spans and marks ----


class Terms(Protocol):
    """What finds terms in a text: a glossary.Glossary."""

    def spans(self, text: str) -> list[Span]:
        """Returns the terms as Spans, whose originals are their translations."""

    def with_terms(self, terms: dict[str, str], languages: Sequence[str]) -> Terms:
        """Returns these and further terms; see glossary.Glossary."""


class Protector:
    """Finds the spans of texts, and replaces them with marks.

    Args:
      words: those of the vocabulary that are never split (--symbols); language tags among them are
        no spans.
      characters: those of the vocabulary; signs and emoji that are none of them are spans. None if
        all are read.

    Raises:
      UserError: a pattern is not a regular expression.
    """

    def __init__(
        self,
        patterns: Iterable[str] = (),
        glossary: Terms | None = None,
        words: Iterable[str] = (),
        characters: Collection[str] | None = None,
    ):
        self._patterns = [compile_pattern(pattern) for pattern in patterns]
        self.glossary = glossary
        tags = [re.escape(word) for word in words if LANGUAGE_TAG.fullmatch(word)]
        self._tag = re.compile("|".join(tags) or "(?!)")
        read = "".join(characters or ())
        self._signs = re.compile(rf"[^\w\s{re.escape(read)}]+") if read else NOTHING
        # Where the vocabulary has no ", its network has learned ' as an apostrophe alone.
        self._quoted = QUOTED if read and '"' not in read else NOTHING
        unread = "".join(sign for sign in QUANTITY_SIGNS if read and sign not in read) or "\0"
        number = r"[0-9]{1,15}(?:[.,][0-9]{1,15}){0,5}"
        self._quantities = re.compile(  # R$ 25,90; 10%
            rf"(?=[A-Z{unread}])(?<![{LETTER}\d])[A-Z]{{0,3}}[{unread}][{SPACE}]?{number}"
            rf"|(?=[0-9])(?<![{LETTER}\d.,]){number}[{SPACE}]?[{unread}]"
        )

    def with_glossary(self, glossary: Terms) -> Protector:
        """Returns this Protector with another glossary."""
        other = copy.copy(self)
        other.glossary = glossary
        return other

    def may_hold_spans(self, text: str) -> bool:
        """Returns whether a text may hold a span, or a number of any script.

        Most texts show at once that they do not.
        """
        return bool(
            self.glossary
            or self._patterns
            or SIGNS_OF_SPANS.search(text)
            or self._signs.search(text)
            or self._quoted.search(text)
        )

    def spans(self, text: str) -> list[Span]:
        """Returns the spans of a text, in order; of overlapping ones, the first or longest."""
        if not self.may_hold_spans(text):
            return []
        spans = self.glossary.spans(text) if self.glossary else []
        for pattern in self._patterns:
            spans += _matches("pattern", pattern, text)
        if SIGNS_OF_SPANS.search(text):
            spans += _matches("sign", self._quantities, text)
            spans += _matches("language", self._tag, text)
            for kind, pattern in kinds().items():
                spans += _matches(kind, pattern, text)
        spans.sort(key=lambda span: (span.start, -span.end))  # stable: patterns before kinds
        apart, end = [], 0
        for span in spans:
            if span.start >= end:
                apart.append(span)
                end = span.end
        between = replace(text, apart, [" " * (span.end - span.start) for span in apart])
        signs = [sign for sign in _matches("sign", self._signs, between) if _is_sign(sign.original)]
        for quoted in self._quoted.finditer(between):
            signs += [Span(*quoted.span(side), "sign", quoted[side]) for side in (1, 2)]
        if signs:
            apart = sorted([*apart, *signs], key=lambda span: span.start)
        return [span for span in apart if span.kind != "language"]

    def terms(self, text: str) -> list[Span]:
        """Returns the terms of the glossary in a text, in order."""
        if not self.glossary:
            return []
        return [span for span in self.spans(text) if span.kind == "term"]

    def hide(self, text: str, numbers: Collection[str] = ()) -> Protected:
        """Returns a text with marks in place of all spans but terms and numbers.

        Args:
          numbers: those that a mark is to stand for, too.
        """
        spans = [
            span
            for span in self.spans(text)
            if span.kind != "term" and (not span.is_number or span.original in numbers)
        ]
        return hide_spans(text, spans)

    def numbers(self, text: str) -> list[Span]:
        """Returns the numbers of a text."""
        return [span for span in self.spans(text) if span.is_number]


def hide_spans(text: str, spans: Sequence[Span]) -> Protected:
    """Returns a text with marks in place of spans."""
    spans = list(spans[:MAX_MARKS])
    marks = [chr(FIRST_MARK + number) for number in range(len(spans))]
    return Protected(replace(text, spans, marks), [span.original for span in spans])


def hide_marks(text: str) -> Protected:
    """Returns a text of whose spans only marks are hidden."""
    return hide_spans(text, _matches("mark", MARK, text))


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Returns a compiled pattern of --protect; a UserError if it is not a regular expression."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UserError(f"--protect {pattern}: is not a regular expression ({error})") from None


def _matches(kind: str, pattern: re.Pattern[str], text: str) -> list[Span]:
    return [Span(*match.span(), kind, match[0]) for match in pattern.finditer(text) if match[0]]


def _is_sign(text: str) -> bool:
    """Returns whether a text begins with a symbol or punctuation: not with an accent."""
    is_damage = text[0] == "\ufffd"  # of bytes that are no text
    return unicodedata.category(text[0])[0] in "SP" and not is_damage


def replace(text: str, spans: list[Span], replacements: Iterable[str]) -> str:
    """Returns a text with a replacement for each of its spans."""
    parts: list[str] = []
    end = 0
    for span, replacement in zip(spans, replacements, strict=True):
        parts += text[end : span.start], replacement
        end = span.end
    return "".join([*parts, text[end:]])


def restore(text: str, source: Protected) -> str:
    """Returns a text with originals in place of its marks.

    A mark that stands for nothing is removed. Tags that would not be nested as in the source take
    the places of tags in its order.
    """
    marks = MARK.findall(text)
    if not marks:
        return text
    waiting = {chr(FIRST_MARK + number): hidden for number, hidden in enumerate(source.hidden)}
    restored = inline_codes.nest([waiting.pop(mark, "") for mark in marks], source.hidden)
    originals = iter(restored)
    return MARK.sub(lambda _: next(originals), text)


DEFAULT = Protector()  # of what every text may hold


def has_words(text: str) -> bool:
    """Whether a text has letters outside of what must not change, such as URLs and placeholders."""
    if not any(map(str.isalpha, text)):
        return False
    spans = DEFAULT.spans(text)
    return any(map(str.isalpha, replace(text, spans, [" "] * len(spans))))
