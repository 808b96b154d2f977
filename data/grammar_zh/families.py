"""Sentences by construction: each family makes one pair and has its share of the corpus."""

from grammar.draw import reject
from grammar.english import a_an

from grammar_zh import phrases
from grammar_zh.clauses import action, at_place, english
from grammar_zh.lexicon import ADJECTIVES, CITIES, COUNTRIES, DRAW, PLACES, TIMES
from grammar_zh.patterns import pattern

chance, choice, pick = DRAW.chance, DRAW.choice, DRAW.pick
FAMILIES = []  # (function, share)


def family(share):
    """Registers a family with its relative share of the sentences."""

    def register(make):
        FAMILIES.append((make, share))
        return make

    return register


def mood(table=(("state", 4), ("deny", 2), ("ask", 3))):
    """Returns "state", "deny" or "ask", as often as the table says."""
    return choice([name for name, times in table for _ in range(times)])


def sounds_odd(who, kind):
    """True for most sentences that nobody says: asking about oneself, stating what you do."""
    asked, told = kind in ("ask", "choice"), kind in ("state", "deny")
    return chance(0.8) and (
        (asked and who.zh in ("我", "我们")) or (told and who.zh in ("你", "你们"))
    )


def time_of(kind, what):
    """Returns a time that fits an action: most do not last a year."""
    zh, en = pick(TIMES[kind])
    reject(any(word in zh for word in ("年", "月")) and "f" not in what.flags)
    return zh, en


def clause(who, what, tense, kind="state", time="", adverb="", place=""):
    """Returns the English of an action; a question has its mark."""
    verb = " ".join(part for part in (what.en, place, time) if part)
    text = english(who, verb, tense, deny=kind == "deny", ask=kind == "ask", adverb=adverb)
    return text + "?" * (kind == "ask")


# ---- Actions in their tenses ----


@family(9)
def habits():
    """每天早上, 常常: what people do again and again."""
    who, what = phrases.subject(), action("h")
    what = action("h", who)
    place_zh, place_en = at_place(what)
    if chance(0.55):
        zh, en = pick(TIMES["habit"])
        kind = mood((("state", 4), ("ask", 2)))
        reject(sounds_odd(who, kind))
        ask = "吗" * (kind == "ask")
        return (
            f"{who.zh}{zh}{place_zh}{what.zh}{ask}",
            clause(who, what, "pres", kind, en, place=place_en),
        )
    often = (("常常", "often"), ("总是", "always"), ("有时候", "sometimes"), ("很少", "rarely"))
    zh, en = choice((*often, ("经常", "often"), ("从来不", "never"), ("也", "also")))
    reject(what.counted)
    return f"{who.zh}{zh}{place_zh}{what.zh}", clause(who, what, "pres", adverb=en, place=place_en)


@family(9)
def progress():
    """在, 正在, 呢: what somebody is doing."""
    who = phrases.subject()
    what = action("p", who)
    place_zh, place_en = at_place(what)
    kind = mood()
    reject(sounds_odd(who, kind))
    if kind == "deny":
        return f"{who.zh}没在{what.zh}", clause(who, what, "prog", kind)
    ask = "吗" * (kind == "ask")
    if place_zh:
        return f"{who.zh}正{place_zh}{what.zh}{ask}", clause(
            who, what, "prog", kind, place=place_en
        )
    if chance(0.25):
        return f"{who.zh}现在在{what.zh}{ask}", clause(who, what, "prog", kind, "now")
    zh = choice(("在", "在", "正在"))
    end = ask or choice(("", "", "呢"))
    return f"{who.zh}{zh}{what.zh}{end}", clause(who, what, "prog", kind)


@family(11)
def past():
    """昨天 ... 了: what somebody did."""
    who = phrases.subject()
    what = action("l", who)
    time_zh, time_en = time_of("past", what)
    place_zh, place_en = at_place(what, 0.25)
    kind = mood((("state", 5), ("deny", 2), ("ask", 2)))
    reject(sounds_odd(who, kind))
    first, second = (time_zh, who.zh) if chance(0.3) and kind == "state" else (who.zh, time_zh)
    en = clause(who, what, "past", kind, time_en, place=place_en)
    if kind == "deny":
        return f"{first}{second}没{choice(('', '', '有'))}{place_zh}{what.zh}", en
    return f"{first}{second}{place_zh}{what.done()}{'吗' * (kind == 'ask')}", en


@family(8)
def perfect():
    """了, 已经, 还没: what is done, or not yet."""
    who, what = phrases.subject(), None
    what = action("e" if chance(0.7) else "l", who)
    kind = mood((("state", 2), ("already", 2), ("yet", 2), ("deny", 2), ("ask", 3)))
    reject(sounds_odd(who, kind))
    perfect_of = {"state": "", "already": "", "ask": ""}
    if kind in perfect_of:
        adverb_zh, adverb_en = ("已经", "already") if kind == "already" else ("", "")
        en = english(who, what.en, "perf", ask=kind == "ask", adverb="")
        if adverb_en:
            name, have, rest = split_group(who, what)
            en = f"{name} {have} already {rest}"
        ask = "吗" * (kind == "ask")
        return f"{who.zh}{adverb_zh}{what.done()}{ask}", en + "?" * (kind == "ask")
    if kind == "yet":
        en = english(who, f"{what.en} yet", "perf", deny=True)
        return f"{who.zh}还没{what.zh}", en
    return f"{who.zh}没{choice(('', '有'))}{what.zh}", english(who, what.en, "past", deny=True)


def split_group(who, what):
    """Returns the English subject, have, and the participle with its complement."""
    text = english(who, what.en, "perf").removeprefix(who.en).strip()
    have, _, rest = text.partition(" ")
    return who.en, have, rest


@family(5)
def experience():
    """过: what somebody has ever done."""
    who = phrases.subject()
    what = action("g", who)
    kind = mood()
    reject(sounds_odd(who, kind))
    name, have, rest = split_group(who, what)
    if kind == "ask":
        return f"{who.zh}{what.once()}吗", f"{have} {name} ever {rest}?"
    if kind == "deny":
        return f"{who.zh}没{what.once()}", f"{name} {have} never {rest}"
    return f"{who.zh}{what.once()}", f"{name} {have} {rest}"


