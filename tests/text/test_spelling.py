"""What must hold of spellings: text that a reader cannot tell apart has the same tokens."""

import itertools
import re
import unicodedata

import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
import tensorflow_text as tf_text
from helpers import as_dataset, in_graph, sentences
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sentencepiece.sentencepiece_model_pb2 import ModelProto

import run_demo
from nmt.exports import graph_tokenizer
from nmt.text import spelling

TEXT = (
    "Čeština, Übergröße, Việt Nam ệ ǖ ở ḗ, naïve ação — 한국어 각 がぎ пёй ქართ हिन्दी क़ 1º m² ½ ™"
)
OTHER_SPACES = (
    "\t\v\f\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2000\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
MARKS = "\u00ad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060"
MARKS += "\u2061\u2064\u2066\u2067\u2068\u2069\u206a\u206f\ufeff\ufff9\ufffb\U0001bca0\U0001d173"


@pytest.fixture(scope="module")
def tokenizer():
    """A tokenizer of numbers and TEXT."""
    pairs = [*sentences(200), (TEXT, TEXT)]
    return run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(pairs), 600))


def all_ids(tokenizer, text):
    """Returns the ids of a text by Python, by TensorFlow, and by the vocabulary alone in both."""
    alone = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    graph_alone = tf_text.SentencepieceTokenizer(tokenizer.model, add_bos=True, add_eos=True)
    return [
        tokenizer.encode([text])[0],
        in_graph(tokenizer, text),
        alone.encode(text, add_bos=True, add_eos=True),
        graph_alone.tokenize(text).numpy().tolist(),
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: unicodedata.normalize("NFD", text),
        *(lambda text, space=space: text.replace(" ", space) for space in OTHER_SPACES + "\u2581"),
        *(lambda text, mark=mark: f"{mark}{mark.join(text)}{mark}" for mark in MARKS),
        lambda text: text.replace("ệ", "e\u0302\u0323"),
        lambda text: text.replace("ệ", "\u00ea\u0323").replace("ở", "o\u0309\u031b"),
        lambda text: text.replace("각", "\uac00\u11a8").replace("ǖ", "ü\u0304"),
    ],
)
def test_a_text_has_the_same_tokens_however_it_is_spelled(tokenizer, change):
    ids = tokenizer.encode([TEXT])[0]
    assert change(TEXT) != TEXT
    assert all_ids(tokenizer, change(TEXT)) == [ids] * 4
    assert tokenizer.decode(np.array([ids])) == [unicodedata.normalize("NFC", TEXT)]


LETTERS = (
    "abeo Aeu .,1ºm²½™ éüệ각한ग़が\u0301\u0323\u0302\u0304\u0327\u05b0\u05bc\u0651\u064e\u200d\u200c"
)
SOME_TEXT = st.text(st.sampled_from(LETTERS) | st.characters(exclude_categories=["Cs"]))


@settings(deadline=None, max_examples=100)
@given(text=SOME_TEXT, space=st.sampled_from(OTHER_SPACES), data=st.data())
@example("a\u0316\u0301", "\t", None)  # composed around another mark
def test_any_text_has_the_tokens_of_its_other_spellings(tokenizer, text, space, data):
    ids = tokenizer.encode([text])[0]
    assert in_graph(tokenizer, text) == ids
    assert tokenizer.encode([unicodedata.normalize("NFD", text)])[0] == ids
    assert tokenizer.encode([text.replace(" ", space)])[0] == ids
    if data:
        mark, place = data.draw(st.sampled_from(MARKS)), data.draw(st.integers(0, len(text)))
        marked = text[:place] + mark + text[place:]
        assert tokenizer.encode([marked])[0] == ids
        assert in_graph(tokenizer, marked) == ids
    (back,) = tokenizer.decode(np.array([ids]))
    unseen = re.compile(f"[{MARKS}]")
    expected = re.sub(f"[{OTHER_SPACES}\u2581\\s\x00-\x1f\x7f-\x9f]", " ", unseen.sub("", text))
    assert back == unicodedata.normalize("NFC", expected)


