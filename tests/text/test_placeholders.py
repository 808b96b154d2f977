"""What must hold of placeholders: each syntax is known, and prose has none."""

import re

import pytest

from nmt.text.placeholders import PLACEHOLDER

ANYWHERE = [
    *"%s %1$s %-10.2f %5.2f %lu %*d %'d %I64d %hhd %(name)s %<count>d %<PRIu64> %PRIu64 %@".split(),
    *"{} {0} {name} {name!r:>10} {:{width}} {{x}} {count,number} ${name} #{name} %{name}".split(),
    *"$t(key) $name $NAME$ $(name) %1 %L1 %name% @:a.b {0,date,short}".split(),
    *["[[x]]", "__APP_NAME__", "{n, plural, one {# gato} other {{a} gatos}}"],
    "{g, select, male {{n, plural, one {# gato} other {# gatos}}} other {x}}",
    *["{{ x }}", "<%= name %>", "{% if %}", "<?= $name ?>", "{count, number}"],
]
PROSE = [
    "100% de desconto, 50 % d'entre eux, a taxa é de 5% em 2024 e 10%",
    "%50 indirim, %5,5 faiz",  # Turkish
    "Custa 5 $US ou R$5 ou US$ 7, $5 no total",
    "Veja a nota: isto (é) [sic?] {um texto} e 3:45, 10:30",
    "Fim! Que bom!Sim. a<b e c>d; a_b #1 @ 5",
]


def texts(text):
    return [match[0] for match in re.finditer(PLACEHOLDER, text)]


@pytest.mark.parametrize("placeholder", ANYWHERE)
def test_a_placeholder_is_found_whole(placeholder):
    for text in (f"O gato {placeholder} dorme", f"{placeholder}, o gato", f"É «{placeholder}»."):
        assert texts(text) == [placeholder]


def test_a_colon_begins_a_placeholder_only_behind_a_space():
    assert texts(":name, são 10:30 em a::b, nota:isto :p :smile:") == [":name"]
    assert texts("Ela disse :não quero, nota :texto, :user_name") == [":user_name"]


@pytest.mark.parametrize("text", PROSE)
def test_prose_has_no_placeholder(text):
    assert texts(text) == []
