"""What must hold of Markdown: text is translated; code, targets and front matter stay."""

import re
import sys

import pytest
from helpers import Translated, backwards, identity, upper
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nmt import UserError
from nmt.documents import translate_document

# What is marked by « » is translated.
MARKED = """---
title: não
---
# «Um título» `x`

«Um» **«gato» *«preto»*** «e» [«um» *«cão»*](u.html "não") «com um rato bem»
![«uma foto»](a.png) <b>«casa»</b> \\* «azul» ~~«frio»~~ <https://a.b>.

> «citado e»
> «longo aqui»

- [ ] «um item»
- «dois»\x20\x20
  «três»

| «a» | «b» |
|---|---|
| «um» | **«dois»** |

```
código
```

    código

<div align="center">
«texto» <b>«x»</b>
<pre>não</pre>
</div>

[«r»][ref] «um» 42

[ref]: http://x "não"
"""
TEXT = re.sub("[«»]", "", MARKED)


def translate(text, translator=upper):
    return translate_document("a.md", text.encode(), translator).decode()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_is_not_text_stays_byte_for_byte(line_end):
    text, marked = TEXT.replace("\n", line_end), MARKED.replace("\n", line_end)
    assert translate(text, identity) == text
    assert translate(text) == re.sub("«(.*?)»", lambda match: match[1].upper(), marked)


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("um **gato** preto.", "PRETO. **GATO** UM"),
        ("veja [texto]\n\n[texto]: u", "[TEXTO][texto] VEJA\n\n[texto]: u"),
        ("um *dois", r"\*DOIS UM"),
        ("snake_case a_b", "A_B SNAKE_CASE"),
        ("um &amp; dois", "DOIS & UM"),
        ("um `a b` dois", "`a b` DOIS UM"),
        ("<b translate=no>um</b> dois", "DOIS <b translate=no>um</b>"),
        ("um - dois", "DOIS - UM"),
        ("um -", r"\- UM"),
        ("um 1984.", r"1984\. UM"),
        ("um[^1] dois", "DOIS UM[^1]"),
        ("[^1]: um dois três", "[^1]: TRÊS DOIS UM"),
        ("[^1]: um dois\n[^2]: três um", "[^1]: DOIS UM\n[^2]: UM TRÊS"),
    ],
)
def test_markup_stays_around_its_words(text, translated):
    assert translate(text, identity) == text
    assert translate(text, backwards) == translated


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("| a | a b |\n|---|---|\n| x | a |\n", "| A | A B |\n|---|---|\n| X | A |\n"),
        ("| a | a |\n|---|---|\n| x \\| b | b |\n", "| A | A |\n|---|---|\n| x \\| b | B |\n"),
        ("+++\ntitle = 'a'\n+++\n\na\n", "+++\ntitle = 'a'\n+++\n\nA\n"),
    ],
    ids=["first in the file", "a bar in a cell", "TOML"],
)
def test_what_stands_twice_or_is_no_markdown_is_not_mistaken(text, translated):
    assert translate(text) == translated


def test_a_wrapped_paragraph_is_wrapped_again_and_no_line_begins_a_list():
    text = "> um dois três quatro cinco\n> seis sete oito nove dez\n"
    longer = translate(text, lambda texts: [Translated("um - " * 12 + "dois", None)])
    lines = longer.splitlines()
    assert len(lines) > 2
    assert all(line.startswith("> ") for line in lines)
    assert not any(line.startswith("> - ") for line in lines)


def test_a_missing_parser_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    with pytest.raises(UserError, match=r"a.md: Markdown needs markdown-it-py; install: pip inst"):
        translate("um")


def structure(text):
    """Returns the elements that a parser sees in Markdown."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return [token.type for token in tokens]


PIECES = "* ** _ ~~ ` [ ] ( ) ! < > # - + 1. | \\ & : um dois . é <b> </b> <br> &amp; [x]: --- ```"
LINES = st.sampled_from(
    [*PIECES.split(), "![a](b)", " ", "\n", "\n\n", "    ", "\r\n", "|-|-|\n", "\t"]
)


@settings(max_examples=50, deadline=None)
@given(st.lists(LINES, max_size=30).map("".join))
def test_whatever_the_markdown_identity_changes_nothing(text):
    try:
        assert translate(text, identity) == text
        assert structure(translate(text)) == structure(text)
    except UserError:
        pass
