"""Sentence families: subjunctives and conditions."""

from dataclasses import replace

from grammar.clauses import action, clause, future_time, pt_clause
from grammar.families import adjectives, clash, family, plain, plain_clause
from grammar.phrases import (
    DRAW,
    STATES,
    VP,
    chance,
    choice,
    join,
    pairs_of,
    pick,
    pronoun,
    reject,
    subj,
)
from grammar.portuguese import pt_adj

# Tables and calls are packed by hand from here on.
# fmt: off

@family(5)
def wanting_others_to():
    """querer que + subjunctive: Quero que ela venha / I want her to come."""
    s, t = subj(), subj(pron=0.6)
    reject(clash(s, t))
    vp = action(t, willed=True)
    obj = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}.get(t.en, t.en)
    tense, inner = choice((("pres", "subj"), ("pres", "subj"), ("impf", "isub")))
    pt = pt_clause(t, vp, inner, drop=False)
    neg = chance(0.2)
    main = clause(s, VP("querer", "want"), tense, neg=neg)
    return join(main, (f"que {pt}", f"{obj} to {vp.inf()[1]}"))

@family(4)
def maybe_and_hope():
    """talvez, espero que, tomara que + subjunctive."""
    t = subj()
    r = DRAW.random()
    if r < 0.5:
        vp = action(t)
        pair = join(("talvez", "maybe"), clause(t, vp, "subj", drop=t.who == "nós", en="fut"))
        return join(pair, future_time(vp))
    if r < 0.7:
        vp = adjectives(t, STATES["person"], "estar")
        return join(("talvez", "maybe"), clause(t, vp, "subj", drop=False, en="pres"))
    s = pronoun(choice(("eu", "nós")))
    reject(t.who in ("eu", "nós"))
    vp = action(t)
    pair = clause(t, vp, "subj", drop=False, en="fut", neg=chance(0.2))
    hope = clause(s, VP("esperar", "hope"), "pres")
    return join(hope, ("que", "that"), pair, future_time(vp))

# What follows from what: a condition and its likely results, as infinitives.
RESULTS = {
    "ter tempo = have time": """ler mais livros = read more books; visitar {close} = visit {};
        aprender {language.b} = learn {}; aprender a cozinhar = learn to cook;
        estudar mais = study more; fazer {homemade.i} = make {}; ligar para {close} = call {};
        limpar {cleanable.d} = clean {}; ir a+{cityplace.d} = go to {}; ajudar {close} = help {}""",
    "ter dinheiro = have money": """comprar {vehicle.i} = buy {}; comprar {machine.i} = buy {};
        comprar uma casa = buy a house; viajar pelo mundo = travel around the world;
        jantar fora = eat out; viajar para {country} = travel to {};
        fazer uma festa = have a party""",
    "estar cansado = be tired": """ficar em casa = stay at home; dormir mais = sleep more;
        voltar mais cedo = return earlier; pegar um táxi = take a taxi;
        não ir a+{cityplace.d} = not go to {}; não cozinhar = not cook; descansar = rest""",
    "estar doente = be sick": """ficar em casa = stay at home; não trabalhar = not work;
        ir ao médico = go to the doctor; tomar remédio = take medicine; não viajar = not travel""",
    "perder o ônibus = miss the bus": """pegar um táxi = take a taxi; ligar para {close} = call {};
        chegar tarde = arrive late; ir de trem = go by train; voltar a pé = return on foot""",
    "acordar cedo = wake up early": """ir à praia = go to the beach;
        correr no parque = run in the park; estudar mais = study more;
        preparar o café da manhã = prepare breakfast;
        pegar o primeiro trem = take the first train""",
    "ganhar o prêmio = win the prize": """comprar uma casa = buy a house;
        comprar {vehicle.i} = buy {}; viajar para {country} = travel to {};
        ajudar os vizinhos = help the neighbors; fazer uma festa = have a party;
        ficar muito feliz = be very happy""",
    "ser rico = be rich": """comprar um barco = buy a boat;
        viajar pelo mundo = travel around the world; ajudar os pobres = help the poor;
        morar perto do mar = live near the sea; não trabalhar = not work;
        morar em {city} = live in {}""",
    "passar na prova = pass the exam": """ficar muito feliz = be very happy;
        fazer uma festa = have a party; ligar para {close} = call {};
        viajar com {close} = travel with {}; ganhar {giftable.i} = get {}""",
    "ter fome = be hungry": """comer {meal.i} = eat {}; jantar fora = eat out;
        preparar o jantar = prepare dinner; comprar {staple.b} = buy {};
        pedir uma pizza = order a pizza""",
    "ter sede = be thirsty": """beber {drink.b} = drink {}; pedir {drink.b} = order {};
        comprar {drink.b} = buy {}""",
    "precisar de ajuda = need help": """ligar para {close} = call {};
        falar com {close} = talk to {}; chamar {close} = call {};
        escrever para {close} = write to {}""",
    "encontrar a chave = find the key": """abrir a porta = open the door;
        ligar para {close} = call {}; abrir a gaveta = open the drawer;
        ficar muito feliz = be very happy""",
    "falar inglês = speak English": """trabalhar em {city} = work in {};
        estudar no Canadá = study in Canada; entender a canção = understand the song;
        viajar sozinho = travel alone; encontrar um emprego melhor = find a better job""",
    "ter um carro = have a car": """viajar pelo país = travel around the country;
        dirigir até a praia = drive to the beach; chegar mais cedo = arrive earlier;
        levar {close} a+{cityplace.d} = take {} to {}""",
    "ter férias = have a vacation": """descansar mais = rest more; ir à praia = go to the beach;
        visitar {close} = visit {}; viajar para {city} = travel to {}; dormir mais = sleep more;
        visitar {landscape.d} = visit {}""",
    "vender a casa = sell the house": """mudar de cidade = move to another city;
        morar em {city} = live in {}; comprar {buyhome.i} = buy {};
        viajar pelo mundo = travel around the world""",
}
IF_WEATHER = {
    "chover amanhã = it rains tomorrow": """ficar em casa = stay at home;
        pegar um táxi = take a taxi; levar o guarda-chuva = take the umbrella;
        ler {text.i} = read {}; não ir à praia = not go to the beach;
        cancelar {event.d} = cancel {}""",
    "nevar hoje = it snows today": """ficar em casa = stay at home; usar {footwear.b} = wear {};
        beber chá = drink tea; não sair de casa = not leave home; usar um casaco = wear a coat""",
    "fizer sol = it is sunny": """ir à praia = go to the beach;
        caminhar no parque = walk in the park; jogar {sport.b} = play {};
        nadar no lago = swim in the lake; lavar {vehicle.d} = wash {}""",
    "fizer frio = it is cold": """usar {wearable.t} = wear {}; beber chá = drink tea;
        ficar na cama = stay in bed; fechar as janelas = close the windows;
        fazer sopa = make soup""",
    "estiver quente = it is hot": """nadar no mar = swim in the sea; tomar sorvete = have ice cream;
        ligar o ventilador = turn on the fan; abrir as janelas = open the windows;
        beber {drink.b} = drink {}""",
}

