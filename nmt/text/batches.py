"""Batches of token ids: pairs of similar length together, in few static shapes."""

import collections
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.machine import cores
from nmt.messages import log, reason
from nmt.text.cleaning import percentile
from nmt.text.corpora import Corpus
from nmt.text.datasets import CHUNK
from nmt.text.protected import Protector
from nmt.text.tokenizer import CUT_MARGIN, Tokenizer, trimmed_in_graph

MAX_BUCKETS = 20
MAX_COMPILED_BUCKETS = 10  # where XLA compiles each shape
BATCHES_PER_BUCKET = 8  # per epoch, at least
EVALUATION_TOKENS = 2048  # per batch, padding included
MAX_SOURCE_TOKENS = 2048  # of a sentence; attention takes memory by the square of their number


def protect_in_graph(
    source: tf.Tensor, target: tf.Tensor, protect: Callable[[str, str], tuple[str, str]]
) -> list[tf.Tensor]:
    """Returns both sides (...) of pairs of strings as `protect`, a function of a pair, has them."""

    def protect_arrays(*sides):  # arrays of bytes, or bytes for a single pair
        flat = [np.atleast_1d(np.asarray(side, object)) for side in sides]
        pairs = [
            protect(source.decode(), target.decode()) for source, target in zip(*flat, strict=True)
        ]
        columns = zip(*pairs, strict=True) if pairs else ((), ())
        return [
            np.array([text.encode() for text in column], object).reshape(np.shape(side))
            for column, side in zip(columns, sides, strict=True)
        ]

    sides = tf.numpy_function(protect_arrays, [source, target], [tf.string, tf.string])
    return [tf.ensure_shape(side, source.shape) for side in sides]


def encode(
    pairs: tf.data.Dataset,
    tokenizer: Tokenizer,
    max_tokens: int = MAX_SOURCE_TOKENS,
    training: bool = False,
) -> tf.data.Dataset:
    """Dataset of string pairs -> dataset of pairs of ids (S,), (T,); ragged for batched pairs.

    Of a side of more than `max_tokens`, at least one token more is returned, but its end may be
    missing; see Tokenizer.encode.

    What must not change is encoded as symbols, if the vocabulary has them; see protected.py. In
    `training`, a share of the pairs is left as it is.
    """
    protector = Protector(words=tokenizer.words) if tokenizer.symbol_ids else None
    max_bytes = tokenizer.token_bytes * (max_tokens + CUT_MARGIN)

    def ids(*pair):
        sides = [trimmed_in_graph(side) for side in pair]
        if protector:
            protect = protector.training_pair if training else protector.protect_pair
            sides = protect_in_graph(*sides, protect)
        if max_bytes:
            sides = [tf.strings.substr(side, 0, max_bytes) for side in sides]
        return tuple(tokenizer.encode_in_graph(side) for side in sides)

    return pairs.map(ids, cores())


def pair_length(inp: tf.Tensor, tar: tf.Tensor) -> tf.Tensor:
    """Returns the length of a pair: the tokens of its longer side."""
    return tf.maximum(tf.size(inp), tf.size(tar))


def chunk_lengths(inp: tf.RaggedTensor, tar: tf.RaggedTensor) -> tf.Tensor:
    """Returns the lengths of ragged pairs, (pairs,)."""
    return tf.maximum(inp.row_lengths(), tar.row_lengths())


