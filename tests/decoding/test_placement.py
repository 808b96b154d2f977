"""What must hold of phrases that a translation lacks: they are put in, where they fit best."""

import pytest

from nmt.decoding import placement
from nmt.decoding.sentence import Candidate, HiddenText, Sentence, SpanLink
from nmt.text.protected import Span


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("Our father cooks.", [(3, 10)], ["Our dad cooks."]),
        ("Father's name is Ed.", [(0, 8)], ["Dad's name is Ed."]),
        ("il boit l'eau.", [(7, 14)], ["il boit l'dad."]),
        ("in the sea", [(0, 2), (6, 10)], ["dad the sea", "in the dad"]),
        ("Nothing here.", [], ["Nothing here dad."]),
        ("", [], ["dad"]),
        ("我爸做", [(1, 2)], ["我dad做"]),
    ],
)
def test_a_term_replaces_a_word_that_attends_to_it(text, spans, expected):
    assert placement.replacements(text, "dad", spans) == expected


def test_a_phrase_goes_before_the_end():
    assert placement.with_phrase("Two dogs. ", "dad") == "Two dogs dad. "


def slot(text, source, *terms):
    """Returns the Slot of a translation of a source, or None."""
    sentence = Sentence(source, "", hidden=HiddenText(source, []))
    sentence.terms = [
        Span(source.index(term), source.index(term) + len(term), "term", term.upper())
        for term in terms
    ]
    sentence.candidates = [Candidate(text, -1.0, -1.0)]
    slots = placement.slots(sentence)
    return slots[0] if slots else None


def test_many_phrases_are_put_in_at_once(monkeypatch):
    monkeypatch.setattr(placement, "MAX_PHRASES", 2)
    many = slot("Ende.", "a b c", "a", "b", "c")
    (text,) = many.texts([])
    assert text == "Ende A B C."
    many.take([text], [-1.0])
    assert not many.phrases


def test_what_the_user_lets_a_translation_begin_with_stays():
    dog = slot("A Hund barks", "a dog barks", "dog")
    links = [SpanLink((2, 5), (2, 6))]
    assert dog.texts(links) == ["A DOG barks"]
    dog.sentence.prefix_text = "A Hund"
    assert dog.texts(links) == ["A Hund barks DOG"]


def test_a_translation_that_loses_another_term_is_not_taken():
    dog = slot("the CAT and Hund", "the cat and dog", "cat", "dog")
    dog.take(["the DOG and Hund", "the CAT and DOG"], [-1.0, -9.0])
    assert dog.sentence.translation == "the CAT and DOG"
    assert not dog.phrases


def test_a_term_that_cannot_be_put_in_is_left_out():
    dog = slot("A Hund barks", "a dog barks", "dog")
    dog.take(["A DOGMA barks"], [-1.0])
    assert dog.sentence.translation == "A Hund barks"
    assert not dog.phrases


def test_what_is_put_in_does_not_count_in_the_order_of_candidates():
    dog = slot("A Hund barks", "a dog barks", "dog")
    dog.take(["A DOG barks"], [-32.2])
    assert dog.sentence.candidates == [Candidate("A DOG barks", -1.0, -1.0)]


def test_of_several_targets_of_a_term_the_likeliest_is_put_in():
    dog = slot("A Hund barks", "a dog barks", "dog")
    (term,) = dog.sentence.terms
    dog.sentence.terms = [term._replace(original="toutou", other_targets=("chien",))]
    (dog,) = placement.slots(dog.sentence)
    texts = dog.texts([SpanLink((2, 5), (2, 6))])
    assert texts == ["A toutou barks", "A chien barks"]
    dog.take(texts, [-2.0, -1.0])
    assert dog.sentence.translation == "A chien barks"
