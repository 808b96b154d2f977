"""Sentence families: comparison and number."""

import re

from grammar.clauses import (
    DAYS,
    MONTHS,
    UNWILLED,
    action,
    at_clock,
    clause,
    clock,
    future_time,
    habit_time,
    past_time,
    pt_clause,
    with_time,
)
from grammar.draw import UnfitError
from grammar.english import BE
from grammar.families import act, family
from grammar.family_be_and_have import JOB_LEMMAS
from grammar.family_questions import where_is
from grammar.lexicon import ACTION_ROWS, entries
from grammar.phrases import (
    DET_PT,
    DRAW,
    JOB_PLACE,
    JOBS,
    LEX,
    NP,
    QUALITIES,
    VP,
    WORD,
    at,
    chance,
    choice,
    city,
    join,
    kin,
    np,
    number,
    pairs_of,
    pick,
    reject,
    subj,
    thing,
)
from grammar.portuguese import ARTICLES, pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

COMPARED = {
    "person": """alto taller tallest, baixo shorter shortest, jovem younger youngest,
        velho older oldest, forte stronger strongest, rico richer richest, gentil kinder kindest,
        inteligente more_intelligent, corajoso braver bravest, trabalhador more_hardworking,
        paciente more_patient, generoso more_generous, teimoso more_stubborn, calmo calmer calmest,
        engraçado funnier funniest, famoso more_famous, curioso more_curious,
        tímido shyer shyest""",
    "thing": """caro more_expensive, barato cheaper cheapest, pesado heavier heaviest,
        leve lighter lightest, novo newer newest, velho older oldest, bonito more_beautiful,
        melhor better best, pior worse worst, maior bigger biggest, menor smaller smallest,
        útil more_useful, moderno more_modern""",
    "matter": """difícil more_difficult, fácil easier easiest, importante more_important,
        interessante more_interesting, longo longer longest, curto shorter shortest,
        chato more_boring, melhor better best, pior worse worst""",
    "building": """antigo older oldest, moderno more_modern, maior bigger biggest,
        menor smaller smallest, bonito more_beautiful, alto taller tallest, famoso more_famous,
        caro more_expensive""",
    "animal": """maior bigger biggest, forte stronger strongest, pesado heavier heaviest,
        perigoso more_dangerous, rápido faster fastest, inteligente more_intelligent""",
    "town": """maior bigger biggest, menor smaller smallest, bonito more_beautiful,
        antigo older oldest, moderno more_modern, famoso more_famous, tranquilo quieter quietest,
        perigoso more_dangerous, limpo cleaner cleanest, rico richer richest""",
    "food": """caro more_expensive, barato cheaper cheapest, saudável healthier healthiest,
        melhor better best, pior worse worst, gostoso tastier tastiest""",
}
COMPARED_NOUNS = {"thing": "furniture machine vehicle bag valuable tool clothes",
    "town": "town country", "matter": "event text film", "building": "building", "animal": "animal",
    "food": "fruit vegetable meal drink"}

def comparison(kind):
    """(Portuguese, comparative, superlative, Portuguese with "mais") of an adjective."""
    pt, comp, *sup = pick([tuple(c.split()) for c in entries(COMPARED[kind])])
    single = pt in ("melhor", "pior", "maior", "menor")
    best = sup[0] if sup else comp.replace("more_", "most_")
    return pt, comp.replace("_", " "), best.replace("_", " "), single

# How big animals are, for comparing them; 3 where nothing is said.
SIZES_OF = {a: size for size, names in enumerate(("formiga mosca abelha aranha borboleta",
    "rato sapo pássaro", "coelho gato papagaio pato coruja", "cachorro raposa cobra",
    "lobo ovelha cabra porco macaco", "leão tigre urso burro zebra cavalo",
    "camelo girafa vaca jacaré", "elefante", "baleia")) for a in names.split()}

def comparable(kind):
    """Two things, animals or people of a kind to compare, and their number."""
    if kind == "person":
        a, b = subj(third=True, pron=0.35), subj(pron=0.3)
        reject(a.pt == b.pt or (a.who and b.who))
        return a, b
    cls = choice(COMPARED_NOUNS[kind].split())
    if kind == "town" and chance(0.5):
        return tuple(NP(t[0], t[1], g="f") for t in (city(), city()))
    n = "p" if chance(0.3) else "s"
    if kind == "animal":
        a, b = pick(LEX["animal"]), pick(LEX["animal"])
        reject(SIZES_OF.get(a.pt, 3) <= SIZES_OF.get(b.pt, 3))
        return np(a, "the", n), np(b, "the", n)
    if kind in ("animal", "food"):
        return np(pick(LEX[cls]), "the", n), np(pick(LEX[cls]), "the", n)
    a, b = pick(LEX[cls]), pick(LEX[cls])
    if chance(0.5):
        return np(a, choice(("this", "my", "the")), n), np(b, choice(("yon", "your", "that")), n)
    i = (a.g == "f") + 2 * (n == "p")
    one = "those" if n == "p" else "that one"
    others = [(DET_PT["yon"][i], one), (DET_PT["that"][i], one),
        (f"{ARTICLES[i]} {DET_PT['your'][i]}", "yours"), (f"{ARTICLES[i]} dele", "his"),
        (f"{ARTICLES[i]} dela", "hers")]
    pt, en = choice(others[:2] if kind in ("town", "building", "matter") else others)
    return np(a, choice(("this", "my") if kind == "thing" else ("this", "the")), n), NP(pt, en)

