"""What must hold of the case of letters: a translation has that of its source."""

import pytest
from helpers import ROOT

from nmt.runs.loading import load_translator


@pytest.fixture(scope="module")
def translate():
    return load_translator(ROOT / "data" / "trained")


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("ONDE FICA A ESTAÇÃO?", "WHERE IS THE STATION?"),
        ("O gato está MUITO cansado.", "The cat is VERY tired."),
        ("Hoje é SEGUNDA-FEIRA.", "Today is MONDAY."),
        ("Onde fica o BANHEIRO?", "Where is the BATHROOM?"),
        ("Meu Irmão Comprou Um Carro Vermelho.", "My Brother Bought A Red Car."),
        ("O carro **vermelho** é novo.", "The **red** car is new."),
    ],
)
def test_a_translation_has_the_case_of_its_source(translate, source, translation):
    assert next(iter(translate([source]))) == translation
    *_, sentence = translate.sentences(source)
    assert sentence.translation == translation


def test_what_a_translation_begins_with_keeps_its_case(translate):
    source = "ONDE FICA A ESTAÇÃO?"
    (best,) = next(iter(translate.hypotheses([source], prefixes=["Where"])))
    assert best.text == "Where IS THE STATION?"


def test_a_term_at_the_beginning_keeps_its_case(translate):
    texts = translate.with_terms({"gato": "xyzzy"}, ["pt", "en"])(["Gato"])
    assert "xyzzy" in next(iter(texts))


def test_text_is_streamed_in_its_case(translate):
    partial = []
    list(translate.sentences("ONDE FICA?", on_text=lambda text: not partial.append(text)))
    assert partial
    assert all(text == text.upper() for text in partial)


def test_words_in_another_case_are_aligned_as_in_their_own(translate):
    pairs = [("Onde fica a estação?", "Where is the station?")]
    (links,) = translate.align(pairs)
    (in_capitals,) = translate.align([tuple(map(str.upper, pair)) for pair in pairs])
    assert in_capitals == links
