"""Messages of programs, gettext's .po: what has no translation yet gets one.

Comments, contexts, the header and finished translations stay byte for byte. A translation is marked
for review, as gettext's own tools mark what no person has written: with the flag "fuzzy".
"""

from __future__ import annotations

import dataclasses
import gettext
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from nmt import UserError
from nmt.documents import accelerators
from nmt.documents.document import (
    FormatOptions,
    Left,
    Review,
    Segment,
    Span,
    TextDocument,
    decode,
    line_number,
)
from nmt.documents.icu_messages import IcuError
from nmt.documents.nodes import Node, Text
from nmt.documents.program_messages import ALREADY_TRANSLATED, NOT_UNDERSTOOD, Message, syntax_of
from nmt.text.placeholders import find_placeholders

CHARSET = re.compile(rb"Content-Type:[^\n]{0,100}charset=([\w.:-]+)")
LITERAL = r'"(?>(?:[^"\\\r\n]|\\[^\r\n])*)"'
QUOTED = re.compile(f'"({LITERAL[1:-1]})"')
ITEM = re.compile(  # a comment, a field, or a blank line
    r"(?<![ \t])[ \t]*+(?:(?P<comment>#[^\r\n]*+)"
    r"|(?P<keyword>domain|msgctxt|msgid_plural|msgid|msgstr)"
    r"(?:\s*+\[\s*+(?P<number>\d{1,3})\s*+\])?"
    rf"\s*+(?P<literals>{LITERAL}(?>(?:\s*+{LITERAL})*))"
    r"|)[ \t]*+(?:\r\n|\n|\r|\Z)"
)
# Codes of bytes that follow each other are one character or several.
ESCAPE = re.compile(r"(?>(?:\\x[0-9A-Fa-f]{1,2}|\\[0-7]{1,3})+)|\\.")
BYTE = re.compile(r"\\(x?)([0-9A-Fa-f]+)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
PLURAL_FORMS = re.compile(r"^Plural-Forms:\s*nplurals\s*=\s*(\d)\s*;\s*plural\s*=([^;\n]*)", re.M)
NUMBERS = range(1001)  # by which msgfmt, too, judges a form
RARE = 5  # numbers, for which a form may lack the number itself: msgfmt's limit

COMMENT = "# machine translation"
FUZZY = "marked as fuzzy"


class Target(NamedTuple):
    """A form of the translation."""

    text: str
    span: Span  # of its quoted strings


@dataclasses.dataclass
class Entry:
    """A message of the file, with what belongs to it."""

    start: int  # of its first keyword
    has_context: bool = False
    source: str = ""
    plural: str = ""
    flags: list[str] = dataclasses.field(default_factory=list)
    flag_line: Span | None = None  # the first one, with its line end
    line_flags: list[str] = dataclasses.field(default_factory=list)  # those in it
    targets: dict[int, Target] = dataclasses.field(default_factory=dict)  # by number

    @property
    def is_header(self) -> bool:
        """Whether it describes the file."""
        return not self.source and not self.has_context


# ---- Reading ----


def read_literals(text: str, span: Span, encoding: str) -> str:
    """Returns what the quoted strings in a span of a file's text say, one after the other.

    Raises:
      UserError: an escape sequence is unknown.
    """
    parts = []
    for literal in QUOTED.finditer(text, *span):
        try:
            parts.append(ESCAPE.sub(lambda match: unescaped(match[0], encoding), literal[1]))
        except ValueError as error:
            raise UserError(f"line {line_number(text, literal.start())}: {error}") from None
    return "".join(parts)


def unescaped(escape: str, encoding: str) -> str:
    """Returns what an escape sequence stands for; a ValueError if it is none of gettext's."""
    code = escape[1:]
    if code in ESCAPES or code in '"\\':
        return ESCAPES.get(code, code)
    numbers = [int(digits, 16 if x else 8) for x, digits in BYTE.findall(escape)]
    if not numbers:
        raise ValueError(rf"{escape} is no escape sequence; write \\ for a backslash")
    try:
        return bytes(numbers).decode(encoding)
    except (ValueError, UnicodeError):
        raise ValueError(f"{escape} is no text in {encoding}; correct it") from None


class EntryReader:
    """Reads the entries of a file, the header included.

    Args:
      text: of the file.
      encoding: in which the codes of bytes are meant: "\\xc3\\xa9".

    Raises:
      UserError: the file is not understood.
    """

    def __init__(self, text: str, encoding: str):
        self.entries: list[Entry] = []
        self._encoding = encoding
        self._next = Entry(start=0)  # which collects the flags of the entry to come
        position = 0
        while position < len(text):
            item = ITEM.match(text, position)
            if not item:
                break
            self._read(item)
            position = item.end()
        if text.strip() and not any(entry.targets for entry in self.entries):
            raise UserError('holds no message: msgid "..." and msgstr "..."; correct it')
        if position < len(text):
            line = line_number(text, position)
            raise UserError(f"line {line}: is neither a message nor a comment; correct it")

    def _read(self, item: re.Match[str]) -> None:
        """Adds an item to the entry that it belongs to."""
        comment, keyword = item["comment"], item["keyword"]
        if comment:
            flags = [flag for part in comment[2:].split(",") if (flag := part.strip())]
            if comment.startswith("#,") and not self._next.flag_line:
                self._next.flag_line, self._next.line_flags = Span(*item.span()), flags
            if comment.startswith(("#,", "#=")):  # gettext 1.0 writes formats behind "#="
                self._next.flags += flags
        elif keyword and keyword != "domain":
            if keyword in ("msgctxt", "msgid") and (not self.entries or self.entries[-1].targets):
                self._next.start = item.start()
                self.entries.append(self._next)
                self._next = Entry(start=0)
            if self.entries:
                self._add_field(item)

    def _add_field(self, item: re.Match[str]) -> None:
        """Adds a field to the last entry."""
        entry, keyword = self.entries[-1], item["keyword"]
        literals = Span(*item.span("literals"))
        text = read_literals(item.string, literals, self._encoding)
        if keyword == "msgctxt":
            entry.has_context = True
        elif keyword == "msgid":
            entry.source = text
        elif keyword == "msgid_plural":
            entry.plural = text
        else:
            entry.targets[int(item["number"] or 0)] = Target(text, literals)


# ---- Plurals ----


class PluralForms:
    """Which text of a message each form of a language translates.

    Args:
      header: of the file.
    """

    def __init__(self, header: str):
        self.count = 0  # of forms; 0 if the header does not say
        self._uses: Counter[int] | None = None  # numbers, by form
        self._singular = 0  # the form of 1
        declared = PLURAL_FORMS.search(header)
        if declared:
            try:
                form_of = gettext.c2py(declared[2])
                self._uses, self._singular = Counter(map(form_of, NUMBERS)), form_of(1)
                self.count = int(declared[1])
            except (ValueError, ArithmeticError, RecursionError):
                self._uses = None  # as in templates: "plural=EXPRESSION;"

    def source(self, entry: Entry, form: int, expressions: list[re.Pattern[str]]) -> str:
        """Returns the text that a form translates, the singular or the plural.

        A form that is used for many numbers, such as Russian 1, 21, 31, ..., says the number: if
        the singular does not, the plural is translated.

        Args:
          entry: of the file.
          form: its number.
          expressions: of the placeholders.
        """
        if not entry.plural:
            return entry.source
        if not self._uses:  # one form is for any number
            is_plural = bool(form) or len(entry.targets) == 1
        elif form != self._singular:
            is_plural = True
        else:
            lost = _placeholders(entry.plural, expressions) - _placeholders(
                entry.source, expressions
            )
            is_plural = self._uses[form] >= RARE and bool(lost)
        return entry.plural if is_plural else entry.source


def _placeholders(text: str, expressions: list[re.Pattern[str]]) -> Counter[str]:
    """Returns how often each placeholder is in a text."""
    return Counter(placeholder.text for placeholder in find_placeholders(text, expressions))


# ---- Writing ----


def write_literals(text: str, line_end: str) -> str:
    """Returns a text as quoted strings, a line each if it has several."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    strings = ['"' + escape(line) + '"' for line in lines]
    return line_end.join(['""', *strings] if len(strings) > 1 else strings or ['""'])


def escape(text: str) -> str:
    """Returns a text as it stands in a quoted string."""
    text = text.replace("\\", r"\\").replace('"', r"\"")
    for name, character in ESCAPES.items():
        text = text.replace(character, "\\" + name)
    return text


class EntryTranslator:
    """Finds the segments of entries, and what stays.

    Args:
      text: of the file.
      entries: of the file.
      mark: how a translation is marked; one of MARKS.
      fuzzy: whether entries that are marked as fuzzy are translated anew.
    """

    def __init__(self, text: str, entries: list[Entry], mark: str, fuzzy: bool):
        self.segments: list[Segment] = []
        self.left: list[Left] = []
        self._mark, self._fuzzy = mark, fuzzy
        self._line_end = "\r\n" if "\r\n" in text else "\n"
        header = next((entry for entry in entries if entry.is_header), Entry(0))
        description = header.targets.get(0, Target("", Span(0, 0))).text
        self._forms = PluralForms(description)
        messages = [entry for entry in entries if not entry.is_header]
        self._marks = accelerators.find_marks((entry.source for entry in messages), description)
        for entry in messages:
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        """Adds the segments of an entry, or what is left of it."""
        texts = [target.text for target in entry.targets.values()]
        is_fuzzy = any(texts) and "fuzzy" in entry.flags
        if is_fuzzy and not self._fuzzy:
            self.left.append(Left(FUZZY, entry.start, is_expected=True))
        elif texts and all(texts) and not is_fuzzy:
            self.left.append(Left(ALREADY_TRANSLATED, entry.start, is_expected=True))
        elif entry.targets:
            try:
                review = Review(self._mark == "review")
                segments = [
                    segment
                    for form, span, is_new in self._open_forms(entry, is_fuzzy)
                    for segment in self._form_segments(entry, form, span, is_new, review)
                ]
            except IcuError:
                self.left.append(Left(NOT_UNDERSTOOD, entry.start))
            else:
                self.segments += segments

    def _open_forms(self, entry: Entry, is_fuzzy: bool) -> Iterator[tuple[int, Span, bool]]:
        """Yields the forms of an entry without a translation: number, span, and whether it lacks.

        Forms that the header counts, but the entry lacks, follow the last one.
        """
        for form, target in entry.targets.items():
            if is_fuzzy or not target.text:
                yield form, target.span, False
        end = max(target.span.end for target in entry.targets.values())
        for form in range(len(entry.targets), self._forms.count) if entry.plural else ():
            yield form, Span(end, end), True

    def _form_segments(
        self, entry: Entry, form: int, span: Span, is_new: bool, review: Review
    ) -> list[Segment]:
        """Returns the segments of a form of an entry; see `_open_forms`."""
        syntax = syntax_of(entry.flags, entry.source)
        source = self._forms.source(entry, form, syntax.expressions)
        keyword = f"{self._line_end}msgstr[{form}] " if is_new else ""
        mark_span = entry.flag_line or Span(entry.start, entry.start)

        def finish(translation: str) -> list[str]:
            literals = write_literals(translation, self._line_end)
            return [keyword + literals, self._written_mark(entry, review)]

        nodes: list[Node] = [Text(source)]
        message = Message(nodes, syntax._replace(marks=self._marks), str, finish)
        return message.segments([span, mark_span], review=review)

    def _written_mark(self, entry: Entry, review: Review) -> str:
        """Returns the line of flags of a translated entry, and the comment before it."""
        flags = [flag for flag in entry.line_flags if flag != "fuzzy"]
        flags = ["fuzzy", *flags] if review.is_asked else flags
        line = f"#, {', '.join(flags)}{self._line_end}" if flags else ""
        comment = f"{COMMENT}{self._line_end}" if self._mark == "comment" else ""
        return comment + line


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a .po file, in the encoding of its header.

    Args:
      content: of the file.
      ending: of its name.
      options: of which `mark` and `fuzzy` count.

    Raises:
      UserError: it cannot be read.
    """
    charset = CHARSET.search(content)
    declared = charset[1].decode() if charset and charset[1] != b"CHARSET" else None
    decoded = decode(content, declared)
    entries = EntryReader(decoded.text, decoded.encoding).entries
    parts = EntryTranslator(decoded.text, entries, options.mark, options.fuzzy)
    return TextDocument(decoded.text, parts.segments, decoded.encode, parts.left)
