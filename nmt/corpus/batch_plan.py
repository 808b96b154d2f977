"""The plan of an epoch: which pairs come together in a batch, and in which order batches come.

It depends on the lengths of all pairs and on a seed alone: not on the machine, nor on the number of
devices that share a batch, nor on what was read before.
"""

from typing import NamedTuple

import numpy as np

BATCHES_PER_BUCKET = 8  # per epoch, at least
BLOCK = 1 << 18  # pairs that are sorted at a time: sorting takes 16 bytes for each


class Buckets(NamedTuple):
    """The shapes of training batches: a bucket holds the pairs of similar length."""

    lengths: list[int]  # of the buckets, in tokens; that of a pair is that of its longer side
    rows: list[int]  # pairs in a full batch, by bucket
    min_rows: list[int]  # the fewest pairs of an incomplete batch, by bucket
    tokens: float  # per batch and side, padding included
    per_epoch: int  # the number of batches


def rows_in(length: float, tokens: float, pairs: int) -> int:
    """Returns the number of pairs in a batch of `tokens`: at least one, at most all `pairs`."""
    return max(1, int(min(tokens / length, pairs)))


def plan_buckets(
    counts: np.ndarray, batch_size: int, max_buckets: int, batch_tokens: int = 0
) -> Buckets:
    """Returns buckets that hold about the same number of tokens each.

    `counts` are the numbers of pairs of each length, 0, 1, ..., not all of them 0. A batch has
    `batch_size` pairs of average length, or `batch_tokens` unless that is 0.
    """
    pairs = int(counts.sum())
    tokens_up_to = np.cumsum(counts * np.arange(len(counts)))  # in pairs up to each length
    total = tokens_up_to[-1]
    tokens = batch_tokens or batch_size * total / pairs
    number = np.clip(int(total / tokens / BATCHES_PER_BUCKET), 1, max_buckets)
    equal_shares = total * np.arange(1, number + 1) / number
    lengths = sorted(set(np.searchsorted(tokens_up_to, equal_shares).tolist()))
    in_buckets = np.diff(np.cumsum(counts)[lengths], prepend=0)
    rows = [rows_in(length, tokens, pairs) for length in lengths]
    min_rows, per_epoch = [], 0
    for bucket_pairs, full in zip(in_buckets.tolist(), rows, strict=True):
        fewest = (full + 1) // 2 if bucket_pairs >= full else 1
        min_rows.append(fewest)
        per_epoch += bucket_pairs // full + (bucket_pairs % full >= fewest)
    return Buckets(lengths, rows, min_rows, tokens, per_epoch)


class EpochPlan(NamedTuple):
    """All batches of an epoch. A batch is a stretch of `order`."""

    order: np.ndarray  # numbers of pairs, (pairs,)
    begin: np.ndarray  # places in `order` where batches begin, (batches,)
    end: np.ndarray  # and where they end, (batches,)
    bucket: np.ndarray  # numbers of their buckets, (batches,)


def shuffled(pairs: int, buffer_size: int, seed: int) -> np.ndarray:
    """Returns the numbers of all pairs in random order, (pairs,).

    As many neighboring pairs as `buffer_size` are shuffled together, for files that are slow to
    read here and there; 0 for all pairs.
    """
    # Not numpy's newer Generator, whose results may change with its version: a run is resumed
    # within an epoch.
    random = np.random.RandomState(seed)
    numbers = np.arange(pairs, dtype=np.uint32 if pairs < 2**32 else np.int64)
    for begin in range(0, pairs, buffer_size or pairs):
        random.shuffle(numbers[begin : begin + (buffer_size or pairs)])
    return numbers


class _Batches(NamedTuple):
    """All batches of an epoch, by bucket, as stretches of an order that is grouped by bucket."""

    begin: np.ndarray  # (batches,)
    end: np.ndarray  # (batches,), ascending
    bucket: np.ndarray  # (batches,)


def _divide(bucket_pairs: np.ndarray, buckets: Buckets, seed: int) -> _Batches:
    """Divides the pairs of each bucket, (buckets,), into batches.

    The pairs that fill no batch are a random stretch among the full batches, as a smaller batch or,
    if there are too few of them, left out. At the end, they would be the last steps of all epochs,
    and without shuffling always the same pairs.
    """
    random = np.random.RandomState([seed, 1])  # not the one of `shuffled`
    begin, end, bucket_of_batch, first = [], [], [], 0
    for bucket, pairs in enumerate(bucket_pairs.tolist()):
        full, remainder = divmod(pairs, buckets.rows[bucket])
        place = random.randint(full + 1)
        sizes = np.insert(np.full(full, buckets.rows[bucket]), place, remainder)
        ends = first + np.cumsum(sizes)
        enough = sizes >= max(buckets.min_rows[bucket], 1)
        end.append(ends[enough])
        begin.append((ends - sizes)[enough])
        bucket_of_batch.append(np.full(enough.sum(), bucket))
        first += pairs
    return _Batches(*map(np.concatenate, (begin, end, bucket_of_batch)))


def _group(
    numbers: np.ndarray, bucket_of_pair: np.ndarray, bucket_pairs: np.ndarray, last: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Groups shuffled pairs by bucket, block by block: sorting all of them takes much memory.

    `last` are ascending places in the grouped order, (batches,). Returns this order (pairs,), and
    the places in `numbers` of what is at `last`, (batches,).
    """
    order, places = np.empty_like(numbers), np.empty_like(last)
    begins = np.cumsum(bucket_pairs) - bucket_pairs  # of what comes next of each bucket
    for start in range(0, len(numbers), BLOCK):
        block = numbers[start : start + BLOCK]
        buckets = bucket_of_pair[block]
        by_bucket = np.argsort(buckets, kind="stable")
        counts = np.bincount(buckets, minlength=len(bucket_pairs))
        ends = begins + counts
        parts = np.split(by_bucket, np.cumsum(counts)[:-1])
        for begin, end, part in zip(begins.tolist(), ends.tolist(), parts, strict=True):
            order[begin:end] = block[part]
            in_part = slice(*np.searchsorted(last, (begin, end)))
            places[in_part] = start + part[last[in_part] - begin]
        begins = ends
    return order, places


def plan_epoch(
    bucket_of_pair: np.ndarray,
    buckets: Buckets,
    buffer_size: int,
    seed: int,
) -> EpochPlan:
    """Returns the plan of an epoch over all pairs, whose buckets are `bucket_of_pair` (pairs,).

    All pairs of a batch come from one bucket. A batch comes where its last pair is in the shuffled
    order of all pairs. While it plans, this takes 8 bytes per pair, of which the plan keeps 4.
    """
    bucket_pairs = np.bincount(bucket_of_pair, minlength=len(buckets.lengths))
    batches = _divide(bucket_pairs, buckets, seed)
    numbers = shuffled(len(bucket_of_pair), buffer_size, seed)
    order, places = _group(numbers, bucket_of_pair, bucket_pairs, batches.end - 1)
    turns = np.argsort(places)
    return EpochPlan(order, *(values[turns] for values in batches))
