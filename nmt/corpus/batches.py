"""Batches of token ids: pairs of similar length together, in few static shapes."""

import collections
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tensorflow as tf

from nmt import UserError
from nmt.corpus.batch_plan import plan_buckets, plan_epoch
from nmt.corpus.cleaning import percentile
from nmt.corpus.corpora import Corpus, without_autotuning
from nmt.corpus.datasets import CHUNK
from nmt.corpus.marked_copies import marked_pair, number_of_copies
from nmt.corpus.pair_store import PairStore
from nmt.machine import cores
from nmt.messages import log
from nmt.options import Options
from nmt.seeds import TRAINING_SCHEME
from nmt.text import sentences
from nmt.text.protected import Protector
from nmt.text.tokenizer import CUT_MARGIN, MAX_SOURCE_TOKENS, Tokenizer, trimmed_in_graph

MAX_BUCKETS = 20
MAX_COMPILED_BUCKETS = 6  # where XLA compiles each shape: half a minute and more on a GPU
EVALUATION_TOKENS = 2048  # per batch, padding included
TOKENS_OF_NOTHING = 2  # START and END


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
    protector = None
    if tokenizer.symbol_ids:
        protector = Protector(words=tokenizer.words, learned=tokenizer.protection.learned)
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


def has_empty_side(inp: tf.RaggedTensor, tar: tf.RaggedTensor) -> tf.Tensor:
    """Returns whether a side of ragged pairs of ids has no token of text, (pairs,)."""
    return tf.minimum(inp.row_lengths(), tar.row_lengths()) <= TOKENS_OF_NOTHING


def fill(ids: tf.Tensor, rows: int | tf.Tensor) -> tf.Tensor:
    """Pads `ids` (B, L) with rows of PAD to the number of `rows`."""
    return tf.pad(ids, [[0, rows - tf.shape(ids, rows.dtype)[0]], [0, 0]])