@family(8)
def future():
    """明天, 要, 会, 打算: what somebody will do."""
    who = phrases.subject()
    what = action("w", who)
    time_zh, time_en = time_of("future", what)
    kind = mood()
    reject(sounds_odd(who, kind))
    zh, tense, before = choice(
        (("", "will", ""), ("会", "will", ""), ("要", "going", ""), ("打算", "pres", "plan to "))
    )
    place_zh, place_en = at_place(what, 0.2)
    verb = " ".join(part for part in (before + what.en, place_en, time_en) if part)
    if tense == "will":
        en = will(who, verb, kind)
    else:
        reject(zh == "要" and kind == "deny")
        en = english(who, verb, tense, deny=kind == "deny", ask=kind == "ask")
    no = "不" * (kind == "deny")
    first, second = (time_zh, who.zh) if chance(0.25) and kind == "state" else (who.zh, time_zh)
    zh = f"{first}{second}{no}{zh}{place_zh}{what.zh}{'吗' * (kind == 'ask')}"
    return zh, en + "?" * (kind == "ask")


def will(who, verb, kind):
    """Returns the English future: will, won't."""
    return english(who, verb, "fut", deny=kind == "deny", ask=kind == "ask")


@family(9)
def wishes():
    """想, 喜欢: what somebody wants and likes to do."""
    who = phrases.subject()
    what = action("w", who)
    zh, en = choice(
        (("想", "want to"), ("想", "want to"), ("喜欢", "like to"), ("喜欢", "like to"))
    )
    kind = mood()
    reject(sounds_odd(who, kind))
    if zh == "喜欢":
        reject(what.counted or ("l" in what.flags and "h" not in what.flags))
    also = zh == "想" and kind == "state" and chance(0.15)
    much = zh == "喜欢" and kind == "state" and chance(0.15)
    no, ask = "不" * (kind == "deny"), "吗" * (kind == "ask")
    text = english(who, f"{en} {what.en}", deny=kind == "deny", ask=kind == "ask", adverb="")
    if also:
        text = english(who, f"{en} {what.en}", adverb="also")
    if much:
        text = english(who, f"{en} {what.en}", adverb="really")
    before = "也" * also + "很" * much + no
    return f"{who.zh}{before}{zh}{what.zh}{ask}", text + "?" * bool(ask)


@family(8)
def abilities():
    """会, 能, 可以, 应该, 必须, 得: what somebody can, may, should and must do."""
    who = phrases.subject()
    modal = choice(("会", "会", "能", "可以", "应该", "必须", "需要"))
    what = action("s" if modal == "会" else "i", who)
    kind = mood()
    reject(sounds_odd(who, kind))
    deny, ask = kind == "deny", kind == "ask"
    en = {
        "会": "can",
        "能": "can",
        "可以": "can",
        "应该": "should",
        "必须": "must",
        "需要": "need to",
    }
    tense = en[modal]
    if modal == "可以" and ask and who.zh in ("我", "我们"):
        tense = "may"
    if modal == "必须":
        reject(kind != "state")
    if modal == "可以":
        reject(deny)
    if tense == "need to":
        text = english(who, f"need to {what.en}", deny=deny, ask=ask)
    else:
        text = english(who, what.en, tense, deny=deny, ask=ask)
    zh = f"{who.zh}{'不' * deny}{modal}{what.zh}{'吗' * ask}"
    return zh, text + "?" * ask


@family(8)
def requests():
    """请, 别, 不要, 吧: orders, and what to do together."""
    what = action("i")
    what_en = what.en
    kind = choice(("please", "please", "not", "dont", "lets", "lets", "lets", "may", "can"))
    our = what_en.replace("your ", "our ")
    if kind == "please":
        reject(what_en.startswith(("see ", "lose ")))
        return f"请{what.zh}", f"Please {what_en}"
    if kind in ("not", "dont"):
        zh = "别" if kind == "not" else "不要"
        now = choice(("", "在这儿", "", "现在"))
        en_now = {"": "", "在这儿": " here", "现在": " now"}[now]
        return f"{zh}{now}{what.zh}", f"Don't {what_en}{en_now}"
    if kind == "lets":
        time_zh, time_en = choice((("", ""), ("", ""), ("明天", "tomorrow"), ("一起", "together")))
        return f"我们{time_zh}{what.zh}吧", f"Let's {our} {time_en}".rstrip()
    if kind == "may":
        what_en = what_en.replace("your ", "my ")
        return f"我可以{what.zh}吗", f"May I {what_en}?"
    return f"你能{what.zh}吗", f"Can you {what_en}?"


@family(6)
def statements():
    """不, 吗, A不A: what somebody does and does not do."""
    who = phrases.subject()
    what = action("h", who)
    reject(not what.object)
    kind = choice(("state", "deny", "deny", "ask", "ask", "choice"))
    reject(sounds_odd(who, kind))
    if kind == "choice":
        first = what.verb[0]
        return f"{who.zh}{first}不{what.zh}", clause(who, what, "pres", "ask")
    zh = f"{who.zh}{'不' * (kind == 'deny')}{what.zh}{'吗' * (kind == 'ask')}"
    return zh, clause(who, what, "pres", kind)


@family(7)
def questions():
    """谁, 什么时候, 在哪儿, 为什么: questions about an action."""
    who = phrases.subject()
    kind = choice(("who", "who_past", "when", "where", "why", "why_past", "with", "where_past"))
    what = action("l" if "past" in kind else "w", who)
    if kind == "who":
        zh, en = choice((("想", "want to"), ("会", "can"), ("喜欢", "like to")))
        what = action("s" if zh == "会" else "w")
        reject("one's" in what.en or "your" in what.en)
        verb = (
            f"can {what.en}"
            if en == "can"
            else f"{en.replace('want', 'wants').replace('like', 'likes')} {what.en}"
        )
        return f"谁{zh}{what.zh}", f"Who {verb}?"
    if kind == "who_past":
        zh, en = time_of("past", what)
        return f"谁{zh}{what.done()}", f"{english('who', f'{what.en} {en}', 'past')}?"
    if kind == "when":
        return f"{who.zh}什么时候{what.zh}", f"When {will(who, what.en, 'ask')}?"
    if kind == "where":
        reject(not what.places)
        where = choice(("在哪儿", "在哪里"))
        return f"{who.zh}{where}{what.zh}", f"Where {clause(who, what, 'pres', 'ask')}"
    if kind == "where_past":
        reject(not what.places or ("e" not in what.flags and not what.counted))
        zh, en = time_of("past", what)
        return f"{who.zh}{zh}在哪儿{what.zh}的", f"Where {clause(who, what, 'past', 'ask', en)}"
    if kind == "why":
        zh, en = choice((("想", "want to"), ("不", ""), ("不喜欢", "like to"), ("不想", "want to")))
        verb = f"{en} {what.en}".strip()
        text = english(who, verb, ask=True)
        if zh.startswith("不"):
            aux, _, rest = text.partition(" ")
            text = f"{aux}n't {rest}"
        return f"{who.zh}为什么{zh}{what.zh}", f"Why {text}?"
    if kind == "why_past":
        zh, en = choice((("", ""), ("昨天", "yesterday"), ("上个星期", "last week")))
        return f"{who.zh}{zh}为什么没{what.zh}", f"Why didn't {who.en} {what.en} {en}?"
    return f"{who.zh}和谁一起{what.zh}", f"Who {clause(who, what, 'pres', 'ask', 'with')}"


