"""Sentence families of a beginner's textbook: what people and things are, where they are, have."""

from dataclasses import replace

from grammar.beginner import (
    PEOPLE,
    RELATIVES,
    TRADES,
    action,
    beginner_family,
    is_timed,
    parents,
    relative,
    sentence_of,
    somebody,
    with_article,
)
from grammar.clauses import ask, be, clause
from grammar.english import a_an
from grammar.lexicon import ADJ_CLASS, COUNTRY_ROWS
from grammar.phrases import (
    COLOR_PAIRS,
    DRAW,
    LEX,
    NP,
    QUALITIES,
    STATES,
    VP,
    WORD,
    at,
    chance,
    choice,
    join,
    name,
    np,
    number,
    pairs_of,
    pick,
    pronoun,
    reject,
)
from grammar.portuguese import ARTICLES, pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

PERSON = pairs_of("""alto = tall; baixo = short; bonito = beautiful; feio = ugly; jovem = young;
    velho = old; inteligente = intelligent; simpático = friendly; gentil = kind; forte = strong;
    rico = rich; pobre = poor; famoso = famous; tímido = shy; engraçado = funny; magro = thin;
    gordo = fat; bom = good; legal = nice; importante = important; sério = serious;
    preguiçoso = lazy; educado = polite; brasileiro = Brazilian; americano = American;
    casado = married; solteiro = single""")
FEELING = pairs_of("""cansado = tired; feliz = happy; triste = sad; doente = sick; ocupado = busy;
    nervoso = nervous; pronto = ready; atrasado = late; sozinho = alone; preocupado = worried;
    zangado = angry; bravo = angry; contente = glad; perdido = lost; molhado = wet; acordado =
        awake;
    calmo = calm; animado = excited; bem = well; bem = fine""")
FEELING = [pair for pair in FEELING if pair != ("bem", "well")]
NEEDS = pairs_of("""fome = hungry; sede = thirsty; frio = cold; calor = hot; sono = sleepy;
    medo = afraid; pressa = in a hurry; muita fome = very hungry; muita sede = very thirsty;
    muito frio = very cold; muito sono = very sleepy; muito calor = very hot""")
THING = pairs_of("""novo = new; velho = old; grande = big; pequeno = small; bonito = beautiful;
    caro = expensive; barato = cheap; bom = good; feio = ugly; ruim = bad""")
VERY = pairs_of("muito = very; muito = very; tão = so")
NAMED = """vehicle clothes footwear valuable furniture machine bag text building stationery room
    outdoor film matter event plant pet wild school""".split()
GOODS = "vehicle clothes footwear valuable furniture machine bag text building stationery".split()
COLORED = """carro camisa vestido casa bicicleta flor bolsa porta mesa cadeira casaco sapato chapéu
    saia cavalo gato cachorro pássaro caneta mochila parede janela rosa bola copo livro caderno
    camiseta gravata sofá cama caixa maçã uva barco caminhão moto celular""".split()
COLORED = [WORD[word] for word in COLORED]
COMPARED = [noun for noun in COLORED if noun.cls in ("vehicle", "clothes", "furniture", "building")]

def agreeing(s, verb, adj, very=0.15):
    """A VP of ser or estar with an adjective that agrees, sometimes with very."""
    vp = be(s, verb, adj)
    if adj[0] == "bem":
        return VP(verb, "be", "bem", adj[1])
    if chance(very) and adj[0] not in ("perdido", "pronto", "casado", "solteiro", "sozinho",
        "acordado",
            "brasileiro", "americano", "atrasado") and adj not in COLOR_PAIRS:
        degree = pick(VERY)
        vp = VP(verb, "be", f"{degree[0]} {vp.pt_tail}", f"{degree[1]} {vp.en_tail}")
    return vp

@beginner_family(4)
def beginner_people_are():
    """Ela é alta. Eu estou cansado. / She is tall. I am tired."""
    s = somebody()
    verb, words = choice((("ser", PERSON), ("estar", FEELING)))
    return sentence_of(s, agreeing(s, verb, pick(words)), choice(("pres", "pres", "pres", "impf")))

