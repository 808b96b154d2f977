"""XLIFF 1.2 and 2: each source without a finished target gets one. All else stays byte for byte.

A target is no translation where its state says so: "new" on a copy of the source, or
"needs-translation". Placeholders, ICU arguments and marks of keys are those of program_messages.py.
What is written is marked for review: state="needs-review-translation", in version 2
state="translated".
"""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nmt import UserError
from nmt.documents import accelerators
from nmt.documents.document import FormatOptions, Left, Review, Segment, Span, TextDocument
from nmt.documents.icu_messages import IcuError
from nmt.documents.markup import (
    Token,
    escape_text,
    find_partners,
    pair_tags,
    tree,
    unescape_text,
)
from nmt.documents.nodes import Node, Tag
from nmt.documents.program_messages import ALREADY_TRANSLATED, NOT_UNDERSTOOD, Message, syntax_of
from nmt.documents.tag_placement import TranslatedText
from nmt.documents.xml_files import XmlTokens, decode_xml

UNITS = {"trans-unit", "segment"}  # of 1.2, of 2: what holds a source and a target
CODES = {"bpt", "ept", "ph", "it", "x", "bx", "ex", "sc", "ec", "cp"}  # markup, not text
CDATA = "<![CDATA["
FINISHED_STATES = {"final", "signed-off", "reviewed"}  # whatever the target holds
COPIED_STATES = {"new", "initial"}  # if the target equals the source
REVIEW_STATES = {
    f"needs{review}-{what}"
    for review in ("", "-review")
    for what in ("adaptation", "l10n", "translation")
} - {"needs-translation"}
DOUBTFUL_STATE = "nmt:doubtful"  # of version 2, whose states cannot ask for a review
NOT_TRANSLATED = "[NAB: NOT TRANSLATED]"  # of NAB AL Tools, for a target that is none
UNKNOWN_LANGUAGE = "und"  # of BCP 47

FOR_REVIEW = "whose state asks for a review"
EDITED_COPY = "with a target other than its source, in the state new"
OTHER_SEGMENTS = "with <mrk> in the target alone"


def local_name(token: Token) -> str:
    """Returns the name of a tag without the prefix of its namespace."""
    return token.name.rpartition(":")[2]


def is_segment(token: Token) -> bool:
    """Returns whether a tag is that of a segment within a source or a target of version 1.2."""
    return local_name(token) == "mrk" and token.attributes.get("mtype") == "seg"


def is_protected(token: Token) -> bool:
    """Returns whether a start tag says that its content is not translated."""
    attributes = token.attributes
    return attributes.get("translate") == "no" or attributes.get("mtype") == "protected"


def unescape(markup: str) -> str:
    """Returns text or a CDATA section as text."""
    return markup[len(CDATA) : -3] if markup.startswith(CDATA) else unescape_text(markup)


def escape_cdata(text: str) -> str:
    """Returns text as it stands in a CDATA section."""
    return text.replace("]]>", "]]]]><![CDATA[>")


def with_attribute(tag: str, name: str, value: str) -> str:
    """Returns a start tag with an attribute."""
    attribute = f'{name}="{html.escape(value)}"'
    changed, count = re.subn(rf"""(?<=\s){name}\s*+=\s*+(?:"[^"]*"|'[^']*')""", attribute, tag)
    end = "/>" if tag.endswith("/>") else ">"
    return changed if count else f"{tag.removesuffix(end).rstrip()} {attribute}{end}"


def without_attribute(tag: str, name: str) -> str:
    """Returns a start tag without an attribute."""
    return re.sub(rf"""\s++{name}\s*+=\s*+(?:"[^"]*"|'[^']*')""", "", tag)


def join_cdata(tokens: list[Token], text: str) -> list[Token]:
    """Returns tokens with each CDATA section as one token of text."""
    joined: list[Token] = []
    is_open = False
    for token in tokens:
        markup = text[token.start : token.end]
        if is_open:
            joined[-1].end = token.end
            is_open = not (token.kind == "fixed" and markup.startswith("]]>"))
        elif token.kind == "fixed" and markup.startswith(CDATA):
            is_open = not markup.endswith("]]>")
            joined.append(dataclasses.replace(token, kind="text"))
        else:
            joined.append(token)
    return joined


class Inherited(NamedTuple):
    """What a unit has from the elements around it, unless it says otherwise."""

    is_translated: bool = True
    keeps_lines: bool = False

    def within(self, token: Token) -> Inherited:
        """Returns what the children of an element inherit."""
        translate = token.attributes.get("translate")
        space = token.attributes.get("xml:space")
        return Inherited(
            translate == "yes" if translate in ("yes", "no") else self.is_translated,
            space == "preserve" if space in ("preserve", "default") else self.keeps_lines,
        )


