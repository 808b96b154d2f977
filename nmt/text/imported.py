"""What is known of the imported model whose vocabulary a tokenizer has."""

from typing import NamedTuple


class Imported(NamedTuple):
    """An imported model, and how its vocabulary is used."""

    model: str  # its name
    license: str  # of its weights; "" if it names none
    entries: int  # of the source's vocabulary, of those that SentencePiece knows
    target_entries: int
    tag: str = ""  # the token that each source begins with, which names the target language
    has_two_models: bool = False  # of SentencePiece, one for each language