@beginner_family(2)
def beginner_needs():
    """Eu estou com fome. / I am hungry."""
    s, need = somebody(), pick(NEEDS)
    verb = choice((("estar", f"com {need[0]}"), ("estar", f"com {need[0]}"), ("ter", need[0])))
    reject(verb[0] == "ter" and (not need[0].startswith("medo")))
    return sentence_of(s, VP(verb[0], "be", verb[1], need[1]), choice(("pres", "pres", "impf")))

def thing_of(nouns, adj=0.0, plural=0.25):
    """A thing with a determiner, in the singular or plural, sometimes with a colour."""
    noun = pick(nouns)
    det = choice("the the the the my my your this that yon his her our".split())
    n = "p" if noun.ens and (chance(plural) or noun.cls == "footwear") else "s"
    adj = pick(COLOR_PAIRS) if chance(adj) else None
    if not adj and noun.cls in GOODS and chance(0.2):
        x, owner = np(noun, "the", n), with_article(name(), 0.5) if chance(0.5) else relative()
        bare = np(noun, "bare", n)
        return replace(x, pt=f"{x.pt} de+{owner.pt}", en=f"{owner.en}'s {bare.en}")
    return np(noun, det, n, adj)

@beginner_family(4)
def beginner_things_are():
    """O carro vermelho é novo. / The red car is new."""
    if chance(0.5):
        s = thing_of(COLORED, adj=0.5)
        adj = pick(THING)
    else:
        s = thing_of(LEX[pick(NAMED)])
        adj = pick([p for p in QUALITIES[ADJ_CLASS.get(s.cls, ("tool", ""))[0] or "tool"]
            if p[0] != "antigo"])
    return sentence_of(s, agreeing(s, "ser", adj, 0.25), choice(("pres",) * 5 + ("impf",)))

@beginner_family(2.5)
def beginner_colors():
    """O céu é azul. / The sky is blue."""
    s = thing_of(COLORED)
    return sentence_of(s, be(s, "ser", pick(COLOR_PAIRS)), "pres")

STATE_CLASSES = "clothes tableware machine opening room vehicle drink meal staple".split()
SHUT = [WORD[w] for w in """loja banco restaurante farmácia biblioteca museu escola padaria mercado
    supermercado livraria cinema teatro academia""".split()]

@beginner_family(3)
def beginner_states():
    """A porta está aberta. / The door is open."""
    if chance(0.3):
        s = np(pick(SHUT + LEX["opening"]), choice(("the", "the", "this")))
        words = pairs_of("aberto = open; fechado = closed")
    else:
        s = thing_of(LEX[pick(STATE_CLASSES)], plural=0.2)
        state = ADJ_CLASS[s.cls][1] or "food"
        words = STATES[state]
        if s.cls in ("meal", "staple", "drink"):
            words = [*words, ("bom", "good"), ("delicioso", "delicious"), ("ruim", "bad")]
    return sentence_of(s, agreeing(s, "estar", pick(words)), choice(("pres",) * 4 + ("impf",)))

@beginner_family(3)
def beginner_identity():
    """Meu pai é médico. Ela é minha irmã. / My father is a doctor. She is my sister."""
    s, r = somebody(), DRAW.random()
    reject(s.pt == "a gente")
    if r < 0.5:
        noun = pick(TRADES)
        reject(noun.g != s.g or s.lemma == noun.pt)
        what = np(noun, "bare", s.n)
        en = a_an(what.en) if s.n == "s" else what.en
        return sentence_of(s, VP("ser", "be", what.pt, en), choice(("pres", "pres", "pres",
            "impf")))
    if r < 0.65:
        noun = pick(TRADES + PEOPLE)
        reject(noun.g != s.g or s.n == "p" or s.lemma == noun.pt)
        adj = pick(pairs_of("bom = good; ótimo = great; bonito = beautiful; alto = tall"))
        front = adj[0] in ("bom", "ótimo")
        word = pt_adj(adj[0], s.g, "s")
        pt = f"{word} {noun.pt}" if front else f"{noun.pt} {word}"
        article = "uma" if s.g == "f" else "um"
        return sentence_of(s, VP("ser", "be", f"{article} {pt}", f"a {adj[1]} {noun.en}"), "pres")
    s = s if r < 0.8 else np(pick(PEOPLE), choice(("this", "that", "yon")))
    noun = pick(RELATIVES)
    reject(noun.g != s.g or s.n == "p" or s.own == "our")
    det = choice(OWNERS)
    reject((s.who, det) in (("eu", "my"), ("você", "your")) or s.lemma in {n.pt for n in RELATIVES})
    what = np(noun, det)
    return sentence_of(s, VP("ser", "be", what.pt, what.en), "pres")

