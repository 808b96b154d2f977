"""Abbreviations that no sentence ends with, which sentencex and ICU do not know.

Titles, and what stands before a name or a number. What may end a sentence, such as "etc.", is not
among them. In small letters, a word is found in any case; with a capital, as it is written.
"""

import functools

from nmt.text.languages import primary

EVERYWHERE = "dr prof"
ABBREVIATIONS = {  # by language, without the last period
    "ar": "أ.د د.م هـ",
    "bg": "г-н г-жа г-ца д-р проф доц акад инж ген полк ул бул св пл рис табл",
    "bn": "ড ডা ডঃ মো মোঃ মি মিসেস প্রফ প্রো মু",
    "bs": "g gđa gosp mr ing inž doc akad sv ul br npr tzv tj",
    "ca": "sr sra srs sta st mn av núm pàg",
    "cs": "pí plk pplk mjr kpt npor por ing mgr mudr judr phdr odst popř roč tab obr čl mj",
    "da": "bl.a adv cand stud mag tlf hr fr ca",
    "de": "Bd Aufl RA RAin bes dt engl allg Hr Fr Frl Hrn Abt",
    "el": "κκ κος κας καθ δηλ αρ σελ λεωφ οδ αγ στρ τηλ βλ εικ δρ",
    "en": "vol ch eq br messrs mx",
    "es": "profa cnel tte hno hna abg dña arq mons pbro",
    "et": "hr pr prl nt tn mnt lk nr",
    "fa": "ص",
    "fi": "tri toht maist ins nro luv os puh rva hra nti past ns ks prof dos",
    "fr": "mme mmes mlle mlles mgr Me Dr Drs Pr St Ste Sts Stes bd no nos n° nº adj Vve",
    "gl": "sr sra dna núm",
    "gu": "ડૉ ડો શ્રી પ્રો",
    "he": "פרופ מר גב גב' עו עמ מס רח",
    "hi": "डॉ डा श्री श्रीमती सुश्री प्रो पं कु मो स्व इं रु सं मि",
    "hr": "g gđa gosp mr ing inž doc akad sv ul br npr tzv tj",
    "hu": "ifj id özv gr br szt ún old tel ld vö hg ált dr gyv szds",
    "id": "drs ir sdr sdri bpk jl hlm tn ny no",
    "is": "sr hr frú nr bls t.d sbr",
    "it": "s n ten sig sig.na sig.ra dott dott.ssa prof.ssa",
    "kn": "ಡಾ ಶ್ರೀ ಪ್ರೊ",
    "lt": "p gyd šv pvz t.y pan nr",
    "lv": "kgs sv piem nr",
    "mk": "г-дин г-ѓа д-р проф ул бул св",
    "ml": "ഡോ ശ്രീ പ്രൊഫ",
    "mr": "डॉ श्री श्रीमती प्रा प्रो कु सौ पं रु इ",
    "ms": "en pn cik hj jl no",
    "nb": "f.eks bl.a kap dvs tlf jf evt kl hr fr adv",
    "ne": "डा डॉ श्री प्रा",
    "nl": "mevr mw mej dhr o.a d.w.z incl ds kol kap lt jhr bijv",
    "no": "f.eks bl.a kap dvs tlf jf evt kl hr fr adv",
    "pa": "ਡਾ ਸ੍ਰੀ ਪ੍ਰੋ",
    "pl": "hab mgr inż inz mec ks bp abp kard św śp red gen płk ppłk mjr kpt por ppor asp hr im "
    "ul al pl os m.in tj tzw godz nr str w woj pow lek dyr doc adw o p pp mł st kol ob sędz sygn "
    "zm ur",
    "pt": "srta profa profª arq d s ten cel sgto mons p exa núm nº n.º eng dep",
    "ro": "dl dna d-na d-l cpt sf str bd pag ex cca tel alin conf acad av ing",
    "ru": "г-н г-жа д-р доц проф акад им рис табл ген полк св инж т.е чл.-корр пл ул",
    "sk": "pí plk mjr kpt npor ing mgr mudr judr phdr odst tzv napr",
    "sl": "g ga gdč mag inž doc akad sv ul npr t.i",
    "sq": "znj z prof",
    "sr": "g gđa gosp mr ing inž doc akad sv ul br npr tzv tj г гђа госп др проф св ул бр",
    "sv": "t.ex bl.a kap sid dvs ev kl tel jfr resp hr fr ing",
    "sw": "dkt bw bi",
    "ta": "திரு திருமதி டாக்டர் முனைவர்",
    "te": "డా శ్రీ ప్రొ",
    "tr": "doç av sn yrd öğr gör arş uzm alb bnb yzb tğm mah cad sok bkz örn hz müh org op",
    "uk": "д-р проф доц акад ген тов інж рис табл тел ім вул пл св",
    "ur": "ڈاکٹر پروفیسر",
    "vi": "ts gs pgs ths bs ks tp",
}


@functools.cache
def abbreviations(language: str) -> frozenset[str]:
    """Returns the abbreviations of a language, without the last period."""
    return frozenset(f"{EVERYWHERE} {ABBREVIATIONS.get(language, '')}".split())


def is_abbreviation(word: str, language: str) -> bool:
    """Returns whether a word, without its last period, is an abbreviation of a language.

    So is a part of it after a hyphen: "Dipl.-Ing".
    """
    known = abbreviations(primary(language))
    parts = {word, word.rpartition("-")[2]}
    return any(part in known or part.lower() in known for part in parts)
