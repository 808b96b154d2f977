"""What must hold of .json, .yaml, .strings and .properties: the values change, and nothing else."""

import json
import re

import javaproperties
import openstep_plist
import pytest
from helpers import Translated, backwards, identity, upper
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from nmt import UserError
from nmt.documents import (
    apple_strings,
    java_properties,
    json_files,
    parse_document,
    translate_document,
    yaml_files,
)
from nmt.documents.report import make_report

JSON = r"""{
  "olá": "um gato, %s {name}", "n" : 1.50e5, "big": 123456789012345678901234567890,
    "list": ["dois \u00e9 \"x\"\n linha", true, "https://a.io", "", null],
  "plural": "{n, plural, one {# gato} other {# gatos}}", "olá": "outra vez"}
"""
YAML_FILE = """\
# comment
%s: &all
  plain: um gato  # why
  double: "dois: três"
  'single key': 'it''s um'
  no: no
  number: 12
  date: 2020-01-01
  ruby: !ruby/sym abc
  list: [um, dois, 'três, q']
  anchored: &x um texto
  again: *x
  literal: |
    uma linha
      mais %%{name}

    outra
  kept: |+
    uma linha

  folded: >-
    um texto longo que
    continua aqui

    e outro
  several: um texto
    que continua
"""
YAML_FILE %= "pt"
STRINGS = r"""/* um "a" = "b"; */
"title" = "um gato %1$@ tem %2$d"; // dois = "três";
plain.key-1 = "dois \"x\" \n tr\U00eas \UD83D\UDE00";
"só";
"""
PROPERTIES = r"""# um=dois
title=um gato
  the\ key\: : dois \u00e9 \
     três {0} d''agua
! um
empty=
path = um\\dois\ntrês
"""
FILES = {
    "a.json": JSON, "a.yml": YAML_FILE, "a.strings": STRINGS, "a.properties": PROPERTIES,
}  # fmt: skip
READERS = {
    "a.json": json.loads,
    "a.yml": YAML(pure=True).load,
    "a.strings": openstep_plist.loads,
    "a.properties": javaproperties.loads,
}


def translate(name, text, translator=upper):
    return translate_document(name, text.encode(), translator).decode()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_whose_translations_equal_their_sources_stays_byte_for_byte(name, line_end):
    text = FILES[name].replace("\n", line_end)
    assert translate(name, text, identity) == text
    for translator in (upper, backwards):
        translated = translate(name, text, translator)
        assert len(re.split(line_end, translated)) <= len(re.split(line_end, text))
        assert "\n" not in translated.replace(line_end, "")


def test_values_of_json_are_translated_and_all_else_stays():
    expected = JSON.replace("um gato, %s", "UM GATO, %s").replace("outra vez", "OUTRA VEZ")
    expected = expected.replace(r"dois \u00e9 \"x\"\n linha", r"DOIS É \"X\"\n LINHA")
    expected = expected.replace("# gatos", "# GATOS").replace("# gato}", "# GATO}")
    assert translate("a.json", JSON) == expected
    assert translate("a.json", r'["\u00e9 um"]') == r'["\u00c9 UM"]'  # as the whole file has them
    assert translate("a.json", r'["a \u003c b", "c <"]') == r'["A \u003c B", "C \u003c"]'


def test_values_of_yaml_are_translated_in_their_style_and_switches_stay():
    read = READERS["a.yml"]
    translated = translate("a.yml", YAML_FILE)
    values, (old,) = read(translated)["pt"], read(YAML_FILE).values()
    for key, value in values.items():
        if key == "ruby":
            assert value.value == "abc"
        elif key in ("no", "number", "date"):
            assert value == old[key]
        elif key == "list":
            assert value == ["UM", "DOIS", "TRÊS, Q"]
        else:
            assert value.replace("%{NAME}", "%{name}") == old[key].upper().replace(
                "{NAME}", "{name}"
            )
    for line, new_line in zip(
        YAML_FILE.splitlines()[:22], translated.splitlines()[:22], strict=True
    ):
        assert new_line.lower() == line.lower(), "styles, comments and anchors stay"
    document = parse_document("a.yml", YAML_FILE.encode())
    (left,) = make_report(document, [Translated("x", None)] * len(document.segments)).left
    assert str(left).startswith("1 that may be switches")
    assert str(left).endswith("(first: line 6)")