POINT = {("m", "s"): (("este", "this"), ("esse", "that"), ("aquele", "that")),
    ("f", "s"): (("esta", "this"), ("essa", "that"), ("aquela", "that")),
    ("m", "p"): (("estes", "these"), ("esses", "those"), ("aqueles", "those")),
    ("f", "p"): (("estas", "these"), ("essas", "those"), ("aquelas", "those"))}
OWNERS = "my my my your his her our".split()
NEUTER = pairs_of("isto = this; isso = that; aquilo = that")
SHOWN = [noun for cls in [*GOODS, "fruit", "pet", "farm", "plant", "wild"] for noun in LEX[cls]]

@beginner_family(2.5)
def beginner_this_is():
    """Esta é a minha mãe. Isto é um livro. / This is my mother. This is a book."""
    r = DRAW.random()
    if r < 0.35:
        what, pron = np(pick(SHOWN), "a"), pick(NEUTER)
    elif r < 0.7:
        what = choice((relative, relative, lambda: parents(choice(("my", "your", "our")))))()
        pron = choice(POINT[what.g, what.n])
    else:
        what = np(pick(SHOWN), choice("my my your his her our".split()), "p" if chance(0.3) else
            "s")
        pron = choice(POINT[what.g, what.n])
    pt = what.pt
    if r >= 0.35 and chance(0.6) and not pt.startswith(("o ", "a ", "os ", "as ")):
        pt = f"{ARTICLES[(what.g == 'f') + 2 * (what.n == 'p')]} {pt}"
    s = NP(*pron, what.k, what.e, what.g, what.n)
    return sentence_of(s, VP("ser", "be", pt, what.en), "pres")

MINE = {"my": ("meu", "mine"), "your": ("seu", "yours"), "our": ("nosso", "ours"), "his": ("dele",
    "his"),
    "her": ("dela", "hers"), "their": ("deles", "theirs")}
FEMININE = {"meu": "minha", "seu": "sua", "nosso": "nossa"}

@beginner_family(2)
def beginner_whose():
    """Este livro é meu. De quem é este livro? / This book is mine. Whose book is this?"""
    noun, n = pick(SHOWN), "p" if chance(0.25) else "s"
    det = choice(("this", "that", "yon"))
    x = np(noun, det, n)
    if chance(0.3):
        word = {"this": ("this", "these")}.get(det, ("that", "those"))[n == "p"]
        bare = np(noun, "bare", n)
        return join(("de quem são" if n == "p" else "de quem é", "whose"), (x.pt, bare.en),
            ("", "are" if n == "p" else "is"), ("", word), "?")
    if chance(0.25):
        owner = with_article(name(), 0.5) if chance(0.6) else relative()
        return sentence_of(x, VP("ser", "be", f"de+{owner.pt}", f"{owner.en}'s"), "pres")
    pt, en = pick(tuple(MINE.values()))
    pt = FEMININE.get(pt, pt) if x.g == "f" else pt
    pt += "s" if n == "p" and not pt.startswith("de") else ""
    s = x if chance(0.7) else np(noun, "the", n)
    return sentence_of(s, VP("ser", "be", pt, en), "pres")

PLACED = {"room": "gato cachorro bola livro mesa cadeira cama celular mochila chave",
    "mesa": """livro copo prato faca xícara chave caneta celular pão maçã bolo gato jornal dinheiro
    caderno""",
    "cama": "gato livro camisa bolsa vestido celular casaco cachorro",
    "bolsa": "chave celular dinheiro carteira passaporte",
    "geladeira": "leite queijo água carne suco cerveja peixe manteiga ovo",
    "garagem": "carro bicicleta moto", "jardim": "flor árvore cachorro gato cadeira",
    "mochila": "livro caderno lápis caneta celular",
    "cadeira": "casaco gato bolsa camisa mochila chapéu",
    "caixa": "bola boneca livro presente sapato gato"}
