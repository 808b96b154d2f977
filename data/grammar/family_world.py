"""Sentence families: animals, countries, tools, manner, results."""

import re
from dataclasses import replace

from grammar.clauses import MID, clause, future_time, habit_time, past_time, with_time, wrap
from grammar.english import a_an
from grammar.families import THINGS, again, family, plain_clause, silent
from grammar.family_objects import MODAL_VERBS
from grammar.lexicon import (
    ADJ_CLASS,
    CITY_ROWS,
    COLOR_PAIRS,
    COUNTRY_ROWS,
    SEVERAL,
    entries,
    table,
)
from grammar.phrases import (
    DET_EN,
    DET_PT,
    DRAW,
    GRAND,
    JOBS,
    KID_LEMMAS,
    KIN,
    LEX,
    NP,
    OTHER_FOLK,
    QUALITIES,
    UNOWNED,
    VP,
    WORD,
    at,
    chance,
    choice,
    city,
    folk,
    join,
    kin,
    make_noun,
    np,
    pairs_of,
    pick,
    place,
    reject,
    slot,
    subj,
    thing,
)
from grammar.portuguese import pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

ANIMAL_FOOD = table("""
    gato: peixe; cachorro: carne; coelho: cenoura; papagaio: banana; tartaruga: alface; vaca:
    milho; cavalo: maçã; porco: batata; cabra: repolho; galinha: milho; pato: pão; leão: carne;
    tigre: carne; macaco: banana; urso: mel; lobo: carne; raposa: uva; rato: queijo; burro:
    cenoura; pássaro: uva; elefante: melancia; jacaré: peixe; golfinho: peixe; tubarão: peixe;
    águia: peixe; sapo: mosca; coruja: rato; aranha: mosca; cobra: rato; abelha: mel; galo:
    milho; girafa: folha""")
WORD["folha"] = make_noun("folha", "f", "leaf/leaves", "plant")

@family(3)
def animals():
    """What animals eat, where they sleep, what they are afraid of."""
    r = DRAW.random()
    if r < 0.35:
        noun = pick([WORD[w] for w in ANIMAL_FOOD])
        food = WORD[ANIMAL_FOOD[noun.pt]]
        y = np(food, "bare", "p")
        kind = choice(("the", "this", "yon"))
        s = np(noun, kind, "p" if chance(0.6) else "s")
        vp = VP("comer", "eat", y.pt, y.en)
        if chance(0.5):
            return clause(s, vp, "pres", pre=choice((MID[0], MID[2], ("também", "also"))))
        return clause(s, vp, choice(("prog", "was")))
    noun = pick(LEX["pet"] + LEX["farm"])
    s = np(noun, choice(("the", "my", "your", "our", "the", "her", "his")),
        "p" if chance(0.25) else "s")
    if r < 0.75:
        pt, en = pick(
            pairs_of(
                "dormir = sleep; descansar = rest; ficar = stay; estar = be; "
                "comer = eat; desaparecer = disappear"
            )
        )
        spot = pick([WORD[w] for w in "jardim quintal fazenda campo garagem varanda horta".split()])
        tree = pick(
            pairs_of(
                "embaixo de+a árvore = under the tree; perto de+o rio = near the river; "
                "atrás de+a casa = behind the house; embaixo de+a mesa = under the table; "
                "ao lado de+a porta = next to the door"
            )
        )
        where = at(spot) if chance(0.6) else tree
        reject(noun.cls == "farm" and "table" in where[1])
        if pt == "desaparecer":
            return with_time(clause(s, VP(pt, en, *where), "past"), past_time())
        if pt == "estar":
            return clause(s, VP(pt, en, *where), choice(("pres", "impf")), neg=chance(0.2))
        tense = choice(("prog", "pres", "past", "was"))
        pair = clause(s, VP(pt, en, *where), tense)
        return (join(pair, habit_time() if tense == "pres" else past_time())
            if tense in ("pres", "past") else pair)
    hunter, prey = pick(CHASES).split()
    s, y = np(WORD[hunter], choice(("the", "my", "that"))), np(WORD[prey], choice(("a", "the")))
    verb = pick(pairs_of("ver = see; seguir = follow; ouvir = hear; atacar = attack"))
    z = np(pick(LEX["wildland"] + LEX["small"]), "a")
    if chance(0.5):
        s = subj()
        vp = VP("ver", "see", z.pt, z.en)
        spot = place("zoo" if z.cls == "wild" else "small")
        return with_time(clause(s, vp.plus(spot), "past"), past_time())
    return with_time(clause(s, VP(*verb, y.pt, y.en), "past"), past_time())

