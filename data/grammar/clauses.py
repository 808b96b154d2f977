"""Clauses: actions, verb phrases, times, and how they make a sentence."""

import itertools
import re
from collections import defaultdict

from grammar.english import BE, en_group, en_not
from grammar.lexicon import ACTION_ROWS, DAY_VERBS, FAR_VERBS, KID_VERBS, rows
from grammar.phrases import (
    DRAW,
    JOB_PLACE,
    JOBS,
    KID_LEMMAS,
    VP,
    WORD,
    at,
    chance,
    choice,
    close,
    join,
    number,
    pairs_of,
    pick,
    place,
    reject,
    slot,
)
from grammar.portuguese import pt_adj, pt_forms, pt_gerund, pt_participle

# Tables and calls are packed by hand from here on.
# fmt: off

UNWILLED = set(
    """ganhar entender perder quebrar machucar receber encontrar esquecer molhar vencer passar
        chorar mentir gritar""".split()
)
FEMALE = {m.pt: f.pt for m, f in itertools.pairwise(JOBS) if (m.g, f.g, m.en) == ("m", "f", f.en)}
JOB_PLACE_OF = {noun.pt: JOB_PLACE[noun] for noun in JOBS}
JOB_ROWS = defaultdict(list)
# What people of a profession do at work; "@" is their place of work.
for _job, *_row in rows("profession_actions"):
    for _lemma in dict.fromkeys((_job, FEMALE.get(_job, _job))):
        JOB_ROWS[_lemma].append(tuple(_row))

OFTEN = (
    "edible groceries drawable wildland farm small drink language subject sport instrument coin "
    "sights"
)
for _row in ACTION_ROWS:
    _group = re.search(r"\{(\w+)", _row[1])
    if _group and _group.group(1) in OFTEN.split():
        DRAW.weight[_row] = 3.0
    elif "{person}" in _row[1] or "{close}" in _row[1]:
        DRAW.weight[_row] = 0.7

def rows_for(s, flags):
    """The actions with all the flags; mostly those of the profession if s has one."""
    own = [r for r in JOB_ROWS.get(s.lemma, ()) if all(f in r[5] for f in flags)]
    if own and chance(0.75):
        return own
    return [r for r in ACTION_ROWS if all(f in r[5] for f in flags)]

def action(s, flags="", where=0.6, company=0.35, willed=False, row=None):
    """A verb phrase of an action that s can do and that has all the flags, places included."""
    row = row or pick(rows_for(s, flags))
    pt_verb, pt_tail, en_verb, en_tail, tag, has = row
    child = s.lemma in KID_LEMMAS
    reject(willed and pt_verb in UNWILLED)
    pupil = not s.lemma or child or s.lemma in ("aluno", "aluna")
    reject(not pupil and ("para a escola" in pt_tail or "lição de casa" in pt_tail))
    reject((child and pt_verb not in KID_VERBS) or (tag == "kids" and s.lemma and not child))
    fills = [slot(code, s, "h" in flags) for code in re.findall(r"\{([^}]*)\}", pt_tail)]
    for fill in fills:
        pt_tail = re.sub(r"\{[^}]*\}", lambda _, f=fill: f[0], pt_tail, count=1)
        en_tail = en_tail.replace("{}", fill[1], 1)
    if s.n == "p" and re.search("~ (knee|arm|leg|nose|head|shoulder|neck|mouth|face)$", en_tail):
        en_tail += "s"
    en_tail = en_tail.replace("~", s.own)
    scale = "day" if pt_verb in DAY_VERBS else "far" if pt_verb in FAR_VERBS else "near"
    vp = VP(pt_verb, en_verb, pt_tail, en_tail, s.se if "r" in has else "", scale)
    if "c" in has and chance(company):
        friend = close()
        vp = vp.plus((f"com {friend.pt}", f"with {friend.en}"))
    if tag == "@":
        vp = vp.plus(at(WORD[JOB_PLACE_OF[s.lemma]])) if chance(where / 2) else vp
    elif tag and (not has.strip("r") or chance(where) or (tag == "kids" and not pt_tail)):
        vp = vp.plus(place(tag))
    return vp

STATIVE = set(
    "ser estar ter querer saber poder precisar gostar conhecer haver achar amar preferir "
    "odiar".split()
)
AUXILIARY = {"going": ("ir", "pres"), "was going": ("ir", "impf"), "prog": ("estar", "pres"),
    "was": ("estar", "impf"), "pluperf": ("ter", "impf")}
SAME = {"subj": "pres", "isub": "past", "fsub": "pres"}