PLACED = {key: [WORD[w] for w in text.split()] for key, text in PLACED.items()}
BESIDE = pairs_of("""embaixo de+ = under; em cima de+ = on top of; atrás de+ = behind;
    ao lado de+ = next to; na frente de+ = in front of; perto de+ = near; dentro de+ = inside;
    debaixo de+ = under""")

def spot(key):
    """Na mesa / on the table, na cozinha / in the kitchen."""
    noun = pick(LEX["room"]) if key == "room" else WORD[key]
    x = np(noun, "the" if chance(0.85) else "my")
    prep = "on" if key in ("mesa", "cama", "cadeira") else "in"
    return f"em+{x.pt}", f"{prep} {x.en}"

@beginner_family(5)
def beginner_places_of_things():
    """O livro está na mesa. / The book is on the table."""
    key = pick(tuple(PLACED))
    s = np(pick(PLACED[key]), choice("the the the the my my your his her".split()),
        "p" if chance(0.25) else "s")
    if key == "room" or chance(0.65):
        where = spot(key)
    else:
        side = pick(BESIDE)
        x = np(WORD[key], "the")
        where = (side[0] + x.pt, f"{side[1]} {x.en}")
    if (chance(0.2) and s.n == "p") or chance(0.12):
        noun = pick(PLACED[key])
        count = 2 + DRAW.below(4)
        many = noun.ens and chance(0.4)
        thing = np(noun, count, "p") if many else np(noun, "a")
        verb = choice((("há", "there"), ("tem", "there")))
        r = DRAW.random()
        if r < 0.2:
            return join((verb[0], "are there" if many else "is there"), (thing.pt, thing.en), where,
                "?")
        return join((verb[0], "there are" if many else "there is"), (thing.pt, thing.en), where)
    return sentence_of(s, VP("estar", "be", *where), choice(("pres",) * 5 + ("impf",)))

WHEREABOUTS = """casa escola hospital praia cinema restaurante parque mercado supermercado banco
    biblioteca universidade escritório cozinha quarto sala banheiro jardim rua carro aeroporto
    estação
    igreja hotel loja ônibus trem""".split()

@beginner_family(3.5)
def beginner_places_of_people():
    """As crianças estão na escola. Onde está a sua mãe? / The children are at school. ..."""
    s = somebody()
    if chance(0.2):
        reject(s.who == "eu")
        verb = {1: "está", 2: "estamos", 3: "estão"}[s.k]
        pt = f"onde {s.pt} {verb}" if s.who else f"onde {verb} {s.pt}"
        return join((pt, f"where {'is' if s.e == 1 else 'are'} {s.en}"), "?")
    noun = WORD[pick(WHEREABOUTS)]
    where = at(noun)
    if noun.pt in ("carro", "ônibus", "trem"):
        where = (where[0], ("in" if noun.pt == "carro" else "on") + f" the {noun.en}")
    return sentence_of(s, VP("estar", "be", *where), choice(("pres",) * 3 + ("impf",)))

OWNED = "pet vehicle clothes valuable stationery text furniture machine toy plant bag".split()
HAVE = pairs_of("""olhos azuis = blue eyes; olhos verdes = green eyes; olhos castanhos = brown eyes;
    olhos pretos = black eyes; cabelo preto = black hair; cabelo curto = short hair; tempo = time;
    cabelo longo = long hair; cabelo loiro = blond hair; cabelo castanho = brown hair; aula hoje =
    class today;
    olhos bonitos = beautiful eyes; dinheiro = money; muito dinheiro = a lot of money;
    muito trabalho = a lot of work; muitos amigos = many friends; um problema = a problem;
    uma ideia = an idea; uma pergunta = a question; uma reunião = a meeting; filhos = children;
    uma família grande = a big family; uma família pequena = a small family; uma casa = a house;
    uma casa grande = a big house; uma casa pequena = a small house; razão = reason""")

