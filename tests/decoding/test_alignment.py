"""What must hold of alignments: links by hand, and those that a trained run gives."""

import json

import numpy as np
import pytest
from helpers import as_dataset, call, make_translator, sentences, small_transformer
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.corpus.vocabulary import train_tokenizer
from nmt.decoding import alignment, batch_sizes, given_pairs, translator
from nmt.decoding.sentence import Candidate, Sentence
from nmt.text import spelling
from nmt.text.tokenizer import Tokenizer
from run_demo import load_translator

SOURCE = ["\u2581o", "\u2581est", "ádio", "\u2581novo", "."]  # 3 words
TARGET = ["\u2581the", "\u2581new", "\u2581sta", "dium."]  # 3 words


def test_tokens_form_words():
    assert alignment.word_numbers(SOURCE) == [0, 1, 1, 2, 2]
    assert alignment.word_numbers(TARGET) == [0, 1, 2, 2]
    assert alignment.word_numbers(["a", "b", "\u2581", "c"]) == [0, 0, 1, 1]
    assert alignment.word_numbers(["a", "\u2581", "\u2581c"]) == [0, 1, 1]
    assert alignment.word_numbers(["\u2581a", "\u2581xx\u2581y", "\u2581c"]) == [0, 1, 3]


def test_attention_is_summed_over_source_tokens_and_averaged_over_target_tokens():
    weights = np.array(
        [
            [0.8, 0.1, 0.0, 0.1, 0.0],
            [0.1, 0.0, 0.1, 0.5, 0.3],
            [0.1, 0.3, 0.3, 0.2, 0.1],
            [0.0, 0.1, 0.8, 0.0, 0.1],
        ]
    )
    word_weights = alignment.attention_by_word(
        weights, *map(alignment.word_numbers, (SOURCE, TARGET))
    )
    np.testing.assert_allclose(word_weights, [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.05, 0.75, 0.2]])
    assert alignment.links(weights, SOURCE, TARGET) == [(0, 0), (1, 2), (2, 1)]


def test_words_that_no_other_attends_to_most_are_linked_from_their_side():
    weights = np.array([[0.6, 0.4], [0.9, 0.1]])
    assert alignment.links(weights, ["\u2581a", "\u2581b"], ["\u2581c", "\u2581d"]) == [
        (0, 0), (0, 1), (1, 0),
    ]  # fmt: skip
    assert alignment.links(np.zeros((0, 2)), ["\u2581a", "\u2581b"], []) == []
    assert alignment.links(np.zeros((1, 1)), ["\u2581a"], ["\u2581b"]) == [(0, 0)]


def test_a_token_of_several_unknown_words_moves_no_later_word():
    words = ["\u2581a", "\u2581x\u2581y", "\u2581b"]
    assert alignment.links(np.eye(3), words, words) == [(0, 0), (1, 1), (3, 3)]


def test_unknown_words_count_as_the_text_has_them():
    vocabulary = Tokenizer(train_tokenizer(as_dataset(sentences(200)), 320, "word", 1))
    text = "um xx yyy dois zz"
    assert vocabulary.surfaces(text) == ["\u2581um", "\u2581xx\u2581yyy", "\u2581dois", "\u2581zz"]
    sizes = dict.fromkeys(("input_vocab_size", "target_vocab_size"), vocabulary.vocab_size)
    translate = make_translator(small_transformer(num_layers=1, **sizes), vocabulary)
    (span_links,) = given_pairs.link_spans(translate.context, [(text, "one two")])
    spans = {text[slice(*link.source)] for link in span_links}
    assert spans == {"um", "xx yyy", "dois", "zz"}
    (links,) = translate.align([(text, "one two")])
    assert {source_word for source_word, _ in links} == {0, 1, 3, 4}


@pytest.mark.slow
def test_alignments_of_translations_and_of_given_pairs(finished, tmp_path, capsys, refusal_of):
    command = ["translate", "--run", finished / "run"]
    lines = ["um dois três.", "quatro.", "", "Um dois. Três quatro."]
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
    assert call(*command, "--alignments", *lines) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [len(row) for row in rows] == [2] * 4
    for line, (text, links) in zip(lines, rows, strict=True):
        pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert {i for i, _ in pairs} == {*range(len(line.split()))}
        assert {j for _, j in pairs} == {*range(len(text.split()))}
    first = len(rows[3][0].split(".")[0].split())  # words of the first sentence
    assert all((i < 2) == (j < first) for i, j in pairs)  # sentences are aligned one by one
    (tmp_path / "out").write_text("".join(f"{text}\n" for text, _ in rows))
    assert call("align", "--run", finished / "run", tmp_path / "in", tmp_path / "out") == 0
    again = capsys.readouterr().out.splitlines()
    assert again[:3] == [links for _, links in rows[:3]]
    assert call(*command, "--alignments", "--format", "jsonl", "um dois.") == 0
    assert json.loads(capsys.readouterr().out)["alignment"]
    assert call(*command, "--alignments", "--beam", "2", "--n-best", "2", "um.") == 2
    assert "only the best translation" in capsys.readouterr().err.splitlines()[-1]
    assert "column" in refusal_of("align", "--run", finished / "run", tmp_path / "in")


def line_of(pairs, spaces, links):
    """Returns the Sentences of a line from their texts and translations, spaces and links."""
    return [
        Sentence(text, space, candidates=[Candidate(translation, 0.0, 0.0)], links=sentence_links)
        for (text, translation), space, sentence_links in zip(pairs, spaces, links, strict=True)
    ]