def condition(s):
    """A condition as a VP that agrees with s, and the table of its results."""
    text = pick(tuple(RESULTS))
    vp, _ = plain(s, pairs_of(text)[0])
    tail = pt_adj(vp.pt_tail, s.g, s.n) if vp.pt in ("ser", "estar") else vp.pt_tail
    return replace(vp, pt_tail=tail), pairs_of(RESULTS[text])

def result_clause(s, results, tense):
    """One of the results, with words that agree."""
    vp, no = plain(s, pick(results))
    head, _, last = vp.pt_tail.rpartition(" ")
    if last in ("sozinho", "feliz"):
        vp = replace(vp, pt_tail=f"{head} {pt_adj(last, s.g, s.n)}".strip())
    tense = "fut" if tense == "going" and vp.pt == "ir" else tense
    return clause(s, vp, tense, neg=no, drop=None if tense != "cond" else s.who == "nós")

@family(6.5)
def real_conditions():
    """se, quando, assim que + future subjunctive: Se chover amanhã, ficaremos em casa."""
    s, r = subj(), DRAW.random()
    tense = "fut" if chance(0.6) else "going"
    if r < 0.25:
        text = pick(tuple(IF_WEATHER))
        first = pairs_of(text)[0]
        link, main = ("se", "if"), result_clause(s, pairs_of(IF_WEATHER[text]), tense)
    elif r < 0.6:
        link = choice(pairs_of("se = if; quando = when"))
        vp, results = condition(s)
        first = clause(s, vp, "fsub", drop=False)
        main = result_clause(replace_name(s), results, tense)
    else:
        link, t = choice(pairs_of("quando = when; assim que = as soon as")), subj(third=True)
        reject(t.pt == s.pt)
        arrive = VP(
            *pick(
                pairs_of("""chegar = arrive; voltar = return; ligar = call; sair = leave;
                    acordar = wake up; terminar = finish; chegar em casa = get home""")
            )
        )
        if " " in arrive.pt:
            arrive = VP("chegar", "get", "em casa", "home")
        first = clause(t, arrive, "fsub", drop=False)
        main = clause(s, action(s, company=0.1, where=0.1, willed=True), tense)
        return join(link, first, ",", main) if chance(0.6) else join(main, link, first)
    return join(link, first, ",", main)

@family(5.5)
def unreal_conditions():
    """se + imperfect subjunctive, conditional: Se eu tivesse dinheiro, compraria uma casa."""
    s = subj()
    vp, results = condition(s)
    first = clause(s, vp, "isub", drop=False)
    if vp.en == "be":
        first = (first[0], first[1].replace(f"{s.en} was ", f"{s.en} were "))
    return join(("se", "if"), first, ",", result_clause(replace_name(s), results, "cond"))

