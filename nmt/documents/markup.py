"""From the tokens of HTML or XML to segments. Each token knows its position, so markup stays as is.

A segment is the text between two tags that end it, such as <p>; inline tags, such as <b>, are part
of it. Inline tags that are not nested end a segment, too.
"""

from __future__ import annotations

import dataclasses
import functools
import html
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from nmt import UserError
from nmt.documents.document import Left, Segment, Span
from nmt.documents.nodes import Element, Fixed, Node, Tag, Text, plain_text, render
from nmt.text.placeholders import PLACEHOLDER
from nmt.text.protected import DEFAULT, FIRST_MARK, MAX_MARKS, has_words
from nmt.text.scripts import CLOSING_SIGNS, LEFT_SIGNS, SENTENCE_ENDS
from nmt.text.sentences import sentence_ends

TRANSLATED_ATTRIBUTES = {
    "alt", "title", "placeholder", "aria-label", "aria-description", "aria-placeholder",
    "aria-roledescription", "aria-valuetext",
}  # fmt: skip
FURTHER_ATTRIBUTES = {  # of some elements
    "option": "label", "optgroup": "label", "track": "label", "th": "abbr", "table": "summary",
}  # fmt: skip
BUTTONS = {"submit", "button", "reset"}  # types of <input> whose value is read
DESCRIPTIONS = {  # names and properties of <meta> whose content is read
    "description", "application-name", "og:title", "og:description", "og:site_name",
    "og:image:alt", "twitter:title", "twitter:description", "twitter:image:alt",
}  # fmt: skip
WITHOUT_TEXT = {  # elements whose content stays, and is not for the network to read
    "code", "kbd", "samp", "var", "pre", "script", "style", "xmp", "plaintext", "listing",
    "rt", "rp", "svg", "math", "textarea",
}  # fmt: skip
MAX_DEPTH = 100  # of inline elements within each other
REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
END_OF_SENTENCE = re.compile(rf"[{SENTENCE_ENDS}:][{re.escape(CLOSING_SIGNS)}]*\s*$")
SPACED_END = re.compile(rf"[.!?…][{re.escape(CLOSING_SIGNS)}]*$")  # which a space should follow
# What a note's number may stand behind: a word of three letters or more, or the stop after one.
END_OF_NOTED = re.compile(rf"[^\W\d_]{{3}}$|(?<=[^\W\d_])[{SENTENCE_ENDS}]$")
UNREAD_ELEMENTS = {"svg", "textarea"}  # untranslated ones that may hold text for readers
ATTRIBUTE = re.compile(  # possessive, so that an attribute of any length takes linear time
    r"""(?<![^\s"'<>/=])([^\s"'<>/=]++)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'<>]++)"""
)


@dataclasses.dataclass
class Token:
    """A start tag, an end tag, text, or markup without content such as an image or a comment."""

    kind: str  # "start", "end", "text", "fixed"
    start: int  # in the document's text
    end: int
    name: str = ""  # of a tag
    attributes: dict[str, str | None] = dataclasses.field(default_factory=dict)
    is_inline: bool = True  # part of a sentence
    following: int = 0  # of a start tag: the number of the token after its element
    partner: int | None = None  # of a start or end tag in a sentence: the number of the other one
    content: str = ""  # of a whole element that is one token: its text
    replacement: str = ""  # for the markup of a tag, where a segment is translated
    alt: Span | None = None  # of an image in Markdown: its text, which is translated
    is_foreign: bool | None = None  # whether its `lang` is not the source's; None if not known

    @property
    def text_attributes(self) -> set[str]:
        """The names of attributes that a reader sees, or hears."""
        names = set(TRANSLATED_ATTRIBUTES)
        if self.name in FURTHER_ATTRIBUTES:
            names.add(FURTHER_ATTRIBUTES[self.name])
        if self.name == "input" and (self.attributes.get("type") or "").lower() in BUTTONS:
            names.add("value")
        if self.name == "meta":
            name = self.attributes.get("name") or self.attributes.get("property") or ""
            names |= {"content"} if name.lower() in DESCRIPTIONS else set()
        return names

    @property
    def is_left_by_language(self) -> bool:
        """Whether it stays because it is not in the source language."""
        return bool(self.is_foreign) and self.attributes.get("translate") != "yes"

    @property
    def is_untranslated(self) -> bool:
        """Whether the element stays as it is, with its attributes."""
        classes = (self.attributes.get("class") or "").split()
        return (
            self.attributes.get("translate") == "no"
            or self.is_left_by_language
            or self.attributes.get("its:translate") == "no"
            or "notranslate" in classes
        )