# ---- Going, and with whom ----

RIDES = (
    ("坐公共汽车", "by bus"), ("坐地铁", "by subway"), ("坐火车", "by train"), ("坐飞机", "by plane"),
    ("坐出租车", "by taxi"), ("开车", "by car"), ("骑自行车", "by bicycle"), ("走路", "on foot"),
    ("坐船", "by boat"),
)  # fmt: skip


def goal():
    """Returns somewhere to go as a pair: 学校, to school."""
    if chance(0.3):
        zh, en = pick(CITIES if chance(0.6) else [row[:2] for row in COUNTRIES])
        return zh, f"to {en}"
    zh, _, to = phrases.place()
    return zh, to


@family(9)
def going():
    """去, 回家, 坐火车: where somebody goes, when and how."""
    who = phrases.subject()
    zh, to = goal()
    go_zh, go_en = f"去{zh}", f"go {to}"
    if chance(0.12):
        go_zh, go_en = choice(
            (("回家", "go home"), ("上班", "go to work"), ("上学", "go to school"))
        )
    kind, tense = (
        mood(),
        choice(("habit", "past", "future", "prog", "want", "ride", "ride", "been", "been", "how")),
    )
    reject(sounds_odd(who, kind))
    deny, ask = kind == "deny", kind == "ask"
    ma, mark = "吗" * ask, "?" * ask
    if tense == "been":
        reject(go_zh[0] != "去")
        have = ("have", "has", "have")[who.e]
        if ask:
            return f"{who.zh}去过{zh}吗", f"{have} {who.en} ever been {to}?"
        if deny:
            return f"{who.zh}没去过{zh}", f"{who.en} {have} never been {to}"
        return f"{who.zh}去过{zh}", f"{who.en} {have} been {to}"
    if tense == "how":
        return f"{who.zh}怎么{go_zh}", f"How {english(who, go_en, ask=True)}?"
    if tense == "ride":
        ride_zh, ride_en = choice(RIDES)
        time_zh, time_en = choice((("", ""), ("每天", "every day"), ("每天早上", "every morning")))
        text = english(who, f"{go_en} {ride_en} {time_en}".strip(), ask=ask)
        return f"{who.zh}{time_zh}{ride_zh}{go_zh}{ma}", text + mark
    if tense == "want":
        zh_verb, verb = choice((("想", "want to"), ("想", "want to"), ("要", "want to")))
        reject(zh_verb == "要" and deny)
        text = english(who, f"{verb} {go_en}", deny=deny, ask=ask)
        return f"{who.zh}{'不' * deny}{zh_verb}{go_zh}{ma}", text + mark
    if tense == "prog":
        reject(deny or ask)
        what_zh, what_en = choice((("现在", " now"), ("", "")))
        return (
            f"{who.zh}{what_zh}在{go_zh}的路上",
            f"{who.en} {be(who)} on the way {go_en[3:]}{what_en}",
        )
    time_zh, time_en = pick(TIMES[tense])
    if tense == "habit":
        text = english(who, f"{go_en} {time_en}", deny=deny, ask=ask)
        return f"{who.zh}{time_zh}{'不' * deny}{go_zh}{ma}", text + mark
    if tense == "past":
        text = english(who, f"{go_en} {time_en}", "past", deny=deny, ask=ask)
        if deny:
            return f"{who.zh}{time_zh}没去{zh}" if go_zh[
                0
            ] == "去" else f"{who.zh}{time_zh}没{go_zh}", text
        done = f"去了{zh}" if go_zh[0] == "去" and not ask and chance(0.5) else f"{go_zh}了"
        return f"{who.zh}{time_zh}{done}{ma}", text + mark
    text = will(who, f"{go_en} {time_en}", kind)
    return f"{who.zh}{time_zh}{'不' * deny}{go_zh}{ma}", text + mark


def be(who, tense="pres"):
    """Returns am, is, are, or was, were."""
    e = who.e
    return ("am", "is", "are")[e] if tense == "pres" else ("was", "was", "were")[e]


@family(4)
def purposes():
    """去公园跑步: going somewhere to do something."""
    who = phrases.subject()
    what = action("w", who)
    reject(not what.places)
    zh = choice(what.places)
    to = next(row[2] for row in PLACES if row[0] == zh)
    time_zh, time_en = time_of("future", what)
    if chance(0.4):
        return f"我们去{zh}{what.zh}吧", f"Let's go {to} to {our(what, who)}"
    if chance(0.5):
        return f"{who.zh}想去{zh}{what.zh}", english(who, f"want to go {to} to {what.en}")
    return f"{who.zh}{time_zh}去{zh}{what.zh}", will(
        who, f"go {to} to {what.en} {time_en}", "state"
    )


def our(what, who):
    """Returns the English of an action of us all."""
    return (
        what.en.replace(f"{who.own} ", "our ")
        if "hands" in what.en or "teeth" in what.en
        else what.en
    )


# What one does not do together with somebody, and what already has a person.
ALONE = "睡 起 刷 穿 戴 结 丢 搬 送 养 等 找 帮助 认识 问 见 想 爱 照顾 打电话".split()


@family(5)
def company():
    """和朋友一起: doing something with somebody."""
    who, friend = phrases.subject(), None
    friend = phrases.relative() if chance(0.6) else phrases.named_person()
    reject(friend.zh == who.zh)
    what = action("w", who)
    reject(what.verb in ALONE or what.zh in ("洗手", "洗澡"))
    together = f"和{friend.zh}一起"
    kind = choice(("habit", "past", "future", "want", "often"))
    if kind == "often":
        reject("h" not in what.flags)
        return f"{who.zh}常常{together}{what.zh}", english(
            who, f"{what.en} with {friend.en}", adverb="often"
        )
    if kind == "want":
        return f"{who.zh}想{together}{what.zh}", english(who, f"want to {what.en} with {friend.en}")
    time_zh, time_en = time_of(kind, what)
    verb = f"{what.en} with {friend.en} {time_en}"
    if kind == "habit":
        reject("h" not in what.flags)
        return f"{who.zh}{time_zh}{together}{what.zh}", english(who, verb)
    if kind == "past":
        return f"{who.zh}{time_zh}{together}{what.done()}", english(who, verb, "past")
    return f"{who.zh}{time_zh}{together}{what.zh}", will(who, verb, "state")


