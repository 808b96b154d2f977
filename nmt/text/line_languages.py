"""Whether lines are in the languages that they should be in, by py3langid.

Of 1,200 captions and 800 lines of talks in four languages, py3langid took 0.08% and 3.0% for
another language, and none with a probability above MIN_PROBABILITY. The likeliest language of
lingua was right as often, and took 80 times as long; its probabilities are lower. Three words are
too few for either: hardly any of them is that probable. See docs/cleaning.md.
"""

from __future__ import annotations

import functools
import importlib.util
import shutil
import tempfile
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt import UserError
from nmt.neighbors import how_to_install
from nmt.text.languages import Pair, primary

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

PACKAGE = "py3langid"
MIN_PROBABILITY = 0.8  # of another language; see docs/cleaning.md
UNPACKED_BYTES = 70_000_000  # of its model
LOADING = threading.Lock()  # held while the model is loaded, which one thread does
NO_LANGUAGE = "zxx"  # of a line of numbers or names
LABELS = {"nb": "no", "fil": "tl"}  # of languages that py3langid knows by another code
SIMILAR_LANGUAGES = [  # whose lines are taken for each other
    {"no", "nb", "nn", "da"}, {"hr", "bs", "sr"}, {"id", "ms"}, {"cs", "sk"}, {"gl", "pt"},
    {"af", "nl"}, {"be", "ru", "uk"}, {"es", "an", "ext"}, {"en", "pcm"}, {"de", "lb"},
    {"it", "lij", "vec"}, {"zh", "wuu", "yue"}, {"ar", "ary", "arz"}, {"uz", "uzs"}, {"nso", "st"},
]  # fmt: skip


class LineLanguages:
    """Recognizes lines that are in another language than their side."""

    def __init__(self, languages: Pair):
        if not is_installed():
            raise UserError(
                f"{PACKAGE} is missing, which recognizes languages; install: "
                f"{how_to_install('data')}"
            )
        self._identifier = load_identifier()
        labels = self._identifier.labels
        self._expected = [_taken_for(primary(code), labels) for code in languages]
        self.unknown = [
            code for code, names in zip(languages, self._expected, strict=True) if not names
        ]

    def differ(self, texts: Sequence[str]) -> bool:
        """Returns whether one of a source and a target is surely in another language."""
        for text, expected in zip(texts, self._expected, strict=True):
            if expected and text:
                language, probability = self._identifier.classify(text)
                if language not in expected and probability > MIN_PROBABILITY:
                    return True
        return False


def check_temporary_folder() -> None:
    """Raises a UserError if py3langid has no room to unpack its model, as it does in a file."""
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if free < UNPACKED_BYTES:
        raise UserError(
            f"{folder}: {free // 10**6} MB are free, and {PACKAGE} needs "
            f"{UNPACKED_BYTES // 10**6} MB in the temporary folder; free some space, or set "
            "TMPDIR to another folder"
        )


def load_identifier() -> LanguageIdentifier:
    """Returns what recognizes languages. The first call takes half a second; others wait for it."""
    with LOADING:
        return _load_identifier()


@functools.cache
def _load_identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    check_temporary_folder()
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def label_of(code: str) -> str:
    """Returns the code by which py3langid knows a language, if it knows it."""
    language = primary(code)
    return LABELS.get(language, language)


def is_installed() -> bool:
    """Returns whether the package is there that recognizes languages."""
    return importlib.util.find_spec(PACKAGE) is not None


def _taken_for(language: str, labels: Sequence[str]) -> set[str]:
    """Returns what lines of a language may be taken for, itself among it; nothing if unknown."""
    similar = {language}.union(*(group for group in SIMILAR_LANGUAGES if language in group))
    return similar | {NO_LANGUAGE} if similar & {*labels} else set()