def fill(ids: tf.Tensor, rows: int | tf.Tensor) -> tf.Tensor:
    """Pads `ids` (B, L) with rows of PAD to the number of `rows`."""
    return tf.pad(ids, [[0, rows - tf.shape(ids, rows.dtype)[0]], [0, 0]])


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
    counts: np.ndarray, batch_size: int, max_buckets: int = MAX_BUCKETS, batch_tokens: int = 0
) -> Buckets:
    """Returns buckets that hold about the same number of tokens each.

    Args:
      counts: the number of pairs of each length, 0, 1, ..., not all of them 0.
      batch_size: pairs of average length per batch.
      max_buckets: the number of buckets, at most.
      batch_tokens: tokens per batch, instead of `batch_size`; 0 for none.
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


class Batches:
    """Training batches of ids, grouped by length, all of about the same number of tokens.

    A pair goes to the shortest bucket that holds it, and all pairs of a batch come from one bucket:
    little padding, few shapes. Both sides of a batch are as long as its bucket. Pairs are tokenized
    once and cached on disk, which saves up to a tenth of the training time. The pairs of a batch do
    not depend on the machine, so that a run can be resumed on another one.

    Args:
      pairs: a dataset of string pairs; their lengths decide the buckets.
      tokenizer: a Tokenizer.
      batch_size: pairs of average length per batch; fewer if longer, more if shorter.
      max_length: of either side of a pair, in tokens, START and END included; longer ones are
        dropped.
      replicas: devices that share a batch; its rows are padded to a multiple of them.
      folder: for the cache of ids, a new folder; None to tokenize in each epoch.
      max_buckets: the number of buckets, at most.
      batch_tokens: tokens per batch, instead of `batch_size`; 0 for none.

    Attributes:
      counts: the number of training pairs of each length up to `max_length`.
      dropped_counts: the number of dropped pairs, by length; pairs of more than MAX_SOURCE_TOKENS
        may count as shorter ones.
      kept, dropped: numbers of training pairs.
      buckets: the Buckets.

    Raises:
      UserError: no pair is short enough, or the cache cannot be written.
    """

    def __init__(
        self, pairs: tf.data.Dataset, tokenizer: Tokenizer, batch_size: int, max_length: int,
        replicas: int = 1, folder: Path | None = None, max_buckets: int = MAX_BUCKETS,
        batch_tokens: int = 0,
    ):  # fmt: skip
        def drop_long(inp, tar):  # chunks of ids (pairs, ragged)
            lengths = chunk_lengths(inp, tar)
            short = lengths <= max_length
            dropped_lengths = tf.boolean_mask(lengths, ~short)
            return (
                tf.ragged.boolean_mask(inp, short),
                tf.ragged.boolean_mask(tar, short),
                dropped_lengths,
            )

        self.replicas = replicas
        max_tokens = max(max_length, MAX_SOURCE_TOKENS)
        ids = encode(pairs.batch(CHUNK), tokenizer, max_tokens, training=True)
        self.chunks = ids.map(drop_long)
        self.counts = np.zeros(max_length + 1, np.int64)
        self.dropped_counts = collections.Counter()
        try:
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                self.chunks = self.chunks.cache(str(folder / "ids"))
            for inp, tar, dropped_lengths in self.chunks:
                self.counts += np.bincount(chunk_lengths(inp, tar), minlength=max_length + 1)
                self.dropped_counts.update(dropped_lengths.numpy().tolist())
        except (tf.errors.OpError, OSError) as error:
            raise UserError(
                f"{folder}: the tokenized text could not be saved ({reason(error)}); free some "
                "space, or name another --run"
            ) from None
        self.kept, self.dropped = int(self.counts.sum()), self.dropped_counts.total()
        if not self.kept:
            raise UserError(
                f"no training pair has {max_length} tokens or fewer; raise --max-length"
            )
        self.buckets = plan_buckets(self.counts, batch_size, max_buckets, batch_tokens)

    @property
    def lengths(self) -> list[int]:
        """The lengths of the buckets, in tokens."""
        return self.buckets.lengths

    @property
    def per_epoch(self) -> int:
        """The number of batches per epoch."""
        return self.buckets.per_epoch

    def length_of(self, share: float) -> int:
        """Returns the least number of tokens that at least a `share` of all pairs do not exceed.

        Pairs that were dropped count, too. A result above MAX_SOURCE_TOKENS may be too small.
        """
        kept_counts = collections.Counter(dict(enumerate(self.counts.tolist())))
        return percentile(kept_counts + self.dropped_counts, share)

    def epoch(self, buffer_size: int, seed: int) -> tf.data.Dataset:
        """Returns shuffled batches of ids (B, L), (B, L), in one shape per bucket.

        The last batch of a bucket is filled up with rows of padding. If it is less than half full,
        and not the only one of its bucket, it is left out: a step on a handful of pairs would move
        the weights as far as a step on a full batch. (On Multi30k that cost 0.02 nats of validation
        loss.)

        Args:
          buffer_size: pairs that are shuffled together.
          seed: of the order.
        """
        lengths = tf.constant(self.buckets.lengths, tf.int64)
        rows = tf.constant(self.buckets.rows, tf.int64)
        min_rows = tf.constant(self.buckets.min_rows, tf.int64)

        def pad(inp, tar, _):  # chunks of ids (pairs, ragged)
            shape = (None, self.lengths[-1])
            bucket = tf.searchsorted(lengths, chunk_lengths(inp, tar), out_type=tf.int64)
            return inp.to_tensor(shape=shape), tar.to_tensor(shape=shape), bucket

        def cut(inp, tar, bucket):
            length = lengths[bucket[0]]
            number = -(-rows[bucket[0]] // self.replicas) * self.replicas
            return fill(inp[:, :length], number), fill(tar[:, :length], number)

        pairs = self.chunks.map(pad).unbatch().shuffle(buffer_size, seed)
        batches = pairs.group_by_window(
            key_func=lambda inp, tar, bucket: bucket,
            reduce_func=lambda bucket, window: window.batch(rows[bucket]),
            window_size_func=lambda bucket: rows[bucket],
        )
        batches = batches.filter(
            lambda inp, tar, bucket: tf.size(bucket, tf.int64) >= min_rows[bucket[0]]
        )
        return batches.map(cut).prefetch(8)


def evaluation_batches(
    pairs: tf.data.Dataset, tokenizer: Tokenizer, replicas: int = 1
) -> tf.data.Dataset:
    """Returns every pair of strings in batches of ids (B, S), (B, T) of EVALUATION_TOKENS.

    Padded to the longest pair of the batch, and with rows of padding to a multiple of `replicas`.
    Sentences are truncated to MAX_SOURCE_TOKENS, as the translator does.

    Args:
      pairs: a dataset of string pairs.
      tokenizer: a Tokenizer.
      replicas: devices that share a batch.
    """

    def truncate(*pair):
        return tuple(ids[:MAX_SOURCE_TOKENS] for ids in pair)

    lengths = [8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024]
    batches = (
        encode(pairs, tokenizer)
        .map(truncate)
        .bucket_by_sequence_length(
            pair_length,
            bucket_boundaries=[length + 1 for length in lengths],
            bucket_batch_sizes=[EVALUATION_TOKENS // length for length in lengths] + [1],
        )
    )
    return batches.map(
        lambda *batch: tuple(
            fill(ids, -(-tf.shape(ids)[0] // replicas) * replicas) for ids in batch
        )
    ).prefetch(8)


def warn_of_truncation(pairs: tf.data.Dataset, tokenizer: Tokenizer, name: str) -> None:
    """Logs how many pairs of the split `name` are truncated by `evaluation_batches`, if any."""
    chunks = encode(pairs.batch(CHUNK), tokenizer)
    truncated = sum(np.count_nonzero(chunk_lengths(*chunk) > MAX_SOURCE_TOKENS) for chunk in chunks)
    if truncated:
        log.warning(
            f"{truncated} of the {len(pairs)} {name} pairs have a side of more than "
            f"{MAX_SOURCE_TOKENS} tokens; only the first {MAX_SOURCE_TOKENS} count."
        )


def training_batches(
    options: dict[str, Any],
    corpus: Corpus,
    tokenizer: Tokenizer,
    replicas: int = 1,
    folder: Path | None = None,
) -> Batches:
    """Returns the Batches of a run.

    Args:
      options: values of params.table() by name.
      corpus: a corpora.Corpus.
      tokenizer, replicas, folder: see Batches.
    """
    return Batches(
        corpus.train, tokenizer, options["batch_size"], options["max_length"], replicas, folder,
        MAX_COMPILED_BUCKETS if options["xla"] == "on" else MAX_BUCKETS, options["batch_tokens"],
    )  # fmt: skip
