"""YAML, .yaml and .yml: the values that are text. Keys, comments, anchors and styles stay.

ruamel.yaml says where a value stands; only its text is replaced, in the style that it has. Where
the translation would read otherwise in that style, as with a colon in a plain value, it is quoted.
"""

from __future__ import annotations

import importlib.util
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from nmt import UserError
from nmt.documents.document import FormatOptions, Span, TextDocument, decode
from nmt.documents.resources import ResourceTexts
from nmt.neighbors import how_to_install

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node, ScalarNode

TEXT_TAG = "tag:yaml.org,2002:str"
PROPERTIES = re.compile(r"(?>(?:[&!]\S*+\s++)*)")  # the anchor and the tag before a value
SWITCHES = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}  # of YAML 1.1, in any case
MAY_BE_SWITCH = "that may be switches: yes, no, on, off (quote those that are text)"
PLAIN = re.compile(r"[^\W\d_](?:[\w .!?;()/%'-]*[\w.!?)])?")  # words, which read as such
MAX_CHARACTERS = 2_000_000  # of a file, which take half a minute
BLOCK = re.compile(r"([|>][^\r\n]*)(\r\n|\r|\n)(.*?)(\s*)\Z", re.DOTALL)


def reader() -> Any:
    """Returns ruamel.yaml's reader, in Python and without any objects."""
    if importlib.util.find_spec("ruamel") is None:
        raise UserError(f"needs ruamel.yaml to be read; install: {how_to_install('documents')}")
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True)


def values(node: Any, seen: set[int]) -> Iterator[ScalarNode]:
    """Yields the scalars below a node of a document that are no keys, each once."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node.value, str):
        yield node
        return
    for entry in node.value:
        yield from values(entry[1] if isinstance(entry, tuple) else entry, seen)


# ---- Writing ----


def reads_as(markup: str, value: str) -> bool:
    """Returns whether the markup of a value means this text, in a block and in a flow."""
    contexts = [f"- {markup}"] if markup[0] in "|>" else [f"- {markup}\n", f"[{markup}]"]
    try:
        return all(reader().load(context) == [value] for context in contexts)
    except Exception:  # YAMLError, and what its resolver raises for odd numbers and dates
        return False


def quoted(value: str) -> str:
    """Returns a text as a double-quoted value."""
    markup = json.dumps(value, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda sign: f"\\u{ord(sign[0]):04x}", markup)


def plain(value: str) -> str:
    """Returns a text as a plain value, or quoted if that would read otherwise."""
    if value.lower() in SWITCHES:
        return quoted(value)
    if PLAIN.fullmatch(value):  # which saves the time to read it
        return value
    return value if value and "\n" not in value and reads_as(value, value) else quoted(value)


def single_quoted(value: str) -> str:
    """Returns a text in single quotes; one with line ends or control characters in double ones."""
    return "'" + value.replace("'", "''") + "'" if value.isprintable() else quoted(value)


def block_writer(markup: str) -> Callable[[str], str]:
    """Returns what writes a text as a block of lines, literal (|) or folded (>).

    Args:
      markup: of the source, with its first line.
    """
    match = BLOCK.match(markup)
    assert match
    head, line_end, body, end = match.groups()
    lines = [line for line in body.splitlines() if line.strip()]
    indent = min((line[: len(line) - len(line.lstrip(" "))] for line in lines), key=len, default="")
    width = max(map(len, lines), default=80)

    def block(head: str, lines: list[str]) -> str:
        indented = [f"{indent}{line}" if line else "" for line in lines]
        return head + line_end + line_end.join(indented) + end

    def write(value: str) -> str:
        lines = value.rstrip("\n").split("\n")
        folded = [
            part
            for line in lines
            for part in (*textwrap.wrap(line, width, break_long_words=False,
                                        break_on_hyphens=False), "")
        ]  # fmt: skip
        blocks = [block("|" + head[1:], lines)]
        if head[0] == ">":
            blocks.insert(0, block(head, folded[:-1]))
        for candidate in blocks:
            if reads_as(candidate, value):
                return candidate
        return quoted(value) + end

    return write


def writer(style: str | None, markup: str) -> Callable[[str], str]:
    """Returns what writes a value in a style; `markup` is that of the source."""
    if style in ("|", ">"):
        return block_writer(markup)
    return {'"': quoted, "'": single_quoted}.get(style or "", plain)


# ---- Reading ----


def compose(text: str) -> list[Node]:
    """Returns the root nodes of the documents in a file.

    Raises:
      UserError: it is not YAML.
    """
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return [node for node in reader().compose_all(text) if node is not None]
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(f"line {line}: is not YAML ({error.problem}); correct it") from None
    except (YAMLError, ValueError, AttributeError, AssertionError, IndexError) as error:
        what = " ".join(str(error).split())[:100] or type(error).__name__
        raise UserError(f"is not YAML ({what}); correct it") from None
    except RecursionError:
        raise UserError("is nested too deep; divide it") from None


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of a .yaml file.

    Raises:
      UserError: it cannot be read, or ruamel.yaml is missing.
    """
    reader()
    decoded = decode(content)
    if len(decoded.text) > MAX_CHARACTERS:
        raise UserError(f"has more than {MAX_CHARACTERS:,} characters; divide it")
    text, texts, seen = decoded.text, ResourceTexts(), set[int]()
    scalars = [scalar for root in compose(text) for scalar in values(root, seen)]
    for scalar in sorted(scalars, key=lambda scalar: scalar.start_mark.index):
        start, end = scalar.start_mark.index, scalar.end_mark.index
        properties = PROPERTIES.match(text, start, end)
        span = Span(properties.end() if properties else start, end)
        is_switch = scalar.style is None and scalar.value.lower() in SWITCHES
        if is_switch and scalar.tag == TEXT_TAG:
            texts.leave(MAY_BE_SWITCH, span)
        elif scalar.tag == TEXT_TAG:
            texts.add(scalar.value, span, writer(scalar.style, text[slice(*span)]))
    return TextDocument(text, texts.segments, decoded.encode, texts.left)
