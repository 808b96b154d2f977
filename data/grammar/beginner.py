"""What the sentences of a beginner's textbook are made of: subjects, actions, patterns."""

import re
from dataclasses import replace

from grammar.clauses import FUTURE_TIMES, HABIT_TIMES, PAST_TIMES, ask, at_clock, clause
from grammar.families import family
from grammar.lexicon import COLOR_PAIRS, COUNTRY_ROWS, rows
from grammar.phrases import (
    DRAW,
    JOBS,
    KIN,
    NP,
    OTHER_FOLK,
    VP,
    chance,
    choice,
    close,
    join,
    name,
    np,
    number,
    pairs_of,
    pick,
    pronoun,
    slot,
)
from grammar.portuguese import ARTICLES, pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

# More than half of the corpus is for beginners.
SHARE = 3.2

def beginner_family(share):
    """Register a family, with its share among those for beginners."""

    def register(make):
        def with_both_forms():
            pt, en = make()
            return pt.replace("em+um", "em um") if chance(0.6) else pt, en

        with_both_forms.__name__ = make.__name__
        family(SHARE * share)(with_both_forms)
        return make

    return register

ACTIONS = [tuple(row) for row in rows("beginner_actions")]
RELATIVES = [noun for noun in KIN if "-in-law" not in noun.en and noun.pt != "chefe"]
PEOPLE = [noun for noun in OTHER_FOLK if noun.pt in ("homem", "mulher", "menino", "menina",
    "criança",
    "bebê", "turista", "garçom", "rapaz", "moça", "garoto", "garota", "senhor", "senhora",
    "pessoa")]
TRADES = [noun for noun in JOBS if noun.pt in """professor professora estudante médico médica aluno
    aluna
    enfermeiro enfermeira advogado advogada engenheiro engenheira cozinheiro cozinheira cantor
        cantora
    vendedor vendedora policial motorista dentista escritor escritora secretário secretária
    jogador jornalista diretor diretora""".split()]
SEVERAL_PEOPLE = [("pais", "parents"), ("avós", "grandparents"), ("filhos", "children"),
    ("irmãos", "brothers"), ("amigos", "friends"), ("tios", "uncles")]

def parents(det):
    """Meus pais / my parents, and the like: plurals that are words of their own."""
    pt, en = pick(SEVERAL_PEOPLE)
    owner = {"my": "meus", "your": "seus", "our": "nossos"}[det]
    return NP(f"{owner} {pt}", f"{det} {en}", 3, 2, "m", "p", "person", "their", "", pt)

def relative(det=""):
    """Minha mãe, o irmão dela."""
    noun = pick(RELATIVES)
    det = det or choice("my my my my your your our his her".split())
    partner = {"marido": "m", "namorado": "m", "esposa": "f", "namorada": "f"}.get(noun.pt)
    if partner and (det == "our" or (det, partner) in (("his", "m"), ("her", "f"))):
        det = "my"
    return with_article(np(noun, det), 0.3)

def with_article(x, p):
    """The article that Brazilians often put before possessives and names: o meu pai, a Ana."""
    if not chance(p) or x.pt.startswith(("o ", "a ")):
        return x
    return replace(x, pt=f"{ARTICLES[(x.g == 'f') + 2 * (x.n == 'p')]} {x.pt}")

def somebody(third=False):
    """A subject: mostly a pronoun, else a relative, a name, or a person known by sex or trade."""
    r = DRAW.random()
    if r < 0.5:
        whos = ("ele ela ele ela eles elas" if third
            else "eu eu eu eu você você você ele ela ele ela nós nós vocês eles elas gente")
        who = choice(whos.split())
        if who == "gente":
            return NP("a gente", "we", 1, 2, "m", "s", "person", "our", "")
        return pronoun(who)
    if r < 0.6:
        return with_article(name(), 0.35)
    if r < 0.66:
        return with_article(parents(choice(("my", "my", "your", "our"))), 0.3)
    if r < 0.82:
        return relative()
    det = choice("the the the this that yon".split())
    return np(pick(PEOPLE if chance(0.65) else TRADES), det, "p" if chance(0.25) else "s")

RIDES = pairs_of("ônibus = bus; carro = car; trem = train; metrô = subway; bicicleta = bicycle")

def fill(code, s):
    """The pair that fills "{code}": `slot` and the clock."""
    if code == "clock":
        return at_clock()
    return choice(RIDES) if code == "ride2" else slot(code, s)

