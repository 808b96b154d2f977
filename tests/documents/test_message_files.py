"""What must hold of .po and .xliff files: what has no translation gets one, all else stays."""

import re

import polib
import pytest
from helpers import Translated, backwards, identity, upper

from nmt import UserError
from nmt.documents import name_language, parse_document, translate_document
from nmt.documents.program_messages import syntax_of
from nmt.text.placeholders import find_placeholders

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


def translate(name, text, translator=upper, **options):
    return translate_document(name, text.encode(), translator, **options).decode()


def entries_of(text, translator=upper, **options):
    """Returns the entries of a translated .po file by their source."""
    translated = translate_document("a.po", text.encode(), translator, **options).decode()
    return {entry.msgid: entry for entry in polib.pofile(translated)}


def po(source, flags="", more=""):
    """Returns a file of one message."""
    literal = source.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{flags and f"#, {flags}"}\nmsgid "{literal}"\nmsgstr ""\n{more}'


def network(answer):
    """Returns a translator whose answer is always the same."""
    return lambda texts: [Translated(answer, None) for _ in texts]


def test_messages_without_a_translation_get_one():
    translated = translate("a.po", PO, mark="none")
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
    assert len(polib.pofile(translate("a.po", PO, identity, mark="none")).translated_entries()) == 4


def test_what_a_machine_wrote_is_marked():
    entries = entries_of(PO)
    assert entries['Olá %s, "bom" dia\n'].flags == ["fuzzy", "c-format"]
    assert entries["%d gato"].fuzzy
    assert not entries["feito"].fuzzy
    entries = entries_of(PO, mark="comment")
    assert entries["%d gato"].tcomment == "machine translation"
    assert not entries["%d gato"].fuzzy
    assert not entries["feito"].tcomment


def test_fuzzy_entries_are_translated_on_request():
    text = '#, fuzzy, c-format\n#| msgid "O"\nmsgid "O gato"\nmsgstr "The dog"\n'
    assert translate("a.po", text) == text
    document = parse_document("a.po", text.encode())
    assert [(left.reason, document.place(left)) for left in document.left] == [
        ("marked as fuzzy", "line 3")
    ]
    assert translate("a.po", text, fuzzy=True) == text.replace("The dog", "O GATO")
    entry = entries_of(text, fuzzy=True, mark="none")["O gato"]
    assert (entry.msgstr, entry.flags) == ("O GATO", ["c-format"])


def test_what_stays_is_counted():
    document = parse_document("a.po", PO.encode())
    assert [(left.reason, document.place(left)) for left in document.left] == [
        ("already translated", "line 23")
    ]


def test_a_language_of_one_form_gets_the_plural():
    text = 'msgid "One file"\nmsgid_plural "%d files"\nmsgstr[0] ""\n'
    assert translate("a.po", text).endswith('msgstr[0] "%d FILES"\n')


def test_lines_keep_their_indentation():
    text = 'msgid "Usage:\\n"\n"  -h help\\n"\n"    more\\n"\nmsgstr ""\n'
    assert translate("a.po", text).endswith(
        'msgstr ""\n"USAGE:\\n"\n"  -H HELP\\n"\n"    MORE\\n"\n'
    )


def test_blank_lines_add_no_space():
    text = 'msgid "Dear {0},\\n"\n"\\n"\n"\\n"\n"The cat\\n"\nmsgstr ""\n'
    lines = text.partition('"Dear')[2].partition("msgstr")[0]
    assert translate("a.po", text, identity).endswith(f'msgstr ""\n"Dear{lines}')


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