CONTRARY = {
    "estar cansado = be tired": """estudar à noite = study at night;
        trabalhar até tarde = work until late; correr no parque = run in the park;
        ajudar {close} = help {}; jogar {sport.b} = play {}; limpar {cleanable.d} = clean {};
        visitar {close} = visit {}""",
    "estar doente = be sick": """trabalhar em+{workplace.d} = work at {};
        nadar no mar = swim in the sea; ajudar {close} = help {}; jogar {sport.b} = play {};
        lavar {washable.d} = wash {}""",
    "estar ocupado = be busy": """ajudar {close} = help {}; visitar {close} = visit {};
        ligar para {close} = call {}; cuidar de+{close} = take care of {};
        responder a+{close} = answer {}; assistir a+{watchable.i} = watch {}""",
    "estar triste = be sad": """sorrir para {close} = smile at {}; cantar {music.i} = sing {};
        dançar com {close} = dance with {}; ajudar {close} = help {}""",
    "ter fome = be hungry": """não comer nada = not eat anything; não comer {edible.b} = not eat {};
        dar o sanduíche a+{close} = give the sandwich to {}""",
    "ter dinheiro = have money": """não comprar nada = not buy anything;
        usar roupas velhas = wear old clothes; não comprar {wearable.d} = not buy {};
        morar em+um apartamento pequeno = live in a small apartment""",
    "ser rico = be rich": """trabalhar em+{workplace.d} = work at {};
        morar em+uma casa pequena = live in a small house; não ajudar {close} = not help {};
        usar roupas velhas = wear old clothes""",
    "ter medo = be afraid": """entrar em+{dark.d} = enter {}; dirigir à noite = drive at night;
        nadar no mar = swim in the sea; falar com {close} = talk to {}""",
}

@family(4)
def although():
    """embora + subjunctive: Embora esteja cansada, ela estuda à noite."""
    s, past = subj(adults=True), chance(0.5)
    text = pick(tuple(CONTRARY))
    vp, _ = plain(s, pairs_of(text)[0])
    if vp.pt in ("ser", "estar"):
        vp = replace(vp, pt_tail=pt_adj(vp.pt_tail, s.g, s.n))
    first = clause(s, vp, "isub" if past else "subj", drop=False)
    main = plain_clause(replace_name(s), pick(pairs_of(CONTRARY[text])), "past" if past else "pres",
        drop=False)
    return join(("embora", "although"), first, ",", main)

def replace_name(s):
    """The pronoun that takes up s again: Ana ... ela."""
    if s.who:
        return s
    whos = {("m", "s"): "ele", ("f", "s"): "ela", ("m", "p"): "eles", ("f", "p"): "elas"}
    return pronoun(whos[s.g, s.n])

HELPING = {
    "fechar a janela = close the window": "não sentir frio = not feel cold; poder dormir = can "
    "sleep",
    "abrir a janela = open the window": "não sentir calor = not feel hot; poder ver a rua = can "
    "see the street",
    "abrir a porta = open the door": "poder entrar = can come in; poder sair = can leave",
    "acender a lâmpada = turn on the lamp": """poder ler {text.d} = can read {};
        poder ver melhor = can see better; não ter medo = not be afraid""",
    "desligar {machine.d} = turn off {}": """poder descansar = can rest; poder estudar = can study;
        poder dormir = can sleep; poder trabalhar = can work""",
    "preparar o jantar = prepare dinner": """poder descansar = can rest; poder comer = can eat;
        não ter fome = not be hungry""",
    "chamar um táxi = call a taxi": """não perder {transit.d} = not miss {};
        poder ir a+{cityplace.d} = can go to {}; chegar cedo = arrive early""",
    "sair de+{homeroom.d} = leave {}": """poder dormir = can sleep; poder trabalhar = can work;
        poder conversar = can talk; poder trocar de roupa = can change clothes""",
    "trazer um cobertor = bring a blanket": "não sentir frio = not feel cold; poder dormir = can "
    "sleep",
    "falar mais devagar = speak more slowly": """entender a pergunta = understand the question;
        entender {explainable.d} = understand {}; poder escrever tudo = can write everything""",
    "explicar {explainable.d} = explain {}": """entender tudo = understand everything;
        poder trabalhar melhor = can work better; não ter dúvidas = not have doubts""",
    "emprestar dinheiro a+{close} = lend money to {}": """não vender {sellable.d} = not sell {};
        poder pagar {bills.d} = can pay {}""",
    "fazer {homemade.i} = make {}": "não ter fome = not be hungry; poder comer = can eat",
    "escrever {note.i} a+{close} = write {} to {}": """não esquecer {event.d} = not forget {};
        saber a verdade = know the truth; entender {explainable.d} = understand {}""",
}

@family(4.5)
def so_that():
    """para que + subjunctive: Vou fechar a janela para que você não sinta frio."""
    s, t = subj(known=True), subj(known=True)
    reject(clash(s, t))
    text = pick(tuple(HELPING))
    main = plain_clause(s, pairs_of(text)[0], "going")
    goal = plain_clause(t, pick(pairs_of(HELPING[text])), "subj", drop=False)
    return join(main, ("para que", "so that"), goal)