def action(s, flags="", without=""):
    """A verb phrase of the beginner's actions with all the flags and none of the others."""
    fits = [row for row in ACTIONS if all(flag in row[4] for flag in flags)
        and not any(flag in row[4] for flag in without)]
    verb, tail, en_verb, en_tail, has = pick(fits)
    for code in re.findall(r"\{([^}]*)\}", tail):
        pair = fill(code, s)
        tail = tail.replace("{" + code + "}", pair[0], 1)
        en_tail = en_tail.replace("{}", pair[1], 1)
    if "m" in has:
        tail += {"ms": "", "mp": "s", "fs": "", "fp": "s"}[s.g + s.n]
        tail = re.sub(r"o(s?)$", r"a\1", tail) if s.g == "f" else tail
    vp = VP(verb, en_verb, tail, en_tail.replace("~", s.own), s.se if "r" in has else "", "near")
    return vp, has

TIMES = {"past": PAST_TIMES["near"], "going": FUTURE_TIMES["near"], "pres": HABIT_TIMES["near"],
    "prog": pairs_of("agora = now; hoje = today; neste momento = at this moment; aqui = here")}
TIMES["past"] = [*TIMES["past"], ("ontem", "yesterday"), ("hoje", "today")]
TIMES["going"] = [*TIMES["going"], ("amanhã", "tomorrow"), ("hoje", "today"), ("agora", "now")]
WHEN = pairs_of("""de manhã = in the morning; à tarde = in the afternoon; à noite = at night;
    todos os dias = every day; aos sábados = on Saturdays; aos domingos = on Sundays""")

EVERYBODY = [NP(pt, en) for pt, en in pairs_of("""todo mundo = everyone; alguém = someone;
    ninguém = nobody""")]

def is_timed(vp):
    """True if a phrase already says when."""
    return bool(re.search(r"\b(cedo|tarde|amanhã|às?|ao meio-dia|noite)\b", vp.pt_tail))

def filled(pair):
    """Both sides of a pattern with its slots, `{name}`, filled alike; repeated names agree."""
    pt, en = pair
    for code in re.findall(r"\{([^}]*)\}", pt):
        one = PIECES[code]() if code in PIECES else slot(code, pronoun("eu"))
        one = (one.pt, one.en) if isinstance(one, NP) else one
        pt, en = pt.replace("{" + code + "}", one[0], 1), en.replace("{" + code + "}", one[1], 1)
    return pt, en

DAYS = pairs_of("""segunda-feira = Monday; terça-feira = Tuesday; quarta-feira = Wednesday;
    quinta-feira = Thursday; sexta-feira = Friday; sábado = Saturday; domingo = Sunday""")
MONTHS = pairs_of("""janeiro = January; fevereiro = February; março = March; abril = April;
    maio = May; junho = June; julho = July; agosto = August; setembro = September;
    outubro = October; novembro = November; dezembro = December""")
SEASONS = pairs_of("o verão = summer; o inverno = winter; a primavera = spring; o outono = fall")
ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split()

def hour():
    """São três e meia / It is three thirty, without the verb."""
    n, minute = 2 + DRAW.below(11), choice((0, 0, 0, 0, 30, 30, 5, 10, 15, 20, 25, 40, 45))
    pt, en = number(n, "f")
    if minute == 0:
        return f"{pt} horas", f"{en} o'clock"
    tail = ("meia", "thirty") if minute == 30 else number(minute)
    return f"{pt} e {tail[0]}", f"{en} {tail[1] if minute != 5 else 'five'}"

def on_day():
    """Na segunda-feira / on Monday."""
    pt, en = pick(DAYS)
    return f"{'na' if 'feira' in pt else 'no'} {pt}", f"on {en}"

def date():
    """Dia três de maio / May third."""
    n = 2 + DRAW.below(19)
    month = pick(MONTHS)
    return f"{number(n)[0]} de {month[0]}", f"{month[1]} {ORDINALS[n - 1]}"

PIECES = {
    "hour": hour, "at": at_clock, "day": lambda: pick(DAYS), "month": lambda: pick(MONTHS),
    "season": lambda: pick(SEASONS), "onday": on_day, "date": date, "name": name,
    "kin": relative, "mykin": lambda: relative("my"), "close": close,
    "number": lambda: number(2 + DRAW.below(98)), "few": lambda: number(2 + DRAW.below(9)),
    "fewf": lambda: number(2 + DRAW.below(9), "f"), "big": lambda: number(10 + DRAW.below(490)),
    "ride": lambda: choice(RIDES),
}