PLACEHOLDERS = [
    ("", "O gato %s, {name} tem %d e $t(key) :name @name !name %1 %n <%= x %> [name] %I64d %*d"),
    ("", "O gato [[name]] e __name__ e __user.name__ e [nome]"),
    ("qt-format", "O gato %1 dorme em %L2 e %n"),
    ("ruby-format", "O gato %{name} e %<count>d e #{name}"),
    ("php-format", "O gato :name e %1$s e %'*10s"),
    ("c-format", "O gato %-10s e %5.2f e %*d e % d e %PRIu64 e %<PRIu64> e %n e %'d"),
    ("javascript-format", "O gato $t(key) e @name e $name"),
    ("java-format", "O gato {0} e {1,number,#.##} e {2,choice,0#um|1#dois}"),
    ("csharp-format", "O gato {0,-10:N2} e {1:yyyy-MM-dd HH:mm}"),
    ("python-format", "O gato %(name)s e %(n)5.1f"),
    ("", "O gato https://a.io/%s e <b>preto</b> &amp; me@a.org"),
]


@pytest.mark.parametrize(("flags", "source"), PLACEHOLDERS)
@pytest.mark.parametrize("answer", ["The cat.", "The %d cat {name} is 5% of %s.", "%"])
def test_placeholders_are_in_the_translation_whatever_the_network_does(flags, source, answer):
    """Each as often as in the source, and no other one."""
    target = entries_of(po(source, flags), network(answer))[source].msgstr
    expressions = syntax_of([flags], source).expressions
    wanted = sorted(placeholder.text for placeholder in find_placeholders(source, expressions))
    assert wanted
    texts = [placeholder.text for placeholder in find_placeholders(target, expressions)]
    assert sorted(text for text in texts if text != "%%") == wanted


@pytest.mark.parametrize(
    ("flags", "source", "target"),
    [
        ("c-format", "%s has %d%% of %ld", "%3$ld OF %2$d%% HAS %1$s"),
        ("php-format", "%s has %d", "%2$d HAS %1$s"),
        ("python-brace-format", "{} has {:>3}", "{1:>3} HAS {0}"),
        ("python-format", "%s has %d", "%s HAS %d"),
        ("c-format", "%*d of %s", "%*d OF %s"),
        ("", "%s has %d", "%s HAS %d"),
        ("c-format", "%2$s of %1$d", "%1$d OF %2$s"),
        ("qt-format", "%n of %1", "%1 OF %n"),
        ("c-format", "%s has %s", "%s HAS %s"),
    ],
)
def test_arguments_in_another_order_stand_for_those_of_the_source(flags, source, target):
    entry = entries_of(po(source, flags), reversed_words)[source]
    assert entry.msgstr == target


def reversed_words(texts):
    """Returns the texts with their words reversed, those without signs in capitals."""
    translations = []
    for text in texts:
        words = [word.upper() if word.isalpha() else word for word in text.split()]
        links = [(i, len(words) - 1 - i) for i in range(len(words))]
        translations.append(Translated(" ".join(reversed(words)), links))
    return translations


@pytest.mark.parametrize("flags", ["c-format", "python-format", ""])
@pytest.mark.parametrize("source", ["%d%% done", "at 50%% of %ld%%.", "%s%s file", "%%%s here"])
def test_signs_beside_each_other_are_placeholders_of_their_own(flags, source):
    target = entries_of(po(source, flags), reversed_words)[source].msgstr
    assert sorted(target.lower().split()) == sorted(source.split())


def test_a_percent_sign_of_the_network_is_text():
    entries = entries_of(po("100%% dos gatos %s", "c-format"), network("100% of the cats %s"))
    assert entries["100%% dos gatos %s"].msgstr == "100%% of the cats %s"
    assert entries_of(po("Um gato"), network("100% of"))["Um gato"].msgstr == "100% of"


def test_a_percent_sign_of_the_source_is_in_the_translation():
    for flags in ("c-format", ""):
        source = "100%% dos gatos"
        target = entries_of(po(source, flags), network("all cats"))[source].msgstr
        assert target.count("%%") == 1


