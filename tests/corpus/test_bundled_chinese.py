"""What must hold of the bundled Chinese-English corpus: its text and its splits."""

import re

import pytest
from helpers import languages_of, source_of

from nmt.corpus import corpora, files
from nmt.runs import train_messages
from nmt.runs.folder import Run
from nmt.text import sentences

NAMES = ("train", "validation", "test")


@pytest.fixture(scope="module")
def pairs():
    """All pairs of strings, by split."""
    named = zip(NAMES, corpora.BUILT_IN_CORPORA["bundled-zh"], strict=True)
    return {split: list(files.read_pairs(paths)) for split, paths in named}


def test_no_source_is_twice_or_in_two_splits(pairs):
    assert [len(pairs[split]) for split in NAMES] == [12_000, 500, 500]
    sources = [source for split in NAMES for source, _ in pairs[split]]
    assert len(set(sources)) == len(sources)


def test_the_chinese_is_written_as_chinese(pairs):
    sources = [source for split in NAMES for source, _ in pairs[split]]
    wrong = " |[A-SU-Za-z]|一(书|车|猫|苹果)(?!架|包|店)|(?<!十)二(个|本|只|杯|件|张|点)"
    assert not [source for source in sources if re.search(wrong, source)]
    full_width = sum(source[-1] in "。？！" for source in sources)
    assert 0.85 < full_width / len(sources) < 0.97  # the others are as many people type


def test_the_english_has_capitals_marks_and_articles(pairs):
    slip = r"(?<!')\b(a [aeio]|an [bcdfgjklmnpqrstvwxyz])|[{}\[\]]|  "
    for split in NAMES:
        for source, target in pairs[split]:
            assert re.fullmatch("[A-Z].*[.?!]", target), source
            assert not re.search(slip, target), target


def test_its_languages_decide_on_sentences_and_scores():
    source = {"dataset": "bundled-zh"}
    assert languages_of(source) == ["zh", "en"]
    assert [text for text, _ in sentences.split("你好！我爱你。", "zh")] == ["你好！", "我爱你。"]
    assert languages_of(source | {"reverse": True}) == ["en", "zh"]
    assert (
        source_of(source | {"languages": ["en", "zh"]}).target_language == "zh"
    )  # scored by sacreBLEU's zh


def test_sentences_to_try_are_named_after_training_on_a_bundled_corpus(tmp_path, caplog):
    caplog.set_level("INFO", "nmt")
    for name in ("bundled", "bundled-zh"):
        assert len(corpora.sentences_to_try(name)) == 12
        train_messages.suggest_commands(Run(tmp_path), ["x"], name)
        assert corpora.sentences_to_try(name)[-1] in caplog.text
    caplog.clear()
    train_messages.suggest_commands(Run(tmp_path), ["x"], "mine.tsv")
    assert "to try" not in caplog.text