def words_of(text):
    """A piece that draws one pair of "pt = en; pt = en"."""
    pairs = pairs_of(text)
    return lambda: pick(pairs)

def a_country():
    """A country that takes a verb in the singular."""
    article, pt, en, *_ = pick([row for row in COUNTRY_ROWS if not row[0].endswith("s")])
    return (pt if article == "-" else f"{article} {pt}"), en

def sum_of_numbers():
    """Dois mais três são cinco / Two plus three is five."""
    a, b = 1 + DRAW.below(10), 2 + DRAW.below(10)
    (pt_a, en_a), (pt_b, en_b), (pt, en) = number(a), number(b), number(a + b)
    return f"{pt_a} mais {pt_b} são {pt}", f"{en_a} plus {en_b} is {en}"

LIKES = """café = coffee; chá = tea; leite = milk; suco = juice; vinho = wine; cerveja = beer;
    água = water; chocolate = chocolate; pizza = pizza; carne = meat; peixe = fish; frango =
        chicken;
    arroz = rice; pão = bread; queijo = cheese; sopa = soup; salada = salad; bolo = cake;
    sorvete = ice cream; frutas = fruit; banana = bananas; maçã = apples; laranja = oranges;
    morango = strawberries; tomate = tomatoes; batata frita = French fries; ovos = eggs;
    legumes = vegetables; música = music; música brasileira = Brazilian music; futebol = soccer;
    basquete = basketball; vôlei = volleyball; tênis = tennis; xadrez = chess; esportes = sports;
    cinema = movies; filmes = movies; livros = books; gatos = cats; cachorros = dogs;
    animais = animals; cavalos = horses; pássaros = birds; flores = flowers; crianças = children;
    praia = the beach; mar = the sea; sol = the sun; chuva = rain; neve = snow; frio = the cold;
    verão = summer; inverno = winter; viagens = trips; festas = parties; escola = school;
    matemática = mathematics; história = history; inglês = English; português = Portuguese;
    jogos = games; carros = cars; roupas = clothes; feijão = beans; arroz e feijão = rice and beans;
    arroz com feijão = rice and beans; pão com manteiga = bread and butter; doces = sweets"""

WHOM = pairs_of("""senhor = sir; senhora = ma'am; professor = teacher; mãe = Mom; pai = Dad;
    meu amigo = my friend; minha amiga = my friend; meus amigos = my friends; amigos = friends;
    doutor = doctor; vovó = Grandma; vovô = Grandpa; crianças = children; meu amor = my love""")

