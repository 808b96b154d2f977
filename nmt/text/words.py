"""How many words a text has, also in scripts that put no spaces between them."""

import re

# Characters per word, as ICU's dictionaries divide text: Chinese 1.7, Japanese 1.3 to 1.7, Thai and
# Lao 4.0, Khmer 5.6, Burmese 4.8. Korean has spaces.
EAST_ASIAN = re.compile(
    "[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
SOUTH_EAST_ASIAN = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17dd\u1950-\u19df\u1a20-\u1aad"
    "\ua9e0-\ua9fe\uaa60-\uaadf]"
)
UNSPACED = re.compile(f"{EAST_ASIAN.pattern}|{SOUTH_EAST_ASIAN.pattern}")
EAST_ASIAN_CHARACTERS, SOUTH_EAST_ASIAN_CHARACTERS = 1.6, 4.5  # per word
PUNCTUATION = re.compile("[\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")


def word_count(text: str) -> int:
    """Returns the number of words of a text: of what stands between spaces, and, where a script has
    none, an estimate from its characters."""
    if text.isascii():
        return len(text.split())
    text, east = EAST_ASIAN.subn(" ", text)
    text, south_east = SOUTH_EAST_ASIAN.subn(" ", text)
    if not east and not south_east:
        return len(text.split())
    spaced = len(PUNCTUATION.sub(" ", text).split())
    estimate = east / EAST_ASIAN_CHARACTERS + south_east / SOUTH_EAST_ASIAN_CHARACTERS
    return spaced + max(1, round(estimate))