def test_an_apostrophe_of_the_network_is_text():
    java = entries_of(po("O ''gato'' {0}", "java-format"), network("It's {0}"))
    assert java["O ''gato'' {0}"].msgstr == "It''s {0}"
    icu = "{n, plural, one {O gato {x}} other {}}"
    entry = entries_of(po(icu), network("l' {x}"))[icu]
    assert entry.msgstr == "{n, plural, one {l' {x}} other {}}"
    entry = entries_of(po(icu), network("l'{x}"))[icu]
    assert entry.msgstr == "{n, plural, one {l''{x}} other {}}"


@pytest.mark.parametrize(
    ("source", "text", "target"),
    [
        ("_O gato", "O gato", "_Os cães"),
        ("O ga&to", "O gato", "Os &tios"),
        ("~Gato", "Gato", "Os cães de ~gala"),
        ("Sa~ir", "Sair", "Out ~it"),
        ("Gato(&G)...", "Gato...", "打开(&G)..."),
        ("O &gato %s", "O gato %s", "&Xy %s"),
        ("R&D", "R&D", "R&D"),
        ("Um &lt; gato", "Um &lt; gato", "X &lt;"),
        ("file_name e gato", "file_name e gato", "x"),
        ("Gato && cão", "Gato && cão", "x"),
    ],
)
def test_the_mark_of_a_key_is_no_part_of_the_word(source, text, target):
    document = parse_document("a.po", po(source).encode())
    assert [segment.text for segment in document.segments] == [text]
    answer = target.replace("~", "").replace("_", "")
    answer = answer.replace("(&G)", "").replace("&t", "t").replace("&X", "X")
    assert entries_of(po(source), network(answer))[source].msgstr == target


def test_the_mark_within_a_word_counts_where_the_file_uses_it():
    text = po("Sal_var") + po("_Abrir")
    assert [segment.text for segment in parse_document("a.po", text.encode()).segments] == [
        "Salvar", "Abrir",
    ]  # fmt: skip
    header = 'msgid ""\nmsgstr "X-Accelerator-Marker: _\\n"\n'
    assert entries_of(header + po("Sal_var"))["Sal_var"].msgstr == "SAL_VAR"


@pytest.mark.parametrize(
    ("literal", "line"),
    [(r"C:\xyz", 3), (r"\q", 3), (r"a\n" + '"\n"' + r"C:\Users", 4), (r"\351", 3)],
)
def test_a_bad_escape_is_named_with_its_line(literal, line):
    with pytest.raises(UserError, match=rf"a.po: line {line}: \\") as error:
        translate("a.po", f'\n#, x\nmsgid "{literal}"\nmsgstr ""\n')
    assert "\n" not in str(error.value)


def test_codes_of_bytes_are_characters():
    document = parse_document("a.po", rb'msgid "p\303\xa3o \x41"' + b'\nmsgstr ""\n')
    assert document.segments[0].text == "pão A"


def test_a_line_that_is_no_message_is_named():
    with pytest.raises(UserError, match=r"a.po: line 4: is neither a message nor a comment"):
        translate("a.po", po("um") + 'msgid "dois\nmsgstr ""\n')


ICU = {  # with the translation by capitals
    "{n, plural, one {um gato} other {# gatos}}": "{n, plural, one {UM GATO} other {# GATOS}}",
    "Tem {n, plural, offset:1 =0 {nada} one {um {cor, select, f {preta} other {preto}}} other {#}}":
    "TEM {n, plural, offset:1 =0 {NADA} one {UM {cor, select, f {PRETA} other {PRETO}}} other {#}}",
    "{0, selectordinal, two {#o gato} other {o <b>gato</b> {name}}} preto":
    "{0, selectordinal, two {#O GATO} other {O <b>GATO</b> {name}}} PRETO",
    "{ a , select , f { ela dorme } other { ele '{'dorme'}' }\n }":
    "{ a , select , f { ELA DORME } other { ELE '{'DORME'}' }\n }",
}  # fmt: skip