class Batches:
    """Training batches of ids, grouped by length, all of about the same number of tokens.

    A pair goes to the shortest bucket that holds it, and all pairs of a batch come from one bucket:
    little padding, few shapes. Both sides of a batch are as long as its bucket. Pairs are tokenized
    once and kept on disk, where each can be read at any time: so an epoch is shuffled as a whole,
    can be entered anywhere, and each machine reads its own rows alone. The pairs of a batch do not
    depend on the machine, so that a run can be resumed on another one.

    Args:
      pairs: a dataset of string pairs; their lengths decide the buckets.
      tokenizer: a Tokenizer.
      batch_size: pairs of average length per batch; fewer if longer, more if shorter.
      max_length: of either side of a pair, in tokens, START and END included; longer ones are
        dropped.
      replicas: devices that share a batch; its rows are padded to a multiple of them.
      folder: for the ids; None for a temporary one, which is removed when the program ends.
      max_buckets: the number of buckets, at most.
      batch_tokens: tokens per batch, instead of `batch_size`; 0 for none.
      scheme: the training scheme of the run, see nmt/seeds.py; in 1, pairs with an empty side are
        trained on, and incomplete batches come last.

    Attributes:
      counts: the number of training pairs of each length up to `max_length`.
      dropped_counts: the number of dropped pairs, by length; pairs of more than MAX_SOURCE_TOKENS
        may count as shorter ones.
      kept, dropped: numbers of training pairs, of the latter those that are too long.
      empty: the number of pairs that are dropped because a side of theirs is empty, or blank.
      buckets: the Buckets.

    Raises:
      UserError: no pair is left, or the ids cannot be written.
    """

    def __init__(
        self, pairs: tf.data.Dataset, tokenizer: Tokenizer, batch_size: int, max_length: int,
        replicas: int = 1, folder: Path | None = None, max_buckets: int = MAX_BUCKETS,
        batch_tokens: int = 0, scheme: int = TRAINING_SCHEME,
    ):  # fmt: skip
        def select(inp, tar):  # chunks of ids (pairs, ragged)
            lengths, empty = chunk_lengths(inp, tar), has_empty_side(inp, tar)
            if scheme == 1:
                empty = tf.zeros_like(empty)
            short = lengths <= max_length
            return (
                tf.ragged.boolean_mask(inp, short & ~empty),
                tf.ragged.boolean_mask(tar, short & ~empty),
                tf.boolean_mask(lengths, short & ~empty),
                tf.boolean_mask(lengths, ~short & ~empty),
                tf.math.count_nonzero(empty),
            )

        def short_chunks():
            for inp, tar, lengths, dropped_lengths, empty in chunks:
                self.dropped_counts.update(dropped_lengths.numpy().tolist())
                self.empty += int(empty)
                lengths_of_chunks.append(lengths.numpy().astype(np.min_scalar_type(max_length)))
                yield inp, tar

        self.replicas, self.scheme = replicas, scheme
        max_tokens = max(max_length, MAX_SOURCE_TOKENS)
        chunks = encode(pairs.batch(CHUNK), tokenizer, max_tokens, training=True).map(select)
        self.dropped_counts, self.empty, lengths_of_chunks = collections.Counter(), 0, []
        self.store = PairStore(short_chunks(), tokenizer.vocab_size, folder)
        lengths = np.concatenate(lengths_of_chunks)  # (pairs,)
        self.counts = np.bincount(lengths, minlength=max_length + 1)
        self.kept, self.dropped = len(lengths), self.dropped_counts.total()
        if not self.kept:
            raise self._without_pairs(max_length)
        self.buckets = plan_buckets(self.counts, batch_size, max_buckets, batch_tokens)
        # The only value of each pair that stays in memory.
        self.bucket_of_pair = np.searchsorted(self.buckets.lengths, lengths).astype(np.uint8)

    def _without_pairs(self, max_length: int) -> UserError:
        """Returns the UserError of text of which no pair is left."""
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

        Args:
          buffer_size: as many neighboring pairs are shuffled together; 0 for all pairs.
          seed: of the order.
          first: the number of batches that are left out at the beginning.
          shares: the numbers of the replicas whose shares (B / replicas, L), (B / replicas, L) of
            each batch are read, one after the other; None for whole batches.
        """
        plan = plan_epoch(self.bucket_of_pair, self.buckets, buffer_size, seed, self.scheme)
        rows = -(-np.array(self.buckets.rows) // self.replicas)  # of a share, by bucket
        if shares is None:
            shares, rows = range(1), rows * self.replicas

        def repeated(of_batches):  # (batches,) -> (batches left * shares,)
            return np.repeat(of_batches[first:], len(shares))

        bucket, end = repeated(plan.bucket), repeated(plan.end)
        share = np.tile(shares, len(plan.bucket[first:]))
        begin = repeated(plan.begin) + share * rows[bucket]
        with tf.device("CPU"):  # where batches are made
            order, lengths = tf.constant(plan.order), tf.constant(self.buckets.lengths, tf.int64)

        def read(begin, end, rows, bucket):  # a share of a batch, filled up to its `rows`
            numbers = tf.cast(order[begin : tf.minimum(begin + rows, end)], tf.int64)
            shape = tf.stack([rows, lengths[bucket]])
            return tuple(ids.to_tensor(shape=shape) for ids in self.store.read_in_graph(numbers))

        reads = tf.data.Dataset.from_tensor_slices((begin, end, rows[bucket], bucket))
        return without_autotuning(reads.map(read, cores()).prefetch(8))


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


def with_marked_copies(pairs: tf.data.Dataset, symbols: str = "") -> tf.data.Dataset:
    """Returns pairs of strings, and copies of some with spans put in; see marked_copies.py.

    A pair with an empty side has no copy: with a span, it would not be empty.

    Args:
      pairs: a dataset of string pairs.
      symbols: of the vocabulary; language tags among them stay at the beginning of a source.
    """
    tags = sentences.tags(symbols.split())

    def are_filled(*pair):
        return tf.reduce_all(tf.stack([trimmed_in_graph(side) for side in pair]) != "")

    def copy_of(source, target):
        tag = tags.match(source)[0]
        marked_source, marked_target = marked_pair(source.removeprefix(tag), target)
        return tag + marked_source, marked_target

    every = max(1, len(pairs) // number_of_copies(len(pairs)))
    copies = (
        pairs.shard(every, 0)
        .filter(are_filled)
        .map(lambda source, target: tuple(protect_in_graph(source, target, copy_of)))
    )
    return pairs.concatenate(copies)


def training_batches(
    options: Options,
    corpus: Corpus,
    tokenizer: Tokenizer,
    replicas: int = 1,
    folder: Path | None = None,
    scheme: int = TRAINING_SCHEME,
) -> Batches:
    """Returns the Batches of a run.

    Args:
      options: of the run.
      corpus: a corpora.Corpus.
      tokenizer, replicas, folder, scheme: see Batches.
    """
    pairs = corpus.train
    if options.protect == "always":
        pairs = with_marked_copies(pairs, options.symbols)
    return Batches(
        pairs, tokenizer, options.batch_size, options.max_length, replicas, folder,
        MAX_COMPILED_BUCKETS if options.xla == "on" else MAX_BUCKETS, options.batch_tokens,
        scheme,
    )  # fmt: skip