@beginner_family(5)
def beginner_having():
    """Eu tenho um gato preto. / I have a black cat."""
    s, r = somebody(), DRAW.random()
    if r < 0.3:
        noun = pick(RELATIVES)
        reject(noun.pt in ("pai", "mãe", "avô", "avó"))
        partner = noun.pt in ("marido", "esposa", "namorado", "namorada")
        x = np(noun, "a") if partner or chance(0.5) else np(noun, 2 + DRAW.below(4), "p")
        what = (x.pt, x.en)
    elif r < 0.55:
        what = pick([pair for pair in HAVE if pair[0] != "razão"])
    else:
        noun = pick(COLORED if chance(0.3) else LEX[pick(OWNED)])
        reject(not noun.ens)
        adj = pick(COLOR_PAIRS) if noun in COLORED and chance(0.6) else None
        if not adj and chance(0.3):
            adj = pick(pairs_of("novo = new; velho = old; grande = big; pequeno = small"))
        r = DRAW.random()
        x = (np(noun, "a", "s", adj) if r < 0.7 else np(noun, 2 + DRAW.below(5), "p", adj) if r <
            0.88
            else np(noun, choice(("many", "many", "few")), "p"))
        what = (x.pt, x.en)
    return sentence_of(s, VP("ter", "have", *what), choice(("pres",) * 5 + ("impf",)), 0.15, 0.25)

@beginner_family(2)
def beginner_comparisons():
    """O menino é mais alto que a menina. / The boy is taller than the girl."""
    people = chance(0.6)
    s, t = (somebody(), somebody(True)) if people else (thing_of(COMPARED, plural=0),
        thing_of(COMPARED, plural=0))
    reject(s.pt == t.pt or t.who or s.n == "p")
    adj = pick(pairs_of("""alto = taller; baixo = shorter; velho = older; jovem = younger; forte =
        stronger;
        rico = richer; bonito = more beautiful; inteligente = more intelligent; novo = younger""")
        if people else pairs_of("""caro = more expensive; barato = cheaper; bonito = more beautiful;
            grande = bigger; pequeno = smaller; novo = newer; velho = older"""))
    than = choice((("que", "than"), ("do que", "than"), ("do que", "than")))
    if adj[0] in ("grande", "pequeno"):
        pt = {"grande": "maior", "pequeno": "menor"}[adj[0]]
    else:
        pt = f"mais {pt_adj(adj[0], s.g, s.n)}"
    other = (t.pt, t.en)
    if people and chance(0.3):
        other = choice((("eu", "me"), ("você", "you"), ("ela", "her"), ("ele", "him")))
        reject(s.who in (other[0], "eu"))
    r = DRAW.random()
    if not people and r < 0.25:
        return sentence_of(s, VP("ser", "be", pt, adj[1]), "pres")
    vp = VP("ser", "be", pt, adj[1]).plus((f"{than[0]} {other[0]}", f"{than[1]} {other[1]}"))
    return sentence_of(s, vp, "pres", 0.1)

BEST = pairs_of("""restaurante = restaurant; filme = movie; livro = book; aluno = student;
    professor = teacher; hotel = hotel; jogador = player; médico = doctor; amigo = friend""")

@beginner_family(0.8)
def beginner_best():
    """Este é o melhor restaurante da cidade. / This is the best restaurant in the city."""
    noun = pick(BEST)
    where = choice((("da cidade", "in the city"), ("do mundo", "in the world"), ("da escola",
        "in the school"),
        ("do Brasil", "in Brazil"), ("", "")))
    kind = choice((("o melhor", "the best"), ("o pior", "the worst")))
    s = choice((("este é", "this is"), ("ele é", "he is"), ("esse é", "that is")))
    reject(s[1] == "he is" and noun[0] not in ("aluno", "professor", "jogador", "médico"))
    if noun[0] == "amigo" or chance(0.15):
        owner = choice((("meu", "my"), ("seu", "your"), ("nosso", "our")))
        return join(s, (f"o {owner[0]} melhor {noun[0]}", f"{owner[1]} best {noun[1]}"))
    return join(s, (f"{kind[0]} {noun[0]}", f"{kind[1]} {noun[1]}"), where)

@beginner_family(1.2)
def beginner_nationality():
    """Ela é brasileira. / She is Brazilian."""
    s = somebody()
    _, _, _, pt, en = pick(COUNTRY_ROWS)
    return sentence_of(s, VP("ser", "be", pt_adj(pt, s.g, s.n), en), "pres")

