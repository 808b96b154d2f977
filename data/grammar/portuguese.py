"""Portuguese morphology: plurals, agreement, conjugation, contractions."""

import re

# Tables and calls are packed by hand from here on.
# fmt: off

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
        special = {"alemão": "alemã", "brincalhão": "brincalhona", "espanhol": "espanhola",
            "bom": "boa"}
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
