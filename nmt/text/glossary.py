"""A glossary: terms of the source and what the translation is to hold for them.

A term stays in the source, so that the network reads the whole sentence; where a translation lacks
that of the term, decoding/placement.py puts it in. Nothing is inflected.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nmt import UserError
from nmt.text import encoding, spelling
from nmt.text.case import CAPITAL_NOUNS, capital_forms, capitalize, capitals, fold
from nmt.text.languages import primary
from nmt.text.protected import Span
from nmt.text.scripts import UNSPACED

COMMENT = "#"


class Glossary:
    """Terms and their translations.

    A term in small letters is found in any case, and the translation gets the case of the source:
    with `dog TAB chien`, Dog is Chien and DOG is CHIEN; but a capital at the beginning of a text is
    that of the sentence, not of the term, and in German that of any noun. A term with a capital is
    found as it is written alone: `US` is not "us". Of several terms at a position, the longest is
    found.

    The case of letters is that of the languages: a Turkish i is İ, STRASSE is straße, and ΛΟΓΟΣ is
    λόγος. Where the source language is unknown, I is both i and ı.

    Args:
      terms: translations by term: one, or several, any of which may stand in a translation.
      languages: the codes of the source and of the target; () if they are unknown.
    """

    def __init__(self, terms: Mapping[str, str | Sequence[str]], languages: Sequence[str] = ()):
        self._terms: dict[str, str | Sequence[str]] = {
            term: (translations,) if isinstance(translations, str) else tuple(translations)
            for term, translations in terms.items()
        }
        self._source, self._target = (*languages, "", "")[:2]
        source_has_capital_nouns = primary(self._source) in CAPITAL_NOUNS
        target_has_capital_nouns = primary(self._target) in CAPITAL_NOUNS
        self._copies_capitals = target_has_capital_nouns or not source_has_capital_nouns
        # Terms by how they may be written, in small letters or in capitals.
        self._by_form: dict[str, str] = {}
        for term in terms:
            folded = fold(term, self._source)
            if term in (folded, term.lower()):  # one with a capital is found as it is
                self._by_form.setdefault(folded, term)
                for form in capital_forms(term, self._source):
                    self._by_form.setdefault(form, term)
        forms = {*terms, *self._by_form}
        self._lengths = sorted({len(form) for form in forms}, reverse=True)
        self._first_letters = {fold(form[0], self._source) for form in forms}
        self._in_languages: dict[tuple[str, ...], Glossary] = {}

    def in_languages(self, languages: Sequence[str]) -> "Glossary":
        """Returns the same glossary with the case of other languages, always the same object."""
        key = tuple(languages)
        if key not in self._in_languages:
            self._in_languages[key] = Glossary(self._terms, key)
        return self._in_languages[key]

    def with_terms(self, terms: dict[str, str], languages: Sequence[str]) -> "Glossary":
        """Returns a Glossary with further terms, which count before those of this one."""
        return Glossary({**self._terms, **terms}, languages)

    def spans(self, text: str) -> list[Span]:
        """Returns the terms in a text as Spans, whose originals are their translations."""
        text = spelling.SPACE_CHARACTER.sub(" ", text)  # one space is as good as another
        folded, spans, start = fold(text, self._source), [], 0
        while start < len(text):
            term, end = self._longest(text, folded, start)
            if term:
                written, begins_text = text[start:end], not text[:start].strip()
                first_target, *other_targets = (
                    self._cased(translation, written, term, begins_text)
                    for translation in self._terms[term]
                )
                spans.append(Span(start, end, "term", first_target, tuple(other_targets)))
            start = end
        return spans

    def _longest(self, text: str, folded: str, start: int) -> tuple[str, int]:
        """Returns the longest term that starts at a position, as the glossary has it, and its end.

        If there is none, "" and the next position.
        """
        if folded[start] not in self._first_letters or _within_word(text, start):
            return "", start + 1
        for length in self._lengths:
            end = start + length
            written, small = text[start:end], folded[start:end]
            term = written if written in self._terms else self._by_form.get(written)
            term = term or self._by_form.get(small)
            if term and end <= len(text) and not _within_word(text, end):
                return term, end
        return "", start + 1

    def _cased(self, translation: str, written: str, term: str, begins_text: bool) -> str:
        """Returns a translation of a term in the case in which a text has the term."""
        if written == term:
            return translation
        if written.isupper() and len(written) > 1:
            return capitals(translation, self._target)
        if written[0].isupper() and not begins_text and self._copies_capitals:
            return capitalize(translation, self._target)
        return translation


# ---- Files and translations ----


def read_glossary(path: str | Path) -> Glossary:
    """Returns the Glossary of a file: lines of source TAB target, and comments, which begin with #.

    A term may have several targets, in further columns or lines; the first ones count first.

    Raises:
      UserError: a line is something else, or there are no terms.
    """
    terms: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(encoding.read_lines(path), start=1):
        if spelling.is_blank(line) or line.startswith(COMMENT):
            continue
        term, *targets = (spelling.trimmed(column) for column in line.split("\t"))
        if not (term and targets and all(targets)):
            raise UserError(
                f"{path}: line {number} is not one source term, a tab and its target; several "
                "targets have a tab between them"
            )
        terms[term] = tuple(dict.fromkeys((*terms.get(term, ()), *targets)))
    if not terms:
        raise UserError(f"{path}: holds no terms; write lines of source term, tab, target term")
    return Glossary(terms)


def take_out_terms(text: str, terms: Iterable[Span]) -> tuple[str, list[Span]]:
    """Returns a text without the translations of `terms`, and the terms that it lacks, in order.

    One translation of each is taken out, once. It is a whole word or several, and its first letter
    may have any case.
    """
    missing = []
    # "hockey" is no second term in "ice hockey".
    for term in sorted(terms, key=lambda term: -len(term.original)):
        translations = sorted((term.original, *term.other_targets), key=len, reverse=True)
        for translation in translations:
            start = _find(text, translation)
            if start >= 0:
                text = f"{text[:start]} {text[start + len(translation) :]}"
                break
        else:
            missing.append(term)
    return text, sorted(missing)


def _find(text: str, term: str) -> int:
    """Returns where a term begins in a text; -1 if it is not there."""
    first = term[:1]
    other_case = {"i": "Iİ", "ı": "I", "I": "iı", "İ": "i"}.get(first, first.swapcase())
    for letter in (first, *other_case):
        beginning = letter + term[1:]
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
