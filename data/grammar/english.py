"""English morphology: plurals, articles, verb forms, verb groups."""

import re

# Tables and calls are packed by hand from here on.
# fmt: off

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
