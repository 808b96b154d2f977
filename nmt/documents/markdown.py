"""Markdown: read by markdown-it-py. Code, targets of links, tags and front matter stay as they are.

The parser's tokens of a paragraph have no positions. So each of its rules for inline markup is
wrapped: where a rule begins and ends is where its tokens stand.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nmt import UserError
from nmt.documents.document import Segment, Span, TextDocument, decode
from nmt.documents.html_pages import PageTokens, ended_by
from nmt.documents.markup import (
    MarkupSegments,
    Syntax,
    Token,
    find_partners,
    same_line,
    unescape_text,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token as MarkdownToken

EXTRA = "pip install -r requirements-documents.txt"
FRONT_MATTER = re.compile(  # YAML, or TOML
    r"(?:---[ \t]*\r?\n.*?\n(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n.*?\n\+\+\+)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL,
)
SPECIAL = re.compile(r"[\\`*\[\]]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~~")
BLOCK_START = re.compile(r"(?:[-+*]|\d{1,9}[.)]|#{1,6}|=+|-+|>.*|~~~.*)(?:\s|$)")
LINE_END = re.compile(r"\r\n|\r|\n")
FOOTNOTE = r"\[\^[^\[\]\s]++\](?::(?=\s))?"  # of GitHub: [^1] in a text, [^1]: before the note
TEXT_PARTS = re.compile(rf"\n|(?P<footnote>{FOOTNOTE})|(?:(?!{FOOTNOTE})[^\n])+")
CHECKBOX = re.compile(r"\[[ xX]\]\s")  # of a task, in a list


# ---- Positions of inline markup ----


def with_positions(rule: Callable) -> Callable:
    """Returns a rule of markdown-it's inline parser that notes where its tokens stand."""

    def wrapped(state: StateInline, silent: bool) -> bool:
        position, count = state.pos, len(state.tokens)
        matches = rule(state, silent)
        if matches and not silent:
            note_positions(state, position, count)
        return matches

    return wrapped


def note_positions(state: StateInline, start: int, count: int) -> None:
    """Notes where the tokens stand that a rule has added.

    Args:
      state: of the parser, behind what the rule has read.
      start: where it began.
      count: of the tokens before.
    """
    tokens = [token for token in state.tokens[count:] if "start" not in token.meta]
    if tokens and tokens[-1].type == "text":  # delimiters, such as **, one token each
        end = state.pos
        for token in reversed(tokens):
            if end - len(token.content) < start:
                break  # text before them
            token.meta.update(start=end - len(token.content), end=end)
            end -= len(token.content)
    elif tokens and tokens[-1].type == "link_close" and state.src[start] == "[":
        label_end = state.md.helpers.parseLinkLabel(state, start, True)
        label = state.src[start + 1 : label_end]
        tokens[-1].meta.update(start=label_end, end=state.pos, label=label)
        opening = next(token for token in tokens if token.type == "link_open")
        opening.meta.update(start=start, end=start + 1)
    elif tokens:
        tokens[-1].meta.update(start=start, end=state.pos)


def make_parser() -> MarkdownIt:
    """Returns the parser, whose tokens know their positions.

    Raises:
      UserError: markdown-it-py is not installed.
    """
    try:
        from markdown_it import MarkdownIt
    except ModuleNotFoundError:
        raise UserError(f"Markdown needs markdown-it-py; install: {EXTRA}") from None
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.disable(["fragments_join", "text_join"])
    names, rules = parser.inline.ruler.get_active_rules(), parser.inline.ruler.getRules("")
    for name, rule in zip(names, rules, strict=True):
        parser.inline.ruler.at(name, with_positions(rule))
    return parser


# ---- Tokens ----


class Content:
    """What markdown-it parses as inline text: lines of a file without their margins.

    Args:
      text: the lines.
      starts: the position of each in the file.
    """

    def __init__(self, text: str, starts: list[int]):
        self.text, self.starts = text, starts
        self._offsets = [0, *(match.end() for match in re.finditer("\n", text))]  # of lines

    def position(self, offset: int) -> int:
        """Returns the position in the file of a position in the text."""
        line = bisect.bisect(self._offsets, offset) - 1
        return self.starts[line] + offset - self._offsets[line]