@family(3)
def comparatives():
    """mais ... do que, melhor, pior, tão ... quanto."""
    kind = choice(("person", "person", *COMPARED_NOUNS))
    a, b = comparable(kind)
    pt, more, _, single = comparison(kind)
    bare, pt = pt, pt_adj(pt, a.g, a.n)
    if chance(0.3) and not single:
        base = dict(QUALITIES["person" if kind == "person" else "thing"]) | PLAIN
        lemma = base.get(bare)
        reject(not lemma)
        vp = VP("ser", "be", f"tão {pt} quanto {b.pt}", f"as {lemma} as {object_of(b)}")
    else:
        mais = "" if single else "mais "
        vp = VP("ser", "be", f"{mais}{pt} do que {b.pt}", f"{more} than {object_of(b)}")
    return clause(a, vp, choice(("pres", "pres", "pres", "impf")), neg=chance(0.1))

PLAIN = {k: v for table in QUALITIES.values() for k, v in table if k not in ("grave", "alto")}
PLAIN |= {"alto": "tall", "gostoso": "tasty", "limpo": "clean"}

def object_of(s):
    """The English object form: than me, than Ana."""
    table = {"eu": "me", "ele": "him", "ela": "her", "nós": "us", "eles": "them", "elas": "them"}
    return table.get(s.who, s.en)

SCOPES = pairs_of("""de+o mundo = in the world; de+a região = in the region;
    que já vi = that I have ever seen; de+a cidade = in the city; de+o país = in the country;
    de+o bairro = in the neighborhood; que conheço = that I know; de+a loja = in the store;
    de todos = of all""")
GROUP_SCOPES = pairs_of("""de+a família = in the family; de+a escola = at school;
    de+a turma = in the class; de+o time = on the team; de+a cidade = in the city;
    de+o escritório = in the office; que conheço = that I know""")

@family(2.5)
def superlatives():
    """o mais ... de, o melhor ... que: Esta é a casa mais antiga da cidade."""
    kind = choice(("person", *COMPARED_NOUNS))
    pt, _, most, single = comparison(kind)
    if kind == "person":
        s = subj(third=True, pron=0.5)
        reject(s.lemma in JOB_LEMMAS)
        if chance(0.5):
            tail = (f"{ARTICLES[(s.g == 'f') + 2 * (s.n == 'p')]} mais {pt_adj(pt, s.g, s.n)}",
                most)
            tail = (tail[0], f"the {most}")
            return clause(s, VP("ser", "be", *join(tail, pick(GROUP_SCOPES))),
                choice(("pres", "impf")))
        noun = pick([j for j in JOBS if j.g == s.g and j.pt != "cliente"])
        where = at(WORD[JOB_PLACE[noun]]) if JOB_PLACE[noun] else ("de+a cidade", "in the city")
        scope, n = (where[0].replace("em+", "de+"), where[1]), s.n
    else:
        noun, n = pick(LEX[choice(COMPARED_NOUNS[kind].split())]), "p" if chance(0.2) else "s"
        x = np(noun, "this", n)
        s = NP(pt_this(x), "these" if x.n == "p" else "this", x.k, x.e, x.g, x.n)
        scope = pick(SCOPES[:3] if kind in ("town", "animal") else SCOPES[2:4] + SCOPES[7:]
            if kind in ("thing", "food") else SCOPES[:5:2] if kind == "matter" else SCOPES[1:6])
        if scope[1] == "of all" and noun.g == "f":
            scope = ("de todas", "of all")
    x = np(noun, "the", n)
    word = pt_adj(pt, noun.g, x.n)
    article, rest = x.pt.split(" ", 1)
    text = f"{article} {word} {rest}" if single else f"{x.pt} mais {word}"
    tail = (text, x.en.replace("the ", f"the {most} ", 1))
    return clause(s, VP("ser", "be", *join(tail, scope)), "pres")

def pt_this(x):
    """este, esta, estes, estas alone."""
    return DET_PT["this"][(x.g == "f") + 2 * (x.n == "p")]

@family(2.5)
def clock_times():
    """São três e meia; A aula começa às oito."""
    r = DRAW.random()
    if r < 0.15:
        pt, en, hour = clock()
        hora = "" if " e " in pt else " hora" if hour == 1 else " horas"
        part = choice(pairs_of("da manhã = in the morning; da tarde = in the afternoon; ="))
        verb = "é" if hour == 1 else "são"
        return join((f"{verb} {pt}{hora}", f"it is {en}"), part)
    if r < 0.6:
        x = pick(LEX["event"] + LEX["transit"] + [WORD[w] for w in SHOPS])
        verbs = "começar = start; terminar = end"
        if x.cls == "transit":
            verbs = "sair = leave; chegar = arrive; partir = depart"
        elif x.cls != "event":
            verbs = "abrir = open; fechar = close"
        s = np(x, choice(("the", "the", "this")))
        return join(clause(s, VP(*choice(pairs_of(verbs))), choice(("pres", "going", "past",
            "fut"))), at_clock())
    s, vp = act("h", company=0.1, where=0.2)
    tense = choice(("pres", "past", "going"))
    reject(vp.pt in UNWILLED or re.search("cedo|tarde", vp.pt_tail))
    return join(clause(s, vp, tense, timed=False), at_clock())