def pt_clause(s, vp, tense, neg=False, pre="", drop=None, timed=True):
    """The Portuguese clause; eu and nós may be dropped where the verb shows them."""
    verb, form = AUXILIARY.get(tense, (vp.pt, "past" if tense == "perf" else tense))
    forms = pt_forms(verb, form)
    reject(s.k == 2 and form == "past" and not timed and forms[2] == pt_forms(verb, "pres")[2])
    rest = {"prog": pt_gerund, "was": pt_gerund, "pluperf": pt_participle}.get(tense, str)(vp.pt)
    if tense in ("going", "was going"):
        words = [forms[s.k], "" if vp.pt == "ir" else vp.bare(), vp.pt_tail]
    elif tense in AUXILIARY:
        words = [forms[s.k], vp.clitic, rest, vp.pt_tail]
    else:
        words = [vp.clitic, forms[s.k], vp.pt_tail]
    clear = s.who in ("eu", "nós") and forms[0] != forms[1] and not vp.clitic
    clear = clear or (s.who == "nós" and not vp.clitic)
    if drop is None:
        drop = chance(0.6)
    subject = "" if clear and drop else s.pt
    return " ".join(w for w in [subject, pre, "não" if neg else "", *words] if w)

def en_clause(s, vp, tense, neg=False, mid="", question=False):
    """The English clause, or question if question; mid is an adverb such as always."""
    if tense == "impf":
        tense = "past" if vp.pt in STATIVE else "used"
    tense = SAME.get(tense, tense)
    aux, rest = en_group(vp.en, tense, s.e)
    if not aux and (neg or question):
        reject(tense == "used")
        aux = "did" if tense == "past" else "does" if s.e == 1 else "do"
        rest = vp.en
    if vp.en.split(" ")[0] == "be" and tense in BE:
        rest = vp.en[2:].strip()
    if vp.pt == "ir" and tense in ("going", "was going"):
        rest = "going"
    if neg:
        reject(question and aux == "am")
        aux = en_not(aux)
    words = [aux, s.en, mid, rest] if question else [s.en, aux, mid, rest]
    if neg and mid == "still":
        words = [s.en, mid, aux, rest]
    return " ".join(w for w in [*words, vp.en_tail] if w)

SKIRTS = r"\b(saia|vestido|blusa)"

def clause(s, vp, tense, neg=False, pre=("", ""), drop=None, en=None, timed=True):
    """A clause in both languages; en is the English tense where it isn't the usual one."""
    reject(neg and vp.en == "be" and re.search(r"^bastante | e | mas ", vp.pt_tail))
    reject(s.g == "m" and vp.pt in ("usar", "experimentar", "tirar", "escolher")
        and re.search(SKIRTS, vp.pt_tail))
    reject(neg and re.search(r"\b(dois|duas|três|quatro|cinco|seis|sete|oito)\b", vp.pt_tail))
    return (pt_clause(s, vp, tense, neg, pre[0], drop, timed),
        en_clause(s, vp, en or tense, neg, pre[1]))

def ask(s, vp, tense, neg=False, pre=("", ""), head=("", ""), en=None, timed=True):
    """A question, with a question phrase in front if given."""
    pt = pt_clause(s, vp, tense, neg, pre[0], drop=None if s.who != "eu" else False, timed=timed)
    return join(head, (pt, en_clause(s, vp, en or tense, neg, pre[1], question=True)))

def be(s, verb, adj, more=("", "")):
    """A VP of ser or estar with an adjective pair that agrees with s."""
    vp = VP(verb, "be", pt_adj(adj[0], s.g, s.n), adj[1])
    return vp.plus(more) if more[0] else vp

def wrap(pt_verb, pt_link, en_verb, en_link, inner, ing=False):
    """A verb that governs another: querer + V / want to V; ing for stop V-ing."""
    pt, en = inner.ing() if ing else inner.inf()
    return VP(pt_verb, en_verb, f"{pt_link} {pt}".strip(), f"{en_link} {en}".strip())

def with_time(pair, time, front=0.3):
    """Put a time phrase before or after a clause, in both languages alike."""
    return join(time, pair) if chance(front) else join(pair, time)

DAYS = pairs_of("""segunda-feira = Monday; terça-feira = Tuesday; quarta-feira = Wednesday;
    quinta-feira = Thursday; sexta-feira = Friday; sábado = Saturday; domingo = Sunday""")
MONTHS = pairs_of("""janeiro = January; fevereiro = February; março = March; abril = April;
    maio = May; junho = June; julho = July; agosto = August; setembro = September;
    outubro = October; novembro = November; dezembro = December""")
