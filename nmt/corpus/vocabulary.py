"""A vocabulary from the pairs of a data set."""

from nmt.corpus.corpora import trained_on
from nmt.corpus.datasets import Dataset
from nmt.neighbors import params
from nmt.text.tokenizer import LineSample, learn_vocabulary


def train_tokenizer(
    pairs: Dataset,
    vocab_size: int,
    pieces: str = "bpe",
    words_per_piece: int = params.WORDS_PER_PIECE,
    symbols: str = "",
) -> bytes:
    """Learns a vocabulary from both sides of `pairs`. Returns SentencePiece's model as bytes."""
    sample = LineSample()
    for pair in trained_on(pairs):
        sample.add(*pair)
    return learn_vocabulary(sample, vocab_size, pieces, words_per_piece, symbols)
