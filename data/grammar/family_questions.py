"""Sentence families: questions."""

import re

from grammar.clauses import (
    UNWILLED,
    action,
    ask,
    clause,
    en_clause,
    future_time,
    habit_time,
    past_time,
)
from grammar.english import BE, en_not
from grammar.families import adjectives, family, own_pronoun
from grammar.family_objects import NOTHING
from grammar.lexicon import ACTION_ROWS
from grammar.phrases import (
    DRAW,
    LEX,
    NP,
    QUALITIES,
    STATES,
    VP,
    chance,
    choice,
    folk,
    join,
    kin,
    pairs_of,
    pick,
    place,
    pronoun,
    reject,
    subj,
    thing,
)
from grammar.portuguese import pt_forms

# Tables and calls are packed by hand from here on.
# fmt: off

@family(4.5)
def yes_no_questions():
    """Você comprou pão? / Did you buy bread?"""
    s = subj() if chance(0.5) else pronoun(choice(("você", "você", "vocês")))
    reject(s.who in ("eu", "nós"))
    tense = choice(("pres", "past", "fut", "going", "prog", "already"))
    flags = {"pres": "h", "prog": "g"}.get(tense, "")
    vp = action(s, flags, willed=tense in ("fut", "going"))
    if tense == "already":
        pair = ask(s, vp, "past", pre=("já", "already"), en="perf")
    elif tense == "prog":
        pair = ask(s, vp, tense)
    else:
        times = {"pres": habit_time, "past": past_time}.get(tense, future_time)
        pair = ask(s, vp, tense)
        pair = join(pair, times(vp)) if chance(0.6) else pair
    return join(pair, "?")

WH_ADVERBS = pairs_of("""quando = when; onde = where; por que = why; como = how;
    com quem = with whom; a que horas = at what time; desde quando = since when""")

@family(4.5)
def wh_questions():
    """Onde você comprou o livro? / Where did you buy the book?"""
    s = subj()
    reject(s.who in ("eu",))
    head = pick(WH_ADVERBS[:6])
    flags = {"com quem": "c", "onde": "g"}.get(head[0], "")
    where = 0
    vp = action(s, flags, where=where, company=0, willed=True)
    reject(head[0] in ("onde", "como") and (vp.pt_tail.startswith("em ") or "em+" in vp.pt_tail))
    reject(head[0] == "como" and vp.pt not in HOW_VERBS)
    reject(head[0] == "a que horas" and vp.pt not in TIMED_VERBS)
    tense = choice(("past", "past", "going", "pres"))
    if head[0] == "quando" and tense == "pres":
        tense = "going"
    if tense == "pres" and vp.pt not in HABITUAL:
        tense = "past"
    neg = head[0] == "por que" and chance(0.3)
    return join(ask(s, vp, tense, neg=neg, head=head, timed=tense != "past"), "?")

HOW_VERBS = set(
    """aprender consertar resolver quebrar perder chegar encontrar voltar abrir preparar fazer
        cozinhar construir""".split()
)
TIMED_VERBS = set(
    """chegar sair almoçar jantar levantar deitar ir voltar dormir pegar ligar abrir fechar visitar
        encontrar alimentar tomar correr esperar passear assistir""".split()
)
HABITUAL = {r[0] for r in ACTION_ROWS if "h" in r[5]}

