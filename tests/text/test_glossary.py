"""What must hold of a glossary: the longest term, whole words, the case of the source."""

import pytest

from nmt import UserError
from nmt.text.differences import difference
from nmt.text.glossary import Glossary, read_glossary, take_out_terms
from nmt.text.protected import Protector, Span, replace


def translate(text, terms):
    """Returns a text whose terms are replaced by their translations, and nothing else."""
    spans = Protector(glossary=Glossary(terms)).terms(text)
    return replace(text, spans, [span.original for span in spans])


def missing_terms(text, terms):
    """Returns the terms that a translation lacks, given as their translations."""
    spans = [Span(number, number, "term", term) for number, term in enumerate(terms)]
    return [span.original for span in take_out_terms(text, spans)[1]]


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
        ("ice\u00a0hockey", "hockey sur glace"),
    ],
)
def test_terms_are_whole_words_the_longest_in_the_case_of_the_source(text, expected):
    terms = {"dog": "chien", "ice": "glace", "ice hockey": "hockey sur glace", "狗": "chien"}
    assert translate(text, terms | {"US": "États-Unis", "5 stars": "cinq étoiles"}) == expected


def test_a_capital_that_begins_a_text_is_not_the_terms():
    assert translate("Dog and Dog", {"dog": "chien"}) == "chien and Chien"
    assert translate(" DOG", {"dog": "chien"}) == " CHIEN"


@pytest.mark.parametrize(
    ("languages", "target"),
    [(("de", "en"), "dog"), (("de-AT", "lb"), "Dog"), (("pt", "en"), "Dog")],
)
def test_a_noun_of_german_gives_its_capital_to_no_other_language(languages, target):
    (span,) = Glossary({"hund": "dog"}, languages).spans("Ein Hund.")
    assert span.original == target


def test_terms_stay_in_the_text_that_has_marks_for_all_else():
    protector = Protector(glossary=Glossary({"5 dogs": "cinq chiens", "1": "un"}))
    assert protector.hide("5 dogs, 7 {x} 1", ["7", "1"]).hidden == ["7", "{x}"]


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
    assert missing_terms(text, terms) == missing


def test_of_the_translations_of_a_term_the_longest_is_taken_out():
    terms = [Span(0, 0, "term", "hockey", ("ice hockey",)), Span(1, 1, "term", "ice")]
    text, missing = take_out_terms("We play ice hockey.", terms)
    assert text.split() == ["We", "play", "."]
    assert [span.original for span in missing] == ["ice"]


def test_letters_whose_small_form_is_longer_shift_nothing():
    assert translate("İİ dog", {"dog": "chien"}) == "İİ chien"


CASES = {"istanbul": "izmir", "ısparta": "izmir", "straße": "iş", "λόγος": "iş", "sis": "ıslak"}


@pytest.mark.parametrize("languages", [(), ("pt", "en"), ("de", "tr"), ("tr", "de")])
@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("İstanbul", "istanbul"), ("İSTANBUL", "istanbul"), ("ISPARTA", "ısparta"),
        ("Isparta", "ısparta"), ("STRASSE", "straße"), ("STRAẞE", "straße"), ("Straße", "straße"),
        ("ΛΟΓΟΣ", "λόγος"), ("ΛΌΓΟΣ", "λόγος"), ("Λόγος", "λόγος"), ("SİS", "sis"),
    ],
)  # fmt: skip
def test_a_term_is_found_in_the_capitals_of_its_language(word, term, languages):
    if languages and languages[0] == "tr" and term in ("straße", "λόγος"):
        return
    (span,) = Glossary(CASES, languages).spans(f"o {word}")
    assert (span.start, span.end) == (2, 2 + len(word))
    assert span.original.lower().replace("i̇", "i") in (CASES[term], CASES[term].replace("ı", "i"))


@pytest.mark.parametrize(
    ("word", "languages", "expected"),
    [
        ("ISTANBUL", ("en", "tr"), "İZMİR"),
        ("Istanbul", ("en", "tr-TR"), "İzmir"),
        ("ISTANBUL", ("en", "de"), "IZMIR"),
        ("İSTANBUL", ("tr", "az"), "İZMİR"),
        ("ISTANBUL", ("tr", "en"), "ISTANBUL"),  # of ıstanbul
        ("Sis", ("tr", "tr"), "Islak"),
    ],
)
def test_the_translation_of_a_term_has_the_capitals_of_its_language(word, languages, expected):
    protector = Protector(glossary=Glossary(CASES).in_languages(languages))
    text = f"o {word}"
    spans = protector.terms(text)
    assert replace(text, spans, [span.original for span in spans]) == f"o {expected}"


def test_capitals_of_greek_have_no_accents_and_others_keep_theirs():
    glossary = Glossary({"word": "λόγος", "coffee": "café", "mais": "μαΐστρος"})
    originals = [span.original for span in glossary.spans("a WORD COFFEE MAIS Word")]
    assert originals == ["ΛΟΓΟΣ", "CAFÉ", "ΜΑΪΣΤΡΟΣ", "Λόγος"]


def test_small_letters_that_differ_are_other_terms():
    glossary = Glossary({"maße": "a", "νόμος": "b", "kıl": "c"}, ("tr", "en"))
    assert glossary.spans("o masse, νομός, kil, KİL") == []


def test_further_terms_count_before_those_of_the_glossary():
    glossary = Glossary({"dog": "chien", "cat": "chat"}).with_terms({"dog": "toutou"}, ())
    assert [span.original for span in glossary.spans("a dog, a cat")] == ["toutou", "chat"]


def test_a_translation_holds_a_turkish_term_whose_first_letter_has_any_case():
    assert missing_terms("İzmir Islak", ["izmir", "ıslak"]) == []


def test_a_file_has_comments_empty_lines_and_a_term_twice(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text("\ufeff# animals\ndog\tchien\n\nice hockey\t hockey \ndog\tchien\n")
    terms = {"dog": "chien", "ice hockey": "hockey"}
    assert read_glossary(path).spans("dog") == Glossary(terms).spans("dog")


def test_a_term_may_have_several_targets_any_of_which_counts(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text("dog\tchien\ttoutou\ndog\tmolosse\nDOG\tX\n")
    glossary = read_glossary(path)
    assert glossary.spans("a Dog") == [Span(2, 5, "term", "Chien", ("Toutou", "Molosse"))]
    protector = Protector(glossary=glossary)
    assert not difference("dog and dog", "toutou et chien", protector)
    assert str(difference("dog and dog", "chien et chat", protector)) == "missing chien"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no terms; write lines of source term, tab, target term"),
        ("# nothing\n", "holds no terms"),
        ("dog\tchien\ndog chien\n", "line 2 is not one source term, a tab and its target"),
        ("dog\tchien\t\n", "line 1 is not one"),
        ("dog\t \n", "line 1 is not one"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "terms.tsv"
    path.write_text(text)
    with pytest.raises(UserError, match=f"terms.tsv: {message}") as error:
        read_glossary(path)
    assert "\n" not in str(error.value)
