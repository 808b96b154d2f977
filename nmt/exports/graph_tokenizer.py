"""The tokenizer inside a TensorFlow graph, for exports that take strings: by tensorflow-text."""

import tensorflow as tf
import tensorflow_text as tf_text

from nmt.text import spelling


def graph_tokenizer(model: bytes) -> tf_text.SentencepieceTokenizer:
    """Returns the operators of a SentencePiece model; ids have START first and END last."""
    with tf.init_scope():  # not as a part of the graph that is the first to need it
        return tf_text.SentencepieceTokenizer(model, add_bos=True, add_eos=True)


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
