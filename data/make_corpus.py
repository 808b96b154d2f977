"""Write the bundled Portuguese-English corpus: a seeded bilingual grammar.

Run ``python data/make_corpus.py [--out DIR]``. It writes ``train.tsv``, ``validation.tsv`` and
``test.tsv`` (one ``Portuguese TAB English`` pair a line) to DIR, by default ``pt_en/`` beside this
file. The pairs are the hand-written ones of ``everyday.tsv`` and sentences made here by a grammar
that builds both languages at once. The same bytes come out on every run and Python version.

In this order the module holds:

1. the lexicon: nouns by class, people, places, adjectives, verbs with their complements;
2. Portuguese morphology: plurals, agreement, conjugation, contractions;
3. English morphology: plurals, articles, verb forms, verb groups;
4. phrases: picking words evenly, noun phrases, subjects, what each profession does, verb
   phrases, places, times, clauses;
5. sentence families: one function for each construction, with its share of the corpus;
6. splitting and writing.

A *pair* below is a tuple ``(Portuguese, English)``. Each Portuguese word sense and construction has
one English rendering, so that the English follows from the Portuguese. The Portuguese is Brazilian,
the English American. All text was written for this project.
"""

import argparse
import itertools
import random
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

# Tables and calls are packed by hand from here on.
# fmt: off

SEED = 20240607
SIZES = {"validation": 1000, "test": 1000, "train": 20000}
HERE = Path(__file__).resolve().parent

# --------------------------------------------------------------------------------------------------
# Lexicon
# --------------------------------------------------------------------------------------------------

def entries(text):
    """Parse "a, b, c" into a list, with single spaces."""
    return [" ".join(entry.split()) for entry in text.split(",")]

def table(text):
    """Parse "key: words; key: words" into a dict."""
    entries = (entry.split(":") for entry in " ".join(text.split()).split(";"))
    return {key.strip(): words.strip() for key, words in entries}

# Things, by class: "pt gender en". "_" is a space; "a/b" is singular/plural where the plural is
# irregular; a plural "-" marks an English noun without one.
NOUNS = {
    "fruit": """maçã f apple, banana f banana, laranja f orange, uva f grape, manga f mango/mangoes,
        abacaxi m pineapple, morango m strawberry, limão m lemon, pêssego m peach, pera f pear,
        melancia f watermelon, melão m melon, coco m coconut, cereja f cherry, ameixa f plum,
        mamão m papaya, abacate m avocado""",
    "vegetable": """tomate m tomato/tomatoes, batata f potato/potatoes, cenoura f carrot,
        cebola f onion, pepino m cucumber, alface f lettuce/-, repolho m cabbage/-, alho m garlic/-,
        espinafre m spinach/-, abóbora f pumpkin, cogumelo m mushroom, milho m corn/-,
        berinjela f eggplant""",
    "staple": """pão/pães m bread/-, queijo m cheese/-, arroz m rice/-, carne f meat/-,
        peixe m fish/-, frango m chicken/-, presunto m ham/-, macarrão m pasta/-,
        iogurte m yogurt/-, chocolate m chocolate/-, sorvete m ice_cream/-""",
    "meal": """sopa f soup, salada f salad, bolo m cake, torta f pie, sanduíche m sandwich,
        pizza f pizza, omelete f omelet, hambúrguer/hambúrgueres m hamburger, panqueca f pancake,
        biscoito m cookie""",
    "ingredient": """manteiga f butter/-, açúcar/açúcares m sugar/-, sal m salt/-,
        farinha f flour/-, mel m honey/-, geleia f jam/-, pimenta f pepper/-, ovo m egg,
        azeite m olive_oil/-, canela f cinnamon/-""",
    "drink": """água f water/-, café m coffee/-, chá m tea/-, leite m milk/-, suco m juice/-,
        vinho m wine/-, cerveja f beer/-, refrigerante m soda/-, limonada f lemonade/-""",
    "tableware": """prato m plate, copo m glass, xícara f cup, faca f knife/knives, garfo m fork,
        colher f spoon, panela f pot, tigela f bowl, bandeja f tray, frigideira f frying_pan,
        jarra f pitcher""",
    "text": """livro m book, revista f magazine, jornal/jornais m newspaper, carta f letter,
        romance m novel, poema m poem, conto m short_story, artigo m article, relatório m report,
        mensagem f message, bilhete m note, diário m diary""",
    "paper": """contrato m contract, documento m document, formulário m form, lista f list,
        mapa m map, dicionário m dictionary, cartão-postal/cartões-postais m postcard""",
    "clothes": """camisa f shirt, camiseta f T-shirt, saia f skirt, vestido m dress, casaco m coat,
        jaqueta f jacket, chapéu m hat, gravata f tie, cinto m belt, blusa f blouse,
        suéter/suéteres m sweater, boné m cap, lenço m scarf/scarves, uniforme m uniform,
        terno m suit""",
    "footwear": """sapato m shoe, bota f boot, luva f glove, meia f sock, sandália f sandal""",
    "valuable": """anel m ring, colar m necklace, relógio m watch, bolsa f purse, carteira f wallet,
        guarda-chuva m umbrella, brinco m earring, pulseira f bracelet, mochila f backpack,
        passaporte m passport, chave f key, celular m cell_phone""",
    "bag": """mala f suitcase, caixa f box, cesta f basket, sacola f bag, pacote m package""",
    "furniture": """mesa f table, cadeira f chair, sofá m couch, cama f bed, armário m closet,
        estante f bookcase, tapete m rug, poltrona f armchair, prateleira f shelf/shelves""",
    "decor": """espelho m mirror, lâmpada f lamp, cortina f curtain, quadro m painting, vaso m vase,
        vela f candle, almofada f cushion""",
    "bedding": """travesseiro m pillow, cobertor m blanket, lençol m sheet, toalha f towel""",
    "machine": """geladeira f refrigerator, fogão m stove, forno m oven, televisão f television,
        rádio m radio, computador m computer, telefone m telephone, câmera f camera,
        ventilador m fan, máquina_de_lavar/máquinas_de_lavar f washing_machine,
        impressora f printer, aspirador m vacuum_cleaner, liquidificador m blender""",
    "lift": "elevador m elevator",
    "tool": """martelo m hammer, chave_de_fenda/chaves_de_fenda f screwdriver, serrote m handsaw,
        escada f ladder, balde m bucket, vassoura f broom, pá f shovel, corda f rope,
        agulha f needle, machado m ax/axes, pincel m paintbrush, lanterna f flashlight""",
    "stationery": """caderno m notebook, lápis/lápis m pencil, caneta f pen, borracha f eraser,
        régua f ruler""",
    "vehicle": """carro m car, bicicleta f bicycle, moto f motorcycle, caminhão m truck,
        barco m boat, trator m tractor, van f van""",
    "transit": """ônibus/ônibus m bus, trem m train, avião m plane, navio m ship, táxi m taxi,
        metrô m subway""",
    "pet": """cachorro m dog, gato m cat, coelho m rabbit, papagaio m parrot, tartaruga f turtle,
        pássaro m bird""",
    "farm": """vaca f cow, cavalo m horse, porco m pig, ovelha f sheep/sheep, cabra f goat,
        galinha f hen, pato m duck, galo m rooster, burro m donkey""",
    "wild": """leão m lion, tigre m tiger, elefante m elephant, macaco m monkey, urso m bear,
        lobo m wolf/wolves, raposa f fox, cobra f snake, girafa f giraffe, zebra f zebra,
        jacaré m alligator, baleia f whale, golfinho m dolphin, tubarão m shark, águia f eagle,
        coruja f owl, camelo m camel""",
    "small": """sapo m frog, rato m mouse/mice, aranha f spider, abelha f bee,
        borboleta f butterfly, formiga f ant, mosca f fly""",
    "plant": """árvore f tree, flor f flower, rosa f rose, planta f plant, orquídea f orchid""",
    "landscape": """rio m river, lago m lake, montanha f mountain, floresta f forest, ilha f island,
        deserto m desert, vale m valley, cachoeira f waterfall, colina f hill, caverna f cave,
        vulcão m volcano, praia f beach""",
    "sky": """estrela f star, lua f moon, sol m sun, céu m sky, nuvem f cloud""",
    "film": """filme m movie, vídeo m video, peça f play,
        desenho_animado/desenhos_animados m cartoon, jogo m game, documentário m documentary""",
    "music": """canção f song, música f song""",
    "instrument": """violão m guitar, piano m piano, violino m violin, flauta f flute,
        trompete m trumpet, tambor m drum, saxofone m saxophone, acordeão m accordion,
        violoncelo m cello""",
    "sport": """futebol m soccer/-, basquete m basketball/-, vôlei m volleyball/-, tênis m tennis/-,
        xadrez m chess/-, golfe m golf/-, beisebol m baseball/-, handebol m handball/-""",
    "subject": """matemática f mathematics/-, história f history/-, física f physics/-,
        química f chemistry/-, biologia f biology/-, geografia f geography/-,
        filosofia f philosophy/-, economia f economics/-, direito m law/-, medicina f medicine/-,
        literatura f literature/-, arquitetura f architecture/-""",
    "language": """inglês m English/-, francês m French/-, alemão m German/-, espanhol m Spanish/-,
        italiano m Italian/-, japonês m Japanese/-, chinês m Chinese/-, russo m Russian/-,
        árabe m Arabic/-, português m Portuguese/-, grego m Greek/-, coreano m Korean/-""",
    "event": """reunião f meeting, aula f class, prova f exam, entrevista f interview,
        festa f party, casamento m wedding, concerto m concert, palestra f lecture, corrida f race,
        curso m course, exposição f exhibition, cerimônia f ceremony, conferência f conference""",
    "matter": """problema m problem, pergunta f question, resposta f answer, ideia f idea,
        plano m plan, projeto m project, decisão f decision, tarefa f task, exercício m exercise,
        regra f rule, lição f lesson, proposta f proposal, frase f sentence""",
    "affair": "notícia f news/-, história f story, erro m mistake, segredo m secret, crime m crime",
    "body": """cabeça f head, mão/mãos f hand, pé m foot/feet, braço m arm, perna f leg, olho m eye,
        orelha f ear, nariz m nose, boca f mouth, dente m tooth/teeth, dedo m finger,
        garganta f throat, joelho m knee, ombro m shoulder, pescoço m neck, cabelo m hair/-,
        rosto m face""",
    "opening": """porta f door, janela f window, portão m gate, gaveta f drawer""",
    "structure": """parede f wall, cerca f fence, telhado m roof, chão m floor/-""",
    "money": """dinheiro m money/-, conta f bill, passagem f ticket, presente m gift,
        aluguel m rent/-, cartão m card, moeda f coin, prêmio m prize, remédio m medicine/-""",
    "meeting": """café_da_manhã m breakfast/-, almoço m lunch/-, jantar m dinner/-""",
    "toy": """bola f ball, boneca f doll, pipa f kite, balão m balloon, brinquedo m toy""",
    "school": """escola f school, universidade f university, biblioteca f library,
        sala_de_aula/salas_de_aula f classroom""",
    "building": """hospital m hospital, banco m bank, mercado m market, supermercado m supermarket,
        padaria f bakery, farmácia f pharmacy, igreja f church, museu m museum, teatro m theater,
        cinema m movie_theater, restaurante m restaurant, hotel m hotel, aeroporto m airport,
        estação f station, loja f store, livraria f bookstore, fábrica f factory,
        escritório m office, zoológico m zoo, correio m post_office, delegacia f police_station,
        estádio m stadium, academia f gym, shopping/shoppings m mall, castelo m castle,
        prefeitura f city_hall, açougue m butcher_shop, cafeteria f coffee_shop, torre f tower,
        prédio m building, casa f house, apartamento m apartment, palácio m palace,
        embaixada f embassy, laboratório m laboratory, oficina f repair_shop,
        quartel m barracks/barracks, salão_de_beleza/salões_de_beleza m beauty_salon""",
    "room": """cozinha f kitchen, quarto m bedroom, sala f living_room, banheiro m bathroom,
        garagem f garage, varanda f porch, porão m basement, sótão/sótãos m attic,
        corredor m hallway""",
    "outdoor": """parque m park, praça f square, jardim m garden, quintal m backyard, rua f street,
        piscina f swimming_pool, fazenda f farm, ponte f bridge, porto m harbor, campo m field,
        feira f street_market, mar m sea, estrada f road, avenida f avenue,
        horta f vegetable_garden""",
    "town": """cidade f city, vilarejo m village, bairro m neighborhood""",
    "country": "país m country",
}

# Groups of nouns by Portuguese lemma; "@x" stands for the whole class x.
GROUPS = table("""
    edible: @fruit @vegetable @staple @meal; groceries: @fruit @vegetable @staple @drink
    @ingredient; cookable: arroz carne peixe frango macarrão sopa batata abóbora espinafre
    omelete; homemade: sopa salada bolo torta sanduíche pizza omelete café suco pão chá panqueca
    limonada; snack: sanduíche pizza salada sopa hambúrguer torta sorvete suco café refrigerante
    cerveja; cuttable: pão queijo bolo carne cebola tomate melancia abacaxi maçã pizza presunto;
    readable: @text; writable: carta mensagem relatório poema romance artigo bilhete conto;
    watchable: filme vídeo peça documentário; seen: filme documentário desenho_animado;
    wearable: @clothes; washable: @clothes prato copo panela carro toalha lençol xícara
    frigideira tigela janela; cleanable: @room mesa geladeira fogão forno espelho tapete estante
    escritório; fixable: @machine elevador carro bicicleta moto caminhão barco telhado porta
    cerca cadeira trator; breakable: copo prato xícara vaso espelho janela lâmpada tigela jarra
    celular; openable: @opening mala caixa pacote carta; paintable: @structure porta portão
    cadeira casa quarto cozinha; sellable: @vehicle @furniture casa apartamento piano computador
    câmera televisão fazenda; rentable: carro apartamento casa barco bicicleta van; losable:
    @valuable @stationery cartão dinheiro livro passagem; carryable: @bag @tool mochila bolsa
    cadeira mesa; driveable: carro caminhão van moto táxi; giftable: @valuable -passaporte
    -chave -carteira @toy livro camisa flor rosa bicicleta vestido chocolate bolsa; lendable:
    @tool @stationery livro carro dinheiro dicionário bicicleta guarda-chuva casaco; sendable:
    carta mensagem presente dinheiro flor pacote cartão-postal bilhete documento; solvable:
    problema exercício tarefa; understandable: pergunta problema regra lição frase; explainable:
    regra plano problema lição projeto exercício decisão ideia; finished: projeto exercício
    tarefa relatório; presented: projeto plano ideia proposta; corrected: exercício frase prova
    relatório; invitation: festa casamento concerto palestra exposição cerimônia corrida;
    organized: festa reunião corrida exposição cerimônia conferência palestra concerto curso;
    feared: prova entrevista palestra; hung: espelho quadro; appliance: geladeira fogão forno
    liquidificador; gadget: computador impressora telefone ventilador; fearsome: @wild @small
    cachorro -girafa -zebra -golfinho -baleia -borboleta -camelo; wildland: @wild -baleia
    -golfinho -tubarão; ride: ônibus trem táxi; loot: @valuable -chave dinheiro computador
    câmera televisão carro bicicleta moto; discussable: problema ideia plano projeto decisão
    proposta notícia crime; signable: contrato documento formulário carta relatório; drawable:
    @pet @farm @wild @plant mapa castelo rosto; seeable: @wild @small @farm cachoeira vulcão
    -baleia -golfinho -tubarão; animal: @pet @farm @wild @small -baleia -golfinho -tubarão; sea:
    baleia golfinho tubarão; portable: @valuable @stationery @text @paper @toy boné chapéu
    casaco; visitable: museu zoológico castelo palácio igreja fábrica exposição fazenda ilha
    torre vulcão; cityplace: @building @school -escola -casa -apartamento -prédio -quartel
    parque praça praia ponte feira piscina porto; sight: @landscape @outdoor @town castelo
    palácio igreja torre museu; plantable: @plant tomate alface cenoura abóbora milho; pricey:
    @clothes @furniture @valuable @decor @machine @tool @bag livro revista dicionário; carried:
    @bag @stationery mochila guarda-chuva; landing: montanha colina escada torre vulcão;
    crossing: rua ponte rio praça avenida estrada deserto; bills: conta aluguel; topic: @matter
    @affair; repeatable: pergunta frase resposta lição; surface: mesa cadeira sofá cama
    prateleira estante tapete; seat: cadeira sofá cama tapete; forked: bolo salada torta
    macarrão omelete carne peixe; lockable: porta portão gaveta mala; smashed: coco parede vaso
    espelho janela; printed: livro revista jornal romance dicionário; homeroom: quarto cozinha
    sala garagem varanda; buildable: casa garagem varanda cerca ponte escada; buyhome: casa
    apartamento fazenda; workplace: hospital fábrica banco hotel loja restaurante escritório;
    dark: caverna floresta porão corredor castelo; note: carta mensagem bilhete; coin: moeda;
    parcel: pacote carta presente; followed: regra plano; injured: @body -cabelo -dente
    -garganta; team: futebol basquete vôlei handebol; limb: braço perna dedo pé nariz; light:
    lâmpada lanterna; boats: barco navio; cloud: estrela nuvem; birds: pato pássaro sapo;
    gossip: segredo problema plano história ideia; acceptable: proposta presente ideia dinheiro""")