SHOPS = """banco mercado supermercado padaria farmácia museu loja livraria biblioteca zoológico
    correio academia açougue cafeteria restaurante""".split()

@family(2)
def dates():
    """Dates: Meu aniversário é em 12 de maio / My birthday is on May 12."""
    month, day = pick(MONTHS), str(1 + DRAW.below(30))
    reject(month[1] == "February" and int(day) > 28)
    on = (f"em {day} de {month[0]}", f"on {month[1]} {day}")
    r = DRAW.random()
    if r < 0.3:
        who = kin()
        x = NP(f"o aniversário de+{who.pt}", f"the birthday of {who.en}")
        if chance(0.5):
            x = choice((NP("meu aniversário", "my birthday"),
                NP("seu aniversário", "your birthday"), NP("o aniversário dele", "his birthday"),
                NP("o aniversário dela", "her birthday")))
        return clause(x, VP("ser", "be", *on), choice(("pres", "impf")) if r < 0.05 else "pres")
    if r < 0.45:
        week = pick(DAYS)
        return (f"hoje é {week[0]}, {day} de {month[0]}", f"today is {week[1]}, {month[1]} {day}")
    if r < 0.7:
        x = thing("event", "d", adj=0)
        return clause(x, VP("ser", "be", *on), choice(("pres", "fut", "past")))
    s = subj()
    if chance(0.4):
        year = str(1940 + DRAW.below(75))
        pt = pt_clause(s, VP("nascer", "", on[0] + f" de {year}"), "past", timed=False)
        return pt, f"{s.en} {BE['past'][s.e]} born {on[1]}, {year}"
    vp = action(s, company=0.1, where=0.1)
    return join(clause(s, vp, choice(("past", "going")), timed=False), on)

@family(2.5)
def prices_and_amounts():
    """custar, pagar por, quanto custa: Esta camisa custa trinta reais."""
    values = "15 20 25 30 35 40 45 50 60 75 80 90 100 120 150 200 250 300 400 450 500"
    n = int(choice(values.split()))
    pt, en = number(n)
    unit = choice((("reais", "reais"), ("reais", "reais"), ("dólares", "dollars"),
        ("euros", "euros")))
    amount = (f"{pt} {unit[0]}", f"{en} {unit[1]}")
    x = thing("pricey", "ttTd", adj=0.3)
    reject((n < 200) == (x.cls in ("furniture", "machine")))
    r = DRAW.random()
    if r < 0.4:
        return clause(x, VP("custar", "cost", *amount), choice(("pres", "pres", "past")))
    if r < 0.6:
        tense = choice(("pres", "pres", "past"))
        return join(where_is(x, VP("custar", "cost"), tense, ("quanto", "how much")), "?")
    s = subj()
    if r < 0.8:
        vp = VP("pagar", "pay", f"{amount[0]} por {x.pt}".replace("por ", "por+"),
            f"{amount[1]} for {x.en}")
        return clause(s, vp, choice(("past", "going")), timed=False)
    vp = VP("comprar", "buy", *join((x.pt, x.en), ("por " + amount[0], "for " + amount[1])))
    return clause(s, vp, "past", timed=False)

@family(2.5)
def quantities():
    """muito, pouco, alguns, todos, outro, mais with nouns."""
    s, r = subj(adults=True), DRAW.random()
    row = pick([r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*[ib]\w*\}", r[1])])
    noun = pick(LEX[row[1][1:].split(".")[0]])
    if noun.cls in ("subject", "language", "sport", "instrument", "valuable", "building",
        "sky") or row[0] in ("usar", "dirigir", "alugar", "construir", "experimentar", "pegar"):
        raise UnfitError
    if not noun.ens:
        much = choice((("muit", "a lot of"), ("mais", "more"), ("menos", "less"),
            ("pouc", "little")))
        pt = much[0] if much[0][-1] == "s" else much[0] + ("a" if noun.g == "f" else "o")
        x = NP(f"{pt} {noun.pt}", f"{much[1]} {noun.en}")
    elif r < 0.2:
        x = np(noun, "another", "s")
    else:
        x = np(noun, choice(("some", "many", "few", "all")), "p")
        reject(x.en.startswith("all") and row[0] not in ("ler", "comer", "lavar", "vender",
            "limpar"))
    vp = VP(row[0], row[2], x.pt, row[3].replace("{}", x.en))
    tense = choice(("past", "going", "pres" if "h" in row[5] and row[0] != "ver" else "past"))
    time = {"past": past_time, "going": future_time, "pres": habit_time}[tense]
    return with_time(clause(s, vp, tense), time(vp))