def find_content(
    text: str, lines: list[int], block: MarkdownToken, behind: int | None
) -> Content | None:
    """Returns where the content of a block stands in the file; None if it cannot be found.

    Args:
      text: of the file.
      lines: the positions of its lines.
      block: a token of type "inline".
      behind: of a cell, the position behind the one before it in the table; None of another block.
    """
    starts = []
    for number, content in enumerate(block.content.split("\n"), start=block.map[0]):
        line_end = lines[number + 1] if number + 1 < len(lines) else len(text)
        if behind is not None:
            start = text.find(content, max(behind, lines[number]), line_end)
        else:
            start = text.rfind(content, lines[number], line_end)
        if start < 0:
            return None
        starts.append(start)
    return Content(block.content, starts)


def inline_tokens(content: Content, children: list[MarkdownToken]) -> list[Token]:
    """Returns the tokens of a paragraph, a heading or a cell."""
    tokens, offset = [], 0
    checkbox = CHECKBOX.match(content.text)
    if checkbox:
        offset = checkbox.end()
        tokens.append(Token("fixed", content.position(0), content.position(offset)))
    for start, end, child in inline_markup(children):
        if start < offset:
            continue  # within an image
        tokens += text_tokens(content, offset, start)
        tokens.append(markup_token(content, start, end, child))
        offset = end
    return [*tokens, *text_tokens(content, offset, len(content.text))]


def inline_markup(children: list[MarkdownToken]) -> Iterator[tuple[int, int, MarkdownToken]]:
    """Yields start, end and token of all inline markup; of ** one token stands for both."""
    emptied = None  # the token before, if it is the other half of a strong_open
    for child, following in itertools.pairwise([*children, None]):
        if "start" not in child.meta or child.type == "softbreak":
            continue
        start, end = child.meta["start"], child.meta["end"]
        if child.type == "strong_open":
            start = emptied.meta["start"]
        elif child.type == "strong_close":
            end = following.meta["end"]
        if child.type == "text":
            emptied = child
        else:
            yield start, end, child


def markup_token(content: Content, start: int, end: int, child: MarkdownToken) -> Token:
    """Returns the Token of inline markup."""
    token = Token("fixed", content.position(start), content.position(end))
    if child.type == "html_inline":
        (tag, *_) = PageTokens(child.content).tokens
        token = dataclasses.replace(tag, start=token.start, end=token.end)
    elif child.type == "text_special":
        token.kind = "text"
    elif child.type == "hardbreak":
        token.is_inline = False
    elif child.info == "auto":
        token.content = content.text[start + 1 : end - 1]
    elif child.type == "image":
        alt = Span(start + 2, start + 2 + len(child.content))
        if content.text[slice(*alt)] == child.content and not SPECIAL.search(child.content):
            token.alt = Span(content.position(alt.start), content.position(alt.end))
    elif child.nesting:
        token.kind = "start" if child.nesting > 0 else "end"
        token.name = child.tag
        if child.type == "link_close" and content.text[start:end] in ("]", "][]"):
            token.replacement = f"][{child.meta['label']}]"  # which is the link's address
    return token


def text_tokens(content: Content, start: int, end: int) -> Iterator[Token]:
    """Yields the Tokens of text: lines, footnotes, and line ends with the margins behind them."""
    for match in TEXT_PARTS.finditer(content.text[start:end]):
        first, last = start + match.start(), start + match.end()
        begin = content.position(first)
        if match[0] == "\n":
            yield Token("text", begin, content.position(last))
        else:
            token = Token("text", begin, begin + len(match[0]))
            if match["footnote"]:
                token.kind = "fixed"
                token.is_inline = not match[0].endswith(":")  # each note is a text by itself
            yield token