# People with a masculine and a feminine form: "masculine feminine en", by the place of work.
PEOPLE = {
    "escola": "professor professora teacher, aluno aluna student, diretor diretora director",
    "hospital": "médico médica doctor, enfermeiro enfermeira nurse, cirurgião cirurgiã surgeon",
    "escritório": """advogado advogada lawyer, arquiteto arquiteta architect, contador contadora
        accountant, secretário secretária secretary, tradutor tradutora translator,
        engenheiro engenheira engineer, programador programadora programmer""",
    "restaurante": "cozinheiro cozinheira cook, gerente gerente manager",
    "teatro": "cantor cantora singer, dançarino dançarina dancer, "
    "músico - musician, pianista pianista pianist",
    "laboratório": "cientista cientista scientist, químico - chemist",
    "fazenda": "fazendeiro fazendeira farmer, veterinário veterinária veterinarian",
    "padaria": "padeiro padeira baker", "açougue": "açougueiro açougueira butcher",
    "loja": "vendedor vendedora salesperson/salespeople, cliente cliente customer",
    "farmácia": "farmacêutico farmacêutica pharmacist",
    "biblioteca": "bibliotecário bibliotecária librarian",
    "oficina": "mecânico - mechanic, eletricista eletricista electrician",
    "delegacia": "policial policial police_officer, detetive detetive detective",
    "quartel": "soldado soldado soldier, bombeiro bombeira firefighter",
    "prefeitura": "prefeito prefeita mayor", "correio": "carteiro - mail_carrier",
    "salão_de_beleza": "cabeleireiro cabeleireira hairdresser",
    "academia": "treinador treinadora coach, atleta atleta athlete",
    "museu": "guia guia guide, historiador historiadora historian",
    "jardim": "jardineiro jardineira gardener", "aeroporto": "piloto pilota pilot",
    "": """escritor escritora writer, pintor pintora painter, jornalista jornalista journalist,
        fotógrafo fotógrafa photographer, motorista motorista driver, dentista dentista dentist,
        juiz juíza judge, psicólogo psicóloga psychologist, pescador - fisherman/fishermen,
        carpinteiro carpinteira carpenter, poeta poeta poet, presidente presidente president,
        jogador jogadora player, barbeiro barbeira barber""",
}
FOLK = """homem m man/men, mulher f woman/women, menino m boy, menina f girl, ator m actor,
    criança f child/children, bebê m baby, atriz f actress, garçom m waiter, garçonete f waitress,
    turista m tourist, visitante m visitor, passageiro m passenger, paciente m patient,
    convidado m guest, rei m king, rainha f queen, príncipe m prince, princesa f princess,
    ladrão m thief/thieves"""
FAMILY = """pai m father, mãe/mães f mother, irmão/irmãos m brother, irmã f sister, filho m son,
    filha f daughter, avô m grandfather, avó f grandmother, tio m uncle, tia f aunt, primo m cousin,
    prima f cousin, sobrinho m nephew, sobrinha f niece, neto m grandson, neta f granddaughter,
    marido m husband, esposa f wife/wives, amigo m friend, amiga f friend, vizinho m neighbor,
    vizinha f neighbor, chefe m boss, colega_de_trabalho/colegas_de_trabalho m coworker,
    namorada f girlfriend, namorado m boyfriend, sogro m father-in-law, sogra f mother-in-law,
    cunhado m brother-in-law, cunhada f sister-in-law"""
# Relatives of whom one has several.
SEVERAL = """irmão irmã filha tio tia primo prima sobrinho sobrinha neta amigo amiga vizinho
    vizinha""".split()
NAMES_M = """Pedro Paulo Lucas Marcos Carlos Rafael Daniel Bruno Miguel Ricardo Gustavo Eduardo
    Felipe André João José Antônio Roberto""".split()
NAMES_F = """Ana Maria Laura Beatriz Carla Clara Helena Fernanda Camila Paula Mariana Sofia Teresa
    Gabriela Luísa Isabela Renata Júlia""".split()

# Countries: "article pt en, nationality (masculine) en"; "-" is no article.
COUNTRIES = """o Brasil Brazil brasileiro Brazilian, a França France francês French,
    - Portugal Portugal português Portuguese, a Alemanha Germany alemão German,
    a Itália Italy italiano Italian, a Espanha Spain espanhol Spanish,
    o Japão Japan japonês Japanese, a China China chinês Chinese, a Rússia Russia russo Russian,
    a Argentina Argentina argentino Argentinian, o Chile Chile chileno Chilean,
    o México Mexico mexicano Mexican, o Canadá Canada canadense Canadian,
    a Inglaterra England inglês English, os Estados_Unidos the_United_States americano American,
    o Peru Peru peruano Peruvian, a Colômbia Colombia colombiano Colombian,
    a Índia India indiano Indian, o Egito Egypt egípcio Egyptian, a Grécia Greece grego Greek,
    a Suíça Switzerland suíço Swiss, a Austrália Australia australiano Australian,
    - Angola Angola angolano Angolan, a Suécia Sweden sueco Swedish,
    a Noruega Norway norueguês Norwegian, a Polônia Poland polonês Polish,
    a Turquia Turkey turco Turkish, a Irlanda Ireland irlandês Irish,
    - Moçambique Mozambique moçambicano Mozambican, a Áustria Austria austríaco Austrian"""
# Cities: "pt en country"; a "*" after the country marks its capital.
CITIES = """Lisboa Lisbon Portugal*, Paris Paris França*, Londres London Inglaterra*,
    Roma Rome Itália*, Madri Madrid Espanha*, Berlim Berlin Alemanha*, Tóquio Tokyo Japão*,
    Moscou Moscow Rússia*, Nova_York New_York Estados_Unidos, São_Paulo São_Paulo Brasil,
    Salvador Salvador Brasil, Brasília Brasília Brasil*, Curitiba Curitiba Brasil,
    Recife Recife Brasil, Porto_Alegre Porto_Alegre Brasil, Viena Vienna Áustria*,
    Atenas Athens Grécia*, Pequim Beijing China*, Genebra Geneva Suíça, Varsóvia Warsaw Polônia*,
    Lima Lima Peru*, Bogotá Bogotá Colômbia*, Santiago Santiago Chile*,
    Buenos_Aires Buenos_Aires Argentina*, Barcelona Barcelona Espanha,
    Chicago Chicago Estados_Unidos, Boston Boston Estados_Unidos, Dublin Dublin Irlanda*,
    Estocolmo Stockholm Suécia*, Florença Florence Itália, Veneza Venice Itália,
    Munique Munich Alemanha, Oslo Oslo Noruega*, Istambul Istanbul Turquia, Luanda Luanda Angola*,
    Maputo Maputo Moçambique*, Toronto Toronto Canadá, Sydney Sydney Austrália, Cusco Cusco Peru,
    Fortaleza Fortaleza Brasil, Manaus Manaus Brasil"""

# Adjectives by the class of noun they suit ("pt en"): lasting qualities, said with "ser" ...
COLORS = """vermelho red, azul blue, verde green, amarelo yellow, branco white, preto black,
    marrom brown, cinza gray, roxo purple, rosa pink"""
QUALITY = {
    "person": """alto tall, baixo short, inteligente intelligent, gentil kind, simpático friendly,
        trabalhador hardworking, preguiçoso lazy, honesto honest, tímido shy, corajoso brave,
        engraçado funny, sério serious, educado polite, magro thin, jovem young, velho old,
        rico rich, pobre poor, generoso generous, paciente patient, teimoso stubborn,
        curioso curious, calmo calm, famoso famous, forte strong, alegre cheerful, elegante elegant,
        distraído absent-minded, criativo creative, organizado organized""",
    "food": "delicioso delicious, caro expensive, barato cheap, saudável healthy, fresco fresh",
    "drink": "delicioso delicious, caro expensive, barato cheap, forte strong, doce sweet",
    "clothes": """novo new, velho old, elegante elegant, confortável comfortable, caro expensive,
        barato cheap, bonito beautiful, largo loose, apertado tight, feio ugly, @""",
    "thing": """novo new, velho old, caro expensive, barato cheap, bonito beautiful, leve light,
        pesado heavy, pequeno small, grande big""",
    "furniture": """novo new, velho old, caro expensive, barato cheap, bonito beautiful,
        pesado heavy, pequeno small, grande big, moderno modern""",
    "decor": "novo new, bonito beautiful, caro expensive, feio ugly, antigo old, @",
    "valuable": "novo new, velho old, bonito beautiful, caro expensive, pequeno small, lindo "
    "lovely",
    "opening": "novo new, velho old, grande big, pequeno small, pesado heavy",
    "machine": "novo new, velho old, moderno modern, caro expensive, barato cheap, útil useful",
    "tool": "novo new, velho old, pesado heavy, leve light, útil useful, forte strong",
    "vehicle": "novo new, velho old, rápido fast, lento slow, caro expensive, moderno modern, @",
    "text": """interessante interesting, chato boring, longo long, curto short, famoso famous,
        engraçado funny, triste sad, difícil difficult, importante important, novo new""",
    "film": """interessante interesting, chato boring, longo long, curto short, famoso famous,
        engraçado funny, triste sad, assustador scary, romântico romantic, excelente excellent""",
    "matter": """difícil difficult, fácil easy, importante important, simples simple, ruim bad,
        interessante interesting, excelente excellent, complicado complicated""",
    "affair": "grave serious, importante important, terrível terrible, estranho strange",
    "transit": "novo new, velho old, rápido fast, lento slow, moderno modern",
    "bedding": "novo new, velho old, macio soft, bonito beautiful, caro expensive, limpo clean",
    "event": """longo long, curto short, importante important, interessante interesting,
        chato boring, excelente excellent, difícil difficult""",
    "building": """antigo old, moderno modern, novo new, grande big, pequeno small, famoso famous,
        bonito beautiful, feio ugly, enorme huge""",
    "room": "grande big, pequeno small, escuro dark, claro bright, espaçoso spacious, frio cold",
    "sight": "bonito beautiful, famoso famous, grande big, pequeno small, tranquilo quiet",
    "landscape": "bonito beautiful, enorme huge, famoso famous, perigoso dangerous, lindo lovely",
    "animal": """grande big, pequeno small, bonito beautiful, forte strong, perigoso dangerous,
        rápido fast, inteligente intelligent, lento slow""",
    "pet": """grande big, pequeno small, bonito beautiful, manso tame, velho old, gordo fat,
        magro thin, brincalhão playful""",
    "plant": "bonito beautiful, pequeno small, raro rare, lindo lovely",
}
# ... and passing states, said with "estar".
STATE = {
    "person": """cansado tired, feliz happy, triste sad, preocupado worried, doente sick,
        ocupado busy, nervoso nervous, animado excited, zangado angry, assustado scared,
        sozinho alone, confuso confused, surpreso surprised, decepcionado disappointed,
        apaixonado in_love, pronto ready, atrasado late, entediado bored, orgulhoso proud,
        aliviado relieved, molhado wet, acordado awake, satisfeito satisfied""",
    "fruit": "maduro ripe, verde unripe, podre rotten, doce sweet, fresco fresh",
    "vegetable": "fresco fresh, podre rotten, cru raw, limpo clean",
    "food": "frio cold, quente hot, salgado salty, pronto ready, queimado burnt, gostoso tasty",
    "drink": "frio cold, quente hot, gelado ice-cold, gostoso tasty",
    "clothes": "sujo dirty, limpo clean, molhado wet, seco dry, rasgado torn",
    "tableware": "sujo dirty, limpo clean, quebrado broken, vazio empty, cheio full",
    "machine": "quebrado broken, ligado on, desligado off, sujo dirty",
    "opening": "aberto open, fechado closed, trancado locked",
    "shop": "aberto open, fechado closed, cheio full, vazio empty, lotado crowded",
    "room": "sujo dirty, limpo clean, vazio empty, bagunçado messy, arrumado tidy",
    "vehicle": "quebrado broken, sujo dirty, limpo clean, estacionado parked",
    "matter": "certo correct, errado wrong",
}
# The adjective class of each noun class: (quality, state).
ADJ_CLASS = {"fruit": ("food", "fruit"), "vegetable": ("food", "vegetable"), "staple": ("food", ""),
    "meal": ("food", "food"), "drink": ("drink", "drink"), "tableware": ("thing", "tableware"),
    "text": ("text", ""), "clothes": ("clothes", "clothes"), "footwear": ("clothes", "clothes"),
    "valuable": ("valuable", ""), "bag": ("thing", "tableware"), "furniture": ("furniture", ""),
    "decor": ("decor", ""), "machine": ("machine", "machine"), "lift": ("thing", ""),
    "tool": ("tool", ""), "vehicle": ("vehicle", "vehicle"), "transit": ("transit", ""),
    "film": ("film", ""), "pet": ("pet", ""), "farm": ("pet", ""), "wild": ("animal", ""),
    "small": ("", ""), "plant": ("plant", ""), "landscape": ("landscape", ""),
    "event": ("event", ""), "matter": ("matter", "matter"), "opening": ("opening", "opening"),
    "building": ("building", "shop"), "room": ("room", "room"), "outdoor": ("sight", ""),
    "school": ("building", "shop"), "town": ("sight", ""), "country": ("sight", ""),
    "music": ("film", ""), "toy": ("thing", ""), "bedding": ("bedding", "clothes"),
    "affair": ("affair", ""), "person": ("person", "person"), "paper": ("", "")}

# Where one does things: place lemmas by the tag that the actions below name.
PLACES = table("""
    eat: restaurante cozinha cafeteria casa praia parque varanda; dine: restaurante cafeteria
    hotel; cook: cozinha casa restaurante fazenda; food: mercado supermercado feira fazenda;
    shop: loja shopping; read: biblioteca casa parque quarto sala varanda jardim praia; write:
    casa escritório biblioteca quarto cafeteria; study: biblioteca casa escola universidade
    quarto sala_de_aula; class: escola universidade sala_de_aula; work: escritório hospital
    fábrica banco hotel loja restaurante fazenda universidade; play: parque praia quintal rua
    escola estádio; kids: parque praia quintal rua jardim escola piscina; watch: casa cinema
    sala escola; music: teatro festa casa igreja escola praça; swim: piscina mar rio lago;
    shore: praia ilha porto; run: parque praia rua; walk: parque praia floresta rua praça jardim
    ponte; sleep: casa quarto hotel sofá; rest: casa jardim praia varanda sala quarto hotel;
    home: casa cozinha sala quarto garagem varanda porão; meet: aeroporto estação praça parque
    cinema restaurante universidade; talk: corredor rua escritório cafeteria restaurante casa
    praça; grow: jardim quintal fazenda horta; fix: oficina garagem casa; drive: cidade estrada
    avenida campo; park: garagem rua praça avenida; wait: estação aeroporto hotel praça; fish:
    rio lago mar porto; office: escritório banco prefeitura; desk: escritório biblioteca casa;
    zoo: zoológico; small: jardim quintal horta floresta; farm: fazenda campo vale; stop:
    estação; help: casa cozinha; speak: escola escritório casa hotel; hide: casa quarto garagem
    porão sótão; lab: laboratório universidade; town: cidade vilarejo bairro; spend: shopping
    loja mercado feira; see: zoológico floresta fazenda jardim praia ilha vale; clinic: hospital
    casa; gym: academia parque casa; art: museu parque casa escola jardim; walk2: praia floresta
    montanha ilha""")

