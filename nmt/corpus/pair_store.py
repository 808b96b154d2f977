"""The token ids of all training pairs in two files, of which any pair can be read at any time.

    ids.tokens    the ids of source and target of each pair, one pair after the other
    ids.offsets   where each of these sides begins; at last, where the tokens end

TensorFlow maps both files into memory: the system keeps of them what it has space for, and their
size is limited by the disk alone.
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import tensorflow as tf

from nmt import UserError, output
from nmt.messages import reason

TEMPORARY_FOLDERS = []  # which are removed when the program ends


def id_type(vocab_size: int) -> tf.DType:
    """Returns the smallest type of this module that holds all ids of a vocabulary."""
    return tf.uint16 if vocab_size <= tf.uint16.max + 1 else tf.int32


class PairStore:
    """Pairs of ids on disk.

    Args:
      chunks: sources and targets (pairs, ragged) of int32, chunk by chunk.
      vocab_size: ids are less than it.
      folder: where the files are written, and replace older ones; None for a temporary folder.

    Attributes:
      pairs: the number of pairs.

    Raises:
      UserError: the files cannot be written.
    """

    def __init__(
        self,
        chunks: Iterable[tuple[tf.RaggedTensor, tf.RaggedTensor]],
        vocab_size: int,
        folder: Path | None = None,
    ):
        if folder is None:
            TEMPORARY_FOLDERS.append(tempfile.TemporaryDirectory())
            folder = Path(TEMPORARY_FOLDERS[-1].name)
        self._id_type = id_type(vocab_size)
        self._token_path, self._offset_path = folder / "ids.tokens", folder / "ids.offsets"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.pairs, self._tokens = self._write(chunks)
        except (tf.errors.OpError, OSError) as error:
            full = not isinstance(error, OSError) or error.errno in output.FULL
            raise UserError(
                f"{folder}: the tokenized text could not be saved ({reason(error)}); "
                f"{'free some space, or ' if full else ''}name another --run"
            ) from None

    def _write(self, chunks) -> tuple[int, int]:
        """Writes both files. Returns the numbers of pairs and of tokens."""
        pairs, tokens = 0, 0
        with self._token_path.open("wb") as token_file, self._offset_path.open("wb") as offset_file:
            for inp, tar in chunks:
                sides = tf.stack([inp, tar], axis=1).merge_dims(0, 1)  # (2 pairs, ragged)
                ids = sides.flat_values.numpy()
                token_file.write(ids.astype(self._id_type.as_numpy_dtype).tobytes())
                offset_file.write((tokens + sides.row_starts().numpy()).tobytes())  # of int64
                pairs, tokens = pairs + int(inp.nrows()), tokens + len(ids)
            offset_file.write(np.int64(tokens).tobytes())
        return pairs, tokens

    def read_in_graph(self, numbers: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns sources and targets (pairs, ragged) of int32.

        Args:
          numbers: of the pairs, (pairs,) of int64, in the order in which they were written.
        """
        offsets = _mapped(self._offset_path, tf.int64, 2 * self.pairs + 1)
        tokens = _mapped(self._token_path, self._id_type, self._tokens)

        def side(place):  # 0 for the source, 1 for the target
            begin = tf.gather(offsets, 2 * numbers + place)  # (pairs,)
            end = tf.gather(offsets, 2 * numbers + place + 1)
            return tf.ragged.map_flat_values(
                lambda places: tf.cast(tf.gather(tokens, places), tf.int32),
                tf.ragged.range(begin, end),
            )  # (pairs, ragged)

        return side(0), side(1)


def _mapped(path: Path, dtype: tf.DType, length: int) -> tf.Tensor:
    """Returns the values (length,) of a file, of which only what is used is read."""
    if not length:  # an empty file cannot be mapped
        return tf.zeros([0], dtype)
    return tf.raw_ops.ImmutableConst(dtype=dtype, shape=[length], memory_region_name=str(path))
