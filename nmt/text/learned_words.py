"""Words in the form that a run has learned: "ESTAÇÃO" as "estação", "Gato" as "gato".

A network knows a word by its tokens. Of one that its training text holds often, the vocabulary has
few tokens or one; of the same word in capitals, with another accent or none, it has many, which the
network has hardly seen. So a text is read in the forms of its words that have the fewest tokens,
and its translation gets the case of the source. No form is longer or shorter than the word, so that
a position in the text is the same one in all forms.
"""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nmt.text.case import capitalize, capitals, small, without_accents
from nmt.text.protected import MARK
from nmt.text.scripts import UNSPACED
from nmt.text.special_tokens import UNKNOWN
from nmt.text.spelling import MARK_OF_SPACE

if TYPE_CHECKING:
    from nmt.text.tokenizer import Tokenizer

CAPITALS, TITLE, SENTENCE, AS_FOUND = "capitals", "title", "sentence", ""  # the case of a text
WORD = re.compile(rf"(?:(?!{UNSPACED.pattern})[^\W\d_])+")
TITLE_WORD = re.compile(rf"(?<![\w'’]){WORD.pattern}")  # "Weren't"
ENDS = tuple(".!?…")  # of sentences
LONGEST_WORD = 40  # letters; a longer one is as it was given
USUAL_SIGNS = dict(zip("“”„«»‘’‚‹›–—−", 5 * ['"'] + 5 * ["'"] + 3 * ["-"], strict=True))
KNOWN_WORDS = 2**16  # whose numbers of tokens and forms are kept
LITTLE_WORD = 3  # letters, at most, of one that may be small in a title: "of", "and"
TITLE_WORDS = 3  # in a text whose words all have a capital: "Hello, Ana" is no title
MANY_TOKENS = 10_000  # of a word that the vocabulary cannot spell
CLEARLY_FEWER = 2  # tokens: for less, the usual form of a word stays, unless the other is an entry


Emphasized = tuple[tuple[int, int], ...]  # where words in capitals are, among others


def usual_signs(characters: Collection[str]) -> dict[str, str]:
    """Returns quotes and dashes that are not among the characters of a vocabulary, and what is."""
    return {
        sign: usual
        for sign, usual in USUAL_SIGNS.items()
        if usual in characters and sign not in characters
    }


class Reading(NamedTuple):
    """A text as the network reads it, and what the translation is to be like."""

    text: str
    case: str = AS_FOUND
    emphasized: Emphasized = ()


