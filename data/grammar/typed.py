"""Sentences as people type them: without a capital, a mark or accents, and with digits."""

import re
import unicodedata

from grammar.phrases import DRAW

OTHER_MARK = {".": "!", "!": "."}
NUMBER_WORDS = {  # of both languages, by value
    2: "dois duas two", 3: "três three", 4: "quatro four", 5: "cinco five", 6: "seis six",
    7: "sete seven", 8: "oito eight", 9: "nove nine", 10: "dez ten", 11: "onze eleven",
    12: "doze twelve", 13: "treze thirteen", 14: "catorze quatorze fourteen", 15: "quinze fifteen",
    16: "dezesseis sixteen", 17: "dezessete seventeen", 18: "dezoito eighteen",
    19: "dezenove nineteen", 20: "vinte twenty", 30: "trinta thirty", 40: "quarenta forty",
    50: "cinquenta fifty", 60: "sessenta sixty", 70: "setenta seventy", 80: "oitenta eighty",
    90: "noventa ninety",
}  # fmt: skip
VALUES = {word: value for value, words in NUMBER_WORDS.items() for word in words.split()}
QUESTION_WORD = re.compile(
    r"(o que|que|quem|qual|quais|quando|quant[oa]s?|onde|como|por que)\b", re.IGNORECASE
)
UNFIT_FOR_DIGITS = re.compile(r"\b(cento|mil|hundred|thousand)\b|\d|-feira|nt[ae] e |ty-")


def without_mark(text):
    """A line in lower case at its beginning, without the mark at its end."""
    return text[0].lower() + text[1:].rstrip(".!")


def without_accents(text):
    """A line as it is typed on a keyboard without accents, or by somebody in a hurry."""
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def bare(text):
    """A line in lower case, without its end mark: the same for all its typed forms."""
    return text.lower().rstrip(".!")


def typed_forms(pairs):
    """The other forms of short hand-written pairs: with the other mark, and as many type them."""
    forms = {}
    for pt, en in pairs.items():
        if pt.count(" ") > 4:
            continue
        forms[without_mark(pt)] = en
        if pt[-1] in OTHER_MARK and en[-1] in OTHER_MARK:
            forms[pt[:-1] + OTHER_MARK[pt[-1]]] = en[:-1] + OTHER_MARK[pt[-1]]
    return {pt: en for pt, en in forms.items() if pt not in pairs}


def typed(pairs, kept):
    """The pairs, a tenth of the short ones as many type them: without a capital or a stop."""
    out = {}
    for pt, en in pairs.items():
        if pt not in kept and pt.count(" ") <= 6 and DRAW.chance(0.12):
            form = DRAW.choice((without_mark(pt), pt.rstrip("."), pt[0].lower() + pt[1:]))
            pt = pt if form in pairs or form in kept else form
        out[pt] = en
    return out


def number_words(text):
    """The number words of a line."""
    return [word for word in re.findall(r"\w+", text) if word.lower() in VALUES]


def with_digits(pair):
    """A pair whose number is written in digits, as another number if it is no time; or None."""
    pt, en = pair
    pt_words, en_words = number_words(pt), number_words(en)
    if len(pt_words) != 1 or len(en_words) != 1 or UNFIT_FOR_DIGITS.search(f"{pt} {en}"):
        return None
    pt_word, en_word = pt_words[0], en_words[0]
    number = VALUES[pt_word.lower()]
    if number != VALUES[en_word.lower()] or en.startswith(en_word):
        return None
    if "hora" not in pt and DRAW.chance(0.6):
        number = 2 + DRAW.below(98 if DRAW.chance(0.7) else 4998)
    return tuple(
        re.sub(rf"\b{word}\b", str(number), text) for word, text in ((pt_word, pt), (en_word, en))
    )


def accentless(pairs, share):
    """Copies without accents of a share of the short pairs, most of them without a mark, too."""
    copies = []
    for pt, en in pairs:
        plain = without_accents(pt)
        if pt.count(" ") <= 7 and plain != pt and DRAW.chance(share):
            lower = plain[-1] == "." and DRAW.chance(0.6)
            copies.append((without_mark(plain) if lower else plain, en))
    return copies


def hurried_questions(pairs, share):
    """Copies of a share of the short questions that begin with a question word, in small letters.

    They have neither accents nor a mark; the English keeps its mark, because it is a question.
    """
    return [
        (without_mark(without_accents(pt).rstrip("?")), en)
        for pt, en in pairs
        if pt[-1] == "?"
        and pt.count(" ") <= 7
        and QUESTION_WORD.match(without_accents(pt))
        and DRAW.chance(share)
    ]
