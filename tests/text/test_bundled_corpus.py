"""What must hold of the bundled corpus (data/): size, variety, and that its grammar writes it."""

import re
import sys

import pytest
from helpers import run_process

from nmt.text import corpora, files

SPLITS = ("train", "validation", "test")


@pytest.fixture(scope="module")
def pairs():
    """All pairs of strings, by split."""
    named = zip(SPLITS, corpora.BUILT_IN_CORPORA["bundled"], strict=True)
    return {split: list(files.read_pairs([path])) for split, path in named}


def words(text):
    """Returns the lower-cased words of a line, without punctuation."""
    return re.findall(r"\w+(?:[-'’]\w+)*", text.lower())


def test_it_is_large_enough_to_learn_from(pairs):
    sizes = [len(pairs[split]) for split in SPLITS]
    assert sizes[0] >= 20_000
    assert sizes[1] >= 1000
    assert sizes[2] >= 1000


def test_no_source_line_is_in_two_splits_or_has_two_translations(pairs):
    sources = [source for split in SPLITS for source, _ in pairs[split]]
    assert len(set(sources)) == len(sources)


def test_both_sides_have_many_word_types(pairs):
    for side in (0, 1):
        types = {word for split in SPLITS for pair in pairs[split] for word in words(pair[side])}
        assert len(types) > 1500


def test_sentences_are_short_and_end(pairs):
    for side in (0, 1):
        lines = [pair[side] for split in SPLITS for pair in pairs[split]]
        lengths = [len(line.split()) for line in lines]
        assert min(lengths) >= 2
        assert max(lengths) <= 25
        assert 8 <= sum(lengths) / len(lengths) <= 10
        assert all(re.search(r"[.?!]\"?$", line) for line in lines)
        assert all(line == " ".join(line.split()) for line in lines)


def test_no_contraction_is_left_open_and_articles_fit(pairs):
    for split in SPLITS:
        for source, target in pairs[split]:
            assert not re.search(r"\b(de|em) (o|a|os|as)\b(?! \w+[aei]r\b)", source), source
            assert not re.search(r"\ba [aeio]\w|\ban [bcdfgjklmnpqrstvwxyz]", target), target


def test_everyday_pairs_are_all_in_it(pairs):
    everyday = list(files.read_pairs([corpora.DATA / "everyday.tsv"]))
    assert len(everyday) >= 400
    assert set(everyday) <= {pair for split in SPLITS for pair in pairs[split]}


@pytest.mark.slow
def test_the_grammar_writes_the_committed_files_byte_for_byte(tmp_path):
    script = corpora.DATA / "make_corpus.py"
    run_process([sys.executable, script, "--out", tmp_path], check=True)
    for split in SPLITS:
        name = f"{split}.tsv"
        assert (tmp_path / name).read_bytes() == (corpora.DATA / "pt_en" / name).read_bytes(), name
