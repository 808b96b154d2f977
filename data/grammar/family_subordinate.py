"""Sentence families: clauses within clauses."""

import re
from dataclasses import replace

from grammar.clauses import (
    JOB_PLACE_OF,
    SKIRTS,
    UNWILLED,
    action,
    clause,
    future_time,
    past_time,
    with_time,
    wrap,
)
from grammar.families import act, adjectives, clash, family
from grammar.family_objects import MODAL_VERBS
from grammar.lexicon import ACTION_ROWS, ADJ_CLASS, FAR_VERBS, SEVERAL, table
from grammar.phrases import (
    DRAW,
    KID_LEMMAS,
    KIN,
    LEX,
    QUALITIES,
    STATES,
    VP,
    WORD,
    chance,
    choice,
    folk,
    join,
    np,
    pairs_of,
    pick,
    reject,
    subj,
)
from grammar.portuguese import pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

def whose(x):
    """cujo: Conheci a mulher cujo gato é gordo / I met the woman whose cat is fat."""
    s, y = subj(), np(pick(LEX[choice(("vehicle", "pet"))]), "bare")
    adjective = adjectives(y, QUALITIES[ADJ_CLASS[y.cls][0]], "ser")
    who = join((x.pt, x.en), (pt_adj("cujo", y.g, "s"), "whose"), clause(y, adjective, "pres"))
    verb = pick(pairs_of("conhecer = meet; ver = see; ajudar = help; visitar = visit"))
    return clause(s, VP(*verb, *who), "past", timed=False)

@family(7.5)
def who_relatives():
    """People with a subject relative: O homem que mora aqui é médico."""
    x, r = folk(choice(("the", "the", "yon", "a"))), DRAW.random()
    if chance(0.08):
        return whose(x)
    inner_s = replace(x, pt="", en="", who="")
    tense = choice(("pres", "past", "prog"))
    vp = action(x, {"pres": "h", "prog": "g", "past": ""}[tense], company=0)
    reject(vp.pt in TRIVIAL or (tense == "pres" and vp.pt not in LASTING))
    who = join((x.pt, x.en), ("que", "who"), clause(inner_s, vp, tense))
    if tense == "past" and chance(0.4):
        who = join(who, past_time(vp))
    head = replace(x, pt=who[0], en=who[1])
    if r < 0.4:
        return clause(head, adjectives(x, QUALITIES["person"], "ser"), "pres")
    if r < 0.6:
        return clause(head, VP("ser", "be", *friend_of(x)), "pres")
    s = subj(third=chance(0.3))
    pt, en = pick(
        pairs_of("""conhecer = meet; ver = see; ajudar = help; convidar = invite; visitar = visit;
            procurar = look for; encontrar = meet; agradecer a+ = thank""")
    )
    vp = VP(pt.split()[0], en, who[0] if " " not in pt else "a+" + who[0], who[1])
    return clause(s, vp, choice(("past", "going")), timed=False)

LASTING = set(
    """falar ensinar estudar tocar jogar cantar dançar trabalhar pesquisar cuidar dirigir comer
        beber praticar pescar nadar correr treinar alimentar visitar ajudar viajar""".split()
)
TRIVIAL = set("escovar pentear vestir levantar deitar tomar chegar lavar arrumar".split())

def friend_of(x):
    """... is a friend of mine in the shape "my neighbor", agreeing with x."""
    noun = pick([k for k in KIN if k.g == x.g and k.pt in (*SEVERAL, "chefe", "sogro", "sogra")])
    y = np(noun, choice(("my", "your", "our", "his", "her")), x.n)
    return (y.pt.split(" ", 1)[1] if y.pt.endswith(("dele", "dela")) else y.pt), y.en

@family(7.5)
def thing_relatives():
    """Things with an object relative: O livro que comprei ontem é interessante."""
    rows = [r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*[it]\w*\}", r[1])]
    s, row = subj(adults=True), pick(rows)
    noun = pick(LEX[row[1][1:].split(".")[0]])
    kinds = ADJ_CLASS.get(noun.cls, ("", ""))
    reject(not kinds[0])
    reject(s.g == "m" and re.search(SKIRTS, noun.pt))
    x = np(noun, "the", "p" if chance(0.25) else "s")
    scale = "far" if row[0] in FAR_VERBS else "near"
    vp = VP(row[0], row[2], "", row[3].replace("{}", "").strip(), "", scale)
    rel = with_time(clause(s, vp, "past"), past_time(vp), 0)
    head = join((x.pt, x.en), ("que", "that"), rel)
    h = replace(x, pt=head[0], en=head[1])
    tense = choice(("pres", "impf"))
    kind, verb = (kinds[1], "estar") if kinds[1] and chance(0.35) else (kinds[0], "ser")
    table = STATES[kind] if verb == "estar" else QUALITIES[kind]
    return clause(h, adjectives(x, table, verb), tense, neg=chance(0.1))