# Actions: "pt | complement | en | complement | place tag | flags". "{group.letters}" in the first
# complement is a noun phrase (see `slot`), repeated as "{}" in the second; "~" is my, your, his ...
# by the subject. Flags: h can be a habit, g can be in progress, c with company, p can be passive,
# r is reflexive in Portuguese.
ACTIONS = """
comer|{edible.ibDd}|eat|{}|eat|hgcp; comer|{edible.ibb}|eat|{}|eat|hgcp;
beber|{drink.bd}|drink|{}|eat|hgc; cozinhar|{cookable.bd}|cook|{}|cook|hgp;
preparar|{meeting.B}|prepare|{}|cook|hgc; fazer|{homemade.ib}|make|{}|cook|hg;
pedir|{snack.i}|order|{}|dine|hc; comprar|{groceries.bn}|buy|{}|food|hgc;
comprar|{wearable.itn}|buy|{}|shop|gcp; comprar|{footwear.bTn}|buy|{}|shop|gc;
comprar|{furniture.it}|buy|{}|shop|cp; comprar|{tableware.nD}|buy|{}|shop|c;
comprar|{machine.it}|buy|{}|shop|p; comprar|{decor.itn}|buy|{}|shop|c;
comprar|{bedding.nT}|buy|{}|shop|c; vender|{sellable.mdi}|sell|{}||p;
alugar|{rentable.i}|rent|{}|town|c; ler|{readable.idtm}|read|{}|read|hgp;
escrever|{writable.ibn}|write|{}|write|hgp; estudar|{subject.b}|study|{}|study|hgc;
estudar|{language.b}|study|{}|study|hgc; aprender|{language.b}|learn|{}|class|hgc;
ensinar|{subject.b}|teach|{}|class|hg; ensinar|{language.b}|teach|{}|class|hg;
praticar|{language.b}|practice|{}|class|hgc; falar|{language.b}|speak|{}|speak|hgc;
falar|sobre {event.dt}|talk|about {}|talk|hgc; assistir|a+{watchable.id}|watch|{}||hgc;
assistir|a+{seen.id}|watch|{}|watch|hgc; ouvir|{music.ib}|listen to|{}|home|hgc;
ouvir|o rádio|listen to|the radio|home|hgc;
ouvir|a notícia no rádio|hear|the news on the radio|home|;
tocar|{instrument.z}|play|the {}|music|hgc; tocar|{instrument.z}|play|the {}|home|hgc;
jogar|{team.b}|play|{}|play|hgc; jogar|{sport.b}|play|{}||hgc; cantar|{music.ib}|sing|{}|music|hgc;
dançar||dance||music|hgc; nadar||swim||swim|hgc; correr||run||run|hgc; caminhar||walk||walk|hgc;
dormir||sleep||sleep|hg; trabalhar||work||work|hgc; descansar||rest||rest|hgc;
conversar|sobre {topic.dt}|talk|about {}|talk|gc; brincar||play||kids|hgc;
tirar|fotos de+{wildland.bD}|take|pictures of {}|zoo|hgc;
tirar|fotos de+{farm.bD}|take|pictures of {}|farm|hgc;
tirar|fotos de+{small.bD}|take|pictures of {}|small|hgc;
tirar|fotos de+{sight.dt}|take|pictures of {}||hgc; limpar|{cleanable.dm}|clean|{}||hgp;
lavar|{washable.dDm}|wash|{}||hgp; varrer|{room.dt}|sweep|{}||hg; arrumar|a cama|make|the bed||hg;
arrumar|{room.dt}|tidy|{}||hg; consertar|{fixable.dmt}|fix|{}|fix|gp;
quebrar|{breakable.dit}|break|{}|home|p; abrir|{openable.dt}|open|{}||hp;
fechar|{opening.dD}|close|{}||hp; pintar|{paintable.dt}|paint|{}||gp;
construir|{buildable.i}|build|{}|town|gp; plantar|{plantable.bn}|plant|{}|grow|hgp;
regar|{plant.D}|water|{}|grow|hg; alimentar|{pet.md}|feed|{}||hg; alimentar|{farm.D}|feed|{}||hg;
cortar|{cuttable.d}|cut|{}|cook|gp; dirigir|{driveable.di}|drive|{}|drive|hg;
estacionar|{driveable.dm}|park|{}|park|hgp; pegar|{transit.d}|take|{}||hc;
perder|{transit.d}|miss|{}||; perder|{losable.m}|lose|{}|meet|p;
encontrar|{losable.mi}|find|{}|rest|p; encontrar|{person}|meet|{}|meet|h;
encontrar|{person}|meet|{}|talk|h; encontrar|{coin.nni}|find|{}|run|;
procurar|{losable.md}|look for|{}|home|g; procurar|{signable.dt}|look for|{}|office|g;
esperar|{ride.d}|wait for|{}|stop|hg; esperar|{transit.d}|wait for|{}||hg;
esperar|{person}|wait for|{}|wait|hg; visitar|{close}|visit|{}|clinic|hgc;
visitar|{visitable.di}|visit|{}||hgc; visitar|{landscape.di}|visit|{}||gc;
convidar|{close} para {invitation.d}|invite|{} to {}||; ajudar|{close}|help|{}|help|hg;
ajudar|{person}|help|{}||hg; cumprimentar|{person}|greet|{}|talk|h; abraçar|{close}|hug|{}|meet|h;
agradecer|a+{person}|thank|{}||; entender|{understandable.dt}|understand|{}|class|;
explicar|{explainable.dt} a+{person}|explain|{} to {}||gp;
corrigir|{corrected.d}|correct|{}|class|hgp; responder|a+{person}|answer|{}||;
pagar|{bills.d}|pay|{}||p; gastar|muito dinheiro|spend|a lot of money|spend|hg;
ganhar|{giftable.i}|get|{}||; ganhar|muito dinheiro|earn|a lot of money||;
economizar|dinheiro|save|money||hg; emprestar|{lendable.mi} a+{close}|lend|{} to {}||;
devolver|{lendable.d} a+{person}|return|{} to {}||; mostrar|{giftable.m} a+{close}|show|{} to {}||g;
mostrar|{sight.dt} a+{person}|show|{} to {}||g; enviar|{sendable.i} a+{person}|send|{} to {}||p;
dar|{giftable.it} a+{close}|give|{} to {}||; trazer|{meal.it}|bring|{}||h;
trazer|{giftable.i} para {close}|bring|{} for {}||; oferecer|{drink.b} a+{person}|offer|{} to {}||h;
contar|uma história a+{close}|tell|a story to {}||hg; contar|{gossip.dt} a+{close}|tell|{} to {}||;
levar|{close} a+{cityplace.d}|take|{} to {}||h; levar|{carried.dm}|carry|{}||hg;
carregar|{carryable.d}|carry|{}|home|g; empurrar|{vehicle.d}|push|{}||g;
guardar|{tool.d}|put away|{}||p; guardar|{bedding.D}|put away|{}||;
colocar|{tableware.D} na mesa|put|{} on the table||h;
colocar|{portable.d} em+{bag.dt}|put|{} in {}||; esquecer|{portable.m} em casa|forget|{} at home||;
esquecer|{portable.m} em+{transit.d}|leave|{} on {}||;
deixar|{portable.m} em+{surface.t}|leave|{} on {}||; viajar|para {country}|travel|to {}||hgc;
viajar|para {city}|travel|to {}||hgc; chegar|a+{cityplace.d}|arrive|at {}||;
chegar|em casa|get|home||; sair|de+{cityplace.d}|leave|{}||; sair|de casa|leave|home||h;
ir|a+{cityplace.d}|go|to {}||hc; ir|para a escola|go|to school||hc;
voltar|para casa|return|home||hgc; voltar|de+{cityplace.d}|return|from {}||hc;
voltar|de+{city}|return|from {}||c; entrar|em+{cityplace.d}|enter|{}||;
subir|{landing.d}|climb|{}||gc; atravessar|{crossing.d}|cross|{}||hgc;
discutir|{discussable.dt}|discuss|{}|office|hgcp; resolver|{solvable.dt}|solve|{}|class|p;
terminar|{finished.d}|finish|{}|desk|; escolher|{wearable.dit}|choose|{}|shop|p;
experimentar|{wearable.dit}|try on|{}|shop|gp; usar|{wearable.it}|wear|{}||hg;
usar|{footwear.bT}|wear|{}||hg; usar|{tool.di}|use|{}|fix|hgp; usar|{gadget.dm}|use|{}|work|hgp;
organizar|{organized.idt}|organize|{}||gp; planejar|{organized.idt}|plan|{}|desk|gp;
cancelar|{event.dt}|cancel|{}||p; traduzir|{text.idt}|translate|{}|desk|gp;
desenhar|{drawable.ib}|draw|{}|art|hgp; assinar|{signable.dt}|sign|{}|office|p;
imprimir|{signable.dt}|print|{}|office|gp; copiar|{repeatable.D}|copy|{}|class|hgp;
ver|{wildland.in}|see|{}|zoo|hc; ver|{small.in}|see|{}|small|hc; ver|{farm.in}|see|{}|farm|hc;
observar|{sights}|watch|{}|see|hgc; ver|{sea.i}|see|{}|shore|hc;
tirar|fotos de+{sea.bD}|take|pictures of {}|shore|hgc; fotografar|{sight.d}|photograph|{}||gcp;
cuidar|de+{close}|take care of|{}|clinic|hg; cuidar|de+{pet.md}|take care of|{}|home|hg;
pescar||fish||fish|hgc; levantar|cedo|get up|early||hr; deitar|tarde|go|to bed late||hr;
vestir|rapidamente|get|dressed quickly||hr; divertir|muito|have|a lot of fun|kids|cr;
sentar|em+{seat.dt}|sit down|on {}||r; mudar|para {city}|move|to {}||cr;
queixar|de+{topic.dt}|complain|about {}||hgr; preocupar|com {topic.dt}|worry|about {}||hr;
encontrar|com {person}|meet|with {}|talk|hr; despedir|de+{close}|say goodbye|to {}|meet|r;
esconder||hide||hide|r; tomar|banho|take|a shower||hg; tomar|café da manhã|have|breakfast|eat|hgc;
tomar|remédio|take|medicine||hg; almoçar||have|lunch|eat|hgc; jantar||have|dinner|eat|hgc;
escovar|os dentes|brush|~ teeth||hg; lavar|as mãos|wash|~ hands||hg;
pentear|o cabelo|comb|~ hair||hg; fazer|compras|go|shopping|spend|hgc;
fazer|exercícios|exercise||gym|hgc; fazer|a lição de casa|do|~ homework|study|hg;
fazer|uma pergunta a+{person}|ask|{} a question||; fazer|a mala|pack|~ suitcase||g;
tirar|{clothes.dm}|take off|{}||; perder|a paciência|lose|~ patience||; chorar||cry||sleep|hg;
sorrir|para {person}|smile|at {}||h; rir|de+{joke}|laugh|at {}||; mentir|para {person}|lie|to {}||;
ligar|para {close}|call|{}||h; escrever|para {close}|write|to {}||hg;
brincar|com {pet.md}|play|with {}|kids|hg; brincar|com {toy.md}|play|with {}|kids|hg;
passear|com o cachorro|walk|the dog|walk|hg; salvar|{pet.d}|save|{}||; vencer|{race}|win|{}||p;
passar|na prova|pass|the exam||; misturar|{mixture}|mix|{}|cook|g;
machucar|{injured.B}|hurt|~ {}|gym|; quebrar|{limb.B}|break|~ {}|gym|;
costurar|{wearable.im}|sew|{}|home|hgp; acender|{light.d}|turn on|{}||h;
acender|uma vela|light|a candle|rest|h; ligar|{machine.d}|turn on|{}||h;
desligar|{machine.d}|turn off|{}||h; apagar|{light.d}|turn off|{}||h;
gritar|com {person}|shout|at {}||; treinar||train||gym|hgc; acampar||camp||walk2|hgc;
pesquisar|{subject.b}|research|{}|lab|hg; examinar|{signable.d}|examine|{}|office|gp;
receber|{sendable.i}|receive|{}||p; perdoar|{close}|forgive|{}||;
apresentar|{presented.d}|present|{}|office|gp; seguir|{followed.dD}|follow|{}||h;
aceitar|{acceptable.dt}|accept|{}||p; recusar|{acceptable.dt}|refuse|{}||p;
repetir|{repeatable.dt}|repeat|{}|class|hg; decorar|{room.dt}|decorate|{}||g;
molhar|{footwear.E}|get|~ {} wet|walk|
"""

# What a child can do as well; nothing else takes a child as its subject.
KID_VERBS = set(
    """comer beber ler escrever estudar aprender assistir ouvir tocar jogar cantar dançar nadar
        correr caminhar dormir descansar brincar arrumar quebrar abrir fechar regar alimentar perder
        encontrar procurar esperar ajudar abraçar cumprimentar entender responder mostrar ir voltar
        sair desenhar copiar ver levantar deitar divertir sentar esconder tomar escovar lavar
        pentear chorar sorrir rir mentir repetir molhar machucar praticar falar convidar""".split()
)

# Actions that happen rarely and so go with years and months, and those that go with whole days.
FAR_VERBS = set(
    """vender alugar construir viajar mudar plantar aprender ensinar visitar fotografar acampar
        vencer pintar organizar costurar economizar decorar""".split()
)
DAY_VERBS = set(
    "observar almoçar jantar levantar deitar preparar vestir tomar dormir divertir".split()
)

# Fixed complements with their translations, picked like nouns.
FIXED = {"joke": (("a piada", "the joke"), ("a história", "the story")),
    "mixture": (("a manteiga e o açúcar", "the butter and the sugar"),
    ("a farinha e os ovos", "the flour and the eggs"), ("o leite e o mel",
    "the milk and the honey"), ("o sal e a pimenta", "the salt and the pepper"),
    ("o azeite e o sal", "the olive oil and the salt"), ("o açúcar e a canela",
    "the sugar and the cinnamon"), ("a geleia e o iogurte", "the jam and the yogurt")),
    "sights": (("as estrelas", "the stars"), ("a lua", "the moon"), ("as nuvens", "the clouds"),
    ("o céu", "the sky"), ("os pássaros", "the birds")), "race": (("a corrida", "the race"),
    ("o jogo", "the game"), ("a guerra", "the war"))}

# --------------------------------------------------------------------------------------------------
# Portuguese morphology
# --------------------------------------------------------------------------------------------------

# Persons are numbered 0 eu, 1 você/ele/ela, 2 nós, 3 vocês/eles/elas.
ENDINGS = {"ar": {"pres": "o a amos am", "past": "ei ou amos aram", "impf": "ava ava ávamos avam",
    "subj": "e e emos em"}, "er": {"pres": "o e emos em", "past": "i eu emos eram",
    "impf": "ia ia íamos iam", "subj": "a a amos am"}, "ir": {"pres": "o e imos em",
    "past": "i iu imos iram", "impf": "ia ia íamos iam", "subj": "a a amos am"}}
FUTURE = "ei á emos ão".split()
CONDITIONAL = "ia ia íamos iam".split()
# Irregular forms; "I" alone stands for the present of eu, from which the subjunctive follows.
IRREGULAR = {"ser": {"pres": "sou é somos são", "past": "fui foi fomos foram",
    "impf": "era era éramos eram", "subj": "seja seja sejamos sejam"},
    "estar": {"pres": "estou está estamos estão", "past": "estive esteve estivemos estiveram",
    "subj": "esteja esteja estejamos estejam"}, "ter": {"pres": "tenho tem temos têm",
    "past": "tive teve tivemos tiveram", "impf": "tinha tinha tínhamos tinham"},
    "haver": {"pres": "hei há havemos hão", "past": "houve houve houvemos houveram",
    "subj": "haja haja hajamos hajam"}, "ir": {"pres": "vou vai vamos vão",
    "past": "fui foi fomos foram", "subj": "vá vá vamos vão"},
    "vir": {"pres": "venho vem vimos vêm", "past": "vim veio viemos vieram",
    "impf": "vinha vinha vínhamos vinham", "part": "vindo"},
    "ver": {"pres": "vejo vê vemos veem", "past": "vi viu vimos viram", "part": "visto"},
    "ler": {"pres": "leio lê lemos leem"}, "dar": {"pres": "dou dá damos dão",
    "past": "dei deu demos deram", "subj": "dê dê demos deem"},
    "fazer": {"pres": "faço faz fazemos fazem", "past": "fiz fez fizemos fizeram", "fut": "far",
    "part": "feito"}, "dizer": {"pres": "digo diz dizemos dizem",
    "past": "disse disse dissemos disseram", "fut": "dir", "part": "dito"},
    "trazer": {"pres": "trago traz trazemos trazem", "past": "trouxe trouxe trouxemos trouxeram",
    "fut": "trar"}, "poder": {"pres": "posso pode podemos podem",
    "past": "pude pôde pudemos puderam"}, "querer": {"pres": "quero quer queremos querem",
    "past": "quis quis quisemos quiseram", "subj": "queira queira queiramos queiram"},
    "saber": {"pres": "sei sabe sabemos sabem", "past": "soube soube soubemos souberam",
    "subj": "saiba saiba saibamos saibam"}, "sair": {"pres": "saio sai saímos saem",
    "past": "saí saiu saímos saíram", "impf": "saía saía saíamos saíam", "part": "saído"},
    "cair": {"pres": "caio cai caímos caem", "past": "caí caiu caímos caíram",
    "impf": "caía caía caíamos caíam", "part": "caído"},
    "construir": {"pres": "construo constrói construímos constroem",
    "past": "construí construiu construímos construíram",
    "impf": "construía construía construíamos construíam", "part": "construído"},
    "rir": {"pres": "rio ri rimos riem", "subj": "ria ria riamos riam"},
    "sorrir": {"pres": "sorrio sorri sorrimos sorriem", "subj": "sorria sorria sorriamos sorriam"},
    "subir": {"pres": "subo sobe subimos sobem"}, "abrir": {"part": "aberto"},
    "escrever": {"part": "escrito"}, "pagar": {"part": "pago"}, "ganhar": {"part": "ganho"},
    "gastar": {"part": "gasto"}, "aceitar": {"part": "aceito"}, "perder": {"I": "perco"},
    "pedir": {"I": "peço"}, "ouvir": {"I": "ouço"}, "dormir": {"I": "durmo"},
    "mentir": {"I": "minto"}, "repetir": {"I": "repito"}, "seguir": {"I": "sigo"},
    "conseguir": {"I": "consigo"}, "sentir": {"I": "sinto"}, "vestir": {"I": "visto"},
    "preferir": {"I": "prefiro"}, "divertir": {"I": "divirto"}, "despedir": {"I": "despeço"},
    "servir": {"I": "sirvo"}, "traduzir": {"pres": "traduzo traduz traduzimos traduzem"},
    "passear": {"pres": "passeio passeia passeamos passeiam",
    "subj": "passeie passeie passeemos passeiem"},
    "pentear": {"pres": "penteio penteia penteamos penteiam",
    "subj": "penteie penteie penteemos penteiem"}, "odiar": {"pres": "odeio odeia odiamos odeiam",
    "subj": "odeie odeie odiemos odeiem"}, "doer": {"pres": "doo dói doemos doem",
    "past": "doí doeu doemos doeram"}, "chover": {}, "nevar": {}}
SOFT = (("c", "qu"), ("g", "gu"), ("ç", "c"))
HARD = (("gu", "g"), ("c", "ç"), ("g", "j"))
ACCENTED = {"a": "á", "e": "ê", "i": "í", "o": "ô"}

def pt_stem(verb, ending):
    """The stem of a verb as it is spelt before an ending: chegar, -ei -> chegu; dirigir, -o."""
    stem, theme = verb[:-2], verb[-2:]
    changes = ()
    if theme == "ar" and ending[0] in "eé":
        changes = SOFT
    elif theme != "ar" and ending[0] in "aoá":
        changes = HARD
    for old, new in changes:
        if stem.endswith(old):
            return stem[: -len(old)] + new
    return stem

def pt_forms(verb, tense):
    """The four forms of a verb in a tense: pres past impf subj isub fsub fut cond."""
    odd = IRREGULAR.get(verb, {})
    if tense in odd:
        return odd[tense].split() if tense != "fut" else [odd["fut"] + e for e in FUTURE]
    if tense in ("fut", "cond"):
        base = odd.get("fut", verb)
        return [base + e for e in (FUTURE if tense == "fut" else CONDITIONAL)]
    if tense in ("isub", "fsub"):
        return past_subjunctives(verb, tense)
    ends = ENDINGS[verb[-2:]][tense].split()
    if tense == "subj" and ("I" in odd or "pres" in odd):
        stem = (odd.get("I") or odd["pres"].split()[0])[:-1]
        return [stem + e for e in ends]
    forms = [pt_stem(verb, e) + e for e in ends]
    if tense == "pres" and "I" in odd:
        forms[0] = odd["I"]
    return forms

def past_subjunctives(verb, tense):
    """Imperfect (falasse) or future (falar) subjunctive, both from the past of eles."""
    stem = pt_forms(verb, "past")[3][:-3]  # fala-ram, fize-ram
    plain = stem.replace("í", "i")
    if tense == "fsub":
        return [plain + "r", plain + "r", plain + "rmos", stem + "rem"]
    irregular = "past" in IRREGULAR.get(verb, {})
    vowel = "é" if irregular and plain[-1] == "e" else ACCENTED[plain[-1]]
    return [stem + "sse", stem + "sse", plain[:-1] + vowel + "ssemos", stem + "ssem"]

def pt_gerund(verb):
    """falar -> falando."""
    return verb[:-1] + "ndo"

def pt_participle(verb):
    """falar -> falado, fazer -> feito."""
    odd = IRREGULAR.get(verb, {}).get("part")
    return odd or verb[:-2] + ("ado" if verb.endswith("ar") else "ido")

def pt_plural(word):
    """The regular plural of a noun or adjective."""
    if word.endswith("ão"):
        return word[:-2] + "ões"
    for end, plural in (("ês", "eses"), ("vel", "veis"), ("m", "ns"), ("il", "eis"), ("el", "éis"),
        ("ol", "óis"), ("l", "is")):
        if word.endswith(end):
            return word[: -len(end)] + plural
    return word + ("es" if word[-1] in "rzs" else "s")

def pt_adj(adj, gender, number):
    """A masculine singular adjective or participle made to agree."""
    if adj in ("rosa", "cinza", "simples"):
        return adj
    if gender == "f":
        special = {"alemão": "alemã", "brincalhão": "brincalhona", "espanhol": "espanhola"}
        if adj in special:
            adj = special[adj]
        elif adj.endswith("o"):
            adj = adj[:-1] + "a"
        elif adj.endswith("ês"):
            adj = adj[:-2] + "esa"
        elif adj.endswith("dor"):
            adj += "a"
    if number == "p":
        adj = {"alemão": "alemães"}.get(adj) or pt_plural(adj)
    return adj

