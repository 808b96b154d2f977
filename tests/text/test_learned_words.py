"""What must hold of the forms of words: as the run has learned them, and back."""

import pytest

from nmt.text.case import capitals
from nmt.text.learned_words import (
    AS_FOUND,
    CAPITALS,
    LONGEST_WORD,
    SENTENCE,
    TITLE,
    LearnedWords,
    in_case,
)
from nmt.text.protected import FIRST_MARK
from nmt.text.special_tokens import UNKNOWN

MARK = "\u2581"
MARK_OF_A_NAME = chr(FIRST_MARK)


class Vocabulary:
    """A tokenizer of whole words; all else is a token a letter, or unknown."""

    words = ()

    def __init__(self, text, spells=True):
        self.pieces = ["<pad>", "<unk>", "<s>", "</s>", "<0x0A>", *map(MARK.__add__, text.split())]
        self.vocab_size = len(self.pieces)
        self.characters = frozenset(text)
        self.spells = spells

    def tokens(self, ids):
        return [self.pieces[number] for number in ids]

    def encode(self, lines):
        return [[2, *self.ids(line), 3] for line in lines]

    def ids(self, word):
        if MARK + word in self.pieces:
            return [self.pieces.index(MARK + word)]
        return [4] * len(word) if self.spells else [UNKNOWN]

    def text_ids(self, ids):
        return ids[1:-1]


CASED = Vocabulary(
    "Onde onde fica a estação o gato muito dorme Ana minha Minha mãe é às dia Bom manhã"
)
SMALL = Vocabulary("onde fica a estação o gato ana")


@pytest.mark.parametrize(
    ("text", "read", "case"),
    [
        ("Onde fica a estação?", "Onde fica a estação?", SENTENCE),
        ("ONDE FICA A ESTAÇÃO?", "Onde fica a estação?", CAPITALS),
        ("ONDE FICA A ESTACAO?", "Onde fica a estação?", CAPITALS),
        ("Onde fica a estacao?", "Onde fica a estação?", SENTENCE),
        ("Onde é a estacao?", "Onde é a estacao?", SENTENCE),  # who has an accent types them
        ("onde fica ana", "onde fica Ana", AS_FOUND),
        ("Gato", "gato", SENTENCE),
        ("Gato!", "gato!", SENTENCE),
        ("GATO", "gato", CAPITALS),
        ("Ana", "Ana", SENTENCE),
        ("Minha Mãe Dorme", "Minha mãe dorme", TITLE),
        ("Bom Dia!", "Bom dia!", TITLE),
        ("Bom, Dia", "Bom, Dia", SENTENCE),  # a name
        ("Minha Ana", "Minha Ana", SENTENCE),
        ("3 Gato dorme", "3 gato dorme", AS_FOUND),
        ("Bom dia, Ana!", "Bom dia, Ana!", SENTENCE),
        ("Manhã, gato", "manhã, gato", SENTENCE),  # four tokens less
        ("Uau, gato", "Uau, gato", SENTENCE),  # neither form is known
        ("Estação muito", "estação muito", SENTENCE),  # of a label, which has no stop
        ("Ana Dorme MUITO.", "Ana Dorme muito.", SENTENCE),  # no title
        ("O gato dorme MUITO", "O gato dorme muito", SENTENCE),
        ("A ONU dorme", "A ONU dorme", SENTENCE),
        ("3 + 4 = ?", "3 + 4 = ?", AS_FOUND),
        ("", "", AS_FOUND),
        ("我有3只猫", "我有3只猫", AS_FOUND),
        ("X" * (LONGEST_WORD + 1), "X" * (LONGEST_WORD + 1), AS_FOUND),
    ],
)
def test_words_are_read_in_the_forms_that_the_run_has_learned(text, read, case):
    reading = LearnedWords(CASED).read(text)
    assert (reading.text, reading.case) == (read, case)
    assert len(reading.text) == len(text)


def test_words_in_capitals_among_others_are_named():
    (span,) = LearnedWords(CASED).read("O gato dorme MUITO, Ana.").emphasized
    assert span == (13, 18)
    assert not LearnedWords(CASED).read("O GATO DORME MUITO").emphasized


def test_a_run_without_capitals_reads_none():
    reading = LearnedWords(SMALL).read("Onde fica a Ana?")
    assert reading == ("onde fica a ana?", SENTENCE, ())


def test_a_vocabulary_of_words_has_no_spelling_of_others():
    reading = LearnedWords(Vocabulary("gato o", spells=False)).read("O Gato Maior")
    assert reading.text == "o gato maior"


def test_the_case_of_letters_is_that_of_the_language():
    turkish = Vocabulary("ılık iyi su Su")
    assert LearnedWords(turkish, "tr").read("ILIK SU").text == "ılık su"
    assert LearnedWords(turkish, "tr").read("İYİ SU").text == "iyi su"
    assert in_case("iyi su", CAPITALS, "tr") == "İYİ SU"
    greek = Vocabulary("λόγος ο")
    assert LearnedWords(greek, "el").read("Ο ΛΟΓΟΣ").text == "Ο λόγος"
    assert in_case("λόγος", CAPITALS, "el") == capitals("λόγος") == "ΛΟΓΟΣ"


@pytest.mark.parametrize(
    ("text", "case", "written"),
    [
        ("where is the station?", CAPITALS, "WHERE IS THE STATION?"),
        ("we don't sleep", TITLE, "We Don't Sleep"),
        ("“cat of 3”", SENTENCE, "“Cat of 3”"),
        ("12", SENTENCE, "12"),
        ("12 cats", SENTENCE, "12 cats"),
        (f"{MARK_OF_A_NAME} sleeps", SENTENCE, f"{MARK_OF_A_NAME} sleeps"),
        ("the cat", AS_FOUND, "the cat"),
    ],
)
def test_a_translation_gets_the_case_of_its_source(text, case, written):
    assert in_case(text, case) == written
