"""What must hold of Markdown: text is translated; code, targets and front matter stay."""

import re
import sys

import pytest
from helpers import Translated, backwards, identity, upper
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nmt import UserError
from nmt.documents import parse_document, translate_document

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


# What mdit-py-plugins and markdown_parser.py add; what is marked by « » is translated.
DIALECTS = """{
  "title": "um"
}
import Abas from '@theme/Abas';

# «Um título» {#id .x}

«Dois C:\\Users\\ana\\temp e» $x_1 *y*$ \\(a\\) «e» $$z$$ «fim. Custa» \\$«5 e» \\$«6.»

«um gato»
::: note Um
«preto» {.red}
:::

:::: {.outer}
- «um item»
  ::: tip
  «dois»
  :::
::::

???+ tip "Um"
    «dois três»

    «quatro»

!!! danger ""
    «um»

=== "C++"

    «um dois»

    ```c
    int um;
    ```

> [!WARNING]
> «um dois»

> [!note]- «Meu título»
> «um corpo»

«Termo»
:   «Um gato»

    «outro parágrafo»

*[HTML]: «Linguagem de marcas»
*[CSS]: «Folhas»

«Nota»[^1] «e outra»[^b].

[^1]: «Um texto longo»

    «segundo parágrafo»
[^b]: «Outro»

- [ ] «uma tarefa» :smile:
- [x] «feita»

{{< note title="um"
  src="dois" >}}
«um dentro»
{{< /note >}}

{% include um.html a="50%" %}
«um dentro»
{% endif %}

export const meta = {
  title: 'um',
};

import {
  A,
} from 'x';

<Card label="um">«texto» **«aqui»**</Card>

«Um» ==«gato preto»== «e» ![[um.png]] «e» [«texto»](url){target=_blank} «e»
<% um %> «e» {ref}`um` [@silva2020].

\\newpage

\\begin{equation}
um = dois
\\end{equation}

«um dois»
===

===

/// note | Um
«dois»
///

[TOC]

%% um comentário %%

«Hoje 10:30:45 e a:b:c e» [[gato|casa]] «fim»

![«um gato»](a.png){width=50%}

«Um» <Botao onClick={() => um('dois')} label="x">«clique»</Botao> «e» <B a={{b: 1}} />«.»

{/* um comentário */}

{gatos.map(um => um.dois)}

{+ «um» +} «e» {- «dois» -}

«Um» [«gato»](#){ .md-button } «com» ++ctrl+alt+del++ «e» ^^«inserido»^^ «e H»~2~«O».

# «Um título» {-}

«Nota»^[«nota em linha»] «aqui. Ver» [«texto»]{.smallcaps} «e» [«outro»][ref]{.x}

[ref]: http://x

- «um item» ^ref-1

%%
um comentário
longo
%%

| «um verso»
| «dois»
"""


def test_what_is_no_prose_in_a_dialect_stays():
    text = re.sub("[«»]", "", DIALECTS)
    assert translate(text, identity) == text
    expected = re.sub("«(.*?)»", lambda match: match[1].upper(), DIALECTS)
    assert translate(text).splitlines() == expected.splitlines()


def test_a_table_drawn_with_signs_is_left_and_named():
    text = "um\n\n+---+---+\n| a | b |\n+===+===+\n| um | dois |\n+---+---+\n"
    assert translate(text) == text.replace("um\n\n", "UM\n\n")
    document = parse_document("a.md", text.encode())
    assert [document.place(left) for left in document.left] == ["line 3"]


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        (r"um C:\Users\ana dois", r"DOIS C:\USERS\ANA UM"),
        (r"um \alpha", r"\ALPHA UM"),
        (r"um \_ dois", r"DOIS \_ UM"),
        ("um {{ x }} dois", "{{ x }} DOIS UM"),
        ("{% a %} um {% b %}", "{% a %} UM {% b %}"),
        ("import dois from um", "UM FROM DOIS IMPORT"),
        ("$5 e $6", "$6 E $5"),
        ("um : dois", "DOIS : UM"),
    ],
)
def test_backslashes_and_template_tags_stay(text, translated):
    assert translate(text, identity) == text
    assert translate(text, backwards) == translated


def test_what_is_left_of_markdown_is_named():
    text = """::: tip Um
dois
:::

> <div>
> três
> </div>

| a | b |
|---|---|
| um \\| dois | x |
"""
    document = parse_document("a.md", text.encode())
    assert [(document.place(left), left.is_expected) for left in document.left] == [
        ("line 1", True), ("line 5", False), ("line 11", False)
    ]  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "part", ["{{", "{%", "[[", ":a", "{.", "$", "::: ", "import {", "[!A]", "=="]
)
def test_dialects_take_linear_time(part):
    for text in (part * (20_000 // len(part)), (part + "\n") * 3000):
        translate(text)


def test_a_wrapped_paragraph_is_wrapped_again_and_no_line_begins_a_list():
    text = "> um dois três quatro cinco\n> seis sete oito nove dez\n"
    longer = translate(text, lambda texts: [Translated("um - " * 12 + "dois", None)])
    lines = longer.splitlines()
    assert len(lines) > 2
    assert all(line.startswith("> ") for line in lines)
    assert not any(line.startswith("> - ") for line in lines)


def test_a_missing_parser_is_named_with_the_command_that_installs_it(monkeypatch):
    for module, name in (
        ("mdit_py_plugins.admon", "mdit-py-plugins"),
        ("markdown_it", "markdown-it-py"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(UserError, match=f"a.md: Markdown needs {name}; install: pip install"):
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