ARTICLES = ("o", "a", "os", "as")
MERGED = {"de": {**{a: "d" + a for a in ARTICLES}, "aqui": "daqui"},
    "em": {"o": "no", "a": "na", "os": "nos", "as": "nas", "um": "num", "uma": "numa"},
    "a": {"o": "ao", "a": "à", "os": "aos", "as": "às"}, "por": {"o": "pelo", "a": "pela",
    "os": "pelos", "as": "pelas"}}
POINTERS = re.compile(r"(ele|ela|este|esta|esse|essa|aquele|aquela)s?|isto|isso|aquilo")
OWNERS = re.compile(r"(meu|seu|nosso|noss|minh|su)(a?)(s?)")

def pt_merge(match):
    """Join a preposition marked "de+" to the word after it: de+o -> do, em+minha -> na minha."""
    prep, word = match.group(1), match.group(2)
    if word in MERGED[prep]:
        return MERGED[prep][word]
    if OWNERS.fullmatch(word):
        feminine = word.rstrip("s").endswith("a")
        article = ARTICLES[feminine + 2 * word.endswith("s")]
        return f"{MERGED[prep][article]} {word}"
    if POINTERS.fullmatch(word):
        if prep in ("de", "em"):
            return prep.replace("em", "n")[0] + word
        if prep == "a" and word.startswith("aq"):
            return "à" + word[1:]
    return f"{prep} {word}"

# --------------------------------------------------------------------------------------------------
# English morphology
# --------------------------------------------------------------------------------------------------

# Irregular verbs: "base past participle".
EN_VERBS = {
    v.split()[0]: tuple(v.split()[1:])
    for v in """eat ate eaten, drink drank drunk, make made made, buy bought bought, sell sold sold,
        read read read, write wrote written, teach taught taught, speak spoke spoken,
        hear heard heard, sing sang sung, swim swam swum, run ran run, sleep slept slept,
        take took taken, sweep swept swept, break broke broken, build built built, cut cut cut,
        feed fed fed, drive drove driven, lose lost lost, find found found, meet met met,
        understand understood understood, pay paid paid, spend spent spent, get got gotten,
        lend lent lent, show showed shown, send sent sent, give gave given, tell told told,
        bring brought brought, put put put, forget forgot forgotten, leave left left, go went gone,
        choose chose chosen, wear wore worn, draw drew drawn, see saw seen, sit sat sat,
        hide hid hidden, have had had, do did done, hurt hurt hurt, win won won, sew sewed sewn,
        forgive forgave forgiven, say said said, know knew known, think thought thought,
        feel felt felt, begin began begun, come came come, be was been, bite bit bitten,
        steal stole stolen, fly flew flown, fall fell fallen, become became become, keep kept kept,
        let let let, grow grew grown, catch caught caught, blow blew blown, freeze froze frozen,
        shine shone shone, rise rose risen, ride rode ridden, light lit lit, wake woke woken,
        fight fought fought, dig dug dug, hold held held, cost cost cost""".split(",")
}
EN_DOUBLE = set(
    "plan stop swim run cut put get hug chat sit win forget jog let begin dig prefer".split()
)
VOWEL_SOUND = re.compile(r"(?!uni|use|eu|one)[aeiou]|hour|hon", re.IGNORECASE)

def en_s(word):
    """Add a regular -s: box -> boxes, city -> cities."""
    if re.search(r"(s|x|z|ch|sh)$", word) or word in ("go", "do"):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"

def en_form(verb, form):
    """A form of a verb: base s past pp ing; only the first word of a phrasal verb changes."""
    verb, *rest = verb.split(" ")
    if form == "s":
        out = "has" if verb == "have" else en_s(verb)
    elif form == "ing":
        stem = verb
        if verb in EN_DOUBLE:
            stem += verb[-1]
        elif verb in ("lie", "tie"):
            stem = verb[:-2] + "y"
        elif verb.endswith("e") and not verb.endswith("ee") and verb != "be":
            stem = verb[:-1]
        out = stem + "ing"
    elif form in ("past", "pp"):
        if verb in EN_VERBS:
            out = EN_VERBS[verb][form == "pp"]
        elif verb in EN_DOUBLE:
            out = verb + verb[-1] + "ed"
        elif re.search(r"[^aeiou]y$", verb):
            out = verb[:-1] + "ied"
        else:
            out = verb + ("d" if verb.endswith("e") else "ed")
    else:
        out = verb
    return " ".join([out, *rest])

BE = {"pres": ("am", "is", "are"), "past": ("was", "was", "were")}
MODALS = {"can": "could", "should": "should"}
NOT = {"am": "am not", "can": "can't", "will": "won't"}

def en_not(aux):
    """An auxiliary and its negation: do -> don't, will -> won't."""
    return NOT.get(aux) or aux + "n't"

def en_group(verb, tense, e):
    """(auxiliary, rest) of a verb group; the auxiliary of a plain form is "" (do, does, did).

    Person e is 0 for I, 1 for he, she, it and 2 for you, we, they.
    """
    have = ("have", "has", "have")[e]
    first = verb.split(" ")[0]
    if first in MODALS and tense in ("pres", "past"):
        return (first if tense == "pres" else MODALS[first]), ""
    if first == "be" and tense in BE:
        return BE[tense][e], ""
    if tense == "pres":
        return "", en_form(verb, "s") if e == 1 else verb
    if tense == "past":
        return "", en_form(verb, "past")
    simple = {"used": "used to", "going": BE["pres"][e] + " going to"}
    groups = {"fut": ("will", verb), "cond": ("would", verb),
        "going": (BE["pres"][e], "going to " + verb), "was going": (BE["past"][e],
        "going to " + verb), "prog": (BE["pres"][e], en_form(verb, "ing")),
        "was": (BE["past"][e], en_form(verb, "ing")), "perf": (have, en_form(verb, "pp")),
        "pluperf": ("had", en_form(verb, "pp")), "perfprog": (have, "been " + en_form(verb, "ing")),
        "used": ("", simple["used"] + " " + verb)}
    return groups[tense]

def en_plural(word):
    """The regular plural of a noun: class -> classes, father-in-law -> fathers-in-law."""
    return word.replace("-in-law", "s-in-law") if "-in-law" in word else en_s(word)

def a_an(noun):
    """The indefinite article before a noun phrase."""
    return ("an " if VOWEL_SOUND.match(noun) else "a ") + noun

# --------------------------------------------------------------------------------------------------
# Phrases
# --------------------------------------------------------------------------------------------------

class UnfitError(Exception):
    """The words drawn don't go together; the sentence is drawn again."""

def reject(unfit):
    """Give up this sentence if unfit."""
    if unfit:
        raise UnfitError

class Draw:
    """Seeded choices; `pick` prefers what has been used least and nothing twice in a sentence."""

    def __init__(self, seed):
        """Start counting from nothing."""
        self.random = random.Random(seed).random
        self.count = defaultdict(int)
        self.weight = defaultdict(lambda: 1.0)
        self.busy = set()

    def below(self, n):
        """A whole number from 0 to n - 1."""
        return int(self.random() * n)

    def chance(self, p):
        """True with probability p."""
        return self.random() < p

    def choice(self, items):
        """Any item, all alike."""
        return items[self.below(len(items))]

    def pick(self, items):
        """The least used of up to ten items drawn at random."""
        best, best_score = None, None
        for _ in range(10):
            item = items[self.below(len(items))]
            score = (self.count[item] + self.random()) / self.weight[item]
            if item not in self.busy and (best is None or score < best_score):
                best, best_score = item, score
        reject(best is None)
        self.count[best] += 1
        self.busy.add(best)
        return best

DRAW = Draw(SEED)
chance, choice, pick = DRAW.chance, DRAW.choice, DRAW.pick

@dataclass(frozen=True)
class Noun:
    """A noun in both languages: singular, plural, gender, class."""

    pt: str
    pts: str
    g: str
    en: str
    ens: str
    cls: str

@dataclass(frozen=True)
class NP:
    """A noun phrase: text, persons for the verbs, gender, number, noun class, pronoun ("" if none).

    ``k`` is the Portuguese person (0 eu, 1 você/ele, 2 nós, 3 eles), ``e`` the English one (0 I,
    1 he/she/it, 2 you/we/they) and ``own`` the English possessive of its own things.
    """

    pt: str
    en: str
    k: int = 1
    e: int = 1
    g: str = "m"
    n: str = "s"
    cls: str = "person"
    own: str = "his"
    who: str = ""
    lemma: str = ""

    @property
    def se(self):
        """The reflexive pronoun."""
        return ("me", "se", "nos", "se")[self.k]

    @property
    def det(self):
        """The determiner of its own things; elas have theirs (delas)."""
        return "theirs" if self.own == "their" and self.g == "f" else self.own

@dataclass(frozen=True)
class VP:
    """A verb phrase: two verbs, two complements, and the clitic before the Portuguese verb."""

    pt: str
    en: str
    pt_tail: str = ""
    en_tail: str = ""
    clitic: str = ""
    scale: str = "near"

    def plus(self, pair):
        """The same with one more complement."""
        pt, en = f"{self.pt_tail} {pair[0]}".strip(), f"{self.en_tail} {pair[1]}".strip()
        return VP(self.pt, self.en, pt, en, self.clitic, self.scale)

    def bare(self):
        """The Portuguese infinitive with its clitic: me levantar, but ajudá-lo."""
        if self.clitic in ARTICLES:
            stem, theme = self.pt[:-2], {"ar": "á", "er": "ê", "ir": "i"}[self.pt[-2:]]
            return f"{stem}{theme}-l{self.clitic}"
        return f"{self.clitic} {self.pt}".strip()

    def inf(self):
        """The infinitive with its complement: ("me levantar cedo", "get up early")."""
        return join((self.bare(), self.en), (self.pt_tail, self.en_tail))

    def ing(self):
        """Portuguese infinitive, English -ing form."""
        pt = self.inf()[0]
        return pt, f"{en_form(self.en, 'ing')} {self.en_tail}".strip()

def join(*pairs):
    """Join pairs (or strings the same in both languages) by spaces."""
    pairs = [(p, p) if isinstance(p, str) else p for p in pairs]
    return tuple(" ".join(p[i] for p in pairs if p[i]) for i in (0, 1))

def pairs_of(text):
    """Parse "pt = en; pt = en" into pairs."""
    return [tuple(x.strip() for x in p.split("=")) for p in " ".join(text.split()).split(";")]

def make_noun(pt, gender, en, cls):
    """A Noun from its table entry."""
    pt, en = pt.replace("_", " "), en.replace("_", " ")
    pt, _, pts = pt.partition("/")
    en, _, ens = en.partition("/")
    ens = "" if ens == "-" else ens or en_plural(en)
    return Noun(pt, pts or pt_plural(pt), gender, en, ens, cls)

def read_lexicon():
    """The noun tables as lists of Noun by class or group."""
    nouns = {}
    for cls, text in NOUNS.items():
        nouns[cls] = [make_noun(*entry.split(), cls) for entry in entries(text)]
    first = {}
    for cls in nouns:
        for noun in nouns[cls]:
            first.setdefault(noun.pt, noun)
    for group, text in GROUPS.items():
        members = []
        for word in text.split():
            lemma = word.lstrip("-").replace("_", " ")
            if word.startswith("@"):
                members += nouns[word[1:]]
            elif word.startswith("-"):
                members = [m for m in members if m.pt != lemma]
            else:
                members.append(first[lemma])
        nouns[group] = members
    return nouns, first

def read_people():
    """Professions (both genders) with their places, other people, relatives."""
    jobs, places = [], {}
    for place, text in PEOPLE.items():
        for entry in entries(text):
            *forms, en = entry.replace("\n", " ").split()
            for pt, gender in zip(forms, "mf", strict=True):
                if pt == "-":
                    continue
                noun = make_noun(pt, gender, en, "person")
                jobs.append(noun)
                places[noun] = place.replace("_", " ")
    folk = [make_noun(*entry.split(), "person") for entry in entries(FOLK)]
    kin = [make_noun(*entry.split(), "person") for entry in entries(FAMILY)]
    return jobs, places, folk, kin

def read_adjectives(table):
    """Lists of adjective pairs by class; "@" stands for the colors."""
    out = {}
    for cls, text in table.items():
        out[cls] = []
        for entry in text.replace("@", COLORS).split(","):
            pt, en = entry.split()
            out[cls].append((pt, en.replace("_", " ")))
    return out

LEX, WORD = read_lexicon()
JOBS, JOB_PLACE, OTHER_FOLK, KIN = read_people()
QUALITIES, STATES = read_adjectives(QUALITY), read_adjectives(STATE)
COLOR_PAIRS = [tuple(c.split()) for c in entries(COLORS)]
KID_LEMMAS = set("menino menina criança neto neta sobrinho sobrinha filho filha".split())
GRAND = set("rei rainha príncipe princesa ladrão bebê paciente".split())
FOLKS = JOBS + [f for f in OTHER_FOLK if f.pt not in GRAND]

DET_PT = {"the": ARTICLES, "a": ("um", "uma", "uns", "umas"),
    "my": ("meu", "minha", "meus", "minhas"), "your": ("seu", "sua", "seus", "suas"),
    "our": ("nosso", "nossa", "nossos", "nossas"), "this": ("este", "esta", "estes", "estas"),
    "that": ("esse", "essa", "esses", "essas"), "yon": ("aquele", "aquela", "aqueles", "aquelas"),
    "some": ("", "", "alguns", "algumas"), "many": ("", "", "muitos", "muitas"),
    "few": ("", "", "poucos", "poucas"), "all": ("", "", "todos os", "todas as"),
    "another": ("outro", "outra", "outros", "outras"), "bare": ("", "", "", "")}
DET_EN = {"this": ("this", "these"), "that": ("that", "those"), "yon": ("that", "those")}
DET_EN |= {"bare": ("", ""), "all": ("all the", "all the"), "another": ("another", "other")}
OWNERS_AFTER = {"his": "dele", "her": "dela", "their": "deles", "theirs": "delas"}
NUM_EN = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen twenty""".split()
NUM_PT = """zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze
    dezesseis dezessete dezoito dezenove vinte""".split()
TENS_EN = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
TENS_PT = ". . vinte trinta quarenta cinquenta sessenta setenta oitenta noventa".split()

def number(n, gender="m"):
    """A number from 0 to 999 in words, as a pair."""
    if n >= 100:
        head = ("cem" if n == 100 else ["", "cento", "duzent", "trezent", "quatrocent",
            "quinhent"][n // 100])
        head += ("os" if gender == "m" else "as") if n >= 200 else ""
        pt, en = head, f"{NUM_EN[n // 100]} hundred"
        rest = number(n % 100, gender)
        return (pt, en) if n % 100 == 0 else (f"{pt} e {rest[0]}", f"{en} {rest[1]}")
    if n > 20:
        pt, en = TENS_PT[n // 10], TENS_EN[n // 10]
        unit = number(n % 10, gender)
        return (pt, en) if n % 10 == 0 else (f"{pt} e {unit[0]}", f"{en}-{unit[1]}")
    pt = {1: "uma", 2: "duas"}.get(n, NUM_PT[n]) if gender == "f" else NUM_PT[n]
    return pt, NUM_EN[n]

def np(noun, det="the", n="s", adj=None, cls=None):
    """A noun phrase of a Noun, a determiner (or a number), a number and an adjective pair."""
    if not noun.ens:
        n = "s"
        det = "bare" if det in ("a", "some", "many", "few", "all") or isinstance(det, int) else det
    i = (noun.g == "f") + 2 * (n == "p")
    pt, en = (noun.pts, noun.ens) if n == "p" else (noun.pt, noun.en)
    if adj:
        pt, en = f"{pt} {pt_adj(adj[0], noun.g, n)}", f"{adj[1]} {en}"
    if isinstance(det, int):
        count = number(det, noun.g)
        pt, en = f"{count[0]} {pt}", f"{count[1]} {en}"
    elif det in OWNERS_AFTER:
        pt, en = f"{ARTICLES[i]} {pt} {OWNERS_AFTER[det]}", f"{det.replace('theirs', 'their')} {en}"
    else:
        pt = f"{DET_PT[det][i]} {pt}".strip()
        en = a_an(en) if det == "a" else f"{DET_EN.get(det, (det, det))[n == 'p']} {en}".strip()
    own = "their" if n == "p" else {"m": "his", "f": "her"}[noun.g]
    k, e = (3, 2) if n == "p" else (1, 1)
    return NP(pt, en, k, e, noun.g, n, cls or noun.cls, own, "", noun.pt)

def pronoun(who, gender=None):
    """A subject pronoun; eu, você, nós and vocês take either gender."""
    table = {"eu": ("I", 0, 0, "s", "my"), "você": ("you", 1, 2, "s", "your"),
        "ele": ("he", 1, 1, "s", "his"), "ela": ("she", 1, 1, "s", "her"),
        "nós": ("we", 2, 2, "p", "our"), "vocês": ("you", 3, 2, "p", "your"),
        "eles": ("they", 3, 2, "p", "their"), "elas": ("they", 3, 2, "p", "their")}
    en, k, e, n, own = table[who]
    fixed = {"ele": "m", "eles": "m", "ela": "f", "elas": "f"}
    gender = fixed.get(who) or gender or choice("mf")
    return NP(who, en, k, e, gender, n, "person", own, who)

def name(gender=None):
    """A person's first name."""
    gender = gender or choice("mf")
    pt = pick(NAMES_M if gender == "m" else NAMES_F)
    return NP(pt, pt, 1, 1, gender, "s", "person", "his" if gender == "m" else "her", "", pt)

def kin(det=None, plural=0.12, adults=False):
    """A relative or a friend: meu tio, a irmã dele."""
    noun = pick(KIN)
    reject(adults and noun.pt in KID_LEMMAS)
    if det is None:
        det = choice("my my my my your your our his her their".split())
    if noun.pt in ("marido", "namorado", "esposa", "namorada") and det in ("our", "their"):
        det = "my"
    if det == "his" and noun.pt in ("marido", "namorado"):
        det = "her"
    if det == "her" and noun.pt in ("esposa", "namorada"):
        det = "his"
    return np(noun, det, "p" if noun.pt in SEVERAL and chance(plural) else "s")

def folk(det="the", plural=0.1):
    """The doctor, the children, ..."""
    return np(pick(FOLKS), det, "p" if det != "a" and chance(plural) else "s")