def test_the_vocabulary_alone_knows_every_spelling_of_every_character(tokenizer):
    """As in an export to CTranslate2, where no other code of this program runs."""
    normalizer = ModelProto.FromString(tokenizer.model).normalizer_spec
    assert normalizer.precompiled_charsmap
    assert not normalizer.normalization_rule_tsv
    processor = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    characters = [chr(n) for n in range(1, 0x30000) if not 0xD800 <= n < 0xE000]
    decomposed = [unicodedata.normalize("NFD", character) for character in characters]
    for spelled, character in zip(characters + decomposed, characters * 2, strict=True):
        if not spelling.INVISIBLE_CHARACTER.match(spelled):
            is_space = re.match(f"[{spelling.SPACES}]", spelled)  # without control characters
            expected = " " if is_space else character
            expected = unicodedata.normalize("NFC", expected)
            assert processor.normalize(f"({spelled})") == f"▁({expected})".replace(" ", "▁")


def test_accents_in_any_order_that_makes_the_same_letter_are_that_letter(tokenizer):
    processor = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    for letter in "ậệộặợữǘṩḹ":
        base, *marks = unicodedata.normalize("NFD", letter)
        for order in itertools.permutations(marks):
            text = base + "".join(order)
            if unicodedata.normalize("NFC", text) == letter:
                assert processor.normalize(text) == f"▁{letter}"


def test_what_carries_meaning_stays():
    for text in ("1º m² ½ ™ ﬁ Ａ", "two  spaces", "می\u200cخواهم", "👨\u200d👩\u200d👧 ❤\ufe0f"):
        assert spelling.normal(text) == text
    assert spelling.trimmed("  two  spaces ") == "two  spaces"


CHANGED_CHARACTERS = ("SPACE_CHARACTER", "INVISIBLE_CHARACTER", "LINE_ENDS", "UNPRINTED_SPACE")


@pytest.mark.parametrize(
    "text", ["", *"\u200b\ufeff\u00ad\u2060\u2581\u00a0\u3000\u2028\u200d\t\x00"]
)
def test_text_that_shows_nothing_is_blank(text):
    for blank in (text, f" {text} ", f"{text}\u200b\u3000{text}"):
        assert spelling.is_blank(blank)
        assert spelling.trimmed(blank) == ""
        assert graph_tokenizer.trimmed(tf.constant([blank])).numpy()[0] == b""
        assert not spelling.is_blank(f"{blank}.")


def test_a_plain_text_holds_nothing_that_a_spelling_changes():
    changed = [getattr(spelling, name) for name in CHANGED_CHARACTERS]
    for character in map(chr, range(0x110000)):
        if character != " " and any(pattern.match(character) for pattern in changed):
            assert not spelling.is_plain(f"a{character}")
    assert spelling.is_plain("É 1º m² ½ 你好")


def test_graphs_know_the_same_characters():
    characters = [chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000]
    expected = [spelling.normal(character).encode() for character in characters]
    assert graph_tokenizer.normal(tf.constant(characters)).numpy().tolist() == expected
    expected = [spelling.trimmed(character).encode() for character in characters]
    assert graph_tokenizer.trimmed(tf.constant(characters)).numpy().tolist() == expected


def test_a_vocabulary_without_these_rules_has_them_in_front(monkeypatch):
    """As one that an older version, or another program, has learned."""
    monkeypatch.setattr(spelling, "rules", lambda: "2581\t20\n")
    pairs = [*sentences(200), (TEXT, TEXT)]
    older = run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(pairs), 600))
    ids = older.encode([TEXT])[0]
    for text in (unicodedata.normalize("NFD", TEXT), TEXT.replace(" ", "\u00a0"), f"\ufeff{TEXT}"):
        by_python, by_graph, alone, _ = all_ids(older, text)
        assert by_python == by_graph == ids
        assert alone != ids
