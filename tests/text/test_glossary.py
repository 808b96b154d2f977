"""What must hold of a glossary: the longest term, whole words, the case of the source."""

import pytest

from nmt import UserError
from nmt.text.glossary import Glossary, read_glossary, take_out_terms
from nmt.text.protected import Protector, replace


def translate(text, terms):
    """Returns a text whose terms are replaced by their translations, and nothing else."""
    spans = Protector(glossary=Glossary(terms)).terms(text)
    return replace(text, spans, [span.original for span in spans])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog and an ice hockey game", "a chien and an hockey sur glace game"),
        ("ice, dogs, hotdog, dog's", "glace, dogs, hotdog, chien's"),
        ("A Dog, DOG, Ice Hockey", "A Chien, CHIEN, Hockey sur glace"),
        ("US and us; PARIS", "États-Unis and us; PARIS"),
        ("the 5 stars, 5 {dog}", "the cinq étoiles, 5 {dog}"),
        ("https://dog.com/ice ice", "https://dog.com/ice glace"),
        ("我的狗好", "我的chien好"),
    ],
)
def test_terms_are_whole_words_the_longest_in_the_case_of_the_source(text, expected):
    terms = {"dog": "chien", "ice": "glace", "ice hockey": "hockey sur glace", "狗": "chien"}
    assert translate(text, terms | {"US": "États-Unis", "5 stars": "cinq étoiles"}) == expected


def test_a_capital_that_begins_a_text_is_not_the_terms():
    assert translate("Dog and Dog", {"dog": "chien"}) == "chien and Chien"
    assert translate(" DOG", {"dog": "chien"}) == " CHIEN"


def test_terms_stay_in_the_text_that_has_symbols_for_all_else():
    protector = Protector(glossary=Glossary({"5 dogs": "cinq chiens", "1": "un"}))
    assert protector.protect("5 dogs, 7 {x} 1").text == "5 dogs, ⟦0⟧ ⟦1⟧ 1"
    assert protector.protect_pair("1 and 2", "1 et 2")[0] == "1 and ⟦0⟧"


@pytest.mark.parametrize(
    ("text", "terms", "missing"),
    [
        ("le chien", ["chien"], []),
        ("Chien et chienne", ["chien", "chien"], ["chien"]),
        ("l'eau", ["eau"], []),
        ("hockey sur glace", ["glace", "hockey sur glace"], ["glace"]),
        ("aux états-unis", ["États-Unis"], ["États-Unis"]),
        ("我的狗好", ["狗"], []),
    ],
)
def test_a_translation_holds_a_term_as_whole_words_once_for_each(text, terms, missing):
    assert take_out_terms(text, terms)[1] == missing


def test_letters_whose_small_form_is_longer_shift_nothing():
    assert translate("İİ dog", {"dog": "chien"}) == "İİ chien"


def test_a_file_has_comments_empty_lines_and_a_term_twice(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text("\ufeff# animals\ndog\tchien\n\nice hockey\t hockey \ndog\tchien\n")
    terms = {"dog": "chien", "ice hockey": "hockey"}
    assert read_glossary(path).spans("dog") == Glossary(terms).spans("dog")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no terms; write lines of source term, tab, target term"),
        ("# nothing\n", "holds no terms"),
        ("dog\tchien\ndog chien\n", "line 2 is not one source term, a tab and its target"),
        ("dog\tchien\tx\n", "line 1 is not one"),
        ("dog\t \n", "line 1 is not one"),
        ("dog\t⟦1⟧\n", "line 1 holds ⟦1⟧, which has a meaning of its own; leave it out"),
        ("dog\tchien\n\ndog\tchienne\n", "line 3 translates 'dog' otherwise than line 1; remove"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "terms.tsv"
    path.write_text(text)
    with pytest.raises(UserError, match=f"terms.tsv: {message}") as error:
        read_glossary(path)
    assert "\n" not in str(error.value)