def unescape(markup: str) -> str:
    """Returns the text of Markdown without tags: a line end, an escape, a reference, or words."""
    if markup.startswith(("\n", "\r")):
        return " "
    if len(markup) == 2 and markup[0] == "\\":
        return markup[1]
    return unescape_text(markup) if markup.startswith("&") else markup


def escape(text: str) -> str:
    """Returns text as Markdown."""
    return SPECIAL.sub(r"\\\g<0>", text)


def escape_cell(text: str) -> str:
    """Returns text as Markdown within a table."""
    return escape(text).replace("|", r"\|")


def lay_out(markup: str, source: str) -> str:
    """Returns the markup of a paragraph, wrapped like that of the source, with its margins."""
    lines = LINE_END.split(source)
    if BLOCK_START.match(markup) and not BLOCK_START.match(source):
        markup = re.sub(r"(?=\D)", r"\\", markup, count=1)  # of 1. and 1), behind the number
    if len(lines) == 1 or "](<" in markup:  # where a line end may not stand
        return markup
    margin = re.match(r"[ \t>]*", lines[1])[0]
    line_end = "\r\n" if "\r\n" in source else "\n"
    first, *later_lines = textwrap.wrap(
        markup, max(map(len, lines)), break_long_words=False, break_on_hyphens=False
    )
    for line in later_lines:
        first += f" {line}" if BLOCK_START.match(line) else f"{line_end}{margin}{line}"
    return first


PARAGRAPH = Syntax(unescape, escape, lay_out)
CELL = Syntax(unescape, escape_cell, same_line)


# ---- Segments ----


def paragraph_segments(
    text: str, content: Content, block: MarkdownToken, is_cell: bool
) -> list[Segment]:
    """Returns the segments of a paragraph, a heading or a cell.

    Args:
      text: of the file.
      content: of the block.
      block: a token of type "inline".
      is_cell: whether it stands in a table.
    """
    tokens = inline_tokens(content, block.children)
    find_partners(tokens, lambda open_name, name: False)
    return MarkupSegments(text, tokens, CELL if is_cell else PARAGRAPH).find()


def html_segments(text: str, lines: list[int], block: MarkdownToken) -> list[Segment]:
    """Returns the segments of a block of HTML.

    Args:
      text: of the file.
      lines: the positions of its lines.
      block: the token.
    """
    markup = text[lines[block.map[0]] : [*lines, len(text)][block.map[1]]]
    if LINE_END.sub("\n", markup) != block.content:
        return []  # within a list or a quotation
    start = lines[block.map[0]]
    tokens = PageTokens(markup).tokens
    for token in tokens:
        token.start, token.end = token.start + start, token.end + start
    find_partners(tokens, ended_by)
    return MarkupSegments(text, tokens).find()


def find_segments(text: str) -> Iterator[Segment]:
    """Yields the segments of Markdown."""
    front_matter = FRONT_MATTER.match(text)
    first = front_matter.end() if front_matter else 0
    lines = [first, *(match.end() for match in LINE_END.finditer(text, first))]
    behind = first  # the cell before
    is_cell = False
    for block in make_parser().parse(text[first:]):
        if block.type in ("th_open", "td_open", "th_close", "td_close"):
            is_cell = block.nesting > 0
        elif block.type == "html_block":
            yield from html_segments(text, lines, block)
        elif block.type == "inline" and block.content:
            content = find_content(text, lines, block, behind if is_cell else None)
            if content is None and is_cell:  # it stays; the next cell is behind it
                escaped = block.content.replace("|", r"\|")
                start = text.find(escaped, max(behind, lines[block.map[0]]))
                behind = start + len(escaped) if start >= 0 else behind
            elif content:
                behind = content.position(len(content.text))
                yield from paragraph_segments(text, content, block, is_cell)


def parse(content: bytes, ending: str) -> TextDocument:
    """Returns the Document of a Markdown file in UTF-8.

    Raises:
      UserError: it is another encoding, or markdown-it-py is not installed.
    """
    decoded = decode(content)
    return TextDocument(decoded.text, list(find_segments(decoded.text)), decoded.encode)