@beginner_family(1.5)
def beginner_adverbs():
    """Ela canta bem. / She sings well."""
    s = somebody()
    verb, en = pick(pairs_of("""cantar = sing; dançar = dance; nadar = swim; correr = run; cozinhar
        = cook;
        trabalhar = work; estudar = study; falar = speak; dirigir = drive; jogar = play; dormir =
            sleep;
        escrever = write; comer = eat; beber = drink; viver = live"""))
    adverb = pick(pairs_of("""bem = well; muito bem = very well; muito = a lot; pouco = little; mal
        = badly;
        rápido = fast; muito rápido = very fast; devagar = slowly; juntos = together; aqui =
            here"""))
    reject(adverb[0] == "juntos" and (s.n == "s" or s.g == "f"))
    reject("rápido" in adverb[0] and verb in ("dormir", "viver"))
    return sentence_of(s, VP(verb, en, *adverb), choice("pres pres past".split()), 0.15, 0.15)

USUAL = pairs_of("sempre = always; nunca = never; também = also; geralmente = usually")

@beginner_family(3)
def beginner_always():
    """Eu sempre acordo cedo. / I always wake up early."""
    s = somebody()
    vp, has = action(s, without="f")
    reject("r" in has or "s" in has)
    return clause(s, vp, "pres", pre=pick(USUAL), drop=chance(0.3))

@beginner_family(1.5)
def beginner_already():
    """Ele já chegou. Ele ainda não chegou. / He has already arrived. He hasn't arrived yet."""
    s = somebody()
    vp, has = action(s, without="s")
    reject("f" in has or is_timed(vp) or vp.en_tail in ("a lot", "well"))
    r = DRAW.random()
    if r < 0.35:
        return join(clause(s, vp, "past", True, ("ainda", ""), drop=False, en="perf"), ("", "yet"))
    if r < 0.65 and s.who not in ("eu", "nós"):
        return join(ask(s, vp, "past", pre=("já", "already"), en="perf"), "?")
    return clause(s, vp, "past", pre=("já", "already"), drop=False, en="perf")

def simple_clause():
    """A short statement: ele é alto, eu gosto de chá."""
    make = choice((beginner_people_are, beginner_having, beginner_needs, beginner_things_are,
        beginner_places_of_things, beginner_nationality))
    pair = make()
    reject("?" in pair[0])
    return pair

LINKS = pairs_of("e = and; e = and; , mas = , but; porque = because")

@beginner_family(2.5)
def beginner_two_clauses():
    """Eu sou alto, mas meu irmão é baixo. / I am tall, but my brother is short."""
    first, link = simple_clause(), pick(LINKS)
    DRAW.busy.clear()
    if link[0] == "porque":
        first = ("", "") if chance(0.4) else first
    return join(first, link, simple_clause())

@beginner_family(1.2)
def beginner_answers():
    """Não, eu não gosto de café. / No, I don't like coffee."""
    pair = simple_clause()
    no = "não" in pair[0].lower().split()
    return join(("não ,", "no ,") if no else ("sim ,", "yes ,"), pair)

@beginner_family(2)
def beginner_thoughts():
    """Eu acho que ele é bonito. / I think he is beautiful."""
    s = pronoun(choice("eu eu eu você ele ela nós".split()))
    verb = choice((("achar", "think"), ("achar", "think"), ("saber", "know")))
    head = clause(s, VP(*verb, "que"), "pres", chance(0.15), drop=chance(0.2))
    DRAW.busy.clear()
    return join(head, simple_clause())

@beginner_family(0.6)
def beginner_relatives_of_others():
    """O pai da Ana é médico. / Ana's father is a doctor."""
    noun, owner = pick(RELATIVES), with_article(name(), 0.6) if chance(0.6) else relative()
    reject(noun.pt in ("marido", "esposa", "namorado", "namorada") or owner.lemma == noun.pt)
    x = np(noun, "the")
    s = replace(x, pt=f"{x.pt} de+{owner.pt}", en=f"{owner.en}'s {noun.en}")
    verb, words = choice((("ser", PERSON), ("estar", FEELING)))
    if chance(0.3):
        number_of = number(2 + DRAW.below(80))
        return sentence_of(s, VP("ter", "be", f"{number_of[0]} anos", f"{number_of[1]} years old"),
            "pres")
    return sentence_of(s, agreeing(s, verb, pick(words)), "pres")
