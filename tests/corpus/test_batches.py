"""What must hold of batches: little padding, few shapes, no pair lost, the same on any machine."""

import copy
import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from helpers import NUMBERS, NUMEROS, as_dataset, sentences, tiny_training

from nmt import UserError
from nmt.corpus import batches as batching
from nmt.corpus import noise
from nmt.corpus.batch_plan import plan_buckets, plan_epoch, rows_in, shuffled
from nmt.corpus.corpora import Corpus
from nmt.corpus.pair_store import PairIds, PairStore
from nmt.options import Options
from transformer_model import PAD


@pytest.fixture(scope="module")
def long_and_short():
    """Pairs of one to some thirty words, a few of them hundreds of words long."""
    words = random.Random(5)
    lengths = [words.randint(1, 30) for _ in range(700)] + [300] * 7
    return [
        (" ".join(words.choices(NUMEROS, k=n)), " ".join(words.choices(NUMBERS, k=n)) + f" {i}")
        for i, n in enumerate(lengths)
    ]


@pytest.fixture(scope="module")
def batches(long_and_short, tokenizer):
    return batching.Batches(as_dataset(long_and_short), tokenizer, batch_size=16, max_length=40)


def rows_of(epoch):
    """Returns the real ids of all rows of an epoch, as a list of (source, target) tuples."""
    return [
        (tuple(s[s != PAD].tolist()), tuple(t[t != PAD].tolist()))
        for inp, tar in epoch.as_numpy_iterator()
        for s, t in zip(inp, tar, strict=True)
        if s.any()
    ]


def test_epochs_hold_every_pair_but_the_long_ones_at_most_once(batches, long_and_short, tokenizer):
    ids = [tokenizer.encode(list(pair)) for pair in long_and_short]
    kept = [tuple(map(tuple, pair)) for pair in ids if max(map(len, pair)) <= 40]
    assert 7 < len(ids) - len(kept) == batches.dropped
    assert batches.kept == len(kept)
    seen = set()
    for seed in range(4):
        rows = rows_of(batches.epoch(100, seed))
        assert len(set(rows)) == len(rows) > 0.9 * len(kept)
        seen.update(rows)
    assert seen == set(kept)


def test_a_run_reads_some_sources_as_people_type_them(long_and_short, tokenizer):
    corpus = Corpus("numbers", as_dataset(long_and_short), None, None)

    def stored(augment):
        options = Options(max_length=40, augment=augment, seed=3)
        return rows_of(batching.training_batches(options, corpus, tokenizer).epoch(0, 1))

    changed = {*stored(0.5)} - {*stored(0.0)}
    assert len(changed) > 50  # numbers have few accents and no stops
    typed = [*noise.augmented(long_and_short, 0.5, seed=3)]
    encoded = {tuple(tuple(ids) for ids in tokenizer.encode([*pair])) for pair in typed}
    assert changed <= encoded


class Watched:
    """The processor of a Tokenizer, which refuses texts of more than `max_characters`."""

    def __init__(self, processor, max_characters):
        self.processor, self.max_characters = processor, max_characters

    def encode(self, lines, **options):
        assert max(map(len, lines)) <= self.max_characters
        return self.processor.encode(lines, **options)


def test_the_end_of_a_line_that_is_too_long_is_not_tokenized(tokenizer):
    pairs = [*sentences(50), ("um " * 100_000, "one"), ("um", "one " * 100_000)]
    limit = batching.MAX_SOURCE_TOKENS
    watched, max_characters = copy.copy(tokenizer), (limit + 100) * tokenizer.token_bytes
    watched.processor = Watched(tokenizer.processor, max_characters)
    batches = batching.Batches(as_dataset(pairs), watched, batch_size=16, max_length=40)
    assert (batches.kept, batches.dropped) == (50, 2)
    watched_batches = list(batching.evaluation_batches(as_dataset(pairs), watched))
    assert sum(len(inp) for inp, _ in watched_batches) == 52
    expected = tokenizer.encode(["um " * 5000])[0][:limit]
    assert any(
        inp.shape[1] == limit and inp[0].numpy().tolist() == expected for inp, _ in watched_batches
    )


