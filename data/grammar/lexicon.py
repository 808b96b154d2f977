"""The lexicon: the tables of data/lexicon/ and small sets of words."""

from pathlib import Path

# Tables and calls are packed by hand from here on.
# fmt: off

SEED = 20240607
TABLES = Path(__file__).resolve().parent.parent / "lexicon"

def rows(name):
    """The rows of a table, lists of strings, without the names of its columns."""
    lines = (TABLES / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]

def entries(text):
    """Parse "a, b, c" into a list, with single spaces."""
    return [" ".join(entry.split()) for entry in text.split(",")]

def table(text):
    """Parse "key: words; key: words" into a dict."""
    entries = (entry.split(":") for entry in " ".join(text.split()).split(";"))
    return {key.strip(): words.strip() for key, words in entries}

GROUPS = dict(rows("groups"))
SEVERAL = [pt.partition("/")[0] for pt, _, _, several in rows("family") if several == "yes"]
NAMES_M, NAMES_F = ([name for g, name in rows("names") if g == gender] for gender in "mf")
COUNTRY_ROWS = [tuple(row) for row in rows("countries")]
CITY_ROWS = [tuple(row) for row in rows("cities")]
COLOR_PAIRS = [tuple(row) for row in rows("colors")]
# The adjective class of each noun class: (quality, state).
ADJ_CLASS = {noun: (quality, state) for noun, quality, state in rows("adjective_classes")}
PLACES = dict(rows("places"))
# Portuguese verb and complement, English verb and complement, place tag, flags. "{group.letters}"
# in the first complement is a noun phrase (see `slot`), repeated as "{}" in the second; "~" is my,
# your, his ... by the subject. Flags: h can be a habit, g can be in progress, c with company, p can
# be passive, r is reflexive in Portuguese.
ACTION_ROWS = [tuple(row) for row in rows("actions")]
# Fixed complements with their translations, picked like nouns.
FIXED = {}
for _name, *_pair in rows("fixed"):
    FIXED[_name] = (*FIXED.get(_name, ()), tuple(_pair))

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
