"""What must hold of HTML: text and three attributes are translated, all else is byte for byte."""

import re

import pytest
from helpers import backwards, identity, upper

from nmt import UserError
from nmt.documents import markup, parse_document, translate_document
from nmt.documents.document import FormatOptions

# What is marked by [ ] is translated.
MARKED = """<!DOCTYPE html>\r
<HTML lang=pt><head><meta charset="utf-8"><title>[Um título] &amp; [mais]</title>
<style>p { color: red }</style><script>var x = "não <b>";</script></head>
<body><!-- nota --><p class='a'>[Um] <b>[gato] <i>[preto]</i></b>,
 [e] <a href="x?a=1&b=2" title="[um cão]">[cães]</a>.</p>	
<p translate="no">Nome <b>próprio</b></p><P>[Use] <code>ls -l</code> [e]
<img src=a.png alt="[uma foto]"> [veja].<br>[nova linha]<p>[sem fim]
<pre>não  mexer</pre><input placeholder="[nome]"><ul><li>[um]<li class="x notranslate">dois
<li>[três]</ul><div>[foo] <a href=x><div>[bar]</div></a> [baz]</div> 1999 <!-- fim
"""
PAGE = re.sub(r"[\[\]]", "", MARKED)


def translate(page, translator=upper):
    return translate_document("a.html", page.encode(), translator).decode()


def test_what_is_not_text_stays_byte_for_byte():
    assert translate(PAGE, identity) == PAGE
    expected = re.sub(r"\[(.*?)\]", lambda match: match[1].upper(), MARKED)
    assert translate(PAGE).split() == expected.split()  # a line end within a sentence is a space


def test_the_code_of_a_sentence_is_looked_for_once_whatever_its_tags():
    markup.template_code.cache_clear()
    page = b"<p>" + b"<b>um</b> " * 20 + b"{{ x }}</p>"
    assert translate_document("a.html", page, upper).count(b"<b>UM</b>") == 20
    assert markup.template_code.cache_info().misses == 1  # else a page of many tags takes minutes


def test_a_name_that_is_not_translated_is_not_read_but_keeps_its_place():
    page = '<p>O <b translate="no">Gato Verde</b> e <i class="notranslate"> Tom </i> dormem.</p>'
    (segment,) = parse_document("a.html", page.encode()).segments
    assert segment.text == "O \U000f0001 e \U000f0002 dormem."
    assert segment.seen_text == "O Gato Verde e Tom dormem."
    translation = "\U000f0002 and the \U000f0001 sleep."
    assert translate(page, lambda texts: [translation for _ in texts]) == (
        '<p><i class="notranslate"> Tom </i> and the <b translate="no">Gato Verde</b> sleep.</p>'
    )


def test_elements_in_the_target_language_stay():
    page = '<html lang="en"><p lang=en-GB>a cat</p><p lang=pt>um <q lang="en">b c</q> dois</p>'
    assert translate_document("a.html", page.encode(), upper, target_language="en").decode() == (
        '<html lang="en"><p lang=en-GB>a cat</p><p lang=pt>UM <q lang="en">b c</q> DOIS</p>'
    )
    options = FormatOptions(target_language="en")
    (left,) = parse_document("a.html", page.encode(), options).left
    assert left.reason == 'in lang="en-GB"'
    assert left.is_expected
    page = '<p lang="en" translate="yes">um</p><div lang=en>a <p lang=pt>dois</p></div>'
    assert translate_document("a.html", page.encode(), upper, target_language="EN").decode() == (
        '<p lang="en" translate="yes">UM</p><div lang=en>a <p lang=pt>DOIS</p></div>'
    )
    page = "<p lang=pt-BR>um</p><p lang=pt_br>dois</p><p lang=pt-PT>três</p>"
    assert translate_document("a.html", page.encode(), upper, target_language="pt-BR").decode() == (
        "<p lang=pt-BR>um</p><p lang=pt_br>dois</p><p lang=pt-PT>TRÊS</p>"
    )


