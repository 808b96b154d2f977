"""Text to sentences. A sentence ends where two well-kept sets of rules agree that it does.

Those of ICU (Unicode's segmentation, with CLDR's exceptions) break after "O Sr.", those of
Wikimedia's sentencex after "Av."; what both do not know are titles (abbreviations.py), letters with
a period in scripts without capitals, and what follows a quotation that is part of a sentence. What
is not split is translated together with the sentence after it.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import sentencex
from icu4py.breakers import SentenceBreaker

from nmt.text import spelling
from nmt.text.abbreviations import is_abbreviation
from nmt.text.case import CAPITAL_NOUNS
from nmt.text.languages import primary
from nmt.text.placeholders import PLACEHOLDER
from nmt.text.protected import MARK
from nmt.text.scripts import CLOSING_SIGNS, SENTENCE_ENDS, UNSPACED

LAST_WORD = re.compile(r"""([^\s()\[\]«»“”„"'‘’]{1,20})\.[\s)\]»”’"']*$""")
MAX_WORD = 40  # characters of a line before its end that LAST_WORD is searched in
INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
ARABIC_AND = "و"  # which is written together with the next word
DANDA = {"hi": "।", "bn": "।", "as": "।", "ne": "।", "or": "।", "pa": "।", "sa": "।", "ur": "۔"}
ORDINAL = re.compile("[0-9]{1,2}")
SIGNS_OF_AN_END = {  # which neither set of rules knows: of Khmer, of Tibetan
    "km": re.compile(r"[\u17d4\u17d5]+\s*"), "bo": re.compile(r"[\u0f0d\u0f0e]+\s*"),
}  # fmt: skip
QUOTED = re.compile('[」』”’»"]$')
HIRAGANA = re.compile("[\u3041-\u309f]")
SAID = re.compile(
    "[^。！？；，、：“”「」『』\\s]{0,8}?[说說道问問喊答叫讲講嚷]"
)  # "he said", of Chinese
# What may stand between the end of a sentence and the next one: spaces, closing quotes, brackets.
BETWEEN = re.compile(rf"\s*(?:[{re.escape(CLOSING_SIGNS)}]+(?=\s|$)\s*)?")
NAME = "\u023a"  # in place of a mark, which stands for a name: a capital that is no initial
NOTE = re.compile(rf"(?<=[{SENTENCE_ENDS}]){MARK.pattern}(?=\s)")  # belongs to its sentence
CODE_BEGINS = re.compile(rf"[{SENTENCE_ENDS}]\s[^\w\s]")
LINE = re.compile("[^\\r\\n]*(?:\\r\\n|\\r|\\n)|[^\\r\\n]+")  # nothing else ends a line


def ends(segments: Iterable[str], text: str) -> set[int]:
    """Returns the positions in `text` where its consecutive `segments` end, BETWEEN included.

    One segmenter ends before what is BETWEEN, another after it.
    """
    positions, position = set(), 0
    for segment in segments:
        position += len(segment)
        between = BETWEEN.match(text, position)
        positions.add(between.end() if between else position)
    return positions


@functools.cache  # compiled for the first text that may hold one
def codes() -> re.Pattern[str]:
    """Returns what finds placeholders that may begin a sentence: "Oi. {{ x }} Bom dia." """
    return re.compile(rf"(?<=[{SENTENCE_ENDS}] )(?:{PLACEHOLDER})(?= (?P<next>\w))")


def segments(line: str, language: str) -> list[str]:
    """Returns the sentences of a line as sentencex divides it; the whole line if it fails.

    It is written in Rust, whose panics are a BaseException: "C\\u00a0. D" causes one in version 1.
    """
    try:
        return sentencex.segment(language, line)
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            return [line]
        raise


def sentence_ends(line: str, language: str) -> list[int]:
    """Returns the positions in a line at which a sentence begins or ends, in order."""
    language = primary(language)
    line = spelling.SPACE_CHARACTER.sub(" ", line)  # one space is as good as another
    line = MARK.sub(NAME, NOTE.sub(CLOSING_SIGNS[0], line))
    if CODE_BEGINS.search(line):
        line = codes().sub(lambda m: NAME * len(m[0]) if m["next"].isupper() else m[0], line)
    positions = {0, len(line)}
    parts = segments(line, language)
    if len(parts) > 1:  # ICU takes ten times as long
        breaker = SentenceBreaker(line, f"{language}@ss=standard")  # with CLDR's exceptions
        positions |= {
            position
            for position in ends(parts, line) & ends(breaker, line)
            if not continues(line, position, language)
        }
    if sign := SIGNS_OF_AN_END.get(language):
        positions |= {match.end() for match in sign.finditer(line)}
    return sorted(positions)


def continues(line: str, position: int, language: str) -> bool:
    """Returns whether a sentence goes on at a position where it may seem to end.

    It does after an abbreviation, and where a quotation is followed by a letter without a space:
    Japanese particles, Korean endings, "he said" in Chinese.

    Args:
      language: its code, without script and region.
    """
    before = line[max(0, position - MAX_WORD) : position]
    if last_word := LAST_WORD.search(before):
        word = last_word[1]
        if is_abbreviation(word, language) or is_initial(word):
            return True
        if language in CAPITAL_NOUNS and ORDINAL.fullmatch(word):  # "am 3. Oktober"
            return True
        if DANDA.get(language, "\0") in line and not word.isascii():  # which ends sentences there
            return True
    if not QUOTED.search(before) or not line[position : position + 1].isalpha():
        return False
    if UNSPACED.match(line, position):
        return bool(HIRAGANA.match(line, position) or SAID.match(line, position))
    return True


def is_initial(word: str) -> bool:
    """Returns whether a word is a letter, or several with periods, of a script without capitals."""
    letters = "".join(filter(str.isalpha, word))
    has_case = letters.lower() != letters.upper()
    return not has_case and bool(INITIALS.fullmatch(word.removeprefix(ARABIC_AND).replace("ـ", "")))


def split(text: str, language: str = "en") -> list[tuple[str, str]]:
    """Splits text into sentences: at line breaks, and where sentences end.

    Args:
      text: a string, spelling.visible.

    Returns:
      A list of (sentence, white space after it), at least one. Together they are `text` without
      the white space around it.
    """
    sentences: list[tuple[str, str]] = []
    for line in LINE.findall(text.strip()):
        for start, end in itertools.pairwise(sentence_ends(line, language)):
            segment = line[start:end]
            indent = len(segment) - len(segment.lstrip()) if sentences and segment.strip() else 0
            if indent:  # belongs to the space before it
                sentences[-1] = (sentences[-1][0], sentences[-1][1] + segment[:indent])
            sentence = segment[indent:].rstrip()
            sentences.append((sentence, segment[indent + len(sentence) :]))
    return sentences or [("", "")]


def tags(symbols: Iterable[str]) -> re.Pattern[str]:
    """Returns the pattern of the tags at the start of a line: of `symbols` (strings) like <2de>."""
    tag_symbols = (symbol for symbol in symbols if re.fullmatch("<.*>", symbol))
    either = "|".join(map(re.escape, tag_symbols)) or "(?!)"
    return re.compile(rf"(?:\s*(?:{either}))*\s*")


def split_tagged(line: str, language: str, tags: re.Pattern[str]) -> list[tuple[str, str]]:
    """Returns what `split` does; each sentence begins with the tags that begin the line."""
    match = tags.match(line)
    prefix = match[0] if match else ""
    sentences = split(line.removeprefix(prefix), language)
    tag, alone = prefix.lstrip(), len(sentences) == 1
    return [(tag + text if text or alone else "", space) for text, space in sentences]


def joints(translations: Iterable[str], spaces: Iterable[str]) -> Iterator[str]:
    """Yields what stands before each of translated sentences: nothing, or a space.

    Between two sentences that had none, as in Chinese, there is a space, unless the translation is
    of such a script, too.
    """
    last = letter = ""  # of what is written so far; `letter` is before closing quotes
    divider = ""  # a code for a line end, which needs no space
    for translation, space in zip(translations, spaces, strict=True):
        apart = last and translation and not last.isspace() and not divider
        yield " " if apart and unicodedata.east_asian_width(letter or " ") not in "WF" else ""
        last = (translation + space)[-1:] or last
        divider = space.strip()
        if translation:
            letter = translation.rstrip(CLOSING_SIGNS)[-1:]


def join(translations: Sequence[str], spaces: Sequence[str]) -> str:
    """Returns translated sentences as one text, with the white space between the sources."""
    before = joints(translations, spaces)
    return "".join(map("".join, zip(before, translations, spaces, strict=True)))
