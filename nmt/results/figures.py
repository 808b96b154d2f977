"""What all pictures share: fonts for any script, labels of tokens, and how a file is written."""

import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.figure import Figure

from nmt import output
from nmt.results.texts import Say, english

PLAIN = mpl.rcParams["font.sans-serif"][0]  # matplotlib's own font: Latin, Greek, Cyrillic, Arabic

DOTS_PER_INCH = 200
MAX_TOKENS = 60  # of a side of a picture of attention or masks; more would not be readable


def letters(font: str) -> set[int]:
    """Returns the code points that a font (a path) has glyphs for."""
    try:
        return set(font_manager.get_font(font).get_charmap())
    except (RuntimeError, OSError):  # not of a kind that matplotlib reads
        return set()


def use_fonts_for(*texts: str) -> str:
    """Chooses fonts of this machine that show `texts`. Returns the letters that no font has.

    Debian's fonts-noto-cjk or fonts-wqy-zenhei, for example, have Chinese ones.
    """
    plain = letters(font_manager.findfont(PLAIN))
    missing = {ord(letter) for text in texts for letter in text if not letter.isspace()} - plain
    family = [PLAIN]
    font_files = font_manager.findSystemFonts() if missing else []
    for path in sorted(font_files, key=lambda path: ("Regular" not in path, path)):
        if has := missing & letters(path):
            font_manager.fontManager.addfont(path)
            family.append(font_manager.get_font(path).family_name)
            missing -= has
    mpl.rcParams["font.family"] = family
    return "".join(sorted(map(chr, missing)))


CONTINUES = "\u00b7"  # before a token that does not begin a word


def labels(tokens: Sequence[str]) -> list[str]:
    """Returns token strings as labels: words as words, CONTINUES before what continues a word.

    SentencePiece marks the beginning of a word instead (U+2581), but not before special tokens.
    """
    return [
        token.replace("\u2581", " ").strip() or "\u2423"  # a space by itself
        if token.startswith("\u2581") or re.fullmatch(r"<.+>|\W+", token)
        else CONTINUES + token
        for token in tokens
    ]


def explained(shown: Sequence[str], say: Say = english) -> str:
    """Returns what CONTINUES means, if it stands before one of the labels that are shown."""
    if not any(label.startswith(CONTINUES) for label in shown):
        return ""
    return say("{mark} before a token: it continues the word before it", mark=CONTINUES)


def limited(tokens: Sequence[str], side: str, say: Say = english) -> tuple[Sequence[str], str]:
    """Returns MAX_TOKENS tokens at most, and as text what is left out."""
    if len(tokens) <= MAX_TOKENS:
        return tokens, ""
    text = "{side}: the first {most} of {number} tokens"
    return tokens[:MAX_TOKENS], say(text, side=say(side), most=MAX_TOKENS, number=len(tokens))


def notes(*texts: str) -> str:
    """Returns those texts that are not empty as one."""
    return "; ".join(text for text in texts if text)


def subplots(*grid: int, figsize: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """Returns a new figure and its axes, as pyplot does; but no window or backend is set up."""
    figure = Figure(figsize, layout="constrained")
    return figure, figure.subplots(*grid, **options)


def save(figure: Figure, path: Path) -> Path:
    """Writes `figure` to `path`, as its suffix says: .png, .svg or .pdf."""
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # see `use_fonts_for`
        figure.savefig(content, format=path.suffix[1:], dpi=DOTS_PER_INCH, bbox_inches="tight")
    output.write(path, content.getvalue())
    return path