def test_elements_in_a_third_language_stay():
    page = (
        "<html lang=es><p lang=fr>très</p><p lang=pt-PT>um <q lang=es>muy</q> dois</p>"
        "<p lang=und>três</p><div lang=es>muy <b lang=pt>um</b></div>"
    )
    options = {"target_language": "en", "source_language": "pt-BR"}
    assert translate_document("a.html", page.encode(), upper, **options).decode() == (
        "<html lang=es><p lang=fr>très</p><p lang=pt-PT>UM <q lang=es>muy</q> DOIS</p>"
        "<p lang=und>TRÊS</p><div lang=es>muy <b lang=pt>UM</b></div>"
    )
    (left,) = parse_document("a.html", page.encode(), FormatOptions(**options)).left
    assert left.reason == 'in lang="fr"'
    options["source_language"] = "auto"
    assert b"TR\xc3\x88S</p><p" in translate_document("a.html", page.encode(), upper, **options)


def test_a_name_that_begins_a_sentence_is_read():
    page = (
        "<p><b translate=no>Rui</b> dorme. <b translate=no>Ana</b> vê <b translate=no>Rui</b>.</p>"
    )
    (segment,) = parse_document("a.html", page.encode()).segments
    assert segment.text == "Rui dorme. Ana vê \U000f0001."


def test_spaces_without_a_break_stay_in_what_must_not_change():
    page = "<p>Custa\n R$&nbsp;99,90&#8239;e &nbsp;não.&nbsp;</p>"
    (segment,) = parse_document("a.html", page.encode()).segments
    assert segment.text == "Custa R$\u00a099,90\u202fe \u00a0não."
    assert translate(page) == "<p>CUSTA R$&nbsp;99,90&#8239;E &nbsp;NÃO.&nbsp;</p>"


def test_a_note_is_no_part_of_the_word_before_it():
    page = (
        "<p>A casa<sup id=a><a href=x>1</a></sup> azul.<i>[2]</i> H<sub>2</sub>O e m<b>2</b>.</p>"
    )
    (segment,) = parse_document("a.html", page.encode()).segments
    assert segment.text == "A casa\U000f0001 azul.\U000f0002 H2O e m2."
    assert segment.seen_text == "A casa 1 azul. [2] H2O e m2."
    translation = "The blue house\U000f0001.\U000f0002 H2O, m2."
    assert translate(page, lambda texts: [translation for _ in texts]) == (
        "<p>The blue house<sup id=a><a href=x>1</a></sup>.<i>[2]</i> H<sub>2</sub>O, m<b>2</b>.</p>"
    )


def test_a_name_that_a_translation_has_lost_takes_the_place_of_no_word():
    page = "<p>Ontem vi <b translate=no>Ana</b> na praia.</p>"
    translated = translate(page, lambda texts: ["Yesterday at the beach." for _ in texts])
    words = re.sub("<.*?>", "", translated).split()
    assert sorted(words) == sorted("Yesterday at the beach. Ana".split())


