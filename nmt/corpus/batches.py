"""Batches of token ids: pairs of similar length together, in few static shapes."""

import collections
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.corpus import noise
from nmt.corpus.autotuning import without_autotuning
from nmt.corpus.batch_plan import plan_buckets, plan_epoch
from nmt.corpus.corpora import Corpus, normal_pair
from nmt.corpus.datasets import Dataset
from nmt.corpus.pair_store import FlatIds, PairIds, PairStore, flat_ids, read_in_graph
from nmt.corpus.percentile import percentile
from nmt.machine import cores
from nmt.messages import log
from nmt.options import Options
from nmt.text.tokenizer import MAX_SOURCE_TOKENS, Tokenizer

MAX_BUCKETS = 20
MAX_COMPILED_BUCKETS = 6  # where XLA compiles each shape: half a minute and more on a GPU
ENCODED_PAIRS = 4096  # at a time, by all threads of SentencePiece
EVALUATION_TOKENS = 2048  # per batch, padding included
EVALUATION_LENGTHS = (8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024)  # of buckets


def encoded_chunks(
    pairs: Iterable[tuple[str, str]],
    tokenizer: Tokenizer,
    max_tokens: int = MAX_SOURCE_TOKENS,
) -> Iterator[PairIds]:
    """Yields the ids of pairs of strings, chunk by chunk, in their order.

    Of a side of more than `max_tokens`, at least one token more is returned, but its end may be
    missing; see Tokenizer.encode.
    """
    normal_pairs: Iterator[tuple[str, str]] = map(normal_pair, pairs)
    while chunk := [*itertools.islice(normal_pairs, ENCODED_PAIRS)]:
        sources, targets = zip(*chunk, strict=True)
        yield PairIds(
            tokenizer.encode(sources, max_tokens), tokenizer.target.encode(targets, max_tokens)
        )


def side_lengths(ids: PairIds) -> np.ndarray:
    """Returns the tokens of sources and targets, (2, pairs)."""
    return np.array([[*map(len, side)] for side in ids])