def test_links_of_sentences_are_numbered_by_the_words_of_their_line():
    links = [(0, 0), (1, 1)]
    three = [("um dois", "one two"), ("três", ""), ("um dois", "one two")]
    line = line_of(three, [" ", "\n", ""], [links, [], links])
    assert alignment.join_links(line) == [(0, 0), (1, 1), (3, 2), (4, 3)]
    glued = [("What?", "Was?"), ("Yes, I do.", "Ja.")]  # "What?Yes, I do." has three words
    line = line_of(glued, ["", ""], [[(0, 0)], [(0, 0), (2, 0)]])
    assert alignment.join_links(line) == [(0, 0), (0, 1), (2, 1)]
    glued = [("一。", "One."), ("二。", "Two.")]  # one word of Chinese, two of English
    line = line_of(glued, ["", ""], [[(0, 0)], [(0, 0)]])
    assert alignment.join_links(line) == [(0, 0), (0, 1)]
    line = line_of([pair[::-1] for pair in glued], [" ", ""], [[(0, 0)]] * 2)
    assert alignment.join_links(line) == [(0, 0), (1, 1)]


def test_a_bar_between_sentences_is_a_word_and_a_code_for_a_line_end_is_none():
    pairs, links = [("um dois", "one two"), ("três", "three")], [[(0, 0), (1, 1)], [(0, 0)]]
    assert alignment.join_links(line_of(pairs, [" | ", ""], links)) == [(0, 0), (1, 1), (3, 3)]
    assert {*alignment.join_links(line_of(pairs, ["\\N", ""], links))} == {(0, 0), (1, 1)}


def test_a_tag_that_begins_each_sentence_is_one_word_of_the_line():
    """Of "<2de> um dois três"; an empty sentence, between two line breaks, has no tag."""
    first, last = ("<2de> um", "eins"), ("<2de> dois três", "zwei drei")
    first_links, last_links = [(0, 0), (1, 0)], [(0, 0), (1, 0), (2, 1)]
    expected = [(0, 0), (1, 0), (2, 1), (3, 2)]
    line = line_of([first, last], [" ", ""], [first_links, last_links])
    assert alignment.join_links(line, "<2de> ") == expected
    line = line_of([first, ("", ""), last], ["\n", "\n", ""], [first_links, [], last_links])
    assert alignment.join_links(line, "<2de> ") == expected


def test_pairs_are_aligned_in_batches_as_alone(finished, monkeypatch):
    """Of unequal lengths, in batches and chunks of a few, one side empty, one cut off."""
    translate = load_translator(finished / "run")
    pairs = [*sentences(20), ("um", ""), ("", "one"), ("um " * 3000, "one two")]
    alone = [next(translate.align([pair], cut=True)) for pair in pairs]
    assert alone[20:22] == [[], []]
    assert max(alone[22])[0] < translator.MAX_SOURCE_TOKENS
    assert len({*map(len, alone)}) > 3
    monkeypatch.setattr(batch_sizes, "BATCH_TOKENS", 64)
    monkeypatch.setattr(given_pairs, "CHUNK_LINES", 7)
    assert list(translate.align(iter(pairs), cut=True)) == alone
    with pytest.raises(UserError, match="pair 23 has more than 2048 tokens on a side"):
        list(translate.align(pairs))


GAPS = [" ", "  ", "\u00a0", "\u3000", "\t", "\u2581", "\u2581 ", "\u200b", "\u00a0\u200b ", ""]


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["um", "dois.", "\u200b", "\u2581", "三。"]), st.sampled_from(GAPS)
        )
    )
)
def test_words_are_those_of_split_whatever_stands_between_them(rows):
    text = "".join(map("".join, rows))
    numbers = alignment.words_as_given(text)
    normal_words = spelling.normal(text).split()
    assert len(numbers) == len(normal_words)
    for number, word in zip(numbers, normal_words, strict=True):
        assert word in spelling.normal(text.split()[number]).split()
    assert numbers == sorted(numbers)


@pytest.fixture(scope="module")
def aligner(finished):
    """A Translator of a run, which gives alignments."""
    return load_translator(finished / "run", alignments=True)


@settings(deadline=None, max_examples=20)
@given(
    st.lists(
        st.tuples(st.sampled_from(["Um dois.", "três", "Nove?", "seis."]), st.sampled_from(GAPS)),
        min_size=1,
    )
)
def test_every_word_of_the_printed_lines_is_linked_by_its_number(aligner, rows):
    """Each source word and each target word has a link, so both sides must be counted alike."""
    line = "".join(map("".join, rows))
    (best,) = next(aligner.hypotheses([line]))
    visible = [n for n, word in enumerate(line.split()) if not spelling.is_blank(word)]
    assert {i for i, _ in best.links} == {*visible}
    assert {j for _, j in best.links} == {*range(len(best.text.split()))}
    (given_links,) = aligner.align([(line, line)])
    assert {i for i, _ in given_links} == {j for _, j in given_links} == {*visible}


def test_a_line_of_many_sentences_is_joined_in_linear_time():
    pairs = [("um dois.", "one two.")] * 20_000
    line = line_of(pairs, [" "] * 20_000, [[(0, 0), (1, 1)]] * 20_000)
    assert alignment.join_links(line) == [(n, n) for n in range(40_000)]


@pytest.mark.parametrize("control", ["\x07", "\x7f", "\x80", "\x85"])
def test_a_control_character_in_a_word_divides_no_word_as_given(control):
    source = f"um d{control}ois três"
    links = [(number, number) for number in range(4)]  # of the normal form, "um d ois três"
    words = len(source.split())
    given = alignment.as_given(links, source, "one t wo three")
    assert given == [(0, 0), (1, 1), (1, 2), (2, 3)] if words == 3 else len(given) == 4
    assert max(i for i, _ in given) < words
