"""What must hold of the languages: a text is recognized among those that the runs have seen."""

import pytest

from nmt.serving.languages import Profile, detect, number_of_kinds
from nmt.serving.models import Direction, directions_of

GERMAN = ["Ein Mann fährt Fahrrad.", "Zwei Hunde laufen über die Straße.", "Das ist nicht gut."]
ENGLISH = ["A man is riding a bike.", "Two dogs run across the street.", "That is not good."]


def test_a_language_is_recognized_by_its_sequences_of_characters():
    profiles = {"de": Profile(GERMAN), "en": Profile(ENGLISH)}
    assert detect("Die Hunde laufen nicht.", profiles)[0].code == "de"
    assert detect("the dogs do not run", profiles)[0].code == "en"
    assert {detection.code for detection in detect("", profiles)} == {"de", "en"}
    assert detect("Hunde", profiles) == detect("Hunde", profiles, number_of_kinds(profiles))


def test_confidence_is_low_for_characters_that_no_run_has_seen():
    (detection,) = detect("日本語です", {"de": Profile(GERMAN)})
    assert detection.confidence < 40
    (detection,) = detect("Ein Hund.", {"de": Profile(GERMAN)})
    assert detection.confidence == 100


def test_a_language_without_sentences_is_still_possible():
    codes = [
        detection.code for detection in detect("x", {"de": Profile(GERMAN), "fr": Profile([])})
    ]
    assert sorted(codes) == ["de", "fr"]


def test_several_targets_have_tags():
    assert directions_of(["en", "de"], "") == [Direction("en", "de")]
    assert directions_of(["en", "de", "fr"], "<2de> ((X)) <2fr>") == [
        Direction("en", "de", "<2de>"),
        Direction("en", "fr", "<2fr>"),
    ]
    with pytest.raises(ValueError, match="none"):
        directions_of(["en", "de", "fr"], "")
