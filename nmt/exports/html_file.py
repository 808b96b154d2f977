"""Export for people without any program: a web page that translates in a browser, offline.

html/ holds the page: page.html is the frame, style.css the look, texts.json what is said in each
language, page.js what happens. engine.js translates, in a worker, by what is in browser/, and
sentences.js divides lines into sentences.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt import UserError, output
from nmt.exports.browser import browser_model
from nmt.exports.exported_model import Export
from nmt.text import protected, sentences, spelling
from nmt.text.abbreviations import ABBREVIATIONS, EVERYWHERE
from nmt.text.languages import primary
from nmt.text.scripts import UNSPACED
from nmt.text.tokenizer import MAX_SOURCE_TOKENS, Tokenizer

FOLDER = Path(__file__).parent / "html"
TRANSLATING = ("sentences.js", "engine.js")
ENDINGS = (".html", ".htm")
MAX_WORD = 20  # characters of a word that may be an abbreviation
COMMON_ABBREVIATIONS = (  # which the program's rules know without a list of ours
    "mr mrs ms sr sra dr dra jr st inc ltd co corp no nos nr vs etc fig figs cf al av p pp pág art "
    "cap vol ed eds ca approx dept est gen col lt capt sgt rev hon gov sen rep jan feb mar apr jun "
    "jul aug sep sept oct nov dec janv févr i.e e.g a.m p.m u.s u.k usw bzw z.b d.h str fa m mm "
    "mme n.º n.o s.a ltda cia tel"
)
CHECKS = [  # what the page compares between a line and its translation
    re.compile(r"\d+"),
    *(protected.kinds()[kind] for kind in ("url", "email", "tag", "placeholder")),
]
TARGET_TAG = re.compile("<2(.+)>")  # before the sentences of a run with several targets
PATTERNS = {  # by the name that sentences.js knows
    "last_word": sentences.LAST_WORD,
    "quoted": sentences.QUOTED,
    "hiragana": sentences.HIRAGANA,
    "said": sentences.SAID,
    "unspaced": UNSPACED,
    "between": sentences.BETWEEN,
}


def write(path: Path, export: Export) -> None:
    """Writes the page, an .html file; a UserError if the network is too large for it."""
    if path.suffix not in ENDINGS:
        raise UserError(f"--to {path}: a page must end in .html")
    browser_model.check_page(export.card.name, export.transformer, export.tokenizer, "export")
    with output.new(path) as unfinished:
        unfinished.write_text(page(export), encoding="utf-8")


def page(export: Export) -> str:
    """Returns the page as HTML."""
    card = export.card
    source = card.languages[0] if card.languages else ""
    data = dict(
        name=card.name,
        example=card.example,
        source=source,
        targets=targets(card.languages, export.tokenizer.words),
        sentences=sentence_rules(export.tokenizer, source or "en"),  # as the program does
        words=browser_model.word_rules(card.languages),
        max_tokens=MAX_SOURCE_TOKENS,
        checks=[browser_model.in_javascript(pattern) for pattern in CHECKS],
    )
    programs = {
        "TRANSLATING": browser_model.scripts(FOLDER, TRANSLATING),
        "PROGRAM": browser_model.scripts(FOLDER, ["page.js"]),
    }
    return browser_model.fill_page(FOLDER, export.transformer, export.tokenizer, data, programs)


def targets(languages: Sequence[str], words: Sequence[str]) -> list[dict[str, str]]:
    """Returns the languages that the page translates into: their codes, and the tags that ask.

    `languages` are the codes of the source and its targets. Words of the vocabulary that are never
    split may be tags: <2de>.
    """
    tags = {match[1]: match[0] for match in map(TARGET_TAG.fullmatch, words) if match}
    codes = [code for code in languages[1:] if code in tags] or [*tags] or languages[1:2]
    return [dict(code=code, tag=tags.get(code, "")) for code in codes]


def sentence_rules(tokenizer: Tokenizer, language: str) -> dict[str, Any]:
    """Returns what sentences.js needs to know of a language.

    Its words are those after which the program ends no sentence: of its abbreviations, and of the
    words in the vocabulary.
    """
    pieces = tokenizer.tokens(range(tokenizer.vocab_size))
    vocabulary = {piece.lstrip(spelling.MARK_OF_SPACE) for piece in pieces}
    abbreviations = " ".join([EVERYWHERE, COMMON_ABBREVIATIONS, *ABBREVIATIONS.values()]).split()
    forms = {form(word) for word in abbreviations for form in (str, str.capitalize, str.upper)}
    candidates = {word for word in vocabulary if word.isalpha() and len(word) <= MAX_WORD} | forms
    return dict(
        language=language,
        words=sorted(word for word in candidates if not ends_sentence(word, language)),
        danda=sentences.DANDA.get(primary(language), "\0"),
        **{name: browser_model.in_javascript(pattern) for name, pattern in PATTERNS.items()},
    )


def ends_sentence(word: str, language: str) -> bool:
    """Returns whether the program ends a sentence after a word and a period."""
    return len(sentences.sentence_ends(f"Abc {word}. Efg.", language)) > 2
