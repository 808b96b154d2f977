"""HTML: read by Python's html.parser, whose positions keep all markup as it is.

Parsers that build a tree (lxml, html5lib) write another page than they read: other quotes, added
<tbody>, repaired mistakes. A tokenizer with positions leaves every byte that is not text.
"""

import re
from collections.abc import Mapping
from html.parser import HTMLParser

from nmt import UserError
from nmt.documents.document import (
    DecodedText,
    FormatOptions,
    Left,
    Span,
    TextDocument,
    decode,
)
from nmt.documents.markup import MarkupSegments, Token, find_ends
from nmt.documents.xml_files import ENCODING
from nmt.text.languages import canonical, is_known, overlap, primary
from nmt.text.protected import has_words

INLINE = set(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd "
    "mark picture q rb rp rt ruby s samp script small source span strike strong sub sup svg math "
    "time tt u var wbr".split()
)
VOID = set("area base br col embed hr img input link meta source track wbr".split())
WHOLE_PAGE = {"html", "body"}  # whose `lang` is often that of another page
ENDED_BY = {  # elements that may lack their end tags, and those at which they then end
    "p": "address article aside blockquote center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol "
    "p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp",
    "li": "li", "dt": "dt dd", "dd": "dt dd", "rt": "rt rp rb rtc", "rp": "rt rp rb rtc",
    "td": "td th tr tbody tfoot", "th": "td th tr tbody tfoot", "tr": "tr tbody tfoot",
    "thead": "tbody tfoot", "tbody": "tbody tfoot", "caption": "colgroup thead tbody tr tfoot",
    "option": "option optgroup hr", "optgroup": "optgroup hr",
}  # fmt: skip
CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
SINGLE_BYTE = {"ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1"}  # to browsers, windows-1252
MAX_UNENDED = 1000  # tags and comments: html.parser takes the square of their number
BEGINS_AND_ENDS = [("<", ">"), ("<!--", "-->"), ("<![", "]"), ("<?", ">")]
MARKUP_WITHOUT_END = re.compile(r"<[a-zA-Z/!?]")


def count_unended(page: str, begin: str, end: str) -> int:
    """Returns how many of what `begin` begins are open at the end of a page; an `end` ends one."""
    unended = 0
    for match in re.finditer(f"{re.escape(begin)}|{re.escape(end)}", page):
        unended = unended + 1 if match[0] == begin else max(0, unended - 1)
    return unended


class PageTokens(HTMLParser):
    """The tokens of a page, in order, and where text stands in a tag without an end."""

    def __init__(
        self,
        page: str,
        is_xhtml: bool = False,
        target_language: str | None = None,
        source_language: str | None = None,
    ):
        super().__init__(convert_charrefs=False)
        self._is_xhtml = is_xhtml
        self._target_language = target_language and (canonical(target_language) or target_language)
        self._source_language = primary(source_language or "")
        self.tokens: list[Token] = []
        self.cut_off: list[Span] = []
        for begin, end in BEGINS_AND_ENDS:
            if (unended := count_unended(page, begin, end)) > MAX_UNENDED:
                raise UserError(f"holds {unended:,} tags or comments without an end; correct it")
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", page))]
        try:
            self.feed(page)
            self.close()
        # html.parser's for an unknown declaration, <![x, and a number of thousands of digits.
        except (AssertionError, ValueError) as error:
            raise UserError(f"is not HTML: {error}; correct it") from None
        is_cut_off = False  # within a tag or comment that does not end
        is_raw = False  # within a script or style, where "<p>" is no tag
        ends = [*(token.start for token in self.tokens[1:]), len(page)]
        for token, token_end in zip(self.tokens, ends, strict=False):  # an empty page has none
            token.end = token_end
            if token.kind in ("start", "end"):
                is_raw = token.kind == "start" and token.name in self.CDATA_CONTENT_ELEMENTS
            begins = not is_raw and MARKUP_WITHOUT_END.match(page, token.start)
            is_cut_off = token.kind == "text" and bool(is_cut_off or begins)
            if is_cut_off:
                token.kind = "fixed"
                start = token.start if begins else self.cut_off.pop().start
                self.cut_off.append(Span(start, token.end))

    def _add(
        self,
        kind: str,
        name: str = "",
        attributes: Mapping[str, str | None] | None = None,
        is_inline: bool = True,
    ) -> None:
        line, column = self.getpos()
        start = self._line_starts[line - 1] + column
        self.tokens.append(Token(kind, start, start, name, dict(attributes or {}), is_inline))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_inline = tag in INLINE or "-" in tag
        attributes = dict(reversed(attrs))  # of two with one name, the first counts
        if value := attributes.get("translate"):
            attributes["translate"] = value.lower()
        self._add("fixed" if tag in VOID else "start", tag, attributes, is_inline)
        language = attributes.get("lang")
        if language and self._target_language and tag not in WHOLE_PAGE:
            is_third = is_known(self._source_language) and is_known(canonical(language) or "")
            is_third = is_third and not overlap(self._source_language, language)
            self.tokens[-1].is_foreign = is_third or overlap(self._target_language, language)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # in HTML, the slash of <b/> means nothing
        if self._is_xhtml:
            self.tokens[-1].kind = "fixed"

    def handle_endtag(self, tag: str) -> None:
        is_inline = tag in INLINE or "-" in tag
        self._add("fixed" if tag in VOID else "end", tag, None, is_inline)

    def handle_data(self, data: str) -> None:
        self._add("text")

    def handle_charref(self, name: str) -> None:
        self._add("text")

    def handle_entityref(self, name: str) -> None:
        self._add("text")

    def handle_comment(self, data: str) -> None:
        self._add("fixed")

    def handle_decl(self, decl: str) -> None:
        self._add("fixed", is_inline=False)

    def unknown_decl(self, data: str) -> None:
        self._add("fixed")

    def handle_pi(self, data: str) -> None:
        self._add("fixed", is_inline=False)


def ended_by(open_name: str, name: str) -> bool:
    """Returns whether an element without an end tag ends where another one starts."""
    return name in ENDED_BY.get(open_name, "").split()


def document(
    decoded: DecodedText,
    is_xhtml: bool = False,
    target_language: str | None = None,
    source_language: str | None = None,
) -> TextDocument:
    """Returns the Document of a page, or of a part of one.

    In XHTML, an element may end with its tag, as in <script src="a.js"/>. Elements whose `lang` is
    the target language, or not the source language, stay as they are.
    """
    page = PageTokens(decoded.text, is_xhtml, target_language, source_language)
    find_ends(page.tokens, ended_by)
    markup = MarkupSegments(decoded.text, page.tokens, language=source_language)
    segments, left = markup.find(), markup.left
    left += [
        Left("in a tag or comment without an end", span.start)
        for span in page.cut_off
        if has_words(decoded.text[slice(*span)])
    ]
    return TextDocument(decoded.text, segments, decoded.encode_with_references, left)


def parse(content: bytes, ending: str, options: FormatOptions) -> TextDocument:
    """Returns the Document of an HTML file, in the encoding that it declares."""
    is_xhtml = ending == ".xhtml"
    prolog = ENCODING.match(content) if is_xhtml else None
    charset = prolog or CHARSET.search(content[:4096])
    declared = charset[1].decode().lower() if charset else None
    if declared in SINGLE_BYTE and not is_xhtml:
        declared = "windows-1252"
    languages = options.target_language, options.source_language
    return document(decode(content, declared), is_xhtml, *languages)
