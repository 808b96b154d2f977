"""What must hold of symbols in a search: each is in a translation as often as in its source."""

import numpy as np
import pytest
import tensorflow as tf
from helpers import as_dataset, make_translator, randomized, searcher_of, sentences

from nmt import UserError, messages
from nmt.corpus.vocabulary import train_tokenizer
from nmt.decoding import searcher
from nmt.decoding.copied_symbols import CopiedSymbols, forbid
from nmt.decoding.search_options import Sampling
from nmt.text.tokenizer import Tokenizer
from transformer_model import END, MASKED, PAD, START, Transformer

SYMBOLS = CopiedSymbols(range(END + 1, END + 4))  # A, B, C
A, B, C, WORD = END + 1, END + 2, END + 3, END + 4


def restricted(required, ids, likely, left=9):
    """Returns what may follow `ids`: log-probabilities (5,) of END, A, B, C and WORD."""
    likely = tf.constant([[[-90.0] * END + likely]])  # (1, 1, V)
    result = SYMBOLS.restrict(
        likely, tf.constant([[ids]]), tf.constant([required]), tf.constant([left])
    )
    return result[0, 0, END:].numpy().tolist()


def test_symbols_are_counted():
    ids = tf.constant([[START, A, WORD, A, C, END, PAD]])
    assert SYMBOLS.count(ids).numpy().tolist() == [[2, 0, 1]]


def test_a_missing_symbol_takes_the_place_of_the_end():
    likely = [-0.5, -9.0, -7.0, -2.0, -1.0]
    assert restricted([1, 1, 0], [START], likely) == [MASKED, -9.0, -0.5, MASKED, -1.0]


def test_a_symbol_that_is_likelier_than_the_end_keeps_its_probability():
    likely = [-8.0, -9.0, -7.0, -2.0, -1.0]
    assert restricted([2, 1, 0], [START, A, PAD], likely) == [MASKED, -9.0, -7.0, MASKED, -1.0]


def test_nothing_is_left_but_the_end_and_words_once_all_symbols_are_there():
    likely = [-0.5, -9.0, -7.0, -2.0, -1.0]
    log_probabilities = restricted([1, 1, 0], [START, B, A], likely)
    assert log_probabilities == [-0.5, MASKED, MASKED, MASKED, -1.0]


def test_nothing_but_missing_symbols_can_follow_where_as_few_tokens_are_left():
    likely = [-0.5, -9.0, -7.0, -2.0, -1.0]
    expected = [MASKED, -9.0, -0.5, MASKED, MASKED]
    assert restricted([2, 1, 0], [START], likely, left=3) == expected
    assert restricted([2, 1, 0], [START], likely, left=4)[-1] == -1.0


def test_symbols_may_follow_other_entries_of_a_vocabulary():
    appended = CopiedSymbols(range(END + 3, END + 5))
    likely = tf.constant([[[-90.0] * END + [-0.5, -1.0, -2.0, -7.0, -9.0, -3.0]]])
    arguments = tf.constant([[[START]]]), tf.constant([[1, 0]]), tf.constant([9])
    result = appended.restrict(likely, *arguments)[0, 0, END:].numpy().tolist()
    assert result == [MASKED, -1.0, -2.0, -0.5, MASKED, -3.0]


def test_each_row_has_symbols_of_its_own():
    likely = tf.zeros((2, 2, 8))
    ids = tf.constant([[[START, A], [START, WORD]], [[START, A], [START, B]]])
    result = SYMBOLS.restrict(likely, ids, tf.constant([[1, 0, 0], [0, 1, 0]]), tf.constant([9, 9]))
    result = result.numpy()
    may_end = result[..., END] == 0
    np.testing.assert_array_equal(may_end, [[True, False], [False, True]])


def test_a_row_that_needs_no_symbol_gets_none_and_is_as_it_would_be_alone():
    likely = tf.random.stateless_normal((2, 2, 8), seed=(1, 2))
    ids = tf.constant([[[START, A], [START, WORD]]] * 2)
    result = SYMBOLS.restrict(likely, ids, tf.constant([[0, 0, 0], [0, 1, 0]]), tf.constant([9, 9]))
    np.testing.assert_array_equal(result[0], forbid(likely, SYMBOLS.ids)[0])
    np.testing.assert_array_equal(result[0, :, A : C + 1], MASKED)
    np.testing.assert_array_equal(result[0, :, WORD:], likely[0, :, WORD:])
    assert (result[1] != likely[1]).numpy().any()


