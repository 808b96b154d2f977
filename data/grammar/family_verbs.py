"""Sentence families: verbs that govern verbs."""

import re

from grammar.clauses import (
    UNWILLED,
    action,
    ask,
    be,
    clause,
    en_clause,
    future_time,
    past_time,
    pt_clause,
    with_time,
    wrap,
)
from grammar.families import again, clash, family, plain, plain_clause, silent, state_and_reason
from grammar.family_objects import CLITICS, MODAL_VERBS
from grammar.lexicon import ACTION_ROWS
from grammar.phrases import (
    DRAW,
    VP,
    WORD,
    chance,
    choice,
    join,
    np,
    pairs_of,
    pick,
    pronoun,
    reject,
    slot,
    subj,
    thing,
)
from grammar.portuguese import pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

@family(2.6)
def likes():
    """gostar, preferir, amar, odiar with things and infinitives."""
    s, r = subj(), DRAW.random()
    groups = "fruit vegetable staple drink sport subject pet film music meal language".split()
    x = thing(choice(groups), "b", adj=0)
    verb = pick([("gostar", "de+", "like"), ("gostar", "de+", "like"), ("amar", "", "love"),
        ("odiar", "", "hate"), ("preferir", "", "prefer")])
    if r < 0.25:
        vp = VP(verb[0], verb[2], verb[1] + x.pt, x.en)
        more = choice(pairs_of("muito = a lot; = ; = "))
        vp = vp.plus(more) if verb[2] == "like" and more[0] else vp
        if more[0] and verb[2] == "like":
            vp = VP("gostar", "like", f"muito de+{x.pt}", f"{x.en} a lot")
        return clause(s, vp, choice(("pres", "pres", "impf")),
            neg=verb[0] == "gostar" and chance(0.25), en=None)
    if r < 0.4:
        cls = choice(groups)
        x, y = thing(cls, "b", adj=0), thing(cls, "b", adj=0)
        like = clause(s, VP("gostar", "like", "de+" + x.pt, x.en), "pres")
        rest = clause(silent(s), VP("preferir", "prefer", y.pt, y.en), "pres")
        return join(like, (", mas", ", but"), rest)
    inner = action(s, "h", willed=True)
    if r < 0.55:
        return clause(s, wrap("gostar", "de", "like", "to", inner), "cond", drop=False)
    reject(inner.clitic)
    vp = wrap(verb[0], verb[1].strip("+"), verb[2], "to", inner)
    return clause(s, vp, choice(("pres", "pres", "impf")), neg=verb[0] == "gostar" and chance(0.25))

@family(5)
def modals():
    """querer, poder, dever, precisar, ter que, conseguir, saber + infinitive."""
    s = subj()
    pick_one = MODAL_VERBS[:7]
    verb = pick(pick_one)
    vp = action(s)
    tense = choice(("pres", "pres", "past", "impf"))
    if verb[0] in ("poder", "dever") or (tense == "impf" and verb[0] in ("tentar", "preferir")):
        tense = "pres"
    if tense == "past" and verb[0] in ("querer", "preferir", "precisar"):
        tense = "impf"
    if verb[0] == "tentar":
        tense = "past"
    reject(vp.pt in UNWILLED)
    if tense == "impf" and verb[0] == "ter":
        tense = "past"
    pair = clause(s, wrap(*verb, vp), tense, neg=verb[0] != "preferir" and chance(0.25),
        timed=False)
    if chance(0.4):
        pair = join(pair, past_time(vp) if tense == "past" else ("", ""))
    elif tense == "pres" and chance(0.5):
        pair = join(pair, future_time(vp))
    return pair

