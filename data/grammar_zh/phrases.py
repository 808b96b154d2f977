"""Nouns with their measure words, people, numbers, places: phrases as (Chinese, English)."""

from dataclasses import dataclass

from grammar.draw import reject
from grammar.english import a_an, en_plural

from grammar_zh.lexicon import ADJECTIVES, COUNTRIES, DRAW, FIXED, NAMES, PLACES, RELATIVES, rows

# Tables are packed by hand from here on.
# fmt: off

DIGITS = "零一二三四五六七八九十"
UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
TENS = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = dict(one="first", two="second", three="third", five="fifth", eight="eighth",
    nine="ninth", twelve="twelfth", twenty="twentieth", thirty="thirtieth")
MINUTES = {"半": "half past", "一刻": "a quarter past", "十分": "ten past", "二十分": "twenty past"}
# fmt: on


def number(n):
    """Returns a number from 0 to 99 as a pair of words."""
    tens, unit = divmod(n, 10)
    zh = DIGITS[n] if n <= 10 else DIGITS[tens][tens == 1 :] + "十" + DIGITS[unit][unit == 0 :]
    if n < 20:
        return zh, UNITS[n]
    return zh, f"{TENS[tens]}-{UNITS[unit]}" if unit else TENS[tens]


def counted(n):
    """Returns the Chinese number before a measure word: 两 for 2."""
    return "两" if n == 2 else number(n)[0]


def ordinal(n):
    """Returns an English ordinal number: first, twenty-second."""
    head, hyphen, last = number(n)[1].rpartition("-")
    return head + hyphen + ORDINALS.get(last, last + "th")


def clock(low=1, high=12):
    """Returns a time of day from the hour `low` to `high`: 八点半, half past eight."""
    hour = low + DRAW.below(high - low + 1)
    minute = DRAW.choice(["", "", *MINUTES])
    word = number(hour)[1]
    return (
        f"{counted(hour)}点{minute}",
        f"{MINUTES[minute]} {word}" if minute else f"{word} o'clock",
    )


def date():
    """Returns a day of the year: 五月一号, May first."""
    (zh, en), day = DRAW.choice(FIXED["month"]), 1 + DRAW.below(28)
    return f"{zh}{number(day)[0]}号", f"{en} {ordinal(day)}"


def price():
    """Returns a price in yuan: 十五块, fifteen yuan."""
    n = DRAW.choice([*range(2, 21), 25, 30, 35, 40, 50, 60, 80, 99])
    return f"{counted(n)}块{DRAW.choice(['', '钱'])}", f"{number(n)[1]} yuan"


# ---- Nouns ----


@dataclass(frozen=True)
class Noun:
    """A noun: Chinese, its measure word, English singular and plural ("-": it has none).

    What English does not count has a `unit`: 一杯茶, a cup of tea.
    """

    zh: str
    measure: str
    unit: str
    en: str
    ens: str
    kind: str

    @property
    def plural(self):
        """The English noun for all of its kind: apples, tea."""
        return self.en if self.ens == "-" else self.ens

    def amount(self, n):
        """Returns n of it in English: two apples, a cup of tea."""
        one, several = (self.unit, en_plural(self.unit)) if self.unit else (self.en, self.ens)
        of = f" of {self.plural}" if self.unit else ""
        return (a_an(one) if n == 1 else f"{number(n)[1]} {several}") + of


def read_nouns():
    """Returns the Nouns by class."""
    nouns = {}
    for kind, zh, measure, unit, english in rows("nouns"):
        en, _, ens = english.partition("/")
        nouns.setdefault(kind, []).append(Noun(zh, measure, unit, en, ens or en_plural(en), kind))
    return nouns


def named(group, words):
    """Returns the Nouns of a class with these Chinese words."""
    return [noun for noun in NOUNS[group] if noun.zh in words.split()]


NOUNS = read_nouns()
NOUNS["thing"] = [
    noun
    for kind in ("clothes", "text", "small", "machine", "vehicle", "furniture")
    for noun in NOUNS[kind]
    if not noun.unit and noun.zh not in ("火车", "飞机", "公共汽车", "出租车", "船")
]
NOUNS |= {
    "matter_film": named("matter", "电影 节目"),
    "song": named("matter", "歌 故事"),
    "text_letter": named("text", "信") + named("matter", "故事 句子"),
    "food_made": named("food", "面条 饺子 包子 蛋糕 汤"),
    "vehicle_own": named("vehicle", "汽车 自行车 车 摩托车"),
    "animal_pet": named("animal", "猫 狗 鸟 小猫 小狗 兔子"),
    "furn": named("furniture", "桌子 椅子 床 沙发 书架"),
    "building_near": named(
        "building", "医院 商店 饭馆 咖啡馆 酒店 书店 银行 超市 洗手间 公园 学校"
    ),
}
# What an adjective can be said of: the class of adjectives for each class of nouns.
SAID_OF = dict(
    fruit="food", food="food", drink="drink", clothes="thing", text="text", small="thing",
    machine="thing", vehicle="vehicle", furniture="thing", animal="animal", building="place",
    landscape="place", matter="matter",
)  # fmt: skip


def phrase(noun, letter):
    """Returns a noun phrase as a pair.

    Letters: a one of it, n several, t this or that, b all of its kind, d the one that is known, 0
    the word alone.
    """
    if letter == "a":
        return f"一{noun.measure}{noun.zh}", noun.amount(1)
    if letter == "n":
        n = 2 + DRAW.below(5)
        return f"{counted(n)}{noun.measure}{noun.zh}", noun.amount(n)
    if letter == "t":
        zh, en = DRAW.choice((("这", "this"), ("那", "that")))
        one = f"{noun.unit} of {noun.plural}" if noun.unit else noun.en
        return f"{zh}{noun.measure}{noun.zh}", f"{en} {one}"
    return noun.zh, {"b": noun.plural, "d": f"the {noun.en}", "0": noun.en}[letter]


