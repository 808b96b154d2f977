"""Finished sentences: contractions, spaces, the checks, and drawing them by family."""

import itertools
import re

from grammar.draw import UnfitError
from grammar.families import FAMILIES
from grammar.phrases import DRAW
from grammar.portuguese import pt_merge

# Tables and calls are packed by hand from here on.
# fmt: off

def finish(pair):
    """Contract, space and capitalize both sides, and add the full stop that is missing."""
    pt, en = pair
    pt = re.sub(r"\b(de|em|a|por)\+(\w+)", pt_merge, pt)
    return tuple(tidy(text) for text in (pt, en))

def tidy(text):
    """One side with single spaces, a capital, and an end mark."""
    text = re.sub(r"\s+([.,?!])", r"\1", " ".join(text.split()))
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".?!" else text + "."

def fits(pair):
    """True if a pair has 2 to 25 words on both sides and says nothing twice in a row."""
    if re.search(r"\bmy (husb|boyf)", pair[1].lower()) and re.search(r"\bmy (wi|girlf)", pair[1]):
        return False
    for text in pair:
        words = text.lower().split()
        if not 2 <= len(words) <= 25 or any(a == b for a, b in itertools.pairwise(words)):
            return False
    return True

def generate(total, taken):
    """Make sentences, family by family, until there are total new sources beside taken."""
    shares = sum(share for _, share, _ in FAMILIES)
    pairs, made = dict(taken), {}
    for index, (label, share, make) in enumerate(FAMILIES):
        last = index == len(FAMILIES) - 1
        goal = total - sum(made.values()) if last else round(total * share / shares)
        made[label] = 0
        for _ in range(goal * 60):
            if made[label] == goal:
                break
            DRAW.busy.clear()
            try:
                pt, en = finish(make())
            except UnfitError:
                continue
            if pt not in pairs and fits((pt, en)):
                pairs[pt] = en
                made[label] += 1
    return pairs, made
