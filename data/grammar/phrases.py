"""Phrases: picking words evenly, nouns and their phrases, subjects, numbers, places."""

from dataclasses import dataclass

from grammar.draw import Draw, reject
from grammar.english import a_an, en_form, en_plural
from grammar.lexicon import (
    ADJ_CLASS,
    CITY_ROWS,
    COLOR_PAIRS,
    COUNTRY_ROWS,
    FIXED,
    GROUPS,
    NAMES_F,
    NAMES_M,
    PLACES,
    SEED,
    SEVERAL,
    rows,
)
from grammar.portuguese import ARTICLES, pt_adj, pt_plural

# Tables and calls are packed by hand from here on.
# fmt: off

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
    pt, _, pts = pt.partition("/")
    en, _, ens = en.partition("/")
    ens = "" if ens == "-" else ens or en_plural(en)
    return Noun(pt, pts or pt_plural(pt), gender, en, ens, cls)

def read_lexicon():
    """The noun tables as lists of Noun by class or group."""
    nouns = {}
    for cls, *entry in rows("nouns"):
        nouns.setdefault(cls, []).append(make_noun(*entry, cls))
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
    for place, *forms, en in rows("professions"):
        for pt, gender in zip(forms, "mf", strict=True):
            if pt == "-":
                continue
            noun = make_noun(pt, gender, en, "person")
            jobs.append(noun)
            places[noun] = place
    folk = [make_noun(*row, "person") for row in rows("people")]
    kin = [make_noun(*row, "person") for *row, _ in rows("family")]
    return jobs, places, folk, kin

def read_adjectives(table):
    """Lists of adjective pairs by class; "@" stands for the colors."""
    out = {}
    for cls, *pair in rows(table):
        out.setdefault(cls, []).extend(COLOR_PAIRS if pair[0] == "@" else [tuple(pair)])
    return out

LEX, WORD = read_lexicon()
JOBS, JOB_PLACE, OTHER_FOLK, KIN = read_people()
QUALITIES, STATES = read_adjectives("qualities"), read_adjectives("states")
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
