"""Plain text: paragraphs, whose lines are joined if they are hard-wrapped, and wrapped again."""

import itertools
import re
import textwrap

from nmt.documents.document import (
    FormatOptions,
    Segment,
    Span,
    TextDocument,
    beginning,
    decode,
)
from nmt.documents.nodes import Node, Text, plain_text
from nmt.text.protected import has_words

PAGE_ENDS = "\f\v\x1c-\x1e\x85\u2028\u2029"  # other signs that end a line, and a paragraph
LINE = re.compile(rf"([^\r\n{PAGE_ENDS}]*)(\r\n|[\r\n{PAGE_ENDS}]|\Z)")
# What may begin a line before its words: spaces, quotation marks of e-mail, a bullet or number.
PREFIX = re.compile(r"[\s>]*(?:(?:[-*+•–]|\d{1,3}[.)])[ \t]+)?")
BULLET = re.compile(r"[\s>]*(?:[-*+•–]|\d{1,3}[.)])[ \t]")
SENTENCE_END = re.compile(r"[.!?…:;。！？][\"'”’»)\]]*\s*$")
URL_LINE = re.compile(r"(?:\[\w+\][ \t]+)?<?\w+://\S+")  # also as a note: [1] https://a.org
WIDTHS = range(40, 133)  # of hard-wrapped text, in characters
SLACK = 12  # characters that a full line may be shorter than the width
FULL_SHARE = 0.8  # of the lines of a hard-wrapped paragraph, but for the last


class Line:
    """A line of a text: what begins it, its words, and where they are."""

    def __init__(self, match: re.Match[str]):
        self.prefix = beginning(PREFIX, match[1])
        self.text = match[1][len(self.prefix) :].rstrip()
        self.start = match.start() + len(self.prefix)
        self.end = self.start + len(self.text)
        self.length = len(self.prefix) + len(self.text)
        self.line_end = match[2]


def find_paragraphs(text: str) -> list[list[Line]]:
    """Returns the lines of each paragraph. A blank line ends one, and a bullet begins one."""
    paragraphs: list[list[Line]] = []
    lines: list[Line] = []
    for match in LINE.finditer(text):
        line = Line(match)
        if lines and (not line.text or BULLET.match(match[1])):
            paragraphs.append(lines)
            lines = []
        if line.text:
            lines.append(line)
        if lines and line.line_end not in ("\r\n", "\r", "\n"):
            paragraphs.append(lines)
            lines = []
    return [*paragraphs, lines] if lines else paragraphs


def text_width(paragraphs: list[list[Line]]) -> int:
    """Returns the length of the longest line of paragraphs of several lines.

    A URL cannot be broken, so a line that holds nothing else does not count.
    """
    lines = itertools.chain.from_iterable(lines for lines in paragraphs if len(lines) > 1)
    return max((line.length for line in lines if not URL_LINE.fullmatch(line.text)), default=0)


def is_wrapped(lines: list[Line], width: int) -> bool:
    """Returns whether the lines of a paragraph end where the next word would not fit."""
    if len(lines) < 2 or width not in WIDTHS:
        return False
    if all(SENTENCE_END.search(line.text) for line in lines):
        return False  # a sentence per line
    full = 0
    for line, following in itertools.pairwise(lines):
        full += line.length + 1 + len(following.text.split()[0]) > width - SLACK
    return full >= FULL_SHARE * (len(lines) - 1)


def wrapped_segment(lines: list[Line], width: int) -> Segment:
    """Returns the segment of a hard-wrapped paragraph."""

    def write(nodes: list[Node]) -> list[str]:
        wrapped = textwrap.wrap(
            plain_text(nodes), width, break_long_words=False, break_on_hyphens=False,
            initial_indent=" " * len(lines[0].prefix), subsequent_indent=lines[1].prefix,
        )  # fmt: skip
        return [lines[0].line_end.join(wrapped).lstrip(" ")]

    joined = " ".join(line.text for line in lines)
    return Segment([Text(joined)], [Span(lines[0].start, lines[-1].end)], write)


def line_segment(line: Line) -> Segment:
    """Returns the segment of a line that is a paragraph, or a sentence, by itself."""
    return Segment(
        [Text(line.text)], [Span(line.start, line.end)], lambda nodes: [plain_text(nodes)]
    )


def find_segments(text: str) -> list[Segment]:
    """Returns the segments of plain text."""
    paragraphs = find_paragraphs(text)
    width = text_width(paragraphs)
    segments = []
    for lines in paragraphs:
        if is_wrapped(lines, width):
            segments.append(wrapped_segment(lines, width))
        else:
            segments += map(line_segment, lines)
    return [segment for segment in segments if has_words(segment.text)]


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a text file in UTF-8."""
    decoded = decode(content)
    return TextDocument(decoded.text, find_segments(decoded.text), decoded.encode)