def subj(third=False, pron=0.42, adults=False, known=False):
    """A human subject; third: no eu, você, nós, vocês; known: nobody named by profession."""
    r = DRAW.random()
    if r < pron:
        whos = ("ele ela eles elas" if third
            else "eu eu eu você você ele ela nós nós vocês eles elas")
        return pronoun(choice(whos.split()))
    if r < pron + (1 - pron) * 0.28:
        return name()
    if known or r < pron + (1 - pron) * 0.72:
        return kin(adults=adults)
    x = folk()
    reject(adults and x.lemma in KID_LEMMAS)
    return x

def person(s=None):
    """A human object, not a pronoun."""
    r = DRAW.random()
    return name() if r < 0.25 else kin() if r < 0.75 else folk()

def close():
    """Somebody one knows well: a relative, a friend, a name."""
    return name() if chance(0.35) else kin()

def thing(group, letters, s=None, adj=0.15):
    """A noun phrase from a group with one of the determiners that the letters name.

    d the, D the (plural), i a, b bare plural, t this/that, T these/those, n a number, m one's own,
    M one's own (plural), s some, q many, z bare singular, B and E (plural): the in Portuguese,
    bare in English.
    """
    noun, letter = pick(LEX[group]), choice(letters)
    quality = QUALITIES.get(ADJ_CLASS.get(noun.cls, ("", ""))[0])
    adj = pick(quality) if quality and letter in "dDibtTsnq" and chance(adj) else None
    adj = None if noun.cls in NO_ADJ else adj
    if letter == "z":
        return np(noun, "bare")
    if letter in "BE":
        full = np(noun, "the", "p" if letter == "E" else "s")
        return NP(full.pt, noun.ens if letter == "E" else noun.en)
    if letter in "mM":
        det = s.det if s else choice("my my your his her our".split())
        return np(noun, det, "s" if letter == "m" else "p")
    det = {"d": "the", "D": "the", "i": "a", "b": "bare", "s": "some", "q": "many"}.get(letter)
    if letter in "tT":
        det = choice(("this", "that", "yon"))
    if letter == "n":
        det = 2 + DRAW.below(6)
    return np(noun, det, "p" if letter in "DbTnsqM" else "s", adj)

UNOWNED = "fruit vegetable staple meal drink".split()
NO_ADJ = "drink event".split()

def slot(code, s, generic=False):
    """The pair that fills "{code}" in an action of subject s."""
    group, _, letters = code.partition(".")
    if group in FIXED:
        return choice(FIXED[group])
    if group in ("person", "close"):
        x = person(s) if group == "person" else close()
    elif group in ("country", "city"):
        return country() if group == "country" else city()[:2]
    else:
        if generic:
            letters = [c for c in letters if c in "bzdDmM"]
            reject(not letters)
        x = thing(group, letters, s)
    return x.pt, x.en

COUNTRY_ROWS = [tuple(w.replace("_", " ") for w in c.split()) for c in entries(COUNTRIES)]
CITY_ROWS = [tuple(w.replace("_", " ") for w in c.split()) for c in entries(CITIES)]

def country():
    """A country with its article, as a pair."""
    article, pt, en, *_ = pick(COUNTRY_ROWS)
    return (pt if article == "-" else f"{article} {pt}"), en

def city():
    """(Portuguese, English, country) of a city."""
    return pick(CITY_ROWS)

EN_PREP = {
    "in": "armário sala_de_aula parque praça jardim quintal piscina mar campo horta rio lago "
    "floresta vale caverna deserto",
    "on": "rua fazenda ponte estrada avenida ilha montanha colina sofá varanda",
    "at": "praia feira porto cachoeira",
}
PREP_OF = {w.replace("_", " "): p for p, words in EN_PREP.items() for w in words.split()}
IN_CLASSES = ("room", "town", "country", "landscape", "bag")

def at(noun, det="the", adj=None):
    """A place phrase with its preposition: em+a cozinha / in the kitchen."""
    if noun.pt == "casa" and det == "the" and not adj:
        return "em casa", "at home"
    if noun.pt == "escola" and det == "the" and not adj:
        return "em+a escola", "at school"
    x = np(noun, det, adj=adj)
    prep = PREP_OF.get(noun.pt) or ("in" if noun.cls in IN_CLASSES else "at")
    return f"em+{x.pt}", f"{prep} {x.en}"

SOLE = """casa escola mar sofá prefeitura sótão porão quarto sala garagem varanda cozinha quintal
    jardim rua aeroporto zoológico campo vale"""

def place(tag):
    """A place phrase for a tag of PLACES."""
    noun = pick([WORD[w.replace("_", " ")] for w in PLACES[tag].split()])
    r = DRAW.random() if noun.pt not in SOLE.split() else 1
    return at(noun, "this" if r < 0.05 else "a" if r < 0.11 else "the")

# What people of a profession do at work, in the shape of ACTIONS after the masculine form; "@" is
# their place of work.
JOB_ACTIONS = """
professor|ensinar|{subject.b}|teach|{}|@|hg; professor|corrigir|as provas|correct|the exams|@|hgp;
professor|explicar|{explainable.d} a+os alunos|explain|{} to the students||hg;
professor|preparar|a aula|prepare|the class||hg; aluno|fazer|a prova|take|the exam|@|g;
aluno|ler|{text.d}|read|{}|@|hg; aluno|copiar|a lição|copy|the lesson|@|hg;
diretor|conversar|com os professores|talk|with the teachers|@|hg;
diretor|organizar|{organized.idt}|organize|{}|@|g;
médico|examinar|os pacientes|examine|the patients|@|hgp;
médico|atender|os pacientes|see|the patients|@|hg;
enfermeiro|cuidar|de+os pacientes|take care of|the patients|@|hg;
enfermeiro|dar|remédio a+os pacientes|give|medicine to the patients|@|hg;
cirurgião|operar|{close}|operate on|{}|@|;
cirurgião|operar|os pacientes|operate on|the patients|@|hg; advogado|defender|{close}|defend|{}||g;
advogado|ler|{signable.dt}|read|{}|@|hg; advogado|assinar|{signable.dt}|sign|{}|@|p;
arquiteto|projetar|{building.i}|design|{}|@|gp; arquiteto|desenhar|uma casa|draw|a house|@|hg;
contador|preparar|o relatório|prepare|the report|@|hg;
secretário|atender|o telefone|answer|the phone|@|h; secretário|imprimir|{signable.dt}|print|{}|@|hg;
secretário|organizar|os documentos|organize|the documents|@|hg;
tradutor|traduzir|{text.idt}|translate|{}|@|hg; engenheiro|construir|uma ponte|build|a bridge||g;
engenheiro|resolver|o problema|solve|the problem|@|;
programador|escrever|um programa|write|a program|@|g;
programador|consertar|o computador|fix|the computer|@|g;
cozinheiro|preparar|{homemade.i}|prepare|{}|@|hg; cozinheiro|cozinhar|{cookable.b}|cook|{}|@|hg;
cozinheiro|provar|a sopa|taste|the soup|@|hg;
gerente|conversar|com os clientes|talk|with the customers|@|hg;
gerente|cancelar|a reunião|cancel|the meeting||; cantor|cantar|{music.ib}|sing|{}|@|hg;
cantor|gravar|um disco|record|an album||g; dançarino|dançar||dance||@|hg;
dançarino|ensaiar||rehearse||@|hg; músico|tocar|{instrument.z}|play|the {}|@|hg;
pianista|tocar|piano|play|the piano|@|hg; cientista|fazer|uma experiência|do|an experiment|@|g;
cientista|pesquisar|{subject.b}|research|{}|@|hg; químico|misturar|os líquidos|mix|the liquids|@|hg;
fazendeiro|alimentar|{farm.D}|feed|{}|@|hg; fazendeiro|plantar|{plantable.b}|plant|{}|@|hg;
fazendeiro|dirigir|o trator|drive|the tractor|@|hg; fazendeiro|ordenhar|a vaca|milk|the cow|@|hg;
veterinário|examinar|{pet.d}|examine|{}||g; veterinário|cuidar|de+{farm.D}|take care of|{}|@|hg;
veterinário|salvar|{pet.d}|save|{}||; padeiro|fazer|pão|make|bread|@|hg;
padeiro|vender|bolos|sell|cakes|@|hg; padeiro|preparar|a massa|prepare|the dough|@|hg;
açougueiro|cortar|a carne|cut|the meat|@|hg; açougueiro|vender|carne|sell|meat|@|hg;
vendedor|vender|{wearable.it}|sell|{}|@|g; vendedor|atender|os clientes|serve|the customers|@|hg;
cliente|experimentar|{wearable.it}|try on|{}|@|g; cliente|pagar|a conta|pay|the bill||;
cliente|reclamar|de+o preço|complain|about the price|@|hg;
farmacêutico|vender|remédio|sell|medicine|@|hg;
bibliotecário|guardar|os livros|put away|the books|@|hg;
bibliotecário|organizar|os livros|organize|the books|@|hg;
mecânico|consertar|{vehicle.dt}|fix|{}|@|hg; mecânico|trocar|o pneu|change|the tire|@|hg;
eletricista|consertar|{machine.dt}|fix|{}||hg; policial|prender|o ladrão|arrest|the thief||;
policial|seguir|o ladrão|follow|the thief||g;
policial|proteger|o bairro|protect|the neighborhood||hg;
detetive|resolver|o crime|solve|the crime||; detetive|procurar|o ladrão|look for|the thief||g;
soldado|marchar||march||@|hg; soldado|proteger|o palácio|protect|the palace||hg;
bombeiro|apagar|o fogo|put out|the fire||g; bombeiro|salvar|{close}|save|{}||;
prefeito|visitar|{school.d}|visit|{}||g;
prefeito|falar|com os jornalistas|talk|to the journalists|@|hg;
carteiro|entregar|as cartas|deliver|the letters||hg; carteiro|entregar|{parcel.idn}|deliver|{}||hg;
cabeleireiro|cortar|o cabelo de+a cliente|cut|the customer's hair|@|g;
cabeleireiro|lavar|o cabelo de+a cliente|wash|the customer's hair|@|g;
treinador|treinar|o time|train|the team|@|hg;
treinador|conversar|com os jogadores|talk|with the players||hg; atleta|treinar||train||@|hg;
atleta|levantar|pesos|lift|weights|@|hg;
guia|mostrar|{sight.d} a+os turistas|show|{} to the tourists||hg;
guia|esperar|os turistas|wait for|the tourists|@|hg;
historiador|estudar|mapas antigos|study|old maps|@|hg;
historiador|escrever|um livro|write|a book||g; jardineiro|regar|{plant.D}|water|{}|@|hg;
jardineiro|cortar|a grama|mow|the lawn|@|hg; jardineiro|plantar|{plant.b}|plant|{}|@|hg;
piloto|pilotar|o avião|fly|the plane||hg;
piloto|esperar|os passageiros|wait for|the passengers|@|hg;
escritor|escrever|{writable.ibn}|write|{}||hg; escritor|publicar|um romance|publish|a novel||;
pintor|pintar|{paintable.dt}|paint|{}||g; jornalista|entrevistar|o prefeito|interview|the mayor||g;
jornalista|escrever|um artigo|write|an article||g;
fotógrafo|tirar|fotos de+{sight.dt}|take|pictures of {}||hg;
fotógrafo|fotografar|{wildland.bD}|photograph|{}||hg; motorista|dirigir|o ônibus|drive|the bus||hg;
motorista|estacionar|o caminhão|park|the truck|park|g;
dentista|examinar|os dentes de+o menino|examine|the boy's teeth||g;
juiz|ler|o documento|read|the document||g; juiz|ouvir|os advogados|listen to|the lawyers||hg;
psicólogo|ouvir|os pacientes|listen to|the patients||hg; pescador|pescar||fish||fish|hg;
pescador|vender|peixe|sell|fish||hg; pescador|consertar|o barco|fix|the boat|shore|g;
carpinteiro|fazer|uma mesa|make|a table||g; carpinteiro|consertar|{furniture.dt}|fix|{}||hg;
poeta|escrever|um poema|write|a poem||g; poeta|ler|um poema|read|a poem|write|g;
presidente|viajar|para {country}|travel|to {}||g;
presidente|assinar|o documento|sign|the document||; jogador|treinar||train||gym|hg;
jogador|chutar|a bola|kick|the ball||;
barbeiro|cortar|o cabelo de+o cliente|cut|the customer's hair||g;
ator|ensaiar|a peça|rehearse|the play|music|hg; atriz|ensaiar|a peça|rehearse|the play|music|hg;
garçom|trazer|{meal.d}|bring|{}||; garçom|servir|{drink.d}|serve|{}|dine|hg;
garçom|limpar|as mesas|clean|the tables||hg; garçonete|trazer|{meal.d}|bring|{}||;
garçonete|servir|{drink.d}|serve|{}|dine|hg; garçonete|trazer|a conta|bring|the bill||;
turista|visitar|{visitable.d}|visit|{}||g; turista|tirar|fotos de+{sight.dt}|take|pictures of {}||g;
turista|comprar|um mapa|buy|a map|shop|; turista|perder|o passaporte|lose|~ passport|meet|;
visitante|entrar|em+o museu|enter|the museum||; passageiro|esperar|{ride.d}|wait for|{}|stop|g;
passageiro|perder|{transit.d}|miss|{}||; convidado|trazer|{giftable.i}|bring|{}||
"""

UNWILLED = set(
    """ganhar entender perder quebrar machucar receber encontrar esquecer molhar vencer passar
        chorar mentir gritar""".split()
)
ACTION_ROWS = [tuple(row.split("|")) for row in re.split(r";\s", ACTIONS.strip())]
FEMALE = {m.pt: f.pt for m, f in itertools.pairwise(JOBS) if (m.g, f.g, m.en) == ("m", "f", f.en)}
JOB_PLACE_OF = {noun.pt: JOB_PLACE[noun] for noun in JOBS}
JOB_ROWS = defaultdict(list)
for _line in re.split(r";\s", JOB_ACTIONS.strip()):
    _job, *_row = _line.split("|")
    for _lemma in dict.fromkeys((_job, FEMALE.get(_job, _job))):
        JOB_ROWS[_lemma].append(tuple(_row))

OFTEN = (
    "edible groceries drawable wildland farm small drink language subject sport instrument coin "
    "sights"
)
for _row in ACTION_ROWS:
    _group = re.search(r"\{(\w+)", _row[1])
    if _group and _group.group(1) in OFTEN.split():
        DRAW.weight[_row] = 3.0
    elif "{person}" in _row[1] or "{close}" in _row[1]:
        DRAW.weight[_row] = 0.7

def rows_for(s, flags):
    """The actions with all the flags; mostly those of the profession if s has one."""
    own = [r for r in JOB_ROWS.get(s.lemma, ()) if all(f in r[5] for f in flags)]
    if own and chance(0.75):
        return own
    return [r for r in ACTION_ROWS if all(f in r[5] for f in flags)]

def action(s, flags="", where=0.6, company=0.35, willed=False, row=None):
    """A verb phrase of an action that s can do and that has all the flags, places included."""
    row = row or pick(rows_for(s, flags))
    pt_verb, pt_tail, en_verb, en_tail, tag, has = row
    child = s.lemma in KID_LEMMAS
    reject(willed and pt_verb in UNWILLED)
    pupil = not s.lemma or child or s.lemma in ("aluno", "aluna")
    reject(not pupil and ("para a escola" in pt_tail or "lição de casa" in pt_tail))
    reject((child and pt_verb not in KID_VERBS) or (tag == "kids" and s.lemma and not child))
    fills = [slot(code, s, "h" in flags) for code in re.findall(r"\{([^}]*)\}", pt_tail)]
    for fill in fills:
        pt_tail = re.sub(r"\{[^}]*\}", lambda _, f=fill: f[0], pt_tail, count=1)
        en_tail = en_tail.replace("{}", fill[1], 1)
    if s.n == "p" and re.search("~ (knee|arm|leg|nose|head|shoulder|neck|mouth|face)$", en_tail):
        en_tail += "s"
    en_tail = en_tail.replace("~", s.own)
    scale = "day" if pt_verb in DAY_VERBS else "far" if pt_verb in FAR_VERBS else "near"
    vp = VP(pt_verb, en_verb, pt_tail, en_tail, s.se if "r" in has else "", scale)
    if "c" in has and chance(company):
        friend = close()
        vp = vp.plus((f"com {friend.pt}", f"with {friend.en}"))
    if tag == "@":
        vp = vp.plus(at(WORD[JOB_PLACE_OF[s.lemma]])) if chance(where / 2) else vp
    elif tag and (not has.strip("r") or chance(where) or (tag == "kids" and not pt_tail)):
        vp = vp.plus(place(tag))
    return vp

STATIVE = set(
    "ser estar ter querer saber poder precisar gostar conhecer haver achar amar preferir "
    "odiar".split()
)
AUXILIARY = {"going": ("ir", "pres"), "was going": ("ir", "impf"), "prog": ("estar", "pres"),
    "was": ("estar", "impf"), "pluperf": ("ter", "impf")}
SAME = {"subj": "pres", "isub": "past", "fsub": "pres"}

def pt_clause(s, vp, tense, neg=False, pre="", drop=None, timed=True):
    """The Portuguese clause; eu and nós may be dropped where the verb shows them."""
    verb, form = AUXILIARY.get(tense, (vp.pt, "past" if tense == "perf" else tense))
    forms = pt_forms(verb, form)
    reject(s.k == 2 and form == "past" and not timed and forms[2] == pt_forms(verb, "pres")[2])
    rest = {"prog": pt_gerund, "was": pt_gerund, "pluperf": pt_participle}.get(tense, str)(vp.pt)
    if tense in ("going", "was going"):
        words = [forms[s.k], "" if vp.pt == "ir" else vp.bare(), vp.pt_tail]
    elif tense in AUXILIARY:
        words = [forms[s.k], vp.clitic, rest, vp.pt_tail]
    else:
        words = [vp.clitic, forms[s.k], vp.pt_tail]
    clear = s.who in ("eu", "nós") and forms[0] != forms[1] and not vp.clitic
    clear = clear or (s.who == "nós" and not vp.clitic)
    if drop is None:
        drop = chance(0.6)
    subject = "" if clear and drop else s.pt
    return " ".join(w for w in [subject, pre, "não" if neg else "", *words] if w)

