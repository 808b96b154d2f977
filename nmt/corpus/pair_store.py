"""Token ids of pairs, one after the other, of which a graph reads any pair at any time.

A PairStore holds those of all training pairs in two files:

    ids.tokens    the ids of source and target of each pair, one pair after the other
    ids.offsets   where each of these sides begins; at last, where the tokens end

TensorFlow maps both files into memory: the system keeps of them what it has space for, and their
size is limited by the disk alone.
"""

import itertools
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from nmt import UserError, output
from nmt.messages import reason

TEMPORARY_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []  # removed at the end


class PairIds(NamedTuple):
    """The ids of a chunk of pairs."""

    sources: list[list[int]]
    targets: list[list[int]]


class FlatIds(NamedTuple):
    """The ids of pairs in one array; both sides of a pair follow each other."""

    tokens: np.ndarray  # (tokens,)
    offsets: np.ndarray  # where each side begins, and where the last one ends, (2 pairs + 1,)


def flat_ids(ids: PairIds, dtype: type) -> FlatIds:
    """Returns the ids of a chunk of pairs as arrays."""
    sides = [side for pair in zip(*ids, strict=True) for side in pair]
    offsets = np.cumsum([0, *map(len, sides)], dtype=np.int64)
    tokens: np.ndarray = np.fromiter(itertools.chain.from_iterable(sides), dtype, offsets[-1])
    return FlatIds(tokens, offsets)


def read_in_graph(
    tokens: tf.Tensor, offsets: tf.Tensor, numbers: tf.Tensor
) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
    """Returns sources and targets (pairs, ragged) of int32, by numbers of pairs (pairs,)."""

    def side(place: int) -> tf.RaggedTensor:  # 0 for the source, 1 for the target
        begin = tf.gather(offsets, 2 * numbers + place)  # (pairs,)
        end = tf.gather(offsets, 2 * numbers + place + 1)
        return tf.ragged.map_flat_values(
            lambda places: tf.cast(tf.gather(tokens, places), tf.int32),
            tf.ragged.range(begin, end),
        )  # (pairs, ragged)

    return side(0), side(1)


class PairStore:
    """Pairs of ids on disk, where they replace older ones; without a folder, in a temporary one.

    A UserError if they cannot be written.
    """

    def __init__(self, chunks: Iterable[PairIds], vocab_size: int, folder: Path | None = None):
        if folder is None:
            TEMPORARY_FOLDERS.append(tempfile.TemporaryDirectory())
            folder = Path(TEMPORARY_FOLDERS[-1].name)
        self._id_type = tf.uint16 if vocab_size <= tf.uint16.max + 1 else tf.int32
        self._token_path, self._offset_path = folder / "ids.tokens", folder / "ids.offsets"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.pairs, self._tokens = self._write(chunks)
        except OSError as error:
            full = error.errno in output.FULL
            raise UserError(
                f"{folder}: the tokenized text could not be saved ({reason(error)}); "
                f"{'free some space, or ' if full else ''}name another --run"
            ) from None

    def _write(self, chunks: Iterable[PairIds]) -> tuple[int, int]:
        pairs, tokens = 0, 0
        with self._token_path.open("wb") as token_file, self._offset_path.open("wb") as offset_file:
            for chunk in chunks:
                ids = flat_ids(chunk, self._id_type.as_numpy_dtype)
                token_file.write(ids.tokens.tobytes())
                offset_file.write((tokens + ids.offsets[:-1]).tobytes())
                pairs, tokens = pairs + len(chunk.sources), tokens + len(ids.tokens)
            offset_file.write(np.int64(tokens).tobytes())
        return pairs, tokens

    def read_in_graph(self, numbers: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns sources and targets (pairs, ragged) of int32, by their numbers (pairs,)."""
        tokens = _mapped(self._token_path, self._id_type, self._tokens)
        offsets = _mapped(self._offset_path, tf.int64, 2 * self.pairs + 1)
        return read_in_graph(tokens, offsets, numbers)


def _mapped(path: Path, dtype: tf.DType, length: int) -> tf.Tensor:
    """Returns the values (length,) of a file, of which only what is used is read."""
    if not length:  # an empty file cannot be mapped
        return tf.zeros([0], dtype)
    return tf.raw_ops.ImmutableConst(dtype=dtype, shape=[length], memory_region_name=str(path))