CHASES = entries("""gato rato, cachorro gato, lobo ovelha, raposa galinha, coruja rato, cobra sapo,
    sapo mosca, galinha formiga, tigre macaco, leão zebra, águia cobra, cachorro pássaro,
    gato pássaro, cavalo cobra, elefante rato, tubarão golfinho, jacaré pato, gato borboleta,
    macaco tigre, girafa leão, coelho raposa, pato jacaré, cachorro abelha, urso abelha""")

SPOKEN = entries("""Brasil português, França francês, Alemanha alemão, Itália italiano,
    Espanha espanhol, Japão japonês, China chinês, Rússia russo, Argentina espanhol, Chile espanhol,
    México espanhol, Canadá inglês, Inglaterra inglês, Peru espanhol, Colômbia espanhol,
    Egito árabe, Grécia grego, Austrália inglês, Angola português, Moçambique português,
    Portugal português, Irlanda inglês""")

def with_article(row):
    """A country row as a pair: (o Brasil, Brazil)."""
    return (row[1] if row[0] == "-" else f"{row[0]} {row[1]}"), row[2]

@family(3)
def countries():
    """Capitals, languages, where people come from and have been."""
    r = DRAW.random()
    rows = {c[1]: c for c in COUNTRY_ROWS}
    if r < 0.1:
        town = pick([c for c in CITY_ROWS if c[2].endswith("*")])
        home = with_article(rows[town[2][:-1]])
        if chance(0.5):
            return f"{town[0]} é a capital de+{home[0]}", f"{town[1]} is the capital of {home[1]}"
        return join((f"qual é a capital de+{home[0]}", f"what is the capital of {home[1]}"), "?")
    if r < 0.2:
        land, tongue = pick(SPOKEN).split()
        home, lang = with_article(rows[land]), WORD[tongue]
        people = NP("as pessoas", "people", 3, 2)
        return join(clause(people, VP("falar", "speak", lang.pt, lang.en), "pres"),
            ("em+" + home[0], "in " + home[1]))
    s = subj(adults=True)
    row = pick(COUNTRY_ROWS)
    home = with_article(row)
    if r < 0.4:
        return clause(s, VP("ser", "be", "de+" + home[0], "from " + home[1]), "pres",
            neg=chance(0.2))
    if r < 0.6:
        tense = choice(("pres", "past"))
        vp = VP("morar", "live", "em+" + home[0], "in " + home[1], "", "far")
        if tense == "pres":
            return clause(s, vp, "pres", neg=chance(0.2))
        year = str(1985 + DRAW.below(38))
        return with_time(clause(s, vp, "past"), (f"em {year}", f"in {year}"))
    if r < 0.8:
        friend = pick([k for k in KIN if k.pt in SEVERAL] + [j for j in JOBS if j.pt != "cliente"])
        x = np(friend, "a")
        x = NP(f"{x.pt} {pt_adj(row[3], friend.g, 's')}", a_an(f"{row[4]} {friend.en}"))
        verb = pick(pairs_of("conhecer = meet; visitar = visit; ajudar = help; ver = see"))
        town = city()
        where = ("em " + town[0], "in " + town[1])
        return with_time(clause(s, VP(*verb, *join((x.pt, x.en), where)), "past"), past_time())
    goods = pick(LEX[choice("clothes vehicle seen music machine".split())])
    x = np(goods, "a", adj=(row[3], row[4]))
    verb = (("ver", "see") if goods.cls == "film" else ("ouvir", "hear") if goods.cls == "music"
        else ("comprar", "buy"))
    tense = choice(("past", "going"))
    return with_time(clause(s, VP(*verb, x.pt, x.en), tense),
        (past_time if tense == "past" else future_time)())