# ---- What people and things are ----


@family(8)
def being():
    """是: professions, countries, relations; 不是, 吗, 是不是."""
    who = phrases.subject()
    several = who.zh.endswith("们")
    noun = choice(("job", "job", "job", "country", "folk"))
    kind = mood((("state", 4), ("deny", 2), ("ask", 3), ("choice", 1)))
    reject(sounds_odd(who, kind))
    deny, ask = kind == "deny", kind in ("ask", "choice")
    if noun == "country":
        row = pick(COUNTRIES)
        zh, en = f"{row[0]}人", row[2]
    else:
        word = pick(phrases.NOUNS["job" if noun == "job" else "kin"])
        zh, en = word.zh, word.plural if several else a_an(word.en)
        if noun == "folk":
            reject(who.zh == "我" or word.zh not in ("朋友", "同学"))
            zh, en = f"我的{word.zh}", f"my {word.plural if several else word.en}"
            reject(who.zh == "我们")
    if chance(0.1) and noun == "job":
        zh, en = f"一{word.measure}{zh}", en
        reject(several or ask or deny)
    text = be_clause(who, en, kind)
    if kind == "choice":
        return f"{who.zh}是不是{zh}", text
    return f"{who.zh}{'不' * deny}是{zh}{'吗' * ask}", text


def be_clause(who, rest, kind, tense="pres"):
    """Returns an English clause of to be."""
    verb = be(who, tense)
    if kind in ("ask", "choice"):
        return f"{verb} {who.en} {rest}?"
    return f"{who.en} {verb} {'not ' * (kind == 'deny')}{rest}"


DEGREES = (
    ("很", ""), ("很", ""), ("很", ""), ("非常", "very "), ("太", "too "), ("真", "really "),
    ("有点儿", "a bit "), ("特别", "especially "), ("比较", "rather "),
)  # fmt: skip
# 有点儿 goes with what one does not like.
UNPLEASANT = """矮 胖 懒 忙 累 饿 渴 难过 生气 担心 紧张 孤独 冷 热 酸 辣 咸 苦 贵 大 小 旧 脏 重 长 短 难
    奇怪 远 慢""".split()


def degree(zh, en, kind):
    """Returns an adjective with its degree: 很大, big; 不大, not big."""
    reject(zh.startswith("有") and kind == "deny")
    if kind == "ask":
        return (zh, en) if chance(0.7) or zh.startswith("有") else (f"{zh}不{zh}", en)
    if kind == "deny":
        return choice(((f"不{zh}", f"not {en}"), (f"不太{zh}", f"not very {en}")))
    degree_zh, degree_en = choice(DEGREES)
    reject(degree_zh == "有点儿" and zh not in UNPLEASANT)
    return f"{degree_zh}{zh}{'了' * (degree_zh == '太')}", f"{degree_en}{en}"


@family(9)
def people_are():
    """她很漂亮, 我不累: qualities and feelings of people."""
    who = phrases.subject()
    group = choice(("person", "feeling"))
    kind = mood()
    reject(sounds_odd(who, kind))
    word_zh, word_en = pick(ADJECTIVES[group])
    zh, en = degree(word_zh, word_en, kind)
    ask = "吗" if kind == "ask" and zh == word_zh else ""
    time_zh, time_en = "", ""
    tense = "pres"
    if group == "feeling" and chance(0.25):
        time_zh, time_en, tense = choice(
            (("今天", "today", "pres"), ("昨天", "yesterday", "past"), ("现在", "now", "pres"))
        )
    text = be_clause(who, f"{en} {time_en}".strip(), "ask" if kind == "ask" else "state", tense)
    return f"{who.zh}{time_zh}{zh}{ask}", text


def some_thing(
    of=(
        "fruit",
        "food",
        "drink",
        "clothes",
        "text",
        "small",
        "machine",
        "vehicle",
        "furniture",
        "animal",
        "building",
        "matter",
    ),
):
    """Returns a Noun and a definite phrase of it: 这本书, 我的书, 那只猫."""
    noun = pick(phrases.NOUNS[choice(of)])
    if noun.kind in ("animal", "clothes", "text", "small", "machine", "vehicle", "furniture") and (
        not noun.unit and chance(0.45)
    ):
        who = phrases.subject()
        zh, en = who.possessive
        return noun, f"{zh}{noun.zh}", f"{en} {noun.en}"
    return noun, *phrases.phrase(noun, "t")


@family(10)
def things_are():
    """这本书很有意思: qualities of things."""
    noun, zh, en = some_thing()
    kind = mood()
    word_zh, word_en = pick(phrases.described(noun))
    reject(noun.kind == "vehicle" and word_zh in ("快", "慢") and noun.zh == "船")
    quality_zh, quality_en = degree(word_zh, word_en, kind)
    ask = "吗" if kind == "ask" and quality_zh == word_zh else ""
    if kind == "ask":
        return f"{zh}{quality_zh}{ask}", f"is {en} {quality_en}?"
    return f"{zh}{quality_zh}", f"{en} is {quality_en}"


@family(3)
def how_is_it():
    """怎么样: what somebody thinks of a thing; 觉得."""
    noun, zh, en = some_thing()
    if chance(0.25):
        return f"{zh}怎么样", f"How is {en}?"
    who = phrases.subject(pronouns=0.8)
    word_zh, word_en = pick(phrases.described(noun))
    quality_zh, quality_en = degree(word_zh, word_en, "state")
    return f"{who.zh}觉得{zh}{quality_zh}", f"{english(who, 'think')} {en} is {quality_en}"


COMPARED = dict(
    高="taller", 矮="shorter", 漂亮="more beautiful", 年轻="younger", 聪明="smarter", 胖="fatter",
    瘦="thinner", 忙="busier", 高兴="happier", 大="bigger", 小="smaller", 新="newer", 旧="older",
    贵="more expensive", 便宜="cheaper", 重="heavier", 轻="lighter", 快="faster", 慢="slower",
    长="longer", 短="shorter", 好="better", 好吃="more delicious", 甜="sweeter", 有意思="more interesting",
    难="more difficult", 容易="easier", 重要="more important", 干净="cleaner", 可爱="cuter",
    远="farther", 安静="quieter", 努力="more hardworking", 好看="nicer", 有用="more useful", 热="hotter",
)  # fmt: skip


