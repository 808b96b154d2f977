"""What must hold of the bundled corpus (data/): its splits, and that its text stays as it is."""

import json

import pytest
from helpers import ROOT

from nmt.corpus import corpora, files

SPLITS = ("train", "validation", "test")


@pytest.fixture(scope="module")
def pairs():
    """All pairs of strings, by split."""
    named = zip(SPLITS, corpora.BUILT_IN_CORPORA["bundled"], strict=True)
    return {split: list(files.read_pairs(paths)) for split, paths in named}


def test_its_text_is_what_the_run_that_comes_with_the_program_was_trained_on():
    trained = json.loads((ROOT / "data" / "trained" / "params.json").read_text())
    corpus = corpora.built_in(trained["corpus"]["dataset"])
    hashes = {split: corpora.fingerprint(dataset) for split, dataset in corpus.splits().items()}
    assert hashes == {split: trained[f"{split}_sha256"] for split in SPLITS}


def test_no_source_line_is_in_two_splits_or_has_two_translations(pairs):
    sources = [source for split in SPLITS for source, _ in pairs[split]]
    assert len(set(sources)) == len(sources)


def test_hand_written_pairs_are_all_in_it(pairs):
    everything = {pair for split in SPLITS for pair in pairs[split]}
    for name in ("everyday", "beginner"):
        assert {*files.read_pairs([corpora.DATA / f"{name}.tsv"])} <= everything
    assert {*files.read_pairs([corpora.DATA / "phrases.tsv"])} <= {*pairs["train"]}


# ---- What bundled-conversation adds ----


@pytest.fixture(scope="module")
def conversation():
    """The pairs that it adds to the training split."""
    return list(files.read_pairs([corpora.DATA / "pt_en" / "conversation.tsv"]))


def test_conversation_is_added_to_training_alone(pairs, conversation):
    corpus = corpora.built_in("bundled-conversation")
    assert sorted(corpus.train) == sorted(pairs["train"] + conversation)
    assert [*corpus.test] == pairs["test"]


def bare(source):
    return source.lower().rstrip(".!?")


def test_no_source_of_conversation_is_elsewhere_but_for_its_mark(pairs, conversation):
    others = {source.lower().rstrip(".!") for split in SPLITS for source, _ in pairs[split]}
    sources = [source.lower().rstrip(".!") for source, _ in conversation]
    assert len({*sources}) == len(sources)
    assert others.isdisjoint(sources)


@pytest.mark.parametrize("name", ["independent", "learners"])
def test_no_sentence_of_the_benchmarks_is_in_conversation(conversation, name):
    path = corpora.DATA.parent / "benchmarks" / f"{name}_sentences.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    asked = {bare(line.split("\t")[0]) for line in lines}
    assert len(asked) >= 100
    assert asked.isdisjoint(bare(source) for source, _ in conversation)
