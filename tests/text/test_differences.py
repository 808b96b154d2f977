"""What must hold of the check of translations: it names what is lost or added, and nothing else."""

import pytest

from nmt.text.differences import difference
from nmt.text.glossary import Glossary
from nmt.text.protected import Protector


@pytest.mark.parametrize(
    ("source", "translation", "result"),
    [
        ("{a} at 4711", "à 471 {a}", "missing 4711; added 471"),
        ("1,234.50 euros", "1 234,50 euros", ""),
        ("3 books", "۳ کتاب", ""),
        ("３冊と４冊", "3 books", "missing 4"),
        ("1,234.50 euros", "1425 euros", "missing 1,234.50; added 1425"),
        ("2 and 2", "2 et", "missing 2"),
        ("<i>a</i>", "<b>a</b>", "missing <i>, </i>; added <b>, </b>"),
        ("see http://a.b/1", "voir http://a.b/2", "missing http://a.b/1; added http://a.b/2"),
        ("two dogs", "2 chiens", "added 2"),
        ("mp3 and %s", "MP3 et %d", "missing %s; added %d"),
        (
            "{Name} http://a.b/C",
            "{name} http://a.b/c",
            "missing {Name}, http://a.b/C; added {name}, http://a.b/c",
        ),
        ("A380", "A320", "missing A380; added A320"),
        ("1,5 euros", "5.1 euros", "missing 1,5; added 5.1"),
        ("2,5 quilos, 1,75 m", "25 kilos, 1.75 m", "missing 2,5; added 25"),
        ("10.30 Uhr", "10:30", ""),
        ("rooms 12 34", "chambres 34 12", "missing 12 34; added 34 12"),
        ("15 000 people", "15,000 people", ""),
        ("15\u202f000 and 12h30", "15000 and 12:30", ""),
        ("3 dogs and 4 cats", "4 chats et 3 chiens", ""),
        ("5 5 5", "5", "missing 5 5 5; added 5"),
        ("*a* | b", "a | b", "missing *, *"),
        ("a", "[a] \u266a", "added [, ], \u266a"),
        ("", "", ""),
    ],
)
def test_what_is_lost_or_added_is_named(source, translation, result):
    assert str(difference(source, translation)) == result


def test_terms_of_a_glossary_must_be_translated():
    protector = Protector(glossary=Glossary({"dog": "chien", "5 stars": "cinq étoiles"}))
    assert str(difference("A dog with 5 stars", "Un Chien cinq étoiles", protector)) == ""
    assert str(difference("dog and dog", "chien et chat", protector)) == "missing chien"


def test_patterns_of_the_user_are_compared():
    protector = Protector(patterns=["ACME"])
    assert str(difference("ACME", "Acme", protector)) == "missing ACME"
