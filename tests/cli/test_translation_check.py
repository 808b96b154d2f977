"""What must hold of translate --check: it names lines by number, and --strict ends with 3."""

import pytest

from nmt import CheckFailed, messages
from nmt.cli.translation_check import TranslationCheck
from nmt.text.differences import DifferenceCount, difference
from nmt.text.protected import DEFAULT


@pytest.fixture
def check():
    """A check that knows the sources of three lines, in two chunks."""
    messages.show()
    check = TranslationCheck(DEFAULT, names_all=True)
    chunks = [["A 1", "B 4711"], ["C"]]
    assert [*check.remember(chunks)] == chunks
    return check


def test_lines_that_differ_are_named_and_counted(check, capsys):
    for translation in ("a 1", "b 471", "c"):
        check.compare(translation)
    check.report(strict=False)
    assert capsys.readouterr().err == (
        "line 2: missing 4711; added 471\n"
        "1 of 3 lines: other numbers, placeholders, URLs or tags than in the source; the first: "
        "line 2, missing 4711; added 471\n"
    )
    with pytest.raises(CheckFailed, match="1 of 3 lines: other"):
        check.report(strict=True)


def test_a_strict_check_without_a_difference_passes(check):
    for translation in ("a 1", "b 4711", "c"):
        check.compare(translation)
    check.report(strict=True)


def test_a_check_that_nobody_asked_for_ends_in_one_line(capsys):
    messages.show()
    check = TranslationCheck(DEFAULT, "text")
    assert [*check.remember([["a", "{x} 5"]])]
    check.compare("b")
    check.report()
    assert capsys.readouterr().err == ""
    check.compare("5")
    check.report()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("1 of 2 texts: other numbers")
    assert line.endswith("the first: text 2, missing {x}. To name all: --check")


def test_parts_of_a_file_in_any_order_name_its_first_line_that_differs():
    parts = [DifferenceCount(before) for before in (2, 0, 4)]
    for part, pairs in zip(
        parts, ([("3", "3"), ("4", "x")], [("1", "1")] * 2, [("5", "")]), strict=True
    ):
        for pair in pairs:
            part.add(difference(*pair))
    count = parts[2] + parts[0] + parts[1]
    assert (count.texts, count.different) == (5, 2)
    assert count.first == (4, (["4"], []))