class LearnedWords:
    """The forms of words that a tokenizer has few tokens for.

    Args:
      language: the code of the text's language; "" if it is unknown.
    """

    def __init__(self, tokenizer: Tokenizer, language: str = ""):
        self._tokenizer = tokenizer
        self._language = language
        self.tokens = functools.lru_cache(KNOWN_WORDS)(self._tokens)
        self._form = functools.lru_cache(KNOWN_WORDS)(self._form_of)
        self._has_accents = functools.lru_cache(KNOWN_WORDS)(self._is_accented)
        pieces = tokenizer.tokens(range(tokenizer.vocab_size))
        words = [piece.removeprefix(MARK_OF_SPACE) for piece in pieces if piece[0] != "<"]
        self._has_capitals = any(word != word.lower() for word in words)
        self._signs = str.maketrans(usual_signs(tokenizer.characters))
        self._with_accents: dict[str, list[str]] = collections.defaultdict(list)
        for piece in pieces:
            word = piece.removeprefix(MARK_OF_SPACE)
            if not word.isascii() and word != piece and WORD.fullmatch(word):
                self._with_accents[self._bare(word)].append(word)

    def _tokens(self, word: str) -> int:
        """Returns the number of tokens of a word."""
        ids = self._tokenizer.text_ids(self._tokenizer.encode([word])[0])
        return MANY_TOKENS if UNKNOWN in ids else len(ids)

    def _small(self, word: str) -> str:
        return small(word, self._language)

    def _capitalized(self, word: str) -> str:
        return capitalize(self._small(word), self._language)

    def _bare(self, word: str) -> str:
        """Returns a word in small letters without accents."""
        return without_accents(self._small(word))

    def _is_accented(self, word: str) -> bool:
        return self._small(word) != self._bare(word)

    def read(self, text: str) -> Reading:
        """Returns a text, in its normal form, as a Reading."""
        given, text = text, text.translate(self._signs)
        if text.lower() == text.upper():  # a script without case
            return Reading(text)
        words = [match for match in WORD.finditer(text) if len(match[0]) <= LONGEST_WORD]
        case = case_of([word[0] for word in words])
        if case == AS_FOUND and self._is_short_title(text, words):
            case = TITLE
        is_uniform = case != AS_FOUND or text == self._small(text) or not self._has_capitals
        # Who writes one accent writes them all: "bebe" beside "café" is no "bebê".
        is_bare = bool(self._with_accents) and not any(self._has_accents(word[0]) for word in words)
        fewer = CLEARLY_FEWER if text.endswith(ENDS) else 1  # of a label, the first word is a noun
        parts: list[str] = []
        emphasized, end = [], 0
        for number, match in enumerate(words):
            word, begins_text = match[0], number == 0 and len(words) > 1
            form = self._form(word, is_uniform, is_bare, begins_text, fewer)
            if case == AS_FOUND and word.isupper() and form != word and len(word) > 1:
                emphasized.append(match.span())
            parts += text[end : match.start()], form
            end = match.end()
        read = "".join([*parts, text[end:]])
        if case == AS_FOUND and words and words[0][0][0].isupper() and begins_with(text, words[0]):
            case = SENTENCE
        if read == given and case != SENTENCE:  # the network knows it in that case
            case = AS_FOUND
        return Reading(read, case, tuple(emphasized))

    def _is_short_title(self, text: str, words: Sequence[re.Match[str]]) -> bool:
        """Returns whether a text is two words with capitals, such as "Boa Noite", and no name."""
        if len(words) != 2 or text[words[0].end() : words[1].start()] != " ":
            return False
        first, word = (word[0] for word in words)
        is_begun = first[0].isupper() and word[0].isupper() and not word.isupper()
        return is_begun and self._nearest([word, self._small(word)]) != word

    def _form_of(
        self, word: str, is_uniform: bool, is_bare: bool, begins_text: bool, fewer: int
    ) -> str:
        """Returns the form of a word in a text, which begins with it or not."""
        accented = self._with_accents.get(self._bare(word), []) if is_bare else []
        if is_uniform:
            return self._usual_form(word, begins_text, accented)
        return self._form_among_others(word, fewer if begins_text else MANY_TOKENS, accented)

    def _usual_form(self, word: str, begins_text: bool, accented: list[str]) -> str:
        """Returns the form of a word of a text in capitals, in small letters, or of a title."""
        forms = [self._small(word), self._capitalized(word)]
        if begins_text and word[0].isupper():
            forms.reverse()
        return self._nearest([*forms, word, *accented])

    def _form_among_others(self, word: str, fewer: int, accented: list[str]) -> str:
        """Returns the form of a word of a text that is written as usual.

        It is in small letters if it has so many `fewer` tokens then.
        """
        if self.tokens(word) == 1:
            return word
        forms = accented
        if word[0].isupper():
            forms = [capitalize(form, self._language) for form in forms]
        if word.isupper() and len(word) > 1:
            forms = [self._small(word), self._capitalized(word), *forms]
        elif self.tokens(word) - self.tokens(self._small(word)) >= fewer:
            forms = [self._small(word), *forms]
        return self._nearest([word, *forms])

    def _nearest(self, forms: Sequence[str]) -> str:
        """Returns the first form, unless another one has clearly fewer tokens or is an entry."""
        usual = forms[0]
        form = min((form for form in forms if len(form) == len(usual)), key=self.tokens)
        fewer = self.tokens(usual) - self.tokens(form)
        is_nearer = fewer >= CLEARLY_FEWER or (fewer and self.tokens(form) == 1)
        return form if is_nearer else usual


def begins_with(text: str, word: re.Match[str]) -> bool:
    """Returns whether nothing but signs stands before a word: no number, and nothing hidden."""
    before = text[: word.start()]
    return not any(map(str.isalnum, before)) and not MARK.search(before)


def case_of(words: Sequence[str]) -> str:
    """Returns the case of a text by its words: CAPITALS, TITLE, SENTENCE of a single word."""
    words = [word for word in words if word.lower() != word.upper()]
    begun = [word for word in words if word[0].isupper()]
    if not begun:
        return AS_FOUND
    if all(map(str.isupper, words)) and sum(map(len, words)) > 1:
        return CAPITALS
    if len(words) == 1:
        return SENTENCE
    is_title = all(
        word[0].isupper() and not word.isupper() for word in words if len(word) > LITTLE_WORD
    )
    return TITLE if is_title and len(begun) >= TITLE_WORDS else AS_FOUND


def in_case(text: str, case: str, language: str = "") -> str:
    """Returns a translation in the case of its source."""
    if case == CAPITALS:
        return capitals(text, language)
    if case == TITLE:
        return TITLE_WORD.sub(lambda word: capitalize(word[0], language), text)
    first = WORD.search(text) if case == SENTENCE else None
    if not first or not begins_with(text, first):
        return text
    return text[: first.start()] + capitalize(text[first.start() :], language)
