"""Clauses: an action of somebody, in the tenses of both languages, stated, denied and asked."""

import re
from dataclasses import dataclass

from grammar.draw import reject
from grammar.english import en_form, en_group, en_not

from grammar_zh import phrases
from grammar_zh.lexicon import CITIES, DRAW, PLACES, rows

BE_NOT = {"is": "is not", "are": "are not", "am": "am not", "was": "was not", "were": "were not"}
DO = {"pres": ("do", "does", "do"), "past": ("did", "did", "did")}


def english(who, verb, tense="pres", deny=False, ask=False, adverb=""):
    """Returns an English clause without its stop: she doesn't drink tea, does she drink tea.

    Args:
      who: a Person, or the English subject of a third person.
      verb: base form of the verb with its complement.
      tense: see `grammar.english.en_group`; or a modal verb, as "can" or "want to".
      adverb: before the verb.
    """
    name, e = (who, 1) if isinstance(who, str) else (who.en, who.e)
    if tense in ("can", "should", "must", "may"):
        aux, rest = tense, verb
    else:
        aux, rest = en_group(verb, tense, e)
    if not aux and (deny or ask):
        aux, rest = DO[tense][e], verb
    if deny:
        aux = BE_NOT.get(aux) or en_not(aux)
    words = (aux, name, adverb, rest) if ask else (name, aux, adverb, rest)
    return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Action:
    """What somebody does: verb and object in Chinese, the base form in English.

    `counted` says that the object has a number, and so follows 了 and 过.
    """

    verb: str
    object: str
    en: str
    counted: bool
    flags: str
    places: tuple

    @property
    def zh(self):
        """Verb and object."""
        return self.verb + self.object

    def done(self):
        """Returns the Chinese with 了: 买了一本书, 看电视了."""
        if self.counted:
            return f"{self.verb}了{self.object}"
        return f"{self.zh}了"

    def once(self):
        """Returns the Chinese with 过: 看过这部电影."""
        return f"{self.verb}过{self.object}"


def fill(code, letters, flag):
    """Returns (Chinese, English, counted) for a gap of an action."""
    if code == "language":
        return *phrases.language(), False
    if code == "person":
        return *phrases.person(), False
    if code == "city":
        return *DRAW.pick(CITIES), False
    letter = DRAW.choice(letters)
    reject(flag == "h" and letter in "ant" and code not in ("fruit", "drink", "food"))
    return *phrases.thing(code, letter), letter in "an"


ACTIONS = [tuple(row) for row in rows("actions")]
WORN = {
    "穿": "帽子 围巾 手套 眼镜 筷子",
    "戴": "鞋 袜子 筷子 衬衫 毛衣 大衣 外套 T恤 裙子 连衣裙 裤子 牛仔裤",
}
DOTTED = re.compile(r"\{(\w+)\.?(\w*)\}")


def action(flag, who=None):
    """Returns an Action that has a flag of the table, of a Person (for one's hands)."""
    verb, zh, en, flags, places = DRAW.pick([row for row in ACTIONS if flag in row[3]])
    counted = False
    if gap := DOTTED.search(zh):
        zh_gap, en_gap, counted = fill(gap[1], gap[2], flag)
        reject(any(word in zh_gap for word in WORN.get(verb, "").split()))
        reject(
            who is not None
            and (zh_gap == who.zh or (zh_gap in ("我", "你") and who.zh in "我们你们"))
        )
        zh, en = zh.replace(gap[0], zh_gap), en.replace("{}", en_gap)
    en = en.replace("one's", who.own if who else "your")
    return Action(verb, zh, en, counted, flags, tuple(places.split()))


def at_place(what, share=0.4):
    """Returns a place of an action as a pair: 在公园, in the park; often none."""
    if not what.places or not DRAW.chance(share):
        return "", ""
    zh = DRAW.choice(what.places)
    inside = DRAW.choice(("", "里")) if zh in ("公园", "教室", "图书馆", "办公室", "饭馆") else ""
    return f"在{zh}{inside}", next(row[1] for row in PLACES if row[0] == zh)


def ing(verb):
    """Returns the -ing form of a verb with its complement."""
    first, _, rest = verb.partition(" ")
    return f"{en_form(first, 'ing')} {rest}".strip()
