"""Scripts: which one a letter is of, which put no spaces between words; and their signs."""

import collections
import functools
import re
import unicodedata

EAST_ASIAN = (
    "[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
SOUTH_EAST_ASIAN = (
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17dd\u1950-\u19df\u1a20-\u1aad"
    "\ua9e0-\ua9fe\uaa60-\uaadf]"
)
UNSPACED = re.compile(f"{EAST_ASIAN}|{SOUTH_EAST_ASIAN}")
# The blocks of these scripts, for a class of characters. They hold digits, brackets and other signs
# as well, each of which is a unit of its own beside a word, too; UNSPACED holds only letters.
UNSPACED_BLOCKS = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff"
WORD = rf"{UNSPACED.pattern}|\b\w+?(?=\b|{UNSPACED.pattern})"  # or a letter of UNSPACED

SENTENCE_ENDS = ".!?…。！？"
CLOSING_SIGNS = '»”’")]'  # between the end of a sentence and the next one
# What encloses a part of a sentence: “ ends it in German.
LEFT_SIGNS, RIGHT_SIGNS = "([{“\"„«‹‘'¿¡", ")]}”\"»›’'“"


@functools.cache
def script(letter: str) -> str | None:
    """Returns the script of a letter, such as LATIN; CJK for those that Japanese mixes, too.

    None for what is no letter.
    """
    if not letter.isalpha():
        return None
    name = unicodedata.name(unicodedata.normalize("NFKC", letter)[0], "?")  # not FULLWIDTH LATIN
    first = re.split(r"\W", name, maxsplit=1)[0]
    return "CJK" if first in ("HIRAGANA", "KATAKANA", "IDEOGRAPHIC") else first


def main_script(text: str) -> str | None:
    """Returns the script of most letters of a text; None if it has no letters."""
    if text.isascii():
        return "LATIN" if re.search("[A-Za-z]", text) else None
    counts = collections.Counter(map(script, text))
    counts.pop(None, None)
    return counts.most_common(1)[0][0] if counts else None
