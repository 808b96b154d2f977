"""Sentence families: tenses."""

import re

from grammar.clauses import (
    MID,
    OLD_TIMES,
    UNITS,
    UNWILLED,
    be,
    clause,
    en_clause,
    future_time,
    habit_time,
    past_time,
    pt_clause,
    span,
    with_time,
    wrap,
)
from grammar.families import act, clash, family
from grammar.phrases import (
    DRAW,
    VP,
    chance,
    choice,
    city,
    join,
    pairs_of,
    person,
    pick,
    place,
    reject,
    subj,
    thing,
)
from grammar.portuguese import pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

@family(5)
def habits():
    """Present habits: Eu leio o jornal todos os dias."""
    s, vp = act("h")
    if chance(0.25):
        return clause(s, vp, "pres", pre=pick(MID))
    pre = choice([("", "")] * 3 + [MID[0], MID[2]])
    time = habit_time(vp)
    reject(pre[0] and not re.match(r"[àa]os?|às \w+-|às \w+s-|de manhã|à tarde|à noite", time[0]))
    return with_time(clause(s, vp, "pres", pre=pre), time)

@family(8)
def simple_past():
    """Simple past with a time: Ontem compramos uma mesa."""
    s, vp = act()
    return with_time(clause(s, vp, "past"), past_time(vp))

@family(7)
def going_to():
    """ir + infinitive: Vou visitar o museu amanhã."""
    s, vp = act(willed=True)
    return with_time(clause(s, vp, "going", neg=chance(0.1)), future_time(vp))

@family(4)
def simple_future():
    """Simple future: Ela venderá a casa no ano que vem."""
    s, vp = act(willed=True)
    return with_time(clause(s, vp, "fut", neg=chance(0.15)), future_time(vp))

@family(3)
def progressive():
    """Present progressive: Estou lendo um livro agora."""
    s, vp = act("g")
    when = choice(pairs_of("agora = now; neste momento = at this moment; hoje = today; = ; = "))
    pair = clause(s, vp, "prog", neg=chance(0.15))
    return with_time(pair, when, 0.2) if when[0] else pair

INTERRUPTIONS = pairs_of("""o telefone tocou = the phone rang; a luz apagou = the light went out;
    começou a chover = it started to rain; alguém bateu na porta = someone knocked on the door;
    o cachorro começou a latir = the dog started to bark; o ônibus chegou = the bus arrived;
    ouvimos um barulho estranho = we heard a strange noise; o bebê acordou = the baby woke up""")

@family(4.5)
def was_doing_when():
    """Past progressive, interrupted: Eu estava dormindo quando o telefone tocou."""
    s, vp = act("g")
    if chance(0.55):
        event = pick(INTERRUPTIONS)
    else:
        who = subj(third=True)
        arrive = [VP("chegar", "arrive"), VP("ligar", "call"), VP("entrar", "come", "", "in"),
            VP("chegar", "get", "em casa", "home")]
        event = clause(who, pick(arrive), "past")
    return join(clause(s, vp, "was"), ("quando", "when"), event)

@family(5)
def while_doing():
    """Enquanto + past progressive, two actions at once."""
    s, vp = act("g", company=0, where=0.2)
    t, vq = act("g", third=True, company=0, where=0.2)
    reject(clash(s, t))
    first = join(("Enquanto", "While"), clause(s, vp, "was"), ",")
    return join(first, clause(t, vq, "was", drop=False))

@family(3)
def for_years():
    """Present of what began in the past: Moro aqui há dez anos / I have lived here for ..."""
    s = subj()
    far, r = span(UNITS[2:], 20), DRAW.random()
    town = city()
    if r < 0.25:
        vp = VP("morar", "live", *join(choice([("em " + town[0], "in " + town[1]), place("town"),
            ("aqui", "here")])))
    elif r < 0.45:
        vp = VP("trabalhar", "work", *place("work"))
    elif r < 0.65:
        x = thing(*choice((("language", "b"), ("subject", "b"))))
        vp = VP("estudar", "study", x.pt, x.en)
    elif r < 0.75:
        x = person()
        vp = VP("conhecer", "know", x.pt, x.en)
    elif r < 0.85:
        x = thing("instrument", "z")
        vp = VP("tocar", "play", x.pt, "the " + x.en)
    else:
        far = span(UNITS[:2])
        vp = be(s, "estar", pick([("doente", "sick"), ("sozinho", "alone")]))
        if chance(0.5):
            far = span([("horas", "hours", "f")], 6)
            vp = VP("estar", "be", *place("work"))
    return join(clause(s, vp, "pres", en="perf"), (f"há {far[0]}", f"for {far[1]}"))

@family(2.8)
def perfect():
    """já, ainda não, nunca with the past: Já comi / I have already eaten."""
    s, vp = act()
    r = DRAW.random()
    if r < 0.45:
        return clause(s, vp, "past", pre=("já", "already"), en="perf")
    if r < 0.75:
        reject(vp.pt in UNWILLED)
        pair = clause(s, vp, "past", neg=True, pre=("ainda", ""), en="perf")
        return join(pair, ("", "yet"))
    return clause(s, vp, "past", pre=("nunca", "never"), en="perf")

@family(2.2)
def just_done():
    """acabar de: Acabei de chegar / I have just arrived."""
    s, vp = act(company=0.1)
    reject(vp.clitic)
    pt = pt_clause(s, wrap("acabar", "de", "finish", "", vp), "past", timed=False)
    return pt, en_clause(s, vp, "perf", mid="just")

CHILDHOOD = pairs_of("""criança = a child; jovem = young; estudante = a student; pequeno = little;
    solteiro = single""")

@family(3)
def used_to():
    """Imperfect of habit: Quando era criança, ela nadava no lago / she used to swim."""
    s, vp = act("h", company=0.1)
    pair = clause(s, vp, "impf", drop=False)
    if chance(0.45):
        return join(pick(OLD_TIMES), ",", pair)
    if not s.who or s.n == "p":
        return with_time(pair, habit_time(vp))
    word = pick(CHILDHOOD)
    s0 = clause(s, VP("ser", "be", pt_adj(word[0], s.g, s.n), word[1]), "impf", drop=False)
    return join(("Quando", "When"), s0, ",", pair)
