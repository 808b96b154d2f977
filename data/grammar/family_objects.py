"""Sentence families: objects, clitics and negation."""

import re

from grammar.clauses import (
    FUTURE_TIMES,
    MID,
    UNWILLED,
    ask,
    clause,
    future_time,
    past_time,
    with_time,
    wrap,
)
from grammar.families import act, again, family, silent
from grammar.lexicon import ACTION_ROWS, entries
from grammar.phrases import (
    DRAW,
    LEX,
    NP,
    VP,
    chance,
    choice,
    join,
    kin,
    name,
    pairs_of,
    pick,
    reject,
    subj,
    thing,
)
from grammar.portuguese import ARTICLES

# Tables and calls are packed by hand from here on.
# fmt: off

CLITICS = {"eu": ("me", "me"), "nós": ("nos", "us"), "ele": ("o", "him"), "ela": ("a", "her"),
    "eles": ("os", "them"), "elas": ("as", "them")}
TO_PEOPLE = entries("""ver see, ajudar help, convidar invite, visitar visit, esperar wait_for,
    procurar look_for, chamar call, cumprimentar greet, abraçar hug, entender understand,
    respeitar respect, admirar admire, ouvir listen_to, proteger protect, seguir follow,
    perdoar forgive, beijar kiss, criticar criticize, elogiar praise, reconhecer recognize,
    acordar wake_up""")

def object_vp(who):
    """A verb with a person as clitic: o ajudar / help him."""
    pt, en = pick(TO_PEOPLE).split()
    clitic, obj = CLITICS[who]
    if en == "wake_up":
        return VP(pt, "wake", "", obj + " up", clitic)
    return VP(pt, en.replace("_", " "), "", obj, clitic)

@family(2.8)
def people_clitics():
    """me, nos, o, a, os, as before the verb: Eu a encontrei ontem / I met her yesterday."""
    s = subj()
    who = pick(tuple(CLITICS))
    same = {"eu": "eu", "nós": "nós eu"}.get(who, "ele ela eles elas")
    reject(s.who in same.split() or (s.who in ("eu", "nós") and who in ("eu", "nós")))
    reject(who not in ("eu", "nós") and not s.who)
    vp = object_vp(who)
    r = DRAW.random()
    if r < 0.4:
        return with_time(clause(s, vp, "past", neg=chance(0.3)), past_time())
    if r < 0.55:
        return clause(s, vp, "pres", pre=pick(MID))
    if r < 0.8:
        reject(vp.pt in ("respeitar", "admirar", "reconhecer", "elogiar", "criticar"))
        modal = wrap(*pick(MODAL_VERBS[:5]), vp)
        return clause(s, modal, "pres", neg=chance(0.3))
    reject(vp.pt in ("respeitar", "admirar", "entender", "reconhecer", "ouvir"))
    return join(clause(s, vp, "going", neg=chance(0.2)), pick(FUTURE_TIMES["day"]))

MODAL_VERBS = [("querer", "", "want", "to"), ("precisar", "", "need", "to"),
    ("poder", "", "can", ""), ("dever", "", "should", ""), ("ter", "que", "have", "to"),
    ("tentar", "", "try", "to"), ("preferir", "", "prefer", "to"),
    ("conseguir", "", "be", "able to")]

BOUGHT = {"text": "comprar buy, receber receive, encontrar find",
    "wearable": "comprar buy, escolher choose, receber receive",
    "valuable": "comprar buy, receber receive, encontrar find",
    "machine": "comprar buy, receber receive, escolher choose",
    "tool": "comprar buy, encontrar find, receber receive",
    "fruit": "comprar buy, escolher choose, receber receive",
    "vehicle": "comprar buy, escolher choose",
    "toy": "comprar buy, receber receive, encontrar find"}
THEN_DONE = {"text": "ler read, guardar keep, devolver return, traduzir translate",
    "wearable": "usar wear, experimentar try_on, lavar wash, vender sell",
    "valuable": "perder lose, guardar keep, vender sell, usar use",
    "machine": "usar use, consertar fix, vender sell, testar test",
    "tool": "usar use, perder lose, guardar keep, vender sell",
    "fruit": "lavar wash, cortar cut, comer eat, descascar peel",
    "vehicle": "vender sell, consertar fix, lavar wash, pintar paint",
    "toy": "quebrar break, consertar fix, perder lose, esconder hide"}

@family(3.5)
def thing_clitics():
    """A thing taken up by o, a, os, as: Comprei a maçã e a comi / ... and ate it."""
    s = subj(adults=True)
    group = pick(tuple(THEN_DONE))
    x = thing(group, "iind")
    first, second = (pick(entries(table[group])).split() for table in (BOUGHT, THEN_DONE))
    clitic = ARTICLES[(x.g == "f") + 2 * (x.n == "p")]
    it = "them" if x.n == "p" else "it"
    base, _, particle = second[1].partition("_")
    end = f"{it} {particle}".strip()
    link = choice(pairs_of("e = and; mas não = but; e depois = and then"))
    pt, en = clause(s, VP(first[0], first[1], x.pt, x.en), "past", timed=False, drop=None)
    vp = VP(second[0], base, "", end, clitic)
    if link[1] == "but":
        reject(second[0] in ("perder", "lavar", "quebrar", "cortar", "descascar", "esconder"))
        rest = clause(again(s), vp, "past", neg=True)
        return join((pt, en), (", mas", ", but"), rest)
    return join((pt, en), link, clause(silent(s), vp, "past"))