@family(4)
def place_relatives():
    """onde, com quem: A cidade onde moro é pequena; A mulher com quem falei."""
    s = subj()
    if chance(0.6):
        spot = pick([WORD[w] for w in PLACE_HEADS])
        x = np(spot, choice(("the", "the", "this", "yon")))
        doing = PLACE_HEADS[spot.pt]
        if doing == "live":
            vp = VP("morar", "live")
        elif doing == "work":
            reject(s.lemma in JOB_PLACE_OF or s.lemma in KID_LEMMAS)
            vp = VP("trabalhar", "work")
        else:
            vp = VP(*choice(pairs_of(doing.replace("|", ";"))))
        tense = "pres" if chance(0.6) else "past"
        rel = clause(s, vp, tense, timed=tense == "pres")
        head = join((x.pt, x.en), ("onde", "where"), rel)
        h = replace(x, pt=head[0], en=head[1])
        return clause(h, adjectives(x, QUALITIES[ADJ_CLASS[spot.cls][0]], "ser"), "pres")
    x = folk(plural=0.1)
    verb = pick(
        pairs_of("""falar = speak; trabalhar = work; estudar = study; viajar = travel;
            jantar = have dinner; dançar = dance; morar = live; conversar = talk;
            almoçar = have lunch""")
    )
    tense = choice(("pres", "past")) if verb[0] in ("trabalhar", "estudar", "morar") else "past"
    rel = clause(s, VP(*verb), tense, timed=tense == "pres")
    head = join((x.pt, x.en), ("com quem", "with whom"), rel)
    h = replace(x, pt=head[0], en=head[1])
    return clause(h, adjectives(x, QUALITIES["person"], "ser"), "pres")

PLACE_HEADS = table("""
    cidade: live; bairro: live; vilarejo: live; casa: live; prédio: live; apartamento: live;
    rua: live; hospital: work; escritório: work; fábrica: work; hotel: work; loja: work;
    fazenda: work; banco: work; escola: estudar = study | trabalhar = work; universidade:
    estudar = study; biblioteca: estudar = study | trabalhar = work; restaurante: jantar = have
    dinner | almoçar = have lunch; parque: correr = run | caminhar = walk; praia: nadar = swim |
    descansar = rest; lago: nadar = swim | pescar = fish; academia: treinar = train; quarto:
    dormir = sleep; ilha: acampar = camp | morar = live; país: live""")
OPINIONS = pairs_of("""achar = think; saber = know; acreditar = believe; perceber = realize;
    descobrir = find out; ouvir dizer = hear""")[:5]

@family(7)
def that_clauses():
    """achar que, saber que, ...: Acho que ela vai viajar amanhã."""
    s, (t, vp) = subj(), act(company=0.1)
    reject(clash(s, t))
    verb = pick(OPINIONS)
    main = "past" if verb[0] in ("perceber", "descobrir") else "pres"
    opinion = clause(s, VP(*verb), main, neg=False, timed=False)
    link = ("que", "that")
    r = DRAW.random()
    if r < 0.35:
        inner = clause(t, adjectives(t, STATES["person"], "estar"),
            "impf" if main == "past" else "pres", drop=False)
    elif main == "past":
        inner = clause(t, vp, "pluperf", drop=False)
    elif r < 0.7:
        reject(vp.pt in UNWILLED)
        inner = join(clause(t, vp, "going", drop=False), future_time(vp))
    else:
        inner = join(clause(t, vp, "past", drop=False), past_time(vp))
    reject(s.pt == t.pt or (not s.who and t.who in ("ele", "ela")))
    return join(opinion, link, inner)

SAID = pairs_of(
    "dizer = say; contar = tell us; explicar = explain; responder = answer; me dizer = tell me"
)

@family(7)
def reported_speech():
    """disse que, perguntou se: Ela disse que estava cansada."""
    s, t = subj(third=True), subj()
    reject(s.pt == t.pt or (not s.who and t.who in ("ele", "ela", "eles", "elas")))
    pt, en = pick(SAID)
    said = VP(pt.split()[-1], *{"tell us": ("tell", "", "us"),
        "tell me": ("tell", "", "me")}.get(en, (en, "", "")),
        {"contar": "nos", "me dizer": "me"}.get(pt, ""))
    link, r = ("que", "that"), DRAW.random()
    if chance(0.3):
        said, link = VP("perguntar", "ask"), ("se", "if")
    if r < 0.3:
        inner = clause(t, adjectives(t, STATES["person"], "estar"), "impf", drop=False)
    elif r < 0.55:
        vp = action(t, company=0, willed=True)
        inner = clause(t, vp, "cond", drop=False)
    elif r < 0.8:
        inner = clause(t, action(t, company=0), "pluperf", drop=False)
    else:
        inner = clause(t, wrap(*pick(MODAL_VERBS[:3]), action(t, company=0, willed=True)), "impf",
            drop=False)
    return join(clause(s, said, "past", drop=False), link, inner)
