"""Sentences with gaps: the rows of data/lexicon_zh/patterns.tsv.

A gap is `{name}`, with `:2` for a second thing of its kind. `{S}` is the subject, `{S's}` what
belongs to it; a verb in brackets agrees with it: `{S} [like] tea.` A noun's gap names its class and
its form (`phrases.phrase`): `{clothes.a}`.
"""

import re

from grammar.draw import reject
from grammar.english import BE, en_form

from grammar_zh import phrases
from grammar_zh.lexicon import ADJECTIVES, CITIES, DRAW, FIXED, rows

PATTERNS = [tuple(row) for row in rows("patterns")]
GAP = re.compile(r"\{([\w']+)(?:\.(\w))?(:2)?\}")
VERB = re.compile(r"\[(\w+)\]")
WARMER = {"cold": "colder", "hot": "hotter", "warm": "warmer", "cool": "cooler"}


def noun_without(measured):
    """Returns a noun after 几, with its measure word, or after 多少: 个苹果 or 苹果, apples."""
    groups = ("small", "text", "animal", "fruit", "furniture")
    nouns = [noun for noun in phrases.NOUNS[DRAW.choice(groups)] if not noun.unit]
    noun = DRAW.pick(nouns)
    return (noun.measure if measured else "") + noun.zh, noun.plural


def units(items):
    """Returns a function that draws one of some numbers of units: 两, two."""

    def draw():
        n = DRAW.choice(items)
        return phrases.counted(n), phrases.number(n)[1]

    return draw


def named(gender=None):
    """Returns a name as a pair."""
    who = phrases.named_person(gender)
    return who.zh, who.en


def whole_number(low, high):
    """Returns a number as a pair."""
    return phrases.number(low + DRAW.below(high - low + 1))


def near_building(form):
    """Returns a building of a town."""
    return phrases.thing("building_near", form)


SIMPLE = {
    "name": named,
    "namem": lambda: named("m"),
    "namef": lambda: named("f"),
    "country": phrases.country,
    "city": lambda: DRAW.pick(CITIES),
    "lang": phrases.language,
    "clock": phrases.clock,
    "clock_morning": lambda: phrases.clock(6, 10),
    "clock_noon": lambda: phrases.clock(11, 12),
    "clock_afternoon": lambda: phrases.clock(2, 6),
    "clock_evening": lambda: phrases.clock(6, 8),
    "clock_night": lambda: phrases.clock(9, 12),
    "date": phrases.date,
    "price": phrases.price,
    "age": lambda: whole_number(4, 80),
    "number": lambda: whole_number(11, 60),
    "people_number": lambda: whole_number(3, 7),
    "minutes": units([5, 10, 15, 20, 30, 40]),
    "years": units([2, 3, 4, 5, 6, 8, 10]),
    "count_noun": lambda: noun_without(True),
    "count_plain": lambda: noun_without(False),
    "color": lambda: DRAW.pick(ADJECTIVES["color"]),
    "weather": lambda: DRAW.pick(ADJECTIVES["weather"]),
    "person": lambda: DRAW.pick(ADJECTIVES["person"]),
    "worn": lambda: phrases.colored(phrases.NOUNS["clothes"], "帽子 围巾"),
    "worn_head": lambda: phrases.colored(phrases.named("clothes", "帽子 围巾")),
    "adjthing": lambda: DRAW.pick(ADJECTIVES["thing"]),
}


class Gaps:
    """What fills the gaps of one sentence; the same gap is filled alike on both sides."""

    def __init__(self):
        self.filled = {}
        self.subject = None

    def draw(self, name, form):
        """Returns (Chinese, English) for a gap."""
        if name in ("S", "S's", "S_s", "O", "own", "S3"):
            return self.person(name)
        if name in ("kin0", "kin1"):
            return self.relative(name)
        if name in ("place", "pat", "pthe", "pzh"):
            row = self.once("place", lambda: phrases.place(public=name != "place"))
            return row[0], row[1] if name == "pat" else phrases.the_place(row)
        if name == "weatherer":
            _, en = self.once("weather", SIMPLE["weather"])
            return "", WARMER[en]
        if name in SIMPLE:
            return SIMPLE[name]()
        if name in FIXED:
            return DRAW.pick(FIXED[name])
        if name == "building":
            return near_building(form)
        return phrases.thing(name, form)

    def once(self, name, make):
        """Returns what `make` makes, the same each time in this sentence."""
        if name not in self.filled:
            self.filled[name] = make()
        return self.filled[name]

    def person(self, name):
        """Returns the subject in one of its forms; English verbs agree with it."""
        if self.subject is None:
            self.subject = phrases.subject(third=name == "S3")
        who = self.subject
        return {
            "S": (who.zh, who.en), "S3": (who.zh, who.en), "S's": who.possessive,
            "S_s": (f"{who.zh}的", who.alone), "O": (who.zh, who.object), "own": ("", who.own),
        }[name]  # fmt: skip

    def relative(self, name):
        """Returns 我妈妈, my mother; or the word alone for kin1."""
        who = phrases.relative(phrases.PRONOUNS["我"] if name == "kin1" else None)
        if name == "kin0":
            return who.zh, who.en
        return who.zh.removeprefix("我"), who.en.removeprefix("my ")

    def fill(self, zh, en):
        """Returns both sides of a pattern with their gaps filled and their verbs conjugated."""
        pairs = {}
        for gap in GAP.finditer(zh + en):
            if gap[0] not in pairs:
                pairs[gap[0]] = self.second(gap) if gap[3] else self.draw(gap[1], gap[2])
        # The Chinese gap of a place is the English one's, too.
        zh, en = (
            GAP.sub(lambda gap, side=side: pairs[gap[0]][side], text)
            for side, text in enumerate((zh, en))
        )
        return zh, VERB.sub(lambda verb: self.conjugated(verb[1]), en)

    def second(self, gap):
        """Returns another pair for a gap than the first of its name."""
        name = "place:2" if gap[1] in ("pzh", "pthe") else gap[0]
        if name == "place:2":
            row = self.once(name, lambda: phrases.place(public=True))
            return row[0], phrases.the_place(row)
        if gap[1] == "S3":
            who = phrases.subject(third=True)
            return who.zh, who.en
        return self.draw(gap[1], gap[2])

    def conjugated(self, verb):
        """Returns a verb in the form for the subject."""
        e = self.subject.e
        if verb in ("be", "was"):
            return BE["pres" if verb == "be" else "past"][e]
        return en_form(verb, "s") if e == 1 else verb


def pattern():
    """Returns a sentence of the table, its gaps filled."""
    zh, en = Gaps().fill(*DRAW.pick(PATTERNS))
    reject("  " in en or re.search(r"\b(\w+) (?:or|and|is) \1\b", en) is not None)
    return zh, en
