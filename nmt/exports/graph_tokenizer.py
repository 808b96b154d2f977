"""The tokenizer inside a TensorFlow graph, for exports that take strings: by tensorflow-text."""

import tensorflow as tf
import tensorflow_text as tf_text

from nmt.text import spelling
from nmt.text.special_tokens import END, UNKNOWN
from nmt.text.tokenizer import Tokenizer


class GraphTokenizer(tf.Module):
    """What a Tokenizer does, as operators."""

    def __init__(self, tokenizer: Tokenizer):
        super().__init__()
        self._before = tokenizer.before
        self.empty_length = tokenizer.empty_length
        self._table = None
        with tf.init_scope():  # not as a part of the graph that is the first to need it
            # Tracked: its model is saved, too.
            self._processor = tf_text.SentencepieceTokenizer(tokenizer.model)
            if tokenizer.table is not None:
                self._words = tf_text.SentencepieceTokenizer(tokenizer.model, out_type=tf.string)
                names, ids = tokenizer.table.keys(), tokenizer.table.values()
                entries = tf.lookup.KeyValueTensorInitializer(
                    [*names], [*ids], value_dtype=tf.int32
                )
                self._table = tf.lookup.StaticHashTable(entries, UNKNOWN)

    def encode(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Strings (B,) -> ids, ragged (B, L): those before a text, its own, and END."""
        return self.encode_normal(trimmed(texts))

    def encode_normal(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Does what `encode` does, of texts in their normal form."""
        if self._table is None:
            ids = self._processor.tokenize(texts)
        else:
            words = self._words.tokenize(texts)
            ids = words.with_flat_values(self._table.lookup(words.flat_values))
        return tf.concat([self._rows(self._before, texts), ids, self._rows([END], texts)], axis=1)

    def _rows(self, ids: list[int], texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the same ids for each of strings (B,), ragged (B, len(ids))."""
        rows = tf.tile(tf.constant([ids], tf.int32), [tf.size(texts), 1])
        return tf.RaggedTensor.from_tensor(rows)

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids (B, L) -> strings (B,). START must not be among them: it would drop spaces."""
        return self._processor.detokenize(ids)


def normal(texts: tf.Tensor) -> tf.Tensor:
    """Returns what spelling.normal does, of strings (...)."""
    texts = tf.strings.regex_replace(texts, spelling.INVISIBLE_CHARACTER.pattern, "")
    texts = tf.strings.regex_replace(texts, spelling.SPACE_CHARACTER.pattern, " ")
    return tf_text.normalize_utf8(texts, "NFC")


def printed(texts: tf.Tensor) -> tf.Tensor:
    """Returns what spelling.printed does, of strings (...)."""
    return tf.strings.regex_replace(texts, spelling.LINE_ENDS.pattern, " ")


def trimmed(texts: tf.Tensor) -> tf.Tensor:
    """Returns what spelling.trimmed does, of strings (...)."""
    blank = tf.strings.regex_full_match(texts, spelling.BLANK_TEXT.pattern)
    return tf.where(blank, "", tf.strings.strip(normal(texts)))
