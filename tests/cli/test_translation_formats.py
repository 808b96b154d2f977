"""What must hold of the formats of translations: each record has its columns, in any number."""

import json

from nmt.cli.translation_formats import Layout, as_jsonl, as_text, as_tsv
from nmt.decoding.sentence import TokenScore, Translation

BEST = Translation("a\tb\n\nc", -0.123456)
SECOND = Translation("d", -2.0)
LINKS = [(0, 0), (1, 2)]


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
