"""Sentence families of a beginner's textbook: what people do, want, can and like."""

from grammar.beginner import (
    ACTIONS,
    EVERYBODY,
    LIKES,
    TIMES,
    WHEN,
    action,
    beginner_family,
    filled,
    is_timed,
    on_day,
    somebody,
)
from grammar.clauses import ask, clause, wrap
from grammar.lexicon import rows
from grammar.phrases import (
    DRAW,
    NP,
    VP,
    chance,
    choice,
    close,
    join,
    pairs_of,
    pick,
    pronoun,
    reject,
)
from grammar.portuguese import pt_forms

# Tables and calls are packed by hand from here on.
# fmt: off

def sentence(s, vp, tense, negated=0.15, asked=0.2, timed=0.3, times=None):
    """A statement, a denial or a question, with or without a time."""
    time = ""
    if not is_timed(vp) and chance(timed) and tense in TIMES:
        time = pick(times or (WHEN if tense == "pres" else TIMES[tense]))
        time = on_day() if tense in ("past", "going") and not times and chance(0.15) else time
    if s.who not in ("eu", "nós") and chance(asked):
        pair = ask(s, vp, tense, timed=bool(time))
        return join(join(pair, time) if time else pair, "?")
    pair = clause(s, vp, tense, chance(negated), drop=chance(0.3), timed=bool(time))
    if not time:
        return pair
    return join(time, pair) if chance(0.15) else join(pair, time)

TENSES = "pres pres pres past past past going going prog prog prog".split()

@beginner_family(13)
def beginner_actions():
    """A menina come uma maçã. / The girl eats an apple."""
    s, tense = somebody(), choice(TENSES)
    vp, has = action(s)
    reject("s" in has and tense == "prog")
    reject("f" in has and tense in ("pres", "prog"))
    reject(vp.pt in ("conhecer", "saber", "lembrar", "cair") and tense in ("past", "going", "prog"))
    return sentence(s, vp, tense)

@beginner_family(3)
def beginner_facts():
    """Eu moro em São Paulo. / I live in São Paulo."""
    s = somebody()
    vp, _ = action(s, "s")
    return sentence(s, vp, choice(("pres", "pres", "pres", "impf")), timed=0)

@beginner_family(0.6)
def beginner_everybody():
    """Todo mundo gosta de pizza. / Everyone likes pizza."""
    s = pick(EVERYBODY)
    if chance(0.4):
        thing = pick(LIKE)
        return clause(s, VP("gostar", "like", f"de {thing[0]}", thing[1]), "pres")
    vp, has = action(s, without="f")
    reject("~" in vp.en_tail or "s" in has or " his " in f" {vp.en_tail} ")
    return clause(s, vp, choice(("pres", "past", "past", "going", "prog")))

LIKE = pairs_of(LIKES)
# What takes the article in Portuguese: eu adoro a praia, eu gosto (d)a praia.
ARTICLED = {"praia": "a", "mar": "o", "sol": "o", "chuva": "a", "neve": "a", "frio": "o", "verão":
    "o",
    "inverno": "o", "escola": "a"}

@beginner_family(3)
def beginner_likes():
    """Eu gosto de café. / I like coffee."""
    s, thing = somebody(), pick(LIKE)
    verb = choice(("gostar", "gostar", "gostar", "adorar", "odiar"))
    article = ARTICLED.get(thing[0], "")
    if article and (verb != "gostar" or chance(0.5)):
        thing = (f"{article} {thing[0]}", thing[1])
    if verb != "gostar":
        reject(chance(0.3))
        vp = VP(verb, {"adorar": "love", "odiar": "hate"}[verb], thing[0], thing[1])
        return sentence(s, vp, "pres", timed=0, negated=0)
    if chance(0.15):
        return clause(s, VP("gostar", "like", f"muito de+{thing[0]}", f"{thing[1]} a lot"), "pres")
    return sentence(s, VP("gostar", "like", f"de+{thing[0]}", thing[1]), "pres", 0.25, 0.3, 0)

@beginner_family(1)
def beginner_favorites_of_people():
    """Ela gosta de você. / She likes you."""
    s, o = somebody(), close()
    reject(s.pt == o.pt)
    verb = choice((("gostar", "de+", "like"), ("amar", "", "love"), ("conhecer", "", "know")))
    return sentence(s, VP(verb[0], verb[2], verb[1] + o.pt, o.en), "pres", 0.2, 0.3, 0)

MODES = (("querer", "", "want", "to"), ("querer", "", "want", "to"), ("querer", "", "want", "to"),
    ("precisar", "", "need", "to"), ("precisar", "", "need", "to"), ("ter", "que", "have", "to"),
    ("poder", "", "can", ""), ("poder", "", "can", ""), ("gostar", "de", "like", "to"),
    ("gostar", "de", "like", "to"), ("preferir", "", "prefer", "to"), ("saber", "", "know",
    "how to"),
    ("dever", "", "should", ""), ("conseguir", "", "can", ""))