@pytest.mark.parametrize(
    ("source", "translation", "written"),
    [
        ("a: sim", "No", 'a: "No"'),
        ("a: sim # c", "yes: or no", 'a: "yes: or no" # c'),
        ("a: sim", "a #b", 'a: "a #b"'),
        ("a: [sim, b]", "one, two", 'a: ["one, two", "one, two"]'),
        ("a: 'sim'", "it's", "a: 'it''s'"),
        ("- sim", "- a", '- "- a"'),
        ("a: |\n  sim\n", "a: #b", "a: |\n  a: #b\n"),
        ("a: >\n  um dois\n  três\n", "one two three", "a: >\n  one two\n  three\n"),
    ],
)
def test_a_value_of_yaml_is_quoted_where_it_would_read_otherwise(source, translation, written):
    def constant(texts):
        return [Translated(translation, None) for _ in texts]

    assert translate("a.yaml", source, constant) == written


def test_values_of_strings_are_translated_and_keys_and_comments_stay():
    expected = STRINGS.replace("um gato %1$@ tem", "UM GATO %1$@ TEM")
    expected = expected.replace(r"dois \"x\" \n tr\U00eas \UD83D\UDE00", r"DOIS \"X\"\n TRÊS 😀")
    assert translate("a.strings", STRINGS) == expected
    for encoding in ("utf-16", "utf-8-sig"):
        content = translate_document("a.strings", STRINGS.encode(encoding), upper)
        assert content.decode(encoding) == expected
    swapped = translate("a.strings", '"k" = "%@ tem %d";', backwards)
    assert swapped == '"k" = "%2$d TEM %1$@";'


def test_values_of_properties_are_translated_in_the_encoding_that_java_reads():
    translated = translate("a.properties", PROPERTIES)
    assert READERS["a.properties"](translated) == {
        "title": "UM GATO", "the key:": "DOIS É TRÊS {0} D''AGUA", "empty": "",
        "path": "UM\\DOIS\nTRÊS",
    }  # fmt: skip
    assert "  the\\ key\\: : DOIS É TRÊS" in translated
    assert "# um=dois" in translated

    def polish(texts):
        return [Translated("Łódź 😀", None) for _ in texts]

    for content, written in (
        (b"k = um\n", b"k = \\u0141\\u00f3d\\u017a \\ud83d\\ude00\n"),
        ("k = é\n".encode("latin1"), b"k = \\u0141\xf3d\\u017a \\ud83d\\ude00\n"),
        ("k = é\n".encode(), "k = Łódź 😀\n".encode()),
    ):
        assert translate_document("a.properties", content, polish) == written


@settings(max_examples=80)
@given(st.text(max_size=12), st.sampled_from(["", "'", '"', "|", ">"]))
def test_any_value_reads_as_it_was_written(value, style):
    assert json.loads(json_files.string_writer(r"\u003c")(value)) == value
    assert apple_strings.unescape(apple_strings.write_string(value)[1:-1]) == value
    for encoding in ("ascii", "utf-8"):
        markup = java_properties.value_writer(encoding)(value)
        assert java_properties.unescape(markup) == value
        assert javaproperties.loads(f"k={markup}") == {"k": value}
    block = f"{style}\n  um\n" if style in ("|", ">") else ""
    if re.fullmatch(r"[\t\n -~\u00a0-\ud7ff\ue000-\ufefe\U00010000-\U0010ffff]*", value):
        text = value.strip() + "\n" if block else value
        written = yaml_files.writer(style or None, block)(text)
        assert yaml_files.reader().load(f"- {written}\n- x") == [text, "x"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", '{\n"a": 1,}', "a.json: line 2: is not JSON (Illegal trailing comma"),
        ("a.json", "[" * 100_000, "a.json: is nested too deep"),
        ("a.yml", "a: b\nc: [d", "a.yml: line 2: is not YAML (expected ',' or ']'"),
        ("a.yml", "[" * 100_000, "a.yml: is nested too deep"),
        ("a.yml", "a: b\n" * 400_001, "a.yml: has more than 2,000,000 characters; divide it"),
        ("a.strings", '"a" = "b";\n"c" = {d = e;};', 'a.strings: line 2: is not "key" = "value"'),
        ("a.properties", "a=\0", "a.properties: holds NUL characters"),
    ],
)
def test_what_is_not_of_the_format_is_one_line(name, text, said):
    with pytest.raises(UserError) as error:
        translate(name, text)
    assert str(error.value).replace("Expecting property name enclosed", "Illegal trailing comma"
        ).startswith(said)  # fmt: skip


def test_plurals_that_are_not_understood_are_left_and_named():
    document = parse_document("a.json", b'{\n"a": "{n, plural, one {um}", "b": "dois"}')
    report = make_report(document, [Translated("x", None)])
    assert str(report) == (
        "1 of 2 texts translated; left: 1 with ICU arguments that are not understood "
        "(first: line 2)"
    )