@family(6)
def comparisons():
    """比, 没有, 一样, 最: comparing people and things."""
    if chance(0.55):
        first, second = phrases.subject(), phrases.subject()
        reject(first.zh[0] == second.zh[0] or {first.zh[0], second.zh[0]} & set("们"))
        zh, other, subject = first.zh, second.zh, first
        word = choice([word for word, _ in ADJECTIVES["person"] if word in COMPARED] + ["大", "忙"])
        en = second.object
        more = "older" if word == "大" else COMPARED[word]
        plain = dict(ADJECTIVES["person"] + [("大", "old"), ("忙", "busy")])[word]
        verb = be(subject)
        name = first.en
    else:
        noun, zh, name = some_thing()
        _, other, en = some_thing((noun.kind,))
        reject(zh == other or name == en)
        word = choice([word for word, _ in phrases.described(noun) if word in COMPARED])
        more, plain, verb = COMPARED[word], dict(phrases.described(noun))[word], "is"
    kind = choice(("more", "more", "more", "ask", "less", "same", "much", "even"))
    if kind == "less":
        reject(word in "矮 小 短 旧 慢 轻".split())
        return f"{zh}没有{other}{word}", f"{name} {verb} not as {plain} as {en}"
    if kind == "same":
        return f"{zh}和{other}一样{word}", f"{name} {verb} as {plain} as {en}"
    if kind == "much":
        return f"{zh}比{other}{word}多了", f"{name} {verb} much {more} than {en}"
    if kind == "even":
        return f"{zh}比{other}更{word}", f"{name} {verb} even {more} than {en}"
    if kind == "ask":
        return f"{zh}比{other}{word}吗", f"{verb} {name} {more} than {en}?"
    return f"{zh}比{other}{word}", f"{name} {verb} {more} than {en}"


# ---- Having, and where things are ----

HAD = "clothes pairs text small machine vehicle animal_pet kin kin kin".split()


@family(8)
def having():
    """有, 没有: what somebody has."""
    who = phrases.subject()
    noun = pick(phrases.NOUNS[choice(HAD)])
    reject(noun.zh in ("火车", "飞机", "公共汽车", "出租车"))
    kind = mood()
    reject(sounds_odd(who, kind))
    if kind == "state":
        if chance(0.2) and not noun.unit and noun.kind in ("small", "text", "clothes"):
            zh, en = pick(ADJECTIVES["color"])
            return f"{who.zh}有一{noun.measure}{zh}的{noun.zh}", english(
                who, f"have {a_an(f'{en} {noun.en}')}"
            )
        zh, en = phrases.phrase(noun, choice("aann"))
        if noun.kind == "kin" and chance(0.3):
            second = pick(phrases.NOUNS["kin"])
            reject(second.zh == noun.zh)
            other_zh, other_en = phrases.phrase(second, choice("an"))
            zh, en = f"{zh}和{other_zh}", f"{en} and {other_en}"
        return f"{who.zh}有{zh}", english(who, f"have {en}")
    one = phrases.phrase(noun, "a")[1]
    text = english(who, f"have {one}", deny=kind == "deny", ask=kind == "ask")
    if kind == "ask":
        return choice((f"{who.zh}有{noun.zh}吗", f"{who.zh}有没有{noun.zh}")), f"{text}?"
    return f"{who.zh}没有{noun.zh}", text


SIDES = (
    ("旁边", "next to"), ("前面", "in front of"), ("后面", "behind"), ("上", "on"), ("里", "in"),
    ("下面", "under"), ("上面", "on"), ("里面", "in"),
)  # fmt: skip
HOLDS = {
    "on": "桌子 椅子 床 沙发 书架 书", "in": "书包 包 盒子 房间 厨房 冰箱 教室 办公室 杯子 柜子 花园 公园",
    "under": "桌子 椅子 床 树 沙发", "next to": "桌子 床 门 窗户 电脑 沙发 冰箱 树 学校 医院",
    "in front of": "学校 商店 银行 电视 房子 医院", "behind": "门 沙发 学校 房子 树 商店",
}  # fmt: skip
EVERY_NOUN = {
    noun.zh: noun
    for kind in ("building", "landscape", "furniture", "machine", "small", "text", "opening")
    for noun in phrases.NOUNS[kind]
}


def spot():
    """Returns a spot as a pair: 桌子上, on the table."""
    zh, en = choice(SIDES)
    noun = EVERY_NOUN[choice(HOLDS[en].split())]
    reject(zh == "上面" and noun.zh == "书")
    return f"{noun.zh}{zh}", f"{en} the {noun.en}"


@family(9)
def where_things_are():
    """在: where a thing is; 有: what there is."""
    zh, en = spot()
    big = any(
        word in zh for word in "房间 厨房 教室 公园 花园 办公室 学校 医院 商店 银行 房子 树".split()
    )
    group = choice(
        ("animal_pet", "animal_pet", "folk", "vehicle_own")
        if big
        else ("small", "small", "text", "clothes", "animal_pet", "fruit")
    )
    noun = pick(phrases.NOUNS[group])
    reject(noun.zh in zh or noun.unit != "" or noun.zh in ("鱼", "人", "外国人"))
    reject("冰箱里" in zh and group not in ("fruit",))
    kind = choice(("at", "at", "at", "ask", "deny", "there", "there", "there_ask", "none", "what"))
    name_zh, name_en = phrases.phrase(noun, "d")
    if chance(0.4) and group in ("small", "text", "clothes"):
        who = phrases.subject().possessive
        name_zh, name_en = who[0] + noun.zh, f"{who[1]} {noun.en}"
    if kind == "at":
        return f"{name_zh}在{zh}", f"{name_en} is {en}"
    if kind == "ask":
        return f"{name_zh}在{zh}吗", f"is {name_en} {en}?"
    if kind == "deny":
        return f"{name_zh}不在{zh}", f"{name_en} is not {en}"
    if kind == "there":
        letter = choice("an")
        one_zh, one_en = phrases.phrase(noun, letter)
        return f"{zh}有{one_zh}", f"there {'is' if letter == 'a' else 'are'} {one_en} {en}"
    if kind == "there_ask":
        return f"{zh}有{noun.zh}吗", f"is there {a_an(noun.en)} {en}?"
    if kind == "what":
        ask, _ = choice((("什么", "what"), ("谁", "who")) if big else (("什么", "what"),))
        return (
            (f"{zh}有什么", f"what is {en}?") if ask == "什么" else (f"谁在{zh}", f"who is {en}?")
        )
    return f"{zh}没有{noun.zh}", f"there is no {noun.en} {en}"