SKILLS = pairs_of("""nadar = swim; dançar = dance; cozinhar = cook; dirigir = drive; ler = read;
    escrever = write; costurar = sew; pintar = paint; desenhar = draw; cantar = sing;
    andar de bicicleta = ride a bicycle; jogar xadrez = play chess; falar inglês = speak English;
    tocar piano = play the piano; fazer pão = make bread; consertar carros = fix cars;
    tocar violão = play the guitar; plantar flores = plant flowers; fazer bolos = make cakes;
    andar a cavalo = ride a horse; trocar um pneu = change a tire; esquiar = ski;
    assobiar = whistle; usar a impressora = use the printer; contar piadas = tell jokes""")

@family(1.5)
def skills():
    """saber + infinitive: Ela sabe nadar / She knows how to swim."""
    s = subj()
    skill = pick(SKILLS)
    vp = VP("saber", "know", skill[0], "how to " + skill[1])
    r = DRAW.random()
    if r < 0.4:
        other = pick(SKILLS)
        more = VP("querer", "want", "aprender a " + other[0], "to learn to " + other[1])
        link = choice(pairs_of("e = and; , mas = , but"))
        pair = clause(s, vp, "pres", neg=link[1] == ", but")
        if link[1] == ", but":
            return join(pair, link, clause(silent(s), VP("querer", "want", "aprender", "to learn"),
                "pres"))
        return join(pair, link, clause(silent(s), more, "pres"))
    if r < 0.7:
        return clause(s, vp, choice(("pres", "pres", "impf")), neg=chance(0.3))
    reject(s.who in ("eu", "nós"))
    return join(ask(s, vp, "pres"), "?")

ASPECTS = [("começar", "a", "start", "to", 0), ("parar", "de", "stop", "", 1),
    ("tentar", "", "try", "to", 0), ("esquecer", "de", "forget", "to", 0),
    ("decidir", "", "decide", "to", 0), ("conseguir", "", "manage", "to", 0),
    ("aprender", "a", "learn", "to", 0), ("continuar", "a", "continue", "to", 0),
    ("prometer", "", "promise", "to", 0), ("resolver", "", "decide", "to", 0),
    ("terminar", "de", "finish", "", 1), ("desistir", "de", "give up", "", 1),
    ("planejar", "", "plan", "to", 0), ("deixar", "de", "stop", "", 1)]

@family(3.5)
def aspects():
    """começar a, parar de, tentar, voltar a, costumar + infinitive."""
    s, r = subj(), DRAW.random()
    if r < 0.15:
        vp = action(s, "h", company=0.1)
        pt = pt_clause(s, wrap("costumar", "", "", "", vp), "pres")
        return pt, en_clause(s, vp, "pres", mid="usually")
    if r < 0.3:
        vp = action(s, "h", company=0.1)
        pt = pt_clause(s, wrap("voltar", "a", "", "", vp), "past", timed=True, drop=False)
        when = past_time(vp)
        return join((pt, en_clause(s, vp.plus(("", "again")), "past")), when)
    row = pick([a for a in ASPECTS if a[0] not in ("deixar", "resolver")])
    vp = action(s, "hg" if row[0] in ("começar", "parar", "aprender", "continuar", "desistir")
        else "")
    reject(row[0] == "terminar" and vp.pt not in FINISHED)
    reject(row[0] in ("conseguir", "prometer", "planejar", "decidir", "tentar")
        and vp.pt in UNWILLED)
    reject(row[0] == "aprender" and vp.pt not in TAUGHT)
    reject(row[0] == "esquecer" and vp.pt not in FORGOTTEN)
    going = row[0] in ("começar", "parar", "tentar", "continuar")
    tense = choice(("past", "past", "going")) if going else "past"
    pair = clause(s, wrap(*row[:4], vp, ing=bool(row[4])), tense, timed=False)
    if chance(0.6):
        return with_time(pair, (past_time if tense == "past" else future_time)(vp), 0.6)
    return pair

