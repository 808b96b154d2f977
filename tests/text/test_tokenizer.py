"""What must hold of the vocabulary: any text comes back, and a short text gets a small one."""

import random
import tempfile

import numpy as np
import pytest
from helpers import as_dataset, in_graph, sentences
from hypothesis import given, settings
from hypothesis import strategies as st

import run_demo
import transformer_model
from nmt import UserError
from nmt.text import special_tokens, spelling
from nmt.text import tokenizer as tokenizing
from nmt.text.tokenizer import Tokenizer, with_symbols
from transformer_model import END, PAD, START


def test_every_text_has_start_first_and_end_last(tokenizer):
    ids = tokenizer.encode(["um dois.", ""])
    assert all(row[0] == START and row[-1] == END for row in ids)
    assert ids[1] == [START, END]


@pytest.mark.parametrize("name", ["PAD", "UNKNOWN", "START", "END"])
def test_special_tokens_have_the_ids_of_the_story(name):
    assert getattr(special_tokens, name) == getattr(transformer_model, name)


WORDS = '<s> </s> <pad> <unk> <0x41> um dois 汉字 😀 עברית ação & "q" 1º m² ½ … ， \u3000 e\u0301'


@settings(deadline=None, max_examples=300)
@given(text=st.lists(st.one_of(st.sampled_from([*WORDS.split(" "), " "]), st.text())))
def test_any_text_of_unicode_is_given_back_as_it_was(tokenizer, text):
    text = " ".join(text)
    ids = tokenizer.encode([text])
    assert not set(ids[0][1:-1]) & {PAD, START, END}
    assert in_graph(tokenizer, text) == ids[0]
    assert tokenizer.decode(np.array(ids)) == [spelling.printed(spelling.normal(text))]


def test_the_vocabulary_learns_from_lines_however_long():
    line = " ".join(text for pair in sentences(300) for text in pair)  # some 8 KB
    assert len(line) > 4192
    model = run_demo.train_tokenizer(as_dataset([(line, line)]), 320)
    tokenizer = run_demo.Tokenizer(model)
    assert len(tokenizer.encode(["quatro seven"])[0]) < 2 + len("quatro seven")


def test_decoding_leaves_no_trace_of_padding_and_never_breaks_a_line(tokenizer):
    (ids,) = tokenizer.encode(["um dois."])
    newline = tokenizer.tokens(range(320)).index("<0x0A>")
    assert tokenizer.decode(np.array([[*ids, PAD, PAD]])) == ["um dois."]
    (broken,) = tokenizer.decode(np.array([[START, ids[1], newline, ids[1], END]]))
    assert "\n" not in broken
    for text in "\x00\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029":  # spelled in bytes
        spelled = [f"<0x{byte:02X}>" for byte in text.encode()]
        numbers = [tokenizer.tokens(range(320)).index(token) for token in spelled]
        (broken,) = tokenizer.decode(np.array([[START, ids[1], *numbers, ids[1], END]]))
        assert broken.splitlines() == [broken]
        assert text not in broken


def test_equal_text_gives_an_equal_vocabulary_byte_for_byte(monkeypatch):
    """Of a sample, too; no name of a temporary file is in it."""
    monkeypatch.setattr(tokenizing, "MAX_LINES", 100)
    first, second = (run_demo.train_tokenizer(as_dataset(sentences(300)), 320) for _ in range(2))
    assert first == second
    assert tempfile.gettempdir().encode() not in first


def test_a_small_corpus_lowers_the_vocabulary_and_a_large_wish_is_no_error():
    model = run_demo.train_tokenizer(as_dataset(sentences(20)), 8192)
    assert 256 < run_demo.Tokenizer(model).vocab_size < 500


def test_the_vocabulary_has_at_least_so_many_words_per_entry(monkeypatch):
    monkeypatch.setattr(tokenizing, "MIN_VOCABULARY", 0)
    pairs = as_dataset(sentences(400))
    words = sum(len(side.split()) for pair in sentences(400) for side in pair)
    for each in (7, 8):
        model = run_demo.train_tokenizer(pairs, 8192, words_per_piece=each)
        assert run_demo.Tokenizer(model).vocab_size == words // each


def test_the_vocabulary_is_learned_from_a_bounded_sample(monkeypatch):
    monkeypatch.setattr(tokenizing, "MAX_LINES", 10)
    seen = {}
    trainer = tokenizing.sentencepiece.SentencePieceTrainer

    def spy(sentence_iterator, **options):
        seen["lines"] = list(sentence_iterator)
        return original(sentence_iterator=iter(seen["lines"]), **options)

    original = trainer.train
    monkeypatch.setattr(trainer, "train", spy)
    pairs = sentences(100)
    run_demo.train_tokenizer(as_dataset(pairs), 320)
    lines = seen["lines"]
    assert len(lines) == 10
    assert not set(lines) <= {text for pair in pairs[:10] for text in pair}  # not just the first


def test_symbols_are_single_entries_wherever_they_stand():
    model = run_demo.train_tokenizer(
        as_dataset(sentences(300)), 320, symbols="<2de> <2fr> ((x)) <2de>"
    )
    tokenizer = run_demo.Tokenizer(model)
    assert tokenizer.vocab_size == 320
    (ids,) = tokenizer.encode(["<2de> um((x)) dois.<2fr>"])
    tokens = tokenizer.tokens(ids)
    assert [tokens.count(symbol) for symbol in ("<2de>", "<2fr>", "((x))")] == [1, 1, 1]
    assert tokenizer.decode(np.array([ids])) == ["<2de> um((x)) dois.<2fr>"]
    assert in_graph(tokenizer, "<2de> um((x)) dois.<2fr>") == ids


