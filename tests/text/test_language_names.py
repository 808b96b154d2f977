"""What must hold of the names of languages."""

from nmt.text.language_names import language_name


def test_a_language_without_a_name_is_called_by_its_code():
    assert language_name("de") == "German"
    assert language_name("xx") == "xx"
