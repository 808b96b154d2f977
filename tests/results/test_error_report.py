"""What must hold of the report of errors: each kind is counted, with examples, by file."""

import pytest
from helpers import sentences

from nmt.results.error_report import KINDS, Part, count_table, find_errors
from nmt.results.run_report import TranslatedLine
from nmt.text.glossary import Glossary

RIGHT = [TranslatedLine(source, target, target) for source, target in sentences(120)]
LONG = "a house by the sea with a garden where the two dogs and the cat of my old aunt like to play"
WRONG = {  # kind: a line, and what is said of it
    "numbers": (("3 cães", "3 dogs", "5 dogs"), "missing 3; added 5"),
    "placeholders": (("Olá {nome}", "Hello {nome}", "Hello"), "missing {nome}"),
    "terms": (("O conselho", "The board", "The council"), "missing board"),
    "empty": (("um", "one", " "), "no text"),
    "copied": (("um gato", "a cat", "um gato"), "equal to the source"),
    "short": (("uma " * 18, LONG, "a house"), "7 characters, the reference 91"),
    "long": (("uma casa", "a house", LONG), "91 characters, the reference 7"),
    "repeats": (("um", "one", "one one one"), "one"),
}
FINE = [
    ("2 gatos", "two cats", "two cats"),  # as the reference has it
    ("Lisboa", "Lisboa", "Lisboa"),
    ("não, não, não", "no, no, no", "no, no, no"),
    ("", "", ""),
]


@pytest.mark.parametrize("kind", WRONG)
def test_each_kind_of_error_is_counted_alone_with_what_is_wrong(kind):
    line, detail = WRONG[kind]
    lines = [*RIGHT, *(TranslatedLine(*fine) for fine in FINE), TranslatedLine(*line)]
    glossary = Glossary({"conselho": "board"})
    report = find_errors(lines, [Part("a.tsv", len(lines))], glossary)
    number = len(lines)
    assert report.totals() == dict.fromkeys(["any", *KINDS], 0) | {"any": 1, kind: 1}
    (example,) = report.examples[kind]
    assert (example.file, example.number, example.detail) == ("a.tsv", number, detail)
    assert f"{kind}: 1 (0.8%): {KINDS[kind]}\n  line {number}: {detail}" in report.text()


def test_lengths_are_compared_with_those_that_are_usual_in_the_text():
    pairs = [("x" * n, "y" * (2 * n + n % 7)) for n in range(40, 160)]  # about twice as long
    lines = [TranslatedLine(source, target, target) for source, target in pairs]
    lines[50] = lines[50]._replace(hypothesis="y" * 90)  # of 180, less than three times as short
    lines[60] = lines[60]._replace(reference="y" * 90, hypothesis="y" * 90)  # as the reference
    report = find_errors(lines, [Part("a", len(lines))])
    assert report.totals() == dict.fromkeys(report.totals(), 0) | {"any": 1, "short": 1}
    assert report.examples["short"][0].number == 51


def test_errors_are_counted_by_file_and_few_are_shown():
    wrong = TranslatedLine(*WRONG["numbers"][0])
    report = find_errors([*RIGHT, *[wrong] * 5, *RIGHT, wrong], [Part("a", 125), Part("b", 121)])
    assert report.counts["numbers"] == report.wrong_lines == [5, 1]
    assert "terms" not in report.counts  # without a glossary
    assert [example.number for example in report.examples["numbers"]] == [121, 122, 123]
    assert "lines with           a       b     all\n" in report.text()
    assert "numbers              5       1       6\n" in report.text()
    content = report.to_json()
    assert (content["lines"], content["wrong_lines"]) == (246, 6)
    assert content["kinds"]["numbers"]["by_file"] == {"a": 5, "b": 1}
    assert content["kinds"]["numbers"]["examples"][0]["hypothesis"] == "5 dogs"
    table = count_table({"1": report.totals(), "2": report.totals()})
    assert table.splitlines()[1].split() == ["any", "6", "6"]
