"""Pairs that are held out by their time: what came last tests what is learned from earlier ones."""

from collections.abc import Iterable
from typing import NamedTuple

from nmt import UserError
from nmt.messages import plural
from nmt.text import spelling


class KeptPair(NamedTuple):
    """A pair that is to be written."""

    source: str
    target: str
    weight: int  # how often it is written
    created: str  # when, as its Row says
    place: str  # where it stands, for messages


class Split(NamedTuple):
    """Pairs in two parts, which have no source in common; in each, every source occurs once."""

    earlier: list[KeptPair]
    newest: list[KeptPair]
    superseded: int  # pairs whose source has a newer target


def split_by_time(pairs: Iterable[KeptPair], newest: int) -> Split:
    """Returns the pairs of the `newest` sources, and those of all others.

    Of several targets of a source, the newest counts. The first one decides when the source came: a
    source that was once among the earlier ones stays there, whatever is added later. Pairs without
    a time come before all that have one; of the same time, those of the highest weight come last,
    and count; else they come in their order. A UserError if no source is left.
    """
    targets: dict[str, KeptPair] = {}
    total = 0
    for pair in sorted(pairs, key=lambda pair: (pair.created, pair.weight)):
        total += 1
        targets[spelling.trimmed(pair.source)] = pair  # which stays where it was in the order
    if len(targets) <= newest:
        raise UserError(
            f"--newest {newest}: there are only {plural(len(targets), 'different source')}, and "
            "some must be left; name fewer"
        )
    unique = [*targets.values()]
    return Split(unique[:-newest], unique[-newest:], total - len(unique))
