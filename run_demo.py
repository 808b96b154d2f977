"""The program: parallel text -> batches -> training -> translations -> scores and pictures.

    python run_demo.py                               train, evaluate, translate samples, draw plots
    python run_demo.py --train a.src a.tgt           the same on your own aligned files
    python run_demo.py translate "Bom dia." | < file one translation a line
    python run_demo.py evaluate                      score the run on its test split again
    python run_demo.py plot WHAT                     draw a picture again

Everything goes to a run folder, `runs/<dataset>` (`--run` names another; see beyond/runs.py).
Results go to stdout, all else to stderr.

Read from top to bottom in the order in which data flows: loading, text, batches, training,
translating, scoring, the command line.
"""

import contextlib
import errno
import functools
import hashlib
import os
import random
import re
import shlex
import signal
import sys
import tempfile
import time
from importlib import metadata
from io import BytesIO
from pathlib import Path

from beyond import startup

if __name__ == "__main__":  # not where it is imported, which changes nothing in the host program
    startup.environment(sys.argv[1:])

with startup.quiet() if __name__ == "__main__" else contextlib.nullcontext():
    import keras
    import tensorflow as tf
    import tensorflow_text as tf_text

import numpy as np
import sentencepiece
from tqdm import tqdm

import params
from beyond import (
    Interrupted,
    UserError,
    checkpoints,
    cluster,
    commands,
    corpora,
    devices,
    downloads,
    explorer,
    export,
    flags,
    parallel,
    plots,
    progress,
    reason,
    runs,
    scores,
)
from beyond.translator import CHUNK_LINES, KINDS, LONGEST, Translator
from transformer_model import (
    END,
    PAD,
    START,
    UNKNOWN,
    ConstantSchedule,
    CosineSchedule,
    CustomSchedule,
    Transformer,
    token_sums,
)


def say(line):
    """Tells the user something that is not a result."""
    tqdm.write(line, file=sys.stderr)


# ---- Loading: pairs of sentences, streamed ----


def load_tfds(name, seed):
    """Returns the Corpus of a TFDS translation dataset, downloading it where that was not done.

    Raises:
      UserError, ConnectionError: as `downloads.parallel_text`.
    """
    import tensorflow_datasets as tfds

    builder = downloads.parallel_text(name)
    splits = builder.info.splits
    # Not cached by TFDS, which would hold a small corpus in memory.
    reading = dict(as_supervised=True, read_config=tfds.ReadConfig(try_autocache=False))
    named = {"train": "train", "validation": "validation", "test": "test"}
    if "validation" not in splits and "dev" in splits:
        named["validation"] = "dev"
    found = {
        split: builder.as_dataset(split=its, **reading)
        for split, its in named.items()
        if its in splits
    }
    return corpora.complete(name, found, seed, say)


def is_file(text):
    """Whether a text names a file; one that is too long for any name does not."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def file_names(paths):
    """Returns the names of the files of a corpus as its name."""
    return " ".join(Path(path).name for path in paths)


def load_corpus(source, seed, may_fall_back=False):
    """Returns the Corpus that `source` describes: {"dataset": name}, or lists of files by split.

    Args:
      source: {"dataset": a TFDS name, one of corpora.OURS or a .tsv file}, or {"train": files};
        with either, "valid" and "test" may list files.
      seed: of the pairs held out where no validation or test split is given.
      may_fall_back: take the bundled corpus where a download fails.

    Raises:
      UserError: what is named cannot be had, or is not parallel text.
    """
    name = source.get("dataset")
    valid, test = source.get("valid"), source.get("test")
    if name is None or name.endswith(".tsv"):
        train = [name] if name else source["train"]
        return corpora.from_files(file_names(train), train, valid, test, seed, say)
    if valid or test:
        raise UserError("--valid and --test go with --train or with a .tsv as --dataset")
    if name in corpora.OURS:
        return corpora.ours(name, say)
    if is_file(name):
        raise UserError(f"--dataset {name}: is a file; name a .tsv, or files with --train")
    try:
        return load_tfds(name, seed)
    except ConnectionError as error:
        if not may_fall_back:
            raise UserError(
                f"--dataset {name}: {error}; connect to the network, or name 'bundled' or your own "
                "files"
            ) from None
        say(f"{name} cannot be downloaded ({error}): using the bundled corpus instead.")
        return corpora.ours("bundled", say)


# ---- Text: SentencePiece, one vocabulary for both languages ----

SAMPLED_LINES = 1_000_000  # most lines the vocabulary is learned from
SAMPLED_CHARACTERS = 1000  # of a line at a time: SentencePiece skips lines of more than 4,192 bytes
SMALL_VOCABULARY = 3000  # not lowered for a short text: shorter pieces make sentences too long
# What SentencePiece normalizes: its own mark of a space is one. By its default rules 1º would be
# 1o, and m² m2; without any rule, tensorflow-text writes a note whenever it loads the vocabulary.
RULES = "2581\t20\n"  # hexadecimal code points
BASIC_PIECES = 4 + 256  # PAD, UNKNOWN, START, END, and the bytes
VOCABULARY = ("vocab_size", "seed", "pieces", "words_a_piece")  # what a vocabulary is made by


def train_tokenizer(pairs, vocab_size, seed, pieces="bpe", words_a_piece=params.WORDS_A_PIECE):
    """Learns a vocabulary from both sides of `pairs`. Returns SentencePiece's model as bytes.

    With "bpe", bytes stand in for characters that were not seen, so that any text has tokens, and
    comes back as it was, but for U+2581, SentencePiece's own mark of a space, which becomes one.
    With "word", what was not seen is unknown. The vocabulary is smaller than asked for where the
    text is too short for it.

    Raises:
      UserError: SentencePiece can make no vocabulary of that size of this text.
    """
    sample, words, letters, chance = [], 0, set(), random.Random(seed)
    chunks = pairs.batch(corpora.CHUNK).as_numpy_iterator()
    texts = (
        line.decode() for chunk in chunks for pair in zip(*chunk, strict=True) for line in pair
    )
    lines = (
        text[start : start + SAMPLED_CHARACTERS]
        for text in texts
        for start in range(0, len(text), SAMPLED_CHARACTERS)
    )
    for seen, line in enumerate(lines, start=1):
        if len(sample) < SAMPLED_LINES:
            sample.append(line)
        elif (place := chance.randrange(seen)) < SAMPLED_LINES:  # reservoir: all equally likely
            sample[place] = line
        words += len(line.split())
        letters.update(line)
    if not words:
        raise UserError("the training text holds no words; name files that do")
    least = BASIC_PIECES + len(letters)
    if pieces == "bpe":
        size = min(vocab_size, max(SMALL_VOCABULARY, least, words // words_a_piece))
    else:
        size = vocab_size
    output = BytesIO()
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
            rules.write(RULES)
            rules.flush()
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(sample),
                model_writer=output,
                model_type=pieces,
                vocab_size=size,
                hard_vocab_limit=False,
                byte_fallback=pieces == "bpe",
                normalization_rule_tsv=rules.name,
                remove_extra_whitespaces=pieces == "word",
                pad_id=PAD,
                unk_id=UNKNOWN,
                bos_id=START,
                eos_id=END,
                minloglevel=2,
            )
    except RuntimeError as error:
        raise UserError(
            f"no vocabulary of {size} pieces can be learned from the training text "
            f"({reason(error)}); give it more text, or about {least} pieces by --vocab-size"
        ) from None
    return output.getvalue()


class Tokenizer:
    """Text to token ids and back: SentencePiece, in Python and inside TensorFlow graphs.

    Args:
      model: bytes of a SentencePiece model.
    """

    def __init__(self, model):
        self.model, self.sha256 = model, hashlib.sha256(model).hexdigest()
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model, num_threads=1)
        self.pieces = tf_text.SentencepieceTokenizer(model, add_bos=True, add_eos=True)
        self.vocab_size = self.processor.vocab_size()

    def encode_in_graph(self, texts):
        """Strings (...) -> ids (..., L), START first and END last; ragged for more than one."""
        return self.pieces.tokenize(texts)

    def encode(self, lines):
        """Strings -> a list of lists of ids, START first and END last."""
        return self.processor.encode(list(lines), add_bos=True, add_eos=True)

    def decode(self, ids):
        """Ids (B, L) -> B strings, each of one line; START, END and PAD leave no trace."""
        return [re.sub(r"[\r\n\t]", " ", text) for text in self.processor.decode(ids.tolist())]

    def tokens(self, ids):
        """Ids (L,) -> a list of L token strings."""
        return self.processor.id_to_piece([int(number) for number in ids])


def load_tokenizer(run):
    """Returns the Tokenizer of a run; a UserError if its file is gone, or damaged, or another's."""
    try:
        tokenizer = Tokenizer(run.tokenizer.read_bytes())
    except (OSError, RuntimeError, ValueError, tf.errors.OpError):
        tokenizer = None
    trained_with = run.read("params.json", {}).get("tokenizer_sha256") if run.trained else None
    if tokenizer is None or trained_with not in (None, tokenizer.sha256):
        raise UserError(
            f"{run.tokenizer}: not the SentencePiece model that the run was trained with; restore "
            "the file, or name another --run"
        )
    return tokenizer