SEASONS = pairs_of(
    "o verão = the summer; o inverno = the winter; a primavera = the spring; o outono = the fall"
)
PAST_TIMES = {
    "day": pairs_of("ontem = yesterday; anteontem = the day before yesterday"),
    "near": pairs_of("""ontem = yesterday; anteontem = the day before yesterday;
        na semana passada = last week; ontem à noite = last night; hoje de manhã = this morning;
        ontem de manhã = yesterday morning; ontem à tarde = yesterday afternoon;
        no fim de semana passado = last weekend"""),
    "far": pairs_of("""no mês passado = last month; no ano passado = last year;
        no verão passado = last summer; na semana passada = last week;
        no inverno passado = last winter"""),
}
HABIT_TIMES = {
    "day": pairs_of("""todos os dias = every day; às vezes = sometimes;
        nos fins de semana = on weekends; durante a semana = during the week"""),
    "near": pairs_of("""todos os dias = every day; toda semana = every week; à noite = at night;
        às vezes = sometimes; de manhã = in the morning; à tarde = in the afternoon;
        duas vezes por semana = twice a week; nos fins de semana = on weekends;
        com frequência = often; quase todos os dias = almost every day"""),
    "far": pairs_of("""todos os anos = every year; às vezes = sometimes;
        uma vez por mês = once a month; nas férias = on vacation; todo mês = every month;
        três vezes por ano = three times a year; com frequência = often"""),
}
FUTURE_TIMES = {
    "day": pairs_of("amanhã = tomorrow; depois de amanhã = the day after tomorrow"),
    "near": pairs_of("""amanhã = tomorrow; depois de amanhã = the day after tomorrow;
        na semana que vem = next week; hoje à noite = tonight; hoje à tarde = this afternoon;
        amanhã de manhã = tomorrow morning; amanhã à noite = tomorrow night; em breve = soon;
        mais tarde = later; no próximo fim de semana = next weekend"""),
    "far": pairs_of("""na semana que vem = next week; no mês que vem = next month;
        no ano que vem = next year; em breve = soon; no próximo verão = next summer"""),
}
OLD_TIMES = pairs_of("""antigamente = in the old days; naquela época = at that time;
    na infância = in childhood; naquele tempo = in those days""")
MID = pairs_of("""sempre = always; nunca = never; geralmente = usually; raramente = rarely;
    também = also; quase nunca = almost never; quase sempre = almost always""")
UNITS = [("dias", "days", "m"), ("semanas", "weeks", "f"), ("meses", "months", "m"),
    ("anos", "years", "m")]

def span(units=UNITS, most=10):
    """A number of days, weeks, months or years."""
    pt, en, gender = pick(units)
    n = number(2 + DRAW.below(most - 1), gender)
    return f"{n[0]} {pt}", f"{n[1]} {en}"

def past_time(vp=None):
    """Yesterday, last Monday, two years ago, in 1998: as long ago as suits the action."""
    scale, r = vp.scale if vp else "near", DRAW.random()
    if r < (0.6 if scale == "far" else 0.75):
        return pick(PAST_TIMES[scale])
    if scale == "far" and r < 0.8:
        year = str(1985 + DRAW.below(38))
        return f"em {year}", f"in {year}"
    if r < (0.85 if scale == "far" else 0.93):
        pt, en = pick(DAYS)
        word = "na {} passada" if pt.endswith("feira") else "no {} passado"
        return word.format(pt), f"last {en}"
    pt, en = span(UNITS[1:]) if scale == "far" else span(UNITS[:1], 6)
    return f"há {pt}", f"{en} ago"

def habit_time(vp=None):
    """Every day, on Mondays, in the summer."""
    scale, r = vp.scale if vp else "near", DRAW.random()
    scale = "near" if vp and vp.pt in ("aprender", "ensinar") else scale
    if r < 0.75:
        return pick(HABIT_TIMES[scale])
    if scale == "far":
        pt, en = pick(SEASONS)
        return f"em+{pt}", f"in {en}"
    pt, en = pick(DAYS)
    plural = pt.replace("-feira", "s-feiras") if "feira" in pt else pt + "s"
    return f"{'às' if 'feira' in pt else 'aos'} {plural}", f"on {en}s"

def future_time(vp=None):
    """Tomorrow, on Monday, in two weeks, in May."""
    scale, r = vp.scale if vp else "near", DRAW.random()
    if r < 0.65:
        return pick(FUTURE_TIMES[scale])
    if r < 0.8:
        pt, en = pick(DAYS)
        return f"{'na' if 'feira' in pt else 'no'} {pt}", f"on {en}"
    if scale != "far" and r < 0.95:
        return pick(FUTURE_TIMES[scale])
    if r < 0.9 or scale != "far":
        pt, en = span(UNITS[1:]) if scale == "far" else span(UNITS[:1], 6)
        return f"daqui a {pt}", f"in {en}"
    pt, en = pick(MONTHS)
    return f"em {pt}", f"in {en}"

def clock():
    """A clock time: (às) três e meia / (at) half past three is said as three thirty."""
    hour = 1 + DRAW.below(12)
    minute = choice((0, 0, 0, 10, 15, 20, 30, 30, 40, 45))
    pt, en = number(hour, "f")
    if minute == 0:
        en += " o'clock"
    elif minute == 30:
        pt, en = f"{pt} e meia", f"{en} thirty"
    else:
        m = number(minute)
        pt, en = f"{pt} e {m[0]}", f"{en} {m[1]}"
    return pt, en, hour

def at_clock():
    """At a clock time: às três horas / at three o'clock."""
    r = DRAW.random()
    if r < 0.12:
        return choice((("ao meio-dia", "at noon"), ("à meia-noite", "at midnight")))
    pt, en, hour = clock()
    hora = "" if " e " in pt else " hora" if hour == 1 else " horas"
    return f"{'à' if hour == 1 else 'às'} {pt}{hora}", f"at {en}"