WITH_TOOLS = """cortar {cuttable.d} = cut {} faca; escrever {writable.i} = write {} caneta;
    desenhar {drawable.i} = draw {} lápis; pintar {paintable.d} = paint {} pincel;
    varrer {room.d} = sweep {} vassoura; cortar a madeira = cut the wood machado;
    costurar {clothes.d} = sew {} agulha; apagar o fogo = put out the fire balde;
    abrir {lockable.d} = open {} chave; amarrar {pet.d} = tie up {} corda;
    comer {forked.d} = eat {} garfo; quebrar {smashed.d} = break {} martelo;
    misturar a massa = mix the dough colher; medir {furniture.d} = measure {} régua;
    cavar um buraco = dig a hole pá; iluminar {room.d} = light up {} lanterna;
    secar {tableware.D} = dry {} toalha; consertar {machine.d} = fix {} chave_de_fenda;
    cortar {cuttable.d} = cut {} faca; pagar {bills.d} = pay {} cartão"""

@family(2.5)
def with_tools():
    """Instruments: Ele cortou o pão com a faca."""
    s = subj(adults=True)
    pt, rest = pick(pairs_of(WITH_TOOLS))
    en, tool = rest.rsplit(" ", 1)
    tool = WORD[tool.replace("_", " ")]
    found = re.search(r"\{([^}]+)\}", pt)
    if found:
        x = slot(found.group(1), s)
        pt, en = pt.replace(found.group(0), x[0]), en.replace("{}", x[1])
    (verb, _, tail), (base, _, more) = pt.partition(" "), en.partition(" ")
    y = np(tool, choice(("the", "a", "this")))
    vp = VP(verb, base, tail, more).plus((f"com {y.pt}", f"with {y.en}"))
    tense = choice(("past", "past", "going", "prog", "was"))
    return clause(s, vp, tense, timed=False)

@family(2)
def dressed():
    """estar usando + clothes and colors; de quem é."""
    s = subj(adults=True)
    colors = COLOR_PAIRS
    color = pick(colors)
    if chance(0.65):
        x = np(pick(LEX["clothes"]), choice(("a", "a", "this")), "s", color)
    else:
        x = np(pick(LEX["footwear"]), "bare", "p", color)
    r = DRAW.random()
    if r < 0.4:
        return clause(s, VP("usar", "wear", x.pt, x.en), choice(("prog", "was")))
    if r < 0.7:
        y = np(pick(LEX[choice(("clothes", "bag", "vehicle", "decor"))]), "a", "s", pick(colors))
        vp = VP("comprar", "buy", f"{x.pt} e {y.pt}", f"{x.en} and {y.en}")
        return with_time(clause(s, vp, "past"), past_time())
    who = folk(plural=0)
    s = replace(who, pt=f"{who.pt} de {x.pt.split(' ', 1)[1] if x.n == 's' else x.pt}",
        en=f"{who.en} in {x.en}")
    reject(x.n == "s")
    t = kin(plural=0)
    reject(t.g != who.g)
    return clause(s, VP("ser", "be", t.pt, t.en), "pres")

@family(1.5)
def this_and_that():
    """isto, isso, aquilo, este/esse/aquele + é: Aquela é a casa onde nasci."""
    r = DRAW.random()
    if r < 0.5:
        noun = pick(LEX[pick([t for t in THINGS if t not in UNOWNED])])
        n = "p" if chance(0.3) and noun.ens else "s"
        which = choice(("this", "that", "yon"))
        word = DET_PT[which][(noun.g == "f") + 2 * (n == "p")]
        s = NP(word, DET_EN[which][n == "p"], 3 if n == "p" else 1, 2 if n == "p" else 1)
        x = np(noun, choice(("my", "your", "our", "his", "her")), n)
        if noun.cls in "wild landscape outdoor town building event opening school matter".split():
            noun_adj = pick(QUALITIES[ADJ_CLASS[noun.cls][0]])
            x = np(noun, "a", n, noun_adj) if n == "s" else np(noun, "bare", "p", noun_adj)
        return clause(s, VP("ser", "be", x.pt, x.en), "pres", neg=chance(0.25))
    s = subj()
    pron = choice(pairs_of("isto = this; isso = that; aquilo = that"))
    pt, en, prep, en_prep = pick([("pensar", "think", "em+", "about "),
        ("precisar", "need", "de+", ""), ("acreditar", "believe", "em+", "in "),
        ("gostar", "like", "de+", ""), ("querer", "want", "", ""), ("fazer", "do", "", ""),
        ("dizer", "say", "", ""), ("saber", "know", "", ""), ("falar", "talk", "sobre ", "about "),
        ("lembrar", "remember", "de+", ""), ("esquecer", "forget", "", ""),
        ("explicar", "explain", "", ""), ("entender", "understand", "", "")])
    vp = VP(pt, en, prep + pron[0], en_prep + pron[1], s.se if pt == "lembrar" else "")
    r = DRAW.random()
    if r < 0.4:
        return clause(s, vp, "pres", neg=chance(0.4), timed=True)
    if r < 0.7:
        return join(clause(s, vp, "past", neg=chance(0.4)), past_time())
    reject(pt in ("gostar", "saber", "querer", "acreditar", "precisar"))
    return clause(s, wrap(*pick(MODAL_VERBS[:5]), vp), "pres", neg=chance(0.5))