# ---- Two clauses ----

STATES = (
    ("累", "tired"), ("忙", "busy"), ("饿", "hungry"), ("高兴", "happy"), ("难过", "sad"), ("渴", "thirsty"),
)  # fmt: skip


@family(8)
def two_clauses():
    """因为, 所以, 虽然, 但是, 如果, 先, 以后: two clauses in one sentence."""
    who = phrases.pronoun()
    what = action("w", who)
    word_zh, word_en = choice(STATES)
    state = f"{who.en} {be(who)} {word_en}"
    kind = choice(("because", "because2", "although", "if", "first", "but", "says", "when", "and"))
    if kind == "because":
        no = choice(("不想", "想"))
        text = english(who, f"want to {what.en}", deny=no == "不想")
        return f"因为{who.zh}很{word_zh}，所以{who.zh}{no}{what.zh}", f"Because {state}, {text}"
    if kind == "because2":
        return f"{who.zh}没{what.zh}，因为{who.zh}很{word_zh}", (
            f"{english(who, what.en, 'past', deny=True)} because {who.en} {be(who, 'past')} {word_en}"
        )
    if kind == "although":
        return f"虽然{who.zh}很{word_zh}，但是{who.zh}还想{what.zh}", (
            f"Although {state}, {english(who, f'still want to {what.en}')}"
            if who.e != 1
            else f"Although {state}, {who.en} still wants to {what.en}"
        )
    if kind == "if":
        rain_zh, rain_en, no = choice((
            ("明天下雨", "it rains tomorrow", True), ("明天天气好", "the weather is good tomorrow", False),
            ("你有时间", "you have time", False), ("你不忙", "you are not busy", False),
        ))  # fmt: skip
        reject("你" in rain_zh and who.zh.startswith("你"))
        return f"如果{rain_zh}，{who.zh}就{'不' * no}{what.zh}", (
            f"If {rain_en}, {will(who, what.en, 'deny' if no else 'state')}"
        )
    second = action("w", who)
    reject(second.zh == what.zh)
    if kind == "first":
        return f"{who.zh}先{what.zh}，然后{second.zh}", (
            f"{english(who, what.en, adverb='first')}, then {english(who, second.en).split(' ', 1)[1]}"
        )
    if kind == "but":
        reject("h" not in what.flags or "h" not in second.flags)
        return f"{who.zh}喜欢{what.zh}，但是不喜欢{second.zh}", (
            f"{english(who, f'like to {what.en}')}, but {english(who, f'like to {second.en}', deny=True).split(' ', 1)[1]}"
        )
    if kind == "and":
        reject("h" not in what.flags or "h" not in second.flags)
        other = phrases.pronoun()
        reject(other.zh[0] == who.zh[0])
        return f"{who.zh}喜欢{what.zh}，{other.zh}喜欢{second.zh}", (
            f"{english(who, f'like to {what.en}')}, and {english(other, f'like to {second.en}')}"
        )
    if kind == "when":
        reject("h" not in what.flags)
        return f"{who.zh}{word_zh}的时候喜欢{what.zh}", (
            f"{english(who, f'like to {what.en}')} when {state}"
        )
    other = phrases.pronoun(["他", "她", "他们"])
    return f"{other.zh}说{who.zh}很{word_zh}", f"{english(other, 'say')} {state}"


@family(4)
def bought():
    """我昨天买的书很贵: a thing that somebody bought, in a clause."""
    noun = pick(phrases.NOUNS[choice(("clothes", "text", "small", "machine"))])
    reject(noun.unit != "")
    who, (time_zh, time_en) = phrases.subject(), pick(TIMES["past"])
    zh, en = f"{who.zh}{time_zh}买的", f"{who.en} bought {time_en}"
    if chance(0.3):
        time_zh, zh, en = "", f"{who.zh}买的", f"{who.en} bought"
    if chance(0.4):
        return f"这是{zh}{noun.zh}", f"This is the {noun.en} {en}"
    word_zh, word_en = pick(phrases.described(noun))
    quality_zh, quality_en = degree(word_zh, word_en, choice(("state", "state", "deny")))
    return f"{zh}{noun.zh}{quality_zh}", f"The {noun.en} {en} is {quality_en}"


MANNERS = (
    ("跑", "run", (("快", "fast"), ("慢", "slowly"))), ("走", "walk", (("快", "fast"), ("慢", "slowly"))),
    ("说", "speak", (("快", "fast"), ("好", "well"), ("慢", "slowly"))), ("唱", "sing", (("好", "well"),)),
    ("跳", "dance", (("好", "well"),)), ("写", "write", (("好", "well"), ("快", "fast"), ("慢", "slowly"))),
    ("吃", "eat", (("多", "a lot"), ("快", "fast"), ("少", "little"), ("慢", "slowly"))),
    ("游", "swim", (("快", "fast"), ("好", "well"))), ("画", "draw", (("好", "well"),)),
    ("起", "get up", (("早", "early"), ("晚", "late"))), ("睡", "sleep", (("好", "well"),)),
    ("来", "come", (("早", "early"), ("晚", "late"))), ("学", "learn", (("快", "fast"), ("慢", "slowly"))),
)  # fmt: skip


@family(4)
def manners():
    """跑得很快: how somebody does something."""
    who = phrases.subject()
    zh, en, ways = choice(MANNERS)
    way_zh, way_en = choice(ways)
    kind = mood()
    reject(sounds_odd(who, kind))
    if kind == "ask":
        return f"{who.zh}{zh}得{way_zh}吗", f"{english(who, f'{en} {way_en}', ask=True)}?"
    if kind == "deny":
        return f"{who.zh}{zh}得不{way_zh}", english(who, f"{en} {way_en}", deny=True)
    degree_zh, degree_en = choice((("很", ""), ("很", ""), ("太", "too "), ("非常", "very ")))
    reject(
        (way_en == "a lot" and degree_en == "very ")
        or (degree_en == "too " and way_en in ("well", "a lot"))
    )
    return f"{who.zh}{zh}得{degree_zh}{way_zh}{'了' * (degree_zh == '太')}", (
        english(who, f"{en} {degree_en}{way_en}")
    )


ANIMAL_ACTIONS = (
    ("喝水", "drink water"), ("喝牛奶", "drink milk"), ("吃鱼", "eat fish"), ("吃草", "eat grass"),
    ("睡觉", "sleep"), ("跑", "run"), ("叫", "make noise"), ("吃水果", "eat fruit"), ("玩球", "play with a ball"),
    ("吃东西", "eat"), ("吃肉", "eat meat"), ("找吃的", "look for food"),
)  # fmt: skip


