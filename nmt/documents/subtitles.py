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
from nmt.documents.document import Left, Segment, Span, TextDocument, decode, has_words
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

LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
CLOCK = r"(?:(\d{1,9}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
TIMES = re.compile(rf"\s*{CLOCK}\s*-->\s*{CLOCK}(?:\s|$)")
OVERRIDE = re.compile(r"\{\\[^{}]*\}|<\d[\d:.]*>")  # {\an8} of SubRip, <00:01.000> of WebVTT
NEW_SPEAKER = re.compile(r"(?:<[^>]*>|\{\\[^}]*\})*\s*[-–—‐]|<v[ .]")
SENTENCE_END = re.compile(r"[.!?…。！？♪][\"'”’»)\]♪]*\s*$")
MAX_PAUSE = 3.0  # seconds between two cues of a sentence
MAX_CUES = 6  # of a sentence
PUNCTUATED_SHARE = 0.3  # of the cues of a file, to trust in full stops
DASH = re.compile(r"\s*[-–—‐]\s*")
CUT_BONUS = 5  # characters that a cut may be farther away if it is behind a comma


class Piece(NamedTuple):
    """Lines of a cue that one person says."""

    span: Span  # in the file
    line_count: int
    start: float  # of the cue, in seconds
    end: float
    continues: bool  # it can continue a sentence of the cue before it
    is_last: bool  # of its cue


SYNTAXES = {".srt": Syntax(str, str, same_line), ".vtt": MARKUP}


def seconds(hours: str | None, minutes: str, whole: str, fraction: str) -> float:
    """Returns a time in seconds."""
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(whole) + float(f"0.{fraction}")


def find_pieces(text: str) -> list[Piece]:
    """Returns the pieces of all cues of a file."""
    lines = list(LINE.finditer(text))
    times = {number: match for number, line in enumerate(lines) if (match := TIMES.match(line[1]))}
    pieces = []
    for number, match in times.items():
        last = number + 1
        while last < len(lines) and lines[last][1].strip() and last not in times:
            if last + 1 in times and lines[last][1].strip().isdigit():
                break  # the number of the next cue, without a blank line before it
            last += 1
        pieces += cue_pieces(lines[number + 1 : last], match)
    return pieces


def cue_pieces(lines: list[re.Match], times: re.Match) -> Iterator[Piece]:
    """Yields the pieces of a cue.

    Args:
      lines: of its text, matches of LINE.
      times: a match of TIMES.
    """
    begins = [n for n, line in enumerate(lines) if n == 0 or NEW_SPEAKER.match(line[1])]
    for first, end in itertools.pairwise([*begins, len(lines)]):
        dash = DASH.match(lines[first][1])
        begin = lines[first].start(1) + (dash.end() if dash else 0)
        span = Span(min(begin, lines[end - 1].end(1)), lines[end - 1].end(1))
        continues = first == 0 and not NEW_SPEAKER.match(lines[0][1])
        start, finish = seconds(*times.groups()[:4]), seconds(*times.groups()[4:])
        yield Piece(span, end - first, start, finish, continues, end == len(lines))


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
        return bool(SENTENCE_END.search(re.sub(r"<[^<>]*>", "", text[slice(*piece.span)])))

    is_punctuated = sum(map(ends, pieces)) >= PUNCTUATED_SHARE * len(pieces)
    groups = []
    for piece in pieces:
        last = groups[-1][-1] if groups else None
        if (
            last
            and last.is_last
            and piece.continues
            and len(groups[-1]) < MAX_CUES
            and 0 <= piece.start - last.end <= MAX_PAUSE
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
        first, last = (nodes or [None])[0], (joined or [None])[-1]
        both = isinstance(first, Element) and isinstance(last, Element)
        if both and first.start_tag == last.start_tag:
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
    total, passed, positions = max(sum(weights), 1), 0, []
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
    for position in cuts(plain_text(nodes), [1] * count):
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


def parse(content: bytes, ending: str) -> TextDocument:
    """Returns the Document of a file of subtitles in UTF-8.

    Raises:
      UserError: it is another encoding, or holds no cue.
    """
    decoded = decode(content)
    text = decoded.text
    pieces = find_pieces(text)
    if text.strip() and not TIMES.search(text) and "-->" not in text:
        raise UserError("holds no cue, such as 00:00:01,000 --> 00:00:02,000; correct it")
    syntax = SYNTAXES[ending]
    line_end = "\r\n" if "\r\n" in text else "\n"
    groups = group_sentences(text, pieces)
    segments = [segment(text, group, syntax, line_end) for group in groups]
    segments = [segment for segment in segments if has_words(segment.text)]
    left = [
        Left("with times that are not understood", line.start())
        for line in LINE.finditer(text)
        if "-->" in line[1] and not TIMES.match(line[1])
    ]
    return TextDocument(text, segments, decoded.encode, left)