@pytest.mark.parametrize("source", ICU)
def test_an_icu_message_keeps_all_but_its_texts(source):
    assert entries_of(po(source), upper_words)[source].msgstr == ICU[source]


def upper_words(texts):
    """Returns translations in capitals, placeholders as they are."""
    fixed = re.compile(r"\{\w*\}|<[^>]*>|\w+")
    return [
        Translated(fixed.sub(lambda m: m[0] if m[0][0] in "{<" else m[0].upper(), text), None)
        for text in texts
    ]


def test_an_icu_message_that_is_not_understood_is_left_and_named():
    text = po("O gato") + po("{n, plural, one {um gato} other {gatos}") + po("{n, plural, }")
    text += po("{0, choice, 0#nenhum|1#um gato|1<{0} gatos}") + po("O {x, foo, a {gato}}")
    document = parse_document("a.po", text.encode())
    assert [segment.text for segment in document.segments] == ["O gato"]
    assert {(left.reason, left.is_expected) for left in document.left} == {
        ("with ICU arguments that are not understood", False)
    }


def test_a_text_without_a_translation_leaves_the_others_of_its_message():
    icu = "{n, plural, one {um gato} other {gatos}}"
    for answers, target in [
        (["a cat", ""], "{n, plural, one {a cat} other {gatos}}"),
        (["", "cats"], "{n, plural, one {um gato} other {cats}}"),
    ]:
        entries = entries_of(po(icu), lambda texts, answers=answers: [
            Translated(answer, None) for answer in answers
        ])  # fmt: skip
        assert entries[icu].msgstr == target


FORMS = """msgid ""
msgstr "Plural-Forms: nplurals={}; plural={};\\n"

msgid "Um gato"
msgid_plural "%d gatos"
"""


def test_a_partly_filled_plural_is_completed():
    text = FORMS.format(2, "n != 1") + 'msgstr[0] "One cat"\nmsgstr[1] ""\n'
    assert entries_of(text)["Um gato"].msgstr_plural == {0: "One cat", 1: "%d GATOS"}
    russian = "n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"
    text = FORMS.format(3, russian) + 'msgstr[0] ""\nmsgstr[1] ""\n'
    assert entries_of(text)["Um gato"].msgstr_plural == dict.fromkeys(range(3), "%d GATOS")
    text = FORMS.format("INTEGER", "EXPRESSION") + 'msgstr[0] ""\nmsgstr[1] ""\n'
    assert entries_of(text)["Um gato"].msgstr_plural == {0: "UM GATO", 1: "%d GATOS"}


@pytest.mark.parametrize("text", ["um", 'msgid "um"', "msgstr"])
def test_what_is_no_po_file_is_named(text):
    with pytest.raises(UserError, match=r"a.po: holds no message"):
        translate("a.po", text)


def test_units_without_a_target_get_one():
    target = '<target state="needs-review-translation">'
    expected = XLIFF.replace(
        "</source>\n  </trans-unit>",
        f'</source>\n    {target}<ph id="3">&lt;br></ph>BRANCO. &amp; <x id="2"/> PRETO '
        '<g id="1">GATO</g> UM</target>\n  </trans-unit>',
    )
    expected = expected.replace("<target/>", f"{target}DOIS</target>")
    expected = expected.replace('<target state="new"></target>', f"{target} UM </target>")
    assert translate("a.xliff", XLIFF, backwards) == expected
    assert parse_document("a.xlf", expected.encode()).segments == []
    unmarked = translate("a.xliff", XLIFF, identity, mark="none")
    assert "<target>dois</target>" in unmarked
    assert '<target state="translated"> um </target>' in unmarked


