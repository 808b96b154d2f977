"""What must hold of what `translate` prints: its formats, and --check, which names lines."""

import json

import pytest

from nmt import CheckFailed, messages
from nmt.cli.line_io import Layout, TranslationCheck, as_jsonl, as_text, as_tsv
from nmt.decoding.sentence import TokenScore, Translation
from nmt.text.protected import DEFAULT

BEST = Translation("a\tb\n\nc", -0.123456)
SECOND = Translation("d", -2.0)
LINKS = [(0, 0), (1, 2)]


# ---- Formats: each record has its columns, in any number ----


def test_a_text_alone_is_printed_as_it_is_and_in_columns_as_one_line():
    assert list(as_text(1, [BEST], Layout(False, False, 1))) == ["a\tb\n\nc"]
    assert list(as_text(1, [BEST], Layout(True, False, 1))) == ["-0.1235\ta b c"]
    linked = BEST._replace(links=LINKS)
    assert list(as_text(1, [linked], Layout(False, True, 1))) == ["a b c\t0-0 1-2"]
    assert list(as_text(1, [linked], Layout(True, True, 1))) == ["-0.1235\ta b c\t0-0 1-2"]


def test_each_line_has_as_many_lines_of_text_as_translations_were_asked_for():
    assert list(as_text(1, [BEST, SECOND], Layout(False, False, 4))) == ["a b c", "d", "", ""]


def test_tsv_numbers_lines_and_ranks():
    expected = ["7\t1\t-0.1235\ta b c", "7\t2\t-2.0000\td\t0-0 1-2"]
    second = SECOND._replace(links=LINKS)
    assert list(as_tsv(7, [BEST, second], Layout(False, False, 2))) == expected


def test_json_holds_what_was_asked_for_and_nothing_else():
    expected = {"line": 7, "rank": 1, "log_probability": -0.1235, "translation": "a\tb\n\nc"}
    (line,) = as_jsonl(7, [BEST], Layout(False, False, 1))
    assert json.loads(line) == expected
    tokens = [
        TokenScore("a", -0.123456, [("a", 0.98765), ("b", 0.01)]),
        TokenScore("</s>", 0.0, []),
    ]
    (line,) = as_jsonl(7, [BEST._replace(links=LINKS, tokens=tokens)], Layout(False, True, 1))
    assert json.loads(line) == {
        **expected,
        "alignment": [[0, 0], [1, 2]],
        "tokens": [
            {"token": "a", "log_probability": -0.1235, "alternatives": {"a": 0.9877, "b": 0.01}},
            {"token": "</s>", "log_probability": 0.0},
        ],
    }


# ---- The check: lines by number, and --strict ends with 3 ----


@pytest.fixture
def check():
    """A check that names all lines that differ."""
    messages.show()
    return TranslationCheck(DEFAULT, names_all=True)


def test_lines_that_differ_are_named_and_counted(check, capsys):
    for source, translation in ("A 1", "a 1"), ("B 4711", "b 471"), ("C", "c"):
        check.compare(source, translation)
    check.report(strict=False)
    assert capsys.readouterr().err == (
        "line 2: missing 4711; added 471\n"
        "1 of 3 lines: other numbers, placeholders, URLs or tags than in the source; the first: "
        "line 2, missing 4711; added 471\n"
    )
    with pytest.raises(CheckFailed, match="1 of 3 lines: other"):
        check.report(strict=True)


def test_a_strict_check_without_a_difference_passes(check):
    for source, translation in ("A 1", "a 1"), ("B 4711", "b 4711"), ("C", "c"):
        check.compare(source, translation)
    check.report(strict=True)


def test_a_check_that_nobody_asked_for_ends_in_one_line(capsys):
    messages.show()
    check = TranslationCheck(DEFAULT, "text")
    check.compare("a", "b")
    check.report()
    assert capsys.readouterr().err == ""
    check.compare("{x} 5", "5")
    check.report()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("1 of 2 texts: other numbers")
    assert line.endswith("the first: text 2, missing {x}. To name all: --check")