def en_clause(s, vp, tense, neg=False, mid="", question=False):
    """The English clause, or question if question; mid is an adverb such as always."""
    if tense == "impf":
        tense = "past" if vp.pt in STATIVE else "used"
    tense = SAME.get(tense, tense)
    aux, rest = en_group(vp.en, tense, s.e)
    if not aux and (neg or question):
        reject(tense == "used")
        aux = "did" if tense == "past" else "does" if s.e == 1 else "do"
        rest = vp.en
    if vp.en.split(" ")[0] == "be" and tense in BE:
        rest = vp.en[2:].strip()
    if vp.pt == "ir" and tense in ("going", "was going"):
        rest = "going"
    if neg:
        reject(question and aux == "am")
        aux = en_not(aux)
    words = [aux, s.en, mid, rest] if question else [s.en, aux, mid, rest]
    if neg and mid == "still":
        words = [s.en, mid, aux, rest]
    return " ".join(w for w in [*words, vp.en_tail] if w)

SKIRTS = r"\b(saia|vestido|blusa)"

def clause(s, vp, tense, neg=False, pre=("", ""), drop=None, en=None, timed=True):
    """A clause in both languages; en is the English tense where it isn't the usual one."""
    reject(neg and vp.en == "be" and re.search(r"^bastante | e | mas ", vp.pt_tail))
    reject(s.g == "m" and vp.pt in ("usar", "experimentar", "tirar", "escolher")
        and re.search(SKIRTS, vp.pt_tail))
    reject(neg and re.search(r"\b(dois|duas|três|quatro|cinco|seis|sete|oito)\b", vp.pt_tail))
    return (pt_clause(s, vp, tense, neg, pre[0], drop, timed),
        en_clause(s, vp, en or tense, neg, pre[1]))

def ask(s, vp, tense, neg=False, pre=("", ""), head=("", ""), en=None, timed=True):
    """A question, with a question phrase in front if given."""
    pt = pt_clause(s, vp, tense, neg, pre[0], drop=None if s.who != "eu" else False, timed=timed)
    return join(head, (pt, en_clause(s, vp, en or tense, neg, pre[1], question=True)))

def be(s, verb, adj, more=("", "")):
    """A VP of ser or estar with an adjective pair that agrees with s."""
    vp = VP(verb, "be", pt_adj(adj[0], s.g, s.n), adj[1])
    return vp.plus(more) if more[0] else vp

def wrap(pt_verb, pt_link, en_verb, en_link, inner, ing=False):
    """A verb that governs another: querer + V / want to V; ing for stop V-ing."""
    pt, en = inner.ing() if ing else inner.inf()
    return VP(pt_verb, en_verb, f"{pt_link} {pt}".strip(), f"{en_link} {en}".strip())

def with_time(pair, time, front=0.3):
    """Put a time phrase before or after a clause, in both languages alike."""
    return join(time, pair) if chance(front) else join(pair, time)

DAYS = pairs_of("""segunda-feira = Monday; terça-feira = Tuesday; quarta-feira = Wednesday;
    quinta-feira = Thursday; sexta-feira = Friday; sábado = Saturday; domingo = Sunday""")
MONTHS = pairs_of("""janeiro = January; fevereiro = February; março = March; abril = April;
    maio = May; junho = June; julho = July; agosto = August; setembro = September;
    outubro = October; novembro = November; dezembro = December""")
SEASONS = pairs_of(
    "o verão = the summer; o inverno = the winter; a primavera = the spring; o outono = the fall"
)
PAST_TIMES = {
    "day": pairs_of("ontem = yesterday; anteontem = the day before yesterday"),
    "near": pairs_of("""ontem = yesterday; anteontem = the day before yesterday;
        na semana passada = last week; ontem à noite = last night; hoje de manhã = this morning;
        ontem de manhã = yesterday morning; ontem à tarde = yesterday afternoon;
        no fim de semana passado = last weekend"""),
    "far": pairs_of("""no mês passado = last month; no ano passado = last year;
        no verão passado = last summer; na semana passada = last week;
        no inverno passado = last winter"""),
}
HABIT_TIMES = {
    "day": pairs_of("""todos os dias = every day; às vezes = sometimes;
        nos fins de semana = on weekends; durante a semana = during the week"""),
    "near": pairs_of("""todos os dias = every day; toda semana = every week; à noite = at night;
        às vezes = sometimes; de manhã = in the morning; à tarde = in the afternoon;
        duas vezes por semana = twice a week; nos fins de semana = on weekends;
        com frequência = often; quase todos os dias = almost every day"""),
    "far": pairs_of("""todos os anos = every year; às vezes = sometimes;
        uma vez por mês = once a month; nas férias = on vacation; todo mês = every month;
        três vezes por ano = three times a year; com frequência = often"""),
}
FUTURE_TIMES = {
    "day": pairs_of("amanhã = tomorrow; depois de amanhã = the day after tomorrow"),
    "near": pairs_of("""amanhã = tomorrow; depois de amanhã = the day after tomorrow;
        na semana que vem = next week; hoje à noite = tonight; hoje à tarde = this afternoon;
        amanhã de manhã = tomorrow morning; amanhã à noite = tomorrow night; em breve = soon;
        mais tarde = later; no próximo fim de semana = next weekend"""),
    "far": pairs_of("""na semana que vem = next week; no mês que vem = next month;
        no ano que vem = next year; em breve = soon; no próximo verão = next summer"""),
}
OLD_TIMES = pairs_of("""antigamente = in the old days; naquela época = at that time;
    na infância = in childhood; naquele tempo = in those days""")
MID = pairs_of("""sempre = always; nunca = never; geralmente = usually; raramente = rarely;
    também = also; quase nunca = almost never; quase sempre = almost always""")
UNITS = [("dias", "days", "m"), ("semanas", "weeks", "f"), ("meses", "months", "m"),
    ("anos", "years", "m")]

def span(units=UNITS, most=10):
    """A number of days, weeks, months or years."""
    pt, en, gender = pick(units)
    n = number(2 + DRAW.below(most - 1), gender)
    return f"{n[0]} {pt}", f"{n[1]} {en}"

def past_time(vp=None):
    """Yesterday, last Monday, two years ago, in 1998: as long ago as suits the action."""
    scale, r = vp.scale if vp else "near", DRAW.random()
    if r < (0.6 if scale == "far" else 0.75):
        return pick(PAST_TIMES[scale])
    if scale == "far" and r < 0.8:
        year = str(1985 + DRAW.below(38))
        return f"em {year}", f"in {year}"
    if r < (0.85 if scale == "far" else 0.93):
        pt, en = pick(DAYS)
        word = "na {} passada" if pt.endswith("feira") else "no {} passado"
        return word.format(pt), f"last {en}"
    pt, en = span(UNITS[1:]) if scale == "far" else span(UNITS[:1], 6)
    return f"há {pt}", f"{en} ago"

def habit_time(vp=None):
    """Every day, on Mondays, in the summer."""
    scale, r = vp.scale if vp else "near", DRAW.random()
    scale = "near" if vp and vp.pt in ("aprender", "ensinar") else scale
    if r < 0.75:
        return pick(HABIT_TIMES[scale])
    if scale == "far":
        pt, en = pick(SEASONS)
        return f"em+{pt}", f"in {en}"
    pt, en = pick(DAYS)
    plural = pt.replace("-feira", "s-feiras") if "feira" in pt else pt + "s"
    return f"{'às' if 'feira' in pt else 'aos'} {plural}", f"on {en}s"

def future_time(vp=None):
    """Tomorrow, on Monday, in two weeks, in May."""
    scale, r = vp.scale if vp else "near", DRAW.random()
    if r < 0.65:
        return pick(FUTURE_TIMES[scale])
    if r < 0.8:
        pt, en = pick(DAYS)
        return f"{'na' if 'feira' in pt else 'no'} {pt}", f"on {en}"
    if scale != "far" and r < 0.95:
        return pick(FUTURE_TIMES[scale])
    if r < 0.9 or scale != "far":
        pt, en = span(UNITS[1:]) if scale == "far" else span(UNITS[:1], 6)
        return f"daqui a {pt}", f"in {en}"
    pt, en = pick(MONTHS)
    return f"em {pt}", f"in {en}"

def clock():
    """A clock time: (às) três e meia / (at) half past three is said as three thirty."""
    hour = 1 + DRAW.below(12)
    minute = choice((0, 0, 0, 10, 15, 20, 30, 30, 40, 45))
    pt, en = number(hour, "f")
    if minute == 0:
        en += " o'clock"
    elif minute == 30:
        pt, en = f"{pt} e meia", f"{en} thirty"
    else:
        m = number(minute)
        pt, en = f"{pt} e {m[0]}", f"{en} {m[1]}"
    return pt, en, hour

def at_clock():
    """At a clock time: às três horas / at three o'clock."""
    r = DRAW.random()
    if r < 0.12:
        return choice((("ao meio-dia", "at noon"), ("à meia-noite", "at midnight")))
    pt, en, hour = clock()
    hora = "" if " e " in pt else " hora" if hour == 1 else " horas"
    return f"{'à' if hour == 1 else 'às'} {pt}{hora}", f"at {en}"

# --------------------------------------------------------------------------------------------------
# Sentence families
# --------------------------------------------------------------------------------------------------

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

# --- Tenses --------------------------------------------------------------------------------------

@family(5)
def habits():
    """Present habits: Eu leio o jornal todos os dias."""
    s, vp = act("h")
    if chance(0.25):
        return clause(s, vp, "pres", pre=pick(MID))
    pre = choice([("", "")] * 3 + [MID[0], MID[2]])
    time = habit_time(vp)
    reject(pre[0] and not re.match(r"[àa]os?|às \w+-|às \w+s-|de manhã|à tarde|à noite", time[0]))
    return with_time(clause(s, vp, "pres", pre=pre), time)

@family(8)
def simple_past():
    """Simple past with a time: Ontem compramos uma mesa."""
    s, vp = act()
    return with_time(clause(s, vp, "past"), past_time(vp))

@family(7)
def going_to():
    """ir + infinitive: Vou visitar o museu amanhã."""
    s, vp = act(willed=True)
    return with_time(clause(s, vp, "going", neg=chance(0.1)), future_time(vp))

@family(4)
def simple_future():
    """Simple future: Ela venderá a casa no ano que vem."""
    s, vp = act(willed=True)
    return with_time(clause(s, vp, "fut", neg=chance(0.15)), future_time(vp))

@family(3)
def progressive():
    """Present progressive: Estou lendo um livro agora."""
    s, vp = act("g")
    when = choice(pairs_of("agora = now; neste momento = at this moment; hoje = today; = ; = "))
    pair = clause(s, vp, "prog", neg=chance(0.15))
    return with_time(pair, when, 0.2) if when[0] else pair

INTERRUPTIONS = pairs_of("""o telefone tocou = the phone rang; a luz apagou = the light went out;
    começou a chover = it started to rain; alguém bateu na porta = someone knocked on the door;
    o cachorro começou a latir = the dog started to bark; o ônibus chegou = the bus arrived;
    ouvimos um barulho estranho = we heard a strange noise; o bebê acordou = the baby woke up""")

@family(4.5)
def was_doing_when():
    """Past progressive, interrupted: Eu estava dormindo quando o telefone tocou."""
    s, vp = act("g")
    if chance(0.55):
        event = pick(INTERRUPTIONS)
    else:
        who = subj(third=True)
        arrive = [VP("chegar", "arrive"), VP("ligar", "call"), VP("entrar", "come", "", "in"),
            VP("chegar", "get", "em casa", "home")]
        event = clause(who, pick(arrive), "past")
    return join(clause(s, vp, "was"), ("quando", "when"), event)

@family(5)
def while_doing():
    """Enquanto + past progressive, two actions at once."""
    s, vp = act("g", company=0, where=0.2)
    t, vq = act("g", third=True, company=0, where=0.2)
    reject(clash(s, t))
    first = join(("Enquanto", "While"), clause(s, vp, "was"), ",")
    return join(first, clause(t, vq, "was", drop=False))

@family(3)
def for_years():
    """Present of what began in the past: Moro aqui há dez anos / I have lived here for ..."""
    s = subj()
    far, r = span(UNITS[2:], 20), DRAW.random()
    town = city()
    if r < 0.25:
        vp = VP("morar", "live", *join(choice([("em " + town[0], "in " + town[1]), place("town"),
            ("aqui", "here")])))
    elif r < 0.45:
        vp = VP("trabalhar", "work", *place("work"))
    elif r < 0.65:
        x = thing(*choice((("language", "b"), ("subject", "b"))))
        vp = VP("estudar", "study", x.pt, x.en)
    elif r < 0.75:
        x = person()
        vp = VP("conhecer", "know", x.pt, x.en)
    elif r < 0.85:
        x = thing("instrument", "z")
        vp = VP("tocar", "play", x.pt, "the " + x.en)
    else:
        far = span(UNITS[:2])
        vp = be(s, "estar", pick([("doente", "sick"), ("sozinho", "alone")]))
        if chance(0.5):
            far = span([("horas", "hours", "f")], 6)
            vp = VP("estar", "be", *place("work"))
    return join(clause(s, vp, "pres", en="perf"), (f"há {far[0]}", f"for {far[1]}"))

@family(2.8)
def perfect():
    """já, ainda não, nunca with the past: Já comi / I have already eaten."""
    s, vp = act()
    r = DRAW.random()
    if r < 0.45:
        return clause(s, vp, "past", pre=("já", "already"), en="perf")
    if r < 0.75:
        reject(vp.pt in UNWILLED)
        pair = clause(s, vp, "past", neg=True, pre=("ainda", ""), en="perf")
        return join(pair, ("", "yet"))
    return clause(s, vp, "past", pre=("nunca", "never"), en="perf")

@family(2.2)
def just_done():
    """acabar de: Acabei de chegar / I have just arrived."""
    s, vp = act(company=0.1)
    reject(vp.clitic)
    pt = pt_clause(s, wrap("acabar", "de", "finish", "", vp), "past", timed=False)
    return pt, en_clause(s, vp, "perf", mid="just")

CHILDHOOD = pairs_of("""criança = a child; jovem = young; estudante = a student; pequeno = little;
    solteiro = single""")

@family(3)
def used_to():
    """Imperfect of habit: Quando era criança, ela nadava no lago / she used to swim."""
    s, vp = act("h", company=0.1)
    pair = clause(s, vp, "impf", drop=False)
    if chance(0.45):
        return join(pick(OLD_TIMES), ",", pair)
    if not s.who or s.n == "p":
        return with_time(pair, habit_time(vp))
    word = pick(CHILDHOOD)
    s0 = clause(s, VP("ser", "be", pt_adj(word[0], s.g, s.n), word[1]), "impf", drop=False)
    return join(("Quando", "When"), s0, ",", pair)

# --- To be and to have ----------------------------------------------------------------------------

HOMES = pairs_of("""furniture = cozinha sala quarto escritório varanda;
    decor = sala quarto corredor; tool = garagem porão; vehicle = garagem rua;
    plant = jardim varanda quintal; tableware = cozinha mesa; clothes = armário cama quarto;
    text = mesa estante sala biblioteca; toy = quarto jardim quintal; bag = cama sala corredor""")

def thing_in_place(x, cls):
    """The same thing with the place where it is: a mesa que está na cozinha."""
    homes = dict(HOMES)
    if cls not in homes or chance(0.3):
        return x
    where = in_or_on(WORD[choice(homes[cls].split())])
    verb = ("estão", "are") if x.n == "p" else ("está", "is")
    text = join((x.pt, x.en), (f"que {verb[0]}", f"that {verb[1]}"), where)
    return replace(x, pt=text[0], en=text[1])

@family(4)
def qualities_of_things():
    """ser + adjectives that agree: As casas são antigas."""
    x, (kind, _) = a_thing()
    reject(not kind)
    vp = adjectives(x, QUALITIES[kind], "ser")
    x = thing_in_place(x, x.cls)
    return clause(x, vp, choice(("pres", "pres", "pres", "impf")) if "que" not in x.pt.split()
        else "pres", neg=chance(0.15))

@family(4)
def states_of_things():
    """estar + adjectives: A porta está fechada."""
    x, (_, kind) = a_thing(dets=("the", "the", "the", "my", "your", "this", "our"))
    reject(not kind)
    vp = adjectives(x, STATES[kind], "estar")
    tense, place_of = choice(("pres", "pres", "impf")), thing_in_place(x, x.cls)
    pre = choice([("", "")] * 4 + [("ainda", "still")])
    if re.search(r"pront|podre|queimad|rasgad|gostos|salgad|dec", vp.pt_tail):
        pre = ("", "")
    if place_of is not x:
        return clause(place_of, vp, "pres", neg=chance(0.1))
    pair = clause(x, vp, tense, neg=chance(0.15), pre=pre)
    if tense == "impf" and chance(0.6):
        return with_time(pair, pick(PAST_TIMES["near"]))
    if pre[0] == "" and x.cls in ("meal", "room", "building", "opening", "machine") and chance(0.4):
        return join(pair, ("quando eu cheguei", "when I arrived")) if tense == "impf" else pair
    return pair

@family(1.8)
def qualities_of_people():
    """ser + adjectives of people."""
    s = subj(pron=0.3)
    if chance(0.4):
        t = subj(third=True, pron=0.2)
        first, second = pick(OPPOSITES)
        reject(clash(s, t))
        tense = choice(("pres", "pres", "impf"))
        return join(clause(s, be(s, "ser", first), tense), (", mas", ", but"),
            clause(t, be(t, "ser", second), tense, drop=False))
    vp = adjectives(s, QUALITIES["person"], "ser")
    return clause(s, vp, choice(("pres", "pres", "impf")), neg=chance(0.15))

@family(3)
def states_of_people():
    """estar + adjectives of people, with a reason or a time."""
    s = subj()
    vp = adjectives(s, STATES["person"], "estar")
    r = DRAW.random()
    if r < 0.4:
        return with_time(clause(s, vp, "pres", neg=chance(0.2)),
            pick(pairs_of("hoje = today; agora = now; neste momento = at this moment")))
    if r < 0.7:
        return with_time(clause(s, vp, "impf"), pick(PAST_TIMES["near"]))
    vp, why = state_and_reason(s)
    return join(clause(s, vp, "pres"), ("porque", "because"), plain_clause(again(s), why, "past"))

