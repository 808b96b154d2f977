"""Subtitles, SubRip (.srt) and WebVTT (.vtt): numbers, times and settings stay as they are.

A sentence that is spread over several cues is translated once, and divided among them by length.
Libraries for subtitles write files again from what they understood of them; here, only the lines of
text are replaced.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from nmt import UserError
from nmt.documents.document import (
    FormatOptions,
    Left,
    Segment,
    Span,
    TextDocument,
    beginning,
    decode,
    line_number,
)
from nmt.documents.html_pages import PageTokens
from nmt.documents.markup import MARKUP, Syntax, Token, pair_tags, same_line, tree
from nmt.documents.nodes import (
    Element,
    Node,
    Text,
    cut_nodes,
    plain_text,
    render,
    replace_character,
)
from nmt.text.protected import has_words

LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
# As players read them: without milliseconds, with long fractions, with spaces, 00:00:07:000.
CLOCK = r"(\d{1,9}+(?>(?:[ ]?[:.,][ ]?\d{0,60}+){1,6}))"
TIMES = re.compile(rf"\s*+{CLOCK}\s*+-->\s*+{CLOCK}(?:\s|$)")
UNREADABLE_TIMES = re.compile(r"\s*+[-+]?\d++[ ]?[:.,].*?(?:->|[\u2013\u2014]>|\u2192)")
EXAMPLE = "00:00:01,000 --> 00:00:02,000"
MISREAD = "with times that are not understood"
BEHIND_BLANK_LINE = "behind a blank line within a cue"  # where WebVTT ends it
BEFORE_CUES = "before the first cue"
WEBVTT_BLOCK = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|$)")
SPEAKER = r"^(?:>>\s*)?(?:[^\W\d_a-z]{2,20}[ .-]?){1,3}:(?=\s)|^>>(?=\s)"  # ANA:, >>
OVERRIDE = re.compile(  # {\an8} of SubRip, <00:01.000> of WebVTT
    rf"\{{\\[^{{}}]*\}}|<\d[\d:.]*>|{SPEAKER}", re.MULTILINE
)
NEW_SPEAKER = re.compile(r"(?:<[^>]*>|\{\\[^}]*\})*\s*[-–—‐]|<v[ .]")
SOUND = re.compile(r"(?>(?:<[^<>]*+>|\{\\[^{}]*+\}|\s)*)[\[(][^\[\]()]*+[\])](?>(?:<[^<>]*+>|\s)*)")
SENTENCE_END = re.compile(r"[.!?…。！？♪][\"'”’»)\]♪]*\s*$")
MAX_PAUSE = 3.0  # seconds between two cues of a sentence
MAX_CUES = 6  # of a sentence
PUNCTUATED_SHARE = 0.3  # of the cues of a file, to trust in full stops
DASH = re.compile(r"\s*[-–—‐]\s*")
DIGITS = re.compile(r"\d*")
CUT_BONUS = 5  # characters that a cut may be farther away if it is behind a comma


class Piece(NamedTuple):
    """Lines of a cue that one person says."""

    span: Span  # in the file
    line_count: int
    start: float  # of the cue, in seconds
    end: float
    continues: bool  # it can continue a sentence of the cue before it
    is_last: bool  # of its cue, or of what is before a blank line


SYNTAXES = {".srt": Syntax(str, str, same_line), ".vtt": MARKUP}


def seconds(clock: str) -> float:
    """Returns a time in seconds: hours, minutes, seconds, a fraction, as far as they are given."""
    whole, *fractions = re.split("[.,]", clock, maxsplit=1)
    numbers = re.findall(r"\d+", whole)
    fractions += numbers[3:]  # of 00:00:07:000
    fraction = beginning(DIGITS, fractions[0].strip()) if fractions else ""
    time = 0.0
    for number in numbers[:3]:
        time = time * 60 + int(number)
    return time + float(f"0.{fraction or 0}")


class Cues:
    """The cues of a file; `left` is what is not understood.

    A cue of .srt ends before the number of the next one, since players show what is behind a blank
    line; one of .vtt ends at a blank line.
    """

    def __init__(self, text: str, ending: str):
        self._lines = list(LINE.finditer(text))
        self._has_blank_lines = ending == ".srt"
        self._starts = {  # what begins a cue; None for times that cannot be read
            number: TIMES.match(line[1])
            for number, line in enumerate(self._lines)
            if TIMES.match(line[1]) or UNREADABLE_TIMES.match(line[1])
        }
        self.left: list[Left] = []

    @property
    def has_times(self) -> bool:
        """Whether there are times that can be read."""
        return any(self._starts.values())

    def pieces(self) -> list[Piece]:
        """Returns the pieces of all cues."""
        pieces: list[Piece] = []
        first_cue = self._text_end(0, min(self._starts, default=0))
        self._note_text(0, first_cue, BEFORE_CUES)
        for number, following in itertools.pairwise([*self._starts, len(self._lines)]):
            times, first = self._starts[number], number + 1
            last = self._text_end(first, following)
            while first < last and self._is_blank(first) and self._has_blank_lines:
                first += 1
            blank = next(filter(self._is_blank, range(first, last)), last)
            if times is None:
                self.left.append(Left(MISREAD, self._lines[number].start()))
            elif self._has_blank_lines:
                pieces += cue_pieces(self._lines[first:last], times)
            else:
                pieces += cue_pieces(self._lines[first:blank], times)
                self._note_text(blank, last, BEHIND_BLANK_LINE)
        return pieces

    def _is_blank(self, number: int) -> bool:
        """Returns whether a line is empty; in SubRip, whether it holds nothing but spaces."""
        line = self._lines[number][1]
        return not (line.strip() if self._has_blank_lines else line)

    def _text_end(self, first: int, following: int) -> int:
        """Returns the number of the line after a cue's text; the next times are at `following`."""
        last = following
        if first < last < len(self._lines):
            is_number = self._lines[last - 1][1].strip().isdigit()
            is_behind_blank = last - 1 == 0 or (last - 2 >= first and self._is_blank(last - 2))
            is_name = not self._has_blank_lines and is_behind_blank  # any text, in WebVTT
            last -= is_number or is_name
        while last > first and self._is_blank(last - 1):
            last -= 1
        return last

    def _note_text(self, first: int, last: int, reason: str) -> None:
        """Adds to `left` what lines hold, but for comments and styles, a block each."""
        for number in range(first, last):
            line = self._lines[number]
            begins_block = number == first or self._is_blank(number - 1)
            if begins_block and has_words(line[1]) and not WEBVTT_BLOCK.match(line[1]):
                self.left.append(Left(reason, line.start()))


