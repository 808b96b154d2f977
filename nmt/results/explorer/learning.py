"""Short sentences of the bundled corpus, which a small network in the page learns to translate."""

import functools
import random
import re
from collections import Counter

from nmt.corpus.corpora import BUNDLED
from nmt.corpus.datasets import text_dataset

WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
MOST_TOKENS, FEWEST_USES = 5, 4  # of a sentence, its sign included; of a word, in other pairs
Words = tuple[str, ...]


@functools.cache
def short_pairs() -> list[list[str]]:
    """Returns source and target of short training pairs, tokens separated by spaces, shuffled.

    Each word stands in FEWEST_USES pairs or more, so that what is held back has no unknown ones.
    """
    pairs: dict[Words, Words] = {}
    for source, target in text_dataset(BUNDLED[0]):
        sides = tuple(WORD.findall(source)), tuple(WORD.findall(target))
        if source[0].isupper() and is_short(*sides):
            pairs.setdefault(sides[0], sides[1])
    while rare := rare_words(pairs):
        pairs = {
            source: target
            for source, target in pairs.items()
            if not any(
                (side, word) in rare
                for side, words in enumerate((source, target))
                for word in words
            )
        }
    listed = sorted([" ".join(source), " ".join(target)] for source, target in pairs.items())
    random.Random(0).shuffle(listed)
    return listed


def is_short(source: Words, target: Words) -> bool:
    """Whether two sentences end with one sign, and have few tokens."""
    sign = source[-1]
    return sign in ".?" and target[-1] == sign and max(len(source), len(target)) <= MOST_TOKENS


def rare_words(pairs: dict[Words, Words]) -> set[tuple[int, str]]:
    """Returns the words, with the side on which they stand, that too few pairs have."""
    uses = Counter(
        (side, word)
        for pair in pairs.items()
        for side, words in enumerate(pair)
        for word in {*words}
    )
    return {word for word, number in uses.items() if number < FEWEST_USES}