class Target(NamedTuple):
    """Where the target of a unit belongs."""

    span: Span
    start_tag: str
    end_tag: str
    content: str = ""
    state: str = ""


class StateTags(NamedTuple):
    """The start tags that say the state of a translation."""

    unit: str
    target: str


class Units:
    """Finds the units of a file.

    Args:
      text: of the file.
      tokens: of the text, with partners.
      mark: how a translation is marked, one of MARKS.
      fuzzy: whether targets whose state asks for a review are translated anew.
    """

    def __init__(self, text: str, tokens: list[Token], mark: str, fuzzy: bool):
        self.segments: list[Segment] = []
        self.left: list[Left] = []
        self._text, self._tokens = text, tokens
        self._mark, self._fuzzy = mark, fuzzy
        sources = [
            unescape(self._text[tokens[number].end : tokens[tokens[number].partner_number].start])
            for number, token in enumerate(tokens)
            if token.kind == "start" and local_name(token) == "source"
        ]
        self._marks = accelerators.find_marks(sources)
        self._find()

    def _find(self) -> None:
        """Finds the segments, and what stays."""
        outer, inherited = [], Inherited()
        for number, token in enumerate(self._tokens):
            if token.kind == "start":
                outer.append(inherited)
                inherited = inherited.within(token)
                if local_name(token) in UNITS:
                    self._add_unit(number, inherited)
            elif token.kind == "end":
                inherited = outer.pop()

    def _children(self, parent: int) -> dict[str, int]:
        """Returns the numbers of the tokens of the children of an element, by name."""
        children: dict[str, int] = {}
        number = parent + 1
        while number < self._tokens[parent].partner_number:
            token = self._tokens[number]
            if token.kind in ("start", "fixed") and token.name:
                children.setdefault(local_name(token), number)
            if token.kind == "start":
                number = token.partner_number
            number += 1
        return children

    # ---- Units ----

    def _add_unit(self, unit: int, inherited: Inherited) -> None:
        """Adds the segments of a unit, or what is left of it."""
        children = self._children(unit)
        source = children.get("source")
        if source is None or self._tokens[source].kind != "start" or not inherited.is_translated:
            return
        target = self._target(unit, children)
        start = self._tokens[unit].start
        reason = self._reason_to_leave(unit, source, target, children)
        if reason:
            is_expected = reason in (ALREADY_TRANSLATED, FOR_REVIEW)
            self.left.append(Left(reason, start, is_expected))
            return
        try:
            self.segments += self._unit_segments(unit, children, target, inherited)
        except IcuError:
            self.left.append(Left(NOT_UNDERSTOOD, start))

    def _reason_to_leave(
        self, unit: int, source: int, target: Target, children: dict[str, int]
    ) -> str:
        """Returns why the target of a unit stays as it is; "" if it is to be written."""
        text = self._plain(children["target"]) if target.content else ""
        marks = self._segment_tokens(children["target"]) if target.content else []
        if len(marks) > 1 and "seg-source" not in children and not text:
            return OTHER_SEGMENTS
        if target.state in FINISHED_STATES and (text or target.state != "reviewed"):
            return ALREADY_TRANSLATED
        is_open = any(not self._plain(mark) for mark in marks) and "seg-source" in children
        if not text or text == NOT_TRANSLATED or is_open or target.state == "needs-translation":
            return ""
        if self._tokens[unit].attributes.get("approved") == "yes":
            return ALREADY_TRANSLATED
        if target.state in COPIED_STATES:
            return "" if text == self._plain(source) else EDITED_COPY
        sub_state = self._tokens[unit].attributes.get("subState")
        if target.state in REVIEW_STATES or sub_state == DOUBTFUL_STATE:
            return "" if self._fuzzy else FOR_REVIEW
        return ALREADY_TRANSLATED

    def _unit_segments(
        self, unit: int, children: dict[str, int], target: Target, inherited: Inherited
    ) -> Iterator[Segment]:
        """Yields the segments of a unit whose target is written; several for a <seg-source>."""
        whole = Tag([])
        review = Review(self._mark == "review")
        state_tags = {
            is_asked: self._state_tags(unit, target, is_asked) for is_asked in (False, True)
        }
        unit_token = self._tokens[unit]
        span_of_state = Span(unit_token.start, unit_token.end)

        def finish(_: str) -> list[str]:
            tags = state_tags[review.is_asked]
            return [f"{tags.target}{whole}{target.end_tag}", tags.unit]

        segmented = children.get("seg-source")
        if segmented is not None and self._segment_tokens(segmented):
            messages = self._fill_segments(whole, segmented, children, inherited, finish)
        else:
            message, markup = self._message(children["source"], inherited, finish)
            messages = [message]
            whole.pieces += self._within_mark(children, markup)
        for message in messages:
            yield from message.segments([target.span, span_of_state], review=review)

    def _fill_segments(
        self,
        whole: Tag,
        segmented: int,
        children: dict[str, int],
        inherited: Inherited,
        finish: Callable[[str], list[str]],
    ) -> list[Message]:
        """Adds to the markup of a target what a <seg-source> holds. Returns its messages."""
        messages, finished = [], self._finished_segments(children)
        position = self._tokens[segmented].end
        for mark in self._segment_tokens(segmented):
            token = self._tokens[mark]
            whole.pieces.append(self._text[position : token.end])
            position = token.end
            if token.kind == "start":
                position = self._tokens[token.partner_number].start
                if content := finished.get(token.attributes.get("mid")):
                    whole.pieces.append(content)
                else:
                    message, markup = self._message(mark, inherited, finish)
                    messages.append(message)
                    whole.pieces += markup
        end = self._tokens[self._tokens[segmented].partner_number].start
        whole.pieces.append(self._text[position:end])
        return messages

    def _segment_tokens(self, element: int) -> list[int]:
        """Returns the numbers of the segments within an element, without those within others."""
        numbers, number = [], element + 1
        if self._tokens[element].kind != "start":
            return []
        while number < self._tokens[element].partner_number:
            token = self._tokens[number]
            if token.kind in ("start", "fixed") and is_segment(token):
                numbers.append(number)
                number = token.partner_number if token.kind == "start" else number
            number += 1
        return numbers

    def _finished_segments(self, children: dict[str, int]) -> dict[str | None, str]:
        """Returns the contents of the segments of a target that hold text, by their numbers."""
        if "target" not in children:
            return {}
        return {
            self._tokens[mark].attributes.get("mid"): self._content(mark)
            for mark in self._segment_tokens(children["target"])
            if self._plain(mark)
        }

    def _within_mark(self, children: dict[str, int], markup: list[str | Tag]) -> list[str | Tag]:
        """Returns the markup of a target, within the one <mrk> of an empty target."""
        marks = self._segment_tokens(children["target"]) if "target" in children else []
        if len(marks) != 1:
            return markup
        token = self._tokens[marks[0]]
        tag = self._text[token.start : token.end]
        return [tag.removesuffix("/>").rstrip(" >") + ">", *markup, f"</{token.name}>"]

    def _state_tags(self, unit: int, target: Target, asks_for_review: bool) -> StateTags:
        """Returns the start tags that say the state of a translation.

        In version 2, the state is that of the segment. There is none that asks for a review:
        "translated" stands for it, and that of a doubtful translation among others has a subState.
        """
        token = self._tokens[unit]
        unit_tag = self._text[token.start : token.end]
        is_new = target.state in COPIED_STATES | REVIEW_STATES | {"needs-translation"}
        has_state = self._mark in ("review", "doubtful") or is_new
        if local_name(token) == "segment":
            tag = unit_tag
            if has_state:  # a subState is that of the state before
                tag = with_attribute(without_attribute(tag, "subState"), "state", "translated")
            if asks_for_review and self._mark == "doubtful":
                tag = with_attribute(tag, "subState", DOUBTFUL_STATE)
            return StateTags(tag, target.start_tag)
        state = "needs-review-translation" if asks_for_review else "translated"
        tag = target.start_tag.lstrip()
        margin = target.start_tag.removesuffix(tag)
        if has_state:
            tag = with_attribute(tag, "state", state)
        return StateTags(unit_tag, margin + tag)

    def _target(self, unit: int, children: dict[str, int]) -> Target:
        """Returns the target of a unit, which may not be there yet.

        Args:
          unit: its number.
          children: of the unit.
        """
        state = self._tokens[unit].attributes.get("state") or ""
        if "target" in children:
            token = self._tokens[children["target"]]
            start_tag = self._text[token.start : token.end]
            state = token.attributes.get("state") or state
            if token.kind == "fixed":  # <target/>
                start_tag = start_tag.removesuffix("/>").rstrip() + ">"
                span = Span(token.start, token.end)
                return Target(span, start_tag, f"</{token.name}>", state=state)
            end = self._tokens[token.partner_number]
            content = self._text[token.end : end.start]
            end_tag = self._text[end.start : end.end]
            return Target(Span(token.start, end.end), start_tag, end_tag, content, state)
        source = self._tokens[children["source"]]
        last = self._tokens[children.get("seg-source", children["source"])]
        name = source.name[: -len("source")] + "target"
        position = self._tokens[last.partner_number].end if last.kind == "start" else last.end
        line = self._text[: source.start].rpartition("\n")[2]
        margin = "" if line.strip() else f"\n{line}"
        if margin and self._text[: source.start].endswith(f"\r\n{line}"):
            margin = f"\r{margin}"
        return Target(Span(position, position), f"{margin}<{name}>", f"</{name}>", state=state)

    # ---- Texts ----

    def _content(self, element: int) -> str:
        """Returns the markup within an element."""
        token = self._tokens[element]
        return self._text[token.end : self._tokens[token.partner_number].start]

    def _plain(self, element: int) -> str:
        """Returns the text within an element, without that of codes and outer spaces."""
        token = self._tokens[element]
        return "".join(self._texts(element)).strip() if token.kind == "start" else ""

    def _texts(self, element: int) -> Iterator[str]:
        """Yields the texts within an element, without those of codes."""
        number = element + 1
        while number < self._tokens[element].partner_number:
            token = self._tokens[number]
            if token.kind == "start" and local_name(token) in CODES:
                number = token.partner_number
            elif token.kind == "text":
                yield unescape(self._text[token.start : token.end])
            number += 1

    def _message(
        self, element: int, inherited: Inherited, finish: Callable[[str], list[str]]
    ) -> tuple[Message, list[str | Tag]]:
        """Returns the Message of a source, or of a segment within it, and the markup for it."""
        texts = [
            self._text[token.start : token.end]
            for token in self._tokens[element + 1 : self._tokens[element].partner_number]
            if token.name or self._text[token.start : token.end].strip()
        ]
        is_cdata = len(texts) == 1 and texts[0].startswith(CDATA)
        syntax = syntax_of([], "".join(self._texts(element)))
        has_lines = inherited.within(self._tokens[element]).keeps_lines
        syntax = syntax._replace(has_lines=has_lines, marks=self._marks)
        escape = escape_cdata if is_cdata else escape_text
        message = Message(self._nodes(element), syntax, escape, finish)
        return message, [CDATA, message.markup, "]]>"] if is_cdata else [message.markup]

    def _nodes(self, source: int) -> list[Node]:
        """Returns the nodes of a source."""
        first, last = source + 1, self._tokens[source].partner_number
        sentence, number = [], first
        while number < last:
            token = self._tokens[number]
            if token.kind == "start" and (local_name(token) in CODES or is_protected(token)):
                content = "".join(self._texts(number)) if is_protected(token) else ""
                end = self._tokens[token.partner_number].end
                sentence.append(Token("fixed", token.start, end, content=content))
                number = token.partner_number
            else:
                sentence.append(dataclasses.replace(token))
            number += 1
        pair_tags(sentence)
        span = Span(self._tokens[source].end, self._tokens[last].start)
        return tree(self._text, sentence, span, unescape)