def thing(group, letters):
    """Returns a noun phrase of a class in one of the forms that the letters name."""
    return phrase(DRAW.pick(NOUNS[group]), DRAW.choice(letters))


def described(noun):
    """Returns (Chinese, English) adjectives that can be said of a Noun."""
    long = noun.zh in ("裙子", "围巾", "河", "路", "桥", "连衣裙")
    return ADJECTIVES["long" if long else SAID_OF[noun.kind]]


def colored(nouns, without=""):
    """Returns one of some Nouns in a color: 一件红色的衬衫, a red shirt."""
    noun, (zh, en) = DRAW.pick(nouns), DRAW.pick(ADJECTIVES["color"])
    reject(noun.zh in without.split())
    of = f"{noun.unit} of {en} {noun.plural}" if noun.unit else f"{en} {noun.en}"
    return f"一{noun.measure}{zh}的{noun.zh}", a_an(of)


# ---- People ----


@dataclass(frozen=True)
class Person:
    """Somebody, as subject and object.

    `e` is the English person (0 I, 1 he, she, it, 2 you, we, they), `own` the English possessive.
    """

    zh: str
    en: str
    e: int
    own: str
    object: str
    alone: str  # mine, Anna's
    gender: str = ""

    @property
    def possessive(self):
        """The pair before what belongs to the person: 我的, my."""
        return f"{self.zh}的", self.own if self.zh in PRONOUNS else f"{self.en}'s"


# fmt: off
PRONOUNS = {
    row[0]: Person(*row)
    for row in (
        ("我", "I", 0, "my", "me", "mine"), ("你", "you", 2, "your", "you", "yours"),
        ("他", "he", 1, "his", "him", "his", "m"), ("她", "she", 1, "her", "her", "hers", "f"),
        ("我们", "we", 2, "our", "us", "ours"), ("你们", "you", 2, "your", "you", "yours"),
        ("他们", "they", 2, "their", "them", "theirs"),
    )
}
OFTEN = "我 我 我 我 你 你 他 他 她 她 我们 他们 你们".split()
# fmt: on


def pronoun(whos=OFTEN):
    """Returns one of the pronouns, as a Person."""
    return PRONOUNS[DRAW.choice(whos)]


def named_person(gender=None):
    """Returns somebody by name."""
    zh, en, gender = DRAW.pick([name for name in NAMES if gender in (None, name[2])])
    return Person(zh, en, 1, "his" if gender == "m" else "her", en, f"{en}'s", gender)


def relative(owner=None):
    """Returns a relative of somebody: 我妈妈, my mother; 他的朋友, his friend."""
    zh, en, gender, link = DRAW.pick(RELATIVES)
    if owner is None:
        fits = {"丈夫": "我 你 她", "男朋友": "我 你 她", "妻子": "我 你 他", "女朋友": "我 你 他"}
        owner = pronoun(fits.get(zh, "我 我 我 你 你 他 她 我们").split())
    linked = link == "de" or DRAW.chance(0.15)
    zh = f"{owner.zh}{'的' if linked else ''}{zh}"
    en = f"{owner.own} {en}"
    return Person(zh, en, 1, "his" if gender == "m" else "her", en, f"{en}'s", gender)


# fmt: off
GROUPS = (
    ("孩子们", "the children"), ("学生们", "the students"), ("老师们", "the teachers"),
    ("同学们", "the classmates"), ("朋友们", "the friends"), ("男孩们", "the boys"),
    ("女孩们", "the girls"), ("工人们", "the workers"), ("我的朋友们", "my friends"),
)
# fmt: on


def several():
    """Returns a group of people: 孩子们, the children."""
    zh, en = DRAW.pick(GROUPS)
    return Person(zh, en, 2, "their", en, f"{en}'")


def subject(third=False, pronouns=0.6):
    """Returns somebody who does something; third: neither I nor you, and one person."""
    r = DRAW.random()
    if not third and r > 0.95:
        return several()
    if r < pronouns:
        return pronoun(["他", "她"]) if third else pronoun()
    return named_person() if r < pronouns + (1 - pronouns) / 3 else relative()


def person():
    """Returns somebody as an object: a pair."""
    r = DRAW.random()
    who = pronoun() if r < 0.3 else named_person() if r < 0.6 else relative()
    return who.zh, who.object


# ---- Places and languages ----

CLOSED_AT_NIGHT = """学校 医院 图书馆 公园 商店 超市 饭馆 咖啡馆 银行 机场 火车站 邮局 书店 电影院 酒店
    博物馆 动物园 市场 体育馆 大学""".split()


def place(public=False):
    """Returns a row of PLACES; public: one that visitors ask for."""
    return DRAW.pick([row for row in PLACES if not public or row[0] in CLOSED_AT_NIGHT])


def the_place(row):
    """Returns the English noun phrase of a place: at school -> the school."""
    noun = row[1].split(" ", 1)[1]
    return noun if noun.startswith("the ") else f"the {noun}"


def language():
    """Returns a language as a pair."""
    zh, en = DRAW.pick([row[3:] for row in COUNTRIES])
    return zh, en


def country():
    """Returns a country as a pair."""
    return DRAW.pick(COUNTRIES)[:2]


def other_than(first, make):
    """Returns another pair that `make` draws."""
    second = make()
    reject(second == first)
    return second
