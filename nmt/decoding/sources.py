"""The stages before the search: split lines, protect what must not change, encode.

They fill in the Sentences that the search reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt import UserError
from nmt.decoding import hidden_spans, letter_case
from nmt.decoding.context import Context
from nmt.decoding.sentence import NOTHING_HIDDEN, HiddenText, Sentence
from nmt.text import sentences, spelling
from nmt.text.protected import MARK, hide_marks, restore
from nmt.text.tokenizer import MAX_SOURCE_TOKENS

# What divides texts: a bar between spaces, a line end of subtitles, markup that is no part of a
# sentence, a dash that begins a line of a list or of a dialogue, a letter or number of a list.
BLOCK = r"<(?:br|hr|/?(?:p|div|li|ul|ol|h[1-6]|t[rdh]|table))(?:\s[^<>]{0,200})?/?>"
SPACES = r"(?<!\s)\s++"  # all that are there, so that many take no long time
DIVIDER = re.compile(
    rf"(?:^|{SPACES})\|{{1,2}}(?:\s++|$)|(?<=[^\s\\])\\N(?=\S)"
    rf"|(?:{SPACES})?{BLOCK}(?>(?:\s*+{BLOCK})*)\s*+"
    r"|^\s*+(?:[-\u2013\u2014]|\(?(?:[a-z]|[ivx]{1,5}|[0-9]{1,3})\)|[A-Z]\))\s++"
)
MAY_DIVIDE = re.compile(r"[|\\<)\u2013\u2014-]")  # no DIVIDER is without one: most lines have none
MAX_PREFIX_TOKENS = 1000  # of a line; CTranslate2 has positions for half as many again


def split_line(context: Context, line: str) -> list[tuple[str, str]]:
    """Returns the sentences of a line, each with the white space after it.

    A line that shows nothing is white space after an empty sentence, so that it stays as it is. So
    is what divides texts, such as a bar between those of a singular and a plural.
    """
    if spelling.is_blank(line):
        return [("", spelling.printed(line).strip(" "))]
    line = spelling.visible(line)
    if context.language is None:
        return [(line.strip(), "")]
    texts, dividers = [line], [""]
    if MAY_DIVIDE.search(line):
        texts, dividers = DIVIDER.split(line), [*DIVIDER.findall(line), ""]
    tag = context.tags.match(line)
    parts: list[tuple[str, str]] = []
    for text, divider in zip(texts, dividers, strict=True):
        if spelling.is_blank(text):
            parts += [("", text + divider)] if text + divider else []
            continue
        tagged = (tag[0] if tag and parts else "") + text
        for sentence, space in sentences.split_tagged(tagged, context.language, context.tags):
            is_closing = parts and not parts[-1][1] and not _is_read(context, sentence)
            if is_closing:  # such as a "*" after the stop
                sentence = parts.pop()[0] + sentence
            parts.append((sentence, space))
        parts[-1] = (parts[-1][0], parts[-1][1] + divider)
    return parts


def _is_read(context: Context, text: str) -> bool:
    """Returns whether a text holds letters or digits besides what must not change."""
    return any(map(str.isalnum, context.protector.hide(text).text))


def read_lines(context: Context, lines: Sequence[str]) -> list[list[Sentence]]:
    """Returns the Sentences of each line, protected and with ids."""
    split_lines = [
        [Sentence(text, space) for text, space in split_line(context, line)] for line in lines
    ]
    chunk = [sentence for line in split_lines for sentence in line]
    for sentence in chunk:
        protect(context, sentence)
    encode(context, chunk)
    return split_lines


def protect(context: Context, sentence: Sentence, lost_numbers: Sequence[str] = ()) -> None:
    """Fills in what is not as it was given in the text to tokenize, and its terms."""
    text = sentence.text
    if context.protects:
        sentence.protected = context.protector.hide(text, lost_numbers)
        text = sentence.protected.text
        sentence.numbers = context.protector.numbers(text)
    elif MARK.search(text):
        sentence.protected = hide_marks(text)
        text = sentence.protected.text
    text = spelling.trimmed(text)
    sentence.hidden = HiddenText(text, [])
    if sentence.protected:
        sentence.hidden = hidden_spans.take_out(text, sentence.protected.hidden)
    if sentence.hidden.spans and not _has_words(context, sentence.source_text):
        sentence.hidden = NOTHING_HIDDEN
        sentence.verbatim = without_tags(context, text)
    sentence.terms = context.protector.terms(sentence.source_text)
    letter_case.read(context, sentence)


def without_tags(context: Context, text: str) -> str:
    """Returns a text without the language tags that begin it."""
    match = context.tags.match(text)
    return text[match.end() :] if match else text


def _has_words(context: Context, text: str) -> bool:
    """Returns whether a text holds letters besides language tags."""
    return any(map(str.isalpha, without_tags(context, text)))


def encode(context: Context, chunk: Sequence[Sentence]) -> None:
    """Fills in the ids of Sentences."""
    texts = [sentence.source_text for sentence in chunk]
    ids = context.tokenizer.encode(texts, MAX_SOURCE_TOKENS)
    for sentence, source in zip(chunk, ids, strict=True):
        sentence.source = source


def begin_lines(context: Context, lines: list[list[Sentence]], prefixes: Sequence[str]) -> None:
    """Fills in what the translation of each line begins with."""
    firsts = []
    for line, prefix in zip(lines, prefixes, strict=True):
        if prefix:
            first = next(filter(_has_text, line), line[0])
            label = "".join(sentence.space for sentence in line[: line.index(first)])
            first.given_prefix = prefix.removeprefix(label)
            protect_prefix(first)
            firsts.append(first)
    texts = [first.prefix_text for first in firsts]
    ids = context.tokenizer.target.encode(texts, MAX_SOURCE_TOKENS)
    for first, prefix_ids in zip(firsts, ids, strict=True):
        first.prefix = context.tokenizer.target.text_ids(prefix_ids)
        if len(first.prefix) > MAX_PREFIX_TOKENS:
            raise UserError(
                f"a prefix has {len(first.prefix):,} tokens or more, and may have "
                f"{MAX_PREFIX_TOKENS:,}; shorten it"
            )


def _has_text(sentence: Sentence) -> bool:
    return bool(sentence.text)


def protect_prefix(sentence: Sentence) -> None:
    """Fills in what a translation begins with, and leaves out the source's spans that it holds."""
    prefix, protected = sentence.given_prefix, sentence.protected
    if protected and prefix:
        sentence.hidden = hidden_spans.without_begun(sentence.hidden, prefix, protected.hidden)
        if sentence.verbatim and not restore(sentence.verbatim, protected).startswith(prefix):
            sentence.verbatim = hidden_spans.behind(prefix, sentence.verbatim, protected.hidden)
    sentence.prefix_text = spelling.trimmed(prefix)


def begin_with_ids(context: Context, sentence: Sentence, ids: list[int]) -> None:
    """Fills in the ids that the translation of a Sentence begins with, without START."""
    if ids:
        (sentence.prefix_text,) = context.tokenizer.target.decode([ids])
        sentence.prefix = ids
