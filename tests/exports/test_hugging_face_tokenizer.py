"""What must hold of tokenizer.json: any text gets the ids that the program gives."""

import json

import pytest
import tokenizers
from helpers import as_dataset, sentences
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.corpus.vocabulary import train_tokenizer
from nmt.exports import hugging_face_tokenizer as exporting
from nmt.text import spelling
from nmt.text.tokenizer import Tokenizer

TEXTS = [
    "um dois três.", "  dois   espaços  ", "cafe\u0301 e ação", "e\u0323\u0302", "", "😀 日本語 x",
    "Olá </s> <pad> <unk> mundo", "a\u200bb c\u00a0d", "a\u2581b", "<2de> um", "um<2de>dois",
    "<2de><2fr> sete", "1º m²", "<0x41>", "a\tb", "ﬁ Ａ",
]  # fmt: skip


def vocabularies():
    """Yields Tokenizers: with symbols that are never split, and without."""
    pairs = as_dataset([*sentences(300), ("<2de> ação {x}", "<2fr> action <2de>x {x}")] * 2)
    for symbols in ("", "<2de> <2fr> {x} <2d"):
        yield Tokenizer(train_tokenizer(pairs, 380, words_per_piece=1, symbols=symbols))


@pytest.fixture(scope="module", params=[0, 1], ids=["plain", "symbols"])
def both(request):
    """A Tokenizer, and the same read from tokenizer.json."""
    tokenizer = list(vocabularies())[request.param]
    description = exporting.tokenizer_description(tokenizer)
    loaded = tokenizers.Tokenizer.from_str(json.dumps(description))
    loaded.encode_special_tokens = True  # as split_special_tokens of tokenizer_config.json says
    return tokenizer, loaded


def same(both, text):
    tokenizer, loaded = both
    (ids,) = tokenizer.encode([spelling.trimmed(text)])
    return loaded.encode(text).ids == ids and loaded.decode(ids) == tokenizer.processor.decode(ids)


@pytest.mark.parametrize("text", TEXTS)
def test_text_gets_the_ids_of_the_program_and_becomes_text_again(both, text):
    assert same(both, text)


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20))
def test_any_text_gets_the_ids_of_the_program(both, text):
    assert spelling.is_blank(text) or same(both, text)


def test_a_merge_joins_two_known_pieces_and_the_likeliest_comes_first():
    assert exporting.merges(["a", "b", "c", "ab", "abc", "bc"], [-9, -9, -9, -2, -3, -1]) == [
        ("b", "c"), ("a", "b"), ("a", "bc"), ("ab", "c")
    ]  # fmt: skip


def test_a_vocabulary_of_words_is_refused():
    tokenizer = Tokenizer(train_tokenizer(as_dataset(sentences(50)), 100, pieces="word"))
    with pytest.raises(UserError, match="--pieces bpe"):
        exporting.tokenizer_description(tokenizer)
