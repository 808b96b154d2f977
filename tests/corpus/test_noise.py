"""What must hold of text as people type it."""

import itertools

import pytest

from nmt.corpus import noise
from nmt.corpus.noise import AUGMENTED, EMOJI, KINDS

PAIR = "Onde fica a estação, Ana?", "Where's the station, Ana?"


@pytest.mark.parametrize(
    ("kind", "source", "reference"),
    [
        ("as it is", *PAIR),
        ("in capitals", "ONDE FICA A ESTAÇÃO, ANA?", "WHERE'S THE STATION, ANA?"),
        ("as titles", "Onde Fica A Estação, Ana?", "Where's The Station, Ana?"),
        ("in small letters", "onde fica a estação, ana?", PAIR[1]),
        ("without accents", "Onde fica a estacao, Ana?", PAIR[1]),
        ("without stops", "Onde fica a estação Ana", PAIR[1]),
        ("with two stops for one", "Onde fica a estação,, Ana??", PAIR[1]),
        ("with an emoji", PAIR[0] + EMOJI, PAIR[1] + EMOJI),
    ],
)
def test_a_kind_changes_the_source_and_what_is_expected(kind, source, reference):
    columns = noise.typed([[PAIR[0]], [PAIR[1]], [""]], ("pt", "en"))
    number = [*KINDS].index(kind)
    assert [column[number] for column in columns] == [source, reference, ""]


def test_a_typing_error_is_one_letter_of_a_long_word_and_the_same_each_time():
    texts = ["Onde fica a estação?", "casa", "o gato dorme muito"]
    for text in texts:
        typed = noise.mistyped(text)
        assert typed != text or any(a == b for a, b in itertools.pairwise(text))
        assert abs(len(typed) - len(text)) <= 1
        assert typed == noise.mistyped(text)
        assert sum(a != b for a, b in zip(typed.split(), text.split(), strict=True)) == 1
    assert noise.mistyped("o dia") == "o dia"
    assert len({noise.mistyped(f"casa {number}") for number in range(50)}) > 20


def test_a_share_of_the_sources_is_augmented_by_a_seed():
    pairs = [(f"Estação número {number}, já.", str(number)) for number in range(1000)]
    some = [*noise.augmented(pairs, 0.3, seed=1)]
    changed = sum(one != other for one, other in zip(some, pairs, strict=True))
    assert 250 < changed < 350
    assert [target for _, target in some] == [target for _, target in pairs]
    assert some == [*noise.augmented(pairs, 0.3, seed=1)]
    assert some != [*noise.augmented(pairs, 0.3, seed=2)]
    assert [*noise.augmented(pairs, 0.0, seed=1)] == pairs
    expected = {KINDS[kind].source(source, "") for kind in AUGMENTED for source, _ in pairs}
    assert {source for source, _ in noise.augmented(pairs, 1.0, seed=1)} <= expected