SKILLS = """cozinhar nadar dirigir dançar cantar tocar jogar ler escrever falar andar
    desenhar pintar""".split()

@beginner_family(7)
def beginner_wishes():
    """Eu quero comer uma maçã. / I want to eat an apple."""
    s, mode = somebody(), pick(MODES)
    vp, has = action(s, without="f")
    reject("s" in has and vp.pt not in ("morar", "falar", "saber", "viver", "nadar", "dirigir"))
    reject(mode[0] == "saber" and (vp.pt not in SKILLS or "com" in vp.pt_tail))
    reject(vp.pt in ("perder", "esquecer", "cair", "quebrar", "mentir") and mode[0] != "poder")
    tense = "impf" if mode[0] in ("querer", "precisar", "ter") and chance(0.12) else "pres"
    times = pairs_of("amanhã = tomorrow; hoje = today; agora = now; hoje à noite = tonight")
    timed = 0.2 if mode[0] in ("querer", "precisar", "ter", "poder",
        "dever") and tense == "pres" else 0
    return sentence(s, wrap(*mode, vp), tense, 0.18, 0.25, timed, times)

@beginner_family(1.2)
def beginner_would_like():
    """Eu gostaria de comer. / I would like to eat."""
    s = pronoun(choice("eu eu eu nós ele ela você você".split()))
    vp, has = action(s, without="f")
    reject("s" in has)
    vp = wrap("gostar", "de", "like", "to", vp)
    if s.who == "você":
        return join(ask(s, vp, "cond"), "?")
    return clause(s, vp, "cond", drop=chance(0.2))

HEADS = pairs_of("""o que = what; onde = where; quando = when; por que = why; como = how;
    com quem = who; a que horas = what time""")
WHATS = {"comer": "eat", "beber": "drink", "fazer": "do", "comprar": "buy", "querer": "want",
    "ler": "read", "estudar": "study", "ver": "see", "ouvir": "hear", "dizer": "say", "ter": "have",
    "escrever": "write", "procurar": "look for", "vender": "sell", "pedir": "order",
    "cozinhar": "cook", "preferir": "prefer", "saber": "know", "aprender": "learn", "usar": "wear",
    "trazer": "bring", "esperar": "wait for", "vestir": "wear"}
STILL = "querer ter preferir saber".split()

@beginner_family(3)
def beginner_what():
    """O que você está fazendo? / What are you doing?"""
    s, verb = somebody(), pick(tuple(WHATS))
    tense = choice("pres past going prog prog".split())
    reject(s.who == "eu" or (verb in STILL and tense != "pres") or verb == "vestir")
    vp = VP(verb, WHATS[verb])
    if tense == "pres" and verb not in STILL and chance(0.5):
        mode = choice((("gostar", "de", "like", "to"), ("querer", "", "want", "to"),
            ("precisar", "", "need", "to"), ("poder", "", "can", ""), ("querer", "", "want", "to")))
        vp = wrap(*mode, vp)
    times = {"past": "ontem = yesterday; hoje = today; hoje de manhã = this morning",
        "going": "amanhã = tomorrow; hoje = today; hoje à noite = tonight; agora = now",
        "prog": "agora = now; aqui = here; hoje = today",
        "pres": "de manhã = in the morning; à noite = at night"}[tense]
    pair = ask(s, vp, tense, head=HEADS[0], timed=False)
    plain = "de" in vp.pt_tail or vp.pt in ("querer", "precisar", "poder", *STILL)
    return join(join(pair, pick(pairs_of(times))) if chance(0.3) and not plain else pair, "?")

PLAIN = {"onde": """morar live, trabalhar work, estudar study, dormir sleep, almoçar have_lunch,
    jantar
    have_dinner, brincar play, nadar swim, esperar wait, comer eat, aprender learn""",
    "quando": """chegar arrive, voltar come_back, sair leave, viajar travel, trabalhar work, começar
    start, estudar study, dormir sleep, vir come, comer eat""",
    "por que": """chorar cry, rir laugh, correr run, trabalhar work, estudar study, sair leave,
    comer eat,
    esperar wait, gritar shout, mentir lie, dormir sleep, beber drink""",
    "como": """viajar travel, trabalhar work, chegar arrive, cozinhar cook, voltar come_back,
    estudar study""",
    "com quem": """morar live, trabalhar work, falar talk, viajar travel, estudar study, jantar
    have_dinner, sair go_out, dançar dance, brincar play""",
    "a que horas": """acordar wake_up, chegar arrive, sair leave, almoçar have_lunch, jantar
    have_dinner,
    dormir go_to_bed, trabalhar work, voltar come_back, começar start, levantar get_up"""}