def test_a_line_of_the_longest_tokens_is_dropped_by_its_tokens_alone(tokenizer):
    tokens = [tokenizer.tokens([number])[0] for number in range(tokenizer.vocab_size)]
    longest = max(tokens, key=lambda token: len(token.replace("\u2581", " ").encode()))
    assert len(longest.replace("\u2581", " ").encode()) == tokenizer.token_bytes
    word = longest.replace("\u2581", " ").strip()
    pairs = [(" ".join([word] * number), "one") for number in range(1, 60)]
    lengths = [len(ids) for ids in tokenizer.encode([source for source, _ in pairs])]
    batches = batching.Batches(as_dataset(pairs), tokenizer, batch_size=16, max_length=40)
    assert batches.kept == sum(length <= 40 for length in lengths) >= 5


def test_a_batch_less_than_half_full_is_left_out_unless_it_is_the_only_one(tokenizer):
    pairs = [(f"um {n}", f"one {n}") for n in range(10, 99)]  # of one length, or nearly
    for number, sizes in ((89, [32, 32, 25]), (70, [32, 32]), (20, [20]), (1, [1])):
        batches = batching.Batches(as_dataset(pairs[:number]), tokenizer, 32, max_length=40)
        epoch = list(batches.epoch(100, 1).as_numpy_iterator())
        assert sorted((int((inp[:, 0] != PAD).sum()) for inp, _ in epoch), reverse=True) == sizes
        assert len(epoch) == batches.per_epoch


def test_batches_come_in_few_static_shapes_of_about_the_same_size(batches):
    epoch = list(batches.epoch(100, seed=1).as_numpy_iterator())
    shapes = {inp.shape for inp, _ in epoch}
    assert len(epoch) == batches.per_epoch
    assert all(inp.shape == tar.shape for inp, tar in epoch)
    assert 1 < len(shapes) <= batching.MAX_BUCKETS
    assert {length for _, length in shapes} == set(batches.lengths)
    tokens = batches.buckets.tokens
    assert all(tokens - length < rows * length <= tokens for rows, length in shapes)


def test_batch_size_counts_sentences_of_average_length(long_and_short, tokenizer):
    batches = batching.Batches(as_dataset(long_and_short), tokenizer, 16, max_length=40)
    sides = (tokenizer.encode(side) for side in zip(*long_and_short, strict=True))
    lengths = np.array([max(map(len, pair)) for pair in zip(*sides, strict=True)])
    tokens = batches.buckets.tokens
    assert tokens == pytest.approx(16 * lengths[lengths <= 40].mean())
    assert rows_in(tokens / 16, tokens, batches.kept) == 16


def test_a_batch_may_be_counted_in_tokens(long_and_short, tokenizer):
    batches = batching.Batches(as_dataset(long_and_short), tokenizer, 64, 40, batch_tokens=300)
    assert batches.buckets.tokens == 300
    for inp, tar in batches.epoch(100, 0):
        assert inp.shape == tar.shape
        assert 300 - inp.shape[1] < tf.size(inp) <= 300


def test_the_pairs_of_a_batch_do_not_depend_on_how_many_devices_share_it(long_and_short, tokenizer):
    pairs = as_dataset(long_and_short)
    epochs = []
    for replicas in (1, 2, 3, 4):
        batches = batching.Batches(pairs, tokenizer, 16, 40, replicas)
        epoch = list(batches.epoch(100, 1).as_numpy_iterator())
        assert all(len(inp) % replicas == 0 for inp, _ in epoch)
        epochs.append([inp[inp[:, 0] != PAD].tolist() for inp, _ in epoch])
    assert epochs[0] == epochs[1] == epochs[2] == epochs[3]


def test_a_batch_of_one_sentence_is_of_one(tokenizer):
    pairs = [(f"um {n}", f"one {n}") for n in range(10, 40)]  # of one length, or nearly
    batches = batching.Batches(as_dataset(pairs), tokenizer, 1, 40)
    epoch = list(batches.epoch(100, 1).as_numpy_iterator())
    assert {len(inp) for inp, _ in epoch} == {1}