@family(2.3)
def professions():
    """ser + profession or nationality; where people live and work."""
    s, r = subj(adults=True), DRAW.random()
    if r < 0.45:
        reject(s.cls == "person" and s.lemma in JOB_LEMMAS)
        job = pick([j for j in JOBS if j.g == s.g and j.pt not in ("cliente", "aluno", "aluna")])
        x = np(job, "bare", s.n)
        vp = VP("ser", "be", x.pt, x.en if s.n == "p" else a_an(x.en))
        if chance(0.5):
            return clause(s, vp, choice(("pres", "impf")), neg=chance(0.2))
        return join(clause(s, vp, "pres"), ("e", "and"), live_or_work(s, work=False))
    if r < 0.7:
        nation = pick(COUNTRY_ROWS)
        vp = VP("ser", "be", pt_adj(nation[3], s.g, s.n), nation[4])
        if chance(0.5):
            return join(clause(s, vp, "pres"), (", mas", ", but"), live_or_work(s, work=False))
        return clause(s, vp, "pres", neg=chance(0.2))
    worker = pick([j for j in JOBS if JOB_PLACE[j]])
    boss = np(worker, choice(("the", "this", "yon")), "p" if chance(0.3) else "s")
    vp = VP("trabalhar", "work", *at(WORD[JOB_PLACE[worker]]))
    return with_time(clause(boss, vp, "pres"), habit_time(), 0.2)

JOB_LEMMAS = {j.pt for j in JOBS}

def live_or_work(s, work=True):
    """... lives in Rome, works at the bank; the subject is the same."""
    town = city()
    vp = VP("morar", "live", "em " + town[0], "in " + town[1])
    if work and chance(0.5):
        vp = VP("trabalhar", "work", *place("work"))
    return clause(silent(s), vp, "pres")

SPOTS = pairs_of("""embaixo de+ = under; ao lado de+ = next to; atrás de+ = behind;
    em frente a+ = in front of; perto de+ = near; longe de+ = far from; dentro de+ = in""")

@family(3)
def where_things_are():
    """estar or ficar + place: A chave está em cima da mesa; O hotel fica perto da praia."""
    if chance(0.45):
        x = thing("cityplace", "dddt")
        y = thing("cityplace", "d", adj=0)
        near = choice([*SPOTS[1:6], ("a dois quarteirões de+", "two blocks from")])
        if chance(0.2) and x.lemma not in ("porto", "praia"):
            town = city()
            place_pair = ("em " + town[0], "in " + town[1])
        else:
            place_pair = (near[0] + y.pt, f"{near[1]} {y.en}")
        return clause(x, VP("ficar", "be", *place_pair), "pres")
    x = thing(choice(("portable", "portable", "pet")), "ddDm")
    y = thing(choice(("surface", "surface", "furniture", "opening", "machine")), "d", adj=0)
    spots = [("em+", "on"), ("em cima de+", "on top of")] if y.lemma in SURFACES else []
    spot = choice(SPOTS[:5] + spots)
    vp = VP("estar", "be", spot[0] + y.pt, f"{spot[1]} {y.en}")
    tense = choice(("pres", "pres", "impf"))
    pair = clause(x, vp, tense, neg=chance(0.15))
    return with_time(pair, pick(PAST_TIMES["near"])) if tense == "impf" else pair

SURFACES = GROUPS["surface"].split()
CONTAINED = entries("""cozinha tableware, cozinha appliance, quarto furniture, sala furniture,
    sala decor, garagem vehicle, garagem tool, jardim plant, fazenda farm, floresta wildland,
    mesa tableware, mesa stationery, caixa toy, armário clothes, prateleira text, cidade building,
    vilarejo building, bairro building, porto boats, zoológico wildland, quintal pet, rua vehicle,
    parede hung, geladeira fruit, geladeira vegetable, cesta fruit, escritório furniture,
    sótão small, porão small, jardim small, estação people, praça people, restaurante people,
    aula students, escola students, céu cloud, escritório gadget, lago birds, hospital people,
    cama bedding, sacola groceries, gaveta stationery, mochila stationery, armário footwear,
    festa people""")
CROWDS = {"people": ("pessoa", "pessoas", "f", "person", "people"),
    "students": ("estudante", "estudantes", "m", "student", "students")}

@family(2.6)
def there_is():
    """há, havia: Há três gatos no jardim / There are three cats in the garden."""
    spot, group = pick(CONTAINED).split()
    spot = WORD[spot]
    if group in CROWDS:
        pt, pts, g, en, ens = CROWDS[group]
        noun = Noun(pt, pts, g, en, ens, "")
    else:
        noun = pick(LEX[group])
    r = DRAW.random()
    if r < 0.4 and noun.ens and group not in CROWDS:
        x = np(noun, "a", "s")
    else:
        x = np(noun, choice(("some", "many", "few", 2, 3, 4, 5, 6, 8, 10)), "p")
    where = in_or_on(spot)
    past, plural = chance(0.3), x.n == "p"
    verb = (("havia", "there were" if plural else "there was") if past
        else ("há", "there are" if plural else "there is"))
    if chance(0.2) and not re.match("pouc|algu", x.pt):
        q = (verb[0], " ".join(reversed(verb[1].split())))
        return join(q, (x.pt, x.en), where, "?")
    if chance(0.15):
        none = np(noun, "bare", "p" if noun.ens else "s")
        none_pt = ("nenhuma " if noun.g == "f" else "nenhum ") + noun.pt
        be_not = {"há": "there aren't", "havia": "there weren't"}[verb[0]]
        reject(not noun.ens)
        return join(("não " + verb[0], be_not), (none_pt, "any " + none.en), where)
    return with_time(join(verb, (x.pt, x.en)), where, 0.25)

def in_or_on(noun):
    """Where something is inside or on a noun: na caixa / in the box, na mesa / on the table."""
    on = noun.pt in ("mesa", "prateleira", "parede", "cama")
    prep = "on" if on else PREP_OF.get(noun.pt, "in")
    if noun.pt in ("escola", "casa"):
        return at(noun)
    return f"em+{np(noun).pt}", f"{'at' if noun.cls == 'event' else prep} {np(noun).en}"

@family(2.2)
def having():
    """ter + things and relatives: Tenho dois irmãos."""
    s = subj()
    if chance(0.5):
        noun = pick([n for n in KIN if n.pt in SEVERAL])
        x = np(noun, choice(("a", 2, 3, 4, 5)), "p")
        x = np(noun, "a") if x.pt.startswith("un") or x.pt.startswith("uma") else x
        if chance(0.4):
            vp = VP("ter", "have", x.pt, x.en)
            town = city()
            who = NP("", "", x.k, x.e)
            live = clause(who, VP("morar", "live", "em " + town[0], "in " + town[1]), "pres")
            return join(clause(s, vp, "pres"), ("que", "who"), live)
    else:
        kind = choice("pet vehicle valuable machine printed farm".split())
        x = thing(kind, "inns" if kind in ("pet", "farm") else "i", adj=0.4)
    tense = choice(("pres", "pres", "impf"))
    neg = chance(0.15)
    if neg:
        return clause(s, VP("ter", "have", x.pt, x.en), "pres", neg=True)
    pair = clause(s, VP("ter", "have", x.pt, x.en), tense)
    return with_time(pair, pick(OLD_TIMES[:2]), 0.5) if tense == "impf" else pair

FEELINGS = pairs_of(
    "fome = hungry; sede = thirsty; sono = sleepy; frio = cold; calor = hot; "
    "pressa = in a hurry; razão = right; sorte = lucky; "
    "ciúmes = jealous; muita fome = very hungry; muita sede = very thirsty; "
    "muito sono = very sleepy; muita sorte = very lucky; muita pressa = in a big hurry"
)

@family(3.5)
def having_idioms():
    """ter fome, sede, sono, medo de, saudade de, ... anos."""
    s, r = subj(), DRAW.random()
    if r < 0.4:
        pt, en = pick(FEELINGS)
        vp = VP("estar", "be", "com " + pt, en)
        if pt.split()[-1] in ("razão", "sorte", "ciúmes"):
            vp = VP("ter", "be", pt, en)
        tense = choice(("pres", "pres", "impf"))
        pair = clause(s, vp, tense, neg=chance(0.2))
        return with_time(pair, pick(PAST_TIMES["near"])) if tense == "impf" else pair
    if r < 0.6:
        x = thing("fearsome", "b") if chance(0.6) else thing("feared", "bd")
        if chance(0.25):
            x = NP("o escuro", "the dark")
        return clause(s, VP("ter", "be", f"medo de+{x.pt}", f"afraid of {x.en}"),
            choice(("pres", "impf")), neg=chance(0.25))
    if r < 0.8:
        x = choice((kin, name))()
        home = country()
        x = choice(((x.pt, x.en), (x.pt, x.en), home))
        vp = VP("estar", "miss", "com saudade de+" + x[0], x[1])
        return pt_clause(s, vp, "pres"), en_clause(s, vp, "pres")
    s = choice((subj(), kin(plural=0), kin(plural=0), name()))
    low, high = (3, 15) if s.lemma in KID_LEMMAS else (58, 92) if s.lemma in OLD else (20, 58)
    n = low + DRAW.below(high - low)
    pt, en = number(n)
    return clause(s, VP("ter", "be", pt + " anos", en + " years old"),
        choice(("pres", "pres", "impf")))

OLD = "avô avó sogro sogra".split()

# --- Objects and clitics --------------------------------------------------------------------------

CLITICS = {"eu": ("me", "me"), "nós": ("nos", "us"), "ele": ("o", "him"), "ela": ("a", "her"),
    "eles": ("os", "them"), "elas": ("as", "them")}
TO_PEOPLE = entries("""ver see, ajudar help, convidar invite, visitar visit, esperar wait_for,
    procurar look_for, chamar call, cumprimentar greet, abraçar hug, entender understand,
    respeitar respect, admirar admire, ouvir listen_to, proteger protect, seguir follow,
    perdoar forgive, beijar kiss, criticar criticize, elogiar praise, reconhecer recognize,
    acordar wake_up""")

def object_vp(who):
    """A verb with a person as clitic: o ajudar / help him."""
    pt, en = pick(TO_PEOPLE).split()
    clitic, obj = CLITICS[who]
    if en == "wake_up":
        return VP(pt, "wake", "", obj + " up", clitic)
    return VP(pt, en.replace("_", " "), "", obj, clitic)

@family(2.8)
def people_clitics():
    """me, nos, o, a, os, as before the verb: Eu a encontrei ontem / I met her yesterday."""
    s = subj()
    who = pick(tuple(CLITICS))
    same = {"eu": "eu", "nós": "nós eu"}.get(who, "ele ela eles elas")
    reject(s.who in same.split() or (s.who in ("eu", "nós") and who in ("eu", "nós")))
    reject(who not in ("eu", "nós") and not s.who)
    vp = object_vp(who)
    r = DRAW.random()
    if r < 0.4:
        return with_time(clause(s, vp, "past", neg=chance(0.3)), past_time())
    if r < 0.55:
        return clause(s, vp, "pres", pre=pick(MID))
    if r < 0.8:
        reject(vp.pt in ("respeitar", "admirar", "reconhecer", "elogiar", "criticar"))
        modal = wrap(*pick(MODAL_VERBS[:5]), vp)
        return clause(s, modal, "pres", neg=chance(0.3))
    reject(vp.pt in ("respeitar", "admirar", "entender", "reconhecer", "ouvir"))
    return join(clause(s, vp, "going", neg=chance(0.2)), pick(FUTURE_TIMES["day"]))

MODAL_VERBS = [("querer", "", "want", "to"), ("precisar", "", "need", "to"),
    ("poder", "", "can", ""), ("dever", "", "should", ""), ("ter", "que", "have", "to"),
    ("tentar", "", "try", "to"), ("preferir", "", "prefer", "to"),
    ("conseguir", "", "be", "able to")]

BOUGHT = {"text": "comprar buy, receber receive, encontrar find",
    "wearable": "comprar buy, escolher choose, receber receive",
    "valuable": "comprar buy, receber receive, encontrar find",
    "machine": "comprar buy, receber receive, escolher choose",
    "tool": "comprar buy, encontrar find, receber receive",
    "fruit": "comprar buy, escolher choose, receber receive",
    "vehicle": "comprar buy, escolher choose",
    "toy": "comprar buy, receber receive, encontrar find"}
THEN_DONE = {"text": "ler read, guardar keep, devolver return, traduzir translate",
    "wearable": "usar wear, experimentar try_on, lavar wash, vender sell",
    "valuable": "perder lose, guardar keep, vender sell, usar use",
    "machine": "usar use, consertar fix, vender sell, testar test",
    "tool": "usar use, perder lose, guardar keep, vender sell",
    "fruit": "lavar wash, cortar cut, comer eat, descascar peel",
    "vehicle": "vender sell, consertar fix, lavar wash, pintar paint",
    "toy": "quebrar break, consertar fix, perder lose, esconder hide"}

@family(3.5)
def thing_clitics():
    """A thing taken up by o, a, os, as: Comprei a maçã e a comi / ... and ate it."""
    s = subj(adults=True)
    group = pick(tuple(THEN_DONE))
    x = thing(group, "iind")
    first, second = (pick(entries(table[group])).split() for table in (BOUGHT, THEN_DONE))
    clitic = ARTICLES[(x.g == "f") + 2 * (x.n == "p")]
    it = "them" if x.n == "p" else "it"
    base, _, particle = second[1].partition("_")
    end = f"{it} {particle}".strip()
    link = choice(pairs_of("e = and; mas não = but; e depois = and then"))
    pt, en = clause(s, VP(first[0], first[1], x.pt, x.en), "past", timed=False, drop=None)
    vp = VP(second[0], base, "", end, clitic)
    if link[1] == "but":
        reject(second[0] in ("perder", "lavar", "quebrar", "cortar", "descascar", "esconder"))
        rest = clause(again(s), vp, "past", neg=True)
        return join((pt, en), (", mas", ", but"), rest)
    return join((pt, en), link, clause(silent(s), vp, "past"))

DATIVE = entries("""dar giftable give, enviar sendable send, mostrar giftable show,
    emprestar lendable lend, trazer giftable bring, vender sellable sell, oferecer drink offer,
    mandar sendable send, contar gossip tell""")

def gave_to_them(s):
    """lhe for somebody just named: Encontrei Ana e lhe dei um livro."""
    t = choice((name, kin))()
    pt, group, en = pick(DATIVE).split()
    reject(t.n == "p" or s.pt == t.pt)
    x = thing(group, "iitn")
    vp = VP(pt, en, x.pt, f"{'him' if t.g == 'm' else 'her'} {x.en}", "lhe")
    first = clause(s, VP("encontrar", "meet", t.pt, t.en), "past", timed=False)
    return join(first, ("e", "and"), clause(silent(s), vp, "past"))

@family(3.5)
def dative_clitics():
    """me, nos + thing: Meu pai me deu um livro / My father gave me a book."""
    s = subj(adults=True)
    if chance(0.12):
        return gave_to_them(s)
    who, obj = choice((("me", "me"), ("nos", "us")))
    reject(s.who in ("eu", "nós"))
    pt, group, en = pick(DATIVE).split()
    x = thing(group, "iitn")
    vp = VP(pt, en, x.pt, f"{obj} {x.en}", who)
    r = DRAW.random()
    if r < 0.6:
        return with_time(clause(s, vp, "past", neg=chance(0.1)), past_time())
    if r < 0.8:
        return with_time(clause(s, vp, "going"), future_time())
    return join(ask(s, wrap("poder", "", "can", "", vp), "pres"), "?")

# --- Negation -------------------------------------------------------------------------------------

@family(2.5)
def negation():
    """Plain negation in all tenses: Eu não como carne."""
    s, vp = act()
    r = DRAW.random()
    if r < 0.35:
        s, vp = act("h")
        return clause(s, vp, "pres", neg=True)
    if r < 0.75:
        return with_time(clause(s, vp, "past", neg=True), past_time(vp))
    reject(vp.pt in UNWILLED)
    return with_time(clause(s, vp, "fut", neg=True), future_time(vp))

NOBODY = entries("""ver see, encontrar meet, ajudar help, convidar invite, visitar visit,
    esperar wait_for, ouvir hear, cumprimentar greet""")
NOTHING = entries("""comer eat, beber drink, comprar buy, ver see, ouvir hear, dizer say, fazer do,
    ler read, escrever write, entender understand, quebrar break, perder lose, encontrar find,
    vender sell, explicar explain, esquecer forget, aprender learn, ganhar win, pagar pay_for""")