def unescape_text(markup: str) -> str:
    """Returns HTML or XML without tags as text."""
    try:
        return html.unescape(markup)
    except ValueError:  # a character's number of thousands of digits
        return markup


def escape_text(text: str) -> str:
    """Returns text as HTML or XML."""
    return html.escape(text, quote=False)


def keep_code(markup: str, source: str, escape: Callable[[str], str]) -> str:
    """Returns markup in which code of templates, such as <%= x %>, is not escaped.

    Args:
      source: the markup that was translated; what was escaped there stays so.
    """
    for code in template_code(source):
        markup = markup.replace(escape(code), code)
    return markup


@functools.lru_cache(1)  # each text of a sentence asks for those of all its source
def template_code(source: str) -> frozenset[str]:
    """Returns the code of templates in markup."""
    return frozenset(match[0] for match in re.finditer(PLACEHOLDER, source))


def find_ends(tokens: list[Token], ended_by: Callable[[str, str], bool]) -> None:
    """Fills in what follows the elements of start tags.

    An end tag ends all elements within its own; one of no open element ends nothing. An element may
    be ended by the start of another one, as <p> is, with inline elements that are open in it.
    """
    stack: list[int] = []
    blocks: list[int] = []  # positions in the stack of elements that another one may end
    open_names: Counter[str] = Counter()

    def close(position: int, following: int) -> None:
        for number in stack[position:]:
            open_names[tokens[number].name] -= 1
            tokens[number].following = following
        del stack[position:]
        while blocks and blocks[-1] >= position:
            blocks.pop()

    for number, token in enumerate(tokens):
        if token.kind in ("start", "fixed"):
            while blocks and ended_by(tokens[stack[blocks[-1]]].name, token.name):
                close(blocks[-1], number)
        if token.kind == "start":
            if not token.is_inline or ended_by(token.name, token.name):
                blocks.append(len(stack))
            stack.append(number)
            open_names[token.name] += 1
        elif token.kind == "end" and open_names[token.name]:
            position = len(stack) - 1
            while tokens[stack[position]].name != token.name:
                position -= 1
            start = stack[position]
            close(position, number)
            tokens[start].following = number + 1
    close(0, len(tokens))


def without_quotes(value: str) -> str:
    """Returns the value of an attribute without the quotes around it, if there are any."""
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def pair_tags(sentence: list[Token]) -> None:
    """Sets the partners of tags to their numbers within a sentence; None for what is not nested."""
    stack = []
    for number, token in enumerate(sentence):
        token.partner = None
        if token.kind == "start":
            stack.append(number)
        elif token.kind == "end" and stack and sentence[stack[-1]].name == token.name:
            token.partner = stack.pop()
            sentence[token.partner].partner = number


def is_note(text: str, before: str, behind: str) -> bool:
    """Returns whether an element's text is a number that makes another word of the one before it.

    It is not in H<sub>2</sub>O and m<sup>2</sup>.
    """
    has_number = any(map(str.isdigit, text)) and not text[0].isspace() and not has_words(text)
    return has_number and bool(END_OF_NOTED.search(before[-3:])) and not behind.isalnum()


def markup_pieces(nodes: Iterable[Node]) -> Iterator[str | Tag]:
    """Yields the pieces of markup of nodes, tags whose attributes are translated as they are."""
    for node in nodes:
        if isinstance(node, Element):
            yield node.start_tag
            yield from markup_pieces(node.children)
            yield node.end_tag
        else:
            yield node.markup if isinstance(node, Fixed) else escape_text(node.text)


def check_depth(depth: int) -> None:
    """Raises a UserError if tags are nested too deep."""
    if depth > MAX_DEPTH:
        raise UserError(
            f"tags are nested more than {MAX_DEPTH} deep within a sentence; simplify the markup"
        )


