"""One spelling for equal text: what a reader cannot tell apart has the same tokens.

The normal form of a text is Unicode's NFC, every space and end of a line U+0020, without marks
that nobody sees. Nothing else changes: no NFKC, which turns 1º into 1o and m² into m2; several
spaces stay several; U+200C and U+200D stay, which Persian and emoji need.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator

MARK_OF_SPACE = "\u2581"  # SentencePiece's own
# Soft hyphen, zero-width space, word joiner, byte order mark, marks of direction, invisible
# operators, annotation, shorthand and music: Unicode's format characters that no script needs.
INVISIBLE = (
    "\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
# All of Unicode: tab, ends of lines and what some readers take for them, and the spaces.
SPACES = (
    "\\x09-\\x0d\\x1c-\\x20\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    + MARK_OF_SPACE
)
CONTROL = "\\x00-\\x1f\\x7f-\u009f"
# Without ink, but left in text that has some: joiners, fillers, selectors of variants and tags.
UNSEEN = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff"
)
# Their `pattern` is one of TensorFlow's RE2, too.
SPACE_CHARACTER = re.compile(f"[{SPACES}{CONTROL}]")
INVISIBLE_CHARACTER = re.compile(f"[{INVISIBLE}]")
BLANK_TEXT = re.compile(f"[{SPACES}{CONTROL}{INVISIBLE}{UNSEEN}]*")
LINE_ENDS = re.compile(f"[{CONTROL}\u2028\u2029]")  # and other control characters
UNPRINTED_SPACE = re.compile(f"[\t\v\f\x1c-\x1f\x85\u2028\u2029{MARK_OF_SPACE}]")
LAST = 0x2FFFF  # no character after it has another spelling


def is_blank(text: str) -> bool:
    """Returns whether a text shows nothing: it is empty, or all spaces and invisible marks."""
    return BLANK_TEXT.fullmatch(text) is not None


def is_plain(text: str) -> bool:
    """Returns whether the only space of a text is U+0020, and nothing in it is invisible.

    Far faster than to look for what such a text lacks: none of it is printable but U+2581.
    """
    return text.isprintable() and MARK_OF_SPACE not in text


def normal(text: str) -> str:
    """Returns the normal form of a text."""
    if not is_plain(text):
        text = SPACE_CHARACTER.sub(" ", INVISIBLE_CHARACTER.sub("", text))
    return unicodedata.normalize("NFC", text)


def trimmed(text: str) -> str:
    """Returns the normal form of a text without spaces around it; "" of a blank one."""
    return "" if is_blank(text) else normal(text).strip(" ")


def printed(text: str) -> str:
    """Returns a text without control characters, at some of which a reader would end a line."""
    return text if is_plain(text) else LINE_ENDS.sub(" ", text)


def visible(text: str) -> str:
    """Returns a text in NFC without invisible marks; its spaces and line breaks are as they were.

    Only what is no line break, but some readers take for one, becomes a space; U+2581, too.
    """
    if not is_plain(text):
        text = UNPRINTED_SPACE.sub(" ", INVISIBLE_CHARACTER.sub("", text))
    return unicodedata.normalize("NFC", text)


def spellings(character: str) -> Iterator[str]:
    """Yields strings that are canonically equivalent to a character: its NFD, marks in other
    orders, some of them composed."""
    yield character
    base, *marks = [*unicodedata.normalize("NFD", character)]
    for order in itertools.permutations(marks):
        for number in range(len(order) + 1):
            composed = unicodedata.normalize("NFC", base + "".join(order[:number]))
            yield composed + "".join(order[number:])


@functools.cache
def rules() -> str:
    """Returns the normal form as rules of SentencePiece: lines of code points TAB code points.

    They hold every spelling of every single character, so that a vocabulary alone, outside of this
    program, has them, too. What spans several characters (a mark between a letter and its accent,
    accents that no single character has in another order) is left to `normal`.
    """
    characters = "".join(map(chr, range(1, 0xD800))) + "".join(map(chr, range(0xE000, LAST + 1)))
    table = {}
    for character in characters:
        if unicodedata.is_normalized("NFD", character):
            continue
        composed = unicodedata.normalize("NFC", character)
        for spelling in spellings(character):
            if unicodedata.normalize("NFC", spelling) == composed != spelling:
                table[spelling] = composed
    table |= dict.fromkeys(INVISIBLE_CHARACTER.findall(characters), "")
    table |= dict.fromkeys(re.findall(f"[{SPACES}]", characters), " ")
    del table[" "]

    def points(text: str) -> str:
        return " ".join(f"{ord(character):X}" for character in text)

    return "".join(f"{points(text)}\t{points(form)}\n" for text, form in sorted(table.items()))
