"""What must hold of spans that the network does not read: they stand where they belong."""

import re
import time

import numpy as np
import pytest
import tensorflow as tf
from helpers import as_dataset, make_translator, network_for, searcher_of, sentences

from nmt import UserError, messages
from nmt.corpus.vocabulary import train_tokenizer
from nmt.decoding import hidden_spans, searcher
from nmt.decoding.hypotheses import Hypotheses
from nmt.decoding.search_options import Sampling
from nmt.decoding.sentence import SpanLink
from nmt.text.differences import difference
from nmt.text.protected import DEFAULT, restore
from nmt.text.tokenizer import Tokenizer
from transformer_model import END, START


def read(text):
    """Returns the Protected text and the HiddenText of a source."""
    source = DEFAULT.hide(text, [span.original for span in DEFAULT.numbers(text)])
    return source, hidden_spans.take_out(source.text, source.hidden)


def put_in(source_text, translation, words=None):
    """Returns a translation with the spans of its source; `words` links those of both texts."""
    source, hidden = read(source_text)
    links = []
    if words:
        texts = hidden.text, translation
        sides = [[*re.finditer(hidden_spans.WORD, text)] for text in texts]
        links = [SpanLink(sides[0][i].span(), sides[1][j].span()) for i, j in words]
    return restore(hidden_spans.put_in(translation, hidden, links), source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog near {name} 4711.", "A dog near."),
        ("{name}, where is it?", "where is it?"),
        ("see ({a}/{b}), please", "see, please"),
        ("<b>Big</b> <i>B</i>ig<br>x", "Big Big x"),
        ("私は{name}です", "私はです"),
        ("no span", "no span"),
    ],
)
def test_the_network_reads_the_sentence_around_what_must_not_change(text, expected):
    assert read(text)[1].text == expected


@pytest.mark.parametrize(
    ("source", "translation", "links", "expected"),
    [
        ("A dog near {n} 4711.", "Un chien près.", [(0, 0), (2, 2)], "Un chien près {n} 4711."),
        ("I have {n} new cars", "J'ai nouveaux cars", [(1, 1), (2, 2)], "J'ai {n} nouveaux cars"),
        ("a {x} red house", "une maison rouge", [(0, 0), (1, 2), (2, 1)], "une {x} maison rouge"),
        ("See <b>the sea</b>!", "Vois la mer !", [(0, 0), (1, 1), (2, 2)], "Vois <b>la mer</b> !"),
        ("<p>It is here.</p>", "C'est ici.", [(2, 2)], "<p>C'est ici.</p>"),
        ("{name}, where is it?", "Où est-ce ?", [(0, 0)], "{name}, Où est-ce ?"),
        ("Sir, {x} is in", "Monsieur, est ici", [(0, 0), (1, 1), (2, 2)], "Monsieur, {x} est ici"),
        ("Hello {x}, hello", "Bonjour, bonjour", [(0, 0), (1, 1)], "Bonjour {x}, bonjour"),
        ("Hello, dog. {x}", "Bonjour, chien.", [(0, 0), (1, 1)], "Bonjour, chien. {x}"),
        ("see ({x}) now", "voir maintenant", [(0, 0), (1, 1)], "voir ({x}) maintenant"),
        ("I have {x} dogs", "我有狗", [(0, 0), (1, 1), (2, 2)], "我有{x}狗"),
        ("one {x} two", "", None, "{x}"),
        ("sogra {x} boa", "mother-in-law good", [(0, 2), (1, 3)], "mother-in-law {x} good"),
        ("one two {x} three four", "un deux trois quatre", None, "un deux {x} trois quatre"),
        ("is 38.5 cased (38.3 not)", "est le", [(0, 0), (1, 1), (2, 1)], "est 38.5 38.3 le"),
        ("the (38.3 cased)", "le cased", [(0, 0), (1, 1)], "le 38.3 cased"),
        ("CTranslate2 967; it is", "C'est", [(0, 0), (1, 0)], "CTranslate2 967 C'est"),
        ("in the big house {x} lives", "maison vit dans la grande",
         [(0, 2), (1, 3), (2, 4), (3, 0), (4, 1)], "maison {x} vit dans la grande"),
        ("I have 12 big 5 cm dogs", "chiens", [(4, 0)], "12 5 chiens"),
    ],
)  # fmt: skip
def test_a_span_goes_to_where_the_words_around_it_are_linked_to(
    source, translation, links, expected
):
    assert put_in(source, translation, links) == expected