PLAIN = {head: [entry.split() for entry in text.split(",")] for head, text in PLAIN.items()}

@beginner_family(4)
def beginner_where_and_when():
    """Onde você mora? / Where do you live?"""
    s, head = somebody(), pick(HEADS[1:])
    verb, en = pick([tuple(entry) for entry in PLAIN[head[0]]])
    reject(verb in ("começar",) or s.who == "eu")
    en = en.replace("_", " ").split(" ", 1)
    vp = VP(verb, en[0], "", en[1] if len(en) > 1 else "", s.se if verb == "levantar" else "")
    tense = choice("pres pres past going".split())
    if head[0] == "por que" and tense == "pres":
        tense = choice(("prog", "prog", "pres"))
    if head[0] == "quando" and tense == "pres":
        tense = choice(("past", "going"))
    reject(verb == "morar" and tense in ("past", "going"))
    neg = head[0] == "por que" and tense in ("pres", "past") and chance(0.4)
    pair = ask(s, vp, tense, neg, head=head, timed=False)
    return join((pair[0], pair[1] + " with" if head[0] == "com quem" else pair[1]), "?")

@beginner_family(1)
def beginner_who():
    """Quem comprou o pão? / Who bought the bread?"""
    s = NP("quem", "who", 1, 1)
    vp, has = action(s, without="f")
    reject("s" in has or "~" in vp.en_tail or vp.pt in ("cair", "levantar", "escovar"))
    mode = choice(("past", "past", "going", "prog", "quer", "pode", "sabe"))
    if mode in ("quer", "pode", "sabe"):
        table = {"quer": ("querer", "", "want", "to"), "pode": ("poder", "", "can", ""),
            "sabe": ("saber", "", "know", "how to")}
        reject(mode == "sabe" and (vp.pt not in SKILLS or "com" in vp.pt_tail))
        vp, mode = wrap(*table[mode], vp), "pres"
    return join(clause(s, vp, mode), "?")

ORDERS = [row for row in ACTIONS if "i" in row[4]]

@beginner_family(4)
def beginner_orders():
    """Abra a porta, por favor. / Open the door, please."""
    r = DRAW.random()
    s = pronoun("nós" if r < 0.3 else "vocês" if r < 0.4 else "você")
    vp, _ = action(s, "i")
    if s.who == "nós":
        pair = join(("vamos", "let's"), vp.inf())
        reject(vp.pt == "ir")
        return join(pair, choice((("", ""), ("", ""), ("agora", "now"), ("hoje", "today"),
            ("juntos", "together"), ("amanhã", "tomorrow"), ("!", "!"))))
    reject(vp.pt == "ir" and "para casa" not in vp.pt_tail and chance(0.5))
    no = chance(0.22)
    form = "pres" if s.who == "você" and not no and chance(0.2) else "subj"  # colloquial: abre!
    pt = " ".join(w for w in ("não" if no else "", pt_forms(vp.pt, form)[s.k], vp.pt_tail) if w)
    en = " ".join(w for w in ("don't" if no else "", vp.en, vp.en_tail) if w)
    r = DRAW.random()
    if r < 0.35:
        return join((pt, en), (", por favor", ", please"))
    if r < 0.45:
        return join(("por favor ,", "please"), (pt, en))
    return pt, en

@beginner_family(3)
def beginner_requests():
    """Você pode abrir a janela? / Can you open the window?"""
    r = DRAW.random()
    s = pronoun("eu" if r < 0.35 else "você")
    vp, has = action(s, "" if s.who == "eu" else "i", "f")
    reject("s" in has or (s.who == "eu" and vp.pt in ("perder", "cair", "mentir", "esquecer")))
    inner = vp.inf()
    please = choice((("", ""), ("", ""), (", por favor", ", please")))
    if s.who == "eu":
        return join(("posso", "can I"), inner, please, "?")
    head = choice((("você pode", "can you"), ("você pode", "can you"), ("pode", "can you"),
        ("você poderia", "could you"), ("pode me", "can you")))
    if head[0] == "pode me":
        reject(vp.pt not in ("mostrar", "trazer", "esperar", "ajudar"))
        return choice((("pode me ajudar?", "can you help me?"), join(("você pode me trazer",
            "can you bring me"), thing_to_bring(), please, "?"), join(("você pode me dar",
            "can you give me"), thing_to_bring(), please, "?")))
    return join(head, inner, please, "?")

def thing_to_bring():
    """A thing that one asks for at a table."""
    return pick(pairs_of("""um copo = a glass; um garfo = a fork; uma faca = a knife; a conta = the
        check;
        o cardápio = the menu; um copo de água = a glass of water; o sal = the salt; uma colher = a
        spoon;
        um café = a coffee; mais pão = more bread; uma caneta = a pen; o livro = the book;
        um prato = a plate; a chave = the key; o açúcar = the sugar; um guardanapo = a napkin;
        sua caneta = your pen; seu telefone = your phone; o seu número = your number"""))

