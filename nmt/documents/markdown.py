"""Markdown: read by markdown-it-py. Code, targets of links, tags and front matter stay as they are.

So does what is no prose in one of the dialects: formulas, template tags, and more; see
markdown_parser.py.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import re
import string
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nmt.documents.document import (
    LINE_END,
    FormatOptions,
    Left,
    Segment,
    Span,
    TextDocument,
    beginning,
    decode,
)
from nmt.documents.html_pages import PageTokens, ended_by
from nmt.documents.markdown_parser import MARKS, TABS, make_parser, other_than_prose
from nmt.documents.markup import (
    MarkupSegments,
    Syntax,
    Token,
    find_ends,
    same_line,
    unescape_text,
)
from nmt.text.protected import has_words

if TYPE_CHECKING:
    from markdown_it.token import Token as MarkdownToken

FRONT_MATTER = re.compile(  # YAML, TOML, or JSON
    r"(?:---[ \t]*\r?\n.*?\n(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n.*?\n\+\+\+|\{[ \t]*\r?\n.*?\n\})"
    r"[ \t]*(?:\r?\n|\Z)",
    re.DOTALL,
)
ESCAPED = re.compile(rf"\\[{re.escape(string.punctuation)}]")
PUNCTUATION = re.escape(string.punctuation)  # ASCII's, before which a backslash is no text
SPECIAL = re.compile(
    rf"\\(?=[{PUNCTUATION}\s]|$)|[`*\[\]]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~~"
)
BLOCK_START = re.compile(
    r"(?:[-+*:~]|\d{1,9}[.)]|#{1,6}|=+|-+|>.*|~~~.*|:::.*|!!!.*|\?\?\?.*|///.*|\$\$.*)(?:\s|$)"
)
FOOTNOTE = r"\[\^[^\[\]\s]++\](?::(?=\s))?"  # of GitHub: [^1] in a text, [^1]: before the note
TEXT_PARTS = re.compile(rf"\n|(?P<footnote>{FOOTNOTE})|(?:(?!{FOOTNOTE})[^\n])+")
TITLED = "admonition_open", "container_container_open", "container_block_open"
TITLE = "in the first line of a container, an admonition or a tab"
NOT_FOUND = "in a cell with a bar, or in another place that is not understood"
HTML_WITHIN = "in HTML within a list or a quotation"
GRID = re.compile(r"\+[-=:]{2,}+[-+=:]*+(?:\n|\Z)")
GRID_TABLE = "in a table drawn with + and -"
MARGIN = re.compile(r"[ \t>]*")
TAG_BEGINNING = re.compile(r"<[\w.:-]*")
CHECKBOX = re.compile(r"\[[ xX]\]\s")  # of a task, in a list


# ---- Tokens ----


def block_lines(block: MarkdownToken) -> range:
    """Returns the numbers of the lines of a block."""
    if not block.map:
        raise ValueError(f"the parser has given no lines of {block.type}")
    return range(*block.map)


class Content:
    """What markdown-it parses as inline text: lines without margins, and where each starts."""

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
    """Returns where the content of an inline block stands in the file; None if it cannot be found.

    A cell stands `behind` the one before it in the table; None of another block.
    """
    starts = []
    for number, content in enumerate(block.content.split("\n"), start=block_lines(block).start):
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
    marks = {mark: itertools.cycle(["start", "end"]) for mark in MARKS}
    checkbox = CHECKBOX.match(content.text)
    if checkbox:
        offset = checkbox.end()
        tokens.append(Token("fixed", content.position(0), content.position(offset)))
    lines = [(*stretch, None) for stretch in other_than_prose(content.text)]
    markup = sorted([*lines, *inline_markup(children)], key=lambda item: (item[0], -item[1]))
    for start, end, child in markup:
        if start < offset:
            continue  # within an image
        tokens += text_tokens(content, offset, start)
        if child:
            tokens.append(markup_token(content, start, end, child))
            if child.content in marks:
                tokens[-1].kind, tokens[-1].name = next(marks[child.content]), child.content
        else:
            span = content.position(start), content.position(end)
            tokens.append(Token("fixed", *span, is_inline=False))
        offset = end
    return [*tokens, *text_tokens(content, offset, len(content.text))]


def inline_markup(children: list[MarkdownToken]) -> Iterator[tuple[int, int, MarkdownToken]]:
    """Yields start, end and token of all inline markup; of ** one token stands for both."""
    half_start = 0  # of the token before, if it is the other half of a strong_open
    for number, child in enumerate(children):
        if "start" not in child.meta or child.type == "softbreak":
            continue
        start, end = child.meta["start"], child.meta["end"]
        if child.type == "strong_open":
            start = half_start
        elif child.type == "strong_close":
            end = children[number + 1].meta["end"]
        if child.type == "text":
            half_start = start
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
    elif child.type == "opaque" and child.content.startswith("<") and child.content[1] != "%":
        token.kind = "fixed" if child.content.endswith("/>") else "start"
        token.name = beginning(TAG_BEGINNING, child.content)[1:].lower()
    elif child.info == "auto":
        token.content = content.text[start + 1 : end - 1]
    elif child.type == "image":
        alt = Span(start + 2, start + 2 + len(child.content))
        if content.text[slice(*alt)] == child.content and not SPECIAL.search(child.content):
            token.alt = Span(content.position(alt.start), content.position(alt.end))
    elif child.nesting:
        token.kind = "start" if child.nesting > 0 else "end"
        token.name = child.tag
        token.is_inline = child.meta.get("kind") != "note"  # a note is a text by itself
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
        return markup[1] if markup[1] in string.punctuation else markup
    return unescape_text(markup) if markup.startswith("&") else markup


def escape(text: str, characters: str = "") -> str:
    """Returns text as Markdown.

    Some characters have a meaning in the dialect, of which nothing but the source knows.
    """
    special = re.compile(f"{SPECIAL.pattern}|[{re.escape(characters)}]") if characters else SPECIAL
    return special.sub(r"\\\g<0>", text)


def lay_out(markup: str, source: str) -> str:
    """Returns the markup of a paragraph, wrapped like that of the source, with its margins."""
    lines = LINE_END.split(source)
    if BLOCK_START.match(markup) and not BLOCK_START.match(source):
        markup = re.sub(r"(?=\D)", r"\\", markup, count=1)  # of 1. and 1), behind the number
    if len(lines) == 1 or "](<" in markup:  # where a line end may not stand
        return markup
    margin = beginning(MARGIN, lines[1])
    line_end = "\r\n" if "\r\n" in source else "\n"
    first, *later_lines = textwrap.wrap(
        markup, max(map(len, lines)), break_long_words=False, break_on_hyphens=False
    )
    for line in later_lines:
        first += f" {line}" if BLOCK_START.match(line) else f"{line_end}{margin}{line}"
    return first


def syntax_of(source: str, is_cell: bool) -> Syntax:
    r"""Returns the Syntax of a paragraph, a heading or a cell.

    What has a backslash in the source gets one in the translation: \$5.
    """
    escaped = {"|"} if is_cell else set()
    escaped |= {markup[1] for markup in ESCAPED.findall(source)}
    characters = "".join(sorted(escaped - {"\\"}))
    return Syntax(
        unescape, lambda text: escape(text, characters), same_line if is_cell else lay_out
    )


# ---- Segments ----


def paragraph_segments(
    text: str, content: Content, block: MarkdownToken, is_cell: bool
) -> list[Segment]:
    """Returns the segments of a paragraph, a heading or a cell."""
    tokens = inline_tokens(content, block.children or [])
    find_ends(tokens, lambda open_name, name: False)
    return MarkupSegments(text, tokens, syntax_of(content.text, is_cell)).find()


def html_segments(text: str, lines: list[int], block: MarkdownToken) -> list[Segment | Left]:
    """Returns the segments of a block of HTML; one within a list or a quotation is left."""
    markup = text[lines[block_lines(block).start] : [*lines, len(text)][block_lines(block).stop]]
    if LINE_END.sub("\n", markup) != block.content:
        tokens = PageTokens(block.content).tokens
        texts = "".join(
            block.content[token.start : token.end] for token in tokens if token.kind == "text"
        )
        return [Left(HTML_WITHIN, lines[block_lines(block).start])] if has_words(texts) else []
    start = lines[block_lines(block).start]
    tokens = PageTokens(markup).tokens
    for token in tokens:
        token.start, token.end = token.start + start, token.end + start
    find_ends(tokens, ended_by)
    return [*MarkupSegments(text, tokens).find()]


def find_segments(text: str) -> Iterator[Segment | Left]:
    """Yields the segments of Markdown, and what is left."""
    front_matter = FRONT_MATTER.match(text)
    first = front_matter.end() if front_matter else 0
    lines = [first, *(match.end() for match in LINE_END.finditer(text, first))]
    behind = first  # the cell before
    is_cell = is_title = False
    for block in make_parser().parse(TABS.sub(r"\1!!!", text[first:])):
        if block.type in ("th_open", "td_open", "th_close", "td_close"):
            is_cell = block.nesting > 0
        elif block.type in ("admonition_title_open", "admonition_title_close"):
            is_title = block.nesting > 0
        elif block.type in TITLED and has_words(" ".join(block.info.split()[1:])):
            yield Left(TITLE, lines[block_lines(block).start], is_expected=True)
        elif block.type == "html_block":
            yield from html_segments(text, lines, block)
        elif block.type == "inline" and block.content and block.map and not is_title:
            if GRID.match(block.content):
                yield Left(GRID_TABLE, lines[block_lines(block).start])
                continue
            content = find_content(text, lines, block, behind if is_cell else None)
            if content is None and has_words(block.content):
                yield Left(NOT_FOUND, lines[block_lines(block).start])
            if content is None and is_cell:  # it stays; the next cell is behind it
                escaped = block.content.replace("|", r"\|")
                start = text.find(escaped, max(behind, lines[block_lines(block).start]))
                behind = start + len(escaped) if start >= 0 else behind
            elif content:
                behind = content.position(len(content.text))
                yield from paragraph_segments(text, content, block, is_cell)


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a Markdown file in UTF-8."""
    decoded = decode(content)
    texts = list(find_segments(decoded.text))
    segments = [text for text in texts if isinstance(text, Segment)]
    left = [text for text in texts if isinstance(text, Left)]
    return TextDocument(decoded.text, segments, decoded.encode, left)