def test_units_of_version_2_have_segments():
    target = (
        '\n<target>UM <pc id="1">GATO</pc> E <mrk id="m" translate="no">Rio Tua</mrk>.</target>'
    )
    expected = XLIFF_2.replace("</source></segment>", f"</source>{target}</segment>")
    expected = expected.replace("<segment>", '<segment state="translated">')
    for options, code in [({"target_language": "en"}, "en"), ({}, "und")]:
        named = expected.replace('srcLang="pt">', f'srcLang="pt" trgLang="{code}">')
        assert translate("a.xliff", XLIFF_2, **options) == named
    assert parse_document("a.xliff", named.encode()).segments == []


def unit(content, attributes="", around="", version="1.2"):
    """Returns a file of one unit."""
    return (
        f'<xliff version="{version}"><file {around}><trans-unit {attributes}>{content}'
        "</trans-unit></file></xliff>"
    )


SOURCE = "<source>O gato</source>"


@pytest.mark.parametrize(
    ("target", "is_written"),
    [
        *[(f'<target state="{state}">O gato</target>', True) for state in (
            "new", "needs-translation", "initial",
        )],
        ('<target state="needs-translation">The</target>', True),
        ("<target>[NAB: NOT TRANSLATED]</target>", True),
        ("<target> </target>", True),
        ('<target><x id="1"/></target>', True),
        ("<target>O gato</target>", False),
        ('<target state="new">The cat</target>', False),
        *[(f'<target state="{state}">O gato</target>', False) for state in (
            "final", "signed-off", "translated", "needs-review-translation", "needs-l10n",
            "needs-adaptation", "needs-review-l10n", "needs-review-adaptation",
        )],
        ('<target state="final"/>', False),
    ],
)  # fmt: skip
def test_the_state_says_whether_a_target_is_a_translation(target, is_written):
    document = parse_document("a.xlf", unit(SOURCE + target).encode())
    assert len(document.segments) == is_written
    assert len(document.left) == (not is_written)
    if not is_written:
        assert translate("a.xlf", unit(SOURCE + target)) == unit(SOURCE + target)


def test_targets_that_ask_for_a_review_are_translated_on_request():
    text = unit(f'{SOURCE}<target state="needs-review-translation">The dog</target>')
    (left,) = parse_document("a.xlf", text.encode()).left
    assert (left.reason, left.is_expected) == ("whose state asks for a review", True)
    assert translate("a.xlf", text, fuzzy=True) == text.replace("The dog", "O GATO")
    assert 'state="translated">O GATO<' in translate("a.xlf", text, fuzzy=True, mark="none")


def test_a_document_of_version_2_names_the_language_of_its_run():
    document = parse_document("a.xlf", XLIFF_2.encode())
    name_language(document, "en-GB")
    content = document.write(upper([segment.text for segment in document.segments]))
    assert b'srcLang="pt" trgLang="en-GB">' in content


def test_states_of_version_2_are_those_of_the_segment():
    text = (
        '<xliff version="2.1" srcLang="pt" trgLang="en"><file><unit><segment {}>'
        "<source>O gato</source><target>{}</target></segment></unit></file></xliff>"
    )
    for state in ("translated", "reviewed", "final"):
        finished = text.format(f'state="{state}"', "O gato")
        assert translate("a.xlf", finished) == finished
    assert translate("a.xlf", text.format('state="initial"', "O gato")) == text.format(
        'state="translated"', "O GATO"
    )
    assert translate("a.xlf", text.format("", "")) == text.format('state="translated"', "O GATO")


def seg(number, text):
    return f'<mrk mtype="seg" mid="{number}">{text}</mrk>'


