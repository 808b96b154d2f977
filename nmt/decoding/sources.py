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
from nmt.text.protected import restore
from nmt.text.tokenizer import MAX_SOURCE_TOKENS

BAR = re.compile(r"\s+\|{1,2}\s+|(?<=[^\s\\])\\N(?=\S)")  # or a line end of subtitles
MAX_PREFIX_TOKENS = 1000  # of a line; CTranslate2 has positions for half as many again


def split_line(context: Context, line: str) -> list[tuple[str, str]]:
    """Returns the sentences of a line, each with the white space after it.

    A line that shows nothing is white space after an empty sentence, so that it stays as it is. A
    bar between spaces divides texts, such as those of a singular and a plural; it is white space.
    """
    if spelling.is_blank(line):
        return [("", spelling.printed(line).strip(" "))]
    line = spelling.visible(line)
    if context.language is None:
        return [(line.strip(), "")]
    texts, bars = BAR.split(line), [*BAR.findall(line), ""]
    if any(map(spelling.is_blank, texts)):
        texts, bars = [line], [""]
    tag = context.tags.match(line)
    parts: list[tuple[str, str]] = []
    for text, bar in zip(texts, bars, strict=True):
        tagged = (tag[0] if tag and parts else "") + text
        *earlier, (last, space) = sentences.split_tagged(tagged, context.language, context.tags)
        parts += [*earlier, (last, space + bar)]
    return parts


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
    begun = [(line[0], prefix) for line, prefix in zip(lines, prefixes, strict=True) if prefix]
    for first, prefix in begun:
        first.given_prefix = prefix
        protect_prefix(first)
    firsts = [first for first, _ in begun]
    texts = [first.prefix_text for first in firsts]
    ids = context.tokenizer.target.encode(texts, MAX_SOURCE_TOKENS)
    for first, prefix_ids in zip(firsts, ids, strict=True):
        first.prefix = context.tokenizer.target.text_ids(prefix_ids)
        if len(first.prefix) > MAX_PREFIX_TOKENS:
            raise UserError(
                f"a prefix has {len(first.prefix):,} tokens or more, and may have "
                f"{MAX_PREFIX_TOKENS:,}; shorten it"
            )


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
