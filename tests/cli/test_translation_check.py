"""What must hold of translate --check: it names lines by number, and --strict ends with 3."""

import pytest

from nmt import CheckFailed, messages
from nmt.cli.translation_check import TranslationCheck
from nmt.text.protected import DEFAULT


@pytest.fixture
def check():
    """A check that knows the sources of three lines, in two chunks."""
    messages.show()
    check = TranslationCheck(DEFAULT)
    chunks = [["A 1", "B 4711"], ["C"]]
    assert [*check.remember(chunks)] == chunks
    return check


def test_lines_that_differ_are_named_and_counted(check, capsys):
    for translation in ("a 1", "b 471", "c"):
        check.compare(translation)
    check.report(strict=False)
    assert capsys.readouterr().err == (
        "line 2: missing 4711; added 471\n"
        "1 of 3 lines: other numbers, placeholders, URLs or tags than in the source\n"
    )
    with pytest.raises(CheckFailed, match="1 of 3 lines: other"):
        check.report(strict=True)


def test_a_strict_check_without_a_difference_passes(check):
    for translation in ("a 1", "b 4711", "c"):
        check.compare(translation)
    check.report(strict=True)
