"""Sentence families: themes."""

import re

from grammar.clauses import (
    FUTURE_TIMES,
    MONTHS,
    PAST_TIMES,
    SEASONS,
    ask,
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
from grammar.draw import UnfitError
from grammar.english import BE, a_an
from grammar.families import NO_DEGREE, THINGS, again, family, plain_clause, silent
from grammar.family_objects import MODAL_VERBS
from grammar.lexicon import ADJ_CLASS, COLOR_PAIRS
from grammar.phrases import (
    DRAW,
    LEX,
    QUALITIES,
    STATES,
    VP,
    WORD,
    chance,
    choice,
    city,
    country,
    join,
    np,
    number,
    pairs_of,
    pick,
    place,
    reject,
    subj,
    thing,
)
from grammar.portuguese import pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

WEATHER = pairs_of("""está chovendo = it is raining; está nevando = it is snowing;
    está frio = it is cold; está quente = it is hot; está ventando = it is windy;
    está nublado = it is cloudy; faz sol = it is sunny; choveu muito = it rained a lot;
    nevou muito = it snowed a lot; estava frio = it was cold; estava chovendo = it was raining;
    estava quente = it was hot; ventou muito = it was very windy; vai chover = it is going to rain;
    vai nevar = it is going to snow; vai fazer calor = it is going to be hot;
    vai esfriar = it is going to get cold; não vai chover = it isn't going to rain""")

@family(3)
def weather():
    """Está chovendo, faz sol, vai nevar, with places and times and consequences."""
    sky = pick(WEATHER)
    tense = ("going" if "vai " in sky[0] else "past" if re.search(r"was|rained|snowed", sky[1])
        else "pres")
    times = {"going": FUTURE_TIMES, "past": PAST_TIMES}
    r = DRAW.random()
    town = city()
    reject("nev" in sky[0] and town[2].rstrip("*") in SNOWLESS)
    where = ("em " + town[0], "in " + town[1])
    when = pick(times[tense]["near"]) if tense in times else ("hoje", "today")
    if r < 0.35:
        return with_time(join(sky, where), when)
    if r < 0.5:
        season, month = pick(SEASONS), pick(MONTHS)
        much = choice(
            pairs_of(
                "chove muito = it rains a lot; neva muito = it snows a lot; "
                "faz muito frio = it is very cold; faz muito calor = it is very hot"
            )
        )
        return with_time(join(much, where), choice((("em+" + season[0], "in " + season[1]),
            ("em " + month[0], "in " + month[1]))))
    if r < 0.7:
        s, text = subj(), pick(tuple(WEATHER_RESULTS))
        then = pick(pairs_of(WEATHER_RESULTS[text]))
        return join(pairs_of(text)[0], (", então", ", so"), plain_clause(s, then, "going"))
    s, tense = subj(), "past" if tense == "pres" else tense
    sky = pick([w for w in WEATHER if re.search(r"was|rained|snowed", w[1])])
    move = VP(
        *choice(pairs_of("chegar = arrive; sair = leave; acordar = wake up; voltar = return"))
    )
    if move.pt in ("chegar", "voltar") and chance(0.6):
        link = ("a", "in") if move.pt == "chegar" else ("de", "from")
        move = move.plus((f"{link[0]} {town[0]}", f"{link[1]} {town[1]}"))
    return join(sky, ("quando", "when"), clause(s, move, "past", drop=False))

SNOWLESS = "Brasil Angola Moçambique Peru Colômbia Austrália Chile Argentina".split()
WEATHER_RESULTS = {
    "está chovendo = it is raining": """ficar em casa = stay at home; pegar um táxi = take a taxi;
        levar o guarda-chuva = take the umbrella; fechar as janelas = close the windows;
        ler {text.i} = read {}; não ir a+{cityplace.d} = not go to {}""",
    "está nevando = it is snowing": """ficar em casa = stay at home; usar {wearable.i} = wear {};
        beber {drink.b} = drink {}; não sair de casa = not leave home""",
    "está quente = it is hot": """nadar no lago = swim in the lake; ir à praia = go to the beach;
        beber {drink.b} = drink {}; ligar o ventilador = turn on the fan;
        abrir as janelas = open the windows""",
    "está frio = it is cold": """usar {wearable.t} = wear {}; ficar na cama = stay in bed;
        beber chá = drink tea; preparar {homemade.i} = prepare {};
        fechar as janelas = close the windows""",
    "faz sol = it is sunny": """caminhar com {close} = walk with {}; jogar {sport.b} = play {};
        ir ao parque = go to the park; lavar {vehicle.d} = wash {};
        pintar {paintable.d} = paint {}""",
    "está ventando = it is windy": """fechar as janelas = close the windows;
        usar {wearable.t} = wear {}; não nadar no mar = not swim in the sea;
        brincar com a pipa = play with the kite""",
}

SYMPTOMS = pairs_of("""dor de cabeça = a headache; dor de barriga = a stomachache;
    dor de garganta = a sore throat; dor de dente = a toothache; febre = a fever; gripe = the flu;
    tosse = a cough; um resfriado = a cold; alergia = an allergy""")

@family(2.5)
def health():
    """estar com febre, doer, machucar: Estou com dor de cabeça."""
    s, r = subj(), DRAW.random()
    if r < 0.4:
        pt, en = pick(SYMPTOMS)
        vp = VP("estar", "have", "com " + pt, en)
        pair = (pt_clause(s, vp, "pres"), en_clause(s, vp, "pres"))
        if chance(0.6):
            cure = VP("ir", "go", "ao dentista", "to the dentist")
            cure = cure if "dente" in pt else choice(CURES)
            wrapped = wrap("precisar", "", "need", "to", cure)
            return join(pair, ("e", "and"), clause(silent(s), wrapped, "pres"))
        return pair
    part = pick(LEX["body"])
    reject(part.pt in ("cabelo", "rosto", "nariz", "boca"))
    if r < 0.7:
        plural = part.pt in PAIRED and chance(0.5)
        owner = choice(("my", "your", "his", "her"))
        mine = np(part, owner, "p" if plural else "s")
        return (clause(mine, VP("doer", "hurt"), "pres") if chance(0.4)
            else with_time(clause(mine, VP("estar", "hurt", "doendo"), "pres"), ("hoje", "today"),
            0.2))
    med = choice(
        pairs_of(
            "tomar remédio = take medicine; ir ao médico = go to the doctor; "
            "ficar de cama = stay in bed; "
            "descansar = rest; beber muita água = drink a lot of water"
        )
    )
    (verb, _, tail), (base, _, rest) = med[0].partition(" "), med[1].partition(" ")
    modal = wrap(*choice((MODAL_VERBS[1], MODAL_VERBS[3], MODAL_VERBS[4])),
        VP(verb, base, tail, rest))
    why = clause(again(s), be(s, "estar", ("doente", "sick")), "pres")
    return join(clause(s, modal, "pres"), ("porque", "because"), why)

PAIRED = set("pé braço perna olho orelha joelho ombro mão dedo dente".split())
CURES = [VP("descansar", "rest"), VP("dormir", "sleep"), VP("tomar", "take", "remédio", "medicine"),
    VP("ir", "go", "ao médico", "to the doctor"), VP("ficar", "stay", "em casa", "at home"),
    VP("beber", "drink", "muita água", "a lot of water")]

@family(7)
def shopping_lists():
    """Lists of food: Preciso comprar três tomates, uma cebola e pão no mercado."""
    s = subj(adults=True)
    items = []
    for _ in range(2 + DRAW.below(2)):
        noun = pick([g for g in LEX["groceries"] if g.pt not in ("uva", "cereja")])
        ripe = {"fruit": ("maduro", "ripe"), "vegetable": ("fresco", "fresh")}.get(noun.cls)
        det = choice(("a", 2, 3, 4, 5, 6, 8, 10, 12, "some", "many"))
        x = np(noun, det, "s" if det == "a" else "p", ripe if chance(0.25) else None)
        items.append((x.pt, x.en))
    pt, en = (", ".join(i[side] for i in items[:-1]) for side in (0, 1))
    listed = join((pt, en + ("," if len(items) > 2 else "")), ("e", "and"), items[-1])
    buy = choice((VP("comprar", "buy"), VP("comprar", "buy"), VP("trazer", "bring")))
    buy = buy.plus(listed)
    if buy.pt == "comprar" and chance(0.6):
        buy = buy.plus(place("food"))
    r = DRAW.random()
    if r < 0.35:
        modal = wrap(*choice((MODAL_VERBS[0], MODAL_VERBS[1], MODAL_VERBS[4])), buy)
        return clause(s, modal, "pres")
    if r < 0.75:
        return with_time(clause(s, buy, "past"), past_time())
    if r < 0.85:
        unit = choice(pairs_of("um quilo de = a kilo of; uma caixa de = a box of"))
        noun = pick(LEX["groceries"])
        reject(noun.cls == "drink")
        x, n = np(noun, "bare", "p"), number(3 + DRAW.below(28))
        return join(unit, (x.pt, x.en), ("custa", "costs"), n, ("reais", "reais"))
    return with_time(clause(s, buy, "going"), future_time())

ACCIDENTS = pairs_of("""cair de+a escada = fall off the ladder;
    cair de+a bicicleta = fall off the bicycle; cair em+a rua = fall on the street;
    jogar {sport.b} = play {}; correr em+o parque = run in the park; consertar {machine.d} = fix {};
    carregar {carryable.d} = carry {}; cortar {cuttable.d} = cut {};
    brincar com {pet.d} = play with {}; treinar em+a academia = train at the gym""")

@family(3.5)
def accidents():
    """Body parts: Ela machucou o joelho quando caiu da escada / She hurt her knee when ..."""
    s, part = subj(), pick([b for b in LEX["body"] if b.pt not in ("cabelo", "dente", "garganta")])
    many = part.pt in PAIRED and chance(0.35)
    x = np(part, "the", "p" if many else "s")
    vp = VP("machucar", "hurt", x.pt, f"{s.own} {part.ens if many or s.n == 'p' else part.en}")
    how = pick(ACCIDENTS)
    fell = how[0].startswith("cair")
    main = clause(s, vp, "past", timed=False)
    if fell:
        return join(main, ("quando", "when"), plain_clause(again(s), how, "past"))
    when = join(("quando", "when"), plain_clause(again(s), how, "was"))
    return join(main, when) if chance(0.8) else with_time(main, past_time())

@family(3.5)
def travel():
    """ir de ônibus, voar, comprar passagem, chegar a, ficar em hotel."""
    s, town, r = subj(adults=True), city(), DRAW.random()
    by = pick(LEX["transit"] + [WORD["carro"], WORD["bicicleta"], WORD["barco"], WORD["moto"]])
    ride = (f"de {by.pt}", f"by {by.en}")
    if r < 0.3:
        near = WORD["carro"], WORD["bicicleta"], WORD["moto"]
        spot = thing("cityplace", "d", adj=0)
        reject(by.pt in ("avião", "navio", "barco"))
        verb = clause(s, VP("ir", "go", f"a+{spot.pt}", f"to {spot.en}").plus(ride), "pres")
        return verb if chance(0.3) or by in near else with_time(verb, habit_time(), 0.2)
    if r < 0.6:
        home = country() if chance(0.4) else town[:2]
        if by.pt in ("bicicleta", "metrô", "táxi", "barco", "moto") or (home[1] != town[1]
            and by.pt in ("ônibus", "trem", "carro")):
            raise UnfitError
        tense = choice(("past", "going"))
        vp = VP("viajar", "travel", f"para {home[0]}", f"to {home[1]}", "", "far").plus(ride)
        return with_time(clause(s, vp, tense), (past_time if tense == "past" else future_time)(vp))
    if r < 0.75:
        hours = span([("horas", "hours", "f"), ("dias", "days", "m")], 12)
        pt = f"a viagem para {town[0]} dura {hours[0]}"
        return pt, f"the trip to {town[1]} lasts {hours[1]}"
    if r < 0.9:
        nights = span([("dias", "days", "m"), ("semanas", "weeks", "f"), ("meses", "months", "m")],
            6)
        vp = VP("ficar", "stay", f"em {town[0]} por {nights[0]}", f"in {town[1]} for {nights[1]}")
        return clause(s, vp, choice(("past", "going", "fut")), timed=False)
    reject(s.who in ("eu", "nós"))
    vp = VP("estar", "be", f"em {town[0]}", f"to {town[1]}")
    return join(ask(s, vp, "past", pre=("já", "ever"), en="perf"), "?")

WAYS = pairs_of("""vire à esquerda = turn left; vire à direita = turn right;
    siga em frente = go straight ahead; atravesse a rua = cross the street;
    atravesse a ponte = cross the bridge; pegue o ônibus = take the bus;
    passe pela praça = go past the square; desça a rua = go down the street;
    suba a avenida = go up the avenue; pegue o metrô = take the subway""")

@family(2)
def directions():
    """Vire à esquerda e siga em frente até o banco."""
    a, b = pick(WAYS), pick(WAYS)
    x = thing("cityplace", "d", adj=0)
    r = DRAW.random()
    until = (f"até {x.pt}", f"to {x.en}")
    if r < 0.35:
        near = choice(
            pairs_of(
                "ao lado de+ = next to; em frente a+ = in front of; "
                "atrás de+ = behind; perto de+ = near"
            )
        )
        y = thing("cityplace", "d", adj=0)
        side = choice(pairs_of("à esquerda = on the left; à direita = on the right"))
        if chance(0.5):
            return join((x.pt + " fica", x.en + " is"), side, ",",
                (near[0] + y.pt, near[1] + " " + y.en))
        return join(a, (f"e {x.pt} estará", f"and {x.en} will be"), side)
    if r < 0.6:
        return join(a, ("e depois", "and then"), b)
    if r < 0.8:
        return join(a, ("quando você chegar a+" + x.pt, "when you get to " + x.en))
    if chance(0.5):
        return join(("como chego a+" + x.pt, "how do I get to " + x.en), "?")
    return join(("siga em frente", "go straight ahead"), until, ("e", "and"), pick(WAYS[:2]))

@family(1.4)
def exclamations():
    """Que dia bonito! Como você é gentil!"""
    r = DRAW.random()
    if r < 0.6:
        noun = pick(LEX[pick(THINGS)])
        kind = ADJ_CLASS.get(noun.cls, ("", ""))[0]
        reject(not kind)
        adj = pick([q for q in QUALITIES[kind] if q not in COLOR_PAIRS])
        n = "p" if chance(0.2) or noun.cls == "footwear" else "s"
        x = np(noun, "bare" if n == "p" or not noun.ens else "a", n)
        bare = x.pt.split(" ", 1)[1] if x.en != noun.en and n == "s" and noun.ens else x.pt
        word = pt_adj(adj[0], noun.g, n)
        en = f"{adj[1]} {noun.ens if n == 'p' else noun.en}"
        return join((f"que {bare} {word}", f"what {a_an(en) if n == 's' and noun.ens else en}"),
            "!")
    s = subj(pron=0.7)
    reject(s.who == "eu")
    if chance(0.5):
        adj = pick([q for q in QUALITIES["person"] if q[0] != "organizado"])
        vp = be(s, "ser", adj)
    else:
        adj = pick([q for q in STATES["person"] if q[0] not in NO_DEGREE])
        vp = be(s, "estar", adj)
    pt = pt_clause(s, VP(vp.pt, "be", vp.pt_tail), "pres", drop=False)
    return join((f"como {pt}", f"how {adj[1]} {s.en} {BE['pres'][s.e]}"), "!")