@family(3)
def double_negation():
    """não ... ninguém, nada, nenhum, nem: Não vi ninguém / I didn't see anyone."""
    s, r = subj(), DRAW.random()
    if r < 0.25:
        pt, en = pick(NOBODY).split()
        vp = VP(pt, en.replace("_", " "), "ninguém", "anyone")
    elif r < 0.5:
        pt, en = pick(NOTHING).split()
        vp = VP(pt, en.replace("_", " "), "nada", "anything")
    elif r < 0.75:
        row = pick([r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*[in]\w*\}", r[1])])
        noun = pick(LEX[row[1][1:].split(".")[0]])
        reject(not noun.ens)
        none = ("nenhuma " if noun.g == "f" else "nenhum ") + noun.pt
        vp = VP(row[0], row[2], none, row[3].replace("{}", "any " + noun.ens))
    elif r < 0.88:
        row = pick([r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*b\w*\}", r[1])])
        x, y = (thing(row[1][1:].split(".")[0], "b", adj=0) for _ in "ab")
        vp = VP(row[0], row[2], f"nem {x.pt} nem {y.pt}", f"{x.en} or {y.en}")
        vp = VP(row[0], row[2], vp.pt_tail, row[3].replace("{}", f"{x.en} or {y.en}"))
        return clause(s, vp, choice(("pres", "fut", "cond")), neg=True, drop=None)
    else:
        s, vp = act("h", third=True, pron=0)
        pt, en = pick(
            pairs_of(
                "ninguém = no one; nenhum aluno = no student; "
                "nenhum cliente = no customer; nem todos = not everyone"
            )
        )
        some = NP(pt, en, 3 if pt == "nem todos" else 1)
        pair = clause(some, VP(*pick(INTRANS)), "past")
        return with_time(pair, past_time()) if chance(0.7) else pair
    return with_time(clause(s, vp, "past", neg=True), past_time())

INTRANS = pairs_of("""entender = understand; chegar = arrive; trabalhar = work; estudar = study;
    reclamar = complain; responder = answer; dançar = dance; correr = run; ajudar = help;
    esperar = wait; mentir = lie; chorar = cry; viajar = travel; dormir = sleep""")

# --- Questions ------------------------------------------------------------------------------------

@family(4.5)
def yes_no_questions():
    """Você comprou pão? / Did you buy bread?"""
    s = subj() if chance(0.5) else pronoun(choice(("você", "você", "vocês")))
    reject(s.who in ("eu", "nós"))
    tense = choice(("pres", "past", "fut", "going", "prog", "already"))
    flags = {"pres": "h", "prog": "g"}.get(tense, "")
    vp = action(s, flags, willed=tense in ("fut", "going"))
    if tense == "already":
        pair = ask(s, vp, "past", pre=("já", "already"), en="perf")
    elif tense == "prog":
        pair = ask(s, vp, tense)
    else:
        times = {"pres": habit_time, "past": past_time}.get(tense, future_time)
        pair = ask(s, vp, tense)
        pair = join(pair, times(vp)) if chance(0.6) else pair
    return join(pair, "?")

WH_ADVERBS = pairs_of("""quando = when; onde = where; por que = why; como = how;
    com quem = with whom; a que horas = at what time; desde quando = since when""")

@family(4.5)
def wh_questions():
    """Onde você comprou o livro? / Where did you buy the book?"""
    s = subj()
    reject(s.who in ("eu",))
    head = pick(WH_ADVERBS[:6])
    flags = {"com quem": "c", "onde": "g"}.get(head[0], "")
    where = 0
    vp = action(s, flags, where=where, company=0, willed=True)
    reject(head[0] in ("onde", "como") and (vp.pt_tail.startswith("em ") or "em+" in vp.pt_tail))
    reject(head[0] == "como" and vp.pt not in HOW_VERBS)
    reject(head[0] == "a que horas" and vp.pt not in TIMED_VERBS)
    tense = choice(("past", "past", "going", "pres"))
    if head[0] == "quando" and tense == "pres":
        tense = "going"
    if tense == "pres" and vp.pt not in HABITUAL:
        tense = "past"
    neg = head[0] == "por que" and chance(0.3)
    return join(ask(s, vp, tense, neg=neg, head=head, timed=tense != "past"), "?")

HOW_VERBS = set(
    """aprender consertar resolver quebrar perder chegar encontrar voltar abrir preparar fazer
        cozinhar construir""".split()
)
TIMED_VERBS = set(
    """chegar sair almoçar jantar levantar deitar ir voltar dormir pegar ligar abrir fechar visitar
        encontrar alimentar tomar correr esperar passear assistir""".split()
)
HABITUAL = {r[0] for r in ACTION_ROWS if "h" in r[5]}

@family(3.5)
def who_what_questions():
    """Quem, o que, qual, quantos: O que ela comprou? / What did she buy?"""
    r = DRAW.random()
    s = subj()
    if s.who in ("eu", "nós"):
        s = pronoun("você")
    if r < 0.3:
        who = NP("quem", "who")
        vp = action(NP("", "", lemma="quem"))
        if chance(0.2):
            return join(clause(who, vp, "going"), future_time(vp), "?")
        pair = clause(who, vp, "past")
        return join(pair, past_time(vp) if chance(0.4) else ("", ""), "?")
    if r < 0.55:
        pt, en = pick(NOTHING).split()
        vp = VP(pt, en.replace("_", " "))
        tense = "past" if pt in UNWILLED else choice(("past", "going"))
        where = place_any if pt in ("comprar", "ver", "encontrar", "comer", "dizer") else past_time
        tail = choice((past_time, where))() if tense == "past" else future_time()
        return join(ask(s, vp, tense, head=("o que", "what")), tail, "?")
    row = pick([r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*[itn]\w*\}", r[1])])
    noun = pick(LEX[row[1][1:].split(".")[0]])
    tail = place(row[4]) if row[4] and chance(0.4) else ("", "")
    vp = VP(row[0], row[2], tail[0], f"{row[3].replace('{}', '').strip()} {tail[1]}".strip())
    if r < 0.78 and noun.ens:
        many = ("quantas" if noun.g == "f" else "quantos") + " " + noun.pts
        return join(ask(s, vp, "past", head=(many, "how many " + noun.ens), timed=False), "?")
    reject(row[0] == "ver")
    which = choice((("que", "what"), ("qual", "which")))
    tense = choice(("past", "going", "past"))
    return join(ask(s, vp, tense, head=join(which, (noun.pt, noun.en)), timed=False), "?")

def place_any():
    """A place phrase of any everyday kind."""
    return place(choice(("food", "shop", "meet", "home", "office")))

def where_is(x, vp, tense, head):
    """A question with the Portuguese noun last: Onde fica o hotel?"""
    if x.who:
        return ask(x, vp, tense, head=head)
    pt = f"{head[0]} {pt_forms(vp.pt, tense)[x.k]} {x.pt}"
    return pt, f"{head[1]} {en_clause(x, vp, tense, question=True)}"

@family(2.0)
def being_questions():
    """Onde está, de onde é, quantos anos tem, quem é, como é."""
    s, r = subj(third=chance(0.6)), DRAW.random()
    reject(s.who in ("eu", "nós"))
    if r < 0.12:
        return join(ask(s, VP("ser", "be", "", "from"), "pres", head=("de onde", "where")), "?")
    if r < 0.3:
        return join(where_is(s, VP("ter", "be"), "pres", ("quantos anos", "how old")), "?")
    if r < 0.4:
        x = thing(choice(("vehicle", "bag", "valuable", "clothes", "pet")), "TttT", adj=0)
        en = ("whose are" if x.n == "p" else "whose is") + " " + x.en
        return join((f"de quem {'são' if x.n == 'p' else 'é'} {x.pt}", en), "?")
    if r < 0.6:
        x = thing(choice(("portable", "losable")), "mMdD", adj=0)
        verb = choice((("estar", "be"), ("estar", "be")))
        return join(where_is(x, VP(*verb), choice(("pres", "impf")), ("onde", "where")), "?")
    if r < 0.8:
        x = thing("cityplace", "ddt", adj=0.3)
        vp = VP("ficar", "be", *choice((("", ""), ("perto daqui", "near here"))))
        if vp.pt_tail:
            return join(ask(x, vp, "pres"), "?")
        return join(where_is(x, vp, "pres", ("onde", "where")), "?")
    who = choice((folk, kin))(plural=0)
    if r < 0.9:
        return f"qual é o nome de+{who.pt} ?", f"what is the name of {who.en} ?"
    return join(where_is(who, VP("morar", "live"), "pres", ("onde", "where")), "?")

@family(2)
def tag_questions():
    """..., não é? with the English tag that fits."""
    s, r = subj(), DRAW.random()
    reject(s.who == "eu")
    pron = own_pronoun(s)
    if r < 0.6:
        vp, tense, aux = adjectives(s, QUALITIES["person"], "ser"), "pres", BE["pres"][s.e]
        if chance(0.5):
            vp = adjectives(s, STATES["person"], "estar")
    else:
        tense = choice(("pres", "past", "fut"))
        vp = action(s, "h" if tense == "pres" else "")
        aux = {"past": "did", "fut": "will", "pres": "does" if s.e == 1 else "do"}[tense]
    return join(clause(s, vp, tense, drop=False), (", não é?", f", {en_not(aux)} {pron}?"))

# --- Clauses within clauses -----------------------------------------------------------------------

def whose(x):
    """cujo: Conheci a mulher cujo gato é gordo / I met the woman whose cat is fat."""
    s, y = subj(), np(pick(LEX[choice(("vehicle", "pet"))]), "bare")
    adjective = adjectives(y, QUALITIES[ADJ_CLASS[y.cls][0]], "ser")
    who = join((x.pt, x.en), (pt_adj("cujo", y.g, "s"), "whose"), clause(y, adjective, "pres"))
    verb = pick(pairs_of("conhecer = meet; ver = see; ajudar = help; visitar = visit"))
    return clause(s, VP(*verb, *who), "past", timed=False)

@family(7.5)
def who_relatives():
    """People with a subject relative: O homem que mora aqui é médico."""
    x, r = folk(choice(("the", "the", "yon", "a"))), DRAW.random()
    if chance(0.08):
        return whose(x)
    inner_s = replace(x, pt="", en="", who="")
    tense = choice(("pres", "past", "prog"))
    vp = action(x, {"pres": "h", "prog": "g", "past": ""}[tense], company=0)
    reject(vp.pt in TRIVIAL or (tense == "pres" and vp.pt not in LASTING))
    who = join((x.pt, x.en), ("que", "who"), clause(inner_s, vp, tense))
    if tense == "past" and chance(0.4):
        who = join(who, past_time(vp))
    head = replace(x, pt=who[0], en=who[1])
    if r < 0.4:
        return clause(head, adjectives(x, QUALITIES["person"], "ser"), "pres")
    if r < 0.6:
        return clause(head, VP("ser", "be", *friend_of(x)), "pres")
    s = subj(third=chance(0.3))
    pt, en = pick(
        pairs_of("""conhecer = meet; ver = see; ajudar = help; convidar = invite; visitar = visit;
            procurar = look for; encontrar = meet; agradecer a+ = thank""")
    )
    vp = VP(pt.split()[0], en, who[0] if " " not in pt else "a+" + who[0], who[1])
    return clause(s, vp, choice(("past", "going")), timed=False)

LASTING = set(
    """falar ensinar estudar tocar jogar cantar dançar trabalhar pesquisar cuidar dirigir comer
        beber praticar pescar nadar correr treinar alimentar visitar ajudar viajar""".split()
)
TRIVIAL = set("escovar pentear vestir levantar deitar tomar chegar lavar arrumar".split())

def friend_of(x):
    """... is a friend of mine in the shape "my neighbor", agreeing with x."""
    noun = pick([k for k in KIN if k.g == x.g and k.pt in (*SEVERAL, "chefe", "sogro", "sogra")])
    y = np(noun, choice(("my", "your", "our", "his", "her")), x.n)
    return (y.pt.split(" ", 1)[1] if y.pt.endswith(("dele", "dela")) else y.pt), y.en

@family(7.5)
def thing_relatives():
    """Things with an object relative: O livro que comprei ontem é interessante."""
    rows = [r for r in ACTION_ROWS if re.fullmatch(r"\{\w+\.\w*[it]\w*\}", r[1])]
    s, row = subj(adults=True), pick(rows)
    noun = pick(LEX[row[1][1:].split(".")[0]])
    kinds = ADJ_CLASS.get(noun.cls, ("", ""))
    reject(not kinds[0])
    reject(s.g == "m" and re.search(SKIRTS, noun.pt))
    x = np(noun, "the", "p" if chance(0.25) else "s")
    scale = "far" if row[0] in FAR_VERBS else "near"
    vp = VP(row[0], row[2], "", row[3].replace("{}", "").strip(), "", scale)
    rel = with_time(clause(s, vp, "past"), past_time(vp), 0)
    head = join((x.pt, x.en), ("que", "that"), rel)
    h = replace(x, pt=head[0], en=head[1])
    tense = choice(("pres", "impf"))
    kind, verb = (kinds[1], "estar") if kinds[1] and chance(0.35) else (kinds[0], "ser")
    table = STATES[kind] if verb == "estar" else QUALITIES[kind]
    return clause(h, adjectives(x, table, verb), tense, neg=chance(0.1))

@family(4)
def place_relatives():
    """onde, com quem: A cidade onde moro é pequena; A mulher com quem falei."""
    s = subj()
    if chance(0.6):
        spot = pick([WORD[w] for w in PLACE_HEADS])
        x = np(spot, choice(("the", "the", "this", "yon")))
        doing = PLACE_HEADS[spot.pt]
        if doing == "live":
            vp = VP("morar", "live")
        elif doing == "work":
            reject(s.lemma in JOB_PLACE_OF or s.lemma in KID_LEMMAS)
            vp = VP("trabalhar", "work")
        else:
            vp = VP(*choice(pairs_of(doing.replace("|", ";"))))
        tense = "pres" if chance(0.6) else "past"
        rel = clause(s, vp, tense, timed=tense == "pres")
        head = join((x.pt, x.en), ("onde", "where"), rel)
        h = replace(x, pt=head[0], en=head[1])
        return clause(h, adjectives(x, QUALITIES[ADJ_CLASS[spot.cls][0]], "ser"), "pres")
    x = folk(plural=0.1)
    verb = pick(
        pairs_of("""falar = speak; trabalhar = work; estudar = study; viajar = travel;
            jantar = have dinner; dançar = dance; morar = live; conversar = talk;
            almoçar = have lunch""")
    )
    tense = choice(("pres", "past")) if verb[0] in ("trabalhar", "estudar", "morar") else "past"
    rel = clause(s, VP(*verb), tense, timed=tense == "pres")
    head = join((x.pt, x.en), ("com quem", "with whom"), rel)
    h = replace(x, pt=head[0], en=head[1])
    return clause(h, adjectives(x, QUALITIES["person"], "ser"), "pres")

PLACE_HEADS = table("""
    cidade: live; bairro: live; vilarejo: live; casa: live; prédio: live; apartamento: live;
    rua: live; hospital: work; escritório: work; fábrica: work; hotel: work; loja: work;
    fazenda: work; banco: work; escola: estudar = study | trabalhar = work; universidade:
    estudar = study; biblioteca: estudar = study | trabalhar = work; restaurante: jantar = have
    dinner | almoçar = have lunch; parque: correr = run | caminhar = walk; praia: nadar = swim |
    descansar = rest; lago: nadar = swim | pescar = fish; academia: treinar = train; quarto:
    dormir = sleep; ilha: acampar = camp | morar = live; país: live""")
OPINIONS = pairs_of("""achar = think; saber = know; acreditar = believe; perceber = realize;
    descobrir = find out; ouvir dizer = hear""")[:5]

@family(7)
def that_clauses():
    """achar que, saber que, ...: Acho que ela vai viajar amanhã."""
    s, (t, vp) = subj(), act(company=0.1)
    reject(clash(s, t))
    verb = pick(OPINIONS)
    main = "past" if verb[0] in ("perceber", "descobrir") else "pres"
    opinion = clause(s, VP(*verb), main, neg=False, timed=False)
    link = ("que", "that")
    r = DRAW.random()
    if r < 0.35:
        inner = clause(t, adjectives(t, STATES["person"], "estar"),
            "impf" if main == "past" else "pres", drop=False)
    elif main == "past":
        inner = clause(t, vp, "pluperf", drop=False)
    elif r < 0.7:
        reject(vp.pt in UNWILLED)
        inner = join(clause(t, vp, "going", drop=False), future_time(vp))
    else:
        inner = join(clause(t, vp, "past", drop=False), past_time(vp))
    reject(s.pt == t.pt or (not s.who and t.who in ("ele", "ela")))
    return join(opinion, link, inner)

SAID = pairs_of(
    "dizer = say; contar = tell us; explicar = explain; responder = answer; me dizer = tell me"
)

@family(7)
def reported_speech():
    """disse que, perguntou se: Ela disse que estava cansada."""
    s, t = subj(third=True), subj()
    reject(s.pt == t.pt or (not s.who and t.who in ("ele", "ela", "eles", "elas")))
    pt, en = pick(SAID)
    said = VP(pt.split()[-1], *{"tell us": ("tell", "", "us"),
        "tell me": ("tell", "", "me")}.get(en, (en, "", "")),
        {"contar": "nos", "me dizer": "me"}.get(pt, ""))
    link, r = ("que", "that"), DRAW.random()
    if chance(0.3):
        said, link = VP("perguntar", "ask"), ("se", "if")
    if r < 0.3:
        inner = clause(t, adjectives(t, STATES["person"], "estar"), "impf", drop=False)
    elif r < 0.55:
        vp = action(t, company=0, willed=True)
        inner = clause(t, vp, "cond", drop=False)
    elif r < 0.8:
        inner = clause(t, action(t, company=0), "pluperf", drop=False)
    else:
        inner = clause(t, wrap(*pick(MODAL_VERBS[:3]), action(t, company=0, willed=True)), "impf",
            drop=False)
    return join(clause(s, said, "past", drop=False), link, inner)

# --- Subjunctives and conditions ------------------------------------------------------------------

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

# --- Comparison and number ------------------------------------------------------------------------

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

# --- Possession, orders, passive ------------------------------------------------------------------

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

# --- Themes ---------------------------------------------------------------------------------------

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

# --- Verbs that govern verbs ----------------------------------------------------------------------

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

# --- Animals, countries, tools --------------------------------------------------------------------

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

# --------------------------------------------------------------------------------------------------
# Splitting and writing
# --------------------------------------------------------------------------------------------------

def finish(pair):
    """Contract, space and capitalize both sides, and add the full stop that is missing."""
    pt, en = pair
    pt = re.sub(r"\b(de|em|a|por)\+(\w+)", pt_merge, pt)
    return tuple(tidy(text) for text in (pt, en))

def tidy(text):
    """One side with single spaces, a capital, and an end mark."""
    text = re.sub(r"\s+([.,?!])", r"\1", " ".join(text.split()))
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".?!" else text + "."

def fits(pair):
    """True if a pair has 2 to 25 words on both sides and says nothing twice in a row."""
    if re.search(r"\bmy (husb|boyf)", pair[1].lower()) and re.search(r"\bmy (wi|girlf)", pair[1]):
        return False
    for text in pair:
        words = text.lower().split()
        if not 2 <= len(words) <= 25 or any(a == b for a, b in itertools.pairwise(words)):
            return False
    return True

def generate(total, taken):
    """Make sentences, family by family, until there are total new sources beside taken."""
    shares = sum(share for _, share, _ in FAMILIES)
    pairs, made = dict(taken), {}
    for index, (label, share, make) in enumerate(FAMILIES):
        last = index == len(FAMILIES) - 1
        goal = total - sum(made.values()) if last else round(total * share / shares)
        made[label] = 0
        for _ in range(goal * 60):
            if made[label] == goal:
                break
            DRAW.busy.clear()
            try:
                pt, en = finish(make())
            except UnfitError:
                continue
            if pt not in pairs and fits((pt, en)):
                pairs[pt] = en
                made[label] += 1
    return pairs, made

def read_everyday():
    """The hand-written pairs, by source."""
    lines = (HERE / "everyday.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line)

def main():
    """Write the three splits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "pt_en", help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    everyday = read_everyday()
    pairs, _ = generate(sum(SIZES.values()) - len(everyday), everyday)
    lines = sorted(f"{pt}\t{en}\n" for pt, en in pairs.items())
    for i in range(len(lines) - 1, 0, -1):
        j = DRAW.below(i + 1)
        lines[i], lines[j] = lines[j], lines[i]
    # What everyone tries first, such as "Bom dia.", is to be learned: short hand-written pairs come
    # last, and so to the training split.
    lines.sort(key=lambda line: line.partition("\t")[0] in everyday and line.count(" ") <= 6)
    for split, size in SIZES.items():
        part, lines = (lines[:size], lines[size:]) if split != "train" else (lines, [])
        (out / f"{split}.tsv").write_text("".join(part), encoding="utf-8", newline="\n")

if __name__ == "__main__":
    main()
