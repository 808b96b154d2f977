"""What must hold of spans and symbols: any text comes back, and both sides of a pair agree."""

import itertools
import re
import time

import numpy as np
import pytest
from helpers import as_dataset, sentences
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.corpus import batches, corpora
from nmt.corpus.marked_copies import marked_pair
from nmt.corpus.vocabulary import train_tokenizer
from nmt.text import protected
from nmt.text.differences import difference
from nmt.text.protected import DEFAULT, MIN_PAIRS, SYMBOLS, Protected, Protector, restore
from nmt.text.tokenizer import LineSample, SpanCount, Tokenizer


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
    ],
)
def test_spans_are_numbers_addresses_placeholders_and_tags(text, spans):
    assert originals(text) == spans


def test_the_user_s_patterns_are_spans_and_overlap_no_others():
    assert originals("ab-12 and cd", patterns=["[a-z]+-12", "cd"]) == ["ab-12", "cd"]
    assert originals("http://a.b/cd cd", patterns=["cd"]) == ["http://a.b/cd", "cd"]
    assert originals("abc", patterns=["x*"]) == []  # which matches nothing everywhere
    with pytest.raises(UserError, match=r"--protect \(: is not a regular expression"):
        Protector(patterns=["("])


def test_language_tags_are_no_spans():
    assert originals("<2de> 2 {name}", words=["<2de>", "{name}"]) == ["2", "{name}"]


SPANS = st.sampled_from(
    ["{name}", "%s", "4711", "http://a.b", "<b>", *SYMBOLS, "⟦1", "a", " ", "1"]
)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.one_of(SPANS, st.text(max_size=3)), max_size=40))
def test_any_text_comes_back_whatever_it_holds(parts):
    text = "".join(parts)
    source = DEFAULT.protect(text)
    assert restore(source.text, source) == (text, [], 0)


def test_what_a_translation_loses_or_adds_is_counted():
    source = DEFAULT.protect("{a} 1 2")
    assert source.text == "⟦0⟧ ⟦1⟧ ⟦2⟧"
    assert restore("⟦2⟧ ⟦2⟧, ⟦9⟧⟦0⟧", source) == ("2 , {a}", ["1"], 2)


def test_what_is_put_in_after_a_word_or_a_symbol_gets_a_space_if_it_had_one():
    source = DEFAULT.protect("see {a} {b} <b>5</b>")
    assert restore("voir ⟦3⟧x⟦4⟧.⟦0⟧⟦1⟧⟦2⟧", source).text == "voir 5x<b>. {a} {b}</b>"
    assert restore("l'⟦0⟧ 我⟦1⟧", source).text == "l'{a} 我{b}"


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("<b>a</b> c", "⟦1⟧x⟦0⟧ y", "<b>x</b> y"),
        ("<b>a</b> <i>c</i>", "⟦2⟧x⟦3⟧ ⟦0⟧y⟦1⟧", "<i>x</i> <b>y</b>"),  # nested as it is
        ("<b>a</b> <i>c</i>", "⟦2⟧x⟦1⟧ ⟦0⟧y⟦3⟧", "<b>x</b> <i>y</i>"),
        ("<b><i>5</i></b>", "⟦0⟧⟦2⟧⟦3⟧⟦1⟧⟦4⟧", "<b>5<i></i></b>"),
        ("a</i> b<b>", "⟦1⟧a⟦0⟧", "</i>a<b>"),  # of a sentence within a line
        ('a<br>b <x id="1"/> <b>', "⟦1⟧ ⟦2⟧ ⟦0⟧", '<x id="1"/> <b> <br>'),
    ],
)
def test_tags_are_nested_as_in_the_source(source, translation, expected):
    assert restore(translation, DEFAULT.protect(source)).text == expected


def test_originals_with_symbols_in_them_are_not_replaced_again():
    assert restore("⟦0⟧ ⟦1⟧", Protected("", ["⟦1⟧", "x"])).text == "⟦1⟧ x"


def test_more_spans_than_symbols_keep_their_order():
    text = " ".join(map(str, range(5000)))
    source = DEFAULT.protect(text)
    assert {*source.text.split()} == {*SYMBOLS}
    assert restore(source.text, source).text == text


def test_both_sides_of_a_pair_have_the_same_symbol_for_the_same_span():
    pair = DEFAULT.protect_pair("5 of {n} in 12 h: 5.", "{n} : 5 sur 3, 5.")
    assert pair == ("⟦0⟧ of ⟦1⟧ in 12 h: ⟦2⟧.", "⟦1⟧ : ⟦0⟧ sur 3, ⟦2⟧.")
    assert DEFAULT.protect_pair("9 {n}", "{n} 9", first=9) == ("⟦9⟧ ⟦0⟧", "⟦0⟧ ⟦9⟧")
    assert DEFAULT.protect_pair("1 dog", "un chien") == ("1 dog", "un chien")