@pytest.mark.slow
def test_a_step_in_more_parts_than_rows_is_that_of_the_whole_batch(tokenizer):
    pairs = [(f"um {n}", f"one {n}") for n in range(10, 40)]
    batches = batching.Batches(as_dataset(pairs), tokenizer, 1, 40)
    epoch = list(batches.epoch(100, 1).as_numpy_iterator())
    training = tiny_training(parts=4, vocab_size=tokenizer.vocab_size)
    whole = tiny_training(vocab_size=tokenizer.vocab_size)
    whole.transformer.set_weights(training.transformer.get_weights())
    for steps in (training, whole):  # one trace for all shapes
        steps.train_batch.get_concrete_function(*[tf.TensorSpec((None, None), tf.int32)] * 2)
    for one in (epoch[0], [np.repeat(side, 5, axis=0) for side in epoch[0]]):  # 1 row, 5 rows
        sums = [each.train_batch(*map(tf.constant, one)).numpy() for each in (training, whole)]
        np.testing.assert_allclose(*sums, rtol=1e-5)


def test_an_epoch_can_be_entered_anywhere(batches):
    whole = list(batches.epoch(0, 1).as_numpy_iterator())
    for first in (0, 7, len(whole) - 1, len(whole)):
        rest = list(batches.epoch(0, 1, first).as_numpy_iterator())
        assert len(rest) == len(whole) - first
        for batch, expected in zip(rest, whole[first:], strict=True):
            np.testing.assert_array_equal(batch, expected)


def test_the_shares_of_all_replicas_are_the_batch(long_and_short, tokenizer):
    batches = batching.Batches(as_dataset(long_and_short), tokenizer, 3, 40, replicas=4)
    whole = batches.epoch(0, 1, 5).as_numpy_iterator()
    # As two workers read them: each the shares of two replicas, one after the other.
    workers = [
        batches.epoch(0, 1, 5, range(first, first + 2)).as_numpy_iterator() for first in (0, 2)
    ]
    empty = 0
    for batch in whole:
        shares = [next(worker) for worker in workers for _ in range(2)]
        empty += sum(not inp.any() for inp, _ in shares)
        for side, parts in zip(batch, zip(*shares, strict=True), strict=True):
            np.testing.assert_array_equal(side, np.concatenate(parts))
    assert empty  # a batch of few long pairs has rows for some of the replicas alone


def test_a_replica_reads_its_own_rows_alone(batches, monkeypatch):
    read = []
    store = batches.store

    class Watching:
        def read_in_graph(self, numbers):
            tf.py_function(lambda numbers: read.extend(numbers.numpy()), [numbers], [])
            return store.read_in_graph(numbers)

    monkeypatch.setattr(batches, "store", Watching())
    monkeypatch.setattr(batches, "replicas", 2)
    for number in range(2):
        list(batches.epoch(0, 1, shares=range(number, number + 1)))
    assert len(read) == len(set(read)) > 0.9 * batches.kept


@pytest.mark.parametrize(("vocab_size", "dtype"), [(65_536, np.uint16), (65_537, np.int32)])
def test_ids_are_stored_in_as_few_bytes_as_the_vocabulary_allows(vocab_size, dtype, tmp_path):
    ids = PairIds([[1, 65_535], []], [[2], [vocab_size - 1, 4]])
    store = PairStore([ids, PairIds([], []), ids], vocab_size, tmp_path)
    stored = np.fromfile(tmp_path / "ids.tokens", dtype)
    assert stored.tolist() == [1, 65_535, 2, vocab_size - 1, 4] * 2
    sources, targets = store.read_in_graph(tf.constant([3, 0, 0], tf.int64))
    assert sources.to_list() == [[], [1, 65_535], [1, 65_535]]
    assert targets.to_list() == [[vocab_size - 1, 4], [2], [2]]


