"""What pages quote is what the commands of docs/outputs/ have printed, of what is here now."""

import re
import runpy
from types import SimpleNamespace

import pytest
from helpers import ROOT
from test_docs import PAGES, assert_about_equal, dedent, quoted_numbers
from test_docs import text as page_text

make_outputs = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "make_outputs.py")))
OUTPUTS = {path.stem: make_outputs.read(path) for path in make_outputs.FOLDER.glob("*.txt")}
QUOTES = [
    pytest.param(name, block, id=f"{page.name}-{name}-{number}")
    for page in PAGES
    for number, (name, block) in enumerate(
        re.findall(r"<!-- \S*outputs/([\w-]+)\.txt -->\n+((?:.+\n)+)", page_text(page))
    )
]


def names(stamped):
    """Returns the names of the outputs that have a stamp, or of those that have none."""
    return sorted(name for name, output in OUTPUTS.items() if bool(output.made_from) is stamped)


@pytest.mark.parametrize(("name", "block"), QUOTES)
def test_a_page_quotes_what_was_printed(name, block):
    output = OUTPUTS[name].text
    if block.startswith("    "):
        assert all(line in output for line in dedent(block).splitlines())
    known = {number.replace(",", "") for number in re.findall(r"\d[\d,]*(?:\.\d+)?", output)}
    quoted = {number.replace(",", "") for number in quoted_numbers(block)}
    assert quoted <= known


def test_each_output_is_quoted():
    pages = "".join(map(page_text, PAGES))
    assert [name for name in OUTPUTS if f"outputs/{name}.txt" not in pages] == []


@pytest.mark.parametrize("name", names(stamped=True))
def test_what_an_output_was_made_from_has_not_changed(name):
    path = make_outputs.FOLDER / f"{name}.txt"
    assert path.read_text(encoding="utf-8") == OUTPUTS[name].written(), (
        f"made from something else: python docs/make_outputs.py {name}, then correct the pages"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", names(stamped=False))
def test_an_output_is_what_the_command_prints(name, tmp_path):
    assert_about_equal(OUTPUTS[name].again(tmp_path).text, OUTPUTS[name].text, name)
