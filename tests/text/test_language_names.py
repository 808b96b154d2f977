"""What must hold of the names of languages."""

from nmt.text.language_names import code_of_name, language_name


def test_a_language_without_a_name_is_called_by_its_code():
    assert language_name("de") == "German"
    assert language_name("xx") == "xx"


def test_a_name_stands_for_its_code_in_any_case_and_variety():
    names = ("German", "ENGLISH", " français ", "Português (Brasil)", "Status", "", "(x)")
    assert [*map(code_of_name, names)] == ["de", "en", "fr", "pt", None, None, None]
