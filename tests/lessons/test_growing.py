"""What must hold of the growing network: each part does what its step says, and no more."""

import builtins

import numpy as np
import pytest

import transformer_model as model
from lessons import ablation, growing
from transformer_model import END, PAD, START

VOCAB_SIZE = 24
VERSIONS = [*dict.fromkeys(step.version for step in growing.GROWTH)]
WITHOUT_RESIDUALS = growing.two_layers_without_residuals
SOURCE = np.array([[START, 7, 5, 9, 6, END]], np.int32)
ANAGRAM = np.array([[START, 9, 6, 5, 7, END]], np.int32)
TARGET = np.array([[START, 6, 9, 6, 7]], np.int32)
versions = pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.__name__)


def network_of(version):
    """Returns a new network of a version, whose biases are not 0."""
    network = version(VOCAB_SIZE)
    network.build(None)
    random = np.random.default_rng(1)
    for weight in network.trainable_variables:
        weight.assign(weight + 0.1 * random.normal(size=weight.shape))
    return network


def logits_of(network, source=SOURCE, target=TARGET):
    """Returns the logits (T, V) of one source and target."""
    return network((source, target))[0].numpy()[0]


def is_same(logits, other_logits):
    return np.allclose(logits, other_logits, atol=1e-4)


@versions
def test_a_version_predicts_logits_for_each_target_position(version):
    assert logits_of(network_of(version)).shape == (TARGET.shape[1], VOCAB_SIZE)


@versions
def test_padding_of_the_source_changes_no_logits(version):
    network = network_of(version)
    padded = np.pad(SOURCE, ((0, 0), (0, 3)), constant_values=PAD)
    assert is_same(logits_of(network, padded), logits_of(network))


@pytest.mark.parametrize("version", VERSIONS[1:], ids=lambda version: version.__name__)
def test_a_version_differs_from_the_last_by_ten_lines_at_most(version):
    assert 3 <= len(growing.code_of(version)) <= 10


def test_the_code_that_is_shown_has_no_docstrings():
    code = growing.code_of(growing.LookAheadMask)
    assert code == [
        "class LookAheadMask(TargetSelfAttention):",
        "    def mask(self, size):",
        "        return model.create_look_ahead_mask(size)",
    ]


def test_a_bag_of_words_and_ten_sub_layers_without_residuals_predict_the_same_at_all_positions():
    for version in VERSIONS:
        logits = logits_of(network_of(version))
        one_for_all = version in (growing.BagOfWords, WITHOUT_RESIDUALS)
        assert is_same(logits, logits[:1]) == one_for_all, version


def test_the_token_before_decides_until_there_are_positions():
    """Positions 1 and 3 of the target hold the same token."""
    for version in {*VERSIONS} - {growing.BagOfWords, WITHOUT_RESIDUALS}:
        logits = logits_of(network_of(version))
        assert is_same(logits[1], logits[3]) == (version is growing.PreviousToken), version


def test_means_confuse_anagrams_and_attention_does_not():
    means = {growing.BagOfWords, growing.PreviousToken, growing.Positions}
    for version in {*VERSIONS} - {WITHOUT_RESIDUALS}:
        network = network_of(version)
        assert is_same(logits_of(network), logits_of(network, ANAGRAM)) == (version in means)


@pytest.mark.parametrize(
    ("version", "reads_others"),
    [(growing.CrossAttention, False), (growing.SourceSelfAttention, True)],
)
def test_self_attention_lets_a_source_token_read_the_others(version, reads_others):
    network = network_of(version)
    other = SOURCE.copy()
    other[0, 4] = 8
    first, second = (
        network.read_source(ids, model.create_padding_mask(ids)).numpy()[0, 1]
        for ids in (SOURCE, other)
    )
    assert is_same(first, second) == (not reads_others)


def test_only_without_the_look_ahead_mask_do_later_tokens_change_a_prediction():
    other = TARGET.copy()
    other[0, 3:] = 8
    for version in VERSIONS:
        network = network_of(version)
        logits, other_logits = logits_of(network), logits_of(network, target=other)
        sees_answer = version is growing.TargetSelfAttention
        assert is_same(logits[:3], other_logits[:3]) == (not sees_answer), version


def test_earlier_tokens_than_the_last_count_with_self_attention_of_the_target():
    other = TARGET.copy()
    other[0, 1] = 8
    for version in {*VERSIONS} - {WITHOUT_RESIDUALS}:
        network = network_of(version)
        logits, other_logits = logits_of(network)[2:], logits_of(network, target=other)[2:]
        reads_all = version in VERSIONS[VERSIONS.index(growing.TargetSelfAttention) :]
        assert is_same(logits, other_logits) == (not reads_all), version


def test_the_last_step_is_the_network_of_the_story():
    before = model.EncoderLayer
    without = growing.two_layers_without_residuals(VOCAB_SIZE)
    whole = growing.GROWTH[-1].version(VOCAB_SIZE)
    assert type(whole) is type(without) is model.Transformer
    assert {type(layer) for layer in whole.encoder.enc_layers} == {before}
    assert {type(layer) for layer in without.encoder.enc_layers} == {
        ablation.EncoderLayerWithoutResiduals
    }
    assert whole.config == without.config


@pytest.fixture
def few(monkeypatch):
    """A test of few words, and little training."""
    monkeypatch.setattr(growing, "TESTS", 12)
    monkeypatch.setattr(growing, "STEPS", {"words": 2})
    growing.task_of.cache_clear()
    yield
    growing.task_of.cache_clear()


def test_words_are_tested_first(few):
    inp, tar = growing.task_of("words").test
    sides = [[growing.text_of(ids, "words") for ids in side] for side in (inp, tar)]
    assert len(sides[0]) == 12
    assert tuple(sides[0][:3]) == growing.WORDS
    assert sides[1] == [word[::-1] for word in sides[0]]
    assert growing.text_of(np.array([START, 4, 5]), "words") == "ab..."
    assert [growing.has_letter_twice(ids) for ids in inp[:3]] == [False, False, True]


def test_a_step_asks_before_it_shows_and_ends_with_a_table(few, monkeypatch, capfd):
    prompts = []

    def answer(prompt):
        prompts.append(capfd.readouterr().out)

    monkeypatch.setattr(builtins, "input", answer)
    growing.main(["--step", "2", "--ask"])
    (before,), after = prompts, capfd.readouterr()
    assert "class PreviousToken(BagOfWords):" in before
    assert before.rstrip().endswith(growing.GROWTH[1].question)
    assert "    garden -> " in after.out
    assert growing.GROWTH[1].reason in after.out
    assert after.out.splitlines()[-1].startswith("| 2 | previous token | ")
    assert after.err == ""


@pytest.mark.slow
def test_who_sees_the_answer_writes_nothing_right_and_the_mask_cures_it(few, monkeypatch):
    monkeypatch.setattr(growing, "STEPS", {"words": 400})
    monkeypatch.setattr(growing, "TESTS", 60)
    tokens_right, words_right = {}, {}
    for step in growing.GROWTH[4:7]:
        network = growing.train(step)
        inp, tar = growing.task_of("words").test
        logits, _ = network((inp, tar[:, :-1]))
        tokens_right[step.version] = float(model.accuracy_function(tar[:, 1:], logits))
        words_right[step.version] = growing.write(network, "words").mean()
    assert tokens_right[growing.TargetSelfAttention] > 0.99
    assert words_right[growing.TargetSelfAttention] < 0.05
    assert words_right[growing.LookAheadMask] > words_right[growing.SourceSelfAttention] + 0.1
    assert words_right[growing.LookAheadMask] > 0.7