@pytest.mark.parametrize(
    ("page", "translated"),
    [
        ("um <b>dois <i>três</b> quatro</i> 5", "UM <b>DOIS <i>TRÊS</b> QUATRO</i> 5"),
        ("<a>um</a> | <a>dois</a>", "<a>UM</a> | <a>DOIS</a>"),  # of a menu
        ("<a>um</a> e <a>dois</a>", "<a>DOIS</a> E <a>UM</a>"),
        ("um <button>dois</button> três", "UM <button>DOIS</button> TRÊS"),
        (
            '<p translate="no">um <b translate="yes">dois</b></p><code translate="no">três</code>',
            '<p translate="no">um <b translate="yes">DOIS</b></p><code translate="no">três</code>',
        ),
        ("<p><b>um dois.</b></p>", "<p><b>DOIS. UM</b></p>"),
        ("a < b & c", "C &amp; B &lt; A"),
        ("um&nbsp;dois", "DOIS UM"),
        ("<p>um <i class=icon></i> dois", "<p><i class=icon></i> DOIS UM"),
        (
            'um <a href=x><img alt="dois três"></a> um',
            '<a href=x><img alt="TRÊS DOIS"></a> UM UM',
        ),
        ('um <code title="um dois">um</code> <svg aria-label="um"><text>um</text></svg>',
         'UM <code title="DOIS UM">um</code> <svg aria-label="UM"><text>um</text></svg>'),
        ('<textarea title="um">um</textarea><pre title="um" translate=no>um</pre>',
         '<textarea title="UM">um</textarea><pre title="um" translate=no>um</pre>'),
        ("um <kbd>dois</kbd> <samp>três</samp><var>um</var>",
         "UM <kbd>dois</kbd> <samp>três</samp><var>um</var>"),
        ("<p TRANSLATE=No>um<p translate=no>dois <b translate=YES>um</b>",
         "<p TRANSLATE=No>um<p translate=no>dois <b translate=YES>UM</b>"),
        ("<p translate=no>um<p>dois", "<p translate=no>um<p>DOIS"),
        ("<p translate=no>um <label>dois</label> três</p>um",
         "<p translate=no>um <label>dois</label> três</p>UM"),
        ("<p translate=no>um <b>dois<h2>três</h2>um", "<p translate=no>um <b>dois<h2>TRÊS</h2>UM"),
        ("<p translate=no>um<hr>dois", "<p translate=no>um<hr>DOIS"),
        ("<dt translate=no>um<dd>dois", "<dt translate=no>um<dd>DOIS"),
        ("<tr><td translate=no><p>um<th>dois<tr><th>três",
         "<tr><td translate=no><p>um<th>DOIS<tr><th>TRÊS"),
        ("<li translate=no>um<ul><li>dois</ul><li>três",
         "<li translate=no>um<ul><li>dois</ul><li>TRÊS"),
        ("<option translate=no>um<optgroup label=dois>",
         '<option translate=no>um<optgroup label="DOIS">'),
        ("<ruby>um<rt>x<rb>dois<rp>y</ruby> três", "<ruby>UM<rt>x<rb>DOIS<rp>y</ruby> TRÊS"),
        ("<b translate=no>um</b>", "<b translate=no>um</b>"),
        ("<svg><text>um</text></svg> dois", "<svg><text>um</text></svg> DOIS"),
        ("<textarea>um</textarea> 42%", "<textarea>um</textarea> 42%"),
        ("um <script>dois</script> três", "<script>dois</script> TRÊS UM"),
        ('<img alt="um &quot;x&quot;" data-y=\'title="não"\'>',
         '<img alt="&quot;X&quot; UM" data-y=\'title="não"\'>'),
        ("<b title='um &#39;x\"' alt='<%=T(\"X\")%> dois'>",
         "<b title='&#x27;X&quot; UM' alt='DOIS <%=T(\"X\")%>'>"),
        ('<table summary="um" label=um><th abbr="dois"><td abbr=dois>',
         '<table summary="UM" label=um><th abbr="DOIS"><td abbr=dois>'),
        ("<img alt='um' alt=dois>", "<img alt='UM' alt=dois>"),
        ('<b aria-label="um" data-x="um">1</b>', '<b aria-label="UM" data-x="um">1</b>'),
        ('<meta name="description" content="um dois"><meta name="x" content="um">',
         '<meta name="description" content="DOIS UM"><meta name="x" content="um">'),
        ('<meta content="um" property="og:title">', '<meta content="UM" property="og:title">'),
        ('<input type=submit value="um"><input value="um"><button value="um">um</button>',
         '<input type=submit value="UM"><input value="um"><button value="um">UM</button>'),
        ('<optgroup label="um"><option label=um value=um>',
         '<optgroup label="UM"><option label="UM" value=um>'),
        ("<xmp><b>um</b></xmp> dois", "<xmp><b>um</b></xmp> DOIS"),
        ("um <ruby>dois<rp>(</rp><rt>x</rt><rp>)</rp></ruby>",
         "<ruby>DOIS<rp>(</rp><rt>x</rt><rp>)</rp></ruby> UM"),
        ("um &#150; dois &copy; \u00aa", "\u00aa &copy; DOIS &#150; UM"),
        ("<my-tag>um</my-tag> dois <x>três</x>", "DOIS <my-tag>UM</my-tag> <x>TRÊS</x>"),
    ],
)  # fmt: skip
def test_text_is_divided_where_a_page_divides_it(page, translated):
    assert translate(page, identity) == page
    assert translate(page, backwards) == translated


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ("<b>Bom dia.</b><i>Boa noite.</i>", ["Bom dia.", "Boa noite."]),
        ("Um.<b></b> <b>Dois?</b>Três “a!”<!-- x -->“Seis", ["Um. Dois?", "Três “a!”", "“Seis"]),
        ("<b>Um. <i>Dois <u>três.</u></i><i>Quatro.</i></b>", ["Um. Dois três.", "Quatro."]),
        ("Um.<b translate=no>Ana</b> dorme.", ["Um.", "Ana dorme."]),
        ("a.<b>b</b> www.<b>Um</b>.com, 1.<sup>2</sup> e Av.<b>Brasil</b> &Aacute;.&Aacute;",
         ["a.b www.Um.com, 1.2 e Av.Brasil Á.Á"]),
    ],
)  # fmt: skip
def test_a_sentence_ends_at_a_tag_even_without_a_space(page, texts):
    options = FormatOptions(source_language="pt")
    document = parse_document("a.html", page.encode(), options)
    assert [segment.text for segment in document.segments] == texts