def test_training_leaves_a_share_and_uses_all_symbols_alike():
    pairs = [(f"it is {n}", f"es {n}") for n in range(2000)]
    trained = [DEFAULT.training_pair(*pair) for pair in pairs]
    assert trained == [DEFAULT.training_pair(*pair) for pair in pairs]
    unchanged = sum(pair == original for pair, original in zip(trained, pairs, strict=True))
    assert 140 <= unchanged <= 260  # a tenth
    for symbol in SYMBOLS:
        count = sum(symbol in source and symbol in target for source, target in trained)
        assert 120 <= count <= 240


def test_a_prefix_has_the_symbols_of_its_source():
    source = DEFAULT.protect("{a} costs 5, 5 or 6")
    prefix = DEFAULT.protect_prefix("5 {b} ⟦0⟧ 5 5", source)
    assert prefix.text == "⟦1⟧ {b} ⟦4⟧ ⟦2⟧ 5"
    assert restore(prefix.text, prefix).text == "5 {b} ⟦0⟧ 5 5"
    assert DEFAULT.protect_prefix("", source) == Protected("", source.originals)


def test_a_prefix_begins_a_translation_whichever_spans_it_holds():
    """The eleventh span has the first one's symbol, which stands for the first one first."""
    source = DEFAULT.protect("rooms " + ", ".join(map(str, range(100, 112))))
    for text in ("110", "100, 110", "110, 100", "100, 101, 110, 111"):
        prefix = DEFAULT.protect_prefix(text, source)
        assert restore(prefix.text, prefix).text == text
    assert DEFAULT.protect_prefix("100, 110", source).text == "⟦0⟧, ⟦0⟧"


