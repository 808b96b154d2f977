"""Codes of languages: what --languages, the names of files and the files themselves say.

A code is a tag of BCP 47, in its usual form: a language of ISO 639, by two letters where it has a
code of two, perhaps a script, perhaps a region: de, hsb, zh-Hant, pt-BR.
"""

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nmt import UserError
from nmt.text.encoding import GZIP

TWO_LETTERS = {  # ISO 639-1
    *"aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy "
    "da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu "
    "hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb "
    "lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om "
    "or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw "
    "ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu".split()
}
THREE_LETTERS = {  # of languages without a code of two letters: those with parallel text on OPUS
    *"ace ang arz ast awa ban bem ber bho bjn bug ceb ckb cnr cop crh csb dik dsb dtp dyu fil fon "
    "frp frr fur gos grc gsw hak hil hmn hne hsb hyw ilo jbo kab kac kam kbp kea kmb kmr lad lfn "
    "lij lmo ltg lua luo lus lzh mag mai mhr mni mos mwl myv nan nap nds nov nso nus nst pag pap "
    "pcd pms prs quy rmy rom rue sah sat scn sco sgs shi shn sma sme smj szl taq tet tlh tmh tpi "
    "tum tvl tzl tzm udm umb vec vep vls vro war wuu yue zgh zza".split()
}
BIBLIOGRAPHIC = {  # second codes of ISO 639-2, which ICU does not know
    "alb": "sq", "arm": "hy", "baq": "eu", "bur": "my", "chi": "zh", "cze": "cs", "dut": "nl",
    "fre": "fr", "geo": "ka", "ger": "de", "gre": "el", "ice": "is", "mac": "mk", "may": "ms",
    "per": "fa", "rum": "ro", "slo": "sk", "tib": "bo", "wel": "cy",
}  # fmt: skip
COUNTRIES = {  # what is written for a language, but is the code of a country
    "cn": "zh", "cz": "cs", "dk": "da", "ge": "ka", "gr": "el", "jp": "ja", "rs": "sr", "ua": "uk",
}  # fmt: skip
SMALL_REGIONS = {*"ar at au be br ca ch cn de es fr gb hk in mx pt sg tw us".split()}  # as in pt_br

TAG = re.compile("([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|[0-9]{3}))?")
# Where a hyphen separates two tags, scripts and regions are known by their capitals.
STRICT_TAG = "[a-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:[-_](?:[A-Z]{2}|[0-9]{3}))?"
DIRECTION = re.compile(f"({STRICT_TAG})-({STRICT_TAG}(?:,{STRICT_TAG})*)")
PAIR_IN_NAME = re.compile(f"(?:^|[._-])({STRICT_TAG})(?:-|_|_to_|-to-)({STRICT_TAG})$")
TEXT_ENDINGS = {".txt", ".text", ".tok", ".raw", ".clean", ".snt", ".lc", ".tc"}


class Pair(NamedTuple):
    """The codes of the languages of a source and its target."""

    source: str
    target: str


# ---- Codes ----


@functools.lru_cache(maxsize=1000)  # a file may name any code
def primary(code: str) -> str:
    """Returns the language of a code without script and region: "pt" of "pt-BR"."""
    return re.split("[-_]", code, maxsplit=1)[0]


@functools.cache
def canonical(text: str) -> str | None:
    """Returns a code in its usual form, "pt-BR" for "pt_br", "de" for "deu"; None if it is none.

    Every code of three letters is one of a language, whether it is in use or not.
    """
    from icu4py.locale import Locale  # here: the command line is parsed without libraries

    match = TAG.fullmatch(text)
    if not match:
        return None
    language, script, region = match.groups()
    language = language.lower()
    language = BIBLIOGRAPHIC.get(language) or Locale(language).language
    if len(language) == 2 and language not in TWO_LETTERS:
        return None
    parts = [language, script and script.title(), region and region.upper()]
    return "-".join(part for part in parts if part)


def is_known(code: str) -> bool:
    """Returns whether a code in its usual form is of a language that names may be read as."""
    return primary(code) in TWO_LETTERS or primary(code) in THREE_LETTERS


@functools.cache
def matches(wanted: str, given: str) -> bool:
    """Returns whether text in a given language is what is wanted: "pt-BR" is "pt" (RFC 4647).

    Args:
      wanted: a code in its usual form.
      given: a code as a file has it, in any form.
    """
    usual = canonical(given) or given
    return f"{usual}-".lower().startswith(f"{wanted}-".lower())


def overlap(code: str, other_code: str) -> bool:
    """Returns whether one of two languages is the other, or a region of it: "pt-BR" and "pt"."""
    return matches(code, other_code) or matches(other_code, code)


def parse_direction(text: str) -> list[str]:
    """Returns the codes that --languages names: "en-de,fr" is en, de and fr.

    Raises:
      UserError: it is not a source and its targets.
    """
    direction = DIRECTION.fullmatch(text)
    if not direction:
        raise UserError(
            f"--languages {text}: write SOURCE-TARGET, as in de-en; scripts and regions have "
            "capitals, as in pt-BR-en"
        )
    codes = []
    for tag in (direction[1], *direction[2].split(",")):
        code = canonical(tag)
        if code is None:
            language = COUNTRIES.get(tag)
            advice = f"write {language}" if language else "see ISO 639"
            raise UserError(f"--languages {text}: {tag} is no code of a language; {advice}")
        codes.append(code)
    return codes


def target_language(codes: Sequence[str]) -> str | None:
    """Returns the second of two codes; None if there are none, or several targets."""
    return codes[1] if len(codes) == 2 else None


def as_pair(codes: Sequence[str]) -> Pair:
    """Returns the two codes that --languages names; a UserError if it names several targets."""
    if len(codes) != 2:
        direction = f"{codes[0]}-{','.join(codes[1:])}"
        raise UserError(f"--languages {direction}: name one target, as in {codes[0]}-{codes[1]}")
    return Pair(*codes)


# ---- The names of files ----


def _stem(path: str | Path) -> str:
    """Returns the name of a file without .gz and without an ending that says that it is text."""
    name = Path(str(path).removesuffix(GZIP)).name
    while Path(name).suffix.lower() in TEXT_ENDINGS:
        name = Path(name).stem
    return name


def of_file(path: str | Path) -> str | None:
    """Returns the code in the name of a file of one language; None if there is none.

    It is the ending of the name (a.de, a.zh-CN, a.pt_BR, a.de.txt) or the last part of the name
    (train_de.txt).
    """
    name = _stem(path)
    ending = Path(name).suffix[1:]
    match = TAG.fullmatch(ending)
    if match and match[3] and match[3].islower() and match[3] not in SMALL_REGIONS:
        match = None  # of two languages: de-en
    last_part = re.search(f"(?:^|[._-])({STRICT_TAG})$", name)
    for tag in (match and match[0], last_part and last_part[1]):
        code = tag and canonical(tag)
        if code and is_known(code):
            return code
    return None


def of_table(path: str | Path) -> Pair | None:
    """Returns the codes in the name of a file of pairs (train.de-en.tsv, pt_to_en.csv), or None."""
    name = Path(str(path).removesuffix(GZIP)).stem
    match = PAIR_IN_NAME.search(name)
    codes = [canonical(tag) for tag in match.groups()] if match else []
    known = [code for code in codes if code and is_known(code)]
    if len(known) < len(codes) or len({*known}) < 2:
        return None
    return Pair(*known)
