"""Text to token ids and back: one SentencePiece vocabulary for both languages."""

import hashlib
import random
import re
import tempfile
from io import BytesIO

import sentencepiece
import tensorflow_text as tf_text
from sentencepiece.sentencepiece_model_pb2 import ModelProto

import params
from nmt import UserError
from nmt.messages import reason
from nmt.text.datasets import CHUNK
from transformer_model import END, PAD, START, UNKNOWN

MAX_LINES = 1_000_000  # that the vocabulary is learned from
MAX_CHARACTERS = 1000  # in a piece of a line: SentencePiece skips lines of more than 4,192 bytes
MIN_VOCABULARY = 3000  # even for a short text: a smaller one makes sentences too long
# The only normalization turns SentencePiece's own mark of a space into a space. The default rules
# turn 1º into 1o and m² into m2; with no rule, tensorflow-text warns when it loads the vocabulary.
NORMALIZATION = "2581\t20\n"  # hexadecimal code points
RESERVED = re.compile("^<(s|/s|pad|unk|0x..)>$|\u2581")  # symbols of its own
BASIC_TOKENS = 4 + 256  # PAD, UNKNOWN, START, END, and the bytes
PARAMETERS = (
    "vocab_size",
    "pieces",
    "words_per_piece",
    "symbols",
)  # that define a vocabulary


def train_tokenizer(
    pairs, vocab_size, pieces="bpe", words_per_piece=params.WORDS_PER_PIECE, symbols=""
):
    """Learns a vocabulary from both sides of `pairs`. Returns SentencePiece's model as bytes.

    Equal text gives equal bytes, so that runs with different seeds can form an ensemble.

    With "bpe", unseen characters become bytes, so that any text has tokens and is decoded
    unchanged, except that tabs, line breaks and U+2581, SentencePiece's own mark of a space, become
    spaces. With "word", unseen words are UNKNOWN. A short text gets a smaller vocabulary.

    Args:
      pairs: a dataset of string pairs.
      vocab_size: vocabulary entries, at most.
      pieces: "bpe" or "word".
      words_per_piece: words of text per vocabulary entry, at least.
      symbols: words that are entries of the vocabulary, and never split, separated by spaces.

    Raises:
      UserError: SentencePiece cannot learn a vocabulary of that size from this text, or a symbol is
        one of its own.
    """
    symbols = [*dict.fromkeys(symbols.split())]
    if own := [symbol for symbol in symbols if RESERVED.search(symbol)]:
        raise UserError(f"--symbols {own[0]}: has a meaning for SentencePiece; choose other words")
    sample, words, letters, rng = [], 0, set(), random.Random(0)
    chunks = pairs.batch(CHUNK).as_numpy_iterator()
    texts = (
        line.decode() for chunk in chunks for pair in zip(*chunk, strict=True) for line in pair
    )
    lines = (
        text[start : start + MAX_CHARACTERS]
        for text in texts
        for start in range(0, len(text), MAX_CHARACTERS)
    )
    for seen, line in enumerate(lines, start=1):
        if len(sample) < MAX_LINES:
            sample.append(line)
        elif (index := rng.randrange(seen)) < MAX_LINES:  # reservoir: all equally likely
            sample[index] = line
        words += len(line.split())
        letters.update(line)
    if not words:
        raise UserError("the training text holds no words; name files that do")
    least = BASIC_TOKENS + len(symbols) + len(letters)
    if pieces == "bpe":
        size = min(vocab_size, max(MIN_VOCABULARY, least, words // words_per_piece))
    else:
        size = vocab_size
    output = BytesIO()
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
            rules.write(NORMALIZATION)
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
                user_defined_symbols=symbols,
                unk_id=UNKNOWN,
                bos_id=START,
                eos_id=END,
                minloglevel=2,
            )
    except RuntimeError as error:
        raise UserError(
            f"no vocabulary of {size} entries can be learned from the training text "
            f"({reason(error)}); use more text, or a --vocab-size of about {least}"
        ) from None
    model = ModelProto.FromString(output.getvalue())
    model.normalizer_spec.ClearField("normalization_rule_tsv")  # the name of the temporary file
    return model.SerializeToString()


class Tokenizer:
    """Text to token ids and back: SentencePiece, in Python and inside TensorFlow graphs.

    Args:
      model: bytes of a SentencePiece model.
    """

    def __init__(self, model):
        self.model, self.sha256 = model, hashlib.sha256(model).hexdigest()
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model, num_threads=1)
        self.graph_tokenizer = tf_text.SentencepieceTokenizer(model, add_bos=True, add_eos=True)
        self.vocab_size = self.processor.vocab_size()

    def encode_in_graph(self, texts):
        """Strings (...) -> ids (..., L), START first and END last; ragged unless a scalar."""
        return self.graph_tokenizer.tokenize(texts)

    def encode(self, lines):
        """Strings -> a list of lists of ids, START first and END last."""
        return self.processor.encode(list(lines), add_bos=True, add_eos=True)

    def decode(self, ids):
        """Ids (B, L) -> B strings, of one line each, without START, END and PAD."""
        return [re.sub(r"[\r\n\t]", " ", text) for text in self.processor.decode(ids.tolist())]

    def tokens(self, ids):
        """Ids (L,) -> a list of L token strings."""
        return self.processor.id_to_piece([int(number) for number in ids])