HOSTILE = (
    "a", "a.", "<a ", "1", "1a", "{", "%", "http://", ".", "&a", "@", "a@", "⟦1⟧", "<!--", "a-",
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
        source = DEFAULT.protect(text)
        assert restore(source.text, source).text == text
    assert time.process_time() - started < 10  # half a second; minutes if one took quadratic time


def test_every_kind_of_span_has_a_sign_by_which_texts_are_skipped():
    examples = ["⟦0⟧", "http://a.b", "WWW.a.b", "a@b.c", "<b>", "&lt;", "{a}", "%s", "mp3", "1"]
    for text in examples:
        assert protected.SIGNS_OF_SPANS.search(text)
        assert originals(text) == [text]


# ---- The vocabulary, and training ----

NUMBERED = [
    (f"{n} {source}", f"{n} {target}") for n, (source, target) in enumerate(sentences(1000))
]


@pytest.fixture(scope="module")
def symbol_tokenizer():
    """A tokenizer with the symbols, and a language tag that holds a number."""
    return Tokenizer(train_tokenizer(as_dataset(NUMBERED), 330, symbols="<2en>"))


def test_a_vocabulary_gets_symbols_if_enough_pairs_hold_spans(symbol_tokenizer):
    assert symbol_tokenizer.tokens(symbol_tokenizer.symbol_ids) == SYMBOLS
    assert symbol_tokenizer.words == ["<2en>"]
    text = "um ⟦0⟧, ⟦9⟧⟦1⟧."
    assert symbol_tokenizer.decode(np.array(symbol_tokenizer.encode([text]))) == [text]


def test_other_vocabularies_are_what_they_were_before_there_were_symbols():
    pairs = as_dataset(NUMBERED[: MIN_PAIRS - 1])
    model = train_tokenizer(pairs, 330)
    assert model == train_tokenizer(pairs, 330, protect="off")
    assert not Tokenizer(model).symbol_ids
    assert not Tokenizer(train_tokenizer(as_dataset(NUMBERED), 330, protect="off")).symbol_ids


def test_the_bundled_corpus_holds_numbers_enough_to_learn_symbols():
    sample = LineSample()
    for pair in corpora.trained_on(corpora.built_in("bundled").train):
        sample.add(*pair)
    assert sample.pairs_with_spans > MIN_PAIRS * 1.5


def test_training_pairs_have_symbols_on_both_sides_and_evaluation_leaves_none_out(symbol_tokenizer):
    pairs = [(f"<2en> {source} {{n}}", target) for source, target in NUMBERED]
    expected = [Protector(words=["<2en>"]).training_pair(*pair) for pair in pairs]
    assert any("⟦" in source for source, _ in expected)
    sources, targets = zip(*expected, strict=True)
    dataset = as_dataset(pairs)
    (chunk,) = batches.encoded_chunks(dataset, symbol_tokenizer, training=True)
    assert chunk.sources == symbol_tokenizer.encode(sources)
    assert chunk.targets == symbol_tokenizer.encode(targets)
    (chunk,) = batches.encoded_chunks(dataset.take(1), symbol_tokenizer)
    expected = Protector(words=["<2en>"]).protect_pair(*pairs[0])
    assert [*chunk.sources, *chunk.targets] == symbol_tokenizer.encode(expected)


def test_symbols_cannot_be_chosen_as_words():
    with pytest.raises(UserError, match="--symbols ⟦3⟧: has a meaning"):
        train_tokenizer(as_dataset(NUMBERED[:9]), 330, symbols="⟦3⟧")


# ---- What a run learns ----


def count(*pairs, times=1):
    spans = SpanCount()
    for pair in pairs * times:
        spans.add(*pair)
    return spans


def test_kinds_that_a_text_copies_become_symbols_if_enough_pairs_hold_them():
    copied = ("see {x} in 1999", "voir {x} en 1999")
    changed = ("2 dogs", "deux chiens")
    few = count(copied, changed, times=MIN_PAIRS - 1)
    assert few.pairs_with_spans == MIN_PAIRS - 1
    assert few.protection("auto") == ((), True)
    learned, spells_numbers = count(copied, changed, times=MIN_PAIRS).protection("auto")
    assert {"placeholder", "number", "url", "amount"} <= {*learned}  # also kinds that it lacks
    assert "count" not in learned
    assert spells_numbers
    assert count(copied, times=MIN_PAIRS).protection("off").learned == ()
    assert {"url", "tag"} <= {*count(changed).protection("always").learned}


def test_numbers_that_a_text_writes_in_another_form_are_left_to_the_network():
    spans = count(("15 000 a", "15,000 b"), ("{x}", "{x}"), times=MIN_PAIRS)
    learned, spells_numbers = spans.protection("auto")
    assert "amount" not in learned
    assert not spells_numbers  # the digits are the same
    protector = Protector(learned=learned)
    assert protector.protect_pair("15 000 {x}", "15,000 {x}") == ("15 000 ⟦0⟧", "15,000 ⟦0⟧")
    assert protector.hide("15 000 {x} C:\\a").text == "15 000 ⟦0⟧ ⟦1⟧"


def test_copies_of_pairs_hold_the_same_spans_on_both_sides():
    pairs = [(f"A dog sees Anna {n}x.", f"Un chien voit Anna {n}x !") for n in range(300)]
    copies = [marked_pair(*pair) for pair in pairs]
    assert copies == [marked_pair(*pair) for pair in pairs]
    for source, target in copies:
        assert not difference(source, target)
        assert DEFAULT.protect_pair(source, target)[0] != source
    assert any("Anna" not in source for source, _ in copies)
    kinds = {span.kind for source, _ in copies for span in DEFAULT.spans(source)}
    assert kinds >= {"url", "email", "tag", "placeholder", "code", "number", "count", "amount"}


def test_training_always_on_protection_adds_copies():
    pairs = as_dataset(NUMBERED[:20])
    marked = [*corpora.trained_on(batches.with_marked_copies(pairs))]
    assert marked[:20] == [*corpora.trained_on(pairs)]
    assert marked[20:] == [marked_pair(*pair) for pair in marked[:20]]


def test_a_symbol_stands_for_all_numbers_beside_each_other_or_for_none():
    protector = Protector(learned=("number",))  # not "count": numbers below 100
    text = "Raum 11 12 6113 34, 12 Hunde, 12 34 Katzen"
    protected = protector.protect(text)
    assert protected.text == "Raum ⟦0⟧, 12 Hunde, 12 34 Katzen"
    assert protected.originals == ["11 12 6113 34"]
    assert len(DEFAULT.protect(text).originals) == 7  # where all are learned, one for each


def test_a_pair_with_an_empty_side_has_no_copy_and_a_language_tag_stays_first():
    pairs = as_dataset(
        [("", "one"), ("um", " "), *((f"<2en> um {n}", f"one {n}") for n in "abcdefgh")]
    )
    marked = [*corpora.trained_on(batches.with_marked_copies(pairs, "<2en> x"))]
    copies = marked[10:]
    assert len(copies) == 8
    assert all(re.match("<2en> .*um", source) for source, _ in copies)


def test_copies_of_long_pairs_take_no_long_time():
    words = ["".join(letters) for letters in itertools.product("abcdefgh", repeat=5)]
    start = time.process_time()
    for text in (" ".join(words[:16_000]), "." * 30_000 + "x"):
        marked_pair(text, text)
    assert time.process_time() - start < 2  # not minutes


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("a https://a.io/x b", "⟦0⟧onvres", "https://a.io/x onvres"),
        ("3rd b", "⟦0⟧rd", "3rd"),
        ("12 m", "⟦0⟧m", "12m"),
        ("<b>a</b>", "⟦0⟧un⟦1⟧", "<b>un</b>"),
    ],
)
def test_letters_of_a_translation_do_not_become_a_part_of_a_url(source, translation, expected):
    assert restore(translation, DEFAULT.protect(source)).text == expected
