"""What must hold of HTML: its text is translated, and nothing else changes."""

import time

import pytest

from nmt.serving.markup import translatable, with_translations


@pytest.mark.parametrize(
    ("text", "parts", "translated"),
    [
        ("a", ["a"], "A"),
        ("<p class='x'> a &amp; b </p>\n", ["a & b"], "<p class='x'> A &amp; B </p>\n"),
        ("a<br/>b <!-- c <b> --> d", ["a", "b", "d"], "A<br/>B <!-- c <b> --> D"),
        ("<script>if (a < b) c()</script>a", ["a"], "<script>if (a < b) c()</script>A"),
        ("1 < 2 & 3 > 2", ["1 < 2 & 3 > 2"], "1 &lt; 2 &amp; 3 &gt; 2"),
        ("<b", ["<b"], "&lt;B"),
        ("a<!-- b", ["a"], "A<!-- b"),
        ("a<SCRIPT>b", ["a"], "A<SCRIPT>b"),
        ("", [], ""),
    ],
)
def test_html_is_translated_between_its_tags(text, parts, translated):
    assert translatable(text) == parts
    assert with_translations(text, [part.upper() for part in parts]) == translated


def test_a_translation_adds_no_markup():
    assert with_translations("<p>a</p>", ["<script>"]) == "<p>&lt;script&gt;</p>"


@pytest.mark.parametrize("beginning", ["<!--", "<script>", "<a", "<!"])
def test_many_beginnings_without_an_end_take_no_longer_than_text(beginning):
    begin = time.perf_counter()
    translatable(beginning * 100_000)
    assert time.perf_counter() - begin < 2
