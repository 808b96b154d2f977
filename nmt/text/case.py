"""The case of letters, by language: capitals, small letters, both taken for the same; accents."""

import unicodedata
from collections.abc import Iterator

from nmt.text.languages import primary

DOTTED_I = {"tr", "az", "crh", "gag", "tt"}  # languages with two letters: i is İ, and ı is I
CAPITAL_NOUNS = {"de", "lb"}  # languages that write every noun with a capital
ACCENTS_OF_GREEK = "\u0300\u0301\u0313\u0314\u0342"  # which capitals do not have


def _has_dotted_i(language: str) -> bool:
    """Returns whether a language, by its code, has a capital İ."""
    return primary(language) in DOTTED_I


def capitals(text: str, language: str = "") -> str:
    """Returns a text in the capitals of a language, by its code; Greek ones have no accents."""
    text = text.replace("i", "İ") if _has_dotted_i(language) else text
    letters = unicodedata.normalize("NFD", text.upper())
    is_greek = False
    bare = []
    for letter in letters:
        if not unicodedata.combining(letter):
            is_greek = "\u0370" <= letter <= "\u03ff" or "\u1f00" <= letter <= "\u1fff"
        if not (is_greek and letter in ACCENTS_OF_GREEK):
            bare.append(letter)
    return unicodedata.normalize("NFC", "".join(bare))


def capitalize(text: str, language: str = "") -> str:
    """Returns a text whose first letter is a capital, and all else as it was."""
    first = "İ" if text[:1] == "i" and _has_dotted_i(language) else text[:1].upper()
    return first + text[1:]


def small(text: str, language: str = "") -> str:
    """Returns a text in the small letters of a language, by its code: its length stays."""
    if _has_dotted_i(language):
        text = text.replace("I", "ı")
    text = text.replace("İ", "i")  # its small form is two characters
    letters = text.lower()
    if len(letters) == len(text):
        return letters
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def without_accents(text: str) -> str:
    """Returns a text whose letters have no accents: "estacao"."""
    letters = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def fold(text: str, language: str = "") -> str:
    """Returns a text in small letters, whose length stays; a Greek sigma is the same anywhere."""
    return small(text, language).replace("ς", "σ")


def capital_forms(term: str, language: str) -> Iterator[str]:
    """Yields how a term in small letters may be written in capitals, in a language or in any."""
    yield capitals(term, language)
    if not _has_dotted_i(language):
        yield capitals(term, "tr")
        yield capitalize(term)  # "Isparta", whose small letter is ı
        yield term.upper()  # Greek with accents
        yield term.replace("ß", "ẞ").upper()
