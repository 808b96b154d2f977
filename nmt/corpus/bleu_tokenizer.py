"""The tokenizer of sacreBLEU that BLEU needs: by the target's language, or else by its script.

BLEU counts words, and the default of sacreBLEU, 13a, finds them between spaces. In a script without
spaces a whole sentence is one word, and even a perfect model has a BLEU of 0.
"""

import collections
import functools
import re
from collections.abc import Sequence

from nmt import UserError
from nmt.messages import log
from nmt.text.languages import primary
from nmt.text.scripts import main_script

AUTO, DEFAULT = "auto", "13a"
SAMPLE_LINES = 2000  # by which the script is decided

# Those of sacreBLEU that need MeCab, an extra of its package, and what stands in for them: Japanese
# has no spaces; Korean has, and 13a is sacreBLEU's default.
EXTRAS = {"ja-mecab": "ja", "ko-mecab": "ko"}
STAND_INS = {"ja-mecab": "char", "ko-mecab": DEFAULT}

LANGUAGES = {  # by code; all others are told by their script
    "zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab",
    **dict.fromkeys(("th", "lo", "km", "my", "bo", "dz"), "char"),
}  # fmt: skip
SCRIPTS = {  # see scripts.main_script
    "CJK": "zh", "BOPOMOFO": "zh", "HANGUL": "ko-mecab",
    **dict.fromkeys(
        ("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "TAI", "YI", "JAVANESE", "BALINESE"), "char"
    ),
}  # fmt: skip
KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9f]")
KANA_SHARE = 0.3  # of the lines, at least, that have kana, if the text is Japanese
WORDS_BY_SPACES = ("13a", "none", "intl")
MAX_WORD = 8  # letters between two spaces, on average, of a text that has spaces between words


def usual(texts: Sequence[str], language: str | None = None) -> str:
    """Returns the tokenizer that is usual for a text, whether it is installed or not."""
    if language and primary(language) in LANGUAGES:
        return LANGUAGES[primary(language)]
    lines = texts[:SAMPLE_LINES]
    # Lines without letters have none.
    scripts = collections.Counter(filter(None, map(main_script, lines)))
    name = SCRIPTS.get(scripts.most_common(1)[0][0], DEFAULT) if scripts else DEFAULT
    japanese = sum(KANA.search(line) is not None for line in lines) > KANA_SHARE * len(lines)
    return "ja-mecab" if name == "zh" and japanese else name


@functools.cache
def is_installed(name: str) -> bool:
    """Returns whether sacreBLEU has all that a tokenizer needs."""
    import sacrebleu

    try:
        sacrebleu.BLEU(tokenize=name)
    except (ImportError, RuntimeError, AssertionError):  # no MeCab, or another dictionary
        return False
    return True


def choose(name: str, texts: Sequence[str], language: str | None = None) -> str:
    """Returns the tokenizer for a text: `name`, of params.TOKENIZE, unless that is "auto"."""
    if name != AUTO:
        return name
    best = usual(texts, language)
    return best if is_installed(best) else STAND_INS[best]


def resolve(name: str, texts: Sequence[str], language: str | None = None) -> str:
    """Returns what `choose` does, and says what the user may want to change.

    A UserError if the tokenizer is not installed.
    """
    chosen = choose(name, texts, language)
    if name == AUTO:
        best = usual(texts, language)
        if chosen != best:
            log.warning(
                f"BLEU is computed by --tokenize {chosen}, because {best} is not installed: pip "
                f"install 'sacrebleu[{EXTRAS[best]}]'. Scores of different tokenizers cannot be "
                "compared."
            )
        elif chosen != DEFAULT:
            log.info(f"BLEU is computed by --tokenize {chosen}, for the target's language.")
    elif not is_installed(name):
        raise UserError(
            f"--tokenize {name}: is not installed; pip install 'sacrebleu[{EXTRAS[name]}]', or "
            f"choose --tokenize {STAND_INS[name]}"
        )
    elif name in WORDS_BY_SPACES and lacks_spaces(texts, language):
        log.warning(
            f"BLEU by --tokenize {name} says nothing of this text, which has no spaces between "
            f"words: use --tokenize {choose(AUTO, texts, language)}, or go by chrF."
        )
    return chosen


def lacks_spaces(texts: Sequence[str], language: str | None = None) -> bool:
    """Returns whether a text is of a script that has no spaces, and has none: is not tokenized."""
    if usual(texts, language) in (DEFAULT, "ko-mecab"):
        return False
    text = "".join(texts[:SAMPLE_LINES])
    return sum(map(str.isalpha, text)) > MAX_WORD * sum(map(str.isspace, text))