@family(5)
def animals():
    """小狗在睡觉: what animals do."""
    noun = pick(phrases.NOUNS["animal"])
    (zh, en), e = phrases.phrase(noun, choice("dt")), 1
    if chance(0.4):
        (owner_zh, owner_en) = phrases.subject().possessive
        reject(noun.zh in ("熊猫", "老虎", "大象", "蛇", "猴子"))
        zh, en = f"{owner_zh}{noun.zh}", f"{owner_en} {noun.en}"
    what_zh, what_en = choice(ANIMAL_ACTIONS)
    who = phrases.Person(zh, en, e, "its", en, en)
    kind = choice(("state", "habit", "prog", "prog", "prog_at", "like", "deny", "ask", "want"))
    if kind == "habit":
        time_zh, time_en = pick(TIMES["habit"])
        return f"{zh}{time_zh}{what_zh}", english(who, f"{what_en} {time_en}")
    if kind == "prog":
        return f"{zh}{choice(('在', '正在'))}{what_zh}", english(who, what_en, "prog")
    if kind == "prog_at":
        spot_zh, spot_en = spot()
        return f"{zh}在{spot_zh}{what_zh}", english(who, f"{what_en} {spot_en}", "prog")
    if kind == "ask":
        return f"{zh}在{what_zh}吗", english(who, what_en, "prog", ask=True) + "?"
    if kind in ("like", "want"):
        verb_zh, verb = ("喜欢", "like to") if kind == "like" else ("想", "want to")
        no = chance(0.3)
        return f"{zh}{'不' * no}{verb_zh}{what_zh}", english(who, f"{verb} {what_en}", deny=no)
    no = kind == "deny"
    return f"{zh}{'不' * no}{what_zh}", english(who, what_en, deny=no)


@family(6)
def colored_things():
    """那只黑色的狗很大: things known by their color or another quality."""
    noun = pick(
        phrases.NOUNS[
            choice("clothes clothes small machine vehicle_own animal_pet furniture".split())
        ]
    )
    reject(noun.unit != "" or noun.zh == "镜子")
    color = chance(0.7)
    if color:
        word_zh, word_en = pick(ADJECTIVES["color"])
        reject(noun.kind == "animal" and word_zh in ("红色", "绿色", "紫色", "粉色", "蓝色"))
    else:
        word_zh, word_en = choice((("新", "new"), ("旧", "old"), ("大", "big"), ("小", "small")))
        reject(noun.zh in ("小猫", "小狗"))
    link = "的" if color or (word_zh in ("新", "旧") and chance(0.3)) else ""
    pointer_zh, pointer_en = choice((("这", "this"), ("那", "that")))
    this = (
        f"{pointer_zh}{noun.measure}{word_zh}{link}{noun.zh}",
        f"{pointer_en} {word_en} {noun.en}",
    )
    one = f"一{noun.measure}{word_zh}{link}{noun.zh}", a_an(f"{word_en} {noun.en}")
    who = phrases.subject(pronouns=0.8)
    kind = choice(("is", "is", "bought", "want", "like", "whose", "how_much", "have", "there"))
    if kind == "is":
        quality_zh, quality_en = pick(phrases.described(noun))
        reject(quality_zh == word_zh or {quality_zh, word_zh} in ({"新", "旧"}, {"大", "小"}))
        quality_zh, quality_en = degree(quality_zh, quality_en, "state")
        return f"{this[0]}{quality_zh}", f"{this[1]} is {quality_en}"
    if kind == "bought":
        time_zh, time_en = choice(
            (("", ""), ("昨天", "yesterday"), ("今天", "today"), ("上个星期", "last week"))
        )
        reject(noun.kind == "animal")
        return f"{who.zh}{time_zh}买了{one[0]}", english(
            who, f"buy {one[1]} {time_en}".strip(), "past"
        )
    if kind == "want":
        zh, en = choice((("买", "buy "), ("要", "")))
        return f"{who.zh}想{zh}{one[0]}", english(who, f"want {'to ' * bool(en)}{en}{one[1]}")
    if kind == "like":
        reject(sounds_odd(who, "state"))
        return f"{who.zh}喜欢{this[0]}", english(who, f"like {this[1]}")
    if kind == "whose":
        return f"{this[0]}是谁的", f"Whose is {this[1]}?"
    if kind == "how_much":
        return f"{this[0]}多少钱", f"How much is {this[1]}?"
    if kind == "have":
        reject(sounds_odd(who, "state"))
        return f"{who.zh}有{one[0]}", english(who, f"have {one[1]}")
    spot_zh, spot_en = spot()
    reject(noun.zh in spot_zh or noun.kind in ("vehicle", "furniture", "machine"))
    return f"{spot_zh}有{one[0]}", f"there is {one[1]} {spot_en}"


ROOMS = (("房间里", "in the room"), ("教室里", "in the classroom"), ("办公室里", "in the office"),
    ("厨房里", "in the kitchen"), ("家里", "at home"))  # fmt: skip


@family(5)
def what_there_is():
    """冰箱里没有牛奶, 房间里有三张床: what there is in the refrigerator and in rooms."""
    if chance(0.5):
        group, zh, en = choice((("drink", "冰箱里", "in the refrigerator"), ("food", "冰箱里", "in the refrigerator"),
            ("fruit", "冰箱里", "in the refrigerator"), ("food", "桌子上", "on the table"), ("drink", "家里", "at home"),
            ("fruit", "家里", "at home")))  # fmt: skip
    else:
        zh, en = choice(ROOMS)
        group = choice(("furniture", "furniture", "machine", "opening"))
    noun = pick(phrases.NOUNS[group])
    reject(noun.zh == "冰箱" and "冰箱" in zh)
    several = noun.plural != noun.en and noun.ens != "-"
    verb, kind = (
        ("are" if several else "is"),
        choice(("some", "none", "none", "ask", "one", "one", "many")),
    )
    if noun.zh in ("面条", "蔬菜"):
        verb = "are"
    if kind == "none":
        return f"{zh}没有{noun.zh}", f"there {verb} no {noun.plural} {en}"
    if kind == "ask":
        return f"{zh}有{noun.zh}吗", f"{verb} there any {noun.plural} {en}?"
    if kind == "some":
        reject(several)
        return f"{zh}有{noun.zh}", f"there {verb} some {noun.plural} {en}"
    if kind == "many":
        return (
            f"{zh}有很多{noun.zh}",
            f"there {verb} {'many' if several else 'a lot of'} {noun.plural} {en}",
        )
    letter = choice("ann")
    one_zh, one_en = phrases.phrase(noun, letter)
    return f"{zh}有{one_zh}", f"there {'is' if letter == 'a' else 'are'} {one_en} {en}"