# ---- Translations ----

SIZES = dict(num_layers=1, d_model=16, num_heads=2, dff=32, rate=0.0)
LINES = [
    "{name}: 4711 um dois.",
    "três",
    "%s %s %d http://a.b/c",
    " ".join(map(str, range(1000, 1013))),
]


def random_model(tokenizer):
    """Returns a Transformer of random weights, which ends its translations early."""
    size = tokenizer.vocab_size
    transformer = Transformer(**SIZES, input_vocab_size=size, target_vocab_size=size)
    transformer.build(((None, None), (None, None)))
    randomized(transformer)
    kernel, bias = transformer.final_layer.get_weights()
    bias[END] += 3
    transformer.final_layer.set_weights([kernel, bias])
    return transformer


@pytest.fixture(scope="module")
def tokenizer():
    """A tokenizer with symbols."""
    pairs = [
        (f"{n} {source}", f"{n} {target}") for n, (source, target) in enumerate(sentences(1000))
    ]
    return Tokenizer(train_tokenizer(as_dataset(pairs), 330))


@pytest.fixture(scope="module")
def model(tokenizer):
    return random_model(tokenizer), tokenizer


@pytest.fixture(scope="module")
def translate(model):
    return make_translator(*model)


@pytest.mark.parametrize("search", ["greedy", "beam and ensemble", "sampling"])
def test_no_search_loses_or_repeats_what_must_not_change(model, translate, search):
    if search == "beam and ensemble":
        translate = make_translator(*model, beam=3, n_best=3, ensemble=(random_model(model[1]),))
    elif search == "sampling":
        translate = make_translator(*model, sampling=Sampling(), n_best=2)
    for line, translations in zip(LINES, translate.hypotheses(LINES), strict=True):
        for translation in translations:
            for span in ("{name}", "4711", "%s", "%d", "http://a.b/c", "1001", "1012"):
                assert translation.text.count(span) == line.count(span)


def test_a_prefix_holds_symbols_too(translate):
    (translations,) = translate.hypotheses(["um 4711 {x}"], prefixes=["{x} ⟦3⟧"])
    text = translations[0].text
    assert text.startswith("{x} ⟦3⟧")
    assert text.count("{x}") == text.count("4711") == 1


def test_lines_without_symbols_are_searched_for_as_before(model, translate, monkeypatch):
    lines = ["um dois", "três"]
    monkeypatch.delattr(CopiedSymbols, "restrict")
    assert [*translate(lines)] == [*make_translator(*model, protect=False)(lines)]


@pytest.mark.parametrize("search", ["greedy", "unscored", "beam", "sampling", "prefix"])
def test_no_search_invents_a_symbol(tokenizer, search):
    model = random_model(tokenizer)
    kernel, bias = model.final_layer.get_weights()
    bias[list(tokenizer.symbol_ids)] += 9  # as after training on nothing but pairs with symbols
    model.final_layer.set_weights([kernel, bias])
    options = dict(beam=dict(beam=3, n_best=2), sampling=dict(sampling=Sampling()))
    translate = make_translator(model, tokenizer, **options.get(search, {}))
    sources = tokenizer.encode(["um dois", "três"])
    prefixes = [[300], [301]] if search == "prefix" else ()
    ids = searcher_of(translate).search(sources, prefixes, scored=search != "unscored").ids.numpy()
    assert not np.isin(ids, list(tokenizer.symbol_ids)).any()


def test_what_a_pattern_names_is_in_the_translation(model):
    assert "três" in next(make_translator(*model, patterns=("tr.s",))(["um três"]))


def test_what_cannot_be_repaired_is_reported(model, capsys, monkeypatch):
    messages.show()
    translate = make_translator(*model, plain=True)
    monkeypatch.setattr(searcher, "greedy_translate", lambda *_: tf.constant([[START, 300, END]]))
    list(translate(["4711"]))
    assert "1 of 1 line: other numbers" in capsys.readouterr().err


def test_a_pattern_contradicts_no_protection(model):
    with pytest.raises(UserError, match="contradict protect=False"):
        make_translator(*model, patterns=("x",), protect=False)