def test_a_span_that_the_translation_begins_with_is_not_put_in_again():
    source, hidden = read("see {a} and {b}")
    begun = hidden_spans.without_begun(hidden, "voir {b}", source.hidden)
    assert hidden_spans.put_in("voir {b} et", begun, prefix="voir {b}").count("{b}") == 1


def test_long_texts_take_no_long_time():
    text = "a {x} <b>b</b> " * 3000
    source, hidden = read(text)
    words = [match.span() for match in re.finditer(hidden_spans.WORD, hidden.text)][:2000]
    links = [SpanLink(word, word) for word in words]
    start = time.process_time()
    translation = restore(hidden_spans.put_in(hidden.text, hidden, links), source)
    assert not difference(text, translation)
    assert time.process_time() - start < 4  # not 26 s


# ---- Any run ----

LINES = [
    "um {name} dois 4711.",
    "<b>três</b> http://a.b/c %s, me@a.org %s",
    "mp3 quatro @ana :smile: C:\\Users\\ana",
    "150 000 cinco DE89 3704 0044 0532 0130 00",
    "{a} {b}",
    "um {x}. Dois 12:30 {y}!",
]


@pytest.fixture(scope="module")
def network(tokenizer):
    return network_for(tokenizer)


@pytest.fixture(scope="module")
def translate(network, tokenizer):
    return make_translator(network, tokenizer)


@pytest.fixture(scope="module")
def speller(network, tokenizer):
    """Translates for a run that writes numbers as words."""
    return make_translator(network, Tokenizer(tokenizer.model, spells_numbers=True))


@pytest.mark.parametrize("way", ["greedy", "beam", "sampling", "prefix"])
def test_any_run_keeps_what_must_not_change(network, tokenizer, way):
    options = dict(beam=dict(beam=3, n_best=3), sampling=dict(sampling=Sampling(seed=1), n_best=2))
    translate = make_translator(network, tokenizer, language="pt", **options.get(way, {}))
    prefixes = ["um {name}" if way == "prefix" else "", *[""] * 5]
    results = translate.hypotheses(LINES, prefixes=prefixes)
    for line, prefix, translations in zip(LINES, prefixes, results, strict=True):
        for translation in translations:
            assert not difference(line, translation.text).missing
            assert translation.text.startswith(prefix)


def test_without_protection_nothing_is_put_in_and_private_use_means_nothing(network, tokenizer):
    translate = make_translator(network, tokenizer, protect=False)
    assert "{name}" not in next(translate(["um {name} dois"]))
    assert next(translate(["um \U000f0000 dois"]))


def test_of_a_text_of_language_tag_and_spans_nothing_is_translated():
    model = train_tokenizer(as_dataset(sentences(200)), 320, symbols="<2de>")
    tokenizer = Tokenizer(model)
    translate = make_translator(network_for(tokenizer), tokenizer, symbols=("<2de>",))
    assert [*translate(["<2de> {name}", "<2de> {a} ({b})!"])] == ["{name}", "{a} ({b})!"]


@pytest.mark.parametrize(
    ("source", "prefix", "expected"),
    [
        ("{name}", "one two", "one two {name}"),
        ("{name} {x}", "one {name}", "one {name} {x}"),
        ("{name}", "one {name}", "one {name}"),
        ("{name} {x}", "{name}", "{name} {x}"),
    ],
)
def test_what_is_not_translated_follows_the_beginning_that_the_user_wants(
    translate, source, prefix, expected
):
    ((translation,),) = translate.hypotheses([source], prefixes=[prefix])
    assert translation.text == expected


def test_what_a_pattern_names_is_in_the_translation(network, tokenizer):
    translate = make_translator(network, tokenizer, patterns=("tr.s",))
    assert "três" in next(translate(["um três dois"]))


def test_a_pattern_contradicts_no_protection(network, tokenizer):
    with pytest.raises(UserError, match="contradict protect=False"):
        make_translator(network, tokenizer, patterns=("x",), protect=False)


def test_what_cannot_be_repaired_is_reported(network, tokenizer, capsys, monkeypatch):
    messages.show()
    translate = make_translator(network, tokenizer, plain=True, protect=False)
    monkeypatch.setattr(searcher, "greedy_translate", lambda *_: tf.constant([[START, 300, END]]))
    list(translate(["4711"]))
    assert "1 of 1 line: other numbers" in capsys.readouterr().err


