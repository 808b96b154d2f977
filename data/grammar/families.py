"""Sentence families: how one is registered with its share of the corpus, and common parts."""

import re
from dataclasses import replace

from grammar.clauses import action, be, clause
from grammar.lexicon import ADJ_CLASS, entries
from grammar.phrases import (
    DRAW,
    LEX,
    OWNERS_AFTER,
    VP,
    chance,
    choice,
    join,
    np,
    pairs_of,
    pick,
    reject,
    slot,
    subj,
)
from grammar.portuguese import pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

# Each family makes one sentence as a pair and is registered with its share of the corpus.
FAMILIES = []

def family(share):
    """Register a family with its relative share of the sentences."""

    def register(make):
        FAMILIES.append((make.__name__, share, make))
        return make

    return register

def act(flags="", third=False, pron=0.42, **kw):
    """A subject and an action of his or hers."""
    s = subj(third, pron)
    return s, action(s, flags, **kw)

THINGS = """staple fruit meal drink tableware text clothes valuable bag furniture decor machine tool
    vehicle film pet plant landscape event matter opening building room outdoor town wild vegetable
    footwear school farm toy bedding""".split()
for _cls in ("meal", "opening", "room", "bedding", "fruit", "vegetable", "clothes"):
    DRAW.weight[_cls] = 5.0 if _cls == "meal" else 2.0
DEGREE = pairs_of("muito = very; bastante = quite")

def a_thing(plural=0.25, dets=("the", "the", "my", "your", "this", "that", "yon", "our", "his")):
    """A thing with a determiner, for descriptions; uncountables and singulars of most classes."""
    noun = pick(LEX[pick(THINGS)])
    kind = ADJ_CLASS.get(noun.cls, ("", ""))
    det = choice(dets if noun.ens else ("the", "this"))
    public = "building town outdoor landscape school wild farm event opening film matter"
    if noun.cls in public.split() and det in OWNERS_AFTER | {"my": 1, "your": 1, "our": 1}:
        det = "the"
    n = "p" if chance(plural) or noun.cls == "footwear" else "s"
    return np(noun, det, n), kind

# Adjectives that are said together, joined by "e" or by "mas".
ALIKE = """novo caro, grande pesado, pequeno leve, pequeno barato, grande caro, bonito caro,
    elegante caro, bonito confortável, longo chato, curto interessante, longo difícil,
    simples fácil, difícil importante, curto engraçado, longo triste, moderno grande, antigo bonito,
    antigo famoso, pequeno escuro, grande claro, bonito espaçoso, rápido moderno, rápido caro,
    velho lento, fresco saudável, fresco delicioso, quente gostoso, sujo molhado, limpo seco,
    vazio limpo, sujo bagunçado, limpo arrumado, alto magro, alto forte, jovem inteligente,
    rico generoso, gentil educado, sério trabalhador, simpático engraçado, tímido calmo,
    inteligente criativo, honesto trabalhador, jovem corajoso, velho teimoso, curioso inteligente,
    rico famoso, alegre simpático, elegante educado, cansado doente, triste sozinho,
    cansado preocupado, feliz animado, feliz orgulhoso, nervoso preocupado, zangado decepcionado,
    confuso assustado, molhado cansado, manso brincalhão, grande forte, pequeno bonito,
    forte perigoso, rápido perigoso, maduro doce, lindo raro, enorme lindo, famoso bonito,
    tranquilo bonito, velho feio, novo moderno, velho pesado, barato útil"""
UNLIKE = """velho confortável, caro bonito, caro delicioso, pequeno forte, difícil interessante,
    longo interessante, barato elegante, simples bonito, cansado feliz, barato confortável,
    rico preguiçoso, jovem sério, caro útil, velho útil, velho rápido, pequeno confortável,
    pequeno claro, feio útil, longo importante, inteligente preguiçoso, tímido simpático,
    pobre feliz, pobre generoso, velho forte, nervoso pronto, ocupado feliz, curto difícil,
    barato delicioso, grande lento, lindo perigoso, triste excelente"""
JOINED = [(("e", "and"), *p.split()) for p in entries(ALIKE)]
JOINED += [(("mas", "but"), *p.split()) for p in entries(UNLIKE)]
NO_DEGREE = set(
    """pronto atrasado sozinho aberto fechado trancado vazio cheio podre ligado desligado certo
        errado terminado estacionado quebrado acordado excelente enorme delicioso lotado gelado
        verde lindo rasgado queimado apaixonado vermelho azul amarelo branco preto marrom cinza roxo
        rosa""".split()
)

def adjectives(s, table, verb):
    """A VP of ser or estar with one adjective, or two joined, or one with very."""
    reject(verb == "estar" and s.cls == "matter" and s.lemma not in ("resposta", "frase",
        "exercício"))
    words, r = dict(table), DRAW.random()
    fits = [j for j in JOINED if j[1] in words and j[2] in words]
    if r < 0.35 and fits:
        link, first, second = pick(fits)
        more = join(link, (pt_adj(second, s.g, s.n), words[second]))
        return be(s, verb, (first, words[first]), more)
    first = pick(table)
    vp = be(s, verb, first)
    if r < 0.65 and first[0] not in NO_DEGREE:
        very = pick(DEGREE)
        return VP(verb, "be", f"{very[0]} {vp.pt_tail}", f"{very[1]} {vp.en_tail}")
    return vp

