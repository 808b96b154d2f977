"""What must hold of .po and .xliff files: what has no translation gets one, all else stays."""

import polib
import pytest
from helpers import Translated, backwards, identity, upper

from nmt import UserError
from nmt.documents import parse_document, translate_document

PO = r"""# comentário
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=n != 1;\n"

#: a.c:3
#, c-format
msgid "Olá %s, \"bom\" dia\n"
msgstr ""

msgctxt "menu"
msgid ""
"Uma linha longa de {name}\n"
"e outra\tlinha\\\n"
msgstr ""

msgid "%d gato"
msgid_plural "%d gatos"
msgstr[0] ""
msgstr[1] ""

msgid "feito"
msgstr "done"

#~ msgid "velho"
#~ msgstr ""
"""

XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body>
  <trans-unit id="1">
    <source>Um <g id="1">gato</g> <x id="2"/> preto &amp; <ph id="3">&lt;br></ph>branco.</source>
  </trans-unit>
  <trans-unit id="2"><source>dois</source><target/></trans-unit>
  <trans-unit id="3"><source>três</source><target>done</target></trans-unit>
  <trans-unit id="4" translate="no"><source>não</source></trans-unit>
  <trans-unit id="5"><source> um </source><target state="new"></target>
    <alt-trans><source>não</source></alt-trans></trans-unit>
  <trans-unit id="6"><source>42</source></trans-unit>
</body></file></xliff>"""

XLIFF_2 = """<xliff version="2.0" srcLang="pt"><file id="f"><unit id="1"><segment>
<source>Um <pc id="1">gato</pc> e <mrk id="m" translate="no">Rio Tua</mrk>.</source></segment>
<ignorable><source> não </source></ignorable></unit></file></xliff>"""


def translate(name, text, translator=upper):
    return translate_document(name, text.encode(), translator).decode()


def test_messages_without_a_translation_get_one():
    translated = translate("a.po", PO)
    entries = {entry.msgid: entry for entry in polib.pofile(translated)}
    assert entries['Olá %s, "bom" dia\n'].msgstr == 'OLÁ %s, "BOM" DIA\n'
    assert entries["Uma linha longa de {name}\ne outra\tlinha\\\n"].msgstr == (
        "UMA LINHA LONGA DE {name}\nE OUTRA LINHA\\\n"
    )
    assert entries["%d gato"].msgstr_plural == {0: "%d GATO", 1: "%d GATOS"}
    assert entries["feito"].msgstr == "done"
    assert [line for line in translated.splitlines() if not line.startswith(("msgstr", '"'))] == [
        line for line in PO.splitlines() if not line.startswith(("msgstr", '"'))
    ]
    assert "#~ msgstr" in translated
    assert len(polib.pofile(translate("a.po", PO, identity)).translated_entries()) == 4


def test_a_language_of_one_form_gets_the_plural():
    text = 'msgid "One file"\nmsgid_plural "%d files"\nmsgstr[0] ""\n'
    assert translate("a.po", text).endswith('msgstr[0] "%d FILES"\n')


def test_lines_keep_their_indentation():
    text = 'msgid "Usage:\\n"\n"  -h help\\n"\n"    more\\n"\nmsgstr ""\n'
    assert translate("a.po", text).endswith(
        'msgstr ""\n"USAGE:\\n"\n"  -H HELP\\n"\n"    MORE\\n"\n'
    )


def test_characters_for_private_use_stay():
    text = 'msgid "\ue000 um\\n"\n"\ue001 dois"\nmsgstr ""\n'
    assert translate("a.po", text).endswith('msgstr ""\n"\ue000 UM\\n"\n"\ue001 DOIS"\n')


def test_lines_keep_their_tabs():
    text = 'msgid "Usage:\\n"\n"\\t-h help\\n"\nmsgstr ""\n'
    assert translate("a.po", text).endswith('msgstr ""\n"USAGE:\\n"\n"\\t-H HELP\\n"\n')


def test_finished_messages_stay_byte_for_byte():
    done = translate("a.po", PO)
    assert parse_document("a.po", done.encode()).segments == []
    assert translate("a.po", done, backwards) == done


def test_placeholders_are_in_the_translation_whatever_the_network_does():
    po = 'msgid "Olá %s, {name} tem %d gatos"\nmsgstr ""\n'
    lost = translate("a.po", po, lambda texts: [Translated("Hello, has cats", None)])
    for placeholder in ("%s", "{name}", "%d"):
        assert lost.count(placeholder) == 2


@pytest.mark.parametrize("text", ["um", 'msgid "um"', "msgstr"])
def test_what_is_no_po_file_is_named(text):
    with pytest.raises(UserError, match=r"a.po: holds no message"):
        translate("a.po", text)


def test_units_without_a_target_get_one():
    expected = XLIFF.replace(
        "</source>\n  </trans-unit>",
        '</source>\n    <target><ph id="3">&lt;br></ph>BRANCO. &amp; <x id="2"/> PRETO '
        '<g id="1">GATO</g> UM</target>\n  </trans-unit>',
    )
    expected = expected.replace("<target/>", "<target>DOIS</target>")
    expected = expected.replace('new"></target>', 'new"> UM </target>')
    assert translate("a.xliff", XLIFF, backwards) == expected
    assert parse_document("a.xlf", expected.encode()).segments == []
    assert "<target>dois</target>" in translate("a.xliff", XLIFF, identity)


def test_units_of_version_2_have_segments():
    target = (
        '\n<target>UM <pc id="1">GATO</pc> E <mrk id="m" translate="no">Rio Tua</mrk>.</target>'
    )
    expected = XLIFF_2.replace("</source></segment>", f"</source>{target}</segment>")
    assert translate("a.xliff", XLIFF_2) == expected


def test_spaces_at_the_ends_of_a_source_are_those_of_its_target():
    unit = '<xliff><trans-unit><source> um <x id="1"/></source><target/></trans-unit></xliff>'
    assert '<target> UM <x id="1"/></target>' in translate("a.xliff", unit)


def test_other_xml_is_no_xliff():
    with pytest.raises(UserError, match=r"a.xlf: is not XLIFF: it has no element <xliff>"):
        translate("a.xlf", "<a>um</a>")