def test_the_words_around_a_span_are_translated_as_without_it(translate):
    with_span, without = translate(["um dois {name}", "um dois"])
    assert with_span.replace("{name}", "").split() == without.split()


def test_lines_that_the_network_reads_alike_have_samples_of_their_own(network, tokenizer):
    translate = make_translator(network, tokenizer, sampling=Sampling(temperature=9.0))
    lines = [f"um {{x{number}}} dois" for number in range(6)]
    samples = [text.replace(f"{{x{number}}}", "") for number, text in enumerate(translate(lines))]
    assert len(set(samples)) > 1
    assert [*translate(lines)] == [*translate(lines)]


@pytest.fixture
def writes(monkeypatch):
    """A function that lets every search write a text."""

    def fix(translate, *texts):
        waiting = list(texts)

        def search(sources, *_):
            ids = translate.context.tokenizer.encode([waiting.pop(0)] * len(sources))
            ids = tf.constant(ids)[:, tf.newaxis]
            zeros = tf.zeros(ids.shape[:2])
            return Hypotheses(ids, zeros, zeros, tf.ones_like(zeros, tf.bool))

        monkeypatch.setattr(searcher_of(translate), "search", search)

    return fix


@pytest.mark.parametrize(
    ("source", "written", "expected"),
    [
        ("um 4711 dois", ["one 471 two"], "one 4711 two"),  # in place of its garbled form
        ("um 15.000 dois", ["one 15,000 two"], "one 15,000 two"),  # the same digits
        ("um 79,988.36 dois", ["one 79,98.836 two"], "one 79,988.36 two"),  # in no number's form
        ("um 15:32 dois", ["one 1:532 two"], "one 15:32 two"),
        ("um 16:11 dois", ["one 1611 two"], "one 16:11 two"),
        ("um 15:32 dois", ["one 15.32 two"], "one 15.32 two"),
        ("4711 um dois", ["one", "one two"], "4711 one two"),  # searched for again without it
        ("um 12 dois 34", ["one 34 two 12"], "one 34 two 12"),
        ("um 12 34", ["one 34 12", "one"], "one 12 34"),
        ("4711 um 12", ["one 12", "one", "one"], "4711 one 12"),  # the second search loses the 12
        ("um {x} www.a.org", ["one"], "one {x} www.a.org"),
    ],
)
def test_numbers_keep_their_digits(translate, writes, source, written, expected):
    writes(translate, *written)
    assert next(translate([source])) == expected


def test_the_beginning_that_the_user_wants_keeps_its_number(translate, writes):
    writes(translate, "one 5 two")
    (results,) = translate.hypotheses(["um 4711 dois"], prefixes=["one 5"])
    assert results[0].text == "one 5 two"


def test_tokens_of_a_text_that_is_not_translated_are_none(network, tokenizer):
    translate = make_translator(network, tokenizer, token_scores=True)
    ((translation,),) = translate.hypotheses(["4711"])
    assert (translation.text, translation.tokens) == ("4711", [])


def test_a_run_that_writes_numbers_as_words_may_do_so(speller, writes):
    writes(speller, "two dogs", "dogs", "15,000 dogs", "the 1970s", "dogs", "dogs again")
    assert [*speller(["2 um"])] == ["two dogs"]
    assert [*speller(["15 mil um"])] == ["15,000 dogs"]
    assert [*speller(["os anos 70"])] == ["the 1970s"]
    assert "1987" in next(speller(["um 1987"]))


@pytest.mark.parametrize(
    ("source", "written", "expected"),
    [
        ("um 12 dois", ["one dogs", "One dogs"], "One 12 dogs"),  # there is no word for it
        ("um 2,200 dois", ["one 22, dogs", "one dogs"], "one 2,200, dogs"),
        ("um 15 000", ["one 15 dogs000", "one dogs"], "one dogs 15 000"),
    ],
)
def test_a_number_without_digits_and_without_a_word_is_put_in(
    speller, writes, source, written, expected
):
    writes(speller, *written)
    assert sorted(next(speller([source])).split()) == sorted(expected.split())


def test_a_beams_candidates_stay_in_the_order_of_the_search(network, tokenizer):
    translate = make_translator(network, tokenizer, beam=4, n_best=4)
    for translations in translate.hypotheses(["um {x} dois 4711"]):
        scores = [translation.log_probability for translation in translations]
        bare = next(translate.hypotheses(["um dois"]))
        np.testing.assert_allclose(scores, [row.log_probability for row in bare], rtol=1e-4)
