"""Copies of training pairs with spans put into both sides: of them a small corpus learns symbols.

A mark, such as 4711, {name} or a URL, takes the place of a word that both sides hold, such as a
name, or stands before or behind the sentence.
"""

import collections
import random
import re
import zlib
from collections.abc import Callable

MIN_COPIES = 5000  # of the pairs, if there are so many
SHARE = 10  # one of so many pairs gets a copy, if there are more
MAX_MARKS = 3  # in a pair
WORD = re.compile(r"(?<!\w)[^\W\d_]{3,}(?!\w)")
END = re.compile(r"(?<![.!?…。！？])[.!?…。！？]*+$")
BEFORE = ("{mark}: {text}", "({mark}) {text}", "{mark} – {text}", "{mark}, {text}")
AFTER = ("{text} {mark}{end}", "{text} ({mark}){end}", "{text}: {mark}{end}", "{text}, {mark}{end}")
NAMES = ("name", "user", "count", "city", "firstName", "x", "item_id", "0", "1", "total")
HOSTS = ("example.com", "www.photos.org", "shop.example.fr", "a.io", "docs.site.net")
PLACEHOLDERS = ("{{{}}}", "{{{{{}}}}}", "${{{}}}", "%({})s", "%s", "%d", "%1$s", "%{{{}}}")


def draw(rng: random.Random) -> str:
    """Returns a span of a random kind."""
    name, number = rng.choice(NAMES), rng.randrange
    spans: list[Callable[[], str]] = [
        lambda: str(number(100, 10_000)),
        lambda: str(number(1, 100)),
        lambda: f"{number(1, 100)},{number(1000):03}.{number(100):02}",
        lambda: f"{number(24)}:{number(60):02}",
        lambda: rng.choice(PLACEHOLDERS).format(name),
        lambda: f"https://{rng.choice(HOSTS)}/{name}?id={number(10**6)}",
        lambda: f"{name}{number(100)}@{rng.choice(HOSTS)}",
        lambda: f"{rng.choice('ABCXYZ')}{rng.choice('KLMNP')}-{number(1000)}",
        lambda: rng.choice(["<br>", "<br/>", f'<x id="{number(10)}"/>', "&amp;"]),
        lambda: rng.choice([f"@{name}_a", f"#{name}a", f":{name.lower()}:"]),
    ]  # fmt: skip
    return rng.choice(spans)()


def marked_pair(source: str, target: str) -> tuple[str, str]:
    """Returns a pair with 1 to MAX_MARKS marks, the same for the same pair."""
    rng = random.Random(zlib.crc32(f"{source}\n{target}".encode()))
    sides = [source, target]
    for _ in range(rng.randint(1, MAX_MARKS)):
        mark = draw(rng)
        counts = [collections.Counter(WORD.findall(side)) for side in sides]
        words = [word for word, number in counts[0].items() if number == counts[1][word] == 1]
        if words and rng.random() < 0.5:
            word = rng.choice(words)
            sides = [mark.join(re.split(rf"(?<!\w){word}(?!\w)", side)) for side in sides]
            continue
        form = rng.choice(BEFORE if rng.random() < 0.5 else AFTER)
        ends = [end.start() if (end := END.search(side)) else len(side) for side in sides]
        if form in BEFORE:
            sides = [form.format(mark=mark, text=side) for side in sides]
        else:
            sides = [
                form.format(mark=mark, text=side[:end], end=side[end:])
                for side, end in zip(sides, ends, strict=True)
            ]
    return sides[0], sides[1]


def number_of_copies(pairs: int) -> int:
    """Returns how many pairs get a copy, about."""
    return min(pairs, max(MIN_COPIES, pairs // SHARE))
