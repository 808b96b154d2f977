"""Messages of programs, gettext's .po: what has no translation yet gets one.

Comments, contexts, flags, the header and finished translations stay byte for byte. Placeholders
such as %s are in every translation, whatever the run.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from nmt import UserError
from nmt.documents.document import Segment, Span, TextDocument, decode, has_words
from nmt.documents.nodes import Fixed, Node, Text, render
from nmt.text.protected import DEFAULT

CHARSET = re.compile(rb"Content-Type:[^\n]{0,100}charset=([\w.:-]+)")
LITERAL = r'"(?:[^"\\\r\n]|\\.)*"'
LITERALS = rf"{LITERAL}(?:[ \t]*\r?\n[ \t]*{LITERAL})*"
FIELD = re.compile(
    rf"^(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{{1,3}}\])?)[ \t]+({LITERALS})", re.MULTILINE
)
ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
LINE_END = re.compile("(?<! ) *+(\n[\ue000\ue001]*) *")  # with the spaces around it
INDENTS = {" ": "\ue000", "\t": "\ue001"}  # what a line begins with, for private use
PLACEHOLDERS = {"placeholder", "tag"}  # kinds of spans in nmt/text/protected.py


@dataclasses.dataclass
class Message:
    """An entry of the file."""

    source: str = ""
    plural: str = ""
    targets: dict[int, tuple[str, Span]] = dataclasses.field(default_factory=dict)  # by number


def read_literals(literals: str) -> str:
    """Returns the text of quoted strings, one after the other."""

    def character(match: re.Match) -> str:
        code = match[0][1:]
        if code[0] == "x":
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8))
        return ESCAPES.get(code, code)

    strings = re.findall(LITERAL, literals)
    return "".join(ESCAPE.sub(character, string[1:-1]) for string in strings)


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


def find_messages(text: str) -> list[Message]:
    """Returns the entries of a file, the header included.

    Raises:
      UserError: it holds none.
    """
    messages = []
    for field in FIELD.finditer(text):
        name, literals = field[1], read_literals(field[2])
        if name in ("msgctxt", "msgid") and (not messages or messages[-1].targets):
            messages.append(Message())
        if not messages:
            continue
        if name == "msgid":
            messages[-1].source = literals
        elif name == "msgid_plural":
            messages[-1].plural = literals
        elif name.startswith("msgstr"):
            number = int(name[7:-1] or 0) if "[" in name else 0
            messages[-1].targets[number] = literals, Span(*field.span(2))
    if text.strip() and not any(message.targets for message in messages):
        raise UserError('holds no message: msgid "..." and msgstr "..."; correct it')
    return messages


def message_nodes(text: str) -> list[Node]:
    """Returns the nodes of a message: its placeholders and line ends stay, its words change."""
    nodes, position = [], 0
    spans = [span for span in DEFAULT.spans(text) if span.kind in PLACEHOLDERS]
    for span in spans:
        nodes += line_nodes(text[position : span.start])
        nodes.append(Fixed(span.original, span.original))
        position = span.end
    return [*nodes, *line_nodes(text[position:])]


def line_nodes(text: str) -> Iterator[Node]:
    """Yields the nodes of text without placeholders; a line end is a space to the network.

    The spaces that a line begins with stand as INDENTS, since spaces around a line end change.
    """
    for number, line in enumerate(text.split("\n")):
        if number:
            content = line.lstrip(" \t")
            indent = "".join(INDENTS[space] for space in line[: len(line) - len(content)])
            yield from (Text(" "), Fixed("\n" + indent), Text(" "))
            line = content
        yield Text(line)


def with_spaces(match: re.Match) -> str:
    """Returns a line end with the spaces that INDENTS stand for behind it."""
    return match[1].translate({ord(mark): space for space, mark in INDENTS.items()})


def message_segment(source: str, span: Span, line_end: str) -> Segment:
    """Returns the segment of a message without a translation."""
    stripped = source.strip()
    before = source[: source.index(stripped)]
    after = source[len(before) + len(stripped) :]

    def write(nodes: list[Node]) -> list[str]:
        translation = LINE_END.sub(with_spaces, render(nodes, str)).strip()
        return [write_literals(before + translation + after, line_end)]

    return Segment(message_nodes(stripped), [span], write, has_target=True)


def find_segments(text: str) -> Iterator[Segment]:
    """Yields the segments of a file: messages without a translation."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    for message in find_messages(text):
        if not message.source or any(target for target, _ in message.targets.values()):
            continue  # the header, or finished
        for number, (_, span) in message.targets.items():
            is_plural = number or len(message.targets) == 1  # one form: it is for any number
            source = message.plural if is_plural and message.plural else message.source
            if has_words(source):
                yield message_segment(source, span, line_end)


def parse(content: bytes, ending: str) -> TextDocument:
    """Returns the Document of a .po file, in the encoding of its header.

    Raises:
      UserError: it cannot be read.
    """
    charset = CHARSET.search(content)
    declared = charset[1].decode() if charset and charset[1] != b"CHARSET" else None
    decoded = decode(content, declared)
    return TextDocument(decoded.text, list(find_segments(decoded.text)), decoded.encode)
