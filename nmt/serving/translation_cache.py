"""Translations that were asked for before: of the same text, run and options."""

import collections

from nmt.serving.batching import Item
from nmt.serving.models import Query, Result

MAX_CHARACTERS = 20_000_000  # of all entries, texts and translations together
TOKEN_CHARACTERS = 200  # as which a token with its alternatives counts
LINK_CHARACTERS = 16

Key = tuple[Query, Item]


class TranslationCache:
    """The translations of the `most` texts that were asked for last; 0 for no cache."""

    def __init__(self, most: int = 0, max_characters: int = MAX_CHARACTERS):
        self.most, self._max_characters = most, max_characters
        self.characters = 0
        self._entries: collections.OrderedDict[Key, list[Result]] = collections.OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def keeps(self, query: Query) -> bool:
        """Returns whether translations of a query are kept: not those that chance draws."""
        return self.most > 0 and query.sampling is None

    def get(self, query: Query, item: Item) -> list[Result] | None:
        """Returns the translations of a text, the best first; None if they are not known."""
        results = self._entries.get((query, item))
        if results is not None:
            self._entries.move_to_end((query, item))
        return results

    def put(self, query: Query, item: Item, results: list[Result]) -> None:
        """Keeps the translations of a text, in place of those that were last asked for."""
        if (query, item) in self._entries:  # two requests have asked for it at the same time
            return
        self._entries[query, item] = results
        self.characters += _size(query, item, results)
        while len(self._entries) > self.most or self.characters > self._max_characters:
            key, old_results = self._entries.popitem(last=False)
            self.characters -= _size(*key, old_results)

    def clear(self) -> None:
        """Forgets all translations."""
        self._entries.clear()
        self.characters = 0


def _size(query: Query, item: Item, results: list[Result]) -> int:
    """Returns the characters that an entry counts as."""
    size = len(item.text) + len(item.prefix)
    size += sum(len(term) + len(translation) for term, translation in query.terms)
    for result in results:
        size += len(result.text) + TOKEN_CHARACTERS * len(result.tokens)
        size += LINK_CHARACTERS * len(result.links or ())
    return size
