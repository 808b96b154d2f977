"""Sentence families: to be and to have."""

import re
from dataclasses import replace

from grammar.clauses import (
    OLD_TIMES,
    PAST_TIMES,
    be,
    clause,
    en_clause,
    habit_time,
    pt_clause,
    with_time,
)
from grammar.english import a_an
from grammar.families import (
    OPPOSITES,
    a_thing,
    adjectives,
    again,
    clash,
    family,
    plain_clause,
    silent,
    state_and_reason,
)
from grammar.lexicon import COUNTRY_ROWS, GROUPS, SEVERAL, entries
from grammar.phrases import (
    DRAW,
    JOB_PLACE,
    JOBS,
    KID_LEMMAS,
    KIN,
    LEX,
    NP,
    PREP_OF,
    QUALITIES,
    STATES,
    VP,
    WORD,
    Noun,
    at,
    chance,
    choice,
    city,
    country,
    join,
    kin,
    name,
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