FORGOTTEN = set(
    """comprar fechar abrir ligar pagar trazer enviar devolver regar alimentar lavar tomar escrever
        responder levar desligar convidar imprimir assinar limpar apagar""".split()
)
FINISHED = set(
    """comer ler escrever limpar lavar consertar pintar construir preparar arrumar cortar traduzir
        almoçar jantar fazer varrer corrigir imprimir""".split()
)

@family(3)
def letting_and_helping():
    """deixar, ajudar, ensinar, pedir para: Meu pai me deixou dirigir o carro."""
    s, who = subj(pron=0.3), pick(("eu", "nós", "ele", "ela", "eles"))
    reject(s.who == who or s.who in ("eu", "nós") or (who not in ("eu", "nós") and not s.who)
        or (s.who in ("ele", "ela", "eles", "elas") and who not in ("eu", "nós")))
    clitic, obj = CLITICS[who]
    t = pronoun(who)
    vp = action(t, company=0, where=0.1, willed=True)
    reject(vp.clitic)
    pt, link, en, to = pick([("deixar", "", "let", ""), ("ajudar", "a", "help", ""),
        ("ensinar", "a", "teach", "to"), ("convidar", "para", "invite", "to"),
        ("obrigar", "a", "force", "to"), ("ver", "", "see", "")])
    reject(pt == "ensinar" and vp.pt not in TAUGHT)
    reject(pt == "ajudar" and vp.pt in UNWILLED | {"perder", "dormir", "ver"})
    inner = join((link, to), vp.inf())
    reject(pt == "ver" and vp.pt in UNWILLED | {"ver", "observar", "aceitar", "escolher", "chegar"})
    if pt == "ver":
        inner = (vp.inf()[0], vp.ing()[1])
    tense = choice(("past", "past", "fut")) if pt != "ver" else "past"
    neg = chance(0.25) and pt in ("deixar", "ajudar")
    return clause(s, VP(pt, en, inner[0], f"{obj} {inner[1]}", clitic), tense, neg=neg)

TAUGHT = set(
    """cozinhar escrever ler tocar jogar cantar dançar nadar plantar consertar dirigir costurar
        desenhar falar pescar usar fazer pintar cuidar""".split()
)

@family(6.5)
def before_and_after():
    """antes de, depois de, sem, em vez de + infinitive of the same subject."""
    s = subj()
    first, second = action(s, company=0), action(s, company=0.1)
    reject(first.clitic or first.pt == second.pt or first.pt_tail == second.pt_tail)
    r, tense = DRAW.random(), choice(("past", "past", "going"))
    main = clause(s, second, tense, timed=False)
    if r < 0.35:
        pt, en = pick(ABSENT)
        vp, _ = plain(s, (pt.split(" : ")[1], en.split(" : ")[1]))
        return join(main, (pt.split(" : ")[0], en.split(" : ")[0]), vp.ing())
    reject(first.pt in UNWILLED)
    link = pick(pairs_of("antes de = before; depois de = after"))
    phrase = join(link, first.ing())
    return join(phrase, ",", main) if chance(0.4) else join(main, phrase)

ABSENT = pairs_of("""sem : dizer nada = without : say anything;
    sem : comer nada = without : eat anything; sem : falar com {close} = without : talk to {};
    sem : esperar {close} = without : wait for {}; sem : pagar {bills.d} = without : pay {};
    sem : fechar {opening.d} = without : close {}; sem : ajudar {close} = without : help {};
    sem : ligar para {close} = without : call {};
    em vez de : estudar {subject.b} = instead of : study {};
    em vez de : trabalhar = instead of : work; em vez de : dormir = instead of : sleep;
    em vez de : ajudar {close} = instead of : help {};
    em vez de : esperar {close} = instead of : wait for {};
    em vez de : limpar {room.d} = instead of : clean {};
    em vez de : fazer a lição de casa = instead of : do ~ homework;
    em vez de : ficar em casa = instead of : stay at home;
    em vez de : ir a+{event.d} = instead of : go to {};
    em vez de : preparar o jantar = instead of : prepare dinner;
    em vez de : descansar = instead of : rest;
    em vez de : visitar {close} = instead of : visit {}""")