def fill(ids: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """Pads `ids` (B, L) with rows of PAD to the number of `rows`."""
    return tf.pad(ids, [[0, rows - tf.shape(ids, rows.dtype)[0]], [0, 0]])


class Batches:
    """Training batches of ids, grouped by length, all of about the same number of tokens.

    A pair goes to the shortest bucket that holds it, and all pairs of a batch come from one bucket:
    little padding, few shapes. Both sides of a batch are as long as its bucket. Pairs are tokenized
    once and kept on disk, where each can be read at any time: so an epoch is shuffled as a whole,
    can be entered anywhere, and each machine reads its own rows alone. The pairs of a batch do not
    depend on the machine, so that a run can be resumed on another one.

    A batch has `batch_size` pairs of average length, or `batch_tokens` unless that is 0; its rows
    are padded to a multiple of `replicas`, the devices that share it. Pairs of which a side is
    longer than `max_length`, START and END included, are dropped. The ids are kept in a `folder`,
    or a temporary one. A UserError says that no pair is left, or that the ids cannot be written.

    `counts` are the numbers of training pairs of each length up to `max_length`, and
    `dropped_counts` those of dropped ones by length, where pairs of more than MAX_SOURCE_TOKENS may
    count as shorter ones; `kept` and `dropped` are their sums. `empty` pairs have a blank side.
    """

    def __init__(
        self, pairs: Iterable[tuple[str, str]], tokenizer: Tokenizer, batch_size: int,
        max_length: int, replicas: int = 1, folder: Path | None = None,
        max_buckets: int = MAX_BUCKETS, batch_tokens: int = 0,
    ):  # fmt: skip
        def short_pairs() -> Iterator[PairIds]:
            for ids in encoded_chunks(pairs, tokenizer, max_tokens):
                side_tokens = side_lengths(ids)
                lengths = side_tokens.max(0)
                filled = (side_tokens > empty_lengths).all(0)
                chosen = filled & (lengths <= max_length)
                self.dropped_counts.update(lengths[filled & ~chosen].tolist())
                self.empty += int(np.count_nonzero(~filled))
                lengths_of_chunks.append(lengths[chosen].astype(np.min_scalar_type(max_length)))
                yield PairIds(*([*itertools.compress(side, chosen)] for side in ids))

        self.replicas = replicas
        empty_lengths = [[tokenizer.empty_length], [tokenizer.target.empty_length]]
        max_tokens = max(max_length, MAX_SOURCE_TOKENS)
        self.dropped_counts: collections.Counter[int] = collections.Counter()
        self.empty = 0
        lengths_of_chunks: list[np.ndarray] = []
        entries = max(tokenizer.vocab_size, tokenizer.target.vocab_size)
        self.store = PairStore(short_pairs(), entries, folder)
        lengths = np.concatenate(lengths_of_chunks)  # (pairs,)
        self.counts = np.bincount(lengths, minlength=max_length + 1)
        self.kept, self.dropped = len(lengths), self.dropped_counts.total()
        if not self.kept:
            raise self._without_pairs(max_length)
        self.buckets = plan_buckets(self.counts, batch_size, max_buckets, batch_tokens)
        # The only value of each pair that stays in memory.
        self.bucket_of_pair = np.searchsorted(self.buckets.lengths, lengths).astype(np.uint8)

    def _without_pairs(self, max_length: int) -> UserError:
        if not self.dropped:
            return UserError(
                f"each of the {self.empty} training pairs has an empty side; name text and its "
                "translation"
            )
        return UserError(f"no training pair has {max_length} tokens or fewer; raise --max-length")

    @property
    def lengths(self) -> list[int]:
        """The lengths of the buckets, in tokens."""
        return self.buckets.lengths

    @property
    def per_epoch(self) -> int:
        """The number of batches per epoch."""
        return self.buckets.per_epoch

    @property
    def left_out(self) -> int:
        """The number of pairs that an epoch leaves out: they fill less than half a batch."""
        pairs = np.bincount(self.bucket_of_pair, minlength=len(self.lengths))
        remainders = pairs % np.array(self.buckets.rows)
        return int(remainders[remainders < np.array(self.buckets.min_rows)].sum())

    def length_of(self, share: float) -> int:
        """Returns the least number of tokens that at least a `share` of all pairs do not exceed.

        Pairs that were dropped as too long count, too. A result above MAX_SOURCE_TOKENS may be too
        small.
        """
        kept_counts = collections.Counter(dict(enumerate(self.counts.tolist())))
        return percentile(kept_counts + self.dropped_counts, share)

    def epoch(
        self, buffer_size: int, seed: int, first: int = 0, shares: range | None = None
    ) -> tf.data.Dataset:
        """Returns shuffled batches of ids (B, L), (B, L), in one shape per bucket.

        One batch of a bucket is incomplete, and filled up with rows of padding. If it is less than
        half full, and not the only one of its bucket, it is left out: a step on a handful of pairs
        would move the weights as far as a step on a full batch. (On Multi30k that cost 0.02 nats of
        validation loss.) Which pairs these are changes with the seed.

        The batches before number `first` are left out. `shares` are the numbers of the replicas
        whose shares (B / replicas, L), (B / replicas, L) of each batch are read, one after the
        other; None for whole batches.
        """
        plan = plan_epoch(self.bucket_of_pair, self.buckets, buffer_size, seed)
        rows = -(-np.array(self.buckets.rows) // self.replicas)  # of a share, by bucket
        if shares is None:
            shares, rows = range(1), rows * self.replicas

        def repeated(values: np.ndarray) -> np.ndarray:  # (batches left * shares,)
            return np.repeat(values[first:], len(shares))

        bucket, end = repeated(plan.bucket), repeated(plan.end)
        share = np.tile(shares, len(plan.bucket[first:]))
        begin = repeated(plan.begin) + share * rows[bucket]
        with tf.device("CPU"):  # where batches are made
            order, lengths = tf.constant(plan.order), tf.constant(self.buckets.lengths, tf.int64)

        def read(
            begin: tf.Tensor, end: tf.Tensor, rows: tf.Tensor, bucket: tf.Tensor
        ) -> tuple[tf.Tensor, ...]:  # a share of a batch, filled up to its `rows`
            numbers = tf.cast(order[begin : tf.minimum(begin + rows, end)], tf.int64)
            shape = tf.stack([rows, lengths[bucket]])
            return tuple(ids.to_tensor(shape=shape) for ids in self.store.read_in_graph(numbers))

        reads = tf.data.Dataset.from_tensor_slices((begin, end, rows[bucket], bucket))
        return without_autotuning(reads.map(read, cores()).prefetch(8))


class Text(NamedTuple):
    """What a run learns from and is validated on."""

    corpus: Corpus
    tokenizer: Tokenizer
    batches: Batches


def evaluation_batches(
    pairs: Iterable[tuple[str, str]], tokenizer: Tokenizer, replicas: int = 1
) -> tf.data.Dataset:
    """Returns every pair of strings in batches of ids (B, S), (B, T) of EVALUATION_TOKENS.

    Padded to the longest pair of the batch, and with rows of padding to a multiple of `replicas`.
    Sentences are truncated to MAX_SOURCE_TOKENS, as the translator does.
    """
    ids = truncated_ids(pairs, tokenizer)
    side_tokens = np.diff(ids.offsets).reshape(-1, 2)  # (pairs, 2)
    numbers = by_length(side_tokens.max(1))
    ends = np.cumsum([*map(len, numbers)])
    with tf.device("CPU"):  # where batches are made
        order = tf.constant([*itertools.chain.from_iterable(numbers)], tf.int64)
        tokens, offsets = tf.constant(ids.tokens), tf.constant(ids.offsets)

    def read(begin: tf.Tensor, end: tf.Tensor) -> tuple[tf.Tensor, ...]:
        rows = -(-(end - begin) // replicas) * replicas
        sides = read_in_graph(tokens, offsets, order[begin:end])
        return tuple(fill(side.to_tensor(), rows) for side in sides)

    begins = np.concatenate([[0], ends[:-1]])
    batches = tf.data.Dataset.from_tensor_slices((begins, ends)).map(read, cores())
    return without_autotuning(batches.prefetch(8))


def truncated_ids(pairs: Iterable[tuple[str, str]], tokenizer: Tokenizer) -> FlatIds:
    """Returns the ids of all pairs, of each side the first MAX_SOURCE_TOKENS."""
    chunks, tokens = [FlatIds(np.zeros(0, np.int32), np.zeros(1, np.int64))], 0
    for chunk in encoded_chunks(pairs, tokenizer):
        truncated = PairIds(*([side[:MAX_SOURCE_TOKENS] for side in sides] for sides in chunk))
        ids = flat_ids(truncated, np.int32)
        chunks.append(FlatIds(ids.tokens, tokens + ids.offsets[1:]))
        tokens += len(ids.tokens)
    return FlatIds(*(np.concatenate(arrays) for arrays in zip(*chunks, strict=True)))


def by_length(lengths: np.ndarray) -> list[list[int]]:
    """Returns the numbers of pairs in batches, by their lengths in tokens, (pairs,)."""
    sizes = [EVALUATION_TOKENS // length for length in EVALUATION_LENGTHS] + [1]
    waiting: list[list[int]] = [[] for _ in sizes]
    batches = []
    for number, bucket in enumerate(np.searchsorted(EVALUATION_LENGTHS, lengths).tolist()):
        waiting[bucket].append(number)
        if len(waiting[bucket]) == sizes[bucket]:
            batches.append(waiting[bucket])
            waiting[bucket] = []
    return batches + [numbers for numbers in waiting if numbers]


def warn_of_truncation(pairs: Dataset, tokenizer: Tokenizer, name: str) -> None:
    """Logs how many pairs of the split `name` are truncated by `evaluation_batches`, if any."""
    truncated = sum(
        np.count_nonzero(side_lengths(ids).max(0) > MAX_SOURCE_TOKENS)
        for ids in encoded_chunks(pairs, tokenizer)
    )
    if truncated:
        log.warning(
            f"{truncated} of the {len(pairs)} {name} pairs have a side of more than "
            f"{MAX_SOURCE_TOKENS} tokens; only the first {MAX_SOURCE_TOKENS} count."
        )


def training_batches(
    options: Options,
    corpus: Corpus,
    tokenizer: Tokenizer,
    replicas: int = 1,
    folder: Path | None = None,
) -> Batches:
    """Returns the Batches of a run."""
    pairs = noise.augmented(corpus.train, options.augment, options.seed)
    return Batches(
        pairs, tokenizer, options.batch_size, options.max_length, replicas, folder,
        MAX_COMPILED_BUCKETS if options.xla == "on" else MAX_BUCKETS, options.batch_tokens,
    )  # fmt: skip