def tree(
    text: str,
    tokens: list[Token],
    span: Span,
    unescape: Callable[[str], str] = unescape_text,
    tags: dict[int, Tag] | None = None,
) -> list[Node]:
    """Returns the nodes of tokens; outside of the span, tokens are spaces.

    A tag without a partner in this list is Fixed. `tags` are those whose attributes are translated,
    by position.
    """
    tags = tags or {}
    nodes: list[Node] = []  # the children of the innermost open element
    outer: list[list[Node]] = []  # those around it
    names = 0  # that are not translated
    begins = True  # whether a sentence begins here
    for token in tokens:
        markup = text[max(token.start, span.start) : min(token.end, span.end)]
        if token.kind == "text":
            content = unescape(markup)
            nodes.append(Text(content))
            begins = bool(END_OF_SENTENCE.search(content)) if content.strip() else begins
        elif token.kind == "fixed" or token.partner is None:
            name = read = token.content
            # Without its subject, a sentence may get another one, so a name that begins it is read.
            if any(map(str.isalnum, name)) and not begins:
                names += 1
                read = name.replace(name.strip(), chr(FIRST_MARK + names % MAX_MARKS))
            nodes.append(Fixed(tags.get(token.start, markup), read, name))
            begins = begins and not name.strip()
        elif token.kind == "start":
            outer.append(nodes)
            nodes = []
            check_depth(len(outer))
        else:
            start = tokens[token.partner]
            start_tag = tags.get(start.start, text[start.start : start.end])
            node: Node = Element(start_tag, token.replacement or markup, nodes)
            nodes = outer.pop()
            content, before = plain_text([node]), plain_text(nodes[-1:])
            if not content.strip():
                node = Fixed(Tag([*markup_pieces([node])]), content)
            elif is_note(content, before, text[token.end : token.end + 1]):
                names += 1
                mark = chr(FIRST_MARK + names % MAX_MARKS)
                node = Fixed(Tag([*markup_pieces([node])]), mark, f" {content}")
            nodes.append(node)
    return nodes


class Syntax(NamedTuple):
    """How a format writes text."""

    unescape: Callable[[str], str]  # markup without tags to text
    escape: Callable[[str], str]  # text to markup
    lay_out: Callable[[str, str], str]  # new markup, and that of the source, to its lines


def same_line(markup: str, source: str) -> str:
    """Returns markup as it is: the lay-out where line ends mean nothing."""
    return markup


MARKUP = Syntax(unescape_text, escape_text, same_line)  # of HTML and XML