# What makes people happy, sad, tired ...: "states: reasons".
REASONS = {
    "feliz happy, animado excited, satisfeito satisfied, orgulhoso proud": pairs_of("""
        passar na prova = pass the exam; ganhar um prêmio = win a prize;
        receber boas notícias = receive good news; encontrar um emprego = find a job;
        vencer a corrida = win the race; terminar o projeto = finish the project;
        aprender a nadar = learn to swim; comprar uma casa = buy a house;
        viajar com {close} = travel with {}; jantar com {close} = have dinner with {}"""),
    "triste sad, decepcionado disappointed, preocupado worried, zangado angry": pairs_of("""
        perder o emprego = lose ~ job; perder a carteira = lose ~ wallet;
        perder o trem = miss the train; quebrar o celular = break ~ cell phone;
        receber más notícias = receive bad news; brigar com {close} = fight with {};
        não passar na prova = not pass the exam; não encontrar a chave = not find the key;
        não ganhar o prêmio = not win the prize; discutir com {close} = argue with {}"""),
    "cansado tired, doente sick": pairs_of("""trabalhar demais = work too much;
        dormir pouco = sleep little; não comer nada = not eat anything;
        correr na chuva = run in the rain; caminhar o dia todo = walk all day;
        estudar a noite toda = study all night; trabalhar com {close} = work with {}"""),
    "molhado wet": pairs_of("""esquecer o guarda-chuva = forget ~ umbrella;
        caminhar na chuva = walk in the rain; cair na piscina = fall into the swimming pool;
        lavar o carro = wash the car; brincar na chuva = play in the rain"""),
    "atrasado late, nervoso nervous": pairs_of("""perder o ônibus = miss the bus;
        acordar tarde = wake up late; não ouvir o telefone = not hear the phone;
        esquecer o passaporte = forget ~ passport; não encontrar um táxi = not find a taxi"""),
    "assustado scared, nervoso nervous": pairs_of("""ver uma cobra = see a snake;
        ouvir um barulho = hear a noise; ver um acidente = see an accident;
        assistir a um filme assustador = watch a scary movie; ver {wild.i} = see {}"""),
    "confuso confused, surpreso surprised": pairs_of("""não entender a pergunta = not understand
        the question; ler a carta = read the letter; ouvir a notícia = hear the news;
        encontrar {close} = meet {}; receber um presente = receive a gift"""),
    "aliviado relieved": pairs_of("""encontrar a carteira = find ~ wallet;
        passar na prova = pass the exam; pagar o aluguel = pay the rent;
        terminar o trabalho = finish the work; receber o dinheiro = receive the money"""),
}

def plain(s, pair):
    """A VP of a plain pair of infinitive phrases, which may hold slots, "~" and a negation."""
    (pt, en), no = pair, pair[0].startswith("não ")
    pt, en = (pt[4:], en[4:]) if no else (pt, en)
    en = en.replace("~ job", "~ jobs") if s.n == "p" else en
    en = en.replace("~", s.own)
    for code in re.findall(r"\{([^}]+)\}", pt):
        fill = slot(code, s)
        pt, en = pt.replace("{" + code + "}", fill[0], 1), en.replace("{}", fill[1], 1)
    (verb, _, tail), (base, _, rest) = pt.partition(" "), en.partition(" ")
    return VP(verb, base, tail, rest, "", "near"), no

def plain_clause(s, pair, tense, **kw):
    """A clause of a plain pair."""
    vp, no = plain(s, pair)
    return clause(s, vp, tense, neg=no, **kw)

def state_and_reason(s):
    """A VP with estar and a state, and the pair of infinitives that is its reason."""
    states = pick(tuple(REASONS))
    adj = pick([tuple(a.split()) for a in entries(states)])
    return be(s, "estar", adj), pick(REASONS[states])

def again(s):
    """The same subject once more: left out in Portuguese, a pronoun in English."""
    who = s.who if s.who in ("eu", "nós") else ""
    return replace(s, pt="", en=own_pronoun(s), who=who)

def own_pronoun(s):
    """The English subject pronoun that refers to s."""
    if s.who:
        return s.en
    return "they" if s.n == "p" else "he" if s.g == "m" else "she"

OPPOSITES = [
    tuple(tuple(w.split("/")) for w in p.split())
    for p in """alto/tall baixo/short, baixo/short alto/tall, rico/rich pobre/poor,
        pobre/poor rico/rich, gordo/fat magro/thin, magro/thin gordo/fat, velho/old jovem/young,
        jovem/young velho/old, tímido/shy alegre/cheerful, trabalhador/hardworking preguiçoso/lazy,
        preguiçoso/lazy trabalhador/hardworking, sério/serious engraçado/funny,
        engraçado/funny sério/serious, calmo/calm nervoso/nervous,
        organizado/organized distraído/absent-minded, gentil/kind teimoso/stubborn""".split(",")
]

def clash(s, t):
    """True if two subjects don't go together: I and we, you and you, they and they."""
    near = ({"eu", "nós"}, {"você", "vocês"})
    return s.pt == t.pt or any({s.who, t.who} <= pair for pair in near) or s.en == t.en

def silent(s):
    """The same subject left unsaid: ... e mora em Lisboa."""
    return replace(s, pt="", en="", who="")