# ---- Batches: pairs of like length, in static shapes ----

MOST_BUCKETS = 20
MOST_COMPILED = 10  # where each shape is compiled
BUCKET_BATCHES = 8  # fewest batches of an epoch for which a bucket of their own is made
EVALUATION_TOKENS = 2048  # in a batch that is only read or translated


def encode(pairs, tokenizer):
    """A dataset of string pairs -> a dataset of pairs of ids (S,), (T,); ragged for chunks."""

    def ids(*pair):  # white space around a sentence is no part of it
        return tuple(tokenizer.encode_in_graph(tf.strings.strip(side)) for side in pair)

    return pairs.map(ids, devices.cores())


def pair_length(inp, tar):
    """Returns the number of tokens of the longer side of a pair."""
    return tf.maximum(tf.size(inp), tf.size(tar))


def chunk_lengths(inp, tar):
    """Returns the number of tokens of the longer sides of ragged pairs, (pairs,)."""
    return tf.maximum(inp.row_lengths(), tar.row_lengths())


def fill(ids, rows):
    """Adds rows of padding to `ids` (B, L) until there are `rows`."""
    return tf.pad(ids, [[0, rows - tf.shape(ids, rows.dtype)[0]], [0, 0]])


class Batches:
    """Turns pairs of strings into batches of ids, all of about the same number of tokens.

    A pair goes to the shortest bucket that holds it, and a batch is one bucket's: little padding,
    few shapes. Both sides of a batch are as long as its bucket. Pairs are tokenised once and kept
    on disk; what tf.data does to each pair would else cost as much as a tenth of the training.
    Which pairs make a batch does not depend on the machine, so that any may resume a run.

    Args:
      pairs: the training pairs; their lengths decide the buckets.
      batch_size: pairs of average length in a batch; longer ones are fewer, shorter ones more.
      max_length: most tokens, START and END included, of either side of a training pair.
      replicas: devices that share a batch; rows of padding make its rows a multiple of that.
      folder: a new one for the ids; without it, pairs are tokenised in each epoch.
      most: buckets at most.
      batch_tokens: tokens in a batch, whatever `batch_size`; 0 for none.

    Attributes:
      counts: training pairs by length, up to `max_length`.
      kept, dropped: training pairs within and beyond that.
      lengths: of the buckets, in tokens; a pair is as long as its longer side.
      tokens: in a batch, padding included, of either side.
      rows, least: pairs in a batch of each bucket; fewest real ones.
      steps: training batches in an epoch.
    """

    def __init__(
        self, pairs, tokenizer, batch_size, max_length, replicas=1, folder=None, most=MOST_BUCKETS,
        batch_tokens=0,
    ):  # fmt: skip
        def short(inp, tar):  # chunks of ids (pairs, ragged)
            kept = chunk_lengths(inp, tar) <= max_length
            return tf.ragged.boolean_mask(inp, kept), tf.ragged.boolean_mask(tar, kept)

        self.replicas = replicas
        self.chunks = encode(pairs.batch(corpora.CHUNK), tokenizer).map(short)
        self.counts = counts = np.zeros(max_length + 1, np.int64)
        try:
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                self.chunks = self.chunks.cache(str(folder / "ids"))
            for chunk in self.chunks:
                counts += np.bincount(chunk_lengths(*chunk), minlength=len(counts))
        except (tf.errors.OpError, OSError) as error:
            raise UserError(
                f"{folder}: the tokenised text could not be kept ({reason(error)}); make room, or "
                "name another --run"
            ) from None
        self.kept = int(counts.sum())
        self.dropped = len(pairs) - self.kept
        if not self.kept:
            raise UserError(
                f"no training pair has {max_length} tokens or fewer; raise --max-length"
            )
        tokens = np.cumsum(counts * np.arange(len(counts)))  # in pairs up to each length
        self.tokens = batch_tokens or batch_size * tokens[-1] / self.kept
        buckets = np.clip(int(tokens[-1] / self.tokens / BUCKET_BATCHES), 1, most)
        equal = tokens[-1] * np.arange(1, buckets + 1) / buckets
        self.lengths = sorted(set(np.searchsorted(tokens, equal).tolist()))  # of the buckets
        in_buckets = np.diff(np.cumsum(counts)[self.lengths], prepend=0)
        self.rows = [self.rows_in(length) for length in self.lengths]
        self.least = [
            (rows + 1) // 2 if pairs >= rows else 1
            for pairs, rows in zip(in_buckets, self.rows, strict=True)
        ]
        self.steps = sum(
            pairs // rows + (pairs % rows >= least)
            for pairs, rows, least in zip(in_buckets, self.rows, self.least, strict=True)
        )

    def rows_in(self, length):
        """Returns the number of pairs in a batch of a bucket of `length` tokens."""
        return max(1, int(min(self.tokens / length, self.kept)))  # more would be padding

    def epoch(self, buffer_size, seed):
        """Returns batches in an order of `seed`: ids (B, L), (B, L), in one shape for each bucket.

        The last batch of each bucket is filled up with rows of padding, which count for nothing. It
        is left out if it is less than half full and not its bucket's only one: an epoch's last
        steps would follow a handful of pairs as far as others follow a batch. (On Multi30k that
        cost 0.02 nats of validation loss.)
        """
        lengths, rows, least = tf.constant([self.lengths, self.rows, self.least], tf.int64)

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
            lambda inp, tar, bucket: tf.size(bucket, tf.int64) >= least[bucket[0]]
        )
        return batches.map(cut).prefetch(8)