def test_more_symbols_follow_the_entries_of_a_vocabulary_whose_ids_stay(tokenizer):
    size = tokenizer.vocab_size
    extended = Tokenizer(with_symbols(tokenizer.model, ["<a>", "<med>", "dois"]))
    assert extended.vocab_size == size + 3 == len({*extended.tokens(range(size + 3))})
    assert extended.tokens(range(size)) == tokenizer.tokens(range(size))
    assert extended.words == ["<a>", "<med>", "dois"]
    assert extended.encode(["um três."]) == tokenizer.encode(["um três."])
    (ids,) = extended.encode(["<med> três <a>"])
    assert {size, size + 1} <= {*ids}
    assert in_graph(extended, "<med> três <a>") == ids
    assert extended.decode(np.array([ids])) == ["<med> três <a>"]
    assert with_symbols(extended.model, ["<med>"]) == extended.model


@pytest.mark.parametrize("symbols", ["<s>", "x </s>", "<unk>", "<pad>", "<0x0A>", "a\u2581b"])
def test_symbols_that_sentencepiece_uses_itself_are_refused(symbols):
    with pytest.raises(UserError, match=r"--symbols .*: has a meaning of its own"):
        run_demo.train_tokenizer(as_dataset(sentences(50)), 320, symbols=symbols)


HAN = [chr(number) for number in range(0x4E00, 0x4E00 + 3000)]


def chinese(lines, rng):
    """Returns sentences of words of two characters each, some of them often, all of them twice."""
    words = ["".join(rng.choices(HAN, weights=range(3000, 0, -1), k=2)) for _ in range(5000)]
    often = [rng.choices(words, weights=range(5000, 0, -1), k=10) for _ in range(lines)]
    return [*often, *(HAN[start : start + 10] for start in range(0, 3000, 10))] * 2


def test_text_without_spaces_has_the_vocabulary_of_the_same_words_with_spaces():
    lines = chinese(1500, random.Random(1))
    sizes = []
    for space in ("", " "):
        pairs = as_dataset([(space.join(line), "one") for line in lines])
        model = run_demo.train_tokenizer(pairs, 8192, words_per_piece=4)
        sizes.append(run_demo.Tokenizer(model).vocab_size)
    assert sizes[0] > 3600
    assert sizes[0] == pytest.approx(sizes[1], rel=0.35)  # words of two characters, not of 1.6


def test_characters_that_occur_often_are_entries_however_many_there_are():
    """Of 100,000 common characters, 0.05% are as many as 50 other ones."""
    rare = [character for character in HAN[:45] for _ in range(20)]
    once = HAN[45:100]
    lines = ["um dois três quatro"] * 100_000 + ["".join(rare), "".join(once)]
    model = run_demo.train_tokenizer(as_dataset([(line, "one") for line in lines]), 8192)
    tokenizer = run_demo.Tokenizer(model)
    entries = {*tokenizer.tokens(range(tokenizer.vocab_size))}
    assert {*rare} <= entries
    assert not {*once} & entries  # left to bytes


def test_of_too_many_characters_the_most_frequent_are_entries():
    frequent, rare = HAN[:500], HAN[500:2500]
    lines = ["".join(frequent)] * 300 + ["".join(rare)]
    pairs = as_dataset([(line, "one") for line in lines])
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(pairs, 1000))
    entries = {*tokenizer.tokens(range(tokenizer.vocab_size))}
    assert tokenizer.vocab_size == 1000
    assert {*frequent} <= entries
    assert len({*rare} & entries) < 100


def test_a_language_has_as_many_tokens_beside_chinese_as_beside_a_language_with_an_alphabet():
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(3000)]
    english = [" ".join(rng.choices(words, k=10)) for _ in range(4000)]
    lengths = []
    for characters in (HAN, HAN[:30]):
        other = ["".join(rng.choices(characters, k=16)) for _ in english]
        pairs = as_dataset([*zip(english, other, strict=True)])
        model = run_demo.train_tokenizer(pairs, 8192, words_per_piece=20)
        lengths.append(sum(map(len, run_demo.Tokenizer(model).encode(english))))
    assert lengths[0] == pytest.approx(lengths[1], rel=0.1)


def test_the_first_tokens_of_a_long_line_are_those_of_the_whole_line(tokenizer):
    text = " ".join(source for source, _ in sentences(1000))
    whole, beginning = (tokenizer.encode([text], number)[0] for number in (None, 100))
    assert beginning[:101] == whole[:101]
    assert 100 < len(beginning) < len(whole)
    words = run_demo.Tokenizer(run_demo.train_tokenizer(as_dataset(sentences(50)), 60, "word"))
    assert words.token_bytes == 0  # an unknown word of any length is one token
    assert len(words.encode(["x" * 100_000 + " um um"], 3)[0]) == 5


def test_a_string_in_place_of_a_list_is_refused_and_not_taken_letter_by_letter(tokenizer):
    with pytest.raises(UserError, match=r"write \[text\]"):
        tokenizer.encode("um dois")