ROYAL = """viver em+um castelo = live in a castle; encontrar um tesouro = find a treasure;
    perder a coroa = lose the crown; amar o povo = love the people;
    esconder o segredo = hide the secret; visitar o vilarejo = visit the village;
    construir uma torre = build a tower; salvar a cidade = save the city;
    encontrar um dragão = find a dragon; dar uma festa = give a party;
    ganhar a guerra = win the war; montar um cavalo branco = ride a white horse;
    abrir as portas de+o palácio = open the doors of the palace; cantar uma canção = sing a song;
    viajar pelo deserto = travel through the desert; atravessar o rio = cross the river"""

@family(2.5)
def tales():
    """Kings, princesses, thieves, patients: small stories."""
    noun = pick([f for f in OTHER_FOLK if f.pt in GRAND])
    s = np(noun, choice(("the", "the", "yon", "a")), "s", None)
    adj = pick(QUALITIES["person"][:16])
    if chance(0.5):
        s = np(noun, choice(("the", "the", "yon", "a")), "s", adj)
    if noun.pt == "ladrão":
        x = thing("loot", "did", adj=0)
        reject(adj[0] in ("trabalhador", "honesto", "gentil", "sério", "educado"))
        where = choice((place("shop"), place("meet"), ("", "")))
        vp = VP("roubar", "steal", *join((x.pt, x.en), where))
    elif noun.pt == "bebê":
        vp = VP(
            *pick(
                pairs_of(
                    "dormir = sleep; chorar = cry; sorrir = smile; brincar = play;acordar = wake up"
                )
            )
        )
    elif noun.pt == "paciente":
        vp = VP(
            *pick(
                pairs_of("esperar = wait; descansar = rest; reclamar = complain; dormir = sleep")
            ),
            "no hospital",
            "at the hospital",
        )
    else:
        pt, en = pick(pairs_of(ROYAL))
        (verb, _, tail), (base, _, rest) = pt.partition(" "), en.partition(" ")
        vp = VP(verb, base, tail, rest)
        if chance(0.35):
            other = pick([o for o in pairs_of(ROYAL) if o[0] != pt])
            (verb, _, tail), (base, _, rest) = other[0].partition(" "), other[1].partition(" ")
            more = clause(silent(s), VP(verb, base, tail, rest), "past")
            return join(clause(s, vp, "past"), ("e", "and"), more)
        when = pick(
            pairs_of(
                "há muito tempo = a long time ago; um dia = one day; "
                "naquela época = at that time; finalmente = finally"
            )
        )
        return join(when, ",", clause(s, vp, "past"))
    if chance(0.3) and noun.pt != "ladrão":
        return clause(s, vp, choice(("prog", "was")))
    return with_time(clause(s, vp, "past"), past_time())

ADVERBS = pairs_of("""rapidamente = quickly; devagar = slowly; bem = well; em silêncio = in silence;
    com cuidado = carefully; facilmente = easily; felizmente = fortunately; mal = badly;
    cedo = early; tarde = late; juntos = together; de novo = again; sozinho = alone""")