@family(7)
def purposes():
    """para + infinitive: Fui ao mercado para comprar pão."""
    s = subj(adults=True)
    spot, goal = pick(ERRANDS)
    x = WORD[spot]
    (verb, _, tail), (base, _, rest) = goal[0].partition(" "), goal[1].partition(" ")
    group = re.search(r"\{([^}]*)\}", tail)
    if group:
        y = slot(group.group(1), s)
        tail, rest = tail.replace(group.group(0), y[0]), rest.replace("{}", y[1])
    why = join(("para", "to"), VP(verb, base, tail, rest).inf())
    spot_np = np(x)
    to = (("para a escola", "to school") if spot == "escola"
        else (f"a+{spot_np.pt}", f"to {spot_np.en}"))
    vp = VP("ir", "go", *to)
    if chance(0.3):
        vp = wrap(*pick(MODAL_VERBS[:2] + MODAL_VERBS[4:5]), vp)
        return join(clause(s, vp, "pres"), why)
    tense = choice(("past", "past", "going"))
    time = (past_time if tense == "past" else future_time)()
    pair = clause(s, vp, tense, timed=True)
    if tense == "going":
        pair = clause(s, VP("ir", "go", *to), "fut")
    return with_time(join(pair, why), time, 0.5)

ERRANDS = [
    (p.split(":")[0].strip(), (p.split(":")[1].strip(), e))
    for p, e in pairs_of("""
    mercado: comprar {groceries.bnb} = buy {}; feira: comprar {fruit.bn} = buy {};
    padaria: comprar um bolo = buy a cake; farmácia: comprar remédio = buy medicine;
    biblioteca: ler {text.i} = read {}; biblioteca: estudar {subject.b} = study {};
    hospital: visitar {close} = visit {}; aeroporto: esperar {close} = wait for {};
    banco: pagar a conta = pay the bill; parque: jogar {sport.b} = play {};
    praia: ver o mar = see the sea; restaurante: jantar com {close} = have dinner with {};
    museu: ver a exposição = see the exhibition; zoológico: ver {wild.D} = see {};
    loja: comprar {clothes.i} = buy {}; loja: comprar {machine.i} = buy {};
    loja: trocar {clothes.t} = exchange {}; correio: enviar {sendable.i} = send {};
    livraria: comprar {printed.i} = buy {}; fazenda: alimentar {farm.D} = feed {};
    delegacia: contar a verdade = tell the truth; academia: fazer exercícios = do exercises;
    escola: estudar {subject.b} = study {}; universidade: estudar {subject.b} = study {};
    cinema: ver {film.i} = see {}; teatro: ver {film.i} = see {}; estádio: ver o jogo = see the
    game;
    rio: pescar com {close} = fish with {}; lago: nadar com {close} = swim with {};
    jardim: regar {plant.D} = water {}; cozinha: preparar {meeting.d} = prepare {};
    cozinha: lavar {tableware.D} = wash {}; oficina: buscar {vehicle.d} = pick up {};
    embaixada: buscar o passaporte = pick up the passport; igreja: rezar = pray;
    açougue: comprar carne = buy meat; livraria: encontrar {close} = meet {};
    estação: esperar {close} = wait for {}; quarto: buscar {clothes.d} = pick up {};
    garagem: buscar {tool.d} = pick up {}; porão: procurar {tool.d} = look for {}""")
    if e != "see {}" or "teatro" not in p
]