@family(3.5)
def who_what_questions():
    """Quem, o que, qual, quantos: O que ela comprou? / What did she buy?"""
    r = DRAW.random()
    s = subj()
    if s.who in ("eu", "nós"):
        s = pronoun("você")
    if r < 0.3:
        who = NP("quem", "who")
        vp = action(NP("", "", lemma="quem"))
        if chance(0.2):
            return join(clause(who, vp, "going"), future_time(vp), "?")
        pair = clause(who, vp, "past")
        return join(pair, past_time(vp) if chance(0.4) else ("", ""), "?")
    if r < 0.55:
        pt, en = pick(NOTHING).split()
        vp = VP(pt, en.replace("_", " "))
        tense = "past" if pt in UNWILLED else choice(("past", "going"))
        where = place_any if pt in ("comprar", "ver", "encontrar", "comer", "dizer") else past_time
        tail = choice((past_time, where))() if tense == "past" else future_time()
        return join(ask(s, vp, tense, head=("o que", "what")), tail, "?")
    row = pick([r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*[itn]\w*\}", r[1])])
    noun = pick(LEX[row[1][1:].split(".")[0]])
    tail = place(row[4]) if row[4] and chance(0.4) else ("", "")
    vp = VP(row[0], row[2], tail[0], f"{row[3].replace('{}', '').strip()} {tail[1]}".strip())
    if r < 0.78 and noun.ens:
        many = ("quantas" if noun.g == "f" else "quantos") + " " + noun.pts
        return join(ask(s, vp, "past", head=(many, "how many " + noun.ens), timed=False), "?")
    reject(row[0] == "ver")
    which = choice((("que", "what"), ("qual", "which")))
    tense = choice(("past", "going", "past"))
    return join(ask(s, vp, tense, head=join(which, (noun.pt, noun.en)), timed=False), "?")

def place_any():
    """A place phrase of any everyday kind."""
    return place(choice(("food", "shop", "meet", "home", "office")))

def where_is(x, vp, tense, head):
    """A question with the Portuguese noun last: Onde fica o hotel?"""
    if x.who:
        return ask(x, vp, tense, head=head)
    pt = f"{head[0]} {pt_forms(vp.pt, tense)[x.k]} {x.pt}"
    return pt, f"{head[1]} {en_clause(x, vp, tense, question=True)}"

@family(2.0)
def being_questions():
    """Onde está, de onde é, quantos anos tem, quem é, como é."""
    s, r = subj(third=chance(0.6)), DRAW.random()
    reject(s.who in ("eu", "nós"))
    if r < 0.12:
        return join(ask(s, VP("ser", "be", "", "from"), "pres", head=("de onde", "where")), "?")
    if r < 0.3:
        return join(where_is(s, VP("ter", "be"), "pres", ("quantos anos", "how old")), "?")
    if r < 0.4:
        x = thing(choice(("vehicle", "bag", "valuable", "clothes", "pet")), "TttT", adj=0)
        en = ("whose are" if x.n == "p" else "whose is") + " " + x.en
        return join((f"de quem {'são' if x.n == 'p' else 'é'} {x.pt}", en), "?")
    if r < 0.6:
        x = thing(choice(("portable", "losable")), "mMdD", adj=0)
        verb = choice((("estar", "be"), ("estar", "be")))
        return join(where_is(x, VP(*verb), choice(("pres", "impf")), ("onde", "where")), "?")
    if r < 0.8:
        x = thing("cityplace", "ddt", adj=0.3)
        vp = VP("ficar", "be", *choice((("", ""), ("perto daqui", "near here"))))
        if vp.pt_tail:
            return join(ask(x, vp, "pres"), "?")
        return join(where_is(x, vp, "pres", ("onde", "where")), "?")
    who = choice((folk, kin))(plural=0)
    if r < 0.9:
        return f"qual é o nome de+{who.pt} ?", f"what is the name of {who.en} ?"
    return join(where_is(who, VP("morar", "live"), "pres", ("onde", "where")), "?")

@family(2)
def tag_questions():
    """..., não é? with the English tag that fits."""
    s, r = subj(), DRAW.random()
    reject(s.who == "eu")
    pron = own_pronoun(s)
    if r < 0.6:
        vp, tense, aux = adjectives(s, QUALITIES["person"], "ser"), "pres", BE["pres"][s.e]
        if chance(0.5):
            vp = adjectives(s, STATES["person"], "estar")
    else:
        tense = choice(("pres", "past", "fut"))
        vp = action(s, "h" if tense == "pres" else "")
        aux = {"past": "did", "fut": "will", "pres": "does" if s.e == 1 else "do"}[tense]
    return join(clause(s, vp, tense, drop=False), (", não é?", f", {en_not(aux)} {pron}?"))
