"""Seeded choices that spread the words evenly over the sentences."""

import random
from collections import defaultdict

# Tables and calls are packed by hand from here on.
# fmt: off

class UnfitError(Exception):
    """The words drawn don't go together; the sentence is drawn again."""

def reject(unfit):
    """Give up this sentence if unfit."""
    if unfit:
        raise UnfitError

class Draw:
    """Seeded choices; `pick` prefers what has been used least and nothing twice in a sentence."""

    def __init__(self, seed):
        """Start counting from nothing."""
        self.random = random.Random(seed).random
        self.count = defaultdict(int)
        self.weight = defaultdict(lambda: 1.0)
        self.busy = set()

    def below(self, n):
        """A whole number from 0 to n - 1."""
        return int(self.random() * n)

    def chance(self, p):
        """True with probability p."""
        return self.random() < p

    def choice(self, items):
        """Any item, all alike."""
        return items[self.below(len(items))]

    def pick(self, items):
        """The least used of up to ten items drawn at random."""
        best, best_score = None, None
        for _ in range(10):
            item = items[self.below(len(items))]
            score = (self.count[item] + self.random()) / self.weight[item]
            if item not in self.busy and (best is None or score < best_score):
                best, best_score = item, score
        reject(best is None)
        self.count[best] += 1
        self.busy.add(best)
        return best