PIECES |= {
    "namem": lambda: name("m"), "namef": lambda: name("f"), "country": a_country,
    "sum": sum_of_numbers, "like": words_of(LIKES), "likes": words_of(LIKES[:
        LIKES.index("praia")].rstrip("; \n")),
    "parents": lambda: parents(choice(("my", "my", "your", "our"))),
    "thatone": lambda: np(pick(PEOPLE + TRADES), choice(("this", "that", "yon"))),
    "thoseones": lambda: np(pick(PEOPLE + TRADES), choice(("this", "that", "yon")), "p"),
    "ondayen": on_day,
    "seasonis": words_of("""o inverno é frio = winter is cold; o verão é quente = summer is hot;
        o inverno é muito frio = winter is very cold; o verão é muito quente = summer is very hot;
        a primavera é bonita = spring is beautiful; o outono é bonito = fall is beautiful;
        o inverno é longo = winter is long; o verão é curto = summer is short;
        o inverno não é frio = winter isn't cold; o outono é seco = fall is dry;
        o verão é seco = summer is dry; a primavera é curta = spring is short"""),
    "coldheat": words_of("frio = cold; calor = hot; sol = sunny; muito frio = very cold"),
    "coldheat2": words_of("frio = cold; quente = hot"),
    "leaves": words_of("sai = leaves; chega = arrives"),
    "side": words_of("à direita = right; à esquerda = left"),
    "ordinalf": words_of("primeira = first; segunda = second; terceira = third; próxima = next"),
    "drinkm": words_of("""café = coffee; chá = tea; refrigerante = soda; suco = juice;
        copo de água = glass of water; chocolate quente = hot chocolate; suco de limão = lemon
            juice;
        café com leite = coffee with milk"""),
    "cups": words_of("""um café = a coffee; um chá = a tea; uma cerveja = a beer; um suco = a juice;
        um refrigerante = a soda; uma água = a water; dois cafés = two coffees;
        duas cervejas = two beers; três cafés = three coffees; dois sucos = two juices;
        duas águas = two waters; dois chás = two teas; um vinho = a wine; um leite = a milk;
        quatro cafés = four coffees; um café com leite = a coffee with milk"""),
    "hotdrink":
        words_of("café = coffee; chá = tea; leite = milk; chocolate quente = hot chocolate"),
    "produce": words_of("""tomates = tomatoes; bananas = bananas; maçãs = apples; carne = meat;
        batatas = potatoes; laranjas = oranges; arroz = rice; queijo = cheese; açúcar = sugar;
        peixe = fish; cebolas = onions; uvas = grapes; feijão = beans; cenouras = carrots"""),
    "goodbad": words_of("excelente = excellent; interessante = interesting; difícil = difficult"),
    "ache": words_of("""cabeça = a headache; barriga = a stomachache; dente = a toothache;
        garganta = a sore throat; ouvido = an earache; estômago = a stomachache"""),
    "colorm": lambda: pick(COLOR_PAIRS),
    "colorf": lambda: (lambda pair: (pt_adj(pair[0], "f", "s"), pair[1]))(pick(COLOR_PAIRS)),
    "favoritef": words_of("""cor = color; comida = food; bebida = drink; música = song;
        estação = season; fruta = fruit; matéria = subject; cidade = city; língua = language"""),
    "favoritem": words_of("""livro = book; filme = movie; animal = animal; esporte = sport;
        dia da semana = day of the week; número = number; lugar = place; mês = month;
        restaurante = restaurant; país = country; jogo = game; cantor = singer"""),
    "countedm": words_of("""irmãos = brothers; filhos = children; livros = books; gatos = cats;
        cachorros = dogs; amigos = friends; carros = cars; primos = cousins; alunos = students;
        quartos = bedrooms; tios = uncles; homens = men; meninos = boys; animais = animals;
        lápis = pencils; copos = glasses; sapatos = shoes; cavalos = horses; anos = years"""),
    "countedf": words_of("""irmãs = sisters; filhas = daughters; amigas = friends; casas = houses;
        cadeiras = chairs; pessoas = people; janelas = windows; camas = beds; portas = doors;
        tias = aunts; mulheres = women; meninas = girls; canetas = pens; chaves = keys;
        línguas = languages; primas = cousins; mesas = tables; crianças = children"""),
    "fit": words_of("""grande = big; pequena = small; cara = expensive; nova = new; velha = old;
        bonita = beautiful; barata = cheap; confortável = comfortable; apertada = tight"""),
    "fitmp": words_of("""grandes = big; pequenos = small; caros = expensive; novos = new;
        bonitos = beautiful; velhos = old; baratos = cheap; confortáveis = comfortable"""),
    "shoes": words_of("sapatos = shoes; chapéus = hats; livros = books; casacos = coats"),
    "shirt": words_of("""camisa = shirt; saia = skirt; bolsa = purse; blusa = blouse; cama = bed;
        mochila = backpack; camiseta = T-shirt; casa = house; mesa = table; bicicleta = bicycle"""),
    "famkind": words_of("grande = big; pequena = small; muito grande = very big; feliz = happy"),
    "easyhard": words_of("fácil = easy; difícil = difficult; muito difícil = very difficult"),
    "easyhardf": words_of("fácil = an easy; difícil = a difficult; bonita = a beautiful"),
    "countrykind": words_of("grande = big; pequeno = small; bonito = beautiful; rico = rich"),
    "citykind": words_of("grande = big; pequena = small; bonita = beautiful; famosa = famous"),
    "close": lambda: relative() if chance(0.6) else with_article(name(), 0.4),
    "greet": words_of("""bom dia = good morning; boa tarde = good afternoon; boa noite = good
        evening;
        olá = hello; oi = hi; tchau = bye; até logo = see you later; até amanhã = see you tomorrow;
        até mais = see you later; até breve = see you soon; obrigado = thank you; obrigada = thank
            you;
        muito obrigado = thank you very much; muito obrigada = thank you very much; adeus = goodbye;
        de nada = you're welcome; desculpe = sorry; com licença = excuse me; por favor = please;
        boa sorte = good luck; boa viagem = have a good trip; feliz aniversário = happy birthday;
        feliz Natal = merry Christmas; feliz Ano Novo = happy New Year; parabéns = congratulations;
        cuidado = be careful; saúde = cheers; bem-vindo = welcome; bem-vinda = welcome;
        socorro = help; claro = of course; sim = yes; não = no; sinto muito = I'm sorry;
        tenha um bom dia = have a good day; bom fim de semana = have a good weekend;
        tudo bem = all right; espere um momento = wait a moment; eu também = me too;
        prazer em conhecer você = nice to meet you; muito prazer = nice to meet you"""),
    "whom": lambda: name() if chance(0.65) else choice(WHOM),
    "idm": words_of("""nome = name; endereço = address; telefone = phone number; e-mail = email;
        número = number; número de telefone = phone number; trabalho = job; problema = problem;
        plano = plan; sobrenome = last name"""),
    "idf": words_of("""profissão = profession; nacionalidade = nationality; resposta = answer;
        ideia = idea; cidade = city; língua = language; opinião = opinion"""),
    "dayof": words_of("hoje = today; amanhã = tomorrow; a festa = the party; a prova = the exam"),
    "rain": words_of("chover = rain; nevar = snow; chover muito = rain a lot"),
    "rained": words_of("choveu = rained; nevou = snowed"),
    "soon": words_of("""amanhã = tomorrow; hoje = today; hoje à noite = tonight;
        hoje à tarde = this afternoon; na semana que vem = next week"""),
    "before": words_of("""ontem = yesterday; ontem à noite = last night; hoje de manhã = this
        morning;
        na semana passada = last week; no domingo = on Sunday; no sábado = on Saturday"""),
    "what": words_of("""dia = day; carro = car; livro = book; vestido = dress; lugar = place; país
        = country;
        jardim = garden; gato = cat; cachorro = dog; chapéu = hat; quarto = bedroom; sorriso =
            smile"""),
    "whatf": words_of("""casa = house; flor = flower; cidade = city; praia = beach; música = song;
        menina = girl; mulher = woman; camisa = shirt; foto = picture; família = family"""),
    "adjective": words_of("""bonito = beautiful; lindo = lovely; interessante = interesting;
        triste = sad; bom = good; engraçado = funny; caro = expensive; difícil = difficult;
        estranho = strange; delicioso = delicious"""),
    "examf": words_of("prova = exam; entrevista = interview; escola = school"),
    "haveagood": words_of("""um bom dia = a good day; uma boa noite = a good night;
        uma boa tarde = a good afternoon; uma boa viagem = a good trip; uma boa semana = a good
            week;
        um bom fim de semana = a good weekend; boas férias = a good vacation"""),
    "foodlike": lambda: pick(pairs_of(LIKES)[7:25]),
    "mealtime": words_of("""de manhã = in the morning; à noite = at night; no almoço = for lunch;
        no jantar = for dinner; todos os dias = every day"""),
    "dayword": words_of("""dia = day; fim de semana = weekend; aniversário = birthday;
        almoço = lunch; jantar = dinner; sábado = Saturday; domingo = Sunday"""),
    "kindof":
        words_of("música = music; comida = food; filme = movie; livro = book; esporte = sport"),
    "bigf": words_of("grande = big; pequena = small; bonita = beautiful; velha = old; nova = new"),
    "thanksfor": words_of("""esperar = waiting; vir = coming; ajudar = helping; me ajudar = helping
        me;
        ligar = calling; tudo = everything; isso = that; me esperar = waiting for me"""),
    "wakes": words_of("""acorda = wake up; almoça = have lunch; janta = have dinner; sai = leave;
        chega = arrive; trabalha = work; estuda = study; se levanta = get up; volta = come back;
        toma café da manhã = have breakfast; vai para a cama = go to bed"""),
    "wakeseu": words_of("""acordo = wake up; almoço = have lunch; janto = have dinner; saio = leave;
        trabalho = work; estudo = study; me levanto = get up; volto = come back;
        tomo café da manhã = have breakfast; vou para a cama = go to bed"""),
    "favoritem2": words_of("cantor = singer; ator = actor; escritor = writer; professor = teacher"),
    "animalkind": words_of("""grande = big; pequeno = small; bonito = beautiful; forte = strong;
        perigoso = dangerous"""),
}

def sentence_of(s, vp, tense, negated=0.13, asked=0.18):
    """A statement, a denial or a question."""
    if s.who not in ("eu", "nós") and chance(asked):
        return join(ask(s, vp, tense), "?")
    return clause(s, vp, tense, chance(negated), drop=chance(0.3))
