"""How many words a text has, also in scripts that put no spaces between them."""

import re

from nmt.text.scripts import EAST_ASIAN, SOUTH_EAST_ASIAN

# Characters per word, as ICU's dictionaries divide text: Chinese 1.7, Japanese 1.3 to 1.7, Thai and
# Lao 4.0, Khmer 5.6, Burmese 4.8. Korean has spaces.
EAST_ASIAN_CHARACTERS, SOUTH_EAST_ASIAN_CHARACTERS = 1.6, 4.5  # per word
PUNCTUATION = re.compile("[\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")


def word_count(text: str) -> int:
    """Returns the number of words of a text: of what stands between spaces, and, where a script has
    none, an estimate from its characters."""
    if text.isascii():
        return len(text.split())
    text, east = re.subn(EAST_ASIAN, " ", text)
    text, south_east = re.subn(SOUTH_EAST_ASIAN, " ", text)
    if not east and not south_east:
        return len(text.split())
    spaced = len(PUNCTUATION.sub(" ", text).split())
    estimate = east / EAST_ASIAN_CHARACTERS + south_east / SOUTH_EAST_ASIAN_CHARACTERS
    return spaced + max(1, round(estimate))
