"""Text to sentences. A sentence ends where two well-kept sets of rules agree that it does.

Those of ICU (Unicode's segmentation, with CLDR's exceptions) break after "O Sr.", those of
Wikimedia's sentencex after "Av."; few abbreviations are unknown to both. What is not split is
translated together with the sentence after it.
"""

import itertools
import re
import string
import unicodedata

import sentencex
from icu4py.breakers import SentenceBreaker

CLOSING = '»”’")]'
# What may stand between the end of a sentence and the next one: spaces, closing quotes, brackets.
BETWEEN = re.compile(rf"\s*(?:[{re.escape(CLOSING)}]+(?=\s|$)\s*)?")
SPACE = string.whitespace  # stripped from sentences; ASCII's, as TensorFlow strips them


def ends(segments, text):
    """Returns the positions in `text` where its consecutive `segments` end, BETWEEN included.

    One segmenter ends before what is BETWEEN, another after it.
    """
    found, position = set(), 0
    for segment in segments:
        position += len(segment)
        found.add(BETWEEN.match(text, position).end())
    return found


def split(text, language="en"):
    """Splits text into sentences: at line breaks, and where sentences end.

    Args:
      text: a string.
      language: code of its language (ISO 639), for abbreviations.

    Returns:
      A list of (sentence, white space after it), at least one. Together they are `text` without
      the white space around it.
    """
    found = []
    for line in text.strip(SPACE).splitlines(keepends=True) or [""]:
        segments = sentencex.segment(language, line)
        positions = {0, len(line)}
        if len(segments) > 1:  # ICU takes ten times as long
            breaker = SentenceBreaker(line, f"{language}@ss=standard")  # with CLDR's exceptions
            positions |= ends(segments, line) & ends(breaker, line)
        for start, end in itertools.pairwise(sorted(positions)):
            segment = line[start:end]
            indent = len(segment) - len(segment.lstrip()) if found and segment.strip() else 0
            if indent:  # belongs to the space before it
                found[-1] = (found[-1][0], found[-1][1] + segment[:indent])
            sentence = segment[indent:].rstrip()
            found.append((sentence, segment[indent + len(sentence) :]))
    return found or [("", "")]


def tags(symbols):
    """Returns the pattern of the tags at the start of a line: of `symbols` (strings) like <2de>."""
    found = (symbol for symbol in symbols if re.fullmatch("<.*>", symbol))
    either = "|".join(map(re.escape, found)) or "(?!)"
    return re.compile(rf"(?:\s*(?:{either}))*\s*")


def split_tagged(line, language, tags):
    """Returns what `split` does; each sentence begins with the tags that begin the line.

    Args:
      tags: the pattern of them, from `tags`.
    """
    found = tags.match(line)[0]
    sentences = split(line.removeprefix(found), language)
    tag, alone = found.lstrip(), len(sentences) == 1
    return [(tag + text if text or alone else "", space) for text, space in sentences]


def join(translations, spaces):
    """Returns translated sentences as one text, with the white space that was between the sources.

    Between two sentences that had none, as in Chinese, there is a space, unless the translation is
    of such a script, too.

    Args:
      translations: strings.
      spaces: the white space after each.
    """
    text = ""
    for translation, space in zip(translations, spaces, strict=True):
        if text and translation and not text[-1].isspace():
            last = text.rstrip(CLOSING)[-1:] or " "
            text += "" if unicodedata.east_asian_width(last) in "WF" else " "
        text += translation + space
    return text
