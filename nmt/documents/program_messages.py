"""Messages of programs, in .po and XLIFF: what must not change in them, and what is translated.

    message = Message(nodes, syntax_of(["c-format"], text), str, finish)
    segments = message.segments([span])

Placeholders and tags are Fixed nodes, which are in every translation, whatever the run. The texts
in the branches of an ICU plural are segments of their own. Whichever segment is written, the whole
message is: as far as it is translated.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from nmt.documents import accelerators, arguments, icu_messages
from nmt.documents.document import Review, Segment, Span, has_words
from nmt.documents.icu_messages import IcuError
from nmt.documents.nodes import (
    Element,
    Fixed,
    Node,
    Tag,
    Text,
    outer_spaces,
    plain_text,
    render,
    text_nodes,
)
from nmt.text.placeholders import ANY_TEXT, Placeholder, find_placeholders, message_expressions
from nmt.text.protected import KINDS

ALREADY_TRANSLATED = "already translated"
NOT_UNDERSTOOD = "with ICU arguments that are not understood"
FIXED_KINDS = ("tag", "url", "email")  # of spans in nmt/text/protected.py
QUOTED = re.compile(r"''|'[{}#|](?>(?:[^']|''){0,1000})'")  # in ICU and Java: "it''s", "'{'"
INDENTS = {" ": "\ue000", "\t": "\ue001"}  # what a line begins with, for private use
LINE_ENDS = re.compile("(?<! ) *+((?:\n[\ue000\ue001]*+ *+)+)")  # with the spaces around them
SIGNS = re.compile(r"[{}<>%$#@&~\[\]\\]|[:!](?=\w)")  # of which placeholders are made
BORDER = "\ufffc"  # for markup
STAND_INS = range(0xF0000, 0xFFFFE)  # for private use
MAX_DEPTH = 8  # of ICU arguments within each other


class Syntax(NamedTuple):
    """How a message writes what is no text."""

    expressions: list[re.Pattern[str]]  # what does not change
    escapes: dict[str, str]  # how a sign is written that would be part of a placeholder
    has_lines: bool = True  # a line end is one in the translation, too
    marks: Collection[str] = frozenset()  # those of accelerators that the file uses
    numbers: str = ""  # how it numbers an argument, in another order than the source


def syntax_of(flags: Iterable[str], text: str) -> Syntax:
    """Returns the Syntax of a message.

    Args:
      flags: of the message, such as "c-format".
      text: of the message.
    """
    flags = set(flags)
    expressions = message_expressions(flags)
    is_percent = "%%" in text or any(pattern.match("%%") for pattern in expressions)
    escapes = {"%": "%%"} if is_percent and (_formats(flags) or "%%" in text) else {}
    if any(pattern.match("{{") for pattern in expressions):
        escapes |= {"{": "{{", "}": "}}"}
    if "java-format" in flags:
        escapes, expressions = {"'": "''"}, [QUOTED, *expressions]
    expressions += [KINDS[kind] for kind in FIXED_KINDS]
    return Syntax(expressions, escapes, numbers=arguments.numbering(flags))


def _formats(flags: set[str]) -> bool:
    """Returns whether flags name a format."""
    return any(
        flag.endswith("-format") and not flag.startswith(("no-", "impossible-")) for flag in flags
    )


class _MessageText(NamedTuple):
    """A text of a message: all of it but for branches, or that of a branch."""

    nodes: list[Node]
    markup: Tag  # what is written for it
    before: str  # the white space that it begins with
    after: str


class Message:
    """A message, of which the text is translated.

    Args:
      nodes: of its source.
      syntax: of its text.
      escape: turns text into the markup of the file.
      finish: turns the translated message into what stands in its spans, one text for each.

    Attributes:
      markup: of the message, as far as it is translated.

    Raises:
      IcuError: it holds an ICU argument that is not complete.
    """

    def __init__(
        self,
        nodes: list[Node],
        syntax: Syntax,
        escape: Callable[[str], str],
        finish: Callable[[str], list[str]],
    ):
        self._syntax, self._escape, self._finish = syntax, escape, finish
        self._texts: list[_MessageText] = []
        self._placeholders: set[str] = set()
        self._has_arguments = False
        self._key: accelerators.Accelerator | None = None
        self.markup = self._add(nodes)

    def _add(self, nodes: list[Node], number: str = "", depth: int = 0) -> Tag:
        """Adds a text. Returns its markup, which changes as soon as it is translated.

        Args:
          nodes: of the text.
          number: what "#" stands for, in the branch of a plural.
          depth: of ICU arguments around it.
        """
        nodes = _without_stand_ins(*_with_stand_ins(nodes))  # texts beside each other are one
        before, after = outer_spaces(nodes)
        nodes = self._cut_arguments(_stripped(nodes), number, depth)
        if not depth and not self._has_arguments:
            self._key = accelerators.take_out(nodes, self._syntax.marks)
        markup = Tag([before, *self._pieces(nodes), after])
        if has_words(" ".join(node.text for node in text_nodes(nodes))):
            self._texts.append(_MessageText(nodes, markup, before, after))
        return markup

    def segments(
        self, spans: list[Span], has_target: bool = True, review: Review | None = None
    ) -> list[Segment]:
        """Returns the segments of the message, those of branches first.

        Args:
          spans: what the translated message replaces, and what `finish` returns texts for.
          has_target: whether the spans are not the source.
          review: of the message, if its file can ask for one.
        """
        return [
            Segment(text.nodes, spans, self._writer(text), has_target, review)
            for text in self._texts
        ]

    def _writer(self, text: _MessageText) -> Callable[[list[Node]], list[str]]:
        """Returns the function that writes a text: the whole message, as far as translated."""

        def write(nodes: list[Node]) -> list[str]:
            nodes = copy.deepcopy(nodes)
            for node in text_nodes(nodes):
                node.text = without_copies(node.text, self._placeholders)
            is_numbered = arguments.is_numbered(text.nodes, self._syntax.numbers)
            if not is_numbered:
                arguments.put_in_order(nodes, text.nodes)
            if self._count_placeholders(nodes) != self._count_placeholders(text.nodes):
                nodes = list(set_apart(nodes))
            if is_numbered:
                arguments.number(nodes, text.nodes, self._syntax.numbers)
            if self._key and text.markup is self.markup:
                nodes = accelerators.put_in(nodes, self._key)
            content = "".join(map(str, self._pieces(nodes)))
            content = with_lines(content) if self._syntax.has_lines else content
            text.markup.pieces[:] = [text.before, content.strip(), text.after]
            return self._finish(str(self.markup))

        return write

    def _count_placeholders(self, nodes: list[Node]) -> Counter[str]:
        """Returns how often each placeholder is in nodes, those that text would form included."""
        escapes = self._syntax.escapes
        visible = "".join(_visible(nodes, escapes))
        texts = [placeholder.text for placeholder in self._find_placeholders(visible)]
        return Counter(text for text in texts if text not in escapes.values())

    def _find_placeholders(self, text: str, number: str = "") -> list[Placeholder]:
        """Returns the placeholders of a text; `number` is what "#" stands for, if anything."""
        expressions = self._syntax.expressions
        if self._has_arguments:
            expressions = [QUOTED, *expressions]
        if number:
            expressions = [re.compile("#"), *expressions]
        return find_placeholders(text, expressions)

    # ---- From nodes to markup ----

    def _pieces(self, nodes: list[Node]) -> Iterator[str | Tag]:
        """Yields the markup of nodes, in which branches of ICU arguments may still change."""
        for node, following in itertools.zip_longest(nodes, nodes[1:]):
            if isinstance(node, Element):
                yield node.start_tag
                yield from self._pieces(node.children)
                yield node.end_tag
            elif isinstance(node, Fixed):
                yield node.markup
            else:
                text = escaped(node.text, self._syntax.escapes)
                is_quote = self._has_arguments and text.endswith("'") and not text.endswith("''")
                if is_quote and isinstance(following, Fixed) and str(following.markup)[:1] in "{#":
                    text += "'"
                yield self._escape(text)

    # ---- From markup to nodes ----

    def _cut_arguments(self, nodes: list[Node], number: str, depth: int) -> list[Node]:
        """Returns nodes with ICU plurals and selects as Fixed ones; see `_add`."""
        text, stand_ins = _with_stand_ins(nodes)
        arguments = icu_messages.find_arguments(text)
        if arguments and depth == MAX_DEPTH:
            raise IcuError
        self._has_arguments |= bool(arguments)
        cut: list[Node] = []
        position = 0
        for argument in arguments:
            cut += self._cut_text(text[position : argument.start], stand_ins, number)
            pieces: list[str | Tag] = []
            position = argument.start
            inner_number = f"{{{argument.name}}}" if argument.is_plural else number
            for branch in argument.branches:
                pieces.append(self._markup(text[position : branch.start], stand_ins))
                inner = _without_stand_ins(text[branch.start : branch.end], stand_ins)
                pieces.append(self._add(inner, inner_number, depth + 1))
                position = branch.end
            pieces.append(self._markup(text[position : argument.end], stand_ins))
            cut.append(Fixed(Tag(pieces), f"{{{argument.name}}}"))
            position = argument.end
        return [*cut, *self._cut_text(text[position:], stand_ins, number)]

    def _markup(self, text: str, stand_ins: dict[str, Node]) -> str:
        """Returns what is between the branches of an argument as markup."""
        return render(_without_stand_ins(text, stand_ins), self._escape)

    def _cut_text(self, text: str, stand_ins: dict[str, Node], number: str) -> Iterator[Node]:
        """Yields the nodes of text without ICU plurals: placeholders are Fixed, lines are kept."""
        for node in _without_stand_ins(text, stand_ins):
            if isinstance(node, Element):
                children = self._cut_arguments(node.children, number, MAX_DEPTH)
                yield Element(node.start_tag, node.end_tag, children)
            elif isinstance(node, Text):
                yield from self._cut_placeholders(node.text, number)
            else:
                yield node

    def _cut_placeholders(self, text: str, number: str) -> Iterator[Node]:
        """Yields the nodes of text without markup; `number` is what "#" stands for, if anything."""
        signs = {written: sign for sign, written in self._syntax.escapes.items()}
        position = 0
        for placeholder in self._find_placeholders(text, number):
            yield from self._lines(text[position : placeholder.start])
            if placeholder.text == "%%":  # which the network reads as "%", and may lose
                yield Fixed(self._escape("%%"), "%" if "%%" in signs else "%%")
            elif placeholder.text in signs:
                yield Text(signs[placeholder.text])
            else:
                name = number if placeholder.text == "#" else placeholder.text
                self._placeholders.add(name)
                yield Fixed(self._escape(placeholder.text), name)
            position = placeholder.end
        yield from self._lines(text[position:])

    def _lines(self, text: str) -> Iterator[Node]:
        """Yields the nodes of text without placeholders; a line end is a space to the network.

        The spaces that a line begins with stand as INDENTS, since spaces around a line end change.

        Raises:
          IcuError: an ICU argument begins in it.
        """
        icu_messages.check(text)
        if not self._syntax.has_lines:
            yield from [Text(text)] if text else []
            return
        for index, line in enumerate(text.split("\n")):
            if index:
                content = line.lstrip(" \t")
                indent = "".join(INDENTS[space] for space in line[: len(line) - len(content)])
                yield from (Text(" "), Fixed("\n" + indent), Text(" "))
                line = content
            if line:
                yield Text(line)


def without_copies(text: str, fixed: set[str]) -> str:
    """Returns the text of a translation without placeholders of its own.

    Those of the source are nodes by now: what is left was spelled twice, or invented.

    Args:
      text: between the placeholders.
      fixed: the placeholders of the source.
    """
    names = sorted(fixed, key=len, reverse=True)
    copies = [re.escape(name) + (r"(?!\w)" if name[0] in ":!@$" else "") for name in names]
    return re.sub(rf"\s?(?:{'|'.join([*copies, ANY_TEXT.pattern])})", "", text)


def set_apart(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yields nodes of which no text forms a placeholder with one beside it, or by itself."""
    before = None
    for node in nodes:
        if isinstance(node, Element):
            yield Element(node.start_tag, node.end_tag, list(set_apart(node.children)))
        elif isinstance(node, Text):
            yield Text(f" {SIGNS.sub('', node.text).strip()} ")
        else:
            if isinstance(before, Fixed):
                yield Text(" ")
            yield node
        before = node


