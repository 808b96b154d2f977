"""The lexicon: the tables of data/lexicon_zh/."""

from pathlib import Path

from grammar.draw import Draw

TABLES = Path(__file__).resolve().parent.parent / "lexicon_zh"
DRAW = Draw(20251125)


def rows(name):
    """Returns the rows of a table, lists of strings, without the names of its columns."""
    lines = (TABLES / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


def by_kind(name):
    """Returns the rows of a table by its first column; a row without that column is a tuple."""
    table = {}
    for kind, *values in rows(name):
        table.setdefault(kind, []).append(tuple(values))
    return table


ADJECTIVES = by_kind("adjectives")  # (Chinese, English) by class
TIMES = by_kind("times")  # (Chinese, English): habit, past, future
FIXED = by_kind("fixed")  # (Chinese, English) by name of a gap
PLACES = [tuple(row) for row in rows("places")]  # (Chinese, "at school", "to school")
COUNTRIES = by_kind("geography")["country"]  # (Chinese, English, people, language, its English)
CITIES = [row[:2] for row in by_kind("geography")["city"]]
NAMES = [tuple(row) for row in rows("names")]  # (Chinese, English, gender)
RELATIVES = [tuple(row) for row in rows("relatives")]  # (Chinese, English, gender, "bare" or "de")