OBJECTS = pairs_of("""me = me; te = you; nos = us""")
GOVERNED = {"amar": "love", "ajudar": "help", "ver": "see", "esperar": "wait for", "conhecer":
    "know",
    "ouvir": "hear", "entender": "understand", "chamar": "call", "convidar": "invite",
    "visitar": "visit", "procurar": "look for", "beijar": "kiss", "abraçar": "hug", "odiar": "hate"}

@beginner_family(1.5)
def beginner_pronouns():
    """Ela me ama. / She loves me."""
    s, verb, o = somebody(), pick(tuple(GOVERNED)), choice(OBJECTS)
    reject((s.who, o[0]) in (("eu", "me"), ("nós", "nos"), ("eu", "nos"), ("nós", "me"),
        ("você", "te"), ("vocês", "te")) or s.pt == "a gente")
    after = chance(0.35)
    tense = choice("pres past going".split())
    reject(verb in ("amar", "conhecer", "odiar", "entender") and tense != "pres")
    names = {"te": "você", "me": "", "nos": ""}
    if (after and names[o[0]]) or tense == "going":
        reject(not names[o[0]])
        vp = VP(verb, GOVERNED[verb], names[o[0]], o[1])
    elif after:
        other = choice((("eles", "them"), ("ele", "him"), ("ela", "her"), ("vocês", "you")))
        vp = VP(verb, GOVERNED[verb], *other)
        reject(s.who in other[0] and bool(s.who))
    else:
        vp = VP(verb, GOVERNED[verb], "", o[1], o[0])
    return sentence(s, vp, tense, 0.2, 0.25, 0)

WITH = {"me": ("comigo", "with me"), "you": ("com você", "with you"), "us": ("conosco", "with us"),
    "him": ("com ele", "with him"), "her": ("com ela", "with her"), "them": ("com eles",
    "with them")}

@beginner_family(1)
def beginner_company():
    """Você quer dançar comigo? / Do you want to dance with me?"""
    s, who = somebody(), pick(tuple(WITH))
    reject((s.who in ("eu", "nós", "") and who in ("me", "us") and s.who) or s.pt == "a gente")
    reject((s.who, who) in (("você", "you"), ("vocês", "you"), ("ele", "him"), ("ela", "her")))
    verb, en = pick(pairs_of("""dançar = dance; falar = talk; morar = live; trabalhar = work;
        estudar = study; viajar = travel; almoçar = have lunch; jantar = have dinner; vir = come;
        brincar = play; ir ao cinema = go to the movie theater; sair = go out; cantar = sing;
        ir à praia = go to the beach; ir ao parque = go to the park"""))
    (verb, _, tail), (en, _, en_tail) = verb.partition(" "), en.partition(" ")
    vp = VP(verb, en, tail, en_tail).plus(WITH[who])
    if chance(0.4):
        return sentence(s, wrap("querer", "", "want", "to", vp), "pres", 0.15, 0.45, 0)
    return sentence(s, vp, choice("pres past going going".split()), 0.15, 0.3, 0.15)

PATTERNS = [tuple(row) for row in rows("beginner_patterns")]

@beginner_family(17)
def beginner_patterns():
    """Where a pattern with slots says it: Onde fica o banco? / Where is the bank?"""
    return filled(pick(PATTERNS))

@beginner_family(1)
def beginner_just():
    """Meu irmão acabou de comprar um carro. / My brother has just bought a car."""
    s = somebody()
    vp, has = action(s, without="f")
    reject("s" in has or is_timed(vp))
    pt, _ = clause(s, wrap("acabar", "de", "finish", "", vp), "past")
    _, en = clause(s, vp, "past", pre=("", "just"), en="perf")
    return pt, en

@beginner_family(1)
def beginner_nothing():
    """Eu não vi ninguém. Eu não quero nada. / I didn't see anyone. I don't want anything."""
    s, tense = somebody(), choice("pres past past going".split())
    if chance(0.6):
        verb = pick(("comer", "beber", "fazer", "comprar", "querer", "ver", "ouvir", "dizer", "ter",
            "saber", "entender", "perder", "procurar"))
        vp = VP(verb, WHATS.get(verb, {"entender": "understand", "perder": "lose"}.get(verb)),
            "nada", "anything")
    else:
        verb = pick(("ver", "ajudar", "esperar", "ouvir", "conhecer", "chamar", "visitar", "amar"))
        vp = VP(verb, GOVERNED[verb], "ninguém", "anyone")
    reject(verb in ("querer", "ter", "saber", "conhecer", "amar") and tense != "pres")
    return clause(s, vp, tense, True, drop=chance(0.3), timed=False)
