"""Files of parallel text as tf.data datasets, several of them mixed by weight.

Everything streams: a file is read once, in Python, to check it and count its pairs, and again, by
tf.data, whenever its dataset is iterated. No corpus is ever held in memory. What tf.data cannot
read, Python copies to a temporary file: files of pairs other than a plain .tsv, and unusual gzip
files.
"""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf

from nmt import UserError
from nmt.corpus import files
from nmt.corpus.formats.format import Selection
from nmt.messages import log
from nmt.text.encoding import BOM, GZIP, opened, read_lines

COPIES = []  # open temporary files, which are removed when the program ends
CHUNK = 1024  # pairs read at a time: a call of tf.data per pair would take longer


def compression(path: str | Path) -> str | None:
    """Returns the compression of a file, as tf.data names it; None for none."""
    return "GZIP" if str(path).endswith(GZIP) else None


def same_lines(path: str | Path) -> bool:
    """Returns whether tf.data reads as many lines of a gzip file as Python does.

    TensorFlow 2.21 stops at an empty member, as bgzip writes one, and fails at padding.
    """
    lines = tf.data.TextLineDataset(str(path), compression(path)).batch(CHUNK)
    try:
        number = sum(len(chunk) for chunk in lines.as_numpy_iterator())
    except tf.errors.OpError:
        return False
    with opened(path) as file:
        return number == sum(1 for _ in file)


def copied(path: str | Path, lines: Iterable[str]) -> str:
    """Writes `lines` (strings) of a file to a temporary one. Returns its path.

    Raises:
      UserError: there is no space for it.
    """
    try:
        copy = tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n")  # noqa: SIM115
        COPIES.append(copy)
        copy.writelines(f"{line}\n" for line in lines)
        copy.flush()
    except OSError as error:
        raise UserError(
            f"{path}: cannot be copied to {tempfile.gettempdir()} ({error.strerror}), for "
            "TensorFlow to read; free some space there, or name a .tsv, plain or compressed by gzip"
        ) from None
    log.info(f"{path}: copied to {copy.name} while the program runs, for TensorFlow to read.")
    return copy.name


class _ReadableFiles(NamedTuple):
    """Files of a checked corpus that tf.data reads."""

    paths: list[str | Path]  # a file of lines of source, tab and target, or two aligned files
    pairs: int


def readable(paths: Sequence[str | Path], selection: Selection) -> _ReadableFiles:
    """Reads the files of a corpus through once. Returns them, or copies of them, for tf.data."""
    if len(paths) == 1 and not files.is_plain(paths[0], selection):
        copy = copied(paths[0], map("\t".join, files.read_table(paths[0], selection)))
        with open(copy, "rb") as file:
            return _ReadableFiles([copy], sum(1 for _ in file))
    pairs = sum(1 for _ in files.read_pairs(paths, selection))
    readable_paths = [
        copied(path, read_lines(path)) if compression(path) and not same_lines(path) else path
        for path in paths
    ]
    return _ReadableFiles(readable_paths, pairs)


def checked_dataset(
    paths: Sequence[str | Path], selection: Selection = files.WHOLE_FILE
) -> tf.data.Dataset:
    """Reads the files through once. Returns them as a dataset of string pairs, of known length.

    Args:
      paths, selection: see `files.read_pairs`.
    """
    for path in paths:
        files.check_is_stored(path)
    readable_files = readable(paths, selection)
    pairs = readable_files.pairs
    if not pairs:
        raise files.without_pairs(paths[0])

    def columns(lines):
        lines = tf.boolean_mask(lines, lines != "")
        return tuple(tf.unstack(tf.strings.split(lines, "\t").to_tensor(shape=(None, 2)), axis=1))

    # Not Dataset.from_generator: on Python 3.11 its op makes the whole process remap the memory of
    # every larger tensor (mallopt, TensorFlow 2.21). On the bundled corpus a training step
    # took 198 ms with it, 121 ms without.
    texts = [
        tf.data.TextLineDataset(  # which drops every "\r": `decode_lines` refuses others
            str(path), compression(path)
        )
        .batch(CHUNK)
        .map(lambda lines: tf.strings.regex_replace(lines, f"^{BOM}", ""))
        for path in readable_files.paths
    ]
    chunks = tf.data.Dataset.zip(*texts) if len(texts) == 2 else texts[0].map(columns)
    return chunks.unbatch().apply(tf.data.experimental.assert_cardinality(pairs))


def spread(data: tf.data.Dataset, chunks: int) -> tf.data.Dataset:
    """Returns the pairs of a dataset in so many batches of about equal size, some of them empty."""
    size = -(-len(data) // chunks)
    full = -(-len(data) // size)
    empty = tf.data.Dataset.from_tensors((tf.zeros([0], tf.string),) * 2).repeat()

    def is_empty(chunk):
        return tf.cast((chunk + 1) * full // chunks == chunk * full // chunks, tf.int64)

    which = tf.data.Dataset.range(chunks).map(is_empty)
    return tf.data.Dataset.choose_from_datasets([data.batch(size), empty], which)


def mixed(datasets: Sequence[tf.data.Dataset]) -> tf.data.Dataset:
    """Returns one dataset of the pairs of all `datasets`, evenly mixed, always in the same order.

    Each CHUNK of it holds pairs of each dataset by their numbers, so that the vocabulary's sample
    and a small --buffer-size mix corpora that follow each other.
    """
    if len(datasets) == 1:
        return datasets[0]
    pairs = sum(map(len, datasets))
    chunks = -(-pairs // CHUNK)
    together = tf.data.Dataset.zip(*(spread(data, chunks) for data in datasets))
    joined = together.map(
        lambda *shares: tuple(tf.concat(side, 0) for side in zip(*shares, strict=True))
    )
    return joined.unbatch().apply(tf.data.experimental.assert_cardinality(pairs))


def text_dataset(
    names: Sequence[str | Path], selection: Selection = files.WHOLE_FILE
) -> tf.data.Dataset:
    """Returns the pairs of files as one dataset; those of a group are repeated by its weight.

    Args:
      names: of files, see `files.grouped`.
      selection: which two sides of files of pairs are meant.
    """
    groups = files.grouped(names)
    return mixed([checked_dataset(group.paths, selection).repeat(group.weight) for group in groups])