DATIVE = entries("""dar giftable give, enviar sendable send, mostrar giftable show,
    emprestar lendable lend, trazer giftable bring, vender sellable sell, oferecer drink offer,
    mandar sendable send, contar gossip tell""")

def gave_to_them(s):
    """lhe for somebody just named: Encontrei Ana e lhe dei um livro."""
    t = choice((name, kin))()
    pt, group, en = pick(DATIVE).split()
    reject(t.n == "p" or s.pt == t.pt)
    x = thing(group, "iitn")
    vp = VP(pt, en, x.pt, f"{'him' if t.g == 'm' else 'her'} {x.en}", "lhe")
    first = clause(s, VP("encontrar", "meet", t.pt, t.en), "past", timed=False)
    return join(first, ("e", "and"), clause(silent(s), vp, "past"))

@family(3.5)
def dative_clitics():
    """me, nos + thing: Meu pai me deu um livro / My father gave me a book."""
    s = subj(adults=True)
    if chance(0.12):
        return gave_to_them(s)
    who, obj = choice((("me", "me"), ("nos", "us")))
    reject(s.who in ("eu", "nós"))
    pt, group, en = pick(DATIVE).split()
    x = thing(group, "iitn")
    vp = VP(pt, en, x.pt, f"{obj} {x.en}", who)
    r = DRAW.random()
    if r < 0.6:
        return with_time(clause(s, vp, "past", neg=chance(0.1)), past_time())
    if r < 0.8:
        return with_time(clause(s, vp, "going"), future_time())
    return join(ask(s, wrap("poder", "", "can", "", vp), "pres"), "?")

# --- Negation -------------------------------------------------------------------------------------

@family(2.5)
def negation():
    """Plain negation in all tenses: Eu não como carne."""
    s, vp = act()
    r = DRAW.random()
    if r < 0.35:
        s, vp = act("h")
        return clause(s, vp, "pres", neg=True)
    if r < 0.75:
        return with_time(clause(s, vp, "past", neg=True), past_time(vp))
    reject(vp.pt in UNWILLED)
    return with_time(clause(s, vp, "fut", neg=True), future_time(vp))

NOBODY = entries("""ver see, encontrar meet, ajudar help, convidar invite, visitar visit,
    esperar wait_for, ouvir hear, cumprimentar greet""")
NOTHING = entries("""comer eat, beber drink, comprar buy, ver see, ouvir hear, dizer say, fazer do,
    ler read, escrever write, entender understand, quebrar break, perder lose, encontrar find,
    vender sell, explicar explain, esquecer forget, aprender learn, ganhar win, pagar pay_for""")

@family(3)
def double_negation():
    """não ... ninguém, nada, nenhum, nem: Não vi ninguém / I didn't see anyone."""
    s, r = subj(), DRAW.random()
    if r < 0.25:
        pt, en = pick(NOBODY).split()
        vp = VP(pt, en.replace("_", " "), "ninguém", "anyone")
    elif r < 0.5:
        pt, en = pick(NOTHING).split()
        vp = VP(pt, en.replace("_", " "), "nada", "anything")
    elif r < 0.75:
        row = pick([r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*[in]\w*\}", r[1])])
        noun = pick(LEX[row[1][1:].split(".")[0]])
        reject(not noun.ens)
        none = ("nenhuma " if noun.g == "f" else "nenhum ") + noun.pt
        vp = VP(row[0], row[2], none, row[3].replace("{}", "any " + noun.ens))
    elif r < 0.88:
        row = pick([r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*b\w*\}", r[1])])
        x, y = (thing(row[1][1:].split(".")[0], "b", adj=0) for _ in "ab")
        vp = VP(row[0], row[2], f"nem {x.pt} nem {y.pt}", f"{x.en} or {y.en}")
        vp = VP(row[0], row[2], vp.pt_tail, row[3].replace("{}", f"{x.en} or {y.en}"))
        return clause(s, vp, choice(("pres", "fut", "cond")), neg=True, drop=None)
    else:
        s, vp = act("h", third=True, pron=0)
        pt, en = pick(
            pairs_of(
                "ninguém = no one; nenhum aluno = no student; "
                "nenhum cliente = no customer; nem todos = not everyone"
            )
        )
        some = NP(pt, en, 3 if pt == "nem todos" else 1)
        pair = clause(some, VP(*pick(INTRANS)), "past")
        return with_time(pair, past_time()) if chance(0.7) else pair
    return with_time(clause(s, vp, "past", neg=True), past_time())

INTRANS = pairs_of("""entender = understand; chegar = arrive; trabalhar = work; estudar = study;
    reclamar = complain; responder = answer; dançar = dance; correr = run; ajudar = help;
    esperar = wait; mentir = lie; chorar = cry; viajar = travel; dormir = sleep""")