def test_code_of_templates_is_not_escaped_and_what_was_escaped_stays_so():
    page = 'um <%= X < 2 %> <b title="a <%= Y %> &lt;b">&lt;b&gt; dois</b>'
    assert translate(page, identity) == page
    expected = 'UM <%= X < 2 %> <b title="A <%= Y %> &lt;B">&lt;B&gt; DOIS</b>'
    assert translate(page) == expected


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-8-sig", "utf-16"])
def test_the_encoding_that_a_page_declares_is_kept(encoding):
    name = encoding.removesuffix("-sig")
    page = f'<meta charset="{name}"><p>não</p>'.encode(encoding)
    translated = translate_document("a.html", page, upper)
    assert translated == f'<meta charset="{name}"><p>NÃO</p>'.encode(encoding)


def test_in_xhtml_an_element_may_end_with_its_tag_and_the_prolog_names_the_encoding():
    head = '<?xml version="1.0" encoding="iso-8859-2"?><body><script src="a.js"/>'
    page = head + "<h1>um \u0161</h1><p>um <a id='b'/>dois</p></body>"
    content = translate_document("a.xhtml", page.encode("iso-8859-2"), upper)
    assert content.decode("iso-8859-2") == (
        head + "<h1>UM \u0160</h1><p>UM <a id='b'/>DOIS</p></body>"
    )


def test_latin_1_is_what_browsers_take_for_it():
    page = '<meta charset="iso-8859-1"><p>“um”</p>'.encode("windows-1252")
    assert translate_document("a.html", page, upper) == page.replace(b"um", b"UM")


def test_characters_that_the_encoding_lacks_become_references():
    page = b'<meta charset="iso-8859-1"><p>um</p>'
    assert b"<p>&#25105;</p>" in translate_document(
        "a.html", page, lambda texts: [t._replace(text="我") for t in identity(texts)]
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<p>\n\xff", "a.html: line 2: is not UTF-8; convert the text first"),
        (b'<meta charset="klingon">', "a.html: declares the unknown encoding 'klingon'"),
        (b"a\0b", "a.html: holds NUL characters"),
        (b"<![x[um", "a.html: is not HTML: unknown status keyword"),
        (b"<p>um " + b"<b>dois " * 200 + b"</b>" * 200, "a.html: tags are nested more than 100"),
    ],
)
def test_what_cannot_be_read_is_named_in_one_line(content, said):
    with pytest.raises(UserError) as error:
        translate_document("a.html", content, upper)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.timeout(10)
def test_a_tag_of_any_length_takes_linear_time():
    for attributes in ("x" * 100_000, "a" + " " * 100_000 + "b", "x=" * 50_000, "x='" * 50_000):
        assert translate(f"<p {attributes}>") == f"<p {attributes}>"


def test_what_is_left_of_a_page_is_named():
    page = "<svg><text>um</text></svg>\n<svg><path d='M 1'/></svg><textarea>dois</textarea>\num"
    document = parse_document("a.html", page.encode())
    assert [(left.reason, document.place(left), left.is_expected) for left in document.left] == [
        ("in <svg>", "line 1", True),
        ("in <textarea>", "line 2", True),
    ]
    for page in (b"<script><p>um</p></script><p>dois", b"<style><!-- um -->\n<x</style>dois"):
        assert not parse_document("a.html", page).left
    document = parse_document("a.html", b"um\n<!-- dois <p>tr")
    assert [left.reason for left in document.left] == ["in a tag or comment without an end"]
