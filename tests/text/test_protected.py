"""What must hold of spans and marks: any text comes back."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.text import protected
from nmt.text.protected import DEFAULT, FIRST_MARK, Protected, Protector, restore
from nmt.text.tokenizer import NumberCount


def originals(text, **options):
    return [span.original for span in Protector(**options).spans(text)]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Hello {name}, two dogs.", ["{name}"]),
        ("{{x}} ${y z} {0} {} %1$s %s, %(n)d.", "{{x}}|${y z}|{0}|{}|%1$s|%s|%(n)d".split("|")),
        ("1,234.50 euros on 2024-05-06 at 12:30", ["1,234.50", "2024-05-06", "12:30"]),
        ("-5 degrees, 2-5 people, 50% discount", ["-5", "2", "5", "50"]),
        ("COVID-19, mp3, v1.2, l'A380; the 3rd", ["COVID-19", "mp3", "v1.2", "A380", "3"]),
        ("我有3只狗", ["3"]),
        ("私は３冊、۳ کتاب, ৫টি বই", []),  # no number of the other language looks like these
        ("(see http://a.b/c?d=1&e=2, or www.x.org).", ["http://a.b/c?d=1&e=2", "www.x.org"]),
        ("请看https://a.cn/b。", ["https://a.cn/b"]),
        ("Write to me.too@x.co.uk.", ["me.too@x.co.uk"]),
        ('<b>a</b> <x id="1"/> &amp; AT&T', ["<b>", "</b>", '<x id="1"/>', "&amp;"]),
        ("um <!-- nota 4711 --> gato <!----> - -", ["<!-- nota 4711 -->", "<!---->"]),
        ("a < b and c > d, {see below}, 100 %sure", ["100"]),
        ("no span at all", []),
        (
            "Siehe https://de.wikipedia.org/wiki/Bank_(Geld) und (http://a.b/c).",
            ["https://de.wikipedia.org/wiki/Bank_(Geld)", "http://a.b/c"],
        ),
        (
            "http://a.b/c_(d)_(e).f?g=(h), http://a.b/(c",
            ["http://a.b/c_(d)_(e).f?g=(h)", "http://a.b/"],
        ),
        (
            "150 000 people, 1 234,50 or 15\u00a0000; 1990 200",
            ["150 000", "1 234,50", "15\u00a0000", "1990", "200"],
        ),
        (
            "IBAN DE89 3704 0044 0532 0130 00 or GB29 NWBK 6016 1331 9268 19.",
            ["DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19"],
        ),
        (
            "+49 30 1234567, (030) 123-4567, 0170 1234567, 030/1234567, 555-1234, +15551234567.",
            [
                "+49 30 1234567",
                "(030) 123-4567",
                "0170 1234567",
                "030/1234567",
                "555-1234",
                "+15551234567",
            ],
        ),
        (
            "Ask @ana_b, #tag and :smile: :+1: at 10:30:15, tod@s, a:b:c",
            ["@ana_b", "#tag", ":smile:", ":+1:", "10:30:15"],
        ),
        (
            r"C:\Users\ana\temp, /etc/hosts, ~/notes.txt, ../a/b and docs/index.md, report.pdf.",
            [
                r"C:\Users\ana\temp",
                "/etc/hosts",
                "~/notes.txt",
                "../a/b",
                "docs/index.md",
                "report.pdf",
            ],
        ),
        ("and/or, he/she, km/h, w/o; Dr. No said so.Then", []),
        ("x<y and y>z, <p hidden>, <a b='c' v-if>", ["<p hidden>", "<a b='c' v-if>"]),
        ("%1 of %{n}, %<count>d and $name", ["%1", "%{n}", "%<count>d", "$name"]),
        (
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301 a1b2c3d4-0000-4000-8000-00000000000f "
            "00:1a:2B:3c:4d:5e",
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301|a1b2c3d4-0000-4000-8000-00000000000f"
            "|00:1a:2B:3c:4d:5e".split("|"),
        ),
        (
            "2026-01-02T03:04:05.000Z, 2026-01-02T03:04+01:00; 1.0.0-rc.2, 2.1-beta3, 10.0.0.1/24",
            "2026-01-02T03:04:05.000Z|2026-01-02T03:04+01:00|1.0.0-rc.2|2.1-beta3|10.0.0.1/24".split(
                "|"
            ),
        ),
        (
            "4x4, 1920x1080, 1920\u00d71080, 0x1F4A9, 8a52fd9, 3D and 5G, 978-3-16-148410-0",
            "4x4|1920x1080|1920\u00d71080|0x1F4A9|8a52fd9|3D|5G|978-3-16-148410-0".split("|"),
        ),
        (
            "the 3rd, the 3RD, 5km, 70s, 2-5, 1.234.567.890",
            ["3", "3", "5km", "70", "2", "5", "1.234.567.890"],
        ),
        ("10h30, 2,5-litre", ["10h30", "2,5"]),
        (
            "O <1>gato</1> <0/> [b]x[/b] [url=http://a.b]",
            "<1>|</1>|<0/>|[b]|[/b]|[url=http://a.b]".split("|"),
        ),
        (
            "**O _gato_** `a b` [casa](http://a.org) 2*3 * 4 a_b_c note*",
            "**|_|_|**|`a b`|[|](http://a.org)|2|3|4|*".split("|"),
        ),
        ("Hoje %d/%m/%Y e foi %A, %-d de %B de %Y, 50%", ["%d/%m/%Y", "%A, %-d de %B de %Y", "50"]),
        ("O { nome }, {see below}", ["{ nome }"]),
        ("<%= x %> <# if (a) #> {%- if x %}", ["<%= x %>", "<# if (a) #>", "{%- if x %}"]),
    ],
)
def test_spans_are_numbers_addresses_placeholders_and_tags(text, spans):
    assert originals(text) == spans


def test_quotes_are_spans_where_the_vocabulary_has_them_as_apostrophes_alone():
    text = "‘it's a’ ‚b‘ 'ab' ‹a›, rock 'n b' n’ a'b"
    spans = [span.original for span in Protector(characters="abc'‘’‚‹›,").spans(text)]
    assert spans == ["‘", "’", "‚", "‘", "'", "'", "‹", "›", "'", "'"]
    assert not Protector(characters="abc'\"‘’‚‹›,").spans(text)


def test_signs_that_the_vocabulary_lacks_are_spans():
    read = set("abcdefghijklmnopqrstuvwxyz.,")
    assert originals("o gato, \u266a dorme. \u266a", characters=read) == ["\u266a", "\u266a"]
    assert originals("a \U0001f469\u200d\U0001f680 b!", characters=read) == [
        "\U0001f469\u200d\U0001f680", "!",
    ]  # fmt: skip
    assert originals("a ({b})!", characters=read) == ["(", "{b}", ")!"]
    assert originals("a\u0301, \ufffd 2", characters=read) == ["2"]  # neither accents nor damage
    assert originals("a \u266a", characters=None) == []


def test_the_user_s_patterns_are_spans_and_overlap_no_others():
    assert originals("ab-12 and cd", patterns=["[a-z]+-12", "cd"]) == ["ab-12", "cd"]
    assert originals("http://a.b/cd cd", patterns=["cd"]) == ["http://a.b/cd", "cd"]
    assert originals("abc", patterns=["x*"]) == []  # which matches nothing everywhere
    with pytest.raises(UserError, match=r"--protect \(: is not a regular expression"):
        Protector(patterns=["("])


def test_language_tags_are_no_spans():
    assert originals("<2de> 2 {name}", words=["<2de>", "{name}"]) == ["2", "{name}"]


def protect(text):
    """Returns the Protected text with marks for all spans, numbers among them."""
    return DEFAULT.hide(text, {span.original for span in DEFAULT.numbers(text)})


def marked(text):
    """Returns a text with marks in place of their numbers in ⟦⟧."""
    return re.sub("⟦([0-9])⟧", lambda match: chr(FIRST_MARK + int(match[1])), text)


MARKS = [chr(FIRST_MARK + number) for number in range(3)]
SPANS = st.sampled_from(["{name}", "%s", "4711", "http://a.b", "<b>", *MARKS, "a", " ", "1"])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.one_of(SPANS, st.text(max_size=3)), max_size=40))
def test_any_text_comes_back_whatever_it_holds(parts):
    text = "".join(parts)
    source = protect(text)
    assert restore(source.text, source) == text


def test_numbers_are_read_unless_they_are_named():
    assert DEFAULT.hide("{a} 12 99", ["99"]) == Protected(marked("⟦0⟧ 12 ⟦1⟧"), ["{a}", "99"])


def test_each_mark_stands_for_its_span_once():
    source = protect("{a} 1 2")
    assert source.text == marked("⟦0⟧ ⟦1⟧ ⟦2⟧")
    assert restore(marked("⟦2⟧ ⟦2⟧, ⟦9⟧⟦0⟧"), source) == "2 , {a}"


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("<b>a</b> c", "⟦1⟧x⟦0⟧ y", "<b>x</b> y"),
        ("<b>a</b> <i>c</i>", "⟦2⟧x⟦3⟧ ⟦0⟧y⟦1⟧", "<i>x</i> <b>y</b>"),  # nested as it is
        ("<b>a</b> <i>c</i>", "⟦2⟧x⟦1⟧ ⟦0⟧y⟦3⟧", "<b>x</b> <i>y</i>"),
        ("<b><i>5</i></b>", "⟦0⟧⟦2⟧⟦3⟧⟦1⟧⟦4⟧", "<b>5<i></i></b>"),
        ("a</i> b<b>", "⟦1⟧a⟦0⟧", "</i>a<b>"),  # of a sentence within a line
        ("[casa](http://a.b) x", "⟦1⟧x⟦0⟧ y", "[x](http://a.b) y"),
        ("{% if x %}a{% endif %}", "⟦1⟧ a⟦0⟧", "{% if x %} a{% endif %}"),
        ("{{#a}}x{{/a}} {{b}}", "⟦2⟧⟦1⟧x⟦0⟧", "{{b}}{{#a}}x{{/a}}"),
        ("{% a %} {% b %}", "⟦1⟧ ⟦0⟧", "{% b %} {% a %}"),  # nothing ends
        ('a<br>b <x id="1"/> <b>', "⟦1⟧ ⟦2⟧ ⟦0⟧", '<x id="1"/> <b> <br>'),
    ],
)
def test_tags_are_nested_as_in_the_source(source, translation, expected):
    assert restore(marked(translation), protect(source)) == expected


def test_originals_with_marks_in_them_are_not_replaced_again():
    assert restore(marked("⟦0⟧ ⟦1⟧"), Protected("", [marked("⟦1⟧"), "x"])) == marked("⟦1⟧ x")


def test_many_spans_keep_their_order():
    text = " ".join(map(str, range(5000)))
    source = protect(text)
    assert not re.search("[0-9]", source.text)
    assert restore(source.text, source) == text


HOSTILE = (
    "a", "a.", "<a ", "1", "1a", "{", "%", "http://", ".", "&a", "@", "a@", MARKS[1], "<!--", "a-",
    "%1", "%(a", "www.", "<a b='", "b=", " ",
)  # fmt: skip
MORE_HOSTILE = (
    "(", ")", "()", "http://(", "/a", "a/", "\\", "C:\\", "~/", "0 ", "00 ", "000 ", "+1 ", "+",
    "-0", "DE89 ", "#a", "#", "@a.", ":", ":a", "a-", "{{", "%(", "$", "=", "x.", "1 000", "1.",
    "<a b=c ",
)  # fmt: skip


def test_no_text_takes_long():
    texts = [part * 10_000 for part in HOSTILE] + ["<a" + " b" * 10_000, "http://" + "." * 10_000]
    texts.append("%" + "0" * 30_000)
    texts += [part * 20_000 for part in MORE_HOSTILE]
    started = time.process_time()
    for text in texts:
        source = protect(text)
        assert restore(source.text, source) == text
    assert time.process_time() - started < 60  # a few seconds; minutes if one took quadratic time


def test_every_kind_of_span_has_a_sign_by_which_texts_are_skipped():
    examples = [MARKS[0], "http://a.b", "WWW.a.b", "a@b.c", "<b>", "&lt;", "{a}", "%s", "mp3", "1"]
    for text in examples:
        assert protected.SIGNS_OF_SPANS.search(text)
        assert originals(text) == [text]


# ---- What a text does with numbers ----


@pytest.mark.parametrize(
    ("pairs", "times", "spells_numbers"),
    [
        ([("2 dogs", "deux chiens"), ("in 1999", "en 1999")], 20, True),
        ([("2 dogs", "deux chiens")], 19, False),  # too few to tell
        ([("15 000 a", "15,000 b"), ("in 1999", "en 1999")], 20, False),  # the same digits
        ([("{x} a", "b")], 30, False),
    ],
)
def test_a_text_may_write_numbers_as_words(pairs, times, spells_numbers):
    count = NumberCount()
    for pair in pairs * times:
        count.add(*pair)
    assert count.spells_numbers is spells_numbers


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("costs R$ 25,90 or US$20, in 2026", ["R$ 25,90", "US$20", "2026"]),
        ("10% of 2,5 % and €3.", ["10%", "2,5 %", "€3"]),
        (
            "5km, 2,5kg, 25°C, a 1ª, 30m², 80km/h, 4 km",
            ["5km", "2,5kg", "25°C", "1ª", "30m²", "80km/h", "4"],
        ),
    ],
)
def test_a_quantity_is_one_span_where_its_sign_is_not_read(text, spans):
    protector = Protector(characters="abcdefghijklmnopqrstuvwxyz.,")
    assert [span.original for span in protector.spans(text)] == spans
    readers = Protector(characters="$%€abc.,")
    assert not {"R$ 25,90", "10%", "€3"} & {span.original for span in readers.spans(text)}
