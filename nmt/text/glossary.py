"""A glossary: terms of the source and what the translation is to hold for them.

A term stays in the source, so that the network reads the whole sentence; where a translation lacks
that of the term, decoding/placement.py puts it in. Nothing is inflected.
"""

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from nmt import UserError
from nmt.text import encoding, spelling
from nmt.text.protected import SYMBOL, Span
from nmt.text.words import UNSPACED

COMMENT = "#"


class Glossary:
    """Terms and their translations.

    A term in small letters is found in any case, and the translation gets the case of the source:
    with `dog TAB chien`, Dog is Chien and DOG is CHIEN; but a capital at the beginning of a text is
    that of the sentence, not of the term. A term with a capital is found as it is written alone:
    `US` is not "us". Of several terms at a position, the longest is found.

    Args:
      terms: translations by term.
    """

    def __init__(self, terms: dict[str, str]):
        self._terms = terms
        self._lengths = sorted({len(term) for term in terms}, reverse=True)
        self._first_letters = {fold(term[0]) for term in terms}

    def spans(self, text: str) -> list[Span]:
        """Returns the terms in a text as Spans, whose originals are their translations."""
        folded, spans, start = fold(text), [], 0
        while start < len(text):
            end = self._end_of_term(text, folded, start)
            if end:
                begins_text = not text[:start].strip()
                translation = self._translation(text[start:end], begins_text)
                spans.append(Span(start, end, "term", translation))
            start = end or start + 1
        return spans

    def _end_of_term(self, text: str, folded: str, start: int) -> int:
        """Returns where the longest term that starts at a position ends; 0 if there is none."""
        if folded[start] not in self._first_letters or _within_word(text, start):
            return 0
        for length in self._lengths:
            end = start + length
            is_term = text[start:end] in self._terms or folded[start:end] in self._terms
            if is_term and end <= len(text) and not _within_word(text, end):
                return end
        return 0

    def _translation(self, term: str, begins_text: bool) -> str:
        """Returns the translation of a term as it is written in a text."""
        if term in self._terms:
            return self._terms[term]
        translation = self._terms[fold(term)]
        if term.isupper() and len(term) > 1:
            return translation.upper()
        return capitalize(translation) if term[0].isupper() and not begins_text else translation


def capitalize(text: str) -> str:
    """Returns a text whose first letter is a capital, and all else as it was."""
    return text[:1].upper() + text[1:]


def fold(text: str) -> str:
    """Returns a text in small letters, character by character: its length stays."""
    small = text.lower()
    if len(small) == len(text):
        return small
    # "İ" stays: its small form is two characters.
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def read_glossary(path: str | Path) -> Glossary:
    """Returns the Glossary of a file: lines of source TAB target, and comments, which begin with #.

    Raises:
      UserError: a line is something else, a term has two translations, or there are no terms.
    """
    terms, numbers = {}, {}
    for number, line in enumerate(encoding.read_lines(path), start=1):
        if spelling.is_blank(line) or line.startswith(COMMENT):
            continue
        columns = [spelling.trimmed(column) for column in line.split("\t")]
        if len(columns) != 2 or not all(columns):
            raise UserError(f"{path}: line {number} is not one source term, a tab and its target")
        term, translation = columns
        if SYMBOL.search(translation):
            raise UserError(
                f"{path}: line {number} holds {SYMBOL.search(translation)[0]}, which has a meaning "
                "of its own; leave it out"
            )
        if terms.get(term, translation) != translation:
            raise UserError(
                f"{path}: line {number} translates {term!r} otherwise than line {numbers[term]}; "
                "remove one of them"
            )
        terms[term] = translation
        numbers.setdefault(term, number)
    if not terms:
        raise UserError(f"{path}: holds no terms; write lines of source term, tab, target term")
    return Glossary(terms)


def take_out_terms(text: str, terms: Iterable[str]) -> tuple[str, list[str]]:
    """Returns a text without `terms`, each taken out once, and the terms that it does not hold.

    A term is a whole word or several, and its first letter may have any case.
    """
    missing = []
    for term in sorted(terms, key=len, reverse=True):  # "hockey" is no second term in "ice hockey"
        start = _find(text, term)
        if start < 0:
            missing.append(term)
        else:
            text = f"{text[:start]} {text[start + len(term) :]}"
    return text, missing


def _find(text: str, term: str) -> int:
    """Returns where a term begins in a text; -1 if it is not there."""
    for beginning in (term, term[:1].swapcase() + term[1:]):
        start = text.find(beginning)
        while start >= 0:
            if not (_within_word(text, start) or _within_word(text, start + len(term))):
                return start
            start = text.find(beginning, start + 1)
    return -1


def _within_word(text: str, position: int) -> bool:
    """Returns whether a position is within a word; never in a script without spaces."""
    neighbors = text[max(position - 1, 0) : position + 1]
    return 0 < position < len(text) and all(map(_is_letter, neighbors))


def _is_letter(character: str) -> bool:
    """Returns whether a character is part of a word that stands between spaces."""
    return unicodedata.category(character)[0] in "LMN" and not UNSPACED.match(character)