MANNER = pairs_of("""dirigir = drive; falar = speak; comer = eat; caminhar = walk; trabalhar = work;
    cantar = sing; dançar = dance; estudar = study; responder = answer; escrever = write;
    ler = read; nadar = swim; correr = run; aprender = learn; cozinhar = cook; dormir = sleep;
    jogar = play; sair = leave; chegar = arrive; acordar = wake up""")
MANNER_OF = table("""
    rapidamente: dirigir falar comer caminhar trabalhar responder escrever ler nadar correr
    aprender; devagar: dirigir falar comer caminhar responder escrever ler nadar correr
    trabalhar; bem: dirigir falar cantar dançar escrever cozinhar dormir jogar nadar trabalhar;
    mal: dirigir cantar dançar escrever cozinhar dormir jogar falar; em silêncio: comer caminhar
    trabalhar estudar ler sair; facilmente: aprender responder; com cuidado: dirigir caminhar
    responder escrever ler trabalhar; cedo: sair chegar acordar comer; tarde: sair chegar
    acordar comer dormir""")

@family(1.8)
def manner():
    """Adverbs of manner: Meu tio dirige muito devagar."""
    s, adverb = subj(), pick([a for a in ADVERBS if a[0] in MANNER_OF])
    verb = pick([m for m in MANNER if m[0] in MANNER_OF[adverb[0]].split()])
    reject(s.lemma in KID_LEMMAS and verb[0] in ("dirigir", "trabalhar", "cozinhar"))
    if chance(0.4) and " " not in adverb[0]:
        adverb = (f"muito {adverb[0]}", f"very {adverb[1]}")
    vp = VP(*verb, *adverb)
    tense = choice(("pres", "pres", "past", "must"))
    if tense == "must":
        return clause(s, wrap(*pick(MODAL_VERBS[:5]), vp), "pres", neg=chance(0.3))
    pair = clause(s, vp, tense, neg=chance(0.2))
    return join(pair, past_time()) if tense == "past" else pair

CONSEQUENCES = {
    "cansado = tired": "dormir cedo = go to bed early; não ouvir o telefone = not hear the phone;"
    "não jantar = not have dinner; dormir em+{seat.d} = sleep on {}; ir para a cama = go to bed",
    "nervoso = nervous": "não dormir = not sleep; esquecer {losable.m} = forget {};"
    "não dizer nada = not say anything; quebrar {breakable.d} = break {}",
    "triste = sad": "chorar = cry; não comer nada = not eat anything; não ligar para {close} = "
    "not call {};"
    "não abrir {openable.d} = not open {}",
    "feliz = happy": "cantar {music.i} = sing {}; abraçar {close} = hug {}; convidar {close} = "
    "invite {};"
    "começar a rir = start to laugh; comprar {giftable.i} para {close} = buy {} for {}",
    "zangado = angry": "gritar com {close} = shout at {}; sair de casa = leave home;"
    "não responder a+{close} = not answer {}; quebrar {breakable.d} = break {}",
    "doente = sick": "ficar na cama = stay in bed; não comer nada = not eat anything;"
    "não ir a+{event.d} = not go to {}; ligar para o médico = call the doctor",
    "ocupado = busy": "não almoçar = not have lunch; perder {transit.d} = miss {};"
    "esquecer {event.d} = forget {}; não ligar para {close} = not call {}",
    "assustado = scared": "gritar = shout; não dormir = not sleep; chamar a polícia = call the "
    "police;"
    "fechar {opening.D} = close {}; abraçar {close} = hug {}",
    "entediado = bored": "dormir em+{event.d} = sleep at {}; sair mais cedo = leave earlier;"
    "ligar para {close} = call {}; ler {text.d} = read {}",
    "confuso = confused": "perder {transit.d} = miss {}; não responder a+{close} = not answer {};"
    "não entender {explainable.d} = not understand {}",
}

@family(4)
def so_that_result():
    """tão ... que: Ela estava tão cansada que dormiu cedo."""
    s, text = subj(), pick(tuple(CONSEQUENCES))
    adj = pairs_of(text)[0]
    vp = VP("estar", "be", f"tão {pt_adj(adj[0], s.g, s.n)}", f"so {adj[1]}")
    second = plain_clause(again(s), pick(pairs_of(CONSEQUENCES[text])), "past")
    return join(clause(s, vp, "impf", drop=False), ("que", "that"), second)