class MarkupSegments:
    """Collects the segments of a document."""

    def __init__(
        self, text: str, tokens: list[Token], syntax: Syntax = MARKUP, language: str | None = None
    ):
        self._text, self._tokens, self._syntax = text, tokens, syntax
        self._language = language or "en"
        self._segments: list[Segment] = []
        self.left: list[Left] = []
        self._tags: dict[int, Tag] = {}  # those with translated attributes, by position

    def find(self) -> list[Segment]:
        """Returns the segments, attributes before the sentence that their tag is in."""
        self._find(0, len(self._tokens))
        return self._segments

    def _find(self, number: int, last: int) -> None:
        """Adds the segments of the tokens from one number to another."""
        sentence: list[Token] = []
        while number < last:
            token = self._tokens[number]
            if not token.is_inline:
                self._add_sentence(sentence)
                sentence = []
            is_read = token.name not in WITHOUT_TEXT
            if not token.is_untranslated:
                self._add_attributes(token)
            if token.kind in ("start", "fixed") and (token.is_untranslated or not is_read):
                end = token.following if token.kind == "start" else number + 1
                if inner := [*self._translated_again(number + 1, end)] if is_read else []:
                    self._add_sentence(sentence)
                    sentence = []
                    for first, inner_end in inner:
                        self._find(first, inner_end)
                elif token.name in UNREAD_ELEMENTS:
                    self._note(number, end)
                elif is_read and not token.is_inline:
                    lang = f'lang="{token.attributes.get("lang")}"'
                    mark = lang if token.is_left_by_language else 'translate="no"'
                    self._note(number, end, mark)
                if token.is_inline and not inner:
                    sentence.append(self._untranslated(number, end))
                number = end
                continue
            if token.is_inline:
                sentence.append(token)
            number += 1
        self._add_sentence(sentence)

    def _translated_again(self, number: int, end: int) -> Iterator[tuple[int, int]]:
        """Yields where elements with translate="yes" are within one that is not translated.

        Within one in another language than the source's, those in the source language, too.
        """
        by_language = self._tokens[number - 1].is_left_by_language
        while number < end:
            token = self._tokens[number]
            is_source = by_language and token.is_foreign is False
            is_read = is_source or token.attributes.get("translate") == "yes"
            if token.kind == "start" and is_read:
                yield number, token.following
                number = token.following
            else:
                number += 1

    def _note(self, number: int, end: int, mark: str = "") -> None:
        """Adds to `left` an element that holds text; `end` is the token after it."""
        tokens = self._tokens[number:end]
        texts = [self._content(token) for token in tokens if token.kind == "text"]
        if has_words(" ".join(texts)):
            name = f"<{tokens[0].name}>"
            self.left.append(Left(f"in {mark or name}", tokens[0].start, is_expected=True))

    def _untranslated(self, number: int, end: int) -> Token:
        """Returns an element that stays as it is as one Token."""
        tokens = self._tokens[number:end]
        texts = [] if tokens[0].name in WITHOUT_TEXT else [t for t in tokens if t.kind == "text"]
        content = "".join(self._content(token) for token in texts)
        if tag := self._tags.get(tokens[0].start):
            markup = self._text[tokens[0].end : tokens[-1].end]
            self._tags[tokens[0].start] = Tag([tag, markup])
        return Token("fixed", tokens[0].start, tokens[-1].end, content=content)

    def _content(self, token: Token) -> str:
        """Returns the text of a Token, without character references."""
        return self._syntax.unescape(self._text[token.start : token.end])

    def _add_attributes(self, token: Token) -> None:
        """Adds a segment for each attribute of a tag that is text."""
        markup = self._text[token.start : token.end]
        texts = []  # spans within the markup, and the text of each
        if token.alt:
            span = Span(token.alt.start - token.start, token.alt.end - token.start)
            texts.append((span, self._syntax.unescape(markup[slice(*span)])))
        names = token.text_attributes if token.attributes else set()
        for match in ATTRIBUTE.finditer(markup) if names & token.attributes.keys() else ():
            name, value = match[1].lower(), unescape_text(without_quotes(match[2]))
            if name in names and token.attributes.get(name) == value:
                texts.append((Span(*match.span(2)), value))
        texts = [(span, value) for span, value in texts if has_words(value)]
        if texts:
            bounds = [0, *(position for span, _ in texts for position in span), len(markup)]
            pieces = [markup[start:end] for start, end in itertools.pairwise(bounds)]
            tag = Tag([*pieces])
            self._tags[token.start] = tag
            for number, (span, value) in enumerate(texts):
                self._add_attribute(token, value, span, tag, 2 * number + 1)

    def _add_attribute(self, token: Token, value: str, span: Span, tag: Tag, piece: int) -> None:
        """Adds the segment of an attribute: a piece of a Tag, quoted at a span of the token."""

        def write(nodes: list[Node]) -> list[str]:
            text = plain_text(nodes)
            quoted = f"{quote}{html.escape(text)}{quote}"
            new_text = self._syntax.escape(text) if token.alt else quoted
            new_text = keep_code(new_text, value, html.escape)
            tag.pieces[piece] = new_text
            return [new_text]

        span = Span(token.start + span.start, token.start + span.end)
        quote = "'" if self._text[span.start] == "'" else '"'
        self._segments.append(Segment([Text(value)], [span], write))

    def _add_sentence(self, sentence: list[Token]) -> None:
        """Adds the segments of the tokens between two that end a sentence; often one."""
        pair_tags(sentence)
        if links := self._links(sentence):
            for link in links:
                self._add_sentence(link)
            return
        sentence = self._trim(sentence)
        if ends := self._ends_at_tags(sentence):
            for first, last in itertools.pairwise([0, *ends, len(sentence)]):
                self._add_sentence(sentence[first:last])
            return
        if any(token.kind in ("start", "end") and token.partner is None for token in sentence):
            part: list[Token] = []
            for token in [*sentence, None]:
                if token is None or token.kind in ("start", "end"):
                    self._add_segment(self._trim(part))
                    part = []
                else:
                    part.append(token)
        else:
            self._add_segment(sentence)

    def _links(self, sentence: list[Token]) -> list[list[Token]]:
        """Returns the links of a menu, each as its tokens; [] if text stands beside them."""
        links: list[list[Token]] = []
        number = 0
        while number < len(sentence):
            token = sentence[number]
            if token.kind == "start" and token.name == "a" and token.partner is not None:
                links.append(sentence[number : token.partner + 1])
                number = token.partner + 1
            elif token.kind == "text" and not has_words(self._content(token)):
                number += 1
            else:
                return []
        return links if len(links) > 1 else []

    def _ends_at_tags(self, tokens: list[Token]) -> list[int]:
        """Returns the numbers of the tokens before which a sentence ends without a space.

        It does at a tag, if it would with a space: in "Oi.<b>Ele</b>", not in "Sr.<b>Ramos</b>".
        """
        texts = [
            self._content(token) if token.kind == "text" else token.content for token in tokens
        ]
        spans = DEFAULT.spans("".join(texts))  # what must not change, such as URLs
        inside = {place for span in spans for place in range(span.start + 1, span.end)}
        line, length, last = "", 0, -1  # `last`: the last token with text
        ends: dict[int, int] = {}  # numbers of tokens, by position in `line`
        for number, text in enumerate(texts):
            if not text:
                continue
            between = range(last + 1, number + 1)
            has_tag = any(tokens[other].kind != "text" for other in range(max(last, 0), number + 1))
            begins = has_tag and (text[0].isupper() or text[0] in LEFT_SIGNS)
            if begins and length not in inside and SPACED_END.search(line[-20:]):
                line += " "
                ends[len(line)] = next(n for n in between if tokens[n].kind != "end")
            line, length, last = line + text, length + len(text), number
        positions = {*sentence_ends(line, self._language)} if ends else {}
        return [number for position, number in ends.items() if position in positions]

    def _trim(self, sentence: list[Token]) -> list[Token]:
        """Returns tokens without markup around their text."""

        def is_outside(token: Token) -> bool:
            if token.kind == "text":
                return not self._content(token).strip()
            return token.partner is None and not token.content

        first, last = 0, len(sentence)
        while first < last:
            if is_outside(sentence[first]):
                first += 1
            elif is_outside(sentence[last - 1]):
                last -= 1
            elif sentence[first].kind == "start" and sentence[first].partner == last - 1:
                first, last = first + 1, last - 1
            else:
                break
        trimmed = sentence[first:last]
        for token in trimmed:
            if token.partner is not None:
                token.partner -= first
        return trimmed

    def _add_segment(self, tokens: list[Token]) -> None:
        """Adds the segment of tokens whose tags are nested; none if it holds no letter."""
        texts = [token for token in tokens if token.kind == "text"]
        if not has_words("".join(map(self._content, texts))):
            return
        start, end = tokens[0].start, tokens[-1].end
        if tokens[0].kind == "text":
            markup = self._text[start : tokens[0].end]
            start += len(markup) - len(markup.lstrip())
        if tokens[-1].kind == "text":
            markup = self._text[tokens[-1].start : end]
            end -= len(markup) - len(markup.rstrip())
        nodes = tree(self._text, tokens, Span(start, end), self._syntax.unescape, self._tags)
        write = self._writer(self._text[start:end])
        self._segments.append(Segment(nodes, [Span(start, end)], write))

    def _writer(self, source: str) -> Callable[[list[Node]], list[str]]:
        """Returns the function that writes a segment, of which `source` is the markup.

        A character that is a reference there, such as &nbsp; or &#150;, is the same one again.
        """
        syntax = self._syntax
        references: dict[int, str] = {}
        for match in REFERENCE.finditer(source):
            character = syntax.unescape(match[0])
            if len(character) == 1 and not character.isascii():
                references.setdefault(ord(character), match[0])

        def escape(text: str) -> str:
            return keep_code(syntax.escape(text).translate(references), source, syntax.escape)

        return lambda nodes: [syntax.lay_out(render(nodes, escape), source)]