def test_the_segments_of_a_source_are_those_of_its_target():
    source = f"<source>um. dois.</source><seg-source>{seg(0, 'um.')} {seg(1, 'dois.')}</seg-source>"
    target = '<target state="needs-review-translation">'
    expected = unit(f"{source}{target}{seg(0, 'UM.')} {seg(1, 'DOIS.')}</target>")
    empty = '<mrk mtype="seg" mid="0"/><mrk mtype="seg" mid="1"></mrk>'
    for old in ("", "<target/>", f"<target>{empty}</target>"):
        assert translate("a.xlf", unit(source + old)) == expected
    partly = unit(f"{source}<target>{seg(0, 'One!')} {seg(1, '')}</target>")
    assert translate("a.xlf", partly) == expected.replace("UM.", "One!")
    alone = unit(f'{SOURCE}<target><mrk mtype="seg" mid="0"/></target>')
    assert f'<target state="needs-review-translation">{seg(0, "O GATO")}</target>' in translate(
        "a.xlf", alone
    )
    document = parse_document("a.xlf", unit(f"{SOURCE}<target>{empty}</target>").encode())
    assert [left.reason for left in document.left] == ["with <mrk> in the target alone"]


def test_text_in_cdata_is_text():
    text = unit("<source><![CDATA[O <b>gato</b> & %s]]></source>")
    assert '<target state="needs-review-translation"><![CDATA[O <b>GATO</b> & %s]]></target>' in (
        translate("a.xlf", text, upper_words)
    )
    mixed = unit("<source>um &lt; <![CDATA[<i>dois & três</i>]]></source>")
    assert ">UM &lt; &lt;i&gt;DOIS &amp; TRÊS&lt;/i&gt;</target>" in translate(
        "a.xlf", mixed, upper_words
    )


@pytest.mark.parametrize(
    ("around", "attributes", "count"),
    [
        ('translate="no"', 'translate="yes"', 1),
        ('translate="no"', "", 0),
        ("", 'translate="no"', 0),
        ('translate="yes"', "", 1),
    ],
)
def test_the_innermost_translate_counts(around, attributes, count):
    assert len(parse_document("a.xlf", unit(SOURCE, attributes, around).encode()).segments) == count


def test_messages_in_xliff_are_those_of_po():
    source = "O &amp;gato %1$@ de {0} :name &lt;b&gt;"
    text = unit(f"<source>{source}</source>")
    for answer in ("The cat", "The {1} cat"):
        translated = translate("a.xlf", text, network(answer))
        target = translated.partition('translation">')[2].partition("</target>")[0]
        assert all(target.count(part) == 1 for part in ("%1$@", "{0}", ":name", "&lt;b&gt;"))
        assert target.count("&amp;") == 1
        assert "{1}" not in target
    icu = '{N, plural, =1 {um <x id="1"/> gato} other {{N} gatos}}'
    translated = translate("a.xlf", unit(f"<source>{icu}</source>"), upper_words)
    assert '{N, plural, =1 {UM <x id="1"/> GATO} other {{N} GATOS}}</target>' in translated
    broken = parse_document("a.xlf", unit("<source>{N, plural, =1 {um</source>").encode())
    assert [left.reason for left in broken.left] == ["with ICU arguments that are not understood"]


def test_lines_stay_where_space_is_preserved():
    source = "\n  O gato\n  dorme.\n"
    text = unit(f"<source>{source}</source>")
    assert ">\n  O GATO DORME.\n</target>" in translate("a.xlf", text)
    text = unit(f'<source xml:space="preserve">{source}</source>')
    assert ">\n  O GATO\n  DORME.\n</target>" in translate("a.xlf", text)
    text = unit(f"<source>{source}</source>", 'xml:space="preserve"')
    assert ">\n  O GATO\n  DORME.\n</target>" in translate("a.xlf", text)


def test_spaces_at_the_ends_of_a_source_are_those_of_its_target():
    unit = '<xliff><trans-unit><source> um <x id="1"/></source><target/></trans-unit></xliff>'
    translated = translate("a.xliff", unit)
    assert '<target state="needs-review-translation"> UM <x id="1"/></target>' in translated


def test_other_xml_is_no_xliff():
    with pytest.raises(UserError, match=r"a.xlf: is not XLIFF: it has no element <xliff>"):
        translate("a.xlf", "<a>um</a>")
