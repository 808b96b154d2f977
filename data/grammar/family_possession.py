"""Sentence families: possession, orders, passive."""

import re
from dataclasses import replace

from grammar.clauses import JOB_ROWS, UNWILLED, action, clause, future_time, past_time, with_time
from grammar.english import en_form
from grammar.families import adjectives, family
from grammar.lexicon import ACTION_ROWS, ADJ_CLASS, FAR_VERBS
from grammar.phrases import (
    DRAW,
    JOBS,
    LEX,
    QUALITIES,
    STATES,
    VP,
    chance,
    choice,
    close,
    folk,
    join,
    kin,
    name,
    np,
    pairs_of,
    pick,
    pronoun,
    reject,
    subj,
)
from grammar.portuguese import pt_adj, pt_forms, pt_participle

# Tables and calls are packed by hand from here on.
# fmt: off

@family(3)
def possessives():
    """O carro dele, a casa do meu tio, o nosso cachorro."""
    owner = choice((kin, name, folk))()
    noun = pick(
        LEX[choice("clothes furniture machine vehicle pet valuable bag tool text homeroom".split())]
    )
    kind = ADJ_CLASS[noun.cls]
    n = "p" if chance(0.2) else "s"
    if chance(0.45):
        x = np(noun, choice(("my", "your", "our", "his", "her", "their")), n)
    else:
        x = np(noun, "the", n)
        en = x.en.replace("the ", "", 1)
        mark = "'" if owner.en.endswith("s") and owner.n == "p" else "'s"
        x = replace(x, pt=f"{x.pt} de+{owner.pt}", en=f"{owner.en}{mark} {en}")
    r = DRAW.random()
    if r < 0.55:
        table, verb = QUALITIES[kind[0]], "ser"
        if kind[1] and chance(0.5):
            table, verb = STATES[kind[1]], "estar"
        return clause(x, adjectives(x, table, verb), choice(("pres", "pres", "impf")),
            neg=chance(0.1))
    s = subj(adults=True)
    verb = pick(
        pairs_of(
            "ver = see; encontrar = find; usar = use; comprar = buy; vender = sell; "
            "procurar = look for; fotografar = photograph; perder = lose"
        )
    )
    reject(noun.cls == "room" and verb[0] not in ("ver", "usar", "fotografar"))
    reject(noun.cls in ("furniture", "machine", "vehicle") and verb[0] in ("perder", "encontrar"))
    reject(noun.cls == "pet" and verb[0] == "usar")
    return with_time(clause(s, VP(*verb, x.pt, x.en), "past"), past_time())

@family(3.5)
def imperatives():
    """Orders to você and vocês, with and without por favor."""
    s = pronoun(choice(("você", "você", "vocês")))
    if chance(0.3):
        pt, en = pick(ORDERS)
        (verb, _, tail), neg = pt.partition(" "), False
        (base, _, rest) = en.partition(" ")
        if verb == "não":
            neg, verb, tail = True, *tail.split(" ", 1)
            en = en.replace("not ", "", 1)
            base, _, rest = en.partition(" ")
        vp = VP(verb, base, tail, rest)
    else:
        vp, neg = action(s, company=0.1), chance(0.35)
    reject(vp.clitic or vp.pt in UNWILLED)
    form = pt_forms(vp.pt, "subj")[s.k]
    pt = f"{'não ' if neg else ''}{form} {vp.pt_tail}".strip()
    en = f"{'do not ' if neg else ''}{vp.inf()[1]}".replace("do not", "don't")
    if not neg and vp.scale == "near" and (vp.pt, vp.pt_tail) not in SHORT and chance(0.45):
        when = choice(pairs_of("agora = now; hoje = today; amanhã = tomorrow; mais tarde = later"))
        pt, en = join((pt, en), when)
    please = choice(pairs_of("por favor = please; = ; = "))
    if please[0]:
        if chance(0.5):
            return join((pt, en), (", por favor", ", please"))
        return join(("por favor,", "please"), (pt, en))
    return join((pt, en), choice((".", "!", ".")))

