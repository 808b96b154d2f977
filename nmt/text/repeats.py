"""Parts of a text that repeat themselves in a row, as those of a network that is in a loop."""

import re

from nmt.text.scripts import WORD

MAX_UNITS = 8  # of a part
SHORT_PART, SHORT_TIMES, LONG_TIMES = 2, 3, 2  # "very, very" and "day by day by" are language
# Up to four words, six times in a row.
LOOP = re.compile(
    r"(?<!\w)(\w{1,40}(?:\W{1,3}\w{1,40}){0,3}?)(?:\W{1,3}\1(?!\w)){5}", re.IGNORECASE
)


def is_loop(text: str) -> bool:
    """Returns whether a part of a text repeats itself so often that it is no language.

    It is far faster than `repeated_part`, which also finds what occurs two or three times, so that
    it may be asked of every line.
    """
    return LOOP.search(text) is not None


def repeated_part(text: str) -> str:
    """Returns the first part of a text that repeats itself; "" if none does.

    A part is one or two words three times in a row, or up to eight words twice; of a script without
    spaces, letters. Signs between them and case do not count.
    """
    words = list(re.finditer(WORD, text))
    keys = [word[0].casefold() for word in words]
    for start in range(len(keys)):
        for size in range(1, MAX_UNITS + 1):
            times = SHORT_TIMES if size <= SHORT_PART else LONG_TIMES
            part = keys[start : start + size]
            if keys[start : start + times * size] == times * part:
                return text[words[start].start() : words[start + size - 1].end()]
    return ""