def test_all_pairs_are_shuffled_together_or_neighbors_alone():
    assert sorted(shuffled(1000, 0, 1)) == sorted(shuffled(1000, 300, 1)) == list(range(1000))
    assert abs(np.mean(shuffled(1000, 0, 1)[:100]) - 500) < 150
    np.testing.assert_array_equal(np.sort(shuffled(1000, 300, 1)[300:600]), range(300, 600))
    assert shuffled(1000, 1, 1).tolist() == list(range(1000))


@pytest.fixture(scope="module")
def many_lengths():
    """The Buckets of 30,000 pairs, and the bucket of each."""
    lengths = np.minimum(3 + np.random.RandomState(3).geometric(0.08, 30_000), 40)
    buckets = plan_buckets(np.bincount(lengths, minlength=41), 32, 20)
    return buckets, np.searchsorted(buckets.lengths, lengths).astype(np.uint8)


def incomplete(plan, buckets):
    """Returns whether batches of a plan are not full, (batches,)."""
    return plan.end - plan.begin < np.array(buckets.rows)[plan.bucket]


def test_incomplete_batches_come_at_any_time_of_an_epoch(many_lengths):
    buckets, bucket_of_pair = many_lengths
    places = []
    for seed in range(20):
        plan = plan_epoch(bucket_of_pair, buckets, 0, seed)
        assert len(plan.begin) == buckets.per_epoch
        places += (np.flatnonzero(incomplete(plan, buckets)) / len(plan.begin)).tolist()
    assert abs(np.mean(places) - 0.5) < 0.1
    assert np.mean(np.array(places) > 0.9) < 0.2


@pytest.mark.parametrize("buffer_size", [1, 100, 0])
def test_every_pair_is_trained_on_in_one_epoch_or_another(many_lengths, buffer_size):
    buckets, bucket_of_pair = many_lengths
    trained = np.zeros(len(bucket_of_pair), int)
    for epoch in range(20):
        plan = plan_epoch(bucket_of_pair, buckets, buffer_size, seed=epoch)
        for begin, end in zip(plan.begin, plan.end, strict=True):
            trained[plan.order[begin:end]] += 1
    assert 1 <= trained.min() <= trained.max() <= 20


def test_planning_takes_eight_bytes_of_memory_for_each_pair(monkeypatch):
    buckets = plan_buckets(np.bincount([5, 9, 14]) * 2_000_000, 500, 3)
    bucket_of_pair = np.repeat(np.arange(len(buckets.lengths), dtype=np.uint8), 2_000_000)
    monkeypatch.setattr("nmt.corpus.batch_plan.BLOCK", 1 << 12)
    tracemalloc.start()
    plan_epoch(bucket_of_pair, buckets, 0, 1)
    peak = tracemalloc.get_traced_memory()[1] / len(bucket_of_pair)
    tracemalloc.stop()
    assert peak < 8.2


EMPTY = ["", " ", "\u00a0\u2003", "\u200b", "\ufeff\u200e", "\u200c\u3164", "\t"]


def test_pairs_with_an_empty_side_are_dropped_and_counted(tokenizer):
    good = sentences(20)
    empty = [("um", blank) for blank in EMPTY] + [(blank, "one") for blank in EMPTY] + [("", "")]
    empty += [("", "one " * 100)]
    text = as_dataset([*empty, *good])
    batches = batching.Batches(text, tokenizer, 8, max_length=40)
    assert (batches.kept, batches.empty, batches.dropped) == (20, len(empty), 0)
    assert min(len(side) for row in rows_of(batches.epoch(0, 1)) for side in row) > 2


def test_the_pairs_that_an_epoch_leaves_out_are_counted(batches, tokenizer):
    pairs = [(f"um {n}", f"one {n}") for n in range(10, 80)]  # two batches of 32, and six
    few = batching.Batches(as_dataset(pairs), tokenizer, 32, max_length=40)
    assert few.left_out == 6
    for text in (batches, few):
        assert text.left_out == text.kept - len(rows_of(text.epoch(0, 1)))


def test_text_without_a_single_translation_is_one_line_of_error(tokenizer):
    with pytest.raises(UserError, match="each of the 2 training pairs has an empty side"):
        batching.Batches(as_dataset([("um", " "), ("dois", "")]), tokenizer, 8, max_length=40)