ORDERS = pairs_of("""falar mais devagar = speak more slowly;
    não falar tão alto = not speak so loudly; virar à esquerda = turn left;
    virar à direita = turn right; seguir em frente = go straight ahead; ter cuidado = be careful;
    não ter medo = not be afraid; ter paciência = be patient; vir aqui = come here;
    vir comigo = come with me; não sair daqui = not leave here; esperar um momento = wait a moment;
    não esquecer a chave = not forget the key; fazer silêncio = be quiet;
    não fazer barulho = not make noise; dizer a verdade = tell the truth;
    não dizer nada = not say anything; trazer a conta = bring the bill; ficar aqui = stay here;
    não se preocupar = not worry; prestar atenção = pay attention; entrar na fila = get in line;
    não correr na rua = not run in the street; ligar para a polícia = call the police;
    abrir a boca = open your mouth; fechar os olhos = close your eyes;
    levantar a mão = raise your hand; parar de gritar = stop shouting; voltar logo = come back soon;
    não voltar tarde = not come back late; colocar o cinto de segurança = fasten your seat belt;
    respirar fundo = breathe deeply; apertar o botão = press the button;
    mexer a sopa = stir the soup""")
ORDERS = [o for o in ORDERS if " se " not in o[0]]
SHORT = {tuple(o[0].split(" ", 1)) for o in ORDERS}

def makes(row, verb, noun):
    """True if a row of JOB_ACTIONS says that its people do this to a noun."""
    group = re.match(r"\{(\w+)", row[1])
    fits_it = noun in LEX[group[1]] if group and group[1] in LEX else noun.pt in row[1].split()
    return row[0] == verb and fits_it

@family(4)
def passives():
    """ser + participle + por: A carta foi escrita pela professora."""
    rows = [r for r in ACTION_ROWS if "p" in r[5] and r[0] != "construir" and "race" not in r[1]]
    rows.append(("construir", "{building.d}", "build", "{}", "", "p"))
    row = pick(rows)
    group, _, _ = row[1].partition("{")[2].partition("}")[0].partition(".")
    noun = pick(LEX[group])
    n = "p" if chance(0.3) else "s"
    x = np(noun, choice(("the", "the", "this", "yon")), n)
    makers = [j for j in JOBS if any(makes(r, row[0], noun) for r in JOB_ROWS.get(j.pt, ()))]
    agent = np(pick(makers), "the", choice("ssp")) if makers and chance(0.6) else close()
    if row[0] == "construir":
        agent = np(pick([j for j in JOBS if j.en == "engineer"]), "the", choice("sp"))
    tail = row[1].partition("}")[2].strip()
    reject(tail)
    short = {"limpar": "limpo", "imprimir": "impresso"}
    part = pt_adj(short.get(row[0]) or pt_participle(row[0]), x.g, x.n)
    done = en_form(row[2], "pp")
    vp = VP("ser", "be", part, done, "", "far" if row[0] in FAR_VERBS else "near")
    r = DRAW.random()
    if r < 0.7:
        vp = vp.plus((f"por+{agent.pt}", f"by {agent.en}"))
    tense = choice(("past", "past", "past", "fut", "going"))
    if row[0] in UNWILLED:
        tense = "past"
    pair = clause(x, vp, tense, neg=chance(0.1))
    if row[0] == "construir" and tense == "past":
        year = str(1890 + DRAW.below(130))
        return join(pair, (f"em {year}", f"in {year}"))
    if chance(0.6) or r >= 0.7:
        time = (past_time if tense == "past" else future_time)(vp)
        if row[0] == "construir":
            time = pick(pairs_of("em breve = soon; no ano que vem = next year; = "))
        pair = with_time(pair, time, 0.25)
    return pair
