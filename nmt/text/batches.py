"""Batches of token ids: pairs of similar length together, in few static shapes."""

import collections

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.machine import cores
from nmt.messages import log, reason
from nmt.text.cleaning import percentile
from nmt.text.datasets import CHUNK
from nmt.text.tokenizer import CUT_MARGIN, trimmed_in_graph

MAX_BUCKETS = 20
MAX_COMPILED_BUCKETS = 10  # where XLA compiles each shape
BATCHES_PER_BUCKET = 8  # per epoch, at least
EVALUATION_TOKENS = 2048  # per batch, padding included
MAX_SOURCE_TOKENS = 2048  # of a sentence; attention takes memory by the square of their number


def encode(pairs, tokenizer, max_tokens=MAX_SOURCE_TOKENS):
    """Dataset of string pairs -> dataset of pairs of ids (S,), (T,); ragged for batched pairs.

    Of a side of more than `max_tokens`, at least one token more is returned, but its end may be
    missing; see Tokenizer.encode.
    """
    max_bytes = tokenizer.token_bytes * (max_tokens + CUT_MARGIN)

    def ids(*pair):
        sides = [trimmed_in_graph(side) for side in pair]
        if max_bytes:
            sides = [tf.strings.substr(side, 0, max_bytes) for side in sides]
        return tuple(tokenizer.encode_in_graph(side) for side in sides)

    return pairs.map(ids, cores())


def pair_length(inp, tar):
    """Returns the length of a pair: the tokens of its longer side."""
    return tf.maximum(tf.size(inp), tf.size(tar))


def chunk_lengths(inp, tar):
    """Returns the lengths of ragged pairs, (pairs,)."""
    return tf.maximum(inp.row_lengths(), tar.row_lengths())


def fill(ids, rows):
    """Pads `ids` (B, L) with rows of PAD to the number of `rows`."""
    return tf.pad(ids, [[0, rows - tf.shape(ids, rows.dtype)[0]], [0, 0]])


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
      max_buckets: their number, at most.
      batch_tokens: tokens per batch, instead of `batch_size`; 0 for none.

    Attributes:
      counts: training pairs by length, up to `max_length`.
      kept, dropped: numbers of training pairs.
      lengths: of the buckets, in tokens; the length of a pair is that of its longer side.
      tokens: per batch and side, padding included.
      rows, min_rows: pairs in a batch of each bucket; the fewest of an incomplete batch.
      per_epoch: the number of batches per epoch.

    Raises:
      UserError: no pair is short enough, or the cache cannot be written.
    """

    def __init__(
        self, pairs, tokenizer, batch_size, max_length, replicas=1, folder=None,
        max_buckets=MAX_BUCKETS, batch_tokens=0,
    ):  # fmt: skip
        def drop_long(inp, tar):  # chunks of ids (pairs, ragged)
            short = chunk_lengths(inp, tar) <= max_length
            return tf.ragged.boolean_mask(inp, short), tf.ragged.boolean_mask(tar, short)

        self.replicas = replicas
        self.chunks = encode(pairs.batch(CHUNK), tokenizer, max_length).map(drop_long)
        self.counts = counts = np.zeros(max_length + 1, np.int64)
        try:
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                self.chunks = self.chunks.cache(str(folder / "ids"))
            for chunk in self.chunks:
                counts += np.bincount(chunk_lengths(*chunk), minlength=len(counts))
        except (tf.errors.OpError, OSError) as error:
            raise UserError(
                f"{folder}: the tokenized text could not be saved ({reason(error)}); free some "
                "space, or name another --run"
            ) from None
        self.kept = int(counts.sum())
        self.dropped = len(pairs) - self.kept
        if not self.kept:
            raise UserError(
                f"no training pair has {max_length} tokens or fewer; raise --max-length"
            )
        tokens = np.cumsum(counts * np.arange(len(counts)))  # in pairs up to each length
        self.tokens = batch_tokens or batch_size * tokens[-1] / self.kept
        buckets = np.clip(int(tokens[-1] / self.tokens / BATCHES_PER_BUCKET), 1, max_buckets)
        equal = tokens[-1] * np.arange(1, buckets + 1) / buckets
        self.lengths = sorted(set(np.searchsorted(tokens, equal).tolist()))  # of the buckets
        in_buckets = np.diff(np.cumsum(counts)[self.lengths], prepend=0)
        self.rows = [self.rows_in(length) for length in self.lengths]
        self.min_rows = [
            (rows + 1) // 2 if pairs >= rows else 1
            for pairs, rows in zip(in_buckets, self.rows, strict=True)
        ]
        self.per_epoch = sum(
            pairs // rows + (pairs % rows >= fewest)
            for pairs, rows, fewest in zip(in_buckets, self.rows, self.min_rows, strict=True)
        )

    def rows_in(self, length):
        """Returns the number of pairs in a batch of a bucket of `length` tokens."""
        return max(1, int(min(self.tokens / length, self.kept)))  # more would be padding

    def epoch(self, buffer_size, seed):
        """Returns shuffled batches of ids (B, L), (B, L), in one shape per bucket.

        The last batch of a bucket is filled up with rows of padding. If it is less than half full,
        and not the only one of its bucket, it is left out: a step on a handful of pairs would move
        the weights as far as a step on a full batch. (On Multi30k that cost 0.02 nats of validation
        loss.)

        Args:
          buffer_size: pairs that are shuffled together.
          seed: of the order.
        """
        lengths, rows, min_rows = tf.constant([self.lengths, self.rows, self.min_rows], tf.int64)

        def padded(inp, tar):
            shape = (None, self.lengths[-1])
            bucket = tf.searchsorted(lengths, chunk_lengths(inp, tar), out_type=tf.int64)
            return inp.to_tensor(shape=shape), tar.to_tensor(shape=shape), bucket

        def cut(inp, tar, bucket):
            length = lengths[bucket[0]]
            number = -(-rows[bucket[0]] // self.replicas) * self.replicas
            return fill(inp[:, :length], number), fill(tar[:, :length], number)

        pairs = self.chunks.map(padded).unbatch().shuffle(buffer_size, seed)
        batches = pairs.group_by_window(
            key_func=lambda inp, tar, bucket: bucket,
            reduce_func=lambda bucket, window: window.batch(rows[bucket]),
            window_size_func=lambda bucket: rows[bucket],
        )
        batches = batches.filter(
            lambda inp, tar, bucket: tf.size(bucket, tf.int64) >= min_rows[bucket[0]]
        )
        return batches.map(cut).prefetch(8)


def evaluation_batches(pairs, tokenizer, replicas=1):
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


def warn_of_truncation(pairs, tokenizer, name):
    """Logs how many pairs of the split `name` are truncated by `evaluation_batches`, if any."""
    chunks = encode(pairs.batch(CHUNK), tokenizer)
    truncated = sum(np.count_nonzero(chunk_lengths(*chunk) > MAX_SOURCE_TOKENS) for chunk in chunks)
    if truncated:
        log.warning(
            f"{truncated} of the {len(pairs)} {name} pairs have a side of more than "
            f"{MAX_SOURCE_TOKENS} tokens; only the first {MAX_SOURCE_TOKENS} count."
        )


def length_of(pairs, tokenizer, share):
    """Returns the least number of tokens that at least a `share` of the pairs do not exceed."""
    chunks = encode(pairs.batch(CHUNK), tokenizer)
    counts = collections.Counter()
    for chunk in chunks:
        counts.update(chunk_lengths(*chunk).numpy().tolist())
    return percentile(counts, share)


def training_batches(options, corpus, tokenizer, replicas=1, folder=None):
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