WAYS = (("一直走", "go straight"), ("往左拐", "turn left"), ("往右拐", "turn right"), ("往前走", "go ahead"),
    ("过马路", "cross the street"), ("过桥", "cross the bridge"), ("往回走", "go back"))  # fmt: skip


@family(2)
def directions():
    """先往左拐，然后一直走: the way to a place."""
    (first_zh, first_en), (second_zh, second_en) = choice(WAYS), choice(WAYS)
    reject(first_zh == second_zh)
    kind = choice(("then", "first", "at", "please", "see"))
    row = phrases.place(public=True)
    if kind == "then":
        return f"{first_zh}，然后{second_zh}", f"{first_en}, then {second_en}"
    if kind == "first":
        return f"先{first_zh}，再{second_zh}", f"first {first_en}, then {second_en}"
    if kind == "at":
        return f"在{row[0]}{first_zh}", f"{first_en} {row[1].replace('in ', 'at ')}".replace(
            "at school", "at the school"
        )
    if kind == "please":
        return f"请{first_zh}", f"please {first_en}"
    side_zh, side_en = choice((("左", "left"), ("右", "right")))
    return (
        f"{first_zh}，{row[0]}就在{side_zh}边",
        f"{first_en}, {phrases.the_place(row)} is on the {side_en}",
    )


@family(4)
def numbers():
    """二十岁, 八点半, 五月一号: numbers in what beginners say."""
    who = phrases.subject()
    kind = choice(("age", "age", "clock", "date", "price", "phone", "wait", "day"))
    if kind == "age":
        zh, en = phrases.number(3 + DRAW.below(60))
        ask = chance(0.15)
        return f"{who.zh}{zh}岁{'吗' * ask}", be_clause(
            who, f"{en} years old", "ask" if ask else "state"
        )
    if kind == "clock":
        zh, en = phrases.clock(7, 11)
        what = action("h", who)
        reject(what.object in ("午饭", "晚饭", "觉"))
        return f"{who.zh}{zh}{what.zh}", english(who, f"{what.en} at {en}")
    if kind == "date":
        zh, en = phrases.date()
        to_zh, to = goal()
        return f"{who.zh}{zh}去{to_zh}", will(who, f"go {to} on {en}", "state")
    if kind == "price":
        zh, en = phrases.price()
        noun, thing_zh, thing_en = some_thing(("clothes", "text", "small", "food", "drink"))
        return f"{thing_zh}{zh}", f"{thing_en} is {en}"
    if kind == "phone":
        zh, en = phrases.number(2 + DRAW.below(30))
        noun = pick(phrases.NOUNS[choice(("text", "small", "animal_pet", "fruit"))])
        count = 2 + DRAW.below(18)
        return f"{who.zh}有{phrases.counted(count)}{noun.measure}{noun.zh}", english(
            who, f"have {noun.amount(count)}"
        )
    if kind == "day":
        zh, en = choice(phrases.FIXED["weekday"])
        day = choice((("今天", "today"), ("明天", "tomorrow"), ("后天", "the day after tomorrow")))
        return f"{day[0]}是{zh}吗", f"Is {day[1]} {en}?"
    n = choice((2, 5, 10, 15, 20, 30))
    return f"{who.zh}等了{phrases.counted(n)}分钟", english(
        who, f"wait for {phrases.number(n)[1]} minutes", "past"
    )


@family(4)
def who_is_doing():
    """谁在唱歌, 为什么你 ...: questions at the beginning; 好吗, 可以吗 at the end."""
    kind = choice(("who", "who_at", "why", "okay", "okay", "can"))
    if kind in ("who", "who_at"):
        what = action("p")
        reject("your" in what.en)
        zh, en = at_place(what, 1) if kind == "who_at" else ("", "")
        zh = f"谁{zh or '在'}{what.zh}"
        return zh, f"Who {english('who', f'{what.en} {en}'.strip(), 'prog').removeprefix('who ')}?"
    if kind == "why":
        who = phrases.pronoun(["你", "他", "她", "他们", "你们"])
        word_zh, word_en = choice((*ADJECTIVES["feeling"],))
        no, first = chance(0.5), chance(0.5)
        verb = be(who) + "n't" * no
        zh = f"为什么{who.zh}" if first else f"{who.zh}为什么"
        return (
            f"{zh}{'不' if no else '这么'}{word_zh}",
            f"Why {verb} {who.en} {'' if no else 'so '}{word_en}?",
        )
    what = action("i")
    if kind == "okay":
        return f"我们{what.zh}，好吗", f"Let's {what.en.replace('your ', 'our ')}, okay?"
    who = phrases.pronoun(["我", "我们", "他"])
    what = action("i", who)
    return f"{who.zh}{what.zh}，可以吗", f"{english(who, what.en, 'can', ask=True)}?"


@family(6)
def tastes():
    """喜欢, 想要, 要: what somebody likes and wants."""
    who = phrases.subject()
    kind = mood()
    reject(sounds_odd(who, kind))
    deny, ask = kind == "deny", kind == "ask"
    if chance(0.55):
        groups = "fruit food drink animal machine".split()
        zh, en = phrases.thing(choice(groups), "b")
        verb_zh, verb = "喜欢", "like"
        if chance(0.2):
            zh, en = person_liked(who)
        much = kind == "state" and chance(0.3)
        adverb_zh, adverb = (
            choice((("很", "really"), ("最", ""), ("也", "also"))) if much else ("", "")
        )
        if adverb_zh == "最":
            return f"{who.zh}最喜欢{zh}", english(who, f"like {en} best")
        text = english(who, f"{verb} {en}", deny=deny, ask=ask, adverb=adverb)
        return f"{who.zh}{adverb_zh}{'不' * deny}{verb_zh}{zh}{'吗' * ask}", text + "?" * ask
    zh, en = phrases.thing(choice("food drink clothes small text".split()), "a")
    verb_zh = choice(("想要", "要"))
    reject(deny)
    text = english(who, f"want {en}", deny=deny, ask=ask)
    return f"{who.zh}{verb_zh}{zh}{'吗' * ask}", text + "?" * ask


def person_liked(who):
    """Returns somebody else as an object."""
    zh, en = phrases.person()
    reject(zh[0] == who.zh[0])
    return zh, en


FAMILIES.append((pattern, 70))