def evaluation_batches(pairs, tokenizer, replicas=1):
    """Every pair of strings in batches of ids (B, S), (B, T) of few tokens each.

    Padded to the longest pair of the batch, and with rows of padding to a multiple of `replicas`. A
    side is cut off at LONGEST tokens, as in a translation: attention takes memory by their square.
    """

    def cut(*pair):
        return tuple(ids[:LONGEST] for ids in pair)

    lengths = [8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024]
    batches = (
        encode(pairs, tokenizer)
        .map(cut)
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


def say_what_is_cut(pairs, tokenizer, name):
    """Writes a line if `evaluation_batches` cuts sentences of a split off."""
    chunks = encode(pairs.batch(corpora.CHUNK), tokenizer)
    cut = sum(np.count_nonzero(chunk_lengths(*chunk) > LONGEST) for chunk in chunks)
    if cut:
        say(
            f"{cut} of the {len(pairs)} {name} pairs have a side of more than {LONGEST} tokens; "
            f"only the first {LONGEST} count."
        )


# ---- Training ----

KEPT = 3  # newest checkpoints
REFRESH_STEPS = 20  # steps between two looks at the loss, each of which waits for the device
REPORT_SECONDS = 60  # between two lines on progress, where no terminal shows a bar
MARKED_STEPS = 60  # left out of the estimate of a training's time, then those that it is made of


def check_size(options, vocab_size):
    """Raises a UserError where a training of a Transformer of such sizes cannot fit in memory."""
    width, tables = options["d_model"], 1 if options["tie_embeddings"] else 3
    layers = options["num_layers"] * width * (12 * width + 4 * options["dff"])
    needed = 16 * (layers + tables * vocab_size * width)  # bytes: weight, gradient, Adam's two
    if needed > devices.memory():
        raise UserError(
            f"training a network of these sizes takes {needed / 2**30:,.0f} GiB at least, and this "
            f"machine has {devices.memory() / 2**30:,.0f}; lower --d-model, --dff, --num-layers or "
            "--vocab-size"
        )


def build_transformer(options, vocab_size):
    """Returns a Transformer of the sizes in `options`, its weights made."""
    transformer = Transformer(
        options["num_layers"],
        options["d_model"],
        options["num_heads"],
        options["dff"],
        input_vocab_size=vocab_size,
        target_vocab_size=vocab_size,
        rate=options["dropout_rate"],
        pre_norm=options["pre_norm"],
        attention_rate=options["attention_dropout_rate"],
        ffn_rate=options["ffn_dropout_rate"],
        tie_embeddings=options["tie_embeddings"],
        non_autoregressive=options["non_autoregressive"],
        dtype="mixed_bfloat16" if options["mixed_precision"] else "float32",
    )
    transformer.build(((None, None), (None, None)))
    return transformer


def make_batches(training, corpus, tokenizer, folder=None):
    """Returns the Batches that a Training learns from; `folder` as theirs."""
    options, most = training.options, MOST_COMPILED if training.xla else MOST_BUCKETS
    return Batches(
        corpus.train, tokenizer, options["batch_size"], options["max_length"],
        training.strategy.num_replicas_in_sync, folder, most, options["batch_tokens"],
    )  # fmt: skip


def learning_rate(options, steps):
    """Returns the schedule that `options` name, for a training of `steps`."""
    sizes = options["d_model"], options["warmup_steps"], options["learning_rate_scale"]
    if options["schedule"] == "cosine":
        return CosineSchedule(*sizes, steps)
    constant = options["schedule"] == "constant"
    return ConstantSchedule(*sizes) if constant else CustomSchedule(*sizes)


def value_to_minimise(figures):
    """Returns what epochs are compared by: validation loss; or BLEU, and of equal BLEU the loss."""
    bleu = [-round(figures["val_bleu"], 2)] if "val_bleu" in figures else []
    return (*bleu, figures["val_loss"])


def shown(judged):
    """Returns what `Training.judge` found, as text."""
    bleu = f", BLEU {judged['val_bleu']:.1f}" if "val_bleu" in judged else ""
    return f"loss {judged['val_loss']:.3f}, accuracy {judged['val_accuracy']:.3f}{bleu}"


def duration(seconds):
    """Returns a time as text, rounded."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class Adam(keras.optimizers.Adam):
    """Keras's, each variable updated by the one kernel TensorFlow has for it, not by a dozen."""

    def _all_reduce_sum_gradients(self, grads_and_vars):
        """Where Keras would sum the gradients of all devices: `Training.learn` has done it."""
        return grads_and_vars

    def update_step(self, gradient, variable, learning_rate):
        """Steps one variable, by the formulas of Kingma & Ba 2015 (end of section 2)."""
        number = self._get_variable_index(variable)
        step = tf.cast(self.iterations + 1, tf.float32)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[number].value.handle,
            v=self._velocities[number].value.handle,
            beta1_power=tf.pow(self.beta_1, step),
            beta2_power=tf.pow(self.beta_2, step),
            lr=tf.cast(learning_rate, tf.float32),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=gradient,
        )


