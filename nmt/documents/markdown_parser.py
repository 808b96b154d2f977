"""The parser of Markdown: CommonMark, tables and what its dialects add, with positions.

The parser's tokens of a paragraph have no positions. So each of its rules for inline markup is
wrapped: where a rule begins and ends is where its tokens stand. Dialects are parsed by
mdit-py-plugins. What no plugin parses, such as template tags and wiki links, is opaque: it stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError
from nmt.neighbors import how_to_install

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

EXTRA = how_to_install("documents")
OPAQUE = re.compile(  # in a sentence
    r"""
    \{\{[^{}]{0,1000}+\}\}                      # {{ variable }}, {{< shortcode >}}
    | \{%[^%]{0,1000}+%\} | <%[^%]{0,1000}+%>   # template tags
    | !?\[\[[^\[\]\n]++\]\](?![(\[])            # wiki links, and what they embed
    | \{:?[ ]?(?:[:#.][^{}\n]*+|[\w-]++=[^{}\n]*+|-)\}  # attributes: { #id .class }, {width=50%}
    | \{/\*(?>(?:[^*]|\*(?!/\})){0,1000})\*/\}      # a comment of MDX
    | <(?=[A-Za-z](?>(?:[^<>{}=]|=(?!\{)){0,500})=\{)            # a tag of MDX: <A b={() => c}>
      (?>(?:[^<>{}]|\{(?>(?:[^{}]|\{[^{}]{0,300}+\}){0,300})\}){0,300})>
    | \{[a-z][a-z:+-]*+\}(?=`)                  # the role before `text`
    | (?<![\w:]):[a-z][\w+-]*+:(?![\w:])       # an emoji
    | \\\((?>(?:[^\\\n]|\\(?![()]))+)\\\)           # a formula: \( \)
    | \[-?@[^\[\]\n]++\]                        # a citation
    | %%[^%]{1,1000}+%%                        # a comment
    | (?<=\s)\^[\w-]++(?=[ \t]*+(?:\n|\Z))      # the name of a block
    | \+\+[\w-]++(?>(?:\+[\w-]++)*)\+\+           # keys: ++ctrl+c++
    | (?<!\^)\^[^\s^\[\]]{1,30}+\^(?!\^) | (?<!~)~[^\s~]{1,30}+~(?!~)  # 2^10^, H~2~O
    | (?<!=)==(?=[^=\s]) | (?<=[^=\s])==(?!=)  # the marks around a highlighted text
    | (?<!\^)\^\^(?=[^\^\s]) | (?<=[^\^\s])\^\^(?!\^)  # and around an inserted one
    """,
    re.VERBOSE,
)
NOT_PROSE = re.compile(  # lines that no parser knows, as far as they stay
    r"""
    ^(?:import\s[^'"\n;{}]*+(?:\{[^{}]*+\}[^'"\n;{}]*+)?['"][^'"\n]*+['"];?
      | export\s+(?:default|const|let|var|function|class|async|type)\s[^\n=({;]*+[=({;][^\n]*+
        (?<=[{(\[])(?>(?:\n(?![})\]])[^\n]*+){0,100})\n[})\]][^\n]*+
      | export\s+(?:default|const|let|var|function|class|async|type)\s[^\n=({;]*+[=({;][^\n]*+
      | export\s*[{*][^\n]*+
      | :::++[^\n]*+ | (?:!!!|\?\?\?|===|///)[^\n]*+  # containers, admonitions, tabs
      | \[(?:_?TOC_?|toc)\] | @\[\w++\][^\n]*+     # a table of contents
      | \\[A-Za-z]++(?>(?:\{[^{}\n]*+\}|\[[^\[\]\n]*+\])*)  # a command of LaTeX
      | \{%(?>(?:(?!%\})[^\n])*)%\} | \{\{(?>(?:(?!\}\})[^\n])*)\}\}
      | \{(?![{%+-])(?>(?:[^{}\n]|\{(?>(?:[^{}\n]|\{[^{}\n]*+\})*)\})*)\}  # code of MDX
    )[ \t]*+$
    """,
    re.VERBOSE | re.MULTILINE,
)
BRACKETED = re.compile(  # ^[a note], [text]{.class}
    r"(?:\^\[|\[(?=[^\[\]\n]++\]\{[ ]?[.#:\w]))(?P<text>[^\[\]\n]++)\](?>(?:\{[^{}\n]++\})?)"
)
MARKS = "==", "^^"  # around a highlighted and an inserted text
ALERT = re.compile(r"\[![A-Za-z]++\][-+]?(?=\s|$)")  # [!NOTE] in a quotation
LINE_MARK = re.compile(  # *[abbreviation]:, | a line of verse, % a title of Pandoc
    r"^(?:\*\[[^\[\]\n]++\]:|[|%][ ]++(?=\S)(?![^\n]*+(?<=\|)))", re.MULTILINE
)
TABS = re.compile(r"^([ \t]*)===(?=[ \t]+\S)", re.MULTILINE)  # === "Title" and an indented content


class Stretch(NamedTuple):
    """Consecutive characters of a paragraph."""

    start: int
    end: int


def other_than_prose(text: str) -> Iterator[Stretch]:
    """Yields where a paragraph is no prose: lines, or what they begin with. Each divides it."""
    position = 0
    while position < len(text):
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        marker = ALERT.match(text, position) if position == 0 else None
        marker = marker or LINE_MARK.match(text, position)
        lines = NOT_PROSE.match(text, position)
        if lines:
            yield Stretch(position, lines.end())
            line_end = max(line_end, lines.end())
        elif marker:
            yield Stretch(position, marker.end())
            if text[marker.end() : line_end].strip() and line_end < len(text):
                yield Stretch(line_end, line_end + 1)  # a title is a text by itself
        elif not any(map(str.isalnum, OPAQUE.sub("", text[position:line_end]))):
            yield Stretch(position, line_end)
        position = line_end + 1


# ---- Positions of inline markup ----

Rule = Callable[["StateInline", bool], bool]


def with_positions(rule: Rule) -> Rule:
    """Returns a rule of markdown-it's inline parser that notes where its tokens stand."""

    def wrapped(state: StateInline, silent: bool) -> bool:
        position, count = state.pos, len(state.tokens)
        matches = rule(state, silent)
        if matches and not silent:
            note_positions(state, position, count)
        return matches

    return wrapped


def note_positions(state: StateInline, start: int, count: int) -> None:
    """Notes where tokens stand that a rule has added: it began at `start`, with `count` tokens."""
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


def opaque(state: StateInline, silent: bool) -> bool:
    """A rule of the parser: what no plugin parses is one token."""
    match = OPAQUE.match(state.src, state.pos)
    if not match:
        return False
    if not silent:
        state.push("opaque", "", 0).content = match[0]
    state.pos = match.end()
    return True


def bracketed(state: StateInline, silent: bool) -> bool:
    """A rule of the parser: brackets around text that are no link."""
    match = BRACKETED.match(state.src, state.pos)
    label = state.src[match.start("text") : match.end("text")] if match else ""
    references = state.env.get("references", {})
    if not match or label.upper() in map(str.upper, references):
        return False
    if not silent:
        opening = state.push("bracket_open", "[", 1)
        opening.meta.update(start=match.start(), end=match.start("text"))
        end = state.posMax
        state.pos, state.posMax = match.span("text")
        state.md.inline.tokenize(state)
        state.posMax = end
        closing = state.push("bracket_close", "[", -1)
        opening.meta["kind"] = closing.meta["kind"] = "note" if match[0][0] == "^" else "span"
        closing.meta.update(start=match.end("text"), end=match.end())
    state.pos = match.end()
    return True


def make_parser() -> MarkdownIt:
    """Returns the parser, whose tokens know their positions; a UserError if it is not installed."""
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.admon import admon_plugin
        from mdit_py_plugins.amsmath import amsmath_plugin
        from mdit_py_plugins.container import container_plugin
        from mdit_py_plugins.deflist import deflist_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin
        from mdit_py_plugins.footnote import footnote_plugin
    except ModuleNotFoundError as error:
        name = "markdown-it-py" if error.name == "markdown_it" else "mdit-py-plugins"
        raise UserError(f"Markdown needs {name}; install: {EXTRA}") from None
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for name, marker in (("container", ":"), ("block", "/")):
        container_plugin(parser, name, marker, validate=lambda *_: True)
    parser.use(admon_plugin).use(deflist_plugin).use(amsmath_plugin)
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    parser.use(footnote_plugin, inline=False)
    parser.inline.ruler.before("escape", "opaque", opaque)
    parser.inline.ruler.before("link", "bracketed", bracketed)
    parser.disable(["fragments_join", "text_join", "footnote_tail"])
    names, rules = parser.inline.ruler.get_active_rules(), parser.inline.ruler.getRules("")
    for name, rule in zip(names, rules, strict=True):
        parser.inline.ruler.at(name, with_positions(rule))
    return parser