@family(10.5)
def joined_clauses():
    """Two clauses joined by mas, porque, e, então: Eu queria sair, mas estava cansado."""
    s, r = subj(), DRAW.random()
    if r < 0.25:
        want = wrap("querer", "", "want", "to", action(s, company=0.1, willed=True))
        adj = pick(pairs_of("cansado = tired; doente = sick; ocupado = busy; atrasado = late"))
        costs = want.pt_tail.startswith(("comprar", "viajar", "alugar", "visitar"))
        lack = (VP("ter", "have", "dinheiro", "money") if costs
            else VP("ter", "have", "tempo", "time"))
        why = (be(s, "estar", adj), False) if chance(0.5) else (lack, True)
        rest = clause(again(s), why[0], "impf", neg=why[1])
        return join(clause(s, want, "impf", drop=False), (", mas", ", but"), rest)
    if r < 0.45:
        first, second = action(s), action(s, company=0)
        return join(clause(s, first, "past", timed=False), ("e depois", "and then"),
            clause(silent(s), second, "past"))
    if r < 0.8:
        return same_but_different(s)
    state, why = state_and_reason(s)
    then = (", então", ", so")
    if chance(0.5):
        return join(plain_clause(s, why, "past", timed=False), then,
            clause(again(s), state, "pres"))
    return join(clause(s, state, "impf", drop=False), ("porque", "because"),
        plain_clause(again(s), why, "pluperf"))

def same_but_different(s):
    """Two people who do the same with different things: Comi uma maçã, mas ela comeu pão."""
    t = subj(third=True)
    rows = [r for r in ACTION_ROWS if re.search(r"\.\w*[ibn]", r[1]) or (r[4] and not r[1])]
    row = pick(rows)
    reject(clash(s, t))
    where = 0 if "{" in row[1] else 1
    first, second = (action(x, row=row, company=0, where=where) for x in (s, t))
    reject(first.pt_tail == second.pt_tail)
    link = choice(pairs_of(", mas = , but; e = and"))
    tense = choice(("past", "past", "going", "fut"))
    reject(tense != "past" and first.pt in UNWILLED)
    return join(clause(s, first, tense, timed=False), link, clause(t, second, tense, drop=False))

@family(6.5)
def sequences():
    """Three things done one after the other by the same person."""
    s = subj()
    vps = [action(s, company=0.1, where=0.4, willed=True) for _ in range(3)]
    reject(any(vp.scale != "near" or vp.clitic for vp in vps) or len({vp.pt for vp in vps}) < 3)
    times = choice(
        (
            pairs_of("de manhã = in the morning; à tarde = in the afternoon; à noite = at night"),
            pairs_of("primeiro = first; depois = then; finalmente = finally"),
            pairs_of("ontem = yesterday; hoje = today; hoje à noite = tonight"),
        )
    )
    tense = "past"
    if times[0][1] != "yesterday" and chance(0.4):
        tense = "going"
    first = join(times[0], clause(s, vps[0], tense), ",")
    second = join(times[1], clause(again(s), vps[1], tense))
    last = "going" if times[0][1] == "yesterday" else tense
    return join(first, second, ("e", ", and"), times[2], clause(again(s), vps[2], last))

@family(2.5)
def changes():
    """ficar + adjective: Ela ficou triste quando perdeu o trem / She got sad when ..."""
    s, r = subj(), DRAW.random()
    if r < 0.15:
        adj = pick(pairs_of("rico = rich; famoso = famous; velho = old; forte = strong"))
        vp = VP("ficar", "become", pt_adj(adj[0], s.g, s.n), adj[1])
        when = (f"em {1960 + DRAW.below(60)}",) * 2
        return join(clause(s, vp, "past", timed=False), (when[0], when[1].replace("em", "in")))
    state, why = state_and_reason(s)
    reject(state.en_tail in ("late", "relieved", "satisfied", "surprised", "disappointed"))
    vp = VP("ficar", "get", state.pt_tail, state.en_tail)
    if state.en_tail in ("happy", "proud", "scared", "confused"):
        vp = VP("ficar", "be", state.pt_tail, state.en_tail)
    return join(clause(s, vp, "past", timed=False), ("quando", "when"),
        plain_clause(again(s), why, "past"))