def escaped(text: str, escapes: dict[str, str]) -> str:
    """Returns text whose signs are no part of placeholders; see Syntax."""
    return "".join(escapes.get(sign, sign) for sign in text) if escapes else text


def _visible(nodes: list[Node], escapes: dict[str, str]) -> Iterator[str]:
    """Yields the texts of nodes as the program reads them."""
    for node in nodes:
        if isinstance(node, Element):
            yield from (BORDER, *_visible(node.children, escapes), BORDER)
        elif isinstance(node, Text):
            yield escaped(node.text, escapes)
        else:
            yield escapes.get(node.text, node.text) or BORDER


def with_lines(markup: str) -> str:
    """Returns the markup of a translation with the line ends and margins of its source."""

    def margin(match: re.Match[str]) -> str:
        line_ends = match[1].replace(" ", "")
        return line_ends.translate({ord(mark): space for space, mark in INDENTS.items()})

    return LINE_ENDS.sub(margin, markup)


def _stripped(nodes: list[Node]) -> list[Node]:
    """Returns nodes without the white space that their text begins and ends with."""
    nodes = list(nodes)
    if nodes and isinstance(nodes[0], Text):
        nodes[0] = Text(nodes[0].text.lstrip())
    if nodes and isinstance(nodes[-1], Text):
        nodes[-1] = Text(nodes[-1].text.rstrip())
    return nodes


def _with_stand_ins(nodes: list[Node]) -> tuple[str, dict[str, Node]]:
    """Returns the text of nodes, with a character in place of each that is no Text."""
    used = set(plain_text(nodes))
    characters = (character for character in map(chr, STAND_INS) if character not in used)
    stand_ins: dict[str, Node] = {}
    parts = []
    for node in nodes:
        if isinstance(node, Text):
            parts.append(node.text)
        else:
            character = next(characters)
            stand_ins[character] = node
            parts.append(character)
    return "".join(parts), stand_ins


def _without_stand_ins(text: str, stand_ins: dict[str, Node]) -> list[Node]:
    """Returns the nodes of a text, some of whose characters stand for nodes."""
    nodes, start = [], 0
    for position, character in enumerate(text):
        if character in stand_ins:
            nodes += [Text(text[start:position]), stand_ins[character]]
            start = position + 1
    nodes.append(Text(text[start:]))
    return [node for node in nodes if not isinstance(node, Text) or node.text]