class Training:
    """A Transformer, its optimizer, and the step that improves it; on one device or on several.

    Args:
      options: values of params.table() by name; data_path is the title of the corpus.
      strategy: the tf.distribute.Strategy that the devices work under.
      parts: what a device's share of a batch is divided into, to be computed in parallel.
      workers: the cluster.Cluster that the strategy spans.
    """

    def __init__(self, options, vocab_size, strategy, parts=1, workers=cluster.ALONE):
        self.options, self.strategy, self.parts, self.workers = options, strategy, parts, workers
        self.xla = options["xla"] == "on"
        self.steps = tf.Variable(1, dtype=tf.int64)  # of the whole training, once it is known
        check_size(options, vocab_size)
        with strategy.scope():
            self.transformer = build_transformer(options, vocab_size)
            self.optimizer = Adam(
                learning_rate(options, self.steps),
                beta_1=options["adam_beta_1"],
                beta_2=options["adam_beta_2"],
                epsilon=options["adam_epsilon"],
            )
            self.optimizer.build(self.transformer.trainable_variables)
            on_read = tf.VariableSynchronization.ON_READ  # each replica has its own
            first = dict(aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA, trainable=False)
            self.gradient_norm = tf.Variable(0.0, synchronization=on_read, **first)  # the newest
            self.gathered = []  # gradients of the batches before, and the tokens they are of
            if options["accumulate"] > 1:
                own = dict(
                    synchronization=on_read, aggregation=tf.VariableAggregation.SUM, trainable=False
                )
                self.gathered = [
                    tf.Variable(tf.zeros(variable.shape), **own)
                    for variable in self.transformer.trainable_variables
                ] + [tf.Variable(0.0, **own)]
        if self.xla:
            self.gradients = tf.function(self.gradients, jit_compile=True)
        self.fixed = False  # whether its weights change no more
        self.translators = {}  # by what they search for: each traces the network once
        self.writer = tf.summary.create_noop_writer()  # for TensorBoard; `fit` has a real one
        self.estimated = False  # whether it was told how long the training will take
        self.epoch = tf.Variable(0)  # finished ones
        self.history = []  # their figures
        # Within an epoch: batches that were learned from, and their `token_sums`.
        self.position, self.sums_so_far = tf.Variable(0), tf.Variable(tf.zeros(3, tf.float64))
        self.checkpoint = tf.train.Checkpoint(
            # One by one, as a list: Keras leaves layers in lists, and the state of dropout's random
            # numbers, out of what TensorFlow saves of a model.
            model=[variable.value for variable in self.transformer.variables],
            optimizer=self.optimizer,
            epoch=self.epoch,
            position=self.position,
            sums=self.sums_so_far,
            steps=self.steps,
        )

    @tf.function
    def train_step(self, inp, tar):
        """Learns from one global batch (B, S), (B, T), and from what was gathered before it.

        Returns its `token_sums` before the step.
        """
        sums = self.strategy.run(self.learn, args=(inp, tar))
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, sums, axis=None)

    @tf.function
    def gather_step(self, inp, tar):
        """Keeps the gradients of one global batch for the next `train_step`. Returns as that."""
        sums, _ = self.strategy.run(self.gather, args=(inp, tar))
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, sums, axis=None)

    def learn(self, inp, tar):
        """One device's share of `train_step`: loss, gradients, and the optimizer's step."""
        sums, found = self.gather(inp, tar)
        context = tf.distribute.get_replica_context()
        *gradients, tokens = context.all_reduce(tf.distribute.ReduceOp.SUM, found)  # all devices'
        gradients = [tf.math.divide_no_nan(gradient, tokens) for gradient in gradients]
        norm = tf.linalg.global_norm(gradients)
        self.gradient_norm.assign(norm)
        if longest := self.options["clip_norm"]:
            gradients, _ = tf.clip_by_global_norm(gradients, longest, norm)
        self.optimizer.apply_gradients(
            zip(gradients, self.transformer.trainable_variables, strict=True)
        )
        for total in self.gathered:
            total.assign(tf.zeros_like(total))
        return sums

    def gather(self, inp, tar):
        """Returns the `token_sums` of one device's share, and the gradients and tokens so far."""
        sums, gradients = self.gradients(inp, tar)
        found = [*gradients, sums[2]]
        if self.gathered:
            for total, new in zip(self.gathered, found, strict=True):
                total.assign_add(new)
            found = [tf.convert_to_tensor(total) for total in self.gathered]
        return sums, found

    def gradients(self, inp, tar):
        """Returns the `token_sums` of one device's share of a batch, and the loss's gradients."""
        with tf.GradientTape() as tape:
            sums = self.sums(inp, tar, training=True)
            loss = sums[0]
        gradients = tape.gradient(loss, self.transformer.trainable_variables)
        # An embedding's gradient comes as rows, one for each token; Keras's Adam would square
        # the rows of a repeated token one by one. As a dense tensor they are added up first.
        return sums, [tf.convert_to_tensor(gradient) for gradient in gradients]

    @tf.function
    def validation_step(self, inp, tar):
        """Returns the `token_sums` of one global batch, nothing learned and nothing dropped."""
        sums = self.strategy.run(self.sums, args=(inp, tar))
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, sums, axis=None)

    def sums(self, inp, tar, training=False):
        """Returns the `token_sums` (3,) of one device's share of a batch, summed over its parts.

        Nothing joins the parts but the sum, so TensorFlow computes them in parallel. They are as
        even as the rows allow; of few rows, some parts have none.
        """
        tar_inp, tar_real = tar[:, :-1], tar[:, 1:]  # (B, T - 1): each token predicts the next
        if self.options["non_autoregressive"]:
            seed = self.masking_seed() if training else None
            tar_inp, tar_real = parallel.hide(inp, tar_real, seed)
        parts = [[inp], [tar_inp], [tar_real]]
        if self.parts > 1:
            sizes = (tf.shape(inp)[0] + tf.range(self.parts)[::-1]) // self.parts  # rows of each
            parts = [tf.split(ids, sizes, num=self.parts) for (ids,) in parts]
        smoothing = self.options["label_smoothing"] if training else 0.0
        found = []
        for inp_part, tar_part, real_part in zip(*parts, strict=True):
            output, _ = self.transformer.decode((inp_part, tar_part), training=training)
            if not self.xla:  # XLA must know shapes beforehand; without it, padding gets no logits
                told = tf.not_equal(real_part, PAD)
                output = tf.boolean_mask(output, told)[tf.newaxis]  # (1, real tokens, D)
                real_part = tf.boolean_mask(real_part, told)[tf.newaxis]
            predictions = self.transformer.final_layer(output)  # (..., V)
            found.append(tf.stack(token_sums(real_part, predictions, smoothing)))
        return tf.add_n(found)

    def masking_seed(self):
        """Returns a seed (2,) of its own for each batch that each device masks targets of."""
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        step = tf.cast(self.optimizer.iterations, tf.int32)
        seed = tf.stack([self.options["seed"] + replica, step])
        if self.gathered:  # several batches are of one step: before each, more tokens are gathered
            before = tf.cast(tf.convert_to_tensor(self.gathered[-1]), tf.int32)
            seed = tf.random.experimental.stateless_fold_in(seed, before)
        return seed

    def shared_out(self, batches):
        """Gives each device its share of each of the global `batches` of (B, S), (B, T)."""

        def own(context):
            replicas = context.num_replicas_in_sync
            here = replicas // context.num_input_pipelines
            first = here * context.input_pipeline_id

            def shares(*batch):
                cut = (tf.reshape(ids, (replicas, -1, tf.shape(ids)[1])) for ids in batch)
                return tuple(ids[first : first + here] for ids in cut)

            return batches.map(shares).unbatch()  # (B / replicas, S), (B / replicas, T)

        return self.strategy.distribute_datasets_from_function(own)

    def validate(self, pairs, tokenizer):
        """Returns the mean loss in nats, and the accuracy, of all real target tokens of `pairs`."""
        batches = evaluation_batches(pairs, tokenizer, self.strategy.num_replicas_in_sync)
        batches = self.shared_out(batches)
        self.validation_step.get_concrete_function(*batches.element_spec)
        sums = np.zeros(3)
        for inp, tar in batches:
            sums += self.validation_step(inp, tar).numpy()
        return sums[0] / sums[2], sums[1] / sums[2]

    def steps_an_epoch(self, batches):
        """Returns the number of Adam's steps for a pass over `batches`."""
        return -(-batches.steps // self.options["accumulate"])

    def train_epoch(self, batches, steps, title, keeper=None):
        """Learns from the batches of an epoch that were not learned from yet.

        Returns real tokens per second. `sums_so_far` are of the whole epoch then.

        Args:
          batches: of the whole epoch.
          steps: their number.
          keeper: a checkpoints.Keeper, asked after each step whether to save.

        Raises:
          UserError: the loss is no number any more.
        """
        accumulate, first = self.options["accumulate"], int(self.position)
        if not first:
            self.sums_so_far.assign(tf.zeros(3, tf.float64))  # those of the epoch before
        batches = self.shared_out(batches.skip(first))
        self.train_step.get_concrete_function(*batches.element_spec)  # one trace for all shapes
        if accumulate > 1:
            self.gather_step.get_concrete_function(*batches.element_spec)
        recent, before, started = [], float(self.sums_so_far[2]), time.perf_counter()
        marked = None  # the steps at a look, and when that was
        reported = -np.inf  # when the last line was written, where stderr is no terminal
        bar = tqdm(
            total=steps, initial=first, desc=title, unit="step", file=sys.stderr, leave=False,
            disable=None,
        )  # fmt: skip
        with bar:
            for seen, (inp, tar) in enumerate(batches, start=first + 1):
                last = seen % accumulate == 0 or seen == steps
                step = self.train_step if last else self.gather_step
                recent.append(step(inp, tar))
                look = seen % REFRESH_STEPS == 0 or seen == steps
                due = keeper is not None and last and seen < steps
                due = due and (look or self.workers.alone) and keeper.is_due()
                if look or due:
                    new_loss, new_hits, new_tokens = self.look_at(recent, title)
                    recent.clear()
                    loss, hits, tokens = self.sums_so_far.numpy()
                    now = time.perf_counter()
                    rate = (tokens - before) / (now - started)
                    self.log(
                        "training", loss=new_loss / new_tokens, accuracy=new_hits / new_tokens,
                        gradient_norm=self.gradient_norm.numpy(), tokens_per_second=rate,
                        learning_rate=self.optimizer.learning_rate,
                    )  # fmt: skip
                    figures = f"loss {loss / tokens:.3f}, accuracy {hits / tokens:.3f}, "
                    figures += f"{rate:,.0f} tokens/s"
                    bar.set_postfix_str(figures, refresh=False)
                    bar.update(seen - bar.n)
                    if bar.disable and now - reported > REPORT_SECONDS and seen < steps:
                        say(f"{title}: step {seen}/{steps}, {figures}")
                        reported = now
                    if marked is None and seen - first >= MARKED_STEPS:
                        marked = seen, now  # not of the first steps, which trace and make kernels
                    elif marked and not self.estimated and seen - marked[0] >= MARKED_STEPS:
                        self.estimate(seen - marked[0], marked[1], steps - seen, steps)
                if due:
                    keeper.save(keeper.run.timed, int(self.optimizer.iterations.numpy()))
                    keeper.leave()
        return (float(self.sums_so_far[2]) - before) / (time.perf_counter() - started)

    def estimate(self, done, started, left, steps):
        """Tells, once, how long the training will take: from `done` steps since `started`."""
        self.estimated = True
        left += (self.options["epochs"] - int(self.epoch) - 1) * steps
        seconds = (time.perf_counter() - started) / done * left
        say(f"At this pace {self.options['epochs']} epochs end in about {duration(seconds)}.")

    def log(self, group, **figures):
        """Writes figures for TensorBoard, at the step that training has come to."""
        with self.writer.as_default(step=self.optimizer.iterations.numpy()):
            for name, value in figures.items():
                tf.summary.scalar(f"{group}/{name}", value)

    def show(self, corpus, tokenizer):
        """Writes translations of the first validation sentences for TensorBoard, as text."""
        sources, references = texts(corpus.validation.take(SAMPLES))
        rows = zip(sources, references, translator(self, tokenizer)(sources), strict=True)
        table = ["|source|reference|translation|", "|---|---|---|"]
        table += ["|" + "|".join(text.replace("|", "\\|") for text in row) + "|" for row in rows]
        with self.writer.as_default(step=self.optimizer.iterations.numpy()):
            tf.summary.text("translations", "\n".join(table))
        self.writer.flush()

    def look_at(self, recent, title):
        """Adds the `token_sums` of the steps since the last look to the epoch's. Returns their sum.

        It waits for the device, so it is not done at every step.

        Raises:
          UserError: one of them, or a weight, is no finite number.
        """
        sums = np.array([each.numpy() for each in recent], np.float64)  # (steps, 3)
        weights = sum(float(tf.reduce_sum(v)) for v in self.transformer.trainable_variables)
        finite = [*np.isfinite(sums).all(axis=1), np.isfinite(weights)]
        if not all(finite):  # weights are what the last step made of them
            step = int(self.position) + min(finite.index(False) + 1, len(sums))
            raise UserError(
                f"{title}, step {step}: the loss is no finite number; what was saved is of before; "
                "try a lower --learning-rate-scale or a --clip-norm, in a new --run"
            )
        self.sums_so_far.assign_add(sums.sum(axis=0))
        self.position.assign_add(len(sums))
        return sums.sum(axis=0)

    def judge(self, corpus, tokenizer):
        """Returns figures of the validation split, by name."""
        loss, accuracy = self.validate(corpus.validation, tokenizer)
        found = dict(val_loss=loss, val_accuracy=accuracy)
        if self.options["validate_by"] == "loss":
            return found
        sources, references = texts(corpus.validation)
        translated = list(translator(self, tokenizer)(sources))
        scoring = {name: self.options[name] for name in SCORING}
        bleu = scores.bleu(**scoring).corpus_score(translated, [references])
        found["val_bleu"] = self.workers.chiefs(bleu.score)  # all are to choose the same
        return found

    @property
    def best_epoch(self):
        """The number of the epoch of the best validation; of equal ones, the first."""
        return min(self.history, key=value_to_minimise)["epoch"]

    @property
    def finished(self):
        """Whether all epochs are done, or too many without a better validation."""
        epoch, patience, waited = int(self.epoch), self.options["patience"], 0
        if self.history:  # a lower loss alone, of equal BLEU, is no better validation
            improved = min(self.history, key=lambda row: value_to_minimise(row)[0])
            waited = epoch - improved["epoch"]
        return epoch >= self.options["epochs"] or 0 < patience <= waited

    def fit(self, keeper, corpus, tokenizer, batches):
        """Trains until `finished`, from the run's newest checkpoint where it has one.

        Each epoch ends with a checkpoint, of which the newest are kept, three or as many as are
        averaged; then with figures of the validation split, and a copy of the best.
        """
        run, epochs = keeper.run, self.options["epochs"]
        self.workers.chiefs()  # nothing is being written, so all find the same
        if newest := keeper.restore_newest(say):
            within = f" and {int(self.position)} steps" if int(self.position) else ""
            say(f"Going on from {newest}: {int(self.epoch)} epoch(s){within} done.")
            progress.drop_later_events(run.logs, int(self.optimizer.iterations.numpy()))
        if int(self.epoch) > epochs:
            say(f"All of --epochs {epochs} are done, and more.")
        self.steps.assign(self.steps_an_epoch(batches) * epochs)
        self.history = [row for row in run.history() if row["epoch"] <= int(self.epoch)]
        self.writer = tf.summary.create_file_writer(str(run.logs))
        if not int(self.position) and not self.is_validated():  # its validation was interrupted
            self.end_epoch(keeper, corpus, tokenizer)
        while not self.finished:
            started, epoch = time.perf_counter(), int(self.epoch) + 1
            rate = self.train_epoch(
                batches.epoch(self.options["buffer_size"], self.options["seed"] + epoch),
                batches.steps,
                f"Epoch {epoch}/{epochs}",
                keeper,
            )
            self.position.assign(0)
            self.epoch.assign(epoch)
            keeper.save(run.checkpoints, epoch)  # whatever ends the validation loses nothing
            keeper.is_due()
            keeper.leave()
            self.end_epoch(keeper, corpus, tokenizer, started, rate)
        if int(self.epoch) < epochs:
            say(
                f"Stopped after epoch {int(self.epoch)}: the best validation is that of epoch "
                f"{self.best_epoch} (--patience {self.options['patience']})."
            )

    def is_validated(self):
        """Returns whether the last finished epoch has its figures, or never can have any."""
        known = any(row["epoch"] == int(self.epoch) for row in self.history)
        return known or not float(self.sums_so_far[2])

    def end_epoch(self, keeper, corpus, tokenizer, started=None, rate=0.0):
        """Validates an epoch that was trained and saved, and keeps its figures.

        Args:
          started: when it began, by `time.perf_counter`; None where that was in another process.
          rate: tokens per second of its training.
        """
        run, epoch, epochs = keeper.run, int(self.epoch), self.options["epochs"]
        started = started or time.perf_counter()
        loss, hits, tokens = self.sums_so_far.numpy()
        judged = self.judge(corpus, tokenizer)
        row = dict(
            epoch=epoch, loss=loss / tokens, accuracy=hits / tokens, **judged,
            tokens_per_second=rate, learning_rate=float(self.optimizer.learning_rate),
            seconds=time.perf_counter() - started,
        )  # fmt: skip
        self.history.append(row)
        if self.best_epoch == epoch:
            keeper.save(run.best, epoch)
        run.write("history.json", self.history)
        self.log("validation", **{name.removeprefix("val_"): judged[name] for name in judged})
        self.show(corpus, tokenizer)
        seconds = min(row["seconds"] for row in self.history[-3:])
        say(
            f"Epoch {epoch}/{epochs}: loss {row['loss']:.3f}, accuracy {row['accuracy']:.3f}; "
            f"validation {shown(row)}; {rate:,.0f} tokens/s, {row['seconds']:.0f} s; "
            f"{duration(seconds * (epochs - epoch))} left"
        )
        keeper.is_due()
        keeper.leave()

    def average(self, keeper, corpus, tokenizer):
        """Ends a training with the best of its weights on the validation split, saved as `final`.

        Those are the best epoch's, or the mean of the newest one, two, ... up to `average`. The
        learning rate is still high at the end, and each step leaves the weights a little beside
        where they are heading; their mean is nearer (paper 6.1).
        """
        run, variables = keeper.run, self.transformer.trainable_variables
        self.workers.chiefs()  # has saved the last epoch
        newest = checkpoints.paths(run.checkpoints)[-self.options["average"] :]
        totals, found = [0.0] * len(variables), []
        for number, path in enumerate(reversed(newest), start=1):
            checkpoints.restore(self.checkpoint, path)
            totals = [v.numpy() + total for v, total in zip(variables, totals, strict=True)]
            means = [total / number for total in totals]
            self.assign(means)
            title = f"the mean of the newest {number} epochs" if number > 1 else "the last epoch's"
            found.append((self.judge(corpus, tokenizer), title, means))
        checkpoints.restore(self.checkpoint, checkpoints.paths(run.best)[-1])
        weights = [variable.numpy() for variable in variables]
        title = f"epoch {int(self.epoch)}'s"
        found.append((self.judge(corpus, tokenizer), title, weights))
        judged, title, weights = min(found, key=lambda row: value_to_minimise(row[0]))
        checkpoints.restore(self.checkpoint, newest[-1])
        self.assign(weights)
        keeper.save(run.final, int(self.epoch))
        last = f"; the last epoch's {shown(found[0][0])}" if title != found[0][1] else ""
        say(f"Final weights: {title}, validation {shown(judged)}{last}.")

    def assign(self, weights):
        """Sets the trainable variables to `weights`, arrays in their order."""
        for variable, value in zip(self.transformer.trainable_variables, weights, strict=True):
            variable.assign(value)


# ---- Translating and scoring: see beyond/translator.py ----

SEARCH = params.names(params.SEARCH)  # what can be chosen anew whenever a run translates
SCORING = params.names(params.SCORING)  # or is scored
SAMPLES = 3  # sentences that are shown; the first one's attention is drawn


def search_options(training):
    """Returns the options of a run that its search takes, by name."""
    return {name: training.options[name] for name in SEARCH}


def translator(training, tokenizer, beam=params.BEAM, length_penalty=params.LENGTH_PENALTY, **more):
    """Returns the model's Translator, one for each search; `more` as its arguments."""
    fixed = dict(fixed=training.fixed, workers=training.parts)
    wanted = dict(beam=beam, alpha=length_penalty) | fixed | more
    key = tuple(wanted.items())
    if key not in training.translators:
        training.translators[key] = Translator(training.transformer, tokenizer, say, **wanted)
    return training.translators[key]


def texts(pairs):
    """Returns the sources and the references of a dataset of pairs, as strings."""
    rows = [(source.decode(), target.decode()) for source, target in pairs.as_numpy_iterator()]
    return tuple(zip(*rows, strict=True))


def search_name(options):
    """Returns what a run of these options searches by, for reports."""
    if options["non_autoregressive"]:
        return "all tokens at once"
    return f"a beam of {options['beam']}" if options["beam"] > 1 else "greedy search"


def hypotheses(training, tokenizer, sources):
    """Returns the translations of `sources`, a list, by the search of the run's options."""
    bar = dict(desc="Translating", unit="line", file=sys.stderr, leave=False, disable=None)
    return list(translator(training, tokenizer, **search_options(training))(tqdm(sources, **bar)))


def evaluate(training, tokenizer, corpus):
    """Translates the test split. Returns scores, and rows of (source, reference, hypothesis).

    BLEU and chrF are sacreBLEU's, with the signatures that say how they were computed.
    """
    started = time.perf_counter()
    say_what_is_cut(corpus.test, tokenizer, "test")
    loss, accuracy = training.validate(corpus.test, tokenizer)
    sources, references = texts(corpus.test)
    translated = hypotheses(training, tokenizer, sources)
    scoring = {name: training.options[name] for name in SCORING}
    found = {
        "lines": len(sources),
        "loss": float(loss),
        "accuracy": float(accuracy),
        **scores.score(translated, references, **scoring),
        "evaluation_seconds": time.perf_counter() - started,
    }
    return found, list(zip(sources, references, translated, strict=True))


def report(run, corpus, training, found, rows):
    """Prints scores and samples, then writes scores.json and translations.txt."""
    for source, reference, hypothesis in rows[:SAMPLES]:
        print(f"Source:     {source}\nReference:  {reference}\nHypothesis: {hypothesis}\n")
    lines, epochs = found["lines"], int(training.epoch)
    found_by = search_name(training.options)
    print(f"Test split of {corpus.name}, {lines} lines, {epochs} epoch(s), {found_by}:")
    print(f"loss {found['loss']:.3f}, accuracy {found['accuracy']:.3f}")
    print(
        scores.table({name: row for name, row in found.items() if isinstance(row, dict)}),
        flush=True,  # what was computed is seen, whether or not it can be written
    )
    history = run.history()[:epochs]
    clean = [[" ".join(text.split()) for text in row] for row in rows]
    run.write("translations.txt", "".join("\t".join(row) + "\n" for row in clean).encode())
    libraries = ("tensorflow", "keras", "tensorflow-text", "sentencepiece", "sacrebleu")
    run.write(
        "scores.json",
        {
            "dataset": corpus.name,
            "pairs": {split: len(getattr(corpus, split)) for split in corpus._fields[1:]},
            **found,
            "epochs": epochs,
            "training_seconds": sum(row["seconds"] for row in history),
            "parameters": training.transformer.count_params(),
            "options": {row.name: training.options[row.name] for row in params.table()},
            "versions": {name: metadata.version(name) for name in libraries},
        },
    )


# ---- Pictures: see beyond/plots.py ----

PICTURES = {  # in the order drawn, each with what can be chosen of it
    "positional-encoding": ("positions", "depth", "position"),
    "masks": (),
    "scaling": (),
    "schedule": (),
    "lengths": (),
    "curves": ("beside",),
    "attention": ("kind", "layer", "head", "mean"),
}


class Pictures:
    """Draws PICTURES into a run's plots/, by a method for each, which returns the file's path.

    Args:
      line: the sentence whose attention and masks are drawn.
      batches: of the training; made anew where they are not at hand.
    """

    def __init__(self, run, training, tokenizer, line, batches=None):
        self.run, self.training, self.tokenizer = run, training, tokenizer
        self.line, self.batches = line, batches

    def draw(self, what, **choices):
        """Draws one of PICTURES."""
        return getattr(self, what.replace("-", "_"))(self.run.plots / f"{what}.png", **choices)

    @functools.cached_property
    def seen(self):
        """The Attention of `line`; pictures can show its letters from then on."""
        seen = translator(self.training, self.tokenizer).attend(self.line)
        if unknown := plots.use_fonts_for(*seen.source, *seen.target):
            say(f"No font here has {unknown}; install one, as Debian's fonts-noto-cjk for Chinese.")
        return seen

    def positional_encoding(self, path, positions=50, depth=None, position=None):
        """Of so many positions and dimensions (d_model); one is compared with the others.

        Raises:
          UserError: that one is not drawn.
        """
        if position is not None and not 0 <= position < positions:
            raise UserError(
                f"--position {position}: drawn are positions 0 to {positions - 1}; name one of "
                "them, or raise --positions"
            )
        depth = depth or self.training.options["d_model"]
        return plots.positional_encoding(path, positions, depth, position)

    def masks(self, path):
        return plots.masks(path, self.seen.source, self.seen.target[:-1])

    def scaling(self, path):
        return plots.scaling(path)

    def schedule(self, path):
        options = self.training.options
        steps = max(int(self.training.steps), 2 * options["warmup_steps"])
        schedules = {
            f"{name} (this run)" if name == options["schedule"] else name: learning_rate(
                {**options, "schedule": name}, steps
            )
            for name in ("inverse-sqrt", "cosine", "constant")
        }
        return plots.schedule(path, schedules, steps)

    def lengths(self, path):
        batches, options = self.batches, self.training.options
        if batches is None:
            corpus = load_checked(self.run, options, "train")
            batches = make_batches(self.training, corpus, self.tokenizer)
        return plots.lengths(path, batches.counts, batches.dropped, batches.lengths)

    def curves(self, path, beside=()):
        """Of the run, and of those whose folders are `beside`."""
        others = [runs.Run(folder) for folder in beside]
        for other in others:
            other.options()  # or say what is wrong with it
        return plots.curves(path, {one.path.name: one.history() for one in (self.run, *others)})

    def attention(self, path, kind="cross", layer=None, head=None, mean=False):
        """Of one of KINDS, in one layer (the last), of one head (1, 2, ...), of all, or their mean.

        Raises:
          UserError: the run has no such layer or head.
        """
        options = self.training.options
        for name, number in (("layer", layer), ("head", head)):
            most = options[f"num_{name}s"]
            if number is not None and not 1 <= number <= most:
                raise UserError(
                    f"--{name} {number}: the run has {name}s 1 to {most}; name one of them"
                )
        layer = layer or options["num_layers"]
        heads, queries, keys = self.seen.look(kind, layer)
        names = [f"Head {number}" for number in range(1, len(heads) + 1)]
        if mean:
            heads, names = heads.mean(axis=0, keepdims=True), [f"Mean of {len(heads)} heads"]
        elif head:
            heads, names = heads[head - 1 : head], names[head - 1 : head]
        if kind != "cross":
            path = path.with_stem(f"{path.stem}-{kind}")
        title = f"{KINDS[kind][1]}; layer {layer}"
        return plots.attention(path, heads, names, keys, queries, title)


# ---- The command line ----


def train(args):
    """Trains, scores, translates samples and draws all pictures; goes on with a run begun."""
    preset = args.data_path if args.data_path in params.PRESETS else "tutorial"
    options = flags.chosen(args, args.preset or preset)
    if options["d_model"] % options["num_heads"]:
        raise UserError(
            f"--d-model {options['d_model']} is not a multiple of --num-heads "
            f"{options['num_heads']}; choose one that is"
        )
    if options["non_autoregressive"]:
        options["beam"] = args.beam or 1  # whatever the preset
        if options["beam"] > 1:
            raise UserError(
                f"--beam {args.beam}: --non-autoregressive finds one translation; leave it out"
            )
    # Before any tokenizer is made: setting the seed drops the kernels that hold their models.
    keras.utils.set_random_seed(options["seed"])
    source, name = named_source(args)
    saved = runs.Run(args.run or runs.default(name)).saved
    # What was decided as the run began, on whatever machine that was, stays so.
    if options["xla"] == "auto":
        options["xla"] = saved.get("xla") or ("on" if devices.gpus()[0] else "off")
    xla = options["xla"] == "on"
    workers = cluster.configured()
    strategy, parts = devices.find(say, xla, workers, saved.get("parts"))
    unnamed = not args.train and args.data_path is None
    seed = options["seed"]
    corpus = workers.in_turn(lambda: load_corpus(source, seed, unnamed))  # the chief downloads
    if unnamed:
        source["dataset"] = corpus.name
    options["data_path"] = corpus.name
    run = runs.Run(
        args.run or runs.default(corpus.name), own=None if workers.chief else cluster.folder()
    )
    run.lock()
    resuming = [*args.given, *(["--dataset", corpus.name] if unnamed else [])]
    args.resume = shlex.join(["python", "run_demo.py", *resuming])
    say(f"Corpus: {corpus.name}. Run folder: {run.path}")

    if workers.chief and not run.trained:
        model = train_tokenizer(corpus.train, **{name: options[name] for name in VOCABULARY})
        run.write(run.tokenizer.name, model)
    workers.chiefs()
    if not run.tokenizer.exists():
        raise UserError(
            f"{run.path}: does not have what the chief wrote; name a --run on a disk that all "
            "workers see"
        )
    tokenizer = load_tokenizer(run)
    identity = run.claim(
        options,
        source,
        parts,
        train=corpora.fingerprint(corpus.train),
        validation=corpora.fingerprint(corpus.validation),
        test=corpora.fingerprint(corpus.test),
        tokenizer=tokenizer.sha256,
    )
    if round(workers.chiefs(identity)) != identity:
        raise UserError(
            f"{cluster.VARIABLE}: this worker has other data or other flags than the chief; start "
            "all with the same command and files"
        )
    if tokenizer.vocab_size < options["vocab_size"]:
        say(
            f"Vocabulary: {tokenizer.vocab_size} pieces instead of {options['vocab_size']}, for "
            "the training text is short."
        )
    training = Training(options, tokenizer.vocab_size, strategy, parts, workers)
    run.remove_cache()  # of a training that was killed
    batches = make_batches(training, corpus, tokenizer, run.cache)
    say(
        f"Training pairs: {batches.kept}; dropped for more than {options['max_length']} tokens: "
        f"{batches.dropped}. {batches.steps} batches an epoch, in buckets of "
        f"{', '.join(map(str, batches.lengths))} tokens."
    )
    say_what_is_cut(corpus.validation, tokenizer, "validation")
    steps = training.steps_an_epoch(batches) * options["epochs"]
    say(
        f"To do: {options['epochs']} epochs, {steps} steps, of a Transformer of "
        f"{training.transformer.count_params():,} parameters; then {len(corpus.test)} test lines "
        f"are translated and scored, and pictures drawn. All goes to {run.path}; curves meanwhile: "
        f"tensorboard --logdir {shlex.quote(str(run.logs))}"
    )
    if steps < options["warmup_steps"]:
        say(
            f"Only {steps} steps in all, and the learning rate grows for "
            f"{options['warmup_steps']}: more --epochs suit so few pairs, or fewer --warmup-steps; "
            "those raise its peak, 1 / sqrt(d_model x steps), which a lower --learning-rate-scale "
            "brings down again (without --pre-norm, keep it below 0.002)."
        )
    kept = max(KEPT, options["average"])
    minutes = options["checkpoint_minutes"]
    keeper = checkpoints.Keeper(training.checkpoint, run, kept, minutes, workers)
    with keeper:
        training.fit(keeper, corpus, tokenizer, batches)
    run.remove_cache()
    training.average(keeper, corpus, tokenizer)
    found, rows = evaluate(training, tokenizer, corpus)
    if workers.chief:
        report(run, corpus, training, found, rows)
        pictures = Pictures(run, training, tokenizer, rows[0][0], batches)
        for what in PICTURES:
            pictures.draw(what)
        for kind in ("encoder", "decoder"):  # beside cross-attention
            pictures.draw("attention", kind=kind)
        say(f"Scores, translations and pictures are in {run.path}. To go on:")
        this, sentence = f"--run {shlex.quote(str(run.path))}", shlex.quote(rows[0][0])
        say(f"  python run_demo.py translate {this} {sentence}")
        say(f"  python run_demo.py explore {this} {sentence}")
        say(f"  python run_demo.py export {this}")
    workers.chiefs()  # a worker that ends before the others counts as lost


def named_source(args):
    """Returns what `load_corpus` takes, of the flags of `train` or by default; and its name."""
    if args.train and args.data_path is not None:
        raise UserError(f"--dataset {args.data_path} and --train both name the data; choose one")
    files = {"train": args.train, "valid": args.valid, "test": args.test}
    source = {
        split: [str(Path(path).resolve()) for path in paths]
        for split, paths in files.items()
        if paths
    }
    if args.train:
        return source, file_names(args.train)
    name = source["dataset"] = params.DATA_PATH if args.data_path is None else args.data_path
    if name.endswith(".tsv"):
        source["dataset"] = str(Path(name).resolve())
        name = file_names([name])
    return source, name


def load_checked(run, options, split):
    """Returns the Corpus that a run was trained on; a UserError where `split` is of other text."""
    corpus = load_corpus(options["corpus"], options["seed"])
    if f"{split}_sha256" in run.saved:
        run.check_text(split, corpora.fingerprint(getattr(corpus, split)))
    else:  # a run of a program that kept no fingerprint of the test split
        run.check_text("train", corpora.fingerprint(corpus.train))
        run.check_text("validation", corpora.fingerprint(corpus.validation))
    return corpus


def load(path, checkpoint=None, **given):
    """Returns a trained run, the newest if `path` is None; its tokenizer; its Training.

    Args:
      checkpoint: "final" (with what the training ended), "newest" (epoch) or "best" (validation);
        None is final, or newest while there is no final.
      given: options to be other than the run's.
    """
    run = runs.Run(path) if path else runs.newest()
    options = run.options() | given
    if wrong := flags.check(options):
        raise UserError(wrong)
    strategy, parts = devices.find(say)
    tokenizer = load_tokenizer(run)
    training = Training(options, tokenizer.vocab_size, strategy, parts)
    folders = {"final": run.final, "newest": run.checkpoints, "best": run.best}
    wanted = [checkpoint] if checkpoint else ["final", "newest"]
    found = [path for name in wanted for path in checkpoints.paths(folders[name])[-1:]]
    if not found:
        raise UserError(f"{folders[wanted[0]]}: no checkpoint yet; name another --checkpoint")
    try:
        checkpoints.restore(training.checkpoint, found[0])
    except UserError as error:
        raise UserError(
            f"{error}; choose another by --checkpoint, or give the command that trained the run "
            "again, which makes it anew"
        ) from None
    training.fixed = True
    say(f"Using {found[0]}")
    return run, tokenizer, training


def load_named(args):
    """Returns what `load` does of the run, checkpoint and flags that `args` name."""
    return load(args.run, args.checkpoint, **flags.given(args))


def load_translator(
    path=None, checkpoint=None, *, beam=None, length_penalty=None, n_best=1, rows=None, workers=None
):
    """Returns the Translator of a trained run, for use from Python.

    `list(translate(lines))` are translations; `translate.attend(line)` is an Attention.

    Args:
      path: the run folder; the newest one in runs/ where it is None.
      checkpoint: "final", "newest" or "best"; see `load`.
      beam, length_penalty: of the search; the run's where they are None.
      n_best: translations per line that `hypotheses` yields, at most `beam`.
      rows: sentences per batch; None for as many as suit their length.
      workers: batches translated in parallel; None for one per core, at most four.

    Raises:
      UserError: there is no such run, it is damaged, or a number is out of its range.
    """
    search = dict(beam=beam, length_penalty=length_penalty)
    given = {name: value for name, value in search.items() if value is not None}
    _, tokenizer, training = load(path, checkpoint, **given)
    more = dict(n_best=n_best, rows=rows, workers=workers or training.parts)
    return translator(training, tokenizer, **search_options(training), **more)


def given_lines(args):
    """Returns the arguments, or else the lines of stdin."""
    for text in args.text:
        if is_file(text):
            raise UserError(
                f"{text}: is a file, not a sentence; to take its lines: {args.command} < "
                f"{shlex.quote(text)}"
            )
    if args.text:  # as bytes, to be checked as stdin's lines are
        given = (os.fsencode(text) + b"\n" for text in args.text)
        return corpora.decode_lines(given, "argument")
    if sys.stdin is None:
        raise UserError("stdin is closed; give sentences as arguments, or a file: < FILE")
    return corpora.decode_lines(sys.stdin.buffer, "stdin")


def typed_lines():
    """Yields the lines that are typed at a prompt, as bytes, until Ctrl-D."""
    say("Type a sentence and Enter; Ctrl-D ends.")
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            print(file=sys.stderr)
            return
        yield line


def counted(results):
    """Yields `results` and shows how many there are and how fast, unless stderr is a file."""
    return tqdm(results, unit="line", file=sys.stderr, disable=None, leave=False)


def translate_command(args):
    """Prints one translation a line, or `n_best`, of the arguments or of the lines of stdin."""
    lines, at_a_time = given_lines(args), CHUNK_LINES
    _, tokenizer, training = load_named(args)
    search = search_options(training)
    if args.n_best > search["beam"] and not training.options["non_autoregressive"]:
        raise UserError(
            f"--n-best {args.n_best} needs a --beam of as many, and it is {search['beam']}; add "
            f"--beam {args.n_best}"
        )
    typed = not args.text and sys.stdin.isatty()
    if typed:  # who types a line waits for its answer
        lines, at_a_time = corpora.decode_lines(typed_lines(), "stdin"), 1
    found = translator(training, tokenizer, **search, n_best=args.n_best).hypotheses(
        lines, at_a_time
    )
    for best in found if typed else counted(found):
        for text, log_probability in best:
            print(f"{log_probability:.4f}\t{text}" if args.score else text, flush=typed)


def score_command(args):
    """Prints the log-probability of each pair of the files, a line each."""
    pairs = corpora.read_pairs(args.files)
    _, tokenizer, training = load_named(args)
    for total in counted(translator(training, tokenizer).score(pairs)):
        print(f"{total:.4f}")


def refuse_existing(path):
    """Raises a UserError where a `path` that was named (--to) exists: nothing is overwritten."""
    if path and os.path.lexists(path):
        raise UserError(f"--to {path}: exists already; remove it, or name another path")


def export_command(args):
    """Writes the model of a trained run in a format of others and prints where it is."""
    if args.quantization and args.format != "ctranslate2":
        raise UserError("--quantization goes with --format ctranslate2; add that, or leave it out")
    refuse_existing(args.to)
    run, tokenizer, training = load_named(args)
    path = Path(args.to) if args.to else export.place(run.path / "export", args.format)
    if args.format == "saved_model":
        export.saved_model(path, training.transformer, tokenizer)
    elif args.format == "keras":
        if path.suffix != ".keras":  # which Keras asks for
            path = path.with_name(f"{path.name}.keras")
        export.keras(path, training.transformer)
    else:
        export.ctranslate2(path, training.transformer, tokenizer, args.quantization)
    print(path)


def evaluate_command(args):
    """Scores a trained run on its test split again, or on files, alone or beside another run."""
    pairs = list(corpora.read_pairs(args.files)) if args.files else None
    if pairs == []:
        raise UserError(f"{args.files[0]}: holds no pair; name a file with one sentence a line")
    run, tokenizer, training = load_named(args)
    if args.against:
        against, its_tokenizer, other = load(args.against, args.checkpoint, **flags.given(args))
    if pairs is None:
        corpus = load_checked(run, training.options, "test")
        if args.against:
            its_corpus = load_checked(against, other.options, "test")
            if corpora.fingerprint(its_corpus.test) != corpora.fingerprint(corpus.test):
                raise UserError(
                    f"--against {against.path}: has another test split, so may have been trained "
                    "on this one; name files to compare them on: evaluate FILE FILE"
                )
        else:
            report(run, corpus, training, *evaluate(training, tokenizer, corpus))
            return
    sources, references = zip(*pairs, strict=True) if pairs else texts(corpus.test)
    scoring = {name: training.options[name] for name in SCORING}
    found = hypotheses(training, tokenizer, sources)
    if args.against:
        others = hypotheses(other, its_tokenizer, sources)
        named = " ".join(args.files) or f"the test split of {corpus.name}"
        print(
            f"{len(sources)} lines of {named}: {run.path} ({search_name(training.options)}) "
            f"against {against.path} ({search_name(other.options)})"
        )
        print(scores.comparison(found, others, references, **scoring))
    else:
        print(scores.table(scores.score(found, references, **scoring)))


EXPLORED = 200  # most tokens of a sentence to explore; weights take space by their square


def explore_command(args):
    """Writes an HTML page in which the attention of translated sentences can be followed."""
    refuse_existing(args.to)
    lines = [line for line in given_lines(args) if line.strip()]
    if not lines:
        raise UserError("no sentence to explore; give some as arguments, or as lines of stdin")
    run, tokenizer, training = load_named(args)
    for line in lines:
        if len(tokenizer.encode([line])[0]) > EXPLORED:
            raise UserError(f"{line[:40]!r}...: more than {EXPLORED} tokens; explore a part of it")
    attend = translator(training, tokenizer).attend
    sentences = {line: attend(line) for line in lines}
    page = explorer.page(sentences).encode()
    path = Path(args.to) if args.to else run.path / "explorer.html"
    if args.to:
        with export.whole_or_nothing(path) as unfinished:
            unfinished.write_bytes(page)
    else:
        run.write(path.name, page)
    print(path)


def first_source(run):
    """Returns the first test sentence that a run has translated; "" where it has none yet."""
    try:
        with open(run.path / "translations.txt", encoding="utf-8") as file:
            return file.readline().partition("\t")[0]
    except (OSError, ValueError):
        return ""


def plot_command(args):
    """Draws one picture of a trained run and prints where it is."""
    run, tokenizer, training = load_named(args)
    line = first_source(run)
    if args.sentence is not None:
        (line,) = corpora.decode_lines([os.fsencode(args.sentence) + b"\n"], "argument")
    if args.what in ("attention", "masks") and not line.strip():
        raise UserError(f"plot {args.what}: no sentence to draw; give one")
    choices = {name: getattr(args, name) for name in PICTURES[args.what]}
    print(Pictures(run, training, tokenizer, line).draw(args.what, **choices))


def command_line():
    """Returns the parser of all commands."""
    calls = {
        "train": train, "translate": translate_command, "score": score_command,
        "export": export_command, "evaluate": evaluate_command, "explore": explore_command,
        "plot": plot_command,
    }  # fmt: skip
    return commands.parser(__doc__.rpartition("\n\n")[0], calls, PICTURES)


MEND = {  # what helps against an error of the system
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make it writable"),
    errno.ENAMETOOLONG: "choose a shorter name",
}


def main(arguments):
    """Runs one command. Returns the process's exit code."""
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help")):
        arguments = ["train", *arguments]
    resume = "the same command resumes it"
    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if sys.stdout is None:
            raise UserError("stdout is closed; redirect it, for example to a file: > FILE")
        sys.stdout.reconfigure(encoding="utf-8")  # translations may hold any script
        args = command_line().parse_args(arguments)
        args.given = arguments
        try:
            args.call(args)
        finally:
            if getattr(args, "resume", None):
                resume = f"to resume it: {args.resume}"
        sys.stdout.flush()
    except SystemExit as end:  # of --help
        return end.code
    except UserError as error:
        say(f"run_demo.py: {error}")
        return 2
    except tf.errors.ResourceExhaustedError:
        say("run_demo.py: out of memory; lower --batch-size, --max-length or the model's sizes")
        return 2
    except cluster.LOST as error:
        if cluster.configured().alone:
            raise
        say(
            f"run_demo.py: a worker of {cluster.VARIABLE} was lost ({reason(error)}); start all of "
            "them again with the same command, which resumes from the newest checkpoint"
        )
        return 75  # as a command that may do better when tried again: sysexits.h, EX_TEMPFAIL
    except Interrupted as end:
        say(f"run_demo.py: interrupted; the training is saved; {resume}")
        return 128 + end.number
    except KeyboardInterrupt:
        more = f"; {resume}" if arguments[0] == "train" else ""
        say(f"run_demo.py: interrupted{more}")
        return 130
    except OSError as error:
        return unwritten(error)
    return 0


def unwritten(error):
    """Reports an OSError, of stdout unless it names a file. Returns the exit code."""
    if not error.filename:  # what waits to be written must not fail again as Python ends
        with contextlib.suppress(OSError):  # of a stdout that is no file, as a host may set
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # whoever read our output has gone, as `head` does
        return 141
    mend = MEND.get(error.errno, "check that path")
    say(f"run_demo.py: {error.filename or 'stdout'}: {error.strerror}; {mend}")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