def cue_pieces(lines: list[re.Match[str]], times: re.Match[str]) -> Iterator[Piece]:
    """Yields the pieces of a cue. A blank line, and a new speaker, begins another one."""
    texts = [line[1] for line in lines]
    blanks = {number for number, text in enumerate(texts) if not text.strip()}
    begins = [
        number
        for number, text in enumerate(texts)
        if number not in blanks and (number - 1 in {-1, *blanks} or NEW_SPEAKER.match(text))
    ]
    start, finish = seconds(times[1]), seconds(times[2])
    for first, following in itertools.pairwise([*begins, len(lines)]):
        end = following
        while end - 1 in blanks:
            end -= 1
        dash = DASH.match(texts[first])
        begin = lines[first].start(1) + (dash.end() if dash else 0)
        span = Span(min(begin, lines[end - 1].end(1)), lines[end - 1].end(1))
        is_beginning = first == 0 or first - 1 in blanks
        is_sound = bool(SOUND.fullmatch("".join(texts[first:end])))  # such as [music]
        continues = is_beginning and not is_sound and not NEW_SPEAKER.match(texts[first])
        is_last = following == len(lines) or following - 1 in blanks
        yield Piece(span, end - first, start, finish, continues, is_last)


def piece_nodes(text: str, span: Span, syntax: Syntax) -> list[Node]:
    """Returns the nodes of the text of a piece; tags without a partner are Fixed."""
    tokens, position = [], span.start
    for match in [*OVERRIDE.finditer(text, *span), None]:
        end = match.start() if match else span.end
        for token in PageTokens(text[position:end]).tokens:
            token.start, token.end = token.start + position, token.end + position
            tokens.append(token)
        if match:
            tokens.append(Token("fixed", *match.span()))
            position = match.end()
    pair_tags(tokens)
    return tree(text, tokens, span, syntax.unescape)


