"""What must hold of warnings: the page has words for each of them."""

import json

import pytest

from nmt.serving import app, notices


@pytest.mark.parametrize("kind", notices.KINDS)
def test_the_page_has_words_for_each_kind_in_both_languages(kind):
    texts = json.loads((app.PAGE / "texts.json").read_text())
    english, chinese = texts[f"warning-{kind}"]
    assert english.isascii()
    assert not chinese.isascii()
