"""Finished sentences: full-width marks, capitals, the checks, and drawing them by family."""

import itertools
import re

from grammar.draw import UnfitError

from grammar_zh.lexicon import DRAW

HALF_WIDTH = str.maketrans("，。？！", ",.?!")


def tidy(pair):
    """Returns a pair with its marks: full-width in Chinese; a capital and a stop in English."""
    zh, en = pair
    en = re.sub(r"\s+([.,?!])", r"\1", " ".join(en.split()))
    en = en[0].upper() + en[1:]
    mark = en[-1] if en[-1] in ".?!" else "."
    if zh[-1] not in "。？！":
        zh += {".": "。", "?": "？", "!": "！"}[mark]
    return zh, en if en[-1] in ".?!" else en + mark


def fits(pair):
    """True if a pair is short, and no English word stands twice in a row."""
    zh, en = pair
    words = en.lower().split()
    twice = any(first == second for first, second in itertools.pairwise(words))
    return len(zh) <= 32 and len(words) <= 20 and not twice and " " not in zh


def typed(pair):
    """Returns a pair as many type it: half-width marks, or no stop at the end."""
    zh, en = pair
    return (zh.rstrip("。！") if DRAW.chance(0.5) else zh.translate(HALF_WIDTH)), en


def generate(families, total, taken, largest=60):
    """Returns English by Chinese: what is `taken`, and sentences by family, `total` together.

    Args:
      families: (function that makes a pair, share) of each.
      total: pairs.
      taken: pairs written by hand, English by Chinese.
      largest: attempts per sentence; a family that has no more sentences leaves its share to the
        last one.
    """
    pairs, shares = dict(taken), sum(share for _, share in families)
    room = total - len(taken)
    for make, share in families:
        goal = total if make is families[-1][0] else len(pairs) + round(room * share / shares)
        for _ in range(room * largest):
            if len(pairs) >= goal:
                break
            DRAW.busy.clear()
            try:
                pair = tidy(make())
            except UnfitError:
                continue
            if pair[0] not in pairs and fits(pair):
                pairs[pair[0]] = pair[1]
    return pairs
