"""What must hold of warnings: the page has words for each of them."""

import importlib
import json
import re
from pathlib import Path

import pytest

import nmt.documents
from nmt.serving import app, notices

REASON = re.compile(r'\bLeft\(\s*(?:([A-Z_]+),|"([^"]+)")')


def reasons():
    """Returns why texts of documents stay as they are, as far as the modules write it down."""
    texts = set()
    for path in Path(nmt.documents.__file__).parent.glob("*.py"):
        module = importlib.import_module(f"nmt.documents.{path.stem}")
        for name, text in REASON.findall(path.read_text()):
            texts.add(getattr(module, name) if name else text)
    return texts


def test_the_page_has_words_for_each_reason_in_both_languages():
    texts = json.loads((app.PAGE / "texts.json").read_text())
    assert len(reasons()) > 5
    for reason in reasons():
        english, chinese = texts[reason]
        assert english == reason
        assert not chinese.isascii()


@pytest.mark.parametrize("kind", notices.KINDS)
def test_the_page_has_words_for_each_kind_in_both_languages(kind):
    texts = json.loads((app.PAGE / "texts.json").read_text())
    english, chinese = texts[f"warning-{kind}"]
    assert english.isascii()
    assert not chinese.isascii()