@dataclasses.dataclass
class XliffDocument(TextDocument):
    """A file of version 2 names its language as soon as it holds a target."""

    root: Span | None = None  # its start tag, if it lacks the language
    language: str = UNKNOWN_LANGUAGE

    def translated_text(self, translations: Sequence[TranslatedText]) -> str:
        """Returns the text with the translations of its segments."""
        text = super().translated_text(translations)
        if not self.root or text == self.text:
            return text
        tag = with_attribute(text[slice(*self.root)], "trgLang", self.language)
        return text[: self.root.start] + tag + text[self.root.end :]


def parse(content: bytes, ending: str, options: FormatOptions) -> XliffDocument:
    """Returns the Document of an XLIFF file.

    Args:
      content: of the file.
      ending: of its name.
      options: of which `mark` and `fuzzy` count.

    Raises:
      UserError: it cannot be read, or cannot be marked so.
    """
    if options.mark == "comment":
        raise UserError(
            "XLIFF has no comments that mark a translation: choose review, doubtful or none"
        )
    decoded = decode_xml(content)
    tokens = join_cdata(XmlTokens(decoded.text).tokens, decoded.text)
    find_partners(tokens, lambda open_name, name: False)
    root = next((token for token in tokens if local_name(token) == "xliff"), None)
    if not root:
        raise UserError("is not XLIFF: it has no element <xliff>; name it .xml to translate it so")
    units = Units(decoded.text, tokens, options.mark, options.fuzzy)
    is_version_2 = (root.attributes.get("version") or "").startswith("2")
    lacks_language = is_version_2 and "trgLang" not in root.attributes
    return XliffDocument(
        decoded.text,
        units.segments,
        decoded.encode_with_references,
        units.left,
        Span(root.start, root.end) if lacks_language else None,
    )