def test_the_order_is_the_same_with_any_version_of_numpy():
    assert shuffled(10, 0, 42).tolist() == [8, 1, 5, 0, 7, 2, 9, 4, 3, 6]


def test_all_parts_of_a_sorted_corpus_come_at_any_time(tokenizer):
    pairs = [(f"um {n}", f"one {n}") for n in range(10, 99)]  # of one length, or nearly
    batches = batching.Batches(as_dataset(pairs), tokenizer, 8, max_length=40)
    ids = [tuple(row) for row in tokenizer.encode([source for source, _ in pairs])]
    halves = [[], []]
    for number, (inp, _) in enumerate(batches.epoch(0, 1).as_numpy_iterator()):
        rows = [tuple(row[row != PAD].tolist()) for row in inp if row.any()]
        halves[number >= batches.per_epoch // 2] += map(ids.index, rows)
    assert all(abs(np.mean(half) - 44) < 12 for half in halves)


def test_the_order_of_an_epoch_depends_on_its_seed_alone(batches):
    first, again, other = (rows_of(batches.epoch(100, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_evaluation_batches_drop_no_pair_and_cut_those_that_no_memory_holds(
    tokenizer, long_and_short, capsys
):
    pairs = [*long_and_short[-20:], ("um " * 3000, "one " * 10), ("", "")]
    ids = [tokenizer.encode(list(map(str.strip, pair))) for pair in pairs]
    assert max(len(side) for pair in ids for side in pair) > batching.MAX_SOURCE_TOKENS
    rows = rows_of(batching.evaluation_batches(as_dataset(pairs), tokenizer, replicas=3))
    cut = [tuple(tuple(side[: batching.MAX_SOURCE_TOKENS]) for side in pair) for pair in ids]
    assert sorted(rows) == sorted(cut)
    alone = batching.evaluation_batches(as_dataset(pairs[-2:-1]), tokenizer)
    assert [len(inp) for inp, _ in alone.as_numpy_iterator()] == [1]  # however many parts
    batching.warn_of_truncation(as_dataset(pairs), tokenizer, "test")
    assert "1 of the 22 test pairs have a side of more than 2048" in capsys.readouterr().err


def test_ids_that_cannot_be_kept_are_one_line_of_error(tokenizer):
    with pytest.raises(UserError, match=r"Not a directory.*\); name another --run"):
        batching.Batches(as_dataset(sentences(5)), tokenizer, 16, 40, folder=Path("/dev/null/ids"))


def test_no_pair_short_enough_is_one_line_of_error(tokenizer):
    with pytest.raises(UserError, match="--max-length"):
        batching.Batches(as_dataset(sentences(5)), tokenizer, 16, max_length=3)


@pytest.mark.parametrize("max_length", [20, 400])
def test_the_length_that_keeps_a_share_of_the_pairs(max_length, tokenizer):
    pairs = [("um " * n, "one") for n in range(1, 101)]
    lengths = sorted(max(map(len, tokenizer.encode(map(str.strip, pair)))) for pair in pairs)
    batches = batching.Batches(as_dataset(pairs), tokenizer, 16, max_length)
    assert (batches.dropped > 0) is (max_length == 20)
    for share in (0.5, 0.98, 1.0):
        assert batches.length_of(share) == lengths[round(share * 100) - 1]


def test_evaluation_has_the_batches_of_bucket_by_sequence_length():
    """In their order: sums of floats depend on it."""
    lengths = np.random.default_rng(1).integers(2, 1200, 3000)
    numbers = tf.data.Dataset.from_tensor_slices((np.arange(3000), lengths))
    bounds = batching.EVALUATION_LENGTHS
    batches = numbers.bucket_by_sequence_length(
        lambda _, length: tf.cast(length, tf.int32),
        bucket_boundaries=[length + 1 for length in bounds],
        bucket_batch_sizes=[batching.EVALUATION_TOKENS // length for length in bounds] + [1],
    )
    expected = [batch.tolist() for batch, _ in batches.as_numpy_iterator()]
    assert batching.by_length(lengths) == expected