def group_sentences(text: str, pieces: list[Piece]) -> list[list[Piece]]:
    """Returns the pieces in groups that are translated together."""

    def ends(piece: Piece) -> bool:
        markup = text[slice(*piece.span)]
        return bool(SOUND.fullmatch(markup) or SENTENCE_END.search(re.sub(r"<[^<>]*>", "", markup)))

    is_punctuated = sum(map(ends, pieces)) >= PUNCTUATED_SHARE * len(pieces)
    groups: list[list[Piece]] = []
    for piece in pieces:
        last = groups[-1][-1] if groups else None
        if (
            last
            and last.is_last
            and piece.continues
            and len(groups[-1]) < MAX_CUES
            and (piece.start == last.start or 0 <= piece.start - last.end <= MAX_PAUSE)
            and not ends(last)
            and (is_punctuated or first_letter(text, piece).islower())
        ):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def first_letter(text: str, piece: Piece) -> str:
    """Returns the first letter of a piece, without tags; "" if it has none."""
    visible = OVERRIDE.sub("", re.sub(r"<[^<>]*>", "", text[slice(*piece.span)]))
    return next(filter(str.isalpha, visible), "")


def join_nodes(groups: list[list[Node]]) -> list[Node]:
    """Returns the nodes of several pieces; italics that continue in the next one are joined."""
    joined = list(groups[0])
    for nodes in groups[1:]:
        first, last = (nodes[0] if nodes else None), (joined[-1] if joined else None)
        if (
            isinstance(first, Element)
            and isinstance(last, Element)
            and first.start_tag == last.start_tag
        ):
            children = [*last.children, Text(" "), *first.children]
            joined[-1:] = [Element(first.start_tag, first.end_tag, children)]
            nodes = nodes[1:]
        else:
            joined.append(Text(" "))
        joined += nodes
    return joined


def cuts(text: str, weights: list[int]) -> list[int]:
    """Returns the positions of spaces that divide a text in proportion to weights, one fewer.

    The end of the text stands for a cut that it has no space for.
    """
    spaces = [match.start() for match in re.finditer(" ", text)]
    total, passed = max(sum(weights), 1), 0
    positions: list[int] = []
    for weight in weights[:-1]:
        passed += weight
        ideal = len(text) * passed / total
        candidates = [space for space in spaces if space > (positions or [-1])[-1]]
        positions.append(
            min(
                candidates,
                key=lambda space: abs(space - ideal) - CUT_BONUS * (text[space - 1] in ",;:.!?"),
                default=len(text),
            )
        )
    return positions


def wrap_lines(nodes: list[Node], count: int, line_end: str) -> list[Node]:
    """Returns nodes with line ends in place of spaces, so that they are lines of equal length."""
    for position in reversed(cuts(plain_text(nodes), [1] * count)):  # a line end may be two
        nodes = replace_character(nodes, position, line_end)
    return nodes


def segment(text: str, group: list[Piece], syntax: Syntax, line_end: str) -> Segment:
    """Returns the segment of pieces that are translated together."""
    group_nodes = [piece_nodes(text, piece.span, syntax) for piece in group]
    lengths = [len(plain_text(nodes)) for nodes in group_nodes]

    def write(nodes: list[Node]) -> list[str]:
        parts, passed = [], 0
        for position in cuts(plain_text(nodes), lengths):
            before, nodes = cut_nodes(nodes, position - passed)
            _, nodes = cut_nodes(nodes, 1)  # without the space
            parts.append(before)
            passed = position + 1
        parts.append(nodes)
        return [
            render(wrap_lines(part, piece.line_count, line_end), syntax.escape)
            for part, piece in zip(parts, group, strict=True)
        ]

    return Segment(join_nodes(group_nodes), [piece.span for piece in group], write)


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a file of subtitles in UTF-8; a UserError if it holds no cue."""
    decoded = decode(content)
    text = decoded.text
    cues = Cues(text, ending)
    pieces = cues.pieces()
    if text.strip() and not cues.has_times:
        misread = [left for left in cues.left if left.reason == MISREAD]
        if misread:
            number = line_number(text, misread[0].start)
            raise UserError(f"line {number}: times that are not understood; write: {EXAMPLE}")
        raise UserError(f"holds no cue, such as {EXAMPLE}; correct it")
    syntax = SYNTAXES[ending]
    line_end = "\r\n" if "\r\n" in text else "\n"
    groups = group_sentences(text, pieces)
    segments = [segment(text, group, syntax, line_end) for group in groups]
    segments = [segment for segment in segments if has_words(segment.text)]
    return TextDocument(text, segments, decoded.encode, cues.left)
